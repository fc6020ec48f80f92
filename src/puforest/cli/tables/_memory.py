"""Tables that do not fit into memory, refused before anything is allocated for them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def require_memory(size: int, what: str, way_out: str) -> None:
    """Refuse what takes more bytes than there are.

    Parameters
    ----------
    size : int
        Bytes that are needed.
    what : str
        What needs them, as the beginning of a message.
    way_out : str
        What to do instead.
    """
    most = most_memory()
    if most is not None and size > most:
        raise MemoryError(
            f"{what} would take {gigabytes(size)} of memory, but only {gigabytes(most)} are "
            f"available: {way_out}"
        )


def most_memory() -> int | None:
    """Bytes that this process may use at most, None if nobody knows."""
    limits = []
    if os.name == "posix":
        import resource

        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        limits.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    with suppress(OSError, ValueError):  # a container, which may have no limit
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((limit for limit in limits if limit > 0), default=None)


def gigabytes(size: int) -> str:
    """A number of bytes for readers."""
    return f"{size / 1e9:,.3g} GB" if size < 1e12 else f"{size / 1e9:,.0f} GB"
