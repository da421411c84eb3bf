"""Exit codes, and what goes to stderr: one-line errors, and progress."""

from __future__ import annotations

import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from outperform.errors import (
    DataError,
    MissingExtraError,
    OutperformError,
    ResourceError,
    UsageError,
    spelled,
)

if TYPE_CHECKING:
    from outperform._typing import Progress
    from outperform.errors import Spelling


DONE = 0
FAILED = 1  # only for a failed gate, or for watch, which ends like a gate; see Judged
USAGE = 2
DATA = 3
UNDECIDED = 4
RESOURCES = 5  # also for unexpected errors
INTERRUPTED = 130
CLOSED_PIPE = 141


class Judged(int):
    """Exit code of a gate whose result was written; no other exit code may be 1."""


typed: ContextVar[tuple[str, ...]] = ContextVar("asked", default=())
"""Arguments of the running command."""

_JUDGED = {"pass": DONE, "fail": FAILED, "undecided": UNDECIDED}

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (UsageError, USAGE),
    (DataError, DATA),
    (ResourceError, RESOURCES),
    (MissingExtraError, RESOURCES),
    (OutperformError, USAGE),
    (MemoryError, RESOURCES),
    (OSError, RESOURCES),
)


def code_of(error: Exception) -> int:
    """Return the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), RESOURCES)


def judged(status: str) -> Judged:
    """Return the exit code of a gate whose result was written.

    Examples
    --------
    >>> judged("fail")
    1
    """
    return Judged(_JUDGED[status])


DEBUG = "OUTPERFORM_DEBUG"


class Ended(Exception):
    """Raised at the end of a command, with the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _StderrHandler(logging.Handler):
    """Logging handler that writes to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


@contextmanager
def _log_to_stderr() -> Iterator[None]:
    """Write the log to stderr in the ``with`` block, if requested."""
    if not os.environ.get(DEBUG):
        yield
        return
    log, handler = logging.getLogger("outperform"), _StderrHandler()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def guarded(command: Callable[..., int | None], spelling: Spelling) -> Callable[..., None]:
    """Return the command with errors converted to exit codes and messages that name options."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            with spelled(spelling), _log_to_stderr():
                code = command(*arguments, **options)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            code = INTERRUPTED
        except BrokenPipeError:
            leave(sys.stdout)
            code = CLOSED_PIPE
        except (OutperformError, OSError, MemoryError) as error:
            say(str(error) or type(error).__name__)
            code = code_of(error)
        except Exception as error:
            if os.environ.get(DEBUG):
                with suppress(OSError, ValueError):
                    # The error is not raised, because Python would exit with 1, like a failed gate.
                    traceback.print_exc()
            say(f"unexpected {type(error).__name__}: {error} (set {DEBUG}=1 for the traceback)")
            code = RESOURCES
        raise Ended(DONE if code is None else code)

    return run


def say(message: str) -> None:
    """Write one line to stderr, with control characters escaped.

    This never raises an error, because the exit code must still be returned.
    """
    try:
        from outperform.display.numbers import for_text

        line = for_text(message)
    except Exception:  # this import may be what failed
        line = message.encode("unicode_escape").decode("ascii")
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"outperform: {line}\n")
    except (OSError, ValueError):
        leave(sys.stderr)


def leave(stream: Any) -> None:
    """Redirect a broken stream to the null device, so flushing its buffer raises no error."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


EVERY = 10.0  # seconds between two lines; shorter work prints nothing
_MIN_SECONDS = 2.0  # seconds of work before the remaining time is estimated
_CHECK_SECONDS = 0.5  # seconds between checks whether a line is due


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """Yield a function of (done, total) that shows progress on stderr."""
    make = _bar if sys.stderr is not None and sys.stderr.isatty() else _lines
    with make(what) as progress:
        yield progress


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show the progress of work inside the ``with`` block."""
    from outperform.progress import on_progress

    with bar(what) as progress, on_progress(progress):
        yield


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    with RichProgress(console=Console(stderr=True), transient=True) as display:
        task, state = display.add_task(what, total=None), Lines(what, time.monotonic())

        def update(done: int, total: int) -> None:
            state.tell(done, total, time.monotonic())
            display.update(task, completed=state.done, total=total, description=state.what)

        yield update


@contextmanager
def _lines(what: str) -> Iterator[Progress]:
    state, stopped = Lines(what, time.monotonic()), Event()

    def say_line() -> None:
        line = state.line(time.monotonic())
        if line is not None:
            say(line)

    def update(done: int, total: int) -> None:
        state.tell(done, total, time.monotonic())
        say_line()

    def watch() -> None:  # for work that does not report progress
        while not stopped.wait(_CHECK_SECONDS):
            say_line()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield update
    finally:
        stopped.set()
        watcher.join()


class Lines:
    """Progress lines of a task and their timing; the first line is the estimated time.

    Parameters
    ----------
    what
        Name of the task.
    now
        Start time in seconds.

    Examples
    --------
    >>> lines = Lines("counting", 0.0)
    >>> lines.tell(0, 100, 0.0)
    >>> lines.tell(10, 100, 2.0)
    >>> lines.line(2.0)
    'counting takes about 20 s'
    >>> lines.line(11.0) is None
    True
    >>> lines.tell(60, 100, 12.0)
    >>> lines.line(12.0)
    'counting: 60% after 12 s, about 8 s left'
    >>> lines.tell(0, 50, 20.0)
    >>> lines.tell(10, 50, 22.0)
    >>> lines.line(22.0)
    'counting, part 2: 20% after 22 s, about 8 s left'
    """

    def __init__(self, what: str, now: float) -> None:
        self._what, self._start, self._part = what, now, 1
        self._first = (0, now)  # amount done and time at the first update of this part
        self._line_at: float | None = None
        self._done, self._total, self._update_at = 0, 0, now
        self._lock = Lock()

    def tell(self, done: int, total: int, now: float) -> None:
        """Record the amount done; a much smaller amount means that a new part has started.

        Slightly smaller amounts come from workers that report out of order, and are ignored.
        """
        with self._lock:
            if done < self._done and total == self._total and 2 * done > self._done:
                return
            if done < self._done:
                self._part += 1
            if done < self._done or total != self._total:
                self._first = (done, now)  # earlier time, for example for imports, is not counted
            self._done, self._total, self._update_at = done, total, now

    @property
    def done(self) -> int:
        """Amount done of this part."""
        return self._done

    @property
    def what(self) -> str:
        """Name of the work, with the number of the part from the second part on."""
        return self._what if self._part == 1 else f"{self._what}, part {self._part}"

    def line(self, now: float) -> str | None:
        """Return the line due now, if any."""
        with self._lock:
            left = self._left(now)
            is_long = left is not None and now - self._start + left >= EVERY
            if self._line_at is None and is_long and self._part == 1:
                self._line_at = now
                return f"{self._what} takes about {_seconds(now - self._start + (left or 0))}"
            if now - (self._start if self._line_at is None else self._line_at) < EVERY:
                return None
            self._line_at = now
            after = _seconds(now - self._start)
            if left is None:
                return f"{self.what}: {after} so far"
            share = self._done / self._total
            return f"{self.what}: {share:.0%} after {after}, about {_seconds(left)} left"

    def _left(self, now: float) -> float | None:
        """Return the seconds left at the current pace; None if it is too early to estimate them."""
        done, since = self._first
        if not done < self._done <= self._total or now - self._start < _MIN_SECONDS:
            return None
        pace = (self._update_at - since) / (self._done - done)
        return max(0.0, pace * (self._total - self._done) - (now - self._update_at))


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
