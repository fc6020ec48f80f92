"""From numbers to the page: JSON that no browser takes for markup, and one file for all."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from importlib.resources import files
from typing import Any

import numpy as np

ASSETS = files("puforest.report") / "assets"
DIGITS = 6  # of the numbers on the page


def page(data: dict[str, Any], title: str) -> str:
    """The whole file. Its policy lets nothing run but its own script, and nothing be loaded."""
    script = "".join(
        _asset(name) for name in ("charts.js", "sections.js", "explore.js", "start.js")
    )
    script = f'(() => {{\n"use strict";\n{script}}})();\n'
    style = _asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy, quote=True),
        "title": html.escape(title),
        "style": style,
        "data": safe_json(data),
        "script": script,
    }
    # In one pass: what is put in is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], _asset("report.html"))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def safe_json(data: Any) -> str:
    """JSON of plain ASCII without a character that means something to HTML."""
    text = json.dumps(_plain(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plain(value: Any) -> Any:
    """Python's own types, with short numbers; what is not finite is null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
