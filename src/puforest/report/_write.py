"""One function from a model to an HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._atomic_write import atomic_write, require_place
from puforest._matrix import validated
from puforest.prior import PriorEstimate
from puforest.report._collect import collect, find_prior
from puforest.report._page import page
from puforest.report._rows import LabeledRows, judge, labeled_rows
from puforest.report._subject import Subject, subject_of


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: check.MatrixLike = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    held_out: bool = False,
    cv: int = 5,
    prior_estimate: PriorEstimate | None = None,
    n_simulations: int = 19,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Path:
    """Write a report about a model as one HTML file that needs no network.

    With `X` and `y` it tells how good the model is, without a known negative: rows are judged by
    models that have not seen them. Without them it tells what the model knows by itself: its
    prior, importances, trees and parameters.

    Parameters
    ----------
    model : estimator
        A fitted forest or tree of puforest, or a `PUCalibratedClassifier` of one.
    path : str or path-like
        The file to write, such as "report.html".
    X : array-like of shape (n_samples, n_features), optional
        Rows to judge by. Alone, they serve for partial dependence only.
    y : array-like of shape (n_samples,), optional
        Their PU labels: two values, the larger for labeled rows.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        Weights and labeling propensities of the rows, as given to ``fit``.
    held_out : bool, default=False
        Whether the rows are new to the model. If not, models of the same kind are fitted to
        all folds but one and judge that one, since a model always looks good on its own rows.
    cv : int, default=5
        Number of these folds.
    prior_estimate : PriorEstimate, optional
        What the prior of the model comes from, if it was estimated before the fit. By default the
        estimate of the fit; if there is none, one is made from `X` and `y` as a check.
    n_simulations : int, default=19
        Simulations of `puforest.diagnostics.scar_test`; 0 leaves the test out.
    feature_names : sequence of str, optional
        Names of the features; by default those of the fit or of the columns of `X`.
    title : str, optional
        Title of the page.
    overwrite : bool, default=False
        Whether a file that is there already is replaced.
    n_jobs : int, optional
        Threads of the fits; those of the model by default.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is random.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> from puforest.report import write_report
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X, labeled = make_pu(X[::9], y[::9], n_labeled=100, random_state=0)
    >>> forest = PUExtraTreesClassifier(prior=y.mean(), n_estimators=10, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(forest.fit(X, labeled), f"{folder}/mushrooms.html")
    ...     file.name, 20_000 < file.stat().st_size < 2_000_000
    ('mushrooms.html', True)
    """
    subject = subject_of(model)
    check.boolean("held_out", held_out)
    file = Path(path)
    _require_free(file, check.boolean("overwrite", overwrite))
    check.integer("n_simulations", n_simulations, 0)
    names = check.feature_names(model, X, given=feature_names)
    table = None if X is None else _table(model, X)
    rows = _judging_rows(subject, table, y, sample_weight, propensity)
    rng = check.random_state(random_state)
    scored = None
    if rows is not None:
        scored = judge(subject, rows, held_out=held_out, cv=cv, n_jobs=n_jobs, rng=rng)
    data = collect(
        subject,
        names,
        table,
        rows,
        scored,
        find_prior(subject, prior_estimate, rows, n_jobs, rng),
        n_simulations=n_simulations,
        n_jobs=n_jobs,
        rng=rng,
    )
    heading = str(title) if title is not None else f"Report on a {type(model).__name__}"
    data["title"] = heading
    data["made"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = page(data, heading)
    with atomic_write(file) as part:
        # Names of features may hold halves of characters, which no file can.
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        _require_free(file, overwrite)  # still
    return file


def _table(model: Any, X: check.MatrixLike) -> NDArray[Any]:
    """X as an array, with the columns that the model was fitted to."""
    table: NDArray[Any] = validated(model, X, reset=False)
    return table


def _judging_rows(
    subject: Subject,
    X: NDArray[Any] | None,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    propensity: ArrayLike | None,
) -> LabeledRows | None:
    if y is None:
        if sample_weight is not None or propensity is not None:
            raise ValueError("sample_weight and propensity are only used with y: give y too")
        return None
    if X is None:
        raise ValueError("y was given without X: give the rows too, or neither")
    if subject.forest._record.is_supervised:
        raise ValueError(
            "risk='pn' takes the rows as fully labeled: leave y out, and judge predictions by "
            "scikit-learn's metrics"
        )
    return labeled_rows(
        X,
        y,
        scenario=subject.scenario,
        sample_weight=sample_weight,
        propensity=propensity,
    )


def _require_free(file: Path, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or stands there and is not to be replaced."""
    require_place(file)
    if file.exists() and not overwrite:
        raise FileExistsError(f"path: {file} is there already: overwrite=True replaces it")
