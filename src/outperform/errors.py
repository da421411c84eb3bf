"""Exceptions that state the requirement, the value received, and how to fix it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType

Spelling = Callable[[str, tuple[object, ...]], str]
"""Function that turns a parameter and some of its values into the text to type."""

_SPELLING: ContextVar[Spelling | None] = ContextVar("spelling", default=None)
_PYTHON: ContextVar[bool] = ContextVar("python", default=True)


class OutperformError(Exception):
    """Base class of all errors that outperform raises on purpose."""


class UsageError(OutperformError, ValueError):
    """An argument does not have an allowed value."""


class CallError(UsageError, TypeError):
    """The arguments do not fit the function that was called."""


class DataError(OutperformError, ValueError):
    """The data cannot be analysed in their present form."""


class ResourceError(OutperformError, MemoryError):
    """The request needs more memory or draws than is sensible."""


class UndefinedBayesFactorError(OutperformError, ArithmeticError):
    """The requested Bayes factor does not exist."""


class MissingExtraError(OutperformError, ImportError):
    """A feature needs an optional dependency that is not installed."""


@contextmanager
def spelled(spelling: Spelling, *, python: bool = False) -> Iterator[None]:
    """Use this spelling of parameters in messages inside the ``with`` block.

    Parameters
    ----------
    spelling
        Spelling of a parameter and its values.
    python
        Whether the arguments are those of Python, only spelled otherwise; :func:`either` then
        returns the Python wording.
    """
    token, wording = _SPELLING.set(spelling), _PYTHON.set(python)
    try:
        yield
    finally:
        _SPELLING.reset(token)
        _PYTHON.reset(wording)


def param(name: str, *values: object) -> str:
    """Return a parameter as spelled in messages, optionally with example values.

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
    return python if _PYTHON.get() else typed


_NEAREST = 5
_NAMES_PER_LINE = 12


def unknown_name(
    kind: str,
    name: object,
    known: Iterable[str],
    *,
    everything: str | None = None,
) -> str:
    """Return the message for an unknown name, with the most similar known one.

    Parameters
    ----------
    kind
        Word for the named thing.
    name
        Name received.
    known
        Known names.
    everything
        Reference to a list of all names, which replaces long lists.

    Examples
    --------
    >>> unknown_name("metric", "f1macro", ["f1", "f1_macro"])
    "unknown metric 'f1macro'; did you mean 'f1_macro'? Known: f1, f1_macro"
    >>> unknown_name("model", "large", ["mockllm/small", "mockllm/large"])
    "unknown model 'large'; did you mean 'mockllm/large'? Known: mockllm/small, mockllm/large"
    """
    known = list(known)
    by_lower, typed = {known_name.lower(): known_name for known_name in known}, str(name).lower()
    long_enough = list(by_lower) if len(typed) > 2 else []
    prefixed = [lower for lower in long_enough if lower.startswith(typed)]
    suffixed = [lower for lower in long_enough if re.search(rf"\W{re.escape(typed)}$", lower)]
    close = [*prefixed, *suffixed, *get_close_matches(typed, by_lower, n=1)]
    hint = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    listed, more = known, ""
    if everything is not None and len(known) > _NAMES_PER_LINE:
        near = [*prefixed, *get_close_matches(typed, by_lower, n=_NEAREST, cutoff=0.5)]
        listed = list(dict.fromkeys([*(by_lower[lower] for lower in near), *known]))[:_NEAREST]
        more = f" and {len(known) - _NEAREST} more, see {everything}"
    return f"unknown {kind} {str(name)!r}{hint} Known: {', '.join(listed)}{more}"


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or raise an error that names the missing extra.

    Examples
    --------
    >>> require("math", extra="plot", purpose="figures").__name__
    'math'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{purpose} needs {module.partition('.')[0]}; "
            f'install it with: pip install "outperform[{extra}]"'
        ) from error
