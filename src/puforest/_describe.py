"""Text descriptions of models, for terminals and notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest._fit_record import FitRecord
from puforest._text import printable
from puforest._unwrap import fit_record, fitted_trees
from puforest.scenario import DESCRIPTIONS

N_FEATURES = 5  # in the list of the most important ones

RISKS = {
    "nnpu": "nnPU (non-negative PU risk)",
    "upu": "uPU (unbiased PU risk)",
    "pn": "PN (supervised risk)",
}

# Meaning of `predict_proba`.
SCORES = {
    "hard": "fraction of the trees that vote positive",
    "soft": "mean fraction of positives in the leaves",
}


def description(model: Any) -> str:
    """Describe a model in full."""
    name = type(model).__name__
    if not is_fitted(model):
        return f"{name}: not fitted yet\n\n{_calls(FIRST_CALLS)}"
    trees = fitted_trees(model)
    about = [] if trees is model else [("calibration", _calibration(model))]
    if trees is not None:
        about += _about_trees(trees)
    width = max(len(title) for title, _ in about)
    lines = [f"{title:<{width}}  {text}" for title, text in about]
    head = f"{name}: {_kind(model)}, fitted"
    return "\n".join([head, "", *lines, "", "next steps", _calls(_next_calls(model, trees))])


def hint(model: Any) -> str:
    """Describe a model in one line, with the methods to call next."""
    if not is_fitted(model):
        return "Not fitted yet: fit(X, y) with 1 in y for labeled and 0 for unlabeled rows."
    known = f"Fitted: {_kind(model)}, prior {model.prior_:.3g}."
    save = ", save('model.puf')" if _can_be_saved(model) else ""
    return f"{known} Next: describe() for details, predict_proba(X){save}."


def is_fitted(model: Any) -> bool:
    """Return True if the model is fitted."""
    return hasattr(model, "classes_")


def _kind(model: Any) -> str:
    if fit_record(model) is None:
        trees = model.estimator_
        name = type(trees).__name__
        return name if fit_record(trees) is None else f"{name} of {_kind(trees)}"
    n = model._forest.n_trees
    return "1 tree" if n == 1 else f"{n:,} trees"


def _calibration(model: Any) -> str:
    record = model._record
    return f"{record.method}, for a prior of {record.prior:.4g} and {record.scenario} data"


def _about_trees(model: Any) -> list[tuple[str, str]]:
    forest, record = model._forest, model._record
    groups = ("positive", "negative") if record.is_supervised else ("labeled", "unlabeled")
    size = sum(array.nbytes for array in forest._arrays().values())
    about = [
        (
            "training data",
            f"{record.n_labeled:,} {groups[0]} and {record.n_unlabeled:,} {groups[1]} rows, "
            f"{forest.n_features:,} features",
        ),
        ("risk", f"{RISKS[record.risk]}, {record.loss} loss"),
        ("prior", _prior(record)),
        (
            "trees",
            f"{forest.n_trees:,} with {len(forest.feature):,} nodes, of which "
            f"{forest.n_leaves():,} leaves; maximum depth {forest.depth()}; {_bytes(size)}",
        ),
        ("top features", _top_features(model)),
    ]
    if not record.is_supervised:
        about.insert(1, ("scenario", f"{record.scenario} ({DESCRIPTIONS[record.scenario]})"))
    if record.out_of_bag is not None:
        about.append(("out-of-bag risk", f"{record.out_of_bag.risk:.4g} (estimated error rate)"))
    return about


def _prior(record: FitRecord) -> str:
    prior = f"{record.prior:.4g}"
    estimate = record.prior_estimate
    if estimate is not None:
        low, high = estimate.interval
        return (
            f"{prior}, estimated by {estimate.method} ({100 * estimate.confidence:g}% interval "
            f"{low:.3g} to {high:.3g})"
        )
    if record.prior_is_given:
        return f"{prior}, given"
    return f"{prior}, from the " + ("classes" if record.is_supervised else "propensities")


def _top_features(model: Any) -> str:
    """List the features that reduce the risk most."""
    reduction = np.maximum(model.feature_importances_, 0)
    total = reduction.sum()
    if not total > 0:
        return "none: no split reduces the risk"
    first = np.argsort(-reduction, kind="stable")[:N_FEATURES]
    names = model._record.schema.feature_names()
    parts = [
        f"{printable(names[i])} {100 * reduction[i] / total:.0f}%"
        for i in first
        if reduction[i] > 0
    ]
    return f"{', '.join(parts)} of the risk reduction"


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


FIRST_CALLS = [
    ("model.fit(X, y)", "y: 1 for labeled positives, 0 for unlabeled rows"),
    ("puforest.prior.estimate_prior(X, y)", "estimate of the class prior, if it is unknown"),
]


def _can_be_saved(model: Any) -> bool:
    """Return whether model files and reports support the model: trees, calibrated or not."""
    return fitted_trees(model) in (model, getattr(model, "estimator_", None))


def _next_calls(model: Any, trees: Any) -> list[tuple[str, str]]:
    score = SCORES[model.voting] if trees is model else "probability of being positive"
    calls = [
        ("model.predict(X)", f"classes, {' or '.join(map(repr, model.classes_.tolist()))}"),
        ("model.predict_proba(X)[:, 1]", score),
    ]
    if trees is None or not _can_be_saved(model):
        return calls
    if trees._record.is_supervised:
        calls.append(("model.score(X, y)", "accuracy on held-out rows"))
    else:
        calls.append(
            ("model.report('report.html', X, y, held_out=True)", "evaluation on held-out rows")
        )
    return [*calls, ("model.save('model.puf')", "puforest.load('model.puf') loads it")]


def _calls(calls: list[tuple[str, str]]) -> str:
    width = max(len(call) for call, _ in calls)
    return "\n".join(f"  {call:<{width}}  {what}" for call, what in calls)
