"""Command line ``puforest``; requires ``pip install 'puforest[cli]'``."""

import sys

try:
    from puforest.cli._process import main
except KeyboardInterrupt:  # in the few milliseconds before `main` handles signals
    sys.stderr.write("error: interrupted\n")
    sys.exit(130)

__all__ = ["main"]
