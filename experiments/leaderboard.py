"""Ranks of methods over data sets, scenarios and numbers of labeled samples.

python -m experiments.leaderboard --data FOLDER
python -m experiments.leaderboard --also experiments/more_data.py --datasets mushrooms breast-cancer
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from benchmarks.machine import cores
from experiments.data import load
from experiments.figures import save
from experiments.harness import Results, end, perform_all
from experiments.methods import METHODS, Run
from puforest.datasets import DATASETS
from puforest.scenario import SCENARIOS

COMPARED = (
    "PU ET, prior known",
    "PU ET, prior estimated",
    "NaivePUET",
    "PUBaggingET, K = n_p",
    "PUBaggingET, K = n_p, prior known",
    "Elkan-Noto, classic",
    "Elkan-Noto, weighted",
    "spy",
)
ON = ("mushrooms", "20news", "mnist", "cifar-10", "covtype", "unsw-nb15")
LEVEL = 0.05
FAILED = -np.inf


def ranks_by_dataset(cases: Sequence[Run], scores: np.ndarray) -> np.ndarray:
    """Mean rank of each method over the cases of each data set; 1 is best, ties are averaged.

    Only data sets are independent, not the cases of the same data set.
    """
    ranks = np.array([rankdata(-row) for row in scores])
    names = np.array([case.dataset for case in cases])
    return np.array([ranks[names == name].mean(axis=0) for name in dict.fromkeys(names.tolist())])


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Critical difference of mean ranks in Nemenyi's test at the 5% level."""
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def collected(
    cases: Sequence[Run], methods: Sequence[str], results: Results, measure: str
) -> tuple[list[Run], np.ndarray]:
    """Means over the draws, with a row for each case that all methods were run on.

    A method that failed on one of the draws is ranked below all others.
    """
    kept, rows = [], []
    for case in cases:
        runs = [replace(case, method=method) for method in methods]
        failed = [bool(results.errors(run)) for run in runs]
        values = [results.values(run, measure) for run in runs]
        run_on = all(f or len(v) for f, v in zip(failed, values, strict=True))
        if run_on and not all(failed):  # otherwise there are too few positives to label
            kept.append(case)
            rows.append([FAILED if f else v.mean() for f, v in zip(failed, values, strict=True)])
    return kept, np.array(rows)


def remarks(cases: Sequence[Run], methods: Sequence[str], results: Results) -> list[str]:
    """Distinct error messages of the methods, and notes on the data sets."""
    said: dict[tuple[str, str], list[str]] = {}
    for case, method in product(cases, methods):
        for error in results.errors(replace(case, method=method)):
            where = f"{case.dataset}, {case.scenario}, {case.n_labeled} labeled"
            said.setdefault((method, error), []).append(where)
    names = {case.dataset for case in cases}
    differs = {r["dataset"]: r["differs"] for r in results.lines() if r["differs"]}
    return [
        f"{method} failed on {'; '.join(where)}: {error}" for (method, error), where in said.items()
    ] + [f"{name}: {text}" for name, text in differs.items() if name in names]


def page(
    cases: Sequence[Run],
    methods: Sequence[str],
    scores: np.ndarray,
    measure: str,
    notes: Sequence[str],
) -> str:
    by_dataset = ranks_by_dataset(cases, scores)
    ranks = by_dataset.mean(axis=0)
    order = np.argsort(ranks)
    lines = [
        "# Leaderboard",
        f"Mean {measure} over the draws, in percent; the best result of each row is bold. Ranks "
        "are averaged over the rows of a data set, then over data sets.",
    ]
    table = ["| data | scenario | labeled | " + " | ".join(methods[i] for i in order) + " |"]
    table.append("|" + " --- |" * (3 + len(methods)))
    for case, row in zip(cases, scores, strict=True):
        best = row.max()
        texts = ["failed" if value == FAILED else f"{value:.1f}" for value in row]
        cells = [f"**{texts[i]}**" if row[i] == best else texts[i] for i in order]
        table.append(
            f"| {case.dataset} | {case.scenario} | {case.n_labeled} | " + " | ".join(cells) + " |"
        )
    table.append("| **mean rank** | | | " + " | ".join(f"{ranks[i]:.2f}" for i in order) + " |")
    lines.append("\n".join(table))
    if len(by_dataset) > 1 and len(methods) > 2:
        p = friedmanchisquare(*by_dataset.T).pvalue
        cd = critical_difference(len(methods), len(by_dataset))
        lines.append(
            f"Over {len(by_dataset)} data sets, the methods differ with p = {p:.2g} (Friedman "
            f"test). Two methods differ at the 5% level if their mean ranks differ by {cd:.2f} "
            "(Nemenyi test)."
        )
    if notes:
        lines.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join([*lines, "![Mean ranks of the methods](leaderboard.svg)"]) + "\n"


def draw(methods: Sequence[str], ranks: np.ndarray, cd: float, path: Path) -> None:
    """Draw a critical-difference diagram: bars join methods that do not differ significantly."""
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
    ax.set(xlabel=f"mean rank; bars: difference below {cd:.2f}", yticks=[])
    ax.set_xlim(1, len(methods) + 1.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    save(figure, path)


def write(
    cases: Sequence[Run], methods: Sequence[str], results: Results, measure: str, folder: Path
) -> None:
    """Write the page and its figure for all complete cases."""
    kept, scores = collected(cases, methods, results, measure)
    if not kept:
        print("no case was run with all methods yet")
        return
    text = page(kept, methods, scores, measure, remarks(kept, methods, results))
    (folder / "leaderboard.md").write_text(text, encoding="utf-8")
    by_dataset = ranks_by_dataset(kept, scores)
    cd = critical_difference(len(methods), len(by_dataset))
    draw(methods, by_dataset.mean(axis=0), cd, folder / "leaderboard.svg")
    print(folder / "leaderboard.md")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, help="folder of the data sets (default: PUFOREST_DATA)"
    )
    parser.add_argument(
        "--also",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="Python files that add data sets and methods, such as more_data.py",
    )
    parser.add_argument("--datasets", nargs="+", default=list(ON))
    parser.add_argument("--methods", nargs="+", default=list(COMPARED))
    parser.add_argument("--scenarios", nargs="+", default=list(SCENARIOS), choices=SCENARIOS)
    parser.add_argument("--labeled", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--measure", default="accuracy", choices=("accuracy", "f1"))
    parser.add_argument("--threads", type=int, default=cores())
    out = Path(__file__).parent / "leaderboard"
    parser.add_argument("--out", type=Path, default=out, help="folder for the results")
    args = parser.parse_args(arguments)
    for path in args.also:
        runpy.run_path(str(path))
    for option, given, known in (
        ("--datasets", args.datasets, DATASETS),
        ("--methods", args.methods, METHODS),
    ):
        if unknown := [name for name in given if name not in known]:
            parser.error(
                f"{option}: unknown {unknown[0]}; known are {', '.join(known)}; --also adds more"
            )
    results = Results(args.out / "runs.csv")
    cases = [
        Run(dataset, "", 0, n, scenario)
        for dataset, scenario, n in product(args.datasets, args.scenarios, args.labeled)
    ]
    runs = [
        replace(case, method=method, draw=i)
        for case in cases
        for method in args.methods
        for i in range(args.draws)
    ]
    unavailable: dict[str, str] = {}
    interrupted = False
    try:
        unavailable = perform_all(
            runs, results, lambda name: load(name, args.data), threads=args.threads
        )
    except KeyboardInterrupt:
        interrupted = True
    write(cases, args.methods, results, args.measure, args.out)
    end(unavailable, interrupted=interrupted)


if __name__ == "__main__":
    main()
