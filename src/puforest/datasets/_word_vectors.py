"""Texts as averaged word vectors."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from puforest.datasets._read import naming


def average_vectors(texts: Iterable[str], vectors: str | PathLike[str]) -> NDArray[np.float32]:
    r"""Average the vectors of the words of each text.

    Words are runs of letters, digits and underscores, in lower case. Words without a vector are
    ignored; a text without any other words becomes zeros.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    vectors : str or path
        Text file with a word and its vector in each line, separated by spaces, as those of GloVe.

    Returns
    -------
    ndarray of shape (n_texts, n_components)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from puforest.datasets._word_vectors import average_vectors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "vectors.txt")
    ...     _ = path.write_text("good 1 0\nbad -1 0\nfilm 0 2\n")
    ...     average_vectors(["A good, good film!", "Bad."], path)
    array([[ 0.6666667,  0.6666667],
           [-1.       ,  0.       ]], dtype=float32)
    """
    counter = CountVectorizer(token_pattern=r"\w+")
    counts = counter.fit_transform(texts)
    columns, table = _vectors_of(counter.vocabulary_, Path(vectors))
    counts = counts[:, columns].astype(np.float64)
    n_words = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
    means: NDArray[np.float32] = (counts @ table / np.maximum(n_words, 1)).astype(np.float32)
    return means


def _vectors_of(vocabulary: dict[str, int], path: Path) -> tuple[list[int], NDArray[np.float64]]:
    """Read the vectors of a vocabulary; also returns the columns of its words that have one."""
    columns: list[int] = []
    found: list[NDArray[np.float64]] = []
    length = None
    with naming(path), path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, *numbers = line.rstrip("\n").split(" ")
            length = len(numbers) if length is None else length
            if len(numbers) != length or not length:
                raise ValueError(f"line {number} has {len(numbers)} values instead of {length}")
            if word in vocabulary:
                columns.append(vocabulary[word])
                found.append(np.array(numbers, dtype=np.float64))
        if length is None:
            raise ValueError("it has no lines")
        table = np.reshape(found, (len(found), length))
        if len(set(columns)) < len(columns) or not np.isfinite(table).all():
            raise ValueError("it has a repeated word, or a value that is not finite")
    return columns, table
