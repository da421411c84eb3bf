"""How far long work is: one listener hears of all of it; and what was done, in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from outperform._typing import Progress
from outperform.errors import UsageError

__all__ = ["told"]

LOG = logging.getLogger("outperform")
"""What was read and drawn, and how long it took; silent unless somebody asks for it."""
LOG.addHandler(logging.NullHandler())

LISTENER: ContextVar[Progress | None] = ContextVar("listener", default=None)
"""Whom to tell."""


@contextmanager
def told(progress: Progress) -> Iterator[None]:
    """Call a function with (done, total) as work inside the ``with`` block progresses.

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


def log_time(since: float, what: Callable[[], str]) -> None:
    """Log what was done since then; it is put into words only if somebody listens.

    Parameters
    ----------
    since
        What ``time.perf_counter`` said at the start.
    what
        Returns it in words, in which there must be no credentials.
    """
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s in %.3f s", what(), perf_counter() - since)
