"""History of puforest's own speed: instruction counts of small fixed cases, using valgrind.

Counts do not depend on the load of the machine, so that changes of one percent are visible. They
are not times: they ignore caches and multithreading. A record of each case is appended to
results/track.jsonl, with a checksum of the trees, which an optimization must not change.

    python -m benchmarks.track            # count, append, print
    python -m benchmarks.track --show     # only print the history
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import ROOT, compiler
from benchmarks.records import RESULTS, append_line, markdown, node_count, read_lines
from benchmarks.workloads import Workload, synthetic
from puforest import PUExtraTreesClassifier, PURandomForestClassifier

# A library that controls valgrind: counting starts after the imports, and each call of dump writes
# the counts since the previous one to a file.
SWITCH = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void dump(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
"""
ARRAYS = ("offset", "feature", "left", "n_labeled", "n_unlabeled")
REALS = ("threshold", "w_p", "w_u")
OF_TABLES = ("missing_left", "n_categories", "categories")
AGREEMENT = 0.005


def checksum(model: Any) -> str:
    """Checksum of the trees as numbers, independent of their storage.

    Fields of tables count if there are categories, so that the checksums of older versions, which
    only had numbers, stay comparable.
    """
    digest = hashlib.sha256()
    of_tables = OF_TABLES if len(model._forest.categories) else ()
    for names, kind in ((ARRAYS, np.int64), (REALS, np.float64), (of_tables, np.int64)):
        for name in names:
            array = np.asarray(getattr(model._forest, name), kind)
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def with_gaps(X: np.ndarray) -> np.ndarray:
    """Remove 10% of the values of every second column, and make every fourth one categorical."""
    table = X.copy()
    table[:, 1::4] -= table[:, 1::4].min(axis=0)
    gaps = np.random.default_rng(0).random(table[:, ::2].shape) < 0.1
    table[:, ::2][gaps] = np.nan
    return table


def cases(workload: Workload) -> dict[str, tuple[Any, Callable[[Any], object]]]:
    """Cases by name: a model, and the function of it to count."""
    X, y = workload.task("pn")
    X_pu, labeled = workload.task("pu")
    table = with_gaps(X)
    categorical = list(range(1, X.shape[1], 4))
    same = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}
    fitted = PUExtraTreesClassifier(risk="pn", **same).fit(X, y)
    fitted.predict(X[:10])
    return {
        "fit, extra trees, PN": (
            PUExtraTreesClassifier(risk="pn", **same),
            lambda model: model.fit(X, y),
        ),
        "fit, extra trees, nnPU": (
            PUExtraTreesClassifier(workload.prior, **same),
            lambda model: model.fit(X_pu, labeled),
        ),
        "fit, random forest, PN": (
            PURandomForestClassifier(risk="pn", **same),
            lambda model: model.fit(X, y),
        ),
        "fit, extra trees, PN, table": (
            PUExtraTreesClassifier(risk="pn", categorical_features=categorical, **same),
            lambda model: model.fit(table, y),
        ),
        "fit, random forest, PN, table": (
            PURandomForestClassifier(risk="pn", categorical_features=categorical, **same),
            lambda model: model.fit(table, y),
        ),
        "predict, extra trees, PN": (fitted, lambda model: model.predict(X)),
    }


def work(switch: Path) -> None:
    """Run all cases under valgrind, and print their number of nodes and checksums."""
    library = ctypes.CDLL(str(switch))
    todo = cases(synthetic(10_000, 40))
    library.start()
    for name, (model, counted) in todo.items():
        library.dump(b"between")
        counted(model)
        library.dump(name.encode())
        print(json.dumps({"case": name, "nodes": node_count(model), "checksum": checksum(model)}))


def needed(command: str, why: str) -> str:
    found = shutil.which(command)
    if found is None:
        raise SystemExit(f"{command} is required {why}: install it, for example with apt or dnf")
    return found


def counts(folder: Path) -> dict[str, int]:
    """Read instruction counts by case from the files of callgrind in a folder."""
    found = {}
    for path in folder.glob("callgrind.out.*"):
        text = path.read_text()
        case = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if case and total:
            found[case.group(1)] = int(total.group(1))
    return found


def count() -> list[dict[str, Any]]:
    """Run all cases once under valgrind."""
    valgrind = needed("valgrind", "to count instructions")
    compile_c = needed(os.environ.get("CC", "cc"), "to tell valgrind what to count")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "switch.c").write_text(SWITCH)
        command = [compile_c, "-shared", "-fPIC", "-o", "switch.so", "switch.c"]
        if subprocess.run(command, cwd=folder).returncode:
            raise SystemExit("the headers of valgrind are required: install its -dev package")
        command = [valgrind, "--tool=callgrind", "--instr-atstart=no", "-q"]
        command += [f"--callgrind-out-file={folder}/callgrind.out.%p"]
        command += [sys.executable, "-m", "benchmarks.track", "--work", str(folder / "switch.so")]
        alone = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | alone, check=True, stdout=subprocess.PIPE, text=True
        )
        instructions = counts(folder)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        return [r | {"instructions": instructions[r["case"]]} for r in records]


def commit() -> str:
    if shutil.which("git") is None:
        return "unknown"
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def measure(counter: Callable[[], list[dict[str, Any]]], runs: int) -> list[dict[str, Any]]:
    """Take the lowest count of several runs, and their relative difference."""
    about = {
        "date": datetime.date.today().isoformat(),
        "version": version("puforest"),
        "commit": commit(),
        "compiler": compiler(),
    }
    records = []
    for results in zip(*(counter() for _ in range(runs)), strict=True):
        numbers = [r["instructions"] for r in results]
        if len({r["checksum"] for r in results}) > 1:
            raise SystemExit(f"{results[0]['case']}: two runs built different trees")
        apart = max(numbers) / min(numbers) - 1
        if apart > AGREEMENT:
            print(f"{results[0]['case']}: runs differ by {100 * apart:.2f}%", file=sys.stderr)
        records.append(about | results[0] | {"instructions": min(numbers), "apart": apart})
    return records


def history(records: list[dict[str, Any]]) -> str:
    """Table of all cases, with the change of each record from the previous one."""
    rows = []
    for case in dict.fromkeys(r["case"] for r in records):
        before: dict[str, Any] | None = None
        for r in (r for r in records if r["case"] == case):
            change, trees = "", ""
            if before:
                change = f"{100 * (r['instructions'] / before['instructions'] - 1):+.2f}%"
                trees = "same" if r["checksum"] == before["checksum"] else "**changed**"
            cells = [case, r["date"], r["version"], r["commit"], r["compiler"]]
            cells += [f"{r['instructions'] / 1e6:,.1f}", change, f"{r['nodes']:,}", trees]
            rows.append(cells)
            before = r
    header = ["case", "date", "version", "commit", "compiler", "million instructions", "change"]
    return markdown([*header, "nodes", "trees"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", action="store_true", help="only print the history")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS / "track.jsonl")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.work:
        work(args.work)
        return
    if not args.show:
        for record in measure(count, args.runs):
            append_line(args.out, record)
    print(history(read_lines(args.out)))


if __name__ == "__main__":
    main()
