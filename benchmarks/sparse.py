"""Memory of a fit to a sparse matrix, compared with the same matrix as a dense array.

Each fit runs in a process of its own. The peak is that of the resident memory during the fit beyond
the memory before it, which includes the matrix.

    python -m benchmarks.sparse
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.machine import memory, reset_peak_memory, run_module, setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, read_lines
from puforest import PUExtraTreesClassifier

FORMATS = ("dense", "CSR", "CSC")


def fit_one(layout: str, args: argparse.Namespace) -> dict[str, Any]:
    """Fit in this process; return the peak memory and a checksum of the trees."""
    rng = np.random.default_rng(0)
    X = sp.random_array(
        (args.rows, args.columns), density=args.density, format="csr", dtype=np.float32, rng=rng
    )
    X.data = np.ceil(200 * X.data)
    labeled = np.arange(args.rows) < args.rows // 20
    model = PUExtraTreesClassifier(0.3, n_estimators=args.trees, random_state=0)
    matrix = {"dense": X.toarray, "CSR": X.copy, "CSC": X.tocsc}[layout]()
    del X
    reset_peak_memory()
    before = memory("VmRSS")
    model.fit(matrix, labeled)
    peak = memory("VmHWM") - before
    total = float(np.sum(model._forest.threshold)) + int(np.sum(model._forest.feature))
    return {"layout": layout, "peak": peak, "nodes": len(model._forest.feature), "sum": total}


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    cells = first["rows"] * first["columns"]
    rows = [
        [r["layout"], f"{r['peak'] / cells:.2f}", f"{r['nodes']:,}",
         "yes" if (r["nodes"], r["sum"]) == (first["nodes"], first["sum"]) else "**no**"]
        for r in records
    ]  # fmt: skip
    parts = [
        "# Sparse matrices",
        f"{describe_setup(first)}. {first['rows']:,} rows, {first['columns']:,} columns, "
        f"{first['density']:.0%} of the values are not zero, {first['trees']} extra trees.",
        markdown(["X", "peak memory beyond X, bytes per cell", "nodes", "same trees"], rows),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=2000)
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--only", choices=FORMATS, help="fit in this process and print the result")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    if args.only:
        print(json.dumps(fit_one(args.only, args)))
        return
    out = args.out / "sparse.jsonl"
    out.unlink(missing_ok=True)
    size = {name: getattr(args, name) for name in ("rows", "columns", "density", "trees")}
    options = [text for name, value in size.items() for text in (f"--{name}", value)]
    for layout in FORMATS:
        found = json.loads(run_module("benchmarks.sparse", "--only", layout, *options))
        append_line(out, found | size | setup())
    (args.out / "sparse.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
