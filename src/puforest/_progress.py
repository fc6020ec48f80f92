"""Progress of a fit, as lines on standard error or as whoever asks for it shows it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Show: TypeAlias = Callable[[float], None]

_show: ContextVar[Show | None] = ContextVar("_show", default=None)


@contextmanager
def progress_shown_by(show: Show) -> Iterator[None]:
    """Within this, fits with ``verbose`` call `show` with the share that is done."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


class Progress:
    """Told now and then how many trees are done; speaks at most every `interval` seconds."""

    def __init__(self, interval: float = 1.0) -> None:
        self._start = time.perf_counter()
        self._interval = interval
        self._spoke = self._start
        self._show = _show.get()

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        if self._show is not None:
            self._show(done / total)
        elif now - self._spoke >= self._interval:
            self._spoke = now
            self._say(done, total, now)

    def finish(self, total: int) -> None:
        if self._show is not None:
            self._show(1.0)
        else:
            self._say(total, total, time.perf_counter())

    def _say(self, done: int, total: int, now: float) -> None:
        print(f"puforest: {done}/{total} trees, {now - self._start:.1f} s", file=sys.stderr)
