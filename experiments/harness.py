"""Runs of methods on data sets, kept one by one, so that a killed run goes on where it was.

A run is one fit and its test: a data set, a method and a draw of the labelled rows. It takes one
line of a CSV file, with all that was measured, the seed, versions and machine. Tables are views
of these lines, so what two tables share is run once.
"""

from __future__ import annotations

import csv
import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from data import Split
from filelock import FileLock
from methods import METHODS, Setting
from sklearn.metrics import accuracy_score, f1_score
from sklearn.pipeline import Pipeline
from tqdm import tqdm

from puforest.datasets import make_pu
from puforest.metrics import pu_risk_score
from puforest.prior import PriorEstimatedWarning

VERSIONED = ("puforest", "numpy", "scikit-learn", "torch")
FIELDS = (
    "dataset",
    "method",
    "draw",
    "n_labelled",
    "scenario",
    "unlabelled",
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
    "differs",
    "error",
)


@dataclass(frozen=True)
class Run:
    """Supervised methods learn from all classes, whatever the number of labelled rows is."""

    dataset: str
    method: str
    draw: int
    n_labelled: int = 1000  # the paper's
    scenario: str = "case-control"

    @classmethod
    def of(cls, line: dict[str, str]) -> Run:
        numbers = int(line["draw"]), int(line["n_labelled"])
        return cls(line["dataset"], line["method"], *numbers, line["scenario"])


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

    def add(self, *records: dict[str, Any]) -> None:
        """Runs may go on in several processes at once, hence the lock."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        with FileLock(self.path.with_suffix(".lock")), part.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows([*self.lines(), *records])
            file.flush()
            os.fsync(file.fileno())
            part.replace(self.path)


class Results(Lines):
    """The file of runs."""

    def done(self) -> set[Run]:
        return {Run.of(line) for line in self.lines()}

    def values(self, run: Run, measure: str) -> np.ndarray:
        """A measure over the draws of a run, in percent where it is a share of rows."""
        scale = 100 if measure in ("accuracy", "f1") else 1
        return np.array([scale * float(r[measure]) for r in self._draws(run) if r[measure] != ""])

    def errors(self, run: Run) -> list[str]:
        """What a method said where it could not learn from a draw."""
        return [r["error"] for r in self._draws(run) if r.get("error")]

    def _draws(self, run: Run) -> list[dict[str, str]]:
        return [r for r in self.lines() if replace(Run.of(r), draw=run.draw) == run]


def machine() -> str:
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def versions() -> str:
    found = []
    for name in VERSIONED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return "; ".join(found)


def zero_one_risk(
    model: Any, X: np.ndarray, labels: np.ndarray, setting: Setting, risk: str
) -> float:
    """The PU risk of the predictions on the training rows."""
    return pu_risk_score(
        labels,
        2.0 * model.predict(X) - 1,
        prior=setting.prior,
        scenario=setting.scenario,
        risk=risk,
        loss="zero-one",
    )


def last_step(model: Any) -> Any:
    """The classifier of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def perform(
    run: Run, data: Split, threads: int, scratch: Path, *, failures: bool
) -> dict[str, Any]:
    """Draw the labelled rows, fit, test. With `failures`, data that it refuses is a result too."""
    method = METHODS[run.method]
    prior = float(data.y.mean())
    X, labels = data.X, data.y
    if not method.supervised:
        X, labels = make_pu(
            data.X,
            data.y,
            n_labeled=run.n_labelled,
            scenario=run.scenario,
            random_state=run.draw,
        )
    setting = Setting(run.dataset, prior, run.scenario, run.draw, threads, scratch)
    model = method.make(setting)
    record = dict.fromkeys(FIELDS, "") | {
        "dataset": run.dataset,
        "method": run.method,
        "draw": run.draw,
        "n_labelled": run.n_labelled,
        "scenario": run.scenario,
        "unlabelled": "" if method.supervised else int((labels == 0).sum()),
        "features": X.shape[1],
        "prior": prior,
        "threads": threads,
        "machine": machine(),
        "versions": versions(),
        "differs": data.differs,
    }
    started, cpu_started = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            # Methods that are to estimate the prior need not say so.
            warnings.simplefilter("ignore", PriorEstimatedWarning)
            model.fit(X, labels)
    except ValueError as error:
        if not failures:
            raise
        return record | {"error": str(error)}
    record["fit_seconds"] = time.perf_counter() - started
    record["fit_cpu_seconds"] = time.process_time() - cpu_started
    record["epochs"] = getattr(last_step(model), "n_iter_", "")
    predicted = model.predict(data.X_test)
    record["accuracy"] = accuracy_score(data.y_test, predicted)
    record["f1"] = f1_score(data.y_test, predicted, zero_division=0.0)
    record["test_risk"] = 1 - record["accuracy"]
    if method.risk is not None:
        record["train_risk"] = zero_one_risk(model, X, labels, setting, method.risk)
    return record


def by_dataset(runs: Iterable[Run]) -> Iterator[tuple[str, list[Run]]]:
    runs = list(runs)
    for name in dict.fromkeys(run.dataset for run in runs):
        yield name, [run for run in runs if run.dataset == name]


def perform_all(
    runs: Iterable[Run], results: Results, load: Any, *, threads: int, failures: bool = False
) -> None:
    """What is missing of the runs, a data set at a time."""
    scratch = results.path.parent / "scratch"
    done = results.done()
    missing = [run for run in dict.fromkeys(runs) if run not in done]
    with tqdm(total=len(missing), unit="run", disable=None) as bar:
        for name, those in by_dataset(missing):
            data = load(name)
            for run in those:
                bar.set_description(f"{name}: {run.method}, draw {run.draw}")
                if run not in results.done():  # another process may have been here
                    results.add(perform(run, data, threads, scratch, failures=failures))
                bar.update()
