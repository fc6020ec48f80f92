"""Errors of class prior estimates over data sets and priors.

Case-control data: 1000 labeled rows, or half of the positives, are drawn from the positives; the
unlabeled rows are drawn from the others with a given fraction of positives. An interrupted run is
resumed.

    python -m benchmarks.prior --data FOLDER
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from benchmarks.workloads import EMBEDDED, IN_FOLDER, Workload, load
from puforest import PUExtraTreesClassifier
from puforest.datasets import make_pu
from puforest.prior import estimate_prior

PRIORS = (0.1, 0.25, 0.5, 0.75, 0.9)
METHODS: dict[str, dict[str, Any]] = {
    "BBE": {"method": "bbe"},
    "DEDPUL": {"method": "dedpul", "n_resamples": 20},
    "TIcE": {"method": "tice"},
    "Elkan-Noto e1": {"method": "elkan-noto", "variant": "e1", "n_resamples": 20},
    "Elkan-Noto e2": {"method": "elkan-noto", "variant": "e2", "n_resamples": 20},
    "Elkan-Noto e3": {"method": "elkan-noto", "variant": "e3", "n_resamples": 20},
    "KM2": {"method": "km2"},
}
MAIN = ("BBE", "DEDPUL", "TIcE")
CONFIDENCE = 0.9  # of the intervals, as in the stored results
TARGETS = {"BBE": 0.05, "DEDPUL": 0.045, "TIcE": 0.09}


def draw(data: Workload, prior: float, seed: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    n_positive = int(data.y.sum())
    n_labeled = min(1000, n_positive // 2)
    n_unlabeled = min(
        most, int((n_positive - n_labeled) / prior), int((len(data.y) - n_positive) / (1 - prior))
    )
    return make_pu(
        data.X,
        data.y,
        n_labeled=n_labeled,
        prior=prior,
        n_unlabeled=n_unlabeled,
        random_state=seed,
    )


def measure(X: np.ndarray, labeled: np.ndarray, method: str, seed: int) -> dict[str, Any]:
    started = time.perf_counter()
    options = METHODS[method] | {"confidence": CONFIDENCE}
    found = estimate_prior(X, labeled, random_state=seed, **options)
    return {
        "value": found.value,
        "interval": found.interval,
        "seconds": time.perf_counter() - started,
    }


def fit_seconds(X: np.ndarray, labeled: np.ndarray, prior: float) -> float:
    forest = PUExtraTreesClassifier(prior, n_estimators=100, random_state=0)
    started = time.perf_counter()
    forest.fit(X, labeled)
    return time.perf_counter() - started


def speed(data: Workload, rounds: int) -> dict[str, float]:
    """Median times of estimates and of fits of 100 trees, in turns, on all training rows."""
    X, labeled = make_pu(data.X, data.y, n_labeled=data.n_labeled, random_state=0)
    times = [
        (measure(X, labeled, "BBE", 0)["seconds"], fit_seconds(X, labeled, data.prior))
        for _ in range(rounds)
    ]
    estimate, fit = np.median(times, axis=0)
    return {"estimate": float(estimate), "fit": float(fit)}


def errors(records: list[dict[str, Any]], name: str, method: str) -> np.ndarray:
    those = [r for r in records if r["workload"] == name and r["method"] == method]
    return np.array([r["value"] - r["prior"] for r in those])


def page(records: list[dict[str, Any]]) -> str:
    timed = [r for r in records if r["kind"] == "speed"]
    records = [r for r in records if r["kind"] == "estimate"]
    names = list(dict.fromkeys(r["workload"] for r in records))
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    table = [
        [
            name,
            *(
                f"{np.abs(e).mean():.3f} ({e.mean():+.3f})"
                for e in (errors(records, name, m) for m in methods)
            ),
        ]
        for name in names
    ]
    means = [np.mean([np.abs(errors(records, n, m)).mean() for n in names]) for m in methods]
    table.append(["**mean**", *(f"**{m:.3f}**" for m in means)])
    table.append(["target", *(f"{TARGETS[m]:g}" if m in TARGETS else "" for m in methods)])
    covered = [
        [r["interval"][0] <= r["prior"] <= r["interval"][1] for r in records if r["method"] == m]
        for m in methods
    ]
    coverage = f"coverage of the {CONFIDENCE:.0%} intervals"
    table.append([coverage, *(f"{np.mean(c):.0%}" for c in covered)])
    draws = {m: 1 + max(r["draw"] for r in records if r["method"] == m) for m in methods}
    parts = [
        "# Estimates of the class prior",
        f"{describe_setup(records[0])}. Mean absolute error (mean error) over the priors "
        f"{', '.join(map(str, PRIORS))}; "
        + ", ".join(f"{m} {plural(n, 'draw')} each" for m, n in draws.items())
        + f". 1000 labeled rows or half of the positives, up to {records[0]['most']:,} unlabeled "
        "rows.",
        markdown(["data", *methods], table),
    ]
    for r in timed:
        parts.append(
            f"{r['workload']}, all training rows, one thread: BBE takes "
            f"{r['estimate'] / r['fit']:.2f} times as long as a fit of 100 trees "
            f"({r['estimate']:.2f} s and {r['fit']:.2f} s, medians of {r['rounds']} rounds)."
        )
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--workloads", nargs="+", default=[*EMBEDDED, *IN_FOLDER])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--draws", type=int, default=5, help="draws for BBE, DEDPUL and TIcE")
    parser.add_argument("--other-draws", type=int, default=1, help="draws for the other methods")
    parser.add_argument(
        "--unlabeled", type=int, default=10_000, help="maximum number of unlabeled rows"
    )
    parser.add_argument("--speed", nargs="*", default=["mnist"], help="workloads to time")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the timing")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "prior.jsonl"
    known = read_lines(out)
    done = {(r["workload"], r.get("prior"), r.get("draw"), r.get("method")) for r in known}

    def keep(record: dict[str, Any]) -> None:
        append_line(out, record | setup())
        print({k: v for k, v in record.items() if k != "kind"}, flush=True)

    for name in args.workloads:
        data = load(name, args.data)
        if name in args.speed and (name, None, None, None) not in done:
            timed = speed(data, args.rounds)
            keep({"kind": "speed", "workload": name, "rounds": args.rounds, **timed})
        for prior in PRIORS:
            for i in range(args.draws):
                missing = [
                    m
                    for m in args.methods
                    if (m in MAIN or i < args.other_draws) and (name, prior, i, m) not in done
                ]
                if not missing:
                    continue
                X, labeled = draw(data, prior, i, args.unlabeled)
                for method in missing:
                    key = {"kind": "estimate", "workload": name, "prior": prior, "draw": i}
                    size = {"most": args.unlabeled, "unlabeled": int((labeled == 0).sum())}
                    keep(key | {"method": method} | size | measure(X, labeled, method, i))
    (args.out / "prior.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
