"""The paper's figures again: importances on UNSW-NB15 and MNIST, and progressive selection.

What a picture shows is kept as CSV beside it, so that pictures are drawn again without a fit.

    python experiments/figures.py --data FOLDER
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from data import Split, load
from scipy.stats import spearmanr

from puforest import PUExtraTreesClassifier
from puforest.datasets import make_pu
from puforest.inspection import feature_selection_curve

N_LABELLED = 1000
DRAWS = 5


def kept(path: Path, make: Callable[[], np.ndarray], header: str) -> np.ndarray:
    """A table from its file, or made and written there."""
    if not path.exists():
        part = path.with_suffix(".part")
        np.savetxt(part, make(), delimiter=",", header=header, comments="", fmt="%.9g")
        part.rename(path)
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def importances_of_both(
    X: np.ndarray, y: np.ndarray, threads: int, *, normalized: bool = False, draws: int = 1
) -> np.ndarray:
    """Importances of PU ET and of PN ET, each the mean over draws that adds up to 1."""
    rows = []
    for draw in range(draws):
        X_pu, labelled = make_pu(X, y, n_labeled=min(N_LABELLED, int(y.sum())), random_state=draw)
        pu = PUExtraTreesClassifier(float(y.mean()), random_state=draw, n_jobs=threads)
        pn = PUExtraTreesClassifier(risk="pn", random_state=draw, n_jobs=threads)
        name = "normalized_feature_importances_" if normalized else "feature_importances_"
        rows.append([getattr(pu.fit(X_pu, labelled), name), getattr(pn.fit(X, y), name)])
    mean = np.mean(rows, axis=0)
    return mean / np.abs(mean).sum(axis=1, keepdims=True)


def likeness(pu: np.ndarray, pn: np.ndarray) -> float:
    """Rank correlation of two importances."""
    return float(spearmanr(pu, pn).statistic)


def unsw_importances(data: Split, out: Path, threads: int) -> str:
    """PU beside PN, features by their importance under PN."""
    table = kept(
        out / "unsw_importances.csv",
        lambda: importances_of_both(data.X, data.y, threads, draws=DRAWS).T,
        "pu,pn",
    )
    order = np.argsort(table[:, 1])
    figure, panels = plt.subplots(1, 2, figsize=(9, 7), sharey=True, layout="constrained")
    for ax, values, title in zip(panels, table.T, ("PU ET, nnPU", "PN ET"), strict=True):
        ax.barh(np.arange(len(order)), values[order], color="#0b6e99")
        ax.set(title=title, xlabel="share of the risk reduction")
        ax.set_yticks(np.arange(len(order)), [data.feature_names[i] for i in order], fontsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle("UNSW-NB15" + (", not the rows of the paper" if data.differs else ""))
    figure.savefig(out / "unsw_importances.svg")
    plt.close(figure)
    return (
        "## Importances on UNSW-NB15\n\n![](unsw_importances.svg)\n\n"
        f"Mean over {DRAWS} draws. Rank correlation of PU with PN: {likeness(*table.T):.2f}."
    )


def mnist_maps(data: Split, out: Path, threads: int, *, normalized: bool) -> str:
    """A digit against the others: PU above, PN below."""
    name = "mnist_maps_normalized" if normalized else "mnist_maps"

    def make() -> np.ndarray:
        return np.concatenate(
            [
                importances_of_both(
                    data.X, (data.original == d).astype(int), threads, normalized=normalized
                )
                for d in range(10)
            ]
        )

    table = kept(out / f"{name}.csv", make, ",".join(f"p{i}" for i in range(data.X.shape[1])))
    figure, panels = plt.subplots(2, 10, figsize=(13, 3.2), layout="constrained")
    for digit in range(10):
        for row, kind in enumerate(("PU", "PN")):
            ax = panels[row, digit]
            ax.imshow(table[2 * digit + row].reshape(28, 28), cmap="magma")
            ax.set(title=str(digit) if row == 0 else "", xticks=[], yticks=[])
            if digit == 0:
                ax.set_ylabel(kind)
    figure.savefig(out / f"{name}.png", dpi=110)
    plt.close(figure)
    kind = "Normalised importances" if normalized else "Importances"
    alike = [likeness(*table[2 * digit : 2 * digit + 2]) for digit in range(10)]
    important = (table > 0.1 * table.max(axis=1, keepdims=True)).sum(axis=1).mean()
    return (
        f"## {kind} of pixels of MNIST\n\n![]({name}.png)\n\nEach digit against the others; "
        f"lighter is more. Rank correlation of PU with PN: {min(alike):.2f} to {max(alike):.2f}. "
        f"Pixels with more than a tenth of the largest importance, mean over all maps: "
        f"{important:.0f}."
    )


def progressive_selection(data: Split, out: Path, threads: int) -> str:
    """Accuracy with the best features by risk reduction, and by Gini reduction on P against U."""

    def make() -> np.ndarray:
        curves = []
        for draw in range(DRAWS):
            X, labelled = make_pu(data.X, data.y, n_labeled=N_LABELLED, random_state=draw)
            forest = PUExtraTreesClassifier(float(data.y.mean()), random_state=draw, n_jobs=threads)
            gini = PUExtraTreesClassifier(risk="pn", random_state=draw, n_jobs=threads)
            by_gini = gini.fit(X, labelled).feature_importances_
            for order in ("risk-reduction", by_gini):
                curve = feature_selection_curve(
                    forest,
                    X,
                    labelled,
                    X_test=data.X_test,
                    y_test=data.y_test,
                    steps=list(range(1, data.X.shape[1] + 1, 2)),
                    order_by=order,
                    random_state=draw,
                )
                curves.append(curve.mean)
        risk, gini = np.mean(curves[::2], axis=0), np.mean(curves[1::2], axis=0)
        return np.column_stack([curve.n_features, risk, gini])

    table = kept(out / "progressive_selection.csv", make, "features,risk_reduction,gini")
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(table[:, 0], 100 * table[:, 1], color="#0b6e99", label="risk reduction")
    ax.plot(table[:, 0], 100 * table[:, 2], color="#d9730d", label="Gini reduction, P against U")
    ax.set(title="UNSW-NB15: the best features only", xlabel="features", ylabel="accuracy, %")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(out / "progressive_selection.svg")
    plt.close(figure)
    area = np.trapezoid(table[:, 1] - table[:, 2], table[:, 0])
    return (
        "## The best features only, on UNSW-NB15\n\n![](progressive_selection.svg)\n\n"
        f"Mean over {DRAWS} draws. Area between the curves, in accuracy as a share of 1 times "
        f"number of features: {area:+.2f} in favour of risk reduction; the paper has 0.84."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets; or PUFOREST_DATA")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    out = Path(__file__).parent / "paper" / "results"
    parser.add_argument("--out", type=Path, default=out, help="folder of the pictures")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    unsw, mnist = load("unsw-nb15", args.data), load("mnist", args.data)
    parts = [
        "# The paper's figures, drawn again",
        f"unsw-nb15: {unsw.differs}" if unsw.differs else "",
        unsw_importances(unsw, args.out, args.threads),
        *(mnist_maps(mnist, args.out, args.threads, normalized=n) for n in (False, True)),
        progressive_selection(unsw, args.out, args.threads),
    ]
    page = args.out / "figures.md"
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
