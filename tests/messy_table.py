"""A small table as users have them: categories, gaps, booleans, dates and durations."""

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


def in_library(table, library):
    """Convert a DataFrame to a table of another library."""
    if library == "polars":
        return pl.from_pandas(table)
    return table if library == "pandas" else pa.Table.from_pandas(table, preserve_index=False)
