"""Tables: the files of one source, combined into one table."""

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

STREAM = "stream"  # kind of files that pyarrow reads in place, column by column
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
    """Part of a SQL statement, and its bound parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Files with the same columns."""

    scans: tuple[Scan, ...]

    @property
    def name(self) -> str:
        """Display name of the table."""
        first = self.scans[0].file.name
        return first if len(self.scans) == 1 else f"{first} and {len(self.scans) - 1} more"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.scans[0].columns)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings from opening the files."""
        return tuple(finding for scan in self.scans for finding in scan.findings)

    def column(self, name: str) -> Column:
        """Return a column of the first file; an unknown name raises an error."""
        return self.scans[0].column(name)

    def family(self, name: str) -> Family:
        """Return the family of a column's values."""
        return self.column(name).family

    def is_alike(self, name: str) -> bool:
        """Return whether all files have a column, with values of the same family."""
        columns = [scan.columns.get(name) for scan in self.scans]
        return all(column is not None and column.family == self.family(name) for column in columns)

    def select(self, columns: Sequence[str], *, where: Where = None) -> Query:
        """Return a SQL statement that selects columns as k0, k1, …"""
        return _together(
            [_select(scan, columns, remaining) for scan, remaining in self._parts(columns, where)]
        )

    def select_with_id(self, id: str, columns: Sequence[str]) -> Query:
        """Return a SQL statement that selects an id as text, and columns as k0, k1, …"""
        parts = self._parts((id, *columns), None)
        return _together([_select(scan, columns, None, id=id) for scan, _ in parts])

    def _parts(self, columns: Sequence[str], where: Where) -> list[tuple[Scan, Where]]:
        """Return the scans, merged if possible, each with its remaining conditions."""
        by_folder = {
            name: value for name, value in (where or {}).items() if self._is_from_folders(name)
        }
        by_rows = {name: value for name, value in (where or {}).items() if name not in by_folder}
        matching = [scan for scan in self.scans if _holds(scan.partition, by_folder)]
        if not matching:  # without a file, a statement has no types
            return [(self.scans[0], where)]
        return [(scan, by_rows) for scan in merged(matching, columns)]

    def _is_from_folders(self, name: str) -> bool:
        return all(name in scan.partition for scan in self.scans)


def numbered(scan: Scan, column: str, where: Where) -> Query:
    """Return a SQL statement that selects a column, its row numbers and a filter flag."""
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
    """Scan each file with its reader, and check that all have the same columns."""
    folder_columns = {name for name, _ in files[0].partition}
    inside = [name for name in wanted if name not in folder_columns]
    scans: list[Scan] = []
    for kind, files_of_kind in groupby(files, key=_reader):
        reader = READERS[kind]
        if reader.scan_all is None:
            scans += [reader.scan(file, inside, dialect, engine) for file in files_of_kind]
        else:
            scans += reader.scan_all(list(files_of_kind), inside, dialect, engine)
    _refuse_differences(scans)
    return Table(scans=_declared(scans, dialect))


def _declared(scans: Sequence[Scan], dialect: Dialect) -> tuple[Scan, ...]:
    """Return scans with the strings for missing values, which depend on the file type."""
    return tuple(
        replace(scan, missing=dialect.missing.of(text_file=scan.is_text)) for scan in scans
    )


def _reader(file: File) -> str:
    return STREAM if file.streamed else file.kind


def rescued(
    table: Table, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: EngineFault
) -> Table:
    """Return a table with slower readers; a damaged file raises an error."""
    scans = tuple(
        READERS[_reader(scan.file)].rescue(scan.file, wanted, dialect, engine, str(fault))
        for scan in table.scans
    )
    return Table(scans=_declared(scans, dialect))


def check_family(table: Table, name: str) -> None:
    """Raise an error for a column without labels, or with different types in different files."""
    for scan in table.scans:
        column = scan.column(name)
        if column.family == "other":
            raise no_label(column, name, scan.file.name)
        if column.family != table.family(name):
            raise DataError(
                f"column {name!r} contains {table.family(name)} in {table.scans[0].file.name} and "
                f"{column.family} in {scan.file.name}; convert them to one type first"
            )


def no_label(column: Column, name: str, file: str) -> Exception:
    """Return the error for a column that does not contain labels."""
    if column.type in ("FLOAT[]", "DOUBLE[]"):
        return UsageError(
            f"column {name!r} of {file} contains lists of numbers; if these are probabilities, "
            "store the most probable class, or the classes above a threshold"
        )
    return DataError(
        f"column {name!r} of {file} has type {column.type}; labels must be text, whole numbers or "
        "booleans"
    )


def _refuse_differences(scans: Sequence[Scan]) -> None:
    first = scans[0]
    for scan in scans[1:]:
        unshared = set(first.columns) ^ set(scan.columns)
        # JSON keys are optional; a missing key is a missing value.
        if unshared and "jsonl" not in (first.file.kind, scan.file.kind):
            raise DataError(
                f"files of one table must have the same columns; {first.file.name} and "
                f"{scan.file.name} do not share {', '.join(map(repr, sorted(unshared)[:5]))}. To "
                f"join files of several models, pass the columns as {param('id=')} and "
                f"{param('label=')}"
            )


def _together(parts: Sequence[Query]) -> Query:
    return Query(
        sql=" UNION ALL ".join(part.sql for part in parts),
        parameters=tuple(value for part in parts for value in part.parameters),
    )


def _select(scan: Scan, columns: Sequence[str], where: Where, *, id: str | None = None) -> Query:
    parts = [f"{scan.column(name).expression} AS k{index}" for index, name in enumerate(columns)]
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


def _holds(partition: Mapping[str, str | None], where: Mapping[str, object]) -> bool:
    """Return whether the values from folder names satisfy the conditions."""
    for name, value in where.items():
        _test(Column("", "text"), name, value)
        values = list(value) if isinstance(value, SEVERAL) else [value]
        if partition[name] not in [None if item is None else _as_text(item) for item in values]:
            return False
    return True


def _test(column: Column, name: str, value: object, *, empty: bool = False) -> Query:
    """Return the test of one condition; with ``empty``, an empty text is a missing value."""
    values = list(value) if isinstance(value, SEVERAL) else [value]
    kind = time_kind(column)
    if kind is not None:
        return _time_test(column, asked_times(values, kind, name), None in values)
    texts = tuple(_as_text(item) for item in values if item is not None)
    if column.family == "text" and any(isinstance(item, bool) for item in values):
        raise UsageError(
            f"{name!r} contains text, so where must compare it with text; got {value!r}"
        )
    refuse_times(values, column, name)
    is_typed = column.family in ("whole numbers", "fractions", "booleans")
    mark = f"TRY_CAST(? AS {column.type})" if is_typed else "?"
    side = column.expression if is_typed else column.as_text
    tests = [f"{side} IN ({', '.join([mark] * len(texts))})"] if texts else []
    if None in values:
        tests.append(f"{side} IS NULL" + (f" OR {side} = ''" if empty else ""))
    return Query(sql=f"({' OR '.join(tests) or 'false'})", parameters=texts)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Days and times. A day matches the same day, and all times of that day without a time zone.

TimeKind = Literal["days", "times", "times with a time zone"]
_SUCH_AS: dict[TimeKind, str] = {
    "days": "2026-11-30",
    "times": "2026-11-30T12:00:00, or 2026-11-30 for the whole day",
    "times with a time zone": "2026-11-30T12:00:00+00:00; to select a day, create a column of "
    "days first",
}


def time_kind(column: Column) -> TimeKind | None:
    """Return the kind of a column of days or times, or None for other columns.

    Examples
    --------
    >>> [time_kind(Column("c0", "other", type_)) for type_ in ("DATE", "TIMESTAMP_NS", "TIME")]
    ['days', 'times', None]
    """
    if column.family != "other" or not column.type.startswith(("DATE", "TIMESTAMP", "Date")):
        return None
    if column.type.upper() == "DATE":
        return "days"
    zoned = any(mark in column.type for mark in ("WITH TIME ZONE", "TZ", "time_zone='"))
    return "times with a time zone" if zoned else "times"


def asked_times(values: Sequence[object], kind: TimeKind, name: str) -> list[date]:
    """Return the days and times to keep; a value of another kind raises an error."""
    items = [item for item in values if item is not None]
    moments = [_moment(item) for item in items]
    for item, moment in zip(items, moments, strict=True):
        item_kind: TimeKind = "days"
        if isinstance(moment, datetime):
            item_kind = "times" if moment.utcoffset() is None else "times with a time zone"
        if moment is None or item_kind not in ({"days", "times"} if kind == "times" else {kind}):
            raise UsageError(
                f"{name!r} contains {kind}, so where must compare it with values such as "
                f"{_SUCH_AS[kind]}; got {_as_text(item)!r}"
            )
    return [item for item in moments if item is not None]


def _moment(value: object) -> date | None:
    """Return a day or a time, parsed from text if needed; None for anything else."""
    text = value.isoformat() if isinstance(value, date) else value
    if not isinstance(text, str):
        return None
    for kind in (date, datetime):
        with suppress(ValueError):
            return kind.fromisoformat(text)
    return None


def ends_of(day: date) -> tuple[datetime, datetime]:
    """Return the start of a day and of the next day."""
    start = datetime.combine(day, time())
    return start, datetime.max if day == date.max else start + timedelta(days=1)


def refuse_times(values: Sequence[object], column: Column, name: str) -> None:
    """Raise an error if days or times are compared with other columns; a day can also be text."""
    is_text = column.family in ("text", "json")
    for value in values:
        if isinstance(value, date) and (isinstance(value, datetime) or not is_text):
            content = (
                "text" if is_text else column.type if column.family == "other" else column.family
            )
            raise UsageError(
                f"{name!r} contains {content}, so where cannot compare it with {value!r}"
            )


def _time_test(column: Column, moments: Sequence[date], or_missing: bool) -> Query:
    side = column.expression
    tests, parameters = ["false"], []
    for moment in moments:
        if isinstance(moment, datetime):
            type_ = "TIMESTAMP" if moment.utcoffset() is None else column.type
            tests.append(f"{side} = CAST(? AS {type_})")
            parameters.append(moment.isoformat())
        else:  # the engine casts a day to midnight
            tests.append(f"({side} >= CAST(? AS TIMESTAMP) AND {side} < CAST(? AS TIMESTAMP))")
            parameters += [end.isoformat() for end in ends_of(moment)]
    if or_missing:
        tests.append(f"{side} IS NULL")
    return Query(sql=f"({' OR '.join(tests)})", parameters=tuple(parameters))


def check_where(where: Where) -> None:
    """Raise an error unless the conditions map columns to values to keep."""
    if where is None:
        return
    if not isinstance(where, Mapping) or not where:
        raise UsageError(
            f"{param('where')} must map columns to the values to keep, e.g. "
            f"{{'country': 'DE', 'year': [2025, 2026]}}; got {where!r}"
        )
    for name, value in where.items():
        for item in value if isinstance(value, SEVERAL) else [value]:
            if not isinstance(item, (str, bool, int, float, date, type(None))):
                raise UsageError(
                    f"where can compare {name!r} with text, numbers, booleans, days, times and "
                    f"None; got {type(item).__name__}"
                )
            # A missing pandas time is also an instance of datetime.
            if isinstance(item, date) and (item != item or getattr(item, "nanosecond", False)):
                raise UsageError(
                    f"where can compare {name!r} with times to the microsecond, or with None for "
                    f"a missing time; got {item}"
                )


def plain_where(where: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values to keep as JSON values in a canonical form."""
    values = {
        name: [
            item.isoformat() if isinstance(item, date) else item
            for item in (value if isinstance(value, SEVERAL) else [value])
        ]
        for name, value in sorted(where.items())
    }
    return {name: sorted(items, key=repr) for name, items in values.items()}


def check_columns(named: object, what: str) -> None:
    """Raise an error unless the argument is a list of distinct columns."""
    if isinstance(named, (str, bytes)) or not isinstance(named, (Mapping, Sequence)):
        raise UsageError(
            f"{param(what)} must be a list of columns, e.g. ['bert', 'gpt']; got {named!r}"
        )
    columns = list(named.values() if isinstance(named, Mapping) else named)
    if not columns or not all(isinstance(name, str) for name in (*columns, *named)):
        raise UsageError(
            f"{param(what)} must contain at least one column name, as text; got {named!r}"
        )
    if len(set(columns)) != len(columns):
        raise UsageError(f"every column has one role; got {param(f'{what}=', columns)}")


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Tables by name, and the engine that can read them."""

    tables: Mapping[str, Table]
    wanted: Sequence[str]
    dialect: Dialect
    engine: Engine

    def ask(self, question: Callable[[Mapping[str, Table], Engine], T]) -> T:
        """Run a query; if the engine fails, use slower readers or report their error."""
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
    """Open sources, and raise an error at the end if they changed meanwhile."""
    with workspace() as folder:
        files = {
            name: find_files(source, dialect, folder=folder) for name, source in sources.items()
        }
        all_files = [file for table_files in files.values() for file in table_files]
        with start(paths_of(all_files), folder=folder) as engine:
            tables = {
                name: open_table(table_files, wanted, dialect, engine)
                for name, table_files in files.items()
            }
            yield Opened(tables=tables, wanted=wanted, dialect=dialect, engine=engine)
        for file in all_files:
            file.refuse_changes()
        refuse_changed([file.remote for file in all_files if file.remote is not None])
