"""What goes to stderr: errors as one line and an exit code, and progress."""

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
    MissingExtra,
    OutperformError,
    ResourceError,
    UsageError,
    spelled,
)

if TYPE_CHECKING:
    from outperform._typing import Progress
    from outperform.errors import Spelling


DONE = 0
FAILED = 1  # a gate said no, or a watch that judges as one; never anything else, see Judged
USAGE = 2
DATA = 3
UNDECIDED = 4
RESOURCES = 5  # or anything unforeseen
INTERRUPTED = 130
CLOSED_PIPE = 141


class Judged(int):
    """The exit code of a decision that was made and written, which alone may be 1."""


asked: ContextVar[tuple[str, ...]] = ContextVar("asked", default=())
"""The arguments of the command that runs."""

_JUDGED = {"pass": DONE, "fail": FAILED, "undecided": UNDECIDED}

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (UsageError, USAGE),
    (DataError, DATA),
    (ResourceError, RESOURCES),
    (MissingExtra, RESOURCES),
    (OutperformError, USAGE),
    (MemoryError, RESOURCES),
    (OSError, RESOURCES),
)


def code_of(error: Exception) -> int:
    """Return the exit code that an error means."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), RESOURCES)


def judged(judgement: str) -> Judged:
    """Return the exit code of a judgement that has been written.

    Examples
    --------
    >>> judged("fail")
    1
    """
    return Judged(_JUDGED[judgement])


DEBUG = "OUTPERFORM_DEBUG"


class Ended(Exception):
    """A command has ended by itself, with this exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Saying(logging.Handler):
    """Says what the log tells."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


@contextmanager
def _log_said() -> Iterator[None]:
    """Say what the log tells meanwhile, if it is wanted."""
    if not os.environ.get(DEBUG):
        yield
        return
    log, saying = logging.getLogger("outperform"), _Saying()
    level = log.level
    log.addHandler(saying)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(saying)


def guarded(command: Callable[..., int | None], spelling: Spelling) -> Callable[..., None]:
    """Return the command with its errors turned into exit codes, in the spelling of its options."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            with spelled(spelling), _log_said():
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
                    traceback.print_exc()  # not raised: Python's own exit code is a failed gate's
            say(f"unforeseen {type(error).__name__}: {error} (set {DEBUG}=1 to see where)")
            code = RESOURCES
        raise Ended(DONE if code is None else code)

    return run


def say(message: str) -> None:
    """Write one line to stderr, in which labels and file names are text and nothing else.

    It never fails: where nobody can be told, the exit code still can.
    """
    try:
        from outperform.display.numbers import for_text

        line = for_text(message)
    except Exception:  # what cannot be imported may be what is to be said
        line = message.encode("unicode_escape").decode("ascii")
    try:
        if sys.stderr is not None:
            sys.stderr.write(f"outperform: {line}\n")
    except (OSError, ValueError):
        leave(sys.stderr)


def leave(stream: Any) -> None:
    """Let go of a stream that cannot be written to: what is in its buffer has nowhere to go."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


EVERY = 10.0  # seconds between two lines; work that is shorter says nothing
_ENOUGH = 2.0  # seconds after which the rest can be estimated
_LOOK = 0.5


@contextmanager
def bar(what: str) -> Iterator[Progress]:
    """Yield a function that takes how much is done and how much there is, and show it on stderr."""
    make = _bar if sys.stderr is not None and sys.stderr.isatty() else _lines
    with make(what) as progress:
        yield progress


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show how far the work is that is done meanwhile."""
    from outperform.progress import told

    with bar(what) as progress, told(progress):
        yield


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    with RichProgress(console=Console(stderr=True), transient=True) as shown:
        task, state = shown.add_task(what, total=None), Lines(what, time.monotonic())

        def tell(done: int, total: int) -> None:
            state.tell(done, total, time.monotonic())
            shown.update(task, completed=state.done, total=total, description=state.what)

        yield tell


@contextmanager
def _lines(what: str) -> Iterator[Progress]:
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
        self._what, self._began, self._part = what, now, 1
        self._first = (0, now)  # how much was done, and when, at the first tell of this part
        self._said: float | None = None
        self._done, self._total, self._told = 0, 0, now
        self._lock = Lock()

    def tell(self, done: int, total: int, now: float) -> None:
        """Hear how much is done; where it is much less than before, another part of it began.

        A little less comes from workers that tell out of turn, and is not heard.
        """
        with self._lock:
            if done < self._done and total == self._total and 2 * done > self._done:
                return
            if done < self._done:
                self._part += 1
            if done < self._done or total != self._total:
                self._first = (done, now)  # what came before it, such as imports, is no pace
            self._done, self._total, self._told = done, total, now

    @property
    def done(self) -> int:
        """How much is done of this part."""
        return self._done

    @property
    def what(self) -> str:
        """What is done, and its part if it has several."""
        return self._what if self._part == 1 else f"{self._what}, part {self._part}"

    def line(self, now: float) -> str | None:
        """Return what to say now, if anything."""
        with self._lock:
            left = self._left(now)
            long = left is not None and now - self._began + left >= EVERY
            if self._said is None and long and self._part == 1:
                self._said = now
                return f"{self._what} takes about {_seconds(now - self._began + (left or 0))}"
            if now - (self._began if self._said is None else self._said) < EVERY:
                return None
            self._said = now
            after = _seconds(now - self._began)
            if left is None:
                return f"{self.what}: {after} so far"
            share = self._done / self._total
            return f"{self.what}: {share:.0%} after {after}, about {_seconds(left)} left"

    def _left(self, now: float) -> float | None:
        """Return how many seconds are left at the pace so far; None before it is known."""
        done, since = self._first
        if not done < self._done <= self._total or now - self._began < _ENOUGH:
            return None
        pace = (self._told - since) / (self._done - done)
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
