"""Forests that learn from positive and unlabelled data."""

from importlib.metadata import version

from puforest.forest import PUExtraTreesClassifier, PURandomForestClassifier
from puforest.tree import PUDecisionTreeClassifier, PUExtraTreeClassifier

__version__ = version("puforest")

__all__ = [
    "PUDecisionTreeClassifier",
    "PUExtraTreeClassifier",
    "PUExtraTreesClassifier",
    "PURandomForestClassifier",
]
