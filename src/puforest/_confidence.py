"""Default confidence level of every interval: metrics, priors, plots and reports."""

CONFIDENCE = 0.95
