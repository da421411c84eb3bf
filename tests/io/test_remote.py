"""Files in object stores: the same counts as from this machine, and no word of credentials."""

from collections.abc import Iterator

import pytest

from outperform.errors import UsageError
from outperform.io.remote import files_of
from tests.io.object_store import BUCKET, KEY, SECRET, Store, running

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


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (f"s3://{BUCKET}/nothing/here.csv", "no file"),
        (f"s3://{BUCKET}/nothing*.csv", "no file matches"),
        ("s3://no-such-bucket/a.csv", "no file"),
        ("s3://*/a.csv", "cannot be a pattern"),
        ("s3:///a.csv", "names no bucket"),
        (f"s3://{KEY}:{SECRET}@{BUCKET}/a.csv", "neither credentials nor options"),
        (f"s3://{BUCKET}/a.csv?secret_key={SECRET}", "neither credentials nor options"),
    ],
)
def test_addresses_that_lead_nowhere(store: Store, address: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        files_of(address, store.options)
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_options_that_no_store_takes(store: Store) -> None:
    with pytest.raises(UsageError, match="what S3FileSystem of pyarrow takes") as caught:
        files_of(f"s3://{BUCKET}/a.csv", {**store.options, "secrett_key": SECRET})
    assert SECRET not in str(caught.value)
    with pytest.raises(UsageError, match="the value of 'secret_key' is of type bytes"):
        files_of(f"s3://{BUCKET}/a.csv", {"secret_key": SECRET.encode()})  # type: ignore[dict-item]
    assert SECRET not in repr(files_of(store.put("r.csv", ROWS), store.options))
