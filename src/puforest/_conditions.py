"""Conditions of splits in words, such as ``age <= 41.5`` and ``odor in {almond, anise}``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from puforest._model import LEAF, Forest
from puforest._schema import FeatureSchema
from puforest._text import printable, rounded

# Longer lists of categories are shortened to what fits here, and longer labels as well.
LONGEST_LIST = 60
LONGEST_LABEL = 40

# Labels that need no quotes: without white space at the ends, and without characters of lists.
PLAIN = re.compile(r"""(?!\s)[^,{}"'\\]+(?<!\s)""")

DAY = 86_400_000_000  # microseconds

# Days since 1970-01-01 within which datetimes have four-digit years.
FIRST_DAY, END_DAY = -719_162, 2_932_897


@dataclass(frozen=True)
class Condition:
    """Conditions for rows to go left and right at a split.

    Attributes
    ----------
    feature : str
        Name of the feature.
    left, right : str
        Conditions to go left and right. They mention missing values that do not go to the child
        with the larger mass W_u, or left if both are equal. Rows that are not in a list of
        categories include missing values and categories that did not occur in training.
    missing_left : bool
        Whether missing values go left.
    mentions_missing : bool
        Whether one of the conditions ends with "or missing".
    """

    feature: str
    left: str
    right: str
    missing_left: bool
    mentions_missing: bool = False


def condition(
    schema: FeatureSchema,
    forest: Forest,
    node: int,
    *,
    name: str | None = None,
    digits: int | None = 4,
    full: bool = False,
) -> Condition:
    """Word the split of an internal node, an index into the arrays of the forest.

    `name` replaces the name of the feature, and `digits` is the number of significant digits of
    thresholds; None writes them exactly. Long lists of categories are shortened unless `full`.
    """
    feature = int(forest.feature[node])
    if feature == LEAF:
        raise ValueError(f"node {node} is a leaf, which has no condition")
    if name is None:
        name = f"x{feature}" if schema.names is None else schema.names[feature]
    name = printable(name)
    missing_left = bool(forest.missing_left[node])
    if forest.n_categories[node]:
        listed, others = _of_categories(name, _labels(schema, forest, node, full=full))
        left, right = (others, listed) if missing_left else (listed, others)
        return Condition(name, left, right, missing_left)
    threshold = float(forest.threshold[node])
    if threshold == np.inf and not missing_left:
        return Condition(name, f"{name} is not missing", f"{name} is missing", missing_left)
    left, right = _of_threshold(name, schema.kind(feature), threshold, digits)
    mentions_missing = missing_left != bool(forest.larger_is_left[node])
    if mentions_missing and missing_left:
        left = f"{left} or missing"
    elif mentions_missing:
        right = f"{right} or missing"
    return Condition(name, left, right, missing_left, mentions_missing)


# Numbers


def number_text(value: float, digits: int | None) -> str:
    """Return a number with at least this many digits; None restores it exactly."""
    return repr(float(value)) if digits is None else rounded(value, digits)


def _of_threshold(name: str, kind: str, threshold: float, digits: int | None) -> tuple[str, str]:
    if kind == "boolean" and 0 <= threshold < 1:
        return f"{name} = False", f"{name} = True"
    if kind == "datetime":
        text = _date_text(threshold, digits)
    elif kind == "duration":
        text = f"{number_text(threshold, digits)} days"
    else:
        text = number_text(threshold, digits)
    return f"{name} <= {text}", f"{name} > {text}"


def _date_text(days: float, digits: int | None) -> str:
    """Return a date, with the time of day unless it is midnight.

    Numbers of days that no such text restores exactly are written as numbers if `digits` is None.
    """
    if FIRST_DAY <= days < END_DAY:
        unit = "s" if digits is not None else "us"
        exact = round(days * DAY)
        time = np.datetime64(exact, "us").astype(f"datetime64[{unit}]")
        if digits is not None or exact / DAY == days:
            date, time_of_day = str(time).split("T")
            return date if not time_of_day.strip("0:.") else f"{date} {time_of_day}"
    return f"{number_text(days, digits)} days since 1970-01-01"


# Categories


def _of_categories(name: str, labels: list[str]) -> tuple[str, str]:
    """Return the conditions for listed categories and for all others."""
    if len(labels) == 1:
        return f"{name} = {labels[0]}", f"{name} != {labels[0]}"
    listed = "{" + ", ".join(labels) + "}"
    return f"{name} in {listed}", f"{name} not in {listed}"


def _labels(schema: FeatureSchema, forest: Forest, node: int, *, full: bool) -> list[str]:
    """Return the labels that are listed for a node; the last one may stand for several."""
    known = schema.categories(int(forest.feature[node])) or ()
    numbers = forest.node_categories(node)
    labels: list[str] = []
    length = 0
    for number in numbers:
        label = label_text(known[number] if number < len(known) else int(number), full=full)
        length += len(label) + len(", ")
        if not full and labels and length > LONGEST_LIST:
            labels.append(f"and {len(numbers) - len(labels)} more")
            break
        labels.append(label)
    return labels


def label_text(label: str | float, *, full: bool = True) -> str:
    """Return the label of a category as one line, in quotes if it could be misread."""
    text = printable(str(label))
    if not full and len(text) > LONGEST_LABEL:
        text = f"{text[: LONGEST_LABEL - 3]}..."
    if isinstance(label, str) and not PLAIN.fullmatch(text):
        return '"' + text.replace('"', '\\"') + '"'
    return text
