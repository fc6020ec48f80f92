"""Sampling scenarios of positive and unlabeled data."""

__all__ = ["DESCRIPTIONS", "SCENARIOS"]

SCENARIOS = ("case-control", "single-training-set")

# One sentence each for descriptions, the command line and reports.
DESCRIPTIONS = {
    "case-control": "the labeled positives were collected separately; "
    "the unlabeled rows are a sample of the population",
    "single-training-set": "all rows are one sample of the population, "
    "and some of its positives are labeled",
}
