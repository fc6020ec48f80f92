"""Fits to files give the same models as fits to the same rows in memory."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from puforest import (
    PUForestClassifier,
    Recipe,
    _candidates,
    _file_fit,
    _needed_rows,
)

N = 12_000


def random_table(seed, n=N):
    """A table with all kinds of columns, rare categories, and missing values."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    labeled = positive & (rng.random(n) < 0.05)
    shift = positive.astype(float)

    def gaps(fraction):
        return rng.random(n) < fraction

    words = np.array([f"word {i}" for i in range(40)], object)
    text = words[np.minimum(rng.geometric(0.2, n) - 1 + 3 * positive, 39)]
    day = (rng.integers(0, 1000, n) + 100 * positive).astype("M8[D]")
    return pa.table(
        {
            "number": pa.array(rng.normal(shift), mask=gaps(0.1)),
            "single": pa.array(rng.normal(shift).astype(np.float32)),
            "small": pa.array(rng.integers(0, 9, n).astype(np.int8), mask=np.arange(n) == n - 7),
            "text": pa.array(text, mask=gaps(0.05)),
            "codes": pa.array(rng.integers(0, 30, n)).dictionary_encode(),
            "category": pa.array(words[rng.integers(0, 6, n)]).dictionary_encode(),
            "flag": pa.array(rng.random(n) < 0.4 + 0.3 * shift, mask=np.arange(n) == n - 2),
            "day": pa.array(day, mask=gaps(0.02)),
            "wait": pa.array(rng.integers(0, 10**6, n).astype("m8[s]")),
            "nothing": pa.nulls(n),
            "noise": pa.array(rng.integers(0, 4, n)),
            "y": pa.array(labeled.astype(np.int8)),
            "weight": pa.array(np.round(rng.random(n), 2)),
            "e": pa.array(rng.uniform(0.1, 0.3, n)),
        }
    )


FEATURES = [name for name in random_table(0, 20).column_names if name not in ("y", "weight", "e")]


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let fits need only a part of small tables."""
    for module in (_candidates, _needed_rows):
        monkeypatch.setattr(module, "N_SAMPLES", 10)
        monkeypatch.setattr(module, "MAX_EVALUATED", 400)
    monkeypatch.setattr(_candidates, "MAX_COMPARED", 300)


@pytest.fixture
def fractions(monkeypatch):
    """Fractions of the rows that fits keep."""
    kept = []
    fit = _file_fit.needed_part

    def needed_part(batches, labels, *args):
        part = fit(batches, labels, *args)
        kept.append(part.X.num_rows / len(labels.labeled))
        return part

    monkeypatch.setattr(_file_fit, "needed_part", needed_part)
    return kept


def as_stored(table):
    """Return a table with the types that Parquet files keep."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return pq.read_table(pa.BufferReader(sink.getvalue()))


def write(table, folder, n_files=1, rows_per_group=500):
    ends = np.linspace(0, len(table), n_files + 1).astype(int)
    for i, (start, end) in enumerate(itertools.pairwise(ends)):
        part = table.slice(start, end - start)
        pq.write_table(part, folder / f"{i:03}.parquet", row_group_size=rows_per_group)
    return folder


def assert_same(a, b):
    """Compare everything that a fit learns, except for times and rows."""
    for name, array in a._forest._arrays().items():
        assert_array_equal(array, b._forest._arrays()[name], err_msg=name)
    one, other = a._record, b._record
    for name in ("schema", "masses", "n_labeled", "n_unlabeled", "seed", "calibrator"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.classes.tolist() == other.classes.tolist()
    assert str(one.prior_estimate) == str(other.prior_estimate)
    if one.curve is not None:
        for name in ("score", "positive", "population"):
            assert_array_equal(getattr(one.curve, name), getattr(other.curve, name))
        assert a.threshold_ == b.threshold_
        assert [(r.auc, r.n_trees) for r in one.comparison] == [
            (r.auc, r.n_trees) for r in other.comparison
        ]


def column(table, name):
    return None if name is None else table.column(name).to_numpy()


@pytest.mark.filterwarnings("ignore::puforest.prior.PriorEstimatedWarning")
@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
@pytest.mark.parametrize("prior", [0.3, None])
@pytest.mark.parametrize(
    ("weight", "propensity"), [(None, None), ("weight", None), ("weight", "e")]
)
def test_same_as_in_memory(tmp_path, fractions, scenario, prior, weight, propensity):
    if propensity and prior is None and scenario == "case-control":
        return  # propensities do not imply the prior
    for seed in range(2):
        table = as_stored(random_table(seed))
        forest = PUForestClassifier(
            prior,
            scenario=scenario,
            n_estimators=20,
            candidates=[
                Recipe(unlabeled_per_labeled=0.1),
                Recipe(growth="nnpu", splits="best", unlabeled_per_labeled=0.1),
            ],
            categorical_features="from_dtype" if seed else ["text", "codes", "category", "noise"],
            random_state=seed,
        )
        expected = clone(forest).fit(
            table.select(FEATURES),
            column(table, "y"),
            column(table, weight),
            propensity=column(table, propensity),
        )
        folder = tmp_path / str(seed)
        folder.mkdir()
        write(table, folder, n_files=1 + 2 * seed, rows_per_group=(170, 4_000)[seed])
        found = forest.fit_files(
            folder,
            "y",
            columns=FEATURES,
            sample_weight=weight,
            propensity=propensity,
        )
        assert_same(expected, found)
        assert max(fractions) < 0.3
