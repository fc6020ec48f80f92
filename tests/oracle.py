"""The naive forest: a simple specification of the compiled core.

One row at a time, one candidate at a time, no codes, no threads, no shortcuts. It draws from
the same random streams as the core, so that both see the same candidates.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field, replace

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


def row_weights(
    labeled, sample_weight, *, risk, scenario, prior, propensity=None, verdict=None, e=None
):
    """Weights (w_p, w_u) of each row; `prior` may be None if it is implied.

    `verdict` is 1, 0 or nan (not checked), and `e` the probability of being checked.

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
    for i in range(len(s) if verdict is not None else 0):
        if labeled[i] and scenario == "case-control":
            w_p[i] *= 1 - e[i]
        elif labeled[i]:
            w_p[i] = w_u[i] + (w_p[i] - w_u[i]) * (1 - e[i])
        elif verdict[i] == 1:
            w_p[i] = w_u[i]
    return w_p, w_u


# Trees


@dataclass
class Split:
    """A numeric split, by `threshold`, or a categorical one, by the categories that go left.

    `missing_left` is None if no missing value is at the node.
    """

    feature: int
    threshold: float = 0.0
    left_categories: frozenset | None = None
    missing_left: bool | None = None
    reduction: float = 0.0

    def sides(self, x):
        """Return which of these values go left; unlike in predictions, all were seen before."""
        if self.left_categories is None:
            goes_left = x <= self.threshold
        else:
            goes_left = np.isin(x, list(self.left_categories))
        return np.where(np.isnan(x), bool(self.missing_left), goes_left)


@dataclass
class Node:
    rows: np.ndarray
    key: int
    depth: int
    features: list
    w_p: float
    w_u: float
    low: float = 0.0  # bounds of W_p / W_u in this subtree
    high: float = math.inf
    split: Split | None = None
    listed: tuple = ()  # categories that go to the side opposite that of missing values
    children: list = field(default_factory=list)


def between(low, high, u):
    width = high - low
    t = low + u * width if math.isfinite(width) else low * (1 - u) + high * u
    return t if low <= t < high else low


MOST_SETS = 4
LABELED_FOR_SETS = {"random": 5, "optimal": 10}  # labeled rows per category


def random_sets(present, salt, n):
    """Return up to `n` random subsets of the categories: the bits of a hash of each category.

    Every category is in a subset with probability one half, and bits that would leave one side
    empty are skipped.
    """
    words = [derive(salt, int(c)) for c in present]
    sets = (frozenset(c for c, w in zip(present, words, strict=True) if w >> b & 1)
            for b in range(64))  # fmt: skip
    return list(itertools.islice((s for s in sets if 0 < len(s) < len(present)), n))


def informative(n, n_labeled, m, m_labeled):
    """Return whether the labels of the missing values at a node stand out.

    The number of labeled rows among m of n rows, `m_labeled`, must differ from its expectation
    by more than 3 standard errors (of the hypergeometric distribution) and by more than 3 rows.
    """
    d = float(abs(m_labeled * n - m * n_labeled))
    return d > 3.0 * n and (
        d * d * (n - 1.0) > 9.0 * m * n_labeled * float(n - n_labeled) * float(n - m)
    )


class Tree:
    """A tree on the given rows.

    `positive` and `sample` are the weights of the rows within their groups, `masses` the three
    totals (W_p of the labeled, W_u of the labeled, W_u of the unlabeled rows), `thresholds`
    is "random" or "optimal", `categorical` is a set of features and `monotone` a direction, 1 or
    -1, by feature. Unlabeled rows that were found positive, `confirmed`, are a third group, whose
    W_p and W_u are two more totals.
    """

    def __init__(
        self, X, labeled, positive, sample, masses, *, key, risk, loss, thresholds, max_features,
        n_thresholds=1, max_depth=math.inf, min_samples_split=2, min_samples_leaf=1,
        min_risk_reduction=-math.inf, max_leaf_nodes=None, categorical=(), monotone=None,
        confirmed=None,
    ):  # fmt: skip
        self.X, self.labeled = np.asarray(X, dtype=float), labeled
        self.positive, self.sample = positive, sample
        self.confirmed = np.zeros(len(labeled), dtype=bool) if confirmed is None else confirmed

        def factor(mass, weights):
            return mass / weights.sum() if weights.any() else 0.0

        self.factor_p = factor(masses[0], positive[labeled])
        self.factor_l = factor(masses[1], sample[labeled])
        self.factor_u = factor(masses[2], sample[~labeled & ~self.confirmed])
        self.factors_c = [factor(mass, sample[self.confirmed]) for mass in masses[3:]] or [0, 0]
        self.risk, self.loss, self.thresholds = risk, loss, thresholds
        self.max_features, self.n_thresholds = max_features, n_thresholds
        self.max_depth, self.min_samples_split = max_depth, min_samples_split
        self.min_samples_leaf, self.min_risk_reduction = min_samples_leaf, min_risk_reduction
        self.categorical, self.monotone = set(categorical), dict(monotone or {})
        features = list(range(self.X.shape[1]))
        self.root = self.node(np.arange(len(self.X)), derive(key, LEFT), 0, features)
        if max_leaf_nodes is None:
            self.grow_depth_first()
        else:
            self.grow_best_first(max_leaf_nodes)

    def masses(self, rows):
        p, c = rows[self.labeled[rows]], rows[self.confirmed[rows]]
        u = rows[~self.labeled[rows] & ~self.confirmed[rows]]
        w_p = self.factor_p * math.fsum(self.positive[p])
        w_u = self.factor_l * math.fsum(self.sample[p]) + self.factor_u * math.fsum(self.sample[u])
        found = math.fsum(self.sample[c])
        return w_p + self.factors_c[0] * found, w_u + self.factors_c[1] * found

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
                frontier.append((-split.reduction, created, node, split))
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
        goes_left = split.sides(self.X[node.rows, split.feature])
        left, right = node.rows[goes_left], node.rows[~goes_left]
        for branch, rows in ((LEFT, left), (RIGHT, right)):
            child = self.node(rows, derive(node.key, branch), node.depth + 1, list(node.features))
            child.low, child.high = node.low, node.high
            node.children.append(child)
        if split.missing_left is None:
            split.missing_left = node.children[0].w_u >= node.children[1].w_u
        if split.left_categories is not None:
            x = self.X[node.rows, split.feature]
            present = frozenset(np.unique(x[~np.isnan(x)]))
            listed = (
                present - split.left_categories if split.missing_left else split.left_categories
            )
            node.listed = tuple(sorted(int(c) for c in listed))
        if self.direction(split):
            lower, upper = node.children[:: self.direction(split)]
            a, b = self.ratio(lower.rows), self.ratio(upper.rows)
            lower.high = upper.low = a + (b - a) / 2 if math.isfinite(b) else a
        node.split = split

    def direction(self, split):
        """Return 1 or -1 if the posterior must not decrease or increase from left to right."""
        orders = split.left_categories is None and math.isfinite(split.threshold)
        return self.monotone.get(split.feature, 0) if orders else 0

    def ratio(self, rows):
        w_p, w_u = self.masses(rows)
        return w_p / w_u if w_u else math.inf

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
            x = self.X[node.rows, feature]
            present = np.unique(x[~np.isnan(x)])
            if len(present) + np.isnan(x).any() <= 1:
                constant.add(feature)
                continue
            tried += 1
            for split in self.candidates(node, feature, x, present, rng):
                reduction = self.reduction(node, split)
                if reduction is not None and (best is None or reduction > best.reduction):
                    best = split
                    best.reduction = reduction
        node.features = [f for f in node.features if f not in constant]
        return best

    def candidates(self, node, feature, x, present, rng):
        """Return all candidate splits by a feature, with a side for the missing values."""
        is_missing = np.isnan(x)
        if feature in self.categorical:
            splits = [Split(feature, left_categories=s) for s in self.sets(node, x, present, rng)]
        else:
            splits = [Split(feature, t) for t in self.cut_points(present, rng)]
        if not is_missing.any():
            return splits
        labeled = self.labeled[node.rows]
        counts = (len(x), labeled.sum(), is_missing.sum(), labeled[is_missing].sum())
        informs = informative(*map(int, counts))
        placed = []
        for split in splits:
            goes_left = split.sides(x)
            w_left = self.masses(node.rows[goes_left & ~is_missing])[1]
            w_right = self.masses(node.rows[~goes_left & ~is_missing])[1]
            for missing_left in (False, True) if informs else (w_left >= w_right,):
                placed.append(replace(split, missing_left=missing_left))
        if informs or len(present) == 1:
            alone = Split(feature, math.inf, missing_left=False)
            if feature in self.categorical:
                alone = Split(feature, 0.0, frozenset(present), missing_left=False)
            placed.append(alone)
        return placed

    def cut_points(self, values, rng):
        if len(values) == 1:
            return []
        if self.thresholds == "random":
            low, high = values[0], values[-1]
            return [between(low, high, rng.uniform()) for _ in range(self.n_thresholds)]
        return [between(a, b, 0.5) for a, b in itertools.pairwise(values)]

    def sets(self, node, x, present, rng):
        """Return the candidate sets of categories that go left.

        Under nnPU with few labeled rows, they are cuts in the order of the categories.
        """
        if len(present) == 1:
            return []
        n = self.n_thresholds * min(MOST_SETS, len(present) - 1)
        n_labeled = self.labeled[node.rows].sum()
        if self.risk == "nnpu" and n_labeled < LABELED_FOR_SETS[self.thresholds] * len(present):
            cuts = range(len(present) - 1)
            if self.thresholds == "random":
                own = Rng(rng.next())
                cuts = [own.below(len(present) - 1) for _ in range(n)]
            return [frozenset(present[: cut + 1]) for cut in cuts]
        if self.thresholds == "random":
            return random_sets(present, rng.next(), n)
        groups = self.groups(node, x, present)
        ratios = [self.ratio(node.rows[np.isin(x, group)]) for group in groups]
        order = sorted(range(len(groups)), key=lambda i: ratios[i])
        return [
            frozenset(c for i in order[: k + 1] for c in groups[i]) for k in range(len(groups) - 1)
        ]

    def groups(self, node, x, present):
        """Return the categories that optimal splits keep together.

        Under nnPU, those with less than one expected labeled row are one group, unless all are.
        """
        n_labeled = self.labeled[node.rows].sum()
        rare = [c for c in present if np.count_nonzero(x == c) * n_labeled < len(x)]
        if self.risk != "nnpu" or len(rare) == len(present):
            return [[c] for c in present]
        return [[c] for c in present if c not in rare] + [rare] * bool(rare)

    def reduction(self, node, split):
        goes_left = split.sides(self.X[node.rows, split.feature])
        left, right = node.rows[goes_left], node.rows[~goes_left]
        if min(len(left), len(right)) < self.min_samples_leaf:
            return None
        if self.monotone:
            ratios = self.ratio(left), self.ratio(right)
            lower, upper = ratios[:: self.direction(split) or 1]
            if not (node.low <= min(ratios) and max(ratios) <= node.high):
                return None
            if self.direction(split) and lower > upper:
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


def gap(hash_):
    """Exponential waiting time, increasing in the hash."""
    return -math.log((((~hash_ & MASK) >> 11) + 1) * 2.0**-53)


def draw(key, ids, draws, *, replace):
    """How often each row of a group is drawn.

    Each row arrives again and again, at times that are a hash of the key of the tree and of the id
    of the row. Without replacement, the rows that arrive first are drawn. With replacement, rows
    are drawn at each of the first arrivals, as in a Poisson process.
    """
    times = np.zeros(len(ids), dtype=int)
    hashes = [derive(key, int(i)) for i in ids]
    if not replace:
        first = sorted(range(len(ids)), key=lambda i: (hashes[i], i))[:draws]
        times[first] = 1
        return times
    arriving = [(gap(h), i, h) for i, h in enumerate(hashes)]
    heapq.heapify(arriving)
    for _ in range(draws):
        time, i, h = arriving[0]
        times[i] += 1
        h = derive(h, 0)
        heapq.heapreplace(arriving, (time + gap(h), i, h))
    return times


def draw_sample(
    key, ids, n_labeled, *, replace, together, labeled, unlabeled, n_confirmed=0, confirmed=0
):
    """Positions of the rows that a tree uses, given the ids of all rows.

    Labeled rows come first, then unlabeled rows that were found positive.
    """
    n_rows = len(ids)
    others = n_labeled + n_confirmed
    key = derive(key, SAMPLE)
    groups = [slice(0, n_labeled), slice(n_labeled, others), slice(others, n_rows)]
    if together:
        times = draw(key, ids, n_rows, replace=True)
        for group in groups:
            if len(ids[group]) and times[group].sum() == 0:
                times[group] = draw(key, ids[group], 1, replace=False)
    else:
        times = np.concatenate(
            [
                draw(key, ids[group], draws, replace=replace)
                for group, draws in zip(groups, (labeled, confirmed, unlabeled), strict=True)
            ]
        )
    return np.repeat(np.arange(n_rows), times)


def draw_outside_fold(key, tree, ids, fold, n_folds, n_labeled, *, replace, labeled, unlabeled):
    """Positions of the rows that a tree uses, among those whose fold is not `tree` mod `n_folds`.

    `labeled` and `unlabeled` are the largest numbers of rows to draw.
    """
    seen = np.flatnonzero(fold != tree % n_folds)
    n_seen = int((seen < n_labeled).sum())
    return seen[
        draw_sample(
            key, ids[seen], n_seen, replace=replace, together=False,
            labeled=min(labeled, n_seen), unlabeled=min(unlabeled, len(seen) - n_seen),
        )
    ]  # fmt: skip


def held_out_mean(values, fold, n_folds):
    """Mean of each row over the trees that left out its fold; `values` has a row for each tree."""
    total, count = np.zeros(len(fold)), np.zeros(len(fold))
    for t, value in enumerate(values):
        held_out = fold == t % n_folds
        total[held_out] += value[held_out]
        count[held_out] += 1
    with np.errstate(invalid="ignore"):
        return total / count


# Scores and thresholds of PUForestClassifier


def separation_values(w_p, w_u, prior):
    """Leaf value: fraction of the positives, as against that of the population."""
    positives = np.asarray(w_p) / prior
    return positives / (positives + np.asarray(w_u))


def separation_scores(w_p, w_u, prior):
    """Mean leaf value of each row; arguments by row and tree."""
    return separation_values(w_p, w_u, prior).mean(axis=1)


def threshold_losses(scores, labeled, labeled_u, prior, rule, at):
    """What a rule minimizes, at one threshold and at the best one.

    `labeled_u` is the fraction of the population that the labeled rows represent.
    """

    def rates(threshold):
        positive = scores > threshold
        r = positive[labeled].mean()
        return r, labeled_u * r + (1 - labeled_u) * positive[~labeled].mean()

    def loss(threshold):
        r, q = rates(threshold)
        if rule == "f1":
            return -2 * prior * r / (prior + q)
        return (1 if rule == "prior" else rule[1]) * prior * (1 - r) + max(0, q - prior * r)

    thresholds = (-np.inf, *scores)
    if rule == "prior":  # the fractions next to the prior are the only ones allowed
        fractions = {threshold: rates(threshold)[1] for threshold in (*thresholds, at)}
        next_larger = min(q for q in fractions.values() if q >= prior - 1e-12)
        next_smaller = max(q for q in fractions.values() if q <= prior + 1e-12)
        assert fractions[at] in (next_larger, next_smaller)
        thresholds = [t for t in thresholds if fractions[t] in (next_larger, next_smaller)]
    return loss(at), min(loss(threshold) for threshold in thresholds)
