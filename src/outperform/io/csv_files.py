"""CSV and TSV."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO, TextIO
from uuid import uuid4

import numpy as np

from outperform._typing import BoolArray
from outperform.errors import DataError, either, param
from outperform.findings import Finding, finding
from outperform.io.columnar import Column, Scan, refuse_twins
from outperform.io.engine import Engine, EngineFault, Spool
from outperform.io.formats import Dialect
from outperform.io.paths import File

_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_BLOCK = 1 << 20
_LONGEST = 1 << 24  # characters per line; a compressed file could contain a line of any length
_ENDS = (b"\n", b"\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Layout of a CSV file."""

    separator: str
    quote: str | None
    header: bool
    names: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Glance:
    """Properties from one pass over all bytes, needed because the engine is too lenient."""

    quoted: bool
    padded: bool  # whether there are blanks next to quotes, which the engine would strip
    trailing: bool  # whether rows end with a separator, which the engine may drop
    unusual: bool  # whether there are mixed line ends, leading blank lines, or lines of megabytes
    separators: int


def scan_csv(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Check a file and pass it to the engine, or read it in Python if that is safer."""
    layout = _layout(file, wanted, dialect)
    glance = _look(file, layout)
    if glance.padded or glance.unusual or (glance.quoted and glance.trailing):
        return _rewritten(file, layout, engine)
    scan = _scan(file, layout)
    if glance.trailing and not _fits(glance, layout, scan, engine):
        return _rewritten(file, layout, engine)
    return scan


def rescue_csv(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Read a file in Python, which finds the faulty line if there is one."""
    return _rewritten(file, _layout(file, wanted, dialect), engine)


def read_records(file: File, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the records of a small file, including the first."""
    yield from _records(file, _layout(file, (), replace(dialect, header=False)))


def _scan(file: File, layout: _Layout) -> Scan:
    width = len(layout.names)
    # An empty quote or escape turns quoting off.
    quote = layout.quote or ""
    relation = (
        "read_csv(?, columns = ?, delim = ?, quote = ?, escape = ?, header = ?, compression = ?, "
        "auto_detect = false, strict_mode = true, null_padding = false, ignore_errors = false, "
        "hive_partitioning = false)"
    )
    return Scan(
        file=file,
        relation=relation,
        parameters=(
            file.path,
            {f"c{index}": "VARCHAR" for index in range(width)},
            layout.separator,
            quote,
            quote,
            layout.header,
            file.packing or "none",
        ),
        # The engine reads only some empty fields as NULL. Missing values are determined later, from
        # the user's settings.
        columns={
            name: Column(f"coalesce(c{index}, '')", "text")
            for index, name in enumerate(layout.names)
        },
        findings=layout.findings,
        hint=_no_header() if layout.header else "",
        merges=True,
        lines=partial(_lines_of, file, layout),
    )


_MOST_LINES = 2_000_000  # rows that may be read again to find line numbers


def _lines_of(file: File, layout: _Layout, rows: Sequence[int]) -> list[int]:
    """Return the line on which each row begins, counted from 1; empty if too far down."""
    if not rows or max(rows) > _MOST_LINES:
        return []
    line_rows = {row + layout.header for row in rows}
    with _opened(file) as stream:
        parser = _parser(stream, layout.separator, layout.quote)
        lines, number, line = [], 0, 1
        for row in parser:
            number += bool(row)
            if row and number in line_rows:
                lines.append(line)
            if number > max(line_rows):
                break
            line = parser.line_num + 1
    return lines


# The first row


def _layout(file: File, required: Sequence[str], dialect: Dialect) -> _Layout:
    usual = "\t" if file.kind == "tsv" else ","
    candidates = [dialect.separator] if dialect.separator else [usual, *set(_NAMES) - {usual}]
    rows = {
        candidate: _first_row(file, candidate, dialect.quote) for candidate in sorted(candidates)
    }
    if not any(rows.values()):
        raise DataError(f"{file.name} has no rows")
    if dialect.header:
        fitting = [
            candidate
            for candidate in candidates
            if rows[candidate] and set(required) <= set(rows[candidate])
        ]
    else:
        fitting = []
    best = max(candidates, key=lambda candidate: (len(rows[candidate]), candidate == usual))
    separator = fitting[0] if fitting and required else best
    names = rows[separator] if dialect.header else [str(index) for index in range(len(rows[best]))]
    refuse_twins(names, file.name, _no_header() if dialect.header else "")
    return _Layout(
        separator=separator,
        quote=dialect.quote,
        header=dialect.header,
        names=tuple(names),
        findings=()
        if separator in (dialect.separator, usual)
        else (finding("separator_detected", file=file.name, separator=_NAMES[separator]),),
    )


def _first_row(file: File, separator: str, quote: str | None) -> list[str]:
    try:
        with _opened(file) as stream:
            return next((row for row in _parser(stream, separator, quote) if row), [])
    except csv.Error:
        return []


# One pass over all bytes


def _look(file: File, layout: _Layout) -> _Glance:
    separator = layout.separator.encode()
    quote = layout.quote.encode() if layout.quote else b""
    q, m = re.escape(quote), re.escape(separator)
    padding = re.compile(rb"(?:^|[\r\n]|%b) +%b|%b +(?:[\r\n]|%b|$)" % (m, q, q, m))
    quoted = padded = trailing = cut = False
    separators, block, ends = 0, b"\n", _LineEnds()
    with file.open() as stream:
        head = stream.read(4).removeprefix(b"\xef\xbb\xbf")
        leading = head[:1] in (b"\n", b"\r")
        for following in _blocks(stream, head):
            # A pattern that spans two blocks would be missed.
            cut = cut or not block.endswith(b"\n")
            block = following
            if b"\0" in block:
                with file.open() as again:
                    line = next(number for number, text in _numbered(again) if b"\0" in text)
                raise DataError(
                    f"{file.name} has a zero byte in line {line}, so it is not text in UTF-8; it "
                    "may be damaged or use another encoding: "
                    f"{param('dialect=', {'encoding': 'utf-16'})}"
                )
            if quote and quote in block:
                quoted = True
                padded = padded or bool(padding.search(block))
                trailing = trailing or any(separator + 2 * quote + end in block for end in _ENDS)
            number, last = _separators(block, separator)
            separators, trailing = separators + number, trailing or last
            ends.add(block)
    return _Glance(
        quoted=quoted,
        padded=padded,
        trailing=trailing or block.endswith((separator, separator + 2 * quote)),
        unusual=leading or cut or ends.are_mixed,
        separators=separators,
    )


def _separators(block: bytes, mark: bytes) -> tuple[int, bool]:
    """Return the number of separators, and whether any line ends with one."""
    codes = np.frombuffer(block, dtype=np.uint8)
    is_separator: BoolArray = codes == mark[0]
    at_ends = is_separator[:-1] & ((codes[1:] == _ENDS[0][0]) | (codes[1:] == _ENDS[1][0]))
    return int(np.count_nonzero(is_separator)), bool(at_ends.any())


class _LineEnds:
    """Counter of line ends, used only for files with carriage returns."""

    def __init__(self) -> None:
        self.feeds = self.returns = self.both = 0

    def add(self, block: bytes) -> None:
        if self.returns or b"\r" in block:
            self.returns += block.count(b"\r")
            self.both += block.count(b"\r\n")
            self.feeds += block.count(b"\n")
        else:
            self.feeds += b"\n" in block

    @property
    def are_mixed(self) -> bool:
        return bool(self.returns) and self.feeds > 0 and not self.feeds == self.returns == self.both


def _blocks(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    """Yield blocks that end at a line end, unless a line is extremely long."""
    while block := head + stream.read(_BLOCK):
        if not block.endswith(b"\n"):
            block += stream.readline(_BLOCK)
        yield block
        head = b""


def _no_header() -> str:
    return f". If the first row is data, pass {param('dialect=', {'header': False})}"


def _unquoted() -> str:
    return either(", or pass dialect={'quote': None} if quotes are ordinary characters", "")


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers; very long lines are split."""
    number, piece = 0, b"\n"
    while following := stream.readline(_LONGEST):
        number += piece.endswith(b"\n")
        piece = following
        yield number, piece


def _fits(glance: _Glance, layout: _Layout, scan: Scan, engine: Engine) -> bool:
    """Return whether the number of separators matches the engine's number of rows."""
    try:
        ((rows,),) = engine.fetch(f"SELECT count(*) FROM {scan.relation}", scan.parameters)
    except EngineFault:
        return False
    return bool(glance.separators == (rows + layout.header) * (len(layout.names) - 1))


# The slow path


def _rewritten(file: File, layout: _Layout, engine: Engine) -> Scan:
    """Return a scan of a plain copy of the file, with every value quoted."""
    path = os.path.join(engine.folder, uuid4().hex)
    with Spool(path) as copy:
        writer = csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows(_records(file, layout))
    plain = replace(file, path=path, packing="", stamp=file.stamp)
    scan = _scan(plain, replace(layout, separator=",", quote='"'))
    return replace(scan, file=file, lines=partial(_lines_of, file, layout))


def _records(file: File, layout: _Layout) -> Iterator[list[str]]:
    """Yield the records of a file; the first invalid record raises an error with its line."""
    width = len(layout.names)
    with _opened(file) as stream:
        parser = _parser(stream, layout.separator, layout.quote)
        line = 1
        try:
            for row in parser:
                if row and len(row) != width:
                    text = layout.separator.join(row)
                    shortened = text if len(text) <= 80 else text[:80] + "…"
                    raise DataError(
                        f"{file.name}: every row must have {width} values, like the first row; "
                        f"line {line} has {len(row)}: {shortened!r}"
                    )
                if row:
                    yield row
                line = parser.line_num + 1
        except csv.Error as error:
            raise DataError(_malformed(file, line, parser.line_num, error)) from None


def _parser(lines: Iterator[str], separator: str, quote: str | None) -> Any:
    if quote is None:
        return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=separator, quotechar=quote, strict=True)


@contextmanager
def _opened(file: File) -> Iterator[Iterator[str]]:
    try:
        with file.open() as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
            yield _lines(file, text)
    except UnicodeDecodeError:
        raise DataError(undecodable(file)) from None


def _lines(file: File, text: TextIO) -> Iterator[str]:
    number = 0
    while line := text.readline(_LONGEST):
        number += 1
        if len(line) == _LONGEST:
            raise DataError(f"{file.name}: line {number} has more than {_LONGEST} characters")
        yield line


def undecodable(file: File) -> str:
    """Return the message about the first byte that is not UTF-8."""
    with file.open() as stream:
        for number, line in _numbered(stream):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return (
                    f"{file.name} must be text in UTF-8, but line {number} has the invalid byte "
                    f"0x{line[error.start]:02x}; pass its encoding, e.g. "
                    f"{param('dialect=', {'encoding': 'latin-1'})} or 'cp1252'"
                )
    return f"{file.name} must be text in UTF-8"


def _malformed(file: File, first: int, last: int, error: csv.Error) -> str:
    where = f"line {first}" if first >= last else f"lines {first} to {last}"
    if "unexpected end" in str(error):
        return (
            f"{file.name}: the row that begins on line {first} has an unclosed quote; close "
            f"it{_unquoted()}"
        )
    if "field larger" in str(error):
        return f"{file.name}: {where}: a value has more than {csv.field_size_limit()} characters"
    return (
        f"{file.name}: {where}: text follows a closing quote; double any quote inside quotes"
        f"{_unquoted()}"
    )
