"""Pipelines that end in an estimator of puforest."""

import re

import numpy as np
import pytest
import skops.io
from messy_tables import ONE, messy_table
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import puforest
from puforest import PURandomForestClassifier
from puforest._unwrap import unwrapped
from puforest.calibration import PUCalibratedClassifier
from puforest.inspection import importances, permutation_importance
from puforest.io import save_model
from puforest.metrics import get_scorer, pu_recall_score
from puforest.model_selection import cross_validate, oob_risk, prior_sensitivity


def forest(**params):
    defaults = {"prior": 0.4, "scenario": ONE, "n_estimators": 10, "random_state": 0}
    return PURandomForestClassifier(**defaults | params)


def encoder(*, sparse=True):
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=sparse), ["color", "city"]),
        (SimpleImputer(), ["age"]),
        ("passthrough", ["member"]),
        sparse_threshold=1.0 if sparse else 0.0,
    )


NAMES = ["onehotencoder__color_blue", "onehotencoder__color_green", "onehotencoder__color_red"]


@pytest.fixture(scope="module")
def data():
    return messy_table()


@pytest.fixture(scope="module", params=["sparse", "dense"])
def pipeline(request, data):
    X, y = data
    model = forest(oob_score=True, voting="soft", min_samples_leaf=10, n_estimators=30)
    return make_pipeline(encoder(sparse=request.param == "sparse"), model).fit(X, y)


# Parts


def test_parts_of_a_pipeline(data, blobs):
    X, y, _ = blobs
    model = forest(n_estimators=3)
    nested = Pipeline([("a", StandardScaler()), ("b", make_pipeline(PCA(3), clone(model)))])
    for estimator in (
        nested,
        GridSearchCV(nested, {}, cv=2),
        PUCalibratedClassifier(nested, cv=2),
        make_pipeline(StandardScaler(), PCA(3), PUCalibratedClassifier(clone(model), cv=2)),
    ):
        found = unwrapped(estimator.fit(X, y))
        assert found.feature_names() == ["pca0", "pca1", "pca2"]
        rows = found.transform(X)
        assert_array_equal(found.model.predict_proba(rows), estimator.predict_proba(X))
        assert_array_equal(found.model.predict_proba(found.rows(X)), estimator.predict_proba(X))
        assert found.is_calibrated == ("calibrator_" in dir(found.model))
    alone = make_pipeline(clone(model)).fit(X, y)
    assert unwrapped(alone).transformers == ()
    assert unwrapped(make_pipeline(PCA(2), LogisticRegression()).fit(X, y)) is None
    assert unwrapped(make_pipeline(PCA(2), model)) is None


def test_names_when_transformers_have_none(blobs):
    X, y, _ = blobs

    class Halves(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X[:, ::2]

    model = make_pipeline(StandardScaler(), Halves(), forest(n_estimators=3)).fit(X, y)
    assert importances(model).feature_names == ["x0", "x1", "x2"]
    named = make_pipeline(PCA(2), forest(n_estimators=3)).set_output(transform="pandas").fit(X, y)
    assert importances(named).feature_names == ["pca0", "pca1"]


# Inspection


def test_importances_are_named_by_the_transformers(pipeline):
    found = importances(pipeline)
    assert found.feature_names[:3] == NAMES
    assert found.feature_names[-2:] == ["simpleimputer__age", "passthrough__member"]
    assert_array_equal(found.mean, importances(pipeline[-1]).mean)
    calibrated = PUCalibratedClassifier(pipeline, cv="prefit").fit(*messy_table())
    assert importances(calibrated).feature_names == found.feature_names
    with pytest.raises(NotFittedError):
        importances(clone(pipeline))
    with pytest.raises(TypeError, match=r"a pipeline that ends in one, got Pipeline"):
        importances(make_pipeline(PCA(1), LogisticRegression()).fit([[0], [1]], [0, 1]))


def test_permutation_importance_permutes_the_columns_of_x(pipeline, data):
    X, y = data
    found = permutation_importance(pipeline, X, y, scoring="pu_recall", random_state=0)
    assert found.feature_names == list(X.columns)
    assert_array_equal(found.values[:, -2:], 0)  # the pipeline does not use dates and durations
    assert found.mean[1] > 0


# Evaluation


def test_scorers(pipeline, data):
    X, y = data
    expected = pu_recall_score(y, pipeline.predict(X), scenario=ONE)
    assert get_scorer("pu_recall")(pipeline, X, y) == expected


def test_out_of_bag_risk(pipeline, data):
    X, y = data
    assert oob_risk(pipeline, y).value == pipeline[-1].oob_risk_
    with pytest.warns(UserWarning, match="5 of 79 labeled rows also appear"):  # once imputed
        assert oob_risk(pipeline, y, X=X).value == pipeline[-1].oob_risk_
    calibrated = PUCalibratedClassifier(pipeline, cv="prefit").fit(X, y)
    with pytest.raises(TypeError, match="forest is calibrated, but oob_risk evaluates the votes"):
        oob_risk(calibrated, y)


def test_calibration_with_out_of_bag_votes(pipeline, data):
    X, y = data
    model = PUCalibratedClassifier(clone(pipeline), cv="oob").fit(X, y)
    of_forest = PUCalibratedClassifier(clone(pipeline[-1]), cv="oob")
    of_forest.fit(pipeline[:-1].transform(X), y)
    assert_allclose(model.predict_proba(X), of_forest.predict_proba(pipeline[:-1].transform(X)))
    with pytest.raises(TypeError, match="or a pipeline that ends in one, got Pipeline"):
        PUCalibratedClassifier(make_pipeline(PCA(1), LogisticRegression()), cv="oob").fit(
            [[0], [1]], [0, 1]
        )


def test_sample_weights_reach_the_last_step(data):
    X, y = data
    weight = np.where(X["member"], 3.0, 1.0)
    model = make_pipeline(encoder(), forest(oob_score=True, n_estimators=30))
    plain = PUCalibratedClassifier(model, cv="oob").fit(X, y)
    weighted = PUCalibratedClassifier(model, cv="oob").fit(X, y, sample_weight=weight)
    own = clone(model).fit(X, y, purandomforestclassifier__sample_weight=weight)
    assert_array_equal(weighted.estimator_.predict_proba(X), own.predict_proba(X))
    assert (weighted.estimator_.predict_proba(X) != plain.estimator_.predict_proba(X)).any()
    folds = PUCalibratedClassifier(model, cv=2).fit(X, y, sample_weight=weight)
    assert_array_equal(folds.estimator_.predict_proba(X), own.predict_proba(X))
    # Scalers take weights too, but only the forest gets them.
    scaled = make_pipeline(encoder(), StandardScaler(with_mean=False), forest())
    result = cross_validate(
        scaled,
        X,
        y,
        cv=2,
        scoring="pu_recall",
        params={"sample_weight": weight},
        return_estimator=True,
        return_indices=True,
    )
    train = result["indices"]["train"][0]
    own = clone(scaled).fit(
        X.iloc[train], y[train], purandomforestclassifier__sample_weight=weight[train]
    )
    assert_array_equal(result["estimator"][0].predict_proba(X), own.predict_proba(X))


def test_prior_sensitivity(pipeline, data):
    X, y = data
    found = prior_sensitivity(pipeline, X, y, priors=[0.3, 0.5])
    rows = pipeline[:-1].transform(X)
    same = prior_sensitivity(pipeline[-1], rows, y, priors=[0.3, 0.5])
    assert_array_equal(found.decisions, same.decisions)
    assert_array_equal(found.f1, same.f1)


# Descriptions and files


def test_description(pipeline, data, tmp_path, monkeypatch):
    X, y = data
    monkeypatch.chdir(tmp_path)
    text = puforest.describe(pipeline)
    head = "Pipeline: ColumnTransformer, PURandomForestClassifier of 30 trees, fitted\n"
    assert text.startswith(head)
    assert re.search(r"^top features +onehotencoder__color_\w+ \d+%", text, re.MULTILINE)
    calls = re.findall(r"^  (\S.*?)  +(.*)$", text, re.MULTILINE)
    names = {"model": pipeline, "X": X, "y": y, "puforest": puforest, "skops": skops}
    for call, _ in calls:
        eval(call, names)
    assert (tmp_path / "report.html").exists()
    types = [*puforest.io.trusted_types(), "numpy.dtype"]  # of the encoder and the imputer
    loaded = skops.io.load("model.skops", trusted=types)
    assert_array_equal(loaded.predict_proba(X), pipeline.predict_proba(X))
    search = GridSearchCV(make_pipeline(encoder(), forest(n_estimators=2)), {}, cv=2).fit(X, y)
    assert puforest.describe(search).startswith(
        "GridSearchCV: Pipeline of ColumnTransformer, PURandomForestClassifier of 2 trees, fitted"
    )
    calibrated = PUCalibratedClassifier(pipeline, cv="prefit").fit(X, y)
    assert calibrated.describe() == puforest.describe(calibrated)
    assert "sigmoid, for a prior of 0.4" in calibrated.describe()
    assert "skops.io.dump" in calibrated.describe()
    assert "save" not in str(calibrated)


def test_descriptions_of_other_models(blobs):
    X, y, _ = blobs
    assert "not fitted yet" in puforest.describe(make_pipeline(PCA(2), forest()))
    skipping = Pipeline([("skip", "passthrough"), ("forest", forest(n_estimators=2))]).fit(X, y)
    assert puforest.describe(skipping).startswith("Pipeline: passthrough, PURandom")
    with pytest.raises(TypeError, match="must be an estimator of puforest, or a pipeline"):
        puforest.describe(make_pipeline(PCA(2), LogisticRegression()))


def test_saving_explains_the_ways(pipeline, data, tmp_path):
    calibrated = PUCalibratedClassifier(pipeline, cv="prefit").fit(*data)
    for save in (lambda path: save_model(pipeline, path), calibrated.save):
        with pytest.raises(TypeError, match=r"skops.*or fit the forest to the raw columns"):
            save(tmp_path / "model.puf")
    assert not list(tmp_path.iterdir())


# Reports


@pytest.mark.parametrize("held_out", [True, False])
def test_report(pipeline, data, written, held_out):
    X, y = data
    found = written(pipeline, X, y, held_out=held_out, cv=2)
    assert set(NAMES) <= {column["name"] for column in found["columns"]["columns"]}
    assert found["importances"]["names"] == [n for n, *_ in importances(pipeline).sorted(20)]
    assert found["model"]["transformers"] == ["ColumnTransformer"]
    assert [layer["class"] for layer in found["parameters"]] == [
        "ColumnTransformer",
        "PURandomForestClassifier",
    ]
    assert found["sensitivity"]["priors"]
    assert found["rows"]["folds"] == (1 if held_out else 2)
    curve = found["dependence"]["curves"][0]
    assert curve["name"] == found["importances"]["names"][0]
    if held_out:
        shown = next(m for m in found["quality"] if m["key"] == "pu_recall")
        recall = pu_recall_score(y, pipeline.predict(X), scenario=ONE)
        assert_allclose(shown["value"], recall, rtol=1e-5)


def test_report_refits_the_transformers_in_each_fold(data, written):
    X, y = data
    sizes = []

    class Counted(SimpleImputer):
        def fit(self, X, y=None):
            sizes.append(len(X))
            return super().fit(X, y)

    weight = np.where(X["member"], 3.0, 1.0)
    model = make_pipeline(Counted(), PUCalibratedClassifier(forest(n_estimators=5), cv=2))
    found = written(model.fit(X[["age"]], y), X[["age"]], y, cv=2, sample_weight=weight)
    assert len(sizes) == 3
    assert sizes[0] == sizes[1] + sizes[2] == 400
    assert found["model"]["class"] == "Counted, PUCalibratedClassifier of PURandomForestClassifier"
    assert found["rows"]["weighted"]
    search = GridSearchCV(make_pipeline(Counted(), forest(n_estimators=5)), {}, cv=2)
    written(search.fit(X[["age"]], y), X[["age"]], y, cv=2)
    assert len(sizes) == 3 + 3 + 2  # the search is not repeated


def test_report_on_text(written):
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.4).astype(int)
    words = np.array([["good", "fine", "day"], ["bad", "poor", "day"]])
    texts = [" ".join(rng.choice(words[0 if positive else 1], 5)) for positive in y]
    labeled = y & (rng.random(200) < 0.5)
    vocabulary = {word: i for i, word in enumerate(["good", "fine", "day", "bad", "poor"])}
    vocabulary |= {f"word{i}": i + 5 for i in range(200)}
    model = make_pipeline(TfidfVectorizer(vocabulary=vocabulary), forest(min_samples_leaf=5))
    found = written(model.fit(texts, labeled), texts, labeled, cv=2)
    assert {"good", "bad"} <= set(found["importances"]["names"])
    assert found["columns"]["n_features"] == 205
    shown = {p["name"]: p["value"] for p in found["parameters"][0]["parameters"]}
    assert 1000 < len(shown["vocabulary"]) < 1010
    with pytest.raises(ValueError, match=r"got one dimension: .*pass its last step"):
        permutation_importance(model, texts, labeled)
