"""Model files: each is refused, or predicts as a model does."""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from feature_names import with_names
from safetensors import deserialize
from safetensors.numpy import save

import puforest
from fuzz.kind import Kind, Original
from fuzz.mutate import BYTES
from puforest import (
    PUDecisionTreeClassifier,
    PUExtraTreeClassifier,
    PUExtraTreesClassifier,
    PUForestClassifier,
    PURandomForestClassifier,
    Recipe,
)
from puforest._encoded import EncodedTable
from puforest.calibration import PUCalibratedClassifier
from puforest.prior import PriorEstimatedWarning

MANY_FEATURES = 10**6  # beyond them only the classes of a row or two are asked for
NUMBERS = [0, -1, 1, 2, 3, 7, 0.5, -0.5, 1e-300, 1e308, np.inf, 2**31, 2**64, 10**40, -(2**63)]
WORDS = ["", "hard", "U5", "object", "int8", "from_dtype", "category", "boolean", "\ud800"]
WORDS += ["auto", "prior", "nnpu", "PUForestClassifier"]
VALUES = [*NUMBERS, *WORDS, None, True, False, [], [0, 1], ["a", "b"], {}, {"a": 1}]
DTYPES = {"F64": "<f8", "I64": "<i8", "I32": "<i4", "U16": "<u2", "U8": "u1"}

OF_VERSION_1 = [
    Original(path.read_bytes(), ".puf")
    for path in sorted((Path(__file__).parents[1] / "data").glob("*-version-1.puf"))
]


def originals():
    """Small files of all classes."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    X = rng.normal(size=(300, 4)) + 1.5 * y[:, None]
    labeled = (y & (rng.random(300) < 0.5)).astype(int)
    small = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
    oob = {"oob_score": True, "n_estimators": 20, "max_depth": 2, "random_state": 0}
    forest = PURandomForestClassifier(0.5, voting="soft", **oob)
    named = PURandomForestClassifier(**small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)
        named.fit(X, labeled)
    with_names(named, ["width", "höhe", "", "d"])
    models = [
        named,
        PUExtraTreesClassifier(0.5, **small).fit(X, np.array(["n", "p"])[labeled]),
        PUDecisionTreeClassifier(0.5, voting="soft", max_depth=4).fit(X, labeled == 1),
        PUExtraTreeClassifier(0.5, random_state=0, max_depth=3).fit(X, 2.0 * labeled - 1),
        forest.fit(X, labeled),
        PURandomForestClassifier(0.5, threshold=("cost", 3), **oob).fit(X, labeled),
        *pu_forests(X, labeled),
        PUCalibratedClassifier(forest, cv="oob").fit(X, labeled),
        PUCalibratedClassifier(forest, cv="oob", method="isotonic").fit(X, labeled),
        *models_of_tables(X, labeled, rng),
    ]
    return [Original(content_of(model), ".puf") for model in models] + OF_VERSION_1


def pu_forests(X, labeled):
    """Models with recipes, a curve of out-of-bag scores and a calibrator."""
    params = {"n_estimators": 10, "random_state": 0}
    recipe = Recipe(splits="best", growth="nnpu", max_features=None, min_samples_leaf=40)
    small = [recipe, Recipe(min_samples_leaf=50, unlabeled_per_labeled=0.5)]
    forest = PUForestClassifier(candidates=small, threshold=("cost", 2.5), **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorEstimatedWarning)
        yield forest.fit(X, labeled)
    yield PUForestClassifier(0.5, candidates=recipe, threshold="f1", **params).fit(X, labeled)


def models_of_tables(X, labeled, rng):
    """Models with categories, dates and missing values."""
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(len(X)) < 0.1, np.nan, X[:, 0]),
            "odor": rng.choice(["anise", "fishy", "größer, \n", None], len(X)),
            "code": pd.Categorical(rng.integers(40, size=len(X))),
            "flag": X[:, 1] > 0,
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(100 * X[:, 2], "D"),
        }
    )
    small = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
    mask = [False, True, True, False, False]
    yield PUExtraTreesClassifier(0.5, categorical_features=mask, **small).fit(table, labeled)
    forest = PURandomForestClassifier(
        0.5, voting="soft", categorical_features=["code"], monotonic_cst={"size": 1}, **small
    )
    yield forest.fit(table.drop(columns="odor"), labeled)
    constraints = [1, 0, -1, 0]
    yield PUDecisionTreeClassifier(0.5, max_depth=4, monotonic_cst=constraints).fit(X, labeled)


def content_of(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.puf"
        model.save(path)
        return path.read_bytes()


def unpacked(content):
    """Header and arrays of a file that is as it should be."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["puforest"])
    arrays = {
        name: np.frombuffer(entry["data"], dtype=DTYPES[entry["dtype"]]).copy()
        for name, entry in deserialize(content)
    }
    return header, arrays


def packed(header, arrays):
    return save(arrays, metadata={"puforest": json.dumps(header)})


def change_columns(content, rng, others):
    """Kinds and labels of columns."""
    header, arrays = unpacked(content)
    columns = json.loads(bytes(arrays.get("columns", b"[]")))
    change_value(columns, rng)
    arrays["columns"] = np.frombuffer(json.dumps(columns).encode(), dtype=np.uint8)
    return packed(header, arrays)


def flip_header(content, rng, others):
    """A few bytes of the header become others."""
    changed = np.frombuffer(content, dtype=np.uint8).copy()
    at = rng.integers(min(8 + length_of(content), len(changed)), size=rng.integers(1, 6))
    changed[at] = rng.integers(256, size=len(at))
    return changed.tobytes()


def length_of(content):
    """The length of the header, of a file that may have been damaged already."""
    return int.from_bytes(content[:8], "little")


def change_length(content, rng, others):
    lengths = [0, 1, 7, 2**20, 2**20 + 1, 2**31, 2**40, 2**63, 2**64 - 1]
    length = lengths[rng.integers(len(lengths))]
    return length.to_bytes(8, "little") + content[8:]


def change_entry(content, rng, others):
    """Where an array is said to be, and what of."""
    length = int.from_bytes(content[:8], "little")
    entries = json.loads(content[8 : 8 + length])
    name = rng.choice(list(entries))
    change_value(entries[name], rng)
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def change_header(content, rng, others):
    header, arrays = unpacked(content)
    for _ in range(rng.integers(1, 3)):
        change_value(header, rng)
    return packed(header, arrays)


def change_value(tree, rng):
    """Replace, remove or add something somewhere in an object of JSON."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if not isinstance(tree[key], dict | list) or rng.random() < 0.2:
            break
        tree = tree[key]
    what = rng.integers(4)
    if what == 0 and isinstance(tree, dict):
        del tree[key]
    elif what == 1 and isinstance(tree, dict):
        tree[f"{key}2"] = tree[key]
    elif what == 2 and isinstance(tree[key], int | float):
        tree[key] = tree[key] + int(rng.integers(-2, 3))
    else:
        tree[key] = copy.copy(VALUES[rng.integers(len(VALUES))])


def change_items(content, rng, others):
    """A few numbers of an array."""
    header, arrays = unpacked(content)
    name = rng.choice(list(arrays))
    array = arrays[name]
    if len(array):
        at = rng.integers(len(array), size=rng.integers(1, 4))
        array[at] = some_numbers(array, len(at), rng)
    return packed(header, arrays)


def some_numbers(array, n, rng):
    if array.dtype.kind == "f":
        strange = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308, -1.0, 1.0, 1 + 1e-9, 0.5]
        return rng.choice(strange, size=n)
    near = array[rng.integers(len(array), size=n)].astype(np.int64) + rng.integers(-2, 3, size=n)
    info = np.iinfo(array.dtype)
    strange = np.array([info.min, info.max, 0, 1, len(array), len(array) - 1], dtype=object)
    chosen = near if rng.random() < 0.7 else rng.choice(strange, size=n)
    return np.clip(chosen, info.min, info.max).astype(array.dtype)


def change_arrays(content, rng, others):
    """Swap, shorten, lengthen, retype, remove or add whole arrays."""
    header, arrays = unpacked(content)
    first, second = rng.choice(list(arrays), size=2)
    what = rng.integers(6)
    if what == 0:
        arrays[first], arrays[second] = arrays[second], arrays[first]
    elif what == 1:
        arrays[first] = arrays[first][: rng.integers(len(arrays[first]) + 1)].copy()
    elif what == 2:
        arrays[first] = np.concatenate([arrays[first], arrays[first][:3]])
    elif what == 3:
        arrays[first] = arrays[first].astype(rng.choice(list(DTYPES.values())))
    elif what == 4:
        del arrays[first]
    else:
        arrays[f"evidence.{first}"] = arrays[second]
    return packed(header, arrays)


def graft(content, rng, others):
    """The header of one file with arrays of another."""
    header, arrays = unpacked(content)
    other_header, other_arrays = unpacked(others[rng.integers(len(others))])
    if rng.random() < 0.5:
        arrays |= {name: other_arrays[name] for name in arrays if name in other_arrays}
    else:
        part = rng.choice(list(header["model"]))
        header["model"][part] = other_header["model"].get(part)
    return packed(header, arrays)


DAMAGES = [
    *BYTES,
    flip_header,
    change_length,
    change_entry,
    change_header,
    change_items,
    change_columns,
    change_arrays,
    graft,
]


def judge(path, options, rng):
    """Whether a file is refused, with the right error; a model that is not must predict."""
    try:
        model = puforest.load(path)
    except ValueError as error:
        if not str(error).startswith(f"{path} is not a puforest model: "):
            raise
        return "refused"
    n = model.n_features_in_
    schema = getattr(model, "estimator_", model)._record.schema
    X = np.linspace(-2, 2, 2 * n).reshape(2, n)
    for j in schema.categorical:
        X[:, j] = np.clip([0, len(schema.categories(j)) - 1], 0, None)
    X[1, :: rng.integers(1, n + 1)] = np.nan
    for dtype in (np.float64, np.float32):
        X_of_type = EncodedTable(X.astype(dtype), schema.categorical)
        share = model.predict_proba(X_of_type)
        assert share.shape == (2, 2)
        assert ((share >= 0) & (share <= 1)).all()
        assert set(model.predict(X_of_type)) <= set(model.classes_)
    if n <= MANY_FEATURES:
        assert "next steps" in model.describe()
        assert "Next: " in str(model)
    return "loaded"


MODELS = Kind(
    "model",
    originals,
    DAMAGES,
    judge,
    ("describe FILE", "predict FILE IN/rows.csv -o OUT/s.csv --force"),
)
