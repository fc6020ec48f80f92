"""Class labels and feature names in a file, from where they come back in their own type."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.io._fields import Fields, is_integer, is_number, shown
from puforest.io._trees import require

NUMBERS = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)
LONGEST_TEXT = 1024  # characters; answers take four bytes for each of them, in every row

Arrays = dict[str, NDArray[Any]]


def stored_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """The two classes as JSON."""
    dtype = classes.dtype
    text = dtype.kind == "O" and all(isinstance(c, str) for c in classes)
    if dtype.name not in NUMBERS and not text and dtype.kind != "U":
        raise TypeError(
            f"classes_ of type {dtype} cannot be stored in a model file: code y with numbers, "
            "booleans or strings"
        )
    name = f"U{dtype.itemsize // 4}" if dtype.kind == "U" else dtype.name
    return {"dtype": name, "values": classes.tolist()}


def restored_classes(stored: Fields) -> NDArray[Any]:
    """The two classes in the type of the `y` of the fit."""
    dtype = stored.text("dtype")
    values = stored.pair("values")
    stored.finish()
    width = re.fullmatch(r"U([1-9][0-9]{0,3})", dtype)
    if dtype == "object" or width:
        require(all(isinstance(v, str) for v in values), "classes are not strings")
        longest = int(width[1]) if width else LONGEST_TEXT
        fits = longest <= LONGEST_TEXT and all(len(v) <= longest for v in values)
        require(fits, f"classes are longer than {min(longest, LONGEST_TEXT)} characters")
    else:
        require(dtype in NUMBERS, f"classes are of the unknown type {shown(dtype)}")
        require(all(_fits(v, np.dtype(dtype)) for v in values), f"classes are not of type {dtype}")
    classes = np.array(values, dtype=dtype)
    require(bool(classes[0] < classes[1]), "classes are not two, in ascending order")
    return classes


def _fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value of JSON is a number of this type."""
    if dtype.kind == "b":
        return isinstance(value, bool)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        within = is_number(value) and float(info.min) <= value <= float(info.max)
        return within and float(dtype.type(value)) == value
    return is_integer(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def stored_names(names: NDArray[Any]) -> Arrays:
    """Feature names as one text and where in it each name ends."""
    try:
        encoded = [str(name).encode() for name in names]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the feature name {error.object!r} cannot be stored as UTF-8: rename the column, and "
            "fit again"
        ) from error
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return {"feature_names": text, "feature_names_end": ends}


def restored_names(arrays: Arrays, n_features: int) -> NDArray[Any] | None:
    """Feature names, if the file has them; takes them out of `arrays`."""
    text, ends = arrays.pop("feature_names", None), arrays.pop("feature_names_end", None)
    if text is None and ends is None:
        return None
    if text is None or ends is None or text.dtype != np.uint8 or ends.dtype != np.int64:
        raise ValueError("feature_names and feature_names_end do not go together")
    require(len(ends) == n_features, "feature_names_end is not one number a feature")
    require(bool((ends[:-1] <= ends[1:]).all()), "feature_names_end does not ascend")
    require(ends[0] >= 0 and ends[-1] == len(text), "feature_names_end is outside the names")
    whole = text.tobytes()
    starts = [0, *ends[:-1].tolist()]
    try:
        names = [whole[a:b].decode() for a, b in zip(starts, ends.tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise ValueError(f"feature_names is not UTF-8 ({error})") from error
    return np.array(names, dtype=object)
