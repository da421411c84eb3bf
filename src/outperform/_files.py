"""Files written whole or not at all, and our own JSON read back strictly."""

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
_NOT_TO_BE_HAD = {
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
    """Write a file so that nobody ever sees half of it.

    The bytes go to a new file in the same folder, are forced to disk, and only then take the
    name. A process that dies before leaves the old file, and perhaps a ``.part`` file beside it.

    Parameters
    ----------
    path
        Where to write; a file that is there is replaced, and a link is followed. The new file
        keeps the permissions to read, write and execute, but no setuid and setgid bits, and it
        belongs to whoever writes it.
    data
        What to write.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_atomically(path, b"<p>old</p>")
    ...     write_atomically(path, b"<p>new</p>")
    ...     path.read_text(), [one.name for one in Path(folder).iterdir()]
    ('<p>new</p>', ['report.html'])
    """
    try:
        _replace(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def create_atomically(path: str | os.PathLike[str], data: bytes) -> bool:
    """Write a new file so that nobody ever sees half of it, unless the name is taken.

    The bytes go to a ``.part`` file first, as in :func:`write_atomically`, which then gets the
    name by a hard link: of many processes that want one name, just one gets it. A ResourceError
    says so where the file system has no hard links.

    Parameters
    ----------
    path
        Where to write.
    data
        What to write.

    Returns
    -------
    bool
        Whether the file is new; what had the name before stays as it was.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "monday.json"
    ...     create_atomically(path, b"first"), create_atomically(path, b"second")
    ...     path.read_text(), [one.name for one in Path(folder).iterdir()]
    (True, False)
    ('first', ['monday.json'])
    """
    try:
        part = _unnamed(Path(path), data, mode=None)
        return _named(part, Path(path))
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from error


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and those above it, unless they are there, and force their names to disk.

    Parameters
    ----------
    path
        The folder.

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
        raise _refusal(path, error, verb="make the folder") from error
    sync_folder(folder.parent)


def _refusal(
    path: str | os.PathLike[str], error: OSError | ValueError, *, verb: str = "write"
) -> Exception:
    reason = getattr(error, "strerror", None) or str(error)
    kind = ResourceError if getattr(error, "errno", None) in _NOT_TO_BE_HAD else UsageError
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
    """Give a file its name unless another has it; no other call gives a name just once."""
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
            f"cannot write {os.fspath(target)!r}: its file system makes no hard links "
            f"({error.strerror}), without which two processes could overwrite each other's files; "
            "use a folder on one that does, such as ext4, XFS, APFS, NTFS or NFS"
        ) from error
    finally:
        _remove(part)
    sync_folder(target.parent)
    return True


def _unnamed(target: Path, data: bytes, *, mode: int | None) -> Path:
    """Write the bytes to a new file beside the target, force them to disk, and return it."""
    part = target.with_name(f".outperform-{uuid4().hex}{PART}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # Made with the ordinary mode, so that the umask of the user holds as it does elsewhere.
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
    """Return the permissions of the file that will be replaced; refuse what is no file.

    What runs with another user's rights must not do so with new content.
    """
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return stat.S_IMODE(found) & 0o777


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to disk, where the system can open folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# A check takes a value and its place, and returns what it stands for or raises a DataError.
Check = Callable[[Any, str], Any]

# The largest number of items, far above any data set and far below what a float holds.
MOST = 10**27
INT64 = 2**63 - 1
_SHOWN = 60
_DIGEST = re.compile("[0-9a-f]{64}")


def parse(data: bytes | str, *, constants: bool = False) -> Any:
    """Return the value of a JSON text, or say what is wrong with the text.

    Beyond the grammar, keys must be distinct, and NaN and Infinity are no numbers unless
    ``constants`` says that they may occur.

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
    except ValueError as error:  # the grammar, or a number of more digits than Python takes
        raise DataError(str(error)) from error


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON, of which Python would keep the last of two equal keys."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the key {shown(twin)} occurs twice in one object")
    return found


def _refuse_constant(name: str) -> object:
    raise DataError(f"{name} is not a number")


def checksum(data: Mapping[str, object]) -> str:
    """Return the SHA-256 of plain values, whatever the order of keys and the spaces.

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

    The text is made once, to be hashed and to be kept, because large tables take a while.

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
    """Return plain values with the checksum of all others as ``sha256``."""
    rest = {name: value for name, value in data.items() if name != "sha256"}
    return {**rest, "sha256": checksum(rest)}


def is_signed(data: Mapping[str, object]) -> bool:
    """Return whether plain values have the checksum that fits them.

    Examples
    --------
    >>> is_signed(signed({"a": 1})), is_signed(signed({"a": 1}) | {"a": 2})
    (True, False)
    """
    return bool(data.get("sha256") == signed(data)["sha256"])


def shown(value: object) -> str:
    """Return a value as a message can quote it, whatever it is."""
    try:
        words = ascii(value)
    except (ValueError, RecursionError):  # too many digits, or too deep
        return f"a {type(value).__name__}"
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"


def refuse(at: str, must: str, value: object) -> DataError:
    """Return the error for a value that is not what it must be."""
    return DataError(f"{at} must be {must}; got {shown(value)}")


# Checks


def text(value: object, at: str) -> str:
    """Take text that every encoding of Unicode can hold."""
    if type(value) is not str:
        raise refuse(at, "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise refuse(at, "text without half characters (lone surrogates)", value) from error
    return value


def digest(value: object, at: str) -> str:
    """Take a SHA-256 in hexadecimal digits."""
    if type(value) is not str or not _DIGEST.fullmatch(value):
        raise refuse(at, "a SHA-256 of 64 lower-case hexadecimal digits", value)
    return value


def truth_value(value: object, at: str) -> bool:
    """Take true or false."""
    if type(value) is not bool:
        raise refuse(at, "true or false", value)
    return value


def number(value: Any, at: str) -> float:
    """Take a finite number with or without a fraction."""
    if type(value) not in (int, float) or not -1e308 < value < 1e308:
        raise refuse(at, "a finite number", value)
    return float(value)


def whole(low: int = 0, high: int = MOST) -> Check:
    """Take a whole number within limits."""

    def check(value: object, at: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise refuse(at, f"a whole number from {low} to {limit(high)}", value)
        return value

    return check


def one_of(*values: str) -> Check:
    """Take one of some words."""

    def check(value: object, at: str) -> str:
        if type(value) is not str or value not in values:
            raise refuse(at, f"one of {', '.join(map(repr, values))}", value)
        return value

    return check


def list_of(check: Check) -> Check:
    """Take a list, each element of which passes a check."""

    def check_all(value: object, at: str) -> list[object]:
        return [check(one, f"{at}[{place}]") for place, one in enumerate(as_list(value, at))]

    return check_all


def row_of(*checks: Check) -> Check:
    """Take a list with one element for each check."""

    def check_all(value: Any, at: str) -> list[object]:
        if len(as_list(value, at)) != len(checks):
            raise refuse(at, f"a list of {len(checks)}", value)
        pairs = zip(checks, value, strict=True)
        return [check(one, f"{at}[{place}]") for place, (check, one) in enumerate(pairs)]

    return check_all


def record(required: Mapping[str, Check], may_have: Mapping[str, Check] | None = None) -> Check:
    """Take an object with just these fields."""
    known = {**required, **(may_have or {})}

    def check(value: object, at: str) -> dict[str, object]:
        if not isinstance(value, Mapping):
            raise refuse(at or "the whole", "an object", value)
        inside = f"{at}." if at else ""
        for name in required:
            if name not in value:
                raise DataError(f"the field {inside}{name} is missing")
        for name in value:
            if name not in known:
                raise DataError(f"there is no field {inside}{shown(name).strip(chr(39))}")
        return {name: known[name](one, f"{inside}{name}") for name, one in value.items()}

    return check


def as_list(value: object, at: str) -> list[Any]:
    """Take a list of anything."""
    if type(value) is not list:
        raise refuse(at, "a list", value)
    return value


def limit(high: int) -> str:
    """Write the largest number that is allowed."""
    return "10**27" if high == MOST else str(high) if high != INT64 else "2**63 - 1"
