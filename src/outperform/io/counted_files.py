"""Files with counted outcomes, and the parts of a folder of counts."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote

import numpy as np

from outperform import _files as read
from outperform.data.outcomes import Outcomes, n_codes
from outperform.data.pool import Slices
from outperform.data.serialization import FORMAT
from outperform.data.views import read_from
from outperform.errors import DataError, OutperformError, UsageError, param
from outperform.findings import listed
from outperform.io.addresses import URL, Storage
from outperform.io.compression import limited, most_unpacked
from outperform.io.engine import workspace
from outperform.io.formats import Dialect
from outperform.io.paths import File, find_files, stem
from outperform.io.periods import PERIODS, Window, period
from outperform.io.remote import found_at, is_remote, reached

_JSON = Dialect(format="jsonl")
_HEAD = 200  # the first bytes, which contain the format of a file of outcomes


def holds_outcomes(source: object, storage: Storage | None = None) -> bool:
    """Return whether a source is a file of counted outcomes, or a folder or list of such files."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(holds_outcomes(part, storage) for part in source)
    if is_remote(source):
        first = found_at(reached(str(source), storage))[0]
        with first.open() as stream:
            return _begins_shard(stream.read(_HEAD))
    if not isinstance(source, (str, os.PathLike)) or source == "-" or URL.match(str(source)):
        return False
    with workspace() as folder:
        try:
            files = find_files(source, _JSON, folder=folder)
        except DataError:  # another reader reports the error
            return False
        return _is_shard(files[0])


def read_shards(
    source: object,
    models: Sequence[str] | Mapping[str, str] | None,
    storage: Storage | None = None,
    *,
    by: Sequence[str] = (),
    window: Window | None = None,
) -> Outcomes:
    """Sum the outcomes of all files, in any order.

    Parameters
    ----------
    source, models, storage
        Files, models and options as for :func:`outperform.read`.
    by
        Periods of the parts, and slice columns with which they were counted; empty for the latter.
    window
        Days to read. Default: all.
    """
    total: Outcomes | None = None
    parts: dict[str, Part] = {}
    outcomes_by_file: dict[str, Outcomes] = {}
    with workspace() as folder:
        files = find_files(source, replace(_JSON, storage=storage), folder=folder)
        other = next((file for file in files if not _is_shard(file)), None)
        if other is not None:
            raise DataError(
                f"{other.name} does not contain counted outcomes, but {files[0].name} does"
            )
        for file in files:
            part, outcomes = _load(file)
            if part is not None:
                parts[file.name] = part
            if outcomes is not None:
                outcomes_by_file[file.name] = outcomes
        for file in files:
            file.refuse_changes()
    refuse_twin_parts(parts)
    if by or window is not None:
        names = {
            file: parts[file].name if file in parts else stem(file) for file in outcomes_by_file
        }
        outcomes_by_file = _of_periods(outcomes_by_file, names, by, window or Window())
    for name, outcomes in outcomes_by_file.items():
        total = outcomes if total is None else _plus(total, outcomes, name)
    if total is None:
        raise DataError(f"{files[0].name} and the files next to it contain no items")
    return _chosen(total, models)


def _of_periods(
    every: Mapping[str, Outcomes], names: Mapping[str, str], by: Sequence[str], window: Window
) -> dict[str, Outcomes]:
    """Return the outcomes of the days to read, with the requested slices."""
    if window == Window() and not set(by) & set(PERIODS):
        days: dict[str, date] = {}
    else:
        days = window.days([*names.values()])
    chosen = {}
    for file, outcomes in every.items():
        if days and names[file] not in days:
            continue
        known = {unit: period(days[names[file]], unit) for unit in PERIODS if days and unit in by}
        chosen[file] = _sliced(outcomes, by, known, file) if by else outcomes
    return chosen


def _sliced(outcomes: Outcomes, by: Sequence[str], known: Mapping[str, str], name: str) -> Outcomes:
    """Return outcomes with slices by some columns they were counted by, and by known values."""
    slices = outcomes.slices
    columns = () if slices is None else slices.by
    for column in by:
        if column not in (*columns, *known):
            counted_by = f"by {listed(columns)}" if columns else "without slices"
            raise UsageError(
                f"{name} was counted {counted_by}, so {column!r} must be passed when counting; "
                f"here {param('by=')} can be {listed([*columns, *PERIODS])}"
            )
    if slices is None:
        table = outcomes.tables[0]
        keys: list[tuple[str, ...]] = [tuple(known[column] for column in by)]
        cells = np.column_stack([np.zeros(len(table.cells), dtype=np.int64), table.cells])
        new = Slices(by=tuple(by), keys=tuple(keys), table=replace(table, cells=cells))
    else:
        new = slices.by_columns(by, known, n_labels=n_codes(outcomes))
    return replace(outcomes, slices=new)


def _load(file: File) -> tuple[Part | None, Outcomes | None]:
    """Read one file: either outcomes, or a part with a first line and outcomes, if any."""
    part, outcomes = None, None
    with file.open() as stream:
        data = stream.read()
    try:
        if _PART_MARK in data[:_HEAD]:
            first, _, data = data.partition(b"\n")
            part = part_of(first)
        if data or part is None:
            outcomes = Outcomes.from_json(data)
        if part is not None and _checksum_of(data) != part.outcomes:
            raise DataError("the outcomes do not match the first line")
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from error
    return part, None if outcomes is None else read_from(outcomes, file.name)


def _is_shard(file: File) -> bool:
    with file.open() as stream:
        return _begins_shard(stream.read(_HEAD))


def _begins_shard(head: bytes) -> bool:
    marks = (_PART_MARK, f'"{FORMAT}"'.encode())
    return head.lstrip().startswith(b"{") and any(mark in head for mark in marks)


# A part of a growing folder: a line with the origin of the outcomes, then the outcomes.

PART = "outperform/part"
ENDING = ".jsonl.gz"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9=.,+_ -]{0,150}")  # names distinct on every file system
_PART_MARK = f'"format":"{PART}"'.encode()
_ENDS_WITH = re.compile(rb'"sha256":"([0-9a-f]{64})"}\s*')
TYPES = {str: "text", int: "whole numbers", bool: "booleans"}


class Content(NamedTuple):
    """Counted file, with the values that show whether it has changed."""

    name: str
    size: int
    marker: str  # changes when the file is written, and is quick to read
    hash: str  # hash of the bytes


class Part(NamedTuple):
    """Origin of the outcomes of a partition."""

    name: str
    source: str
    files: tuple[Content, ...]
    items: int
    models: tuple[str, ...]
    labels: str  # type of the labels; empty if there are none
    spec: str  # checksum of the question
    outcomes: str  # checksum of the outcomes; empty if there are none
    time: str
    version: str


_FIELDS = read.record(
    {
        "format": read.one_of(PART),
        "schema": read.whole(1, 1),
        "name": read.text,
        "source": read.text,
        "files": read.list_of(read.row_of(read.text, read.whole(), read.text, read.text)),
        "items": read.whole(),
        "models": read.list_of(read.text),
        "labels": read.one_of("", *TYPES.values()),
        "spec": read.digest,
        "outcomes": read.text,
        "time": read.text,
        "version": read.text,
        "sha256": read.digest,
    }
)


def part_of(line: bytes) -> Part:
    """Parse the first line of a part; an invalid line raises an error."""
    data = read.parse(line)
    fields = _FIELDS(data, "")
    if not read.is_signed(data):
        raise DataError("its first line was changed: the checksum does not match")
    files = tuple(Content(*row) for row in fields.pop("files"))
    values = {name: fields[name] for name in Part._fields if name in fields}
    return Part(**{**values, "files": files, "models": tuple(fields["models"])})


def part_line(part: Part) -> bytes:
    """Return the first line of a part.

    Examples
    --------
    >>> content = Content("mon.csv", 12, "7", "9f86")
    >>> part = Part("mon.csv", "in/mon.csv", (content,), 0, (), "", "0" * 64, "", "2026", "0.1.0")
    >>> part_of(part_line(part)) == part
    True
    """
    record = {"format": PART, "schema": 1, **part._asdict()}
    return json.dumps(read.signed(record), separators=(",", ":")).encode("ascii")


def read_part(path: Path) -> Part:
    """Read the first line of a part, and check that the outcomes match it."""
    try:
        most = most_unpacked(path.stat().st_size, at_once=True)
        with gzip.open(path) as stream:
            content = limited(cast(BinaryIO, stream), most, name="it")
            part = part_of(content.readline())
            if not _is_signed(content.read(), part.outcomes):
                raise DataError("the outcomes do not match the first line")
        if path.name != part_file(part.name):
            raise DataError(
                f"it contains the part {part.name!r}, so its name must be {part_file(part.name)}"
            )
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return part


def part_file(name: str) -> str:
    """Return the file name of a part, unique even if the file system ignores case.

    Examples
    --------
    >>> part_file("day=2026-01-01"), part_file("DE/Mon.csv")
    ('day=2026-01-01.jsonl.gz', 'DE%2FMon.csv-4f5786ee9e36.jsonl.gz')
    """
    if _PLAIN.fullmatch(name):
        return name + ENDING
    short = quote(name, safe="=+, ", errors="backslashreplace").lstrip("._")[:100]
    encoded = name.encode("utf-8", "backslashreplace")
    return f"{short}-{hashlib.sha256(encoded).hexdigest()[:12]}{ENDING}"


def _checksum_of(data: bytes) -> str:
    """Return the checksum at the end of outcomes that were already checked; empty if none."""
    match = _ENDS_WITH.search(data[-100:])
    return match[1].decode("ascii") if match else ""


def _is_signed(data: bytes, digest: str) -> bool:
    """Return whether the bytes of outcomes, as written by an update, have this checksum.

    Examples
    --------
    >>> text, digest = read.signed_text({"a": 1})
    >>> _is_signed(text.encode(), digest), _is_signed(text.replace("1", "2").encode(), digest)
    (True, False)
    """
    if not digest:
        return not data
    end = f',"sha256":"{digest}"}}'.encode("ascii")
    body = data.removesuffix(end)
    return body != data and hashlib.sha256(body + b"}").hexdigest() == digest


def refuse_twin_parts(parts: Mapping[str, Part]) -> None:
    """Raise an error if parts, by file name, count the same bytes or different questions."""
    known: dict[str, str] = {}
    first = next(iter(parts), "")
    for name, part in parts.items():
        if part.spec != parts[first].spec:
            raise DataError(
                f"{first} and {name} were counted for different questions and cannot be added"
            )
        for content in part.files:
            other = known.setdefault(content.hash, name)
            if other != name:
                raise DataError(
                    f"{other} and {name} both include the bytes of {content.name}; remove one of "
                    "them"
                )


def _plus(total: Outcomes, shard: Outcomes, name: str) -> Outcomes:
    try:
        return total + shard
    except OutperformError as error:
        raise DataError(f"{name} cannot be added to the files before it: {error}") from error


def _chosen(outcomes: Outcomes, models: Sequence[str] | Mapping[str, str] | None) -> Outcomes:
    if models is None:
        return outcomes
    if not isinstance(models, Mapping):
        return outcomes.select(models)
    if not models:
        raise UsageError(f"{param('models')} must name at least one model")
    return replace(outcomes.select(list(models.values())), models=tuple(models))
