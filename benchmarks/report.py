"""Tables and a chart from the results of `benchmarks.compare`: medians, and their ratios.

    python -m benchmarks.report

Only records with the setup (machine, versions, build) of the last one are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT
from benchmarks.plots import Rows, plain, speed_chart
from benchmarks.records import (
    RESULTS,
    between_markers,
    describe_setup,
    markdown,
    plural,
    read_lines,
    setup_key,
)

ET, RF = "puforest extra trees, PN", "puforest random forest, PN"
PU, PU_MAX = "puforest extra trees, nnPU", "puforest extra trees, nnPU, max_unlabeled = 10 n_p"
SK_ET, SK_RF = "scikit-learn ExtraTrees", "scikit-learn RandomForest"
SK_PU = "scikit-learn ExtraTrees, P against U"
IX_ET, IX_RF = "scikit-learn-intelex ExtraTrees", "scikit-learn-intelex RandomForest"
PULEARN = "pulearn bagging of trees, K = n_p"
AUTHORS = "the authors' PUExtraTrees"
REFERENCE = {"pn": SK_ET, "pu": SK_PU}

MEASURES = {
    "fit": "fit",
    "predict_batch": "predict 10,000 rows",
    "predict_one": "predict one row",
}
WORKLOADS = {"mnist": "MNIST", "cifar-10": "CIFAR-10", "covtype": "Covertype"}
NOT_MEASURED = "not measured"
SECTION = "speed"  # of the README


def title(workload: str) -> str:
    if not workload.startswith("synthetic-"):
        return WORKLOADS.get(workload, workload)
    n, d = workload.removeprefix("synthetic-").split("x")
    return f"synthetic {int(n):,} × {d}"


class Results:
    """Medians over the rounds by workload, number of trees, threads and contestant."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        if not records:
            raise SystemExit("no results: run `make bench` first")
        self.records = [r for r in records if setup_key(r) == setup_key(records[-1])]
        self.left_out = len(records) - len(self.records)
        groups: dict[tuple[str, int, int, str], list[dict[str, Any]]] = defaultdict(list)
        for r in self.records:
            groups[r["workload"], r["trees"], r["threads"], r["contestant"]].append(r)
        self.rows = {key: row for key, runs in groups.items() if (row := self._row(runs))}
        # Ratios are reported for the number of trees that was measured most often.
        self.trees = Counter(r["trees"] for r in self.records).most_common(1)[0][0]
        self.threads = sorted({threads for _, _, threads, _ in self.rows})
        self.workloads = list(dict.fromkeys(workload for workload, *_ in self.rows))

    @staticmethod
    def _row(runs: list[dict[str, Any]]) -> dict[str, Any] | None:
        rounds = [r for r in runs if "fit" in r]
        if not rounds:
            return None
        row: dict[str, Any] = {"rounds": len(rounds), "task": rounds[0]["task"]}
        for name in (*MEASURES, "fit_cpu", "accuracy", "balanced_accuracy", "f1"):
            values = [r[name] for r in rounds if name in r]
            row[name] = statistics.median(values) if values else None
        row["range"] = min(r["fit"] for r in rounds), max(r["fit"] for r in rounds)
        for name in ("bytes_per_node", "memory_over_x"):
            row[name] = next((r[name] for r in runs if r.get(name) is not None), None)
        row["fallback"] = any(r.get("fallback") for r in rounds)
        return row

    def get(
        self, workload: str, threads: int, contestant: str, measure: str, trees: int | None = None
    ) -> Any:
        row = self.rows.get((workload, trees or self.trees, threads, contestant))
        return None if row is None else row[measure]

    def ratio(
        self,
        workload: str,
        threads: int,
        measure: str,
        ours: str,
        theirs: str,
        trees: int | None = None,
    ) -> float | None:
        """Speedup of ours over theirs."""
        a = self.get(workload, threads, ours, measure, trees)
        b = self.get(workload, threads, theirs, measure, trees)
        return b / a if a and b else None

    def common_trees(self, workload: str, ours: str, theirs: str) -> int:
        """Number of trees that both were measured with on one thread.

        This is the usual number unless one of them is slow and was measured with fewer trees.
        """
        both = [
            {t for w, t, n, who in self.rows if (w, n, who) == (workload, 1, name)}
            for name in (ours, theirs)
        ]
        shared = both[0] & both[1]
        return self.trees if self.trees in shared or not shared else max(shared)

    def scaling(self, workload: str, contestant: str) -> float | None:
        """Speedup of the fit on all threads over one thread."""
        one = self.get(workload, 1, contestant, "fit")
        every = self.get(workload, self.threads[-1], contestant, "fit")
        return one / every if self.threads[-1] > 1 and one and every else None


@dataclass(frozen=True)
class Target:
    """`kind` is "faster" (speedup over `theirs`), "threads" (over one thread) or "at most"."""

    what: str
    workload: str
    measure: str
    ours: str
    theirs: str
    wanted: float
    kind: str = "faster"

    def measured(self, results: Results, threads: int) -> float | None:
        if self.kind == "threads":
            return results.scaling(self.workload, self.ours) if threads > 1 else None
        if self.kind == "faster":
            return results.ratio(self.workload, threads, self.measure, self.ours, self.theirs)
        value = results.get(self.workload, threads, self.ours, self.measure)
        other = results.get(self.workload, threads, self.theirs, self.measure)
        if not self.theirs or value is None:
            return value
        return value / other if other else None

    def verdict(self, results: Results, threads: int) -> str:
        value = self.measured(results, threads)
        if value is None:
            return NOT_MEASURED
        met = value <= self.wanted if self.kind == "at most" else value >= self.wanted
        unit = "" if self.kind == "at most" else "×"
        return f"{value:.2f}{unit}, {'met' if met else '**missed**'}"


def targets() -> list[Target]:
    found = [Target("fit, true classes", "mnist", "fit", ET, SK_ET, 5)]
    found += [Target("fit, true classes", w, "fit", ET, SK_ET, 4) for w in ("cifar-10", "covtype")]
    found += [
        Target("fit, nnPU", "mnist", "fit", PU, SK_PU, 20),
        Target("fit, nnPU, max_unlabeled", "mnist", "fit", PU_MAX, SK_PU, 50),
        Target("fit, random forest, true classes", "mnist", "fit", RF, SK_RF, 3),
    ]
    for measure, wanted in (("predict_batch", 5), ("predict_one", 50)):
        found += [Target(MEASURES[measure], w, measure, ET, SK_ET, wanted) for w in WORKLOADS]
    found += [
        Target("fit on all threads", w, "fit", who, "puforest on one thread", 1.8, "threads")
        for w, who in (("mnist", ET), ("mnist", PU), ("cifar-10", ET), ("covtype", ET))
    ]
    return [
        *found,
        Target("peak memory of the fit / X", "mnist", "memory_over_x", ET, "", 0.6, "at most"),
        Target("peak memory of the fit / X", "mnist", "memory_over_x", PU, "", 0.6, "at most"),
        Target("bytes per node / theirs", "mnist", "bytes_per_node", ET, SK_ET, 0.5, "at most"),
    ]


def target_table(results: Results) -> str:
    rows = []
    for t in targets():
        wanted = f"≤ {t.wanted:g}" if t.kind == "at most" else f"≥ {t.wanted:g}×"
        apply = [t.kind != "threads" or n == results.threads[-1] for n in results.threads]
        cells = [t.verdict(results, n) * a for n, a in zip(results.threads, apply, strict=True)]
        rows.append([title(t.workload), t.what, t.ours, t.theirs, wanted, *cells])
    columns = [plural(n, "thread") for n in results.threads]
    return markdown(["data", "measure", "contestant", "compared with", "target", *columns], rows)


def number(value: float | None, digits: int, scale: float = 1) -> str:
    return "" if value is None else f"{value * scale:.{digits}f}"


def table(results: Results, workload: str, trees: int, threads: int, task: str) -> str:
    """Table of all contestants of a task, the fastest fit first."""
    rows = {
        who: row
        for (w, t, n, who), row in results.rows.items()
        if (w, t, n, row["task"]) == (workload, trees, threads, task)
    }
    reference = REFERENCE[task]
    base = rows.get(reference, {})

    def timed(who: str, measure: str, scale: float, digits: int) -> str:
        text = number(rows[who][measure], digits, scale)
        if who == reference or not base:
            return text
        return f"{text} ({plain(base[measure] / rows[who][measure])}×)"

    lines = []
    for who, row in sorted(rows.items(), key=lambda item: item[1]["fit"]):
        name = who + (" (fell back to scikit-learn)" if row["fallback"] else "")
        # An extra thread shows as one more second of CPU time per second.
        busy = row["fit_cpu"] and row["fit_cpu"] / row["fit"]
        name += f" (used {busy:.1f} cores)" if busy and busy > threads + 0.2 else ""
        lines.append(
            [
                name,
                timed(who, "fit", 1, 2),
                f"{row['range'][0]:.2f} to {row['range'][1]:.2f}",
                timed(who, "predict_batch", 1, 3),
                timed(who, "predict_one", 1000, 2),
                number(row["accuracy"], 2, 100),
                number(row["balanced_accuracy"], 2, 100),
                number(row["f1"], 2, 100),
                number(row["bytes_per_node"], 0),
                number(row["memory_over_x"], 2),
            ]
        )
    kind = {"pn": "true classes", "pu": "PU labels (all rows are in the unlabeled set)"}[task]
    rounds = min(row["rounds"] for row in rows.values())
    about = (
        f"**{title(workload)}**, {kind}; {plural(trees, 'tree')}, {plural(threads, 'thread')}; "
        f"medians of {plural(rounds, 'round')}"
        + (f"; in parentheses, speedup over {reference}" if base else "")
        + "."
    )
    header = [
        "",
        "fit, s",
        "range of fit times, s",
        "predict 10,000 rows, s",
        "predict one row, ms",
        "accuracy, %",
        "balanced accuracy, %",
        "F1, %",
        "bytes per node",
        "peak memory / X",
    ]
    return about + "\n\n" + markdown(header, lines)


def page(results: Results) -> str:
    """Page with all measurements."""
    parts = [
        "# puforest compared with alternatives",
        describe_setup(results.records[0]) + ".",
        "## Targets",
        target_table(results),
        "## All measurements",
    ]
    groups = {(w, t, n, row["task"]) for (w, t, n, _), row in results.rows.items()}
    order = sorted(groups, key=lambda g: (results.workloads.index(g[0]), *g[1:]))
    return "\n\n".join([*parts, *(table(results, *group) for group in order)]) + "\n"


# Comparisons in the README and in the chart.
COMPARED = [
    ("fit", ET, SK_ET),
    ("fit", ET, IX_ET),
    ("fit", RF, SK_RF),
    ("fit", RF, IX_RF),
    ("fit", PU, SK_PU),
    ("fit", PU_MAX, SK_PU),
    ("fit", PU, PULEARN),
    ("fit", PU, AUTHORS),
    ("predict_batch", ET, SK_ET),
    ("predict_batch", ET, IX_ET),
    ("predict_one", ET, SK_ET),
    ("predict_one", ET, IX_ET),
]
PLAIN_FITS = [("fit", ET, SK_ET), ("fit", PU, SK_PU)]


def summary(results: Results) -> str:
    """Section of the README: all comparisons on the first workload, fits on the others."""
    rows = []
    for i, workload in enumerate(results.workloads):
        for measure, ours, theirs in COMPARED:
            trees = results.common_trees(workload, ours, theirs)
            ratio = results.ratio(workload, 1, measure, ours, theirs, trees)
            if ratio is None or (i and (measure, ours, theirs) not in PLAIN_FITS):
                continue
            accuracies = [results.get(workload, 1, w, "accuracy", trees) for w in (ours, theirs)]
            what = f"{title(workload)}: {MEASURES[measure]}, {ours.removeprefix('puforest ')}"
            what += f" ({plural(trees, 'tree')})" * (trees != results.trees)
            accuracy = " / ".join(f"{100 * a:.1f}" for a in accuracies)
            fell = " (fell back)" * bool(results.get(workload, 1, theirs, "fallback", trees))
            rows.append([what, theirs + fell, f"{plain(ratio)}×", accuracy])
        if not i and (ratio := results.scaling(workload, ET)):
            what = f"{title(workload)}: fit on {results.threads[-1]} threads, extra trees, PN"
            rows.append([what, "puforest on one thread", f"{plain(ratio)}×", ""])
    missing = [name for w, name in WORKLOADS.items() if w not in results.workloads]
    everybody = {who for *_, who in results.rows}
    missing += [who for who in (RF, IX_ET, IX_RF, PULEARN, AUTHORS) if who not in everybody]
    rounds = min(row["rounds"] for row in results.rows.values())
    parts = [
        f"Speedup on one thread with {plural(results.trees, 'tree')}, unless noted otherwise: "
        f"ratios of medians over {plural(rounds, 'round')}. PN is ordinary supervised learning; "
        '"P against U" treats unlabeled rows as negatives.',
        markdown(["task", "compared with", "speedup", "accuracy, %: puforest / other"], rows)
        if rows
        else f"On one thread: {NOT_MEASURED}.",
        f"{describe_setup(results.records[0])}."
        + (f" Not measured: {'; '.join(missing)}." if missing else ""),
        "![Speedup over alternatives](benchmarks/results/speed.svg)",
        "All results are in [benchmarks/results/compare.md](benchmarks/results/compare.md), the "
        "raw data in [compare.jsonl](benchmarks/results/compare.jsonl). Reproduce them with "
        "`make bench DATA=folder`; see [benchmarks/README.md](benchmarks/README.md).",
    ]
    return "\n\n".join(parts)


def panels(results: Results) -> dict[str, Rows]:
    found: dict[str, list[tuple[str, dict[str, float]]]] = {}
    for measure, ours, theirs in COMPARED:
        ratios = {
            title(w): ratio
            for w in results.workloads
            if (
                ratio := results.ratio(
                    w, 1, measure, ours, theirs, results.common_trees(w, ours, theirs)
                )
            )
        }
        name = ours.removeprefix("puforest ").removesuffix(" = 10 n_p")
        heading = MEASURES[measure][0].upper() + MEASURES[measure][1:]
        found.setdefault(heading, []).append((f"{name}\nvs. {theirs}", ratios))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="?", default=RESULTS / "compare.jsonl")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder for compare.md and the chart"
    )
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    args = parser.parse_args(arguments)
    results = Results(read_lines(args.results))
    readme = between_markers(args.readme.read_text(), SECTION, summary(results))
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "compare.md").write_text(page(results))
    note = f"speedup; one thread, {plural(results.trees, 'tree')} or fewer"
    speed_chart(panels(results), note, args.out / "speed.svg")
    args.readme.write_text(readme)
    print(target_table(results))
    if results.left_out:
        print(f"{results.left_out} records of other setups omitted", file=sys.stderr)


if __name__ == "__main__":
    main()
