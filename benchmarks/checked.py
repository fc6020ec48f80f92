"""Accuracy if some unlabeled rows are checked, at random or from the top of the ranking.

Case-control data with few labeled rows and a known prior. A `PUForestClassifier` is fitted without
checks. Then the verdicts on a number of unlabeled rows are revealed: of a simple random sample, or
of those with the largest out-of-bag scores. Both estimators are fitted again with these verdicts.
Accuracy and AUC are measured on test rows with their true classes.

    python -m benchmarks.checked --data folder
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from benchmarks.workloads import Workload, load
from puforest import PUExtraTreesClassifier, PUForestClassifier
from puforest.datasets import make_pu

MODELS = {
    "PUForestClassifier": PUForestClassifier,
    "PUExtraTreesClassifier": PUExtraTreesClassifier,
}
DESIGNS = ("random", "top")
CHECKS = (50, 200, 1000)
NAMES = ("digits", "mnist", "covtype", "20news", "unsw-nb15")


def workload(name: str, folder: Path | None, most: int) -> Workload:
    """Load a data set with at most this many training and test rows."""
    whole = load(name, folder)
    rng = np.random.default_rng(0)
    train, test = (np.sort(rng.permutation(len(y))[:most]) for y in (whole.y, whole.y_test))
    return Workload(name, whole.X[train], whole.y[train], whole.X_test[test], whole.y_test[test])


def verdicts(
    design: str, n: int, scores: np.ndarray, labeled: np.ndarray, truth: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """Reveal the classes of some unlabeled rows: the arguments of ``fit``."""
    unlabeled = np.flatnonzero(labeled == 0)
    if design == "random":
        rows = np.random.default_rng(seed).choice(unlabeled, n, replace=False)
        probability = np.full(len(labeled), n / len(unlabeled))
    else:
        # All rows that score as high as the last one that is checked
        cut = np.sort(scores[unlabeled])[-n]
        rows = unlabeled[scores[unlabeled] >= cut]
        probability = (scores >= cut).astype(float)
    checked = np.full(len(labeled), np.nan)
    checked[rows] = truth[rows]
    return {"checked": checked, "check_probability": probability}


def measure(data: Workload, draw: int, args: argparse.Namespace, out: Path) -> None:
    prior = data.prior  # makes the unlabeled rows other ones than the labeled rows
    X, labeled, index = make_pu(
        data.X, data.y, n_labeled=args.labeled, prior=prior, return_index=True, random_state=draw
    )
    truth = data.y[index]
    common = {"prior": prior, "random_state": draw, "n_jobs": args.threads}
    scores = np.empty(0)
    cases = [("none", 0), *((design, n) for design in DESIGNS for n in CHECKS)]
    for design, n in cases:
        if n > np.count_nonzero(labeled == 0) // 2:
            continue
        given = {} if n == 0 else verdicts(design, n, scores, labeled, truth, draw)
        for name, kind in MODELS.items():
            model = kind(**common)
            started = time.process_time()
            with threadpool_limits(1):
                model.fit(X, labeled, **given)
            seconds = time.process_time() - started
            if n == 0 and name == "PUForestClassifier":
                scores = model.oob_decision_function_
            found = {
                "accuracy": float(np.mean(model.predict(data.X_test) == data.y_test)),
                "auc": float(roc_auc_score(data.y_test, model.predict_proba(data.X_test)[:, 1])),
                "seconds": seconds,
                "found": int(np.nansum(given["checked"])) if given else 0,
            }
            record = {"workload": data.name, "rows": len(data.y), "labeled": args.labeled}
            record |= {"draw": draw, "model": name, "design": design, "checks": n}
            append_line(out, record | found | setup())
            print(data.name, draw, name, design, n, *found.values(), flush=True)


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    cases = [("none", 0), *((design, n) for design in DESIGNS for n in CHECKS)]
    names = list(dict.fromkeys(r["workload"] for r in records))

    def mean(key: str, **where: Any) -> float:
        those = [r[key] for r in records if all(r[name] == v for name, v in where.items())]
        return float(np.mean(those)) if those else np.nan

    def table(model: str, key: str) -> str:
        rows = []
        for name in names:
            where = {"workload": name, "model": model}
            values = [100 * mean(key, design=d, checks=n, **where) for d, n in cases]
            rows.append([name, *("–" if np.isnan(v) else f"{v:.2f}" for v in values)])
        header = ["data", "no checks", *(f"{n} {design}" for design, n in cases[1:])]
        return markdown(header, rows)

    rows = []
    for name in names:
        where = {"workload": name, "model": "PUForestClassifier"}
        rows.append(
            [
                name,
                f"{mean('rows', **where):,.0f}",
                *(f"{100 * mean('found', design='top', checks=n, **where) / n:.0f}%"
                  for n in CHECKS),
            ]
        )  # fmt: skip
    draws = plural(max(r["draw"] for r in records) + 1, "draw")
    parts = [
        "# Checked rows",
        f"{describe_setup(first)}. Means over {draws} on test rows, in percent. Case-control data, "
        f"{first['labeled']} labeled rows, known prior. Some unlabeled rows are checked: a simple "
        "random sample, or the top of the out-of-bag ranking of a PUForestClassifier without "
        "checks.",
    ]
    for model in MODELS:
        for key, title in (("accuracy", "accuracy"), ("auc", "AUC")):
            parts += [f"## {model}: {title}", table(model, key)]
    header = ["data", "training rows", *(f"top {n}" for n in CHECKS)]
    parts += ["## Positives among the rows at the top", markdown(header, rows)]
    times = []
    for model in MODELS:
        ratios = [
            mean("seconds", model=model, workload=name, design="random", checks=CHECKS[-1])
            / mean("seconds", model=model, workload=name, checks=0)
            for name in names
        ]
        times.append(f"{np.nanmedian(ratios):.1f} ({model})")
    parts += [
        "A fit with checked rows sums weights instead of counting rows, and trees see more rows "
        f"in `PUForestClassifier`. With {CHECKS[-1]} random checks it takes {' and '.join(times)} "
        "times as long as without checks (median over the data sets)."
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", nargs="+", default=NAMES)
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--rows", type=int, default=5000, help="most training and test rows")
    parser.add_argument("--labeled", type=int, default=100)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "checked.jsonl"
    out.unlink(missing_ok=True)
    for name in args.workloads:
        data = workload(name, args.data, args.rows)
        for draw in range(args.draws):
            measure(data, draw, args, out)
    (args.out / "checked.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
