"""Forests that learn from positive and unlabelled data."""

from importlib.metadata import version

from puforest.forest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.io import load_model as load
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

__version__ = version("puforest")

__all__ = [
    "PUDecisionTreeClassifier",
    "PUExtraTreeClassifier",
    "PUExtraTreesClassifier",
    "PURandomForestClassifier",
    "load",
]
