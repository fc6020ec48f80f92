"""The command line: ``puforest``, with ``pip install 'puforest[cli]'``."""

from __future__ import annotations

import sys

from puforest._extras import require

__all__ = ["main"]


def main() -> None:
    """Run ``puforest`` with the arguments of this process, and end it with an exit code."""
    try:
        for name in ("typer", "rich"):
            require(name, extra="cli", purpose="the command line needs Typer and Rich")
    except ImportError as error:
        sys.exit(f"error: {error}")
    from puforest.cli import _commands

    _commands.main()
