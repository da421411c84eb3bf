"""Progress of long work, reported to one listener, and a log of the work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from outperform._typing import Progress
from outperform.errors import UsageError

__all__ = ["on_progress"]

LOG = logging.getLogger("outperform")
"""Log of reads and draws with their durations; silent unless a handler is added."""
LOG.addHandler(logging.NullHandler())

LISTENER: ContextVar[Progress | None] = ContextVar("listener", default=None)
"""Function that receives the progress."""


@contextmanager
def on_progress(progress: Progress) -> Iterator[None]:
    """Call a function with (done, total) as work inside the ``with`` block progresses.

    All long work reports progress: reading, drawing, simulating, training. Reports arrive one at a
    time and do not affect results.

    Parameters
    ----------
    progress
        Function of two integers.

    Examples
    --------
    >>> import outperform as op
    >>> from outperform.progress import on_progress
    >>> reports = []
    >>> with on_progress(lambda done, total: reports.append((done, total))):
    ...     c = op.compare([0, 1] * 50, [0, 1] * 50, [1, 1] * 50, metric="f1", rope=0.01)
    >>> reports[-1]
    (5, 5)
    """
    if not callable(progress):
        raise UsageError(
            f"progress must be a function of two numbers, done and total; got {progress!r}"
        )
    token = LISTENER.set(progress)
    try:
        yield
    finally:
        LISTENER.reset(token)


@contextmanager
def in_steps() -> Iterator[Progress | None]:
    """Yield the listener for the steps of some work; progress within a step is not reported."""
    token = LISTENER.set(None)
    try:
        yield token.old_value if token.old_value is not token.MISSING else None
    finally:
        LISTENER.reset(token)


def log_time(since: float, what: Callable[[], str]) -> None:
    """Log work and its duration; the text is built only if the log is enabled.

    Parameters
    ----------
    since
        Value of ``time.perf_counter`` at the start.
    what
        Function that returns the text, which must not contain credentials.
    """
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s in %.3f s", what(), perf_counter() - since)
