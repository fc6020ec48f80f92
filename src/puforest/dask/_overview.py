"""First pass of a fit on a cluster: size, classes and schema of the data.

It reads labels and weights, and the columns unless all of them are plain numbers by their types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask import delayed
from distributed import Future
from numpy.typing import NDArray

from puforest import _validation as check
from puforest._schema import FeatureSchema, string_names
from puforest._schema_parts import merged_schema
from puforest._training_rows import Totals
from puforest.dask import _reading
from puforest.dask._cluster import TaskError, Tasks
from puforest.dask._partitions import TrainingPartitions, source_of


@dataclass(frozen=True, eq=False)
class Overview:
    """What the first pass finds out.

    Attributes
    ----------
    schema : FeatureSchema
        Schema of the whole table.
    first_ids : list of int
        Number of the first row of each partition, and the number of rows.
    labels : ndarray
        Distinct labels.
    classes : ndarray
        The two classes.
    n_labeled : int
        Number of labeled rows of positive weight.
    totals : Totals
        Size of the data.
    exponent : int
        Weights are divided by two to this power, as in `check.at_most_one`.
    largest_labeled : float
        Largest weight of a labeled row, divided in this way.
    """

    schema: FeatureSchema
    first_ids: list[int]
    labels: NDArray[Any]
    classes: NDArray[Any]
    n_labeled: int
    totals: Totals
    exponent: int
    largest_labeled: float


def overview(
    tasks: Tasks,
    partitions: TrainingPartitions,
    *,
    estimator: str,
    categorical_features: Any,
    risk: str,
) -> Overview:
    """Read labels, weights and kinds of columns in a pass over the partitions."""
    numbers = partitions.are_numbers and isinstance(categorical_features, str | None)
    read = delayed(_reading.summary, pure=False, traverse=False)
    parts = partitions.with_labels(features=not numbers)
    found: list[_reading.Summary] = of_partitions(
        tasks,
        tasks.compute(
            [
                read(
                    X,
                    delayed(others),
                    estimator,
                    categorical_features,
                    dask_key_name=tasks.key("labels", k),
                )
                for k, (X, others) in enumerate(parts)
            ]
        ),
        partitions,
    )
    ids = np.cumsum([0, *(part.n_rows for part in found)]).tolist()
    larger, smaller = ("positive", "negative") if risk == "pn" else ("labeled", "unlabeled")
    present = [part for part in found if part.n_rows]
    if not present:
        raise ValueError("X has no rows")
    labels = np.concatenate([part.labels for part in present])
    classes, is_labeled = check.labels(check.filled_labels(labels), larger, smaller)
    return Overview(
        schema=_numeric_schema(partitions) if numbers else _merged(present),
        first_ids=ids,
        labels=_reading.distinct_labels(labels)[0],
        classes=classes,
        **_sizes(present, is_labeled, larger, smaller, "sample_weight" in partitions.others),
    )


def _numeric_schema(partitions: TrainingPartitions) -> FeatureSchema:
    names = partitions.feature_columns
    if names is None:
        return FeatureSchema(int(partitions.X.shape[1]))
    return FeatureSchema(len(names), string_names(partitions.X._meta[names]))


def _merged(parts: Sequence[_reading.Summary]) -> FeatureSchema:
    return merged_schema([part.schema for part in parts if part.schema is not None])


def _sizes(
    parts: Sequence[_reading.Summary],
    is_labeled: NDArray[np.bool_],
    larger: str,
    smaller: str,
    has_weights: bool,
) -> dict[str, Any]:
    """Add up the numbers and the weights of labeled and unlabeled rows."""
    n = np.array([n for part in parts for n in part.n_seen])
    weight = [w for part in parts for w in part.weight]
    limits = [w for part in parts for w in part.weights]
    exponent = 0
    if has_weights:
        lows = [low for low, _ in limits if low > 0]
        check.weights(np.array([*lows, *(high for _, high in limits)]), len(lows) + len(limits))
        exponent = int(np.frexp(max(high for _, high in limits))[1])
    sums, differ = [], False
    for name, group in ((larger, is_labeled), (smaller, ~is_labeled)):
        members = np.flatnonzero(group & (n > 0)).tolist()
        if not members:
            raise ValueError(
                f"sample_weight is zero for all {name} rows: that leaves only one class"
            )
        sums.append(float(np.ldexp(float(sum(weight[k] for k in members)), -exponent)))
        values = {w for k in members for w in limits[k]}
        differ = differ or len(values) > 1
    n_labeled = int(n[is_labeled].sum())
    totals = Totals(sums[0], sums[1], int(n[~is_labeled].sum()), differ)
    largest = max(limits[k][1] for k in np.flatnonzero(is_labeled & (n > 0)).tolist())
    return {
        "n_labeled": n_labeled,
        "totals": totals,
        "exponent": exponent,
        "largest_labeled": float(np.ldexp(largest, -exponent)),
    }


def of_partitions(
    tasks: Tasks,
    futures: list[Future],
    partitions: TrainingPartitions,
    then: list[Future] | None = None,
) -> list[Any]:
    """Return results of tasks on partitions; an error names the partition and its file."""
    try:
        tasks.wait(futures)
    except TaskError as failure:
        k, error = failure.number, failure.error
        X, others = partitions.whole()[k]
        source = source_of(X) or "".join(map(source_of, others.values()))
        kind = next((t for t in (TypeError, ValueError) if isinstance(error, t)), RuntimeError)
        raise kind(f"partition {k} of X{source}: {error}") from error
    return tasks.results(futures if then is None else then)
