"""The command line: ``puforest``, with ``pip install 'puforest[cli]'``."""

from puforest.cli._process import main

__all__ = ["main"]
