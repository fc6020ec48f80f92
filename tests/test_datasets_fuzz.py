"""Damaged files of data sets raise a ValueError that names the file."""

import bz2
import gzip
import io
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_datasets import OPTIONS, TARGETS, expect_small_files, small_files, write_files

from puforest.datasets import _read, epsilon, load

FILES = small_files()
SETS = {
    "mnist/train-images-idx3-ubyte.gz": "mnist",
    "mnist/t10k-labels-idx1-ubyte.gz": "mnist",
    "cifar-10/cifar-10-batches-bin/data_batch_2.bin": "cifar-10",
    "covtype/covtype.data.gz": "covtype",
    "unsw-nb15/UNSW_NB15_testing-set.csv": "unsw-nb15",
    "20news/20news_glove_4.npz": "20news",
    "epsilon/epsilon_normalized.bz2": "epsilon",
    "epsilon/epsilon_sample_test": "epsilon",
}
PACKED = {".gz": (gzip.compress, gzip.decompress), ".bz2": (bz2.compress, bz2.decompress)}
MIB = 2**20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        expect_small_files(patch)
        folder = tmp_path_factory.mktemp("data")
        write_files(folder, FILES)
        yield folder


def load_with(folder, path, content):
    """Load the data set with one of its files replaced."""
    name = SETS[path]
    options = {"sample": True} if "sample" in path else OPTIONS.get(name, {})
    (folder / path).write_bytes(content)
    try:
        return load(name, data_home=folder, download=False, **options)
    finally:
        (folder / path).write_bytes(FILES[path])


def assert_refused(folder, path, content, message=""):
    with pytest.raises(ValueError, match=rf"{path.rsplit('/')[-1]} is damaged.*{message}"):
        load_with(folder, path, content)


def pack(path, content):
    suffix = path[path.rindex(".") :] if "." in path else ""
    return PACKED[suffix][0](content) if suffix in PACKED else content


def unpack(path):
    suffix = path[path.rindex(".") :] if "." in path else ""
    return PACKED[suffix][1](FILES[path]) if suffix in PACKED else FILES[path]


# Chosen damage


@pytest.mark.parametrize("path", SETS)
def test_empty_files(folder, path):
    assert_refused(folder, path, b"")
    assert_refused(folder, path, pack(path, b""))


@pytest.mark.parametrize("path", SETS)
def test_truncated_files(folder, path):
    content = FILES[path]
    for end in np.linspace(1, len(content) - 3, 40).astype(int).tolist():
        assert_refused(folder, path, content[:end])


@pytest.mark.parametrize("path", sorted(SETS.keys() - {"20news/20news_glove_4.npz"}))
def test_wrong_number_of_rows(folder, path):
    content = unpack(path)
    if "idx" in path:
        size = 784 if "idx3" in path else 1
        row = content[-size:]
        n = int.from_bytes(content[4:8], "big")
        fewer = content[:4] + (n - 1).to_bytes(4, "big") + content[8:-size]
        more = content[:4] + (n + 1).to_bytes(4, "big") + content[8:] + row
    elif path.endswith(".bin"):
        fewer, more = content[:-3073], content + content[-3073:]
    else:
        *lines, last = content.splitlines(keepends=True)
        fewer, more = b"".join(lines), content + last
    assert_refused(folder, path, pack(path, fewer), r"it has \d+ rows instead of \d+")
    assert_refused(folder, path, pack(path, more), r"it has \d+ rows instead of \d+")


IMAGES, LABELS = "mnist/train-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"
COVTYPE, UNSW = "covtype/covtype.data.gz", "unsw-nb15/UNSW_NB15_testing-set.csv"
BATCH, NEWS = "cifar-10/cifar-10-batches-bin/data_batch_2.bin", "20news/20news_glove_4.npz"
EPSILON, SAMPLE = "epsilon/epsilon_normalized.bz2", "epsilon/epsilon_sample_test"


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        (IMAGES, b"\x00\x00\x08\x03", b"\x00\x00\x0d\x03", "begins with '00 00 0d 03'"),
        (IMAGES, b"\x00\x00\x08\x03", b"PK\x03\x04", "begins with"),
        (IMAGES, b"\x00\x00\x08\x03", b"\x00\x00\x08\xff", "not an array|within its header"),
        (IMAGES, b"\x00\x00\x08\x03", b"\x00\x00\x08\x00", "not an array"),
        (IMAGES, b"\x00\x00\x00\x1c\x00\x00\x00\x1c", b"\x00\x00\x00\x0e\x00\x00\x008", "28 x 28"),
        (LABELS, b"\x02\x03", b"\x02\x0a", "one digit per row"),
        (COVTYPE, b"\n1,", b"\nx,", "could not convert string 'x'"),
        (COVTYPE, b"\n1,", b"\nnan,", "line 2 has a value that is not finite"),
        (COVTYPE, b"\n1,", b"\n1e99,", "line 2 has a value that is not finite"),
        (COVTYPE, b"\n1,", b"\n", "line 2 has 54 cells instead of 55"),
        (COVTYPE, b"\n1,", b"\n\n1,", "line 2 has 1 cells"),
        (COVTYPE, b"\n1,", b"\n,1,", "line 2 has 56 cells"),
        (COVTYPE, b"\n1,", b"\n\xff,", "ascii"),
        (COVTYPE, b",5\n", b",8\n", "1 to 7"),
        (COVTYPE, b",5\n", b",5.5\n", "1 to 7"),
        (UNSW, b"attack_cat,label", b"label,attack_cat", "its header is not id,dur"),
        (UNSW, b"Worms,1", b"Worms,0", "label is not 0 where attack_cat is Normal"),
        (UNSW, b"Worms,1", b"Worms,Normal,0", "line 2 has 46 cells instead of 45"),
        (UNSW, b",tcp,", b",\x00\xff,", "utf-8"),
        (EPSILON, b"-1 1:", b"-2 1:", "classes other than 1 and -1"),
        (EPSILON, b"2000:", b"2001:", "2000"),
        (EPSILON, b" 1:0.5", b" 0:0.5", "index 0"),
        (EPSILON, b" 1:0.5", b" -7:0.5", "index -7|[Nn]egative|invalid"),
        (EPSILON, b" 1:0.5", b" 99999999999999999999:0.5", ""),
        (EPSILON, b"0.5", b"inf", "not finite"),
        (EPSILON, b"0.5", b"1e99", "not finite"),
        (SAMPLE, b"0.5", b"half", "could not convert"),
        (SAMPLE, b"1:0.5", b"1;0.5", ""),
        (SAMPLE, b"-1 1:0.5", b"-1,1 1:0.5", ""),
    ],
)
def test_specific_damage(folder, path, old, new, message):
    content = unpack(path)
    assert content.count(old) >= 1
    assert_refused(folder, path, pack(path, content.replace(old, new, 1)), message)


def test_unknown_class(folder):
    assert_refused(folder, BATCH, b"\x0a" + FILES[BATCH][1:], "it has the class 10")
    assert_refused(folder, BATCH, FILES[BATCH] + b"\x00", "its last row has 1 bytes")


# Word vectors: the header of an array may ask for anything


def with_array(name, content):
    """The .npz file with one of its arrays replaced, or removed if None."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(FILES[NEWS])) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            data = content if member == f"{name}.npy" else old.read(member)
            if data is not None:
                new.writestr(member, data)
    return out.getvalue()


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), **options)
    return out.getvalue()


def header(text):
    return b"\x93NUMPY\x01\x00" + (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"


def test_arrays_with_other_orders_and_dtypes(folder):
    X = np.arange(12.0).reshape(3, 4)
    for array in (np.asfortranarray(X), X.astype(">f8"), X.astype("f2")):
        bunch = load_with(folder, NEWS, with_array("X_train", npy(array)))
        np.testing.assert_array_equal(bunch.data[:3], X)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("X_train", None, "X_train.npy"),
        ("X_train", b"", "not an array"),
        ("X_train", npy(np.zeros((3, 5), np.float32)), "not 4 columns"),
        ("X_train", npy(np.zeros((2, 4), np.float32)), "it has 2 rows instead of 3"),
        ("X_train", npy(np.zeros((3, 4), np.float32)) + b"more", r"has 52 bytes.*shape \[3, 4\]"),
        ("X_train", npy(np.full((3, 4), np.nan)), "not finite"),
        ("X_train", npy(np.full((3, 4), 1e300)), "not finite"),
        ("X_train", npy(np.zeros((3, 4), np.int8)), "X_train is int8"),
        (
            "X_train",
            npy(np.array([[{}] * 4] * 3), allow_pickle=True),
            "not an array of numbers or strings",
        ),
        ("X_train", npy(np.zeros((3, 4)), version=(3, 0)), "not an array"),
        ("y_train", npy(np.array([0, 1, 3])), "beyond the 3 groups"),
        ("y_train", npy(np.array([0, 1, -1])), "beyond the 3 groups"),
        ("y_train", npy(np.array([0.0, 1, 2])), "y_train is float64"),
        ("y_train", npy(np.array([0, 1])), "not 3 integers"),
        ("target_names", npy(["a", "b"]), "beyond the 2 groups"),
        ("target_names", npy([1, 2, 3]), "not a list of strings"),
        ("target_names", npy(["abc"] * 3)[:-4] + b"\xff" * 4, "character"),
        (
            "X_train",
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,"),
            "not an array",
        ),
        ("X_train", header("((((" * 900), "not an array"),
        ("X_train", header("-" * 9000 + "1"), "not an array"),
        (
            "X_train",
            header("{'descr': '|V0', 'fortran_order': False, 'shape': (9,), }"),
            "not an array of numbers or strings",
        ),
        (
            "X_train",
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -4), }"),
            "not an array",
        ),
    ],
)
def test_damaged_word_vectors(folder, name, content, message):
    assert_refused(folder, NEWS, with_array(name, content), message)


# Little that asks for much memory

HUGE = (2**32 - 1).to_bytes(4, "big")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (IMAGES, gzip.compress(b"\x00\x00\x08\x03" + HUGE * 3 + b"1234")),
        (LABELS, gzip.compress(b"\x00\x00\x08\x01" + HUGE + b"1234")),
        (IMAGES, gzip.compress(b"\x00\x00\x08\x03" + bytes(64 * MIB))),
        (COVTYPE, gzip.compress(b"1" * 64 * MIB)),
        (EPSILON, bz2.compress(b"1" * 64 * MIB)),
        (EPSILON, bz2.compress(b"1\n" * 100_000)),
        (BATCH, bytes(64 * MIB)),
        (NEWS, with_array("X_train", npy(np.zeros(64 * MIB, np.uint8)))),
        (
            NEWS,
            with_array(
                "X_train",
                header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 4), }"),
            ),
        ),
        (
            NEWS,
            with_array(
                "X_train",
                header("{'descr': '<U9999', 'fortran_order': False, 'shape': (9999999,), }"),
            ),
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else f"{len(given)} bytes",
)
def test_headers_do_not_allocate_memory(folder, monkeypatch, path, content):
    monkeypatch.setattr(_read, "LIMIT", 8 * MIB)
    tracemalloc.start()
    try:
        assert_refused(folder, path, content)
        assert tracemalloc.get_traced_memory()[1] < 40 * MIB
    finally:
        tracemalloc.stop()


def test_limit_exceeds_all_published_files():
    assert _read.LIMIT > 75_169_317  # Covertype
    assert epsilon.LONGEST_LINE > 40_000  # a line of epsilon has about 30 kB


# Random damage


def mutations(content):
    """The content with some bytes changed, removed, repeated or inserted."""
    end = len(content)
    piece = st.binary(max_size=4) | st.sampled_from(
        [b"\n", b",", b":", b" ", b"-", b"e9", b"nan", b"#", b'"', b"\xff\xff\xff\xff", b"\x00"]
    )
    edit = st.tuples(st.integers(0, end), st.sampled_from([0, 0, 1, 1, 4, 99]), piece)
    return st.lists(edit, min_size=1, max_size=3).map(lambda edits: edited(content, edits))


def edited(content, edits):
    for start, length, piece in edits:
        content = content[:start] + piece + content[start + length :]
    return content


@pytest.mark.parametrize("path", SETS)
@given(data=st.data())
@settings(max_examples=100)
def test_random_damage(folder, path, data):
    if path[path.rindex("/") :].endswith((".gz", ".bz2")) and data.draw(st.booleans()):
        content = pack(path, data.draw(mutations(unpack(path))))
    elif path == NEWS and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(["X_train", "y_test", "target_names"]))
        with zipfile.ZipFile(io.BytesIO(FILES[NEWS])) as archive:
            content = with_array(name, data.draw(mutations(archive.read(f"{name}.npy"))))
    else:
        content = data.draw(mutations(FILES[path]))
    try:
        bunch = load_with(folder, path, content)
    except ValueError as error:
        if path.rsplit("/")[-1] not in str(error):
            raise
        return
    assert len(bunch.data) == len(bunch.target) == len(TARGETS[SETS[path]])
    assert bunch.data.dtype == np.float32
    assert np.isfinite(bunch.data).all()
    assert set(bunch.target.tolist()) <= {0, 1}
