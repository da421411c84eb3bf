"""From what the caller names to files that can be opened."""

from __future__ import annotations

import codecs
import glob
import os
import re
import shutil
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote
from uuid import uuid4

from outperform.errors import DataError, UsageError, param
from outperform.io.addresses import masked
from outperform.io.compression import PACKINGS, magic, order_mark, unpacked
from outperform.io.engine import Spool
from outperform.io.formats import Dialect
from outperform.io.remote import (
    DELTA_LOG,
    METADATA,
    RemoteFile,
    found_at,
    inside_lake,
    is_remote,
    lake_at,
    lake_here,
    reached,
    refuse_inside_lake,
    told,
)

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
    files = [
        Found(path, _partition(os.path.relpath(path, folder), folder))
        for path in _walk(folder, seen=())
    ]
    if not files:
        raise DataError(f"the folder {folder} has no files")
    _refuse_strange(files, folder, endings, packings)
    return files


def _refuse_strange(
    files: list[Found], folder: str, endings: Collection[str] | None, packings: Collection[str]
) -> None:
    """Refuse files of a folder that do not say what they are, and folders that differ."""
    for path, _ in files:
        stem, ending = os.path.splitext(path.lower())
        kind = os.path.splitext(stem)[1] if ending in packings else ending
        if endings is not None and kind not in endings:
            raise DataError(
                f"{path} does not say by its name what kind of file it is, so the folder {folder} "
                f"cannot be read; name those that count by a pattern, e.g. "
                f"{os.path.join(folder, '*.csv')!r}, or give their format"
            )
    first = [name for name, _ in files[0].partition]
    for path, partition in files:
        names = [name for name, _ in partition]
        if names != first:
            raise DataError(
                f"all folders must name the same columns, but those of {files[0].path} are "
                f"{first} and those of {path} are {names}"
            )


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
        if name == DELTA_LOG or (name == "metadata" and lake_here(folder)):
            raise UsageError(inside_lake(folder, lake_here(folder) or "delta"))
        if name.startswith((".", "_")):
            continue
        if os.path.isdir(path):
            yield from _walk(path, (*seen, real))
        else:
            yield path


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


SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_BINARY = {"parquet": "Parquet", "arrow": "Arrow"}
# The engine would take any other name as a pattern, or as something other than a name.
_PLAIN = re.compile(r"[\w./\\: +@,=~#%^&()!-]+")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One regular file: its name as the caller knows it, and where its bytes are."""

    name: str
    path: str
    kind: str
    packing: str = ""
    stamp: tuple[int, ...] = ()
    partition: Partition = ()
    remote: RemoteFile | None = None  # where it came from, if that is not this machine

    @property
    def streamed(self) -> bool:
        """Whether its columns come straight from where they are, and there is no path."""
        return not self.path

    @property
    def size(self) -> int:
        """How many bytes it has; 0 of a table that is several files."""
        if self.remote is not None:
            return self.remote.size
        return os.path.getsize(self.path) if self.path else 0

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the bytes as they were before they were packed."""
        return unpacked(self.path, self.packing, name=self.name)

    def refuse_changes(self) -> None:
        """See that nobody wrote to the file while it was read."""
        # Without the time of its last change of any kind, which a link made here is, too.
        if self.stamp and self.stamp[:3] != _stamp(self.path, self.name)[:3]:
            raise DataError(f"{self.name} changed while it was read; read it again")


def find_files(source: object, dialect: Dialect, *, folder: str) -> list[File]:
    """Return the files of a source: a path, a pattern, a stream, or a list of these."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise UsageError("a list of files must name at least one")
        return [file for part in source for file in find_files(part, dialect, folder=folder)]
    if hasattr(source, "read") or (isinstance(source, str) and source == "-"):
        return [_spooled(source, dialect, folder)]
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(
            "a source must be a path, a pattern such as 'preds-*.parquet', '-', an open file, or "
            "a list of these, or one frame; frames are joined or put under each other before they "
            f"are read; got {type(source).__name__}"
        )
    if is_remote(source):
        return _from_store(str(os.fspath(source)), dialect, folder)
    files: list[File] = []
    for path in _paths(os.fspath(source)):
        kind = lake_here(path)
        lake = [] if kind is None else [File(name=path, path="", kind=kind)]
        files += lake or _of_path(path, dialect)
    return [file if file.streamed else _ready(file, dialect, folder) for file in files]


def stem(source: object) -> str:
    """Return the name of a file without folder and endings, as the name of a model.

    Examples
    --------
    >>> stem("runs/bert.csv.gz")
    'bert'
    """
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        raise UsageError("name the models: {'gold': …, 'bert': …}, because a stream has no name")
    path = Path(shown_name(os.fspath(source)))
    while path.suffix.lower() in {*SUFFIXES, *PACKINGS}:
        path = path.with_suffix("")
    return path.name


def _paths(source: str) -> list[str]:
    if not isinstance(source, str):
        raise UsageError(f"paths must be text; got {source!r}")
    if glob.has_magic(source) and not os.path.lexists(source):
        paths = sorted(glob.glob(source, recursive=True))
        if not paths:
            raise UsageError(f"no file matches {masked(source)!r}")
        refuse_inside_lake(paths)
        return paths
    if not source.endswith(METADATA):
        refuse_inside_lake([source])
    return [source]


def _of_path(path: str, dialect: Dialect) -> list[File]:
    """Return a file, or the files of a folder and of those in it, which must be of one kind."""
    if not os.path.isdir(path):
        return [_known(path, path, dialect)]
    kinds = None if dialect.format else {*SUFFIXES}
    files = [
        replace(_known(name, name, dialect), partition=partition)
        for name, partition in files_in(path, endings=kinds, packings={*PACKINGS})
    ]
    _refuse_kinds(files, path)
    return files


def _refuse_kinds(files: list[File], folder: str) -> None:
    odd = next((file for file in files if file.kind != files[0].kind), None)
    if odd is not None:
        raise DataError(
            f"the files of a folder must be of one kind, but {files[0].name} is {files[0].kind} "
            f"and {odd.name} is {odd.kind}; name those that count by a pattern, e.g. "
            f"{os.path.join(folder, '**', '*' + Path(odd.name).suffix)!r}"
        )


def _from_store(address: str, dialect: Dialect, folder: str) -> list[File]:
    """Return files of a store: those of Parquet stay there, all others are copied first."""
    folder_there = reached(address, dialect.storage)
    kind = lake_at(folder_there)
    if kind is not None:
        return [File(name=folder_there.address, path="", kind=kind)]
    remotes = found_at(folder_there)
    below = [
        Found(remote.address, _partition(remote.below.replace("/", os.sep), address))
        for remote in remotes
        if remote.below
    ]
    if below:
        _refuse_strange(below, address, None if dialect.format else {*SUFFIXES}, {*PACKINGS})
    partitions = dict(below)
    files = [
        replace(_stored(remote, dialect, folder), partition=partitions.get(remote.address, ()))
        for remote in remotes
    ]
    if below:
        _refuse_kinds(files, address)
    return files


def _stored(remote: RemoteFile, dialect: Dialect, folder: str) -> File:
    name = remote.address
    if not remote.size:
        raise DataError(f"{name} is empty (0 bytes)")
    if (dialect.format or SUFFIXES.get(Path(name).suffix.lower())) == "parquet":
        return File(name=name, path="", kind="parquet", remote=remote)
    path = os.path.join(folder, uuid4().hex)
    with Spool(path) as spool, told(name, remote.place.storage), remote.open() as stream:
        shutil.copyfileobj(stream, spool, _BLOCK)
    file = _ready(replace(_known(name, path, dialect), path=path), dialect, folder)
    return replace(file, remote=remote)


def _known(name: str, path: str, dialect: Dialect) -> File:
    """Return a file with what its name and its first bytes say of its kind."""
    stamp = _stamp(path, name)
    if not stamp[0]:
        raise DataError(f"{name} is empty (0 bytes)")
    with unpacked(path, "", name=name) as stream:
        announced = magic(stream.read(16))
    ending = Path(name).suffix.lower()
    packing = PACKINGS.get(ending, "")
    by_name = SUFFIXES.get((Path(name).with_suffix("") if packing else Path(name)).suffix.lower())
    if dialect.format is not None or by_name is None:
        packing = str(announced) if announced in PACKINGS.values() else packing
    kind = dialect.format or by_name or _guess(path, announced, packing, name=name)
    file = File(
        name=shown_name(name), path=os.path.realpath(path), kind=kind, packing=packing, stamp=stamp
    )
    _refuse_disguise(file, announced)
    return file


def _stamp(path: str, name: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        try:
            neighbours = os.listdir(os.path.dirname(path) or ".")
        except OSError:
            neighbours = []
        # The ending is alike in most names, so that half of a short one may be right by chance.
        close = get_close_matches(os.path.basename(path), neighbours, n=1, cutoff=0.75)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no file {masked(name)!r}{meant}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{masked(name)!r} cannot be read: {reason}") from None
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"{name} is a folder, where a file must be")
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"{name} is not a regular file; hand a stream over as '-'")
    if not os.access(path, os.R_OK):
        raise DataError(f"{name} cannot be read: permission denied")
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def shown_name(path: str) -> str:
    r"""Return a path as text that can be written anywhere; not all bytes of one are UTF-8.

    Examples
    --------
    >>> print(shown_name("ok\udcff.csv"))
    ok\xff.csv
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _guess(path: str, announced: str | None, packing: str, *, name: str) -> str:
    """Return the kind of a file whose name does not say it."""
    if announced in _BINARY:
        return str(announced)
    with unpacked(path, packing, name=name) as stream:
        head = stream.read(_BLOCK)
    return "jsonl" if head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{" else "csv"


def _refuse_disguise(file: File, announced: str | None) -> None:
    """Refuse a file that is not what its name says."""
    expected = file.packing or (file.kind if file.kind in _BINARY else None)
    if file.kind in _BINARY and file.packing:
        raise DataError(
            f"{file.name}: {_BINARY[file.kind]} files are packed inside; unpack this one first"
        )
    if announced == expected:
        return
    if expected is not None:
        raise DataError(
            f"{file.name} should be {_article(expected)} {expected} file but its first bytes say "
            f"{announced or 'that it is not'}; is it complete, and does it have the right name?"
        )
    hint = {
        "parquet": f"name it .parquet or say {param('format=', 'parquet')}",
        "arrow": f"name it .arrow or say {param('format=', 'arrow')}",
        "gzip": "name it .gz",
        "zstd": "name it .zst",
    }.get(str(announced), "save it as CSV or Parquet first")
    raise DataError(f"{file.name} is really {_article(announced)} {announced} file; {hint}")


def _article(kind: str | None) -> str:
    return "an" if kind in ("arrow", "ORC") else "a"


def _ready(file: File, dialect: Dialect, folder: str) -> File:
    """Return a file that the engine can read: in UTF-8 and with a plain name."""
    if file.kind not in _BINARY:
        with file.open() as stream:
            head = stream.read(4)
        marked = order_mark(head)
        if marked and dialect.is_utf8:
            raise DataError(
                f"{file.name} is not in UTF-8; its first bytes say "
                f"{param('dialect=', {'encoding': marked})}"
            )
        if not dialect.is_utf8 or (file.kind == "jsonl" and head.startswith(codecs.BOM_UTF8)):
            return _transcoded(file, dialect, folder)
    if _PLAIN.fullmatch(file.path) and file.path.isascii():
        return file
    link = os.path.join(folder, uuid4().hex)
    try:
        # The engine wants names in UTF-8, also of what a symbolic link leads to.
        (os.symlink if shown_name(file.path) == file.path else os.link)(file.path, link)
        return replace(file, path=link)
    except OSError:  # where links need a privilege, or the same disk
        with Spool(link) as spool, unpacked(file.path, "", name=file.name) as stream:
            shutil.copyfileobj(stream, spool, _BLOCK)
        return replace(file, path=link, stamp=())


def _transcoded(file: File, dialect: Dialect, folder: str) -> File:
    path = os.path.join(folder, uuid4().hex)
    encoding = "utf-8-sig" if dialect.is_utf8 else dialect.encoding
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with Spool(path) as spool, file.open() as stream:
            while block := stream.read(_BLOCK):
                spool.write(decoder.decode(block))
            spool.write(decoder.decode(b"", final=True))
    except UnicodeError as error:
        raise DataError(f"{file.name} is not in {dialect.encoding}: {error}") from error
    return replace(file, path=path, packing="", stamp=())


def _spooled(source: Any, dialect: Dialect, folder: str) -> File:
    """Write a stream to a file, because it can be read only once."""
    stream, name = source, "the stream"
    if source == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise UsageError("standard input is closed, so '-' has nothing to read; name a file")
        stream, name = getattr(sys.stdin, "buffer", sys.stdin), "standard input"
    path = os.path.join(folder, uuid4().hex)
    with Spool(path) as spool:
        shutil.copyfileobj(stream, spool, _BLOCK)
    return _ready(replace(_known(name, path, dialect), path=path), dialect, folder)


def paths_of(files: Sequence[File]) -> list[str]:
    """Return every path that the engine must reach."""
    here = {file.path for file in files if not file.streamed}
    return sorted(here | {os.path.realpath(path) for path in here})


def known_files(source: str, dialect: Dialect) -> list[File]:
    """Return the files of a path or a pattern, which the engine cannot always read as they are."""
    return [file for path in _paths(source) for file in _of_path(path, dialect)]


def copied_file(name: str, path: str, below: str, dialect: Dialect) -> File:
    """Return a file that was copied here; ``below`` is its path in the folder that was named."""
    return replace(_known(name, path, dialect), path=path, partition=_partition(below, ""))


def ready_files(files: Sequence[File], dialect: Dialect, folder: str) -> list[File]:
    """Return files that the engine can read."""
    return [_ready(file, dialect, folder) for file in files]
