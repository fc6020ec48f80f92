"""Small networks, data to train them on, and a comparison of their weights."""

import numpy as np
from numpy.testing import assert_array_equal

from puforest.baselines import PUNetClassifier, SelfPUClassifier
from puforest.baselines.neural import mlp


class Small:
    """A network with one small layer; its name is the same in every process that collects tests."""

    def __call__(self, n_features):
        return mlp(n_features, hidden=(16,))

    def __repr__(self):
        return "small"


small = Small()


def clouds(n=1500, *, distance=2.0, prior=0.4, n_labeled=300, seed=0):
    """Case-control data: X, labeled, truth."""
    rng = np.random.default_rng(seed)
    y = np.append(np.ones(n_labeled, bool), rng.random(n) < prior)
    X = rng.normal(size=(len(y), 5)) + distance * y[:, None]
    return X, (np.arange(len(y)) < n_labeled).astype(int), y.astype(int)


def small_net():
    return PUNetClassifier(
        0.4, architecture=small, epochs=6, batch_size=200, learning_rate=0.01, random_state=0
    )


def small_self_pu():
    return SelfPUClassifier(
        0.4, architecture=small, epochs=20, batch_size=400, learning_rate=0.02, random_state=0
    )


def weights_of(model):
    nets = model.nets_ if hasattr(model, "nets_") else [model.net_]
    return [value.numpy().copy() for net in nets for value in net.state_dict().values()]


def assert_same_weights(one, other):
    for a, b in zip(weights_of(one), weights_of(other), strict=True):
        assert_array_equal(a, b)
