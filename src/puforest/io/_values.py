"""Single values of parameters in JSON: numbers, strings, booleans and null."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from puforest.io._fields import Fields


def stored_value(name: str, value: Any) -> Any:
    """Convert a value to JSON; `name` is the parameter that an error mentions."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    raise TypeError(f"{name}={value!r} cannot be saved: model files hold numbers, strings and None")


def restored_value(value: Any) -> Any:
    """Invert `stored_value`."""
    if not isinstance(value, dict):
        return value
    number = Fields("a parameter", value)
    value = float(number.choice("float", ("inf", "-inf", "nan")))
    number.finish()
    return value
