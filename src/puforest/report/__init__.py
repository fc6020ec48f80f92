"""Reports on models: one self-contained HTML file."""

from puforest.report._write import write_report

__all__ = ["write_report"]
