"""Import of PyTorch, and its global state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from puforest._optional_imports import optional_import


def require_torch() -> None:
    """Raise an error that tells how to install PyTorch if it is missing."""
    optional_import("torch", extra="neural", purpose="training neural networks")


@contextmanager
def on_threads(n: int) -> Iterator[None]:
    """Set the number of threads and fork the random state; both are restored afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            yield
    finally:
        torch.set_num_threads(before)
