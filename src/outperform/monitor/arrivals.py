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
from outperform.errors import DataError

ARRIVALS = "_arrivals"


class Arrival(NamedTuple):
    """One batch in the order: its number, its key, and what its bytes hash to."""

    number: int
    key: str
    digest: str


def read_arrivals(folder: Path, *, after: int = 0) -> Iterator[Arrival]:
    """Yield what arrived after a number, in order."""
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
            if arrival.key == key:
                return after
        if create_atomically(_path(folder, after + 1), data):
            return after + 1


def _read(folder: Path, number: int) -> Arrival | None:
    path = _path(folder, number)
    try:
        found = json.loads(path.read_bytes())
        return Arrival(number, str(found["key"]), str(found["sha256"]))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is damaged: {error!r}") from error


def _path(folder: Path, number: int) -> Path:
    return folder / ARRIVALS / f"{number:08d}.json"
