"""Parquet files: typed columns that stay what they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from outperform.errors import DataError
from outperform.ingest.files import verified
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, EngineFault
from outperform.ingest.files.finding import File
from outperform.ingest.files.scan import Scan, places, refuse_twins, refuse_unreadable, typed
from outperform.ingest.owners import names_an_owner

_MANY = 1_000  # columns; the engine's time to tell all types grows with the square of their number
_SCHEMA = (
    "SELECT file_name, name, num_children, type, type_length, repetition_type, converted_type, "
    "scale, precision, logical_type FROM parquet_schema(?)"
)


def scan(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the footer."""
    if dialect.verify:
        return verified.scan(file, wanted, dialect, engine)
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
    if dialect.verify:
        return [verified.scan(file, wanted, dialect, engine) for file in files]
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
        return [scan(file, wanted, dialect, engine) for file in files]
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


def rescue(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str) -> Scan:
    """Say that the file is damaged, if it is this one."""
    if dialect.verify:
        return verified.rescue(file, wanted, dialect, engine, fault)
    found = scan(file, wanted, dialect, engine)
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
