"""Time and accuracy on a large table with categories, and time with missing values.

The table has 20 numeric and 10 categorical columns with 2 to 1,000 categories. The forests of
puforest take it as it is, as a data frame with categories, or with the categories replaced by
their codes; the other methods separate labeled from unlabeled rows. Each tree of
`PUForestClassifier` is grown on at most 10,000 labeled and 50,000 unlabeled rows. Histogram
gradient boosting takes at most 255 categories; those beyond the 254 most frequent are one. MNIST is
fitted as it is and with 10% of its cells missing. All methods run once per round, one after the
other, on one thread. Times are those of the processor, which other processes affect less. To
resume an interrupted benchmark, repeat the command.

    python -m benchmarks.mixed --data folder
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.machine import setup
from benchmarks.records import (
    RESULTS,
    append_line,
    describe_setup,
    markdown,
    node_count,
    plural,
    read_lines,
)
from benchmarks.workloads import load
from puforest import PUExtraTreesClassifier, PUForestClassifier, PURandomForestClassifier
from puforest.recipes import RECIPES

CATEGORIES = (2, 5, 10, 20, 50, 100, 200, 300, 500, 1000)
N_NUMERIC = 20
MISSING = 0.1
FEW_UNLABELED = 0.01
LEAVES = 31
BASELINE = "extra trees, codes"
KEYS = ("part", "name", "seed", "rows", "cells", "trees")  # of a measurement
MOST_ROWS_OF_YDF = 150_000  # a million would take it most of an hour
NNPU_RANDOM_FOREST = RECIPES[-1]  # one of those that candidates="auto" tries
FORESTS = {"extra trees": PUExtraTreesClassifier, "random forest": PURandomForestClassifier}


class Table(NamedTuple):
    X: pd.DataFrame
    labeled: NDArray[np.bool_]
    X_test: pd.DataFrame
    y_test: NDArray[np.bool_]
    prior: float


def make_table(n_rows: int) -> Table:
    """Draw a table; a fifth of the positives is labeled, and all rows are unlabeled as well."""
    rng = np.random.default_rng(0)
    n = n_rows + n_rows // 10
    columns: dict[str, Any] = {}
    logit = np.full(n, -2.0)
    for j in range(N_NUMERIC):
        columns[f"number {j}"] = rng.normal(size=n).astype(np.float32)
        if j < 5:
            logit += columns[f"number {j}"]
    for k in CATEGORIES:
        frequency = np.arange(1, k + 1) ** -0.7
        code = rng.choice(k, n, p=frequency / frequency.sum())
        logit += rng.normal(size=k)[code]
        columns[f"{k} categories"] = pd.Categorical.from_codes(code, [f"c{i}" for i in range(k)])
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    X = pd.DataFrame(columns)
    positive = np.flatnonzero(y[:n_rows])
    chosen = rng.choice(positive, len(positive) // 5, replace=False)
    rows = np.concatenate([chosen, np.arange(n_rows)])
    labeled = np.arange(len(rows)) < len(chosen)
    return Table(X.iloc[rows], labeled, X.iloc[n_rows:], y[n_rows:], float(y.mean()))


def codes(X: pd.DataFrame) -> NDArray[np.float32]:
    """Replace categories by their codes."""
    columns = (c.cat.codes if c.dtype == "category" else c for _, c in X.items())
    return np.column_stack([np.asarray(c, dtype=np.float32) for c in columns])


def few_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Merge all categories beyond the 254 most frequent; categories are in that order."""
    merged = {
        name: pd.Categorical.from_codes(np.minimum(column.cat.codes, 254), range(255))
        for name, column in X.items()
        if column.dtype == "category" and len(column.cat.categories) > 255
    }
    return X.assign(**merged)


def lightgbm(n_trees: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        boosting_type="rf", n_estimators=n_trees, subsample=0.632, subsample_freq=1,
        colsample_bynode=0.2, n_jobs=1, random_state=seed, verbose=-1,
    )  # fmt: skip


class Ydf:
    """A random forest of YDF as a classifier."""

    def __init__(self, n_trees: int, seed: int) -> None:
        self.options = {"num_trees": n_trees, "num_threads": 1, "random_seed": seed}

    def fit(self, X: pd.DataFrame, y: Any) -> Ydf:
        import ydf

        ydf.verbose(0)
        learner = ydf.RandomForestLearner(
            label="labeled", compute_oob_performances=False, **self.options
        )
        self.model = learner.train(X.assign(labeled=y))
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray[Any]:
        score = self.model.predict(X)
        return np.column_stack([1 - score, score])


def contestants(table: Table, args: argparse.Namespace) -> Iterator[tuple[str, Any, Any]]:
    """Yield names, functions that make a model for a seed, and functions of the table."""
    for name, cls in FORESTS.items():
        forest = partial(cls, table.prior, n_estimators=args.trees, n_jobs=1)
        yield f"{name}, categories", lambda s, f=forest: f(random_state=s), lambda X: X
        yield f"{name}, codes", lambda s, f=forest: f(random_state=s), codes
        few = partial(forest, max_unlabeled=FEW_UNLABELED)
        label = f"{name}, categories, max_unlabeled = {FEW_UNLABELED:.0%}"
        yield label, lambda s, f=few: f(random_state=s), lambda X: X
        small = partial(forest, max_leaf_nodes=LEAVES, voting="soft")
        label = f"{name}, categories, {LEAVES} leaves as in HistGradientBoosting"
        yield label, lambda s, f=small: f(random_state=s), lambda X: X
    recommended = partial(
        PUForestClassifier, table.prior, candidates="fast", n_estimators=args.trees, n_jobs=1
    )
    yield "PUForestClassifier, fast", lambda s: recommended(random_state=s), lambda X: X
    one = partial(recommended, candidates=NNPU_RANDOM_FOREST)
    label = "PUForestClassifier, nnPU random forest"
    yield label, lambda s: one(random_state=s), lambda X: X
    yield (
        "HistGradientBoosting, P against U",
        lambda s: HistGradientBoostingClassifier(
            max_iter=args.trees, categorical_features="from_dtype", early_stopping=False,
            random_state=s,
        ),
        few_categories,
    )  # fmt: skip
    yield "LightGBM random forest, P against U", partial(lightgbm, args.trees), lambda X: X
    if len(table.X) <= MOST_ROWS_OF_YDF:
        yield "YDF random forest, P against U", partial(Ydf, args.trees), lambda X: X


def timed_fit(model: Any, X: Any, y: Any) -> float:
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(X, y)
        return time.process_time() - start


def measure_table(args: argparse.Namespace, record: Callable[..., None]) -> None:
    for rows in args.rows:
        table = make_table(rows)
        for seed in range(args.rounds):
            for name, make, prepare in contestants(table, args):
                measure = partial(time_and_auc, table, make(seed), prepare)
                record(measure, part="table", name=name, seed=seed, rows=rows)


def time_and_auc(table: Table, model: Any, prepare: Callable[..., Any]) -> dict[str, float]:
    seconds = timed_fit(model, prepare(table.X), table.labeled)
    score = model.predict_proba(prepare(table.X_test))[:, 1]
    return {"seconds": seconds, "auc": float(roc_auc_score(table.y_test, score))}


def measure_mnist(args: argparse.Namespace, record: Callable[..., None]) -> None:
    data = load("mnist", args.data)
    rng = np.random.default_rng(0)
    X, X_test = (x.astype(np.float32) for x in (data.X, data.X_test))
    gaps, gaps_test = (np.where(rng.random(x.shape) < MISSING, np.nan, x) for x in (X, X_test))
    labeled = np.zeros(len(data.y), dtype=bool)
    labeled[rng.choice(np.flatnonzero(data.y), 1000, replace=False)] = True
    for seed in range(args.rounds):
        for name, cls in FORESTS.items():
            for risk in ("pn", "nnpu"):
                for cells, train, test in (("complete", X, X_test), ("missing", gaps, gaps_test)):
                    y = data.y if risk == "pn" else labeled
                    prior = None if risk == "pn" else data.prior
                    model = cls(
                        prior, risk=risk, scenario="single-training-set", n_estimators=args.trees,
                        random_state=seed,
                    )  # fmt: skip
                    tested = (test, data.y_test)
                    measure = partial(time_and_accuracy, model, (train, y), tested)
                    record(measure, part="mnist", name=f"{name}, {risk}", cells=cells, seed=seed)


def time_and_accuracy(
    model: Any, train: tuple[Any, Any], test: tuple[Any, Any]
) -> dict[str, float]:
    seconds = timed_fit(model, *train)
    X, y = test
    forest = model._forest
    is_split = ~forest.is_leaf
    return {
        "seconds": seconds,
        "accuracy": float(accuracy_score(y, model.predict(X))),
        "nodes": node_count(model),
        "searched": int((forest.n_labeled + forest.n_unlabeled)[is_split].sum(dtype=np.int64)),
    }


def medians(records: list[dict[str, Any]], key: str) -> dict[Any, float]:
    names = dict.fromkeys((r["name"], r.get("cells")) for r in records)
    return {
        n: float(np.median([r[key] for r in records if (r["name"], r.get("cells")) == n]))
        for n in names
    }


def rounds(records: list[dict[str, Any]]) -> str:
    return plural(max(r["seed"] for r in records) + 1, "round")


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    parts = [
        "# Tables with categories and missing values: time",
        f"{describe_setup(first)}. {plural(first['trees'], 'tree')}, one thread. Only ratios of "
        "times are shown.",
    ]
    for n_rows in dict.fromkeys(r["rows"] for r in records if r["part"] == "table"):
        table = [r for r in records if r.get("rows") == n_rows]
        seconds, auc = medians(table, "seconds"), medians(table, "auc")
        base = seconds[BASELINE, None]
        rows = [[n, f"{seconds[n, c] / base:.2f}", f"{100 * auc[n, c]:.1f}"] for n, c in seconds]
        parts += [
            f"## {n_rows:,} rows with categories",
            f"{N_NUMERIC} numeric columns and {len(CATEGORIES)} "
            f"categorical ones with {CATEGORIES[0]} to {CATEGORIES[-1]:,} categories. "
            f"Medians over {rounds(table)}.",
            markdown(["method", f"time / {BASELINE}", "AUC, %"], rows),
        ]
    mnist = [r for r in records if r["part"] == "mnist"]
    if mnist:
        costs = [medians(mnist, key) for key in ("seconds", "searched", "nodes")]
        accuracy = medians(mnist, "accuracy")
        rows = [
            [
                name,
                *(f"{value[name, 'missing'] / value[name, 'complete']:.2f}" for value in costs),
                f"{100 * accuracy[name, 'complete']:.1f}",
                f"{100 * accuracy[name, 'missing']:.1f}",
            ]
            for name in dict.fromkeys(r["name"] for r in mnist)
        ]
        header = [
            "forest", "time / complete", "rows searched / complete", "nodes / complete",
            "accuracy, complete, %", "accuracy, missing, %",
        ]  # fmt: skip
        parts += [
            f"## MNIST with {MISSING:.0%} of its cells missing",
            f"Medians over {rounds(mnist)}. Rows searched are those of all nodes that were split.",
            markdown(header, rows),
        ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", default=("table", "mnist"))
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="discard earlier measurements")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "mixed.jsonl"
    if args.fresh:
        out.unlink(missing_ok=True)
    done = [{key: r.get(key) for key in KEYS} for r in read_lines(out)]

    def record(measure: Callable[[], dict[str, float]], **case: Any) -> None:
        case["trees"] = args.trees
        if {key: case.get(key) for key in KEYS} in done:
            return
        found = measure()
        append_line(out, case | found | setup())
        print(*case.values(), *found.values(), flush=True)

    measures = {"table": measure_table, "mnist": measure_mnist}
    for part in args.parts:
        measures[part](args, record)
    (args.out / "mixed.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
