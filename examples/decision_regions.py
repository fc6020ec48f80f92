"""Compare a supervised forest with a PU forest on positive and unlabeled data.

Draws the picture of the README: ``python examples/decision_regions.py docs/images/regions.png``.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.ensemble import ExtraTreesClassifier

from puforest import PUExtraTreesClassifier
from puforest.datasets import make_pu

POSITIVE, NEGATIVE, UNLABELED = "#d1495b", "#30638e", "#8d99ae"


def regions(ax, title, model, X, y):
    """Shade the predicted classes, and plot the true ones."""
    edges = [np.linspace(X[:, i].min() - 0.4, X[:, i].max() + 0.4, 300) for i in (0, 1)]
    grid = np.stack(np.meshgrid(*edges), axis=-1)
    positive = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(300, 300)
    levels, colors = [-0.5, 0.5, 1.5], [NEGATIVE, POSITIVE]
    ax.contourf(*edges, positive > 0.5, levels=levels, colors=colors, alpha=0.2)
    for one, color in ((0, NEGATIVE), (1, POSITIVE)):
        ax.scatter(*X[y == one].T, s=3, color=color, alpha=0.5)
    ax.set_title(f"{title}\naccuracy {model.score(X, y):.1%}")


def main(path):
    """Fit both forests to half of the moons, and plot the other half."""
    X, y = make_moons(4000, noise=0.25, random_state=0)
    X_pu, labeled = make_pu(X[::2], y[::2], n_labeled=300, random_state=0)
    supervised = ExtraTreesClassifier(200, min_samples_leaf=5, random_state=0)
    pu = PUExtraTreesClassifier(prior=0.5, n_estimators=200, min_samples_leaf=5, random_state=0)

    figure = Figure(figsize=(12, 4), layout="constrained")
    data, left, right = figure.subplots(1, 3, sharex=True, sharey=True)
    data.scatter(*X_pu[labeled == 0].T, s=3, color=UNLABELED, label="unlabeled")
    data.scatter(*X_pu[labeled == 1].T, s=8, color=POSITIVE, label="labeled positive")
    data.set_title("Data: 300 labeled positives,\n2,000 unlabeled rows")
    data.legend(loc="lower left", markerscale=2, framealpha=0.9)
    title = "Supervised forest (unlabeled as negative)"
    regions(left, title, supervised.fit(X_pu, labeled), X[1::2], y[1::2])
    regions(right, "puforest (prior = 0.5)", pu.fit(X_pu, labeled), X[1::2], y[1::2])
    for ax in (data, left, right):
        ax.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
