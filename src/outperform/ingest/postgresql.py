"""PostgreSQL: one snapshot that nothing can write to, and queries that only look."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from outperform._optional import require
from outperform.errors import UsageError
from outperform.ingest.files.scan import refuse_twins

# The types that labels can have, by the numbers that PostgreSQL gives to its own.
_TYPES = {
    16: "boolean",
    20: "int64",
    21: "int16",
    23: "int32",
    **dict.fromkeys((19, 25, 1042, 1043), "string"),
    700: "float32",
    701: "float64",
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


def connected(address: str) -> Any:
    """Connect so that every statement sees the same rows and whatever one does is taken back."""
    ibis = require("ibis", extra="sql", purpose="reading databases")
    connection = ibis.connect(address, autocommit=False, **login_of(address))
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


def types_of(query: str, connection: Any) -> dict[str, Any]:
    """Return the types of a query's columns, for which ibis would make a view."""
    ibis = require("ibis", extra="sql", purpose="reading databases")
    _refuse_acting(query, connection)
    with connection.con.cursor() as cursor:
        # Prepared, because then it cannot be more than one statement.
        cursor.execute(f"SELECT * FROM ({query}) AS asked LIMIT 0", prepare=True)
        columns = [(one.name, one.type_code) for one in cursor.description]
        cursor.execute("SELECT oid::int8 FROM pg_catalog.pg_type WHERE typtype = 'e'")
        known = {**_TYPES, **{code: "string" for (code,) in cursor.fetchall()}}
    refuse_twins([column for column, _ in columns], "the query")
    unknown = ibis.expr.datatypes.unknown
    return {column: known.get(code, unknown) for column, code in columns}


def _refuse_acting(query: str, connection: Any) -> None:
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
            "that with table="
        )
    raise UsageError(
        f"a query must only read, and give the same rows each time; PostgreSQL says of {name} "
        "that it may do something or change its answer"
    )
