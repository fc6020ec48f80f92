"""Summary of a PU table, printed before training."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any

from puforest.cli._console import Console
from puforest.cli._options import plural
from puforest.cli._scoring import MOST_LISTED, listed_cells
from puforest.cli.tables._features import Features
from puforest.cli.tables._kinds import BOOLEAN, CATEGORY, DATETIME, DURATION, NUMBER
from puforest.cli.tables._names import name_list
from puforest.cli.tables._pu_table import PUTable
from puforest.cli.tables._source import Source
from puforest.scenario import DESCRIPTIONS

# Words for one and for several features of a kind.
KIND_WORDS = {
    NUMBER: ("numeric", "numeric"),
    CATEGORY: ("categorical", "categorical"),
    BOOLEAN: ("boolean", "boolean"),
    DATETIME: ("date", "dates"),
    DURATION: ("duration", "durations"),
}

# Columns not used that are listed; --json lists all.
MOST_LEFT_OUT = 200


def print_summary(console: Console, source: Source, data: PUTable, scenario: str) -> None:
    """Print rows, labels, features and scenario; warn of columns that may be mistakes."""
    n, features = len(data.labeled), data.features
    facts = {
        "file": f"{source.path} ({source.kind})",
        "rows": f"{n:,}: {data.n_labeled:,} labeled, {n - data.n_labeled:,} unlabeled",
        "labels": str(data.rule),
        "features": describe_kinds(features),
        "missing": listed_cells("value", features.missing) if features.missing else "none",
        "scenario": f"{scenario}: {DESCRIPTIONS[scenario]}",
    }
    console.facts("Data", facts)
    if features.left_out:
        print_left_out(console, features)
    for remark in features.remarks:
        console.warning(remark)
    for name in features.identifiers[:MOST_LISTED]:
        console.warning(
            f"the column {name} has a different value in every row. If it is an identifier, leave "
            f"it out: --drop {shlex.quote(name)}"
        )
    if len(features.identifiers) > MOST_LISTED:
        n_more = len(features.identifiers) - MOST_LISTED
        console.warning(f"{n_more:,} more columns of integers have a different value in every row")


def describe_kinds(features: Features) -> str:
    """Describe the number of features of each kind, and their names."""
    counts = Counter(features.kinds.values())
    counts[NUMBER] = len(features.names) - len(features.kinds)
    parts = [f"{counts[k]:,} {w[counts[k] > 1]}" for k, w in KIND_WORDS.items() if counts[k]]
    names = name_list(features.names, MOST_LISTED)
    kinds = parts[0] if len(parts) == 1 else f"{len(features.names):,} ({', '.join(parts)})"
    return f"{kinds}: {names}"


def print_left_out(console: Console, features: Features) -> None:
    """List the columns that are not used, with the reasons."""
    left_out = features.left_out
    reasons = [(column.name, column.reason) for column in left_out[:MOST_LEFT_OUT]]
    more = len(left_out) - len(reasons)
    some = f"{more:,} more; --json lists all of them. " if more > 0 else ""
    console.warning_list(
        f"{plural(len(left_out), 'column')} not used",
        reasons,
        f"{some}Use --keep COLUMN to use a constant column or an identifier anyway, or --drop "
        "COLUMN to leave a column out without this warning.",
    )


def summary_json(source: Source, data: PUTable, scenario: str) -> dict[str, Any]:
    """Return the summary for the JSON output."""
    features = data.features
    return {
        "file": str(source.path),
        "format": source.kind,
        "rows": len(data.labeled),
        "labeled": data.n_labeled,
        "unlabeled": len(data.labeled) - data.n_labeled,
        "label": {"column": data.rule.column, "positive": sorted(data.rule.positive)},
        "features": features.names,
        "kinds": features.kinds,
        "missing": features.missing,
        "left_out": {column.name: column.reason for column in features.left_out},
        "scenario": scenario,
    }
