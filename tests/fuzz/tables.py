"""Tables: what fit reads of a file, predict must read alike, and what is refused must be named."""

from __future__ import annotations

import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from puforest._schema import FeatureSchema
from puforest.cli._model_columns import match_columns
from puforest.cli._model_rows import ModelRows
from puforest.cli.tables._dialect import TextOptions
from puforest.cli.tables._features import ColumnChoice
from puforest.cli.tables._open import open_table
from puforest.cli.tables._pu_table import read_pu

LABEL = "y"
FEATURES = ("a", "b", "c")
LONGEST_MESSAGE = 100_000
BATCHES = (1, 7, 1000)
DAMAGED = "is truncated or damaged"

_FIT = "fit FILE --model paper --prior 0.5 --trees 2 --threads 1 --no-quality -o OUT/m.puf --force"
_PREDICT = "predict IN/m.puf FILE -o OUT/s.csv --force"
COMMANDS = (f"{_FIT} --label {LABEL}", _PREDICT)
COMMANDS_OWN_LABEL = (_FIT, _PREDICT)


class RefusedError(Exception):
    """The file was refused as it should be."""


def judge(path, options, rng):
    """Read a table as fit and as predict do."""
    text = TextOptions(**options.get("text", {}))
    label = options.get("label")
    n_rows = BATCHES[rng.integers(len(BATCHES))]
    try:
        fitted = refusing(path, lambda: fit_reads(path, text, label))
        schema, encoded = refusing(path, lambda: schema_of(fitted))
    except RefusedError:
        try:
            refusing(path, lambda: predict_reads(path, text, label, None, n_rows))
        except RefusedError:
            return "refused"
        return "refused by fit"
    try:
        X, labels = refusing(path, lambda: predict_reads(path, text, label, schema, n_rows))
    except RefusedError as error:
        if DAMAGED in str(error.__cause__):
            return "read by fit"  # pyarrow looks at some parts of a file only in small batches
        raise AssertionError(f"fit reads what predict refuses: {error.__cause__}") from error
    values = encoded.values.toarray() if encoded.is_sparse else encoded.values
    np.testing.assert_array_equal(X, values.astype(np.float64))
    np.testing.assert_array_equal(fitted.rule.apply(labels), fitted.labeled)
    return "read"


def refusing(path: Path, read):
    """What `read` returns; an error that names the file or the column is a `RefusedError`."""
    try:
        return read()
    except (ValueError, OSError, MemoryError) as error:
        message = str(error)
        if not (path.name in message or "column" in message) or len(message) > LONGEST_MESSAGE:
            raise
        raise RefusedError from error


def fit_reads(path, text, label):
    source = open_table(path, format=None, text=text)
    return read_pu(source, label=label, positive=None, choice=ColumnChoice())


def schema_of(fitted):
    """The schema and the numbers, without warnings of doubtful columns, such as identifiers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FeatureSchema.of_table(fitted.features.X)


def predict_reads(path, text, label, schema, n_rows):
    """The features and the labels, batch by batch; without a schema, of what might be numbers."""
    source = open_table(path, format=None, text=text)
    label = label or source.label
    if label is None:
        raise ValueError(f"{path} has no labels")
    is_model = schema is not None
    if not is_model:
        names = tuple(name for name in islice(source.names, 100) if name != label)
        schema = FeatureSchema(len(names), names)
    source.require_columns([label], "--label")
    rows = ModelRows(source, match_columns(schema, source, [label]))
    labels, parts = [], [np.empty((0, schema.n_features))]
    for batch in rows.batches([label], n_rows):
        assert len(batch.X) == batch.others.num_rows <= n_rows
        if is_model:
            parts.append(schema.table(batch.X).values)
        labels.append(batch.others.column(label))
    return np.concatenate(parts), pa.chunked_array(
        labels, type=source.types(rows.numbers, [label])[0]
    )
