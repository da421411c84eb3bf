"""Parquet files: typed columns that stay what they are."""

from __future__ import annotations

from collections.abc import Sequence

from outperform.errors import DataError
from outperform.ingest.dialect import Dialect
from outperform.ingest.engine import Engine, EngineFault
from outperform.ingest.files import File
from outperform.ingest.scan import Column, Family, Scan, places, refuse_twins, refuse_unreadable

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_FAMILIES: dict[str, Family] = {
    "VARCHAR": "text",
    "BOOLEAN": "booleans",
    "FLOAT": "fractions",
    "DOUBLE": "fractions",
    **{name: "whole numbers" for name in _WHOLE | {f"U{one}" for one in _WHOLE}},
}


def scan(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the footer."""
    try:
        nodes = engine.fetch("SELECT name, num_children FROM parquet_schema(?)", [file.path])
        types = engine.fetch("DESCRIBE SELECT * FROM read_parquet(?)", [file.path])
    except EngineFault as fault:
        raise DataError(_damaged(file, str(fault))) from fault
    names = _top_level(nodes)
    refuse_twins(names, file.name)
    return Scan(
        file=file,
        relation=f"read_parquet(?, hive_partitioning = false) AS t({places(len(names))})",
        parameters=(file.path,),
        columns={
            name: _column(f"c{place}", str(row[1]))
            for place, (name, row) in enumerate(zip(names, types, strict=True))
        },
    )


def rescue(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str) -> Scan:
    """Say that the file is damaged, if it is this one."""
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


def _column(place: str, type_: str) -> Column:
    if type_.startswith("ENUM"):
        return Column(f"CAST({place} AS VARCHAR)", "text")
    if type_.startswith("DECIMAL"):
        return Column(f"CAST({place} AS DOUBLE)", "fractions", "DOUBLE")
    return Column(place, _FAMILIES.get(type_, "other"), type_)
