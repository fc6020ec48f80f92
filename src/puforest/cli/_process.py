"""The program as a process: signals, standard streams and the exit code.

This is what runs first, and imports next to nothing: an interruption is told in one line from
its first lines on, while NumPy and scikit-learn are still to be imported.
"""

from __future__ import annotations

import io
import os
import signal
import sys

from puforest._cleanup import run_cleanups

# What type checkers read as true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EXIT_ERROR = 1

STOPPING = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def main() -> None:
    """Run ``puforest`` with the arguments of this process, and end it with an exit code."""
    taken = take_signals()
    reserve_closed_streams()
    wrap_streams()
    try:
        code = _run()
        sys.stdout.flush()
    except OutputError as error:
        if not isinstance(error.__cause__, BrokenPipeError):  # else: who reads it has left
            sys.stderr.write(f"error: {error}\n")
        code = EXIT_ERROR
    # What was asked for is done: nothing that comes now can change it.
    for number in taken:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _run() -> int:
    from puforest._optional_imports import optional_import

    try:
        for name in ("typer", "rich"):
            optional_import(name, extra="cli", purpose="the command line needs Typer and Rich")
    except ImportError as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_ERROR
    from puforest.cli import _commands

    sys.excepthook = _commands.show_traceback
    return _commands.run()


# Signals


def take_signals() -> list[signal.Signals]:
    """End the process at once on signals that are not ignored, and return these.

    An exception instead would be lost wherever something catches all of them or cannot pass them
    on, such as C code, callbacks and many an import.
    """
    # nohup, and shells for what runs in the background, have some ignored.
    taken = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
    for number in taken:
        signal.signal(number, stop)
    return taken


def stop(number: int, frame: object) -> None:
    """Remove what is half-written, say so in one line, and end the process."""
    for again in STOPPING:
        signal.signal(again, signal.SIG_IGN)
    run_cleanups()
    what = STOPPING[signal.Signals(number)]
    try:
        os.write(2, f"error: {what}; nothing was left half-written\n".encode())
    finally:
        os._exit(128 + number)


# Standard streams


class OutputError(Exception):
    """What is asked for cannot be printed."""


class _Stream(io.FileIO):
    """A standard stream that raises `OutputError` once, or never, instead of any `OSError`."""

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
    """Open what is closed, or the next file would get the place of, say, standard output.

    A closed standard output is opened for reading: writing to it fails still.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)


def wrap_streams() -> None:
    """Errors of standard output become one that has its name, those of standard error none.

    Characters that the encoding does not have are printed as codes.
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
