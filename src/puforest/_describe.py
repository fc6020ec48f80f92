"""What a model is, in words: for terminals and notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._printable import printable
from puforest.forest import BaseForest

MOST_FEATURES = 5  # that are named

SCENARIOS = {
    "case-control": "case-control (labeled rows were collected apart from the others)",
    "single-training-set": "single-training-set (some positives of one sample are labeled)",
}
RISKS = {
    "nnpu": "nnPU, the non-negative PU risk",
    "upu": "uPU, the unbiased PU risk",
    "pn": "PN, that of ordinary supervised learning",
}

# What `predict_proba` is, by voting.
ANSWERS = {
    "hard": "share of the trees that vote positive",
    "soft": "mean share of positives in the leaves",
}


def description(model: Any) -> str:
    """All about a model."""
    name = type(model).__name__
    if not is_fitted(model):
        return f"{name}: not fitted yet\n\n{_calls(FIRST_CALLS)}"
    trees = getattr(model, "estimator_", model)
    about = [("calibration", _calibration(model))] if trees is not model else []
    if isinstance(trees, PUClassifier):
        about += _about_trees(trees)
    width = max(len(title) for title, _ in about)
    lines = [f"{title:<{width}}  {text}" for title, text in about]
    head = f"{name}: {_kind(model)}, fitted"
    return "\n".join([head, "", *lines, "", "what next", _calls(_next_calls(model, trees))])


def hint(model: Any) -> str:
    """One line about a model and what to call next."""
    if not is_fitted(model):
        return "Not fitted yet: fit(X, y) with 1 in y for labeled and 0 for unlabeled rows."
    known = f"Fitted: {_kind(model)}, prior {model.prior_:.3g}."
    return f"{known} Next: describe() for details, predict_proba(X), save('model.puf')."


def is_fitted(model: Any) -> bool:
    """Whether a fit has been."""
    return hasattr(model, "classes_")


def _kind(model: Any) -> str:
    if not isinstance(model, PUClassifier):
        trees = model.estimator_
        name = type(trees).__name__
        return f"{name} of {_kind(trees)}" if isinstance(trees, PUClassifier) else name
    n = model._forest.n_trees
    return "one tree" if n == 1 else f"{n:,} trees"


def _calibration(model: Any) -> str:
    return f"{model.method}, for a prior of {model.prior_:.4g} and {model.scenario_} rows"


def _about_trees(model: PUClassifier) -> list[tuple[str, str]]:
    forest, grown = model._forest, model._grown_for
    groups = ("positive", "negative") if grown.risk == "pn" else ("labeled", "unlabeled")
    n_labeled, n_unlabeled = (f"{n:,}" for n in rows_learned_from(model))
    size = sum(array.nbytes for array in forest._arrays().values())
    about = [
        (
            "learned from",
            f"{n_labeled} {groups[0]} and {n_unlabeled} {groups[1]} rows, "
            f"{forest.n_features:,} features",
        ),
        ("scenario", SCENARIOS[grown.scenario]),
        ("risk", f"{RISKS[grown.risk]}, with the {grown.loss} loss"),
        ("prior", _prior(model)),
        (
            "trees",
            f"{forest.n_trees:,} with {len(forest.feature):,} nodes, {forest.n_leaves():,} of them "
            f"leaves; up to {forest.depth()} splits deep; {_bytes(size)}",
        ),
        ("important", _important(model)),
    ]
    if grown.risk == "pn":
        about = [line for line in about if line[0] != "scenario"]
    if isinstance(model, BaseForest) and model._held_out is not None:
        about.append(("out-of-bag risk", f"{model.oob_risk_:.4g}, the estimated share of errors"))
    return about


def rows_learned_from(model: PUClassifier) -> tuple[int, int]:
    if isinstance(model, BaseForest):
        return model._sample[-2], model._sample[-1]
    return int(model._forest.n_labeled[0]), int(model._forest.n_unlabeled[0])


def _prior(model: PUClassifier) -> str:
    prior = f"{model.prior_:.4g}"
    if "prior_estimate_" in model.__dict__:
        estimate = model.prior_estimate_
        low, high = estimate.interval
        return (
            f"{prior}, estimated by {estimate.method} ({100 * estimate.confidence:g}% interval "
            f"{low:.3g} to {high:.3g})"
        )
    if model.prior is not None:
        return f"{prior}, given"
    return f"{prior}, from the " + ("classes" if model._grown_for.risk == "pn" else "propensities")


def _important(model: PUClassifier) -> str:
    """The features that reduce the risk most; those that raised it are none of them."""
    reduction = np.maximum(model.feature_importances_, 0)
    total = reduction.sum()
    if not total > 0:
        return "no feature: no split reduces the risk"
    first = np.argsort(-reduction, kind="stable")[:MOST_FEATURES]
    names = check.feature_names(model)
    shares = [
        f"{printable(names[i])} {100 * reduction[i] / total:.0f}%"
        for i in first
        if reduction[i] > 0
    ]
    return f"{', '.join(shares)} of the risk reduction"


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


FIRST_CALLS = [
    ("model.fit(X, y)", "y: 1 for labeled positives, 0 for unlabeled rows"),
    ("puforest.prior.estimate_prior(X, y)", "the share of positives, if you do not know it"),
]


def _next_calls(model: Any, trees: Any) -> list[tuple[str, str]]:
    share = ANSWERS[model.voting] if trees is model else "probability of being positive"
    calls = [
        ("model.predict(X)", f"classes, {' or '.join(map(repr, model.classes_.tolist()))}"),
        ("model.predict_proba(X)[:, 1]", share),
    ]
    if not isinstance(trees, PUClassifier):
        return calls
    if trees._grown_for.risk == "pn":
        calls.append(("model.score(X, y)", "accuracy, on rows held out"))
    else:
        calls.append(("model.report('report.html', X, y)", "how good it is, on rows held out"))
    return [*calls, ("model.save('model.puf')", "puforest.load('model.puf') brings it back")]


def _calls(calls: list[tuple[str, str]]) -> str:
    width = max(len(call) for call, _ in calls)
    return "\n".join(f"  {call:<{width}}  {what}" for call, what in calls)
