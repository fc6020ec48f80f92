"""20 Newsgroups, as averaged word vectors."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_20newsgroups

from puforest import _validation as check
from puforest.datasets import _word_vectors
from puforest.datasets._assemble import Loaded, Part, assemble, read_parts
from puforest.datasets._docs import documented
from puforest.datasets._fetch import PublishedFile
from puforest.datasets._folder import DataHome, data_folder
from puforest.datasets._read import naming, npz_arrays, require_rows

__all__ = ["load_20news"]

ROWS = {"train": 11_314, "test": 7_532}
POSITIVE = ("alt", "comp", "misc", "rec")

# Number of components of the paper's vectors.
PAPER_DIMENSION = 300

DESCRIPTION = """\
20 Newsgroups, the version sorted by date, by Ken Lang and Jason Rennie: 11314 training and 7532
test articles, each the mean of the GloVe 6B vectors (Jeffrey Pennington, Richard Socher and
Christopher Manning, Stanford) of its words. Groups of alt, comp, misc and rec are positive, those
of sci, soc and talk negative.
"""


@documented
def load_20news(
    *,
    subset: str = "all",
    dimension: int = 100,
    vectors: str | PathLike[str] | None = None,
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
) -> Loaded:
    """Load 20 Newsgroups: 11314 training and 7532 test articles as mean word vectors.

    The groups of alt, comp, misc and rec are positive.

    Parameters
    ----------
    %subset%
    dimension : int, default=100
        Number of components of the word vectors; the paper uses 300.
    vectors : str, path or None, default=None
        Word vectors as text, such as ``glove.6B.100d.txt`` from Stanford's ``glove.6B.zip``. The
        file ``20news/20news_glove_100.npz`` (or another dimension) is not published; if it is
        missing, it is built from these vectors and the articles that
        `sklearn.datasets.fetch_20newsgroups` downloads.
    %data_home%
    download : bool, default=True
        Whether to download the articles if they are missing and `vectors` are given.
    %progress, return_X_y%

    Returns
    -------
    %bunch%
        ``target`` (1 or 0) and ``original_target`` (names of the groups).

    Examples
    --------
    >>> from puforest.datasets import load_20news
    >>> bunch = load_20news(dimension=300, vectors="glove.6B.300d.txt")  # doctest: +SKIP
    >>> bunch.data.shape  # doctest: +SKIP
    (18846, 300)
    """
    check.integer("dimension", dimension, 1)
    file, folder = _file(dimension), data_folder(data_home)
    if vectors is not None and not (folder / file.path).exists():
        _build(folder / file.path, vectors, dimension, check.boolean("download", download))
    path = file.in_folder(folder, download=download, progress=progress)
    data, groups = read_parts(subset, lambda part: _read_part(path, part, ROWS[part], dimension))
    differs = f"the word vectors have {dimension} components, the paper's have {PAPER_DIMENSION}."
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


def _build(path: Path, vectors: str | PathLike[str], dimension: int, download: bool) -> None:
    """Write the averaged word vectors of all articles."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for part in ROWS:
        articles = fetch_20newsgroups(
            subset=part, data_home=path.parent, shuffle=False, download_if_missing=download
        )
        arrays[f"X_{part}"] = _word_vectors.average_vectors(articles.data, vectors)
        arrays[f"y_{part}"] = articles.target
        arrays["target_names"] = articles.target_names
    found = arrays["X_train"].shape[1]
    if found != dimension:
        raise ValueError(
            f"vectors={str(vectors)!r} has vectors of dimension {found}, but "
            f"dimension={dimension}: pass dimension={found}, or other vectors"
        )
    partial = path.with_name(f"{path.name}.part")
    with partial.open("wb") as out:
        np.savez_compressed(out, **arrays)
    partial.replace(path)


def _file(dimension: int) -> PublishedFile:
    return PublishedFile(
        path=f"20news/20news_glove_{dimension}.npz",
        rows=sum(ROWS.values()),
        publisher="Stanford NLP, GloVe",
        recipe=(
            "It is built from word vectors: download glove.6B.zip (Stanford NLP, GloVe), unpack "
            f"it, and call load_20news(dimension={dimension}, vectors='glove.6B.{dimension}d.txt')."
        ),
    )


def _read_part(path: Path, part: str, rows: int, dimension: int) -> Part:
    """Read the vectors and group names of the training or the test part."""
    with naming(path):
        X, y, names = npz_arrays(path, [f"X_{part}", f"y_{part}", "target_names"])
        if X.ndim != 2 or X.shape[1] != dimension or X.dtype.kind != "f":
            raise ValueError(f"X_{part} is {X.dtype} of shape {X.shape}, not {dimension} columns")
        require_rows(len(X), rows)
        if y.shape != (rows,) or y.dtype.kind not in "iu":
            raise ValueError(f"y_{part} is {y.dtype} of shape {y.shape}, not {rows} integers")
        if names.ndim != 1 or names.dtype.kind != "U":
            raise ValueError("target_names is not a list of strings")
        if not (y >= 0).all() or not (y < len(names)).all():
            raise ValueError(f"y_{part} has an index beyond the {len(names)} groups")
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
        if not np.isfinite(X).all():
            raise ValueError(f"X_{part} has a value that is not finite")
    return X, names[y]
