"""Runs of methods on data sets, stored one by one, so that an interrupted run can be resumed.

A run is one fit and its evaluation: a data set, a method and a draw of the labeled samples. It is a
line of a CSV file, with all results, the seed, versions and machine. Tables are views of these
lines, so runs that several tables share are done once.
"""

from __future__ import annotations

import csv
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score
from sklearn.pipeline import Pipeline
from tqdm import tqdm

from benchmarks.machine import cores, cpu, versions
from experiments.data import OPTIONS, Split
from experiments.methods import FREE, METHODS, Run, Setting
from puforest.datasets import make_pu
from puforest.metrics import pu_risk_score
from puforest.prior import PriorEstimatedWarning

PACKAGES = ("puforest", "numpy", "scikit-learn", "torch")
FIELDS = (
    "dataset",
    "method",
    "draw",
    "n_labeled",
    "scenario",
    "unlabeled",
    "features",
    "prior",
    "accuracy",
    "f1",
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


class Lines:
    """A CSV file of results, which is replaced atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        # A line without its last field is incomplete.
        return [line for line in lines if None not in line.values()]

    def key(self, line: dict[str, Any]) -> Any:
        """Key of a line, which is unique in the file."""
        raise NotImplementedError

    def add(self, *records: dict[str, Any]) -> None:
        """Add lines, which replace older ones with the same key.

        The lock allows several processes to run at once.
        """
        new = {self.key(record) for record in records}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        with FileLock(self.path.with_suffix(".lock")), part.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows([line for line in self.lines() if self.key(line) not in new])
            writer.writerows(records)
            file.flush()
            os.fsync(file.fileno())
            part.replace(self.path)


class Results(Lines):
    """The CSV file of the runs."""

    def key(self, line: dict[str, Any]) -> Run:
        return Run.of(line)

    def done(self) -> set[Run]:
        return {Run.of(line) for line in self.lines()}

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Runs that are missing, or that were done with other settings."""
        kept = {Run.of(line): line for line in self.lines()}
        return [run for run in dict.fromkeys(runs) if run not in kept or is_stale(run, kept[run])]

    def values(self, run: Run, measure: str) -> np.ndarray:
        """Values of a measure over the draws of a run; accuracy and F in percent."""
        scale = 100 if measure in ("accuracy", "f1") else 1
        return np.array([scale * float(r[measure]) for r in self._draws(run) if r[measure] != ""])

    def errors(self, run: Run) -> list[str]:
        """Distinct error messages of a method that failed on a draw."""
        return list(dict.fromkeys(r["error"] for r in self._draws(run) if r.get("error")))

    def _draws(self, run: Run) -> list[dict[str, str]]:
        return [r for r in self.lines() if replace(Run.of(r), draw=run.draw) == run]


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
    setting = Setting(run, float(line["prior"]))
    return line["settings"] != settings(run, METHODS[run.method].make(setting))


def perform(
    run: Run,
    data: Split,
    threads: int,
    scratch: Path,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Draw the labeled samples, fit and evaluate. An error of the method is a result, too."""
    method = METHODS[run.method]
    prior = float(data.y.mean())
    model = method.make(Setting(run, prior, threads, scratch, tell))
    checkpoint = getattr(last_step(model), "checkpoint", None)
    resumed = checkpoint is not None and checkpoint.is_file()
    if checkpoint is not None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
    record = dict.fromkeys(FIELDS, "") | {
        "dataset": run.dataset,
        "method": run.method,
        "draw": run.draw,
        "n_labeled": run.n_labeled,
        "scenario": run.scenario,
        "features": data.X.shape[1],
        "prior": prior,
        "threads": threads,
        **setup(),
        "settings": settings(run, model),
        "differs": data.differs,
    }
    X, labels = data.X, data.y
    try:
        if not method.supervised:
            X, labels = make_pu(
                data.X,
                data.y,
                n_labeled=run.n_labeled,
                scenario=run.scenario,
                random_state=run.draw,
            )
            record["unlabeled"] = int((labels == 0).sum())
        if X.shape[1] <= NARROW:
            X = np.asfortranarray(X)
        started, cpu_started = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            # Some methods are meant to estimate the prior.
            warnings.simplefilter("ignore", PriorEstimatedWarning)
            model.fit(X, labels)
    except ValueError as error:
        return record | {"error": str(error)}
    if not resumed:  # otherwise only a part of the fit was timed
        record["fit_seconds"] = time.perf_counter() - started
        record["fit_cpu_seconds"] = time.process_time() - cpu_started
    record["epochs"] = getattr(last_step(model), "n_iter_", "")
    predicted = model.predict(data.X_test)
    record["accuracy"] = accuracy_score(data.y_test, predicted)
    record["f1"] = f1_score(data.y_test, predicted, zero_division=0.0)
    record["test_risk"] = 1 - record["accuracy"]
    if method.risk is not None:
        record["train_risk"] = pu_risk_score(
            labels,
            2.0 * model.predict(X) - 1,
            prior=prior,
            scenario=run.scenario,
            risk=method.risk,
            loss="zero-one",
        )
    return record


def by_dataset(runs: Iterable[Run]) -> Iterator[tuple[str, list[Run]]]:
    runs = list(runs)
    for name in dict.fromkeys(run.dataset for run in runs):
        yield name, [run for run in runs if run.dataset == name]


def perform_all(
    runs: Iterable[Run], results: Results, load: Callable[[str], Split], *, threads: int
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
                    results.add(perform(run, data, threads, scratch, bar.set_postfix_str))
                bar.update()
    return unavailable


def end(unavailable: dict[str, str], *, interrupted: bool) -> None:
    """Exit with a message if the run was interrupted or data sets were skipped."""
    if interrupted:
        raise SystemExit("interrupted: run the same command again to resume")
    if unavailable:
        raise SystemExit("\n".join(f"skipped {name}: {e}" for name, e in unavailable.items()))
