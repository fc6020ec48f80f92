"""Neural classifiers: estimator checks, learning, parameters and errors."""

import pickle
import sys
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_networks import clouds, small, small_net

from puforest.baselines import PUNetClassifier, SelfPUClassifier
from puforest.baselines.neural import cnn, mlp
from puforest.prior import PriorEstimatedWarning
from puforest.risk import loss_value

torch = pytest.importorskip("torch")

CHECKED = [
    PUNetClassifier(
        0.5, risk="upu", architecture=small, epochs=14, batch_size=100, learning_rate=0.1
    ),
    SelfPUClassifier(0.5, architecture=small, epochs=8, batch_size=100, ema_decay=0.5),
]

NOT_CHECKED = {
    ("PUNetClassifier", "check_methods_subset_invariance"): "32-bit sums of fewer rows differ",
    ("SelfPUClassifier", "check_methods_subset_invariance"): "32-bit sums of fewer rows differ",
    ("SelfPUClassifier", "check_classifiers_train"): "nnPU takes half of its negatives as positive",
}


@parametrize_with_checks(CHECKED)
def test_estimator_checks(estimator, check):
    why = NOT_CHECKED.get((type(estimator).__name__, check.func.__name__))
    if why is not None:
        pytest.skip(why)
    check(estimator)


@pytest.fixture
def net():
    return small_net()


def test_nnpu_learns_mushrooms(mushrooms):
    X, labeled, X_test, y_test, prior = mushrooms
    net = PUNetClassifier(prior, epochs=4, random_state=0).fit(X, labeled)
    assert net.score(X_test, y_test) > 0.97
    assert net.n_iter_ == len(net.history_) == 4


def test_self_pu_learns_mushrooms(mushrooms):
    X, labeled, X_test, y_test, prior = mushrooms
    part = np.append(np.flatnonzero(labeled)[:400], np.flatnonzero(labeled == 0)[::4])
    model = SelfPUClassifier(
        prior, architecture=partial(mlp, hidden=(100, 100)), epochs=20, ema_decay=0.9
    ).set_params(random_state=0)
    assert model.fit(X[part], labeled[part]).score(X_test, y_test) > 0.95


def test_upu_overfits_and_nnpu_does_not():
    X, labeled, _ = clouds(300, n_labeled=30, distance=0.7)
    X_new, _, y_new = clouds(3000, n_labeled=1, distance=0.7, seed=1)
    risk, accuracy = {}, {}
    for name in ("upu", "nnpu"):
        net = PUNetClassifier(
            0.4, risk=name, architecture=partial(mlp, hidden=(100,)), epochs=150, random_state=0
        ).set_params(learning_rate=0.01, weight_decay=0)
        score = net.fit(X, labeled).decision_function(X)
        as_negative = loss_value(-score, loss="sigmoid")
        p, u = labeled == 1, labeled == 0
        risk[name] = as_negative[u].mean() - 0.4 * as_negative[p].mean()
        risk[name] += 0.4 * loss_value(score[p], loss="sigmoid").mean()
        accuracy[name] = net.score(X_new, y_new)
    assert risk["upu"] < -0.1
    assert risk["nnpu"] > 0
    assert accuracy["nnpu"] > accuracy["upu"] + 0.02


def test_scenario_determines_the_population(net):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.4
    X = rng.normal(size=(3000, 5)) + y[:, None]
    labeled = y & (rng.random(3000) < 0.7)
    right, wrong = (
        net.set_params(scenario=scenario, epochs=20).fit(X, labeled).score(X, y)
        for scenario in ("single-training-set", "case-control")
    )
    assert right > 0.85
    assert right > wrong + 0.02


@pytest.mark.parametrize("loss", ["sigmoid", "logistic", "double-hinge"])
def test_losses_and_predictions(net, loss):
    X, labeled, y = clouds()
    net.set_params(loss=loss).fit(X, labeled)
    assert net.score(X, y) > 0.95
    proba, score = net.predict_proba(X), net.decision_function(X)
    assert proba.shape == (len(X), 2)
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(proba[:, 1] > 0.5, score > 0)
    assert_array_equal(net.predict(X), score > 0)
    again = pickle.loads(pickle.dumps(net))
    assert_array_equal(again.decision_function(X), score)


def test_prior_is_estimated(net):
    X, labeled, _ = clouds(distance=3)
    with pytest.warns(PriorEstimatedWarning, match="prior=None"):
        net.set_params(prior=None).fit(X, labeled)
    assert_allclose(net.prior_, 0.4, atol=0.05)
    assert net.prior_estimate_.value == net.prior_


@pytest.mark.parametrize("side", [32, 7])
@pytest.mark.parametrize("channels", [1, 3])
def test_convolutional_network(side, channels):
    pixels = channels * side**2
    network = cnn(pixels)
    convolutions = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
    assert [m.out_channels for m in convolutions] == [96] * 3 + [192] * 5 + [10]
    assert convolutions[0].in_channels == channels
    assert network(torch.zeros(2, pixels)).shape == (2,)


def test_architectures_by_name():
    X, labeled, _ = clouds(60, n_labeled=20)
    made = {
        name: PUNetClassifier(0.4, architecture=name, epochs=1).fit(X, labeled).net_
        for name in ("mlp", "softsign")
    }
    kinds = {name: [type(m).__name__ for m in net] for name, net in made.items()}
    assert kinds["mlp"].count("Linear") == 5
    assert kinds["softsign"].count("Linear") == 4
    assert "ReLU" in kinds["mlp"]
    assert "Softsign" in kinds["softsign"]
    images = np.random.default_rng(0).normal(size=(12, 3 * 8 * 8))
    net = PUNetClassifier(0.4, architecture="cnn", epochs=1).fit(images, np.arange(12) % 2)
    assert net.predict(images).shape == (12,)


def test_progress_on_standard_error(net, capsys):
    X, labeled, _ = clouds(100)
    net.set_params(verbose=1, patience=10).fit(X, labeled)
    out, err = capsys.readouterr()
    assert not out
    assert "[########################] 6/6 epochs, risk 0." in err
    assert "validation_risk" in err
    net.set_params(verbose=0).fit(X, labeled)
    assert not capsys.readouterr().err


def test_missing_pytorch(net, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    X, labeled, _ = clouds(50)
    for make in (lambda: net.fit(X, labeled), lambda: mlp(3), lambda: cnn(3)):
        with pytest.raises(ImportError, match=r"pip install 'puforest\[neural\]'"):
            make()


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"risk": "pn"}, ValueError, "risk must be one of"),
        ({"loss": "zero-one"}, ValueError, "loss must be one of"),
        ({"architecture": "transformer"}, ValueError, "architecture must be one of"),
        ({"architecture": "cnn"}, ValueError, "requires square images.*got 5 features"),
        ({"epochs": 0}, ValueError, "epochs must be at least 1"),
        ({"batch_size": 1}, ValueError, "batch_size must be at least 2"),
        ({"learning_rate": "fast"}, TypeError, "learning_rate must be a number"),
        ({"weight_decay": -1}, ValueError, "weight_decay must be a finite number"),
        ({"patience": 0}, ValueError, "patience must be at least 1"),
        ({"patience": 1, "validation_fraction": 2}, ValueError, "validation_fraction must be"),
        ({"prior": 2}, ValueError, "prior must be a number between 0 and 1"),
        ({"scenario": "both"}, ValueError, "scenario must be one of"),
    ],
)
def test_invalid_parameters(net, params, error, words):
    X, labeled, _ = clouds(50)
    with pytest.raises(error, match=words):
        net.set_params(**params).fit(X, labeled)


def test_activation_and_batch_norm():
    with pytest.raises(ValueError, match="activation must be one of"):
        mlp(3, activation="tanh")
    assert not any(isinstance(m, torch.nn.BatchNorm1d) for m in mlp(3, batch_norm=False))
