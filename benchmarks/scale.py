"""Growth of fit time and memory with the number of rows, on a memory-mapped table.

Each size is fitted in a separate process, on the first rows of a .npy file in a temporary folder.
Anonymous memory is the memory that the fit itself allocates; cached pages of the file, which the
system can drop, only count in the resident peak.

    python -m benchmarks.scale
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import cores, memory, reset_peak_memory, run_module, setup
from benchmarks.records import (
    RESULTS,
    append_line,
    describe_setup,
    markdown,
    node_count,
    plural,
    read_lines,
)
from benchmarks.workloads import synthetic_file
from puforest import PUExtraTreesClassifier

TASKS = {"pn": "PN", "pu": "nnPU"}


class AnonymousPeak:
    """Sample RssAnon while a block runs; the core releases the GIL."""

    def __enter__(self) -> AnonymousPeak:
        self.before = self.highest = memory("RssAnon")
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while not self.done.wait(0.002):
            self.highest = max(self.highest, memory("RssAnon"))

    def __exit__(self, *error: object) -> None:
        self.done.set()
        self.thread.join()
        self.highest = max(self.highest, memory("RssAnon"))

    @property
    def above(self) -> int:
        return self.highest - self.before


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(folder: Path, task: str, args: argparse.Namespace) -> dict[str, Any]:
    """Measure fits on the first rows and predictions of the last, which no fit uses."""
    n = args.sizes[0]
    table = np.load(folder / "X.npy", mmap_mode="r")
    y = np.load(folder / "y.npy")
    X, prior = table[:n], float(y[:n].mean())
    labels = y[:n].copy()
    if task == "pu":  # every twentieth positive is labeled in place, without copying rows
        positives = np.flatnonzero(labels)
        labels[:] = 0
        labels[positives[::20]] = 1
    forest = PUExtraTreesClassifier(
        prior if task == "pu" else None,
        risk="nnpu" if task == "pu" else "pn",
        scenario="single-training-set",
        n_estimators=args.trees,
        n_jobs=args.threads,
        random_state=0,
    )
    reset_peak_memory()
    resident = memory("VmRSS")
    with AnonymousPeak() as fitting:
        times = [seconds(lambda: forest.fit(X, labels))]
    peak = memory("VmHWM") - resident
    times += [seconds(lambda: forest.fit(X, labels)) for _ in range(args.rounds - 1)]
    batch = table[-args.predict :]
    forest.predict(batch[:10])
    with AnonymousPeak() as predicting:
        predict = seconds(lambda: forest.predict(batch))
    right = forest.predict(batch) == y[-args.predict :]
    return {
        "rows": n,
        "columns": X.shape[1],
        "task": task,
        "trees": args.trees,
        "threads": args.threads,
        "rounds": args.rounds,
        "fit": statistics.median(times),
        "nodes": node_count(forest),
        "anonymous_peak": fitting.above,
        "resident_peak": peak,
        "bytes_per_cell": fitting.above / X.size,
        "predict_rows": len(batch),
        "predict": predict,
        "predict_anonymous_peak": predicting.above,
        "accuracy": float(right.mean()),
    }


def slope(rows: Sequence[float], seconds: Sequence[float]) -> float:
    """Exponent p of a time that grows like rows to the p, by least squares of logarithms."""
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    rows = [
        [
            f"{r['rows']:,}",
            TASKS[r["task"]],
            f"{r['fit']:.3f}",
            f"{r['nodes']:,}",
            f"{r['anonymous_peak'] / 2**20:.1f}",
            f"{r['bytes_per_cell']:.2f}",
            f"{r['resident_peak'] / 2**20:.1f}",
            f"{r['predict']:.3f}",
            f"{r['predict_anonymous_peak'] / 2**20:.1f}",
            f"{100 * r['accuracy']:.1f}",
        ]
        for r in records
    ]
    header = ["rows", "risk", "fit, s", "nodes", "anonymous peak, MiB", "bytes per cell"]
    header += ["resident peak, MiB", "predict, s", "anonymous peak of predict, MiB"]
    header += ["accuracy, %"]
    parts = [
        "# Scaling with the number of rows",
        f"{describe_setup(first)}. Memory-mapped synthetic float32 table with {first['columns']} "
        f"columns of mixed cardinality; {plural(first['trees'], 'tree')}, "
        f"{plural(first['threads'], 'thread')}; medians of {plural(first['rounds'], 'fit')}; "
        f"{first['predict_rows']:,} rows predicted. Peaks are relative to the memory before; a "
        "copy of X would take 4 bytes per cell. The resident peak includes pages of the file.",
        markdown(header, rows),
    ]
    for task, label in TASKS.items():
        line = [(r["rows"], r["fit"]) for r in records if r["task"] == task]
        if len(line) > 1:
            power = slope(*zip(*line, strict=True))
            parts.append(f"Fit time, {label}: proportional to rows^{power:.2f}.")
    return "\n\n".join([*parts, "![](scale.svg)"]) + "\n"


def run(args: argparse.Namespace) -> None:
    out = args.out / "scale.jsonl"
    out.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = max(args.sizes) + args.predict
        np.save(folder / "y.npy", synthetic_file(folder / "X.npy", rows, args.columns))
        for n in sorted(args.sizes):
            for task in TASKS:
                options = ["--measure", name, task, "--sizes", n]
                for option in ("trees", "threads", "rounds", "predict"):
                    options += [f"--{option}", getattr(args, option)]
                record = json.loads(run_module("benchmarks.scale", *options))
                append_line(out, record | setup())
                shown = f"{n:>9,} rows  {TASKS[task]:5}fit {record['fit']:8.3f} s"
                print(f"{shown}  {record['bytes_per_cell']:6.2f} bytes per cell", flush=True)
    records = read_lines(out)
    (args.out / "scale.md").write_text(page(records))
    lines = {}
    for task, label in TASKS.items():
        those = [r for r in records if r["task"] == task]
        lines[label] = tuple([r[k] for r in those] for k in ("rows", "fit", "bytes_per_cell"))
    from benchmarks.plots import scale_chart  # not in the process that measures memory

    scale_chart(lines, args.out / "scale.svg")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000, 5_000_000]
    parser.add_argument("--sizes", nargs="+", type=int, default=sizes)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--predict", type=int, default=1_000_000, help="rows to predict")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.measure:
        folder, task = args.measure
        print(json.dumps(measure(Path(folder), task, args)))
    else:
        run(args)


if __name__ == "__main__":
    main()
