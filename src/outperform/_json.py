"""JSON that outperform wrote, read back strictly: any damage is a DataError that says where."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from outperform._typing import AnyArray, IntArray
from outperform.errors import DataError

# A check takes a value and its place, and returns what it stands for or raises a DataError.
Check = Callable[[Any, str], Any]

# The largest number of items, far above any data set and far below what a float holds.
MOST = 10**27
_INT64 = 2**63 - 1
_SHOWN = 60
_DIGEST = re.compile("[0-9a-f]{64}")


def parse(data: bytes | str, *, constants: bool = False) -> Any:
    """Return the value of a JSON text, or say what is wrong with the text.

    Beyond the grammar, keys must be distinct, and NaN and Infinity are no numbers unless
    ``constants`` says that they may occur.

    Examples
    --------
    >>> parse(b'{"key": [1, 2]}')
    {'key': [1, 2]}
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        if text.startswith("\ufeff"):
            raise DataError("the text begins with a byte order mark")
        number = float if constants else _refuse_constant
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=number)
    except UnicodeDecodeError as error:
        raise DataError(f"the text is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise DataError("the text is nested too deeply") from error
    except DataError:
        raise
    except ValueError as error:  # the grammar, or a number of more digits than Python takes
        raise DataError(str(error)) from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the key {shown(twin)} occurs twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise DataError(f"{name} is no number")


def checksum(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain values, whatever the order of keys and the spaces.

    Examples
    --------
    >>> checksum({"a": 1, "b": 2}) == checksum({"b": 2, "a": 1})
    True
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def signed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values with the checksum of all others as ``sha256``."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    return {**rest, "sha256": checksum(rest)}


def is_signed(data: Mapping[str, Any]) -> bool:
    """Return whether plain values have the checksum that fits them.

    Examples
    --------
    >>> is_signed(signed({"a": 1})), is_signed(signed({"a": 1}) | {"a": 2})
    (True, False)
    """
    return bool(data.get("sha256") == signed(data)["sha256"])


def shown(value: Any) -> str:
    """Return a value as a message can quote it, whatever it is."""
    try:
        words = ascii(value)
    except (ValueError, RecursionError):  # too many digits, or too deep
        return f"a {type(value).__name__}"
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def refuse(at: str, must: str, value: Any) -> DataError:
    """Return the error for a value that is not what it must be."""
    return DataError(f"{at} must be {must}; got {shown(value)}")


# Checks


def text(value: Any, at: str) -> str:
    """Take text that every encoding of Unicode can hold."""
    if type(value) is not str:
        raise refuse(at, "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise refuse(at, "text without half characters (lone surrogates)", value) from error
    return value


def digest(value: Any, at: str) -> str:
    """Take a SHA-256 in hexadecimal digits."""
    if type(value) is not str or not _DIGEST.fullmatch(value):
        raise refuse(at, "a SHA-256 of 64 lower-case hexadecimal digits", value)
    return value


def truth_value(value: Any, at: str) -> bool:
    """Take true or false."""
    if type(value) is not bool:
        raise refuse(at, "true or false", value)
    return value


def number(value: Any, at: str) -> float:
    """Take a finite number with or without a fraction."""
    if type(value) not in (int, float) or not -1e308 < value < 1e308:
        raise refuse(at, "a finite number", value)
    return float(value)


def whole(low: int = 0, high: int = MOST) -> Check:
    """Take a whole number within limits."""

    def check(value: Any, at: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise refuse(at, f"a whole number from {low} to {_limit(high)}", value)
        return value

    return check


def one_of(*values: str) -> Check:
    """Take one of some words."""

    def check(value: Any, at: str) -> str:
        if type(value) is not str or value not in values:
            raise refuse(at, f"one of {', '.join(map(repr, values))}", value)
        return value

    return check


def list_of(check: Check) -> Check:
    """Take a list, each element of which passes a check."""

    def check_all(value: Any, at: str) -> list[Any]:
        return [check(one, f"{at}[{place}]") for place, one in enumerate(as_list(value, at))]

    return check_all


def row_of(*checks: Check) -> Check:
    """Take a list with one element for each check."""

    def check_all(value: Any, at: str) -> list[Any]:
        if len(as_list(value, at)) != len(checks):
            raise refuse(at, f"a list of {len(checks)}", value)
        pairs = zip(checks, value, strict=True)
        return [check(one, f"{at}[{place}]") for place, (check, one) in enumerate(pairs)]

    return check_all


def optional(check: Check) -> Check:
    """Take null as well."""
    return lambda value, at: None if value is None else check(value, at)


def record(required: Mapping[str, Check], may_have: Mapping[str, Check] | None = None) -> Check:
    """Take an object with just these fields."""
    known = {**required, **(may_have or {})}

    def check(value: Any, at: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise refuse(at or "the whole", "an object", value)
        inside = f"{at}." if at else ""
        for name in required:
            if name not in value:
                raise DataError(f"the field {inside}{name} is missing")
        for name in value:
            if name not in known:
                raise DataError(f"there is no field {inside}{shown(name).strip(chr(39))}")
        return {name: known[name](one, f"{inside}{name}") for name, one in value.items()}

    return check


def as_list(value: Any, at: str) -> list[Any]:
    """Take a list of anything."""
    if type(value) is not list:
        raise refuse(at, "a list", value)
    return value


# Arrays, whose elements are too many to be looked at one by one in Python


def wholes(*, low: int = 0, high: int = _INT64) -> Check:
    """Take a list of whole numbers as an array: int64, or Python integers where one needs more."""

    def check(value: Any, at: str) -> AnyArray:
        _refuse_others(as_list(value, at), at, low, high)
        most = max(value, default=0)
        return np.array(value, dtype=np.int64 if most <= _INT64 else object)

    return check


def codes(value: Any, at: str) -> IntArray:
    """Take rows of codes as an array ``(n_rows, n_columns)``; without rows it has no columns."""
    for place, row in enumerate(as_list(value, at)):
        if type(row) is not list or len(row) != len(value[0]):
            raise refuse(f"{at}[{place}]", "a list as long as the first one", row)
    if value:
        _refuse_others(list(chain.from_iterable(value)), at, 0, _INT64)
    return np.array(value, dtype=np.int64).reshape(len(value), len(value[0]) if value else 0)


def fractions(value: Any, at: str) -> AnyArray:
    """Take a list of finite numbers above zero as an array of float64."""
    for place, one in enumerate(as_list(value, at)):
        if type(one) not in (float, int) or not 0 < one <= 1e308:
            raise refuse(f"element {place} of {at}", "a finite number above zero", one)
    array = np.array(value, dtype=np.float64)
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise DataError(f"{at} must add up to a finite number")
    return array


def _refuse_others(values: list[Any], at: str, low: int, high: int) -> None:
    whole = set(map(type, values)) <= {int}
    if whole and (not values or (low <= min(values) and max(values) <= high)):
        return
    place, bad = next(
        (place, one)
        for place, one in enumerate(values)
        if type(one) is not int or not low <= one <= high
    )
    raise refuse(f"element {place} of {at}", f"a whole number from {low} to {_limit(high)}", bad)


def _limit(high: int) -> str:
    return "10**27" if high == MOST else str(high) if high != _INT64 else "2**63 - 1"
