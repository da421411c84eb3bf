"""The order in which batches arrived: a numbered file for each, written once and never again.

A number is taken by creating its file, which just one process can, and only after the number
before it was taken. So the list only ever grows at its end, whoever writes to it and wherever
one of them is killed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from outperform._files import create_atomically, make_folder
from outperform._json import digest, parse, record, text
from outperform.errors import DataError

ARRIVALS = "_arrivals"
_FIELDS = record({"key": text, "sha256": digest})


class Arrival(NamedTuple):
    """One batch in the order: its number, its key, and what its bytes hash to."""

    number: int
    key: str
    digest: str


class Damaged(NamedTuple):
    """A number that is taken by a file that says nothing, and what is wrong with it."""

    number: int
    file: str
    reason: str


def read_arrivals(folder: Path, *, after: int = 0) -> Iterator[Arrival | Damaged]:
    """Yield what arrived after a number, in order.

    A file that is damaged keeps its number; its batch gets a new one from who reads the folder.
    """
    while (arrival := _read(folder, after + 1)) is not None:
        yield arrival
        after = arrival.number
    if _path(folder, after + 2).exists() and not _path(folder, after + 1).exists():
        raise DataError(
            f"{_path(folder, after + 1)} is missing but the next one is there; put it back, or "
            f"remove the folder {ARRIVALS} to have the order made anew from the files' age"
        )


def record_arrival(folder: Path, key: str, digest: str, *, after: int = 0) -> int:
    """Give a batch the next number, unless it has one after ``after``; return that number."""
    make_folder(folder / ARRIVALS)
    data = json.dumps({"key": key, "sha256": digest}).encode("utf-8")
    while True:
        for arrival in read_arrivals(folder, after=after):
            after = arrival.number
            if isinstance(arrival, Arrival) and arrival.key == key:
                return after
        if create_atomically(_path(folder, after + 1), data):
            return after + 1


def _read(folder: Path, number: int) -> Arrival | Damaged | None:
    path = _path(folder, number)
    try:
        found = _FIELDS(parse(path.read_bytes()), "")
        return Arrival(number, found["key"], found["sha256"])
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
        if not path.is_dir():  # another time it may be read, and then its number counts
            raise DataError(f"{path}: {reason}") from error
    except DataError as error:
        reason = str(error)
    return Damaged(number, f"{ARRIVALS}/{path.name}", reason)


def _path(folder: Path, number: int) -> Path:
    return folder / ARRIVALS / f"{number:08d}.json"
