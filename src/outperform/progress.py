"""How far long work is: one listener hears of all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from outperform._typing import Progress
from outperform.errors import UsageError

__all__ = ["told"]

LISTENER: ContextVar[Progress | None] = ContextVar("listener", default=None)
"""Whom to tell."""


@contextmanager
def told(progress: Progress) -> Iterator[None]:
    """Tell a function how much is done, and how much there is, of all work done meanwhile.

    Whatever takes long tells: reading, drawing, simulating, training. It hears of one thing after
    the other, and can change nothing.

    Parameters
    ----------
    progress
        Called with two whole numbers.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.progress import told
    >>> heard = []
    >>> with told(lambda done, total: heard.append((done, total))):
    ...     c = op.compare([0, 1] * 50, [0, 1] * 50, [1, 1] * 50, metric="f1", rope=0.01)
    >>> heard[-1]
    (5, 5)
    """
    if not callable(progress):
        raise UsageError(
            "progress must be a function of how much is done and how much there is; "
            f"got {progress!r}"
        )
    token = LISTENER.set(progress)
    try:
        yield
    finally:
        LISTENER.reset(token)


@contextmanager
def in_steps() -> Iterator[Progress | None]:
    """Yield whom to tell of the steps of this work; what happens within them is not told."""
    token = LISTENER.set(None)
    try:
        yield token.old_value if token.old_value is not token.MISSING else None
    finally:
        LISTENER.reset(token)
