"""Tables whose columns are changed to see the effect on predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._encoded import EncodedTable
from puforest._rows import sliceable, take_rows
from puforest._schema import FeatureSchema
from puforest._table_columns import column_of, take_cells, take_columns, with_column
from puforest._unwrap import require_unwrapped, unwrapped

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Rows are predicted at all points in blocks of at most this many predictions.
MAX_CELLS = 2_000_000


@dataclass(frozen=True)
class InspectedTable:
    """A classifier and a table that it takes.

    The table of a puforest model is encoded once, and its columns are changed in the encoded
    matrix. Pipelines and classifiers of other packages get tables of the type they were given.

    Attributes
    ----------
    estimator : estimator
        Fitted classifier that takes the table.
    table : EncodedTable or any table
        The rows.
    names : list of str
        Names of the columns.
    """

    estimator: Any
    table: Any
    names: list[str]

    @classmethod
    def of(cls, estimator: Any, X: check.MatrixLike) -> Self:
        """Encode X for a puforest model; keep it for other classifiers."""
        found = unwrapped(estimator)
        if found is not None and not found.transformers:
            return cls(found.model, found.rows(X), found.feature_names(X))
        return cls.unencoded(estimator, X)

    @classmethod
    def unencoded(cls, estimator: Any, X: check.MatrixLike) -> Self:
        """Keep X as it is."""
        X = sliceable(X)
        if len(X.shape) != 2:
            raise ValueError(
                "X must be a table with rows and columns, got one dimension: to inspect the "
                "features that the transformers of a pipeline produce, pass its last step and the "
                "transformed rows, model[-1] and model[:-1].transform(X)"
            )
        n_columns = X.shape[1]
        names = getattr(estimator, "feature_names_in_", None)
        if names is None or len(names) != n_columns:
            return cls(estimator, X, check.column_names(X, n_columns))
        return cls(estimator, X, [str(name) for name in names])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    def take(self, rows: Indices) -> Self:
        """Return some of the rows, as a copy."""
        return replace(self, table=take_rows(self.table, rows))

    def with_shuffled(self, j: int, rows: Indices) -> Any:
        """Return the table with a column in another order."""
        return with_column(self.table, j, take_cells(column_of(self.table, j), rows))

    def column(self, j: int) -> InspectedColumn:
        """Return a column as numbers, with its kind and categories."""
        found = unwrapped(self.estimator)
        if isinstance(self.table, EncodedTable) and found is not None:
            schema: FeatureSchema = found.trees._record.schema
            encoded, k = self.table, j
        else:
            schema, encoded = FeatureSchema.of_table(take_columns(self.table, np.array([j])))
            k = 0
        codes = np.asarray(column_of(encoded, k), dtype=np.float64)
        return InspectedColumn(j, codes, schema.kind(k), schema.categories(k))

    def scores(
        self, columns: Sequence[InspectedColumn], points: Array
    ) -> Iterator[tuple[slice, slice, Array]]:
        """Predict each row at each point, a row of values that the columns are set to.

        Yields parts of the matrix of predictions, of shape (n_rows, n_points): the rows, the points
        and the predictions of each part.
        """
        if isinstance(self.table, EncodedTable):
            yield from self._native_scores(columns, points)
            return
        for p, codes in enumerate(points.tolist()):
            table = self.table
            for column, code in zip(columns, codes, strict=True):
                table = self._filled(table, column, code)
            yield slice(None), slice(p, p + 1), self.estimator.predict_proba(table)[:, 1:2]

    def _native_scores(
        self, columns: Sequence[InspectedColumn], points: Array
    ) -> Iterator[tuple[slice, slice, Array]]:
        """Predict blocks of rows at all points with one walk down the trees."""
        found = require_unwrapped("estimator", self.estimator)
        trees, table = found.trees, self.table
        predictor = trees._forest.predictor(trees._leaf_values(), table.dtype)
        varied = np.array([column.position for column in columns], dtype=np.uint32)
        size = max(1, MAX_CELLS // len(points))
        for first in range(0, self.n_rows, size):
            rows = slice(first, first + size)
            votes = predictor.mean_at(
                table[rows].native(), varied, points.astype(table.dtype), trees._n_threads()
            )
            yield rows, slice(None), found.probability(votes)

    def _filled(self, table: Any, column: InspectedColumn, code: float) -> Any:
        j = column.position
        if column.kind == "number":
            return with_column(table, j, np.full(self.n_rows, code))
        # Labels and dates are copied from a row that has them, in the type of the column.
        same = np.isnan(column.codes) if np.isnan(code) else column.codes == code
        rows = np.full(self.n_rows, np.flatnonzero(same)[0])
        return with_column(table, j, take_cells(column_of(self.table, j), rows))


@dataclass(frozen=True, eq=False)
class InspectedColumn:
    """A column as numbers.

    Attributes
    ----------
    position : int
        Position of the column in its table.
    codes : ndarray of shape (n_samples,)
        Numbers that encode the values, NaN for missing ones.
    kind : {"number", "category", "boolean", "datetime", "duration"}
        Kind of the values.
    categories : tuple or None
        Labels of categories and booleans.
    """

    position: int
    codes: NDArray[np.float64]
    kind: str
    categories: tuple[Any, ...] | None
