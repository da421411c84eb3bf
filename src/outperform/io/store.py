"""Growing folder of counts, with one part per partition; only new partitions are counted."""

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
    store_errors,
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
_BLOCK = 8 << 20  # bytes per request to a store; each is mostly waiting for the network
_AHEAD = 2  # number of partitions that are hashed or copied while another is counted
_LEVEL = 1  # compression level; a higher one takes longer than all other work and saves only 20%


class Partition(NamedTuple):
    """Named set of files that are counted as one unit."""

    name: str
    source: str
    files: tuple[File | RemoteFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Result of an update: newly counted parts, all parts by name, and findings."""

    counted: tuple[Part, ...]
    parts: Mapping[str, Part]
    findings: tuple[Finding, ...] = ()

    @property
    def items(self) -> int:
        """Number of items in all parts."""
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
    """Count the partitions of files that a folder does not contain yet.

    A partition is a file, or all files below folders such as ``day=2026-01-01``. Each partition
    becomes a part that is either complete or absent, so an interrupted update can be rerun.

    Parameters
    ----------
    folder
        Folder of the parts; the first update creates it and records the request.
    sources, request
        Files, folders and patterns; and the request, which must be the same for every update.
    version
        Version of the package, which is recorded.
    recount
        Partitions to count again, because they changed.
    verify
        Whether to hash files even if their size and times are unchanged.
    """
    home, sources = Path(folder), [local_path(source) for source in sources]
    _refuse_what_is_no_file(sources, request)
    named = request.models is not None or request.correct is not None
    dialect = request.dialect(request.wanted if named else None)
    partitions = _partitions(sources, dialect)
    for name in recount:
        if name not in partitions:
            raise UsageError(unknown_name("partition", name, sorted(partitions)))
    spec = _spec_of(request)
    _agree(home, spec, version)
    parts = {part.name: part for part in _parts(home)}
    new = _new(home, partitions, parts, recount, verify=verify)
    missing = tuple(_gone(home, sources, partitions, parts))
    counting = _Counting(home, request, dialect, _files.checksum(spec), version, parts)
    done = tuple(counting.each(new)) if new else ()
    return Update(counted=done, parts=parts, findings=missing)


def _gone(
    folder: Path,
    sources: Sequence[str],
    partitions: Mapping[str, Partition],
    parts: Mapping[str, Part],
) -> Iterator[Finding]:
    """Yield a finding about parts whose files are no longer in the source folders."""
    roots = [_absolute(root) for root in sources if _is_folder(root)]
    missing_parts = [
        part
        for name, part in parts.items()
        if name not in partitions and any(_absolute(part.source).startswith(root) for root in roots)
    ]
    if missing_parts:
        yield finding(
            "counted_files_gone",
            sources=listed((masked(part.source) for part in missing_parts), most=3),
            items=counted(sum(part.items for part in missing_parts), "items"),
            parts=listed((str(folder / part_file(part.name)) for part in missing_parts), most=3),
        )


def _is_folder(source: str) -> bool:
    return not glob.has_magic(source) if is_remote(source) else os.path.isdir(source)


def _absolute(source: str) -> str:
    """Return an absolute path that is a prefix of all paths below it."""
    return f"{source if is_remote(source) else os.path.abspath(source)}".rstrip("/") + "/"


def _refuse_what_is_no_file(sources: Sequence[str], request: Request) -> None:
    """Raise an error for sources without partitions: streams, databases, logs, joins, counts."""
    for source in sources:
        _refuse_lake(source, request)
        if is_remote(source):
            SOURCE_TYPES[-1].refuse_others(request)
            continue
        source_type = next(each for each in SOURCE_TYPES if each.find(source, request) is not None)
        if source_type is not SOURCE_TYPES[-1] or source == "-":
            raise UsageError(
                f"only the files of one table can be counted by partition, but {masked(source)!r} "
                f"is another kind of source; omit {param('update=')}, and write its counts to a "
                "file"
            )
        source_type.refuse_others(request)


def _refuse_lake(source: str, request: Request) -> None:
    """Raise an error for a Delta or Iceberg table, whose files may contain deleted rows."""
    if is_remote(source):
        kind = lake_at(reached(source, request.storage_options))
    else:
        kind = None if glob.has_magic(source) else lake_here(source)
    if kind is not None:
        raise UsageError(
            f"{masked(source)} is {LAKES[kind]}, whose files may contain deleted rows, so it "
            f"cannot be counted by partition; omit {param('update=')}, and write its counts to a "
            "file"
        )


# Partitions


def _partitions(sources: Sequence[str], dialect: Dialect) -> dict[str, Partition]:
    """Return the partitions of the sources, by name."""
    files_by_name: dict[str, list[File | RemoteFile]] = {}
    homes: dict[str, str] = {}
    for source in sources:
        for file, root in _listed(source, dialect):
            name, home = _locate(_name(file), root)
            if homes.setdefault(name, home) != home:
                raise UsageError(
                    f"{homes[name]} and {home} would both become the partition {name!r}; pass "
                    "their common parent folder instead"
                )
            files_by_name.setdefault(name, []).append(file)
    for name, files in files_by_name.items():
        duplicate, number = Counter(map(_name, files)).most_common(1)[0]
        if number > 1:
            raise UsageError(f"{duplicate} occurs {number} times in the partition {name!r}")
    return {
        name: Partition(name, homes[name], tuple(files)) for name, files in files_by_name.items()
    }


def _listed(source: str, dialect: Dialect) -> Iterator[tuple[File | RemoteFile, str]]:
    """Yield the files of a source, each with the folder that its name is relative to."""
    if not is_remote(source):
        root = shown_name(_root(source))
        yield from ((file, root) for file in known_files(source, dialect))
        return
    for remote in found_at(reached(source, dialect.storage)):
        root = remote.address.removesuffix(f"/{remote.below}") if remote.below else remote.address
        yield remote, _root(source) if glob.has_magic(source) or not remote.below else root


def _name(file: File | RemoteFile) -> str:
    return file.name if isinstance(file, File) else file.address


def _root(source: str) -> str:
    """Return the folder that names are relative to, without the variable parts of a pattern.

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


def _locate(path: str, root: str) -> tuple[str, str]:
    """Return the name of a file's partition, and its path.

    Examples
    --------
    >>> _locate("in/mon.csv", "in"), _locate("in/day=1/a.csv", "in/day=1")
    (('mon.csv', 'in/mon.csv'), ('day=1', 'in/day=1'))
    """
    scheme, mark, rest = root.partition("://")
    if mark:
        name, path_in_store = _locate(path.partition("://")[2], rest)
        return name, f"{scheme}://{path_in_store}"
    home, steps = PurePath(root), [*PurePath(os.path.relpath(path, root or ".")).parts]
    while "=" in home.name:
        home, steps = home.parent, [home.name, *steps]
    last = max((number for number, step in enumerate(steps[:-1], 1) if "=" in step), default=0)
    name_steps = steps[: last or len(steps)]
    return "/".join(name_steps), str(home.joinpath(*name_steps))


def _new(
    folder: Path,
    partitions: Mapping[str, Partition],
    parts: dict[str, Part],
    recount: Sequence[str],
    *,
    verify: bool,
) -> list[Partition]:
    """Return the partitions to count; changes in counted partitions raise an error."""
    to_count, contents_by_name = [], {}
    for name, partition in partitions.items():
        if name not in parts or name in recount:
            to_count.append(partition)
        elif verify or not _is_untouched(partition, parts[name]):
            contents_by_name[name] = _contents(partition)
            _refuse_changes(partition, parts[name], contents_by_name[name])
    for name, contents in contents_by_name.items():
        parts[name] = _touched(folder, parts[name], contents)
    return to_count


def _touched(folder: Path, part: Part, contents: tuple[Content, ...]) -> Part:
    """Record new times of files with unchanged contents, to avoid hashing them again."""
    if part.files == contents:
        return part
    path, updated = folder / part_file(part.name), part._replace(files=contents)
    with suppress(OSError, UsageError):  # failing to record them only costs time
        body = gzip.decompress(path.read_bytes()).partition(b"\n")[2]
        _files.write_atomically(
            path, gzip.compress(part_line(updated) + b"\n" + body, _LEVEL, mtime=0)
        )
    return updated


def _is_untouched(partition: Partition, part: Part) -> bool:
    now = {(_called(partition, file), *_marker(file)) for file in partition.files}
    return now == {(content.name, content.size, content.marker) for content in part.files}


def _called(partition: Partition, file: File | RemoteFile) -> str:
    relative = os.path.relpath(_name(file), partition.source)
    return os.path.basename(_name(file)) if relative == "." else PurePath(relative).as_posix()


def _marker(file: File | RemoteFile) -> tuple[int, str]:
    if isinstance(file, File):
        size, *times = file.stamp  # the last time, unlike the time of writing, cannot be set back
        return size, ":".join(map(str, times))
    return file.size, str(file.modified)


def _contents(partition: Partition, folder: str | None = None) -> tuple[Content, ...]:
    """Return the files with hashes of their bytes; remote files are copied to ``folder``."""
    return tuple(
        Content(_called(partition, file), *_marker(file), _hash(file, folder))
        for file in partition.files
    )


def _hash(file: File | RemoteFile, folder: str | None) -> str:
    digest = hashlib.blake2b(digest_size=32)
    if isinstance(file, File):
        try:
            with open(file.path, "rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
        except OSError as error:
            raise DataError(f"{file.name} cannot be read: {error.strerror}") from error
    else:
        copy = nullcontext() if folder is None else Spool(_copy_of(file, folder))
        with (
            store_errors(file.address, file.location.storage),
            copy as spool,
            file.open() as stream,
        ):
            while block := stream.read(_BLOCK):
                digest.update(block)
                if spool is not None:
                    spool.write(block)
    return f"blake2b:{digest.hexdigest()}"


def _here(file: File | RemoteFile, dialect: Dialect, folder: str) -> File:
    if isinstance(file, File):
        return file
    return copied_file(file.address, _copy_of(file, folder), file.below, dialect)


def _copy_of(file: RemoteFile, folder: str) -> str:
    return os.path.join(folder, hashlib.sha256(file.address.encode()).hexdigest())


def _refuse_changes(partition: Partition, part: Part, contents: Sequence[Content]) -> None:
    counted_hashes = Counter(content.hash for content in part.files)
    if Counter(content.hash for content in contents) == counted_hashes:
        return
    raise DataError(
        f"the partition {part.name!r} has changed since it was counted at {part.time}: it was "
        f"{_described(part.source, part.files)} and is now "
        f"{_described(partition.source, contents)}; if this is intended, count it again with "
        f"{param('recount=', part.name)}"
    )


def _described(source: str, files: Sequence[Content]) -> str:
    size = f"{sum(content.size for content in files):,} bytes"
    return f"{source} ({size})" if len(files) == 1 else f"{source} ({len(files)} files, {size})"


# The folder


def _spec_of(request: Request) -> dict[str, object]:
    """Return the request as plain values in a canonical form."""
    spec: dict[str, object] = request.arguments(
        "models", "correct", "by", "where", "storage_options"
    )
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
    """Record the request, or check that it is the recorded one."""
    path = folder / SPEC
    if not path.exists():
        if other := next((name for name in _entries(folder) if not name.startswith(".")), ""):
            raise UsageError(
                f"{folder} already has other files, such as {other}; counts by partition need a "
                "separate folder, which is created if it does not exist"
            )
        record = {"format": _FORMAT, "schema": 1, "spec": spec, "version": version}
        _files.make_folder(folder)
        if _files.create_atomically(path, json.dumps(_files.signed(record), indent=1).encode()):
            return
    try:
        data = _files.parse(path.read_bytes())
        known = _FIELDS(data, "")["spec"]
        if not _files.is_signed(data) or not isinstance(known, dict):
            raise DataError("its content was changed: the checksum does not match")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    differing = [name for name in {**known, **spec} if known.get(name) != spec.get(name)]
    if differing:
        texts = [
            [_as_argument(name, question.get(name)) for name in differing]
            for question in (known, spec)
        ]
        then, now = map(", ".join, texts)
        raise UsageError(
            f"{folder} contains counts of another request: they were counted {then}, but this "
            f"request is {now}; repeat the first request, or use another folder"
        )


def _as_argument(name: str, value: object) -> str:
    """Return part of the request as a function argument or command option."""
    if value is None:
        return f"without {param(name)}"
    if isinstance(value, dict) and name in ("models", "correct"):
        value = list(value.values())
    if isinstance(value, dict):
        value = {
            column: values[0] if len(values) == 1 else values for column, values in value.items()
        }
    if name in OPTIONS:
        name, value = "dialect", {name: value}
    return f"with {param(f'{name}=', value)}"


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be read: {error.strerror}") from error


def _parts(folder: Path) -> Iterator[Part]:
    """Yield the counted parts of a folder; outcomes are hashed but not parsed."""
    for name in _entries(folder):
        if name.startswith((".", "_")):
            continue
        if not name.endswith(ENDING):
            raise DataError(f"{folder / name} does not belong to these counts; move it elsewhere")
        yield read_part(folder / name)


# Counting


class _Counting(NamedTuple):
    """Everything needed to count one partition."""

    folder: Path
    request: Request
    dialect: Dialect
    spec: str
    version: str
    parts: dict[str, Part]  # updated while counting

    def each(self, new: Sequence[Partition]) -> Iterator[Part]:
        """Count partitions sequentially, while the next ones are hashed."""
        names = {partition.name for partition in new}
        others = [part for name, part in self.parts.items() if name not in names]
        owners = {content.hash: part for part in others for content in part.files}
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
                for following in islice(to_come, 1 + _AHEAD - len(hashes)):
                    hashes.append(pool.submit(_contents, following, folder))
                contents = _unlike_others(partition, hashes.popleft().result(), owners)
                part = self._count(partition, contents, engine)
                owners |= {content.hash: part for content in contents}
                self.parts[part.name] = part
                if progress is not None:
                    progress(number + 1, len(new))
                yield part

    def _count(self, partition: Partition, contents: Sequence[Content], engine: Engine) -> Part:
        outcomes = self._outcomes(partition, engine)
        for file in partition.files:
            if isinstance(file, File):
                file.refuse_changes()
        refuse_changed([file for file in partition.files if isinstance(file, RemoteFile)])
        text, checksum = ("", "") if outcomes is None else to_short_json(outcomes)
        part = Part(
            name=partition.name,
            source=partition.source,
            files=tuple(contents),
            items=0 if outcomes is None else int(outcomes.n),
            models=() if outcomes is None else tuple(sorted(outcomes.models)),
            labels=TYPES[type(outcomes.labels[0])]
            if outcomes is not None and outcomes.labels
            else "",
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
        elif not _files.create_atomically(path, data):  # another update wrote it first
            part = read_part(path)
            _refuse_changes(partition, part, contents)
        return part

    def _outcomes(self, partition: Partition, engine: Engine) -> Outcomes | None:
        """Count one partition; None if it has no rows."""
        request, columns = self.request, self.request.wanted
        local_files = [_here(file, self.dialect, engine.folder) for file in partition.files]
        files = ready_files(local_files, self.dialect, engine.folder)

        def ask(tables: Mapping[str, Table], engine: Engine) -> Outcomes:
            return count_rows(tables[""], request.of(tables[""]), engine)

        try:
            tables = {"": open_table(files, columns, self.dialect, engine)}
            opened = Opened(tables=tables, wanted=columns, dialect=self.dialect, engine=engine)
            outcomes = opened.ask(ask)
        except NoRows:
            return None
        finally:
            for file in (*local_files, *files):
                if os.path.dirname(file.path) == engine.folder:  # a copy made for the engine
                    with suppress(OSError):
                        os.unlink(file.path)
        return with_source(outcomes, partition.source, weighted=request.weight is not None)

    def _refuse_unfit(self, part: Part) -> None:
        """Raise an error for a part that is incompatible with the others in the folder."""
        filled = (other for other in self.parts.values() if other.items)
        other = next((other for other in filled if other.name != part.name), None)
        if other is None or not part.items:
            return
        if part.models != other.models:
            raise DataError(
                f"the partition {part.name!r} has the models {list(part.models)}, but "
                f"{other.name!r} has {list(other.models)}; pass those to count as "
                f"{param('models=')}"
            )
        if part.labels != other.labels:
            raise DataError(
                f"the classes are {part.labels} in the partition {part.name!r} and {other.labels} "
                f"in {other.name!r}; convert them to one type first"
            )


def _unlike_others(
    partition: Partition, contents: tuple[Content, ...], owners: Mapping[str, Part]
) -> tuple[Content, ...]:
    """Return the files of a partition; files already counted under another name raise an error."""
    inside: dict[str, str] = {}
    for content in contents:
        if content.hash in owners:
            other = owners[content.hash]
            duplicate = next(owned for owned in other.files if owned.hash == content.hash)
            raise DataError(
                f"{_named(partition, content)} contains the same bytes as "
                f"{_named(other, duplicate)}, which was counted at {other.time} as "
                f"{other.name!r}; exclude one of them, so they do not count twice"
            )
        first = inside.setdefault(content.hash, content.name)
        if first != content.name:
            raise DataError(
                f"{first} and {content.name} in the partition {partition.name!r} contain the same "
                "bytes; remove one of them, so they do not count twice"
            )
    return contents


def _named(owner: Partition | Part, file: Content) -> str:
    return owner.source if len(owner.files) == 1 else os.path.join(owner.source, file.name)
