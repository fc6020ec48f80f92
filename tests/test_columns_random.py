"""Random columns: what is read does not depend on the library that holds them."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from puforest._schema import FeatureSchema

pytestmark = pytest.mark.filterwarnings("ignore:X:UserWarning")

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)
CELLS = {
    "text": TEXT,
    "number": st.floats(allow_infinity=False, width=32),
    "integer": st.integers(-(2**31), 2**31 - 1),
    "boolean": st.booleans(),
    "date": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
    "duration": st.timedeltas(dt.timedelta(-10_000), dt.timedelta(10_000)),
}


@st.composite
def columns(draw):
    """Draw columns of one length, each of one kind and with gaps, but not without any value."""
    n = draw(st.integers(1, 12))
    table = {}
    for j in range(draw(st.integers(1, 4))):
        cells = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        column = draw(st.lists(st.none() | cells, min_size=n, max_size=n))
        column[draw(st.integers(0, n - 1))] = draw(cells)
        table[f"column {j}"] = column
    return table


def as_objects(table):
    array = np.empty((len(table["column 0"]), len(table)), dtype=object)
    for j, column in enumerate(table.values()):
        array[:, j] = column
    return array


@settings(max_examples=60)
@given(columns())
def test_all_libraries_agree(table):
    expected, encoded = FeatureSchema.of_table(as_objects(table))
    pandas = pd.DataFrame({name: pd.Series(c, dtype=object) for name, c in table.items()})
    forms = [
        pandas,
        pandas.infer_objects(),
        pl.DataFrame(table, strict=False),
        pa.table(table),
        as_objects(table).tolist(),
    ]
    for form in forms:
        schema, found = FeatureSchema.of_table(form)
        assert schema.n_features == expected.n_features
        for j, column in enumerate(table.values()):
            if all(c is None or (isinstance(c, float) and math.isnan(c)) for c in column):
                continue  # without any value the type of the column decides
            assert schema.columns.get(j) == expected.columns.get(j)
            assert_array_equal(found.values[:, j], encoded.values[:, j])
        again = schema.table(form).values
        assert_array_equal(again, found.values)
