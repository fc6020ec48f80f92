"""Reproduce the paper's tables and figures and write a report, resuming an interrupted run.

python -m experiments.reproduce --data FOLDER
python -m experiments.reproduce --data FOLDER --only risk_and_loss --datasets mushrooms
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import cores
from experiments.comparison import write
from experiments.data import Split, load
from experiments.figures import Figure, draw_all, perform_figures
from experiments.harness import Results, end, perform_all
from experiments.tables import Table

PAPER = Path(__file__).parent / "paper"
# Only run if requested.
SLOW = {"neural"}


def main(arguments: Sequence[str] | None = None) -> None:
    tables = [Table.read(path) for path in sorted(PAPER.glob("tables/*.toml"))]
    figures = [Figure.read(path) for path in sorted(PAPER.glob("figures/*.toml"))]
    names = [part.name for part in (*tables, *figures)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, help="folder of the data sets (default: PUFOREST_DATA)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[name for name in names if name not in SLOW],
        choices=names,
        help=f"tables and figures to run (default: all but {', '.join(sorted(SLOW))})",
    )
    datasets = {name for table in tables for name in table.datasets}
    methods = {name for table in tables for name in table.methods}
    parser.add_argument(
        "--datasets", nargs="+", choices=sorted(datasets), help="run only these data sets"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=sorted(methods), help="run only these methods"
    )
    parser.add_argument("--draws", type=int, help="maximum number of draws")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument(
        "--out", type=Path, default=PAPER / "results", help="folder for the results"
    )
    args = parser.parse_args(arguments)
    results = Results(args.out / "runs.csv")
    runs = [
        run
        for table in tables
        for run in table.runs()
        if table.name in args.only
        and (not args.datasets or run.dataset in args.datasets)
        and (not args.methods or run.method in args.methods)
        and (args.draws is None or run.draw < args.draws)
    ]
    wanted = [
        figure
        for figure in figures
        if figure.name in args.only and (not args.datasets or figure.dataset in args.datasets)
    ]

    def read(name: str) -> Split:
        return load(name, args.data)

    unavailable: dict[str, str] = {}
    interrupted = False
    try:
        unavailable |= perform_all(runs, results, read, threads=args.threads)
        unavailable |= perform_figures(wanted, args.out, read, threads=args.threads)
    except KeyboardInterrupt:
        interrupted = True
    args.out.mkdir(parents=True, exist_ok=True)
    write(tables, results, draw_all(figures, args.out), args.out)
    print(f"{args.out / 'report.html'}")
    end(unavailable, interrupted=interrupted)


if __name__ == "__main__":
    main()
