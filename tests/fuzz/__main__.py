"""Damage files of every kind that puforest reads, and read them all.

Each is refused in one line that names it, or read, and by fit as by predict; nothing crashes,
hangs or takes more memory than a file of that size should.

PYTHONPATH=tests python -m fuzz --files 100000 --seed 0
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from fuzz.kind import case
from fuzz.kinds import KINDS
from fuzz.workers import Limits, Results, attack

# Cases a second differ, and so does how much can go wrong.
SHARES = {"model": 20, "csv": 25, "parquet": 15, "arrow": 15, "libsvm": 10, "npz": 15}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000, help="in all")
    parser.add_argument("--start", type=int, default=0, help="the first case of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append", help="repeat it for more")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="for files that fail")
    parser.add_argument("--seconds", type=int, default=Limits.seconds, help="for a file, at most")
    parser.add_argument("--megabytes", type=int, default=Limits.megabytes, help="likewise")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    kinds = args.kind or list(KINDS)
    whole = sum(SHARES[name] for name in kinds)
    limits = Limits(args.seconds, args.megabytes)
    failed = 0
    for name in kinds:
        n = args.files * SHARES[name] // whole
        begun = time.perf_counter()
        indices = range(args.start, args.start + n)
        results = attack(KINDS[name], args.seed, indices, limits, args.jobs)
        print(f"\n{name}: {n} files in {time.perf_counter() - begun:.0f} s", end=", ")
        print(f"the slowest in {1000 * results.slowest:.0f} ms; {len(results.failures)} failed")
        show(results)
        sys.stdout.flush()
        save(results, name, args.seed, args.out)
        failed += len(results.failures)
    raise SystemExit(bool(failed))


def show(results: Results) -> None:
    """Counts by damage, and failures by what they say."""
    outcomes = sorted({found for _, found in results.counts})
    for damage in sorted({damage for damage, _ in results.counts}):
        counts = (f"{results.counts[damage, found]:7} {found:14}" for found in outcomes)
        print(f"  {damage:21}", *counts)
    for said, indices in results.groups().items():
        print(f"  FAILED {len(indices)} times, first {indices[0]}: {said[:300]}")


def save(results: Results, name: str, seed: int, folder: Path) -> None:
    """Files that failed, up to three of those that say the same, and what was said."""
    originals = KINDS[name].originals() if results.failures else []
    for indices in results.groups().values():
        for index in indices[:3]:
            damaged = case(KINDS[name], originals, seed, index)
            path = folder / f"{name}-{seed}-{index}{damaged.suffix}"
            path.write_bytes(damaged.content)
            Path(f"{path}.txt").write_text(f"{damaged.damage}\n{results.failures[index]}\n")


if __name__ == "__main__":
    main()
