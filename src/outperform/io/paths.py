"""Find the files of a source and prepare them for the engine."""

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
    store_errors,
)

# Columns and their values from folder names, in the order of the folders.
Partition = tuple[tuple[str, str | None], ...]
_MISSING = "__HIVE_DEFAULT_PARTITION__"


class Found(NamedTuple):
    """File in a folder, with the columns from the names of the folders above it."""

    path: str
    partition: Partition


def files_in(
    folder: str, *, endings: Collection[str] | None, packings: Collection[str]
) -> list[Found]:
    """Return the files of a folder and its subfolders, sorted by name.

    Names that begin with a dot or an underscore are skipped, because by convention they are not
    data. With ``endings``, every file must have one of these, perhaps followed by that of a
    compressed file.
    """
    files = [
        Found(path, _partition(os.path.relpath(path, folder), folder))
        for path in _walk(folder, ancestors=())
    ]
    if not files:
        raise DataError(f"the folder {folder} has no files")
    _refuse_strange(files, folder, endings, packings)
    return files


def _refuse_strange(
    files: list[Found], folder: str, endings: Collection[str] | None, packings: Collection[str]
) -> None:
    """Raise an error for unknown file types, and for folders with different column names."""
    for path, _ in files:
        stem, ending = os.path.splitext(path.lower())
        kind = os.path.splitext(stem)[1] if ending in packings else ending
        if endings is not None and kind not in endings:
            raise DataError(
                f"the name of {path} does not show what kind of file it is, so the folder {folder} "
                f"cannot be read; select files with a pattern, e.g. "
                f"{os.path.join(folder, '*.csv')!r}, or pass their format"
            )
    first = [name for name, _ in files[0].partition]
    for path, partition in files:
        names = [name for name, _ in partition]
        if names != first:
            raise DataError(
                f"all folders must name the same columns, but those of {files[0].path} are "
                f"{first} and those of {path} are {names}"
            )


def _walk(folder: str, ancestors: tuple[str, ...]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in ancestors:
        raise DataError(f"the folder {folder} contains itself, through a link")
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
            yield from _walk(path, (*ancestors, real))
        else:
            yield path


def _partition(path: str, folder: str) -> Partition:
    """Return the columns named by the folders of a path.

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
            f"every folder above {os.path.join(folder, path)} must name a different column"
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
# The engine would read other names as patterns, or not as names at all.
_PLAIN = re.compile(r"[\w./\\: +@,=~#%^&()!-]+")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Regular file: the name passed by the caller, and the path of its bytes."""

    name: str
    path: str
    kind: str
    packing: str = ""
    stamp: tuple[int, ...] = ()
    partition: Partition = ()
    remote: RemoteFile | None = None  # origin, if it is not on this machine

    @property
    def streamed(self) -> bool:
        """Whether its columns are streamed from a store, so there is no path."""
        return not self.path

    @property
    def size(self) -> int:
        """Size in bytes; 0 for a table with several files."""
        if self.remote is not None:
            return self.remote.size
        return os.path.getsize(self.path) if self.path else 0

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the unpacked bytes."""
        return unpacked(self.path, self.packing, name=self.name)

    def refuse_changes(self) -> None:
        """Raise an error if the file changed while it was read."""
        # The time of status changes is ignored, because creating a link here also changes it.
        if self.stamp and self.stamp[:3] != _stamp(self.path, self.name)[:3]:
            raise DataError(f"{self.name} changed while it was read; read it again")


def find_files(source: object, dialect: Dialect, *, folder: str) -> list[File]:
    """Return the files of a source: a path, a pattern, a stream, or a list of these."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise UsageError("a list of files must contain at least one")
        return [file for part in source for file in find_files(part, dialect, folder=folder)]
    if hasattr(source, "read") or (isinstance(source, str) and source == "-"):
        return [_spooled(source, dialect, folder)]
    if not isinstance(source, (str, os.PathLike)):
        raise UsageError(
            "a source must be a path, a pattern such as 'preds-*.parquet', '-', an open file, a "
            "list of these, or one frame; join or concatenate frames before reading them; "
            f"got {type(source).__name__}"
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
    """Return the name of a file without its folder and endings, for use as a model's name.

    Examples
    --------
    >>> stem("runs/bert.csv.gz")
    'bert'
    """
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        raise UsageError("a stream has no name; pass model names: {'gold': …, 'bert': …}")
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
    """Return a file, or the files of a folder and its subfolders, all of one type."""
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
    other = next((file for file in files if file.kind != files[0].kind), None)
    if other is not None:
        raise DataError(
            f"the files of a folder must be of one kind, but {files[0].name} is {files[0].kind} "
            f"and {other.name} is {other.kind}; select files with a pattern, e.g. "
            f"{os.path.join(folder, '**', '*' + Path(other.name).suffix)!r}"
        )


def _from_store(address: str, dialect: Dialect, folder: str) -> list[File]:
    """Return files of a store; Parquet files are read in place, all others are copied first."""
    location = reached(address, dialect.storage)
    kind = lake_at(location)
    if kind is not None:
        return [File(name=location.address, path="", kind=kind)]
    remotes = found_at(location)
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
    with Spool(path) as spool, store_errors(name, remote.location.storage), remote.open() as stream:
        shutil.copyfileobj(stream, spool, _BLOCK)
    file = _ready(replace(_known(name, path, dialect), path=path), dialect, folder)
    return replace(file, remote=remote)


def _known(name: str, path: str, dialect: Dialect) -> File:
    """Return a file with its type, from its name and first bytes."""
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
        # Most names have the same ending, so half of a short name may match by chance.
        close = get_close_matches(os.path.basename(path), neighbours, n=1, cutoff=0.75)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no file {masked(name)!r}{hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{masked(name)!r} cannot be read: {reason}") from None
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"{name} must be a file, but is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"{name} is not a regular file; pass a stream as '-'")
    if not os.access(path, os.R_OK):
        raise DataError(f"{name} cannot be read: permission denied")
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def shown_name(path: str) -> str:
    r"""Return a path as valid UTF-8 text, with all other bytes escaped.

    Examples
    --------
    >>> print(shown_name("ok\udcff.csv"))
    ok\xff.csv
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _guess(path: str, announced: str | None, packing: str, *, name: str) -> str:
    """Return the type of a file whose name does not show it."""
    if announced in _BINARY:
        return str(announced)
    with unpacked(path, packing, name=name) as stream:
        head = stream.read(_BLOCK)
    return "jsonl" if head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{" else "csv"


def _refuse_disguise(file: File, announced: str | None) -> None:
    """Raise an error if a file's content does not match its ending."""
    expected = file.packing or (file.kind if file.kind in _BINARY else None)
    if file.kind in _BINARY and file.packing:
        raise DataError(
            f"{file.name}: {_BINARY[file.kind]} files are compressed internally; unpack this one "
            "first"
        )
    if announced == expected:
        return
    if expected is not None:
        raise DataError(
            f"{file.name} should be {_article(expected)} {expected} file, but its first bytes "
            f"indicate {announced or 'something else'}; check that it is complete and correctly "
            "named"
        )
    hint = {
        "parquet": f"rename it to .parquet or pass {param('format=', 'parquet')}",
        "arrow": f"rename it to .arrow or pass {param('format=', 'arrow')}",
        "gzip": "rename it to .gz",
        "zstd": "rename it to .zst",
    }.get(str(announced), "save it as CSV or Parquet first")
    raise DataError(f"{file.name} is really {_article(announced)} {announced} file; {hint}")


def _article(kind: str | None) -> str:
    return "an" if kind in ("arrow", "ORC") else "a"


def _ready(file: File, dialect: Dialect, folder: str) -> File:
    """Return a file that the engine can read: UTF-8, with a plain name."""
    if file.kind not in _BINARY:
        with file.open() as stream:
            head = stream.read(4)
        detected = order_mark(head)
        if detected and dialect.is_utf8:
            raise DataError(
                f"{file.name} is not in UTF-8; its first bytes indicate "
                f"{param('dialect=', {'encoding': detected})}"
            )
        if not dialect.is_utf8 or (file.kind == "jsonl" and head.startswith(codecs.BOM_UTF8)):
            return _transcoded(file, dialect, folder)
    if _PLAIN.fullmatch(file.path) and file.path.isascii():
        return file
    link = os.path.join(folder, uuid4().hex)
    try:
        # The engine needs names in UTF-8, including the target of a symbolic link.
        (os.symlink if shown_name(file.path) == file.path else os.link)(file.path, link)
        return replace(file, path=link)
    except OSError:  # links may require a privilege, or the same disk
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
    """Copy a stream to a file, because it can be read only once."""
    stream, name = source, "the stream"
    if source == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise UsageError("standard input is closed, so '-' has nothing to read; pass a file")
        stream, name = getattr(sys.stdin, "buffer", sys.stdin), "standard input"
    path = os.path.join(folder, uuid4().hex)
    with Spool(path) as spool:
        shutil.copyfileobj(stream, spool, _BLOCK)
    return _ready(replace(_known(name, path, dialect), path=path), dialect, folder)


def paths_of(files: Sequence[File]) -> list[str]:
    """Return every path that the engine must be able to open."""
    paths = {file.path for file in files if not file.streamed}
    return sorted(paths | {os.path.realpath(path) for path in paths})


def known_files(source: str, dialect: Dialect) -> list[File]:
    """Return the files of a path or pattern; they may still need preparation for the engine."""
    return [file for path in _paths(source) for file in _of_path(path, dialect)]


def copied_file(name: str, path: str, below: str, dialect: Dialect) -> File:
    """Return a file that was copied here; ``below`` is its path in the source folder."""
    return replace(_known(name, path, dialect), path=path, partition=_partition(below, ""))


def ready_files(files: Sequence[File], dialect: Dialect, folder: str) -> list[File]:
    """Return the files in a form that the engine can read."""
    return [_ready(file, dialect, folder) for file in files]
