"""Addresses: paths, schemes, store options, and secrets, which never appear in messages."""

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
"""Value in storage_options."""
_SHOWN = {
    *("account_name", "allow_bucket_creation", "anonymous", "background_writes"),
    *("blob_storage_authority", "connect_timeout", "dfs_storage_authority", "endpoint_override"),
    *("load_frequency", "project_id", "region", "request_timeout", "retry_time_limit", "scheme"),
}


@dataclass(frozen=True, slots=True)
class Storage:
    """Options for connecting to a store; the repr hides them, because they may be secret."""

    options: Mapping[str, Option] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, options: Mapping[str, Option] | None) -> Storage | None:
        """Check the options; messages never contain their values."""
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
                    f"the value of {name!r} has type {type(value).__name__}"
                )
        return cls(dict(options))

    def hide(self, text: str) -> str:
        """Return text with secret values masked."""
        secrets = [
            str(value)
            for name, value in self.options.items()
            if isinstance(value, str) and value and (name not in _SHOWN or "@" in value)
        ]
        forms = {
            form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""))
        }
        return _hidden(text, sorted(forms, key=len, reverse=True))


def local_path(source: Any) -> Any:
    """Return the path of a ``file://`` address, and anything else unchanged.

    Examples
    --------
    >>> local_path("file:///data/my%20preds.csv"), local_path("preds.csv")
    ('/data/my preds.csv', 'preds.csv')
    """
    if not isinstance(source, str) or not source.lower().startswith("file:/"):
        return source
    host, path = "", source[len("file:") :]
    if path.startswith("//"):
        host, _, path_part = path[2:].partition("/")
        path = f"/{path_part}"
    if host not in ("", "localhost"):
        raise UsageError(
            f"{masked(source)!r} is on another machine, {host!r}; for a local file, use three "
            "slashes: file:///folder/file.csv"
        )
    path = path[1:] if re.match(r"/[A-Za-z]:", path) else path  # a Windows drive
    return path if os.path.lexists(path) else unquote(path)


URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
STORES = ("s3", "gs", "abfs", "abfss")
"""The schemes of object store addresses."""
OPTIONS_BEHIND = re.compile(r"\?[^/]*=.*", re.DOTALL)  # in a glob pattern, no = follows the ?
_ADDRESS = re.compile(rf"\b{URL.pattern}[^\s'\"]+", re.IGNORECASE)
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]+:/+)?", re.IGNORECASE)
_LOGIN = re.compile(r"(?![a-z]:\\).*:.*@", re.IGNORECASE | re.DOTALL)  # excludes a Windows drive
_SERVER = re.compile(r"(?:\[[\w:.%]*\]|[^:/\[\]=]*)(?::[0-9]*)?(?:/[^=]*)?")
_OPTIONS = re.compile(r"[?#;&\s]")  # the start of the options
_SHORT = 4  # in characters; shorter secrets are masked only as separate words


def masked(address: str) -> str:
    """Return an address that shows only user, host, port and database.

    If its parts are ambiguous, it shows less. Anything that is not an address, such as a file name,
    is returned unchanged.

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
    scheme, tail = _split_scheme(address)
    if scheme.partition(":")[0].lower() in STORES:
        login, at, server = tail.rpartition("@")
        text = f"{scheme}***@{server}" if ":" in login else address
        return OPTIONS_BEHIND.sub("?***", text)
    cut = _OPTIONS.search(tail)
    head, options = (tail[: cut.start()], tail[cut.start() :]) if cut else (tail, "")
    login, at, server = head.rpartition("@")
    user, colon, _ = login.partition(":")
    # If the options contain an @, they may be the end of a password.
    if "@" in options or "/" in user or not _SERVER.fullmatch(server):
        return f"{scheme}***"
    return f"{scheme}{user}{':***' if colon else ''}{at}{server}{'?***' if options else ''}"


def secrets_in(address: str) -> list[str]:
    """Return the secrets of an address, as written and decoded.

    Examples
    --------
    >>> secrets_in("postgresql://me:a%40b@host/db?sslpassword=private")
    ['private', 'a%40b', 'a@b']
    """
    if not _is_like_address(address):
        return []
    _, tail = _split_scheme(address)
    _, colon, password = tail.rpartition("@")[0].partition(":")
    secrets = [password] if colon else []
    if cut := _OPTIONS.search(tail):
        pairs = re.split(r"[?#;&\s]", tail[cut.end() :])
        secrets += [value for _, _, value in (pair.partition("=") for pair in pairs)]
    forms = [
        form
        for secret in secrets
        for form in (secret, unquote(secret), unquote_plus(secret))
        if form
    ]
    return sorted(dict.fromkeys(forms), key=len, reverse=True)


def without_secrets(text: str, address: str) -> str:
    """Return text with the secrets of an address masked.

    Examples
    --------
    >>> without_secrets("no role hunter2 in 5 s", "postgresql://hunter2:hunter2@host?timeout=5")
    'no role *** in *** s'
    """
    return _hidden(text, secrets_in(address))


def mask_addresses(text: str) -> str:
    """Return text with the passwords and options of its addresses removed.

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
    """Reject an address with ambiguous parts, before a driver quotes them."""
    try:
        parts = urlsplit(address)
        _ = parts.port, parts.hostname
        after = address.partition("://")[2][len(parts.netloc) :]
        options = parts.query.split("&") if parts.query else []
        clear = "@" not in after and all("=" in option for option in options)
    except ValueError:
        clear = False
    if not clear or re.search(r"[\s\x00-\x1f\x7f]", address):
        raise UsageError(
            f"the address {masked(address)} cannot be parsed; write it as "
            "'postgresql://user:password@host:5432/name', with special characters "
            "percent-encoded, such as %2F for / and %40 for @"
        ) from None


def _is_like_address(text: str) -> bool:
    return bool(URL.match(text) or _LOGIN.match(text))


def _split_scheme(address: str) -> tuple[str, str]:
    """Return the part before the user, and the remaining part."""
    match = _SCHEME.match(address)
    scheme = match[0] if match else ""
    return scheme, address[len(scheme) :]


_MOST_NAMED = 4  # number of files in the display name of a source


def display_name(source: object) -> str:
    """Return the display name of a source; for many files, only the first and the last."""
    if isinstance(source, Mapping):
        return display_name(list(source.values()))
    if isinstance(source, (list, tuple)):
        names = [display_name(part) for part in source]
        listed = names if len(names) <= _MOST_NAMED else [names[0], "…", names[-1]]
        return ", ".join(listed)
    if isinstance(source, (str, os.PathLike)):
        # A name that is not UTF-8 contains surrogates, which JSON cannot represent.
        name = os.fspath(source).encode("utf-8", "backslashreplace").decode("utf-8")
        return "standard input" if name == "-" else name
    return "a stream"
