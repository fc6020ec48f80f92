"""Benchmarks, run from the repository root, for example with `python -m benchmarks.compare`."""
