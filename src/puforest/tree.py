"""Single trees for positive and unlabeled data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from puforest import _core
from puforest import _validation as check
from puforest._base import PUClassifier
from puforest._estimator_docs import documented_estimator
from puforest._model_methods import ModelMethodsMixin
from puforest._prior_estimate import PriorEstimate

__all__ = ["PUDecisionTreeClassifier", "PUExtraTreeClassifier"]


class SingleTree(PUClassifier):
    """Base of the single trees."""

    def apply(self, X: check.MatrixLike) -> NDArray[np.int32]:
        """Return the leaf that each row falls into.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to pass through the tree.

        Returns
        -------
        ndarray of shape (n_samples,)
            Node indices.
        """
        return self._leaves(X)[:, 0]

    def decision_path(self, X: check.MatrixLike) -> sp.csr_array:
        """Return the path of each row from the root to its leaf.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to pass through the tree.

        Returns
        -------
        csr_array of shape (n_samples, n_nodes)
            1 for the nodes on the path of a row.
        """
        return self._decision_path(X)


@documented_estimator
class PUDecisionTreeClassifier(ModelMethodsMixin, SingleTree):
    """Decision tree for positive and unlabeled data.

    At each node the midpoints between consecutive values of the features are the candidate
    thresholds, and the split with the largest risk reduction is chosen.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%

    See Also
    --------
    PUExtraTreeClassifier : Tree with random thresholds.
    PURandomForestClassifier : A forest of such trees.

    Examples
    --------
    >>> from puforest import PUDecisionTreeClassifier
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUDecisionTreeClassifier(prior=0.5).fit(X, [0, 0, 0, 0, 1, 1])
    >>> tree.predict([[0.15], [0.8]])
    array([0, 1])
    """

    _thresholds = _core.Thresholds.optimal

    def __init__(
        self,
        prior: float | PriorEstimate | None = None,
        *,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        threshold: Any = 0.5,
        max_features: str | int | float | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented_estimator
class PUExtraTreeClassifier(ModelMethodsMixin, SingleTree):
    """Extremely randomized tree for positive and unlabeled data.

    At each node random thresholds between the smallest and the largest value of each feature are
    the candidates, and the split with the largest risk reduction is chosen.

    Parameters
    ----------
    %parameters%

    Attributes
    ----------
    %attributes%

    See Also
    --------
    PUDecisionTreeClassifier : Tree that tries all thresholds.
    PUExtraTreesClassifier : A forest of such trees.

    Examples
    --------
    >>> from puforest import PUExtraTreeClassifier
    >>> X = [[0.1], [0.2], [0.3], [0.6], [0.7], [0.9]]
    >>> tree = PUExtraTreeClassifier(prior=0.5, random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    >>> tree.predict([[0.15], [0.8]])
    array([0, 1])
    """

    _thresholds = _core.Thresholds.random

    def __init__(
        self,
        prior: float | PriorEstimate | None = None,
        *,
        scenario: str = "case-control",
        risk: str = "nnpu",
        loss: str = "quadratic",
        voting: str = "hard",
        threshold: Any = 0.5,
        max_features: str | int | float | None = "sqrt",
        n_thresholds: int = 1,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_risk_reduction: float | None = None,
        max_leaf_nodes: int | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self._set_parameters(locals())
