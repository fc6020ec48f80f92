"""Tables of the paper: what to run, the paper's results, and the differences from ours."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

import numpy as np

from experiments.harness import Results
from experiments.methods import Run

MEASURES = {
    "accuracy": "accuracy, %",
    "f1": "F, %",
    "train_risk": "zero-one PU risk on the training samples",
    "test_risk": "zero-one risk on the test samples",
    "fit_seconds": "training time, s",
}
# Tolerance of a cell: a number of the paper's standard deviations, but at least LEAST.
SDS = 2.0
PAPER_DRAWS = 5
# The paper rounds to two decimals: 0.00 may be as large as this.
ROUNDED = 0.005
LEAST = {"accuracy": 1.0, "f1": 1.0, "train_risk": 0.01, "test_risk": 0.01}


@dataclass(frozen=True)
class Number:
    mean: float
    sd: float

    @classmethod
    def read(cls, text: str) -> Number | None:
        if not text:
            return None
        found = re.fullmatch(r"(-?[\d.]+) \(([\d.]+)\)", text)
        if not found:
            raise ValueError(f"not a mean with its standard deviation in parentheses: {text!r}")
        return cls(float(found[1]), float(found[2]))


@dataclass(frozen=True)
class Cell:
    """Results of the paper and ours; either may be missing."""

    dataset: str
    method: str
    measure: str
    paper: Number | None
    ours: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.ours.mean())

    @property
    def sd(self) -> float:
        return float(self.ours.std(ddof=1)) if len(self.ours) > 1 else 0.0

    @property
    def in_sds(self) -> float | None:
        """Difference in standard deviations of the difference."""
        if self.paper is None or not len(self.ours):
            return None
        sd = float(np.hypot(max(self.paper.sd, ROUNDED), self.sd))
        return (self.mean - self.paper.mean) / sd

    @property
    def differs(self) -> bool:
        """Whether the difference from the paper exceeds the tolerance."""
        if self.paper is None or not len(self.ours) or self.measure not in LEAST:
            return False
        allowed = max(SDS * self.paper.sd, LEAST[self.measure])
        return abs(self.mean - self.paper.mean) > allowed + 1e-9


def reversed_pairs(row: list[Cell]) -> list[tuple[str, str]]:
    """Pairs of methods whose order in the paper is reversed here, both significantly.

    Significant are differences of more than two standard errors and a point.
    """

    def apart(a: Number, b: Number) -> bool:
        return a.mean - b.mean > max(SDS * float(np.hypot(a.sd, b.sd)), LEAST[row[0].measure])

    known = [
        (
            c.method,
            Number(c.paper.mean, c.paper.sd / np.sqrt(PAPER_DRAWS)),
            Number(c.mean, c.sd / np.sqrt(len(c.ours))),
        )
        for c in row
        if c.paper and len(c.ours)
    ]
    return [
        (first, second)
        for (first, paper_1, ours_1), (second, paper_2, ours_2) in permutations(known, 2)
        if apart(paper_1, paper_2) and apart(ours_2, ours_1)
    ]


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    datasets: list[str]
    methods: list[str]
    draws: int
    n_labeled: int = 1000
    draws_of: dict[str, int] = field(default_factory=dict)  # by data set
    scenario_of: dict[str, str] = field(default_factory=dict)  # by method; default: case-control
    paper: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    explained: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Table:
        return cls(name=path.stem, **tomllib.loads(path.read_text()))

    def row(self, dataset: str) -> list[Run]:
        """First draw of each method."""
        return [
            Run(dataset, method, 0, self.n_labeled, self.scenario_of.get(method, "case-control"))
            for method in self.methods
        ]

    def first_runs(self) -> list[Run]:
        return [run for dataset in self.datasets for run in self.row(dataset)]

    def runs(self) -> list[Run]:
        return [
            replace(run, draw=draw)
            for run in self.first_runs()
            for draw in range(self.draws_of.get(run.dataset, self.draws))
        ]

    def explanation(self, cell: Cell) -> str | None:
        """Most specific key of an explanation for a cell that differs."""
        keys = (
            f"{cell.dataset}: {cell.method}: {cell.measure}",
            f"{cell.dataset}: {cell.method}",
            f"{cell.method}: {cell.measure}",
            cell.dataset,
        )
        return next((key for key in keys if key in self.explained), None)

    def why(self, cell: Cell) -> str:
        key = self.explanation(cell)
        return "not explained" if key is None else self.explained[key]

    def cells(self, measure: str, results: Results) -> list[list[Cell]]:
        """Rows of cells, one for each data set that the paper or we have results for."""
        rows = []
        said, values = self.paper[measure], results.values
        for dataset in dict.fromkeys([*self.datasets, *said]):
            texts = said.get(dataset, [""] * len(self.methods))
            rows.append(
                [
                    Cell(dataset, run.method, measure, Number.read(text), values(run, measure))
                    for run, text in zip(self.row(dataset), texts, strict=True)
                ]
            )
        return rows
