"""LOGS OF LLM EVALUATIONS: samples of several models, paired on what they answered."""

from __future__ import annotations

from outperform.ingest.evaluations.reading import FORMATS, read_evaluations, read_grades

__all__ = ["FORMATS", "read_evaluations", "read_grades"]
