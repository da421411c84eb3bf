"""How a source is written: compression, the dialect of a file, the address of a database."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import NoneType
from typing import Any, BinaryIO, TypedDict, cast
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.errors import DataError, UsageError, param, require, unknown_name

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
_MOST_AT_ONCE = 1 << 28  # that any file may have which is in memory as a whole
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
def unpacked(path: str, packing: str, *, name: str, at_once: bool = False) -> Iterator[BinaryIO]:
    """Open a file as the bytes that were packed; damage becomes a DataError."""
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
    """Return how many bytes may come of packed ones."""
    return max(_MOST_AT_ONCE if at_once else _MOST, _RATIO * size)


def endless(name: str, most: int, *, mend: str = "unpack it before it is read") -> DataError:
    """Return what to say of packed bytes of which too many come."""
    return DataError(
        f"{name} unpacks to more than {most >> 20} MiB, over {_RATIO} times its size; if that is "
        f"right, {mend}"
    )


def limited(stream: BinaryIO, most: int, *, name: str) -> BinaryIO:
    """Return a stream of unpacked bytes that ends with an error where there are too many."""
    return io.BufferedReader(_Limited(stream, most, endless(name, most)), _BLOCK)


class _Limited(io.RawIOBase):
    """A stream that ends with an error where it is longer than a file of its size can be."""

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
        arrow = require("pyarrow", extra="all", purpose="reading .zst files")
        return io.BufferedReader(arrow.input_stream(path, compression="zstd"))


def unpack_zstd(data: bytes, most: int, *, name: str) -> bytes:
    """Return the bytes that were packed with zstd, unless they are too many."""
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


FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
"""The formats of tables; those of evaluation logs are in the catalogue."""
_UTF8 = {"utf-8", "utf-8-sig"}
_ODD = {"idna", "punycode"}  # for names of hosts


class DialectOptions(TypedDict, total=False):
    """What may be said of how text files are written."""

    separator: str
    quote: str | None
    header: bool
    encoding: str


OPTIONS = tuple(DialectOptions.__annotations__)


def check_options(dialect: DialectOptions | None) -> DialectOptions:
    """Return what was said, or say what may be said."""
    if dialect is None:
        return {}
    if not isinstance(dialect, Mapping):
        raise UsageError(
            f"dialect must be a mapping such as {{'separator': ';', 'header': False}}; "
            f"got {dialect!r}"
        )
    for name in dialect:
        if name not in OPTIONS:
            raise UsageError(unknown_name("part of dialect", name, OPTIONS))
    return dialect


Option = str | bool | int | float | None
"""One value of storage_options."""
_OPTION = (str, bool, int, float, NoneType)
_SHOWN = {
    *("account_name", "allow_bucket_creation", "anonymous", "background_writes"),
    *("blob_storage_authority", "connect_timeout", "dfs_storage_authority", "endpoint_override"),
    *("load_frequency", "project_id", "region", "request_timeout", "retry_time_limit", "scheme"),
}


@dataclass(frozen=True, slots=True)
class Storage:
    """How to reach a store; what it holds is secret, so it never shows it."""

    options: Mapping[str, Option] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Option] | None) -> Storage | None:
        """Check what was given; no message has a value of it."""
        if options is None:
            return None
        if not isinstance(options, Mapping):
            raise UsageError(
                f"{param('storage_options')} must be a mapping such as {{'region': 'eu-west-1'}}; "
                f"got {type(options).__name__}"
            )
        for name, value in options.items():
            if not isinstance(name, str) or not isinstance(
                value, (str, bool, int, float, NoneType)
            ):
                raise UsageError(
                    f"{param('storage_options')} must map names to text, numbers and booleans; "
                    f"the value of {name!r} is of type {type(value).__name__}"
                )
        return cls(dict(options))

    def hide(self, text: str) -> str:
        """Return a text without what is secret."""
        found = [
            str(value)
            for name, value in self.options.items()
            if isinstance(value, str) and value and (name not in _SHOWN or "@" in value)
        ]
        every = {form for one in found for form in (one, quote(one), quote(one, safe=""))}
        return _hidden(text, sorted(every, key=len, reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What the caller knows of a file; None where it is to be found out."""

    format: str | None = None
    separator: str | None = None
    quote: str | None = '"'
    header: bool = True
    encoding: str = "utf-8"
    columns: tuple[str, ...] | None = None  # those that will be asked for, where that is known
    storage: Storage | None = None
    missing: MissingTexts = UNDECLARED

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UsageError(unknown_name("format", self.format, FORMATS))
        if self.separator is not None:
            _check_character("separator", self.separator)
        if self.quote is not None:
            _check_character("quote", self.quote)
        if self.quote is not None and self.quote == self.separator:
            raise UsageError(f"quote and separator must differ; both are {self.quote!r}")
        if not isinstance(self.header, bool):
            raise UsageError(f"header must be True or False; got {self.header!r}")
        if not _is_of_text(self.encoding):
            raise UsageError(
                f"unknown encoding {self.encoding!r}; take one of text that Python knows, e.g. "
                "'utf-8' or 'latin-1'"
            )

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes can be handed on as they are."""
        return codecs.lookup(self.encoding).name in _UTF8


def _is_of_text(encoding: object) -> bool:
    """Return whether text can be written so; Python's codecs also pack, scramble and escape."""
    try:
        return (
            "label".encode(str(encoding)) != b"" and codecs.lookup(str(encoding)).name not in _ODD
        )
    except (LookupError, ValueError):
        return False


def _check_character(what: str, value: object) -> None:
    allowed = isinstance(value, str) and len(value) == 1 and value.isascii()
    if not allowed or str(value) in "\r\n\0 " or str(value).isalnum():
        raise UsageError(
            f"{what} must be one character such as {',' if what == 'separator' else chr(39)!r}, "
            f"not a letter, digit, blank or line end; got {value!r}"
        )


def local_path(source: Any) -> Any:
    """Return the path that a ``file://`` address names; anything else as it is.

    Examples
    --------
    >>> local_path("file:///data/my%20preds.csv"), local_path("preds.csv")
    ('/data/my preds.csv', 'preds.csv')
    """
    if not isinstance(source, str) or not source.lower().startswith("file:/"):
        return source
    host, path = "", source[len("file:") :]
    if path.startswith("//"):
        host, _, rest = path[2:].partition("/")
        path = f"/{rest}"
    if host not in ("", "localhost"):
        raise UsageError(
            f"{masked(source)!r} is on another machine, {host!r}; a file of this one has three "
            "slashes: file:///folder/file.csv"
        )
    path = path[1:] if re.match(r"/[A-Za-z]:", path) else path  # a drive
    return path if os.path.lexists(path) else unquote(path)


URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
STORES = ("s3", "gs", "abfs", "abfss")
"""The schemes of addresses in object stores."""
OPTIONS_BEHIND = re.compile(r"\?[^/]*=.*", re.DOTALL)  # a ? of a pattern has no = in its name
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]+:/+)?", re.IGNORECASE)
_LOGIN = re.compile(r"(?![a-z]:\\).*:.*@", re.IGNORECASE | re.DOTALL)  # but for drives of Windows
_PLACE = re.compile(r"(?:\[[\w:.%]*\]|[^:/\[\]=]*)(?::[0-9]*)?(?:/[^=]*)?")
_END = re.compile(r"[?#;&\s]")  # where options begin
_SHORT = 4  # characters; a shorter value is looked for as a word of its own


def masked(address: str) -> str:
    """Return an address with its user, host, port and database, and nothing else.

    Where it cannot be told what is what, less is shown. What is no address, such as the name of a
    file, stays what it is.

    Examples
    --------
    >>> masked("postgresql://me:secret@host:5432/db?sslmode=require&sslpassword=secret")
    'postgresql://me:***@host:5432/db?***'
    >>> masked("postgresql://me:sec?ret@host/db"), masked("runs/preds.csv")
    ('postgresql://***', 'runs/preds.csv')
    >>> masked("s3://key:secret@bucket/day=1/a.csv"), masked("s3://bucket/day=1/*.csv")
    ('s3://***@bucket/day=1/a.csv', 's3://bucket/day=1/*.csv')
    """
    if not _is_like_address(address):
        return address
    scheme, rest = _apart(address)
    if scheme.partition(":")[0].lower() in STORES:
        login, at, place = rest.rpartition("@")
        shown = f"{scheme}***@{place}" if ":" in login else address
        return OPTIONS_BEHIND.sub("?***", shown)
    cut = _END.search(rest)
    head, options = (rest[: cut.start()], rest[cut.start() :]) if cut else (rest, "")
    login, at, place = head.rpartition("@")
    user, colon, _ = login.partition(":")
    # Where options have an @, they may be the rest of a password.
    if "@" in options or "/" in user or not _PLACE.fullmatch(place):
        return f"{scheme}***"
    return f"{scheme}{user}{':***' if colon else ''}{at}{place}{'?***' if options else ''}"


def secrets_in(address: str) -> list[str]:
    """Return what nobody must read, as it is written and as it is meant.

    Examples
    --------
    >>> secrets_in("postgresql://me:a%40b@host/db?sslpassword=private")
    ['private', 'a%40b', 'a@b']
    """
    if not _is_like_address(address):
        return []
    _, rest = _apart(address)
    _, colon, password = rest.rpartition("@")[0].partition(":")
    found = [password] if colon else []
    if cut := _END.search(rest):
        pairs = re.split(r"[?#;&\s]", rest[cut.end() :])
        found += [value for _, _, value in (pair.partition("=") for pair in pairs)]
    every = [form for one in found for form in (one, unquote(one), unquote_plus(one)) if form]
    return sorted(dict.fromkeys(every), key=len, reverse=True)


def without_secrets(text: str, address: str) -> str:
    """Return a text in which nothing is left that is a secret of an address.

    Examples
    --------
    >>> without_secrets("no role hunter2 in 5 s", "postgresql://hunter2:hunter2@host?timeout=5")
    'no role *** in *** s'
    """
    return _hidden(text, secrets_in(address))


def _hidden(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        pattern = re.escape(secret)
        text = re.sub(rf"(?<!\w){pattern}(?!\w)" if len(secret) < _SHORT else pattern, "***", text)
    return text


def check_address(address: str) -> None:
    """Refuse an address of which parts may be taken for others, before any driver quotes them."""
    try:
        parts = urlsplit(address)
        _ = parts.port, parts.hostname
        after = address.partition("://")[2][len(parts.netloc) :]
        options = parts.query.split("&") if parts.query else []
        clear = "@" not in after and all("=" in one for one in options)
    except ValueError:
        clear = False
    if not clear or re.search(r"[\s\x00-\x1f\x7f]", address):
        raise UsageError(
            f"the address {masked(address)} cannot be read; write it as "
            "'postgresql://user:password@host:5432/name', and what is special in it with %, such "
            "as %2F for / and %40 for @"
        ) from None


def _is_like_address(text: str) -> bool:
    return bool(URL.match(text) or _LOGIN.match(text))


def _apart(address: str) -> tuple[str, str]:
    """Return what stands before the user, and the rest."""
    found = _SCHEME.match(address)
    scheme = found[0] if found else ""
    return scheme, address[len(scheme) :]


_MOST_NAMED = 4  # files that a source names


def called(source: object) -> str:
    """Return what to call files: as they were named, of many the first and the last."""
    if isinstance(source, Mapping):
        return called(list(source.values()))
    if isinstance(source, (list, tuple)):
        names = [called(one) for one in source]
        shown = names if len(names) <= _MOST_NAMED else [names[0], "…", names[-1]]
        return ", ".join(shown)
    if isinstance(source, (str, os.PathLike)):
        # A name that is not UTF-8 comes with half characters, which JSON cannot hold.
        name = os.fspath(source).encode("utf-8", "backslashreplace").decode("utf-8")
        return "standard input" if name == "-" else name
    return "a stream"
