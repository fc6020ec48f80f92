"""Upper bounds of the class prior."""

from puforest.prior import PriorEstimate


def bounded(upper=0.5, value=0.4, low=0.0, scenario="case-control"):
    """An upper bound of the prior."""
    return PriorEstimate(
        value=value,
        interval=(low, upper),
        upper=upper,
        kind="upper bound",
        reason="No region is purely positive.",
        confidence=0.95,
        method="bbe",
        scenario=scenario,
        unlabeled_prior=value,
        label_frequency=0.2,
    )
