"""``puforest prior``: estimate the class prior."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli._app import command
from puforest.cli._console import Console

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

    The class prior is the fraction of positives in the population. If two different methods agree,
    the estimate is credible. If they disagree, treat the larger one as an upper bound.
    """
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
    level = next(iter(estimates.values())).confidence
    console.rows(
        "Class prior",
        ["method", "prior", f"{100 * level:g}% interval", "label frequency"],
        [
            [
                name,
                f"{e.value:.3f}",
                f"{e.interval[0]:.3f} to {e.interval[1]:.3f}",
                o.percent(e.label_frequency),
            ]
            for name, e in estimates.items()
        ],
    )
    return {
        **summary_json(source, table, scenario),
        "estimates": {
            name: {
                "value": e.value,
                "interval": e.interval,
                "confidence": e.confidence,
                "label_frequency": e.label_frequency,
                "unlabeled_prior": e.unlabeled_prior,
            }
            for name, e in estimates.items()
        },
    }
