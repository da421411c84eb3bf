"""Files that are either as they were or completely new, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from outperform.errors import ResourceError, UsageError

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
