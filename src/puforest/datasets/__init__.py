"""Data to try things on, and ways to make PU data of labelled data."""

from puforest.datasets.mechanisms import group_propensity, linear_propensity, score_propensity
from puforest.datasets.mushrooms import load_mushrooms
from puforest.datasets.sampling import make_pu

__all__ = [
    "group_propensity",
    "linear_propensity",
    "load_mushrooms",
    "make_pu",
    "score_propensity",
]
