"""Other ways to learn from positive and unlabeled data, to compare the forests with.

All are scikit-learn classifiers for PU labels: two values, the larger for labeled positives. The
upper bound for what trees can reach is no class of its own: it is
``PUExtraTreesClassifier(risk="pn")`` fitted to the true classes.

The neural ones need PyTorch: ``pip install 'puforest[neural]'``.
"""

from puforest.baselines.bagging import PUBaggingClassifier
from puforest.baselines.elkan_noto import ElkanNotoClassifier
from puforest.baselines.naive import NaivePUClassifier
from puforest.baselines.neural import PUNetClassifier, SelfPUClassifier
from puforest.baselines.spy import SpyTwoStepClassifier

__all__ = [
    "ElkanNotoClassifier",
    "NaivePUClassifier",
    "PUBaggingClassifier",
    "PUNetClassifier",
    "SelfPUClassifier",
    "SpyTwoStepClassifier",
]
