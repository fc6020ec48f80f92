"""Labels and cells that need a word: missing labels, swapped labels, text in X."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from puforest import PUDecisionTreeClassifier
from puforest.metrics import pu_f1_score
from puforest.model_selection import PUStratifiedKFold
from puforest.prior import estimate_prior

NAN = float("nan")


@pytest.fixture
def rows(blobs):
    X, labeled, _ = blobs
    return X, labeled.astype(int)


def missing(labeled, value, other=NAN, dtype=object):
    return np.array([value if one else other for one in labeled], dtype=dtype)


CODINGS = {
    "floats": lambda y: missing(y, 1.0, dtype=float),
    "another number": lambda y: missing(y, 7.0, dtype=float),
    "objects": lambda y: missing(y, 1),
    "none": lambda y: missing(y, True, None),
    "text": lambda y: missing(y, "fraud", None),
    "list of text": lambda y: missing(y, "fraud").tolist(),
    "column": lambda y: missing(y, 1.0, dtype=float)[:, None],
    "zeros too": lambda y: np.where(np.arange(len(y)) % 2, missing(y, 1.0, 0.0), missing(y, 1.0)),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("coding", CODINGS)
def test_missing_labels_mean_unlabeled(coding, rows):
    X, y = rows
    model = PUDecisionTreeClassifier(0.4, max_depth=3, random_state=0)
    expected = model.fit(X, y).predict(X)
    labels = CODINGS[coding](y)
    if coding == "zeros too":
        labels = labels.astype(float)
    assert_array_equal(model.fit(X, labels).predict(X), expected)
    assert model.classes_.tolist() == [0, 1]
    splits = [PUStratifiedKFold(3, random_state=0).split(X, one) for one in (y, labels)]
    for (train, _), (same, _) in zip(*splits, strict=True):
        assert_array_equal(train, same)
    assert pu_f1_score(labels, expected, prior=0.4) > 0


def test_missing_labels_of_tables(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = rows
    model = PUDecisionTreeClassifier(0.4, max_depth=3, random_state=0)
    expected = model.fit(X, y).predict(X)
    for labels in (
        pandas.Series(missing(y, 1, pandas.NA), dtype="Int64"),
        pandas.Series(missing(y, "yes", None), dtype="string"),
        polars.Series([1 if one else None for one in y]),
    ):
        assert_array_equal(model.fit(X, labels).predict(X), expected)
        assert estimate_prior(X, labels, random_state=0).value > 0


@pytest.mark.parametrize("value", [0, -1, "unlabeled", "negative"])
def test_missing_labels_need_a_positive_value(value, rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"y has only .* pass 1 for labeled rows"):
        PUDecisionTreeClassifier(0.4).fit(X, missing(y, value, None))


def test_missing_labels_and_many_values_are_refused(rows):
    X, y = rows
    labels = missing(y, 1.0, dtype=float)
    labels[:3] = [2, 3, 4]
    with pytest.raises(ValueError, match=r"missing labels and [34] other values"):
        PUDecisionTreeClassifier(0.4).fit(X, labels)
    with pytest.raises(ValueError, match="y has only missing labels"):
        PUDecisionTreeClassifier(0.4).fit(X, np.full(len(y), NAN))


def test_supervised_learning_needs_every_class(rows):
    X, y = rows
    with pytest.raises(ValueError, match="y contains NaN or None: risk='pn'"):
        PUDecisionTreeClassifier(risk="pn").fit(X, missing(y, 1.0, dtype=float))
    with pytest.raises(ValueError, match="y contains NaN or None: risk='pn'"):
        PUDecisionTreeClassifier(risk="pn").fit(X, missing(y, "yes").tolist())


def test_labels_that_look_swapped_earn_a_warning(rows):
    X, _ = rows
    y = (np.arange(len(X)) >= 30).astype(int)
    with pytest.warns(UserWarning, match=r"y marks 570 of 600 rows as labeled .*swap") as caught:
        PUDecisionTreeClassifier(0.4, max_depth=2).fit(X, y)
    assert caught[0].filename == __file__
    PUDecisionTreeClassifier(0.4, max_depth=2).fit(X, 1 - y)
    with pytest.warns(UserWarning, match="y marks|prior=None") as caught:
        PUDecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert sum("swap" in str(w.message) for w in caught) == 1
    PUDecisionTreeClassifier(risk="pn", max_depth=2).fit(X, y)
