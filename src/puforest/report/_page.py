"""Assembly of the HTML page: assets, data as safe JSON, and a content security policy."""

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
DIGITS = 6  # significant, of numbers in the page


def page(data: dict[str, Any], title: str) -> str:
    """Assemble the file; its policy blocks everything but its own script and style."""
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
    # In one pass: inserted text is not searched for placeholders.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], _asset("report.html"))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def safe_json(data: Any) -> str:
    """Convert to ASCII JSON without characters that are special in HTML."""
    text = json.dumps(_json_ready(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _json_ready(value: Any) -> Any:
    """Convert to built-in types with rounded numbers; non-finite numbers become null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_ready(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
