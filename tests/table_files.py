"""Small tables for the command line, and files of arrays byte by byte."""

import io
import zipfile

import numpy as np

from puforest.cli.tables._dialect import TextOptions
from puforest.cli.tables._features import ColumnChoice
from puforest.cli.tables._missing import MissingMarkers
from puforest.cli.tables._open import open_table
from puforest.cli.tables._pu_table import read_pu

FAST = ("--model=paper", "--trees=3", "--threads=1", "--prior=0.4", "--no-quality", "-q", "--force")
Y = np.arange(20) % 2
X = np.arange(60.0).reshape(20, 3) % 11


def opened(path, missing=(), not_missing=()):
    """Open a table as the commands do."""
    markers = MissingMarkers().changed(missing, not_missing)
    return open_table(path, format=None, text=TextOptions(), missing=markers)


def read(path, label=None, missing=(), not_missing=(), **choice):
    """Read a table as fit does."""
    source = opened(path, missing, not_missing)
    return read_pu(source, label=label, positive=None, choice=ColumnChoice(**choice))


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def stored(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def declared(shape, data=b"", dtype="<f8"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data
