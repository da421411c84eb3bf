"""JSON Lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from outperform._files import distinct
from outperform.errors import DataError, param
from outperform.io.columnar import Column, Scan, positional_names, refuse_unreadable
from outperform.io.csv_files import undecodable
from outperform.io.engine import Engine
from outperform.io.engine import text as quoted
from outperform.io.formats import Dialect
from outperform.io.paths import File

_scan_pairs: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder(
    object_pairs_hook=tuple
).scan_once  # type: ignore[attr-defined]
_ENDS = ("", "\n", "\r\n")
_SAMPLE = 1_000  # number of first lines whose keys become the columns
_LINE_BLOCK = 1 << 20
_LONGEST_LINE = 1 << 24  # bytes per line, the engine's own limit


def scan_json_lines(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Find the keys in the first lines, and pass the file to the engine."""
    names = _keys(file)
    if file.packing:  # unpacked here first, because the engine does not enforce the size limit
        with file.open() as stream:
            while stream.read(_LINE_BLOCK):
                pass
    if len({name.lower() for name in names}) < len(names):
        return _by_pointer(file, names)
    return Scan(
        file=file,
        relation=(
            "read_json(?, columns = ?, compression = ?, format = 'newline_delimited', "
            "auto_detect = false, ignore_errors = false, hive_partitioning = false) "
            f"AS t({positional_names(len(names))})"
        ),
        parameters=(file.path, dict.fromkeys(names, "JSON"), file.packing or "uncompressed"),
        columns={
            name: Column(f"CAST(c{index} AS VARCHAR)", "json") for index, name in enumerate(names)
        },
        merges=True,
    )


def _by_pointer(file: File, names: Sequence[str]) -> Scan:
    """Return a scan for keys that differ only in case, which the engine treats as equal.

    In such a scan the engine would use the first of two equal keys, so every line is checked first.
    """
    for _ in _objects(file):
        pass
    pointers = ("/" + name.replace("~", "~0").replace("/", "~1") for name in names)
    return Scan(
        file=file,
        relation=(
            "read_ndjson_objects(?, compression = ?, ignore_errors = false, "
            "hive_partitioning = false) AS t(c0)"
        ),
        parameters=(file.path, file.packing or "uncompressed"),
        columns={
            name: Column(f"CAST(json_extract(c0, {quoted(pointer)}) AS VARCHAR)", "json")
            for name, pointer in zip(names, pointers, strict=True)
        },
    )


def rescue_json_lines(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Raise an error if a line is not an object; it names the first such line."""
    for _ in _objects(file):
        pass
    scan = scan_json_lines(file, wanted, dialect, engine)
    refuse_unreadable(scan, engine, _unreadable)
    return scan


def _unreadable(file: File, fault: str) -> str:
    return f"{file.name} cannot be read as JSON Lines: {fault.replace(file.path, file.name)}"


def _keys(file: File) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    for number, record in enumerate(_objects(file)):
        if number >= _SAMPLE:
            break
        keys.update(dict.fromkeys(record))
    if not keys:
        raise DataError(f"{file.name} has no rows")
    for name in keys:
        if any("\ud800" <= record <= "\udfff" for record in name):
            raise DataError(f"{file.name}: the key {name!r} contains half of a surrogate pair")
    return tuple(keys)


def _objects(file: File) -> Iterator[dict[str, object]]:
    """Yield the objects of a file; a line without an object raises an error with its number."""
    with file.open() as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            if line.strip():
                yield _object(file, number, line)


def keys_and_values(file: File) -> Iterator[tuple[tuple[str, ...], tuple[object, ...]]]:
    """Yield the keys and values of each line's object, parsing each line once.

    Lines with the same keys share one tuple of keys. Objects inside an object are tuples of pairs,
    because building the unused ones as dictionaries, and checking their keys, would take a third
    more time; :func:`whole` returns them in full.
    """
    keys: tuple[str, ...] | None = None
    with file.open() as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            try:
                text = line.decode()
                pairs, end = _scan_pairs(text, 0)
                new_keys, values = zip(*pairs, strict=True)
                if type(pairs) is tuple and text[end:] in _ENDS:
                    if new_keys != keys and len(set(new_keys)) == len(new_keys):
                        keys = new_keys
                    if new_keys == keys:
                        yield keys, values
                        continue
            except (ValueError, TypeError, RecursionError, StopIteration):
                pass
            if not line.isspace():
                record = _object(file, number, line)  # the strict parser explains what is wrong
                yield tuple(record), tuple(record.values())


def whole(value: object) -> object:
    """Return a value of :func:`keys_and_values` with dictionaries; a repeated key is an error.

    Examples
    --------
    >>> whole((("lang", "de"), ("choices", [(("text", "yes"),)])))
    {'lang': 'de', 'choices': [{'text': 'yes'}]}
    """
    if isinstance(value, tuple):
        return distinct([(name, whole(inner)) for name, inner in value])
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return value


def _object(file: File, number: int, line: bytes) -> dict[str, object]:
    try:
        record = json.loads(line.decode("utf-8"), object_pairs_hook=distinct)
    except UnicodeDecodeError:
        raise DataError(undecodable(file)) from None
    except RecursionError:
        raise DataError(f"{file.name}: line {number} is nested too deeply") from None
    except ValueError as error:
        if number == 1 and line.strip() in (b"{", b"["):
            raise DataError(
                f"{file.name} is one JSON value over several lines; write one object per line or, "
                f"if it is an evaluation log, pass its format, e.g. {param('format=', 'promptfoo')}"
            ) from None
        is_syntax = isinstance(error, (json.JSONDecodeError, DataError))
        digits = f"has a number of more than {sys.get_int_max_str_digits()} digits"
        reason = f"is not JSON: {error}" if is_syntax else digits
        raise DataError(f"{file.name}: line {number} {reason}") from None
    if isinstance(record, dict):
        return record
    hint = "; write one object per line, not one list" if isinstance(record, list) else ""
    raise DataError(
        f'{file.name}: every line must be an object such as {{"label": "x"}}; got '
        f"{line[:60].decode('utf-8', 'replace').strip()!r} in line {number}{hint}"
    )
