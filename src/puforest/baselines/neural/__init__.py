"""Neural networks for positive and unlabeled data, with PyTorch.

PyTorch is imported only when a network is fitted.
"""

from puforest.baselines.neural.architectures import cnn, mlp
from puforest.baselines.neural.net import PUNetClassifier
from puforest.baselines.neural.self_pu import SelfPUClassifier

__all__ = ["PUNetClassifier", "SelfPUClassifier", "cnn", "mlp"]
