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
    found = [
        Found(path, _partition(os.path.relpath(path, folder), folder))
        for path in _walk(folder, seen=())
    ]
    if not found:
        raise DataError(f"the folder {folder} has no files")
    _refuse_strange(found, folder, endings, packings)
    return found


def _refuse_strange(
    found: list[Found], folder: str, endings: Collection[str] | None, packings: Collection[str]
) -> None:
    """Refuse files of a folder that do not say what they are, and folders that differ."""
    for path, _ in found:
        if endings is not None and _ending(path, packings) not in endings:
            raise DataError(
                f"{path} does not say by its name what kind of file it is, so the folder {folder} "
                f"cannot be read; name those that count by a pattern, e.g. "
                f"{os.path.join(folder, '*.csv')!r}, or give their format"
            )
    _refuse_other_columns(found)


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
        return [file for one in source for file in find_files(one, dialect, folder=folder)]
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
    found: list[File] = []
    for path in _paths(os.fspath(source)):
        kind = lake_here(path)
        lake = [] if kind is None else [File(name=path, path="", kind=kind)]
        found += lake or _of_path(path, dialect)
    return [file if file.streamed else _ready(file, dialect, folder) for file in found]


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
        found = sorted(glob.glob(source, recursive=True))
        if not found:
            raise UsageError(f"no file matches {masked(source)!r}")
        refuse_inside_lake(found)
        return found
    if not source.endswith(METADATA):
        refuse_inside_lake([source])
    return [source]


def _in_folder(folder: str, dialect: Dialect) -> list[File]:
    """Return the files of a folder and of the folders in it, which must be of one kind."""
    kinds = None if dialect.format else {*SUFFIXES}
    found = [
        replace(_known(one.path, one.path, dialect), partition=one.partition)
        for one in files_in(folder, endings=kinds, packings={*PACKINGS})
    ]
    _refuse_kinds(found, folder)
    return found


def _refuse_kinds(found: list[File], folder: str) -> None:
    odd = next((one for one in found if one.kind != found[0].kind), None)
    if odd is not None:
        raise DataError(
            f"the files of a folder must be of one kind, but {found[0].name} is {found[0].kind} "
            f"and {odd.name} is {odd.kind}; name those that count by a pattern, e.g. "
            f"{os.path.join(folder, '**', '*' + Path(odd.name).suffix)!r}"
        )


def _from_store(address: str, dialect: Dialect, folder: str) -> list[File]:
    """Return files of a store: those of Parquet stay there, all others are copied first."""
    place = reached(address, dialect.storage)
    kind = lake_at(place)
    if kind is not None:
        return [File(name=place.address, path="", kind=kind)]
    found = found_at(place)
    below = [
        Found(one.address, _partition(one.below.replace("/", os.sep), address))
        for one in found
        if one.below
    ]
    if below:
        _refuse_strange(below, address, None if dialect.format else {*SUFFIXES}, {*PACKINGS})
    partitions = dict(below)
    files = [
        replace(_stored(one, dialect, folder), partition=partitions.get(one.address, ()))
        for one in found
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
        while block := stream.read(_BLOCK):
            spool.write(block)
    file = _ready(replace(_known(name, path, dialect), path=path), dialect, folder)
    return replace(file, remote=remote)


def _known(name: str, path: str, dialect: Dialect) -> File:
    """Return a file with what its name and its first bytes say of its kind."""
    stamp = _stamp(path, name)
    if not stamp[0]:
        raise DataError(f"{name} is empty (0 bytes)")
    with unpacked(path, "", name=name) as stream:
        found = magic(stream.read(16))
    ending = Path(name).suffix.lower()
    packing = PACKINGS.get(ending, "")
    told = SUFFIXES.get((Path(name).with_suffix("") if packing else Path(name)).suffix.lower())
    if dialect.format is not None or told is None:
        packing = str(found) if found in PACKINGS.values() else packing
    kind = dialect.format or told or _guess(path, found, packing, name=name)
    file = File(
        name=shown_name(name), path=os.path.realpath(path), kind=kind, packing=packing, stamp=stamp
    )
    _refuse_disguise(file, found)
    return file


def _stamp(path: str, name: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise UsageError(_no_file(path, name)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{masked(name)!r} cannot be read: {reason}") from None
    if stat.S_ISDIR(found.st_mode):
        raise DataError(f"{name} is a folder, where a file must be")
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{name} is not a regular file; hand a stream over as '-'")
    if not os.access(path, os.R_OK):
        raise DataError(f"{name} cannot be read: permission denied")
    return found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns


def _no_file(path: str, name: str) -> str:
    try:
        beside = os.listdir(os.path.dirname(path) or ".")
    except OSError:
        beside = []
    # The ending is alike in most names, so that half of a short one may be right by chance.
    close = get_close_matches(os.path.basename(path), beside, n=1, cutoff=0.75)
    return f"no file {masked(name)!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def shown_name(path: str) -> str:
    r"""Return a path as text that can be written anywhere; not all bytes of one are UTF-8.

    Examples
    --------
    >>> print(shown_name("ok\udcff.csv"))
    ok\xff.csv
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_text(path: str) -> bool:
    return shown_name(path) == path


def _guess(path: str, found: str | None, packing: str, *, name: str) -> str:
    """Return the kind of a file whose name does not say it."""
    if found in _BINARY:
        return str(found)
    with unpacked(path, packing, name=name) as stream:
        head = stream.read(_BLOCK)
    return "jsonl" if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else "csv"


def _refuse_disguise(file: File, found: str | None) -> None:
    """Refuse a file that is not what its name says."""
    expected = file.packing or (file.kind if file.kind in _BINARY else None)
    if file.kind in _BINARY and file.packing:
        raise DataError(
            f"{file.name}: {_BINARY[file.kind]} files are packed inside; unpack this one first"
        )
    if found == expected:
        return
    if expected is not None:
        raise DataError(
            f"{file.name} should be {_article(expected)} {expected} file but its first bytes say "
            f"{found or 'that it is not'}; is it complete, and does it have the right name?"
        )
    hint = {
        "parquet": f"name it .parquet or say {param('format=', 'parquet')}",
        "arrow": f"name it .arrow or say {param('format=', 'arrow')}",
        "gzip": "name it .gz",
        "zstd": "name it .zst",
    }.get(str(found), "save it as CSV or Parquet first")
    raise DataError(f"{file.name} is really {_article(found)} {found} file; {hint}")


def _article(kind: str | None) -> str:
    return "an" if kind in ("arrow", "ORC") else "a"


def _ready(file: File, dialect: Dialect, folder: str) -> File:
    """Return a file that the engine can read: in UTF-8 and with a plain name."""
    if file.kind not in _BINARY:
        _refuse_order_mark(file, dialect)
        if not dialect.is_utf8 or (file.kind == "jsonl" and _has_mark(file)):
            return _transcoded(file, dialect, folder)
    if _PLAIN.fullmatch(file.path) and file.path.isascii():
        return file
    link = os.path.join(folder, uuid4().hex)
    try:
        # The engine wants names in UTF-8, also of what a symbolic link leads to.
        (os.symlink if _is_text(file.path) else os.link)(file.path, link)
        return replace(file, path=link)
    except OSError:  # where links need a privilege, or the same disk
        with Spool(link) as spool, unpacked(file.path, "", name=file.name) as stream:
            shutil.copyfileobj(stream, spool, _BLOCK)
        return replace(file, path=link, stamp=())


def _refuse_order_mark(file: File, dialect: Dialect) -> None:
    with file.open() as stream:
        marked = order_mark(stream.read(4))
    if marked and dialect.is_utf8:
        raise DataError(
            f"{file.name} is not in UTF-8; its first bytes say "
            f"{param('dialect=', {'encoding': marked})}"
        )


def _has_mark(file: File) -> bool:
    with file.open() as stream:
        return stream.read(3) == b"\xef\xbb\xbf"


def _transcoded(file: File, dialect: Dialect, folder: str) -> File:
    path = os.path.join(folder, uuid4().hex)
    encoding = "utf-8-sig" if dialect.is_utf8 else dialect.encoding
    try:
        with Spool(path) as spool, file.open() as stream:
            for piece in _decoded(stream, encoding):
                spool.write(piece)
    except UnicodeError as error:
        raise DataError(f"{file.name} is not in {dialect.encoding}: {error}") from error
    return replace(file, path=path, packing="", stamp=())


def _decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    while block := stream.read(_BLOCK):
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _spooled(source: Any, dialect: Dialect, folder: str) -> File:
    """Write a stream to a file, because it can be read only once."""
    stream, name = (
        (_standard_input(), "standard input") if source == "-" else (source, "the stream")
    )
    path = os.path.join(folder, uuid4().hex)
    with Spool(path) as spool:
        while block := stream.read(_BLOCK):
            spool.write(block)
    return _ready(replace(_known(name, path, dialect), path=path), dialect, folder)


def _standard_input() -> Any:
    if sys.stdin is None or sys.stdin.closed:
        raise UsageError("standard input is closed, so '-' has nothing to read; name a file")
    return getattr(sys.stdin, "buffer", sys.stdin)


def paths_of(files: Sequence[File]) -> list[str]:
    """Return every path that the engine must reach."""
    here = [file.path for file in files if not file.streamed]
    return sorted({path for one in here for path in (one, os.path.realpath(one))})


def known_files(source: str, dialect: Dialect) -> list[File]:
    """Return the files of a path or a pattern, which the engine cannot always read as they are."""
    return [file for path in _paths(source) for file in _of_path(path, dialect)]


def _of_path(path: str, dialect: Dialect) -> list[File]:
    return _in_folder(path, dialect) if os.path.isdir(path) else [_known(path, path, dialect)]


def copied_file(name: str, path: str, below: str, dialect: Dialect) -> File:
    """Return a file that was copied here; ``below`` is its path in the folder that was named."""
    return replace(_known(name, path, dialect), path=path, partition=_partition(below, ""))


def ready_files(files: Sequence[File], dialect: Dialect, folder: str) -> list[File]:
    """Return files that the engine can read."""
    return [_ready(file, dialect, folder) for file in files]
