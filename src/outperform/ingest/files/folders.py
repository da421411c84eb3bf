"""Folders of files, perhaps with columns in their names as in ``country=DE/day=2026-01-01``."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from outperform.errors import DataError

# Columns that the names of folders tell, in the order of the folders.
Partition = tuple[tuple[str, str | None], ...]
_MISSING = "__HIVE_DEFAULT_PARTITION__"


class Found(NamedTuple):
    """One file of a folder, and what the folders above it say of its rows."""

    path: str
    partition: Partition


def files_in(
    folder: str, *, endings: Collection[str] | None, packings: Collection[str]
) -> list[Found]:
    """Return the files of a folder and of all folders in it, in the order of their names.

    What begins with a dot or an underscore is left out, as such names are for what is no data.
    With ``endings``, every file must have one of these, before that of a packing.
    """
    found = [
        Found(path, _partition(os.path.relpath(path, folder), folder))
        for path in _walk(folder, seen=())
    ]
    if not found:
        raise DataError(f"the folder {folder} has no files")
    for path, _ in found:
        if endings is not None and _ending(path, packings) not in endings:
            raise DataError(
                f"{path} does not say by its name what kind of file it is, so the folder {folder} "
                f"cannot be read; name those that count by a pattern, e.g. "
                f"{os.path.join(folder, '*.csv')!r}, or give their format"
            )
    _refuse_other_columns(found)
    return found


def _walk(folder: str, seen: tuple[str, ...]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in seen:
        raise DataError(f"the folder {folder} contains itself, by a link")
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(f"the folder {folder} cannot be read: {error.strerror}") from None
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith((".", "_")):
            continue
        if os.path.isdir(path):
            yield from _walk(path, (*seen, real))
        else:
            yield path


def _ending(path: str, packings: Collection[str]) -> str:
    stem, ending = os.path.splitext(path)
    return os.path.splitext(stem)[1].lower() if ending.lower() in packings else ending.lower()


def _partition(path: str, folder: str) -> Partition:
    """Return the columns in the folders of a path.

    Examples
    --------
    >>> _partition("country=C%C3%B4te/day=__HIVE_DEFAULT_PARTITION__/a.csv", "preds")
    (('country', 'Côte'), ('day', None))
    """
    parts = os.path.dirname(path).split(os.sep)
    pairs = [part.partition("=")[::2] for part in parts if "=" in part]
    columns = tuple(
        (unquote(name), None if value == _MISSING else unquote(value)) for name, value in pairs
    )
    names = [name for name, _ in columns]
    if len(set(names)) != len(names) or "" in names:
        raise DataError(
            f"every folder above {os.path.join(folder, path)} must name a column of its own"
        )
    return columns


def _refuse_other_columns(found: list[Found]) -> None:
    first = [name for name, _ in found[0].partition]
    for path, partition in found:
        names = [name for name, _ in partition]
        if names != first:
            raise DataError(
                f"all folders must name the same columns, but those of {found[0].path} are "
                f"{first} and those of {path} are {names}"
            )
