"""What a process that ends at once, as on a signal, has to undo first."""

from __future__ import annotations

# What type checkers read as true. This comes before all imports of the command line.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_actions: list[Callable[[], object]] = []


class cleanup_if_stopped:  # noqa: N801 - a context manager that reads as a phrase, without an import
    """Within this, or from `begin` to `end`, ending the process at once calls `action`."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action

    def begin(self) -> None:
        _actions.append(self._action)

    def end(self) -> None:
        if self._action in _actions:  # else the process is ending
            _actions.remove(self._action)

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *error: object) -> None:
        self.end()


def run_cleanups() -> None:
    """Call the actions, the latest first; the process ends, so that errors are told to nobody."""
    while _actions:
        try:
            _actions.pop()()
        except Exception:
            continue
