"""Fits to files that are larger than memory.

The labels of all rows tell which rows a fit needs: the labeled ones, and the unlabeled ones that
its trees or its evaluation draw. These are kept while all columns are read batch by batch. The fit
to them is the same as to the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._categorical import requested_columns
from puforest._encoded import EncodedTable
from puforest._needed_rows import LARGEST_FOLD, LARGEST_POSSIBLE_FOLD, NeededRows
from puforest._part_of_table import PartOfTable, WholeLabels, Witnesses, needed_part
from puforest._schema import FeatureSchema
from puforest._table_files import Paths, TableFiles, arrow
from puforest._training import draw_seed
from puforest._training_rows import TrainingRows, group_names

Report = Callable[[float], object]

# Labels must have two values, apart from missing ones.
MANY_LABELS = 100


# Rows on which a fit was evaluated, and their out-of-bag scores before calibration.
Evaluated = tuple[TrainingRows, NDArray[np.float64]]


class FitsParts(Protocol):
    """An estimator that can be fitted to a part of a table."""

    categorical_features: Any
    random_state: Any
    risk: str

    def _needed_rows(self, labels: WholeLabels, seed: int, largest_fold: float) -> NeededRows: ...

    def _fit_to_part(
        self,
        schema: FeatureSchema,
        table: EncodedTable,
        rows: TrainingRows,
        needed: NeededRows,
        progress: Report | None,
    ) -> Evaluated | None: ...


def fit_to_files(
    estimator: FitsParts,
    paths: Paths,
    label: str,
    *,
    columns: Sequence[str] | None,
    sample_weight: str | None,
    propensity: str | None,
    n_threads: int,
    progress: Report | None,
) -> None:
    """Fit an estimator to files; parameters are those of `BaseForest.fit_files`."""
    files = TableFiles(paths)
    names = _feature_names(files, label, columns, sample_weight, propensity)
    labels = read_labels(files, label, sample_weight, propensity, estimator.risk)
    requested = requested_columns(estimator.categorical_features, names, len(names))

    def read(samples: NeededRows) -> PartOfTable:
        return needed_part(
            files.batches(names),
            labels,
            samples,
            Witnesses(names, requested),
            n_threads,
            lambda: progress and progress(files.progress / 2),
        )

    growing = None if progress is None else lambda f: progress((1 + f) / 2)
    fit_to_needed_rows(estimator, labels, read, lambda: nullcontext(growing))


def fit_to_needed_rows(
    estimator: FitsParts,
    labels: WholeLabels,
    read: Callable[[NeededRows], PartOfTable],
    reporting: Callable[[], AbstractContextManager[Report | None]],
) -> Evaluated | None:
    """Fit an estimator to the rows of a table that it needs, as `read` reads them.

    `reporting` returns the context of a progress callback for the growth of the trees. Returns the
    evaluated rows and their scores, if there are any.
    """
    seed = draw_seed(estimator.random_state)
    try:
        return _fit_once(estimator, labels, read, reporting, seed, LARGEST_FOLD)
    except _core.IncompleteSample:
        return _fit_once(estimator, labels, read, reporting, seed, LARGEST_POSSIBLE_FOLD)


def _fit_once(
    estimator: FitsParts,
    labels: WholeLabels,
    read: Callable[[NeededRows], PartOfTable],
    reporting: Callable[[], AbstractContextManager[Report | None]],
    seed: int,
    largest_fold: float,
) -> Evaluated | None:
    needed = estimator._needed_rows(labels, seed, largest_fold)
    part = read(needed)
    schema, table = FeatureSchema.of_table(
        part.X,
        estimator=type(estimator).__name__,
        categorical_features=estimator.categorical_features,
    )
    rows = labels.rows(part.ids)
    del part  # the encoded table is a copy
    arrow().default_memory_pool().release_unused()
    with reporting() as progress:
        return estimator._fit_to_part(schema, table, rows, needed, progress)


def _feature_names(
    files: TableFiles,
    label: str,
    columns: Sequence[str] | None,
    sample_weight: str | None,
    propensity: str | None,
) -> list[str]:
    """Return the feature columns: the given ones, or all that are nothing else."""
    if not isinstance(label, str):
        raise TypeError(f"label must be the name of a column, got {label!r:.80}")
    others = {"label": label, "sample_weight": sample_weight, "propensity": propensity}
    used = {}
    for parameter, name in others.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(
                f"{parameter} must be the name of a column, since all rows are in the files, got "
                f"{name!r:.80}"
            )
        files.require([name], parameter)
        used[name] = parameter
    if columns is None:
        return [name for name in files.schema.names if name not in used]
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names, got {columns!r}: pass [{columns!r}]")
    files.require(columns, "columns")
    for name in columns:
        if name in used:
            raise ValueError(f"columns: {name!r} is the column of {used[name]}, not a feature")
    return list(columns)


def read_labels(
    files: TableFiles, label: str, sample_weight: str | None, propensity: str | None, risk: str
) -> WholeLabels:
    """Read the labels, weights and propensities of all rows, and no other columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    given = {"sample_weight": sample_weight, "propensity": propensity}
    names = list(dict.fromkeys(n for n in (label, *given.values()) if n is not None))
    values = pa.array([], files.schema.field(label).type)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    codes: list[NDArray[np.uint8]] = []
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in given}
    for batch in files.batches(names):
        columns = dict(zip(names, batch.columns, strict=True))
        cells = columns[label]
        cells = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        distinct = pc.unique(cells)
        new = distinct.filter(pc.invert(pc.is_in(distinct, value_set=values)))
        if len(new):
            values = pa.concat_arrays([values, new])
            if len(values) > MANY_LABELS:
                raise ValueError(
                    f"label: the column {label!r} has more than {MANY_LABELS} values, but labels "
                    "must have two: the larger for labeled rows and the smaller for the others"
                )
        codes.append(pc.index_in(cells, value_set=values).to_numpy().astype(np.uint8))
        for parameter, name in given.items():
            if name is not None:
                cast = columns[name].cast(pa.float64())
                parts[parameter].append(cast.to_numpy(zero_copy_only=False))
    distinct_labels = values.to_numpy(zero_copy_only=False)
    if risk == "pn":
        check.refuse_missing_labels(distinct_labels)
    y = check.training_labels(distinct_labels, len(values), "fit_files")
    classes, is_labeled = check.labels(y, *group_names(risk))
    return WholeLabels(
        classes,
        is_labeled[np.concatenate(codes)],
        np.concatenate(parts["sample_weight"]) if sample_weight is not None else None,
        np.concatenate(parts["propensity"]) if propensity is not None else None,
        risk,
    )
