"""Training and test parts of the data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from puforest.datasets import load as load_subset

# Parameters of the loaders for the paper's data.
OPTIONS: dict[str, dict[str, Any]] = {"covtype": {"positive": "other"}}


@dataclass(frozen=True)
class Split:
    """Training and test samples with their true classes."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    feature_names: list[str]
    original: np.ndarray | None = None  # original classes of the training samples
    differs: str = ""


def load(name: str, folder: Path | None) -> Split:
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
