"""Formats of tables, and dialects of text files."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from outperform.data.missing import UNDECLARED, MissingTexts
from outperform.errors import UsageError, unknown_name
from outperform.io.addresses import Storage

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")
"""Formats of tables; those of evaluation logs are in the catalogue."""
_UTF8 = {"utf-8", "utf-8-sig"}
_HOST_NAMES = {"idna", "punycode"}  # encodings that are only for host names


class DialectOptions(TypedDict, total=False):
    """Options of ``dialect``, which describe the format of text files."""

    separator: str
    quote: str | None
    header: bool
    encoding: str


OPTIONS = tuple(DialectOptions.__annotations__)


def check_options(dialect: DialectOptions | None) -> DialectOptions:
    """Return the options of ``dialect``; an unknown option raises an error."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Known properties of a file; None means that a property is detected."""

    format: str | None = None
    separator: str | None = None
    quote: str | None = '"'
    header: bool = True
    encoding: str = "utf-8"
    columns: tuple[str, ...] | None = None  # the columns that will be requested, if known
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
                f"unknown encoding {self.encoding!r}; use a text encoding that Python knows, e.g. "
                "'utf-8' or 'latin-1'"
            )

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes can be passed on unchanged."""
        return codecs.lookup(self.encoding).name in _UTF8


def _is_of_text(encoding: object) -> bool:
    """Return whether an encoding is a text encoding; some Python codecs compress or escape."""
    try:
        return (
            "label".encode(str(encoding)) != b""
            and codecs.lookup(str(encoding)).name not in _HOST_NAMES
        )
    except (LookupError, ValueError):
        return False


def _check_character(name: str, value: object) -> None:
    allowed = isinstance(value, str) and len(value) == 1 and value.isascii()
    if not allowed or str(value) in "\r\n\0 " or str(value).isalnum():
        raise UsageError(
            f"{name} must be one character such as {',' if name == 'separator' else chr(39)!r}, "
            f"not a letter, digit, blank or line end; got {value!r}"
        )
