"""Progress of a fit, as lines on standard error."""

import sys
import time


class Progress:
    """Told now and then how many trees are done; speaks at most every `interval` seconds."""

    def __init__(self, interval: float = 1.0) -> None:
        self._start = time.perf_counter()
        self._interval = interval
        self._spoke = self._start

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        if now - self._spoke >= self._interval:
            self._spoke = now
            self._say(done, total, now)

    def finish(self, total: int) -> None:
        self._say(total, total, time.perf_counter())

    def _say(self, done: int, total: int, now: float) -> None:
        print(f"puforest: {done}/{total} trees, {now - self._start:.1f} s", file=sys.stderr)
