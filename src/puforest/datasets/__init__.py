"""Data to try things on, and ways to make PU data of labelled data."""

from puforest.datasets.mushrooms import load_mushrooms
from puforest.datasets.sampling import make_pu

__all__ = ["load_mushrooms", "make_pu"]
