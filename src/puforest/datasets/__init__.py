"""Data sets, and functions that turn fully labeled data into PU data.

There are loaders for the seven data sets of the paper, which read the published files from a
folder and download missing ones; `load` finds them by name. The mushrooms come with the package.
"""

from puforest.datasets.cifar10 import load_cifar10
from puforest.datasets.covtype import load_covtype
from puforest.datasets.epsilon import load_epsilon
from puforest.datasets.mechanisms import group_propensity, linear_propensity, score_propensity
from puforest.datasets.mnist import load_mnist
from puforest.datasets.mushrooms import load_mushrooms
from puforest.datasets.newsgroups import load_20news
from puforest.datasets.registry import DATASETS, Dataset, load, register
from puforest.datasets.sampling import make_pu
from puforest.datasets.unsw_nb15 import load_unsw_nb15

__all__ = [
    "DATASETS",
    "Dataset",
    "group_propensity",
    "linear_propensity",
    "load",
    "load_20news",
    "load_cifar10",
    "load_covtype",
    "load_epsilon",
    "load_mnist",
    "load_mushrooms",
    "load_unsw_nb15",
    "make_pu",
    "register",
    "score_propensity",
]
