"""The stored runs of the leaderboard as tables of data sets and methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.harness import FIELDS, Results

PERCENT = ("accuracy", "f1", "auc", "precision_at_n")
MEASURES = (*PERCENT, "calibration_error", "calibration_floor", "fit_seconds", "fit_cpu_seconds")
CASE = ["dataset", "n_labeled", "scenario", "resampled_prior"]


def read(results: Results) -> pd.DataFrame:
    """Read all runs; failed ones count as predicting the more frequent class."""
    runs = pd.DataFrame(results.lines(), columns=FIELDS)
    if runs.empty:
        return runs
    numbers = ["draw", "n_labeled", "prior", *MEASURES]
    runs[numbers] = runs[numbers].apply(pd.to_numeric)
    failed = runs["error"] != ""
    prior = runs.loc[failed, "prior"]
    runs.loc[failed, "accuracy"] = np.maximum(prior, 1 - prior)
    runs.loc[failed, "f1"] = np.where(prior > 0.5, 2 * prior / (1 + prior), 0)
    runs.loc[failed, "auc"] = 0.5
    runs.loc[failed, "precision_at_n"] = prior
    runs[list(PERCENT)] *= 100
    return runs


def complete(runs: pd.DataFrame, methods: Sequence[str], measure: str) -> pd.DataFrame:
    """Keep the runs of these methods in the cases and draws that all of them were run on."""
    runs = runs[runs["method"].isin(methods) & runs[measure].notna()]
    draws = runs.groupby([*CASE, "draw"])["method"].transform("nunique")
    return runs[draws == len(methods)]


def by_dataset(runs: pd.DataFrame, methods: Sequence[str], measure: str) -> pd.DataFrame:
    """Return a row for each data set and a column for each method.

    Values are averaged over draws, then over the cases of a data set.
    """
    of_cases = runs.groupby([*CASE, "method"])[measure].mean()
    table = of_cases.groupby(["dataset", "method"]).mean().unstack("method")
    order = list(dict.fromkeys(runs["dataset"]))
    return table.reindex(index=order, columns=list(methods))
