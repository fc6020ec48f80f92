"""Data that many tests use."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from report_data import QUICK, data_of
from table_files import FAST

from puforest import PUExtraTreesClassifier
from puforest.datasets import load_mushrooms, make_pu
from puforest.report import write_report

# The same examples in every run, so that a failure belongs to the change that it comes with.
# "pytest --hypothesis-profile=random" looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def mushrooms():
    """Mushroom data: training part as PU data, and the truth about a test part."""
    X, y = load_mushrooms(return_X_y=True)
    test = np.random.default_rng(0).permutation(len(X)) < len(X) // 5
    X_pu, labeled = make_pu(X[~test], y[~test], n_labeled=1000, random_state=0)
    return X_pu, labeled, X[test], y[test], y.mean()


@pytest.fixture(scope="session")
def blobs():
    """Two overlapping clouds as PU data of a single training set: X, labeled, truth."""
    rng = np.random.default_rng(7)
    y = rng.random(600) < 0.4
    X = rng.normal(size=(600, 6)) + 1.2 * y[:, None] * (np.arange(6) < 3)
    labeled = (y & (rng.random(600) < 0.5)).astype(int)
    return X, labeled, y.astype(int)


@pytest.fixture
def forest(blobs):
    """A small forest fitted to `blobs`."""
    X, labeled, _ = blobs
    model = PUExtraTreesClassifier(
        0.4,
        scenario="single-training-set",
        n_estimators=30,
        min_samples_leaf=5,
        voting="soft",
        random_state=0,
    )
    return model.fit(X, labeled)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of the real data sets, or a skip that says how to get one."""
    folder = os.environ.get("PUFOREST_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set PUFOREST_DATA to a folder with the real data sets")
    return Path(folder)


@pytest.fixture
def toy():
    """Small data for the experiments, which are easy to learn."""
    from experiments.data import Split

    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.5).astype(int)
    X = rng.normal(size=(300, 4)).astype(np.float32) + 2 * y[:, None]
    return Split(X[:200], y[:200], X[200:], y[200:], list("abcd"), differs="a toy")


@pytest.fixture
def refused(capsys, tmp_path):
    """Fit to a table that cannot be learned from on the command line; returns the error."""
    from puforest.cli._app import run

    def call(path, *more):
        assert run(["fit", str(path), "-o", str(tmp_path / "m.puf"), *FAST, *more]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: ")
        assert said.count("\n") == 1
        return said

    return call


class Result(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    """Run a command line and return its `Result`."""
    from puforest.cli._app import run

    def call(*arguments):
        code = run([str(a) for a in arguments])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def cli_folder(tmp_path_factory, blobs):
    """A table as CSV and Parquet, and a model fitted to it."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from puforest.cli._app import run

    X, labeled, truth = blobs
    where = tmp_path_factory.mktemp("cli")
    columns = {"id": [f"{i:04}" for i in range(len(X))], "known": labeled, "truth": truth}
    columns |= {f"feature {i}": X[:, i] for i in range(X.shape[1])}
    table = pa.table(columns)
    pyarrow.csv.write_csv(table, where / "rows.csv")
    pyarrow.parquet.write_table(table, where / "rows.parquet", row_group_size=50)
    fit = ["fit", where / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id"]
    fit += ["--prior", "0.4", "--scenario", "single-training-set", "-o", where / "model.puf"]
    fit += ["--model", "paper", "--no-quality", "--trees", "5", "--threads", "1"]
    assert run([str(a) for a in fit]) == 0
    return where


@pytest.fixture
def written(tmp_path):
    """Write a report and return its data."""

    def write(model, *args, **options):
        file = write_report(model, tmp_path / "r.html", *args, overwrite=True, **QUICK | options)
        return data_of(file)

    return write
