"""Cleanup before a process exits on a signal."""

from __future__ import annotations

# Type checkers read this as true. The command line imports this module before all others.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_actions: list[Callable[[], object]] = []


class cleanup_if_stopped:  # noqa: N801 - a context manager, without importing contextlib
    """Call `action` if a signal ends the process within the context, or from `begin` to `end`."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action

    def begin(self) -> None:
        _actions.append(self._action)

    def end(self) -> None:
        if self._action in _actions:  # else the process is exiting
            _actions.remove(self._action)

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


def run_cleanups() -> None:
    """Call the actions, the latest first, and ignore errors, as the process is exiting."""
    while _actions:
        try:
            _actions.pop()()
        except Exception:
            continue
