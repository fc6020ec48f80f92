"""Calibration errors of probabilities before and after calibration on PU data.

Labeled samples are drawn from the training positives and removed from them; the unlabeled samples
are subsampled so that their fraction of positives is the prior that the estimators are given.
Errors are measured on test samples with their true classes.

    python -m benchmarks.calibration --data folder
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from benchmarks.workloads import Workload, load
from puforest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.calibration import PUCalibratedClassifier

FORESTS = {"extra trees": PUExtraTreesClassifier, "random forest": PURandomForestClassifier}
BINS = 15


def separate_samples(
    workload: Workload, n_unlabeled: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw labeled positives and, disjoint from them, a sample of the population."""
    rng = np.random.default_rng(seed)
    positives, negatives = (rng.permutation(np.flatnonzero(workload.y == c)) for c in (1, 0))
    labeled, rest = np.split(positives, [workload.n_labeled])
    prior = workload.prior
    n = int(min(n_unlabeled, len(rest) / prior, len(negatives) / (1 - prior)))
    n_positive = round(n * prior)
    rows = np.concatenate([labeled, rest[:n_positive], negatives[: n - n_positive]])
    return workload.X[rows], np.repeat([1, 0], [len(labeled), n])


def calibration_error(probability: np.ndarray, y: np.ndarray) -> float:
    """Expected calibration error over bins with the same number of samples.

    Samples with equal probability keep their order, which must not depend on their class.
    """
    bins = np.array_split(np.argsort(probability, kind="stable"), BINS)
    gaps = [len(b) * abs(probability[b].mean() - y[b].mean()) for b in bins]
    return float(sum(gaps) / len(y))


def models(
    forest: Any, X: np.ndarray, labeled: np.ndarray, folds: int
) -> Iterator[tuple[str, str, Any]]:
    """Yield the method, the source of its scores, and the fitted classifier."""
    for cv in ("oob", folds):
        for method in ("sigmoid", "isotonic"):
            model = PUCalibratedClassifier(forest, method=method, cv=cv).fit(X, labeled)
            if (method, cv) == ("sigmoid", "oob"):
                yield "none", "", model.estimator_
            yield method, "out of bag" if cv == "oob" else f"{cv} folds", model


def measure(workload: Workload, args: argparse.Namespace, draw: int) -> Iterator[dict[str, Any]]:
    X, labeled = separate_samples(workload, args.unlabeled, draw)
    order = np.random.default_rng(draw).permutation(len(workload.y_test))
    X_test, y_test = workload.X_test[order], workload.y_test[order]
    for name, forest_class in FORESTS.items():
        forest = forest_class(
            workload.prior,
            n_estimators=args.trees,
            voting="soft",
            min_samples_leaf=5,
            bootstrap=True,
            max_unlabeled=min(args.max_unlabeled, (labeled == 0).sum() // 2),
            oob_score=True,
            n_jobs=args.threads,
            random_state=draw,
        )
        for method, cv, model in models(forest, X, labeled, args.folds):
            p = model.predict_proba(X_test)[:, 1]
            yield {
                "workload": workload.name,
                "forest": name,
                "draw": draw,
                "method": method,
                "scores": cv,
                "labeled": int(labeled.sum()),
                "unlabeled": int((labeled == 0).sum()),
                "test": len(y_test),
                "trees": args.trees,
                "prior": workload.prior,
                "calibration_error": calibration_error(p, y_test),
                "brier": float(((p - y_test) ** 2).mean()),
                "accuracy": float(((p > 0.5) == y_test).mean()),
            }


def page(records: list[dict[str, Any]]) -> str:
    key = ("workload", "forest", "method", "scores")
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for r in records:
        groups.setdefault(tuple(r[k] for k in key), []).append(r)
    rows = []
    for name, group in groups.items():
        errors = np.array([r["calibration_error"] for r in group])
        brier, accuracy = (np.mean([r[k] for r in group]) for k in ("brier", "accuracy"))
        figures = [f"{errors.mean():.3f}", ", ".join(f"{e:.3f}" for e in errors)]
        rows.append([*name, *figures, f"{brier:.4f}", f"{100 * accuracy:.1f}"])
    header = ["data", "forest", "calibration", "scores", "calibration error", "per draw"]
    header += ["Brier score", "accuracy, %"]
    sizes = {r["workload"]: r for r in records}
    data = "; ".join(
        f"{name}: prior {r['prior']:.3f}, {r['labeled']:,} labeled and {r['unlabeled']:,} "
        f"unlabeled rows, {r['test']:,} test rows"
        for name, r in sizes.items()
    )
    parts = [
        "# Calibration",
        f"{describe_setup(records[0])}. Expected calibration error in {BINS} bins of equal mass, "
        f"computed from the true classes of the test rows; means of {plural(len(errors), 'draw')}. "
        f"Case-control data without duplicates, with the true prior. {data}. "
        f"{plural(records[0]['trees'], 'tree')}, soft voting, at least 5 rows per leaf.",
        markdown(header, rows),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--workloads", nargs="+", default=["mnist", "covtype"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument(
        "--unlabeled", type=int, default=100_000, help="maximum number of unlabeled rows"
    )
    parser.add_argument("--max-unlabeled", type=int, default=10_000, help="unlabeled rows per tree")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "calibration.jsonl"
    out.unlink(missing_ok=True)
    for name in args.workloads:
        workload = load(name, args.data)
        for draw in range(args.draws):
            for record in measure(workload, args, draw):
                append_line(out, record | setup())
                what = f"{name} {record['forest']} {record['method']} {record['scores']}"
                print(f"{what}: {record['calibration_error']:.4f}", flush=True)
    (args.out / "calibration.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
