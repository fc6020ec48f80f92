"""Progress of a fit, passed to a callback or printed to standard error."""

import sys
import time
from collections.abc import Callable


class Progress:
    """Report the number of finished trees.

    Parameters
    ----------
    callback : callable, optional
        Called with the fraction of trees that are finished. Without it, lines are printed to
        standard error.
    interval : float, default=1.0
        Minimum number of seconds between two lines.
    """

    def __init__(
        self, callback: Callable[[float], object] | None = None, interval: float = 1.0
    ) -> None:
        self._callback = callback
        self._interval = interval
        self._start = self._last_line = time.perf_counter()

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        if self._callback is not None:
            self._callback(done / total)
        elif now - self._last_line >= self._interval:
            self._last_line = now
            self._print(done, total, now)

    def finish(self, total: int) -> None:
        if self._callback is not None:
            self._callback(1.0)
        else:
            self._print(total, total, time.perf_counter())

    def _print(self, done: int, total: int, now: float) -> None:
        print(f"puforest: {done}/{total} trees, {now - self._start:.1f} s", file=sys.stderr)


class Steps:
    """Progress of a fit that grows trees in several steps.

    Parameters
    ----------
    n_steps : int
        Number of steps.
    verbose : int
        Whether to print lines if there is no callback.
    callback : callable, optional
        Called with the fraction of the fit that is done.
    """

    def __init__(
        self, n_steps: int, verbose: int, callback: Callable[[float], object] | None
    ) -> None:
        self._n_steps = n_steps
        self._verbose = verbose
        self._callback = callback
        self._begun = 0

    def next(self) -> Progress | None:
        """Return the progress of the next step."""
        before = self._begun
        self._begun += 1
        callback = self._callback
        if callback is None:
            return Progress() if self._verbose else None
        return Progress(lambda done: callback((before + done) / self._n_steps))

    def finish(self) -> None:
        """Report that the fit is complete."""
        if self._callback is not None:
            self._callback(1.0)
