"""Writing the report on a model to an HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from puforest import _validation as check
from puforest._atomic_write import atomic_write, require_place
from puforest._encoded import EncodedTable
from puforest._rows import sliceable
from puforest.prior import PriorEstimate
from puforest.report._collect import collect, find_prior
from puforest.report._page import page
from puforest.report._rows import LabeledRows, held_out_scores, labeled_rows
from puforest.report._source import source_part
from puforest.report._subject import Subject, subject_of


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: check.MatrixLike = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    checked: ArrayLike | None = None,
    check_probability: ArrayLike | None = None,
    held_out: bool = False,
    cv: int = 5,
    prior_estimate: PriorEstimate | None = None,
    n_simulations: int = 119,
    feature_names: Sequence[str] | None = None,
    data_file: str | os.PathLike[str] | None = None,
    title: str | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Path:
    """Write a report on a model as one self-contained HTML file.

    With `X` and `y`, the report evaluates the model on held-out scores, without known negatives.
    Without them, it shows the prior, importances, trees and parameters of the model.

    Parameters
    ----------
    model : estimator
        Fitted forest or tree of puforest, a `PUCalibratedClassifier` of one, or a pipeline that
        ends in either. In a pipeline, the features are those that its transformers produce and
        name.
    path : str or path-like
        File to write, such as "report.html".
    X : array-like of shape (n_samples, n_features), optional
        Rows to evaluate on. Without `y`, they are used for partial dependence only.
    y : array-like of shape (n_samples,), optional
        PU labels of `X`: two values, the larger for labeled rows.
    sample_weight, propensity : array-like of shape (n_samples,), optional
        Sample weights and propensities of the rows, as in ``fit``.
    checked, check_probability : array-like of shape (n_samples,), optional
        Verdicts on rows that were checked by hand, and the probability of checking each row, as in
        ``fit``. If the model was fitted with them, pass them here too.
    held_out : bool, default=False
        Whether the rows are new to the model. If not, they are scored out of bag, if the model is
        a `PUForestClassifier` and these are the rows of its fit, or by cross-fitting, since
        scores of training rows are too optimistic.
    cv : int, default=5
        Number of folds of the cross-fitting.
    prior_estimate : PriorEstimate, optional
        Estimate that the prior of the model was taken from. By default that of the fit; if there is
        none, the prior is estimated from `X` and `y` as a check.
    n_simulations : int, default=119
        Number of simulations of `puforest.diagnostics.scar_test`; 0 skips the test. The smallest
        p-value is ``1 / (n_simulations + 1)``.
    feature_names : sequence of str, optional
        Feature names; by default those of the fit or the columns of `X`.
    data_file : str or path-like, optional
        File that the rows come from: the report shows its name and SHA-256. Without it, the
        SHA-256 is that of the values and labels.
    title : str, optional
        Title of the page.
    overwrite : bool, default=False
        Whether to replace an existing file.
    n_jobs : int, optional
        Number of threads; that of the model by default.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, fits, simulations and subsamples.

    Returns
    -------
    pathlib.Path
        Path of the file.

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
    names = (
        subject.parts.feature_names(X)
        if feature_names is None
        else check.feature_names(subject.forest, given=feature_names)
    )
    unknown: dict[int, int] = {}
    table = None if X is None else subject.parts.rows(X, unknown)
    rows = _evaluation_rows(
        subject,
        X,
        table,
        y,
        sample_weight=sample_weight,
        propensity=propensity,
        checked=checked,
        check_probability=check_probability,
    )
    source = source_part(data_file, table, rows)
    rng = check.random_state(random_state)
    scores = None
    if rows is not None:
        scores = held_out_scores(subject, rows, held_out=held_out, cv=cv, n_jobs=n_jobs, rng=rng)
    data = collect(
        subject,
        names,
        table,
        rows,
        scores,
        find_prior(subject, prior_estimate, rows, n_jobs, rng),
        source=source,
        unknown=unknown,
        n_simulations=n_simulations,
        n_jobs=n_jobs,
        rng=rng,
    )
    heading = str(title) if title is not None else f"Report on a {type(model).__name__}"
    data["title"] = heading
    data["made"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = page(data, heading)
    with atomic_write(file) as part:
        # Feature names may contain lone surrogates, which cannot be encoded.
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        _require_free(file, overwrite)  # it may have been created in the meantime
    return file


def _evaluation_rows(
    subject: Subject,
    X: check.MatrixLike,
    table: EncodedTable | None,
    y: ArrayLike | None,
    **metadata: Any,
) -> LabeledRows | None:
    """Check the labels, and the weights, propensities and verdicts in `metadata`."""
    if y is None:
        given = [name for name, value in metadata.items() if value is not None]
        if given:
            raise ValueError(f"{' and '.join(given)} is only used with y: pass y too")
        return None
    if table is None:
        raise ValueError("y was given without X: pass both or neither")
    if subject.forest._record.is_supervised:
        raise ValueError(
            "risk='pn' treats the data as fully labeled: omit y, and evaluate predictions with "
            "scikit-learn's metrics"
        )
    return labeled_rows(table, sliceable(X), y, scenario=subject.scenario, **metadata)


def _require_free(file: Path, overwrite: bool) -> None:
    """Refuse a path that cannot be written, or an existing file unless it may be replaced."""
    require_place(file)
    if file.exists() and not overwrite:
        raise FileExistsError(f"path: {file} already exists: pass overwrite=True to replace it")
