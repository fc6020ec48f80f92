"""Networks trained on the uPU or nnPU risk."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from puforest import _validation as check
from puforest._atomic_fit import atomic_fit
from puforest._sample import PUSample, pu_sample
from puforest.baselines.neural._estimator import PUNeuralClassifier, non_negative
from puforest.baselines.neural._loop import Callback
from puforest.baselines.neural._torch import on_threads, require_torch
from puforest.baselines.neural.architectures import Architecture, architecture

if TYPE_CHECKING:
    import torch

    from puforest.baselines.neural._net_training import NetTraining

__all__ = ["PUNetClassifier"]

NET_RISKS = ("nnpu", "upu")


class PUNetClassifier(PUNeuralClassifier):
    """A network trained on a PU risk: nnPU (Kiryo et al., 2017) or uPU (du Plessis et al., 2015).

    Parameters
    ----------
    prior : float or None, default=None
        Class prior. None estimates it with `puforest.prior.BBE` and issues a warning.
    risk : {"nnpu", "upu"}, default="nnpu"
        Risk to minimize. With "upu", the negative part can become arbitrarily negative, which is
        overfitting; "nnpu" steps back if it is below ``-beta``.
    architecture : {"mlp", "softsign", "cnn"} or callable, default="mlp"
        "mlp": four hidden layers of 300 with ReLU. "softsign": three with Softsign. "cnn": nine
        convolutions for square images. All use batch normalization. For other networks, pass a
        function from the number of features to a ``torch.nn.Module`` with one score per sample;
        see `puforest.baselines.neural.mlp`.
    loss : str, default="sigmoid"
        "sigmoid", "logistic", "savage", "quadratic", "ramp", "hinge", "double-hinge" or
        "exponential".
    epochs : int, default=200
        Maximum number of epochs.
    batch_size : int, default=1000
        Number of samples per batch, labeled and unlabeled in proportion. With fewer labeled
        samples than batches, batches are larger, so that each has a labeled sample.
    learning_rate : float, default=1e-3
        Learning rate of Adam. nnPU's authors use 1e-3 for MNIST, and 1e-5 for CIFAR-10 with "cnn".
    weight_decay : float, default=0.005
        L2 penalty; the default is that of nnPU's authors.
    beta : float, default=0.0
        Tolerance of "nnpu" for a negative part of the risk of a batch below zero.
    gamma : float, default=1.0
        Factor, from 0 to 1, of the step back if the negative part is below ``-beta``.
    scenario : {"case-control", "single-training-set"}, default="case-control"
        Sampling scenario of the data.
    patience : int or None, default=None
        Number of epochs without a lower PU estimate of the error rate on held-out samples after
        which training stops; the best weights are kept. None disables early stopping.
    validation_fraction : float, default=0.1
        Fraction of the labeled and of the unlabeled samples held out for `patience`.
    checkpoint : path or None, default=None
        File with the state of the training after each epoch. If it exists when ``fit`` is called,
        training resumes from it, with the same result as without an interruption. Data and
        parameters must be the same, except for the numbers `epochs` and `patience`. With
        ``prior=None``, set `random_state`, so that the estimate of the prior is the same.
    callback : callable or None, default=None
        Called after each epoch with its entry of ``history_``.
    device : str, default="cpu"
        PyTorch device, such as "cuda".
    n_jobs : int or None, default=None
        Number of PyTorch threads; None uses one. Results are reproducible for a given number.
    verbose : int, default=0
        If positive, progress is reported on standard error.
    random_state : int, RandomState instance or None, default=None
        Seed of the weights and batches.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two values of ``y``; the second one is the positive class.
    net_ : torch.nn.Module
        The fitted network.
    prior_ : float
        Class prior used by the fit.
    prior_estimate_ : PriorEstimate
        Estimate of the class prior. Only set if ``prior=None``.
    history_ : list of dict
        ``epoch``, ``risk`` (mean over the batches) and ``validation_risk`` of each epoch.
    n_iter_ : int
        Number of epochs trained.
    scenario_ : str
        Scenario of the fitted data.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if all column names of ``X`` are strings.

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
        prior: float | None = None,
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
            labeled_fraction=sample.least_prior,
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
    def partial_fit(
        self, X: check.MatrixLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Train for one epoch on these samples, starting from the current weights.

        Prior and scenario are those of the first call. `epochs`, `patience`, `checkpoint` and
        `callback` are not used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Two values: the larger for labeled positives, the smaller for unlabeled samples. Both
            are required, in the same proportions as in the whole data.
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
            table, y = self._validated(X, y=y)
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
