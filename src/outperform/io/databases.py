"""Databases: open a table or query read-only, and count its rows in place."""

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
    MissingExtraError,
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

# Types of labels, days and times, by PostgreSQL's object identifier.
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
_FIRST_FOREIGN = 16384  # PostgreSQL's own objects have smaller identifiers
# Built-in PostgreSQL functions that run a query passed as text.
_RUN_TEXT = (
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "ts_rewrite",
    "ts_stat",
)


# The parts of ibis and its drivers that are used here; they have no type annotations.


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
    """ibis backend."""

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
    """Return the user and password of an address, in which only ``%`` escapes characters.

    Examples
    --------
    >>> login_of("postgresql://me%40work:a+b@host/db")
    {'user': 'me@work', 'password': 'a+b'}
    """
    parts = urlsplit(address)
    login = {"user": parts.username, "password": parts.password}
    return {name: unquote(value) for name, value in login.items() if value}


def connected(address: str) -> Connection:
    """Connect with one snapshot for all statements, and roll back any change."""
    connection = _ibis().connect(address, autocommit=False, **login_of(address))
    driver = connection.con
    driver.read_only = True
    # ibis runs every statement in a separate transaction. Here all share one, which never commits.
    driver.transaction = nullcontext
    driver.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    # The quoting of values assumes that a backslash is an ordinary character.
    driver.execute("SET LOCAL standard_conforming_strings = on")
    # After its first query, a transaction can no longer become writable.
    driver.execute("SELECT count(*) FROM pg_catalog.pg_namespace")
    return connection


def types_of(query: str, connection: Connection) -> dict[str, object]:
    """Return the column types of a query, without creating a view as ibis does."""
    types = require("ibis.expr.datatypes", extra="sql", purpose="reading databases")
    _refuse_acting(query, connection)
    with connection.con.cursor() as cursor:
        # A prepared query cannot contain more than one statement.
        cursor.execute(f"SELECT * FROM ({query}) AS asked LIMIT 0", prepare=True)
        columns = [(column.name, column.type_code) for column in cursor.description]
        cursor.execute("SELECT oid::int8 FROM pg_catalog.pg_type WHERE typtype = 'e'")
        types_by_code = {**_TYPES, **{code: "string" for (code,) in cursor.fetchall()}}
    refuse_twins([column for column, _ in columns], "the query")
    return {column: types_by_code.get(code, types.unknown) for column, code in columns}


def _refuse_acting(query: str, connection: Connection) -> None:
    """Reject functions that may write, because even a read-only transaction can call them.

    Only PostgreSQL's own functions that are not volatile are known to be read-only. A function that
    an extension declares stable may run the SQL it receives, as crosstab does, and dblink in that
    SQL writes through a separate connection.
    """
    sqlglot = require("sqlglot", extra="sql", purpose="reading databases")
    tokens = sqlglot.tokenize(query, read=connection.dialect)
    names = {
        name
        for token, after in pairwise(tokens)
        if after.token_type == sqlglot.TokenType.L_PAREN
        for name in (token.text, token.text.lower())
    }
    function = connection.con.execute(
        "SELECT proname::text, oid::int8 >= %s FROM pg_catalog.pg_proc WHERE proname = ANY(%s) "
        "AND (provolatile = 'v' OR oid::int8 >= %s OR proname = ANY(%s)) ORDER BY 2, 1 LIMIT 1",
        [_FIRST_FOREIGN, sorted(names), _FIRST_FOREIGN, list(_RUN_TEXT)],
    ).fetchone()
    if function is None:
        return
    name, is_foreign = function
    if is_foreign:
        raise UsageError(
            f"a query must be read-only; {name} is not a built-in PostgreSQL function, so it may "
            "have side effects. If you trust it, create a view of the query and read the view "
            f"with {param('table=')}"
        )
    raise UsageError(
        "a query must be read-only and return the same rows each time; PostgreSQL declares that "
        f"{name} may have side effects or a varying result"
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
_ONE_SELECT = "a query must be a single SELECT without side effects"
# Counting needs none of these, so they are locked before counting.
_LOCKS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET memory_limit = '1GB'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
# Types that SQLite values may have, by the declared family of the column.
_STORED = {"text": {"text"}, "whole numbers": {"integer"}, "fractions": {"integer", "real"}}


# The relation to count, and a function that interrupts a count that blocks Python, if any.
Opened = tuple[object, Callable[[], None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Location of a database, and its table or query to count."""

    scheme: str
    address: str = field(repr=False)  # path, or full address of a server
    table: str | None
    query: str | None

    @property
    def name(self) -> str:
        """Display name of the table, without passwords."""
        table = "" if self.table is None else f"table {self.table!r} of "
        return f"{table if self.query is None else 'the query of '}{masked(self.address)}"


def known_database(source: object, *, table: str | None, query: str | None) -> Database | None:
    """Return a database and its table or query, or None for any other source."""
    named = table is not None or query is not None
    if not isinstance(source, (str, os.PathLike)):
        location = None
    elif (text := os.fspath(source)) and (match := URL.match(text)):
        scheme = match[1].lower()
        location = None if scheme in STORES else _by_address(scheme, text)
    elif _KEYWORDS.search(text) and not os.path.exists(text):
        raise UsageError("a database must be an address, e.g. 'postgresql://user@host/name'")
    elif named or Path(text).suffix.lower() in SUFFIXES:
        location = _scheme_of(text), text
    else:
        return None
    if location is None:
        if named:
            raise UsageError(
                f"{param('table=')} and {param('query=')} are for databases: a SQLite or DuckDB "
                f"file, or an address such as 'postgresql://…'; got {type(source).__name__}"
            )
        return None
    if table is not None and query is not None:
        raise UsageError(f"use {param('table=')} or {param('query=')}, not both")
    for argument, value in (("table", table), ("query", query)):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise UsageError(f"{param(argument)} must be text; got {value!r}")
    return Database(scheme=location[0], address=location[1], table=table, query=query)


def count_database(database: Database, ask: Callable[[Frame], TableQuery]) -> Outcomes:
    """Open a database, count its table or query, and close it."""
    opened = _opened_duckdb if database.scheme == "duckdb" else _opened_ibis
    fault: OutperformError
    try:
        with quiet(), opened(database) as (relation, interrupt):
            count = partial(_counted, database, relation, ask)
            return count() if interrupt is None else interruptible(count, interrupt)
    except OutperformError as error:
        fault = type(error)(without_secrets(str(error), database.address))
    except Exception as error:  # each driver has different exceptions
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        message = without_secrets(f"{database.name} cannot be read: {line}", database.address)
        fault = MissingExtraError(message) if isinstance(error, ImportError) else DataError(message)
    raise fault  # outside the handler, so the traceback does not show the driver's message


def _counted(database: Database, relation: object, ask: Callable[[Frame], TableQuery]) -> Outcomes:
    frame = known_frame(relation, name=database.name)
    if frame is None:
        raise DataError(f"{database.name} is not a table")
    query = ask(frame)
    if database.scheme == "sqlite":
        _refuse_twins(frame)
        _refuse_loose_types(cast("_Table", relation), frame, query)
    return count_frame(frame, query)


def _by_address(scheme: str, address: str) -> tuple[str, str]:
    kind, plus, _ = scheme.partition("+")  # removes the driver from SQLAlchemy's postgresql+psycopg
    if plus and kind in SCHEMES:
        scheme, address = kind, f"{kind}{address[len(scheme) :]}"
    if scheme not in SCHEMES:
        added = sorted(scheme for source in SOURCES.added() for scheme in source.schemes)
        raise UsageError(
            f"{unknown_name('kind of database', scheme, (*SCHEMES, *added))}. Files must be on "
            "this machine or in an object store: s3://, gs:// or abfs://"
        )
    if scheme not in ("sqlite", "duckdb"):
        check_address(address)
        return "postgres" if scheme.startswith("postgres") else scheme, address
    path = unquote(address.partition("://")[2].partition("?")[0])
    path = path[1:] if re.match(r"/[A-Za-z]:", path) else path  # a Windows drive
    if _scheme_of(path) != scheme:
        raise DataError(f"{masked(path)} is not a {scheme} database")
    return scheme, path


def _scheme_of(path: str) -> str:
    """Return the type of a database file from its first bytes."""
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
    raise DataError(f"{path} is neither a SQLite nor a DuckDB database")


@contextmanager
def _opened_duckdb(database: Database) -> Iterator[Opened]:
    duckdb = require("duckdb", extra="cli", purpose="reading databases of DuckDB")
    with workspace() as folder, duckdb.connect(database.address, read_only=True) as connection:
        # By default, data that do not fit in memory would be written next to the database.
        connection.execute(f"SET temp_directory = {text(folder)}")
        for lock in _LOCKS:
            connection.execute(lock)
        if database.query is not None:
            kinds = [statement.type for statement in duckdb.extract_statements(database.query)]
            if kinds != [duckdb.StatementType.SELECT]:
                raise UsageError(_ONE_SELECT)
            refuse_twins(connection.sql(database.query).columns, database.name)
            # The query is stored as a view, because it may end with a semicolon and a comment.
            connection.execute(f"CREATE TEMP VIEW outperform_query AS {database.query}")
            relation = connection.sql("FROM temp.outperform_query")
        else:
            rows = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
            ).fetchall()
            parts = _table(database.table, rows, "main")
            relation = connection.sql("FROM " + ".".join(_quoted(part) for part in parts))
        yield relation, connection.interrupt


@contextmanager
def _opened_ibis(database: Database) -> Iterator[Opened]:
    connection = _connected(_ibis(), database)
    try:
        if database.query is not None:
            query = _select(database.query, connection)
            types = types_of(query, connection) if database.scheme == "postgres" else None
            relation = connection.sql(query, schema=types)
        else:
            schema, _, _ = (database.table or "").rpartition(".")
            rows = [("", table) for table in connection.list_tables()]
            if schema and ("", database.table) not in rows:
                rows += [(schema, table) for table in connection.list_tables(database=schema)]
            schema, name = _table(database.table, rows, "")
            relation = connection.table(name, database=schema or None)
        # Other drivers check for signals while they wait for the server.
        yield relation, connection.con.interrupt if database.scheme == "sqlite" else None
    finally:
        connection.disconnect()


def _connected(ibis: _Ibis, database: Database) -> Connection:
    if database.scheme == "postgres":
        return connected(database.address)
    if database.scheme != "sqlite":
        return ibis.connect(database.address)
    import sqlite3

    address = Path(database.address).absolute().as_uri() + "?mode=ro"
    # SQLite has no booleans: a column declared as one contains 0 and 1, or any other numbers.
    integers = dict.fromkeys(("BOOLEAN", "BOOL"), "int64")
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        return ibis.sqlite.from_connection(connection, type_map=integers)
    except BaseException:  # a damaged file
        connection.close()
        raise


def _table(requested: str | None, rows: Sequence[tuple[str, str]], home: str) -> tuple[str, str]:
    """Return the schema and name of the requested table; an unknown name raises an error."""
    known = {
        name if schema == home else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    if requested is None:
        tables = ", ".join(map(repr, list(known)[:20]))
        raise UsageError(
            f"select a table, e.g. {param('table=', 'preds')}, or pass a query; tables: {tables}"
        )
    if requested not in known:
        raise UsageError(unknown_name("table", requested, known))
    return known[requested]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _select(query: str, connection: Connection) -> str:
    """Return a query without comments and semicolon; a query that may write raises an error."""
    sqlglot = require("sqlglot", extra="sql", purpose="reading databases")
    words = sqlglot.expressions
    try:
        parsed = [
            statement
            for statement in sqlglot.parse(query, read=connection.dialect)
            if statement is not None and not isinstance(statement, words.Semicolon)
        ]
    except sqlglot.errors.SqlglotError as error:
        raise _no_query(error) from None
    writing = (words.DML, words.DDL, words.Command, words.Into, words.Lock)
    is_query = len(parsed) == 1 and isinstance(parsed[0], words.Query)
    if not is_query or any(isinstance(node, writing) for node in parsed[0].walk()):
        raise UsageError(_ONE_SELECT)
    # otherwise sqlglot drops unknown syntax
    strict = {"unsupported_level": sqlglot.ErrorLevel.RAISE}
    options = {"comments": False, "normalize_functions": False, **strict}
    try:
        return str(parsed[0].sql(dialect=connection.dialect, **options))
    except sqlglot.errors.SqlglotError as error:
        raise _no_query(error) from None


def _no_query(error: Exception) -> UsageError:
    line = str(error).partition("\n")[0]
    return UsageError(f"the query cannot be parsed: {line}")


def _refuse_twins(frame: Frame) -> None:
    """Raise an error for repeated column names, which SQLite renames, for example to ``y:1``."""
    names = [re.sub(r":[0-9]+$", "", name) for name in frame.names]
    refuse_twins(list(frame.names) if len(set(names)) == len(names) else names, frame.name)


def _refuse_loose_types(table: _Table, frame: Frame, query: TableQuery) -> None:
    """Raise an error if values do not have the type of their column, as SQLite allows."""
    others = [name for name in (query.count, query.weight, query.groups) if name is not None]
    columns = (*query.columns, *others)
    names = [name for name in columns if frame.column(name).family in _STORED]
    kinds = table.select(**{f"k{index}": table[name].typeof() for index, name in enumerate(names)})
    stored = kinds.distinct().to_pyarrow().to_pydict() if names else {}
    for index, name in enumerate(names):
        family = frame.column(name).family
        unexpected = {kind for kind in stored[f"k{index}"] if kind} - _STORED[family] - {"null"}
        if unexpected:
            raise DataError(
                f"column {name!r} of {frame.name} is declared as {family} but contains values of "
                f"type {', '.join(sorted(unexpected))}; cast it in a query"
            )
