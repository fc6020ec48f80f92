"""Fits to files give the same models as fits to the same rows in memory."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import puforest
from puforest import (
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
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


@pytest.mark.parametrize("forest", [PUExtraTreesClassifier, PURandomForestClassifier])
def test_forests_with_a_limit_of_rows(tmp_path, fractions, forest):
    table = as_stored(random_table(3))
    forest = forest(0.3, n_estimators=10, max_unlabeled=100, min_samples_leaf=0.001, random_state=1)
    expected = clone(forest).fit(table.select(FEATURES), column(table, "y"))
    found = forest.fit_files(write(table, tmp_path, 2), "y", columns=FEATURES)
    assert_same(expected, found)
    assert max(fractions) < 0.4


@pytest.mark.parametrize("suffix", ["arrow", "feather", "csv"])
def test_other_formats(tmp_path, suffix):
    table = random_table(4).select(["number", "text", "noise", "flag", "y"]).combine_chunks()
    for i, part in enumerate((table.slice(0, 5_000), table.slice(5_000))):
        file = tmp_path / f"{i}.{suffix}"
        if suffix == "csv":
            csv.write_csv(part, file)
        else:
            feather.write_feather(part, file)
    if suffix == "csv":
        table = pa.concat_tables([csv.read_csv(tmp_path / f"{i}.csv") for i in range(2)])
    forest = PUForestClassifier(
        0.3, n_estimators=10, candidates=[Recipe(unlabeled_per_labeled=0.1)], random_state=0
    )
    expected = clone(forest).fit(table.drop_columns("y"), column(table, "y"))
    assert_same(expected, forest.fit_files(f"{tmp_path}/*.{suffix}", "y"))


def test_repeats_a_fit_that_misses_rows(tmp_path, monkeypatch, fractions):
    """With a limit that is too low, the first attempt notices that rows are missing."""
    table = random_table(5).select(["number", "single", "y"])
    forest = PUForestClassifier(
        0.3, n_estimators=10, candidates=[Recipe(unlabeled_per_labeled=5)], random_state=0
    )
    expected = clone(forest).fit(table.drop_columns("y"), column(table, "y"))
    monkeypatch.setattr(_file_fit, "LARGEST_FOLD", -20)
    assert_same(expected, forest.fit_files(write(table, tmp_path), "y"))
    assert len(fractions) == 2
    assert fractions[0] < fractions[1]


def test_models_without_scores_of_all_rows(tmp_path):
    table = random_table(6).select(["number", "text", "y"])
    forest = PUForestClassifier(0.3, n_estimators=10, candidates="fast", random_state=0)
    forest.fit_files(write(table, tmp_path), "y")
    with pytest.raises(AttributeError, match="not available after a fit to files"):
        _ = forest.oob_decision_function_
    forest.save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert_same(forest, loaded)
    assert "out-of-bag risk" in loaded.describe()
    X = table.drop_columns("y")
    assert_array_equal(loaded.predict_proba(X), forest.predict_proba(X))
    forest.report(tmp_path / "report.html", X, column(table, "y"), held_out=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": "z"}, "label: .* has no column 'z'"),
        ({"label": "number"}, "more than 100 values"),
        ({"label": "y", "columns": ["y"]}, "'y' is the column of label"),
        ({"label": "y", "columns": ["number", "z"]}, "columns: .* has no column 'z'"),
        ({"label": "y", "columns": ["id"]}, "more than 65,535 categories: drop the column"),
        ({"label": "y", "columns": ["infinite"]}, r"infinity .* in X\['infinite'\]"),
    ],
)
def test_refuses(tmp_path, arguments, message):
    n = 70_000
    infinite = np.zeros(n)
    infinite[-5] = np.inf
    table = pa.table(
        {
            "number": np.arange(n),
            "id": [str(i) for i in range(n)],
            "infinite": infinite,
            "y": np.arange(n) % 1000 == 0,
        }
    )
    forest = PUForestClassifier(0.3, n_estimators=10, candidates="fast", random_state=0)
    with pytest.raises(ValueError, match=message):
        forest.fit_files(write(table, tmp_path), **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "max_unlabeled=None: fit_files needs a limit"),
        ({"max_unlabeled": 100, "oob_score": True}, "oob_score=True is not available"),
        ({"max_unlabeled": 100, "warm_start": True}, "warm_start=True is not available"),
        ({"max_unlabeled": 100, "prior": None}, "prior=None: fit_files estimates the prior with"),
    ],
)
def test_refuses_parameters(tmp_path, parameters, message):
    write(random_table(7, 500).select(["number", "y"]), tmp_path)
    with pytest.raises(ValueError, match=message):
        PUExtraTreesClassifier(**{"prior": 0.3} | parameters).fit_files(tmp_path, "y")


def test_refuses_files(tmp_path):
    forest = PUForestClassifier(0.3)
    with pytest.raises(FileNotFoundError, match="no such file"):
        forest.fit_files(tmp_path / "none.parquet", "y")
    with pytest.raises(FileNotFoundError, match="has no files with the extensions"):
        forest.fit_files(tmp_path, "y")
    write(random_table(8, 100).select(["number", "y"]), tmp_path)
    pq.write_table(random_table(8, 100).select(["y"]), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'number'"):
        forest.fit_files(tmp_path, "y")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"b\.parquet"):
        forest.fit_files(tmp_path, "y")
