"""Verdicts of check sheets matched to the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.checking import CheckDesign
from puforest.cli.sheets._cells import cells_of_rows, readable, row_code
from puforest.cli.sheets._layout import DESIGN, QUOTE, Origin, ScoredBy
from puforest.cli.sheets._read import Verdict, read_verdicts
from puforest.cli.tables._names import cut, name_list
from puforest.cli.tables._source import Source

Array = NDArray[np.float64]

# Of more columns than this, only those whose names have no spaces around them are found.
MANY_COLUMNS = 100_000

# Larger exponents are beyond floats.
LARGEST_EXPONENT = 300


@dataclass(frozen=True)
class Round:
    """Rows that were chosen together.

    Attributes
    ----------
    design : CheckDesign
        How they were chosen.
    origin : Origin
        Where they were chosen from.
    n_answered : int
        How many of them have a verdict.
    """

    design: CheckDesign
    origin: Origin
    n_answered: int

    @property
    def needs_scores(self) -> bool:
        """True if the probability of a row to be chosen depends on its score."""
        return self.design.name != "random"


@dataclass(frozen=True, eq=False)
class MatchedVerdicts:
    """Verdicts on the rows of a table.

    Attributes
    ----------
    checked : ndarray of shape (n_rows,)
        1 for positives, 0 for negatives, nan for rows that were not checked.
    labeled : ndarray of shape (n_rows,)
        1 for rows that were labeled when rows were chosen.
    rounds : list of Round
        How the checked rows were chosen.
    remarks : list of str
        Warnings.
    """

    checked: Array = field(repr=False)
    labeled: NDArray[np.int64] = field(repr=False)
    rounds: list[Round]
    remarks: list[str]

    @property
    def n_positive(self) -> int:
        """Number of positive verdicts."""
        return int(np.count_nonzero(self.checked == 1))

    @property
    def n_negative(self) -> int:
        """Number of negative verdicts."""
        return int(np.count_nonzero(self.checked == 0))

    def probability(self, scores: Mapping[ScoredBy, Array]) -> Array:
        """Compute the probability of each row to have a verdict, from any of the rounds.

        `scores` are those by which rows were chosen, by `Origin.scored_by`. A round selects rows
        independently of the rounds before it, or from the rows that they left; in both cases, a row
        remains unchecked with the product of the probabilities.
        """
        unchecked = np.ones(len(self.checked))
        for chosen in self.rounds:
            score = scores.get(chosen.origin.scored_by, np.zeros(len(unchecked)))
            unchecked *= 1 - chosen.design.probability(score, chosen.n_answered)
        probability: Array = 1 - unchecked
        return probability


def match_verdicts(
    paths: Sequence[Path], source: Source, labeled: NDArray[np.int64]
) -> MatchedVerdicts:
    """Read sheets, and find their rows in a table.

    Parameters
    ----------
    paths : sequence of Path
        The sheets.
    source : Source
        The table that the rows were chosen from.
    labeled : ndarray of shape (n_rows,)
        1 for labeled rows, whose verdicts must be positive.
    """
    verdicts = [verdict for path in paths for verdict in read_verdicts(path)]
    by_row = _merged(verdicts)
    rounds = _rounds(verdicts)
    n_rows, remarks = _verify(by_row, source)
    for chosen in rounds:
        if chosen.origin.n_rows != n_rows:
            where = next(v.where for v in verdicts if v.origin == chosen.origin)
            raise ValueError(
                f"{where}: rows were chosen from {chosen.origin.table}, which had "
                f"{chosen.origin.n_rows:,} rows, but {source.path} has {n_rows:,}: use the table "
                "as it was"
            )
    checked = np.full(n_rows, np.nan)
    for row, verdict in by_row.items():
        checked[row - 1] = verdict.is_positive
    labeled, relabeled = _labels_before(by_row, labeled, source)
    return MatchedVerdicts(checked, labeled, rounds, [*remarks, *relabeled, *_unanswered(rounds)])


def _merged(verdicts: Iterable[Verdict]) -> dict[int, Verdict]:
    """Return the verdicts by row; several verdicts on a row must agree."""
    by_row: dict[int, Verdict] = {}
    for verdict in verdicts:
        first = by_row.setdefault(verdict.row, verdict)
        if first.is_positive != verdict.is_positive:
            words = ["positive" if v.is_positive else "negative" for v in (verdict, first)]
            raise ValueError(
                f"{verdict.where}: the verdict is {words[0]}, but {words[1]} in {first.where}: "
                "correct one of them"
            )
    return by_row


def _rounds(verdicts: Iterable[Verdict]) -> list[Round]:
    """Group the verdicts by how the rows were chosen, in whichever files they are."""
    groups: dict[tuple[str, Origin], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault((" ".join(verdict.design.split()), verdict.origin), []).append(verdict)
    rounds = []
    for (text, origin), members in groups.items():
        try:
            design = CheckDesign.parse(text)
        except ValueError as error:
            raise ValueError(f"{members[0].where}, column {DESIGN}: {error}") from error
        n_answered = len({verdict.row for verdict in members})
        if n_answered > design.n:
            raise ValueError(
                f"{members[0].where}: {n_answered:,} rows have a verdict, but only {design.n:,} "
                "were chosen: remove those that were added"
            )
        rounds.append(Round(design, origin, n_answered))
    return rounds


def _unanswered(rounds: Iterable[Round]) -> list[str]:
    left = [f"{r.design.n - r.n_answered:,} of {r.design.n:,}" for r in rounds]
    left = [text for text in left if not text.startswith("0 of")]
    if not left:
        return []
    return [
        f"{' and '.join(left)} rows that were chosen have no verdict. They count as not looked at, "
        "which is correct if they were left out regardless of their class"
    ]


def _labels_before(
    by_row: Mapping[int, Verdict], labeled: NDArray[np.int64], source: Source
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the labels before rows were checked, and a remark if there are more now.

    Only unlabeled rows are chosen, so a row with a positive verdict was labeled afterwards. To keep
    its label and drop its verdict would leave too many negative verdicts.
    """
    known = [verdict for row, verdict in by_row.items() if labeled[row - 1]]
    wrong = [verdict for verdict in known if not verdict.is_positive]
    if wrong:
        more = f"; {len(wrong) - 1:,} more contradict labels too" if len(wrong) > 1 else ""
        raise ValueError(
            f"{wrong[0].where}: the verdict is negative, but the row is labeled positive in "
            f"{source.path}: correct one of them{more}"
        )
    if not known:
        return labeled, []
    before = labeled.copy()
    before[[verdict.row - 1 for verdict in known]] = 0
    rows = name_list([f"row {verdict.row:,}" for verdict in known], 5)
    return before, [f"rows that were labeled after they were chosen count as checked: {rows}"]


# Verification of rows


def _verify(by_row: Mapping[int, Verdict], source: Source) -> tuple[int, list[str]]:
    """Compare the sheets with the table; return the number of rows and remarks.

    The code of a row tells whether its cells are the ones that were in the sheet. If it does not,
    as columns were removed from the sheet, those that are left are compared.
    """
    sheet = {name for verdict in by_row.values() for name in verdict.cells}
    names = source.names if len(source.names) <= MANY_COLUMNS else sorted(sheet)
    shared = [n for n in names if n.strip() in sheet and source.names.times(n) == 1]
    n_rows, compared = 0, False
    for first, cells in cells_of_rows(source, shared, sorted(by_row)):
        n_rows = first
        for row, values in cells.items():
            verdict = by_row[row]
            own = {name: values[name] for name in shared if name.strip() in verdict.cells}
            if row_code(own) != verdict.code:
                _compare_cells(verdict, own, source)
                compared = True
    if not compared:
        return n_rows, []
    return n_rows, [
        "columns of the check sheet were added or removed, or the table was stored in another "
        f"way. Rows were identified by {name_list(shared)}"
    ]


def _compare_cells(verdict: Verdict, values: Mapping[str, Any], source: Source) -> None:
    """Raise an error if a row differs from the one in the sheet, or cannot be compared."""
    for name, value in values.items():
        shown, stored = verdict.cells[name.strip()], readable(value)
        if not same_cell(shown, stored):
            raise ValueError(
                f"{verdict.where} is another row now: the column {cut(name)} holds "
                f"{cut(shown.strip())!r} in the sheet, but {cut(stored)!r} in {source.path}. Were "
                "rows of the table added, removed or sorted since puforest check?"
            )
    if not values:
        raise ValueError(
            f"{verdict.where}: the sheet has no column of {source.path} left, so that the row "
            "cannot be identified: restore them from the sheet that puforest check wrote"
        )


def same_cell(shown: str, stored: str) -> bool:
    """Tell whether a cell of a sheet stands for a cell of the table.

    Either number may be rounded: spreadsheet programs save numbers as they show them.
    """
    shown, stored = shown.strip().removeprefix(QUOTE).strip(), stored.strip()
    if shown.casefold() == stored.casefold():
        return True
    a, b = _number(shown), _number(stored)
    if a is None or b is None:
        return False
    last_digit = max(int(number.as_tuple().exponent) for number in (a, b))
    return 2 * abs(a - b) <= Decimal(1).scaleb(last_digit)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    exponent = int(number.as_tuple().exponent)
    return number if max(abs(exponent), abs(number.adjusted())) <= LARGEST_EXPONENT else None
