"""Tables of many columns: what is done for each is little, and what cannot fit is refused first."""

import json
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from table_files import FAST, X, Y, archive, declared

from puforest.cli._app import run
from puforest.cli.tables import _pu_table as memory_module
from puforest.cli.tables._names import Names, Numbered
from puforest.io._trees import MOST_FEATURES


def test_sparse_files_of_many_columns(tmp_path, capsys):
    """A few bytes must not take long: 134 s and 1 GB for these columns before."""
    path, model = tmp_path / "t.svm", str(tmp_path / "m.puf")
    path.write_text("1 1:1 500000:2\n0 1:2\n0 2:1\n1 3:1\n")
    started = time.process_time()
    assert run(["fit", str(path), "-o", model, *FAST]) == 0
    assert run(["predict", model, str(path), "-o", str(tmp_path / "s.csv"), "-q"]) == 0
    assert time.process_time() - started < 60


def test_columns_that_no_line_mentions(tmp_path):
    path, scored = tmp_path / "t.svm", tmp_path / "s.csv"
    path.write_text("1 1:1 3:2\n0 1:2\n0 3:1\n1 1:1\n")
    model = str(tmp_path / "m.puf")
    chosen = ["--features", "1", "--features", "2"]
    assert run(["fit", str(path), "-o", model, *FAST, *chosen]) == 0
    assert run(["predict", model, str(path), "-o", str(scored), "-q", "--keep-all"]) == 0
    assert scored.read_text().splitlines()[0] == '"label","1","2","3","score","predicted"'


def test_wide_tables(tmp_path):
    """Work for a column must not grow with their number: 60 s for these before."""
    n = 60_000
    lines = [",".join(["y", *(f"c{i}" for i in range(n))])]
    lines += [",".join([str(row % 2), *[str(row)] * n]) for row in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    data, model = str(tmp_path / "t.csv"), str(tmp_path / "m.puf")
    started = time.process_time()
    assert run(["fit", data, "--label", "y", "-o", model, *FAST]) == 0
    assert run(["predict", model, data, "-o", str(tmp_path / "s.csv"), "-q"]) == 0
    assert time.process_time() - started < 40


def test_more_columns_than_a_model_takes(tmp_path, capsys, refused):
    path = tmp_path / "t.svm"
    path.write_text("1 1:1 50000000:2\n0 1:2\n0 2:1\n1 3:1\n")
    started = time.process_time()
    said = refused(path)
    assert f"50,000,000 columns, but a model has at most {MOST_FEATURES:,}" in said
    assert time.process_time() - started < 30
    # Columns that are chosen, and those that a model knows, are read.
    model = str(tmp_path / "m.puf")
    chosen = ["--features", "1", "--features", "50000000"]
    assert run(["fit", str(path), "-o", model, *FAST, *chosen]) == 0
    assert run(["predict", model, str(path), "-o", str(tmp_path / "s.csv"), "-q"]) == 0
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 5


def test_empty_arrays_of_many_columns(tmp_path, capsys, refused):
    """Of 236 bytes, which took 48 s and 4 GB."""
    path = archive(tmp_path / "t.npz", X=declared((0, 3 * 10**7)))
    np.savez(tmp_path / "few.npz", X=X, y=Y, feature_names=np.array(["a", "b", "c"]))
    assert run(["fit", str(tmp_path / "few.npz"), "-o", str(tmp_path / "m.puf"), *FAST]) == 0
    started = time.process_time()
    assert "no rows" in refused(path, "--label", "x7")
    predict = ["predict", str(tmp_path / "m.puf"), str(path), "-o", str(tmp_path / "s.csv")]
    assert run(predict) == 1
    assert "x9 and 29,999,990 more" in capsys.readouterr().err
    np.savez(tmp_path / "few.npz", X=X, y=Y)
    assert run(["fit", str(tmp_path / "few.npz"), "-o", str(tmp_path / "m.puf"), *FAST]) == 0
    assert run([*predict, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["rows"], answer["n_extra_columns"]) == (0, 3 * 10**7 - 3)
    assert len(answer["extra_columns"]) == 1000
    assert run([*predict, "--keep-all", "--force"]) == 1
    assert "--keep-all" in capsys.readouterr().err
    assert time.process_time() - started < 30


@pytest.mark.parametrize("name", ["t.svm", "t.parquet", "t.npz"])
def test_what_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch, refused, name):
    monkeypatch.setattr(memory_module, "available_memory", lambda: 10**6)
    path = tmp_path / name
    label = ()
    if name == "t.svm":
        path.write_text("1 1:1 200000:2\n0 1:2\n" * 1000)
    elif name == "t.npz":
        np.savez_compressed(path, X=np.zeros((10**5, 4)), y=np.arange(10**5) % 2)
    else:
        pyarrow.parquet.write_table(pa.table({"a": np.zeros(10**6), "y": np.zeros(10**6)}), path)
        label = ("--label", "y")
    said = refused(path, *label)
    assert f"{name}: " in said
    assert "GB of memory, but only 0.001 GB are available" in said
    assert "--features" in said


def test_names_of_columns():
    names = Numbered(["label"], "", range(1, 4))
    assert list(names) == names[:] == ["label", "1", "2", "3"]
    assert names[-1] == "3"
    assert [names.times(name) for name in ("label", "0", "1", "01", "4", "", "x" * 5000)] == [
        1, 0, 1, 0, 0, 0, 0,
    ]  # fmt: skip
    assert [names.place(name) for name in names] == [0, 1, 2, 3]
    twice = Names(["a", "b", "a"])
    assert (twice.times("a"), twice.times("c"), twice.place("b")) == (2, 0, 1)
    assert twice.hold(["b", "c"]).tolist() == [True, False]
