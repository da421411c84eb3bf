"""Whole documents made of results: the HTML page, and a gate for continuous integration."""

from outperform.report.ci import gate_annotations, gate_json, gate_junit
from outperform.report.writing import write_report

__all__ = ["gate_annotations", "gate_json", "gate_junit", "write_report"]
