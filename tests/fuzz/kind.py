"""What a kind of file has to bring to be attacked, and how a case of it comes about."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import BYTES


@dataclass(frozen=True)
class Original:
    """A file that is as it should be.

    Attributes
    ----------
    content : bytes
        All of it.
    suffix : str
        The ending of its name.
    options : dict
        How to read it, where its name does not say so.
    """

    content: bytes
    suffix: str
    options: dict[str, Any] = field(default_factory=dict)


# Takes the content of a file, a generator and the contents of all files, and returns another one.
Damage = Callable[[bytes, np.random.Generator, Sequence[bytes]], bytes]

# Reads a file, and says in a word what came of it. Any exception is a failure.
Judge = Callable[[Path, dict[str, Any], np.random.Generator], str]


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: str
    originals: Callable[[], list[Original]]
    damages: Sequence[Damage]
    judge: Judge
    # Command lines that read it: FILE is the file, IN a folder with a table and a model, OUT one to
    # write to.
    commands: Sequence[str]


@dataclass(frozen=True)
class Case:
    """A damaged file; the same numbers give the same file."""

    damage: str
    content: bytes
    suffix: str
    options: dict[str, Any]
    rng: np.random.Generator


def case(kind: Kind, originals: Sequence[Original], seed: int, index: int) -> Case:
    """The damaged file of this number."""
    rng = np.random.default_rng([seed, index])
    original = originals[rng.integers(len(originals))]
    damage = kind.damages[rng.integers(len(kind.damages))]
    content = original.content
    others = [other.content for other in originals]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers beyond the range of a type, names twice
        content = damage(content, rng, others)
        if rng.random() < 0.1:
            content = BYTES[rng.integers(len(BYTES))](content, rng, others)
    return Case(damage.__name__, content, original.suffix, original.options, rng)
