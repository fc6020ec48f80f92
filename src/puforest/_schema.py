"""Feature schema: the columns a model was fitted to, and the checks of new tables against them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from puforest._matrix import is_small_and_clean, validated
from puforest._named_table import NamedTable
from puforest._validation import column_names


@dataclass(frozen=True)
class FeatureSchema:
    """Number and names of the features.

    Attributes
    ----------
    n_features : int
        Number of columns.
    names : tuple of str or None
        Column names; None if the table had none, or names other than strings.
    """

    n_features: int
    names: tuple[str, ...] | None = None

    @classmethod
    def of_training_data(
        cls, X: Any, y: Any, *, estimator: str
    ) -> tuple[Self, NDArray[Any], NDArray[Any]]:
        """Read the schema, the matrix and the labels from the arguments of ``fit``.

        `estimator` is the class name that error messages mention.
        """
        columns = _columns_of(estimator)()
        table = X.values if isinstance(X, NamedTable) else X
        matrix, labels = validated(columns, table, y=y, reset=True)
        names = X.columns if table is not X else getattr(columns, "feature_names_in_", None)
        return cls(matrix.shape[1], None if names is None else tuple(names)), matrix, labels

    def matrix(self, X: Any, *, estimator: str, **options: Any) -> Any:
        """Convert a table to a matrix, after checking that its columns match this schema.

        With labels ``y`` among the options, return both.
        """
        names = self.names
        if isinstance(X, NamedTable):
            if names is not None and tuple(X.columns) != names:
                raise ValueError(
                    f"X must have the {self.n_features:,} columns that {estimator} was fitted to, "
                    f"in the same order, got {len(X.columns):,} columns that differ from them"
                )
            X, names = X.values, None
        if not options and names is None and is_small_and_clean(X, self.n_features):
            return X  # the checks of scikit-learn would take longer than the prediction
        columns = _columns_of(estimator)()
        columns.n_features_in_ = self.n_features
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        return validated(columns, X, reset=False, **options)

    def feature_names(self) -> list[str]:
        """Return the names of all features, "x0", "x1" and so on if they have none."""
        return column_names(None, self.n_features) if self.names is None else list(self.names)


@cache
def _columns_of(estimator: str) -> Any:
    """Make a class on which scikit-learn's `validate_data` keeps and compares columns.

    It writes them to attributes of an estimator, and its messages mention the name of the class.
    """
    return type(estimator, (ClassifierMixin, BaseEstimator), {})
