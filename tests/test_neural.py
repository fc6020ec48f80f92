"""Networks on PU risks: what they learn, and that a killed run goes on to the same result."""

import copy
import pickle
import sys
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from puforest._sample import pu_sample
from puforest.baselines import PUNetClassifier, SelfPUClassifier
from puforest.baselines.neural import cnn, mlp
from puforest.baselines.neural._torch import on_threads
from puforest.prior import PriorEstimatedWarning
from puforest.risk import loss_value

torch = pytest.importorskip("torch")

from puforest.baselines.neural._batches import batches  # noqa: E402
from puforest.baselines.neural._net_training import NetTraining  # noqa: E402
from puforest.baselines.neural._risk import MARGINS, PURisk  # noqa: E402


class Small:
    """A network of one small layer; its name is the same in every process that collects tests."""

    def __call__(self, n_features):
        return mlp(n_features, hidden=(16,))

    def __repr__(self):
        return "small"


small = Small()

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


def clouds(n=1500, *, distance=2.0, prior=0.4, n_labeled=300, seed=0):
    """Case-control data: X, labeled, truth."""
    rng = np.random.default_rng(seed)
    y = np.append(np.ones(n_labeled, bool), rng.random(n) < prior)
    X = rng.normal(size=(len(y), 5)) + distance * y[:, None]
    return X, (np.arange(len(y)) < n_labeled).astype(int), y.astype(int)


@pytest.fixture
def net():
    return PUNetClassifier(
        0.4, architecture=small, epochs=6, batch_size=200, learning_rate=0.01, random_state=0
    )


@pytest.fixture
def self_pu():
    return SelfPUClassifier(
        0.4, architecture=small, epochs=20, batch_size=400, learning_rate=0.02, random_state=0
    )


def weights_of(model):
    nets = model.nets_ if hasattr(model, "nets_") else [model.net_]
    return [value.numpy().copy() for net in nets for value in net.state_dict().values()]


def assert_same_weights(one, other):
    for a, b in zip(weights_of(one), weights_of(other), strict=True):
        assert_array_equal(a, b)


# Risks and batches


@pytest.mark.parametrize("loss", MARGINS)
def test_losses_are_those_of_the_forests(loss):
    margin = np.linspace(-3, 3, 25)
    assert_allclose(MARGINS[loss](torch.tensor(margin)).numpy(), loss_value(margin, loss=loss))


def test_risk_of_a_batch_by_hand():
    p, u = torch.tensor([0.5, 2.0, -1.0]), torch.tensor([0.3, -2.0, 1.0, 0.0])
    risk = PURisk(0.4, 0.0, risk="upu", loss="logistic", beta=0, gamma=1)

    def mean(margin):
        return loss_value(margin.numpy(), loss="logistic").mean()

    expected = 0.4 * mean(p) + mean(-u) - 0.4 * mean(-p)
    assert_allclose(risk.objective(p, u)[1], expected, rtol=1e-6)
    # All rows of one sample are the population.
    one_sample = PURisk(0.5, 3 / 7, risk="upu", loss="logistic", beta=0, gamma=1)
    everything = torch.cat([p, u])
    expected = 0.5 * mean(p) + mean(-everything) - 0.5 * mean(-p)
    assert_allclose(one_sample.objective(p, u)[1], expected, rtol=1e-6)


def test_nnpu_steps_back_where_the_negative_part_is_too_negative():
    p = torch.tensor([3.0, 4.0], requires_grad=True)
    u = torch.tensor([-5.0, -6.0])
    for beta, gamma, steps_back in ((0.0, 0.5, True), (0.5, 0.5, False)):
        risk = PURisk(0.4, 0.0, risk="nnpu", loss="sigmoid", beta=beta, gamma=gamma)
        positive, negative = risk.parts(p, u)
        assert -0.5 < negative.item() < 0
        objective, value = risk.objective(p, u)
        expected = -gamma * negative if steps_back else positive + negative
        assert_allclose(objective.item(), expected.item())
        assert_allclose(value, (positive + (0 if steps_back else negative)).item())


@pytest.mark.parametrize(("size", "n_batches"), [(40, 6), (1000, 1), (2, 30)])
def test_batches_hold_both_kinds_in_proportion(size, n_batches):
    labeled, unlabeled = np.arange(30), np.arange(30, 230)
    found = list(batches(labeled, unlabeled, size, np.random.default_rng(0)))
    assert_allclose([len(u) / len(p) for p, u in found], 200 / 30, atol=0.7)
    assert len(found) == n_batches
    assert_array_equal(np.sort(np.concatenate([p for p, _ in found])), labeled)
    assert_array_equal(np.sort(np.concatenate([u for _, u in found])), unlabeled)


# What is learned


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


def test_upu_overfits_where_nnpu_does_not():
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


def test_scenario_decides_what_the_population_is(net):
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
def test_losses_and_answers(net, loss):
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


def test_without_a_prior_it_is_estimated(net):
    X, labeled, _ = clouds(distance=3)
    with pytest.warns(PriorEstimatedWarning, match="prior=None"):
        net.set_params(prior=None).fit(X, labeled)
    assert_allclose(net.prior_, 0.4, atol=0.05)
    assert net.prior_estimate_.value == net.prior_


@pytest.mark.parametrize("side", [32, 7])
@pytest.mark.parametrize("channels", [1, 3])
def test_convolutions_look_at_squares(side, channels):
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


# The same result


@pytest.mark.parametrize("kind", ["net", "self_pu"])
def test_same_seed_same_weights(kind, request):
    model = request.getfixturevalue(kind)
    X, labeled, _ = clouds(400)
    before = torch.random.get_rng_state()
    threads = torch.get_num_threads()
    one, two = (clone(model).fit(X, labeled) for _ in range(2))
    assert_same_weights(one, two)
    other = clone(model).set_params(random_state=1).fit(X, labeled)
    assert (one.decision_function(X) != other.decision_function(X)).any()
    assert_array_equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


class KilledError(Exception):
    pass


def killer(last):
    def callback(row):
        if row["epoch"] == last:
            raise KilledError

    return callback


@pytest.mark.parametrize(
    ("kind", "at", "patience", "seed"),
    [
        ("net", 2, None, 0),
        ("net", 2, 30, None),
        ("self_pu", 3, None, None),
        ("self_pu", 11, 30, 0),
    ],
)
def test_a_killed_run_goes_on_to_the_same_result(kind, at, patience, seed, request, tmp_path):
    model = request.getfixturevalue(kind).set_params(patience=patience, random_state=seed)
    X, labeled, _ = clouds(400)
    path = tmp_path / "run.pt"
    broken = clone(model).set_params(checkpoint=path, callback=killer(at))
    with pytest.raises(KilledError):
        broken.fit(X, labeled)
    seen = []
    resumed = clone(model).set_params(checkpoint=path, callback=seen.append).fit(X, labeled)
    assert [row["epoch"] for row in seen] == list(range(at + 1, model.epochs + 1))
    seed = torch.load(path, weights_only=True)["seed"]
    through = clone(model)
    through._draw_seed = lambda: seed
    through.fit(X, labeled)
    assert_same_weights(resumed, through)
    assert resumed.history_ == through.history_
    # What is finished is not trained again, and more epochs go on from it.
    finished = clone(model).set_params(checkpoint=path, callback=killer(1)).fit(X, labeled)
    assert_same_weights(finished, through)


def test_checkpoints_belong_to_data_and_parameters(net, self_pu, tmp_path):
    X, labeled, _ = clouds(200)
    net.set_params(checkpoint=tmp_path / "net.pt", epochs=2).fit(X, labeled)
    assert net.set_params(epochs=3).fit(X, labeled).n_iter_ == 3
    for _ in range(2):  # another state of random numbers, with the seed of the file
        model = clone(net).set_params(checkpoint=tmp_path / "state.pt")
        model.set_params(random_state=np.random.RandomState(0)).fit(X, labeled)
        assert_same_weights(model, net)
    with pytest.raises(ValueError, match=r"net\.pt' is of a training with another learning_rate"):
        clone(net).set_params(learning_rate=0.5).fit(X, labeled)
    with pytest.raises(ValueError, match="with another data"):
        net.fit(X + 1, labeled)
    with pytest.raises(ValueError, match="with another prior"):
        clone(net).set_params(prior=0.3).fit(X, labeled)
    self_pu.set_params(checkpoint=tmp_path / "self.pt").fit(X, labeled)
    with pytest.raises(ValueError, match="with another epochs"):
        self_pu.set_params(epochs=40).fit(X, labeled)


def test_patience_keeps_the_best_weights():
    X, labeled, _ = clouds(300, n_labeled=60, distance=1)
    net = PUNetClassifier(0.4, architecture=small, epochs=300, patience=5, random_state=0)
    net.set_params(batch_size=50, learning_rate=0.05).fit(X, labeled)
    risks = [row["validation_risk"] for row in net.history_]
    best = int(np.argmin(risks)) + 1
    assert net.n_iter_ == best + 5 < 300
    until_best = clone(net).set_params(epochs=best).fit(X, labeled)
    assert_same_weights(net, until_best)


def test_partial_fit_goes_on():
    X, labeled, y = clouds()
    model = PUNetClassifier(0.4, architecture=small, batch_size=200, random_state=0)
    scores = [model.partial_fit(X, labeled, classes=[0, 1]).score(X, y) for _ in range(20)]
    assert scores[-1] > 0.95
    assert model.n_iter_ == len(model.history_) == 20
    assert_same_weights(clone(model).set_params(epochs=20).fit(X, labeled), model)
    half = np.arange(len(X)) % 2 == 0
    assert model.partial_fit(X[half], labeled[half]).n_iter_ == 21
    with pytest.raises(ValueError, match=r"y has the classes \[0, 2\]"):
        model.partial_fit(X, 2 * labeled)
    with pytest.raises(ValueError, match="only one class"):
        model.partial_fit(X[:5], labeled[:5])


def test_an_interrupted_partial_fit_leaves_the_network(monkeypatch):
    X, labeled, _ = clouds()
    model = PUNetClassifier(0.4, architecture=small, batch_size=200, random_state=0)
    before = copy.deepcopy(model.partial_fit(X, labeled))
    trained = NetTraining.epoch

    def interrupted(self, epoch):
        trained(self, epoch)
        raise KeyboardInterrupt

    monkeypatch.setattr(NetTraining, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, labeled)
    assert_same_weights(model, before)
    assert model.history_ == before.history_


# Self-PU


def test_students_trust_the_rows_they_are_sure_of(self_pu):
    X, labeled, y = clouds()
    training = self_pu._new_training(self_pu._tensor(X), pu_sample(labeled), 0.4, seed=0)
    trusted = []
    with on_threads(1):
        for number in range(1, 7):
            training.epoch(number)
            trusted.append([[len(rows) for rows in pair] for pair in training._trusted])
    assert trusted[0] == [[0, 0], [0, 0]]
    assert trusted[-1] == [[144, 96], [216, 144]]  # 40% of 0.4 and of 0.6 of 1500, 60% negative
    for negative, positive in training._trusted:
        assert (y[negative] == 0).mean() > 0.98
        assert (y[positive] == 1).mean() > 0.98
        assert not labeled[np.concatenate([negative, positive])].any()
    assert len(training.teachers) == 2
    for teacher, student in zip(training.networks(), training.students, strict=True):
        apart = [
            (a - b).abs().max().item()
            for a, b in zip(teacher.parameters(), student.parameters(), strict=True)
        ]
        assert max(apart) > 0


def test_teachers_do_not_average_a_student_that_has_learned_nothing(self_pu):
    X, labeled, y = clouds()
    self_pu.set_params(epochs=1, batch_size=50, ema_decay=0.9999)
    assert self_pu.fit(X, labeled).score(X, y) > 0.9


@pytest.mark.parametrize(
    "params",
    [{"trusted_share": (0.1, 0.9)}, {"consistency": 30.0}, {"mutual": 10.0}, {"ema_decay": 0.5}],
    ids=str,
)
def test_every_parameter_matters(self_pu, params):
    X, labeled, _ = clouds(300)
    before = self_pu.fit(X, labeled).decision_function(X)
    after = self_pu.set_params(**params).fit(X, labeled).decision_function(X)
    assert (before != after).any()


# Around


def test_progress_is_on_standard_error(net, capsys):
    X, labeled, _ = clouds(100)
    net.set_params(verbose=1, patience=10).fit(X, labeled)
    out, err = capsys.readouterr()
    assert not out
    assert "[########################] 6/6 epochs, risk 0." in err
    assert "validation_risk" in err
    net.set_params(verbose=0).fit(X, labeled)
    assert not capsys.readouterr().err


def test_without_pytorch_an_error_says_how_to_get_it(net, monkeypatch):
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
        ({"architecture": "cnn"}, ValueError, "needs square images.*got 5 features"),
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
def test_refuses(net, params, error, words):
    X, labeled, _ = clouds(50)
    with pytest.raises(error, match=words):
        net.set_params(**params).fit(X, labeled)


def test_activations_by_name():
    with pytest.raises(ValueError, match="activation must be one of"):
        mlp(3, activation="tanh")
    assert not any(isinstance(m, torch.nn.BatchNorm1d) for m in mlp(3, batch_norm=False))
