"""Fits to Parquet tables of up to 100 million rows, beside just reading them.

The tables are generated in build/scale and kept there. Each fit runs in a separate process, whose
address space is limited if --limit is given.

    python -m benchmarks.scale_files
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import ROOT, cores, memory, reset_peak_memory, run_module, setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines

LABELED = 10_000
ROWS_PER_GROUP = 2**19


def write_table(path: Path, rows: int, columns: int) -> None:
    """Write a table of float32 columns of mixed cardinality; a tenth of the rows are positive."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(columns)] + ["label"]
    types = [pa.float32()] * columns + [pa.int8()]
    schema = pa.schema(list(zip(names, types, strict=True)))
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema) as out:
        for start in range(0, rows, ROWS_PER_GROUP):
            n = min(ROWS_PER_GROUP, rows - start)
            rng = np.random.default_rng([start, columns])
            positive = rng.random(n) < 0.1
            labeled = positive & (rng.random(n) < LABELED / (0.1 * rows))
            cells = rng.random((columns, n), np.float32)
            for j, column in enumerate(cells):
                column += (0.3 * positive) if j % 2 else 0
                if j % 4 == 3:
                    np.round(100 * column, out=column)
            out.write_table(pa.table([*cells, labeled.astype(np.int8)], schema=schema))
    unfinished.rename(path)


def read(path: Path) -> float:
    """Seconds to read all columns with pyarrow, batch by batch."""
    import pyarrow.parquet as pq

    started = time.perf_counter()
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20) as file:
        n = sum(batch.num_rows for batch in file.iter_batches(batch_size=2**18))
    assert n == file.metadata.num_rows
    return time.perf_counter() - started


def measure(path: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Read the table, and fit a forest to it."""
    import resource

    from puforest import PUForestClassifier

    if args.limit:
        resource.setrlimit(resource.RLIMIT_DATA, (args.limit, args.limit))
    reading = read(path)
    reset_peak_memory()
    forest = PUForestClassifier(
        0.1,
        candidates="fast",
        n_estimators=args.trees,
        n_jobs=args.threads,
        random_state=0,
    )
    started = time.perf_counter()
    halves = []
    forest.fit_files(path, "label", progress=lambda f: halves.append((f, time.perf_counter())))
    fit = time.perf_counter() - started
    selected = max(when for fraction, when in halves if fraction <= 0.5) - started
    record = forest._record
    return {
        "rows": record.n_labeled + record.n_unlabeled,
        "labeled": record.n_labeled,
        "columns": forest.n_features_in_,
        "trees": forest._forest.n_trees,
        "threads": args.threads,
        "file_bytes": path.stat().st_size,
        "limit": args.limit,
        "read": reading,
        "fit": fit,
        "select": selected,
        "peak": memory("VmHWM"),
        "auc": forest.comparison_[0].auc,
    }


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    header = ["rows", "file, GB", "read, s", "fit, s", "of which reading and selecting rows, s"]
    header += ["fit / read", "peak memory, MiB", "out-of-bag AUC"]
    rows = [
        [
            f"{r['rows']:,}",
            f"{r['file_bytes'] / 1e9:.2f}",
            f"{r['read']:.1f}",
            f"{r['fit']:.1f}",
            f"{r['select']:.1f}",
            f"{r['fit'] / r['read']:.1f}",
            f"{r['peak'] / 2**20:,.0f}",
            f"{r['auc']:.3f}",
        ]
        for r in records
    ]
    limit = first["limit"]
    return (
        "\n\n".join(
            [
                "# Fits to files larger than memory",
                f"{describe_setup(first)}. `fit_files` on one Parquet file of "
                f"{first['columns']} float32 columns with about {LABELED:,} labeled rows; "
                f'candidates="fast", {plural(first["trees"], "tree")}, '
                f"{plural(first['threads'], 'thread')}. Read is the time to read all columns with "
                "pyarrow in batches, in the same process before the fit. Peak memory is the "
                "largest resident size during the fit, with everything that is loaded"
                + (
                    f"; the process was limited to {limit / 2**30:g} GiB of memory."
                    if limit
                    else "."
                ),
                markdown(header, rows),
            ]
        )
        + "\n"
    )


def run(args: argparse.Namespace) -> None:
    out = args.out / "scale_files.jsonl"
    out.unlink(missing_ok=True)
    args.folder.mkdir(parents=True, exist_ok=True)
    for rows in sorted(args.sizes):
        path = args.folder / f"{rows}x{args.columns}.parquet"
        if not path.exists():
            write_table(path, rows, args.columns)
        options = ["--measure", path, "--trees", args.trees, "--threads", args.threads]
        options += ["--limit", args.limit]
        record = json.loads(run_module("benchmarks.scale_files", *options))
        append_line(out, record | setup())
        print(
            f"{rows:>11,} rows  read {record['read']:6.1f} s  fit {record['fit']:6.1f} s  "
            f"peak {record['peak'] / 2**20:,.0f} MiB",
            flush=True,
        )
    (args.out / "scale_files.md").write_text(page(read_lines(out)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [1_000_000, 10_000_000, 100_000_000]
    parser.add_argument("--sizes", nargs="+", type=int, default=sizes)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--limit", type=int, default=0, help="bytes of data; 0 for no limit")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "scale")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.measure:
        print(json.dumps(measure(args.measure, args)))
    else:
        run(args)


if __name__ == "__main__":
    main()
