"""Time and accuracy of PUForestClassifier on MNIST, compared with scikit-learn's extra trees.

1,000 labeled positives and all 60,000 rows as unlabeled ones. scikit-learn's forest of 100 trees
separates labeled from unlabeled rows. All methods run once per round, one after the other, on one
thread. Times are those of the processor, which other processes affect less.

    python -m benchmarks.recommended --data folder
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from benchmarks.workloads import load
from puforest import PUExtraTreesClassifier, PUForestClassifier
from puforest.datasets import make_pu

BASELINE = "scikit-learn ExtraTrees, P against U"
# Fraction of the baseline's time to stay below.
TARGETS = {"PUForestClassifier": 1 / 2, 'PUForestClassifier(candidates="fast")': 1 / 25}


def models(prior: float, seed: int) -> dict[str, Any]:
    return {
        BASELINE: ExtraTreesClassifier(100, random_state=seed),
        "PUForestClassifier": PUForestClassifier(prior, random_state=seed),
        'PUForestClassifier(candidates="fast")': PUForestClassifier(
            prior, candidates="fast", random_state=seed
        ),
        "PUExtraTreesClassifier": PUExtraTreesClassifier(prior, random_state=seed),
    }


def measure(data: Any, seed: int, out: Path) -> None:
    X, labeled = make_pu(data.X, data.y, n_labeled=1000, random_state=seed)
    for name, model in models(data.prior, seed).items():
        with threadpool_limits(1):
            start = time.process_time()
            model.fit(X, labeled)
            seconds = time.process_time() - start
        score = model.predict_proba(data.X_test)[:, 1]
        found = {
            "seconds": seconds,
            "accuracy": float((model.predict(data.X_test) == data.y_test).mean()),
            "auc": float(roc_auc_score(data.y_test, score)),
        }
        append_line(out, {"name": name, "seed": seed} | found | setup())
        print(name, *found.values(), flush=True)


def page(records: list[dict[str, Any]]) -> str:
    names = dict.fromkeys(r["name"] for r in records)

    def median(name: str, key: str) -> float:
        return float(np.median([r[key] for r in records if r["name"] == name]))

    base = median(BASELINE, "seconds")
    rows = []
    for name in names:
        fraction = median(name, "seconds") / base
        target = f"at most {TARGETS[name]:.2f}" if name in TARGETS else ""
        quality = [f"{100 * median(name, key):.1f}" for key in ("accuracy", "auc")]
        rows.append([name, f"{fraction:.3f}", target, *quality])
    rounds = plural(max(r["seed"] for r in records) + 1, "round")
    header = ["method", f"time / {BASELINE}", "target", "accuracy, %", "AUC, %"]
    return (
        "# PUForestClassifier on MNIST: time\n\n"
        f"{describe_setup(records[0])}. One thread; medians over {rounds}, each with other labeled "
        f"rows. Only ratios of times are shown.\n\n{markdown(header, rows)}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "recommended.jsonl"
    out.unlink(missing_ok=True)
    data = load("mnist", args.data)
    for seed in range(args.rounds):
        measure(data, seed, out)
    (args.out / "recommended.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
