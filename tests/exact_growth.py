"""Exact growth on partitions, for the parameters of an estimator."""

import pickle

import numpy as np

from puforest._monotone import monotone_features
from puforest._row_weights import growth
from puforest._schema import FeatureSchema
from puforest._training import draw_seed, set_masses, train_params
from puforest._training_rows import training_rows
from puforest.dask._exact import grow_exact
from puforest.dask._exact_tasks import Part


class InlineTasks:
    """Runs tasks at once, on copies of their arguments: nothing can be shared or changed."""

    def submit(self, name, function, *args):
        return Done(pickle.loads(pickle.dumps(function(*map(copy_of, args)))))

    def results(self, futures):
        return [future.value for future in futures]

    def release(self, futures):
        for future in futures:
            del future.value  # must not be used again

    def threads(self):
        return {"a": 1, "b": 1}


class Done:
    """A future that is done."""

    def __init__(self, value):
        self.value = value


def copy_of(argument):
    if isinstance(argument, list):
        return [copy_of(item) for item in argument]
    return pickle.loads(pickle.dumps(argument.value if isinstance(argument, Done) else argument))


def parts_and_params(model, X, y, part):
    """Return the partitions of a table, given that of each row, and the parameters of the core."""
    schema, table, y = FeatureSchema.of_training_data(
        X, y, estimator="model", categorical_features=model.categorical_features
    )
    rows = training_rows(y, None, None, risk=model.risk)
    params = train_params(model._parameters(), thresholds=model._thresholds, rows=rows, table=table)
    constraints = monotone_features(model.monotonic_cst, schema)
    params.increasing_features, params.decreasing_features = constraints
    set_masses(params, growth(rows, model._masses(rows, model.prior))[1])
    params.seed = draw_seed(model.random_state)
    labeled = np.zeros(len(table), dtype=bool)
    labeled[rows.order[: rows.n_labeled]] = True
    n_parts = int(part.max()) + 1
    return [Part(table[part == k], labeled[part == k]) for k in range(n_parts)], params


def exact_forest(model, X, y, part, cluster=None, **options):
    """Grow the forest of a model on the partitions."""
    cluster = InlineTasks() if cluster is None else cluster
    parts, params = parts_and_params(model, X, y, part)
    futures = [cluster.submit("part", copy_of, p) for p in parts]
    return grow_exact(cluster, futures, params, **options)


def assert_same(a, b):
    """Assert that two forests are equal bit for bit."""
    x, y = a.__getstate__(), b.__getstate__()
    assert x.keys() == y.keys()
    for name, value in x.items():
        if not isinstance(value, np.ndarray):
            assert value == y[name], name
            continue
        assert value.dtype == y[name].dtype, name
        assert value.tobytes() == y[name].tobytes(), name
