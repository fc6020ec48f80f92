"""Fit and predict times of puforest and of what people use instead, in one run.

Contestants take turns, round by round, so that a noisy machine disturbs all alike; medians over
the rounds are what counts, and ratios between them. Results are appended as JSON lines.

    python benchmarks/compare.py --data FOLDER --workloads mnist --rounds 5 --threads 1
"""

from __future__ import annotations

import argparse
import json
import pickle
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from contestants import Contestant, authors, contestants
from workloads import Workload, load

PACKAGES = ("puforest", "scikit-learn", "scikit-learn-intelex", "pulearn", "numpy")


def machine() -> dict[str, Any]:
    """What a reader needs to judge the numbers."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    return {"cpu": cpu, "python": platform.python_version(), "versions": versions}


def training_data(workload: Workload, task: str) -> tuple[np.ndarray, np.ndarray]:
    return workload.as_pu() if task == "pu" else (workload.X, workload.y)


def build(contestant: Contestant, workload: Workload, n_trees: int, threads: int) -> Any:
    return contestant.make(n_trees, threads, workload.prior, 1000)


def one_round(
    model: Any, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, float]:
    """Times in seconds, and the accuracy that goes with them."""
    started = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    batch = X_test[:10_000]
    model.predict(batch[:10])  # whatever is set up on first use
    before = time.perf_counter()
    predicted = model.predict(batch)
    after = time.perf_counter()
    single = []
    for i in range(60):
        row = X_test[i : i + 1]
        begin = time.perf_counter()
        model.predict(row)
        single.append(time.perf_counter() - begin)
    return {
        "fit": fitted - started,
        "predict_batch": after - before,
        "predict_one": statistics.median(single),
        "accuracy": float((predicted == y_test[:10_000]).mean()),
    }


def bytes_per_node(model: Any) -> float | None:
    """Size of the pickled model over its number of nodes."""
    if hasattr(model, "_forest"):
        nodes = len(model._forest.feature)
    elif hasattr(model, "estimators_") and hasattr(model.estimators_[0], "tree_"):
        nodes = sum(tree.tree_.node_count for tree in model.estimators_)
    else:
        return None
    return len(pickle.dumps(model)) / nodes


def peak_memory(args: argparse.Namespace, workload: str, contestant: str, threads: int) -> float:
    """Peak memory of a fit above what was there before, as a share of the size of X.

    Measured in a process of its own.
    """
    command = [sys.executable, __file__, "--data", args.data, "--workloads", workload]
    command += ["--threads", str(threads), "--trees", str(args.trees), "--memory-of", contestant]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def print_peak_memory(args: argparse.Namespace) -> None:
    def resident(key: str) -> int:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key):
                return 1024 * int(line.split()[1])
        raise RuntimeError(key)

    contestant = next(c for c in contestants() if c.name == args.memory_of)
    workload = load(args.workloads[0], Path(args.data))
    X, y = training_data(workload, contestant.task)
    model = build(contestant, workload, args.trees, args.threads[0])
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    before = resident("VmRSS")
    model.fit(X, y)
    print((resident("VmHWM") - before) / X.nbytes)


def run(args: argparse.Namespace) -> None:
    out = Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    field = contestants()
    if args.authors:
        field.append(authors(Path(args.authors)))
    field = [c for c in field if any(word in c.name for word in args.only or [""])]
    about = machine()
    with out.open("a") as file:

        def record(name: str, threads: int, contestant: Contestant, **result: Any) -> None:
            line = {"workload": name, "contestant": contestant.name, "task": contestant.task}
            line |= {"trees": args.trees, "threads": threads, **result, **about}
            file.write(json.dumps(line) + "\n")
            file.flush()
            shown = "   ".join(f"{k} {v:.5g}" for k, v in result.items() if v is not None)
            print(f"{name}  {threads} thr  {contestant.name:52}{shown}")

        for name in args.workloads:
            workload = load(name, Path(args.data))
            data = {task: training_data(workload, task) for task in ("pn", "pu")}
            test = workload.X_test, workload.y_test
            for threads in args.threads:
                for number in range(args.rounds):
                    for contestant in field:
                        model = build(contestant, workload, args.trees, threads)
                        result = one_round(model, *data[contestant.task], *test)
                        size = bytes_per_node(model)
                        record(
                            name, threads, contestant, round=number, **result, bytes_per_node=size
                        )
                for contestant in field if args.memory else ():
                    if not contestant.name.startswith("the authors"):
                        share = peak_memory(args, name, contestant.name, threads)
                        record(name, threads, contestant, memory_over_x=share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of the published data sets")
    parser.add_argument("--workloads", nargs="+", default=["mnist", "covtype", "cifar-10"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="parts of the names of contestants to run")
    parser.add_argument("--authors", help="a checkout of the paper authors' PUExtraTrees")
    parser.add_argument("--memory", action="store_true", help="measure peak memory too")
    parser.add_argument("--out", default="benchmarks/results/compare.jsonl")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory_of:
        print_peak_memory(args)
    else:
        run(args)


if __name__ == "__main__":
    main()
