"""Command line: ``python -m puforest``."""

from puforest.cli import main

if __name__ == "__main__":
    main()
