"""Summary of a PU table, printed before training."""

from __future__ import annotations

import shlex
from typing import Any

from puforest.cli._console import Console
from puforest.cli._options import plural
from puforest.cli.tables._candidates import DECIMAL_COMMA
from puforest.cli.tables._names import name_list
from puforest.cli.tables._pu_table import PUTable
from puforest.cli.tables._source import Source
from puforest.scenario import DESCRIPTIONS

MOST_LISTED = 8


def print_summary(console: Console, source: Source, data: PUTable, scenario: str) -> None:
    """Print rows, labels, features and scenario; warn of columns that may be mistakes."""
    n = len(data.labeled)
    facts = {
        "file": f"{source.path} ({source.kind})",
        "rows": f"{n:,}: {data.n_labeled:,} labeled, {n - data.n_labeled:,} unlabeled",
        "labels": str(data.rule),
        "features": f"{len(data.names):,}: {name_list(data.names, MOST_LISTED)}",
        "scenario": f"{scenario}: {DESCRIPTIONS[scenario]}",
    }
    expected = [column for column in data.left_out if not column.suspicious]
    if expected:
        names = [f"{column.name} ({column.reason})" for column in expected]
        some = "; ".join(names[:MOST_LISTED])
        more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
        facts["not used"] = f"{plural(len(expected), 'column')}: {some}{more}"
    console.facts("Data", facts)
    commas = [column for column in data.left_out if column.decimal_comma]
    if commas:
        names_with_commas = name_list([column.name for column in commas], MOST_LISTED)
        console.warning(
            f"{plural(len(commas), 'column')} not used: {names_with_commas} "
            f"({commas[0].reason}). {DECIMAL_COMMA}"
        )
    odd = [c for c in data.left_out if c.suspicious and not c.decimal_comma]
    for column in odd[:MOST_LISTED]:
        console.warning(f"the column {column.name} is not used: {column.reason}")
    if len(odd) > MOST_LISTED:
        console.warning(f"{len(odd) - MOST_LISTED:,} more columns are not used for such reasons")
    for name in data.identifiers[:MOST_LISTED]:
        console.warning(
            f"the column {name} has a different value in every row. If it is an identifier, leave "
            f"it out: --drop {shlex.quote(name)}"
        )
    if len(data.identifiers) > MOST_LISTED:
        n_more = len(data.identifiers) - MOST_LISTED
        console.warning(f"{n_more:,} more columns of integers have a different value in every row")


def summary_json(source: Source, data: PUTable, scenario: str) -> dict[str, Any]:
    """Return the summary for the JSON output."""
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
