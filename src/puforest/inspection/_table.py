"""Tables whose columns are changed to see the effect on predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._encoded import EncodedTable
from puforest._rows import sliceable, take_rows
from puforest._schema import FeatureSchema
from puforest._table_columns import column_of, take_cells, take_columns, with_column
from puforest._unwrap import unwrapped

Indices = NDArray[np.intp]


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
        # A copy, since the column of an encoded table is changed in place.
        codes = np.array(column_of(encoded, k), dtype=np.float64)
        return InspectedColumn(j, codes, schema.kind(k), schema.categories(k))

    def scores_at(
        self, columns: Sequence[InspectedColumn], codes: Sequence[float]
    ) -> NDArray[np.float64]:
        """Predict all rows with these values in the given columns.

        It changes an encoded table, which must be a copy.
        """
        table = self.table
        for column, code in zip(columns, codes, strict=True):
            table = self._filled(table, column, code)
        return np.asarray(self.estimator.predict_proba(table)[:, 1])

    def _filled(self, table: Any, column: InspectedColumn, code: float) -> Any:
        j = column.position
        if isinstance(table, EncodedTable) and not table.is_sparse:
            table.values[:, j] = code
            return table
        if isinstance(table, EncodedTable) or column.kind == "number":
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
