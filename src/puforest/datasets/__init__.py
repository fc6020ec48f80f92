"""Data to try things on, and ways to make PU data of labeled data.

The seven data sets of the paper have loaders, which read the files of the publishers from a folder
and download what is missing; `load` finds them by name. The mushrooms come with the package.
"""

from puforest.datasets.cifar10 import load_cifar10
from puforest.datasets.covtype import load_covtype
from puforest.datasets.epsilon import load_epsilon
from puforest.datasets.mechanisms import group_propensity, linear_propensity, score_propensity
from puforest.datasets.mnist import load_mnist
from puforest.datasets.mushrooms import load_mushrooms
from puforest.datasets.newsgroups import average_vectors, load_20news, make_20news
from puforest.datasets.registry import DATASETS, Dataset, load, register
from puforest.datasets.sampling import make_pu
from puforest.datasets.unsw_nb15 import load_unsw_nb15

__all__ = [
    "DATASETS",
    "Dataset",
    "average_vectors",
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
    "make_20news",
    "make_pu",
    "register",
    "score_propensity",
]
