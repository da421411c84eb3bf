"""The pages of a Parquet file: whether they carry checksums, and whether they fit together.

The numbers below are those of the fields in the format's definition.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from typing import Any, BinaryIO, NamedTuple

from outperform.ingest.files.thrift import read_struct

_HEADER = 1 << 16  # bytes at most; statistics of long values are in there
_END = 8  # the length of the footer, and the magic bytes
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # types of pages
_MORE = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}  # the field that says more of such a page
_ENCODING = {_DATA: 2, _DICTIONARY: 2, _DATA_2: 4}  # the field of that which says how


class Page(NamedTuple):
    """One page: where its header begins, where the page does, and where it ends."""

    start: int
    body: int
    end: int
    is_dictionary: bool
    has_checksum: bool
    values: int
    encoding: int


class Chunk(NamedTuple):
    """One column in one group of rows, as the footer describes it."""

    path: tuple[str, ...]
    start: int
    end: int
    values: int
    encodings: frozenset[int]
    rows: int

    def pages(self, stream: BinaryIO) -> Iterator[Page]:
        """Yield the pages from header to header; together they must fill the chunk."""
        place = self.start
        while place < self.end:
            stream.seek(place)
            header, length = read_struct(stream.read(_HEADER))
            kind, size = header[1], header[3]
            more = header[_MORE[kind]]
            if size < 0 or more[1] < 0:
                raise ValueError("a page has a negative size")
            body = place + length
            is_dictionary = kind == _DICTIONARY
            encoding = more[_ENCODING[kind]]
            yield Page(place, body, body + size, is_dictionary, 4 in header, more[1], encoding)
            place = body + size
        if place != self.end:
            raise ValueError("the pages do not fill their place")


class Checksums(NamedTuple):
    """How many pages there are, and how many of them carry a checksum."""

    pages: int
    with_checksum: int


def read_chunks(stream: BinaryIO) -> list[Chunk]:
    """Return what the footer says of the columns in each group of rows."""
    stream.seek(-_END, os.SEEK_END)
    length = int.from_bytes(stream.read(4), "little")
    stream.seek(-_END - length, os.SEEK_END)
    footer, _ = read_struct(stream.read(length))
    groups = footer[4]
    rows = sum(group[3] for group in groups)
    if rows != footer[3]:
        raise ValueError(f"its groups have {rows} rows and the whole {footer[3]}")
    return [_chunk(column[3], group[3]) for group in groups for column in group[1]]


def _chunk(column: dict[int, Any], rows: int) -> Chunk:
    # Some writers give no place to a dictionary that comes first, and some give it as 0.
    start = min(one for one in (column.get(11), column[9]) if one)
    return Chunk(
        path=tuple(part.decode() for part in column[3]),
        start=start,
        end=start + column[7],
        values=column[5],
        encodings=frozenset(column[2]),
        rows=rows,
    )


def walk_pages(stream: BinaryIO, columns: Set[str] | None) -> Checksums:
    """Follow the pages of some columns, or of all, and see whether everything agrees.

    Checksums cover what is in a page, but neither its header nor the footer that says where pages
    are. What these say twice must be the same: sizes, numbers of values and encodings.
    """
    pages = with_checksum = 0
    for chunk in read_chunks(stream):
        if columns is not None and chunk.path[0] not in columns:
            continue
        values = 0
        for page in chunk.pages(stream):
            pages += 1
            with_checksum += page.has_checksum
            values += 0 if page.is_dictionary else page.values
            # Where there are no checksums the writer may not be as careful with this, either.
            told = page.is_dictionary or not page.has_checksum or page.encoding in chunk.encodings
            if not told:
                raise ValueError("a page has an encoding that the footer does not know of")
        if values != chunk.values or values < chunk.rows:
            raise ValueError(f"its pages have {values} values and the footer says {chunk.values}")
    if 0 < with_checksum < pages:
        raise ValueError(f"{pages - with_checksum} of {pages} pages have lost their checksum")
    return Checksums(pages, with_checksum)
