"""Parquet, Arrow and Feather, and what every reader hands on."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from itertools import groupby
from typing import Any, Literal, NamedTuple

from outperform.errors import DataError, OutperformError, UsageError, require
from outperform.findings import Finding
from outperform.io.engine import Engine, EngineFault, text
from outperform.io.formats import Dialect
from outperform.io.paths import File

_IDS = {"id", "uid", "uuid", "guid"}
_OWNERS = {
    *("account", "article", "author", "case", "chat", "cluster", "conversation", "customer"),
    *("dialog", "dialogue", "doc", "document", "group", "household", "item", "participant"),
    *("passage", "patient", "person", "prompt", "query", "question", "respondent", "session"),
    *("speaker", "student", "subject", "template", "thread", "user", "writer"),
}
_CATEGORIES = {
    *("category", "class", "country", "dataset", "fold", "label", "lang", "language", "model"),
    *("run", "seed", "split", "task", "type"),
}


def names_an_owner(name: str) -> bool:
    """Return whether a column is called like the id of something that items belong to.

    Examples
    --------
    >>> [one for one in ("user_id", "docId", "authors", "Author", "valid", "class_id", "id")
    ...  if names_an_owner(one)]
    ['user_id', 'docId', 'Author', 'id']
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.findall(r"[a-z0-9]+", apart.lower())
    if not words:
        return False
    *before, last = words
    if last in _IDS:
        return not before or before[-1] not in _CATEGORIES
    return last in _OWNERS or (last.endswith("id") and last[:-2] in _OWNERS)


Family = Literal["text", "whole numbers", "booleans", "fractions", "json", "other"]
_SHOWN = 20  # columns named in a message
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_FAMILIES: dict[str, Family] = {
    "VARCHAR": "text",
    "BOOLEAN": "booleans",
    "FLOAT": "fractions",
    "DOUBLE": "fractions",
    **{name: "whole numbers" for name in _WHOLE | {f"U{one}" for one in _WHOLE}},
}


class Column(NamedTuple):
    """One column: its expression in SQL, what it holds, and what the engine calls that."""

    expression: str
    family: Family
    type: str = "VARCHAR"

    @property
    def as_text(self) -> str:
        """The expression of its values as plain text, for ids and conditions."""
        if self.family == "json":
            return f"(CAST({self.expression} AS JSON) ->> '$')"
        return self.expression if self.family == "text" else f"CAST({self.expression} AS VARCHAR)"

    def without(self, texts: Sequence[str]) -> Column:
        """Return the column with NULL for some texts."""
        if not texts or self.family not in ("text", "json"):
            return self
        known = ", ".join(map(text, texts))
        test = f"{self.as_text} IN ({known})"
        if self.family == "json":  # the text "1" is not the number
            test = f"{self.expression} LIKE '\"%' AND {test}"
        return self._replace(expression=f"(CASE WHEN {test} THEN NULL ELSE {self.expression} END)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """One file as the engine sees it; its columns go by place, never by name."""

    file: File
    relation: str
    parameters: tuple[Any, ...]
    columns: dict[str, Column]
    findings: tuple[Finding, ...] = field(default=())
    hint: str = ""
    merges: bool = False  # whether the first parameter, a path, may be several of them
    missing: tuple[str, ...] = ()  # the texts that are missing values
    lines: Callable[[Sequence[int]], list[int]] | None = field(default=None, compare=False)

    @property
    def partition(self) -> dict[str, str | None]:
        """The columns that the folders tell; what the file itself has comes first."""
        return {name: one for name, one in self.file.partition if name not in self.columns}

    def column(self, name: str) -> Column:
        """Return a column in which missing values are NULL, or say which ones there are."""
        return self.raw_column(name).without(self.missing)

    def raw_column(self, name: str) -> Column:
        """Return a column as it is written, for conditions."""
        told = self.partition
        if name in told:
            return Column(f"p{list(told).index(name)}", "text")
        if name not in self.columns:
            known = (*self.columns, *told)
            raise UsageError(no_column(name, known, self.file.name, self.hint))
        return self.columns[name]

    @property
    def is_text(self) -> bool:
        """Whether the file knows nothing but text, so that an empty field is a missing value."""
        return self.file.kind in ("csv", "tsv")

    def reaching(self, names: Collection[str]) -> tuple[str, tuple[Any, ...]]:
        """Return the relation that has these columns, and its parameters."""
        told = {f"p{place}": one for place, one in enumerate(self.partition.items())}
        used = {place: value for place, (name, value) in told.items() if name in names}
        if not used:
            return self.relation, self.parameters
        constants = ", ".join(f"CAST(? AS VARCHAR) AS {place}" for place in used)
        return (
            f"(SELECT *, {constants} FROM {self.relation}) AS u",
            (*used.values(), *self.parameters),
        )


class Reader(NamedTuple):
    """One kind of file: the quick way to read it, and the slow one that says what is wrong."""

    scan: Callable[[File, Sequence[str], Dialect, Engine], Scan]
    rescue: Callable[[File, Sequence[str], Dialect, Engine, str], Scan]
    scan_all: Callable[[Sequence[File], Sequence[str], Dialect, Engine], list[Scan]] | None = None


def merged(scans: Iterable[Scan], names: Collection[str]) -> list[Scan]:
    """Put files together that differ only in their paths, as far as these columns go.

    One statement over a list of files is quicker than one with a part for each.
    """
    groups: dict[object, list[Scan]] = {}
    for place, scan in enumerate(scans):
        told = tuple(value for name, value in scan.partition.items() if name in names)
        alike = (scan.relation, repr(scan.parameters[1:]), tuple(scan.columns.items()), told)
        groups.setdefault(alike if scan.merges else place, []).append(scan)
    return [
        group[0]
        if len(group) == 1
        else replace(
            group[0],
            parameters=([one.parameters[0] for one in group], *group[0].parameters[1:]),
        )
        for group in groups.values()
    ]


def no_column(name: str, known: Sequence[str], file: str, hint: str = "") -> str:
    """Return the sentence for a column that is not there.

    Examples
    --------
    >>> no_column("lable", ["id", "label"], "preds.csv")
    "no column 'lable' in preds.csv; did you mean 'label'? Columns: 'id', 'label'"
    """
    by_lower = {one.lower(): one for one in known}
    close = get_close_matches(str(name).lower(), by_lower, n=1)
    guess = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    return f"no column {name!r} in {file}{guess} Columns: {listed(known)}{'' if close else hint}"


def listed(names: Sequence[str]) -> str:
    """Return the names of columns for a message, the first of them if there are many."""
    shown = ", ".join(repr(one[:60]) for one in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def refuse_twins(names: Sequence[str], file: str, hint: str = "") -> None:
    """Refuse column names that occur twice."""
    twin, number = next(((one, n) for one, n in Counter(names).items() if n > 1), (None, 0))
    if number:
        raise DataError(
            f"{file} has {number} columns named {twin!r}; "
            f"every column needs a name of its own{hint}"
        )


def refuse_unreadable(scan: Scan, engine: Engine, message: Callable[[File, str], str]) -> None:
    """Read all values of one file, and refuse it if that fails."""
    # Without the hash the engine may answer from the statistics of the file.
    values = ", ".join(f"bit_xor(hash({one.expression}))" for one in scan.columns.values())
    try:
        engine.fetch(f"SELECT {values} FROM {scan.relation}", scan.parameters)
    except EngineFault as fault:
        raise DataError(message(scan.file, str(fault))) from fault


def places(count: int) -> str:
    """Return the names by which the engine knows the columns of a file.

    Examples
    --------
    >>> places(3)
    'c0, c1, c2'
    """
    return ", ".join(f"c{place}" for place in range(count))


def typed(place: str, type_: str) -> Column:
    """Return a column that has a type of the engine's.

    Examples
    --------
    >>> typed("c0", "BIGINT").family, typed("c1", "DATE").family
    ('whole numbers', 'other')
    """
    if type_.startswith("ENUM"):
        return Column(f"CAST({place} AS VARCHAR)", "text")
    if type_.startswith("DECIMAL"):
        return Column(f"CAST({place} AS DOUBLE)", "fractions", "DOUBLE")
    return Column(place, _FAMILIES.get(type_, "other"), type_)


_MANY = 1_000  # columns; the engine's time to tell all types grows with the square of their number
_SCHEMA = (
    "SELECT file_name, name, num_children, type, type_length, repetition_type, converted_type, "
    "scale, precision, logical_type FROM parquet_schema(?)"
)


def scan_parquet(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the footer."""
    try:
        nodes = engine.fetch(_SCHEMA, [file.path])
        names = _top_level([(row[1], row[2]) for row in nodes])
        types = _types(file, names, dialect, engine)
    except EngineFault as fault:
        raise DataError(_damaged(file, str(fault))) from fault
    return _scan(file, names, types)


def scan_all(
    files: Sequence[File], wanted: Sequence[str], dialect: Dialect, engine: Engine
) -> list[Scan]:
    """Take names and types from all footers at once; files of one schema have the same types."""
    paths = list(dict.fromkeys(file.path for file in files))
    try:
        rows = engine.fetch(_SCHEMA, [paths])
        schemas = {
            path: tuple(row[1:] for row in nodes)
            for path, nodes in groupby(rows, key=lambda row: str(row[0]))
        }
        known: dict[object, tuple[list[str], list[str]]] = {}
        for file in files:
            if schemas[file.path] not in known:
                names = _top_level([row[:2] for row in schemas[file.path]])
                known[schemas[file.path]] = names, _types(file, names, dialect, engine)
    except (EngineFault, KeyError):
        return [scan_parquet(file, wanted, dialect, engine) for file in files]
    return [_scan(file, *known[schemas[file.path]]) for file in files]


def _types(file: File, names: Sequence[str], dialect: Dialect, engine: Engine) -> list[str]:
    """Return the types of the columns; where they are many, of those that somebody may look at."""
    relation = "read_parquet(?, hive_partitioning = false)"
    if dialect.columns is None or len(names) <= _MANY:
        return [str(row[1]) for row in engine.fetch(f"DESCRIBE FROM {relation}", [file.path])]
    asked = {*dialect.columns}
    looked = [place for place, one in enumerate(names) if one in asked or names_an_owner(one)]
    types = ["UNKNOWN"] * len(names)
    if looked:
        chosen = ", ".join(f"c{place}" for place in looked)
        query = f"DESCRIBE SELECT {chosen} FROM {relation} AS t({places(len(names))})"
        for place, row in zip(looked, engine.fetch(query, [file.path]), strict=True):
            types[place] = str(row[1])
    return types


def _scan(file: File, names: Sequence[str], types: Sequence[str]) -> Scan:
    refuse_twins(names, file.name)
    return Scan(
        file=file,
        relation=f"read_parquet(?, hive_partitioning = false) AS t({places(len(names))})",
        parameters=(file.path,),
        columns={
            name: typed(f"c{place}", type_)
            for place, (name, type_) in enumerate(zip(names, types, strict=True))
        },
        merges=True,
    )


def rescue_parquet(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Say that the file is damaged, if it is this one."""
    found = scan_parquet(file, wanted, dialect, engine)
    refuse_unreadable(found, engine, _damaged)
    return found


def _damaged(file: File, fault: str) -> str:
    reason = fault.replace(file.path, file.name)
    return f"{file.name} cannot be read as Parquet; it may be damaged or cut off: {reason}"


def _top_level(nodes: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return the names of the columns from a schema written as a walk through a tree.

    Examples
    --------
    >>> _top_level([("schema", 2), ("tags", 1), ("list", 1), ("element", None), ("id", None)])
    ['tags', 'id']
    """
    names: list[str] = []
    to_come: list[int] = []
    for name, children in nodes:
        if len(to_come) == 1:
            names.append(name)
        if to_come:
            to_come[-1] -= 1
        to_come.append(children or 0)
        while len(to_come) > 1 and not to_come[-1]:
            to_come.pop()
    return names


# From the places of columns to batches of these columns.
ReadBatches = Callable[[Sequence[int]], Iterator[Any]]


class Batches:
    """What the engine asks for batches, as often as it counts; they hold some columns only."""

    def __init__(self, schema: Any, columns: Sequence[int], read: ReadBatches) -> None:
        self._columns = list(columns)
        self._schema = pyarrow().schema([schema.field(place) for place in self._columns])
        self._read = read

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pyarrow().RecordBatchReader.from_batches(self._schema, self._checked())
        stream: object = reader.__arrow_c_stream__(requested_schema)
        return stream

    def _checked(self) -> Iterator[Any]:
        for batch in self._read(self._columns):
            # The engine trusts offsets and text, and would read beyond the end.
            batch.validate(full=True)
            yield batch


def pyarrow() -> Any:
    """Return pyarrow, or say which extra brings it."""
    return require("pyarrow", extra="arrow", purpose="reading Arrow files")


def scan_batches(
    file: File,
    schema: Any,
    read: ReadBatches,
    dialect: Dialect,
    engine: Engine,
) -> Scan:
    """Return a scan of the columns that are asked for; the others are only known by name."""
    names = list(schema.names)
    refuse_twins(names, file.name)
    asked = [
        place
        for place, name in enumerate(names)
        if dialect.columns is None or name in dialect.columns
    ]
    known = _known(schema, asked, read, engine)
    columns = {name: _unreachable(str(schema.field(name).type)) for name in names}
    relation = "(SELECT NULL) AS t(c0)"
    if known:
        table = engine.register(Batches(schema, known, read))
        types = engine.fetch(f"DESCRIBE SELECT * FROM {table}")
        relation = f"{table} AS t({places(len(known))})"
        for number, (place, row) in enumerate(zip(known, types, strict=True)):
            columns[names[place]] = typed(f"c{number}", str(row[1]))
    return Scan(file=file, relation=relation, parameters=(), columns=columns)


def refuse_broken(file: File, schema: Any, read: ReadBatches, scan: Scan, what: str) -> None:
    """Read everything once more outside of the engine, so that the fault of the file is told."""
    reached = [
        place
        for place, name in enumerate(schema.names)
        if not scan.columns[name].expression.startswith("error(")
    ]
    with damage(file, what):
        for batch in read(reached):
            batch.validate(full=True)


@contextmanager
def damage(file: File, what: str) -> Iterator[None]:
    """Turn whatever pyarrow raises over a file into one sentence."""
    try:
        yield
    except OutperformError:
        raise
    except Exception as error:  # pyarrow has a dozen, and passes on those of the system
        line = str(error).strip().partition("\n")[0].replace(file.path, file.name)
        raise DataError(
            f"{file.name} cannot be read as {what}; it may be damaged or cut off: "
            f"{line or type(error).__name__}"
        ) from error


def _known(schema: object, asked: Sequence[int], read: ReadBatches, engine: Engine) -> list[int]:
    """Return the columns whose type the engine knows."""
    found = list(asked)
    try:
        if found:
            engine.register(Batches(schema, found, read))
        return found
    except EngineFault:
        return (
            []
            if len(found) == 1
            else [place for one in found for place in _known(schema, [one], read, engine)]
        )


def _unreachable(type_: str) -> Column:
    return Column(f"error({text(f'the engine knows no {type_}')})", "other", type_)


_MARK = b"ARROW1"
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream


def scan_arrow(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the schema and let the engine ask for batches."""
    _refuse_cut(file)
    return scan_batches(file, _schema(file), partial(_batches, file), dialect, engine)


def rescue_arrow(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Say that the file is damaged, if it is this one."""
    found = scan_arrow(file, wanted, dialect, engine)
    refuse_broken(file, _schema(file), partial(_batches, file), found, "Arrow")
    return found


def _schema(file: File) -> Any:
    with damage(file, "Arrow"), closing(pyarrow().OSFile(file.path)) as stream:
        schema = _opened(file, stream, None).schema
        list(schema.names)  # pyarrow decodes them only now
        return schema


def _batches(file: File, columns: Sequence[int]) -> Iterator[Any]:
    options = pyarrow().ipc.IpcReadOptions(included_fields=list(columns))
    with closing(pyarrow().OSFile(file.path)) as stream:
        reader = _opened(file, stream, options)
        if _is_stream(file):
            yield from reader
        else:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)


def _opened(file: File, stream: object, options: object) -> Any:
    # Not mapped into memory: a file that gets shorter meanwhile must not end the process.
    ipc = pyarrow().ipc
    opener = ipc.open_stream if _is_stream(file) else ipc.open_file
    return opener(stream, options=options)


def _is_stream(file: File) -> bool:
    with file.open() as stream:
        return stream.read(len(_MARK)) != _MARK


def _refuse_cut(file: File) -> None:
    """Refuse a stream without its end, which pyarrow would take for a shorter one."""
    if not _is_stream(file):
        return
    with file.open() as stream:
        stream.seek(-len(_END), os.SEEK_END)
        if stream.read() != _END:
            raise DataError(f"{file.name} has no end; it is cut off, or still being written")
