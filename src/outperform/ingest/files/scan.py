"""What a reader hands on: how the engine reaches one file, and what its columns are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from outperform.errors import DataError, UsageError
from outperform.findings import Finding
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, EngineFault
from outperform.ingest.files.finding import File

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

    @property
    def partition(self) -> dict[str, str | None]:
        """The columns that the folders tell; what the file itself has comes first."""
        return {name: one for name, one in self.file.partition if name not in self.columns}

    def column(self, name: str) -> Column:
        """Return a column, or say which ones there are."""
        told = self.partition
        if name in told:
            return Column(f"p{list(told).index(name)}", "text")
        if name not in self.columns:
            known = (*self.columns, *told)
            raise UsageError(no_column(name, known, self.file.name, self.hint))
        return self.columns[name]

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
    values = ", ".join(f"count({column.expression})" for column in scan.columns.values())
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
