"""A report about a model: one HTML file that needs nothing else, for managers and reviewers."""

from puforest.report._write import write_report

__all__ = ["write_report"]
