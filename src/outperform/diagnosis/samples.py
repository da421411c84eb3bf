"""The first rows of a table: its columns with their values."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO, Literal, NamedTuple
from uuid import uuid4

from outperform.data.labels import RIGHT_WORDS
from outperform.data.missing import looks_missing
from outperform.errors import DataError, UsageError
from outperform.io import group_by
from outperform.io.columnar import names_an_owner
from outperform.io.compression import order_mark
from outperform.io.count import Repeats
from outperform.io.engine import start, workspace
from outperform.io.formats import Dialect
from outperform.io.paths import File, known_files, paths_of, ready_files
from outperform.io.tables import open_table

MOST_ROWS = 10_000
"""Number of rows that are looked at."""
MOST_BYTES = 16 << 20
"""Bytes of a text file that are looked at, unpacked."""
_LONG_TEXT = 60  # characters; longer texts are not labels
_MOST_CLASSES = 200
_SEPARATORS = "|;,"
_WHOLE = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")

Kind = Literal["whole numbers", "numbers", "booleans", "text", "lists", "other"]


@dataclass(frozen=True)
class Column:
    """Column with the values that were looked at; a missing value is None."""

    name: str
    kind: Kind
    values: list[Any]

    @cached_property
    def known(self) -> list[Any]:
        """Values without the missing ones."""
        return [value for value in self.values if value is not None]

    @cached_property
    def counts(self) -> Counter[Any]:
        """Number of rows of each value; lists are not counted."""
        return Counter() if self.kind in ("lists", "other") else Counter(self.known)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return len(self.values) - len(self.known)

    @property
    def is_unique(self) -> bool:
        """Whether all values are there and different."""
        return bool(self.values) and len(self.counts) == len(self.values)

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.kind in ("whole numbers", "numbers")

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether all values are 0/1, true/false or words such as pass and fail."""
        known = {
            RIGHT_WORDS.get(value.lower(), value) if isinstance(value, str) else value
            for value in self.counts
        }
        return bool(known) and known <= {0, 1}

    @cached_property
    def can_be_labels(self) -> bool:
        """Whether the values can be classes: few, short, and used more than once."""
        if self.kind not in ("whole numbers", "booleans", "text") or not self.known:
            return False
        texts = [value for value in self.counts if isinstance(value, str)]
        if sum(map(len, texts)) > _LONG_TEXT * max(len(texts), 1):
            return False
        few = len(self.counts) <= max(2, min(_MOST_CLASSES, len(self.known) // 2))
        return few or self.separator is not None

    @cached_property
    def separator(self) -> str | None:
        """Separator of several labels in one cell; None if there are none."""
        if self.kind != "text":
            return None
        for mark in _SEPARATORS:
            divided = [value.split(mark) for value in self.known if mark in value]
            parts = {part.strip() for value in self.known for part in value.split(mark)}
            short = all(len(part) <= 30 and part.count(" ") <= 2 for part in parts)
            if len(divided) >= 0.05 * len(self.known) and short and len(parts) < len(self.counts):
                return mark
        return None

    @property
    def repeats(self) -> bool:
        """Whether the column looks like ids of groups: so named, with ids that repeat."""
        repeats = Repeats(len(self.known), len(self.counts))
        return names_an_owner(self.name) and repeats.looks_like_groups

    @property
    def look_missing(self) -> list[str]:
        """Texts that other programs write for missing values."""
        return [value for value in self.counts if looks_missing(value)]


class Sample(NamedTuple):
    """First rows of a table.

    Attributes
    ----------
    source
        Path as the caller passed it.
    format
        Format of the files.
    columns
        Columns by name.
    n_seen
        Number of rows that were looked at.
    n_rows
        Number of all rows; None if they were not counted.
    n_files
        Number of files; only the first was looked at.
    encoding
        Encoding, if it is not UTF-8.
    """

    source: str
    format: str
    columns: dict[str, Column]
    n_seen: int
    n_rows: int | None
    n_files: int
    encoding: str | None

    @property
    def is_whole(self) -> bool:
        """Whether all rows were looked at."""
        return self.n_rows == self.n_seen and self.n_files == 1


def sample_of(source: str, *, format: str | None = None) -> Sample:
    """Return the first rows of a file, or of the first file of a folder or pattern."""
    with workspace() as folder:
        files = known_files(source, Dialect(format=format))
        if not files:
            raise UsageError(f"{source} contains no tables; pass a file, or a folder with files")
        file, cut, encoding = _head(files[0], folder)
        dialect = Dialect(format=file.kind, encoding=encoding or "utf-8")
        ready = ready_files([file], dialect, folder)
        with start(paths_of(ready), folder=folder) as engine:
            table = open_table(ready, [], dialect, engine)
            names = list(table.names)
            query = table.select(names)
            rows = engine.fetch(f"{query.sql} LIMIT {MOST_ROWS}", query.parameters)
            n_rows = None
            if not cut and len(files) == 1:
                n_rows = len(rows)
                if n_rows == MOST_ROWS:
                    n_rows = int(engine.fetch(f"SELECT count(*) FROM ({query.sql})",
                                              query.parameters)[0][0])  # fmt: skip
            if not rows:
                raise DataError(f"{source} has a header but no rows")
            columns = {
                name: _column(name, values, table.family(name))
                for name, values in zip(names, map(list, zip(*rows, strict=True)), strict=True)
            }
    n_files = len(files)
    return Sample(source, files[0].kind, columns, len(rows), n_rows, n_files, encoding)


def _head(file: File, folder: str) -> tuple[File, bool, str | None]:
    """Return a file with the first lines of a text file, whether it is cut, and the encoding."""
    if file.kind in ("parquet", "arrow"):
        return file, False, None
    with file.open() as stream:
        head = _read(stream, MOST_BYTES + 1)
    if b"\0" in head[:1024] and order_mark(head[:4]) is None:
        raise DataError(f"{file.name} is not a table: it contains bytes that are not text")
    cut = len(head) > MOST_BYTES
    encoding = _encoding(head)
    wide = encoding is not None and encoding.startswith(("utf-16", "utf-32"))
    if cut and not wide and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    if not cut and not file.packing:
        return file, False, encoding
    path = os.path.join(folder, uuid4().hex)
    with open(path, "wb") as stream:
        stream.write(head)
    return replace(file, path=path, packing="", stamp=()), cut, encoding


def _read(stream: BinaryIO, most: int) -> bytes:
    blocks: list[bytes] = []
    while most > 0 and (block := stream.read(most)):
        blocks.append(block)
        most -= len(block)
    return b"".join(blocks)


def _encoding(head: bytes) -> str | None:
    """Return the encoding of a file that is not UTF-8; None for UTF-8."""
    marked = order_mark(head[:4])
    if marked is not None:
        return marked
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return None


def _column(name: str, values: list[Any], family: str) -> Column:
    if family == "json":
        try:
            return _typed(name, group_by.decode(values, family, name=name))
        except DataError:  # lists and objects
            return Column(name, "lists", values)
    if family == "other":
        lists = any(isinstance(value, (list, dict)) for value in values)
        return Column(name, "lists" if lists else "other", values)
    return _typed(name, group_by.decode(values, family, name=name))


def _typed(name: str, values: list[Any]) -> Column:
    """Return a column with numbers in place of the texts of numbers."""
    known = [value for value in values if value is not None and value != ""]
    kinds = {type(value) for value in known}
    kind: Kind = "other"
    if kinds == {str}:
        kind = "text"
        if all(map(_WHOLE.fullmatch, known)):
            kind, known = "whole numbers", [int(value) for value in known]
        elif all(map(_NUMBER.fullmatch, known)):
            kind, known = "numbers", [float(value) for value in known]
        numbers = iter(known)
        values = [None if value in (None, "") else next(numbers) for value in values]
    elif kinds == {bool}:
        kind = "booleans"
    elif kinds == {int}:
        kind = "whole numbers"
    elif not kinds:
        kind = "text"
    elif kinds <= {int, float}:
        kind = "numbers"
    values = [None if value == "" else value for value in values]
    return Column(name, kind, values)


def missing_in(columns: Sequence[Column]) -> int:
    """Return the number of rows with a missing value in some of the columns."""
    return sum(
        any(value is None for value in row)
        for row in zip(*(column.values for column in columns), strict=True)
    )


def check_path(path: object) -> str:
    """Return a path as text; anything else raises an error."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(
            f"a diagnosis needs the path of a file or folder; got {type(path).__name__}. Look at "
            f"frames with their own methods, or write them to a file"
        )
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise UsageError(f"a diagnosis needs the path of a file or folder; got {text!r}")
    if text == "-":
        raise UsageError("a stream can be read only once; write it to a file and pass its name")
    return text
