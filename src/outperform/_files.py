"""Write files completely or not at all, and read the package's own JSON strictly."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from outperform.errors import DataError, ResourceError, UsageError

PART = ".part"
_NO_LINKS = {
    errno.EINVAL,
    errno.EMLINK,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.EXDEV,
}
_NOT_AVAILABLE = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENOSPC,
    errno.ENOTSUP,
    errno.EPERM,
    errno.EROFS,
}


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that it is never visible half-written.

    The bytes go to a new file in the same folder, which is forced to disk and only then renamed. If
    the process dies earlier, the old file remains, perhaps with a ``.part`` file next to it.

    Parameters
    ----------
    path
        Path to write to; an existing file is replaced, and a link is followed. The new file keeps
        the read, write and execute permissions, but not the setuid and setgid bits. It belongs to
        the user who writes it.
    data
        Content of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_atomically(path, b"<p>old</p>")
    ...     write_atomically(path, b"<p>new</p>")
    ...     path.read_text(), [file.name for file in Path(folder).iterdir()]
    ('<p>new</p>', ['report.html'])
    """
    try:
        _replace(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def create_atomically(path: str | os.PathLike[str], data: bytes) -> bool:
    """Write a new file so that it is never visible half-written, unless the name is taken.

    The bytes are first written to a ``.part`` file, as in :func:`write_atomically`. A hard link
    then gives the file its name: if many processes compete for a name, exactly one gets it. A file
    system without hard links raises a ResourceError.

    Parameters
    ----------
    path
        Path to write to.
    data
        Content of the file.

    Returns
    -------
    bool
        Whether the file is new; an existing file is unchanged.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "monday.json"
    ...     create_atomically(path, b"first"), create_atomically(path, b"second")
    ...     path.read_text(), [file.name for file in Path(folder).iterdir()]
    (True, False)
    ('first', ['monday.json'])
    """
    try:
        part = _unnamed(Path(path), data, mode=None)
        return _named(part, Path(path))
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder and its parents, unless they exist, and force their names to disk.

    Parameters
    ----------
    path
        Path of the folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make_folder(Path(folder) / "labels" / "monday")
    ...     (Path(folder) / "labels" / "monday").is_dir()
    True
    """
    folder = Path(path)
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        raise _refusal(path, error, verb="create the folder") from error
    sync_folder(folder.parent)


def _refusal(
    path: str | os.PathLike[str], error: OSError | ValueError, *, verb: str = "write"
) -> Exception:
    reason = getattr(error, "strerror", None) or str(error)
    kind = ResourceError if getattr(error, "errno", None) in _NOT_AVAILABLE else UsageError
    return kind(f"cannot {verb} {os.fspath(path)!r}: {reason}")


def _replace(target: Path, data: bytes) -> None:
    part = _unnamed(target, data, mode=_mode(target))
    try:
        os.replace(part, target)
    except BaseException:
        _remove(part)
        raise
    sync_folder(target.parent)


def _named(part: Path, target: Path) -> bool:
    """Give a file its name unless the name is taken; only a link does this exactly once."""
    try:
        if not hasattr(os, "link"):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        os.link(part, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        raise ResourceError(
            f"cannot write {os.fspath(target)!r}: its file system does not support hard links "
            f"({error.strerror}), which keep two processes from overwriting each other's files; "
            "use a folder on ext4, XFS, APFS, NTFS or NFS"
        ) from error
    finally:
        _remove(part)
    sync_folder(target.parent)
    return True


def _unnamed(target: Path, data: bytes, *, mode: int | None) -> Path:
    """Write the bytes to a new file next to the target, force them to disk, and return it."""
    part = target.with_name(f".outperform-{uuid4().hex}{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # The file is created with the default mode, so the user's umask applies.
        with os.fdopen(os.open(part, flags, 0o666), "wb") as stream:
            if mode is not None:
                os.chmod(part, mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        _remove(part)
        raise
    return part


def _remove(part: Path) -> None:
    with suppress(OSError):
        part.unlink()


def _mode(target: Path) -> int | None:
    """Return the permissions of the file to replace; raise an error unless it is a regular file.

    The setuid and setgid bits are dropped, because new content must not run with another user's
    rights.
    """
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return stat.S_IMODE(mode) & 0o777


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk, if the system can open folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# A check takes a value and its location, and returns the parsed value or raises a DataError.
Check = Callable[[Any, str], Any]

# The largest number of items, far above that of any data set and far below the largest float.
MOST = 10**27
INT64 = 2**63 - 1
_SHOWN = 60
_DIGEST = re.compile("[0-9a-f]{64}")


def parse(data: bytes | str, *, constants: bool = False) -> Any:
    """Parse a JSON text; an invalid text raises a DataError.

    In addition to the JSON grammar, keys must be distinct, and NaN and Infinity are invalid unless
    ``constants`` allows them.

    Examples
    --------
    >>> parse(b'{"key": [1, 2]}')
    {'key': [1, 2]}
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        if text.startswith("\ufeff"):
            raise DataError("the text begins with a byte order mark")
        number = float if constants else _refuse_constant
        return json.loads(text, object_pairs_hook=distinct, parse_constant=number)
    except UnicodeDecodeError as error:
        raise DataError(f"the text is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise DataError("the text is nested too deeply") from error
    except DataError:
        raise
    except ValueError as error:  # invalid syntax, or a number with more digits than Python accepts
        raise DataError(str(error)) from error


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; a repeated key raises an error, whereas Python keeps the last value."""
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        duplicate = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the key {shown(duplicate)} occurs twice in one object")
    return record


def _refuse_constant(name: str) -> object:
    raise DataError(f"{name} is not a number")


def checksum(data: Mapping[str, object]) -> str:
    """Return the SHA-256 of plain values, independent of key order and whitespace.

    Examples
    --------
    >>> checksum({"a": 1, "b": 2}) == checksum({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(data).encode("ascii")).hexdigest()


def _canonical(data: Mapping[str, object]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def signed_text(data: Mapping[str, object]) -> tuple[str, str]:
    """Return plain values with their checksum as short JSON, and the checksum.

    The text is created once for both purposes, because large tables take time.

    Examples
    --------
    >>> text, digest = signed_text({"b": 2, "a": 1})
    >>> parse(text) == signed({"a": 1, "b": 2}), digest == checksum({"a": 1, "b": 2})
    (True, True)
    """
    text = _canonical(data)
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return f'{text[:-1]},"sha256":"{digest}"}}', digest


def signed(data: Mapping[str, object]) -> dict[str, object]:
    """Return plain values with their checksum as ``sha256``."""
    content = {name: value for name, value in data.items() if name != "sha256"}
    return {**content, "sha256": checksum(content)}


def is_signed(data: Mapping[str, object]) -> bool:
    """Return whether plain values match their checksum.

    Examples
    --------
    >>> is_signed(signed({"a": 1})), is_signed(signed({"a": 1}) | {"a": 2})
    (True, False)
    """
    return bool(data.get("sha256") == signed(data)["sha256"])


def shown(value: object) -> str:
    """Return any value as short text for a message."""
    try:
        literal = ascii(value)
    except (ValueError, RecursionError):  # too many digits, or nested too deeply
        return f"a {type(value).__name__}"
    return literal if len(literal) <= _SHOWN else f"{literal[:_SHOWN]}…"


def refuse(at: str, must: str, value: object) -> DataError:
    """Return the error for an invalid value."""
    return DataError(f"{at} must be {must}; got {shown(value)}")


# Checks


def text(value: object, at: str) -> str:
    """Accept text that every Unicode encoding can represent."""
    if type(value) is not str:
        raise refuse(at, "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise refuse(at, "text without lone surrogates", value) from error
    return value


def digest(value: object, at: str) -> str:
    """Accept a SHA-256 in hexadecimal digits."""
    if type(value) is not str or not _DIGEST.fullmatch(value):
        raise refuse(at, "a SHA-256 of 64 lower-case hexadecimal digits", value)
    return value


def truth_value(value: object, at: str) -> bool:
    """Accept true or false."""
    if type(value) is not bool:
        raise refuse(at, "true or false", value)
    return value


def number(value: Any, at: str) -> float:
    """Accept a finite number with or without a fraction."""
    if type(value) not in (int, float) or not -1e308 < value < 1e308:
        raise refuse(at, "a finite number", value)
    return float(value)


def whole(low: int = 0, high: int = MOST) -> Check:
    """Accept an integer within limits."""

    def check(value: object, at: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise refuse(at, f"an integer from {low} to {limit(high)}", value)
        return value

    return check


def one_of(*values: str) -> Check:
    """Accept one of several words."""

    def check(value: object, at: str) -> str:
        if type(value) is not str or value not in values:
            raise refuse(at, f"one of {', '.join(map(repr, values))}", value)
        return value

    return check


def list_of(check: Check) -> Check:
    """Accept a list whose elements all pass a check."""

    def check_all(value: object, at: str) -> list[object]:
        return [
            check(element, f"{at}[{index}]") for index, element in enumerate(as_list(value, at))
        ]

    return check_all


def row_of(*checks: Check) -> Check:
    """Accept a list with one element per check."""

    def check_all(value: Any, at: str) -> list[object]:
        if len(as_list(value, at)) != len(checks):
            raise refuse(at, f"a list of {len(checks)}", value)
        pairs = zip(checks, value, strict=True)
        return [check(element, f"{at}[{index}]") for index, (check, element) in enumerate(pairs)]

    return check_all


def record(required: Mapping[str, Check], may_have: Mapping[str, Check] | None = None) -> Check:
    """Accept an object with exactly these fields."""
    known = {**required, **(may_have or {})}

    def check(value: object, at: str) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise refuse(at or "the content", "an object", value)
        inside = f"{at}." if at else ""
        for name in required:
            if name not in value:
                raise DataError(f"the field {inside}{name} is missing")
        for name in value:
            if name not in known:
                raise DataError(f"unknown field {inside}{shown(name).strip(chr(39))}")
        return {name: known[name](field, f"{inside}{name}") for name, field in value.items()}

    return check


def as_list(value: object, at: str) -> list[Any]:
    """Accept any list."""
    if type(value) is not list:
        raise refuse(at, "a list", value)
    return value


def limit(high: int) -> str:
    """Return the largest allowed number as text."""
    return "10**27" if high == MOST else str(high) if high != INT64 else "2**63 - 1"
