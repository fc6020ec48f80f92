"""Run the paper's tables again, and write the report. Goes on where an earlier run stopped.

python experiments/reproduce.py --data FOLDER
python experiments/reproduce.py --data FOLDER --tables risk_and_loss --datasets mushrooms
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from comparison import write
from data import load
from harness import Results, perform_all
from tables import Table

PAPER = Path(__file__).parent / "paper"
TREE_TABLES = ("risk_and_loss", "tree_methods", "training_time", "hyperparameters")


def main(arguments: Sequence[str] | None = None) -> None:
    everything = sorted(path.stem for path in PAPER.glob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets; or PUFOREST_DATA")
    parser.add_argument("--tables", nargs="+", default=list(TREE_TABLES), choices=everything)
    parser.add_argument("--datasets", nargs="+", help="only these")
    parser.add_argument("--methods", nargs="+", help="only these")
    parser.add_argument("--draws", type=int, help="fewer draws than the tables have")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=PAPER / "results", help="folder of the results")
    args = parser.parse_args(arguments)
    results = Results(args.out / "runs.csv")
    tables = [Table.read(PAPER / f"{name}.toml") for name in args.tables]
    runs = [
        run
        for table in tables
        for run in table.runs()
        if (not args.datasets or run.dataset in args.datasets)
        and (not args.methods or run.method in args.methods)
        and (args.draws is None or run.draw < args.draws)
    ]
    try:
        perform_all(
            runs,
            results,
            lambda name: load(name, args.data),
            threads=args.threads,
        )
    except KeyboardInterrupt:
        raise SystemExit("\ninterrupted: run the same command again to go on") from None
    shown = [Table.read(PAPER / f"{name}.toml") for name in everything]
    write(shown, results, args.out)
    print(f"{args.out / 'report.html'}")


if __name__ == "__main__":
    main()
