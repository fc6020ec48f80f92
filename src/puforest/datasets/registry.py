"""Data sets by name, for experiments that loop over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from sklearn.utils import Bunch

from puforest import _validation as check
from puforest.datasets._assemble import SUBSETS, Loaded, in_subset
from puforest.datasets._docs import documented
from puforest.datasets._folder import DataHome
from puforest.datasets.cifar10 import load_cifar10
from puforest.datasets.covtype import load_covtype
from puforest.datasets.epsilon import load_epsilon
from puforest.datasets.mnist import load_mnist
from puforest.datasets.mushrooms import load_mushrooms
from puforest.datasets.newsgroups import load_20news
from puforest.datasets.unsw_nb15 import load_unsw_nb15

__all__ = ["DATASETS", "Dataset", "load", "register"]


@dataclass(frozen=True)
class Dataset:
    """A data set with two classes, of which the larger one is positive.

    Attributes
    ----------
    name : str
        Name of the data set.
    loader : callable
        Function that returns a Bunch with at least ``data`` and ``target``.
    has_subsets : bool, default=False
        Whether the loader has a parameter ``subset``; otherwise `load` splits the rows.
    from_folder : bool, default=False
        Whether the loader has the parameters ``data_home``, ``download`` and ``progress``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from puforest.datasets import Dataset
    >>> Dataset("breast-cancer", load_breast_cancer).load(subset="test").data.shape
    (113, 30)
    """

    name: str
    loader: Callable[..., Any]
    has_subsets: bool = False
    from_folder: bool = False

    def load(
        self,
        *,
        subset: str = "all",
        data_home: DataHome = None,
        download: bool = True,
        progress: bool = False,
        return_X_y: bool = False,
        **options: Any,
    ) -> Loaded:
        """Load the data set; see `puforest.datasets.load` for the parameters."""
        check.one_of("subset", subset, SUBSETS)
        if self.from_folder:
            options |= {"data_home": data_home, "download": download, "progress": progress}
        if self.has_subsets:
            options["subset"] = subset
        bunch: Bunch = self.loader(**options)
        if not self.has_subsets and subset != "all":
            _keep(bunch, subset)
        return (bunch.data, bunch.target) if check.boolean("return_X_y", return_X_y) else bunch


def _keep(bunch: Bunch, subset: str) -> None:
    rows = in_subset(bunch.target, subset)
    for name in ("data", "target", "original_target"):
        if name in bunch:
            bunch[name] = bunch[name][rows]


_datasets = {
    dataset.name: dataset
    for dataset in (
        Dataset("mushrooms", load_mushrooms),
        Dataset("20news", load_20news, has_subsets=True, from_folder=True),
        Dataset("covtype", load_covtype, from_folder=True),
        Dataset("epsilon", load_epsilon, has_subsets=True, from_folder=True),
        Dataset("mnist", load_mnist, has_subsets=True, from_folder=True),
        Dataset("cifar-10", load_cifar10, has_subsets=True, from_folder=True),
        Dataset("unsw-nb15", load_unsw_nb15, has_subsets=True, from_folder=True),
    )
}

#: Data sets by name: the seven of the paper, and those added with `register`.
DATASETS: Mapping[str, Dataset] = MappingProxyType(_datasets)


def register(dataset: Dataset) -> None:
    """Add a data set to `DATASETS`.

    Parameters
    ----------
    dataset : Dataset
        Data set with a new name; registering the same one again has no effect.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from puforest.datasets import Dataset, load, register
    >>> register(Dataset("breast-cancer", load_breast_cancer))
    >>> X, y = load("breast-cancer", subset="train", return_X_y=True)
    >>> X.shape
    (456, 30)
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a puforest.datasets.Dataset, got {dataset!r}")
    if _datasets.get(dataset.name, dataset) != dataset:
        raise ValueError(f"dataset: the name {dataset.name!r} is taken, choose another one")
    _datasets[dataset.name] = dataset


@documented
def load(
    name: str,
    *,
    subset: str = "all",
    data_home: DataHome = None,
    download: bool = True,
    progress: bool = False,
    return_X_y: bool = False,
    **options: Any,
) -> Loaded:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        A key of `DATASETS`: "mushrooms", "20news", "covtype", "epsilon", "mnist", "cifar-10",
        "unsw-nb15", or a name added with `register`.
    subset : {"train", "test", "all"}, default="all"
        Training rows, test rows or all rows. Without an official split, a fixed random fifth of
        each class is used for testing.
    %data_home%
        Data sets that come with a package do not use it.
    %download, progress, return_X_y%
    **options
        Other parameters of the loader, such as ``dimension=300`` for "20news".

    Returns
    -------
    Bunch
        Result of the loader.

    Examples
    --------
    >>> from puforest.datasets import DATASETS, load
    >>> list(DATASETS)[:3]
    ['mushrooms', '20news', 'covtype']
    >>> load("mushrooms", subset="train").data.shape
    (6499, 112)
    """
    if not isinstance(name, str) or name not in DATASETS:
        known = {known.lower(): known for known in DATASETS}
        close = get_close_matches(str(name).lower(), known, n=1)
        hint = f". Did you mean {known[close[0]]!r}?" if close else ""
        raise ValueError(f"name must be one of {sorted(DATASETS)}, got {name!r}{hint}")
    return DATASETS[name].load(
        subset=subset,
        data_home=data_home,
        download=download,
        progress=progress,
        return_X_y=return_X_y,
        **options,
    )
