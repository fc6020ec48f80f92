"""Columns of a check sheet, where its rows come from, and codes that identify rows."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from puforest._text import printable, reads_as_number

VERDICT, ROW, PROBABILITY, SELECTION = "verdict", "row", "probability", "selection_probability"
DESIGN, ORIGIN, CODE = "design", "origin", "code"
RESERVED = (VERDICT, ROW, PROBABILITY, SELECTION, DESIGN, ORIGIN, CODE)

# Columns without which a sheet cannot be used.
REQUIRED = {
    VERDICT: "the verdicts",
    ROW: "the row numbers",
    DESIGN: "how rows were chosen",
    ORIGIN: "the table that they were chosen from",
}

# Added to the names of columns of the table that a sheet has for itself.
OF_TABLE = " (data)"

# Spreadsheet programs would run text that starts with these characters as a formula.
FORMULA = ("=", "+", "-", "@")
QUOTE = "'"

# Spreadsheet programs leave words of these letters alone: they are neither numbers nor dates.
LETTERS = "bcdfghjklmnpqrstvwxz"
CODE_LENGTH = 10

HASHED_BYTES = 2**20


# Fingerprint of a model, and whether its scores are out of bag.
ScoredBy = tuple[str, bool]


@dataclass(frozen=True)
class Origin:
    """Where the rows of a sheet were chosen from.

    Attributes
    ----------
    n_chosen : int
        Number of rows that were chosen.
    n_rows : int
        Number of rows of the table.
    table, model : str
        Names of the table and of the model that chose the rows.
    fingerprint : str
        Fingerprint of the model file.
    seed : int
        Random seed.
    out_of_bag : bool
        Whether the rows were training rows, chosen by out-of-bag predictions.
    n_before : int
        Number of rows that had been checked before, and were not chosen again.
    """

    n_chosen: int
    n_rows: int
    table: str
    model: str
    fingerprint: str
    seed: int
    out_of_bag: bool = False
    n_before: int = 0

    @property
    def scored_by(self) -> ScoredBy:
        """Identifies the scores by which the rows were chosen."""
        return self.fingerprint, self.out_of_bag

    def __str__(self) -> str:
        out_of_bag = OUT_OF_BAG if self.out_of_bag else ""
        before = f", after {self.n_before} checks" if self.n_before else ""
        return (
            f"{self.n_chosen} of {self.n_rows} rows of {self.table}, chosen by {self.model} "
            f"({self.fingerprint}){out_of_bag}, seed {self.seed}{before}"
        )

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Read the text of an origin."""
        found = _ORIGIN.fullmatch(" ".join(text.split()))
        if found is None:
            raise ValueError(f"{text[:80]!r} does not say where rows were chosen from")
        n_chosen, n_rows, table, model, code, out_of_bag, seed, n_before = found.groups()
        return cls(
            n_chosen=int(n_chosen),
            n_rows=int(n_rows),
            table=table,
            model=model,
            fingerprint=code,
            seed=int(seed),
            out_of_bag=bool(out_of_bag),
            n_before=int(n_before or 0),
        )


OUT_OF_BAG = " out of bag"
_ORIGIN = re.compile(
    r"(\d{1,15}) of (\d{1,15}) rows of (.*), chosen by (.*) "
    rf"\(([{LETTERS}]{{{CODE_LENGTH}}})\)({OUT_OF_BAG})?"
    r", seed (\d{1,15})(?:, after (\d{1,15}) checks)?"
)


def file_name(path: Path) -> str:
    """Return the name of a file for an origin."""
    return " ".join(printable(path.name).split())


# Names and text


def name_in_sheet(name: str) -> str:
    """Return the name of a column of the table in the sheet."""
    return as_plain_text(name + OF_TABLE if _is_taken(name) else name)


def name_in_table(name: str) -> str:
    """Return the name of a column of the sheet in the table, without spaces around it."""
    name = name.strip()
    if name.startswith(tuple(QUOTE + sign for sign in FORMULA)):
        name = name.removeprefix(QUOTE)
    shorter = name.removesuffix(OF_TABLE)
    return shorter if shorter != name and _is_taken(shorter) else name


def _is_taken(name: str) -> bool:
    """Return True for the names of a sheet's own columns, with or without `OF_TABLE`."""
    name = name.strip().lower()
    while name.endswith(OF_TABLE):
        name = name.removesuffix(OF_TABLE)
    return name in RESERVED


def as_plain_text(text: str) -> str:
    """Quote text that spreadsheet programs would run as a formula."""
    return QUOTE + text if text.startswith(FORMULA) and not reads_as_number(text) else text


# Codes


def fingerprint(path: Path) -> str:
    """Return a code of the content of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASHED_BYTES):
            digest.update(block)
    return letters(digest.digest())


def letters(digest: bytes) -> str:
    """Return a digest as a code of letters."""
    number = int.from_bytes(digest, "little")
    places = [number // len(LETTERS) ** i % len(LETTERS) for i in range(CODE_LENGTH)]
    return "".join(LETTERS[place] for place in places)
