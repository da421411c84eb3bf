"""How tags become spans: the tagging schemes, each of them a small table."""

from __future__ import annotations

from outperform.outcomes.schemes import Reading, Scheme, get, names

__all__ = ["Reading", "Scheme", "get", "names"]
