"""20 Newsgroups, as averaged word vectors."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import CountVectorizer

from puforest import _validation as check
from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, npz_arrays, require_rows

__all__ = ["average_vectors", "load_20news", "make_20news"]

ROWS = {"train": 11_314, "test": 7_532}
POSITIVE = ("alt", "comp", "misc", "rec")

# The number of components of the paper's vectors.
PAPER_DIMENSION = 300

DESCRIPTION = """\
20 Newsgroups, the version sorted by date, by Ken Lang and Jason Rennie: 11314 training and 7532
test articles, each the mean of the GloVe 6B vectors (Jeffrey Pennington, Richard Socher and
Christopher Manning, Stanford) of its words. Groups of alt, comp, misc and rec are positive, those
of sci, soc and talk negative.
"""


def load_20news(
    *,
    subset: str = "all",
    dimension: int = 100,
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """News articles: 18846 rows, mean word vectors; alt, comp, misc and rec are positive.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="all"
        The 11314 training rows, the 7532 test rows, or both, in this order.
    dimension : int, default=100
        Number of components of the word vectors. The paper has 300. The file
        ``20news/20news_glove_100.npz``, or of another number, is not published by anybody:
        `make_20news` makes it.
    data_home : str, path or None, default=None
        Folder of the data sets. None is the one that the environment variable PUFOREST_DATA
        names, or a cache folder of the user.
    download : bool, default=True
        Whether to download files that are missing there. There is no address for this one: the
        error says how to make it.
    progress : bool, default=False
        Whether to tell on standard error how far a download is.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of the whole.

    Returns
    -------
    Bunch
        ``data`` of float32, ``target`` (1 or 0), ``original_target`` (names of the groups),
        ``feature_names``, ``target_names``, ``DESCR`` and ``differs``, how the data differ from
        those of the paper, empty where they do not.

    Examples
    --------
    >>> from puforest.datasets import load_20news
    >>> X, y = load_20news(subset="test", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (7532, 100)
    """
    check.integer("dimension", dimension, 1)
    file = _file(dimension)
    path = file.in_folder(data_folder(data_home), download=download, progress=progress)

    def read(part: str) -> Part:
        return read_part(path, part, ROWS[part], dimension)

    data, groups = read_parts(subset, read)
    differs = f"word vectors have {dimension} components, the paper's {PAPER_DIMENSION}."
    return assemble(
        data,
        np.array([name.partition(".")[0] in POSITIVE for name in groups.tolist()]),
        original_target=groups,
        feature_names=[f"glove_{i}" for i in range(dimension)],
        target_names=["sci, soc, talk", "alt, comp, misc, rec"],
        description=DESCRIPTION,
        differs="" if dimension == PAPER_DIMENSION else differs,
        return_X_y=return_X_y,
    )


def make_20news(vectors: str | PathLike[str], *, data_home: DataHome = None) -> Path:
    """Make the file that `load_20news` reads, out of the articles and word vectors.

    Parameters
    ----------
    vectors : str or path
        Word vectors as text, such as ``glove.6B.300d.txt`` of Stanford's ``glove.6B.zip``.
    data_home : str, path or None, default=None
        Folder of the data sets. None is the one that the environment variable PUFOREST_DATA
        names, or a cache folder of the user. `sklearn.datasets.fetch_20newsgroups` keeps the
        articles in its folder ``20news``, and downloads them if they are missing.

    Returns
    -------
    Path
        The file made.

    Examples
    --------
    >>> from puforest.datasets import load_20news, make_20news
    >>> make_20news("glove.6B.300d.txt")  # doctest: +SKIP
    >>> load_20news(dimension=300).differs  # doctest: +SKIP
    ''
    """
    folder = data_folder(data_home) / "20news"
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for part in ROWS:
        articles = fetch_20newsgroups(subset=part, data_home=folder, shuffle=False)
        arrays[f"X_{part}"] = average_vectors(articles.data, vectors)
        arrays[f"y_{part}"] = articles.target
        arrays["target_names"] = articles.target_names
    path = folder.parent / _file(arrays["X_train"].shape[1]).path
    part_file = path.with_name(f"{path.name}.part")
    with part_file.open("wb") as out:
        np.savez_compressed(out, **arrays)
    return part_file.replace(path)


def average_vectors(texts: Iterable[str], vectors: str | PathLike[str]) -> NDArray[np.float32]:
    r"""Mean of the vectors of the words of each text.

    Words are runs of letters, digits and underscores, in lower case. Those without a vector do
    not count; a text that has no others becomes zeros.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    vectors : str or path
        Text file with a word and the numbers of its vector in each line, divided by spaces, as
        those of GloVe.

    Returns
    -------
    ndarray of shape (n_texts, n_components)

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from puforest.datasets import average_vectors
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
    """Which words of a vocabulary have vectors, and these."""
    columns: list[int] = []
    found: list[NDArray[np.float64]] = []
    length = None
    with naming(path), path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, *numbers = line.rstrip("\n").split(" ")
            length = len(numbers) if length is None else length
            if len(numbers) != length or not length:
                raise ValueError(f"line {number} has {len(numbers)} numbers, the first {length}")
            if word in vocabulary:
                columns.append(vocabulary[word])
                found.append(np.array(numbers, dtype=np.float64))
        if length is None:
            raise ValueError("it has no lines")
        table = np.reshape(found, (len(found), length))
        if len(set(columns)) < len(columns) or not np.isfinite(table).all():
            raise ValueError("it has a word twice, or a number that is not finite")
    return columns, table


def _file(dimension: int) -> PublishedFile:
    return PublishedFile(
        path=f"20news/20news_glove_{dimension}.npz",
        rows=sum(ROWS.values()),
        publisher="Stanford NLP, GloVe",
        recipe=(
            "It is made from word vectors: download glove.6B.zip (Stanford NLP, GloVe), unpack it, "
            f"and call puforest.datasets.make_20news('glove.6B.{dimension}d.txt')."
        ),
    )


def read_part(
    path: Path, part: str, rows: int, dimension: int
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Read the vectors and the names of the groups of the training or the test part."""
    with naming(path):
        X, y, names = npz_arrays(path, [f"X_{part}", f"y_{part}", "target_names"])
        if X.ndim != 2 or X.shape[1] != dimension or X.dtype.kind != "f":
            raise ValueError(f"X_{part} is {X.dtype} of shape {X.shape}, not {dimension} columns")
        require_rows(len(X), rows)
        if y.shape != (rows,) or y.dtype.kind not in "iu":
            raise ValueError(f"y_{part} is {y.dtype} of shape {y.shape}, not {rows} integers")
        if names.ndim != 1 or names.dtype.kind != "U":
            raise ValueError("target_names is not a list of words")
        if not (y >= 0).all() or not (y < len(names)).all():
            raise ValueError(f"y_{part} has a number that is not one of the {len(names)} groups")
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
        if not np.isfinite(X).all():
            raise ValueError(f"X_{part} has a number that is not finite")
    return X, names[y]
