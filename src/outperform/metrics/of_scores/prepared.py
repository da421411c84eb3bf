"""What is worked out once, so that a draw of weights costs little more than reading them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from outperform._typing import FloatArray

Evaluate: TypeAlias = Callable[[FloatArray], FloatArray]
"""From weights ``(n_draws, n_units)`` to one value a draw."""


class Prepared(Protocol):
    """Truth and scores of one model, made ready for a metric."""

    def worker(self) -> Evaluate:
        """Return a function with buffers of its own; one for each thread."""
