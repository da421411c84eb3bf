"""Compressed files: detection from the first bytes, and a limit on their unpacked size."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import BinaryIO, cast

from outperform.errors import DataError, require

PACKINGS = {".gz": "gzip", ".zst": "zstd"}
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip (or xlsx)"),
    (b"PK\x05\x06", "zip (or xlsx)"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\xd0\xcf\x11\xe0", "xls"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"ARROW1\0\0", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"FEA1", "Feather (version 1)"),
    (b"ORC", "ORC"),
    (b"%PDF", "PDF"),
)
# Real data do not compress beyond these limits. Without limits, a small file could keep a machine
# busy for hours.
_MOST = 1 << 30  # unpacked bytes that are always allowed
# unpacked bytes that are always allowed for a file that is read into memory
_MOST_AT_ONCE = 1 << 28
_RATIO = 200
_BLOCK = 1 << 20
_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def magic(head: bytes) -> str | None:
    """Return the file type that starts with these bytes, or None.

    Examples
    --------
    >>> magic(b"PAR1...."), magic(b"id,label")
    ('parquet', None)
    """
    return next((kind for start, kind in _MAGIC if head.startswith(start)), None)


def order_mark(head: bytes) -> str | None:
    """Return the encoding indicated by a byte order mark other than UTF-8's, or None."""
    return next((encoding for start, encoding in _ORDER_MARKS if head.startswith(start)), None)


@contextmanager
def unpacked(path: str, packing: str, *, name: str, at_once: bool = False) -> Iterator[BinaryIO]:
    """Open the unpacked bytes of a file; a damaged file raises a DataError."""
    try:
        with _open(path, packing) as stream:
            most = most_unpacked(os.path.getsize(path), at_once=at_once)
            yield limited(stream, most, name=name) if packing else stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name} is a damaged {packing} file: {error}") from error
    except OSError as error:
        what = f"is a damaged {packing} file" if packing else "cannot be read"
        raise DataError(f"{name} {what}: {error.strerror or error}") from error


def most_unpacked(size: int, *, at_once: bool = False) -> int:
    """Return the largest number of unpacked bytes allowed for a packed size."""
    return max(_MOST_AT_ONCE if at_once else _MOST, _RATIO * size)


def endless(name: str, most: int, *, mend: str = "unpack it before it is read") -> DataError:
    """Return the error for a file that unpacks to too many bytes."""
    return DataError(
        f"{name} unpacks to more than {most >> 20} MiB, over {_RATIO} times its size; if that is "
        f"right, {mend}"
    )


def limited(stream: BinaryIO, most: int, *, name: str) -> BinaryIO:
    """Return a stream of unpacked bytes that raises an error beyond the limit."""
    return io.BufferedReader(_Limited(stream, most, endless(name, most)), _BLOCK)


class _Limited(io.RawIOBase):
    """Stream that raises an error if it is longer than allowed."""

    def __init__(self, stream: BinaryIO, most: int, error: DataError) -> None:
        self._stream, self._left, self._error = stream, most, error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        number: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._left -= number
        if self._left < 0:
            raise self._error
        return number


def _open(path: str, packing: str) -> BinaryIO:
    if packing == "gzip":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if packing == "zstd":
        return _open_zstd(path)
    return open(path, "rb")


def _open_zstd(path: str) -> BinaryIO:
    try:
        return cast(BinaryIO, import_module("compression.zstd").open(path, "rb"))
    except ModuleNotFoundError:  # before Python 3.14
        arrow = require("pyarrow", extra="arrow", purpose="reading .zst files")
        return io.BufferedReader(arrow.input_stream(path, compression="zstd"))


def unpack_zstd(data: bytes, most: int, *, name: str) -> bytes:
    """Return the unpacked bytes of zstd data; too many bytes raise an error."""
    try:
        zstd = import_module("compression.zstd")
    except ModuleNotFoundError:  # before Python 3.14
        arrow = require("pyarrow", extra="arrow", purpose="reading files packed with zstd")
        stream = io.BufferedReader(arrow.input_stream(arrow.BufferReader(data), compression="zstd"))
        return limited(cast(BinaryIO, stream), most, name=name).read()
    try:
        with zstd.open(io.BytesIO(data), "rb") as stream:
            return limited(cast(BinaryIO, stream), most, name=name).read()
    except zstd.ZstdError as error:
        raise OSError(f"damaged zstd: {error}") from error
