"""Tables with columns of every kind and gaps, in the types of several libraries."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ONE = "single-training-set"
COLORS = ["blue", "green", "red"]
LIBRARIES = ["pandas", "polars", "arrow"]


def messy_table(n=400, seed=0):
    """Draw a table with six columns: a DataFrame and PU labels of a single training set."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    color = np.array(COLORS, dtype=object)[(rng.integers(0, 3, n) + 2 * y) // 2]
    color[rng.random(n) < 0.15] = None
    age = rng.normal(40, 10, n) + 12 * y
    age[rng.random(n) < 0.2] = np.nan
    day = np.round(500 * rng.random(n) + 200 * y)
    table = pd.DataFrame(
        {
            "age": age,
            "color": color,
            "city": pd.Categorical([f"city {i:02}" for i in rng.integers(0, 30, n)]),
            "member": rng.random(n) < np.where(y, 0.8, 0.3),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D"),
            "wait": pd.to_timedelta(rng.exponential(2, n) + y, unit="D"),
        }
    )
    return table, (y & (rng.random(n) < 0.5)).astype(int)


def messy_frame(n=300, seed=0):
    """Return a pandas table, PU labels and true classes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n) + 1.5 * y,
            "color": np.where(y, rng.choice(list("abc"), n), rng.choice(list("bcd"), n)),
            "member": rng.random(n) < 0.3 + 0.4 * y,
            "count": rng.integers(0, 5, n),
            "day": np.datetime64("2020-01-01") + rng.integers(0, 500, n).astype("m8[D]"),
            "lasted": rng.integers(0, 10**6, n).astype("m8[s]"),
        }
    )
    frame["day"] = frame["day"].astype("M8[us]")
    for name in ("number", "color", "day", "lasted"):
        frame.loc[rng.random(n) < 0.1, name] = None
    labeled = (y & (rng.random(n) < 0.5)).astype(int)
    return frame, labeled, y.astype(int)


def objects(frame):
    """Return the table as an array of Python objects, with None for missing values."""
    cells = frame.astype(object).to_numpy()
    return np.where(frame.isna().to_numpy(), None, cells)


FORMS = {
    "pandas": lambda frame: frame,
    "pandas category": lambda frame: frame.astype({"color": "category"}),
    "pandas object": lambda frame: frame.astype({"color": object}),
    "pandas nullable": lambda frame: frame.convert_dtypes(),
    "pandas arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars categorical": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("color").cast(pl.Categorical)
    ),
    "polars enum": lambda frame: pl.from_pandas(frame).with_columns(
        pl.col("color").cast(pl.Enum(list("zdcba")))
    ),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "arrow dictionary": lambda frame: with_dictionary(pa.Table.from_pandas(frame), "color"),
    "arrow batch": lambda frame: pa.Table.from_pandas(frame).combine_chunks().to_batches()[0],
    "object array": objects,
    "list": lambda frame: objects(frame).tolist(),
}


def with_dictionary(table, name):
    j = table.column_names.index(name)
    return table.set_column(j, name, table[name].dictionary_encode())
