"""Exit codes: what each says, and which error means which."""

from __future__ import annotations

from outperform.errors import (
    DataError,
    MissingExtra,
    OutperformError,
    ResourceError,
    UsageError,
)

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
