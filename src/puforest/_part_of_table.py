"""Labels of all rows of a table, and the rows of it that a fit needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._exact_sum import exact_sum
from puforest._kinds import MAX_CATEGORIES
from puforest._matrix import column_place
from puforest._needed_rows import NeededRows
from puforest._training_rows import Totals, TrainingRows, refuse_empty_groups, training_rows

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WholeLabels:
    """Labels and weights of all rows of a table.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The two labels; the second one is that of labeled rows.
    labeled : ndarray of bool
        Mask of the labeled rows.
    weight : ndarray or None
        Sample weights; None if all are 1.
    propensity : ndarray or None
        Propensities; only those of labeled rows matter.
    risk : str
        Risk estimator of the fit.
    """

    classes: NDArray[Any]
    labeled: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None
    propensity: NDArray[np.float64] | None = None
    risk: str = "nnpu"

    def __post_init__(self) -> None:
        if self.weight is not None:
            scaled = check.weights(self.weight, len(self.labeled))
            refuse_empty_groups(scaled, self.labeled, self.risk)
            object.__setattr__(self, "weight", scaled)

    @cached_property
    def n_labeled(self) -> int:
        """Number of labeled rows whose weight is not zero."""
        counted = self.labeled if self.weight is None else self.labeled & (self.weight > 0)
        return int(np.count_nonzero(counted))

    @cached_property
    def totals(self) -> Totals:
        """Size of the table, without rows of weight zero."""
        if self.weight is None:
            n_unlabeled = len(self.labeled) - self.n_labeled
            return Totals(float(self.n_labeled), float(n_unlabeled), n_unlabeled)
        seen = self.weight > 0
        labeled, unlabeled = self.weight[self.labeled & seen], self.weight[~self.labeled & seen]
        differ = not all((group == group[0]).all() for group in (labeled, unlabeled))
        total = float(exact_sum(unlabeled))
        return Totals(float(labeled.sum()), total, len(unlabeled), differ)

    def needed(self, first: int, n: int, samples: NeededRows, n_threads: int) -> NDArray[np.bool_]:
        """Mark which of consecutive rows a fit needs: labeled ones, and those of its samples."""
        end = first + n
        marks = samples.mark(first, n, n_threads) | self.labeled[first:end]
        return marks if self.weight is None else marks & (self.weight[first:end] > 0)

    def rows(self, ids: Ids) -> TrainingRows:
        """Return the training rows of a table that has only some rows, given in ascending order."""
        weight, propensity = self.weight, self.propensity
        rows = training_rows(
            self.classes[self.labeled[ids].astype(np.intp)],
            None if weight is None else weight[ids],
            None if propensity is None else propensity[ids],
            risk=self.risk,
        )
        at = ids[rows.order]
        return replace(
            rows,
            weight=rows.weight if weight is None else weight[at],  # scaled by those of all rows
            ids=at.astype(np.uint64),
            whole=self.totals,
        )


@dataclass(eq=False)
class Witnesses:
    """Finds rows that show what a fit must know of all rows.

    These are the first rows with each category, the first missing value of columns that become
    floats because of it, and infinite values, which the fit refuses. A table of the rows that a fit
    needs and of these is encoded as the whole table would be.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    requested : frozenset of int or None
        Columns that were requested to be categorical; None if their types decide.
    """

    names: list[str]
    requested: frozenset[int] | None
    _known: dict[int, Any] = field(default_factory=dict)  # categories of a column so far
    _with_nulls: set[int] = field(default_factory=set)  # columns with a witness of a missing value

    def find(self, batch: Any) -> NDArray[np.bool_]:
        """Mark the rows of a record batch."""
        found = np.zeros(batch.num_rows, bool)
        for j, column in enumerate(batch.columns):
            found[np.fromiter(self._of_column(j, column), np.intp)] = True
        return found

    def _of_column(self, j: int, column: Any) -> Iterable[int]:
        import pyarrow as pa
        import pyarrow.compute as pc

        types, dtype = pa.types, column.type
        if types.is_run_end_encoded(dtype):
            column = pc.run_end_decode(column)
            dtype = column.type
        is_number = types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype)
        if not (is_number or types.is_boolean(dtype) or types.is_temporal(dtype)):
            return () if types.is_null(dtype) else self._new_categories(j, column)
        if self.requested is not None and j in self.requested:
            return self._new_categories(j, column)
        if types.is_floating(dtype):
            return _infinite(column)
        if column.null_count and j not in self._with_nulls:
            self._with_nulls.add(j)
            return [pc.index(column.is_null(), True).as_py()]
        return ()

    def _new_categories(self, j: int, column: Any) -> Iterable[int]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_nested(column.type):
            return (0,) if len(column) else ()  # which the fit refuses
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        distinct = pc.unique(column).drop_null()
        known = self._known.get(j)
        if known is not None:
            distinct = distinct.filter(pc.invert(pc.is_in(distinct, value_set=known)))
            known = pa.concat_arrays([known, distinct])
        else:
            known = distinct
        if not len(distinct):
            return ()
        if len(known) > MAX_CATEGORIES:
            raise ValueError(
                f"{column_place(j, self.names)} has more than {MAX_CATEGORIES:,} categories: drop "
                "the column if it identifies rows, or replace the categories, for example by their "
                "frequency or by a hash with fewer values"
            )
        self._known[j] = known
        return pc.index_in(distinct, value_set=column).to_numpy()  # type: ignore[no-any-return]


def _infinite(column: Any) -> Iterable[int]:
    """Return the first infinite value; nearly all sums tell at once that there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = pc.sum(column.cast(pa.float32()) if pa.types.is_float16(column.type) else column)
    if not len(column) or not total.is_valid or np.isfinite(total.as_py()):
        return ()
    is_infinite = np.isinf(column.to_numpy(zero_copy_only=False))
    return (int(is_infinite.argmax()),) if is_infinite.any() else ()


@dataclass(frozen=True, eq=False)
class PartOfTable:
    """Some rows of a table.

    Attributes
    ----------
    X : pyarrow.Table
        The rows that the fit needs, and then witnesses.
    ids : ndarray of int
        Numbers of the rows that the fit needs, in ascending order.
    """

    X: Any
    ids: Ids


def needed_part(
    batches: Iterable[Any],
    labels: WholeLabels,
    samples: NeededRows,
    witnesses: Witnesses,
    n_threads: int,
    advance: Callable[[], object] = lambda: None,
) -> PartOfTable:
    """Keep the rows of record batches that a fit needs, and witnesses."""
    import pyarrow as pa

    first = 0
    kept, others, ids = [], [], []
    for batch in batches:
        marks = labels.needed(first, batch.num_rows, samples, n_threads)
        at = np.flatnonzero(marks)
        kept.append(batch.take(pa.array(at)))
        ids.append(first + at)
        more = np.flatnonzero(witnesses.find(batch) & ~marks)
        if len(more):
            others.append(batch.take(pa.array(more)))
        first += batch.num_rows
        advance()
    if first != len(labels.labeled):
        raise ValueError(
            f"the files changed while they were read: they had {len(labels.labeled):,} rows, and "
            f"now {first:,}"
        )
    return PartOfTable(pa.Table.from_batches([*kept, *others]), np.concatenate(ids))
