"""Memory that is available, and memory that a fit to sparse data needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

# A code of each cell is stored by column and by row, in at least one byte each.
BYTES_PER_CELL = 2

PROC, CGROUP = Path("/proc"), Path("/sys/fs/cgroup")


def require_memory_for_codes(X: sp.csr_array, n_rows: int) -> None:
    """Raise a MemoryError if the codes of a sparse matrix cannot fit into memory.

    Parameters
    ----------
    X : csr_array
        The matrix, in canonical format.
    n_rows : int
        Number of rows that the trees are grown on.
    """
    used = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    # A column without any zero is not counted, though it may vary: this is a lower bound.
    n_columns = int(np.count_nonzero((used > 0) & (used < X.shape[0])))
    needed, available = BYTES_PER_CELL * n_rows * n_columns, available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"a fit to this sparse X needs at least {_size(needed)} of memory, {BYTES_PER_CELL} "
            f"bytes for each cell of the {n_columns:,} columns that vary, but {_size(available)} "
            "are available: reduce the number of columns, for example to 300 with "
            "sklearn.decomposition.TruncatedSVD(300), or use fewer rows"
        )


def _size(n_bytes: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.1f} {unit}"
    return f"{n_bytes / 2**10:,.0f} KiB"


def available_memory() -> int | None:
    """Return the number of bytes that this process can still use; None if it is unknown."""
    limits = [*_of_machine(), *_of_control_group(), *_of_process()]
    return max(min(limits), 0) if limits else None


def _of_machine() -> Iterator[int]:
    """Yield the free memory, or all memory of machines that do not tell."""
    for line in _lines(PROC / "meminfo"):
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1])
            return
    if hasattr(os, "sysconf"):  # not on Windows
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_control_group() -> Iterator[int]:
    """Yield what the limits of containers leave, in version 2 and 1 of control groups."""
    for folder, limit, usage in (
        (CGROUP, "memory.max", "memory.current"),
        (CGROUP / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        sizes = [line.strip() for name in (limit, usage) for line in _lines(folder / name)]
        if len(sizes) == 2 and all(size.isdigit() for size in sizes):
            yield int(sizes[0]) - int(sizes[1]) + _cached(folder)


def _cached(folder: Path) -> int:
    """Return the size of cached files, which are counted as used but make room."""
    for line in _lines(folder / "memory.stat"):
        if line.startswith(("inactive_file ", "total_inactive_file ")):
            return int(line.split()[1])
    return 0


def _of_process() -> Iterator[int]:
    """Yield what the limit of the address space (``ulimit -v``) leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    sizes = "".join(_lines(PROC / "self" / "statm")).split()
    if limit != resource.RLIM_INFINITY and sizes:
        yield limit - int(sizes[0]) * os.sysconf("SC_PAGE_SIZE")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
