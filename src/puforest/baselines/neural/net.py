"""Networks trained on the uPU or nnPU risk."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._prior_estimate import PriorEstimate
from puforest._sample import PUSample, pu_sample
from puforest.baselines.neural._docs import documented
from puforest.baselines.neural._estimator import PUNeuralClassifier, non_negative
from puforest.baselines.neural._loop import Callback
from puforest.baselines.neural._torch import on_threads, require_torch
from puforest.baselines.neural.architectures import Architecture, architecture

if TYPE_CHECKING:
    import torch

    from puforest.baselines.neural._net_training import NetTraining

__all__ = ["PUNetClassifier"]

NET_RISKS = ("nnpu", "upu")


@documented
class PUNetClassifier(PUNeuralClassifier):
    """A network trained on a PU risk: nnPU (Kiryo et al., 2017) or uPU (du Plessis et al., 2015).

    Parameters
    ----------
    %prior%
    risk : {"nnpu", "upu"}, default="nnpu"
        Risk to minimize. With "upu", the negative part can become arbitrarily negative, which is
        overfitting; "nnpu" steps back if it is below ``-beta``.
    %architecture%
    loss : str, default="sigmoid"
        "sigmoid", "logistic", "savage", "quadratic", "ramp", "hinge", "double-hinge" or
        "exponential".
    epochs : int, default=200
        Maximum number of epochs.
    %batch_size%
    learning_rate : float, default=1e-3
        Learning rate of Adam. nnPU's authors use 1e-3 for MNIST, and 1e-5 for CIFAR-10 with "cnn".
    %weight_decay%
    beta : float, default=0.0
        Tolerance of "nnpu" for a negative part of the risk of a batch below zero.
    gamma : float, default=1.0
        Factor, from 0 to 1, of the step back if the negative part is below ``-beta``.
    %scenario, patience, validation_fraction, checkpoint, callback, device, n_jobs, verbose%
    %random_state%

    Attributes
    ----------
    %attributes%
    net_ : torch.nn.Module
        The fitted network.

    Notes
    -----
    ``predict_proba`` is the sigmoid of the output. With the logistic loss it estimates the
    probability of the class; with the sigmoid loss it tends to 0 and 1 and should only be used for
    ranking. Features should be on similar scales: put a scaler before the network.

    References
    ----------
    Kiryo, Niu, du Plessis and Sugiyama: Positive-unlabeled learning with non-negative risk
    estimator. NeurIPS 2017.

    Examples
    --------
    >>> from puforest.baselines import PUNetClassifier
    >>> from puforest.datasets import load_mushrooms, make_pu
    >>> X, y = load_mushrooms(return_X_y=True)
    >>> X_pu, labeled = make_pu(X[::8], y[::8], n_labeled=300, random_state=0)
    >>> net = PUNetClassifier(prior=y.mean(), epochs=15, random_state=0).fit(X_pu, labeled)
    >>> bool(net.score(X[1::8], y[1::8]) > 0.95)
    True
    """

    def __init__(
        self,
        prior: float | PriorEstimate | None = None,
        *,
        risk: str = "nnpu",
        architecture: str | Architecture = "mlp",
        loss: str = "sigmoid",
        epochs: int = 200,
        batch_size: int = 1000,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.005,
        beta: float = 0.0,
        gamma: float = 1.0,
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
        self.risk = risk
        self.architecture = architecture
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.beta = beta
        self.gamma = gamma
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
    ) -> NetTraining:
        import torch

        torch.manual_seed(seed)
        net = architecture(self.architecture)(X.shape[1]).to(self.device)
        optimizer = torch.optim.Adam(
            net.parameters(),
            lr=non_negative("learning_rate", self.learning_rate),
            weight_decay=non_negative("weight_decay", self.weight_decay),
        )
        return self._training_of(net, optimizer, X, sample, prior, seed)

    def _training_of(
        self,
        net: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        X: torch.Tensor,
        sample: PUSample,
        prior: float,
        seed: int,
    ) -> NetTraining:
        from puforest.baselines.neural._net_training import NetTraining
        from puforest.baselines.neural._risk import MARGINS, PURisk

        risk = PURisk(
            prior=prior,
            labeled_fraction=sample.labeled_fraction,
            risk=check.one_of("risk", self.risk, NET_RISKS),
            loss=check.one_of("loss", self.loss, MARGINS),
            beta=non_negative("beta", self.beta),
            gamma=non_negative("gamma", self.gamma),
        )
        batch_size = check.integer("batch_size", self.batch_size, 2)
        return NetTraining(net, optimizer, X, sample, risk, batch_size, seed)

    def _keep(self, training: NetTraining) -> None:
        self.net_ = training.net
        self._optimizer = training.optimizer
        self._seed = training.seed

    def _networks(self) -> list[torch.nn.Module]:
        return [self.net_]

    @atomic_fit
    @documented
    def partial_fit(
        self, X: check.MatrixLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Train for one epoch on these samples, starting from the current weights.

        Prior and scenario are those of the first call. `epochs`, `patience`, `checkpoint` and
        `callback` are not used.

        Parameters
        ----------
        %X, y%
            Both are required, in the same proportions as in the whole data.
        classes : array-like of shape (2,), optional
            The two values of `y`, which must agree with it; accepted for compatibility with other
            classifiers.

        Returns
        -------
        self
        """
        require_torch()
        if not hasattr(self, "net_"):
            table, sample, prior = self._rows_and_prior(X, y)
            with on_threads(check.threads(self.n_jobs)):
                self._keep(
                    self._new_training(
                        self._tensor(table, self.device), sample, prior, self._draw_seed()
                    )
                )
            self.prior_, self.history_, self.n_iter_ = prior, [], 0
        else:
            table = self._validated(X)
            y = check.training_labels(y, len(table), type(self).__name__)
            sample = pu_sample(y, scenario=self.scenario_)
            self._require_same_classes(np.unique(y))
        if classes is not None:
            self._require_same_classes(np.unique(classes))
        with on_threads(check.threads(self.n_jobs)):
            # Copied together, so that the optimizer refers to the parameters of the copied network.
            net, optimizer = copy.deepcopy((self.net_, self._optimizer))
            training = self._training_of(
                net,
                optimizer,
                self._tensor(table, next(net.parameters()).device),
                sample,
                self.prior_,
                self._seed,
            )
            risk = training.epoch(self.n_iter_ + 1)
        self._keep(training)
        self.n_iter_ += 1
        self.history_ = [*self.history_, {"epoch": float(self.n_iter_), "risk": risk}]
        return self

    def _require_same_classes(self, classes: NDArray[Any]) -> None:
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"y has the classes {classes.tolist()}, but the network was trained with "
                f"{self.classes_.tolist()}: use the same classes, or fit a new network"
            )
