"""``puforest prior``: estimate the class prior."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

if TYPE_CHECKING:
    from puforest.prior import PriorEstimate

# The methods of `estimate_prior`, which imports scikit-learn. An enumeration, because Typer does
# not support lists of literals.
METHODS = ("bbe", "dedpul", "tice", "elkan-noto", "km2")
Method = Enum("Method", {name: name for name in METHODS}, type=str)  # type: ignore[misc]


@command(
    "puforest prior payments.csv --label known_fraud",
    "puforest prior payments.csv --label known_fraud --method bbe --method dedpul",
)
def prior(
    console: Console,
    data: o.Data,
    columns: o.TrainingColumns,
    method: Annotated[
        list[Method] | None,
        typer.Option(
            "--method",
            help="Method; repeat the option to compare several. By default, bbe.",
            rich_help_panel=o.TRAINING,
        ),
    ] = None,
    scenario: o.ScenarioOption = "case-control",
    seed: o.Seed = 0,
    threads: o.Threads = None,
    *,
    reading: o.Reading,
) -> dict[str, Any]:
    """Estimate the class prior, with a confidence interval.

    The class prior is the fraction of positives in the population. Labeled and unlabeled rows bound
    it from above. Where nothing shows that the bound is close, "at most" and the reason are
    printed. That methods agree is no evidence: they use the same data. To know more, check some
    rows by hand: puforest check.
    """
    from puforest.cli._prior_text import estimate_json
    from puforest.cli._summary import print_summary, summary_json
    from puforest.prior import estimate_prior

    source = reading.open(data)
    table = columns.read(source)
    print_summary(console, source, table, scenario)
    X = table.encoded()
    estimates = {}
    names = list(dict.fromkeys(m.value for m in method or [])) or ["bbe"]
    with console.progress("Estimating the prior") as done:
        for i, name in enumerate(names):
            estimates[name] = estimate_prior(
                X,
                table.labeled,
                method=name,
                scenario=scenario,
                random_state=seed,
                n_jobs=o.n_jobs(threads),
            )
            done((i + 1) / len(names))
    level = f"{100 * next(iter(estimates.values())).confidence:g}%"
    console.rows(
        "Class prior",
        ["method", "prior", f"{level} interval", "label frequency"],
        [[name, *estimate_cells(e)] for name, e in estimates.items()],
    )
    for name, e in estimates.items():
        if e.is_bound:
            console.info(f"{name}: {e.reason}")
    return {
        **summary_json(source, table, scenario),
        "estimates": {name: estimate_json(e) for name, e in estimates.items()},
    }


def estimate_cells(estimate: PriorEstimate) -> list[str]:
    """Return the prior, its interval and the label frequency as text."""
    from puforest._rounding import fraction_text, range_text
    from puforest.metrics._prior import at_most

    low, high = estimate.interval
    if not estimate.is_bound:
        frequency = o.percent(estimate.label_frequency)
        return [fraction_text(estimate.value, low, high), range_text(low, high), frequency]
    bound = at_most(estimate.upper)
    least = o.percent(estimate.least_label_frequency)
    return [bound, f"{low:.2f} to {bound.split()[-1]}", f"at least {least}"]
