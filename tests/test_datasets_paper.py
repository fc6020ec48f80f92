"""The data sets of the paper: published files, and small files with the same format."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch
from small_datasets import OPTIONS, TARGETS, expect_small_files, small_files, write_files

from puforest.datasets import (
    DATASETS,
    Dataset,
    epsilon,
    load,
    load_20news,
    load_cifar10,
    load_covtype,
    load_epsilon,
    load_mnist,
    load_mushrooms,
    load_unsw_nb15,
    newsgroups,
    register,
    unsw_nb15,
)
from puforest.datasets._folder import data_folder as folder_of
from puforest.datasets._word_vectors import average_vectors

# Files as published


def test_real_mnist(data_folder):
    train, test = (load_mnist(subset=s, data_home=data_folder) for s in ("train", "test"))
    assert train.data.shape == (60_000, 784)
    assert test.data.shape == (10_000, 784)
    assert_array_equal(train.original_target[:10], [5, 0, 4, 1, 9, 2, 1, 3, 1, 4])
    assert_array_equal(train.target[:10], [0, 1, 1, 0, 0, 1, 0, 0, 0, 1])
    assert (train.target.sum(), test.target.sum()) == (29_492, 4_926)
    assert_array_equal(train.data[0, 5 * 28 + 12 : 5 * 28 + 16], [3, 18, 18, 18])
    assert train.feature_names[5 * 28 + 12] == "pixel_5_12"
    assert train.data.dtype == np.float32


def test_real_cifar10(data_folder):
    bunch = load_cifar10(subset="test", data_home=data_folder)
    assert bunch.data.shape == (10_000, 3072)
    assert bunch.target.sum() == 4_000
    assert_array_equal(bunch.original_target[:4], ["cat", "ship", "ship", "airplane"])
    assert_array_equal(bunch.target[:4], [0, 1, 1, 1])
    colors = [bunch.feature_names.index(f"{c}_0_0") for c in ("red", "green", "blue")]
    assert_array_equal(bunch.data[0, colors], [158, 112, 49])


def test_real_covtype(data_folder):
    bunch = load_covtype(data_home=data_folder)
    assert bunch.data.shape == (581_012, 54)
    counts = [211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510]
    assert_array_equal(np.bincount(bunch.original_target)[1:], counts)
    assert bunch.target.sum() == 283_301
    assert_array_equal(bunch.data[1, :6], [2590, 56, 2, 212, -6, 390])
    # Each patch is in one wilderness area and has one type of soil.
    assert_array_equal(bunch.data[:, 10:14].sum(axis=1), 1)
    assert_array_equal(bunch.data[:, 14:].sum(axis=1), 1)


def test_real_unsw_nb15(data_folder):
    bunch = load_unsw_nb15(data_home=data_folder)
    assert bunch.data.shape == (82_332, 39)
    assert bunch.target.sum() == 45_332
    assert np.count_nonzero(bunch.original_target == "Worms") == 44
    assert bunch.feature_names[:2] == ["dur", "spkts"]
    assert_allclose(bunch.data[0, [0, 1, 5]], [1.1e-5, 2, 90909.0902])
    train, test = (load_unsw_nb15(subset=s, data_home=data_folder) for s in ("train", "test"))
    assert (len(train.data), len(test.data)) == (65_866, 16_466)
    assert train.target.sum() + test.target.sum() == 45_332
    for text in (bunch.differs, bunch.DESCR):
        assert "82332 rows of the official testing set" in text
        assert "seed 0" in text
    with pytest.raises(FileNotFoundError, match=r"training-set.csv is not in .* Canberra"):
        load_unsw_nb15(split="official", data_home=data_folder)


def test_real_20news(data_folder):
    train, test = (load_20news(subset=s, data_home=data_folder) for s in ("train", "test"))
    assert train.data.shape == (11_314, 100)
    assert test.data.shape == (7_532, 100)
    assert round(train.target.mean(), 2) == 0.56
    assert set(train.original_target[train.target == 0]) == {
        "sci.crypt", "sci.electronics", "sci.med", "sci.space", "soc.religion.christian",
        "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc",
    }  # fmt: skip
    for text in (train.differs, train.DESCR):
        assert "100 components, the paper's have 300" in text


def test_real_epsilon(data_folder):
    bunch = load_epsilon(sample=True, data_home=data_folder)
    assert bunch.data.shape == (200, 2000)
    assert bunch.target[:100].sum() == 46
    assert_allclose(bunch.data[0, :2], [-0.0108282, -0.0196004])
    assert_allclose(np.linalg.norm(bunch.data, axis=1), 1, rtol=1e-4)
    assert "100 test rows" in bunch.differs


# Small files of the same layout


@pytest.fixture
def small(tmp_path, monkeypatch):
    write_files(tmp_path, small_files())
    expect_small_files(monkeypatch)
    return tmp_path


@pytest.mark.parametrize("name", TARGETS)
def test_small_files(small, name):
    bunch = load(name, data_home=small, **OPTIONS.get(name, {}))
    assert_array_equal(bunch.target, TARGETS[name])
    assert bunch.target.dtype == np.int64
    assert bunch.data.dtype == np.float32
    assert bunch.data.flags.c_contiguous
    assert bunch.data.shape == (len(TARGETS[name]), len(bunch.feature_names))
    assert len(set(bunch.feature_names)) == len(bunch.feature_names)
    assert len(bunch.original_target) == len(bunch.target)
    assert len(bunch.target_names) == 2
    assert bunch.differs in bunch.DESCR
    X, y = load(name, data_home=small, return_X_y=True, **OPTIONS.get(name, {}))
    assert_array_equal(X, bunch.data)
    assert_array_equal(y, bunch.target)


@pytest.mark.parametrize("name", TARGETS)
def test_all_rows_are_training_and_test_rows(small, name):
    whole, train, test = (
        load(name, subset=s, data_home=small, **OPTIONS.get(name, {}))
        for s in ("all", "train", "test")
    )
    assert len(train.target)
    assert len(test.target)
    together = np.concatenate([train.data, test.data])
    classes = np.concatenate([train.original_target, test.original_target])
    if name in ("covtype", "unsw-nb15"):  # split by puforest: all rows are in the file's order
        order = np.argsort(together[:, 0])
        together, classes = together[order], classes[order]
    assert_array_equal(together, whole.data)
    assert_array_equal(classes, whole.original_target)


def test_cells_of_small_files(small):
    X, _ = load_epsilon(subset="train", data_home=small, return_X_y=True)
    assert_allclose(X[0, [0, 1, 1999]], [0.5, 0, -2])
    assert_allclose(X[1, [6, 7]], [1e-3, 0])
    sample, _ = load_epsilon(subset="train", sample=True, data_home=small, return_X_y=True)
    assert_array_equal(sample, X)
    bunch = load_unsw_nb15(subset="train", split="official", data_home=small)
    assert_array_equal(bunch.original_target, ["Normal", "DoS", "Fuzzers"])
    dpkts = bunch.feature_names.index("dpkts")
    assert_array_equal(bunch.data[:, dpkts], np.arange(3) + unsw_nb15.COLUMNS.index("dpkts") / 8)
    assert "175340" in bunch.differs
    bunch = load_covtype(data_home=small)
    assert_array_equal(bunch.data, np.arange(6)[:, None] + np.arange(54))
    with np.load(small / "20news" / "20news_glove_4.npz") as arrays:
        assert_array_equal(
            load_20news(subset="test", dimension=4, data_home=small).data, arrays["X_test"]
        )


def test_reading_in_blocks(small, monkeypatch):
    whole = load_epsilon(subset="train", data_home=small).data
    monkeypatch.setattr(epsilon, "BLOCK", 1)
    assert_array_equal(load_epsilon(subset="train", data_home=small).data, whole)


def test_data_folder(small, tmp_path, monkeypatch):
    monkeypatch.setenv("PUFOREST_DATA", str(small))
    assert len(load_covtype().data) == 6
    with pytest.raises(FileNotFoundError, match="is not in the data folder"):
        load_covtype(data_home=tmp_path / "empty", download=False)
    monkeypatch.delenv("PUFOREST_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert folder_of().name == "puforest"
    assert folder_of("~/data").is_absolute()
    with pytest.raises(TypeError, match="data_home must be the path of a folder or None, got 3"):
        load_covtype(data_home=3)


def test_without_pooch(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("PUFOREST_DATA", raising=False)
    assert len(load_covtype(data_home=small).data) == 6
    with pytest.raises(ImportError, match=r"puforest\[datasets\].* PUFOREST_DATA"):
        load_covtype()
    (small / "covtype/covtype.data.gz").unlink()
    with pytest.raises(ImportError, match=r"puforest\[datasets\].* UCI Machine Learning"):
        load_covtype(data_home=small)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("mnist", {"subset": "valid"}, "subset must be one of"),
        ("covtype", {"subset": "valid"}, "subset must be one of"),
        ("mnist", {"return_X_y": 1}, "return_X_y must be True or False"),
        ("mnist", {"download": "no"}, "download must be True or False"),
        ("mnist", {"progress": 2}, "progress must be True or False"),
        ("unsw-nb15", {"split": "random"}, "split must be one of"),
        ("epsilon", {"sample": "yes"}, "sample must be True or False"),
        ("20news", {"dimension": 4.5}, "dimension must be an integer"),
        ("iris", {}, r"name must be one of .*'mnist'.* got 'iris'$"),
        ("MNIST", {}, r"got 'MNIST'\. Did you mean 'mnist'\?"),
        ("CIFAR10", {}, r"Did you mean 'cifar-10'\?"),
    ],
)
def test_invalid_parameters(small, name, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        load(name, data_home=small, **OPTIONS.get(name, {}) | change)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mnist", r"train-images-idx3-ubyte.gz is not in .*LeCun.*https://\S+ and save it there"),
        (
            "cifar-10",
            r"data_batch_1.bin is not in .*data_batch_1.bin from the archive .*Krizhevsky",
        ),
        ("covtype", "covtype.data.gz is not in .*UCI"),
        ("epsilon", "epsilon_normalized.bz2 is not in .*LIBSVM"),
        ("unsw-nb15", "testing-set.csv is not in .*UNSW Canberra"),
        ("20news", "20news_glove_100.npz is not in .* It is built from word vectors: .*vectors="),
    ],
)
def test_missing_files_come_with_instructions(tmp_path, name, message):
    with pytest.raises(FileNotFoundError, match=message):
        load(name, data_home=tmp_path, download=False)
    assert not list(tmp_path.iterdir())


# By name


def test_names():
    names = {"mushrooms", "20news", "covtype", "epsilon", "mnist", "cifar-10", "unsw-nb15"}
    assert names <= set(DATASETS)
    assert all(dataset.name == name for name, dataset in DATASETS.items())
    bunch = load("mushrooms", subset="test", data_home="not needed")
    assert bunch.data.shape == (1625, 112)
    assert_array_equal(bunch.target, (bunch.original_target == "e").astype(int))
    assert load_mushrooms().differs == ""


def test_split_of_data_sets_without_an_official_one():
    parts = {s: load("mushrooms", subset=s) for s in ("train", "test", "all")}
    n = {subset: np.bincount(bunch.target) for subset, bunch in parts.items()}
    assert_array_equal(n["all"], n["train"] + n["test"])
    assert_array_equal(n["test"], np.round(n["all"] / 5))


def test_register():
    def loader(n=20):
        return Bunch(data=np.arange(n)[:, None], target=np.arange(n) % 2)

    mine = Dataset("mine", loader)
    register(mine)
    register(mine)
    assert DATASETS["mine"] is mine
    X, y = load("mine", subset="test", n=10, return_X_y=True)
    assert X.shape == (2, 1)
    assert_array_equal(y, X[:, 0] % 2)
    with pytest.raises(ValueError, match="the name 'mine' is taken"):
        register(Dataset("mine", load_breast_cancer))
    with pytest.raises(TypeError, match="dataset must be a puforest"):
        register(loader)


# Word vectors

VECTORS = "the 1 1 1\nspace 0 2 0\nmotor 4 0 0\n"


def test_average_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    means = average_vectors(["The motor, the MOTOR; unknown", "unknown", "space"], path)
    assert means.dtype == np.float32
    assert_allclose(means, [[2.5, 0.5, 0.5], [0, 0, 0], [0, 2, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no lines"),
        ("the 1 1\nspace 0\n", "line 2 has 1 values instead of 2"),
        ("the\n", "line 1 has 0 values"),
        ("the 1 x\n", "could not convert"),
        ("the 1 nan\n", "not finite"),
        ("the 1 2\nthe 1 2\n", "a repeated word"),
    ],
)
def test_damaged_word_vectors(tmp_path, text, message):
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"vectors\.txt is damaged.*{message}"):
        average_vectors(["the space"], path)


def test_20news_is_built_from_word_vectors(tmp_path, monkeypatch):
    articles = {"train": ["the motor", "space", "the the"], "test": ["space", "motor"]}

    def fetch(subset, data_home, shuffle, download_if_missing):
        assert download_if_missing
        assert data_home == tmp_path / "20news"
        target = np.arange(len(articles[subset])) % 2
        return Bunch(data=articles[subset], target=target, target_names=["rec.autos", "sci.space"])

    monkeypatch.setattr(newsgroups, "fetch_20newsgroups", fetch)
    monkeypatch.setattr(newsgroups, "ROWS", {"train": 3, "test": 2})
    (tmp_path / "vectors.txt").write_text(VECTORS)
    options = {"vectors": tmp_path / "vectors.txt", "data_home": tmp_path}
    with pytest.raises(ValueError, match="has vectors of dimension 3, but dimension=100"):
        load_20news(**options)
    load_20news(dimension=3, **options)
    built = tmp_path / "20news" / "20news_glove_3.npz"
    assert list(built.parent.iterdir()) == [built]
    bunch = load_20news(dimension=3, data_home=tmp_path)
    assert_allclose(bunch.data, [[2.5, 0.5, 0.5], [0, 2, 0], [1, 1, 1], [0, 2, 0], [4, 0, 0]])
    assert_array_equal(bunch.target, [1, 0, 1, 1, 0])
