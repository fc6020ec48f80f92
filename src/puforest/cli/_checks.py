"""Verdicts of check sheets, as models and metrics take them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.checking import CheckedEstimates, estimate_from_checks
from puforest.cli import _options as o
from puforest.cli._console import Console
from puforest.cli._model_columns import match_columns
from puforest.cli._model_rows import ModelRows
from puforest.cli._scoring import scored_batches
from puforest.cli.sheets._layout import DESIGN, Origin, fingerprint
from puforest.cli.sheets._match import CheckedRows, Round, match_verdicts
from puforest.cli.tables._names import name_list
from puforest.cli.tables._source import Source

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Checks:
    """Verdicts on the rows of a table.

    Attributes
    ----------
    rows : CheckedRows
        The verdicts, and how the rows were chosen.
    probability : ndarray of shape (n_rows,)
        Probability of each row to have a verdict.
    score : ndarray of shape (n_rows,) or None
        Scores by which rows were chosen last; None if that was at random.
    """

    rows: CheckedRows
    probability: Array = field(repr=False)
    score: Array | None = field(repr=False)

    @property
    def checked(self) -> Array:
        """Verdict on each row: 1, 0, or nan."""
        return self.rows.checked

    @property
    def labeled(self) -> NDArray[np.int64]:
        """Labels before rows were checked."""
        return self.rows.labeled

    def fit_params(self) -> dict[str, Array]:
        """Return the arguments of ``fit``."""
        return {"checked": self.checked, "check_probability": self.probability}

    def estimates(
        self,
        score: Array | None,
        scenario: str,
        threshold: float | None = None,
    ) -> CheckedEstimates:
        """Estimate the prior, and the quality of the scores at the threshold."""
        return estimate_from_checks(
            self.checked,
            self.probability,
            y=self.labeled if self.labeled.any() else None,
            score=score,
            threshold=threshold,
            scenario=scenario,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the numbers of verdicts, and how the rows were chosen."""
        return {
            "positive": self.rows.n_positive,
            "negative": self.rows.n_negative,
            "rounds": [
                {"design": str(r.design), "origin": str(r.origin), "answered": r.n_answered}
                for r in self.rows.rounds
            ],
        }


@dataclass(frozen=True)
class CheckedTable:
    """A table, some of whose rows were checked.

    Attributes
    ----------
    source : Source
        The table.
    label : str
        Name of the label column.
    labeled : ndarray of shape (n_rows,)
        1 for labeled rows.
    reading : Reading
        Options for reading the table.
    threads : int or None
        Number of threads for scoring.
    """

    source: Source
    label: str
    labeled: NDArray[np.int64] = field(repr=False)
    reading: o.Reading
    threads: int | None

    def scores(self, path: Path, origin: Origin) -> Array:
        """Score the rows with the model that chose some of them."""
        model = o.load_for(path, self.threads)
        if origin.out_of_bag:
            found = out_of_bag_scores(model)
            if found is None or len(found) != len(self.labeled):
                raise ValueError(
                    f"{path} has no out-of-bag predictions for {self.source.path}, by which "
                    f"rows of {origin.table} were chosen"
                )
            return found
        source = self.reading.reopen(self.source, model)
        rows = ModelRows(source, match_columns(o.schema_of(model), source, [self.label]))
        return np.concatenate([batch.score for batch in scored_batches(model, rows, [])])


def read_checks(
    console: Console,
    options: o.CheckOptions,
    table: CheckedTable,
    *,
    model: Path | None = None,
) -> Checks | None:
    """Read the check sheets of a table; `model` may have chosen the rows. None without sheets."""
    if not options.checked:
        return None
    rows = match_verdicts(options.checked, table.source, table.labeled)
    for remark in rows.remarks:
        console.warning(remark)
    console.info(
        f"{o.plural(rows.n_positive + rows.n_negative, 'checked row')}: {rows.n_positive:,} "
        f"positive, {rows.n_negative:,} negative"
    )
    for path in options.checked_by or ():
        if not path.is_file():
            raise FileNotFoundError(f"--checked-by {path}: no such model")
    given = [*(options.checked_by or ()), *([model] if model else ()), *_beside(options, rows)]
    models = {fingerprint(path): path for path in given}
    scores: dict[str, Array] = {}
    last = None
    for chosen in rows.rounds:
        code = chosen.origin.fingerprint
        if chosen.needs_scores:
            if code not in models:
                raise ValueError(_ask_for_model(chosen, options))
            last = scores[code] = table.scores(models[code], chosen.origin)
    return Checks(rows, _possible(rows, rows.probability(scores)), last)


def _possible(rows: CheckedRows, probability: Array) -> Array:
    """Refuse probabilities that no design has, or with which a checked row could not be chosen."""
    least = np.where(np.isnan(rows.checked), 0, np.finfo(float).tiny)
    wrong = np.flatnonzero(~((least <= probability) & (probability <= 1)))
    if len(wrong):
        raise ValueError(
            f"row {wrong[0] + 1:,}: according to the check sheet, the probability to be checked "
            f"was {probability[wrong[0]]:g}, which is impossible: restore its column {DESIGN}"
        )
    return probability


def _beside(options: o.CheckOptions, rows: CheckedRows) -> list[Path]:
    """Return the models beside the sheets that may have chosen their rows, by their names."""
    names = {Path(chosen.origin.model).name for chosen in rows.rounds if chosen.needs_scores}
    folders = {path.parent for path in options.checked or ()}
    found = [folder / name for folder in sorted(folders) for name in sorted(names)]
    return [path for path in found if path.is_file()]


def _ask_for_model(chosen: Round, options: o.CheckOptions) -> str:
    name = chosen.origin.model
    way_out = f"add --checked-by {shlex.quote(name)}"
    if options.checked_by:
        given = name_list([str(path) for path in options.checked_by])
        way_out = f"name it with --checked-by. {given} is another model, or was fitted again"
    return (
        f"the checked rows were chosen by {name} with the design {chosen.design.name}, so that "
        f"their probabilities depend on its scores: {way_out}"
    )


def out_of_bag_scores(model: Any) -> Array | None:
    """Return the out-of-bag scores of the training rows; None if a model does not have them."""
    if not hasattr(model, "_oob_probability") or model._record.out_of_bag is None:
        return None
    score: Array = model._oob_probability()
    return score if np.isfinite(score).all() else None
