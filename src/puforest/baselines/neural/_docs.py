"""Docstring entries that the neural classifiers share."""

from puforest._docstrings import documented as _documented
from puforest.baselines import _docs

PARAMETERS = _docs.PARAMETERS | {
    "prior": """float, PriorEstimate or None, default={default}
    Class prior. None estimates it with `puforest.prior.BBE` and issues a warning.""",
    "architecture": """{{"mlp", "softsign", "cnn"}} or callable, default={default}
    "mlp": four hidden layers of 300 with ReLU. "softsign": three with Softsign. "cnn": nine
    convolutions for square images. All use batch normalization. For other networks, pass a
    function from the number of features to a ``torch.nn.Module`` with one score per sample; see
    `puforest.baselines.neural.mlp`.""",
    "batch_size": """int, default={default}
    Number of samples per batch, labeled and unlabeled in proportion. With fewer labeled samples
    than batches, batches are larger, so that each has a labeled sample.""",
    "weight_decay": """float, default={default}
    L2 penalty; the default is that of nnPU's authors.""",
    "patience": """int or None, default={default}
    Number of epochs without a lower PU estimate of the error rate on held-out samples after which
    training stops; the best weights are kept. None disables early stopping.""",
    "validation_fraction": """float, default={default}
    Fraction of the labeled and of the unlabeled samples held out for `patience`.""",
    "checkpoint": """path or None, default={default}
    File with the state of the training after each epoch. If it exists when ``fit`` is called,
    training resumes from it, with the same result as without an interruption. Data and parameters
    must be the same, except for the numbers `epochs` and `patience`. With ``prior=None``, set
    `random_state`, so that the estimate of the prior is the same.""",
    "callback": """callable or None, default={default}
    Called after each epoch with its entry of ``history_``.""",
    "device": """str, default={default}
    PyTorch device, such as "cuda".""",
    "n_jobs": """int or None, default={default}
    Number of PyTorch threads; None uses one. Results are reproducible for a given number.""",
    "verbose": """int, default={default}
    If positive, progress is reported on standard error.""",
    "random_state": """int, RandomState instance or None, default={default}
    Seed of the weights and batches.""",
}

ATTRIBUTES = f"""{_docs.ATTRIBUTES}
prior_estimate_ : PriorEstimate
    Estimate of the class prior. Only set if it was estimated, or given as an
    estimate.
history_ : list of dict
    ``epoch``, ``risk`` (mean over the batches) and ``validation_risk`` of each epoch.
n_iter_ : int
    Number of epochs trained."""

documented = _documented(PARAMETERS, attributes=ATTRIBUTES)
