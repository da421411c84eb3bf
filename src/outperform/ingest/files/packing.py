"""Bytes as they lie on disk: how they are packed and what their first ones give away."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, cast

from outperform._optional import require
from outperform.errors import DataError

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
# What is packed more tightly than data are is refused, so that a small file cannot keep a machine
# busy for hours.
_MOST = 1 << 30  # bytes, unpacked, that any file may have
_RATIO = 200
_BLOCK = 1 << 20
_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def magic(head: bytes) -> str | None:
    """Return what kind of file the first bytes announce, or None.

    Examples
    --------
    >>> magic(b"PAR1...."), magic(b"id,label")
    ('parquet', None)
    """
    return next((kind for start, kind in _MAGIC if head.startswith(start)), None)


def order_mark(head: bytes) -> str | None:
    """Return the encoding that a byte order mark other than UTF-8's announces, or None."""
    return next((encoding for start, encoding in _ORDER_MARKS if head.startswith(start)), None)


@contextmanager
def unpacked(path: str, packing: str, *, name: str) -> Iterator[BinaryIO]:
    """Open a file as the bytes that were packed; damage becomes a DataError."""
    try:
        with _open(path, packing) as stream:
            yield _limited(stream, path, packing, name) if packing else stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name} is a damaged {packing} file: {error}") from error
    except OSError as error:
        what = f"is a damaged {packing} file" if packing else "cannot be read"
        raise DataError(f"{name} {what}: {error.strerror or error}") from error


def _limited(stream: BinaryIO, path: str, packing: str, name: str) -> BinaryIO:
    most = max(_MOST, _RATIO * os.path.getsize(path))
    message = (
        f"{name} unpacks to more than {most >> 20} MiB, over {_RATIO} times its size; if that is "
        "right, unpack it before it is read"
    )
    return io.BufferedReader(_Limited(stream, most, message), _BLOCK)


class _Limited(io.RawIOBase):
    """A stream that ends with an error where it is longer than a file of its size can be."""

    def __init__(self, stream: BinaryIO, most: int, message: str) -> None:
        self._stream, self._left, self._message = stream, most, message

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        self._left -= number
        if self._left < 0:
            raise DataError(self._message)
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
        arrow = require("pyarrow", extra="all", purpose="reading .zst files")
        return io.BufferedReader(arrow.input_stream(path, compression="zstd"))


def unpack_zstd(data: bytes) -> bytes:
    """Return the bytes that were packed with zstd."""
    try:
        zstd = import_module("compression.zstd")
    except ModuleNotFoundError:  # before Python 3.14
        arrow = require("pyarrow", extra="arrow", purpose="reading files packed with zstd")
        return bytes(arrow.input_stream(arrow.BufferReader(data), compression="zstd").read())
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError as error:
        raise OSError(f"damaged zstd: {error}") from error
