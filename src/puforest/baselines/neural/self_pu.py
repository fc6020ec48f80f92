"""Self-PU: networks that choose rows to trust, and teach each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from puforest import _validation as check
from puforest._sample import PUSample
from puforest.baselines.neural._estimator import PUNeuralClassifier, non_negative
from puforest.baselines.neural._loop import Callback
from puforest.baselines.neural.architectures import Architecture, architecture

if TYPE_CHECKING:
    import torch

    from puforest.baselines.neural._self_pu_training import SelfPUTraining

__all__ = ["SelfPUClassifier"]


class SelfPUClassifier(PUNeuralClassifier):
    """Self-PU (Chen et al., 2020): self-paced and self-distilled training on the nnPU risk.

    Two networks, the students, learn on the nnPU risk. Now and then each takes the unlabeled rows
    that it is surest of, and from then on learns those by the class that it gave them; one trusts
    fewer rows than the other. After a quarter of the epochs two teachers come in, moving averages
    of the students. Students stay near their teachers, and learn from each other where they nearly
    agree. The teachers answer together, by the mean of their scores.

    Parameters
    ----------
    prior : float or None, default=None
        Share of positives in the population. None estimates it (`puforest.prior.BBE`) and says so.
    architecture : {"mlp", "softsign", "cnn"} or callable, default="mlp"
        Of all networks; as in `PUNetClassifier`.
    epochs : int, default=200
        How often to go through the rows. Rows to trust are chosen after 5, 10, 15 and 20% of them.
        One or two leave no room for that: what is left is nnPU with two networks.
    batch_size : int, default=256
        Rows of a batch, as in `PUNetClassifier`.
    learning_rate : float, default=1e-3
        First step of Adam, which falls to 0 along a cosine. The authors take 5e-4 for CIFAR-10.
    weight_decay : float, default=0.005
        L2 penalty.
    trusted_share : tuple of two floats, default=(0.4, 0.6)
        Share of the unlabeled rows that each student would trust half way through, if it went on
        choosing. With the last choice it trusts four tenths of that.
    consistency : float, default=0.3
        Weight of the distance between a student and its teacher, which it approaches slowly.
    mutual : float, default=0.1
        Students learn from each other on batches where the squared distance of their answers is
        less than this share of the risk.
    ema_decay : float, default=0.999
        How much of a teacher stays at each step.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        How the rows came about.
    patience : int or None, default=None
        Early stopping, as in `PUNetClassifier`.
    validation_fraction : float, default=0.1
        Share of the rows, of both kinds, to hold out for `patience`.
    checkpoint : path or None, default=None
        File to go on from, as in `PUNetClassifier`; here `epochs` must be the same too.
    callback : callable or None, default=None
        Called after each epoch with its row of ``history_``.
    device : str, default="cpu"
        Where PyTorch computes, such as "cuda".
    n_jobs : int or None, default=None
        Threads of PyTorch; the default is one. Results are the same for the same number.
    verbose : int, default=0
        With 1 or more, progress is shown on standard error.
    random_state : int, RandomState instance or None, default=None
        Seed of weights and batches.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    nets_ : list of torch.nn.Module
        The two teachers.
    prior_ : float
        The class prior in use.
    prior_estimate_ : PriorEstimate
        All about it, where it was estimated.
    history_ : list of dict
        ``epoch``, ``risk`` (mean over the batches) and ``validation_risk`` of each epoch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` has names that are all strings.

    Notes
    -----
    Other than in the authors' code:

    * There is no self-calibration, the weights of losses learned on rows with known classes: PU
      data has no such rows. The authors' code offers the same as its cheaper variant.
    * Trusted positives and negatives are as many as the prior says, not equally many.
    * Teachers follow their students at each step, not once an epoch, in their normalization too.
    * The mean of both teachers answers, not the best of four networks on the test data.

    References
    ----------
    Chen, Chen, Chen, Yuan, Gong, Chen and Wang: Self-PU: self boosted and calibrated
    positive-unlabeled training. ICML 2020.

    Examples
    --------
    >>> from puforest.baselines import SelfPUClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::16], y[::16], n_labeled=200, random_state=0)
    >>> net = SelfPUClassifier(prior=y.mean(), epochs=20, ema_decay=0.9, random_state=0)
    >>> bool(net.fit(X_pu, labeled).score(X[1::8], y[1::8]) > 0.95)
    True
    """

    _schedule = ("epochs",)

    def __init__(
        self,
        prior: float | None = None,
        *,
        architecture: str | Architecture = "mlp",
        epochs: int = 200,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.005,
        trusted_share: tuple[float, float] = (0.4, 0.6),
        consistency: float = 0.3,
        mutual: float = 0.1,
        ema_decay: float = 0.999,
        scenario: str = "case-control",
        patience: int | None = None,
        validation_fraction: float = 0.1,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callback | None = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.prior = prior
        self.architecture = architecture
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.trusted_share = trusted_share
        self.consistency = consistency
        self.mutual = mutual
        self.ema_decay = ema_decay
        self.scenario = scenario
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.checkpoint = checkpoint
        self.callback = callback
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _new_training(
        self, X: torch.Tensor, sample: PUSample, prior: float, seed: int
    ) -> SelfPUTraining:
        import torch

        from puforest.baselines.neural._risk import PURisk
        from puforest.baselines.neural._self_pu_training import SelfPUTraining

        first, second = (check.fraction("trusted_share", share) for share in self.trusted_share)
        torch.manual_seed(seed)
        make = architecture(self.architecture)
        return SelfPUTraining(
            [make(X.shape[1]).to(self.device) for _ in range(2)],
            X,
            sample,
            PURisk(
                prior=prior,
                labeled_share=sample.least_prior,
                risk="nnpu",
                loss="sigmoid",
                beta=0.0,
                gamma=1.0,
            ),
            epochs=self.epochs,
            batch_size=check.integer("batch_size", self.batch_size, 2),
            learning_rate=non_negative("learning_rate", self.learning_rate),
            weight_decay=non_negative("weight_decay", self.weight_decay),
            trusted_share=(first, second),
            consistency=non_negative("consistency", self.consistency),
            mutual=non_negative("mutual", self.mutual),
            ema_decay=check.fraction("ema_decay", self.ema_decay),
            seed=seed,
        )

    def _keep(self, training: SelfPUTraining) -> None:
        self.nets_ = training.networks()

    def _networks(self) -> list[torch.nn.Module]:
        return self.nets_
