"""Methods over data sets, scenarios and numbers of labelled rows: ranks, and which differ.

python experiments/leaderboard.py --data FOLDER
python experiments/leaderboard.py --datasets mushrooms breast-cancer --labelled 100
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from data import load
from figures import save
from harness import Results, Run, perform_all
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from puforest.scenario import SCENARIOS

METHODS = (
    "nnPU quadratic",
    "PU ET, prior estimated",
    "NaivePUET",
    "PUBaggingET, K = n_p",
    "PUBaggingET, K = n_p, prior known",
    "Elkan-Noto, classic",
    "Elkan-Noto, weighted",
    "spy",
)
DATASETS = ("mushrooms", "20news", "mnist", "cifar-10", "covtype", "unsw-nb15")
LEVEL = 0.05
FAILED = -np.inf


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Mean rank of each column over the rows; 1 is the best, ties share."""
    return np.mean([rankdata(-row) for row in scores], axis=0)


def critical_difference(n_methods: int, n_cases: int) -> float:
    """How far two mean ranks must be apart to differ, by Nemenyi's test at the level of 5 %."""
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cases)))


def collected(
    cases: Sequence[Run], methods: Sequence[str], results: Results, measure: str
) -> tuple[list[Run], np.ndarray]:
    """Means over the draws, a row for each case that all methods have been run on.

    A method that could not learn from one of the draws has failed, which is worse than any mean.
    """
    kept, rows = [], []
    for case in cases:
        runs = [replace(case, method=method) for method in methods]
        failed = [bool(results.errors(run)) for run in runs]
        values = [results.values(run, measure) for run in runs]
        if all(f or len(v) for f, v in zip(failed, values, strict=True)):
            kept.append(case)
            rows.append([FAILED if f else v.mean() for f, v in zip(failed, values, strict=True)])
    return kept, np.array(rows)


def failures(cases: Sequence[Run], methods: Sequence[str], results: Results) -> list[str]:
    """What methods said where they failed, each message once."""
    said: dict[tuple[str, str], list[str]] = {}
    for case, method in product(cases, methods):
        for error in results.errors(replace(case, method=method)):
            where = f"{case.dataset}, {case.scenario}, {case.n_labelled}"
            said.setdefault((method, error), []).append(where)
    return [
        f"{method} failed on {'; '.join(dict.fromkeys(where))}: {error}"
        for (method, error), where in said.items()
    ]


def page(
    cases: list[Run],
    methods: Sequence[str],
    scores: np.ndarray,
    measure: str,
    remarks: Sequence[str],
) -> str:
    ranks = mean_ranks(scores)
    order = np.argsort(ranks)
    lines = ["# Leaderboard", f"Mean {measure} in percent; the best of a row is bold."]
    table = ["| data | scenario | labelled | " + " | ".join(methods[i] for i in order) + " |"]
    table.append("|" + " --- |" * (3 + len(methods)))
    for case, row in zip(cases, scores, strict=True):
        best = row.max()
        texts = ["failed" if value == FAILED else f"{value:.1f}" for value in row]
        cells = [f"**{texts[i]}**" if row[i] == best else texts[i] for i in order]
        table.append(
            f"| {case.dataset} | {case.scenario} | {case.n_labelled} | " + " | ".join(cells) + " |"
        )
    table.append("| **mean rank** | | | " + " | ".join(f"{ranks[i]:.2f}" for i in order) + " |")
    lines.append("\n".join(table))
    if len(cases) > 1 and len(methods) > 2:
        p = friedmanchisquare(*scores.T).pvalue
        cd = critical_difference(len(methods), len(cases))
        lines.append(
            f"Over {len(cases)} cases the methods differ with p = {p:.2g} (Friedman); two of them "
            f"differ at 5 % where their mean ranks are {cd:.2f} apart (Nemenyi)."
        )
    if remarks:
        lines.append("\n".join(f"- {remark}" for remark in remarks))
    return "\n\n".join([*lines, "![Mean ranks of the methods](leaderboard.svg)"]) + "\n"


def draw(methods: Sequence[str], ranks: np.ndarray, cd: float, path: Path) -> None:
    """A critical-difference diagram: bars join methods that cannot be told apart."""
    import matplotlib.pyplot as plt

    order = np.argsort(ranks)
    figure, ax = plt.subplots(figsize=(8, 0.9 + 0.3 * len(methods)), layout="constrained")
    for height, i in enumerate(order[::-1]):
        ax.plot([1, ranks[i]], [height, height], color="#8a8f98", linewidth=0.6)
        ax.plot(ranks[i], height, "o", color="#0b6e99")
        ax.text(ranks[i] + 0.08, height, f"{methods[i]}  {ranks[i]:.2f}", va="center")
    top = len(methods) - 1
    joined = 0.0
    for place, first in enumerate(order):
        last = max(ranks[i] for i in order if ranks[i] <= ranks[first] + cd)
        if last > joined and last > ranks[first]:
            joined = last
            ax.plot([ranks[first], last], [top - place + 0.3] * 2, color="#d9730d", linewidth=3)
    ax.set(xlabel=f"mean rank; bars: less than {cd:.2f} apart", yticks=[])
    ax.set_xlim(1, len(methods) + 1.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets; or PUFOREST_DATA")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--scenarios", nargs="+", default=list(SCENARIOS), choices=SCENARIOS)
    parser.add_argument("--labelled", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--measure", default="accuracy", choices=("accuracy", "f1"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    out = Path(__file__).parent / "leaderboard"
    parser.add_argument("--out", type=Path, default=out, help="folder of the results")
    args = parser.parse_args(arguments)
    results = Results(args.out / "runs.csv")
    cases = [
        Run(dataset, "", 0, n, scenario)
        for dataset, scenario, n in product(args.datasets, args.scenarios, args.labelled)
    ]
    runs = [
        Run(case.dataset, method, i, case.n_labelled, case.scenario)
        for case in cases
        for method in args.methods
        for i in range(args.draws)
    ]
    try:
        perform_all(
            runs,
            results,
            lambda name: load(name, args.data),
            threads=args.threads,
            failures=True,
        )
    except KeyboardInterrupt:
        raise SystemExit("\ninterrupted: run the same command again to go on") from None
    kept, scores = collected(cases, args.methods, results, args.measure)
    remarks = failures(kept, args.methods, results)
    text = page(kept, args.methods, scores, args.measure, remarks)
    (args.out / "leaderboard.md").write_text(text, encoding="utf-8")
    cd = critical_difference(len(args.methods), len(kept))
    draw(args.methods, mean_ranks(scores), cd, args.out / "leaderboard.svg")
    print(args.out / "leaderboard.md")


if __name__ == "__main__":
    main()
