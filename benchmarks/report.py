"""Tables out of the results of compare.py: medians, and ratios to scikit-learn in the same run.

python benchmarks/report.py benchmarks/results/compare.jsonl > benchmarks/results/compare.md
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

REFERENCE = {
    "pn": "scikit-learn ExtraTrees",
    "pu": "scikit-learn ExtraTrees, P against U",
}
MEASURES = ("fit", "predict_batch", "predict_one")

Key = tuple[str, int, int, str]


def medians(records: list[dict[str, Any]]) -> dict[Key, dict[str, dict[str, Any]]]:
    """By (workload, trees, threads, task) and contestant, the median of each measure."""
    groups: dict[Key, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for r in records:
        key = (r["workload"], r["trees"], r["threads"], r["task"])
        groups[key][r["contestant"]].append(r)
    result: dict[Key, dict[str, dict[str, Any]]] = {}
    for key, contestants in groups.items():
        result[key] = {}
        for name, runs in contestants.items():
            rounds = [r for r in runs if "fit" in r]
            row: dict[str, Any] = {"rounds": len(rounds)}
            for measure in (*MEASURES, "accuracy"):
                row[measure] = statistics.median(r[measure] for r in rounds)
            row["bytes_per_node"] = rounds[0]["bytes_per_node"]
            row["memory"] = next((r["memory_over_x"] for r in runs if "memory_over_x" in r), None)
            result[key][name] = row
    return result


def cell(value: float, reference: float | None, unit: float, digits: int) -> str:
    text = f"{value / unit:.{digits}f}"
    return text if not reference else f"{text} ({reference / value:.1f} x)"


def table(key: Key, rows: dict[str, dict[str, Any]]) -> str:
    workload, trees, threads, task = key
    kind = {"pn": "true classes", "pu": "1000 labelled positives, all rows unlabelled"}[task]
    rounds = min(row["rounds"] for row in rows.values())
    lines = [
        f"**{workload}**, {kind}; {trees} trees, {threads} thread{'s' * (threads > 1)}; medians of "
        f"{rounds} rounds, in brackets how many times faster than {REFERENCE[task]}",
        "",
        "| | fit, s | predict 10,000 rows, s | predict one row, ms | accuracy, % "
        "| bytes a node | memory / X |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    reference = rows.get(REFERENCE[task], {})
    for name, row in sorted(rows.items(), key=lambda item: item[1]["fit"]):
        base = {} if name == REFERENCE[task] else reference
        size, memory = row["bytes_per_node"], row["memory"]
        cells = [
            name,
            cell(row["fit"], base.get("fit"), 1, 2),
            cell(row["predict_batch"], base.get("predict_batch"), 1, 3),
            cell(row["predict_one"], base.get("predict_one"), 1e-3, 2),
            f"{100 * row['accuracy']:.2f}",
            "" if size is None else f"{size:.0f}",
            "" if memory is None else f"{memory:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    records = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    print("# puforest beside others, in one run\n")
    print(f"{records[0]['cpu']}, Python {records[0]['python']}; ", end="")
    print(", ".join(f"{name} {v}" for name, v in records[0]["versions"].items()) + ".\n")
    for key, rows in medians(records).items():
        print(table(key, rows) + "\n")


if __name__ == "__main__":
    main()
