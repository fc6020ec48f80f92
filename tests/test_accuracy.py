"""Accuracy on real data, in the setting of the paper."""

import gzip

import numpy as np
import pytest

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.datasets import load_mushrooms, make_pu


def mean_accuracy(model, train, test, draws):
    """Mean test accuracy over draws of 1000 labeled positives."""
    X, y = train
    scores = []
    for seed in range(draws):
        X_pu, labeled = make_pu(X, y, n_labeled=1000, random_state=seed)
        model.set_params(random_state=seed, prior=y.mean()).fit(X_pu, labeled)
        scores.append(model.score(*test))
    return 100 * np.mean(scores)


def test_mushrooms_forest():
    X, y = load_mushrooms(return_X_y=True)
    test = np.random.default_rng(1).permutation(len(X)) < len(X) // 5
    train, test = (X[~test], y[~test]), (X[test], y[test])
    assert mean_accuracy(PUExtraTreesClassifier(), train, test, draws=5) >= 99.0


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (PUExtraTreesClassifier(loss="logistic"), 98.5),
        (PUExtraTreesClassifier(max_unlabeled=3000), 99.0),
        (PURandomForestClassifier(), 99.0),
        (PUDecisionTreeClassifier(), 96.0),
        (PUExtraTreeClassifier(), 93.0),
        (PUExtraTreesClassifier(risk="upu", loss="logistic"), 98.0),
    ],
    ids=str,
)
def test_mushrooms_all_estimators(model, least, mushrooms):
    X, labeled, X_test, y_test, prior = mushrooms
    model.set_params(prior=prior, random_state=0).fit(X, labeled)
    assert 100 * model.score(X_test, y_test) >= least


def test_mushrooms_upu_quadratic_overfits_as_in_the_paper(mushrooms):
    X, labeled, X_test, y_test, prior = mushrooms
    model = PUExtraTreesClassifier(prior, risk="upu", random_state=0).fit(X, labeled)
    assert model.score(X_test, y_test) < 0.75


def test_mushrooms_supervised(mushrooms):
    _, _, X_test, y_test, _ = mushrooms
    X, y = load_mushrooms(return_X_y=True)
    model = PUExtraTreesClassifier(risk="pn", random_state=0).fit(X[::2], y[::2])
    assert model.score(X_test, y_test) == 1.0


@pytest.fixture(scope="module")
def mnist(data_folder):
    def images(name):
        raw = gzip.decompress((data_folder / "mnist" / f"{name}-images-idx3-ubyte.gz").read_bytes())
        return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784)

    def even(name):
        raw = gzip.decompress((data_folder / "mnist" / f"{name}-labels-idx1-ubyte.gz").read_bytes())
        return (np.frombuffer(raw, np.uint8, offset=8) % 2 == 0).astype(int)

    return tuple((images(name), even(name)) for name in ("train", "t10k"))


def test_mnist_nnpu(mnist):
    accuracy = mean_accuracy(PUExtraTreesClassifier(n_jobs=-1), *mnist, draws=3)
    assert accuracy == pytest.approx(93.6, abs=0.9)


def test_mnist_supervised(mnist):
    (X, y), test = mnist
    model = PUExtraTreesClassifier(risk="pn", n_jobs=-1, random_state=0).fit(X, y)
    assert 100 * model.score(*test) >= 97.9


def test_published_mushrooms_file(data_folder):
    """The embedded copy is the published file."""
    from importlib.resources import files

    packed = files("puforest.datasets").joinpath("agaricus-lepiota.data.gz").read_bytes()
    published = (data_folder / "mushrooms" / "agaricus-lepiota.data").read_bytes()
    assert gzip.decompress(packed) == published
