"""A folder of counts that grows: a part for each partition, of which only new ones are counted."""

from __future__ import annotations

import glob
import gzip
import hashlib
import json
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from outperform import _files
from outperform.data.outcomes import Outcomes, to_short_json
from outperform.data.views import with_source
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding, counted, finding, listed
from outperform.io.addresses import local_path, masked
from outperform.io.count import NoRows, count_rows
from outperform.io.counted_files import (
    ENDING,
    TYPES,
    Content,
    Part,
    part_file,
    part_line,
    read_part,
)
from outperform.io.engine import Engine, Spool, start, workspace
from outperform.io.formats import OPTIONS, Dialect
from outperform.io.paths import File, copied_file, known_files, ready_files, shown_name
from outperform.io.remote import (
    LAKES,
    RemoteFile,
    found_at,
    is_remote,
    lake_at,
    lake_here,
    reached,
    refuse_changed,
    told,
)
from outperform.io.request import SOURCE_TYPES, Request
from outperform.io.tables import Opened, Table, open_table, plain_where
from outperform.progress import in_steps

SPEC = "_store.json"
_FORMAT = "outperform/store"
_FIELDS = _files.record(
    {
        "format": _files.one_of(_FORMAT),
        "schema": _files.whole(1, 1),
        "spec": lambda value, at: value,
        "version": _files.text,
        "sha256": _files.digest,
    }
)
_BLOCK = 8 << 20  # one request of a store, most of whose time is the way there and back
_AHEAD = 2  # partitions that are hashed, or copied here, while another one is counted
_LEVEL = 1  # of compression; more takes longer than the rest and saves a fifth


class Partition(NamedTuple):
    """Files that are counted together, and what they are called."""

    name: str
    source: str
    files: tuple[File | RemoteFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What an update counted, all parts that there are now, by name, and what was noticed."""

    counted: tuple[Part, ...]
    parts: Mapping[str, Part]
    findings: tuple[Finding, ...] = ()

    @property
    def items(self) -> int:
        """How many items all parts hold."""
        return sum(part.items for part in self.parts.values())


def update(
    folder: str | os.PathLike[str],
    sources: Sequence[str],
    request: Request,
    *,
    version: str,
    recount: Sequence[str] = (),
    verify: bool = False,
) -> Update:
    """Count the partitions of files that a folder has not counted yet.

    A partition is a file, or all files below folders such as ``day=2026-01-01``. Each becomes a
    part that is complete or absent, so an update that was killed is simply run again.

    Parameters
    ----------
    folder
        Where the parts are; the first update makes it and writes down what is asked.
    sources, request
        Files, folders and patterns; and what is asked, which must be the same every time.
    version
        The version of the package, for the records.
    recount
        Partitions that are counted again, because they changed.
    verify
        Whether to hash also the files whose size and times are as they were.
    """
    place, sources = Path(folder), [local_path(one) for one in sources]
    _refuse_what_is_no_file(sources, request)
    named = request.models is not None or request.correct is not None
    dialect = request.dialect(request.wanted if named else None)
    partitions = _partitions(sources, dialect)
    for name in recount:
        if name not in partitions:
            raise UsageError(unknown_name("partition", name, sorted(partitions)))
    spec = _spec_of(request)
    _agree(place, spec, version)
    parts = {part.name: part for part in _parts(place)}
    new = _new(place, partitions, parts, recount, verify=verify)
    gone = tuple(_gone(place, sources, partitions, parts))
    counting = _Counting(place, request, dialect, _files.checksum(spec), version, parts)
    done = tuple(counting.each(new)) if new else ()
    return Update(counted=done, parts=parts, findings=gone)


def _gone(
    folder: Path,
    sources: Sequence[str],
    partitions: Mapping[str, Partition],
    parts: Mapping[str, Part],
) -> Iterator[Finding]:
    """Yield the finding about parts whose files are no longer in the folders that were named."""
    roots = [_absolute(one) for one in sources if _is_folder(one)]
    gone = [
        part
        for name, part in parts.items()
        if name not in partitions and any(_absolute(part.source).startswith(one) for one in roots)
    ]
    if gone:
        yield finding(
            "counted_files_gone",
            sources=listed((masked(part.source) for part in gone), most=3),
            items=counted(sum(part.items for part in gone), "items"),
            parts=listed((str(folder / part_file(part.name)) for part in gone), most=3),
        )


def _is_folder(source: str) -> bool:
    return not glob.has_magic(source) if is_remote(source) else os.path.isdir(source)


def _absolute(source: str) -> str:
    """Return a folder or file so that what lies in a folder begins like it."""
    return f"{source if is_remote(source) else os.path.abspath(source)}".rstrip("/") + "/"


def _refuse_what_is_no_file(sources: Sequence[str], request: Request) -> None:
    """Refuse sources that have no partitions: streams, databases, logs, joins, counts."""
    for source in sources:
        _refuse_lake(source, request)
        if is_remote(source):
            SOURCE_TYPES[-1].refuse_others(request)
            continue
        door = next(one for one in SOURCE_TYPES if one.find(source, request) is not None)
        if door is not SOURCE_TYPES[-1] or source == "-":
            raise UsageError(
                f"only files of one table are counted by partition, and {masked(source)!r} is "
                f"something else; leave {param('update=')} out, and write its counts to a file"
            )
        door.refuse_others(request)


def _refuse_lake(source: str, request: Request) -> None:
    """Refuse a table of Delta or Iceberg, whose files are not its rows."""
    if is_remote(source):
        kind = lake_at(reached(source, request.storage_options))
    else:
        kind = None if glob.has_magic(source) else lake_here(source)
    if kind is not None:
        raise UsageError(
            f"{masked(source)} is {LAKES[kind]}, whose files may hold deleted rows, so that it is "
            f"counted as a whole; leave {param('update=')} out, and write its counts to a file"
        )


# Partitions


def _partitions(sources: Sequence[str], dialect: Dialect) -> dict[str, Partition]:
    """Return what can be counted, by name."""
    found: dict[str, list[File | RemoteFile]] = {}
    homes: dict[str, str] = {}
    for source in sources:
        for file, root in _listed(source, dialect):
            name, home = _place(_name(file), root)
            if homes.setdefault(name, home) != home:
                raise UsageError(
                    f"{homes[name]} and {home} would both be the partition {name!r}; give the "
                    "folder above both instead"
                )
            found.setdefault(name, []).append(file)
    for name, files in found.items():
        twin, number = Counter(map(_name, files)).most_common(1)[0]
        if number > 1:
            raise UsageError(f"{twin} was given {number} times, in the partition {name!r}")
    return {name: Partition(name, homes[name], tuple(files)) for name, files in found.items()}


def _listed(source: str, dialect: Dialect) -> Iterator[tuple[File | RemoteFile, str]]:
    """Yield the files of a source, and the folder that their names begin below."""
    if not is_remote(source):
        root = shown_name(_root(source))
        yield from ((file, root) for file in known_files(source, dialect))
        return
    for one in found_at(reached(source, dialect.storage)):
        named = one.address.removesuffix(f"/{one.below}") if one.below else one.address
        yield one, _root(source) if glob.has_magic(source) or not one.below else named


def _name(file: File | RemoteFile) -> str:
    return file.name if isinstance(file, File) else file.address


def _root(source: str) -> str:
    """Return the folder that names begin below: without what a pattern leaves open.

    Examples
    --------
    >>> _root("preds/day=*/*.csv"), _root("preds/mon.csv")
    ('preds', 'preds')
    """
    if os.path.isdir(source):
        return source
    folder = os.path.dirname(source)
    while glob.has_magic(folder) and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return folder


def _place(path: str, root: str) -> tuple[str, str]:
    """Return the name of the partition that a file belongs to, and where that is.

    Examples
    --------
    >>> _place("in/mon.csv", "in"), _place("in/day=1/a.csv", "in/day=1")
    (('mon.csv', 'in/mon.csv'), ('day=1', 'in/day=1'))
    """
    scheme, mark, rest = root.partition("://")
    if mark:
        name, home_there = _place(path.partition("://")[2], rest)
        return name, f"{scheme}://{home_there}"
    home, steps = PurePath(root), [*PurePath(os.path.relpath(path, root or ".")).parts]
    while "=" in home.name:
        home, steps = home.parent, [home.name, *steps]
    last = max((number for number, step in enumerate(steps[:-1], 1) if "=" in step), default=0)
    kept = steps[: last or len(steps)]
    return "/".join(kept), str(home.joinpath(*kept))


def _new(
    folder: Path,
    partitions: Mapping[str, Partition],
    parts: dict[str, Part],
    recount: Sequence[str],
    *,
    verify: bool,
) -> list[Partition]:
    """Return what is to be counted; what was counted must be as it was."""
    found, touched = [], {}
    for name, partition in partitions.items():
        if name not in parts or name in recount:
            found.append(partition)
        elif verify or not _is_untouched(partition, parts[name]):
            touched[name] = _contents(partition)
            _refuse_changes(partition, parts[name], touched[name])
    for name, contents in touched.items():
        parts[name] = _touched(folder, parts[name], contents)
    return found


def _touched(folder: Path, part: Part, contents: tuple[Content, ...]) -> Part:
    """Note when files were touched that hold what they held, so that they are hashed only once."""
    if part.files == contents:
        return part
    path, noted = folder / part_file(part.name), part._replace(files=contents)
    with suppress(OSError, UsageError):  # it only saves time
        body = gzip.decompress(path.read_bytes()).partition(b"\n")[2]
        _files.write_atomically(
            path, gzip.compress(part_line(noted) + b"\n" + body, _LEVEL, mtime=0)
        )
    return noted


def _is_untouched(partition: Partition, part: Part) -> bool:
    now = {(_called(partition, file), *_marker(file)) for file in partition.files}
    return now == {(one.name, one.size, one.marker) for one in part.files}


def _called(partition: Partition, file: File | RemoteFile) -> str:
    inside = os.path.relpath(_name(file), partition.source)
    return os.path.basename(_name(file)) if inside == "." else PurePath(inside).as_posix()


def _marker(file: File | RemoteFile) -> tuple[int, str]:
    if isinstance(file, File):
        size, *rest = file.stamp  # the last one cannot be set back, unlike the time of writing
        return size, ":".join(map(str, rest))
    return file.size, str(file.modified)


def _contents(partition: Partition, folder: str | None = None) -> tuple[Content, ...]:
    """Return the files with the hashes of their bytes; what is not here is copied to a folder."""
    return tuple(
        Content(_called(partition, file), *_marker(file), _hash(file, folder))
        for file in partition.files
    )


def _hash(file: File | RemoteFile, folder: str | None) -> str:
    found = hashlib.blake2b(digest_size=32)
    if isinstance(file, File):
        try:
            with open(file.path, "rb") as stream:
                while block := stream.read(_BLOCK):
                    found.update(block)
        except OSError as error:
            raise DataError(f"{file.name} cannot be read: {error.strerror}") from error
    else:
        copy = nullcontext() if folder is None else Spool(_copy_of(file, folder))
        with told(file.address, file.place.storage), copy as spool, file.open() as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
                if spool is not None:
                    spool.write(block)
    return f"blake2b:{found.hexdigest()}"


def _here(file: File | RemoteFile, dialect: Dialect, folder: str) -> File:
    if isinstance(file, File):
        return file
    return copied_file(file.address, _copy_of(file, folder), file.below, dialect)


def _copy_of(file: RemoteFile, folder: str) -> str:
    return os.path.join(folder, hashlib.sha256(file.address.encode()).hexdigest())


def _refuse_changes(partition: Partition, part: Part, contents: Sequence[Content]) -> None:
    if Counter(one.hash for one in contents) == Counter(one.hash for one in part.files):
        return
    raise DataError(
        f"the partition {part.name!r} changed since it was counted at {part.time}: then it was "
        f"{_described(part.source, part.files)}, now {_described(partition.source, contents)}; if "
        f"what is there now is right, count it again with {param('recount=', part.name)}"
    )


def _described(source: str, files: Sequence[Content]) -> str:
    size = f"{sum(one.size for one in files):,} bytes"
    return f"{source} ({size})" if len(files) == 1 else f"{source} ({len(files)} files, {size})"


# The folder


def _spec_of(request: Request) -> dict[str, object]:
    """Return the question as plain values, the same however it was put."""
    spec: dict[str, object] = request.given("models", "correct", "by", "where", "storage_options")
    for name, value in (("models", request.models), ("correct", request.correct)):
        if value is not None:
            spec[name] = dict(sorted(request.columns_by_model.items()))
    if request.slice_names:
        spec["by"] = list(request.slice_names)
    if request.na_values is not None:
        spec["na_values"] = sorted(request.na_values)
    if request.where:
        spec["where"] = plain_where(request.where)
    return spec


def _agree(folder: Path, spec: Mapping[str, object], version: str) -> None:
    """Write down what is asked, or see that it is what was asked before."""
    path = folder / SPEC
    if not path.exists():
        if other := next((name for name in _entries(folder) if not name.startswith(".")), ""):
            raise UsageError(
                f"{folder} has other files already, such as {other}; counts by partition need a "
                "folder of their own, which is made if it is not there"
            )
        told = {"format": _FORMAT, "schema": 1, "spec": spec, "version": version}
        _files.make_folder(folder)
        if _files.create_atomically(path, json.dumps(_files.signed(told), indent=1).encode()):
            return
    try:
        data = _files.parse(path.read_bytes())
        known = _FIELDS(data, "")["spec"]
        if not _files.is_signed(data) or not isinstance(known, dict):
            raise DataError("its content does not fit its checksum, so it was changed")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    unlike = [name for name in {**known, **spec} if known.get(name) != spec.get(name)]
    if unlike:
        said = [[_said(name, one.get(name)) for name in unlike] for one in (known, spec)]
        then, now = map(", ".join, said)
        raise UsageError(
            f"{folder} holds the counts of another question: they were counted {then}, and now "
            f"this is asked {now}; ask the same again, or begin another folder"
        )


def _said(name: str, value: object) -> str:
    """Return a part of the question as it is given to the verb or the command."""
    if value is None:
        return f"without {param(name)}"
    if isinstance(value, dict) and name in ("models", "correct"):
        value = list(value.values())
    if isinstance(value, dict):
        value = {column: one[0] if len(one) == 1 else one for column, one in value.items()}
    if name in OPTIONS:
        name, value = "dialect", {name: value}
    return f"with {param(f'{name}=', value)}"


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be looked into: {error.strerror}") from error


def _parts(folder: Path) -> Iterator[Part]:
    """Yield what the folder has counted; the outcomes of each part are hashed and not parsed."""
    for name in _entries(folder):
        if name.startswith((".", "_")):
            continue
        if not name.endswith(ENDING):
            raise DataError(f"{folder / name} is no part of these counts; move it elsewhere")
        yield read_part(folder / name)


# Counting


class _Counting(NamedTuple):
    """All that the count of one partition needs."""

    folder: Path
    request: Request
    dialect: Dialect
    spec: str
    version: str
    parts: dict[str, Part]  # with what is counted meanwhile

    def each(self, new: Sequence[Partition]) -> Iterator[Part]:
        """Count partitions one after the other, while the next ones are hashed."""
        others = [
            part for name, part in self.parts.items() if name not in {one.name for one in new}
        ]
        owners = {one.hash: part for part in others for one in part.files}
        files = [file for partition in new for file in partition.files]
        paths = sorted({file.path for file in files if isinstance(file, File)})
        with (
            workspace() as folder,
            start(paths, folder=folder) as engine,
            ThreadPoolExecutor(1) as pool,
            in_steps() as progress,
        ):
            to_come, hashes = iter(new), deque[Future[tuple[Content, ...]]]()
            for number, partition in enumerate(new):
                for one in islice(to_come, 1 + _AHEAD - len(hashes)):
                    hashes.append(pool.submit(_contents, one, folder))
                contents = _unlike_others(partition, hashes.popleft().result(), owners)
                part = self._count(partition, contents, engine)
                owners |= {one.hash: part for one in contents}
                self.parts[part.name] = part
                if progress is not None:
                    progress(number + 1, len(new))
                yield part

    def _count(self, partition: Partition, contents: Sequence[Content], engine: Engine) -> Part:
        seen = self._outcomes(partition, engine)
        for file in partition.files:
            if isinstance(file, File):
                file.refuse_changes()
        refuse_changed([file for file in partition.files if isinstance(file, RemoteFile)])
        text, checksum = ("", "") if seen is None else to_short_json(seen)
        part = Part(
            name=partition.name,
            source=partition.source,
            files=tuple(contents),
            items=0 if seen is None else int(seen.n),
            models=() if seen is None else tuple(sorted(seen.models)),
            labels=TYPES[type(seen.labels[0])] if seen is not None and seen.labels else "",
            spec=self.spec,
            outcomes=checksum,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            version=self.version,
        )
        self._refuse_unfit(part)
        data = gzip.compress(part_line(part) + b"\n" + text.encode("ascii"), _LEVEL, mtime=0)
        path = self.folder / part_file(part.name)
        if part.name in self.parts:
            _files.write_atomically(path, data)
        elif not _files.create_atomically(path, data):  # another update was quicker
            part = read_part(path)
            _refuse_changes(partition, part, contents)
        return part

    def _outcomes(self, partition: Partition, engine: Engine) -> Outcomes | None:
        """Count one partition; None if it has no rows."""
        request, wanted = self.request, self.request.wanted
        here = [_here(file, self.dialect, engine.folder) for file in partition.files]
        files = ready_files(here, self.dialect, engine.folder)

        def ask(found: Mapping[str, Table], engine: Engine) -> Outcomes:
            return count_rows(found[""], request.of(found[""]), engine)

        try:
            tables = {"": open_table(files, wanted, self.dialect, engine)}
            opened = Opened(tables=tables, wanted=wanted, dialect=self.dialect, engine=engine)
            seen = opened.ask(ask)
        except NoRows:
            return None
        finally:
            for file in (*here, *files):
                if os.path.dirname(file.path) == engine.folder:  # written for the engine
                    with suppress(OSError):
                        os.unlink(file.path)
        return with_source(seen, partition.source, weighted=request.weight is not None)

    def _refuse_unfit(self, part: Part) -> None:
        """Refuse a part that does not add up with the others; the folder could not be read."""
        others = (one for one in self.parts.values() if one.items and one.name != part.name)
        other = next(others, None)
        if other is None or not part.items:
            return
        if part.models != other.models:
            raise DataError(
                f"the partition {part.name!r} has the models {list(part.models)}, but "
                f"{other.name!r} {list(other.models)}; name those to count with {param('models=')}"
            )
        if part.labels != other.labels:
            raise DataError(
                f"the classes are {part.labels} in the partition {part.name!r} and {other.labels} "
                f"in {other.name!r}; make them one type first"
            )


def _unlike_others(
    partition: Partition, contents: tuple[Content, ...], owners: Mapping[str, Part]
) -> tuple[Content, ...]:
    """Return the files of a partition, none of which was counted before under another name."""
    inside: dict[str, str] = {}
    for one in contents:
        if one.hash in owners:
            other = owners[one.hash]
            twin = next(each for each in other.files if each.hash == one.hash)
            raise DataError(
                f"{_named(partition, one)} holds the same bytes as {_named(other, twin)}, which "
                f"was counted at {other.time} as {other.name!r}; they would count twice: leave one "
                "of them out"
            )
        first = inside.setdefault(one.hash, one.name)
        if first != one.name:
            raise DataError(
                f"{first} and {one.name} in the partition {partition.name!r} hold the same bytes, "
                "which would count twice: remove one of them"
            )
    return contents


def _named(one: Partition | Part, file: Content) -> str:
    return one.source if len(one.files) == 1 else os.path.join(one.source, file.name)
