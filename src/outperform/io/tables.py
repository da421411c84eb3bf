"""Tables: the files of one source as one table, and its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import Any, Literal, TypeVar

from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding
from outperform.io import columnar, csv_files, json_lines, streams
from outperform.io.columnar import Column, Family, Reader, Scan, merged
from outperform.io.engine import Engine, EngineFault, start, workspace
from outperform.io.formats import Dialect
from outperform.io.paths import File, find_files, paths_of
from outperform.io.remote import refuse_changed

STREAM = "stream"  # what pyarrow reads where it is, column by column
READERS: dict[str, Reader] = {
    "csv": Reader(csv_files.scan_csv, csv_files.rescue_csv),
    "tsv": Reader(csv_files.scan_csv, csv_files.rescue_csv),
    "jsonl": Reader(json_lines.scan_json_lines, json_lines.rescue_json_lines),
    "parquet": Reader(columnar.scan_parquet, columnar.rescue_parquet, columnar.scan_all),
    "arrow": Reader(columnar.scan_arrow, columnar.rescue_arrow),
    STREAM: Reader(streams.scan_stream, streams.rescue_stream, streams.scan_streams),
}


Where = Mapping[str, Any] | None
SEVERAL = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A part of a statement and what is bound in it."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Files of the same columns."""

    scans: tuple[Scan, ...]

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        first = self.scans[0].file.name
        return first if len(self.scans) == 1 else f"{first} and {len(self.scans) - 1} more"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.scans[0].columns)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed when the files were opened."""
        return tuple(finding for scan in self.scans for finding in scan.findings)

    def column(self, name: str) -> Column:
        """Return a column of the first file, or say which ones there are."""
        return self.scans[0].column(name)

    def family(self, name: str) -> Family:
        """Return what a column holds."""
        return self.column(name).family

    def is_alike(self, name: str) -> bool:
        """Return whether all files have a column, and hold the same in it."""
        every = [scan.columns.get(name) for scan in self.scans]
        return all(one is not None and one.family == self.family(name) for one in every)

    def select(self, columns: Sequence[str], *, where: Where = None) -> Query:
        """Return the statement for some columns, as k0, k1, …"""
        return _together(
            [_select(scan, columns, rest) for scan, rest in self._parts(columns, where)]
        )

    def select_with_id(self, id: str, columns: Sequence[str]) -> Query:
        """Return the statement for an id as text, as id, and some columns, as k0, k1, …"""
        parts = self._parts((id, *columns), None)
        return _together([_select(scan, columns, None, id=id) for scan, _ in parts])

    def _parts(self, columns: Sequence[str], where: Where) -> list[tuple[Scan, Where]]:
        """Return the scans in as few parts as possible, and what of where is left to ask."""
        told = {name: value for name, value in (where or {}).items() if self._is_told(name)}
        rest = {name: value for name, value in (where or {}).items() if name not in told}
        kept = [scan for scan in self.scans if _holds(scan.partition, told)]
        if not kept:  # a statement without a file would not know the types
            return [(self.scans[0], where)]
        return [(scan, rest) for scan in merged(kept, columns)]

    def _is_told(self, name: str) -> bool:
        return all(name in scan.partition for scan in self.scans)


def numbered(scan: Scan, column: str, where: Where) -> Query:
    """Return the statement for one column, as k0, its row numbers r, and whether where holds, f."""
    condition = _condition(scan, where)
    relation, parameters = scan.reaching((column, *(where or ())))
    return Query(
        sql=f"SELECT {scan.column(column).expression} AS k0, row_number() OVER () AS r, "
        f"{condition.sql or 'true'} AS f FROM {relation}",
        parameters=condition.parameters + parameters,
    )


def open_table(
    files: Sequence[File], wanted: Sequence[str], dialect: Dialect, engine: Engine
) -> Table:
    """Let the reader of each file look at it, and see that all have the same columns."""
    told = {name for name, _ in files[0].partition}
    inside = [name for name in wanted if name not in told]
    scans: list[Scan] = []
    for kind, some in groupby(files, key=_reader):
        reader = READERS[kind]
        if reader.scan_all is None:
            scans += [reader.scan(file, inside, dialect, engine) for file in some]
        else:
            scans += reader.scan_all(list(some), inside, dialect, engine)
    _refuse_differences(scans)
    return Table(scans=_declared(scans, dialect))


def _declared(scans: Sequence[Scan], dialect: Dialect) -> tuple[Scan, ...]:
    """Let scans know which texts are missing values; in text files an empty field is one."""
    return tuple(
        replace(scan, missing=dialect.missing.of(text_file=scan.is_text)) for scan in scans
    )


def _reader(file: File) -> str:
    return STREAM if file.streamed else file.kind


def rescued(
    table: Table, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: EngineFault
) -> Table:
    """Return a table that is read more slowly, or say what is wrong with its files."""
    scans = tuple(
        READERS[_reader(scan.file)].rescue(scan.file, wanted, dialect, engine, str(fault))
        for scan in table.scans
    )
    return Table(scans=_declared(scans, dialect))


def check_family(table: Table, name: str) -> None:
    """Refuse a column that cannot hold labels, and files that disagree on what it holds."""
    for scan in table.scans:
        column = scan.column(name)
        if column.family == "other":
            raise no_label(column, name, scan.file.name)
        if column.family != table.family(name):
            raise DataError(
                f"column {name!r} holds {table.family(name)} in {table.scans[0].file.name} and "
                f"{column.family} in {scan.file.name}; make them one type first"
            )


def no_label(column: Column, name: str, file: str) -> Exception:
    """Return the error for a column that cannot hold labels."""
    if column.type in ("FLOAT[]", "DOUBLE[]"):
        return UsageError(
            f"column {name!r} of {file} holds lists of numbers; if these are probabilities, store "
            "the class of the largest one, or of those above a threshold"
        )
    return DataError(
        f"column {name!r} of {file} is of type {column.type}; labels must be text, whole numbers "
        "or booleans"
    )


def _refuse_differences(scans: Sequence[Scan]) -> None:
    first = scans[0]
    for scan in scans[1:]:
        lacking = set(first.columns) ^ set(scan.columns)
        # Keys of JSON objects come and go; a missing one is a missing value.
        if lacking and "jsonl" not in (first.file.kind, scan.file.kind):
            raise DataError(
                f"files of one table must have the same columns; {first.file.name} and "
                f"{scan.file.name} do not share {', '.join(map(repr, sorted(lacking)[:5]))}. To "
                f"join files of several models, name the columns with {param('id=')} and "
                f"{param('label=')}"
            )


def _together(parts: Sequence[Query]) -> Query:
    return Query(
        sql=" UNION ALL ".join(part.sql for part in parts),
        parameters=tuple(value for part in parts for value in part.parameters),
    )


def _select(scan: Scan, columns: Sequence[str], where: Where, *, id: str | None = None) -> Query:
    parts = [f"{scan.column(name).expression} AS k{place}" for place, name in enumerate(columns)]
    if id is not None:
        parts.insert(0, f"{scan.column(id).as_text} AS id")
    condition = _condition(scan, where)
    ids = () if id is None else (id,)
    relation, parameters = scan.reaching((*columns, *ids, *(where or ())))
    return Query(
        sql=f"SELECT {', '.join(parts)} FROM {relation}"
        + (f" WHERE {condition.sql}" if condition.sql else ""),
        parameters=parameters + condition.parameters,
    )


def _condition(scan: Scan, where: Where) -> Query:
    tests = [
        _test(scan.raw_column(name), name, value, empty=scan.is_text)
        for name, value in (where or {}).items()
    ]
    return Query(
        sql=" AND ".join(test.sql for test in tests),
        parameters=tuple(value for test in tests for value in test.parameters),
    )


def _holds(told: Mapping[str, str | None], where: Mapping[str, object]) -> bool:
    """Return whether what the folders tell is what is asked for."""
    for name, value in where.items():
        _test(Column("", "text"), name, value)
        values = list(value) if isinstance(value, SEVERAL) else [value]
        if told[name] not in [None if one is None else _as_text(one) for one in values]:
            return False
    return True


def _test(column: Column, name: str, value: object, *, empty: bool = False) -> Query:
    """Return the test of one condition; ``empty`` says whether an empty text is a missing value."""
    values = list(value) if isinstance(value, SEVERAL) else [value]
    kind = time_kind(column)
    if kind is not None:
        return _time_test(column, asked_times(values, kind, name), None in values)
    given = tuple(_as_text(one) for one in values if one is not None)
    if column.family == "text" and any(isinstance(one, bool) for one in values):
        raise UsageError(f"{name!r} holds text, so where must compare it with text; got {value!r}")
    refuse_times(values, column, name)
    typed = column.family in ("whole numbers", "fractions", "booleans")
    mark = f"TRY_CAST(? AS {column.type})" if typed else "?"
    side = column.expression if typed else column.as_text
    tests = [f"{side} IN ({', '.join([mark] * len(given))})"] if given else []
    if None in values:
        tests.append(f"{side} IS NULL" + (f" OR {side} = ''" if empty else ""))
    return Query(sql=f"({' OR '.join(tests) or 'false'})", parameters=given)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Days and times: a day is compared with days, and with times without a zone as all of that day.

TimeKind = Literal["days", "times", "times with a time zone"]
_SUCH_AS: dict[TimeKind, str] = {
    "days": "2026-11-30",
    "times": "2026-11-30T12:00:00, or 2026-11-30 for the whole day",
    "times with a time zone": "2026-11-30T12:00:00+00:00; for a day, make a column of days first",
}


def time_kind(column: Column) -> TimeKind | None:
    """Return what a column of days or times holds, None for any other.

    Examples
    --------
    >>> [time_kind(Column("c0", "other", one)) for one in ("DATE", "TIMESTAMP_NS", "TIME")]
    ['days', 'times', None]
    """
    if column.family != "other" or not column.type.startswith(("DATE", "TIMESTAMP", "Date")):
        return None
    if column.type.upper() == "DATE":
        return "days"
    zoned = any(one in column.type for one in ("WITH TIME ZONE", "TZ", "time_zone='"))
    return "times with a time zone" if zoned else "times"


def asked_times(values: Sequence[object], kind: TimeKind, name: str) -> list[date]:
    """Return the days and times to keep; refuse what such a column cannot hold."""
    found = [one for one in values if one is not None]
    moments = [_moment(one) for one in found]
    for one, moment in zip(found, moments, strict=True):
        told: TimeKind = "days"
        if isinstance(moment, datetime):
            told = "times" if moment.utcoffset() is None else "times with a time zone"
        if moment is None or told not in ({"days", "times"} if kind == "times" else {kind}):
            raise UsageError(
                f"{name!r} holds {kind}, so where must compare it with such as {_SUCH_AS[kind]}; "
                f"got {_as_text(one)!r}"
            )
    return [one for one in moments if one is not None]


def _moment(value: object) -> date | None:
    """Return a day or a time, also of a text that is one; None for anything else."""
    text = value.isoformat() if isinstance(value, date) else value
    if not isinstance(text, str):
        return None
    for kind in (date, datetime):
        with suppress(ValueError):
            return kind.fromisoformat(text)
    return None


def ends_of(day: date) -> tuple[datetime, datetime]:
    """Return when a day begins, and when the next one does."""
    start = datetime.combine(day, time())
    return start, datetime.max if day == date.max else start + timedelta(days=1)


def refuse_times(values: Sequence[object], column: Column, name: str) -> None:
    """Refuse days and times for a column that holds none; a day is a text as well."""
    is_text = column.family in ("text", "json")
    for one in values:
        if isinstance(one, date) and (isinstance(one, datetime) or not is_text):
            held = "text" if is_text else column.type if column.family == "other" else column.family
            raise UsageError(f"{name!r} holds {held}, so where cannot compare it with {one!r}")


def _time_test(column: Column, moments: Sequence[date], or_missing: bool) -> Query:
    side = column.expression
    tests, parameters = ["false"], []
    for one in moments:
        if isinstance(one, datetime):
            type_ = "TIMESTAMP" if one.utcoffset() is None else column.type
            tests.append(f"{side} = CAST(? AS {type_})")
            parameters.append(one.isoformat())
        else:  # a day is a time for the engine, its midnight
            tests.append(f"({side} >= CAST(? AS TIMESTAMP) AND {side} < CAST(? AS TIMESTAMP))")
            parameters += [end.isoformat() for end in ends_of(one)]
    if or_missing:
        tests.append(f"{side} IS NULL")
    return Query(sql=f"({' OR '.join(tests)})", parameters=tuple(parameters))


def check_where(where: Where) -> None:
    """Refuse conditions that are not columns and the values to keep."""
    if where is None:
        return
    if not isinstance(where, Mapping) or not where:
        raise UsageError(
            f"{param('where')} must give the values to keep by column, e.g. "
            f"{{'country': 'DE', 'year': [2025, 2026]}}; got {where!r}"
        )
    for name, value in where.items():
        for one in value if isinstance(value, SEVERAL) else [value]:
            if not isinstance(one, (str, bool, int, float, date, type(None))):
                raise UsageError(
                    f"where can compare {name!r} with text, numbers, booleans, days, times and "
                    f"None; got {type(one).__name__}"
                )
            # Of pandas, which also calls a missing time a time.
            if isinstance(one, date) and (one != one or getattr(one, "nanosecond", False)):
                raise UsageError(
                    f"where compares {name!r} with times to the microsecond, and with None for a "
                    f"missing one; got {one}"
                )


def plain_where(where: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values to keep as JSON has them, the same however they were given."""
    values = {
        name: [
            one.isoformat() if isinstance(one, date) else one
            for one in (value if isinstance(value, SEVERAL) else [value])
        ]
        for name, value in sorted(where.items())
    }
    return {name: sorted(some, key=repr) for name, some in values.items()}


def check_columns(named: object, what: str) -> None:
    """Refuse what is no list of columns, or names one of them twice."""
    if isinstance(named, (str, bytes)) or not isinstance(named, (Mapping, Sequence)):
        raise UsageError(
            f"{param(what)} must be a list of columns, e.g. ['bert', 'gpt']; got {named!r}"
        )
    columns = list(named.values() if isinstance(named, Mapping) else named)
    if not columns or not all(isinstance(name, str) for name in (*columns, *named)):
        raise UsageError(f"{param(what)} must name at least one column, as text; got {named!r}")
    if len(set(columns)) != len(columns):
        raise UsageError(f"every column has one role; got {param(f'{what}=', columns)}")


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Tables by name, and the engine that reaches them."""

    tables: Mapping[str, Table]
    wanted: Sequence[str]
    dialect: Dialect
    engine: Engine

    def ask(self, question: Callable[[Mapping[str, Table], Engine], T]) -> T:
        """Ask; where the engine fails, let the readers say why or find a slower way."""
        try:
            return question(self.tables, self.engine)
        except EngineFault as fault:
            tables = {
                name: rescued(table, self.wanted, self.dialect, self.engine, fault)
                for name, table in self.tables.items()
            }
        try:
            return question(tables, self.engine)
        except EngineFault as fault:
            names = ", ".join(table.name for table in tables.values())
            raise DataError(f"{names} cannot be counted: {fault}") from fault


@contextmanager
def opened(
    sources: Mapping[str, object],
    wanted: Sequence[str],
    dialect: Dialect,
) -> Iterator[Opened]:
    """Open sources, and see in the end that nobody wrote to them meanwhile."""
    with workspace() as folder:
        files = {name: find_files(one, dialect, folder=folder) for name, one in sources.items()}
        every = [file for some in files.values() for file in some]
        with start(paths_of(every), folder=folder) as engine:
            tables = {
                name: open_table(some, wanted, dialect, engine) for name, some in files.items()
            }
            yield Opened(tables=tables, wanted=wanted, dialect=dialect, engine=engine)
        for file in every:
            file.refuse_changes()
        refuse_changed([file.remote for file in every if file.remote is not None])
