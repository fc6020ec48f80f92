"""Tables in files: read by batches, understood as PU data, written whole or not at all."""

from puforest.cli.tables._atomic import refuse_existing, written_whole
from puforest.cli.tables._labels import LabelRule, label_rule, require_both, true_classes
from puforest.cli.tables._numbers import LeftOut, matrix
from puforest.cli.tables._open import FORMATS, open_table
from puforest.cli.tables._pu import PUTable, label_column, read_pu
from puforest.cli.tables._source import Source
from puforest.cli.tables._text import TextOptions
from puforest.cli.tables._write import WRITABLE, open_writer, written_format

__all__ = [
    "FORMATS",
    "WRITABLE",
    "LabelRule",
    "LeftOut",
    "PUTable",
    "Source",
    "TextOptions",
    "label_column",
    "label_rule",
    "matrix",
    "open_table",
    "open_writer",
    "read_pu",
    "refuse_existing",
    "require_both",
    "true_classes",
    "written_format",
    "written_whole",
]
