"""Self-PU: networks that select trusted samples and teach each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from puforest import _validation as check
from puforest._prior_estimate import PriorEstimate
from puforest._sample import PUSample
from puforest.baselines.neural._docs import documented
from puforest.baselines.neural._estimator import PUNeuralClassifier, non_negative
from puforest.baselines.neural._loop import Callback
from puforest.baselines.neural.architectures import Architecture, architecture

if TYPE_CHECKING:
    import torch

    from puforest.baselines.neural._self_pu_training import SelfPUTraining

__all__ = ["SelfPUClassifier"]


@documented
class SelfPUClassifier(PUNeuralClassifier):
    """Self-PU (Chen et al., 2020): self-paced and self-distilled training on the nnPU risk.

    Two networks, the students, are trained on the nnPU risk. At a few epochs each of them selects
    the unlabeled samples with the most extreme scores, and from then on uses their predicted
    classes as labels; one student trusts fewer samples than the other. After a quarter of the
    epochs two teachers are added, moving averages of the students. Students are kept close to
    their teachers, and learn from each other where they nearly agree. Predictions are the mean
    score of the teachers.

    Parameters
    ----------
    %prior, architecture%
        All networks have the same architecture.
    epochs : int, default=200
        Number of epochs. Trusted samples are selected after 5, 10, 15 and 20% of them. With one or
        two epochs none are selected, and the method is nnPU with two networks.
    %batch_size%
    learning_rate : float, default=1e-3
        Initial learning rate of Adam, with cosine annealing to 0. The authors use 5e-4 for
        CIFAR-10.
    %weight_decay%
    trusted_fraction : tuple of two floats, default=(0.4, 0.6)
        Fraction of the unlabeled samples that each student would trust after half of the epochs if
        selection continued. After the last selection it trusts four tenths of that.
    consistency : float, default=0.3
        Final weight of the distance between a student and its teacher, which increases slowly.
    mutual : float, default=0.1
        Students learn from each other on batches where the mean squared distance between their
        predictions is less than this fraction of the risk.
    ema_decay : float, default=0.999
        Decay of the moving averages.
    %scenario, patience, validation_fraction, checkpoint%
        Here `epochs` must not change either.
    %callback, device, n_jobs, verbose, random_state%

    Attributes
    ----------
    %attributes%
    nets_ : list of torch.nn.Module
        The two teachers.

    Notes
    -----
    Differences from the authors' code:

    * There is no self-calibration, which learns loss weights on samples with known classes: PU
      data has none. The authors' code has this as a cheaper variant.
    * The numbers of trusted positives and negatives follow the prior; they are not equal.
    * Teachers are updated at each step, including batch normalization, not once per epoch.
    * Predictions use the mean of both teachers, not the best of four networks on the test data.

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
        prior: float | PriorEstimate | None = None,
        *,
        architecture: str | Architecture = "mlp",
        epochs: int = 200,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.005,
        trusted_fraction: tuple[float, float] = (0.4, 0.6),
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
        self.trusted_fraction = trusted_fraction
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

        first, second = (
            check.fraction("trusted_fraction", value) for value in self.trusted_fraction
        )
        torch.manual_seed(seed)
        make = architecture(self.architecture)
        return SelfPUTraining(
            [make(X.shape[1]).to(self.device) for _ in range(2)],
            X,
            sample,
            PURisk(prior, sample.labeled_fraction),
            epochs=self.epochs,
            batch_size=check.integer("batch_size", self.batch_size, 2),
            learning_rate=non_negative("learning_rate", self.learning_rate),
            weight_decay=non_negative("weight_decay", self.weight_decay),
            trusted_fraction=(first, second),
            consistency=non_negative("consistency", self.consistency),
            mutual=non_negative("mutual", self.mutual),
            ema_decay=check.fraction("ema_decay", self.ema_decay),
            seed=seed,
        )

    def _keep(self, training: SelfPUTraining) -> None:
        self.nets_ = training.networks()

    def _networks(self) -> list[torch.nn.Module]:
        return self.nets_
