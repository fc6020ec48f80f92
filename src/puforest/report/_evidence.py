"""What an estimate of the prior rests on, as lines for the page to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from puforest.prior import PriorEstimate

Array = NDArray[np.float64]

MOST_POINTS = 300  # of a line; pictures have no more pixels to show them


def evidence_chart(estimate: PriorEstimate) -> dict[str, Any] | None:
    """The picture of the method, in words and lines; None where its evidence was not kept."""
    if not estimate.evidence:
        return None
    draw = {"bbe": _best_bin, "dedpul": _densities, "elkan-noto": _scores}
    return draw.get(estimate.method, _parts)(estimate)


def _line(name: str, color: str, x: Array, y: Array, **more: Any) -> dict[str, Any]:
    """A line with few enough points, in the order of x."""
    order = np.argsort(x, kind="stable")[:: 1 + len(x) // MOST_POINTS]
    arrays = {"x": x, "y": y} | {k: v for k, v in more.items() if isinstance(v, np.ndarray)}
    thinned = {k: v[order] for k, v in arrays.items()}
    return {"name": name, "color": color} | more | thinned


def _best_bin(estimate: PriorEstimate) -> dict[str, Any]:
    kept = {k: np.asarray(v) for k, v in estimate.evidence.items()}
    seen = kept["labeled_above"] > 0
    chosen = kept["labeled_above"][kept["thresholds"] == kept["chosen"]]
    share = estimate.unlabeled_prior
    return {
        "says": "The curve is an upper bound for the share of positives among the unlabeled rows, "
        "found where rows look most like labeled ones. It should be flat where it is lowest. If "
        "it falls until the very left, no part of the data is purely positive, and the truth may "
        "be lower.",
        "x": {"label": "share of labeled rows above a score", "min": 0, "max": 1},
        "y": {
            "label": "positives among unlabeled",
            "min": 0,
            "max": min(1.5, max(0.1, 3 * share)),
        },
        "series": [
            _line(
                "bound",
                "labeled",
                kept["labeled_above"][seen],
                kept["quotient"][seen],
                low=kept["lower"][seen],
                high=kept["upper"][seen],
                band=f"{100 * estimate.confidence:g}% limits",
            )
        ],
        "marks": [
            *({"x": float(x), "name": "chosen"} for x in chosen[:1]),
            {"y": share, "name": f"estimate {share:.3f}"},
        ],
    }


def _densities(estimate: PriorEstimate) -> dict[str, Any]:
    kept, share = estimate.evidence, estimate.unlabeled_prior
    cells = np.asarray(kept["cells"])
    labeled, unlabeled = (
        np.asarray(kept[f"{group}_density"]) / (cells[1] - cells[0])
        for group in ("labeled", "unlabeled")
    )
    positives = np.minimum(1, share * np.asarray(kept["ratio"])) * unlabeled
    return {
        "says": "How the scores of unlabeled rows spread, and those of the positives that the "
        "estimate finds among them. Labeled rows, scaled to as many, should fit under the curve "
        "of the unlabeled ones.",
        "x": {"label": "logit of the score"},
        "y": {"label": "density", "min": 0},
        "series": [
            _line("unlabeled rows", "unlabeled", cells, unlabeled),
            _line("positives among them", "quiet", cells, positives),
            _line("labeled rows, scaled", "labeled", cells, share * labeled, dash=True),
        ],
        "marks": [],
    }


def _scores(estimate: PriorEstimate) -> dict[str, Any]:
    groups = [np.asarray(scores) for scores in estimate.evidence["scores"]]
    edges = np.histogram_bin_edges(np.concatenate(groups), 40)
    middles = (edges[1:] + edges[:-1]) / 2
    (frequency,) = estimate.evidence["frequencies"]
    return {
        "says": "Probabilities of being labeled, for rows of each group. The method takes their "
        "height among surely positive rows for the share of positives that have a label.",
        "x": {"label": "probability of being labeled"},
        "y": {"label": "density", "min": 0},
        "series": [
            _line(name, color, middles, np.histogram(scores, edges, density=True)[0])
            for scores, color, name in zip(
                groups,
                ("labeled", "unlabeled"),
                ("labeled rows", "unlabeled rows"),
                strict=True,
            )
        ],
        "marks": [{"x": float(frequency), "name": f"label frequency {frequency:.3f}"}],
    }


def _parts(estimate: PriorEstimate) -> dict[str, Any]:
    by_tice = estimate.method == "tice"
    values = np.asarray(estimate.evidence["frequencies" if by_tice else "draws"])
    mean = float(values.mean())
    return {
        "says": "Estimate from each part of the data; less spread means less uncertainty."
        if by_tice
        else "Estimate from each random subsample. Subsamples that contain all rows agree.",
        "x": {"label": "part of the data", "min": 0.5, "max": len(values) + 0.5, "whole": True},
        "y": {
            "label": "share of positives with a label" if by_tice else "positives among unlabeled",
            "min": 0,
            "max": 1,
        },
        "series": [_line("a part", "labeled", np.arange(1.0, len(values) + 1), values, dots=True)],
        "marks": [{"y": mean, "name": f"mean {mean:.3f}"}],
    }
