"""Addresses of databases: what of them may be shown, and what nobody must read."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus, urlsplit

from outperform.errors import UsageError

URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
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
    """
    if not _is_like_address(address):
        return address
    scheme, rest = _apart(address)
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
    for secret in secrets_in(address):
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
