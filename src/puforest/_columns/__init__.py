"""Columns of tables: reading NumPy arrays and pandas, polars and Arrow tables.

None of the libraries is imported unless one of its tables is read.
"""

from puforest._columns._column import (
    Column,
    TableColumns,
    as_categories,
    complex_error,
    tidy_number,
)
from puforest._columns._objects import is_missing
from puforest._columns._table import ArrayColumns, as_table, columns_of, is_data_frame

__all__ = [
    "ArrayColumns",
    "Column",
    "TableColumns",
    "as_categories",
    "as_table",
    "columns_of",
    "complex_error",
    "is_data_frame",
    "is_missing",
    "tidy_number",
]
