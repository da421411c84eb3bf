"""Addresses: paths, schemes, options of stores, and the secrets that no message shows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from outperform.errors import UsageError, param

Option = str | bool | int | float | None
"""One value of storage_options."""
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
_ADDRESS = re.compile(rf"\b{URL.pattern}[^\s'\"]+", re.IGNORECASE)
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


def mask_addresses(text: str) -> str:
    """Return a text whose addresses have no password and no options.

    Examples
    --------
    >>> mask_addresses("cannot connect to 'postgresql://me:secret@host/db'")
    "cannot connect to 'postgresql://me:***@host/db'"
    """
    return _ADDRESS.sub(lambda match: masked(match[0]), text)


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
