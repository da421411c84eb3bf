"""Batches: one file of counted outcomes each, in a folder that many processes write to."""

from __future__ import annotations

import hashlib
import os
from numbers import Integral
from pathlib import Path
from typing import NamedTuple

from outperform._files import PART, create_atomically, sync_folder
from outperform.errors import DataError, UsageError
from outperform.outcomes import Outcomes

SUFFIX = ".json"
_LONGEST = 200  # bytes; file systems take 255, and the name of a part is not longer
_FORBIDDEN = set('/\\<>:"|?*')
_PORTS = {f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10)}
_DEVICES = {"CON", "PRN", "AUX", "NUL"} | _PORTS


class Batch(NamedTuple):
    """Counted outcomes, the key that names them, and what their bytes hash to."""

    key: str
    outcomes: Outcomes
    digest: str


class Listing(NamedTuple):
    """What lies in a folder: keys in the order of their files' age, and what is no batch."""

    keys: tuple[str, ...]
    unfinished: int
    strange: tuple[str, ...]


def check_key(key: object) -> str:
    """Return the key of a batch as text that can name a file, or say why it cannot.

    Examples
    --------
    >>> check_key("2026-11-15"), check_key(7)
    ('2026-11-15', '7')
    """
    if isinstance(key, bool) or not isinstance(key, (str, Integral)):
        raise UsageError(f"key must be text or a whole number; got {key!r}")
    text = str(key)
    bad = not text or text[0] in "._" or not text.isprintable() or _FORBIDDEN & set(text)
    if bad or text.endswith((".", " ")) or len(text.encode("utf-8")) > _LONGEST:
        raise UsageError(
            "key must be able to name a file on any system: printable, without any of "
            f"{' '.join(sorted(_FORBIDDEN))}, of at most {_LONGEST} bytes, without a dot or an "
            f"underscore in front, and without a dot or a space at its end; got {key!r}"
        )
    if text.partition(".")[0].strip().upper() in _DEVICES:
        raise UsageError(f"key must not be the name of a device on Windows; got {key!r}")
    return text


def store_batch(folder: Path, key: str, outcomes: Outcomes) -> tuple[Batch, bool]:
    """Write a batch, or see that the one of this key is the same; say whether it is new."""
    data, path = outcomes.to_json().encode("utf-8"), folder / f"{key}{SUFFIX}"
    if not path.exists() and create_atomically(path, data):
        return Batch(key, outcomes, _digest(data)), True
    stored = load_batch(folder, key)
    if stored.outcomes != outcomes:
        raise DataError(
            f"the batch {key!r} is in {folder} already, with other outcomes ({stored.outcomes.n} "
            f"documents, now {outcomes.n}); give what is new a key of its own"
        )
    sync_folder(folder)  # who wrote it may have been killed before that
    return stored, False


def load_batch(folder: Path, key: str) -> Batch:
    """Read one batch, or say what is wrong with its file."""
    path = folder / f"{key}{SUFFIX}"
    try:
        data = path.read_bytes()
        return Batch(key, Outcomes.from_json(data).read_from(path.name), _digest(data))
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def list_batches(folder: Path) -> Listing:
    """Look into a folder; what begins with a dot or an underscore is no batch."""
    aged, unfinished, strange = [], 0, []
    for entry in _entries(folder):
        name = entry.name
        if name.startswith(".") and name.endswith(PART):
            unfinished += 1
        elif name.startswith((".", "_")):
            continue
        elif name.endswith(SUFFIX) and entry.is_file():
            aged.append((_age(entry), name.removesuffix(SUFFIX)))
        else:
            strange.append(name)
    return Listing(tuple(key for _, key in sorted(aged)), unfinished, tuple(sorted(strange)))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        raise UsageError(
            f"there is no folder {str(folder)!r}; adding the first batch makes it"
        ) from None
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be looked into: {error.strerror}") from error


def _age(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except FileNotFoundError:  # it has gone since; whoever loads it says so
        return 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
