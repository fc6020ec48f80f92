"""Splits by the order of the categories' posteriors, compared with all splits.

Optimal splits of a categorical feature are searched among the prefixes of the categories in the
order of W_p / W_u. That is exact if R* is concave in the masses. Under nnPU it is not, and the loss
is measured here: nodes with 3 to 10 categories are drawn at random, and the largest risk reduction
of a prefix is compared with that of all ways to divide the categories.

    python -m benchmarks.category_order
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import setup
from benchmarks.records import RESULTS, append_line, describe_setup, markdown, read_lines
from puforest.risk import LOSSES, minimum_risk

RISKS = ("pn", "nnpu", "upu")
CATEGORIES = range(3, 11)
ROUNDING = 1e-12


def draw_masses(k: int, risk: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Masses (W_p, W_u) of k categories: 200 labeled and 800 other rows, and a random prior."""
    prior = rng.uniform(0.1, 0.7)
    size = rng.dirichlet(np.full(k, 2.0))
    positive = np.clip(rng.beta(0.7, 0.7, k), 0.02, 0.98)
    positive *= min(1.0, prior / (size @ positive))
    of_labeled = size * positive / (size @ positive)
    labeled = rng.multinomial(200, of_labeled) / 200
    if risk == "pn":
        of_others = size * (1 - positive) / (size @ (1 - positive))
        others = rng.multinomial(800, of_others) / 800
        return prior * labeled, prior * labeled + (1 - prior) * others
    return prior * labeled, rng.multinomial(800, size) / 800


def reductions(
    w_p: NDArray[Any], w_u: NDArray[Any], left: NDArray[np.bool_], risk: str, loss: str
) -> NDArray[np.float64]:
    """Risk reduction of each way to divide the categories, a row of `left`."""
    total = minimum_risk(w_p.sum(), w_u.sum(), risk=risk, loss=loss)
    sides = (left.astype(float), 1.0 - left)
    with np.errstate(invalid="ignore"):
        return total - sum(
            minimum_risk(side @ w_p, side @ w_u, risk=risk, loss=loss) for side in sides
        )


def all_divisions(k: int) -> NDArray[np.bool_]:
    """All ways to divide k categories; the last one is always on the right."""
    numbers = np.arange(1, 2 ** (k - 1))
    return (numbers[:, None] >> np.arange(k) & 1).astype(bool)


def prefixes(w_p: NDArray[Any], w_u: NDArray[Any]) -> NDArray[np.bool_]:
    ratio = np.divide(w_p, w_u, out=np.full(len(w_p), np.inf), where=w_u > 0)
    rank = np.empty(len(ratio), dtype=int)
    rank[np.argsort(ratio, kind="stable")] = np.arange(len(ratio))
    return rank < np.arange(1, len(ratio))[:, None]


def measure(risk: str, loss: str, n_nodes: int) -> dict[str, float]:
    """Fraction of nodes where a prefix is optimal, and the mean relative loss of reduction."""
    rng = np.random.default_rng(0)
    lost = []
    while len(lost) < n_nodes:
        k = int(rng.choice(CATEGORIES))
        w_p, w_u = draw_masses(k, risk, rng)
        if (w_u == 0).any():
            continue
        best = np.nanmax(reductions(w_p, w_u, all_divisions(k), risk, loss))
        found = np.nanmax(reductions(w_p, w_u, prefixes(w_p, w_u), risk, loss))
        # Reductions by rounding errors alone are none.
        lost.append(0.0 if best <= found + ROUNDING else min(1.0, (best - found) / best))
    loss_of_reduction = np.array(lost)
    return {
        "optimal": float((loss_of_reduction < 1e-9).mean()),
        "lost": float(loss_of_reduction.mean()),
        "lost 95%": float(np.quantile(loss_of_reduction, 0.95)),
    }


def page(records: list[dict[str, Any]]) -> str:
    rows = [
        [r["risk"], r["loss"], f"{r['optimal']:.1%}", f"{r['lost']:.2%}", f"{r['lost 95%']:.1%}"]
        for r in records
    ]
    header = ["risk", "loss", "prefix is optimal", "reduction lost, mean", "95% quantile"]
    parts = [
        "# Order of categories",
        f"{describe_setup(records[0])}. {records[0]['nodes']:,} random nodes for each row, with "
        f"{CATEGORIES[0]} to {CATEGORIES[-1]} categories, 200 labeled and 800 other rows; the best "
        "prefix of the categories in the order of W_p / W_u against the best of all divisions.",
        markdown(header, rows),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    args = parser.parse_args(arguments)
    out = args.out / "category_order.jsonl"
    out.unlink(missing_ok=True)
    for risk in RISKS:
        for loss in sorted(LOSSES):
            found = measure(risk, loss, args.nodes)
            append_line(out, {"risk": risk, "loss": loss, "nodes": args.nodes} | found | setup())
    (args.out / "category_order.md").write_text(page(read_lines(out)))


if __name__ == "__main__":
    main()
