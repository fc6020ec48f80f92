"""Tables in files: read by batches, understood as PU data, written whole or not at all."""

from puforest.cli.tables._atomic import atomic_write, refuse_existing
from puforest.cli.tables._candidates import DECIMAL_COMMA, LeftOut, refuse_gaps
from puforest.cli.tables._labels import LabelRule, label_rule, read_labels, true_classes
from puforest.cli.tables._names import cut, shown
from puforest.cli.tables._numbers import WITH_COMMA, Numbers
from puforest.cli.tables._open import FORMATS, open_table
from puforest.cli.tables._pu import PUTable, label_column, read_pu
from puforest.cli.tables._source import Source, rows_at_a_time
from puforest.cli.tables._text import TextOptions
from puforest.cli.tables._write import WRITABLE, open_writer, written_format

__all__ = [
    "DECIMAL_COMMA",
    "FORMATS",
    "WITH_COMMA",
    "WRITABLE",
    "LabelRule",
    "LeftOut",
    "Numbers",
    "PUTable",
    "Source",
    "TextOptions",
    "atomic_write",
    "cut",
    "label_column",
    "label_rule",
    "open_table",
    "open_writer",
    "read_labels",
    "read_pu",
    "refuse_existing",
    "refuse_gaps",
    "rows_at_a_time",
    "shown",
    "true_classes",
    "written_format",
]
