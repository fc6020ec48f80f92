"""Record of a fit: everything it decided and learned about the data, apart from the trees.

Parameters of an estimator can be changed after the fit; the record cannot. Scorers, reports and
model files read the settings of the fit from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from puforest._calibrators import Sigmoid
from puforest._categorical import FROM_DTYPE, requested_columns
from puforest._comparison import Comparison
from puforest._masses import GroupMasses
from puforest._monotone import monotone_features
from puforest._schema import FeatureSchema
from puforest._score_curve import ScoreCurve

if TYPE_CHECKING:
    from puforest.prior import PriorEstimate


RecordT = TypeVar("RecordT")

# Parameters of forests that decide which rows each tree is grown on.
SAMPLING = ("bootstrap", "max_labeled", "max_unlabeled")


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Out-of-bag evaluation of a forest on its training rows.

    Attributes
    ----------
    decision_function : ndarray of shape (n_samples,)
        Mean vote of the trees that were not grown on the row; nan if there is none.
    risk : float
        Estimated zero-one risk; nan if it cannot be estimated.
    """

    decision_function: NDArray[np.float64]
    risk: float


@dataclass(frozen=True, eq=False)
class FitRecord:
    """Settings and data of a fit.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        Values of ``y``; the second one is the positive class.
    schema : FeatureSchema
        Columns of ``X``.
    parameters : dict
        Parameters of the estimator.
    masses : GroupMasses
        Masses of the labeled and the unlabeled rows, and with them the class prior.
    prior_estimate : PriorEstimate or None
        Estimate that the prior comes from, if it was estimated.
    n_labeled, n_unlabeled : int
        Number of rows of the fit.
    seed : int
        Seed of the trees.
    n_confirmed, n_refuted : int
        Number of unlabeled rows that were checked and found positive, and found negative.
    digest : str or None
        Digest of rows and labels, by which training rows are recognized; None if it is unknown.
    out_of_bag : OutOfBag or None
        Evaluation with ``oob_score=True``.
    curve : ScoreCurve or None
        Distribution of the out-of-bag predictions, from which thresholds are set.
    calibrator : Sigmoid or None
        Map from the mean vote of the trees to a probability.
    comparison : Comparison or None
        Candidates of a `PUForestClassifier`.
    added_missing, removed_missing : tuple of str
        Values that mark missing cells in files besides the usual ones, and usual ones that do not,
        as set on the command line.
    """

    classes: NDArray[Any]
    schema: FeatureSchema
    parameters: dict[str, Any]
    masses: GroupMasses
    prior_estimate: PriorEstimate | None
    n_labeled: int
    n_unlabeled: int
    seed: int
    n_confirmed: int = 0
    n_refuted: int = 0
    digest: str | None = None
    out_of_bag: OutOfBag | None = None
    curve: ScoreCurve | None = None
    calibrator: Sigmoid | None = None
    comparison: Comparison | None = None
    added_missing: tuple[str, ...] = ()
    removed_missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False
        if self.out_of_bag is not None:
            self.out_of_bag.decision_function.flags.writeable = False

    @property
    def prior(self) -> float:
        """Class prior."""
        return self.masses.labeled_p

    @property
    def prior_is_given(self) -> bool:
        """Whether the prior is a parameter, rather than derived from the data."""
        return self.parameters["prior"] is not None

    @property
    def risk(self) -> str:
        """Risk estimator."""
        return str(self.parameters.get("risk", "nnpu"))

    @property
    def loss(self) -> str:
        """Loss."""
        return str(self.parameters.get("loss", "quadratic"))

    @property
    def scenario(self) -> str:
        """Sampling scenario."""
        return str(self.parameters["scenario"])

    @property
    def monotone(self) -> tuple[list[int], list[int]]:
        """Features in which predictions increase, and those in which they decrease."""
        return monotone_features(self.parameters.get("monotonic_cst"), self.schema)

    @property
    def requested_categories(self) -> frozenset[int] | None:
        """Features requested to be categorical; None if the types of the columns decide."""
        requested = self.parameters.get("categorical_features", FROM_DTYPE)
        return requested_columns(requested, self.schema.names, self.schema.n_features)

    @property
    def is_supervised(self) -> bool:
        """True if the unlabeled rows were treated as negatives (``risk="pn"``)."""
        return self.risk == "pn"

    def refuse_other_target(self, new: FitRecord) -> None:
        """Refuse to add trees to a forest that was grown with other settings."""
        for name in ("risk", "loss", "scenario", "prior"):
            old, other = getattr(self, name), getattr(new, name)
            if old != other:
                raise ValueError(
                    f"warm_start=True adds to trees grown with {name}={old!r}, but now "
                    f"{name}={other!r}: fit a new forest"
                )
        for name, old, other in (
            ("monotonic_cst", self.monotone, new.monotone),
            ("categorical_features", self.requested_categories, new.requested_categories),
        ):
            if old != other:
                raise ValueError(
                    f"warm_start=True adds to trees grown with another {name}: fit a new forest"
                )
        if not np.array_equal(self.classes, new.classes):
            raise ValueError(
                f"warm_start=True adds to trees grown for the classes {self.classes.tolist()} of "
                f"y, but now they are {new.classes.tolist()}: fit a new forest"
            )

    def samples_like(self, new: FitRecord) -> bool:
        """Return True if the trees of both fits are grown on the same rows."""
        sampling = [
            (
                r.scenario,
                r.n_labeled,
                r.n_unlabeled,
                r.n_confirmed,
                *map(r.parameters.get, SAMPLING),
            )
            for r in (self, new)
        ]
        return sampling[0] == sampling[1]


class RecordedFitMixin(Generic[RecordT]):
    """Estimators whose fitted attributes are those of a record, `_record`."""

    _record: RecordT

    def _recorded(self, attribute: str) -> RecordT:
        """Return the record; `attribute` is the name that an error mentions."""
        if "_record" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__} has no attribute {attribute!r} before it is fitted"
            )
        return self._record

    def __sklearn_is_fitted__(self) -> bool:
        return "_record" in self.__dict__
