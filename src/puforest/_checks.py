"""Checked rows: unlabeled rows that were looked at, and the probability of looking at them.

A positive of these features is known to be positive with the probability ``known``: a labeled row
with the probability e(x) with which it would have been checked as an unlabeled one, an unlabeled
row that was found positive with certainty, all others not at all. If w_p and w_u are the weights of
a row without checks, those with checks are

    ((1 - known) w_p + known w_u, w_u).

The labeled rows, which stand in for the unknown positives, lose as much weight as checked rows are
expected to contribute, so that masses remain unbiased, without inverse probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check

# Rows that an error message names.
MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class CheckOutcome:
    """Result of checking unlabeled rows.

    Attributes
    ----------
    known : ndarray of shape (n_samples,)
        Probability that a positive of the features of each row is known to be positive.
    confirmed, refuted : ndarray of bool of shape (n_samples,)
        Masks of the unlabeled rows that were found positive and negative.
    """

    known: NDArray[np.float64]
    confirmed: NDArray[np.bool_]
    refuted: NDArray[np.bool_]


def read_checks(
    checked: Any,
    check_probability: Any,
    labeled: NDArray[np.bool_],
    weight: NDArray[np.float64],
) -> CheckOutcome | None:
    """Validate verdicts and probabilities of all rows; None if no unlabeled row was checked.

    `labeled` marks the labeled rows, and `weight` has the sample weights.
    """
    if checked is None:
        if check_probability is not None:
            raise ValueError(
                "check_probability is the probability with which rows were selected for checking: "
                "pass the verdicts too, as checked"
            )
        return None
    verdict = consistent_verdicts(checked, labeled)
    seen = weight > 0
    looked_at = ~labeled & seen & ~np.isnan(verdict)
    if not looked_at.any():
        return None
    confirmed, refuted = looked_at & (verdict == 1), looked_at & (verdict == 0)
    unlabeled = ~labeled & seen
    if confirmed.sum() == unlabeled.sum():
        raise ValueError(
            "checked: all unlabeled rows were found positive, so there is nothing to learn"
        )
    if check_probability is None:
        e = np.full(len(labeled), weight[looked_at].sum() / weight[unlabeled].sum())
    else:
        e = _probabilities(check_probability, labeled & seen, looked_at)
    known = np.where(labeled, e, 0.0)
    known[confirmed] = 1.0
    known[~seen] = 0.0
    return CheckOutcome(known, confirmed, refuted)


def consistent_verdicts(checked: Any, labeled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Read verdicts, which labeled rows must not have.

    A positive verdict cannot be ignored if a negative one counts: of the rows with verdicts, more
    would be negative than of those that were checked.
    """
    verdict = verdicts(checked, len(labeled))
    wrong = np.flatnonzero(labeled & (verdict == 0))
    if len(wrong):
        raise ValueError(
            f"checked: {named_rows(wrong)} found negative, but labeled as positive in y. Correct "
            "the verdicts, or y if the labels are wrong."
        )
    known = np.flatnonzero(labeled & (verdict == 1))
    if len(known):
        raise ValueError(
            f"checked: {named_rows(known)} found positive, and labeled in y. Mark rows that were "
            "labeled because they were checked as unlabeled in y, and leave out verdicts on rows "
            "that had a label before."
        )
    return verdict


def verdicts(checked: Any, n: int) -> NDArray[np.float64]:
    """Read verdicts as 1 (positive), 0 (negative) and nan (not looked at)."""
    check.refuse_masked(checked, "checked")
    values = np.asarray(checked)
    if values.shape != (n,):
        raise ValueError(f"checked must have the shape ({n},), got {values.shape}")
    if values.dtype.kind not in "biuf":
        values = np.array([_verdict(value, i) for i, value in enumerate(values.tolist())], float)
    verdict = values.astype(np.float64)
    for i in np.flatnonzero(~(np.isnan(verdict) | (verdict == 0) | (verdict == 1)))[:1]:
        _refuse(values[i].item(), int(i))
    return verdict


def _verdict(value: Any, i: int) -> float:
    if check.is_missing(value):
        return np.nan
    if isinstance(value, Real):
        return float(value)
    return _refuse(value, i)


def _refuse(value: Any, i: int) -> float:
    raise ValueError(
        f"checked must be 1 or True for rows that were found positive, 0 or False for rows that "
        f"were found negative, and NaN or None for rows that were not looked at, got {value!r} in "
        f"row {i}"
    )


def _probabilities(
    check_probability: ArrayLike, labeled: NDArray[np.bool_], looked_at: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Read the probabilities of all rows; other unlabeled rows may have any."""
    e = probability_vector(check_probability, len(labeled))
    bad = np.flatnonzero(looked_at & ~((e > 0) & (e <= 1)))
    if len(bad):
        raise ValueError(
            f"check_probability must be above 0 and at most 1 for checked rows, got {e[bad[0]]:g} "
            f"for {named_rows(bad, verb=False)}. Pass the probability with which each row was "
            "selected, or leave out verdicts of rows that could not have been selected."
        )
    bad = np.flatnonzero(labeled & ~((e >= 0) & (e <= 1)))
    if len(bad):
        raise ValueError(
            f"check_probability must be between 0 and 1 for labeled rows, got {e[bad[0]]:g} for "
            f"{named_rows(bad, verb=False)}. Pass the probability with which the row would have "
            "been selected if it were unlabeled."
        )
    return e


def probability_vector(check_probability: ArrayLike, n: int) -> NDArray[np.float64]:
    """Read probabilities to be checked, or one for all rows; NaN is allowed."""
    if check.is_real(check_probability):
        return np.full(n, check_probability, dtype=np.float64)
    return check.vector("check_probability", check_probability, n, finite=False)


def named_rows(rows: NDArray[np.intp], *, verb: bool = True) -> str:
    """Name a few rows by their positions: "rows 3, 8 and 2 more were"."""
    some = ", ".join(map(str, rows[:MOST_NAMED].tolist()))
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    one = len(rows) == 1
    return f"row{'' if one else 's'} {some}{more}" + (
        f" {'was' if one else 'were'}" if verb else ""
    )
