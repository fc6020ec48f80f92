"""The paper's experiments and a leaderboard, run from the repository root.

For example, with `python -m experiments.reproduce`.
"""
