"""Signals, standard streams and exit code of the process.

This module runs first and imports next to nothing, so that an interruption is reported in one
line even while NumPy and scikit-learn are being imported.
"""

from __future__ import annotations

import io
import os
import signal
import sys

from puforest._cleanup import run_cleanups

# Type checkers read this as true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXIT_ERROR = 1

STOPPING = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def main() -> None:
    """Run ``puforest`` with the arguments of this process, and exit."""
    taken = take_signals()
    reserve_closed_streams()
    wrap_streams()
    try:
        code = _run()
        sys.stdout.flush()
    except OutputError as error:
        if not isinstance(error.__cause__, BrokenPipeError):  # else the reader has gone
            sys.stderr.write(f"error: {error}\n")
        code = EXIT_ERROR
    # The work is done; a signal cannot change the result anymore.
    for number in taken:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _run() -> int:
    from puforest._optional_imports import optional_import

    try:
        for name in ("typer", "rich"):
            optional_import(name, extra="cli", purpose="the command line")
    except ImportError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_ERROR
    from puforest.cli import _app

    sys.excepthook = _app.show_traceback
    return _app.run()


# Signals


def take_signals() -> list[signal.Signals]:
    """Exit immediately on SIGINT and SIGTERM, unless they are ignored; return those handled.

    An exception could get lost in code that catches all exceptions or cannot propagate them, such
    as C code, callbacks and many imports.
    """
    # Signals are ignored under nohup, and by shells for background jobs.
    taken = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
    for number in taken:
        signal.signal(number, stop)
    return taken


def stop(number: int, frame: object) -> None:
    """Remove unfinished files, print one line, and exit."""
    for again in STOPPING:
        signal.signal(again, signal.SIG_IGN)
    run_cleanups()
    what = STOPPING[signal.Signals(number)]
    try:
        os.write(2, f"error: {what}; no incomplete files were left\n".encode())
    finally:
        os._exit(128 + number)


# Standard streams


class OutputError(Exception):
    """Standard output cannot be written."""


class _Stream(io.FileIO):
    """A standard stream that raises one `OutputError`, or nothing, in place of an `OSError`."""

    def __init__(self, descriptor: int, *, raises: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._raises = raises

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            if self._raises:
                self._raises = False
                message = f"standard output cannot be written: {error.strerror}"
                raise OutputError(message) from error
            return memoryview(data).nbytes  # type: ignore[arg-type]


def reserve_closed_streams() -> None:
    """Open closed standard streams, so that no other file gets their descriptors.

    A closed standard output is opened for reading, so that writing to it still fails.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)


def wrap_streams() -> None:
    """Report errors of standard output by name, and ignore those of standard error.

    Characters outside the encoding are escaped.
    """
    if sys.stdout is sys.__stdout__:
        sys.stdout = _wrapped(1, sys.stdout, raises=True)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _wrapped(2, sys.stderr, raises=False)


def _wrapped(descriptor: int, stream: Any, *, raises: bool) -> Any:
    if os.name == "nt" and stream is not None and stream.isatty():
        return stream  # Windows consoles take characters, not bytes
    return io.TextIOWrapper(
        io.BufferedWriter(_Stream(descriptor, raises=raises)),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=getattr(stream, "line_buffering", False),
    )
