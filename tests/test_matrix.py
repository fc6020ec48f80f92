"""Tables whose cells are no numbers: dates, masked entries, structured arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.lib.recfunctions import structured_to_unstructured
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from puforest import PUDecisionTreeClassifier, PUExtraTreesClassifier
from puforest.baselines import NaivePUClassifier
from puforest.calibration import PUCalibratedClassifier
from puforest.datasets import linear_propensity, make_pu
from puforest.diagnostics import scar_test
from puforest.inspection import feature_selection_curve, partial_dependence
from puforest.metrics import pu_f1_score, pu_roc_auc_score
from puforest.model_selection import PUStratifiedKFold
from puforest.prior import estimate_prior
from puforest.report import write_report

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.repeat([1, 0], [20, 40])
DAYS = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
FITTED = PUDecisionTreeClassifier(prior=0.4).fit(X, Y)

READERS = {
    "fit": lambda x: PUDecisionTreeClassifier(prior=0.4).fit(x, Y),
    "predict": FITTED.predict,
    "predict few": lambda x: FITTED.predict(x[:40]),
    "prior": lambda x: estimate_prior(x, Y),
    "baseline": lambda x: NaivePUClassifier(LogisticRegression()).fit(x, Y),
    "calibrated": lambda x: PUCalibratedClassifier(PUDecisionTreeClassifier(0.4)).fit(x, Y),
    "scar": lambda x: scar_test(x, Y, prior=0.4),
    "selection": lambda x: feature_selection_curve(PUDecisionTreeClassifier(0.4), x, Y),
    "test rows": lambda x: feature_selection_curve(
        PUDecisionTreeClassifier(0.4), X, Y, X_test=x, y_test=Y
    ),
    "dependence": lambda x: partial_dependence(FITTED, x, 0),
    "folds": lambda x: list(PUStratifiedKFold(2, group_duplicates=True).split(x, Y)),
    "report": lambda x: write_report(FITTED, "/tmp/never-written.html", x, Y, overwrite=True),
    "propensity": lambda x: linear_propensity(x, frequency=0.5),
}


def frame(**columns):
    return pd.DataFrame({"a": X[:, 0], **columns})


def with_gap(dates):
    dates = np.array(dates)
    dates[7] = "NaT"
    return dates


DATES = {
    "days": (np.column_stack([DAYS] * 3), "X has"),
    "with NaT": (np.column_stack([with_gap(DAYS)] * 3), "X has"),
    "durations": (np.column_stack([DAYS - DAYS[0]] * 3), r"days, \(X\) / np.timedelta64"),
    "column": (frame(when=DAYS, b=1.0), r"X\['when'\] has"),
    "column with NaT": (frame(b=1, when=with_gap(DAYS)), r"X\['when'\] has"),
    "columns": (frame()[[]].assign(x=DAYS, y=DAYS, z=DAYS), r"X\['x'\] has"),
    "time zone": (frame(t=pd.Series(DAYS).dt.tz_localize("UTC"), b=1), r"X\['t'\] has"),
    "list of dates": ([[day, day] for day in with_gap(DAYS)], "X has"),
    "list of arrays": (list(DAYS[:, np.newaxis]), "X has"),
    "objects": (np.array([[np.datetime64("NaT")], *[[1.0]] * 59], dtype=object), "X has"),
    "pyarrow": (pa.table({"when": with_gap(DAYS)}), "X has"),
    "polars": (pl.DataFrame({"a": X[:, 0], "b": 1.0, "when": DAYS}), r"X\['when'\] has"),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("reader", READERS)
def test_dates_are_refused_by_all_that_read_tables(reader):
    with pytest.raises(TypeError, match=r"has dates or times \(datetime64.*depend on the unit"):
        READERS[reader](frame(when=DAYS, b=1.0))


@pytest.mark.parametrize("dates", DATES)
def test_messages_say_where_dates_are_and_what_to_do(dates):
    table, message = DATES[dates]
    with pytest.raises(TypeError, match=message):
        PUExtraTreesClassifier(prior=0.4).fit(table, Y)


def test_the_way_out_that_the_message_gives():
    days = (DAYS - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
    seconds = DAYS.astype("datetime64[s]")
    again = (seconds - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
    assert_array_equal(days, again)


# Masked arrays


def masked(values):
    where = np.zeros(values.shape, dtype=bool)
    where[5:7] = True
    return np.ma.masked_array(values, mask=where)


@pytest.mark.parametrize("reader", READERS)
def test_masked_entries_are_refused_by_all_that_read_tables(reader):
    with pytest.raises(ValueError, match=r"has masked entries \(6, the first is X\w*\[5, 0\]\)"):
        READERS[reader](masked(X))


def test_masked_rows_of_a_list_are_refused():
    with pytest.raises(
        ValueError, match=r"X\[5\] has masked entries \(3, the first is X\[5\]\[0\]"
    ):
        PUDecisionTreeClassifier(prior=0.4).fit(list(masked(X)), Y)


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
        "X": lambda: make_pu(masked(X), Y, n_labeled=5),
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
