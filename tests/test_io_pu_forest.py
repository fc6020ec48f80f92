"""Model files of PUForestClassifier, and thresholds, curves and recipes in model files."""

import numpy as np
import pytest
from fuzz.model_files import packed, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_forests import raw_table
from numpy.testing import assert_array_equal
from saved_models import ESTIMATORS, assert_same, small, small_pu_forest, through_file
from sklearn.base import clone

import puforest
from puforest import PUExtraTreesClassifier, PURandomForestClassifier, Recipe
from puforest.calibration import PUCalibratedClassifier
from puforest.io._parameters import checked, json_value
from puforest.prior import PriorEstimatedWarning
from puforest.recipes import GROWTHS, SPLITS
from puforest.risk import LOSSES

RECIPES = [Recipe(min_samples_leaf=20), Recipe("best", "nnpu", "logistic", 0.5, 30, None)]


def assert_same_evaluation(model, loaded):
    assert loaded.describe() == model.describe()
    assert loaded.oob_risk_ == model.oob_risk_
    assert_array_equal(loaded.oob_decision_function_, model.oob_decision_function_)
    for array in ("score", "positive", "population"):
        curves = (m._record.curve for m in (loaded, model))
        assert_array_equal(*(getattr(curve, array) for curve in curves))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"threshold": 0.3, "candidates": "fast", "scenario": "single-training-set"},
        {"threshold": np.float32(0.25), "candidates": RECIPES},
        {"threshold": ("cost", 4), "candidates": RECIPES[1]},
        {"threshold": "f1", "n_estimators": "auto", "candidates": [Recipe(max_features=0.5)]},
    ],
)
def test_a_loaded_forest_is_the_same(params, blobs, tmp_path):
    X, labeled, _ = blobs
    model = small_pu_forest(**params).fit(X, labeled)
    for options in ({}, {"mmap": True}):
        loaded = through_file(model, tmp_path, **options)
        assert_same(model, loaded, X)
        assert_same_evaluation(model, loaded)
    other, expected = (m.with_prior(0.3) for m in (loaded, model))
    assert_same_evaluation(expected, other)
    assert_same_evaluation(expected, through_file(expected, tmp_path))
    loaded = through_file(model, tmp_path)
    again = clone(loaded).fit(X, labeled)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for rule in ("prior", "f1", ("cost", 2), 0.7):
        assert loaded.set_params(threshold=rule).threshold_ == (
            model.set_params(threshold=rule).threshold_
        )


def test_an_estimated_prior_weights_and_propensities(blobs, tmp_path):
    X, labeled, _ = blobs
    with pytest.warns(PriorEstimatedWarning):
        model = small_pu_forest(prior=None).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert_same(model, loaded, X)
    assert loaded.prior_estimate_ == model.prior_estimate_
    weight = np.random.default_rng(0).exponential(size=len(X)) ** 4
    weight[:50] = 0
    propensity = np.linspace(0.5, 1, len(X))
    model = small_pu_forest(prior=None, scenario="single-training-set")
    model.fit(X, labeled, weight, propensity=propensity)
    loaded = through_file(model, tmp_path)
    assert_same(model, loaded, X)
    assert_same_evaluation(model, loaded)


def test_tables(tmp_path):
    X, labeled = raw_table()
    model = small_pu_forest(monotonic_cst={"size": 1}).fit(X, labeled)
    assert model._forest.n_categories.any()
    loaded = through_file(model, tmp_path)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_same_evaluation(model, loaded)


def test_saving_is_deterministic(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small_pu_forest(candidates=[Recipe(), *RECIPES]).fit(X, labeled)
    model.save(tmp_path / "first.puf")
    puforest.load(tmp_path / "first.puf").save(tmp_path / "second.puf")
    assert (tmp_path / "first.puf").read_bytes() == (tmp_path / "second.puf").read_bytes()


def test_single_trees(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small_pu_forest(candidates=RECIPES).fit(X, labeled)
    for tree in model.estimators_[::7]:
        assert_same(tree, through_file(tree, tmp_path), X)
    model = small(PURandomForestClassifier, oob_score=True, threshold="prior", n_estimators=20)
    tree = model.fit(X, labeled).estimators_[3]
    assert_same(tree, through_file(tree, tmp_path), X)


@pytest.mark.parametrize("threshold", [0.25, 1, ("cost", 3), ["cost", 0.5], "prior", "f1"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_thresholds_of_all_estimators(estimator, threshold, blobs, tmp_path):
    X, labeled, _ = blobs
    params = {"threshold": threshold}
    if not isinstance(threshold, int | float):
        if estimator not in (PUExtraTreesClassifier, PURandomForestClassifier):
            pytest.skip("single trees have no out-of-bag predictions")
        params |= {"oob_score": True, "bootstrap": True, "n_estimators": 30}
    model = small(estimator, min_samples_leaf=5, voting="soft", **params).fit(X, labeled)
    loaded = through_file(model, tmp_path)
    assert loaded.threshold == (tuple(threshold) if isinstance(threshold, list) else threshold)
    assert loaded.threshold_ == model.threshold_
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_a_model_without_a_threshold_cannot_be_saved(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small(PURandomForestClassifier).fit(X, labeled).set_params(threshold="prior")
    with pytest.raises(ValueError, match="cannot be saved: threshold='prior' is set from out-of"):
        model.save(tmp_path / "model.puf")
    model.set_params(threshold=np.inf)
    with pytest.raises(ValueError, match="threshold must be between 0 and 1, got inf"):
        model.save(tmp_path / "model.puf")


NUMBERS = st.floats(0, exclude_min=True, allow_infinity=False)
RECIPE = st.builds(
    Recipe,
    splits=st.sampled_from(SPLITS),
    growth=st.sampled_from(GROWTHS),
    loss=st.sampled_from(sorted(LOSSES)),
    unlabeled_per_labeled=NUMBERS | st.integers(1, 10**20),
    min_samples_leaf=st.integers(1, 10**30),
    max_features=st.none()
    | st.sampled_from(["sqrt", "log2"])
    | st.integers(1, 1000)
    | st.floats(0, 1, exclude_min=True),
)


@settings(max_examples=50)
@given(
    candidates=st.sampled_from(["auto", "fast"])
    | RECIPE
    | st.lists(RECIPE, min_size=1, max_size=4, unique=True),
    threshold=st.sampled_from(["prior", "f1"])
    | st.floats(0, 1)
    | st.tuples(st.just("cost"), NUMBERS),
)
def test_any_candidates_and_threshold(candidates, threshold):
    for name, value in (("candidates", candidates), ("threshold", threshold)):
        assert checked(name, json_value(name, value)) == value


# Damaged and malicious files


@pytest.fixture(scope="module")
def content(blobs, tmp_path_factory):
    X, labeled, _ = blobs
    path = tmp_path_factory.mktemp("models") / "good.puf"
    small_pu_forest(candidates=[Recipe(), *RECIPES], threshold="f1").fit(X, labeled).save(path)
    return path.read_bytes()


def assert_rejected(change, message, content, folder):
    header, arrays = unpacked(content)
    change(header, arrays)
    path = folder / "bad.puf"
    path.write_bytes(packed(header, arrays))
    for mmap in (True, False):
        with pytest.raises(ValueError, match=f"is not a puforest model: .*{message}"):
            puforest.load(path, mmap=mmap)


RECIPE_FIELD = "model.comparison.0.recipe"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model.parameters.threshold", 1.5, "threshold must be between 0 and 1, got 1.5"),
        ("model.parameters.threshold", 10**400, "threshold must be between 0 and 1"),
        ("model.parameters.threshold", "best", "threshold must be a number"),
        ("model.parameters.threshold", None, "threshold must be a number"),
        ("model.parameters.threshold", True, "threshold must be a number"),
        ("model.parameters.threshold", ["cost", 0], "the ratio is the cost"),
        ("model.parameters.threshold", {"cost": 0}, "the ratio is the cost"),
        ("model.parameters.threshold", {"cost": 10**400}, "cost is a huge number"),
        ("model.parameters.threshold", {"cost": 2, "a": 1}, "unknown field 'a'"),
        ("model.parameters.threshold", {"float": "inf"}, "threshold has no 'cost'"),
        ("model.parameters.candidates", "slow", "candidates must be 'auto', 'fast'"),
        ("model.parameters.candidates", [], "candidates must be 'auto', 'fast'"),
        ("model.parameters.candidates", None, "candidates must be 'auto', 'fast'"),
        ("model.parameters.candidates", ["auto"], "a candidate is not an object"),
        ("model.parameters.candidates", {}, "candidates has no 'splits'"),
        ("model.parameters.candidates.0.more", 1, "a candidate has the unknown field 'more'"),
        ("model.parameters.n_estimators", "many", "n_estimators must be an integer"),
        ("model.parameters.n_estimators", 0, "n_estimators must be at least 1"),
        ("model.parameters.voting", "ratio", "unknown field 'voting'"),
        ("model.calibrator", None, "a PUForestClassifier has a calibrator"),
        ("model.calibrator.slope", 0, "slope is 0, not a number from 1e-100"),
        ("model.calibrator.slope", -1.0, "slope is -1.0, not a number"),
        ("model.calibrator.slope", 1.7e308, r"slope is 1.7e\+308, not a number"),
        ("model.calibrator.intercept", None, "intercept is None, not a number"),
        ("model.calibrator.intercept", -1.7e308, r"intercept is -1.7e\+308, not a number"),
        ("model.calibrator.more", 1, "unknown field 'more'"),
        ("model.comparison", None, "a PUForestClassifier has a comparison"),
        ("model.comparison", {}, "comparison is not a list"),
        ("model.comparison", [], "comparison has 0 trees, and the model has"),
        ("model.comparison.0", 1, r"comparison\[0\] is not an object"),
        ("model.comparison.0.more", 1, r"comparison\[0\] has the unknown field 'more'"),
        ("model.comparison.0.n_trees", 11, "comparison has .* trees, and the model has"),
        ("model.comparison.0.n_trees", -1, "n_trees is -1, not an integer"),
        ("model.comparison.0.n_trees", 2**64, "n_trees is .*, not an integer"),
        ("model.comparison.0.auc", "1", "auc is '1', not a number"),
        ("model.comparison.0.auc", 10**400, "auc is a huge number"),
        ("model.comparison.0.standard_error", -0.1, "standard_error is -0.1, not a number"),
        ("model.comparison.0.behind", -0.1, "behind is -0.1, not a number from 0"),
        ("model.comparison.0.behind_error", None, "behind_error is None, not a number"),
        ("model.comparison.0.seconds", -1, "seconds is -1, not a number from 0"),
        (RECIPE_FIELD, "fast", r"comparison\[0\].recipe is not an object"),
        (f"{RECIPE_FIELD}.more", 1, "unknown field 'more'"),
        (f"{RECIPE_FIELD}.splits", "worst", "splits must be one of"),
        (f"{RECIPE_FIELD}.growth", ["nnpu"], "growth must be one of"),
        (f"{RECIPE_FIELD}.loss", None, "loss must be one of"),
        (f"{RECIPE_FIELD}.unlabeled_per_labeled", 0, "unlabeled_per_labeled must be a positive"),
        (f"{RECIPE_FIELD}.unlabeled_per_labeled", True, "must be a positive number, got True"),
        (f"{RECIPE_FIELD}.unlabeled_per_labeled", 10**400, "must be a positive number"),
        (f"{RECIPE_FIELD}.unlabeled_per_labeled", {"float": "inf"}, "positive number, got inf"),
        (f"{RECIPE_FIELD}.min_samples_leaf", 0, "min_samples_leaf must be at least 1"),
        (f"{RECIPE_FIELD}.min_samples_leaf", 0.5, "min_samples_leaf must be an integer"),
        (f"{RECIPE_FIELD}.max_features", "all", "max_features must be one of"),
        (f"{RECIPE_FIELD}.max_features", [1], "max_features must be 'sqrt', 'log2'"),
        (f"{RECIPE_FIELD}.min_samples_leaf", 20, "comparison has a recipe twice"),
    ],
)
def test_invalid_headers_are_rejected(field, value, message, content, tmp_path):
    *path, last = (int(key) if key.isdigit() else key for key in field.split("."))

    def change(header, arrays):
        for key in path:
            header = header[key]
        header[last] = value

    assert_rejected(change, message, content, tmp_path)


def fields_of(value, prefix=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        yield (*prefix, key)
        if isinstance(part, dict | list):
            yield from fields_of(part, (*prefix, key))


def test_every_field_is_required(content, tmp_path):
    for *path, last in fields_of(unpacked(content)[0]):
        if isinstance(last, int) or last == "digest":
            continue  # a fit may have fewer candidates, and older files have no digest

        def remove(header, arrays, path=path, last=last):
            for key in path:
                header = header[key]
            del header[last]

        assert_rejected(remove, "", content, tmp_path)


def test_every_array_is_required(content, tmp_path):
    for name in unpacked(content)[1]:
        assert_rejected(lambda header, arrays, n=name: arrays.pop(n), "", content, tmp_path)


def set_item(name, at, value):
    def change(header, arrays):
        arrays[name][at] = value

    return change


def without_curve(header, arrays):
    for name in ("score", "positive", "population"):
        del arrays[f"curve.{name}"]


def empty_curve(header, arrays):
    for name in ("score", "positive", "population"):
        arrays[f"curve.{name}"] = np.empty(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_curve, "a PUForestClassifier has a curve of out-of-bag predictions"),
        (empty_curve, "curve.positive does not add up to 1"),
        (lambda h, a: a.pop("curve.positive"), r"does not have all of the arrays curve"),
        (set_item("curve.score", 1, np.nan), "curve.score is not between 0 and 1"),
        (set_item("curve.score", -1, 1.5), "curve.score is not between 0 and 1"),
        (set_item("curve.score", 0, 0.999), "curve.score is not ascending"),
        (set_item("curve.positive", 0, -1e-9), "curve.positive is not between 0 and 1"),
        (set_item("curve.population", 0, np.inf), "curve.population is not between 0 and 1"),
        (set_item("curve.population", 0, 0.5), "curve.population does not add up to 1"),
        (
            lambda h, a: a.update({"curve.score": np.zeros(2, dtype="i4")}),
            "'curve.score' is not of type float64",
        ),
        (
            lambda h, a: a.update({"curve.population": np.array([0.5, 0.5])}),
            "curve.* differ in length",
        ),
        (lambda h, a: h.update(format_version=1), ""),
        (set_item("w_p", 0, 0.4 + 2e-6), "w_p of a root is not 0.4"),
    ],
)
def test_invalid_arrays_are_rejected(change, message, content, tmp_path):
    assert_rejected(change, message, content, tmp_path)


def test_roots_have_the_prior_however_small_it_is(blobs, tmp_path):
    X, labeled, _ = blobs
    model = small_pu_forest().fit(X, labeled).with_prior(1e-9)
    model.save(tmp_path / "model.puf")

    def change(header, arrays):
        arrays["w_p"][:] = 0

    content = (tmp_path / "model.puf").read_bytes()
    assert_rejected(change, "w_p of a root is not 1e-09", content, tmp_path)


def test_leaves_without_mass_predict_one_half(blobs, tmp_path):
    X, labeled, _ = blobs
    path = tmp_path / "model.puf"
    small_pu_forest().fit(X, labeled).save(path)
    header, arrays = unpacked(path.read_bytes())
    for name in ("w_p", "w_u"):  # all mass goes to the last leaf of each tree
        arrays[name][:] = 0
    for start, end in zip(arrays["offset"][:-1], arrays["offset"][1:], strict=True):
        node = 0
        while True:
            arrays["w_p"][start + node], arrays["w_u"][start + node] = 0.4, 1.0
            if arrays["feature"][start + node] < 0:
                break
            node = arrays["left"][start + node] + 1
        assert start + node < end
    path.write_bytes(packed(header, arrays))
    model = puforest.load(path)
    assert set(model._forest.values("ratio")[model._forest.is_leaf]) == {0.5}
    assert np.isfinite(model.predict_proba(X)).all()


def test_other_classes_have_no_recipes(blobs, content, tmp_path):
    X, labeled, _ = blobs
    small(PUExtraTreesClassifier).fit(X, labeled).save(tmp_path / "model.puf")
    other = (tmp_path / "model.puf").read_bytes()
    model = unpacked(content)[0]["model"]

    def with_calibrator(header, arrays):
        header["model"]["calibrator"] = model["calibrator"]

    def with_comparison(header, arrays):
        n_trees = len(arrays["offset"]) - 1
        header["model"]["comparison"] = [model["comparison"][0] | {"n_trees": n_trees}]

    def with_rule(header, arrays):
        header["model"]["parameters"]["threshold"] = "prior"

    def with_auto(header, arrays):
        header["model"]["parameters"]["n_estimators"] = "auto"

    name = "a PUExtraTreesClassifier has no"
    assert_rejected(with_calibrator, f"{name} calibrator", other, tmp_path)
    assert_rejected(with_comparison, f"{name} comparison", other, tmp_path)
    assert_rejected(with_rule, "threshold='prior' is set from out-of-bag", other, tmp_path)
    assert_rejected(with_auto, "n_estimators must be an integer", other, tmp_path)


def test_calibrated_models_have_no_threshold_of_their_own(blobs, content, tmp_path):
    X, labeled, _ = blobs
    forest = small(PUExtraTreesClassifier, max_depth=3)
    PUCalibratedClassifier(forest, cv=3).fit(X, labeled).save(tmp_path / "model.puf")
    calibrated = (tmp_path / "model.puf").read_bytes()

    def with_threshold(header, arrays):
        header["model"]["parameters"]["threshold"] = 0.3

    def of_template(header, arrays):
        header["calibration"]["estimator"]["parameters"]["threshold"] = "prior"

    def of_pu_forest(header, arrays):
        header["calibration"] = unpacked(calibrated)[0]["calibration"]

    assert_rejected(with_threshold, "has threshold=0.3", calibrated, tmp_path)
    assert_rejected(of_template, "has threshold='prior'", calibrated, tmp_path)
    assert_rejected(of_pu_forest, "are calibrated already", content, tmp_path)
