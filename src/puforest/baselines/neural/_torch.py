"""PyTorch, imported when it is needed, and left as it was found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from puforest._optional_imports import optional_import


def require_torch() -> None:
    """Refuse to go on without PyTorch, and say how to get it."""
    optional_import("torch", extra="neural", purpose="training neural networks")


@contextmanager
def on_threads(n: int) -> Iterator[None]:
    """A number of threads and a state of random numbers of its own for what is done within."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            yield
    finally:
        torch.set_num_threads(before)
