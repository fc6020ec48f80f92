"""The command line: ``puforest``, with ``pip install 'puforest[cli]'``.

An interruption is told in one line from here on. While Python itself starts and ``import puforest``
runs, which comes before any line of this file, it still ends in a traceback.
"""

from __future__ import annotations

import sys

from puforest._extras import require

__all__ = ["main"]


def main() -> None:
    """Run ``puforest`` with the arguments of this process, and end it with an exit code."""
    try:
        _run()
    except KeyboardInterrupt:
        # What _commands.main does not see: imports, before it, and what comes after it.
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)


def _run() -> None:
    try:
        for name in ("typer", "rich"):
            require(name, extra="cli", purpose="the command line needs Typer and Rich")
    except ImportError as error:
        sys.exit(f"error: {error}")
    from puforest.cli import _commands

    _commands.main()
