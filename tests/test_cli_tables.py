"""Tables as people have them: every format, and all that can be odd about one."""

import bz2
import gzip
import json
import lzma
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.datasets import dump_svmlight_file
from table_files import opened, read

import puforest
from puforest.cli._app import run
from puforest.cli._model_columns import match_columns
from puforest.cli._model_rows import ModelRows
from puforest.cli._scoring import scored_batches
from puforest.cli.tables._dialect import find_delimiter
from puforest.cli.tables._labels import label_rule

FAST = ("--model", "paper", "--prior", "0.4", "--trees", "3", "--threads", "1", "--no-quality")


@pytest.fixture
def fitted(capsys, tmp_path):
    """Fits to a table, and returns the exit code, the answer as JSON or the error."""

    def call(data, *more, label=("--label", "y")):
        out = tmp_path / "model.puf"
        code = run(["fit", str(data), *label, "-o", str(out), "--force", "--json", *FAST, *more])
        said = capsys.readouterr()
        if code:
            assert said.err.count("\n") == 1
            return code, said.err
        return code, json.loads(said.out)

    return call


def text(n=40, delimiter=",", end="\n"):
    lines = [delimiter.join(("a", "b", "y"))]
    lines += [delimiter.join((str(i), f"{i * 0.5}", str(i % 2))) for i in range(n)]
    return end.join(lines) + end


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comma.csv", text().encode()),
        ("semicolon.csv", text(delimiter=";").encode()),
        ("tab.tsv", text(delimiter="\t").encode()),
        ("bar.txt", text(delimiter="|").encode()),
        ("space.txt", text(delimiter=" ").encode()),
        ("windows.csv", text(end="\r\n").encode()),
        ("bom.csv", b"\xef\xbb\xbf" + text().encode()),
        ("packed.csv.gz", gzip.compress(text().encode())),
        ("packed.csv.bz2", bz2.compress(text().encode())),
        ("packed.csv.xz", lzma.compress(text().encode())),
        ("packed.csv.zst", pa.compress(text().encode(), "zstd", asbytes=True)),
        ("packed-but-not-named-so.csv", gzip.compress(text().encode())),
        ("no-suffix", text().encode()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text(fitted, capsys, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    code, answer = fitted(tmp_path / name)
    assert code == 0
    assert answer["features"] == ["a", "b"]
    assert (answer["rows"], answer["labeled"]) == (40, 20)
    # And it streams as well.
    scored = tmp_path / "scored.parquet"
    predict = ["predict", str(tmp_path / "model.puf"), str(tmp_path / name), "-o", str(scored)]
    assert run([*predict, "--keep", "a", "--keep", "y"]) == 0
    assert "warning" not in capsys.readouterr().err
    table = pyarrow.parquet.read_table(scored)
    assert table.num_rows == 40
    assert table["y"][1].as_py() == "1"


def same_table(tmp_path, name):
    """The same 60 rows in every format."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3 == 0
    path = tmp_path / name
    columns = pa.table({"y": y, **{f"x{i}": X[:, i] for i in range(3)}})
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(columns, path, row_group_size=25)
        case ".feather":
            pyarrow.feather.write_feather(columns, path, chunksize=25)
        case ".arrow":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, columns.schema) as s:
                s.write_table(columns, 25)
        case ".npz":
            order = "F" if "fortran" in name else "C"
            np.savez_compressed(path, X=np.asarray(X, order=order), y=y)
        case ".svm":
            dump_svmlight_file(X, y.astype(int), str(path), zero_based="zero" in name)
    return path


FORMATS = ["t.parquet", "t.feather", "stream.arrow", "t.npz", "fortran.npz", "t.svm", "zero.svm"]


@pytest.mark.parametrize("name", FORMATS)
def test_formats(fitted, tmp_path, name):
    path = same_table(tmp_path, name)
    label = () if path.suffix in (".npz", ".svm") else ("--label", "y")
    code, answer = fitted(path, label=label)
    assert code == 0
    assert (answer["rows"], answer["labeled"], len(answer["features"])) == (60, 20, 3)
    first = {"t.svm": "1", "zero.svm": "0"}.get(name, "x0")
    assert answer["features"][0] == first


@pytest.mark.parametrize("name", FORMATS)
def test_no_more_than_a_batch_is_held(fitted, tmp_path, name):
    path = same_table(tmp_path, name)
    fitted(path, label=() if path.suffix in (".npz", ".svm") else ("--label", "y"))
    model = puforest.load(tmp_path / "model.puf")
    source = opened(path)
    other = source.label or "y"
    rows = ModelRows(source, match_columns(model._record.schema, source, [other]))
    alive, scores, kept = [], [], []
    for scored in scored_batches(model, rows, [other], 7):
        assert len(scored.score) <= 7
        alive = [batch for batch in alive if batch() is not None]
        alive.append(weakref.ref(scored.others))
        assert len(alive) <= 2
        scores.extend(scored.score)
        kept.extend(float(value) for value in scored.others.column(0).to_pylist())
    assert len(scores) == 60
    assert kept == [float(i % 3 == 0) for i in range(60)]
    whole = next(scored_batches(model, rows, [], 1000)).score
    np.testing.assert_array_equal(scores[: len(whole)], whole)


def test_libsvm_columns_that_lines_are_silent_about(fitted, capsys, tmp_path):
    (tmp_path / "fit.svm").write_text("".join(f"{i % 2} 1:{i} 3:{i}\n" for i in range(20)))
    _, answer = fitted(tmp_path / "fit.svm", label=())
    assert answer["features"] == ["1", "2", "3"]
    (tmp_path / "new.svm").write_text("0 1:5\n0 1:15\n")
    predict = ["predict", str(tmp_path / "model.puf"), str(tmp_path / "new.svm"), "--json"]
    assert run([*predict, "-o", str(tmp_path / "s.csv")]) == 0
    assert json.loads(capsys.readouterr().out)["absent_columns"] == ["2", "3"]
    (tmp_path / "later.svm").write_text("".join(f"{i % 2} 1:{i}\n" for i in range(40)))
    report = ["report", str(tmp_path / "model.puf"), str(tmp_path / "later.svm"), "--held-out"]
    assert run([*report, "-o", str(tmp_path / "r.html"), "--threads", "1", "-q"]) == 0
    capsys.readouterr()
    (tmp_path / "bad.svm").write_text("0 1:5\nzero one\n")
    assert run([*predict[:2], str(tmp_path / "bad.svm"), "-o", str(tmp_path / "t.csv")]) == 1
    assert "bad.svm, line 2 does not have the form" in capsys.readouterr().err


def test_delimiters():
    assert find_delimiter("a;b\n1,5;2,5\n1,5;3,5\n") == ";"
    assert find_delimiter("name,b\nan example,1\nother,2\n") == ","
    assert find_delimiter('a,b\n"1;2;3",4\n') == ","
    assert find_delimiter("a\n1\n") == ","
    assert find_delimiter("a;b;c\n1;2\n") == ";"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("", "is empty"),
        ("a,b,y\n", "no rows"),
        ("a,a,y\n1,2,0\n3,4,1\n", "--drop a"),
        ("a,y\n1,1\n2,1\n", "marks all 2 rows"),
        ("a,y\n1,0\n2,0\n", "marks none of the 2 rows"),
        ("a,y\n1,\n2,\n", "marks none of the 2 rows"),
        ("a,y\n1,x\n2,z\n", "--positive x"),
        ("a,y\n1,1\n2,0\n3,-1\n", "--positive"),
        ("a,y\n1,1\ninf,0\n3,0\n", "a (1)"),
        ("a,y\n5,1\n5,0\n", "no feature columns; left out: a (constant, always 5)"),
        ("a,y\n,1\n?,0\n", "no feature columns; left out: a (empty)"),
        ("a,y\n1,1\n2,0\nx,0\n", "t.csv, line 4: the column a holds 'x', but 2 of its 3 values"),
        ("y\n1\n0\n", "besides the labels"),
        ("1,2\n3,4\n", "--no-header"),
        ("a,y\n1,0\n2,1,5\n", "t.csv, line 3: 3 values, but the rows before it have 2"),
        ('a,y\n"1\n",0\n\n2,1,5\n', "line 5: 3 values"),
        ("a,y\n1,0\n2,1,5\n", "--delimiter"),
        ("a;y\n1,5;1\n2,5;0\n", "line 2: the column a holds '1,5'. If these are numbers with a"),
        ("a\n1\n", "no such column"),
        ("\n\n\n", "is empty"),
    ],
)
def test_what_cannot_be_learned_from(fitted, tmp_path, content, hint):
    (tmp_path / "t.csv").write_text(content)
    code, error = fitted(tmp_path / "t.csv")
    assert code == 1
    assert hint in error


def test_decimal_commas_are_noticed(fitted, tmp_path, capsys):
    rows = "".join(f"{i % 7};{i},5;-{i},25;{i % 2}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("a;b;c;y\n" + rows)
    code, said = fitted(tmp_path / "t.csv")
    assert code == 1
    assert "t.csv, line 2: the column b holds '0,5'" in said
    assert "--decimal ," in said
    _, answer = fitted(tmp_path / "t.csv", "--decimal", ",")
    assert answer["features"] == ["a", "b", "c"]
    predict = ["predict", str(tmp_path / "model.puf"), str(tmp_path / "t.csv")]
    assert run([*predict, "-q", "-o", str(tmp_path / "s.csv")]) == 1
    said = capsys.readouterr().err
    assert "t.csv, line 2: the column b holds '0,5', which is not a number" in said
    assert "--decimal ," in said


@pytest.mark.parametrize("packed", ["t.csv", "t.csv.gz", "t.csv.xz"])
def test_text_among_numbers_is_found(fitted, tmp_path, capsys, packed):
    (tmp_path / "t.csv").write_text(text())
    fitted(tmp_path / "t.csv")
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(packed[-3:], bytes)
    lines = text().replace("\n17,", "\noops,").encode()
    (tmp_path / packed).write_bytes(pack(lines))
    predict = ["predict", str(tmp_path / "model.puf"), str(tmp_path / packed), "-q", "-o"]
    assert run([*predict, str(tmp_path / "s.csv")]) == 1
    said = capsys.readouterr().err
    assert f"{packed}, line 19: the column a holds 'oops', which is not a number" in said
    assert "--missing oops" in said
    assert "--drop a" in said
    report = ["report", *predict[1:3], "--label", "y", "-o", str(tmp_path / "r.html")]
    assert run(report) == 1
    assert capsys.readouterr().err == said


def test_columns_that_stand_twice_can_be_dropped(fitted, tmp_path):
    (tmp_path / "t.csv").write_text("a,a,b,y\n1,2,3,0\n3,4,5,1\n")
    code, answer = fitted(tmp_path / "t.csv", "--drop", "a")
    assert code == 0
    assert answer["features"] == ["b"]


def test_odd_but_sensible(fitted, tmp_path):
    header = ',größe,名前 "x",empty,flag,date,y\n'
    rows = [
        f"{i},{i}e-1,{i % 7},,{str(i % 3 == 0).lower()},2024-01-{1 + i % 28:02},{'1' * (i % 2)}\n"
        for i in range(60)
    ]
    (tmp_path / "t.csv").write_text(header + "".join(rows))
    code, answer = fitted(tmp_path / "t.csv")
    assert code == 0
    assert answer["features"] == ["größe", '名前 "x"', "flag", "date"]
    assert answer["kinds"] == {"flag": "boolean", "date": "datetime"}
    assert answer["left_out"] == {
        "(no name)": "without a name, probably an index",
        "empty": "empty",
    }
    assert answer["labeled"] == 30
    model = puforest.load(tmp_path / "model.puf")
    assert model.feature_names_in_.tolist() == answer["features"]


def test_ten_thousand_columns(fitted, tmp_path):
    names = [f"c{i}" for i in range(10_000)]
    lines = [",".join([*names, "y"])]
    lines += [",".join([str(row)] * 10_000 + [str(row % 2)]) for row in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, answer = fitted(tmp_path / "t.csv")
    assert code == 0
    assert len(answer["features"]) == 10_000
    predict = ["predict", str(tmp_path / "model.puf"), str(tmp_path / "t.csv"), "-q"]
    assert run([*predict, "-o", str(tmp_path / "s.csv")]) == 0
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 13


def test_text_options(fitted, tmp_path):
    rows = "".join(f"{i},5;{i % 2}\n" for i in range(20))
    (tmp_path / "t.csv").write_bytes(("größe;y\n" + rows).encode("latin-1"))
    assert "--encoding" in fitted(tmp_path / "t.csv")[1]
    _, answer = fitted(tmp_path / "t.csv", "--encoding", "latin-1", "--decimal", ",")
    assert answer["features"] == ["größe"]
    (tmp_path / "u.csv").write_text("".join(f"{i}#{i % 2}\n" for i in range(20)))
    label = ("--label", "f1")
    more = ("--no-header", "--delimiter", "#")
    assert fitted(tmp_path / "u.csv", *more, label=label)[1]["features"] == ["f0"]
    path = same_table(tmp_path, "t.parquet")
    assert "--delimiter" in fitted(path, "--delimiter", ";")[1]
    assert "not a known text encoding" in fitted(tmp_path / "t.csv", "--encoding", "klingon")[1]
    (tmp_path / "t.zip").write_bytes(b"PK\x03\x04")
    assert "unpack" in fitted(tmp_path / "t.zip")[1]
    (tmp_path / "t.bin").write_bytes(path.read_bytes())
    assert fitted(tmp_path / "t.bin")[0] == 0
    assert fitted(tmp_path / "t.bin", "--format", "npz")[0] == 1


@pytest.mark.parametrize(
    ("values", "positive", "labeled"),
    [
        ([1, 0, 1], None, [1, 0, 1]),
        ([1.0, -1.0, None], None, [1, 0, 0]),
        ([True, False, None], None, [1, 0, 0]),
        (["yes", "No", ""], None, [1, 0, 0]),
        (["1", "", "1.0"], None, [1, 0, 1]),
        (["fraud", None, "fraud"], None, [1, 0, 1]),
        (["a", "b", "c"], "b", [0, 1, 0]),
        ([3, 2, 1], "3.0", [1, 0, 0]),
        (pa.array(["y", "n", "y"]).dictionary_encode(), None, [1, 0, 1]),
    ],
    ids=str,
)
def test_labels(values, positive, labeled):
    column = pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values)])
    rule = label_rule("y", column, positive)
    assert rule.apply(column).tolist() == labeled


def test_labels_that_are_not_guessed():
    with pytest.raises(ValueError, match="has no such value; it has a, b"):
        label_rule("y", pa.chunked_array([["a", "b"]]), "c")
    with pytest.raises(ValueError, match="12 more"):
        label_rule("y", pa.chunked_array([[str(i) for i in range(17)]]), None)


def test_predict_says_which_cells_are_wrong(capsys, fitted, tmp_path):
    (tmp_path / "t.csv").write_text(text())
    fitted(tmp_path / "t.csv")
    (tmp_path / "new.csv").write_text("b,a\n1,2\n3,inf\n5,6\n")
    out = tmp_path / "s.csv"
    predict = ["predict", str(tmp_path / "model.puf")]
    assert run([*predict, str(tmp_path / "new.csv"), "-o", str(out), "--batch-rows", "1"]) == 1
    said = capsys.readouterr().err
    assert "rows 2 to 2: infinite values in a (1)" in said
    assert "--missing inf" in said
    (tmp_path / "new.csv").write_text("b,a\n1,2\n3,oops\n")
    assert run([*predict, str(tmp_path / "new.csv"), "-o", str(out)]) == 1
    assert "line 3: the column a holds 'oops', which is not a number" in capsys.readouterr().err
    assert not out.exists()
    # No rows are scored as none.
    (tmp_path / "new.csv").write_text("b,a\n")
    assert run([*predict, str(tmp_path / "new.csv"), "-o", str(out)]) == 0
    assert out.read_text().strip() == '"score","predicted"'


def test_models_of_arrays_take_columns_in_their_order(capsys, tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    forest = puforest.PUExtraTreesClassifier(prior=0.5, n_estimators=3, random_state=0)
    forest.fit(X, np.arange(20) % 2).save(tmp_path / "model.puf")
    np.savez(tmp_path / "new.npz", X=X, feature_names=np.array(["p", "q"]))
    out = tmp_path / "s.parquet"
    predict = ["predict", str(tmp_path / "model.puf")]
    assert run([*predict, str(tmp_path / "new.npz"), "-o", str(out)]) == 0
    scores = pyarrow.parquet.read_table(out)["score"].to_numpy()
    np.testing.assert_array_equal(scores, forest.predict_proba(X)[:, 1])
    assert run([*predict, str(tmp_path / "new.npz"), "-o", str(out), "--force", "--keep-all"]) == 0
    assert pyarrow.parquet.read_table(out).schema.names == ["p", "q", "score", "predicted"]
    np.savez(tmp_path / "more.npz", X=np.zeros((2, 3)))
    assert run([*predict, str(tmp_path / "more.npz"), "-o", str(out), "--force"]) == 1
    assert "2 columns without names" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["t.csv.xz", "t.csv.gz", "t.csv.bz2", "t.svm.gz", "t.svm.bz2", "t.npz"]
)
def test_packed_files_that_are_cut_or_damaged(fitted, tmp_path, name):
    file = tmp_path / name
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)).round(4), np.arange(200) % 2
    if name == "t.npz":
        np.savez(file, X=X, y=y)
    else:
        plain = tmp_path / "plain"
        if ".svm" in name:
            dump_svmlight_file(X, y, str(plain))
        else:
            np.savetxt(plain, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
        pack = {".xz": lzma, ".gz": gzip, ".bz2": bz2}[file.suffix]
        file.write_bytes(pack.compress(plain.read_bytes()))
    label = ("--label", "y") if ".csv" in name else ()
    assert fitted(file, label=label)[0] == 0
    whole = file.read_bytes()
    middle = len(whole) // 2
    changed = bytes([whole[middle] ^ 255])
    for content in (whole[:middle], whole[:middle] + changed + whole[middle + 1 :]):
        file.write_bytes(content)
        code, said = fitted(file, label=label)
        assert code == 1
        assert f"error: {file} is truncated or damaged: " in said


def test_single_precision_stays(fitted, tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": np.arange(9, dtype=np.float32) / 3, "y": [1, 0, 0] * 3})
    pyarrow.parquet.write_table(table, path)
    X = read(path, "y").features.X.values
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X[:, 0], table["a"])


@pytest.mark.parametrize("name", ["large.parquet", "large.feather"])
def test_little_of_a_large_file_is_in_memory(fitted, tmp_path, name):
    rng = np.random.default_rng(0)
    n = 200_000
    columns = {f"x{i}": rng.normal(size=n) for i in range(10)} | {"y": np.arange(n) % 2}
    table = pa.table(columns | {"town": rng.choice(["Bern", "Basel", "?"], n)})
    path = tmp_path / name
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=n // 20, compression="none")
    else:
        pyarrow.feather.write_feather(table, path, chunksize=n // 20, compression="uncompressed")
    pyarrow.parquet.write_table(table[:200], tmp_path / "few.parquet")
    fitted(tmp_path / "few.parquet")
    model = puforest.load(tmp_path / "model.puf")
    source = opened(path)
    rows = ModelRows(source, match_columns(model._record.schema, source, []))
    del table
    before, most, n_rows = pa.total_allocated_bytes(), 0, 0
    for scored in scored_batches(model, rows, [], 1000):
        most = max(most, pa.total_allocated_bytes() - before)
        n_rows += len(scored.score)
    assert n_rows == n
    assert most < path.stat().st_size / 5
