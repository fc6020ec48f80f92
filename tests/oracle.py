"""The naive forest: a simple specification of the compiled core.

One row at a time, one candidate at a time, no codes, no threads, no shortcuts. It draws from
the same random streams as the core, so that both see the same candidates.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
LEFT, RIGHT, SAMPLE = 0, 1, 2


# Random numbers


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def derive(key, branch):
    return mix((key + GOLDEN * (branch + 1)) & MASK)


def tree_key(seed, tree):
    return derive(mix((seed + GOLDEN) & MASK), tree)


class Rng:
    def __init__(self, key):
        self.state = key

    def next(self):
        self.state = (self.state + GOLDEN) & MASK
        return mix(self.state)

    def below(self, bound):
        return (self.next() * bound) >> 64

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53


# Risks: the table of minima, written out loss by loss


def minimum_risk(w_p, w_u, risk, loss):
    w_n = w_u - w_p
    if risk != "upu":
        w_n = max(0.0, w_n)
    if w_n == 0 or (w_p == 0 and w_n > 0):
        return 0.0
    if loss in ("quadratic", "savage") and w_n > 0:
        return 4 * w_p * w_n / (w_p + w_n)
    if loss == "quadratic":
        return 4 * w_p * w_n / (w_p + w_n) if w_p + w_n > 0 else -math.inf
    if loss == "savage":
        return 4 * w_n
    if loss in ("sigmoid", "zero-one", "ramp"):
        return min(w_p, w_n)
    if w_n < 0:
        return -math.inf
    if loss == "logistic":
        u = w_p + w_n
        return -(w_p * math.log(w_p / u) + w_n * math.log(w_n / u))
    if loss == "hinge":
        return 2 * min(w_p, w_n)
    if loss == "double-hinge":
        return min(w_p, w_n)
    if loss == "exponential":
        return 2 * math.sqrt(w_p * w_n)
    raise ValueError(loss)


def is_pure(w_p, w_u, risk, loss):
    if w_p == 0 or w_u == 0:
        return True
    r = minimum_risk(w_p, w_u, risk, loss)
    return r == -math.inf if risk == "upu" else r == 0


# Row weights: the table of scenarios, written out row by row


def row_weights(labeled, sample_weight, *, risk, scenario, prior, propensity=None):
    """Weights (w_p, w_u) of each row; `prior` may be None if it is implied.

    Sample weights count by their ratios alone. Those above 0 that floats cannot hold beside the
    largest one, scaled to at most 1 by a power of two, are refused: digits would be lost, and a
    mass over their sum infinite. So are a prior and propensities that are not above 1e-100.
    """
    s = np.asarray(sample_weight, dtype=float)
    scaled = np.ldexp(s, -math.frexp(s.max())[1])
    if (scaled[s > 0] < np.finfo(float).tiny).any():
        raise ValueError("sample_weight")
    n_p, n_u = s[labeled].sum(), s[~labeled].sum()
    n = n_p + n_u
    w_p, w_u = np.zeros(len(s)), np.zeros(len(s))
    positive = s if propensity is None else s / propensity
    if prior is None:
        prior = n_p / n if risk == "pn" else positive[labeled].sum() / n
    if not 1e-100 < prior < 1:
        raise ValueError("prior")
    if propensity is not None and not (propensity[labeled] > 1e-100).all():
        raise ValueError("propensity")
    w_p[labeled] = prior * positive[labeled] / positive[labeled].sum()
    if risk == "pn":
        w_u[labeled] = prior * s[labeled] / n_p
        w_u[~labeled] = (1 - prior) * s[~labeled] / n_u
    elif scenario == "case-control":
        w_u[~labeled] = s[~labeled] / n_u
    else:
        w_u[:] = s / n
    return w_p, w_u


# Trees


@dataclass
class Node:
    rows: np.ndarray
    key: int
    depth: int
    features: list
    w_p: float
    w_u: float
    feature: int = -1
    threshold: float = 0.0
    reduction: float = 0.0
    children: list = field(default_factory=list)


def between(low, high, u):
    width = high - low
    t = low + u * width if math.isfinite(width) else low * (1 - u) + high * u
    return t if low <= t < high else low


class Tree:
    """A tree on the given rows.

    `positive` and `sample` are the weights of the rows within their groups, `masses` the three
    totals (W_p of the labeled, W_u of the labeled, W_u of the unlabeled rows), `thresholds`
    is "random" or "optimal".
    """

    def __init__(
        self, X, labeled, positive, sample, masses, *, key, risk, loss, thresholds, max_features,
        n_thresholds=1, max_depth=math.inf, min_samples_split=2, min_samples_leaf=1,
        min_risk_reduction=-math.inf, max_leaf_nodes=None,
    ):  # fmt: skip
        self.X, self.labeled = np.asarray(X, dtype=float), labeled
        self.positive, self.sample = positive, sample
        self.factor_p = masses[0] / positive[labeled].sum()
        self.factor_l = masses[1] / sample[labeled].sum()
        self.factor_u = masses[2] / sample[~labeled].sum()
        self.risk, self.loss, self.thresholds = risk, loss, thresholds
        self.max_features, self.n_thresholds = max_features, n_thresholds
        self.max_depth, self.min_samples_split = max_depth, min_samples_split
        self.min_samples_leaf, self.min_risk_reduction = min_samples_leaf, min_risk_reduction
        features = list(range(self.X.shape[1]))
        self.root = self.node(np.arange(len(self.X)), derive(key, LEFT), 0, features)
        if max_leaf_nodes is None:
            self.grow_depth_first()
        else:
            self.grow_best_first(max_leaf_nodes)

    def masses(self, rows):
        p, u = rows[self.labeled[rows]], rows[~self.labeled[rows]]
        w_p = self.factor_p * math.fsum(self.positive[p])
        w_u = self.factor_l * math.fsum(self.sample[p]) + self.factor_u * math.fsum(self.sample[u])
        return w_p, w_u

    def node(self, rows, key, depth, features):
        return Node(rows, key, depth, features, *self.masses(rows))

    def risk_of(self, rows):
        return minimum_risk(*self.masses(rows), self.risk, self.loss)

    def grow_depth_first(self):
        todo = [self.root]
        while todo:
            node = todo.pop()
            split = self.find_split(node)
            if split:
                self.expand(node, split)
                todo += node.children

    def grow_best_first(self, max_leaf_nodes):
        frontier, created = [], 0

        def add(node):
            nonlocal created
            split = self.find_split(node)
            if split:
                frontier.append((-split[2], created, node, split))
            created += 1

        add(self.root)
        for _ in range(max_leaf_nodes - 1):
            if not frontier:
                return
            frontier.sort(key=lambda entry: entry[:2])
            _, _, node, split = frontier.pop(0)
            self.expand(node, split)
            for child in node.children:
                add(child)

    def expand(self, node, split):
        node.feature, node.threshold, node.reduction = split
        goes_left = self.X[node.rows, node.feature] <= node.threshold
        for branch, side in ((LEFT, goes_left), (RIGHT, ~goes_left)):
            key = derive(node.key, branch)
            node.children.append(
                self.node(node.rows[side], key, node.depth + 1, list(node.features))
            )

    def find_split(self, node):
        if (
            len(node.rows) < self.min_samples_split
            or node.depth >= self.max_depth
            or is_pure(node.w_p, node.w_u, self.risk, self.loss)
        ):
            return None
        rng = Rng(node.key)
        order, best, tried, constant = list(node.features), None, 0, set()
        for i in range(len(order)):
            if tried == self.max_features:
                break
            j = i + rng.below(len(order) - i)
            order[i], order[j] = order[j], order[i]
            feature = order[i]
            values = np.unique(self.X[node.rows, feature])
            if len(values) == 1:
                constant.add(feature)
                continue
            tried += 1
            for t in self.candidates(values, rng):
                reduction = self.reduction(node, feature, t)
                if reduction is not None and (best is None or reduction > best[2]):
                    best = (feature, t, reduction)
        node.features = [f for f in node.features if f not in constant]
        return best

    def candidates(self, values, rng):
        if self.thresholds == "random":
            low, high = values[0], values[-1]
            return [between(low, high, rng.uniform()) for _ in range(self.n_thresholds)]
        return [between(a, b, 0.5) for a, b in itertools.pairwise(values)]

    def reduction(self, node, feature, t):
        goes_left = self.X[node.rows, feature] <= t
        left, right = node.rows[goes_left], node.rows[~goes_left]
        if min(len(left), len(right)) < self.min_samples_leaf:
            return None
        here = minimum_risk(node.w_p, node.w_u, self.risk, self.loss)
        reduction = here - self.risk_of(left) - self.risk_of(right)
        return None if reduction < self.min_risk_reduction else reduction

    def nodes(self):
        """All nodes by their paths."""
        todo = [("", self.root)]
        while todo:
            path, node = todo.pop()
            yield path, node
            todo += [(path + "LR"[i], child) for i, child in enumerate(node.children)]


# Samples


def draw_sample(key, n_labeled, n_rows, *, replace, together, labeled, unlabeled):
    """Positions of the rows that a tree uses; labeled rows come first."""
    if not replace and labeled == n_labeled and unlabeled == n_rows - n_labeled:
        return np.arange(n_rows)
    rng = Rng(derive(key, SAMPLE))
    times = np.zeros(n_rows, dtype=int)

    def draw(first, size, draws):
        if replace:
            for _ in range(draws):
                times[first + rng.below(size)] += 1
        else:
            for j in range(size - draws, size):
                row = first + rng.below(j + 1)
                times[first + j if times[row] else row] += 1

    if together:
        draw(0, n_rows, n_rows)
        for first, last in ((0, n_labeled), (n_labeled, n_rows)):
            if times[first:last].sum() == 0:
                times[first + rng.below(last - first)] += 1
    else:
        draw(0, n_labeled, labeled)
        draw(n_labeled, n_rows - n_labeled, unlabeled)
    return np.repeat(np.arange(n_rows), times)
