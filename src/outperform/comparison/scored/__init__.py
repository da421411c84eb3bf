"""Comparisons of scores: the question, its draws and its doubts."""

from outperform.comparison.scored.question import Asked, ScoreQuestion, counted

__all__ = ["Asked", "ScoreQuestion", "counted"]
