"""Reports on tables with categories, missing values and dates."""

import numpy as np
import pandas as pd
import pytest
from messy_tables import COLORS, FORMS, LIBRARIES, ONE, messy_table
from numpy.testing import assert_allclose
from two_clouds import draw, forest

from puforest import PURandomForestClassifier
from puforest._conditions import condition
from puforest._named_table import NamedTable
from puforest.inspection import partial_dependence
from puforest.report import _columns


@pytest.fixture(scope="module")
def fitted():
    table, labeled = messy_table()
    model = PURandomForestClassifier(
        0.4, scenario=ONE, n_estimators=15, voting="soft", min_samples_leaf=10, random_state=0
    )
    return model.fit(table, labeled), table, labeled


def columns_of(data):
    return {column["name"]: column for column in data["columns"]["columns"]}


def test_columns(fitted, written):
    model, table, labeled = fitted
    new = table.copy()
    new.loc[:9, "color"] = "violet"
    data = written(model, new, labeled, held_out=True)
    shown = columns_of(data)
    assert list(shown) == list(table.columns)
    kinds = ["number", "category", "category", "boolean", "datetime", "duration"]
    assert [column["kind"] for column in shown.values()] == kinds
    assert data["columns"]["kinds"] == {
        "number": 1,
        "category": 2,
        "boolean": 1,
        "datetime": 1,
        "duration": 1,
    }
    assert shown["age"]["missing"] == table["age"].isna().sum()
    assert shown["color"]["missing"] == new["color"].isna().sum()
    assert [column["unknown"] for column in shown.values()] == [0, 10, 0, 0, 0, 0]
    assert (shown["color"]["categories"], shown["city"]["categories"]) == (3, 30)
    assert (data["columns"]["n_missing"], data["columns"]["n_unknown"]) == (2, 1)
    known = new["color"][new["color"].isin(COLORS)]
    first = known.value_counts(normalize=True)
    assert shown["color"]["values"].startswith(f"{first.index[0]} {first.iloc[0]:.0%}, ")
    assert shown["city"]["values"].endswith(", and 27 more")
    low, high = new["since"].min().date(), new["since"].max().date()
    assert shown["since"]["values"] == f"{low} to {high}"
    assert shown["age"]["values"] == f"{table['age'].min():.4g} to {table['age'].max():.4g}"
    assert "True" in shown["member"]["values"]
    alone = written(model)
    assert "missing" not in columns_of(alone)["age"]
    assert columns_of(alone)["color"] == {"name": "color", "kind": "category", "categories": 3}


def test_columns_of_wide_tables(written, monkeypatch):
    monkeypatch.setattr(_columns, "MAX_COLUMNS", 3)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)), (rng.random(200) < 0.3).astype(int)
    X[5, 6] = np.nan
    X[:, 7] = np.nan
    model = PURandomForestClassifier(0.5, n_estimators=3, random_state=1).fit(X, y)
    data = written(model, X, y, held_out=True)
    assert [c["name"] for c in data["columns"]["columns"]] == data["importances"]["names"][:3]
    assert (data["columns"]["n_features"], data["columns"]["n_missing"]) == (8, 2)
    monkeypatch.setattr(_columns, "MAX_COLUMNS", 8)
    empty = columns_of(written(model, X, y, held_out=True))["x7"]
    assert (empty["missing"], empty["values"]) == (200, "")
    X[:, 1] = np.nan
    curves = written(model, X, y, held_out=True)["dependence"]["curves"]
    only_missing = next(curve for curve in curves if curve["name"] == "x1")
    assert (only_missing["labels"], len(only_missing["missing"])) == ([], 1)


def test_trees_ask_for_categories(fitted, written):
    model, table, labeled = fitted
    shown = written(model, table, labeled, held_out=True)["trees"]
    schema = model._record.schema
    n_categorical = 0
    for t, tree in enumerate(shown["trees"]):
        grown = model._forest.tree(t)
        pairs = [(0, 0)]  # a node here and there
        for here, there in pairs:
            if tree["left"][here] == -1:
                continue
            name = shown["names"][str(tree["feature"][here])]
            asked = f"{name} {tree['split'][here]}".replace("≤", "<=")
            words = condition(schema, grown, there)
            yes_left, missing_left = bool(tree["yes_left"][here]), bool(grown.missing_left[there])
            assert asked == (words.left if yes_left else words.right)
            assert tree["missing_yes"][here] == (yes_left == missing_left)
            if grown.n_categories[there]:
                n_categorical += 1
                assert "not in" not in asked
                assert "!=" not in asked
                assert not tree["missing_yes"][here]
            left = tree["left"][here], int(grown.left[there])
            pairs += [left, (left[0] + 1, left[1] + 1)]
    assert n_categorical > 10
    positions = [list(table.columns).index(name) for name in ("age", "color")]
    assert set(positions) <= set(shown["missing"])
    assert list(table.columns).index("member") not in shown["missing"]
    complete = table[["member", "since"]]
    other = PURandomForestClassifier(0.4, n_estimators=3, random_state=0).fit(complete, labeled)
    assert written(other)["trees"]["missing"] == []
    # Splits tell of informative missing values in training, even without rows.
    telling = table.assign(age=table["age"].mask(labeled == 1))
    other = PURandomForestClassifier(0.4, n_estimators=3, random_state=0).fit(telling, labeled)
    assert positions[0] in written(other)["trees"]["missing"]


def test_dependence(fitted, written):
    model, table, labeled = fitted
    data = written(model, table, labeled, held_out=True)["dependence"]
    curves = {curve["name"]: curve for curve in data["curves"]}
    assert set(curves) == set(table.columns)
    color = partial_dependence(model, table, "color", y=labeled)
    assert curves["color"]["labels"] == COLORS
    assert_allclose([*curves["color"]["y"], *curves["color"]["missing"]], color.average, rtol=1e-5)
    assert len(curves["city"]["labels"]) == data["max_categories"] == 12
    assert curves["member"]["labels"] == ["False", "True"]
    since = partial_dependence(model, table, "since", y=labeled, grid_resolution=30)
    days = (since.grid[0] - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    assert_allclose(curves["since"]["x"], days, rtol=1e-5)
    assert len(curves["age"]["missing"]) == 1
    assert curves["wait"]["missing"] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_any_library_are_cross_fitted(fitted, written, library):
    model, table, labeled = fitted
    found = written(model, FORMS[library](table), labeled, cv=2)
    expected = written(model, table, labeled, cv=2)
    for name in ("quality", "columns", "dependence", "sensitivity"):
        assert found[name] == expected[name]


def test_named_arrays_are_cross_fitted(written):
    X, labeled, _ = draw(200, "case-control")
    model = forest(n_estimators=3).fit(NamedTable(X, ["a", "b", "c"]), labeled)
    found = written(model, NamedTable(X, ["a", "b", "c"]), labeled, cv=2)
    expected = written(model, pd.DataFrame(X, columns=["a", "b", "c"]), labeled, cv=2)
    assert found["quality"] == expected["quality"]


def test_constraints_by_name_hold_in_each_fold(fitted, written):
    _, table, labeled = fitted
    model = PURandomForestClassifier(
        0.4, scenario=ONE, n_estimators=5, categorical_features=["color", "city"], random_state=0
    )
    model.set_params(monotonic_cst={"age": 1}).fit(table, labeled)
    assert written(model, table, labeled, cv=2)["rows"]["folds"] == 2


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \u2028 {{data}}"


def test_hostile_categories_are_escaped(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.5
    table = pd.DataFrame({"a": np.where(rng.random(200) < 0.2 + 0.6 * y, HOSTILE, "plain")})
    model = PURandomForestClassifier(0.5, n_estimators=2, random_state=0).fit(table, y)
    options = {"held_out": True, "n_simulations": 0, "random_state": 0}
    file = model.report(tmp_path / "r.html", table, y, **options)
    text = file.read_text(encoding="utf-8")
    assert text.count("alert(1)") >= 2
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
