"""HOW TAGS BECOME SPANS: the tagging schemes, each of them a small table."""

from __future__ import annotations

from outperform.outcomes.schemes.scheme import Reading, Scheme, Span
from outperform.outcomes.schemes.table import get, names

__all__ = ["Reading", "Scheme", "Span", "get", "names"]
