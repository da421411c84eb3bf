"""Files in object stores: the same counts as from this machine, and no word of credentials."""

import gzip
import io
import json
import logging
import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main as run
from outperform.errors import DataError, OutperformError, UsageError
from outperform.io.addresses import Storage
from outperform.io.formats import Dialect
from outperform.io.remote import files_of, storage_of
from tests.io.object_store import BUCKET, KEY, SECRET, Store, running
from tests.loops import each

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = b"label,old,new\nspam,ham,spam\nham,ham,ham\nspam,spam,spam\n"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with running() as found:
        yield found


def test_files_of_lists_folders_and_patterns(store: Store) -> None:
    for key in ("list/day=1/a.csv", "list/day=2/b.csv", "list/day=2/_tmp/c.csv", "list/_SUCCESS"):
        store.put(key, ROWS)
    base = f"s3://{BUCKET}/list"
    asked = {
        "": ["day=1/a.csv", "day=2/b.csv"],
        "/": ["day=1/a.csv", "day=2/b.csv"],
        "/day=*": ["a.csv", "b.csv"],
        "/day=[2]/": ["b.csv"],
        "/**/a.csv": [""],
        "/day=1/?.csv": [""],
    }
    for pattern, below in asked.items():
        found = files_of(base + pattern, store.options)
        assert [one.below for one in found] == below
        assert all(one.size == len(ROWS) and one.address.startswith(base) for one in found)
    with files_of(f"{base}/day=1/a.csv", store.options)[0].open() as stream:
        assert stream.read() == ROWS


def test_a_marker_is_that_of_the_content(store: Store) -> None:
    address = store.put("marker/a.csv", ROWS)

    def marker() -> str:
        return files_of(address, store.options)[0].marker()

    first = marker()
    assert marker() == first
    store.put("marker/a.csv", ROWS[::-1])  # as many bytes, in the same second
    assert marker() != first
    store.put("marker/a.csv", ROWS)
    assert marker() == first


@each(
    ("address", "told"),
    [
        (f"s3://{BUCKET}/nothing/here.csv", "no file"),
        (f"s3://{BUCKET}/nothing*.csv", "no file matches"),
        ("s3://no-such-bucket/a.csv", "no bucket 'no-such-bucket'"),
        ("s3://no-such-bucket/*.csv", "no bucket 'no-such-bucket'"),
        ("s3://*/a.csv", "must not be a pattern"),
        ("s3:///a.csv", "has no bucket"),
        (f"s3://{KEY}:{SECRET}@{BUCKET}/a.csv", "must not contain credentials or options"),
        (f"s3://{BUCKET}/a.csv?secret_key={SECRET}", "must not contain credentials or options"),
    ],
)
def test_addresses_that_lead_nowhere(store: Store, address: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        files_of(address, store.options)
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_options_that_no_store_takes(store: Store) -> None:
    with pytest.raises(UsageError, match="'secrett_key'; did you mean 'secret_key'") as caught:
        files_of(f"s3://{BUCKET}/a.csv", {**store.options, "secrett_key": SECRET})
    assert SECRET not in str(caught.value)
    with pytest.raises(UsageError, match="several values for 'secret_key'") as caught:
        files_of(f"s3://{BUCKET}/a.csv", {**store.options, "secret": SECRET + "x"})
    assert SECRET not in str(caught.value)
    with pytest.raises(UsageError, match="the value of 'secret_key' has type bytes"):
        files_of(f"s3://{BUCKET}/a.csv", {"secret_key": SECRET.encode()})  # type: ignore[dict-item]
    assert SECRET not in repr(files_of(store.put("r.csv", ROWS), store.options))


# Where a private store is


@pytest.fixture
def bare(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """Let the machine know credentials, and nothing of where the store is."""
    for name in [*os.environ]:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    store.put("private/a.csv", ROWS)
    return store


PRIVATE = f"s3://{BUCKET}/private/"
VARIABLES = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_S3_ENDPOINT"]


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_endpoint_of_the_machine_is_obeyed(
    bare: Store, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"{bare.url}/")
    assert [one.size for one in files_of(PRIVATE)] == [len(ROWS)]


def test_the_endpoint_of_s3_comes_before_that_of_all_services(
    bare: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", bare.url)
    assert len(files_of(PRIVATE)) == 1
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    assert len(files_of(PRIVATE, {"endpoint_override": bare.url})) == 1


@pytest.mark.parametrize(
    "text",
    [
        "[default]\nendpoint_url = {url}\n",
        "[profile ours]\nendpoint_url = {url}\n",
        "[profile ours]\nservices = here\n[services here]\ns3 =\n  endpoint_url = {url}\n",
    ],
)
def test_the_endpoint_of_a_profile_is_obeyed(
    bare: Store, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    Path(os.environ["AWS_CONFIG_FILE"]).write_text(text.format(url=bare.url), encoding="utf-8")
    if "ours" in text:
        monkeypatch.setenv("AWS_PROFILE", "ours")
    assert storage_of(PRIVATE, None).options == {"endpoint_override": bare.url}
    monkeypatch.setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
    assert storage_of(PRIVATE, None).options == {}


def test_nothing_is_made_of_a_machine_without_an_endpoint(bare: Store) -> None:
    assert storage_of(PRIVATE, None).options == {}
    assert storage_of("gs://bucket/x", Storage({"key": "x"})).options == {"key": "x"}


@pytest.mark.parametrize(
    "names",
    [
        ("aws_access_key_id", "aws_secret_access_key", "region_name", "endpoint_url"),
        ("key", "secret", "region", "endpoint_url"),
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"),
    ],
)
def test_the_names_of_other_tools_are_taken(bare: Store, names: tuple[str, ...]) -> None:
    values = [bare.options[one] for one in ("access_key", "secret_key", "region")]
    options = dict(zip(names, [*values, bare.url], strict=True))
    assert len(files_of(PRIVATE, options)) == 1


def table(n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    right = [rng.random(n) < share for share in (0.8, 0.7)]
    old, new = (np.where(one, truth, rng.integers(0, 3, n)) for one in right)
    return pa.table(
        {
            "item": [f"i{number}" for number in range(n)],
            "user_id": rng.integers(0, n // 5, n),
            "label": pa.array([f"c{one}" for one in truth]).dictionary_encode(),
            "old": [f"c{one}" for one in old],
            "new": [f"c{one}" for one in new],
            "score": rng.random(n),
            "score_2": rng.random(n),
            "odd": [[1, 2]] * n,
        }
    )


def packed(rows: pa.Table, kind: str) -> bytes:
    sink = io.BytesIO()
    flat = rows.drop_columns(["odd"])
    if kind == "parquet":
        pq.write_table(rows, sink, row_group_size=101)
    elif kind == "arrow":
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
    elif kind in ("csv", "csv.gz"):
        plain = flat.to_pandas().to_csv(index=False).encode()
        sink.write(gzip.compress(plain) if kind == "csv.gz" else plain)
    else:
        sink.write(flat.to_pandas().to_json(orient="records", lines=True).encode())
    return sink.getvalue()


@each("kind", ["parquet", "arrow", "csv", "csv.gz", "jsonl"])
def test_a_store_counts_as_this_machine_does(store: Store, tmp_path: Path, kind: str) -> None:
    body = packed(table(500), kind)
    address = store.put(f"same/{kind}/a.{kind}", body)
    (tmp_path / f"a.{kind}").write_bytes(body)
    asked = {"truth": "label", "models": ["old", "new"], "id": "item"}
    here = op.read(tmp_path / f"a.{kind}", **asked)
    there = op.read(address, **asked, storage_options=store.options)
    assert here == there
    assert here.n == 500
    assert [one.name for one in here.findings] == [one.name for one in there.findings]
    assert there.sources[0].name == address
    scores = {"truth": "label", "models": ["score", "score_2"]}
    ours = op.read_scores(address, **scores, storage_options=store.options)
    theirs = op.read_scores(tmp_path / f"a.{kind}", **scores)
    np.testing.assert_array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_and_patterns(store: Store, tmp_path: Path, kind: str) -> None:
    for day in (1, 2, 3):
        name = f"day=2026-01-0{day}/a.{kind}"
        body = packed(table(100 * day, seed=day), kind)
        store.put(f"folder-{kind}/{name}", body)
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(body)
    store.put(f"folder-{kind}/_SUCCESS", b"")
    base = f"s3://{BUCKET}/folder-{kind}"
    asked: dict[str, Any] = {"truth": "label", "models": ["old", "new"]}
    cases: list[tuple[str, dict[str, Any], int]] = [
        ("", {}, 600),
        ("", {"where": {"day": "2026-01-02"}}, 200),
        ("", {"where": {"day": ["2026-01-02", "2026-01-03"]}}, 500),
        ("", {"by": ["day"]}, 600),
        ("/day=*/a.*", {}, 600),
        ("/day=2026-01-0[12]", {}, 300),
        (f"/**/*.{kind}", {}, 600),
    ]
    for pattern, more, n in cases:
        there = op.read(base + pattern, **asked, **more, storage_options=store.options)
        here = op.read(f"{tmp_path}{pattern}", **asked, **more)
        assert there == here
        assert there.n == n
    ours = op.compare_slices(
        base, truth="label", a="old", b="new", by=["day"], metric="accuracy", rope=0.01,
        random_state=0, storage_options=store.options,
    )  # fmt: skip
    theirs = op.compare_slices(
        str(tmp_path), truth="label", a="old", b="new", by=["day"], metric="accuracy", rope=0.01,
        random_state=0,
    )  # fmt: skip
    assert ours.to_frame().equals(theirs.to_frame())


def test_a_join_and_counts_in_a_store(store: Store) -> None:
    files = {
        name: store.put(f"join/{name}.csv", f"id,label\n1,a\n2,{last}\n".encode())
        for name, last in (("gold", "b"), ("bert", "b"), ("gpt", "a"))
    }
    seen = op.read(files, id="id", label="label", storage_options=store.options)
    assert (seen.n, seen.models) == (2, ("bert", "gpt"))
    shards = [store.put(f"counts/{day}.json", seen.to_json().encode()) for day in (1, 2)]
    assert op.read(shards[0], storage_options=store.options) == seen
    folder = op.read(f"s3://{BUCKET}/counts", storage_options=store.options)
    assert folder.n == 4


def test_a_file_that_is_damaged_or_empty(store: Store) -> None:
    body = packed(table(100), "parquet")
    asked: dict[str, Any] = {"truth": "label", "models": ["old", "new"]}
    for name, wrong, told in (
        ("cut.parquet", body[:-100], "cannot be read"),
        ("holed.parquet", body[:200] + bytes(2000) + body[2200:], "cannot be"),
        ("empty.parquet", b"", "is empty"),
        ("cut.csv.gz", packed(table(100), "csv.gz")[:-50], "damaged gzip"),
        ("a.parquet.gz", body, "compressed internally"),
    ):
        address = store.put(f"damaged/{name}", wrong)
        with pytest.raises(DataError, match=told) as caught:
            op.read(address, **asked, storage_options=store.options)
        assert address in str(caught.value)


def test_no_output_has_a_word_of_the_credentials(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG, logger="outperform")
    store.put("secret/a.parquet", packed(table(100), "parquet"))
    store.put("secret/b.csv", ROWS)
    options = tmp_path / "store.json"
    options.write_text(json.dumps(store.options), encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({**store.options, "secrett": SECRET}), encoding="utf-8")
    broken = tmp_path / "broken.json"
    broken.write_text(f'{{"secret_key": "{SECRET}", ', encoding="utf-8")
    gone = {**store.options, "endpoint_override": f"http://{KEY}:{SECRET}@127.0.0.1:9"}
    base = f"s3://{BUCKET}/secret"
    two = ["--truth", "label", "--a", "old", "--b", "new", "--metric", "accuracy"]
    for source, file, code in (
        (f"{base}/a.parquet", options, 0),
        (f"{base}/b.csv", options, 0),
        (f"{base}/none.csv", options, 2),
        (f"s3://{KEY}:{SECRET}@{BUCKET}/b.csv", options, 2),
        (f"{base}/b.csv", wrong, 2),
        (f"{base}/b.csv", broken, 2),
        (f"{base}/b.csv", tmp_path / "none.json", 2),
    ):
        for form in ("text", "json") if code == 0 else ("text",):
            output = tmp_path / "out"
            typed = ["compare", source, *two, "--storage-options", str(file), "--format", form]
            assert run([*typed, "-o", str(output), "--seed", "0"]) == code, typed
            heard = capsys.readouterr()
            text = output.read_text(encoding="utf-8") if output.exists() else ""
            everything = heard.out + heard.err + text + caplog.text
            for secret in (KEY, SECRET, quote(SECRET, safe=""), quote(SECRET)):
                assert secret not in everything
            output.unlink(missing_ok=True)
    with pytest.raises(OutperformError) as caught:
        op.read(f"{base}/b.csv", truth="label", storage_options={**store.options, "scheme": "ftp"})
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    seen = op.read(
        f"{base}/b.csv", truth="label", models=["old", "new"], storage_options=store.options
    )
    assert SECRET not in repr(seen) + seen.to_json() + repr(seen.sources)
    assert SECRET not in repr(Storage.of(store.options)) + repr(Dialect(storage=Storage(gone)))
    planted = Storage.of(store.options)
    assert planted is not None
    assert planted.hide(f"no {SECRET}, {quote(SECRET, safe='')} or {KEY}") == "no ***, *** or ***"


@each("command", ["estimate", "rank", "gate", "count", "slices", "report"])
def test_every_command_reads_from_a_store(store: Store, tmp_path: Path, command: str) -> None:
    address = store.put("commands/a.parquet", packed(table(200), "parquet"))
    options, output = tmp_path / "store.json", tmp_path / "out"
    options.write_text(json.dumps(store.options), encoding="utf-8")
    models = {
        "estimate": ["--model", "old"],
        "rank": ["--model", "old", "--model", "new"],
        "count": ["--model", "old", "--model", "new"],
        "gate": ["--baseline", "old", "--candidate", "new"],
    }.get(command, ["--a", "old", "--b", "new"])
    models += ["--by", "label"] if command == "slices" else []
    models += [] if command in ("count",) else ["--metric", "accuracy", "--seed", "0"]
    typed = [command, address, "--truth", "label", *models, "--storage-options", str(options)]
    assert run([*typed, "-o", str(output)]) in (0, 1, 4)
    assert output.stat().st_size
