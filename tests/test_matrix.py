"""Arrays with dates and masked entries, structured arrays, and errors about labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.lib.recfunctions import structured_to_unstructured
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from puforest import PUDecisionTreeClassifier
from puforest.baselines import NaivePUClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.datasets import linear_propensity, make_pu
from puforest.diagnostics import scar_test
from puforest.metrics import pu_f1_score, pu_roc_auc_score
from puforest.model_selection import PUStratifiedKFold
from puforest.prior import estimate_prior

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.repeat([1, 0], [20, 40])
DAYS = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
FITTED = PUDecisionTreeClassifier(prior=0.4).fit(X, Y)


def tree():
    return PUDecisionTreeClassifier(prior=0.4, random_state=0)


READERS = {
    "fit": lambda x: tree().fit(x, Y).feature_importances_,
    "prior": lambda x: estimate_prior(x, Y, random_state=0).value,
    "calibrated": lambda x: PUCalibratedClassifier(tree(), cv=2).fit(x, Y).predict_proba(x),
    "scar": lambda x: scar_test(x, Y, prior=0.4, n_simulations=2, random_state=0).simulated,
    "folds": lambda x: [
        test for _, test in PUStratifiedKFold(2, group_duplicates=True, random_state=0).split(x, Y)
    ],
    "propensity": lambda x: linear_propensity(x, frequency=0.5, random_state=0),
}


@pytest.mark.parametrize("reader", READERS)
def test_dates_are_days_for_all_that_read_tables(reader):
    dates = pd.DataFrame({"a": X[:, 0], "when": DAYS, "lasted": DAYS - DAYS[0]})
    days = np.arange(60)
    numbers = pd.DataFrame({"a": X[:, 0], "when": days + 18262, "lasted": days})
    for found, expected in zip(
        np.atleast_1d(READERS[reader](dates)), np.atleast_1d(READERS[reader](numbers)), strict=True
    ):
        assert_array_equal(found, expected)


# Masked arrays


def masked(values):
    where = np.zeros(values.shape, dtype=bool)
    where[5:7] = True
    return np.ma.masked_array(values, mask=where)


@pytest.mark.parametrize("reader", READERS)
def test_masked_entries_are_missing_values(reader):
    table = masked(X)
    for found, expected in zip(
        np.atleast_1d(READERS[reader](table)),
        np.atleast_1d(READERS[reader](table.filled(np.nan))),
        strict=True,
    ):
        assert_array_equal(found, expected)


def test_masked_entries_of_predictions():
    filled = masked(X).filled(np.nan)
    for table in (masked(X), list(masked(X))):
        assert_array_equal(FITTED.predict_proba(table), FITTED.predict_proba(filled))


def test_missing_values_where_numbers_are_needed():
    with pytest.raises(ValueError, match=r"X\[:, 0\] has missing values \(NaN\)"):
        linear_propensity(masked(X), [1, 1, 1])
    with pytest.raises(ValueError, match="X contains NaN"):
        NaivePUClassifier(LogisticRegression()).fit(masked(X), Y)


def test_masked_labels_and_weights_are_refused():
    model = PUDecisionTreeClassifier(prior=0.4)
    ones = np.ones(60)
    for name, refused in {
        "y": lambda: model.fit(X, masked(Y)),
        "sample_weight": lambda: model.fit(X, Y, sample_weight=masked(ones)),
        "propensity": lambda: model.fit(X, Y, propensity=masked(ones)),
        "y ": lambda: pu_f1_score(masked(Y), Y, prior=0.4),
        "y_pred": lambda: pu_f1_score(Y, masked(Y), prior=0.4),
        "y_score": lambda: pu_roc_auc_score(Y, masked(X[:, 0]), prior=0.4),
        " y": lambda: list(PUStratifiedKFold(2).split(X, masked(Y))),
        "  y": lambda: PUCalibratedClassifier(model).fit(X, masked(Y)),
        "   y": lambda: make_pu(X, masked(Y), n_labeled=5),
    }.items():
        with pytest.raises(ValueError, match=rf"^{name.strip()} has masked entries"):
            refused()


def test_errors_about_labels_speak_of_labels():
    model = PUDecisionTreeClassifier(prior=0.4)
    with pytest.raises(ValueError, match=r"^y: Complex data"):
        model.fit(X, Y.astype(complex))
    with pytest.raises(ValueError, match=r"^y: setting an array element with a sequence"):
        model.fit(X, [[1], *Y[1:]])
    with pytest.raises(ValueError, match=r"^y: Unknown label type.* Pass numbers, 1 for labeled"):
        model.fit(X, np.array([object(), *Y[1:]], dtype=object))


def test_structured_arrays_say_how_to_give_their_columns():
    packed = np.zeros(60, dtype=[("a", "f8"), ("b", "f8")])
    with pytest.raises(TypeError, match=r"structured_to_unstructured\(X\)"):
        PUDecisionTreeClassifier(prior=0.4).fit(packed, Y)
    plain = structured_to_unstructured(packed)
    PUDecisionTreeClassifier(prior=0.4).fit(plain, Y)
