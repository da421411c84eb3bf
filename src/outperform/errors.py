"""Exceptions that say what must hold, what came, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType

Spelling = Callable[[str, tuple[object, ...]], str]
"""From a parameter and values that it may be given to how they are typed."""

_SPELLING: ContextVar[Spelling | None] = ContextVar("spelling", default=None)


class OutperformError(Exception):
    """Base class of every error that outperform raises on purpose."""


class UsageError(OutperformError, ValueError):
    """An argument is not one of the values it may take."""


class DataError(OutperformError, ValueError):
    """The data cannot be counted as they are."""


class ResourceError(OutperformError, MemoryError):
    """The request needs more memory or draws than is sensible."""


class UndefinedBayesFactor(OutperformError, ArithmeticError):
    """The Bayes factor that was asked for does not exist."""


class MissingExtra(OutperformError, ImportError):
    """A feature needs an optional dependency that is not installed."""


@contextmanager
def spelled(spelling: Spelling) -> Iterator[None]:
    """Name parameters in this way, in all messages made meanwhile; else they are Python's."""
    token = _SPELLING.set(spelling)
    try:
        yield
    finally:
        _SPELLING.reset(token)


def param(name: str, *values: object) -> str:
    """Return a parameter as a message names it, perhaps with values that it may be given.

    Examples
    --------
    >>> param("rope"), param("rope="), param("prior=", "unit", "bootstrap")
    ('rope', 'rope=', "prior='unit' or 'bootstrap'")
    >>> with spelled(lambda name, values: " ".join([f"--{name}", *map(str, values)])):
    ...     param("rope="), param("prior=", "unit")
    ('--rope', '--prior unit')
    """
    spelling = _SPELLING.get()
    if spelling is None:
        return name + " or ".join(map(repr, values))
    return spelling(name.removesuffix("="), values)


def either(python: str, typed: str) -> str:
    """Return the Python or the command-line wording, depending on the active interface."""
    return python if _SPELLING.get() is None else typed


_NEAREST = 5
_A_LINE = 12  # names


def unknown_name(
    kind: str,
    name: object,
    known: Iterable[str],
    *,
    everything: str | None = None,
) -> str:
    """Return the sentence for a misspelt name, with the nearest right one.

    Parameters
    ----------
    kind
        What has the name.
    name
        What was written.
    known
        The right names.
    everything
        Where to find all of them, which are then not listed if they are many.

    Examples
    --------
    >>> unknown_name("metric", "f1macro", ["f1", "f1_macro"])
    "unknown metric 'f1macro'; did you mean 'f1_macro'? Known: f1, f1_macro"
    >>> unknown_name("model", "large", ["mockllm/small", "mockllm/large"])
    "unknown model 'large'; did you mean 'mockllm/large'? Known: mockllm/small, mockllm/large"
    """
    known = list(known)
    by_lower, given = {one.lower(): one for one in known}, str(name).lower()
    begun = [one for one in by_lower if len(given) > 2 and one.startswith(given)]
    ended = [
        one for one in by_lower if len(given) > 2 and re.search(rf"\W{re.escape(given)}$", one)
    ]
    close = [*begun, *ended, *get_close_matches(given, by_lower, n=1)]
    hint = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    shown, rest = known, ""
    if everything is not None and len(known) > _A_LINE:
        near = [*begun, *get_close_matches(given, by_lower, n=_NEAREST, cutoff=0.5)]
        shown = list(dict.fromkeys([*(by_lower[one] for one in near), *known]))[:_NEAREST]
        rest = f" and {len(known) - _NEAREST} more, see {everything}"
    return f"unknown {kind} {str(name)!r}{hint} Known: {', '.join(shown)}{rest}"


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say in one line which extra brings it.

    Examples
    --------
    >>> require("math", extra="plot", purpose="figures").__name__
    'math'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs {module.partition('.')[0]}; "
            f'install it with: pip install "outperform[{extra}]"'
        ) from error
