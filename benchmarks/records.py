"""Measurements as JSON lines, and the Markdown made from them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Records of a file; an incomplete last line is ignored."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")]


def append_line(path: Path, record: dict[str, Any]) -> None:
    """Append a record with a single write, after removing an incomplete last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        complete = path.read_bytes().rfind(b"\n") + 1
        if complete < path.stat().st_size:
            os.truncate(path, complete)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def setup_key(record: dict[str, Any]) -> str:
    """Key of the setup of a record: only records with the same key are comparable."""
    return json.dumps([record.get(key) for key in ("cpu", "cores", "python", "build", "versions")])


def describe_setup(record: dict[str, Any]) -> str:
    """Describe the setup of a record in one line."""
    parts = [record["cpu"] + (f", {record['cores']} cores" if "cores" in record else "")]
    parts += [f"Python {record['python']}"]
    parts += [record["compiler"]] if "compiler" in record else []
    parts += [f"{name} {number}" for name, number in record["versions"].items()]
    return ", ".join(parts)


def node_count(model: Any) -> int | None:
    """Number of nodes of all trees, or None where the trees are not accessible."""
    if hasattr(model, "_forest"):
        return len(model._forest.feature)
    if all(hasattr(tree, "tree_") for tree in getattr(model, "estimators_", [None])):
        return sum(tree.tree_.node_count for tree in model.estimators_)
    return None


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def between_markers(text: str, name: str, part: str) -> str:
    """Replace a section of a page, from ``<!-- name:begin -->`` to ``<!-- name:end -->``."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise SystemExit(f"the page needs one {begin}, followed by one {end}")
    before, after = text.split(begin)[0], text.split(end)[1]
    return f"{before}{begin}\n{part}\n{end}{after}"


def replace_section(page: Path, name: str, part: str) -> None:
    """Replace a section of a page in place."""
    text = page.read_text(encoding="utf-8")
    page.write_text(between_markers(text, name, part), encoding="utf-8")
