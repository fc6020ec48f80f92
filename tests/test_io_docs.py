"""docs/model-files.md: its code runs, and it lists everything that a file can contain."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from fuzz.model_files import originals, unpacked
from mixed_forests import mixed_model, mixed_rows, walked
from numpy.testing import assert_allclose
from saved_models import small_pu_forest

from puforest._model import NODE_FIELDS
from puforest.io._container import DTYPES

PAGE = (Path(__file__).parents[1] / "docs" / "model-files.md").read_text()


def test_the_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    predicted = [names["probability"](x) for x in names["X"][:50]]
    assert predicted == names["forest"].predict_proba(names["X"][:50])[:, 1].tolist()
    # The same reader with soft voting.
    soft = names["forest"].set_params(voting="soft", min_samples_leaf=20, max_depth=4)
    soft.fit(names["X_pu"], names["labeled"]).save("mushrooms.puf")
    (reader,) = re.findall(r"```python\n(import json.*?)```", PAGE, re.DOTALL)
    exec(reader, names)
    assert names["model"]["parameters"]["voting"] == "soft"
    # The same reader for categories and missing values.
    mixed = mixed_model()
    mixed.save("mushrooms.puf")
    X = mixed_rows()
    expected = SimpleNamespace(predict_proba=lambda X: np.column_stack([X[:, 0], walked(mixed, X)]))
    exec(reader, {"np": np, "X": X, "forest": expected})


def test_the_reader_of_pu_forests(blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, labeled, _ = blobs
    forest = small_pu_forest().fit(X, labeled)
    forest.save("mushrooms.puf")
    (reader,) = re.findall(r"```python\n(import json.*?)\nassert [^\n]*\n```", PAGE, re.DOTALL)
    names = {"np": np}
    exec(reader, names)
    predicted = [names["probability"](x) for x in X[:20]]
    assert_allclose(predicted, forest.predict_proba(X[:20])[:, 1], rtol=1e-14)


def test_the_table_of_node_fields():
    codes = {str(np.dtype(dtype)): code for code, dtype in DTYPES.items()}
    for field in NODE_FIELDS:
        in_leaves = "" if field.in_leaves is None else f"{field.in_leaves:g}"
        row = f"| `{field.name}` | {codes[field.dtype]} | {in_leaves} | {field.meaning} |"
        assert row.replace("|  |", "| |") in PAGE


def test_all_fields_and_arrays_are_listed():
    for original in originals():
        header, arrays = unpacked(original.content)
        named = [*header, *header["model"], *(header["calibration"] or ())]
        for parts in ("masses", "rows", "prior_estimate", "out_of_bag", "calibrator"):
            named += list(header["model"].get(parts) or ())
        for row in header["model"].get("comparison") or ():
            named += [*row, *row["recipe"]]
        named += [re.sub(r"^evidence\..*", "evidence.*", name) for name in arrays]
        if "columns" in arrays:
            columns = json.loads(bytes(arrays["columns"]))
            named += [key for column in columns for key in (*column, column["kind"])]
        for name in named:
            assert f"`{name}`" in PAGE, name
