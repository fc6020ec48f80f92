"""Tasks of a fit on a Dask cluster: submitting them, waiting for them, and giving up cleanly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from dask.base import tokenize
from distributed import Client, Future, get_client
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

# Attempts after the first one if a task fails, for example because a file cannot be read. Tasks
# whose worker dies are repeated by Dask itself.
RETRIES = 2

# Seconds without any result after which the scheduler is asked for a sign of life, and those it has
# to give one.
ASK_AFTER = 2.0
LOST_AFTER = 20.0

# Seconds without any worker after which a fit fails.
NO_WORKERS_AFTER = 300.0


class LostDataError(RuntimeError):
    """Results were lost with a worker, and Dask does not compute them again."""


class SchedulerLostError(ConnectionError):
    """The scheduler of the cluster does not respond."""


def found_client(client: Any) -> Client:
    """Return the given client, or the current one."""
    if client is not None:
        if not isinstance(client, Client):
            raise TypeError(
                f"client must be a dask.distributed.Client or None, got {type(client).__name__}"
            )
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: create one with dask.distributed.Client(), or with the "
            "address of the scheduler of a cluster, and pass it as client if there are several"
        ) from None


class Tasks:
    """Tasks of one fit, which are canceled if the fit fails or is interrupted.

    Parameters
    ----------
    client : Client
        Client of the cluster.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.address = client.scheduler.address if client.scheduler else "unknown"
        self._fit = tokenize(object(), time.time_ns())[:12]
        self._n = 0
        self._futures: list[Future] = []
        self._without_workers_since: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The cluster cancels tasks that nobody needs anymore.
        for future in self._futures:
            future.release()
        self._futures = []

    def submit(self, name: str, function: Callable[..., Any], *args: Any) -> Future:
        """Submit a pure task; `name` is shown on the dashboard."""
        self._refuse_lost_scheduler()
        self._n += 1
        key = f"puforest-{name}-{self._fit}-{self._n}"
        future = self.client.submit(function, *args, key=key, retries=RETRIES, pure=False)
        self._futures.append(future)
        return future

    def compute(self, tasks: Sequence[Any]) -> list[Future]:
        """Submit delayed tasks."""
        self._refuse_lost_scheduler()
        futures = list(self.client.compute(list(tasks), retries=RETRIES))
        self._futures += futures
        return futures

    def key(self, name: str, k: int) -> str:
        """Return the key of a delayed task; `name` is shown on the dashboard."""
        return f"puforest-{name}-{self._fit}-{k}"

    def send(self, data: Any) -> Future:
        """Send data to all workers. If it gets lost, waiting for it raises `LostDataError`."""
        self._refuse_lost_scheduler()
        try:
            future = self.client.scatter(data, broadcast=True, hash=False)
        except (OSError, TimeoutError) as error:  # a worker died
            raise self._lost() from error
        self._futures.append(future)
        return future

    def release(self, futures: Iterable[Future]) -> None:
        """Let the cluster forget results that are no longer needed."""
        released = set(map(id, futures))
        for future in futures:
            future.release()
        self._futures = [f for f in self._futures if id(f) not in released]

    def wait(
        self, futures: Sequence[Future], on_done: Callable[[int], object] | None = None
    ) -> None:
        """Wait until all futures are finished, or one of them failed.

        `on_done` is called with the number of each future that finishes.
        """
        done: SimpleQueue[int] = SimpleQueue()
        for number, future in enumerate(futures):
            future.add_done_callback(lambda _, number=number: done.put(number))
        for _ in futures:
            number = self._next(done)
            self._refuse_failure(futures[number], number)
            if on_done is not None:
                on_done(number)

    def results(
        self, futures: Sequence[Future], on_done: Callable[[int], object] | None = None
    ) -> list[Any]:
        """Return the results of futures."""
        self.wait(futures, on_done)
        gathering = asyncio.run_coroutine_threadsafe(
            self.client.gather(list(futures), asynchronous=True), self.client.loop.asyncio_loop
        )
        while not wait([gathering], timeout=ASK_AFTER).done:
            self._ask_for_sign_of_life()
        try:
            found: list[Any] = gathering.result()
        except (FutureCancelledError, TimeoutError, OSError) as error:
            raise self._lost() from error
        return found

    def threads(self) -> dict[str, int]:
        """Return the number of threads of each worker."""
        self._refuse_lost_scheduler()
        try:
            found: dict[str, int] = self.client.sync(
                self.client.scheduler.ncores, callback_timeout=LOST_AFTER
            )
        except (TimeoutError, OSError) as error:
            raise self._scheduler_lost() from error
        return found

    def _next(self, done: SimpleQueue[int]) -> int:
        while True:
            try:
                return done.get(timeout=ASK_AFTER)
            except Empty:
                self._ask_for_sign_of_life()

    def _refuse_failure(self, future: Future, number: int) -> None:
        # A result that was lost with a worker right after it was finished is computed again.
        if future.status in ("finished", "lost", "pending"):
            return
        if future.status != "error":
            raise self._lost()
        error = future.exception(timeout=LOST_AFTER)
        if isinstance(error, FutureCancelledError):
            raise self._lost()
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                "a task of the fit was given up because several workers died while they were "
                "running it, probably because they ran out of memory: use smaller partitions, or "
                f"workers with more memory. Dask reports: {error}"
            ) from error
        raise TaskError(number, error)

    def _lost(self) -> Exception:
        """Make the error for futures that were canceled: by the scheduler, or with a worker."""
        self._refuse_lost_scheduler()
        self._ask_for_sign_of_life()
        return LostDataError(
            f"results on the Dask cluster at {self.address} were lost with workers again and again"
        )

    def _refuse_lost_scheduler(self) -> None:
        if self.client.status != "running":
            raise self._scheduler_lost()

    def _ask_for_sign_of_life(self) -> None:
        """Raise an error if the scheduler does not respond, or if there have been no workers."""
        self._refuse_lost_scheduler()
        try:
            identity = self.client.sync(
                self.client.scheduler.identity, n_workers=-1, callback_timeout=LOST_AFTER
            )
        except (TimeoutError, OSError) as error:
            raise self._scheduler_lost() from error
        now = time.monotonic()
        if identity["workers"]:
            self._without_workers_since = None
        elif self._without_workers_since is None:
            self._without_workers_since = now
        elif now - self._without_workers_since > NO_WORKERS_AFTER:
            raise RuntimeError(
                f"the Dask cluster at {self.address} has had no workers for "
                f"{NO_WORKERS_AFTER:.0f} s: start some, and fit again"
            )

    def _scheduler_lost(self) -> SchedulerLostError:
        return SchedulerLostError(
            f"the connection to the Dask scheduler at {self.address} was lost, and the fit with "
            "it: start the cluster again, connect a new client, and fit again"
        )


class TaskError(Exception):
    """A task failed, with its number among those that were waited for, and its error."""

    def __init__(self, number: int, error: BaseException) -> None:
        super().__init__(number, error)
        self.number = number
        self.error = error
