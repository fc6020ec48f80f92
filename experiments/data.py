"""Data sets of the experiments, with training and test parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split

from puforest.datasets import load as load_subset

TEST_FRACTION = 0.3

# Parameters of the loaders for the paper's data.
OPTIONS: dict[str, dict[str, Any]] = {"covtype": {"positive": "other"}}


@dataclass(frozen=True)
class Split:
    """Training and test samples with their true classes."""

    X: Any  # an array, or a pandas table
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    feature_names: list[str]
    original: np.ndarray | None = None  # original classes of the training samples
    differs: str = ""
    is_pu: bool = False  # y has PU labels, of a population whose class prior is unknown

    def split(self, draw: int) -> Split:
        return self


@dataclass(frozen=True)
class WholeTable:
    """A table without training and test parts; every draw splits it anew."""

    X: pd.DataFrame
    y: np.ndarray

    def split(self, draw: int) -> Split:
        X, X_test, y, y_test = train_test_split(
            self.X, self.y, test_size=TEST_FRACTION, stratify=self.y, random_state=draw
        )
        return Split(X, y, X_test, y_test, list(X.columns))


def load(name: str, folder: Path | None) -> Split:
    """Load a data set of the paper, or one added with `puforest.datasets.register`."""
    train, test = (
        load_subset(name, subset=s, data_home=folder, progress=True, **OPTIONS.get(name, {}))
        for s in ("train", "test")
    )
    names = train.get("feature_names")
    positive = train.target.max()
    return Split(
        train.data,
        (train.target == positive).astype(int),
        test.data,
        (test.target == positive).astype(int),
        [f"x{i}" for i in range(train.data.shape[1])] if names is None else list(names),
        train.get("original_target"),
        train.get("differs") or "",
    )


def with_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Convert columns of text to categories."""
    text = X.columns[[not pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes]]
    return X.astype(dict.fromkeys(text, "category"))


def as_numbers(X: Any, X_test: Any) -> tuple[np.ndarray, np.ndarray]:
    """Replace categories by their codes, and missing values by the mean of the training rows."""
    if not isinstance(X, pd.DataFrame):
        return X, X_test
    imputer = SimpleImputer(keep_empty_features=True).set_output(transform="default")
    return imputer.fit_transform(_codes(X)), imputer.transform(_codes(X_test))


def _codes(X: pd.DataFrame) -> np.ndarray:
    def numbers(column: pd.Series) -> pd.Series:
        if not isinstance(column.dtype, pd.CategoricalDtype):
            return column
        return column.cat.codes.where(column.notna())

    return X.apply(numbers).to_numpy(dtype=float)
