"""Accuracy with and without known propensities if labels depend on the features.

In single training sets a fifth of the positives is labeled, with probabilities that are logistic
in a random linear combination of the features, different in each draw. Three forests are fitted to
the same rows: one with the same number of labels drawn completely at random, one with these labels
but without propensities, and one with the propensities. All know the prior. Accuracy is measured
on test rows with their true classes.

    python -m benchmarks.propensity --data folder
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from benchmarks.workloads import Workload, load
from puforest import PUExtraTreesClassifier
from puforest.datasets import linear_propensity, make_pu

SCENARIO = "single-training-set"
FREQUENCY = 0.2
METHODS = {
    "at random": "random labels",
    "ignored": "labels depend on features, propensities ignored",
    "known": "labels depend on features, propensities known",
}


def workload(name: str, folder: Path | None, max_rows: int) -> Workload:
    """Load a data set with a maximum number of training rows."""
    whole = load(name, folder)
    rows = np.sort(np.random.default_rng(0).permutation(len(whole.X))[:max_rows])
    return Workload(name, whole.X[rows], whole.y[rows], whole.X_test, whole.y_test)


def measure(data: Workload, draw: int, args: argparse.Namespace) -> dict[str, float]:
    """Accuracy of each method on one draw of labels."""
    e = linear_propensity(
        data.X, y=data.y, frequency=FREQUENCY, strength=args.strength, random_state=draw
    )
    n_labeled = int(FREQUENCY * data.y.sum())
    accuracy = {}
    for method in METHODS:
        X, labeled = make_pu(
            data.X,
            data.y,
            n_labeled=n_labeled,
            propensity=None if method == "at random" else e,
            scenario=SCENARIO,
            random_state=draw,
        )
        forest = PUExtraTreesClassifier(
            data.prior,
            scenario=SCENARIO,
            n_estimators=args.trees,
            n_jobs=args.threads,
            random_state=draw,
        )
        forest.fit(X, labeled, propensity=e if method == "known" else None)
        accuracy[method] = forest.score(data.X_test, data.y_test)
    return accuracy


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    rows = []
    for name in dict.fromkeys(r["workload"] for r in records):
        those = [r for r in records if r["workload"] == name]
        cells = []
        for method in METHODS:
            values = np.array([100 * r["accuracy"][method] for r in those])
            cells.append(f"{values.mean():.2f} ± {values.std(ddof=len(values) > 1):.2f}")
        gain = [r["accuracy"]["known"] - r["accuracy"]["ignored"] for r in those]
        better = f"{np.count_nonzero(np.array(gain) > 0)} of {len(gain)}"
        rows.append([name, f"{those[0]['rows']:,}", str(those[0]["labeled"]), *cells, better])
    draws = max(r["draw"] for r in records) + 1
    parts = [
        "# Labels that depend on the features",
        f"{describe_setup(first)}. Accuracy on test rows in percent, mean and standard deviation "
        f"over {plural(draws, 'draw')}; extra trees with nnPU, {plural(first['trees'], 'tree')}. "
        f"Single training sets with known prior; {FREQUENCY:.0%} of the positives are labeled, at "
        "random or by a random linear combination of the features, one standard deviation of which "
        f"adds {first['strength']:g} to the log-odds of a label.",
        markdown(["data", "rows", "labeled", *METHODS.values(), "known is better"], rows),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["mushrooms", "digits", "mnist", "covtype"]
    parser.add_argument("--workloads", nargs="+", default=names)
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument(
        "--max-rows", type=int, default=20_000, help="maximum number of training rows"
    )
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--strength", type=float, default=2.0, help="strength of the dependence")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "propensity.jsonl"
    out.unlink(missing_ok=True)
    for name in args.workloads:
        data = workload(name, args.data, args.max_rows)
        for draw in range(args.draws):
            accuracy = measure(data, draw, args)
            record = {
                "workload": name,
                "rows": len(data.X),
                "labeled": int(FREQUENCY * data.y.sum()),
                "draw": draw,
                "trees": args.trees,
                "strength": args.strength,
                "accuracy": accuracy,
            }
            append_line(out, record | setup())
            print(name, draw, {k: round(v, 4) for k, v in accuracy.items()}, flush=True)
    (args.out / "propensity.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
