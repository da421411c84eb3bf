"""Parquet, Arrow and Feather, and the scans that every reader returns."""

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
    """Return whether a column name looks like the id of a group of items.

    Examples
    --------
    >>> [name for name in ("user_id", "docId", "authors", "Author", "valid", "class_id", "id")
    ...  if names_an_owner(name)]
    ['user_id', 'docId', 'Author', 'id']
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.findall(r"[a-z0-9]+", spaced.lower())
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
    **{name: "whole numbers" for name in _WHOLE | {f"U{name}" for name in _WHOLE}},
}


class Column(NamedTuple):
    """Column of a table: SQL expression, family of values, and the engine's type."""

    expression: str
    family: Family
    type: str = "VARCHAR"

    @property
    def as_text(self) -> str:
        """SQL expression for the values as plain text, for ids and conditions."""
        if self.family == "json":
            return f"(CAST({self.expression} AS JSON) ->> '$')"
        return self.expression if self.family == "text" else f"CAST({self.expression} AS VARCHAR)"

    def without(self, texts: Sequence[str]) -> Column:
        """Return the column with NULL in place of the given strings."""
        if not texts or self.family not in ("text", "json"):
            return self
        listed_texts = ", ".join(map(text, texts))
        test = f"{self.as_text} IN ({listed_texts})"
        if self.family == "json":  # distinguishes the text "1" from the number 1
            test = f"{self.expression} LIKE '\"%' AND {test}"
        return self._replace(expression=f"(CASE WHEN {test} THEN NULL ELSE {self.expression} END)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """File as the engine sees it; columns are addressed by position, never by name."""

    file: File
    relation: str
    parameters: tuple[Any, ...]
    columns: dict[str, Column]
    findings: tuple[Finding, ...] = field(default=())
    hint: str = ""
    merges: bool = False  # whether the first parameter, a path, may be a list of paths
    missing: tuple[str, ...] = ()  # strings that represent a missing value
    lines: Callable[[Sequence[int]], list[int]] | None = field(default=None, compare=False)

    @property
    def partition(self) -> dict[str, str | None]:
        """Columns from folder names, except those that the file itself has."""
        return {name: value for name, value in self.file.partition if name not in self.columns}

    def column(self, name: str) -> Column:
        """Return a column with missing values as NULL; an unknown name raises an error."""
        return self.raw_column(name).without(self.missing)

    def raw_column(self, name: str) -> Column:
        """Return a column as it is in the file, for conditions."""
        partition = self.partition
        if name in partition:
            return Column(f"p{list(partition).index(name)}", "text")
        if name not in self.columns:
            known = (*self.columns, *partition)
            raise UsageError(no_column(name, known, self.file.name, self.hint))
        return self.columns[name]

    @property
    def is_text(self) -> bool:
        """Whether all values are text, so that an empty field is a missing value."""
        return self.file.kind in ("csv", "tsv")

    def reaching(self, names: Collection[str]) -> tuple[str, tuple[Any, ...]]:
        """Return the relation that contains these columns, and its parameters."""
        partition = enumerate(self.partition.items())
        used = {f"p{index}": value for index, (name, value) in partition if name in names}
        if not used:
            return self.relation, self.parameters
        constants = ", ".join(f"CAST(? AS VARCHAR) AS {column}" for column in used)
        return (
            f"(SELECT *, {constants} FROM {self.relation}) AS u",
            (*used.values(), *self.parameters),
        )


class Reader(NamedTuple):
    """File type: a fast reader, and a slow reader that explains errors."""

    scan: Callable[[File, Sequence[str], Dialect, Engine], Scan]
    rescue: Callable[[File, Sequence[str], Dialect, Engine, str], Scan]
    scan_all: Callable[[Sequence[File], Sequence[str], Dialect, Engine], list[Scan]] | None = None


def merged(scans: Iterable[Scan], names: Collection[str]) -> list[Scan]:
    """Merge scans that differ only in their paths, considering these columns.

    A statement with a list of files is faster than a statement with one part per file.
    """
    groups: dict[object, list[Scan]] = {}
    for number, scan in enumerate(scans):
        folder_values = tuple(value for name, value in scan.partition.items() if name in names)
        key = (scan.relation, repr(scan.parameters[1:]), tuple(scan.columns.items()), folder_values)
        groups.setdefault(key if scan.merges else number, []).append(scan)
    return [
        group[0]
        if len(group) == 1
        else replace(
            group[0],
            parameters=([scan.parameters[0] for scan in group], *group[0].parameters[1:]),
        )
        for group in groups.values()
    ]


def no_column(name: str, known: Sequence[str], file: str, hint: str = "") -> str:
    """Return the message for an unknown column.

    Examples
    --------
    >>> no_column("lable", ["id", "label"], "preds.csv")
    "no column 'lable' in preds.csv; did you mean 'label'? Columns: 'id', 'label'"
    """
    by_lower = {column.lower(): column for column in known}
    close = get_close_matches(str(name).lower(), by_lower, n=1)
    guess = f"; did you mean {by_lower[close[0]]!r}?" if close else "."
    return f"no column {name!r} in {file}{guess} Columns: {listed(known)}{'' if close else hint}"


def listed(names: Sequence[str]) -> str:
    """Return column names for a message, shortened if there are many."""
    text = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
    return text + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def refuse_twins(names: Sequence[str], file: str, hint: str = "") -> None:
    """Raise an error if a column name occurs twice."""
    duplicate, number = next(
        ((name, count) for name, count in Counter(names).items() if count > 1), (None, 0)
    )
    if number:
        raise DataError(
            f"{file} has {number} columns named {duplicate!r}; column names must be unique{hint}"
        )


def refuse_unreadable(scan: Scan, engine: Engine, message: Callable[[File, str], str]) -> None:
    """Read all values of one file, and raise an error if that fails."""
    # Without the hash, the engine may answer from the file's statistics.
    values = ", ".join(f"bit_xor(hash({column.expression}))" for column in scan.columns.values())
    try:
        engine.fetch(f"SELECT {values} FROM {scan.relation}", scan.parameters)
    except EngineFault as fault:
        raise DataError(message(scan.file, str(fault))) from fault


def positional_names(count: int) -> str:
    """Return the engine's names for the columns of a file.

    Examples
    --------
    >>> positional_names(3)
    'c0, c1, c2'
    """
    return ", ".join(f"c{index}" for index in range(count))


def typed(expression: str, type_: str) -> Column:
    """Return a column given its type in the engine.

    Examples
    --------
    >>> typed("c0", "BIGINT").family, typed("c1", "DATE").family
    ('whole numbers', 'other')
    """
    if type_.startswith("ENUM"):
        return Column(f"CAST({expression} AS VARCHAR)", "text")
    if type_.startswith("DECIMAL"):
        return Column(f"CAST({expression} AS DOUBLE)", "fractions", "DOUBLE")
    return Column(expression, _FAMILIES.get(type_, "other"), type_)


_MANY = 1_000  # columns; the engine's time to report all types grows quadratically
_SCHEMA = (
    "SELECT file_name, name, num_children, type, type_length, repetition_type, converted_type, "
    "scale, precision, logical_type FROM parquet_schema(?)"
)


def scan_parquet(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Read names and types from the footer."""
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
    """Read names and types from all footers at once; files with the same schema share types."""
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
    """Return the types of the columns; if there are many, only of those that may be used."""
    relation = "read_parquet(?, hive_partitioning = false)"
    if dialect.columns is None or len(names) <= _MANY:
        return [str(row[1]) for row in engine.fetch(f"DESCRIBE FROM {relation}", [file.path])]
    requested = {*dialect.columns}
    indices = [
        index for index, name in enumerate(names) if name in requested or names_an_owner(name)
    ]
    types = ["UNKNOWN"] * len(names)
    if indices:
        columns = ", ".join(f"c{index}" for index in indices)
        query = f"DESCRIBE SELECT {columns} FROM {relation} AS t({positional_names(len(names))})"
        for index, row in zip(indices, engine.fetch(query, [file.path]), strict=True):
            types[index] = str(row[1])
    return types


def _scan(file: File, names: Sequence[str], types: Sequence[str]) -> Scan:
    refuse_twins(names, file.name)
    return Scan(
        file=file,
        relation=f"read_parquet(?, hive_partitioning = false) AS t({positional_names(len(names))})",
        parameters=(file.path,),
        columns={
            name: typed(f"c{index}", type_)
            for index, (name, type_) in enumerate(zip(names, types, strict=True))
        },
        merges=True,
    )


def rescue_parquet(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Raise an error if this file is damaged."""
    scan = scan_parquet(file, wanted, dialect, engine)
    refuse_unreadable(scan, engine, _damaged)
    return scan


def _damaged(file: File, fault: str) -> str:
    reason = fault.replace(file.path, file.name)
    return f"{file.name} cannot be read as Parquet; it may be damaged or truncated: {reason}"


def _top_level(nodes: Sequence[tuple[str, int | None]]) -> list[str]:
    """Return the names of the columns from a schema listed in depth-first order.

    Examples
    --------
    >>> _top_level([("schema", 2), ("tags", 1), ("list", 1), ("element", None), ("id", None)])
    ['tags', 'id']
    """
    names: list[str] = []
    remaining: list[int] = []
    for name, children in nodes:
        if len(remaining) == 1:
            names.append(name)
        if remaining:
            remaining[-1] -= 1
        remaining.append(children or 0)
        while len(remaining) > 1 and not remaining[-1]:
            remaining.pop()
    return names


# Takes the positions of columns and returns batches of these columns.
ReadBatches = Callable[[Sequence[int]], Iterator[Any]]


class Batches:
    """Batches of some columns, which the engine can read again for each count."""

    def __init__(self, schema: Any, columns: Sequence[int], read: ReadBatches) -> None:
        self._columns = list(columns)
        self._schema = pyarrow().schema([schema.field(index) for index in self._columns])
        self._read = read

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pyarrow().RecordBatchReader.from_batches(self._schema, self._checked())
        stream: object = reader.__arrow_c_stream__(requested_schema)
        return stream

    def _checked(self) -> Iterator[Any]:
        for batch in self._read(self._columns):
            # The engine does not check offsets and text, so it could read beyond the end.
            batch.validate(full=True)
            yield batch


def pyarrow() -> Any:
    """Return pyarrow, or raise an error that names the missing extra."""
    return require("pyarrow", extra="arrow", purpose="reading Arrow files")


def scan_batches(
    file: File,
    schema: Any,
    read: ReadBatches,
    dialect: Dialect,
    engine: Engine,
) -> Scan:
    """Return a scan of the requested columns; for other columns only the names are known."""
    names = list(schema.names)
    refuse_twins(names, file.name)
    requested = [
        index
        for index, name in enumerate(names)
        if dialect.columns is None or name in dialect.columns
    ]
    known = _known(schema, requested, read, engine)
    columns = {name: _unreachable(str(schema.field(name).type)) for name in names}
    relation = "(SELECT NULL) AS t(c0)"
    if known:
        table = engine.register(Batches(schema, known, read))
        types = engine.fetch(f"DESCRIBE SELECT * FROM {table}")
        relation = f"{table} AS t({positional_names(len(known))})"
        for number, (index, row) in enumerate(zip(known, types, strict=True)):
            columns[names[index]] = typed(f"c{number}", str(row[1]))
    return Scan(file=file, relation=relation, parameters=(), columns=columns)


def refuse_broken(file: File, schema: Any, read: ReadBatches, scan: Scan, what: str) -> None:
    """Read everything again outside the engine, so the error describes what is wrong."""
    readable = [
        index
        for index, name in enumerate(schema.names)
        if not scan.columns[name].expression.startswith("error(")
    ]
    with damage(file, what):
        for batch in read(readable):
            batch.validate(full=True)


@contextmanager
def damage(file: File, what: str) -> Iterator[None]:
    """Turn any pyarrow exception about a file into a one-line error."""
    try:
        yield
    except OutperformError:
        raise
    except Exception as error:  # pyarrow raises a dozen types, and passes on system errors
        line = str(error).strip().partition("\n")[0].replace(file.path, file.name)
        raise DataError(
            f"{file.name} cannot be read as {what}; it may be damaged or truncated: "
            f"{line or type(error).__name__}"
        ) from error


def _known(schema: object, columns: Sequence[int], read: ReadBatches, engine: Engine) -> list[int]:
    """Return the columns whose type the engine supports."""
    try:
        if columns:
            engine.register(Batches(schema, columns, read))
        return list(columns)
    except EngineFault:
        return (
            []
            if len(columns) == 1
            else [index for column in columns for index in _known(schema, [column], read, engine)]
        )


def _unreachable(type_: str) -> Column:
    return Column(f"error({text(f'the engine does not support {type_}')})", "other", type_)


_MARK = b"ARROW1"
_END = b"\xff\xff\xff\xff\0\0\0\0"  # the end of a stream


def scan_arrow(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Read names and types from the schema; the engine requests the batches."""
    _refuse_cut(file)
    return scan_batches(file, _schema(file), partial(_batches, file), dialect, engine)


def rescue_arrow(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Raise an error if this file is damaged."""
    scan = scan_arrow(file, wanted, dialect, engine)
    refuse_broken(file, _schema(file), partial(_batches, file), scan, "Arrow")
    return scan


def _schema(file: File) -> Any:
    with damage(file, "Arrow"), closing(pyarrow().OSFile(file.path)) as stream:
        schema = _opened(file, stream, None).schema
        list(schema.names)  # pyarrow decodes names only on access
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
    # The file is not mapped into memory: if it shrank meanwhile, the process would crash.
    ipc = pyarrow().ipc
    opener = ipc.open_stream if _is_stream(file) else ipc.open_file
    return opener(stream, options=options)


def _is_stream(file: File) -> bool:
    with file.open() as stream:
        return stream.read(len(_MARK)) != _MARK


def _refuse_cut(file: File) -> None:
    """Raise an error for a truncated stream, which pyarrow would read as a shorter one."""
    if not _is_stream(file):
        return
    with file.open() as stream:
        stream.seek(-len(_END), os.SEEK_END)
        if stream.read() != _END:
            raise DataError(
                f"{file.name} has no end marker; it is truncated or still being written"
            )
