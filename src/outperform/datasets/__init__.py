"""Bundled example data."""

from outperform.datasets.news20 import News20, load_news20

__all__ = ["News20", "load_news20"]
