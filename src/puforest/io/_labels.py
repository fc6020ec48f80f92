"""Class labels and feature names in model files; loading restores their dtype."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.io._fields import Fields, ensure, is_integer, is_number, short_repr

NUMBERS = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
LONGEST_TEXT = 1024  # characters; predictions take four bytes for each, in every row

Arrays = dict[str, NDArray[Any]]


def stored_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return the two classes as JSON."""
    dtype = classes.dtype
    text = dtype.kind == "O" and all(isinstance(c, str) for c in classes)
    if dtype.name not in NUMBERS and not text and dtype.kind != "U":
        raise TypeError(
            f"classes_ of dtype {dtype} cannot be stored in a model file: encode y as numbers, "
            "booleans or strings"
        )
    name = f"U{dtype.itemsize // 4}" if dtype.kind == "U" else dtype.name
    return {"dtype": name, "values": classes.tolist()}


def restored_classes(stored: Fields) -> NDArray[Any]:
    """Return the two classes, in the dtype of the `y` of the fit."""
    dtype = stored.text("dtype")
    values = stored.pair("values")
    stored.finish()
    width = re.fullmatch(r"U([1-9][0-9]{0,3})", dtype)
    if dtype == "object" or width:
        ensure(all(isinstance(v, str) for v in values), "classes are not strings")
        longest = int(width[1]) if width else LONGEST_TEXT
        fits = longest <= LONGEST_TEXT and all(len(v) <= longest for v in values)
        ensure(fits, f"classes are longer than {min(longest, LONGEST_TEXT)} characters")
    else:
        ensure(dtype in NUMBERS, f"classes are of the unknown dtype {short_repr(dtype)}")
        ensure(all(_fits(v, np.dtype(dtype)) for v in values), f"classes are not of dtype {dtype}")
    classes = np.array(values, dtype=dtype)
    ensure(bool(classes[0] < classes[1]), "classes are not two values in ascending order")
    return classes


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a JSON value is exactly representable in this dtype."""
    if dtype.kind == "b":
        return isinstance(value, bool)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        within = is_number(value) and float(info.min) <= value <= float(info.max)
        return within and float(dtype.type(value)) == value
    return is_integer(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def stored_names(names: NDArray[Any]) -> Arrays:
    """Return the feature names as concatenated UTF-8 and the end of each name."""
    try:
        encoded = [str(name).encode() for name in names]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"feature name {error.object!r} cannot be encoded as UTF-8: rename the column and fit "
            "again"
        ) from error
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return {"feature_names": text, "feature_names_end": ends}


def restored_names(arrays: Arrays, n_features: int) -> NDArray[Any] | None:
    """Take the feature names out of `arrays`, or return None if there are none."""
    text, ends = arrays.pop("feature_names", None), arrays.pop("feature_names_end", None)
    if text is None and ends is None:
        return None
    if text is None or ends is None or text.dtype != np.uint8 or ends.dtype != np.int64:
        raise ValueError("feature_names and feature_names_end do not match")
    ensure(len(ends) == n_features, "feature_names_end does not have one number per feature")
    ensure(bool((ends[:-1] <= ends[1:]).all()), "feature_names_end is not ascending")
    ensure(ends[0] >= 0 and ends[-1] == len(text), "feature_names_end is outside feature_names")
    whole = text.tobytes()
    starts = [0, *ends[:-1].tolist()]
    try:
        names = [whole[a:b].decode() for a, b in zip(starts, ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise ValueError(f"feature_names is not UTF-8 ({error})") from error
    return np.array(names, dtype=object)
