"""Other methods that learn from positive and unlabeled data, for comparison with the forests.

All are scikit-learn classifiers for PU labels: two values, the larger for labeled positives. For
an upper bound on the performance of trees, fit ``PUExtraTreesClassifier(risk="pn")`` to the true
classes.

Neural networks require PyTorch; install it with ``pip install 'puforest[neural]'``.
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
