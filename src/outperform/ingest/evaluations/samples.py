"""Samples: what one log or table says of one model, item by item, as right or as a grade."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from outperform.errors import DataError
from outperform.ingest.files.engine import EngineFault


class Item(NamedTuple):
    """What was asked: the task, and the id of the document within it."""

    task: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """The samples of one model in one log or table, as columns of equal length.

    Parameters
    ----------
    model
        The name of the model.
    name
        What to call the log in a message.
    turn
        Which run it is, where the caller lists several of one model.
    origin
        What wrote the documents; those of another origin cannot be compared.
    items
        What each sample answers.
    epochs
        Which answer to the item it is.
    documents
        What tells one version of a document from another, or None.
    scores
        The values of each score, by name.
    """

    model: str
    name: str
    turn: int
    origin: str
    items: list[Item]
    epochs: list[int]
    documents: list[str | None]
    scores: dict[str, list[Any]]


class FailedLog(NamedTuple):
    """A log that cannot be used, whose it is as far as that is known, and why."""

    name: str
    model: str | None
    reason: str  # a clause that starts with the name


_RIGHT = {"C": True, "I": False, "N": False}  # correct, incorrect, no answer
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_PARTLY_RIGHT = {"P": 0.5}


def as_grade(value: Any) -> float | None:
    """Return a score as a number, or None if it is missing.

    Anything that is no number is a ValueError.

    Examples
    --------
    >>> as_grade(7), as_grade("P"), as_grade("C"), as_grade(None)
    (7.0, 0.5, 1.0, None)
    """
    if isinstance(value, str):
        text = value.strip()
        known: dict[str, float] = {**_RIGHT, **_PARTLY_RIGHT, **_WORDS}
        found = known.get(text, known.get(text.lower()))
        value = text or None if found is None else found
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is no number") from None
    return None if math.isnan(number) else number


def is_right(value: Any) -> bool | None:
    """Return whether a score says right or wrong, or None if it is missing.

    Anything in between is a ValueError.

    Examples
    --------
    >>> is_right(1.0), is_right("I"), is_right("True"), is_right(None)
    (True, False, True, None)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    raise ValueError(f"{value!r} is neither right nor wrong")


def _of_text(value: str) -> bool | None:
    if not value:
        return None
    if value in _RIGHT:
        return _RIGHT[value]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return is_right(float(value))
    except ValueError:
        raise ValueError(f"{value!r} is neither right nor wrong") from None


def loaded(values: list[Any]) -> list[Any]:
    """Return what JSON texts say; a missing one stays None."""
    try:
        known = {value: None if value is None else json.loads(value) for value in set(values)}
    except (ValueError, RecursionError) as error:  # the reader knows in which line
        raise EngineFault(f"a value cannot be read: {error}") from error
    return [known[value] for value in values]


def as_epoch(value: Any, *, name: str) -> int:
    """Return which answer to an item a sample is, or refuse what is no number."""
    try:
        return int(value)
    except (TypeError, ValueError):
        raise DataError(f"{name}: every 'epoch' must be a whole number; got {value!r}") from None


def as_id(value: Any, *, column: str, name: str) -> str:
    """Return an id as text, or refuse what is none."""
    if value is None or value == "" or isinstance(value, (float, list, dict)):
        raise DataError(
            f"{name}: every sample needs an id in {column!r}, as text or a whole number; "
            f"got {value!r}"
        )
    return str(value)
