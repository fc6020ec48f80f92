"""``puforest prior``: the share of positives."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from puforest.cli import _options as o
from puforest.cli import _understood
from puforest.cli._app import command
from puforest.cli._say import Say
from puforest.cli.tables import read_pu
from puforest.prior import estimate_prior
from puforest.prior._estimate import METHODS

# Typer takes lists of enumerations, not of literals.
Method = Enum("Method", {name: name for name in METHODS}, type=str)  # type: ignore[misc]


@command(
    "puforest prior payments.csv --label known_fraud",
    "puforest prior payments.csv --label known_fraud --method bbe --method dedpul",
)
def prior(
    say: Say,
    reading: o.Reading,
    data: o.Data,
    label: o.Label = None,
    positive: o.Positive = None,
    features: o.Features = None,
    drop: o.Drop = None,
    method: Annotated[
        list[Method] | None,
        typer.Option(
            "--method",
            help="How to estimate it; repeat it for a second opinion. bbe if not given.",
            rich_help_panel=o.LEARNING,
        ),
    ] = None,
    scenario: o.ScenarioOption = "case-control",
    seed: o.Seed = 0,
) -> dict[str, Any]:
    """Estimate the share of positives in the population, with an interval.

    Where two methods that work differently agree, believe them. Where they do not, take the
    larger for a bound.
    """
    source = reading.open(data)
    table = read_pu(
        source, label=label, positive=positive, features=features or [], drop=drop or []
    )
    _understood.tell(say, source, table, scenario)
    found = {}
    methods = list(dict.fromkeys(m.value for m in method or [])) or ["bbe"]
    with say.progress("Estimating the prior") as done:
        for i, name in enumerate(methods):
            found[name] = estimate_prior(
                table.X, table.labeled, method=name, scenario=scenario, random_state=seed
            )
            done((i + 1) / len(methods))
    level = next(iter(found.values())).confidence
    say.rows(
        "Share of positives in the population",
        ["method", "prior", f"{100 * level:g}% interval", "positives with a label"],
        [
            [
                name,
                f"{e.value:.3f}",
                f"{e.interval[0]:.3f} to {e.interval[1]:.3f}",
                o.percent(e.label_frequency),
            ]
            for name, e in found.items()
        ],
    )
    return {
        **_understood.as_json(source, table, scenario),
        "estimates": {
            name: {
                "value": e.value,
                "interval": e.interval,
                "confidence": e.confidence,
                "label_frequency": e.label_frequency,
                "unlabeled_prior": e.unlabeled_prior,
            }
            for name, e in found.items()
        },
    }
