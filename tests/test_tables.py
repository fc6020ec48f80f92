"""Tables as they are: the same data yields the same forest, whatever library it comes from."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from messy_tables import FORMS, messy_frame
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PURandomForestClassifier,
)
from puforest.baselines import (
    ElkanNotoClassifier,
    NaivePUClassifier,
    PUBaggingClassifier,
    PUNetClassifier,
    SpyTwoStepClassifier,
)
from puforest.calibration import PUCalibratedClassifier
from puforest.datasets import make_pu
from puforest.diagnostics import scar_test
from puforest.model_selection import PUStratifiedKFold, cross_val_score, pu_train_test_split
from puforest.prior import estimate_prior

FRAME, LABELED, Y = messy_frame()
FORESTS = [PURandomForestClassifier, PUExtraTreesClassifier]
ESTIMATORS = [PUDecisionTreeClassifier, PUExtraTreeClassifier, *FORESTS]


def make(cls, **params):
    small = {"n_estimators": 10} if cls in FORESTS else {}
    single = {"prior": 0.4, "scenario": "single-training-set", "random_state": 0}
    return cls(**(single | small | params))


def forest(**params):
    return make(PUExtraTreesClassifier, **({"min_samples_leaf": 5} | params))


@pytest.fixture(params=FORMS)
def form(request):
    return request.param


# One forest


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_the_same_data_yields_the_same_forest(cls, form):
    table = FORMS[form](FRAME)
    expected = make(cls).fit(FRAME, LABELED)
    fitted = make(cls).fit(table, LABELED)
    assert fitted._record.schema.columns == expected._record.schema.columns
    assert_array_equal(fitted._forest.threshold, expected._forest.threshold)
    assert_array_equal(fitted._forest.categories, expected._forest.categories)
    scores = expected.predict_proba(FRAME)
    for model, asked in ((fitted, table), (fitted, FRAME), (expected, table)):
        assert_array_equal(model.predict_proba(asked), scores)
        assert_array_equal(model.apply(asked), expected.apply(FRAME))


def test_every_kind_of_column_is_used():
    fitted = make(PURandomForestClassifier, n_estimators=30).fit(FRAME, LABELED)
    assert (np.bincount(fitted._forest.feature[~fitted._forest.is_leaf], minlength=6) > 0).all()
    assert fitted.score(FRAME, Y) > 0.8


@pytest.mark.parametrize("cls", FORESTS)
def test_out_of_bag_and_warm_starts(cls):
    sampled = {"bootstrap": True, "oob_score": True, "n_estimators": 40}
    whole = make(cls, **sampled).fit(FRAME, LABELED)
    grown = make(cls, **sampled | {"n_estimators": 25}, warm_start=True).fit(FRAME, LABELED)
    grown.set_params(n_estimators=40).fit(FRAME, LABELED)
    assert_array_equal(grown.predict_proba(FRAME), whole.predict_proba(FRAME))
    assert_array_equal(grown.oob_decision_function_, whole.oob_decision_function_)


def test_new_categories_of_a_warm_start_are_missing_values():
    model = forest(warm_start=True).fit(FRAME, LABELED)
    new = FRAME.assign(color=FRAME["color"].replace("a", "new"))
    with pytest.warns(UserWarning, match=r"categories of X\['color'\] that the first fit did not"):
        model.set_params(n_estimators=20).fit(new, LABELED)
    gone = FRAME.assign(color=FRAME["color"].replace("a", None))
    again = forest(warm_start=True).fit(FRAME, LABELED).set_params(n_estimators=20)
    again.fit(gone, LABELED)
    assert_array_equal(model.predict_proba(FRAME), again.predict_proba(FRAME))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("monotonic_cst", None, {"number": 1}),
        ("monotonic_cst", {"number": 1}, {"number": -1}),
        ("categorical_features", "from_dtype", ["color", "count"]),
    ],
)
def test_warm_starts_refuse_other_settings_of_columns(name, old, new):
    model = forest(warm_start=True, **{name: old}).fit(FRAME, LABELED)
    with pytest.raises(ValueError, match=f"grown with another {name}: fit a new forest"):
        model.set_params(n_estimators=20, **{name: new}).fit(FRAME, LABELED)


# Categories


def test_unknown_categories_are_missing_values():
    model = make(PURandomForestClassifier).fit(FRAME, LABELED)
    unknown, missing = FRAME.assign(color="unknown"), FRAME.assign(color=None)
    assert_array_equal(model.predict_proba(unknown), model.predict_proba(missing))
    assert_array_equal(
        model.predict_proba(unknown.astype({"color": "category"})), model.predict_proba(missing)
    )


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_categories_renamed_in_the_same_order_yield_the_same_forest(cls):
    names = {"a": "apple", "b": "Ba", "c": "c", "d": "dd"}
    names = dict(zip(sorted(names), sorted(names.values()), strict=True))
    renamed = FRAME.assign(color=FRAME["color"].map(names))
    expected = make(cls).fit(FRAME, LABELED)
    fitted = make(cls).fit(renamed, LABELED)
    assert_array_equal(fitted.apply(renamed), expected.apply(FRAME))


def listed_at_the_root(cls, risk, copies):
    """Categories that go to one child, where all rows with "a" and "c" are labeled."""
    X = np.array(list("acbdbacdbd") * copies, dtype=object)[:, None]
    y = [1, 1, 0, 0, 0] * (2 * copies)
    model = make(cls, prior=None if risk == "pn" else 0.4, risk=risk, max_depth=1).fit(X, y)
    names = model._record.schema.columns[0].categories
    return "".join(names[c] for c in model._forest.node_categories(0))


@pytest.mark.parametrize("cls", [PUDecisionTreeClassifier, PUExtraTreeClassifier])
def test_few_labeled_rows_are_split_in_the_order_of_the_labels(cls):
    assert listed_at_the_root(cls, "nnpu", copies=2) in ("a", "ab", "abc", "bcd", "cd", "d")


@pytest.mark.parametrize(("risk", "copies"), [("pn", 2), ("upu", 2), ("nnpu", 20)])
def test_other_sets_are_found_with_more_labeled_rows_or_other_risks(risk, copies):
    assert listed_at_the_root(PUDecisionTreeClassifier, risk, copies) in ("ac", "bd")


def test_categories_are_matched_by_label_and_not_by_code():
    model = forest().fit(FRAME.astype({"color": "category"}), LABELED)
    other = FRAME.astype({"color": pd.CategoricalDtype(list("edcba"))})
    assert_array_equal(model.predict_proba(other), model.predict_proba(FRAME))
    few = other[other["color"] == "d"]
    few = few.assign(color=few["color"].cat.remove_unused_categories())
    assert_array_equal(model.predict_proba(few), model.predict_proba(FRAME.loc[few.index]))


def test_a_single_row_is_predicted_like_in_a_table():
    model = forest().fit(FRAME, LABELED)
    rows = np.concatenate([model.predict_proba(FRAME.iloc[[i]]) for i in range(5)])
    assert_array_equal(rows, model.predict_proba(FRAME.iloc[:5]))


# Everything else that reads tables


@pytest.mark.parametrize("method", ["bbe", "dedpul", "tice", "elkan-noto", "km2"])
def test_priors(method):
    options = {"method": method, "scenario": "single-training-set", "random_state": 0}
    options |= {"km2": {"max_rows": 50}, "dedpul": {"n_resamples": 10}}.get(method, {})
    estimate = estimate_prior(FORMS["polars"](FRAME), LABELED, **options)
    assert estimate.value == estimate_prior(FRAME, LABELED, **options).value
    assert 0.15 < estimate.value < 0.9


def test_prior_is_estimated_in_fits():
    with pytest.warns(UserWarning, match="prior=None"):
        model = forest(prior=None).fit(FRAME, LABELED)
    assert 0.2 < model.prior_ < 0.7


def test_priors_with_another_estimator_get_the_table():
    options = {"scenario": "single-training-set", "random_state": 0, "estimator": Reader()}
    estimate_prior(FRAME, LABELED, **options)
    assert Reader.seen == {pd.DataFrame}


class Reader(LogisticRegression):
    """Classifier that notes the types of the tables it is given."""

    seen: ClassVar[set[type]] = set()

    def fit(self, X, y):
        self.seen.add(type(X))
        return super().fit(X[["count"]], y)

    def predict_proba(self, X):
        self.seen.add(type(X))
        return super().predict_proba(X[["count"]])


def test_priors_name_text_that_an_estimator_cannot_read():
    message = r"X\['color'\] has text or categories, which LogisticRegression cannot read"
    with pytest.raises(TypeError, match=message):
        estimate_prior(FRAME[["count", "color"]], LABELED, estimator=LogisticRegression())


def test_scar_test_names_columns():
    wide = pd.concat([FRAME] * 3, ignore_index=True)
    rng = np.random.default_rng(0)
    biased = np.tile(Y, 3) * (rng.random(len(wide)) < np.where(wide["color"] == "a", 0.95, 0.1))
    result = scar_test(
        wide.assign(noise=rng.normal(size=len(wide))),
        biased,
        prior=0.4,
        scenario="single-training-set",
        n_simulations=19,
        random_state=0,
    )
    assert result.features[0] == "color"


def test_make_pu_keeps_the_type_and_the_columns(form):
    table = FORMS[form](FRAME)
    X, labeled, index = make_pu(table, Y, n_labeled=20, return_index=True, random_state=0)
    assert isinstance(X, np.ndarray) if form == "list" else type(X) is type(table)
    assert labeled.sum() == 20
    model = forest().fit(FRAME, LABELED)
    assert_array_equal(
        model.predict_proba(X if hasattr(X, "columns") else pd.DataFrame(X, columns=FRAME.columns)),
        model.predict_proba(FRAME.iloc[index]),
    )


def test_splits_keep_the_type_and_duplicates_together(form):
    repeated = pd.concat([FRAME, FRAME.iloc[:100]], ignore_index=True)
    labeled = np.concatenate([LABELED, LABELED[:100]])
    table = FORMS[form](repeated)
    for train, test in PUStratifiedKFold(3, group_duplicates=True).split(table, labeled):
        first = np.r_[0:300, 0:100]
        assert not np.intersect1d(first[train], first[test]).size
    part = pu_train_test_split(table, labeled, random_state=0)[0]
    assert isinstance(part, np.ndarray) if form == "list" else type(part) is type(table)
    assert part.shape[0] == 300


def test_cross_validation_of_record_batches():
    scores = [
        cross_val_score(forest(), FORMS[form](FRAME), LABELED, cv=2, scoring="pu_recall")
        for form in ("pandas", "arrow batch")
    ]
    assert_array_equal(*scores)


@pytest.mark.parametrize(
    "model",
    [
        NaivePUClassifier(forest(), prior=0.4, cv=2),
        PUBaggingClassifier(forest(risk="pn"), n_estimators=2, prior=0.4, random_state=0),
        ElkanNotoClassifier(forest(voting="soft"), variant="weighted", cv=2),
        SpyTwoStepClassifier(forest(voting="soft", min_samples_leaf=20), random_state=0),
        PUCalibratedClassifier(forest(), cv=2),
        PUCalibratedClassifier(
            make(PURandomForestClassifier, n_estimators=30, oob_score=True), cv="oob"
        ),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", ["pandas category", "polars", "arrow batch", "list"])
def test_wrappers_hand_on_the_table(model, form):
    table = FORMS[form](FRAME)
    fitted, expected = clone(model).fit(table, LABELED), clone(model).fit(FRAME, LABELED)
    assert_array_equal(fitted.predict_proba(table), expected.predict_proba(FRAME))
    assert fitted.n_features_in_ == 6
    if hasattr(table, "columns"):
        assert list(fitted.feature_names_in_) == list(FRAME.columns)


def test_baselines_of_estimators_that_take_tables():
    table = FRAME[["number", "color"]].astype({"color": "category"})
    boosting = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    wrapped = NaivePUClassifier(boosting).fit(table, LABELED)
    assert_array_equal(
        wrapped.predict_proba(table), boosting.fit(table, LABELED).predict_proba(table)
    )


def test_networks_refuse_text():
    with pytest.raises(TypeError, match=r"X\['color'\] has text .*which PUNetClassifier cannot"):
        PUNetClassifier(prior=0.4).fit(FRAME, LABELED)


def test_searches_and_clones_keep_the_parameters():
    model = forest(categorical_features=["color"], monotonic_cst={"number": 1})
    assert clone(model).get_params()["monotonic_cst"] == {"number": 1}
    grid = {"monotonic_cst": [None, {"number": 1}], "categorical_features": [["color"]]}
    search = GridSearchCV(model, grid, cv=2).fit(FRAME, LABELED)
    assert search.best_estimator_.feature_names_in_.tolist() == list(FRAME.columns)
