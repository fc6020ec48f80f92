"""``python -m puforest.cli``."""

from puforest.cli import main

main()
