"""Forests on a Dask cluster.

The estimators are those of one machine, and so are the forests, bit for bit. Install Dask with
``pip install 'puforest[dask]'``.
"""

from puforest._optional_imports import optional_import

for _module in ("dask.dataframe", "distributed"):
    optional_import(_module, extra="dask", purpose="puforest.dask")

from puforest.dask._cluster import SchedulerLostError  # noqa: E402
from puforest.dask._estimators import DaskPUForestClassifier  # noqa: E402
from puforest.dask._trees import (  # noqa: E402
    DaskPUExtraTreesClassifier,
    DaskPURandomForestClassifier,
)

__all__ = [
    "DaskPUExtraTreesClassifier",
    "DaskPUForestClassifier",
    "DaskPURandomForestClassifier",
    "SchedulerLostError",
]
