"""Databases: a table or query, opened read-only and counted in place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Protocol, cast
from urllib.parse import unquote, urlsplit

from outperform.data.outcomes import Outcomes
from outperform.errors import (
    DataError,
    MissingExtra,
    OutperformError,
    UsageError,
    param,
    require,
    unknown_name,
)
from outperform.io.addresses import STORES, URL, check_address, masked, without_secrets
from outperform.io.catalogue import SOURCES
from outperform.io.columnar import refuse_twins
from outperform.io.engine import interruptible, text, workspace
from outperform.io.frames import Frame, count_frame, known_frame, quiet
from outperform.io.group_by import TableQuery

# The types that labels, days and times can have, by the numbers that PostgreSQL gives to its own.
_TYPES = {
    16: "boolean",
    20: "int64",
    21: "int16",
    23: "int32",
    **dict.fromkeys((19, 25, 1042, 1043), "string"),
    700: "float32",
    701: "float64",
    1082: "date",
    1114: "timestamp(6)",
    1184: "timestamp('UTC', 6)",
    1700: "decimal",
}
_FIRST_OF_OTHERS = 16384  # PostgreSQL's own objects have smaller numbers
# Functions of its own that run a query they are given as text.
_RUN_TEXT = (
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "ts_rewrite",
    "ts_stat",
)


# What is used of ibis and of its drivers, which have no types of their own.


class _Described(Protocol):
    name: str
    type_code: int


class _Cursor(Protocol):
    description: Sequence[_Described]
    execute: Callable[..., _Cursor]
    fetchone: Callable[[], tuple[object, ...] | None]
    fetchall: Callable[[], list[tuple[int, ...]]]

    def __enter__(self) -> _Cursor: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class _Driver(Protocol):
    read_only: bool
    transaction: Callable[[], object]
    execute: Callable[..., _Cursor]
    cursor: Callable[[], _Cursor]
    interrupt: Callable[[], None]


class _Column(Protocol):
    typeof: Callable[[], object]


class _Arrow(Protocol):
    to_pydict: Callable[[], dict[str, list[str | None]]]


class _Table(Protocol):
    select: Callable[..., _Table]
    distinct: Callable[[], _Table]
    to_pyarrow: Callable[[], _Arrow]

    def __getitem__(self, name: str) -> _Column: ...


class Connection(Protocol):
    """A backend of ibis."""

    con: _Driver
    dialect: object
    sql: Callable[..., _Table]
    table: Callable[..., _Table]
    list_tables: Callable[..., list[str]]
    disconnect: Callable[[], None]


class _SQLite(Protocol):
    from_connection: Callable[..., Connection]


class _Ibis(Protocol):
    connect: Callable[..., Connection]
    sqlite: _SQLite


def _ibis() -> _Ibis:
    return cast("_Ibis", require("ibis", extra="sql", purpose="reading databases"))


def login_of(address: str) -> dict[str, str]:
    """Return user and password of an address, in which only ``%`` is an escape.

    Examples
    --------
    >>> login_of("postgresql://me%40work:a+b@host/db")
    {'user': 'me@work', 'password': 'a+b'}
    """
    parts = urlsplit(address)
    found = {"user": parts.username, "password": parts.password}
    return {name: unquote(value) for name, value in found.items() if value}


def connected(address: str) -> Connection:
    """Connect so that every statement sees the same rows and whatever one does is taken back."""
    connection = _ibis().connect(address, autocommit=False, **login_of(address))
    driver = connection.con
    driver.read_only = True
    # Of ibis every statement has a transaction of its own; here all have one, never committed.
    driver.transaction = nullcontext
    driver.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    # Values are quoted on the understanding that a backslash is only a backslash.
    driver.execute("SET LOCAL standard_conforming_strings = on")
    # After its first query a transaction can no longer be made writable.
    driver.execute("SELECT count(*) FROM pg_catalog.pg_namespace")
    return connection


def types_of(query: str, connection: Connection) -> dict[str, object]:
    """Return the types of a query's columns, for which ibis would make a view."""
    types = require("ibis.expr.datatypes", extra="sql", purpose="reading databases")
    _refuse_acting(query, connection)
    with connection.con.cursor() as cursor:
        # Prepared, because then it cannot be more than one statement.
        cursor.execute(f"SELECT * FROM ({query}) AS asked LIMIT 0", prepare=True)
        columns = [(one.name, one.type_code) for one in cursor.description]
        cursor.execute("SELECT oid::int8 FROM pg_catalog.pg_type WHERE typtype = 'e'")
        known = {**_TYPES, **{code: "string" for (code,) in cursor.fetchall()}}
    refuse_twins([column for column, _ in columns], "the query")
    return {column: known.get(code, types.unknown) for column, code in columns}


def _refuse_acting(query: str, connection: Connection) -> None:
    """Refuse functions that may do more than read, which a read-only transaction can still run.

    Only those that PostgreSQL itself brings along, and that it does not call volatile, are known
    to read and no more. What extensions call stable may run text that it is given, as crosstab
    does, and dblink in such a text writes by a connection of its own.
    """
    sqlglot = require("sqlglot", extra="sql", purpose="reading databases")
    tokens = sqlglot.tokenize(query, read=connection.dialect)
    called = {
        name
        for token, after in pairwise(tokens)
        if after.token_type == sqlglot.TokenType.L_PAREN
        for name in (token.text, token.text.lower())
    }
    found = connection.con.execute(
        "SELECT proname::text, oid::int8 >= %s FROM pg_catalog.pg_proc WHERE proname = ANY(%s) "
        "AND (provolatile = 'v' OR oid::int8 >= %s OR proname = ANY(%s)) ORDER BY 2, 1 LIMIT 1",
        [_FIRST_OF_OTHERS, sorted(called), _FIRST_OF_OTHERS, list(_RUN_TEXT)],
    ).fetchone()
    if found is None:
        return
    name, is_of_others = found
    if is_of_others:
        raise UsageError(
            f"a query must only read; {name} is a function that does not come with PostgreSQL "
            "itself, so it may do anything. If you trust it, make a view of the query and read "
            f"that with {param('table=')}"
        )
    raise UsageError(
        f"a query must only read, and give the same rows each time; PostgreSQL says of {name} "
        "that it may do something or change its answer"
    )


SUFFIXES = (".db", ".sqlite", ".sqlite3", ".duckdb", ".ddb")
SCHEMES = (
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "mssql",
    "mysql",
    "oracle",
    "postgres",
    "postgresql",
    "snowflake",
    "sqlite",
    "trino",
)
_KEYWORDS = re.compile(r"(?:^|\s)(?:host|dbname|user|password)\s*=", re.IGNORECASE)
_ONE_SELECT = "a query must be one SELECT that changes nothing"
# What counting does not need is taken away before it begins.
_LOCKS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET memory_limit = '1GB'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
# What a value of SQLite may be, by what the column says it is.
_STORED = {"text": {"text"}, "whole numbers": {"integer"}, "fractions": {"integer", "real"}}


# What is to be counted, and what ends a count that blocks Python; None where nothing does.
Opened = tuple[object, Callable[[], None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Where a database is, and what of it is to be counted."""

    scheme: str
    address: str = field(repr=False)  # a path, or the whole address of a server
    table: str | None
    query: str | None

    @property
    def name(self) -> str:
        """What to call the table in a message, without passwords."""
        what = "" if self.table is None else f"table {self.table!r} of "
        return f"{what if self.query is None else 'the query of '}{masked(self.address)}"


def known_database(source: object, *, table: str | None, query: str | None) -> Database | None:
    """Return a database and what is asked of it, or None for anything else."""
    named = table is not None or query is not None
    if not isinstance(source, (str, os.PathLike)):
        found = None
    elif (text := os.fspath(source)) and (match := URL.match(text)):
        scheme = match[1].lower()
        found = None if scheme in STORES else _by_address(scheme, text)
    elif _KEYWORDS.search(text) and not os.path.exists(text):
        raise UsageError("write a database as an address, e.g. 'postgresql://user@host/name'")
    elif named or Path(text).suffix.lower() in SUFFIXES:
        found = _scheme_of(text), text
    else:
        return None
    if found is None:
        if named:
            raise UsageError(
                f"{param('table=')} and {param('query=')} are for databases: a file of SQLite or "
                f"DuckDB, or an address such as 'postgresql://…'; got {type(source).__name__}"
            )
        return None
    if table is not None and query is not None:
        raise UsageError("name a table or give a query, not both")
    for what, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise UsageError(f"{param(what)} must be text; got {value!r}")
    return Database(scheme=found[0], address=found[1], table=table, query=query)


def count_database(database: Database, ask: Callable[[Frame], TableQuery]) -> Outcomes:
    """Open a database, let it count the table or query, and close it again."""
    opened = _opened_duckdb if database.scheme == "duckdb" else _opened_ibis
    fault: OutperformError
    try:
        with quiet(), opened(database) as (found, interrupt):
            count = partial(_counted, database, found, ask)
            return count() if interrupt is None else interruptible(count, interrupt)
    except OutperformError as error:
        fault = type(error)(without_secrets(str(error), database.address))
    except Exception as error:  # every driver has exceptions of its own
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        told = without_secrets(f"{database.name} cannot be read: {line}", database.address)
        fault = MissingExtra(told) if isinstance(error, ImportError) else DataError(told)
    raise fault  # here, so that it does not lead back to what the driver said


def _counted(database: Database, found: object, ask: Callable[[Frame], TableQuery]) -> Outcomes:
    frame = known_frame(found, name=database.name)
    if frame is None:
        raise DataError(f"{database.name} is no table")
    asked = ask(frame)
    if database.scheme == "sqlite":
        _refuse_twins(frame)
        _refuse_loose_types(cast("_Table", found), frame, asked)
    return count_frame(frame, asked)


def _by_address(scheme: str, address: str) -> tuple[str, str]:
    kind, plus, _ = scheme.partition("+")  # SQLAlchemy's postgresql+psycopg names a driver, too
    if plus and kind in SCHEMES:
        scheme, address = kind, f"{kind}{address[len(scheme) :]}"
    if scheme not in SCHEMES:
        added = sorted(scheme for source in SOURCES.added() for scheme in source.schemes)
        raise UsageError(
            f"{unknown_name('kind of database', scheme, (*SCHEMES, *added))}. Files must lie on "
            "this machine or in a store: s3://, gs:// or abfs://"
        )
    if scheme not in ("sqlite", "duckdb"):
        check_address(address)
        return "postgres" if scheme.startswith("postgres") else scheme, address
    path = unquote(address.partition("://")[2].partition("?")[0])
    path = path[1:] if re.match(r"/[A-Za-z]:", path) else path  # a drive
    if _scheme_of(path) != scheme:
        raise DataError(f"{masked(path)} is not a database of {scheme}")
    return scheme, path


def _scheme_of(path: str) -> str:
    """Return what a file is by its first bytes."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(16)
    except FileNotFoundError:
        raise UsageError(f"no file {masked(path)!r}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{masked(path)!r} cannot be read: {reason}") from None
    if head == b"SQLite format 3\x00":
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise DataError(f"{path} is neither a database of SQLite nor one of DuckDB")


@contextmanager
def _opened_duckdb(database: Database) -> Iterator[Opened]:
    duckdb = require("duckdb", extra="cli", purpose="reading databases of DuckDB")
    with workspace() as folder, duckdb.connect(database.address, read_only=True) as connection:
        # What does not fit into memory would go beside the file.
        connection.execute(f"SET temp_directory = {text(folder)}")
        for lock in _LOCKS:
            connection.execute(lock)
        if database.query is not None:
            kinds = [one.type for one in duckdb.extract_statements(database.query)]
            if kinds != [duckdb.StatementType.SELECT]:
                raise UsageError(_ONE_SELECT)
            refuse_twins(connection.sql(database.query).columns, database.name)
            # As a view, because a query may end in a semicolon and a comment.
            connection.execute(f"CREATE TEMP VIEW outperform_query AS {database.query}")
            found = connection.sql("FROM temp.outperform_query")
        else:
            rows = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
            ).fetchall()
            parts = _table(database.table, rows, "main")
            found = connection.sql("FROM " + ".".join(_quoted(part) for part in parts))
        yield found, connection.interrupt


@contextmanager
def _opened_ibis(database: Database) -> Iterator[Opened]:
    connection = _connected(_ibis(), database)
    try:
        if database.query is not None:
            query = _select(database.query, connection)
            types = types_of(query, connection) if database.scheme == "postgres" else None
            found = connection.sql(query, schema=types)
        else:
            place, _, _ = (database.table or "").rpartition(".")
            rows = [("", one) for one in connection.list_tables()]
            if place and ("", database.table) not in rows:
                rows += [(place, one) for one in connection.list_tables(database=place)]
            place, name = _table(database.table, rows, "")
            found = connection.table(name, database=place or None)
        # The others' drivers look at signals while they wait for the server.
        yield found, connection.con.interrupt if database.scheme == "sqlite" else None
    finally:
        connection.disconnect()


def _connected(ibis: _Ibis, database: Database) -> Connection:
    if database.scheme == "postgres":
        return connected(database.address)
    if database.scheme != "sqlite":
        return ibis.connect(database.address)
    import sqlite3

    address = Path(database.address).absolute().as_uri() + "?mode=ro"
    # SQLite has no booleans: what it calls so are the numbers 0 and 1, or any others.
    whole = dict.fromkeys(("BOOLEAN", "BOOL"), "int64")
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        return ibis.sqlite.from_connection(connection, type_map=whole)
    except BaseException:  # a damaged file
        connection.close()
        raise


def _table(asked: str | None, rows: Sequence[tuple[str, str]], home: str) -> tuple[str, str]:
    """Return schema and name of the table that was asked for, or say which ones there are."""
    known = {
        name if schema == home else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    if asked is None:
        shown = ", ".join(map(repr, list(known)[:20]))
        raise UsageError(
            f"name the table, e.g. {param('table=', 'preds')}, or give a query; tables: {shown}"
        )
    if asked not in known:
        raise UsageError(unknown_name("table", asked, known))
    return known[asked]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _select(query: str, connection: Connection) -> str:
    """Return a query that only reads, without comments and semicolon, or refuse it."""
    sqlglot = require("sqlglot", extra="sql", purpose="reading databases")
    words = sqlglot.expressions
    try:
        parsed = [
            one
            for one in sqlglot.parse(query, read=connection.dialect)
            if one is not None and not isinstance(one, words.Semicolon)
        ]
    except sqlglot.errors.SqlglotError as error:
        raise _no_query(error) from None
    writing = (words.DML, words.DDL, words.Command, words.Into, words.Lock)
    is_query = len(parsed) == 1 and isinstance(parsed[0], words.Query)
    if not is_query or any(isinstance(node, writing) for node in parsed[0].walk()):
        raise UsageError(_ONE_SELECT)
    strict = {"unsupported_level": sqlglot.ErrorLevel.RAISE}  # or it would leave out what it lacks
    options = {"comments": False, "normalize_functions": False, **strict}
    try:
        return str(parsed[0].sql(dialect=connection.dialect, **options))
    except sqlglot.errors.SqlglotError as error:
        raise _no_query(error) from None


def _no_query(error: Exception) -> UsageError:
    line = str(error).partition("\n")[0]
    return UsageError(f"the query is not one that can be read: {line}")


def _refuse_twins(frame: Frame) -> None:
    """Refuse column names that occur twice, which SQLite numbers as in ``y:1``."""
    names = [re.sub(r":[0-9]+$", "", name) for name in frame.names]
    refuse_twins(list(frame.names) if len(set(names)) == len(names) else names, frame.name)


def _refuse_loose_types(table: _Table, frame: Frame, asked: TableQuery) -> None:
    """Refuse columns with values that are not what the column says, which SQLite permits."""
    others = [name for name in (asked.count, asked.weight, asked.groups) if name is not None]
    columns = (*asked.columns, *others)
    names = [name for name in columns if frame.column(name).family in _STORED]
    kinds = table.select(**{f"k{place}": table[name].typeof() for place, name in enumerate(names)})
    found = kinds.distinct().to_pyarrow().to_pydict() if names else {}
    for place, name in enumerate(names):
        family = frame.column(name).family
        odd = {kind for kind in found[f"k{place}"] if kind} - _STORED[family] - {"null"}
        if odd:
            raise DataError(
                f"column {name!r} of {frame.name} says that it holds {family} but has values of "
                f"type {', '.join(sorted(odd))}; cast it in a query"
            )
