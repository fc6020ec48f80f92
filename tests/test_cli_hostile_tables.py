"""Tables that are damaged, absurd or huge: a right answer, or one line that names the file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from table_files import FAST, X, Y, archive, declared, opened, read, stored

from puforest.cli._app import run
from puforest.cli.tables import _text as text_module
from puforest.cli.tables._labels import label_rule

# Text


def rows(n=20):
    return "".join(f"{i},{i % 3},{i % 2}\n" for i in range(n))


def test_rows_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "BLOCK", 2**8)
    monkeypatch.setattr(text_module, "CELL", 1)
    path = tmp_path / "t.csv"
    words = "".join(f"{i},{'pqr'[i % 3]},{i % 2}\n" for i in range(200))
    path.write_text("a,t,y\n" + words + f"7,{'x' * 1000},1\n" + words)
    features = read(path, "y").features
    assert features.X["a"].to_pylist() == [*range(200), 7, *range(200)]
    assert features.kinds == {"t": "category"}
    # Names as well.
    path.write_text(f"{'a' * 1000},y\n" + "".join(f"{i},{i % 2}\n" for i in range(200)))
    assert read(path, "y").features.names == ["a" * 1000]
    assert sum(len(part.numbers.X) for part in opened(path).batches(["y"], [], 7)) == 200


def test_rows_that_are_too_long(tmp_path, monkeypatch, refused):
    monkeypatch.setattr(text_module, "BLOCK", 2**8)
    monkeypatch.setattr(text_module, "LARGEST_BLOCK", 2**9)
    path = tmp_path / "t.csv"
    path.write_text("a,t,y\n" + rows() + f"7,{'x' * 5000},1\n" + rows())
    said = refused(path, "--label", "y")
    assert "t.csv has a row of more than" in said
    assert "is a quotation mark not closed?" in said


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (
            "a,y,t\n" + rows() + '1,1,"oops\n' + rows(),
            "not closed in the column t, so that the",
        ),
        ("a,b,y\n" + rows() + '1,"oops,1\n' + rows(), "2 values, but the rows before it have 3"),
        (f"a,{'b' * 200_000},y\n" + rows(), "a column name of more than 131,072 characters"),
        ("a,b,y", "no rows"),
        ("\n" * 70_000, "is empty"),
        ("a,b,y\r\n\r\n", "no rows"),
    ],
)
def test_text_that_is_refused(tmp_path, refused, content, hint):
    (tmp_path / "t.csv").write_text(content)
    assert hint in refused(tmp_path / "t.csv", "--label", "y")


@pytest.mark.parametrize(
    ("content", "names", "n_rows"),
    [
        (b'\xef\xbb\xbf"a",b,y\n' + rows().encode(), ["a", "b"], 20),
        (b"\n\na,b,y\n\n" + rows().replace("\n", "\n\n").encode(), ["a", "b"], 20),
        (b'a,"b\nc",y\n' + rows().encode(), ["a", "b\nc"], 20),
        (b"a,b,y\r" + rows().replace("\n", "\r").encode(), ["a", "b"], 20),
        (b"a,b,y\r\n" + rows().replace("\n", "\r\n", 9).encode(), ["a", "b"], 20),
        (b"a,b,y,t\n" + rows().replace("\n", ",x\n").encode() + b'1,1,1,"p\nq"\n', [*"abt"], 21),
        (b"a,b,y\n" + rows().rstrip("\n").encode(), ["a", "b"], 20),
    ],
    ids=["mark", "empty", "names", "mac", "mixed", "quoted", "end"],
)
def test_odd_text(tmp_path, content, names, n_rows):
    (tmp_path / "t.csv").write_bytes(content)
    table = read(tmp_path / "t.csv", "y")
    assert table.features.names == names
    assert len(table.features.X) == len(table.labeled) == n_rows


@pytest.mark.parametrize("codec", ["zip", "rot13", "base64", "hex", "bz2", "klingon", ""])
def test_encodings_that_are_not_for_text(tmp_path, refused, codec):
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows())
    said = refused(tmp_path / "t.csv", "--label", "y", "--encoding", codec)
    assert "--encoding" in said
    assert "try utf-8" in said


def test_encodings_that_are_wrong_later(tmp_path, refused):
    start = ("a,t,y\n" + "".join(f"{i},x,{i % 2}\n" for i in range(20_000))).encode()
    (tmp_path / "t.csv").write_bytes(start + "1,größe,1\n".encode("latin-1"))
    said = refused(tmp_path / "t.csv", "--label", "y")
    assert "t.csv is not utf-8 text: set --encoding" in said
    (tmp_path / "t.csv").write_bytes(start + "1,größe,1\n".encode())
    said = refused(tmp_path / "t.csv", "--label", "y", "--encoding", "ascii")
    assert "t.csv is not ascii text" in said
    (tmp_path / "t.csv").write_bytes("\n\n".encode("utf-16"))
    assert "is empty" in refused(tmp_path / "t.csv", "--label", "y", "--encoding", "utf-16")


@pytest.mark.parametrize("decimal", ["ab", "", "5", "e", "-", '"', " "])
def test_decimal_points_that_cannot_be(tmp_path, refused, decimal):
    (tmp_path / "t.csv").write_text("a;b;y\n1;2;1\n")
    said = refused(tmp_path / "t.csv", "--label", "y", "--decimal", decimal)
    assert f"--decimal {decimal!r} must be one character" in said


def test_delimiters_that_cannot_be(tmp_path, refused):
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows())
    for delimiter in ('"', "\n", "ab", "é"):
        said = refused(tmp_path / "t.csv", "--label", "y", "--delimiter", delimiter)
        assert f"--delimiter {delimiter!r} must be one character" in said
    said = refused(tmp_path / "t.csv", "--label", "y", "--decimal", ",")
    assert "',' cannot be both the delimiter and the decimal point" in said


# Labels


@pytest.mark.parametrize("word", ["negative", "neg", "u", "U", "unlab", "unlabeled?", "-5", "0.0"])
def test_words_for_negatives_are_no_labels(tmp_path, refused, word):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{word * (i % 2)}\n" for i in range(9)))
    said = refused(tmp_path / "t.csv", "--label", "y")
    assert "t.csv: the column y" in said
    assert "--positive VALUE" in said
    # Unless it is said that they are.
    column = pa.chunked_array([["", word]])
    assert label_rule("y", column, word).apply(column).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "option"),
    [
        (["positive", "negative"], "--positive positive"),
        (["1", "0", "-1"], "--positive 1"),
        (["0", "2", "3", "3"], "--positive 2"),
        (["good one", "bad one", "bad one"], "--positive 'good one'"),
        (["$HOME", "a", "a"], "--positive '$HOME'"),
        (["\x1b[31m", "a", "a"], "--positive a"),
        (["U", "P", "P"], "--positive P"),
        (["<=50K", "<=50K", ">50K"], "--positive '>50K'"),
        ([f"{i}.5" for i in range(30)], "--positive VALUE, or choose another column with --label"),
        (["x" * 1000, "unknown"], "--positive VALUE"),
    ],
)
def test_suggested_labels(values, option):
    with pytest.raises(ValueError, match="specify which one") as error:
        label_rule("y", pa.chunked_array([values]), None)
    assert str(error.value).endswith(option) or f"{option}, " in str(error.value)
    assert len(str(error.value)) < 250


@pytest.mark.parametrize(
    ("labels", "hint"),
    [
        (pa.array([[1]] * 20), "the column y has the type list<"),
        (pa.array([{"p": 1}] * 20), "the column y has the type struct<"),
        (pa.array(Y).cast(pa.timestamp("ns")), "the column y has the type timestamp"),
        (pa.array([b"\xff", b"1"] * 10), "bytes that are not UTF-8 text"),
    ],
    ids=["list", "struct", "time", "bytes"],
)
def test_types_that_are_no_labels(tmp_path, refused, labels, hint):
    pyarrow.parquet.write_table(pa.table({"a": X[:, 0], "y": labels}), tmp_path / "t.parquet")
    said = refused(tmp_path / "t.parquet", "--label", "y")
    assert "t.parquet: the column y" in said
    assert hint in said


# NPZ


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i2", "?", "<f2", "<u8"])
def test_arrays_of_other_types(tmp_path, dtype):
    for order in "CF":
        np.savez(tmp_path / "t.npz", X=np.asarray(X.astype(dtype), order=order), y=Y.astype(">i4"))
        table = read(tmp_path / "t.npz")
        np.testing.assert_array_equal(table.features.X, X.astype(dtype))
        assert table.labeled.tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("arrays", "hint"),
    [
        ({"X": X.astype(complex)}, "X must hold real numbers, but its type is complex128"),
        ({"X": X.astype(np.longdouble)}, "X=X.astype(float)"),
        ({"X": X.astype("V8")}, "its type is |V8"),
        ({"X": X.astype("datetime64[s]")}, "its type is datetime64[s]"),
        ({"X": X[:, 0]}, "X must be a 2D array, got the shape (20,)"),
        ({"X": np.float64(1)}, "got the shape ()"),
        ({"X": X[:, :, None]}, "got the shape (20, 3, 1)"),
        ({"X": X, "y": Y[1:]}, "y has the shape (19,), but X has 20 rows"),
        ({"X": X, "y": Y[:, None]}, "y has the shape (20, 1)"),
        ({"X": X, "y": Y.astype(complex)}, "y must hold"),
        ({"X": X, "y": Y, "feature_names": np.array(["a", "b", 1], object)}, "astype(str)"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, refused, arrays, hint):
    np.savez(tmp_path / "t.npz", **arrays)
    said = refused(tmp_path / "t.npz")
    assert said.startswith(f"error: {tmp_path / 't.npz'}")
    assert hint in said


@pytest.mark.parametrize(
    "damaged",
    [
        declared((-5, 3)),
        declared((20, -3)),
        declared((-20, -3), X.tobytes()),
        declared((10**12, 10**12)),
        declared((0, 10**30)),
        stored(X) + b"12345678",
        stored(X)[:-8],
        declared("(" * 3000),
        declared("(20, 3"),
        declared((20, 3), X.tobytes(), "nonsense"),
        b"\x93NUMPY\x09\x00" + stored(X)[8:],
        b"junk",
        b"",
    ],
    ids=range(13),
)
def test_damaged_arrays(tmp_path, capsys, refused, damaged):
    path = archive(tmp_path / "t.npz", X=damaged, y=stored(Y))
    assert str(path) in refused(path)
    # Nor are there 0 rows to score.
    np.savez(tmp_path / "whole.npz", X=X, y=Y)
    model = str(tmp_path / "m.puf")
    assert run(["fit", str(tmp_path / "whole.npz"), "-o", model, *FAST]) == 0
    assert run(["predict", model, str(path), "-o", str(tmp_path / "s.csv")]) == 1
    assert str(path) in capsys.readouterr().err


def test_damaged_archives(tmp_path, refused):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    whole = (tmp_path / "t.npz").read_bytes()
    path = tmp_path / "damaged.npz"
    for content in (whole[:-1], whole[: len(whole) // 2], b"", b"PK\x03\x04"):
        path.write_bytes(content)
        assert f"{path} is truncated or damaged" in refused(path)
    # Encrypted, packed in an unknown way, of a version to come.
    entry = whole.index(b"PK\x01\x02")
    for place, value in ((8, 1), (10, 99), (6, 250)):
        changed = bytearray(whole)
        changed[entry + place] = changed[place - 2] = value
        path.write_bytes(changed)
        assert f"{path}: " in refused(path)
    assert "y is not an array" in refused(archive(path, X=stored(X), y=b"no"))
    np.save(tmp_path / "t.npy", X)
    assert "numpy.savez" in refused(tmp_path / "t.npy")


def test_other_arrays_are_named(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y, weights=Y)
    assert opened(tmp_path / "t.npz").kind == "NPZ; arrays not used: weights"


# Arrow


def test_damaged_arrow_files(tmp_path, refused):
    columns = {"name": X[:, 0], "text": [f"t{i}" for i in range(20)], "y": Y}
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    whole = sink.getvalue().to_pybytes()
    path = tmp_path / "damaged.arrow"
    path.write_bytes(whole.replace(b"name", b"na\xff\xff"))
    assert f"{path} is truncated or damaged: 'utf-8' codec" in refused(path, "--label", "y")
    # Offsets of text that point to where no text is, which pyarrow follows.
    offsets = np.arange(3, dtype=np.int32) * 2
    assert offsets.tobytes() in whole
    path.write_bytes(whole.replace(offsets.tobytes(), np.int32([0, 2**30, 4]).tobytes()))
    assert f"{path}: " in refused(path, "--label", "y")
    path.write_bytes(b"FEA1" + whole)
    assert "version 1" in refused(path, "--label", "y")


# LIBSVM


@pytest.mark.parametrize(
    "line",
    [
        "1 2147483648:1", "1 99999999999999999999999:1", "1 -1:2", "1 3:1 2:1", "1 1:1 1:2",
        "1,2 1:1", "1 a:1", "1 1:", "label", "\x00\x01",
    ],
)  # fmt: skip
def test_lines_that_are_not_libsvm(tmp_path, refused, line):
    good = "".join(f"{i % 2} 1:{i} 2:1\n" for i in range(50))
    (tmp_path / "t.svm").write_text(good + line + "\n" + good)
    assert "t.svm, line 51 does not have the form" in refused(tmp_path / "t.svm")


def test_libsvm_with_what_else_there_may_be(tmp_path):
    lines = "".join(f"{i % 2} qid:{i} 1:{i} 3:1 # row {i}\n\n" for i in range(20))
    (tmp_path / "t.svm").write_text("# a comment\n\n" + lines)
    found = read(tmp_path / "t.svm").features.X.values
    np.testing.assert_array_equal(found.toarray(), [[i, 0, 1] for i in range(20)])


def test_libsvm_does_not_stand_for_names(tmp_path, capsys):
    """Features are 0 where a line is silent, but only if they may be in such a file at all."""
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows())
    (tmp_path / "t.svm").write_text("".join(f"{i % 2} 1:{i}\n" for i in range(20)))
    model = str(tmp_path / "m.puf")
    assert run(["fit", str(tmp_path / "t.csv"), "--label", "y", "-o", model, *FAST]) == 0
    predict = ["predict", model, str(tmp_path / "t.svm"), "-o", str(tmp_path / "s.csv")]
    assert run(predict) == 1
    assert "lacks 2 of the 2 columns" in capsys.readouterr().err
