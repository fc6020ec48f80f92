"""Tables as the matrices that exported models take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from puforest import _validation as check
from puforest.calibration import PUCalibratedClassifier
from puforest.export._trees import fitted

DTYPES = ("float32", "float64")


def to_matrix(model: Any, X: check.MatrixLike, *, dtype: str = "float64") -> NDArray[Any]:
    """Encode a table as the matrix that exported models take.

    Missing values become NaN. Categories become their position among the categories of the column,
    counted from 0, and categories that did not occur in training become NaN. Booleans become 0 and
    1, dates days since 1970-01-01 (UTC), and durations days.

    Parameters
    ----------
    model : fitted estimator
        A puforest forest or tree, or a `PUCalibratedClassifier` of one.
    X : array-like of shape (n_samples, n_features)
        Rows, with the columns that the model was fitted to.
    dtype : {"float64", "float32"}, default="float64"
        Type of the numbers, the same as in `to_onnx`.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> from puforest import PUExtraTreesClassifier
    >>> from puforest.export import to_matrix
    >>> X = pd.DataFrame({"odor": ["foul", "none", None, "none", "foul", "foul"]})
    >>> forest = PUExtraTreesClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> to_matrix(forest, pd.DataFrame({"odor": ["foul", "none", None, "musty"]})).ravel()
    array([ 0.,  1., nan, nan])
    """
    if isinstance(model, PUCalibratedClassifier):
        check_is_fitted(model)
        model = model.estimator_
    estimator = fitted(model, "to_matrix")
    out = np.dtype(check.one_of("dtype", dtype, DTYPES))
    values = estimator._record.schema.table(X, estimator=type(estimator).__name__).values
    if not isinstance(values, np.ndarray):
        values = values.toarray()
    matrix: NDArray[Any] = np.ascontiguousarray(values, dtype=out)
    return matrix
