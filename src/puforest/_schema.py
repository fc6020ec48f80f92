"""Feature schema: the columns a model was fitted to, and new tables with the same columns."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from puforest import _validation as check
from puforest._categorical import FROM_DTYPE, requested_columns
from puforest._columns import ArrayColumns, TableColumns, is_data_frame
from puforest._encoded import EncodedTable
from puforest._encoding import new_column, training_column
from puforest._kinds import ColumnKind, Label
from puforest._matrix import column_place, is_small_and_clean, opened, stacked
from puforest._named_table import NamedTable
from puforest._warnings import warn


@dataclass(frozen=True)
class FeatureSchema:
    """Number, names and kinds of the features.

    Attributes
    ----------
    n_features : int
        Number of columns.
    names : tuple of str or None
        Column names; None if the table had none, or names other than strings.
    columns : mapping of int to ColumnKind
        Kinds of the columns that are not plain numbers, by position.
    """

    n_features: int
    names: tuple[str, ...] | None = None
    columns: Mapping[int, ColumnKind] = field(default_factory=dict)

    @classmethod
    def of_training_data(
        cls, X: Any, y: Any, *, estimator: str, categorical_features: Any = FROM_DTYPE
    ) -> tuple[Self, EncodedTable, NDArray[Any]]:
        """Read the schema, the table and the labels from the arguments of ``fit``.

        `estimator` is the class name that error messages mention.
        """
        schema, table = cls.of_table(
            X, estimator=estimator, categorical_features=categorical_features
        )
        return schema, table, check.training_labels(y, len(table), estimator)

    @classmethod
    def of_table(
        cls, X: Any, *, estimator: str = "", categorical_features: Any = FROM_DTYPE
    ) -> tuple[Self, EncodedTable]:
        """Read the schema and the table from the rows of a fit."""
        if isinstance(X, EncodedTable):
            kinds = {
                j: ColumnKind("category", tuple(range(X.n_categories(j)))) for j in X.categorical
            }
            return cls(X.shape[1], None, kinds), X
        names = tuple(X.columns) if isinstance(X, NamedTable) else string_names(X)
        found = opened(X, estimator)
        schema = cls(found.shape[1], names)
        requested = requested_columns(categorical_features, names, schema.n_features)
        if isinstance(found, np.ndarray | sp.csr_array) and not requested:
            return schema, EncodedTable(found)
        if isinstance(found, sp.csr_array):
            raise ValueError(
                "categorical_features cannot be used with sparse X: pass a dense table, or one-hot "
                "encode the columns"
            )
        columns = ArrayColumns(found) if isinstance(found, np.ndarray) else found
        kinds, matrix = _read_training(columns, requested, schema.place)
        schema = cls(schema.n_features, names, kinds)
        return schema, EncodedTable(matrix, schema.categorical)

    def table(
        self, X: Any, *, estimator: str = "", unknown: dict[int, int] | None = None
    ) -> EncodedTable:
        """Encode new data, after checking that its columns match this schema.

        Categories are matched by label, and unknown ones are missing values. Their number is added
        to `unknown`, by column.
        """
        names, values = self.names, X
        if isinstance(X, NamedTable):
            if names is not None and tuple(X.columns) != names:
                raise ValueError(
                    f"X must have the {self.n_features:,} columns that {estimator} was fitted to, "
                    f"in the same order, got {len(X.columns):,} columns that differ from them"
                )
            values, names = X.values, None
        if not self.columns and names is None and is_small_and_clean(values, self.n_features):
            # The checks of scikit-learn would take longer than the prediction.
            return EncodedTable(values)
        if isinstance(values, EncodedTable):
            if values.shape[1] != self.n_features:
                raise ValueError(
                    f"X has {values.shape[1]} features, but {self.n_features} are expected"
                )
            return values
        found = opened(values, estimator)
        self._compare_columns(values, found, names, estimator)
        if not self.columns and not isinstance(found, TableColumns):
            return EncodedTable(found)
        if isinstance(found, sp.csr_array):
            raise TypeError(
                f"X is sparse, but {estimator} was fitted to a table whose columns are not all "
                "numbers: pass a table with the same columns"
            )
        columns = ArrayColumns(found) if isinstance(found, np.ndarray) else found
        return EncodedTable(self._encoded(columns, estimator, unknown), self.categorical)

    def _compare_columns(
        self, X: Any, found: Any, names: tuple[str, ...] | None, estimator: str
    ) -> None:
        """Compare names and number of columns as scikit-learn does."""
        if names is not None and is_data_frame(X) and _column_names(X) == list(names):
            return  # scikit-learn takes 1 s for 60,000 columns of an Arrow table
        columns = _columns_of(estimator)()
        columns.n_features_in_ = self.n_features
        if names is not None:
            columns.feature_names_in_ = np.array(names, dtype=object)
        table = X if is_data_frame(X) else np.empty((0, found.shape[1]))
        validate_data(columns, table, reset=False, skip_check_array=True)

    def _encoded(
        self, columns: TableColumns, estimator: str, unknown: dict[int, int] | None
    ) -> NDArray[Any]:
        encoded = {}
        for j in columns.to_read(self.columns):
            place = self.place(j)
            column = columns.read(j, place)
            encoded[j], n_unknown = new_column(column, self.columns.get(j), place, estimator)
            if unknown is not None and n_unknown:
                unknown[j] = unknown.get(j, 0) + n_unknown
        return stacked(columns, encoded, self.place)

    # Columns

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the categorical columns."""
        return tuple(sorted(j for j, kind in self.columns.items() if kind.kind == "category"))

    def kind(self, j: int) -> str:
        """Return "number", "category", "boolean", "datetime" or "duration"."""
        return self.columns[j].kind if j in self.columns else "number"

    def categories(self, j: int) -> tuple[Label, ...] | None:
        """Return the labels of a categorical or boolean column, None for others."""
        return self.columns[j].categories if j in self.columns else None

    def place(self, j: int) -> str:
        """Return the name of a column in messages."""
        return column_place(j, self.names)

    def feature_names(self) -> list[str]:
        """Return the names of all features, "x0", "x1" and so on if they have none."""
        return check.column_names(None, self.n_features) if self.names is None else list(self.names)

    def __getstate__(self) -> dict[str, Any]:
        return {"n_features": self.n_features, "names": self.names, "columns": dict(self.columns)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"columns": {}} | state)


def number_matrix(X: Any, reader: str) -> NDArray[Any]:
    """Convert a table to an array of finite numbers, for methods that need them.

    `reader` is the name of the method in error messages.
    """
    schema, table = FeatureSchema.of_table(X, estimator=reader)
    if schema.categorical:
        raise _unreadable_text(schema, reader)
    if isinstance(table.values, sp.csr_array):
        raise TypeError(f"X is sparse, which {reader} cannot read: pass X.toarray()")
    missing = np.isnan(table.values).any(axis=0)
    if missing.any():
        raise ValueError(
            f"{schema.place(int(np.argmax(missing)))} has missing values (NaN), which {reader} "
            "cannot read: replace them, for example with sklearn.impute.SimpleImputer"
        )
    return table.values


@contextmanager
def naming_text(X: Any, reader: str) -> Iterator[None]:
    """Name the column in the error of another estimator that cannot convert text to numbers."""
    try:
        yield
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        with warnings.catch_warnings(action="ignore"):  # of identifiers and the like
            schema, _ = FeatureSchema.of_table(X)
        if not schema.categorical:
            raise
        raise _unreadable_text(schema, reader) from error


def _unreadable_text(schema: FeatureSchema, reader: str) -> TypeError:
    return TypeError(
        f"{schema.place(schema.categorical[0])} has text or categories, which {reader} cannot "
        "read: encode the column as numbers, for example with sklearn.preprocessing.OneHotEncoder "
        "in a pipeline, or use an estimator that reads text"
    )


def _column_names(X: Any) -> list[Any]:
    return list(X.column_names if hasattr(X, "column_names") else X.columns)


def string_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a table if they are strings."""
    if not is_data_frame(X):
        return None
    names = _column_names(X)
    types = set(map(type, names))
    if types == {str}:
        if len(set(names)) < len(names):
            repeated = next(name for name, n in Counter(names).items() if n > 1)
            raise ValueError(f"X has several columns named {repeated!r}: names must be unique")
        return tuple(names)
    if any(issubclass(name_type, str) for name_type in types):  # scikit-learn explains mixed names
        validate_data(_columns_of("")(), X, reset=True, skip_check_array=True)
    return None


def _read_training(
    columns: TableColumns, requested: frozenset[int] | None, place: Callable[[int], str]
) -> tuple[dict[int, ColumnKind], NDArray[Any]]:
    """Read the kinds of the columns, and the matrix of numbers that encode them."""
    kinds: dict[int, ColumnKind] = {}
    encoded: dict[int, NDArray[Any]] = {}
    doubts: dict[str, list[str]] = {"numbers": [], "dates": [], "identifier": []}
    for j in columns.to_read(requested or ()):
        is_categorical = None if requested is None else j in requested
        column = training_column(columns.read(j, place(j)), place(j), is_categorical)
        encoded[j] = column.values
        if column.kind is not None:
            kinds[j] = column.kind
        if column.doubt:
            doubts[column.doubt].append(place(j))
    warn_about(doubts)
    return kinds, stacked(columns, encoded, place)


def warn_about(doubts: dict[str, list[str]]) -> None:
    """Warn about columns that are read as categories but look like something else."""
    for doubt, function in (
        ("numbers", "pd.to_numeric(..., errors='coerce')"),
        ("dates", "pd.to_datetime"),
    ):
        if doubts[doubt]:
            warn(
                f"{_listed(doubts[doubt])}: {doubt} as text, read as categories. Convert the text "
                f"to {doubt}, for example with {function}; to confirm that these are categories, "
                "use a categorical type, or categorical_features."
            )
    if doubts["identifier"]:
        columns = "column" if len(doubts["identifier"]) == 1 else "columns"
        warn(
            f"{_listed(doubts['identifier'])}: (nearly) every row has its own category, as in an "
            f"identifier, from which nothing can be learned. Drop the {columns}."
        )


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - 5} more columns" if len(places) > 5 else ""
    return ", ".join(places[:5]) + more


@cache
def _columns_of(estimator: str) -> Any:
    """Make a class on which scikit-learn's `validate_data` compares columns.

    It reads them from attributes of an estimator, and its messages mention the name of the class.
    """
    return type(estimator, (ClassifierMixin, BaseEstimator), {})
