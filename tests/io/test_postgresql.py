"""PostgreSQL itself: counted in the server, nothing written, no password told."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import pytest

import outperform as op
from outperform.errors import DataError, OutperformError, UsageError
from tests.io.payloads import PAYLOADS, attempts
from tests.io.postgres_server import CANARY, SECRET, Wire, started

ROWS = [("a", "b", 2), ("b", "b", 1), ("a", "a", 3), ("a", "b", 1), ("c", "a", 1)]
COUNTS = Counter((y, m) for y, m, _ in ROWS)
READ = {"truth": "y", "models": ["m"]}
LOST = r"cannot be (counted|read)"
GIVEN = ("args", "address", "source", "text", "argument")
# Ten thousand million rows: no machine counts them before it is interrupted.
ENDLESS = (
    "SELECT (a % 20)::text AS y, (b % 20)::text AS m "
    "FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b"
)


def counts(seen):
    """Return outcomes as a counter of rows, the truth first."""
    (table,) = seen.tables
    pairs = zip(table.cells.tolist(), table.counts.tolist(), strict=True)
    return Counter({tuple(seen.labels[one] for one in cell): number for cell, number in pairs})


@pytest.fixture(scope="module")
def server():
    """Return a server with a few small tables."""
    with started() as found:
        with found.connect() as connection:
            _fill(connection)
        yield found


def _fill(connection):
    connection.execute('CREATE TABLE preds (y TEXT, m TEXT, w INTEGER, "o""dd;--" TEXT)')
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO preds VALUES (%s, %s, %s, 'x')", ROWS)
        connection.execute("CREATE TABLE odd (y TEXT, m TEXT)")
        cursor.executemany("INSERT INTO odd VALUES (%s, 'a')", [(one,) for one in PAYLOADS])
    connection.execute("CREATE SCHEMA deep")
    connection.execute("CREATE TABLE deep.more AS SELECT * FROM preds WHERE y <> 'c'")
    connection.execute("CREATE SEQUENCE numbers")
    connection.execute("CREATE TYPE kind AS ENUM ('a', 'b')")
    connection.execute("CREATE TABLE kinds (y kind, m kind, t boolean, d date, s float8)")
    connection.execute(
        "INSERT INTO kinds VALUES ('a', 'b', true, now(), 1), ('a', 'a', NULL, now(), 0.5)"
    )
    connection.execute("CREATE EXTENSION pg_stat_statements")
    connection.execute("CREATE ROLE stranger LOGIN PASSWORD 'a+b c@d'")
    connection.execute("CREATE ROLE \"some@one\" LOGIN PASSWORD 'x'")
    connection.execute('GRANT SELECT ON preds TO stranger, "some@one"')


# What is counted


def test_a_table_or_a_query_is_counted(server):
    address = server.address
    assert counts(op.read(address, table="preds", **READ)) == COUNTS
    assert op.read(address, table="preds", **READ, count="w", where={"y": "a"}).n == 6
    assert op.read(address, table="deep.more", **READ).n == 4
    assert op.read(address, query="SELECT y, m FROM deep.more;", **READ).n == 4
    short = address.replace("postgresql", "postgres")
    assert op.read(short, table="preds", truth="y", models=['o"dd;--']).n == 5


@pytest.mark.parametrize("asked", [{"table": "kinds"}, {"query": "SELECT * FROM kinds"}])
def test_labels_keep_their_types(server, asked):
    seen = op.read(server.address, **asked, **READ)
    assert counts(seen) == {("a", "b"): 1, ("a", "a"): 1}
    assert op.read(server.address, **asked, **READ, where={"t": True}).n == 1
    for column, message in (
        ("d", "labels must be"),
        ("s", "not a label; if the true values are numbers"),
        ("t", "no value in 1 of 2"),
    ):
        with pytest.raises(DataError, match=message):
            op.read(server.address, **asked, truth=column, models=["m"])


@pytest.mark.parametrize("login", ["stranger:a+b%20c%40d", "some%40one:x"])
def test_a_login_is_read_as_libpq_reads_it(server, login):
    address = server.address.replace(f"tester:{CANARY}", login)
    assert op.read(address, table="preds", **READ).n == 5


def test_a_server_may_be_reached_by_its_socket(server):
    port = server.address.rpartition(":")[2].partition("/")[0]
    address = f"postgresql://tester:{CANARY}@/postgres?host={server.folder}&port={port}"
    assert op.read(address, table="preds", **READ).n == 5


def test_a_password_may_stay_in_the_file_for_it(server, tmp_path, monkeypatch):
    path = tmp_path / "pgpass"
    path.write_text(f"*:*:*:*:{SECRET}\n")
    path.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(path))
    assert op.read(server.address.replace(f":{CANARY}", ""), table="preds", **READ).n == 5


def test_all_statements_see_the_same_rows(server):
    # Ids are looked at before rows are counted; what comes in between belongs to neither.
    def add():
        server.ask("INSERT INTO busy VALUES ('b', 'b', 1) RETURNING y")

    with server.connect() as connection:
        connection.execute("CREATE TABLE busy AS SELECT 'a' AS y, 'a' AS m, 1 AS id")
    try:
        with Wire(server, word=b'"k0"', action=add) as wire:
            assert op.read(wire.address, table="busy", **READ, id="id").n == 1
        assert server.ask("SELECT count(*) FROM busy") == [(2,)]
    finally:
        with server.connect() as connection:
            connection.execute("DROP TABLE busy")


# What is not written


@pytest.mark.parametrize("share", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_no_payload_changes_the_database(server, share):
    before = server.dump()
    tried = [options for payload in PAYLOADS for options in attempts(payload)]
    for options in tried[::share]:
        with contextlib.suppress(OutperformError):
            op.read(server.address, **options)
    for payload in PAYLOADS[::share]:
        seen = op.read(server.address, table="odd", **READ, where={"y": payload})
        assert counts(seen) == {(payload, "a"): 1}
    assert server.dump() == before
    assert not Path("/tmp/outperform-was-here").exists()


CALLS = (
    "nextval('numbers')",
    "setval('numbers', 7)",
    "pg_catalog.nextval('numbers')",
    "\"nextval\" /* ( */ ('numbers')",
    "NEXTVAL('numbers')",
    "lo_import('/etc/hostname')",
    "lo_from_bytea(0, 'x')",
    "lo_export(1, '/tmp/outperform-was-here')",
    "pg_terminate_backend(1)",
    "pg_read_file('/etc/hostname')",
    "pg_reload_conf()",
    "pg_advisory_lock(7)",
    "set_config('default_transaction_read_only', 'off', false)",
    "set_config('transaction_read_only', 'off', true)",
    "query_to_xml('DELETE FROM preds RETURNING y', true, true, '')",
    "query_to_xmlschema('SELECT 1', true, true, '')",
    "query_to_xml_and_xmlschema('SELECT 1', true, true, '')",
    "ts_stat('SELECT to_tsvector(y) FROM preds')",
    "ts_rewrite('a'::tsquery, $$SELECT 'a'::tsquery, 'b'::tsquery$$)",
    "pg_sleep(60)",
    "random()",
)


def test_functions_that_may_do_something_are_refused(server):
    before = server.dump()
    for call in CALLS:
        for query in (
            f"SELECT y, ({call})::text AS m FROM preds",
            f"SELECT y, m FROM preds, LATERAL {call} AS f",
            f"SELECT y, m FROM preds WHERE (SELECT ({call})::text) IS NOT NULL",
        ):
            with pytest.raises(UsageError, match="must be read-only"):
                op.read(server.address, query=query, **READ)
    assert server.dump() == before


def _has(connection, extension):
    name = connection.execute(
        "SELECT name FROM pg_available_extensions WHERE name = %s", [extension]
    ).fetchone()
    if name is not None:
        connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    return name is not None


def test_functions_that_do_not_come_with_the_server_are_refused(server):
    """What others call stable may run any text: crosstab reads files, and dblink commits."""
    with server.connect() as connection:
        if not all(_has(connection, name) for name in ("tablefunc", "dblink")):
            pytest.skip("the server has no contributed extensions")
        connection.execute("CREATE TABLE aim (y TEXT)")
        connection.execute(
            "CREATE FUNCTION mine(text) RETURNS text STABLE LANGUAGE sql AS 'SELECT $1'"
        )
    insert = f"dblink_exec($a${server.address}$a$, $a$INSERT INTO aim VALUES (1)$a$)"
    write = f"$b$SELECT {insert}, 'x', '1'$b$"
    file = "$b$SELECT pg_read_file('/etc/hostname'), 'x', '1'$b$"
    calls = [
        *(f"crosstab({text}) AS f(y text, m text)" for text in (write, file)),
        f"crosstab({file}, 'SELECT 1') AS f(y text, m text)",
        *(f"crosstab{number}({file}) AS f" for number in (2, 3, 4)),
        f'public . "crosstab" ({file}) AS f(y text, m text)',
        "connectby('aim', 'y', 'y', 'a', 0) AS f(y text, m text, level int)",
        "dblink('', 'SELECT 1, 2') AS f(y text, m text)",
    ]
    before = server.dump()
    for call in calls:
        with pytest.raises(UsageError, match=r"must be read-only.*table="):
            op.read(server.address, query=f"SELECT 'a' AS y, 'b' AS m FROM {call}", **READ)
    with pytest.raises(UsageError, match="mine is not a built-in PostgreSQL function"):
        op.read(server.address, query="SELECT y, mine(m) AS m FROM preds", **READ)
    assert server.dump() == before
    own = "SELECT lower(y) AS y, coalesce(nullif(m, 'x'), y)::varchar(9) AS m FROM preds"
    assert op.read(server.address, query=own, **READ).n == len(ROWS)
    with server.connect() as connection:
        connection.execute("CREATE VIEW trusted AS SELECT y, mine(m) AS m FROM preds")
    assert counts(op.read(server.address, table="trusted", **READ)) == COUNTS


def test_a_view_that_writes_is_stopped_by_the_transaction(server):
    with server.connect() as connection:
        connection.execute("CREATE VIEW sly AS SELECT y, nextval('numbers')::text AS m FROM preds")
        connection.execute("CREATE VIEW object AS SELECT y, lo_create(0)::text AS m FROM preds")
    before = server.dump()
    with pytest.raises(DataError, match="read-only transaction"):
        op.read(server.address, table="sly", **READ)
    # Before version 16 the transaction lets large objects through, and is rolled back.
    with contextlib.suppress(DataError):
        op.read(server.address, table="object", **READ)
    assert server.dump() == before


def test_backslashes_are_only_backslashes(server):
    with server.connect() as connection:
        connection.execute("ALTER ROLE tester SET standard_conforming_strings = off")
    try:
        for value in ("\\'; SELECT pg_sleep(9); --", "\\", "\\\\' OR 1=1 --"):
            with pytest.raises(DataError, match="no rows left"):
                op.read(server.address, table="preds", **READ, where={"y": value})
    finally:
        with server.connect() as connection:
            connection.execute("ALTER ROLE tester RESET standard_conforming_strings")


# What is not told


def test_no_password_is_ever_told(server, caplog, capfd):
    address = server.address
    wrong = address.replace(CANARY, "wrong-" + CANARY)
    failures = [
        (address, {"table": "perds"}),
        (address, {"query": "SELECT nonsense"}),
        (wrong, {"table": "preds"}),
        (address.replace("@127", "@nowhere.invalid127"), {"table": "preds"}),
        (address.replace("/postgres", f"/none?password={CANARY}"), {"table": "preds"}),
        (address.replace("postgresql", "mysql"), {"table": "preds"}),
        (address.replace("postgresql", "postgressql"), {"table": "preds"}),
        (f"host=127.0.0.1 user=tester password={SECRET} dbname=postgres", {"table": "preds"}),
        (f"host=127.0.0.1 user=tester password = '{SECRET}'", {}),
    ]
    caplog.set_level("DEBUG")
    for given, options in failures:
        with pytest.raises(OutperformError) as caught:
            op.read(given, **READ, **options)
        told = "".join(traceback.format_exception(caught.value))
        assert caught.value.__cause__ is caught.value.__context__ is None
        _check_silence(told, *_locals(caught.value.__traceback__))
    _check_silence(caplog.text, *capfd.readouterr())
    with pytest.raises(DataError, match=r"invalid input.*\*\*\*"):
        op.read(address, **READ, query=f"SELECT '{SECRET}'::int AS y, 'a' AS m")


def _locals(trace):
    """Return what the frames of a traceback hold, except the address as the caller gave it."""
    for frame, _ in traceback.walk_tb(trace):
        if "outperform" in frame.f_code.co_filename:
            held = frame.f_locals.items()
            yield from (repr(value) for name, value in held if name not in GIVEN)


def _check_silence(*texts):
    for text in texts:
        assert SECRET not in text, text
        assert CANARY not in text, text


def test_the_log_of_the_server_has_no_password(server):
    known = len(server.log())
    op.read(server.address, table="preds", **READ)
    assert len(server.log()) > known
    _check_silence(*server.log()[known:])


def test_no_result_and_no_report_has_the_password(server, tmp_path):
    seen = op.read(server.address, table="preds", truth="y", models=["m", 'o"dd;--'])
    result = op.compare(seen, *seen.models, metric="accuracy")
    op.write_report(result, tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    facts = result.to_dict()
    _check_silence(repr(seen), repr(result), str(result), str(facts), str(seen.findings), report)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--table", "preds"), 0),
        (("--table", "perds"), None),
        (("--nonsense",), None),
    ],
)
def test_no_command_tells_the_password(server, options, code):
    pytest.importorskip("typer")
    command = (sys.executable, "-m", "outperform", "compare", server.address)
    columns = ("--truth", "y", "--a", "m", "--b", 'o"dd;--', "--metric", "accuracy")
    done = subprocess.run(
        (*command, *columns, *options), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code if code is not None else done.returncode > 1
    _check_silence(done.stdout, done.stderr)


# What happens when the line is cut, or whoever asked gives up


@pytest.mark.usefixtures("hears_ctrl_c")
def test_an_interrupt_ends_the_count(server):
    op.read(server.address, table="preds", **READ)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        op.read(server.address, query=ENDLESS, **READ)
    assert time.monotonic() - sent[0] < 10


def _kill(server, how, *, state="%"):
    """Return a function that ends whatever backend is counting."""

    def kill():
        found = server.ask(
            "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() "
            "AND query LIKE %s AND now() - query_start > interval '0.2 seconds'",
            [state],
        )
        for (pid,) in found:
            if how == "terminate":
                server.ask("SELECT pg_terminate_backend(%s)", [pid])
            else:
                crashes = server.crashes()
                os.kill(pid, signal.SIGKILL)
                # Until the server has noticed, it answers as if nothing had happened.
                while server.crashes() == crashes:
                    time.sleep(0.01)
        return bool(found)

    return kill


@pytest.mark.parametrize("how", ["terminate", "kill -9"])
def test_a_backend_that_dies_while_it_counts_is_a_data_error(server, how):
    kill = _kill(server, how)

    def killer():
        for _ in range(600):
            if kill():
                return
            time.sleep(0.05)

    thread = threading.Thread(target=killer)
    thread.start()
    with pytest.raises(DataError, match=LOST):
        op.read(server.address, query=ENDLESS, **READ)
    thread.join()
    server.wait()
    assert counts(op.read(server.address, table="preds", **READ)) == COUNTS


@pytest.mark.parametrize("how", ["terminate", "kill -9", "cut"])
def test_a_connection_that_is_lost_while_counts_are_fetched_is_a_data_error(server, how):
    # More than what lies in the buffers of a connection.
    many = "SELECT repeat(a::text, 9) AS y, 'a' AS m FROM generate_series(1, 300000) AS a"
    kill = _kill(server, how, state="FETCH%")
    done = []

    def act():
        time.sleep(0.3)  # so that the statement is old enough
        done.append(how if how == "cut" else kill())
        return how

    with Wire(server, limit=500_000, action=act) as wire, pytest.raises(DataError, match=LOST):
        op.read(wire.address, query=many, **READ)
    assert done in ([True], ["cut"])
    server.wait()


# Many rows


@pytest.fixture(scope="module")
def big(server):
    """Return the server with ten million rows of 20 classes."""
    with server.connect() as connection:
        connection.execute(
            "CREATE TABLE big AS SELECT 'class ' || i % 20 AS label, "
            "'class ' || (i + (i / 20 % 7 / 6) * (i / 140)) % 20 AS old, "
            "'class ' || (i + (i / 20 % 11 / 10) * (i / 220)) % 20 AS new "
            "FROM generate_series(1, 10000000) AS i"
        )
        connection.execute("ANALYZE big")
        connection.execute("SELECT pg_stat_statements_reset()")
    return server


@pytest.mark.slow
def test_ten_million_rows_are_counted_in_the_server(big):
    entries = len(big.log())
    with Wire(big) as wire:
        seen = op.read(wire.address, table="big", truth="label", models=["old", "new"])
        crossed = wire.bytes
    assert seen.n == 10_000_000
    expected = big.ask("SELECT label, old, new, count(*) FROM big GROUP BY 1, 2, 3")
    assert counts(seen) == {tuple(row): number for *row, number in expected}
    logged = big.log()[entries:]
    (statement,) = {
        found[1]
        for entry in logged
        if (found := re.search(r"DECLARE \S+ (?:NO )?\w* ?CURSOR FOR (SELECT.*)", entry, re.S))
        and "Query Text" not in entry
    }
    plan = "\n".join(line for (line,) in big.ask("EXPLAIN " + statement))
    assert re.search(r"(Hash|Group)Aggregate", plan), plan
    ran = [entry for entry in logged if "plan:" in entry and "Seq Scan on big" in entry]
    assert len(ran) == 2  # ours and the one of this test
    assert all(re.search(r"(Hash|Group)Aggregate", entry) for entry in ran)
    ((fetched,),) = big.ask(
        "SELECT sum(rows) FROM pg_stat_statements WHERE query NOT LIKE '%FROM big GROUP BY%'"
    )
    assert fetched < 10_000
    assert crossed < 1_000_000  # bytes


@pytest.mark.slow
@pytest.mark.parametrize("how", ["terminate", "kill -9"])
def test_ten_million_rows_are_never_fewer(big, how):
    kill, done = _kill(big, how, state="FETCH%"), []

    def killer():
        while not done:
            done.extend([True] * kill())
            time.sleep(0.01)

    thread = threading.Thread(target=killer)
    thread.start()
    with pytest.raises(DataError, match=LOST):
        op.read(big.address, table="big", truth="label", models=["old", "new"])
    done.append(True)
    thread.join()
    big.wait()
    assert op.read(big.address, table="big", truth="label", models=["old", "new"]).n == 10_000_000
