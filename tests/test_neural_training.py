"""Training of the networks: risks, batches, checkpoints, early stopping and Self-PU's schedule."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from small_networks import assert_same_weights, clouds, small, small_net, small_self_pu

from puforest._sample import pu_sample
from puforest.baselines import PUNetClassifier
from puforest.baselines.neural._torch import on_threads
from puforest.risk import loss_value

torch = pytest.importorskip("torch")

from puforest.baselines.neural._batches import batches  # noqa: E402
from puforest.baselines.neural._net_training import NetTraining  # noqa: E402
from puforest.baselines.neural._risk import MARGINS, PURisk  # noqa: E402


@pytest.fixture
def net():
    return small_net()


@pytest.fixture
def self_pu():
    return small_self_pu()


# Risks and batches


@pytest.mark.parametrize("loss", MARGINS)
def test_losses_match_the_forests(loss):
    margin = np.linspace(-3, 3, 25)
    assert_allclose(MARGINS[loss](torch.tensor(margin)).numpy(), loss_value(margin, loss=loss))


def test_risk_of_a_batch_by_hand():
    p, u = torch.tensor([0.5, 2.0, -1.0]), torch.tensor([0.3, -2.0, 1.0, 0.0])
    risk = PURisk(0.4, 0.0, risk="upu", loss="logistic", beta=0, gamma=1)

    def mean(margin):
        return loss_value(margin.numpy(), loss="logistic").mean()

    expected = 0.4 * mean(p) + mean(-u) - 0.4 * mean(-p)
    assert_allclose(risk.objective(p, u)[1], expected, rtol=1e-6)
    # In a single training set, all samples are the population.
    one_sample = PURisk(0.5, 3 / 7, risk="upu", loss="logistic", beta=0, gamma=1)
    everything = torch.cat([p, u])
    expected = 0.5 * mean(p) + mean(-everything) - 0.5 * mean(-p)
    assert_allclose(one_sample.objective(p, u)[1], expected, rtol=1e-6)


def test_nnpu_steps_back_if_the_negative_part_is_too_negative():
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
def test_batches_have_labeled_and_unlabeled_samples_in_proportion(size, n_batches):
    labeled, unlabeled = np.arange(30), np.arange(30, 230)
    found = list(batches(labeled, unlabeled, size, np.random.default_rng(0)))
    assert_allclose([len(u) / len(p) for p, u in found], 200 / 30, atol=0.7)
    assert len(found) == n_batches
    assert_array_equal(np.sort(np.concatenate([p for p, _ in found])), labeled)
    assert_array_equal(np.sort(np.concatenate([u for _, u in found])), unlabeled)


# Reproducibility


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


class InterruptedTrainingError(Exception):
    pass


def interrupt_after(last):
    def callback(entry):
        if entry["epoch"] == last:
            raise InterruptedTrainingError

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
def test_resumed_training_gives_the_same_result(kind, at, patience, seed, request, tmp_path):
    model = request.getfixturevalue(kind).set_params(patience=patience, random_state=seed)
    X, labeled, _ = clouds(400)
    path = tmp_path / "run.pt"
    broken = clone(model).set_params(checkpoint=path, callback=interrupt_after(at))
    with pytest.raises(InterruptedTrainingError):
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
    # A finished training is not repeated.
    finished = clone(model).set_params(checkpoint=path, callback=interrupt_after(1)).fit(X, labeled)
    assert_same_weights(finished, through)


def test_checkpoints_of_other_data_or_parameters_are_rejected(net, self_pu, tmp_path):
    X, labeled, _ = clouds(200)
    net.set_params(checkpoint=tmp_path / "net.pt", epochs=2).fit(X, labeled)
    assert net.set_params(epochs=3).fit(X, labeled).n_iter_ == 3
    for _ in range(2):  # another random state, with the seed of the file
        model = clone(net).set_params(checkpoint=tmp_path / "state.pt")
        model.set_params(random_state=np.random.RandomState(0)).fit(X, labeled)
        assert_same_weights(model, net)
    with pytest.raises(ValueError, match="belongs to a training with another learning_rate"):
        clone(net).set_params(learning_rate=0.5).fit(X, labeled)
    with pytest.raises(ValueError, match="with another data"):
        net.fit(X + 1, labeled)
    with pytest.raises(ValueError, match="with another prior"):
        clone(net).set_params(prior=0.3).fit(X, labeled)
    self_pu.set_params(checkpoint=tmp_path / "self.pt").fit(X, labeled)
    with pytest.raises(ValueError, match="with another epochs"):
        self_pu.set_params(epochs=40).fit(X, labeled)


def test_early_stopping_keeps_the_best_weights():
    X, labeled, _ = clouds(300, n_labeled=60, distance=1)
    net = PUNetClassifier(0.4, architecture=small, epochs=300, patience=5, random_state=0)
    net.set_params(batch_size=50, learning_rate=0.05).fit(X, labeled)
    risks = [row["validation_risk"] for row in net.history_]
    best = int(np.argmin(risks)) + 1
    assert net.n_iter_ == best + 5 < 300
    until_best = clone(net).set_params(epochs=best).fit(X, labeled)
    assert_same_weights(net, until_best)


def test_partial_fit():
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


def test_interrupted_partial_fit_changes_nothing(monkeypatch):
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


def test_students_trust_samples_with_extreme_scores(self_pu):
    X, labeled, y = clouds()
    training = self_pu._new_training(self_pu._tensor(X, "cpu"), pu_sample(labeled), 0.4, seed=0)
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


def test_teachers_do_not_average_untrained_students(self_pu):
    X, labeled, y = clouds()
    self_pu.set_params(epochs=1, batch_size=50, ema_decay=0.9999)
    assert self_pu.fit(X, labeled).score(X, y) > 0.9


@pytest.mark.parametrize(
    "params",
    [{"trusted_fraction": (0.1, 0.9)}, {"consistency": 30.0}, {"mutual": 10.0}, {"ema_decay": 0.5}],
    ids=str,
)
def test_parameters_change_the_result(self_pu, params):
    X, labeled, _ = clouds(300)
    before = self_pu.fit(X, labeled).decision_function(X)
    after = self_pu.set_params(**params).fit(X, labeled).decision_function(X)
    assert (before != after).any()
