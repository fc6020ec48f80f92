"""The methods of the experiments by name: functions that create an estimator for a draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import ExtraTreeClassifier

from puforest import PUExtraTreesClassifier


@dataclass(frozen=True)
class Run:
    """A run; the draw is the seed. Supervised methods ignore `n_labeled` and `scenario`."""

    dataset: str
    method: str
    draw: int
    n_labeled: int = 1000  # the paper's
    scenario: str = "case-control"
    prior: float | None = None  # class prior to sample with, if it is not that of the data

    @classmethod
    def of(cls, line: dict[str, str]) -> Run:
        numbers = int(line["draw"]), int(line["n_labeled"])
        prior = float(line["resampled_prior"]) if line.get("resampled_prior") else None
        return cls(line["dataset"], line["method"], *numbers, line["scenario"], prior)


@dataclass(frozen=True)
class Setting:
    """Input of the functions that create estimators."""

    run: Run
    prior: float | None  # None if it is unknown
    threads: int = 1
    scratch: Path = Path("scratch")  # folder for checkpoints
    tell: Callable[[str], None] = print  # reports the progress of long fits


# Parameters that do not change the result, or that are part of the run.
FREE = {"n_jobs", "callback", "checkpoint", "random_state"}


@dataclass(frozen=True)
class Method:
    """A method; `make` creates the estimator for a `Setting`."""

    make: Callable[[Setting], Any]
    supervised: bool = False  # fitted to the true classes of all training samples
    risk: str | None = None  # risk to evaluate on the training samples
    takes_tables: bool = False  # with categories and missing values; others get numbers
    cut_at_prior: bool = False  # the test rows with the highest scores are predicted as positive
    has_probabilities: bool = False  # predict_proba is meant as the probability of the class


def forest(**params: Any) -> Callable[[Setting], Any]:
    """puforest's extra trees, with the nnPU risk by default."""

    def make(setting: Setting) -> Any:
        known = {} if params.get("risk") == "pn" else {"prior": setting.prior}
        return PUExtraTreesClassifier(
            **known | {"scenario": setting.run.scenario} | params,
            random_state=setting.run.draw,
            n_jobs=setting.threads,
        )

    return make


def bagging(sample_size: Any, *, knows_prior: bool = False) -> Callable[[Setting], Any]:
    """PU bagging of extra trees; the paper draws as many samples as there are unlabeled ones."""

    def make(setting: Setting) -> Any:
        from puforest.baselines import PUBaggingClassifier

        return PUBaggingClassifier(
            ExtraTreeClassifier(),
            n_estimators=100,
            sample_size=sample_size,
            prior=setting.prior if knows_prior else None,
            scenario=setting.run.scenario,
            random_state=setting.run.draw,
            n_jobs=setting.threads,
        )

    return make


def scikit_learn(n_estimators: int) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        return ExtraTreesClassifier(
            n_estimators, random_state=setting.run.draw, n_jobs=setting.threads
        )

    return make


# The paper's networks. Its 200 epochs are reduced by early stopping, or to the number that takes
# less than an hour on one core without a GPU. uPU is also run without early stopping, as the paper
# must have done. Self-PU, whose schedule depends on the number of epochs, is not stopped early; one
# of its epochs takes about four times as long.
ARCHITECTURES = {"20news": "softsign", "cifar-10": "cnn"}
MOST_EPOCHS = 200
EPOCHS = {"covtype": 100, "cifar-10": 2}
SELF_PU_EPOCHS = {"mushrooms": 30, "20news": 30, "mnist": 20, "covtype": 8, "cifar-10": 1}
LEARNING_RATES = {"cifar-10": 5e-4}
# The batch size for MNIST is that of nnPU's authors: of the usual 1000 samples only 16 would be
# labeled, and nnPU would be about 3 points worse. An epoch has three steps then, hence the larger
# patience.
BATCH_SIZES = {"mnist": 30000}
USUAL_BATCH_SIZE = 1000
PATIENCE = {"mnist": 30}
USUAL_PATIENCE = 10


def network(
    kind: str, budget: dict[str, int] = EPOCHS, *, stops_early: bool = False
) -> Callable[[Setting], Any]:
    """A network on features scaled to [0, 1], with a number of epochs for each data set."""

    def make(setting: Setting) -> Any:
        from puforest.baselines import PUNetClassifier, SelfPUClassifier

        run = setting.run
        epochs = budget.get(run.dataset, MOST_EPOCHS)
        patience = PATIENCE.get(run.dataset, USUAL_PATIENCE)
        may_stop = stops_early and epochs > patience
        # If neither can stop early, both variants are the same training, done once.
        way = "stopped" if may_stop else "whole"
        case = f"{run.scenario}-{run.n_labeled}" + (f"-{run.prior}" if run.prior else "")
        of = f"{run.dataset}-{case}-{kind}-{way}-{run.draw}"

        def after_epoch(row: dict[str, float]) -> None:
            setting.tell(f"epoch {row['epoch']:.0f} of {epochs}")

        shared = {
            "architecture": ARCHITECTURES.get(run.dataset, "mlp"),
            "epochs": epochs,
            "learning_rate": LEARNING_RATES.get(run.dataset, 1e-3),
            "patience": patience if may_stop else None,
            "checkpoint": setting.scratch / f"{of}.pt",
            "callback": after_epoch,
            "scenario": run.scenario,
            "n_jobs": setting.threads,
            "random_state": run.draw,
        }
        if kind == "self-pu":
            return make_pipeline(MinMaxScaler(), SelfPUClassifier(setting.prior, **shared))
        shared["batch_size"] = BATCH_SIZES.get(run.dataset, USUAL_BATCH_SIZE)
        return make_pipeline(MinMaxScaler(), PUNetClassifier(setting.prior, risk=kind, **shared))

    return make


def _by_risk_and_loss() -> dict[str, Method]:
    return {
        f"{name} {loss}": Method(forest(risk=risk, loss=loss), risk=risk)
        for name, risk in (("uPU", "upu"), ("nnPU", "nnpu"))
        for loss in ("quadratic", "logistic")
    }


def _by_candidates() -> dict[str, Method]:
    features = {"d": None, "sqrt(d)": "sqrt", "1": 1}
    return {
        f"F={f}, T={t}": Method(forest(max_features=drawn, n_thresholds=t))
        for f, drawn in features.items()
        for t in (10, 1)
    }


METHODS: dict[str, Method] = {
    **_by_risk_and_loss(),
    "SupervisedET": Method(scikit_learn(100), supervised=True),
    "PN ET": Method(forest(risk="pn"), supervised=True),
    "NaivePUET": Method(scikit_learn(100)),
    "PUBaggingET": Method(bagging(1.0)),
    "PUBaggingET, K = n_p": Method(bagging(None)),
    "one tree: PU ET": Method(forest(n_estimators=1)),
    "one tree: PN ET": Method(forest(n_estimators=1, risk="pn"), supervised=True),
    "one tree: scikit-learn": Method(scikit_learn(1), supervised=True),
    **_by_candidates(),
    "uPU net, not stopped": Method(network("upu")),
    "uPU net": Method(network("upu", stops_early=True)),
    "nnPU net": Method(network("nnpu", stops_early=True)),
    "Self-PU net": Method(network("self-pu", SELF_PU_EPOCHS)),
}
