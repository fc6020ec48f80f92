"""Runs of methods on data sets, stored one by one, so that an interrupted run can be resumed.

A run is one fit and its evaluation: a data set, a method and a draw of the labeled samples. It is a
line of a CSV file, with all results, the seed, versions and machine. Tables are views of these
lines, so runs that several tables share are done once.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from benchmarks.machine import cores, cpu, versions
from experiments import measures
from experiments.data import OPTIONS, Split, WholeTable, as_numbers
from experiments.methods import FREE, METHODS, Method, Run, Setting
from experiments.store import Lines
from puforest.datasets import make_pu
from puforest.metrics import pu_risk_score
from puforest.prior import PriorEstimatedWarning

PACKAGES = ("puforest", "numpy", "scikit-learn", "torch", "lightgbm", "pulearn")
FIELDS = (
    "dataset",
    "method",
    "draw",
    "n_labeled",
    "scenario",
    "unlabeled",
    "features",
    "prior",
    "resampled_prior",
    "accuracy",
    "f1",
    "auc",
    "precision_at_n",
    "calibration_error",
    "calibration_floor",
    "train_risk",
    "test_risk",
    "fit_seconds",
    "fit_cpu_seconds",
    "epochs",
    "threads",
    "machine",
    "versions",
    "settings",
    "differs",
    "error",
)
# Up to this number of features, methods get Fortran-ordered arrays. On Covertype scikit-learn's
# trees take little more than half the time with them; on CIFAR-10 they would take longer.
NARROW = 100
# Errors of unavailable data sets: files are missing, damaged, or require a package.
NO_DATA = (FileNotFoundError, ImportError, ValueError)
# Some methods are meant to estimate the prior. LightGBM names the columns of arrays itself.
EXPECTED_WARNINGS = (
    (PriorEstimatedWarning, ""),
    (UserWarning, "X does not have valid feature names"),
)


class Results(Lines):
    """The CSV file of the runs."""

    def key(self, line: dict[str, Any]) -> Run:
        return Run.of(line)

    def done(self) -> set[Run]:
        return set(self.by_key())

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Runs that are missing, or that were done with other settings."""
        kept = self.by_key()
        return [run for run in dict.fromkeys(runs) if run not in kept or is_stale(run, kept[run])]

    def values(self, run: Run, measure: str) -> np.ndarray:
        """Values of a measure over the draws of a run; accuracy and F in percent."""
        scale = 100 if measure in ("accuracy", "f1") else 1
        return np.array([scale * float(r[measure]) for r in self._draws(run) if r[measure] != ""])

    def errors(self, run: Run) -> list[str]:
        """Distinct error messages of a method that failed on a draw."""
        return list(dict.fromkeys(r["error"] for r in self._draws(run) if r.get("error")))

    def _draws(self, run: Run) -> list[dict[str, str]]:
        return [line for key, line in self.by_key().items() if replace(key, draw=run.draw) == run]


def setup() -> dict[str, str]:
    """Machine and versions of a run, as they are stored with it."""
    return {
        "machine": f"{cpu()}, {cores()} cores, Python {platform.python_version()}",
        "versions": "; ".join(f"{name} {v}" for name, v in versions(PACKAGES).items()),
    }


def last_step(model: Any) -> Any:
    """Last step of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def settings(run: Run, model: Any) -> str:
    """Describe everything that the result of a run depends on."""
    free = {name: None for name in model.get_params() if name.split("__")[-1] in FREE}
    chosen = " ".join(repr(clone(model).set_params(**free)).split())
    options = OPTIONS.get(run.dataset)
    return f"{chosen} on {run.dataset} with {options}" if options else chosen


def is_stale(run: Run, line: dict[str, str]) -> bool:
    """Whether a stored run was done with other settings; old lines have none."""
    if not line.get("settings"):
        return False
    setting = Setting(run, float(line["prior"]) if line["prior"] else None)
    return line["settings"] != settings(run, METHODS[run.method].make(setting))


@dataclass(frozen=True)
class Drawn:
    """Input of a fit and of its evaluation."""

    X: Any
    labels: np.ndarray
    X_test: Any
    y_test: np.ndarray


def draw(run: Run, data: Split, method: Method) -> Drawn:
    """Draw the labeled samples, and with `run.prior` also the population and the test samples."""
    X, labels, X_test, y_test = data.X, data.y, data.X_test, data.y_test
    if not (method.supervised or data.is_pu):
        draws = {"prior": run.prior, "random_state": run.draw}
        X, labels = make_pu(X, labels, n_labeled=run.n_labeled, scenario=run.scenario, **draws)
        if run.prior is not None:
            rows = population_rows(y_test, **draws)
            X_test, y_test = take_rows(X_test, rows), y_test[rows]
    if not method.takes_tables:
        X, X_test = as_numbers(X, X_test)
    if isinstance(X, np.ndarray) and X.shape[1] <= NARROW:
        X = np.asfortranarray(X)
    return Drawn(X, labels, X_test, y_test)


def population_rows(y: np.ndarray, **draws: Any) -> np.ndarray:
    """Draw rows with a class prior; all of them are rows of a single training set."""
    scenario = "single-training-set"
    return make_pu(y[:, None], y, n_labeled=1, scenario=scenario, return_index=True, **draws)[2]


def take_rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def describe(run: Run, data: Split, model: Any, prior: float | None) -> dict[str, Any]:
    """Return the line of a run without its results."""
    return dict.fromkeys(FIELDS, "") | {
        "dataset": run.dataset,
        "method": run.method,
        "draw": run.draw,
        "n_labeled": run.n_labeled,
        "scenario": run.scenario,
        "features": data.X.shape[1],
        "prior": "" if prior is None else prior,
        "resampled_prior": "" if run.prior is None else run.prior,
        **setup(),
        "settings": settings(run, model),
        "differs": data.differs,
    }


def perform(
    run: Run,
    data: Split,
    threads: int,
    scratch: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Draw the labeled samples, fit and evaluate. An error of the method is a result, too."""
    method = METHODS[run.method]
    prior = None if data.is_pu else float(data.y.mean() if run.prior is None else run.prior)
    model = method.make(Setting(run, prior, threads, scratch, tell))
    checkpoint = getattr(last_step(model), "checkpoint", None)
    resumed = checkpoint is not None and checkpoint.is_file()
    if checkpoint is not None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
    record = describe(run, data, model, prior) | {"threads": threads}
    with warnings.catch_warnings(), threadpool_limits(threads):
        for category, message in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", message, category)
        try:
            drawn = draw(run, data, method)
            if not method.supervised:
                record["unlabeled"] = int((drawn.labels == 0).sum())
            started, cpu_started = time.perf_counter(), time.process_time()
            model.fit(drawn.X, drawn.labels)
            if not resumed:  # otherwise only a part of the fit was timed
                record["fit_seconds"] = time.perf_counter() - started
                record["fit_cpu_seconds"] = time.process_time() - cpu_started
            record["epochs"] = getattr(last_step(model), "n_iter_", "") if checkpoint else ""
            record |= evaluate(model, method, drawn, prior)
        except ValueError as error:
            return record | {"error": " ".join(str(error).split())}
        if method.risk is not None:
            record["train_risk"] = pu_risk_score(
                drawn.labels,
                2.0 * model.predict(drawn.X) - 1,
                prior=prior,
                scenario=run.scenario,
                risk=method.risk,
                loss="zero-one",
            )
    return record


def evaluate(model: Any, method: Method, drawn: Drawn, prior: float | None) -> dict[str, float]:
    """Evaluate a fitted model; predictions only where the class prior is known."""
    X, y = drawn.X_test, drawn.y_test
    score = measures.scores(model, X)
    found = {} if score is None else measures.of_ranking(y, score)
    if prior is not None:
        cut = method.cut_at_prior and score is not None
        predicted = measures.cut_at_prior(score, prior) if cut else model.predict(X)
        found |= measures.of_predictions(y, predicted)
        if method.has_probabilities:
            probability = np.clip(model.predict_proba(X)[:, 1], 0, 1)
            found["calibration_error"] = measures.calibration_error(y, probability)
            found["calibration_floor"] = measures.calibration_floor(probability)
    return found


def by_dataset(runs: Iterable[Run]) -> Iterator[tuple[str, list[Run]]]:
    runs = list(runs)
    for name in dict.fromkeys(run.dataset for run in runs):
        yield name, [run for run in runs if run.dataset == name]


def perform_all(
    runs: Iterable[Run],
    results: Results,
    load: Callable[[str], Split | WholeTable],
    *,
    threads: int,
) -> dict[str, str]:
    """Do the missing runs, one data set at a time.

    Returns error messages of data sets that could not be loaded, whose runs are skipped.
    """
    scratch = results.path.parent / "scratch"
    missing = results.missing(runs)
    unavailable: dict[str, str] = {}
    with tqdm(total=len(missing), unit="run", disable=None) as bar:
        for name, those in by_dataset(missing):
            try:
                data = load(name)
            except NO_DATA as error:
                unavailable[name] = str(error)
                bar.update(len(those))
                continue
            for run in those:
                bar.set_description(f"{name}: {run.method}, draw {run.draw}")
                if results.missing([run]):  # another process may have done it
                    split = data.split(run.draw)
                    results.add(perform(run, split, threads, scratch, bar.set_postfix_str))
                bar.update()
    return unavailable


def perform_and_write(
    runs: Iterable[Run],
    results: Results,
    load: Callable[[str], Split | WholeTable],
    write: Callable[[], None],
    *,
    threads: int,
    unavailable: dict[str, str],
) -> None:
    """Do the missing runs and write the page, also after an interruption."""
    interrupted = False
    try:
        unavailable = unavailable | perform_all(runs, results, load, threads=threads)
    except KeyboardInterrupt:
        interrupted = True
    write()
    end(unavailable, interrupted=interrupted)


def end(unavailable: dict[str, str], *, interrupted: bool) -> None:
    """Exit with a message if the run was interrupted or data sets were skipped."""
    if interrupted:
        raise SystemExit("interrupted: run the same command again to resume")
    if unavailable:
        raise SystemExit("\n".join(f"skipped {name}: {e}" for name, e in unavailable.items()))
