"""Sandboxed DuckDB; only this module uses it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TypeVar
from uuid import uuid4

from outperform._typing import AnyArray
from outperform.errors import MissingExtraError, OutperformError, ResourceError, require
from outperform.progress import LISTENER, LOG

_MEMORY = "1GB"  # data beyond this limit are written to disk
_EVERY = 0.2  # seconds between progress checks
_RETRY = 0.02  # seconds between attempts to interrupt a query that may not have started yet
T = TypeVar("T")


class EngineFault(OutperformError):
    """DuckDB error; the caller knows which file caused it, and explains it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Connection that can access only the given files and one private folder."""

    connection: Any
    folder: str

    def fetch(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._ask(lambda: self.connection.execute(query, list(parameters)).fetchall())

    def scan(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement that may take a long time, and report its progress."""
        self._ask(lambda: self.connection.execute(statement, list(parameters)), reports=True)

    def fetch_arrays(self, query: str) -> dict[str, AnyArray]:
        """Return all rows of a query as one array per column, masked where values are missing."""
        return self._ask(lambda: self.connection.execute(query).fetchnumpy())

    def _ask(self, run: Callable[[], T], *, reports: bool = False) -> T:
        progress = LISTENER.get() if reports else None

        def tell() -> None:
            if progress is not None and (percent := int(self.connection.query_progress())) > 0:
                progress(percent, 100)

        def answer() -> T:
            with _faults():
                return run()

        return interruptible(answer, self.connection.interrupt, meanwhile=tell)

    def register(self, source: object) -> str:
        """Register Arrow batches as a table, and return its name."""
        name = f"arrow_{uuid4().hex}"
        self._ask(lambda: self.connection.register(name, source))  # this calls the source
        return name


@contextmanager
def start(paths: Sequence[str], *, folder: str) -> Iterator[Engine]:
    """Start an engine that can access only the paths and the folder."""
    duckdb = require("duckdb", extra="cli", purpose="counting files")
    connection = duckdb.connect(":memory:")
    try:
        # The progress can then be queried; nothing is printed. In Jupyter without ipywidgets DuckDB
        # refuses the setting, and there is no progress.
        with suppress(duckdb.InvalidInputException):
            connection.execute("SET enable_progress_bar = true")
            connection.execute("SET enable_progress_bar_print = false")
        try:
            for lock in _locks(paths, folder):
                connection.execute(lock)
        except duckdb.CatalogException as error:
            raise MissingExtraError(
                "counting files needs duckdb 1.5 or later, which can be locked down; install it "
                'with: pip install -U "outperform[cli]"'
            ) from error
        LOG.debug("counting %d files with DuckDB %s", len(paths), duckdb.__version__)
        yield Engine(connection=connection, folder=folder)
    finally:
        connection.close()


def _locks(paths: Sequence[str], folder: str) -> tuple[str, ...]:
    return (
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET allow_community_extensions = false",
        f"SET memory_limit = '{_MEMORY}'",
        f"SET temp_directory = {text(os.path.join(folder, 'spill'))}",
        f"SET allowed_paths = [{', '.join(map(text, paths))}]",
        f"SET allowed_directories = [{text(folder)}]",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    )


def interruptible(
    ask: Callable[[], T],
    interrupt: Callable[[], object],
    *,
    meanwhile: Callable[[], None] = lambda: None,
) -> T:
    """Run a query on another thread, so a signal reaches Python at once and ends the query.

    On the main thread, DuckDB would replace a signal's exception with one of its own errors, and
    SQLite would ignore signals.
    """
    answer: Future[T] = Future()
    thread = Thread(target=_answer, args=(answer, ask), daemon=True)
    try:
        thread.start()
        while not wait([answer], timeout=_EVERY).done:
            meanwhile()
    except BaseException:
        while thread.is_alive():
            interrupt()
            thread.join(_RETRY)
        raise
    return answer.result()


def _answer(answer: Future[T], ask: Callable[[], T]) -> None:
    try:
        answer.set_result(ask())
    except BaseException as error:
        answer.set_exception(error)


@contextmanager
def workspace() -> Iterator[str]:
    """Create a private folder for temporary files, and remove it afterwards."""
    try:
        temporary = TemporaryDirectory(prefix="outperform-")
    except OSError as error:
        raise no_space(error) from error
    with temporary as folder:
        yield os.path.realpath(folder)


class Spool:
    """New file in the private folder; a failed write raises a ResourceError, not a data error."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> Spool:
        try:
            self._stream = open(self._path, "xb")
        except OSError as error:
            raise no_space(error) from error
        return self

    def write(self, data: str | bytes) -> int:
        """Write bytes, or text as UTF-8."""
        block = data.encode("utf-8") if isinstance(data, str) else data
        try:
            return self._stream.write(block)
        except OSError as error:
            raise no_space(error) from error

    def __exit__(self, *ended: object) -> None:
        try:
            self._stream.close()
        except OSError as error:
            raise no_space(error) from error


def no_space(error: Exception) -> ResourceError:
    """Return the error for a temporary folder that cannot be written to."""
    reason = getattr(error, "strerror", None) or str(error)
    return ResourceError(
        f"the temporary folder cannot be written to: {reason}. "
        "Free some space in it, or set the variable TMPDIR to another folder"
    )


def text(value: str) -> str:
    """Return a value as SQL text, for statements that take no parameters.

    Examples
    --------
    >>> print(text("it's"))
    'it''s'
    """
    return "'" + value.replace("'", "''") + "'"


@contextmanager
def _faults() -> Iterator[None]:
    duckdb = require("duckdb", extra="cli", purpose="counting files")
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise ResourceError(
            f"counting needs more than {_MEMORY} of memory and more space than the temporary "
            "folder has; check that all of these columns contain labels"
        ) from error
    except (duckdb.Error, UnicodeError, RuntimeError) as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise no_space(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from error
        raise EngineFault(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    line = str(error).strip().partition("\n")[0]
    return line.partition("Error: ")[2] or line
