"""Files that are either as they were or completely new, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from outperform.errors import ResourceError, UsageError

_NOT_TO_BE_HAD = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENOSPC,
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
        Where to write; a file that is there is replaced, and a link is followed.
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
        reason = getattr(error, "strerror", None) or str(error)
        kind = ResourceError if getattr(error, "errno", None) in _NOT_TO_BE_HAD else UsageError
        raise kind(f"cannot write {os.fspath(path)!r}: {reason}") from error


def _replace(target: Path, data: bytes) -> None:
    mode = _mode(target)
    part = target.with_name(f".outperform-{uuid4().hex}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # Made with the ordinary mode, so that the umask of the user holds as it does elsewhere.
        with os.fdopen(os.open(part, flags, 0o666), "wb") as stream:
            if mode is not None:
                os.chmod(part, mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the permissions of the file that will be replaced; refuse what is no file."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return stat.S_IMODE(found)


def _sync_folder(folder: Path) -> None:
    # The new name is on disk only when its folder is; some systems cannot open folders.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
