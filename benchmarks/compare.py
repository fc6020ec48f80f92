"""Fit and prediction times of puforest and of alternatives, measured in one run.

Contestants take turns in each round, so that other load on the machine affects all of them; the
results are medians over the rounds, and their ratios. Every round is appended to a file of JSON
lines immediately: run the same command again after an interruption to resume.

    python -m benchmarks.compare --data FOLDER
"""

from __future__ import annotations

import argparse
import gc
import pickle
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import Contestant, Setting, contestants, listening
from benchmarks.machine import cores, memory, reset_peak_memory, run_module, setup
from benchmarks.records import RESULTS, append_line, node_count, read_lines, setup_key
from benchmarks.workloads import PUBLISHED, Workload, load

BATCH = 10_000
SINGLE_ROWS = 100
KEY = ("kind", "workload", "task", "contestant", "threads", "trees", "round")


def setting(workload: Workload, trees: int, threads: int, seed: int) -> Setting:
    return Setting(trees, threads, seed, workload.prior, workload.n_labeled)


def quality(predicted: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Accuracy, and two measures that do not favor the larger class."""
    hit, miss = ((predicted == 1) & (truth == 1)).sum(), ((predicted == 0) & (truth == 1)).sum()
    false, rest = ((predicted == 1) & (truth == 0)).sum(), ((predicted == 0) & (truth == 0)).sum()
    return {
        "accuracy": float((hit + rest) / len(truth)),
        "balanced_accuracy": float((hit / (hit + miss) + rest / (rest + false)) / 2),
        "f1": float(2 * hit / (2 * hit + miss + false)),
    }


class Counter:
    """A file that only counts bytes, for pickles that do not fit in memory."""

    size = 0

    def write(self, part: Any) -> int:
        self.size += memoryview(part).nbytes
        return memoryview(part).nbytes


def model_size(model: Any) -> dict[str, Any]:
    """Number of nodes, and pickled bytes per node. Pickles first: counting may fill caches."""
    counter = Counter()
    pickle.dump(model, counter)
    nodes = node_count(model)
    return {"nodes": nodes, "bytes_per_node": counter.size / nodes if nodes else None}


def one_round(
    contestant: Contestant,
    key: dict[str, Any],
    rows: tuple[np.ndarray, np.ndarray],
    workload: Workload,
) -> dict[str, Any]:
    """Measure times in seconds, and the quality of the predictions."""
    seed = key["round"]  # differs between rounds, the same for all contestants
    model = contestant.make(setting(workload, key["trees"], key["threads"], seed))
    X_test, y_test = workload.X_test[:BATCH], workload.y_test[:BATCH]
    gc.collect()
    with listening() as intelex:
        cpu, started = time.process_time(), time.perf_counter()
        model.fit(*rows)
        fit, fit_cpu = time.perf_counter() - started, time.process_time() - cpu
        model.predict(X_test[:10])  # anything that is set up on first use
    started = time.perf_counter()
    predicted = model.predict(X_test)
    batch = time.perf_counter() - started
    single = []
    for i in range(min(SINGLE_ROWS, len(X_test))):
        row = X_test[i : i + 1]
        started = time.perf_counter()
        model.predict(row)
        single.append(time.perf_counter() - started)
    result = {
        "random_state": seed,
        "fit": fit,
        "fit_cpu": fit_cpu,
        "predict_batch": batch,
        "predict_one": statistics.median(single),
        **quality(predicted, y_test),
    }
    if (fallback := intelex.fell_back()) is not None:
        result["fallback"] = fallback
    return result | (model_size(model) if seed == 0 else {})


def peak_memory(args: argparse.Namespace, key: dict[str, Any]) -> dict[str, float]:
    """Peak memory that a fit adds, relative to the size of X, measured in a separate process."""
    options = ["--memory-of", key["contestant"], "--workloads", key["workload"]]
    options += ["--threads", key["threads"], "--trees", key["trees"]]
    for option, folder in (("--data", args.data), ("--authors", args.authors)):
        options += [option, folder.resolve()] if folder else []
    return {"memory_over_x": float(run_module("benchmarks.compare", *options))}


def print_peak_memory(args: argparse.Namespace) -> None:
    contestant = next(c for c in contestants(args.authors) if c.name == args.memory_of)
    workload = load(args.workloads[0], args.data)
    X, y = workload.task(contestant.task)
    model = contestant.make(setting(workload, args.trees, args.threads[0], 0))
    gc.collect()
    reset_peak_memory()
    before = memory("VmRSS")
    model.fit(X, y)
    print((memory("VmHWM") - before) / X.nbytes)


class Log:
    """The results file, with the measurements that exist for this setup."""

    def __init__(self, path: Path, fresh: bool) -> None:
        self.path, self.failed = path, 0
        if fresh:
            path.unlink(missing_ok=True)
        here = [r for r in read_lines(path) if setup_key(r) == setup_key(setup())]
        self.done = {tuple(r.get(name) for name in KEY) for r in here}

    def lacks(self, key: dict[str, Any]) -> bool:
        return tuple(key.values()) not in self.done

    def add(self, key: dict[str, Any], measure: Callable[[], dict[str, Any]]) -> None:
        """Measure and append the result. A failure does not stop the others."""
        try:
            result = measure()
        except Exception as error:
            self.failed += 1
            print(f"{key['workload']}: {key['contestant']} failed: {error!r}", file=sys.stderr)
            return
        append_line(self.path, key | result | setup())
        shown = "   ".join(f"{k} {v:.5g}" for k, v in result.items() if v is not None)
        print(f"{key['workload']}  {key['threads']} thr  {key['contestant']:52}{shown}", flush=True)


def run_workload(
    name: str, field: Sequence[Contestant], log: Log, args: argparse.Namespace
) -> None:
    def missing(kind: str, rounds: int) -> list[tuple[dict[str, Any], Contestant]]:
        keys = [
            (dict(zip(KEY, (kind, name, c.task, c.name, n, args.trees, i), strict=True)), c)
            for n in args.threads
            for i in range(rounds)
            for c in field
        ]
        return [(key, c) for key, c in keys if log.lacks(key)]

    if times := missing("time", args.rounds):
        workload = load(name, args.data)
        rows = {task: workload.task(task) for task in {c.task for _, c in times}}
        for key, c in times:
            log.add(key, lambda key=key, c=c: one_round(c, key, rows[c.task], workload))
    for key, c in missing("memory", 1) if args.memory else ():
        # Jobs in separate processes would not be counted.
        if key["threads"] == 1 or not c.processes:
            log.add(key, lambda key=key: peak_memory(args, key))


def chosen(everybody: list[Contestant], words: list[str]) -> list[Contestant]:
    """Select contestants by exact name or, if there is none, by a part of the name."""
    names = {c.name for c in everybody}

    def names_it(word: str, name: str) -> bool:
        return word == name if word in names else word in name

    return [c for c in everybody if any(names_it(word, c.name) for word in words)]


def run(args: argparse.Namespace) -> None:
    log = Log(args.out, args.fresh)
    field = chosen(contestants(args.authors), args.only or [""])
    for name in args.workloads:
        run_workload(name, field, log, args)
    if log.failed:
        raise SystemExit(f"{log.failed} measurements failed; all others are in the results")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--workloads", nargs="+", default=[*PUBLISHED, "synthetic-100000x50"])
    parser.add_argument("--threads", nargs="+", type=int, default=sorted({1, cores()}))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="names of contestants, or parts of names")
    parser.add_argument("--authors", type=Path, help="checkout of the authors' PUExtraTrees")
    parser.add_argument("--memory", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=RESULTS / "compare.jsonl")
    parser.add_argument("--fresh", action="store_true", help="discard the results in --out")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.memory_of:
        print_peak_memory(args)
        return
    try:
        run(args)
    except KeyboardInterrupt:
        raise SystemExit("\ninterrupted: run the same command again to resume") from None


if __name__ == "__main__":
    main()
