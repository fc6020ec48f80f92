"""What was understood of a table of PU data, told before anything is learned from it."""

from __future__ import annotations

import shlex
from typing import Any

from puforest.cli._options import plural
from puforest.cli._say import Say
from puforest.cli.tables import DECIMAL_COMMA, PUTable, Source, shown
from puforest.scenario import DESCRIPTIONS

SHOWN = 8


def tell(say: Say, source: Source, data: PUTable, scenario: str) -> None:
    """Show rows, labels, features and scenario, and warn of columns that seem to be missing."""
    n = len(data.labeled)
    names = ", ".join(data.names[:SHOWN])
    if len(data.names) > SHOWN:
        names += f" and {len(data.names) - SHOWN:,} more"
    facts = {
        "file": f"{source.path} ({source.kind})",
        "rows": f"{n:,}: {data.n_labeled:,} labeled, {n - data.n_labeled:,} unlabeled",
        "labels": str(data.rule),
        "features": f"{len(data.names):,}: {names}",
        "scenario": f"{scenario}: {DESCRIPTIONS[scenario]}",
    }
    plain = [column for column in data.left_out if not column.suspicious]
    if plain:
        some = "; ".join(f"{column.name} ({column.reason})" for column in plain[:SHOWN])
        more = f" and {len(plain) - SHOWN:,} more" if len(plain) > SHOWN else ""
        facts["left out"] = f"{plural(len(plain), 'column')}: {some}{more}"
    say.facts("What is in the file", facts)
    commas = [column for column in data.left_out if column.decimal_comma]
    if commas:
        names = shown([column.name for column in commas], SHOWN)
        say.warning(
            f"{plural(len(commas), 'column')} left out: {names} ({commas[0].reason}). "
            f"{DECIMAL_COMMA}"
        )
    odd = [c for c in data.left_out if c.suspicious and not c.decimal_comma]
    for column in odd[:SHOWN]:
        say.warning(f"the column {column.name} was left out: {column.reason}")
    if len(odd) > SHOWN:
        say.warning(f"{len(odd) - SHOWN:,} more columns were left out for such reasons")
    for name in data.identifiers[:SHOWN]:
        say.warning(
            f"the column {name} is different in every row. If it is an identifier, nothing should "
            f"be learned from it: --drop {shlex.quote(name)}"
        )
    if len(data.identifiers) > SHOWN:
        n_more = len(data.identifiers) - SHOWN
        say.warning(f"{n_more:,} more columns of integers are different in every row")


def as_json(source: Source, data: PUTable, scenario: str) -> dict[str, Any]:
    """The same for programs."""
    return {
        "file": str(source.path),
        "format": source.kind,
        "rows": len(data.labeled),
        "labeled": data.n_labeled,
        "unlabeled": len(data.labeled) - data.n_labeled,
        "label": {"column": data.rule.column, "positive": sorted(data.rule.positive)},
        "features": data.names,
        "left_out": {column.name: column.reason for column in data.left_out},
        "scenario": scenario,
    }
