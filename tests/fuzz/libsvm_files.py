"""LIBSVM files: labels, numbers of columns and values."""

from __future__ import annotations

import bz2
import gzip

from fuzz.kind import Kind, Original
from fuzz.mutate import BYTES, one_of, small_pu_data
from fuzz.tables import COMMANDS_OWN_LABEL, judge

LABELS = [
    "1",
    "0",
    "-1",
    "+1",
    "1.0",
    "2",
    "nan",
    "inf",
    "1e400",
    "a",
    "",
    "1,2",
    "0x1",
    "#",
    "1:1",
]
NUMBERS = ["0", "1", "2", "3", "4", "-1", "01", "1.5", "1e3", "1000", "500000", "2147483647"]
NUMBERS += ["2147483648", "4294967296", "9223372036854775807", "9" * 40, "a", "", "qid", " 1", "+1"]
VALUES = ["0", "1", "-0", "1.5", "1e308", "1e999", "nan", "inf", "1e-320", "a", "", "1,5", "1:1"]
VALUES += ["0x10", "1 ", "9" * 400, "٣", "\x1b", "true"]
LINES = [
    "",
    " ",
    "#",
    "# comment",
    "1",
    "1 # 1:1",
    "1 1:1 # x",
    "\0",
    "1\t1:1",
    "qid:1 1:1",
    "::::",
]


def originals():
    X, y = small_pu_data()
    lines = [
        " ".join([str(label), *(f"{i + 1}:{v}" for i, v in enumerate(row) if v)])
        for row, label in zip(X, y, strict=True)
    ]
    text = ("\n".join(lines) + "\n").encode()
    from_zero = text.replace(b" 1:", b" 0:")
    files = [(text, ".libsvm"), (from_zero, ".svm"), (text.replace(b"\n", b"\r\n"), ".svmlight")]
    files += [(gzip.compress(text), ".libsvm.gz"), (bz2.compress(text), ".svm.bz2")]
    return [Original(*file) for file in files]


def of_tokens(change):
    def damage(content, rng, others):
        lines = [line.split(" ") for line in content.decode("latin-1").split("\n")]
        change(lines, rng)
        return "\n".join(" ".join(line) for line in lines).encode("utf-8", "replace")

    damage.__name__ = change.__name__
    return damage


@of_tokens
def change_token(lines, rng):
    """The number of a column, its value or both."""
    for _ in range(rng.integers(1, 4)):
        line = one_of(lines, rng)
        i = int(rng.integers(len(line)))
        number, _, value = line[i].partition(":")
        if rng.random() < 0.6:
            number = one_of(NUMBERS, rng)
        if rng.random() < 0.6:
            value = one_of(VALUES, rng)
        line[i] = f"{number}{':' if rng.random() < 0.95 else ''}{value}"


@of_tokens
def change_labels(lines, rng):
    pool = [one_of(LABELS, rng) for _ in range(2)]
    every = rng.random() < 0.5
    for line in lines:
        if every or rng.random() < 0.05:
            line[0] = one_of(pool, rng)


@of_tokens
def change_order(lines, rng):
    """Columns twice, in another order, or from another line."""
    line = one_of(lines, rng)
    rng.shuffle(line)
    line.extend(one_of(lines, rng) if rng.random() < 0.5 else line)


@of_tokens
def change_lines(lines, rng):
    i = int(rng.integers(len(lines)))
    what = rng.integers(4)
    if what == 0:
        lines.insert(i, [one_of(LINES, rng)])
    elif what == 1:
        del lines[i:]
    elif what == 2:
        lines[i] = lines[i] * 500
    else:
        lines.extend(lines * 10)


STRUCTURED = [change_token, change_labels, change_order, change_lines]
LIBSVM = Kind("libsvm", originals, [*STRUCTURED, *STRUCTURED, *BYTES], judge, COMMANDS_OWN_LABEL)
