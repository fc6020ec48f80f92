"""Damages to bytes, whatever they mean."""

from __future__ import annotations

import numpy as np

EXTREME = [0, 1, 2, 7, 2**7, 2**8 - 1, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1]
EXTREME_64 = [*EXTREME, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def flip_bytes(content, rng, others):
    """A few bytes become others, or differ in one bit."""
    changed = bytearray(content or b"\0")
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(changed)))
        changed[at] = int(rng.integers(256)) if rng.random() < 0.5 else changed[at] ^ 1 << at % 8
    return bytes(changed)


def cut(content, rng, others):
    """The end is missing, or there is more behind it."""
    at = int(rng.integers(len(content) + 1))
    return content[:at] if rng.random() < 0.7 else content + rng.bytes(1 + at % 50)


def duplicate(content, rng, others):
    """A part stands there several times."""
    a, n = (int(v) for v in rng.integers(len(content) + 1, size=2))
    n = 1 + n % 256
    return content[: a + n] + content[a : a + n] * int(rng.integers(1, 20)) + content[a + n :]


def insert(content, rng, others):
    at = int(rng.integers(len(content) + 1))
    return content[:at] + rng.bytes(int(rng.integers(1, 40))) + content[at:]


def remove(content, rng, others):
    at = int(rng.integers(len(content) + 1))
    return content[:at] + content[at + int(rng.integers(1, 40)) :]


def move(content, rng, others):
    """A part is written over another."""
    a, b, n = (int(v) for v in rng.integers(len(content) + 1, size=3))
    n = 1 + n % 64
    changed = bytearray(content)
    changed[a : a + n] = content[b : b + n]
    return bytes(changed)


def splice(content, rng, others):
    """The beginning of one file, the end of another."""
    other = others[rng.integers(len(others))]
    a, b = int(rng.integers(len(content) + 1)), int(rng.integers(len(other) + 1))
    return content[:a] + other[b:]


def extreme_number(content, rng, others):
    """Somewhere, a number of 4 or 8 bytes is as large as it can be, or nearly."""
    return with_extreme_number(content, rng, 0, len(content))


def with_extreme_number(content, rng, start, stop):
    size = 4 if rng.random() < 0.5 else 8
    step = size if rng.random() < 0.7 else 1
    place = start + step * int(rng.integers(max(1, (stop - start) // step)))
    numbers = EXTREME if size == 4 else EXTREME_64
    number = numbers[rng.integers(len(numbers))]
    changed = bytearray(content)
    changed[place : place + size] = int(number).to_bytes(size, "little")
    return bytes(changed)


def damaged_within(content, rng, start, stop):
    """Flipped bytes or an extreme number between two places."""
    stop = max(start + 1, stop)
    if rng.random() < 0.5:
        return with_extreme_number(content, rng, start, stop)
    part = flip_bytes(content[start:stop], rng, ())
    return content[:start] + part + content[stop:]


BYTES = [flip_bytes, cut, duplicate, insert, remove, move, splice, extreme_number]


def one_of(values, rng):
    """One of some values of any type."""
    return values[int(rng.integers(len(values)))]


def small_pu_data(n=40, n_features=3):
    """Features and labels of small PU data."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.5
    X = (rng.normal(size=(n, n_features)) + y[:, None]).round(3)
    return X, (y & (rng.random(n) < 0.6)).astype(int)
