"""The command line: ``puforest``, with ``pip install 'puforest[cli]'``."""

import sys

try:
    from puforest.cli._process import main
except KeyboardInterrupt:  # in the few milliseconds before `main` takes over signals
    sys.stderr.write("error: interrupted\n")
    sys.exit(130)

__all__ = ["main"]
