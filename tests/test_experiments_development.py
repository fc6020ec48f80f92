"""Development data: tables of KEEL, numbers of labeled rows, and presence-only species."""

import numpy as np
import pandas as pd
import pytest

from experiments import development, harness
from experiments.data import Split, WholeTable, as_numbers, with_categories
from experiments.development import Folders, cases, load_development, middle_cases
from experiments.methods import METHODS, Method, Run
from experiments.rivals import DownSampledForest
from experiments.species import FEWEST_RECORDS, load_species, record_counts


@pytest.fixture
def keel(tmp_path):
    """A folder with one table, two thirds of whose 120 rows are positive."""
    folder = tmp_path / "keel" / "balanced" / "raw"
    folder.mkdir(parents=True)
    rows = [f"{i}, {'ab'[i % 2]}, {i % 3}" for i in range(120)]
    (folder / "vowel.dat").write_text("\n".join(rows))
    return Folders(keel=tmp_path / "keel")


def test_tables_keep_their_categories(keel):
    table = load_development("vowel", keel)
    assert list(table.X.dtypes.astype(str)) == ["int64", "category"]
    assert table.y.mean() == pytest.approx(2 / 3)  # two of three classes are positive
    first, again, other = (table.split(draw) for draw in (0, 0, 1))
    assert first.X.index.equals(again.X.index)
    assert not first.X.index.equals(other.X.index)
    assert len(first.X_test) == 36


def test_missing_folders_are_reported(keel):
    with pytest.raises(FileNotFoundError, match="no data set 'titanic'"):
        load_development("titanic", keel)
    with pytest.raises(FileNotFoundError, match="--keel"):
        load_development("titanic", Folders())


def test_numbers_of_labeled_rows(keel):
    """At most half of the 56 positive training rows are labeled, and no number is used twice."""
    found = list(cases("vowel", keel, draws=2))
    assert {case.n_labeled for case in found} == {28}
    assert len(found) == 4
    assert list(middle_cases("vowel", keel, draws=2)) == found
    assert list(cases("mnist", keel, draws=2)) == [Run("mnist", "", 0)]
    y = np.repeat([0, 1], 950)
    assert development.capped((50, 200, 1000), y) == [50, 200, 475]
    assert development.capped([200], y, 0.05, "single-training-set") == [25]


def test_all_development_data_are_listed_once():
    assert len(set(development.DATASETS)) == len(development.DATASETS) == 32
    assert set(development.SMALL) < set(development.TABLES)
    assert set(development.LOW_PRIORS) < set(development.TABLES)


def test_tables_as_numbers():
    table = with_categories(pd.DataFrame({"a": [1.0, np.nan, 3], "b": ["y", None, "x"]}))
    X, X_test = as_numbers(table, table[1:])
    assert X.tolist() == [[1, 1], [2, 0.5], [3, 0]]
    assert X_test.tolist() == [[2, 0.5], [3, 0]]


class Recorded(DownSampledForest):
    """A forest that remembers its data."""

    def fit(self, X, y):
        Recorded.fitted = X, y
        return super().fit(X, y)

    def predict_proba(self, X):
        Recorded.tested = X
        return super().predict_proba(X)


@pytest.mark.parametrize("scenario", ["case-control", "single-training-set"])
def test_low_priors(tmp_path, monkeypatch, scenario):
    monkeypatch.setitem(METHODS, "recorded", Method(lambda s: Recorded(3), cut_at_prior=True))
    y = np.arange(1000) % 2
    table = WholeTable(pd.DataFrame({"y": y, "row": np.arange(1000)}), y)
    run = Run("toy", "recorded", 0, 10, scenario, prior=0.1)
    record = harness.perform(run, table.split(0), 1, tmp_path)
    assert record["error"] == ""
    assert record["prior"] == record["resampled_prior"] == 0.1
    assert Run.of({key: str(value) for key, value in record.items()}) == run
    X, labels = Recorded.fitted
    population = X if scenario == "single-training-set" else X[labels == 0]
    assert population[:, 0].mean() == pytest.approx(0.1, abs=0.01)
    assert Recorded.tested[:, 0].mean() == pytest.approx(0.1, abs=0.01)


@pytest.fixture
def disdat(tmp_path):
    """Two regions with a species of enough records, and one of too few."""
    rng = np.random.default_rng(0)

    def sites(n, group, kind, **more):
        about = {"siteid": [f"s{i}" for i in range(n)], "x": 0.0, "y": 0.0, "group": group}
        features = {"warm": rng.normal(size=n), kind: rng.integers(3, size=n)}
        return pd.DataFrame(about | features | more)

    for region, kind in (("nsw", "vegsys"), ("swi", "calc")):
        part = "_ba" if region == "nsw" else ""
        n = FEWEST_RECORDS + 1
        species = [f"{region}01"] * (n - 1) + [f"{region}02"]
        env = sites(30, "ba", kind)
        files = {
            f"{region}_train_po": sites(n, "ba", kind, spid=species, occ=1),
            f"{region}_train_bg": sites(50, None, kind, spid="pseudo1", occ=0),
            f"{region}test_env{part}": env,
            f"{region}test_pa{part}": pd.DataFrame(
                {"siteid": env["siteid"], f"{region}01": np.arange(30) % 2}
            )[::-1],
        }
        for name, table in files.items():
            table.to_csv(tmp_path / f"{name}.csv.xz", index=False)
    return tmp_path


def test_species(disdat, tmp_path, monkeypatch):
    assert record_counts(disdat) == {"nsw01": FEWEST_RECORDS, "swi01": FEWEST_RECORDS}
    for name, kind in (("nsw01", "vegsys"), ("swi01", "calc")):
        data = load_species(name, disdat)
        assert list(data.X.columns) == ["warm", kind]
        assert isinstance(data.X[kind].dtype, pd.CategoricalDtype)
        assert data.y.sum() == FEWEST_RECORDS
        assert len(data.y) == 50 + FEWEST_RECORDS
        assert data.y_test.tolist() == [0, 1] * 15  # matched by site
    monkeypatch.setitem(METHODS, "forest", Method(lambda s: DownSampledForest(3)))
    run = Run("nsw01", "forest", 0, FEWEST_RECORDS)
    split = load_development("nsw01", Folders(disdat=disdat))
    assert isinstance(split, Split)
    record = harness.perform(run, split, 1, tmp_path)
    assert 0 <= record["auc"] <= 1
    assert record["prior"] == record["accuracy"] == ""
