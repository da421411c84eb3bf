"""Batches in a folder, in order of arrival."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from outperform._files import (
    PART,
    create_atomically,
    digest,
    make_folder,
    parse,
    record,
    sync_folder,
    text,
)
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.serialization import SCORES, scores_from_dict, scores_to_json
from outperform.data.sources import Source
from outperform.data.views import read_from, scores_source
from outperform.errors import DataError, OutperformError, UsageError, unknown_name
from outperform.io.counted_files import ENDING, read_part, read_shards
from outperform.io.logs.counted import COUNTED, LOGS
from outperform.io.logs.read import read_evaluations
from outperform.io.periods import day_of
from outperform.io.store import SPEC

SUFFIX = ".json"
_LONGEST = 200  # bytes; file systems allow 255, and the name of a part is not longer
_FORBIDDEN = set('/\\<>:"|?*')
_PORTS = {f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10)}
_DEVICES = {"CON", "PRN", "AUX", "NUL"} | _PORTS


Seen: TypeAlias = Outcomes | Scores


class Batch(NamedTuple):
    """Counted outcomes or scores, their key and the hash of the file."""

    key: str
    outcomes: Seen
    digest: str
    versions: Mapping[str, str] = MappingProxyType({})  # Versions of the models, if known.


class Listing(NamedTuple):
    """Contents of a folder: keys, from the oldest file to the newest, and other files."""

    keys: tuple[str, ...]
    unfinished: int
    unknown: tuple[str, ...]


def check_key(key: object) -> str:
    """Return the key of a batch as text; raise an error if it cannot be a file name.

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
            "key must be a valid file name on any system: printable, at most "
            f"{_LONGEST} bytes, without {' '.join(sorted(_FORBIDDEN))}, not starting with a dot "
            f"or underscore, and not ending with a dot or space; got {key!r}"
        )
    if text.partition(".")[0].strip().upper() in _DEVICES:
        raise UsageError(f"key must not be a Windows device name; got {key!r}")
    return text


def store_batch(folder: Path, key: str, outcomes: Seen) -> tuple[Batch, bool]:
    """Write a batch, or check that the stored one is the same; return it and whether it is new."""
    plain = scores_to_json(outcomes) if isinstance(outcomes, Scores) else outcomes.to_json()
    data, path = plain.encode("utf-8"), folder / f"{key}{SUFFIX}"
    if not path.exists() and create_atomically(path, data):
        return Batch(key, outcomes, _digest(data)), True
    stored = load_batch(folder, key)
    if stored.digest != _digest(data) and stored.outcomes != outcomes:
        raise DataError(
            f"the batch {key!r} is already in {folder}, with other outcomes ({stored.outcomes.n} "
            f"items, now {outcomes.n}); use another key for the new batch"
        )
    sync_folder(folder)  # The process that wrote it may have been killed before syncing.
    return stored, False


VERSIONS = "_versions"


def check_versions(versions: object, models: Sequence[str]) -> dict[str, str]:
    """Return the version of each model as text; invalid versions raise an error.

    Examples
    --------
    >>> check_versions({"new": "3f2a", "old": "v7"}, ["new", "old"])
    {'new': '3f2a', 'old': 'v7'}
    """
    if versions is None:
        return {}
    if not isinstance(versions, Mapping):
        raise UsageError(
            f"versions must be a mapping by model, e.g. {{'old': 'v7'}}; got {versions!r}"
        )
    for model, version in versions.items():
        if model not in models:
            raise UsageError(unknown_name("model", model, models))
        if not isinstance(version, str) or not version or not version.isprintable():
            raise UsageError(f"the version of {model!r} must be text; got {version!r}")
    return {str(model): versions[model] for model in sorted(versions)}


def store_versions(folder: Path, key: str, versions: Mapping[str, str]) -> None:
    """Write the versions of a batch's models before the batch; different ones raise an error."""
    if not versions:
        return
    make_folder(folder / VERSIONS)
    path = folder / VERSIONS / f"{key}{SUFFIX}"
    data = json.dumps({"versions": versions}).encode("utf-8")
    if not path.exists() and create_atomically(path, data):
        return
    stored = load_versions(folder, key)
    if stored != versions:
        raise DataError(
            f"the batch {key!r} is already in {folder}, with versions {stored}, now "
            f"{dict(versions)}; use another key for the new batch"
        )


def load_versions(folder: Path, key: str) -> dict[str, str]:
    """Read a batch's model versions; empty if there is no file."""
    path = folder / VERSIONS / f"{key}{SUFFIX}"
    try:
        plain = parse(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    versions = plain.get("versions") if isinstance(plain, dict) else None
    if not isinstance(versions, dict) or not all(
        type(version) is str for version in versions.values()
    ):
        raise DataError(f"{path} does not map models to versions; remove or restore it")
    return versions


def load_batch(folder: Path, key: str) -> Batch:
    """Read one batch; a damaged file raises an error."""
    path = folder / f"{key}{SUFFIX}"
    try:
        data = path.read_bytes()
        return Batch(key, _parsed(data, path), _digest(data), load_versions(folder, key))
    except FileNotFoundError:
        raise DataError(f"file {path} does not exist") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _parsed(data: bytes, path: Path) -> Seen:
    plain = None
    with suppress(DataError):  # Outcomes.from_json explains what is wrong
        plain = parse(data)
    if isinstance(plain, dict) and plain.get("format") == SCORES:
        return Scores(**scores_from_dict(plain))
    if isinstance(plain, dict) and plain.get("format") == LOGS:
        return read_from(read_evaluations(path, format=COUNTED), path.name)
    return read_from(Outcomes.from_json(data), path.name)


def list_batches(folder: Path) -> Listing:
    """List a folder; names that begin with a dot or an underscore are not batches."""
    aged, unfinished, unknown = [], 0, []
    for entry in _entries(folder):
        name = entry.name
        if name.startswith(".") and name.endswith(PART):
            unfinished += 1
        elif name.startswith((".", "_")):
            continue
        elif name.endswith(SUFFIX) and entry.is_file():
            aged.append((_age(entry), name.removesuffix(SUFFIX)))
        else:
            unknown.append(name)
    return Listing(tuple(key for _, key in sorted(aged)), unfinished, tuple(sorted(unknown)))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        raise UsageError(
            f"folder {str(folder)!r} does not exist; adding the first batch creates it"
        ) from None
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be listed: {error.strerror}") from error


def _age(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_mtime_ns
    except FileNotFoundError:  # The file was removed meanwhile; loading it raises an error.
        return 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


ARRIVALS = "_arrivals"
_FIELDS = record({"key": text, "sha256": digest})


class Arrival(NamedTuple):
    """A batch's place in the order of arrival: its number, its key and the hash of its file."""

    number: int
    key: str
    digest: str


class Damaged(NamedTuple):
    """A number assigned to an unreadable file, with the reason it cannot be read."""

    number: int
    file: str
    reason: str


def read_arrivals(folder: Path, *, after: int = 0) -> Iterator[Arrival | Damaged]:
    """Yield arrivals after a number, in order.

    A damaged file keeps its number. Its batch gets a new number when the folder is next read.
    """
    while (arrival := _read(folder, after + 1)) is not None:
        yield arrival
        after = arrival.number
    if _path(folder, after + 2).exists() and not _path(folder, after + 1).exists():
        raise DataError(
            f"{_path(folder, after + 1)} is missing but the next one exists; restore it, or "
            f"remove the folder {ARRIVALS} to rebuild the order from file dates"
        )


def record_arrival(folder: Path, key: str, digest: str, *, after: int = 0) -> int:
    """Give a batch the next number unless it has one above ``after``; return its number."""
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
        fields = _FIELDS(parse(path.read_bytes()), "")
        return Arrival(number, fields["key"], fields["sha256"])
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
        if not path.is_dir():  # The file may become readable, and then its number counts.
            raise DataError(f"{path}: {reason}") from error
    except DataError as error:
        reason = str(error)
    return Damaged(number, f"{ARRIVALS}/{path.name}", reason)


def _path(folder: Path, number: int) -> Path:
    return folder / ARRIVALS / f"{number:08d}.json"


class History:
    """Batches of two models in a folder, each read once.

    Parameters
    ----------
    folder
        Folder of the batches.
    models
        Names of A and of B; other models are ignored.
    """

    def __init__(self, folder: Path, models: tuple[str, str]) -> None:
        self.folder = folder
        self.models = models
        self.batches: list[Batch] = []
        self.total: Seen | None = None
        self.sources: list[Source] = []  # Only for scores; outcomes have a field for it.
        self.left_out: dict[str, str] = {}  # Reason by file name.
        self.unfinished = 0
        self._keys: set[str] = set()
        self._unfit: dict[str, str] = {}  # Like left_out, for batches with a number.
        self._damaged: dict[str, str] = {}  # Like left_out, for the files that record the order.
        self._upto: tuple[int, Seen] | None = None
        self._first: Batch | None = None  # other batches must be compatible with it
        self._number = 0  # number of the last arrival that was read
        self._tail = 0  # number of the last arrival when a batch was stored

    def store(
        self, key: str, outcomes: Seen, versions: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Write a batch and number it; a batch that is already stored is not changed."""
        make_folder(self.folder)
        self._refuse_unfit(key, outcomes)
        store_versions(self.folder, key, versions)
        batch, new = store_batch(self.folder, key, outcomes)
        # The number of a new batch is above all earlier numbers.
        after = self._tail if new else 0
        self._tail = max(self._tail, record_arrival(self.folder, key, batch.digest, after=after))

    def refresh(self) -> None:
        """Read new batches, and number the batches that their writer left unnumbered."""
        listing = list_batches(self.folder)
        self._follow()
        self.unfinished = listing.unfinished
        left_out = dict.fromkeys(listing.unknown, f"it is not a {SUFFIX} file")
        for key in listing.keys:
            if key in self._keys:
                continue
            try:
                batch = load_batch(self.folder, key)
                self._plus(batch)
            except OutperformError as error:
                left_out[f"{key}{SUFFIX}"] = str(error)
            else:
                record_arrival(self.folder, key, batch.digest, after=self._number)
                self._follow()
        self.left_out = left_out | self._unfit | self._damaged

    def upto(self, number: int) -> Seen:
        """Return the sum of the first batches; increasing arguments reuse the last sum."""
        if self._upto is None or self._upto[0] > number:
            self._upto = 1, self.batches[0].outcomes
        for index in range(self._upto[0], number):
            self._upto = index + 1, _sum(self._upto[1], self.batches[index].outcomes)
        return self._upto[1]

    def between(self, first: int, last: int) -> Seen:
        """Return the sum of the batches with numbers above ``first``, up to ``last``."""
        total = self.batches[first].outcomes
        for batch in self.batches[first + 1 : last]:
            total = _sum(total, batch.outcomes)
        return total

    def _follow(self) -> None:
        """Read the batches that have a number, in order."""
        for arrival in read_arrivals(self.folder, after=self._number):
            if isinstance(arrival, Damaged):
                self._damaged[arrival.file] = arrival.reason
            # Two processes may have numbered the same batch; the first number counts.
            elif arrival.key not in self._keys:
                self._take(self._arrived(*arrival))
            self._number = arrival.number

    def _arrived(self, number: int, key: str, digest: str) -> Batch:
        """Read a batch that has a number; a changed batch raises an error."""
        reason = "it has changed"
        try:
            batch = load_batch(self.folder, key)
            if batch.digest == digest:
                return batch
        except DataError as error:
            reason = str(error)
        raise DataError(
            f"{key}{SUFFIX} in {self.folder} is not the batch that arrived as number {number}: "
            f"{reason}; restore it, or move the file away and add the batch again with its key, or "
            f"remove the folder {ARRIVALS} to restart the history"
        )

    def _refuse_unfit(self, key: str, outcomes: Seen) -> None:
        """Raise an error if a batch is incompatible with the first, so would never be counted."""
        # For example, it may have other models; refresh() reports these.
        with suppress(OutperformError):
            arrivals = () if self._first else read_arrivals(self.folder)
            arrival = next((arrival for arrival in arrivals if isinstance(arrival, Arrival)), None)
            if arrival is not None:
                batch = load_batch(self.folder, arrival.key)
                self._first = batch._replace(outcomes=self._selected(batch))
        if self._first is None or self._first.key == key:
            return
        try:
            _sum(self._first.outcomes, outcomes.select(self.models))
        except OutperformError as error:
            raise DataError(
                f"the batch {key!r} does not fit {self._first.key!r}, the first in {self.folder}: "
                f"{error}"
            ) from error

    def _take(self, batch: Batch) -> None:
        """Add a batch to the others; an incompatible batch is reported and not counted."""
        self._keys.add(batch.key)
        try:
            self.total = self._plus(batch)
        except OutperformError as error:
            self._unfit[f"{batch.key}{SUFFIX}"] = str(error)
        else:
            self.batches.append(batch._replace(outcomes=self._selected(batch)))
            if isinstance(batch.outcomes, Scores):
                file = f"{batch.key}{SUFFIX}"
                self.sources.append(scores_source(batch.outcomes, file, batch.digest))

    def _plus(self, batch: Batch) -> Seen:
        """Return all outcomes with those of one more batch; an incompatible one raises an error."""
        chosen = self._selected(batch)
        try:
            return chosen if self.total is None else _sum(self.total, chosen)
        except OutperformError as error:
            raise DataError(f"it does not fit the earlier batches: {error}") from error

    def _selected(self, batch: Batch) -> Seen:
        return batch.outcomes.select(self.models)


class Days(History):
    """Parts of a folder that ``count --update`` fills, in order of their days, as batches."""

    def __init__(self, folder: Path, models: tuple[str, str]) -> None:
        super().__init__(folder, models)
        self._last: tuple[str, str] = ("", "")
        self._files: set[str] = set()

    def store(
        self, key: str, outcomes: Seen, versions: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Raise an error, because only the command fills the folder."""
        raise UsageError(
            f"{self.folder} is filled by 'outperform count --update'; add the batch {key!r} to "
            "the files that it counts, or to another folder"
        )

    def refresh(self) -> None:
        """Read new parts; a part of an earlier day than the last one read raises an error."""
        new = {}
        for entry in _entries(self.folder):
            if entry.name.endswith(ENDING) and entry.name not in self._files:
                part = read_part(Path(entry.path))
                day = day_of(part.name)
                new["" if day is None else day.isoformat(), part.name] = entry.path, part
        for number, (path, part) in sorted(new.items()):
            if number < self._last:
                raise DataError(
                    f"the part {part.name!r} arrived after {self._last[1]!r}, a later one; read "
                    "the folder again, so that days are in order"
                )
            self._last = number
            self._files.add(os.path.basename(path))
            if part.items:
                self._take(Batch(part.name, read_shards(path, None), part.outcomes))
        self.left_out = dict(self._unfit)


def history_of(folder: Path, models: tuple[str, str]) -> History:
    """Return the batches of a folder, or the days of one that ``count --update`` fills."""
    return Days(folder, models) if (folder / SPEC).exists() else History(folder, models)


def _sum(first: Seen, second: Seen) -> Seen:
    if isinstance(first, Scores) and isinstance(second, Scores):
        return first + second
    if isinstance(first, Scores) or isinstance(second, Scores):
        raise DataError("scores and counted labels do not add up")
    return first + second
