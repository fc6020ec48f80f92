"""Training and estimating the class prior on the command line."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import puforest
from puforest.recipes import FAST as FASTEST
from puforest.recipes import RECIPES

FAST = ("--trees", "5", "--threads", "1")
PAPER = ("--model", "paper", *FAST)


def test_fit_prints_a_summary(cli, cli_folder, tmp_path):
    model = tmp_path / "model.puf"
    said = cli(
        "fit", cli_folder / "rows.csv", "--label", "known", "--drop", "truth", "-o", model,
        "--drop", "id", "--scenario", "single-training-set", *FAST,
    )  # fmt: skip
    assert said.code == 0
    assert re.search(r"rows +600: 115 labeled, 485 unlabeled", said.err)
    assert re.search(r"labels +known = 1 is labeled, 0 is not", said.err)
    assert re.search(r"features +6 numeric: feature 0, feature 1", said.err)
    assert re.search(r"scenario +single-training-set", said.err)
    assert re.search(r"prior +at most 0\.\d+ \(95% limit by bbe\); the model uses 0\.\d+", said.err)
    assert re.search(r"threshold +0\.\d+, so that the fraction predicted positive is the", said.err)
    assert re.search(r"predictions +[0-9.]+% of the unlabeled rows are predicted", said.err)
    assert "(out of bag)" in said.out
    assert re.search(r"Precision +range +0\.\d+ to", said.out)
    assert re.search(r"Recall +0\.\d+ +0\.\d+ to", said.out)
    assert "the prior is only bounded" in " ".join(said.err.split()).lower()
    loaded = puforest.load(model)
    assert loaded.feature_names_in_.tolist() == [f"feature {i}" for i in range(6)]
    assert type(loaded) is puforest.PUForestClassifier
    assert loaded.n_estimators == 5
    for row in loaded.comparison_:
        assert f"{row.auc:.4f} ± {row.standard_error:.4f}" in said.err
    assert loaded.prior_estimate_.value == loaded.prior_


def test_unused_columns_are_listed(cli, cli_folder, tmp_path):
    table = pa.csv.read_csv(cli_folder / "rows.csv")
    table = table.append_column("name", pa.array([f"Dr. {i}" for i in range(600)]))
    table = table.append_column("state", pa.array(["CH"] * 600))
    table = table.append_column("town", pa.array(["Bern", "Basel", "?"] * 200))
    pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
    fit = ("fit", tmp_path / "rows.csv", "--label", "known", "--prior", "0.4", "--no-quality")
    fit += ("-o", tmp_path / "m.puf", "--force", *PAPER)
    said = cli(*fit)
    assert said.code == 0
    assert re.search(r"features +9 \(8 numeric, 1 categorical\): id, truth", said.err)
    assert re.search(r"missing +200 values in 1 column: town \(200\)", said.err)
    assert "warning: 2 columns not used:\n" in said.err
    assert re.search(r"\n  name +text that differs in every row, probably an identifier", said.err)
    assert re.search(r"\n  state +constant, always CH *\nUse --keep COLUMN", said.err)
    quiet = cli(*fit, "--quiet").err
    assert "probably an identifier" in quiet
    answer = json.loads(cli(*fit, "--json").out)
    assert answer["kinds"] == {"town": "category"}
    assert answer["missing"] == {"town": 200}
    assert list(answer["left_out"]) == ["name", "state"]
    assert answer["warnings"][0] == (
        "2 columns not used: name (text that differs in every row, probably an identifier or free "
        "text); state (constant, always CH)"
    )
    silent = cli(*fit, "--quiet", "--drop", "name", "--drop", "state", "--drop", "id")
    assert silent.err == ""
    answer = json.loads(cli(*fit, "--json", "--keep", "name", "--keep", "state").out)
    assert answer["features"][-3:] == ["name", "state", "town"]
    assert answer["left_out"] == {}


def test_model_options(cli, cli_folder, tmp_path):
    said = cli(
        "fit", cli_folder / "rows.csv", "--label", "known", "--features", "feature 2",
        "--features", "feature 0", "--prior", "0.4", "--model", "random-forest", "--risk", "upu",
        "--loss", "logistic", "--voting", "soft", "--max-depth", 3, "--min-samples-leaf", 7,
        "--seed", 5, "-o", tmp_path / "m.puf", "--no-quality", "--max-features", "0.5",
        "--max-unlabeled", 50, "--threshold", "0.3", *FAST,
    )  # fmt: skip
    assert said.code == 0
    model = puforest.load(tmp_path / "m.puf")
    assert type(model) is puforest.PURandomForestClassifier
    expected = {"risk": "upu", "loss": "logistic", "voting": "soft", "max_depth": 3}
    expected |= {"min_samples_leaf": 7, "random_state": 5, "n_jobs": 1, "prior": 0.4}
    expected |= {"max_features": 0.5, "max_unlabeled": 50, "threshold": 0.3}
    assert {name: getattr(model, name) for name in expected} == expected
    assert model.feature_names_in_.tolist() == ["feature 0", "feature 2"]


@pytest.fixture
def forest_of(cli, cli_folder, tmp_path):
    """Fit the default model with some options and return it with the answer."""

    def fit(*options):
        answer = cli(
            "fit", cli_folder / "rows.csv", "--label", "known", "--drop", "truth", "--drop", "id",
            "--prior", "0.4", "--scenario", "single-training-set", "-o", tmp_path / "m.puf",
            "--force", "--json", *FAST, *options,
        )  # fmt: skip
        assert answer.code == 0, answer
        return puforest.load(tmp_path / "m.puf"), json.loads(answer.out)

    return fit


def test_options_of_the_forest_apply_to_all_candidates(forest_of):
    n_labeled = 115
    fields = {
        ("--loss", "logistic"): ("loss", "logistic"),
        ("--min-samples-leaf", 20): ("min_samples_leaf", 20),
        ("--max-features", "all"): ("max_features", None),
        ("--max-features", 2): ("max_features", 2),
        ("--max-unlabeled", 46): ("unlabeled_per_labeled", 46 / (n_labeled * 4 / 5)),
    }
    default, _ = forest_of("--no-quality")
    assert [row.recipe for row in default.comparison_] == list(RECIPES)
    for options, (name, value) in fields.items():
        model, answer = forest_of("--no-quality", *options)
        recipes = [row.recipe for row in model.comparison_]
        assert {getattr(recipe, name) for recipe in recipes} == {value}
        assert 1 < len(recipes) <= len(RECIPES)
        assert [row["recipe"] for row in answer["candidates"]] == list(map(str, recipes))
        assert model._forest.n_labeled.tolist() != default._forest.n_labeled.tolist()
    ample, _ = forest_of("--no-quality", "--max-unlabeled", 10**6)
    assert [row.recipe.unlabeled_per_labeled for row in ample.comparison_] == [
        min(recipe.unlabeled_per_labeled, 485 / (n_labeled * 4 / 5)) for recipe in RECIPES
    ]
    fast, _ = forest_of("--no-quality", "--candidates", "fast")
    assert [row.recipe for row in fast.comparison_] == list(FASTEST)


def test_thresholds(forest_of, blobs):
    unlabeled = blobs[1] == 0
    found = {}
    for rule in ("prior", "f1", "cost:10", "0.3"):
        model, answer = forest_of("--candidates", "fast", "--threshold", rule)
        assert answer["threshold"] == model.threshold_
        flagged = model.oob_decision_function_[unlabeled] > 0
        assert answer["predicted_positive"] == pytest.approx(flagged.mean())
        found[rule] = model.threshold_
        recall = (model.oob_decision_function_[~unlabeled] > 0).mean()
        assert answer["quality"]["metrics"]["pu_recall"]["value"] == pytest.approx(recall)
    assert found["0.3"] == 0.3
    assert found["cost:10"] < found["prior"]
    assert len(set(found.values())) == 4


def test_rules_of_random_forests(cli, cli_folder, tmp_path):
    fit = ("fit", cli_folder / "rows.csv", "--label", "known", "--prior", "0.4", "--drop", "truth")
    fit += ("--drop", "id", "-o", tmp_path / "m.puf", "--trees", 20, "--threshold", "f1", "--json")
    answer = json.loads(cli(*fit, "--model", "random-forest", "--folds", 2).out)
    model = puforest.load(tmp_path / "m.puf")
    assert answer["threshold"] == model.threshold_ != 0.5
    assert answer["predicted_positive"] > 0
    assert answer["candidates"] == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--voting", "soft"), "--voting: the model forest does not have this option; use --model"),
        (("--risk", "upu"), "--model paper or --model random-forest"),
        (("--max-depth", "3"), "--max-depth"),
        (("--folds", "3"), "--folds"),
        (("--model", "paper", "--candidates", "fast"), "use --model forest"),
        (
            ("--model", "paper", "--threshold", "cost:3"),
            "--threshold cost:3 is set from out-of-bag",
        ),
    ],
)
def test_options_of_other_models_are_refused(cli, tmp_path, options, expected):
    said = cli("fit", tmp_path / "none.csv", "-o", tmp_path / "m.puf", *options)
    assert said.code == 1
    assert expected in said.err


def test_prior(cli, cli_folder, blobs):
    prior = (
        "prior",
        cli_folder / "rows.csv",
        "--label",
        "known",
        "--drop",
        "truth",
        "--drop",
        "id",
    )
    prior += ("--scenario", "single-training-set", "--method", "bbe", "--method", "elkan-noto")
    answer = json.loads(cli(*prior, "--json").out)
    assert list(answer["estimates"]) == ["bbe", "elkan-noto"]
    # No region of these rows is purely positive.
    found = answer["estimates"]["bbe"]
    assert found["kind"] == "upper bound"
    assert found["interval"][0] < blobs[2].mean() < found["upper"] == found["interval"][1]
    said = cli(*prior)
    assert re.search(r"bbe +at most (0\.\d+) +0\.\d+ to \1 +at least \d", said.out)
    assert f"bbe: {found['reason']}" in " ".join(said.err.split())
    again = json.loads(cli(*prior, "--json", "--threads", 1).out)
    assert again["estimates"] == answer["estimates"]


def test_json_prints_nothing_else(cli, cli_folder, tmp_path):
    said = cli(
        "fit", cli_folder / "rows.csv", "--label", "known", "-o", tmp_path / "m.puf",
        "--folds", 2, "--json", *PAPER,
    )  # fmt: skip
    assert said.err == ""
    answer = json.loads(said.out)
    assert answer["features"][:2] == ["id", "truth"]
    assert answer["warnings"][0].startswith("the column id has a different value in every row")
    low, high = answer["prior_interval"]
    assert low <= answer["prior"] <= high
    assert 0 <= answer["quality"]["metrics"]["pu_f1"]["value"] <= 1


def test_quiet_fit_prints_only_the_quality(cli, cli_folder, tmp_path):
    fit = ("fit", cli_folder / "rows.csv", "--label", "known", "--prior", "0.4", "-q", *PAPER)
    fit += ("--drop", "id", "--drop", "truth", "--scenario", "single-training-set")
    assert cli(*fit, "--no-quality", "-o", tmp_path / "m.puf") == (0, "", "")
    said = cli(*fit, "--folds", 2, "-o", tmp_path / "n.puf")
    assert said.out.startswith("Quality")
    assert said.err == ""


def test_verbose_prints_details(cli, cli_folder, tmp_path):
    fit = (
        "fit",
        cli_folder / "rows.csv",
        "--label",
        "known",
        "--prior",
        "0.4",
        "--no-quality",
        *PAPER,
    )
    brief, long = (cli(*fit, "-o", tmp_path / f"m{len(v)}.puf", *v).err for v in ((), ("-v",)))
    assert set(brief.splitlines()[1:6]) <= set(long.splitlines())
    assert re.search(r"read in 0\.\d+ s", long)
    assert "read in" not in brief


def test_fits_report_progress(blobs, capsys):
    fractions = []
    forest = puforest.PUExtraTreesClassifier(prior=0.4, n_estimators=3, verbose=1)
    forest.fit(*blobs[:2], progress=fractions.append)
    assert fractions[-1] == 1.0
    assert fractions == sorted(fractions)
    assert capsys.readouterr().err == ""
    forest.fit(*blobs[:2])
    assert "3/3 trees" in capsys.readouterr().err


@pytest.mark.parametrize(("prior", "contradicts"), [(0.97, True), (0.1, False)])
def test_given_priors_are_compared_with_the_data(cli, tmp_path, prior, contradicts):
    """One above the upper bound contradicts the data; one below it does not."""
    rng = np.random.default_rng(0)
    row = np.arange(600)
    columns = {"y": row < 300, "x": rng.normal(size=600) + 4 * ((row < 300) | (row % 2))}
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "t.csv")
    fit = ("fit", tmp_path / "t.csv", "--label", "y", "-o", tmp_path / "m.puf", "--no-quality")
    said = cli(*fit, "--prior", prior, "--candidates", "fast", "--trees", "20")
    assert said.code == 0
    assert (f"--prior {prior:g}: the prior {prior:g} is above" in said.err) == contradicts


def test_evaluation_compares_a_given_prior(cli, cli_folder, tmp_path):
    model = tmp_path / "m.puf"
    options = ("--label", "known", "--scenario", "single-training-set")
    fit = ("fit", cli_folder / "rows.csv", *options, "--drop", "truth", "--drop", "id", *FAST)
    assert cli(*fit, "--no-quality", "-o", model).code == 0
    evaluate = ("evaluate", model, cli_folder / "rows.csv", *options)
    assert "is above" in cli(*evaluate, "--prior", "0.95").err
    assert "is above" not in cli(*evaluate, "--prior", "0.3").err
