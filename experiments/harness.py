"""Runs of methods on data sets, kept one by one, so that a killed run goes on where it was.

A run is one fit and its test: a data set, a method and a draw of the labeled rows. It takes one
line of a CSV file, with all that was measured, the seed, versions and machine. Tables are views
of these lines, so what two tables share is run once.
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
# Up to so many features, methods are given matrices whose columns are together. On Covertype
# scikit-learn's trees take little more than half the time then; on CIFAR-10 they would take more.
NARROW = 100
# What a data set that cannot be had raises: files are missing, damaged, or need a package.
NO_DATA = (FileNotFoundError, ImportError, ValueError)


class Lines:
    """A CSV file of what was measured, replaced in one go when there is more: never cut short."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        # A line without its last field was cut short.
        return [line for line in lines if None not in line.values()]

    def key(self, line: dict[str, Any]) -> Any:
        """What there is one line of."""
        raise NotImplementedError

    def add(self, *records: dict[str, Any]) -> None:
        """Keep lines, which replace older ones of the same key.

        Runs may go on in several processes at once, hence the lock.
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
    """The file of runs."""

    def key(self, line: dict[str, Any]) -> Run:
        return Run.of(line)

    def done(self) -> set[Run]:
        return {Run.of(line) for line in self.lines()}

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Those that are not there, or that have been done with other settings than are set now."""
        kept = {Run.of(line): line for line in self.lines()}
        return [run for run in dict.fromkeys(runs) if run not in kept or is_stale(run, kept[run])]

    def values(self, run: Run, measure: str) -> np.ndarray:
        """A measure over the draws of a run, in percent where it is a share of rows."""
        scale = 100 if measure in ("accuracy", "f1") else 1
        return np.array([scale * float(r[measure]) for r in self._draws(run) if r[measure] != ""])

    def errors(self, run: Run) -> list[str]:
        """What a method said where it could not learn from a draw, each once."""
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
    """The classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def settings(run: Run, model: Any) -> str:
    """All that was chosen for a run, in words: with the same words, the same result."""
    free = {name: None for name in model.get_params() if name.split("__")[-1] in FREE}
    chosen = " ".join(repr(clone(model).set_params(**free)).split())
    options = OPTIONS.get(run.dataset)
    return f"{chosen} on {run.dataset} with {options}" if options else chosen


def is_stale(run: Run, line: dict[str, str]) -> bool:
    """Whether a run that is kept was done with other settings; old lines do not say."""
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
    """Draw the labeled rows, fit, test. That a method refuses the data is a result too."""
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
            # Methods that are to estimate the prior need not say so.
            warnings.simplefilter("ignore", PriorEstimatedWarning)
            model.fit(X, labels)
    except ValueError as error:
        return record | {"error": str(error)}
    if not resumed:  # else only the last part of the fit was timed
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
    """Do what is missing of the runs, a data set at a time.

    Returns what is wrong with data sets that could not be loaded, whose runs are left out.
    """
    scratch = results.path.parent / "scratch"
    missing = results.missing(runs)
    not_there: dict[str, str] = {}
    with tqdm(total=len(missing), unit="run", disable=None) as bar:
        for name, those in by_dataset(missing):
            try:
                data = load(name)
            except NO_DATA as error:
                not_there[name] = str(error)
                bar.update(len(those))
                continue
            for run in those:
                bar.set_description(f"{name}: {run.method}, draw {run.draw}")
                if results.missing([run]):  # another process may have been here
                    results.add(perform(run, data, threads, scratch, bar.set_postfix_str))
                bar.update()
    return not_there


def end(not_there: dict[str, str], *, interrupted: bool) -> None:
    """Say what was left out, and how to go on."""
    if interrupted:
        raise SystemExit("interrupted: run the same command again to go on")
    if not_there:
        raise SystemExit("\n".join(f"left out {name}: {e}" for name, e in not_there.items()))
