"""Of an address nobody reads more than user, host, port and database, whatever goes wrong."""

from __future__ import annotations

import traceback

import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import OutperformError, UsageError
from outperform.io.addresses import masked, secrets_in, without_secrets
from tests.loops import each

SECRETS = ("S3CR", "3T5X", "hunter2")
ADDRESSES = (
    "postgresql://u:S3CR3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR%2F3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR/3T5X@127.0.0.1:1/db",
    "postgresql://u:12/3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR?3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR#3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR@3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR:3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR&3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR;3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR=3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR 3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR\n3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR%zz3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR%003T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR[3T5X@127.0.0.1:1/db",
    "postgresql://u:S3CR]3T5X@127.0.0.1:1/db",
    "postgresql://:S3CR3T5X@/db?host=127.0.0.1&port=1",
    "postgresql://u:S3CR3T5X@[::1/db",
    "postgresql://u:S3CR3T5X@[::1]:1/db",
    "postgresql://u:S3CR3T5X@127.0.0.1:port/db",
    "postgresql://u:S3CR3T5X@127.0.0.1:99999/db",
    "postgresql://u:S3CR3T5X@127.0.0.1:1,127.0.0.1:2/db",
    "postgresql://u:S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?sslpassword=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?api_key=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?password=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?PassWord=S3CR@3T5X",
    "postgresql://u@127.0.0.1:1/db?password=S3CR&3T5X",
    "postgresql://u@127.0.0.1:1/db?S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?whatever=S3CR%203T5X",
    "postgresql://u@127.0.0.1:1/db?a=1;pwd=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db;pwd=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db#S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?sslmode=S3CR3T5X",
    "postgresql://u@127.0.0.1:1/db?connect_timeout=S3CR3T5X",
    "postgres://u:S3CR3T5X@nowhere.invalid/db?sslpassword=hunter2",
    "POSTGRESQL://u:S3CR3T5X@127.0.0.1:1/db",
    "postgresql:/u:S3CR3T5X@127.0.0.1:1/db",
    "postgresql:u:S3CR3T5X@127.0.0.1:1/db",
    "postgresql//u:S3CR3T5X@127.0.0.1:1/db",
    "postgressql://u:S3CR3T5X@127.0.0.1:1/db",
    "u:S3CR3T5X@127.0.0.1:1/db",
    "mysql://u:S3CR3T5X@127.0.0.1:1/db?ssl_key=hunter2",
    "bigquery://project/dataset?credentials=S3CR3T5X",
    "snowflake://u@account/db/schema?private_key_pwd=S3CR3T5X&token=hunter2",
    "databricks://token:S3CR3T5X@host/db?http_path=hunter2",
    "trino://u:S3CR3T5X@127.0.0.1:1/c/s?auth=hunter2",
    "mssql://u:S3CR3T5X@127.0.0.1:1/db?driver=x&Pwd=hunter2",
    "clickhouse://u:S3CR3T5X@127.0.0.1:1/db?secure=hunter2",
    "sqlite://u:S3CR3T5X@host/db",
    "duckdb:///nowhere/x.duckdb?motherduck_token=S3CR3T5X",
    "s3://AKIA:S3CR3T5X@bucket/preds.csv",
    "https://host/preds.csv?sig=S3CR3T5X",
    "host=127.0.0.1 user=u password=S3CR3T5X dbname=db",
    "dbname=db password = 'S3CR3T5X'",
)


def check_silence(*texts: str) -> None:
    for text in texts:
        assert not [secret for secret in SECRETS if secret in text], text


@each("address", ADDRESSES)
def test_no_message_has_a_secret(address, capsys):
    pytest.importorskip("ibis")
    with pytest.raises(OutperformError) as caught:
        op.read(address, table="t", truth="y", models=["m"])
    printed = "".join(traceback.format_exception(caught.value))
    check_silence(str(caught.value), repr(caught.value), printed)
    options = ["--truth", "y", "--model", "m", "--table", "t"]
    assert main(["count", address, *options]) in (2, 3, 5)
    check_silence(*capsys.readouterr())


@each("address", ADDRESSES)
def test_no_message_about_a_file_has_a_secret(address):
    with pytest.raises(OutperformError) as caught:
        op.read(address, truth="y", models=["m"])
    check_silence(str(caught.value))


@each("address", ADDRESSES[:-2])
def test_nothing_is_shown_that_may_be_a_secret(address):
    check_silence(masked(address))


@pytest.mark.parametrize(
    "address", ["postgresql://u:x@[::1/db", "postgresql://u:x/y@h/db", "postgresql://u:x@h:y/db"]
)
def test_an_address_that_cannot_be_read_is_refused(address):
    with pytest.raises(UsageError, match=r"^the address .* cannot be parsed; write .*%2F for /"):
        op.read(address, table="t", truth="y", models=["m"])


def test_what_a_driver_quotes_is_masked():
    address = "postgresql://u:p%40ss@h/db?sslpassword=word+one&retries=3"
    assert secrets_in(address) == ["word+one", "word one", "p%40ss", "p@ss", "3"]
    told = "bad 'word one', p@ss and p%40ss at port 5433 after 3 tries"
    assert without_secrets(told, address) == "bad '***', *** and *** at port 5433 after *** tries"


def test_names_of_files_stay_what_they_are():
    for name in ("preds.csv", "C:\\runs\\a@b.csv", "runs/mail@day=2026:01.csv", "a:b.parquet"):
        assert masked(name) == name


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "postgresql+asyncpg", "postgres"])
def test_the_addresses_of_sqlalchemy_are_taken(scheme):
    from outperform.io.databases import known_database

    found = known_database(f"{scheme}://user@host/runs", table="t", query=None)
    assert (found.scheme, found.address) == (
        "postgres",
        f"{scheme.partition('+')[0]}://user@host/runs",
    )


def test_a_file_address_is_a_path(tmp_path):
    path = tmp_path / "my preds%20.csv"
    path.write_text("label,old,new\na,a,b\nb,b,b\n", encoding="utf-8")
    asked = {"truth": "label", "models": ["old", "new"]}
    seen = op.read(path, **asked)
    for source in (path.as_uri(), f"file://localhost{path}", f"file:{path}", f"file://{path}"):
        assert op.read(source, **asked) == seen
    assert op.read([path.as_uri()], **asked) == seen
    with pytest.raises(UsageError, match="on another machine, 'elsewhere'"):
        op.read("file://elsewhere/preds.csv", **asked)
