"""Fitted models with other feature names than those of the fit."""

from dataclasses import replace


def with_names(model, names):
    """Return the model after renaming its features; None removes the names."""
    names = None if names is None else tuple(names)
    model._record = replace(model._record, schema=replace(model._record.schema, names=names))
    return model
