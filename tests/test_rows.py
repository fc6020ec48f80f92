"""Rows of tables of every type."""

import numpy as np
import pytest
import scipy.sparse as sp
from messy_tables import FORMS, messy_frame
from numpy.testing import assert_array_equal

from puforest._encoded import EncodedTable
from puforest._named_table import NamedTable
from puforest._rows import sliceable, take_rows
from puforest._schema import FeatureSchema

FRAME, _, _ = messy_frame(20)
SCHEMA, ENCODED = FeatureSchema.of_table(FRAME)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [np.array([3, 0, 3]), slice(4, 9, 2), slice(None)], ids=str)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_keep_their_type_and_order(form, rows):
    table = FORMS[form](FRAME)
    taken = take_rows(table, rows)
    assert isinstance(taken, np.ndarray) if form == "list" else type(taken) is type(table)
    assert_array_equal(SCHEMA.table(taken).values, ENCODED.values[rows])


def test_rows_of_arrays():
    X = np.arange(12.0).reshape(4, 3)
    rows = np.array([2, 0])
    assert_array_equal(take_rows(NamedTable(X, list("abc")), rows).values, X[rows])
    assert_array_equal(take_rows(EncodedTable(X, (1,)), rows).values, X[rows])
    for sparse in (sp.csr_array(X), sp.coo_matrix(X), sp.csc_array(X)):
        assert_array_equal(take_rows(sparse, rows).toarray(), X[rows])
    assert_array_equal(take_rows(["a", "b", "c"], rows), ["c", "a"])


def test_cells_of_lists_keep_their_types():
    mixed = sliceable([["a", 1.5, True], ["b", None, False]])
    assert [type(cell) for cell in mixed[0]] == [str, float, bool]
    assert sliceable([[1, 2.5], [3, 4]]).dtype == np.float64
    assert sliceable([[True, False]]).dtype == object
    assert sliceable([[True, 2.5]]).dtype == object
    assert sliceable([[1, 2], [3]]).tolist() == [[1, 2], [3]]
    assert take_rows([1, "a", None], np.array([0, 1])).tolist() == [1, "a"]
    assert take_rows(["a", "b"], np.array([0])).dtype.kind == "U"
