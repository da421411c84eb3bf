"""``doctor``: what files are, what can be asked of them, and the commands to type."""

from __future__ import annotations

import glob
import os
import stat
from pathlib import Path

from outperform.diagnosis.result import Diagnosis
from outperform.diagnosis.samples import Sample, check_path, sample_of
from outperform.diagnosis.stored import diagnose_stored
from outperform.diagnosis.tables import diagnose_join, diagnose_table
from outperform.errors import DataError, UsageError
from outperform.io.addresses import masked
from outperform.io.databases import SUFFIXES as DATABASES
from outperform.io.formats import FORMATS
from outperform.io.join import GOLD
from outperform.io.logs.samples import LONG
from outperform.io.paths import SUFFIXES, stem
from outperform.io.request import check_format, true_column
from outperform.io.sources import scheme_of
from outperform.wrong_calls import explained


@explained
def doctor(*files: str | os.PathLike[str], format: str | None = None) -> Diagnosis:
    r"""Say what files are, what can be asked of them, and the commands to type.

    At most the first 10,000 rows of a table are read, and 16 MB of a text file.

    Parameters
    ----------
    *files
        One file or folder, or the gold file and one file per model.
    format
        Format of the files, regardless of their names, as in :func:`read`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import outperform as op
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "preds.csv"
    ...     rows = "".join(f"{k},{'ham' if k % 2 else 'spam'},spam\n" for k in range(9))
    ...     _ = path.write_text("id,label,bert\n" + rows)
    ...     d = op.doctor(path)
    >>> d.what, [column.role for column in d.columns]
    ('a table of labels: true labels and predictions of one model', ['id', 'truth', 'prediction'])
    """
    check_format(format)
    if not files:
        raise UsageError("pass the path of a file or folder, e.g. preds.csv")
    paths = [path for file in files for path in _matches(check_path(file))]
    for path in paths:
        _refuse_others(path)
    table = format if format in FORMATS else None
    stored = None if table is not None else diagnose_stored(paths, _of_logs(format))
    if stored is not None:
        return stored
    if len(paths) == 1 and os.path.isdir(paths[0]):
        paths = _parts(paths[0], table)
    if len(paths) == 1:
        return diagnose_table(sample_of(paths[0], format=table))
    return diagnose_join([sample_of(path, format=table) for path in paths])


def _of_logs(format: str | None) -> str | None:
    """Return the format of logs; long tables are recognized by their columns."""
    return None if format == LONG else format


def _matches(path: str) -> list[str]:
    """Return the files of a pattern, or the path itself."""
    if not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    paths = sorted(glob.glob(path, recursive=True))
    if not paths:
        raise UsageError(f"no file matches {path!r}")
    return paths


def _refuse_others(path: str) -> None:
    """Raise an error for what is not a file or folder on this machine."""
    if scheme_of(path) is not None:
        raise UsageError(
            f"{masked(path)!r} is not a file on this machine; copy some rows to a file, or pass "
            "the address to compare"
        )
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise UsageError(f"no file {path!r}{_near(path)}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path!r} cannot be read: {error}") from None
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DataError(f"{path!r} is not a regular file or folder")
    if not os.access(path, os.R_OK):
        raise DataError(f"{path!r} cannot be read: permission denied")
    if stat.S_ISREG(mode) and not os.path.getsize(path):
        raise DataError(f"{path!r} is empty (0 bytes)")
    if Path(path).suffix.lower() in DATABASES:
        raise UsageError(
            f"{path!r} is a database; pass it to compare with --table, or write a table to a file"
        )


def _near(path: str) -> str:
    """Return a suggestion for a path that does not exist."""
    from difflib import get_close_matches

    try:
        names = os.listdir(os.path.dirname(path) or ".")
    except OSError:
        return ""
    close = get_close_matches(os.path.basename(path), names, n=1, cutoff=0.75)
    return f"; did you mean {os.path.join(os.path.dirname(path), close[0])!r}?" if close else ""


_MOST_FILES = 50


def _parts(folder: str, format: str | None) -> list[str]:
    """Return the files of a folder if each is of one model; otherwise the folder, as one table."""
    names = sorted(os.listdir(folder))
    files = [os.path.join(folder, name) for name in names if not name.startswith((".", "_"))]
    tables = [
        path for path in files if {*Path(path).suffixes} & {*SUFFIXES} and os.path.isfile(path)
    ]
    if not 2 <= len(tables) <= _MOST_FILES or len(tables) < len(files):
        return [folder]
    if any(stem(path).lower() in GOLD for path in tables):
        return tables
    sample: Sample = sample_of(tables[0], format=format)
    return tables if true_column(list(sample.columns)) is None else [folder]
