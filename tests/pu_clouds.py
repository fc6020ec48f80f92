"""Small PU data of a known class prior."""

import numpy as np


def clouds(prior, *, scenario, n_p=400, n_u=2000, distance=4.0, seed=0):
    """Two Gaussian clouds as PU data of either scenario: X and the PU labels."""
    rng = np.random.default_rng(seed)

    def rows(positive):
        X = rng.normal(size=(len(positive), 4))
        X[:, 0] += distance * positive
        return X

    if scenario == "case-control":
        truth = np.repeat([True, False], [n_p + round(prior * n_u), n_u - round(prior * n_u)])
    else:
        n = n_p + n_u
        truth = np.repeat([True, False], [round(prior * n), n - round(prior * n)])
    labeled = (np.arange(len(truth)) < n_p).astype(int)
    return rows(truth), labeled
