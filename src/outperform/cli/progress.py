"""How far long work is: a bar where a person looks, else a line about every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outperform._typing import Progress

EVERY = 10.0  # seconds between two lines; work that is shorter says nothing
_ENOUGH = 2.0  # seconds after which the rest can be estimated
_LOOK = 0.5


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """Yield a function that takes how much is done and how much there is, and show it on stderr."""
    shown = _bar if sys.stderr is not None and sys.stderr.isatty() else _lines
    with shown(what) as progress:
        yield progress


@contextmanager
def drawing(what: str = "drawing") -> Iterator[None]:
    """Show how far the draws are that are made meanwhile."""
    from outperform.posterior import drawing_told

    with bar(what) as progress, drawing_told(progress):
        yield


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    with RichProgress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def _lines(what: str) -> Iterator[Progress]:
    from outperform.cli.running import say

    state, over = Lines(what, time.monotonic()), Event()

    def look() -> None:
        line = state.line(time.monotonic())
        if line is not None:
            say(line)

    def tell(done: int, total: int) -> None:
        state.tell(done, total, time.monotonic())
        look()

    def watch() -> None:  # work that tells nothing is heard of, too
        while not over.wait(_LOOK):
            look()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield tell
    finally:
        over.set()
        watcher.join()


class Lines:
    """What to say of one piece of work, and when: how long it will take, then how far it is.

    Parameters
    ----------
    what
        What is done.
    now
        When it began, in seconds.

    Examples
    --------
    >>> lines = Lines("counting", 0.0)
    >>> lines.tell(10, 100, 2.0)
    >>> lines.line(2.0)
    'counting takes about 20 s'
    >>> lines.line(11.0) is None
    True
    >>> lines.tell(60, 100, 12.0)
    >>> lines.line(12.0)
    'counting: 60% after 12 s, about 8 s left'
    """

    def __init__(self, what: str, now: float) -> None:
        self._what, self._began, self._since = what, now, now
        self._said: float | None = None
        self._done, self._total, self._told = 0, 0, now
        self._lock = Lock()

    def tell(self, done: int, total: int, now: float) -> None:
        """Hear how much is done; where it is less than before, another part of the work began."""
        with self._lock:
            if done < self._done or total != self._total:
                self._since = self._told
            self._done, self._total, self._told = done, total, now

    def line(self, now: float) -> str | None:
        """Return what to say now, if anything."""
        with self._lock:
            left = self._left(now)
            long = left is not None and now - self._began + left >= EVERY
            if self._said is None and long:
                self._said = now
                return f"{self._what} takes about {_seconds(now - self._began + (left or 0))}"
            if now - (self._began if self._said is None else self._said) < EVERY:
                return None
            self._said = now
            after = _seconds(now - self._began)
            if left is None:
                return f"{self._what}: {after} so far"
            share = self._done / self._total
            return f"{self._what}: {share:.0%} after {after}, about {_seconds(left)} left"

    def _left(self, now: float) -> float | None:
        """Return how many seconds are left at the pace so far; None before it is known."""
        if not 0 < self._done <= self._total or now - self._began < _ENOUGH:
            return None
        pace = (self._told - self._since) / self._done
        return max(0.0, pace * (self._total - self._done) - (now - self._told))


def _seconds(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> _seconds(8.4), _seconds(200.0), _seconds(9000.0)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
