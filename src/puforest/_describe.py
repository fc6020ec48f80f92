"""Text descriptions of models, for terminals and notebooks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from puforest._fit_record import FitRecord, RecordedFitMixin
from puforest._monotone import monotone_features
from puforest._prior_estimate import PriorEstimate
from puforest._schema import FeatureSchema
from puforest._text import printable
from puforest._threshold import checked_threshold
from puforest._unwrap import Unwrapped, fit_record, parameter_layers, unwrapped
from puforest.scenario import DESCRIPTIONS

N_FEATURES = 5  # in the list of the most important ones
N_CATEGORICAL = 10  # in the lists of categorical and constrained ones

# Kinds of columns other than numbers, in words.
KIND_NAMES = {
    "category": "categorical",
    "boolean": "boolean",
    "datetime": "date",
    "duration": "duration",
}

RISKS = {
    "nnpu": "nnPU (non-negative PU risk)",
    "upu": "uPU (unbiased PU risk)",
    "pn": "PN (supervised risk)",
}

# Title of the comparison of recipes.
RECIPES = "recipes, kept unless behind the best out-of-bag AUC by more than a standard error"

# Meaning of `predict_proba`.
SCORES = {
    "hard": "fraction of the trees that vote positive",
    "soft": "mean fraction of positives in the leaves",
    "ratio": "calibrated probability of being positive",
}


def describe(model: Any) -> str:
    """Describe a model: training data, prior, trees, and suggested next calls.

    Parameters
    ----------
    model : estimator
        Tree or forest of puforest, a `PUCalibratedClassifier`, or a pipeline or search that ends in
        one of them.

    Returns
    -------
    str
        Text to print.

    Examples
    --------
    >>> import puforest
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = puforest.PUDecisionTreeClassifier(prior=0.5)
    >>> model = make_pipeline(StandardScaler(), tree).fit(X, [0, 0, 0, 0, 1, 1])
    >>> print(puforest.describe(model).splitlines()[0])
    Pipeline: StandardScaler, PUDecisionTreeClassifier of 1 tree, fitted
    """
    _require_own(model)
    name = type(model).__name__
    if not is_fitted(model):
        return f"{name}: not fitted yet\n\n{_calls(FIRST_CALLS)}"
    found = unwrapped(model)
    about = []
    if found is None or found.is_calibrated:
        about.append(("calibration", _calibration(model if found is None else found.model)))
    if found is not None:
        about += _about_trees(found)
    width = max(len(title) for title, _ in about)
    lines = [f"{title:<{width}}  {text}" for title, text in about]
    lines += _section(RECIPES, comparison(model))
    head = f"{name}: {_kind(model)}, fitted"
    return "\n".join([head, "", *lines, "", "next steps", _calls(_next_calls(model, found))])


def _require_own(model: Any) -> None:
    """Refuse models that do not end in an estimator of this package."""
    if not any(isinstance(layer, RecordedFitMixin) for layer in parameter_layers(model)):
        raise TypeError(
            "model must be an estimator of puforest, or a pipeline that ends in one, got "
            f"{type(model).__name__}"
        )


def comparison(model: Any) -> str:
    """Return the candidates of a `PUForestClassifier` as a table, empty for other models."""
    found = unwrapped(model) if is_fitted(model) else None
    compared = None if found is None else found.trees._record.comparison
    return "" if compared is None else str(compared)


def _section(title: str, text: str) -> list[str]:
    return ["", title, *(f"  {line}" for line in text.splitlines())] if text else []


def summary(model: Any) -> str:
    """Describe a model in a few lines, with the methods to call next."""
    return "\n".join(filter(None, [comparison(model), hint(model)]))


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
    """Describe what a fitted model consists of."""
    if fit_record(model) is not None:
        n = model._forest.n_trees
        return "1 tree" if n == 1 else f"{n:,} trees"
    if isinstance(model, Pipeline):
        *transformers, last = (step for _, step in model.steps)
        return ", ".join([*map(step_name, transformers), _named(last)])
    return _named(model.best_estimator_ if hasattr(model, "best_estimator_") else model.estimator_)


def _named(model: Any) -> str:
    own = isinstance(model, RecordedFitMixin | Pipeline)
    return f"{step_name(model)} of {_kind(model)}" if own else step_name(model)


def step_name(step: Any) -> str:
    """Return the class of a step of a pipeline, or "passthrough"."""
    return "passthrough" if step is None or isinstance(step, str) else type(step).__name__


def _calibration(model: Any) -> str:
    record = model._record
    return f"{record.method}, for a prior of {record.prior:.4g} and {record.scenario} data"


def _about_trees(found: Unwrapped) -> list[tuple[str, str]]:
    forest, record = found.trees._forest, found.trees._record
    groups = ("positive", "negative") if record.is_supervised else ("labeled", "unlabeled")
    size = sum(array.nbytes for array in forest._arrays().values())
    about = [
        (
            "training data",
            f"{record.n_labeled:,} {groups[0]} and {record.n_unlabeled:,} {groups[1]} rows, "
            f"{forest.n_features:,} features",
        ),
        *_about_checks(record),
        *_about_columns(found),
        *_about_growth(record),
        ("prior", _prior(record)),
        *([] if found.is_calibrated else [("threshold", _threshold(found.trees))]),
        (
            "trees",
            f"{forest.n_trees:,} with {len(forest.feature):,} nodes, of which "
            f"{forest.n_leaves():,} leaves; maximum depth {forest.depth()}; {_bytes(size)}",
        ),
        ("top features", _top_features(found)),
    ]
    if not record.is_supervised:
        about.insert(1, ("scenario", f"{record.scenario} ({DESCRIPTIONS[record.scenario]})"))
    if record.out_of_bag is not None or record.comparison is not None:
        about.append(("out-of-bag risk", _out_of_bag_risk(found.trees)))
    return about


def _about_checks(record: FitRecord) -> list[tuple[str, str]]:
    """Describe the verdicts on unlabeled rows, if there are any."""
    checked = record.n_confirmed + record.n_refuted
    if checked == 0:
        return []
    text = f"{checked:,} unlabeled rows, of which {record.n_confirmed:,} positive"
    return [("checked rows", text)]


def _out_of_bag_risk(trees: Any) -> str:
    follows = trees._record.calibrator is not None or trees.threshold_ == 0.5
    at = "" if follows else " at a threshold of 0.5"
    return f"{trees.oob_risk_:.4g} (estimated error rate{at})"


def _about_growth(record: FitRecord) -> list[tuple[str, str]]:
    """Describe the risk that the trees minimize, unless they are grown by recipes."""
    if record.comparison is not None:
        return []
    return [("risk", f"{RISKS[record.risk]}, {record.loss} loss")]


def _threshold(trees: Any) -> str:
    """Describe the threshold on the probability, and how many rows are above it."""
    rule, threshold = checked_threshold(trees.threshold), trees.threshold_
    text = f"{threshold:.4g}"
    parts = []
    if isinstance(rule, tuple):
        parts.append(f"cost ratio {rule[1]:g}")
    elif isinstance(rule, str):
        parts.append(f'"{rule}"')
    fraction = trees._fraction_above(threshold)
    if fraction is not None:
        parts.append(f"predicts {100 * fraction:.1f}% of the population positive")
    return f"{text} ({': '.join(parts)})" if parts else text


def _about_columns(found: Unwrapped) -> list[tuple[str, str]]:
    """Describe the columns that are not plain numbers, and monotone constraints."""
    record, names = found.trees._record, found.feature_names()
    schema: FeatureSchema = record.schema
    about = []
    if schema.columns:
        kinds = Counter(kind.kind for kind in schema.columns.values())
        n_numbers = schema.n_features - kinds.total()
        parts = [f"{n_numbers:,} {_plural(n_numbers, 'number')}"] if n_numbers else []
        parts += [
            f"{kinds[kind]:,} {_plural(kinds[kind], word)}"
            for kind, word in KIND_NAMES.items()
            if kinds[kind]
        ]
        about.append(("column kinds", ", ".join(parts)))
    if schema.categorical:
        listed = [
            f"{printable(names[j])} ({len(schema.categories(j) or ()):,})"
            for j in schema.categorical[:N_CATEGORICAL]
        ]
        more = len(schema.categorical) - len(listed)
        about.append(("categories", ", ".join([*listed, f"and {more:,} more"] if more else listed)))
    increasing, decreasing = monotone_features(record.parameters.get("monotonic_cst"), schema)
    signs = [f"{printable(names[j])} increasing" for j in increasing]
    signs += [f"{printable(names[j])} decreasing" for j in decreasing]
    if signs:
        more = len(signs) - N_CATEGORICAL
        signs = [*signs[:N_CATEGORICAL], f"and {more:,} more"] if more > 0 else signs
        about.append(("monotone in", ", ".join(signs)))
    return about


def _plural(n: int, word: str) -> str:
    return word if n == 1 or word == "categorical" else f"{word}s"


def _prior(record: FitRecord) -> str:
    prior = f"{record.prior:.4g}"
    estimate = record.prior_estimate
    if estimate is not None:
        return f"{prior}, {_source(estimate)}"
    if record.prior_is_given:
        return f"{prior}, given"
    return f"{prior}, from the " + ("classes" if record.is_supervised else "propensities")


def _source(estimate: PriorEstimate) -> str:
    level, (low, high) = f"{100 * estimate.confidence:g}%", estimate.interval
    if estimate.is_bound:
        return f"point estimate by {estimate.method}; at most {high:.3g} ({level})"
    return f"estimated by {estimate.method} ({level} interval {low:.3g} to {high:.3g})"


def _top_features(found: Unwrapped) -> str:
    """List the features that reduce the risk most."""
    reduction = np.maximum(found.trees.feature_importances_, 0)
    total = reduction.sum()
    if not total > 0:
        return "none: no split reduces the risk"
    first = np.argsort(-reduction, kind="stable")[:N_FEATURES]
    names = found.feature_names()
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
    """Return whether model files support the model: trees, calibrated or not."""
    found = unwrapped(model)
    return found is not None and isinstance(model, RecordedFitMixin) and not found.transformers


def _next_calls(model: Any, found: Unwrapped | None) -> list[tuple[str, str]]:
    score = "probability of being positive"
    if found is not None and not found.is_calibrated:
        score = SCORES[found.trees.voting]
    calls = [
        ("model.predict(X)", f"classes, {' or '.join(map(repr, model.classes_.tolist()))}"),
        ("model.predict_proba(X)[:, 1]", score),
    ]
    if found is None:
        return calls
    own = isinstance(model, RecordedFitMixin)
    if found.trees._record.is_supervised:
        calls.append(("model.score(X, y)", "accuracy on held-out rows"))
    else:
        report = "model.report(" if own else "puforest.report.write_report(model, "
        calls.append(
            (f"{report}'report.html', X, y, held_out=True)", "evaluation on held-out rows")
        )
    if found.trees._record.curve is not None and model is found.trees:
        adjusting = "adjusts the threshold, without refitting"
        calls.append(("model.set_params(threshold='f1')", adjusting))
    if _can_be_saved(model):
        calls.append(("model.save('model.puf')", "puforest.load('model.puf') loads it"))
    else:
        loading = "skops.io.load loads it, given the types to trust"
        calls.append(("skops.io.dump(model, 'model.skops')", loading))
    return calls


def _calls(calls: list[tuple[str, str]]) -> str:
    width = max(len(call) for call, _ in calls)
    return "\n".join(f"  {call:<{width}}  {what}" for call, what in calls)
