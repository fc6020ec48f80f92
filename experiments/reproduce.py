"""Run the paper's tables and figures again, and write the report; or go on where a run stopped.

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
# Not run unless they are asked for.
SLOW = {"neural"}


def main(arguments: Sequence[str] | None = None) -> None:
    tables = [Table.read(path) for path in sorted(PAPER.glob("tables/*.toml"))]
    figures = [Figure.read(path) for path in sorted(PAPER.glob("figures/*.toml"))]
    names = [part.name for part in (*tables, *figures)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets; or PUFOREST_DATA")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[name for name in names if name not in SLOW],
        choices=names,
        help=f"tables and figures to run; all but {', '.join(sorted(SLOW))} if not given",
    )
    datasets = {name for table in tables for name in table.datasets}
    methods = {name for table in tables for name in table.methods}
    parser.add_argument("--datasets", nargs="+", choices=sorted(datasets), help="only these")
    parser.add_argument(
        "--methods", nargs="+", choices=sorted(methods), help="only these of tables"
    )
    parser.add_argument("--draws", type=int, help="fewer draws than the tables have")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--out", type=Path, default=PAPER / "results", help="folder of the results")
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

    not_there: dict[str, str] = {}
    interrupted = False
    try:
        not_there |= perform_all(runs, results, read, threads=args.threads)
        not_there |= perform_figures(wanted, args.out, read, threads=args.threads)
    except KeyboardInterrupt:
        interrupted = True
    args.out.mkdir(parents=True, exist_ok=True)
    write(tables, results, draw_all(figures, args.out), args.out)
    print(f"{args.out / 'report.html'}")
    end(not_there, interrupted=interrupted)


if __name__ == "__main__":
    main()
