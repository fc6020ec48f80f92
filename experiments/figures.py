"""Figures of the paper: what to fit, and how to draw it.

A figure is a file in `paper/figures`. Its parts, one for each draw or digit, are stored as lines of
a CSV file, so that an interrupted run can be resumed, and figures redrawn without fitting.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from tqdm import tqdm

from experiments.data import Split
from experiments.harness import NO_DATA, setup
from experiments.store import Lines
from puforest import PUExtraTreesClassifier
from puforest.datasets import make_pu
from puforest.inspection import feature_selection_curve

# Columns before the values.
ABOUT = ("part", "what", "seconds", "machine", "versions", "settings", "differs")
COLORS = {"of the risk": "#0b6e99", "of Gini": "#d9730d"}


@dataclass(frozen=True)
class Figure:
    """A figure, as described in its file."""

    name: str
    title: str
    kind: str
    dataset: str
    draws: int = 1
    n_labeled: int = 1000  # the paper's
    normalized: bool = False
    step: int = 1
    paper_area: float | None = None

    @classmethod
    def read(cls, path: Path) -> Figure:
        return cls(name=path.stem, **tomllib.loads(path.read_text()))

    def settings(self) -> str:
        """Describe everything that the values of a part depend on."""
        normalized = ", normalized" if self.normalized else ""
        return (
            f"{self.kind} on {self.dataset}, {self.n_labeled} labeled, step {self.step}{normalized}"
        )


class Parts(Lines):
    """The CSV file of a figure, without lines of other settings."""

    def __init__(self, figure: Figure, folder: Path) -> None:
        super().__init__(folder / f"{figure.name}.csv")
        self.settings = figure.settings()

    def key(self, line: dict[str, Any]) -> Any:
        return int(line["part"]), line["what"]

    def lines(self) -> list[dict[str, str]]:
        return [line for line in super().lines() if line["settings"] == self.settings]


@dataclass(frozen=True)
class Kept:
    """Stored values of a figure by part, name and column."""

    columns: list[str]
    parts: dict[int, dict[str, np.ndarray]]
    differs: str

    @classmethod
    def read(cls, figure: Figure, folder: Path) -> Kept:
        lines = Parts(figure, folder).lines()
        columns = [name for name in (lines[0] if lines else {}) if name not in ABOUT]
        parts: dict[int, dict[str, np.ndarray]] = {}
        for line in lines:
            values = np.array([float(line[name]) for name in columns])
            parts.setdefault(int(line["part"]), {})[line["what"]] = values
        return cls(columns, parts, lines[0]["differs"] if lines else "")

    def mean(self, what: str) -> np.ndarray:
        """Mean over the parts."""
        return np.mean([rows[what] for rows in self.parts.values()], axis=0)


@dataclass(frozen=True)
class Picture:
    """A figure in the report."""

    title: str
    file: str
    text: str


def save(drawing: Any, path: Path) -> None:
    """Save a figure reproducibly, and close it."""
    with plt.rc_context({"svg.hashsalt": path.stem}):
        drawing.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(drawing)


# Importances of PU ET and PN ET, normalized to sum to 1


def importances(figure: Figure, X: np.ndarray, y: np.ndarray, draw: int, threads: int) -> Any:
    n_labeled = min(figure.n_labeled, int(y.sum()))
    X_pu, labeled = make_pu(X, y, n_labeled=n_labeled, random_state=draw)
    pu = PUExtraTreesClassifier(float(y.mean()), random_state=draw, n_jobs=threads)
    pn = PUExtraTreesClassifier(risk="pn", random_state=draw, n_jobs=threads)
    name = "normalized_feature_importances_" if figure.normalized else "feature_importances_"
    found = {"PU": getattr(pu.fit(X_pu, labeled), name), "PN": getattr(pn.fit(X, y), name)}
    return {what: values / np.abs(values).sum() for what, values in found.items()}


def rank_correlation(pu: np.ndarray, pn: np.ndarray) -> float:
    """Rank correlation of two vectors of importances."""
    return float(spearmanr(pu, pn).statistic)


def fit_importances(figure: Figure, data: Split, part: int, threads: int) -> Any:
    return data.feature_names, importances(figure, data.X, data.y, part, threads)


def draw_importances(figure: Figure, kept: Kept, path: Path) -> Picture:
    """Draw PU next to PN, with features sorted by their importance under PN."""
    pu, pn = kept.mean("PU"), kept.mean("PN")
    order = np.argsort(pn)
    drawing, panels = plt.subplots(1, 2, figsize=(9, 7), sharey=True, layout="constrained")
    for ax, values, title in zip(panels, (pu, pn), ("PU ET, nnPU", "PN ET"), strict=True):
        ax.barh(np.arange(len(order)), values[order], color=COLORS["of the risk"])
        ax.set(title=title, xlabel="fraction of the risk reduction")
        ax.set_yticks(np.arange(len(order)), [kept.columns[i] for i in order], fontsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    save(drawing, path.with_suffix(".svg"))
    return Picture(
        figure.title,
        path.with_suffix(".svg").name,
        f"Mean over {len(kept.parts)} draws. Rank correlation of PU and PN: "
        f"{rank_correlation(pu, pn):.2f}.",
    )


def fit_map(figure: Figure, data: Split, part: int, threads: int) -> Any:
    """Fit one digit against the others."""
    assert data.original is not None
    digit = (data.original == part).astype(int)
    return data.feature_names, importances(figure, data.X, digit, 0, threads)


def draw_maps(figure: Figure, kept: Kept, path: Path) -> Picture:
    """Draw a column for each digit: PU above, PN below."""
    side = int(np.sqrt(len(kept.columns)))
    drawing, panels = plt.subplots(
        2, len(kept.parts), figsize=(13, 3.2), layout="constrained", squeeze=False
    )
    for column, (digit, rows) in enumerate(sorted(kept.parts.items())):
        for row, what in enumerate(("PU", "PN")):
            ax = panels[row, column]
            ax.imshow(rows[what].reshape(side, side), cmap="magma")
            ax.set(title=str(digit) if row == 0 else "", xticks=[], yticks=[])
            if column == 0:
                ax.set_ylabel(what)
    save(drawing, path.with_suffix(".png"))
    alike = [rank_correlation(rows["PU"], rows["PN"]) for rows in kept.parts.values()]
    table = np.array([values for rows in kept.parts.values() for values in rows.values()])
    important = (table > 0.1 * table.max(axis=1, keepdims=True)).sum(axis=1).mean()
    return Picture(
        figure.title,
        path.with_suffix(".png").name,
        f"Each digit against the others; lighter is more important. Rank correlation of PU and "
        f"PN: {min(alike):.2f} to {max(alike):.2f}. Mean number of pixels per map with more than a "
        f"tenth of the largest importance: {important:.0f}.",
    )


# Progressive selection


def fit_selection(figure: Figure, data: Split, part: int, threads: int) -> Any:
    """Accuracy with the top features by risk reduction, and by Gini reduction on P against U."""
    X, labeled = make_pu(data.X, data.y, n_labeled=figure.n_labeled, random_state=part)
    forest = PUExtraTreesClassifier(float(data.y.mean()), random_state=part, n_jobs=threads)
    gini = PUExtraTreesClassifier(risk="pn", random_state=part, n_jobs=threads)
    orders = {
        "risk reduction": "risk-reduction",
        "Gini reduction": gini.fit(X, labeled).feature_importances_,
    }
    curves = {
        what: feature_selection_curve(
            forest,
            X,
            labeled,
            X_test=data.X_test,
            y_test=data.y_test,
            steps=list(range(1, data.X.shape[1] + 1, figure.step)),
            order_by=order,
            random_state=part,
        )
        for what, order in orders.items()
    }
    columns = [str(n) for n in curves["risk reduction"].n_features]
    return columns, {what: curve.mean for what, curve in curves.items()}


def draw_selection(figure: Figure, kept: Kept, path: Path) -> Picture:
    features = np.array([int(n) for n in kept.columns])
    risk, gini = kept.mean("risk reduction"), kept.mean("Gini reduction")
    drawing, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(features, 100 * risk, color=COLORS["of the risk"], label="risk reduction")
    ax.plot(features, 100 * gini, color=COLORS["of Gini"], label="Gini reduction, P against U")
    ax.set(xlabel="features", ylabel="accuracy, %")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    save(drawing, path.with_suffix(".svg"))
    area = np.trapezoid(risk - gini, features)
    paper = (
        ""
        if figure.paper_area is None
        else f"; the paper reports {figure.paper_area:g}, without a unit"
    )
    return Picture(
        figure.title,
        path.with_suffix(".svg").name,
        f"Mean over {len(kept.parts)} draws. Area between the curves, accuracy (0 to 1) times "
        f"number of features: {area:+.2f} in favor of risk reduction{paper}.",
    )


@dataclass(frozen=True)
class Kind:
    """Functions that fit a part, returning column names and values, and that draw a figure."""

    fit: Callable[[Figure, Split, int, int], tuple[list[str], dict[str, np.ndarray]]]
    draw: Callable[[Figure, Kept, Path], Picture]
    n_parts: int | None = None  # if it is not the number of draws


KINDS = {
    "importances": Kind(fit_importances, draw_importances),
    "maps": Kind(fit_map, draw_maps, n_parts=10),
    "selection": Kind(fit_selection, draw_selection),
}


def missing_parts(figure: Figure, folder: Path) -> list[int]:
    kept = Kept.read(figure, folder)
    n_parts = KINDS[figure.kind].n_parts or figure.draws
    return [part for part in range(n_parts) if part not in kept.parts]


def perform_figures(
    figures: Iterable[Figure], folder: Path, load: Callable[[str], Split], *, threads: int
) -> dict[str, str]:
    """Run the missing parts of the figures.

    Returns error messages of data sets that could not be loaded, as `perform_all` does.
    """
    missing = [(f, part) for f in figures for part in missing_parts(f, folder)]
    loaded: dict[str, Split] = {}
    unavailable: dict[str, str] = {}
    with tqdm(total=len(missing), unit="fit", disable=None) as bar:
        for figure, part in missing:
            bar.set_description(f"{figure.name}: {part}")
            if figure.dataset not in (*loaded, *unavailable):
                loaded.clear()  # keep one data set in memory
                try:
                    loaded[figure.dataset] = load(figure.dataset)
                except NO_DATA as error:
                    unavailable[figure.dataset] = str(error)
            if figure.dataset in unavailable:
                bar.update()
                continue
            data = loaded[figure.dataset]
            started = time.perf_counter()
            columns, rows = KINDS[figure.kind].fit(figure, data, part, threads)
            about = {
                "part": part,
                "seconds": time.perf_counter() - started,
                **setup(),
                "settings": figure.settings(),
                "differs": data.differs,
            }
            Parts(figure, folder).add(
                *(
                    dict.fromkeys(ABOUT)
                    | about
                    | {"what": what}
                    | {name: f"{x:.9g}" for name, x in zip(columns, values, strict=True)}
                    for what, values in rows.items()
                )
            )
            bar.update()
    return unavailable


def draw_all(figures: Iterable[Figure], folder: Path) -> list[Picture]:
    """Draw all figures whose parts are complete."""
    pictures = []
    for figure in figures:
        if missing_parts(figure, folder):
            continue
        kept = Kept.read(figure, folder)
        picture = KINDS[figure.kind].draw(figure, kept, folder / figure.name)
        if kept.differs:
            picture = replace(picture, text=f"{picture.text} Data: {kept.differs}")
        pictures.append(picture)
    return pictures
