"""Shards: outcomes counted elsewhere add up to what one count of everything gives."""

from __future__ import annotations

import gzip
import random

import pytest

import outperform as op
from outperform.errors import DataError, UsageError

LABELS = ["ham", "spam", "", "01"]


def rows(n, seed):
    source = random.Random(seed)
    return [tuple(source.choice(LABELS) for _ in range(3)) for _ in range(n)]


def counted(table, **options):
    truth, old, new = map(list, zip(*table, strict=True))
    return op.Outcomes.from_labels(truth, {"old": old, "new": new}, **options)


@pytest.fixture
def shards(tmp_path):
    """Return a folder of seven shards, and all that they count."""
    parts = [rows(1 + 5 * day, seed=day) for day in range(7)]
    for day, part in enumerate(parts):
        (tmp_path / f"{day}.json").write_text(counted(part).to_json(), "utf-8")
    return tmp_path, counted([row for part in parts for row in part])


def test_a_folder_adds_up_to_the_whole(shards):
    folder, whole = shards
    assert op.read(folder) == whole
    assert op.read(str(folder / "*.json")) == whole


def test_any_order_gives_the_same(shards):
    folder, whole = shards
    paths = sorted(folder.iterdir())
    for seed in range(20):
        random.Random(seed).shuffle(paths)
        assert op.read(paths) == whole


def test_shards_of_shards_add_up(shards):
    folder, whole = shards
    paths = sorted(folder.iterdir())
    (folder / "x.json").write_text(op.read(paths[:3]).to_json(), "utf-8")
    for path in paths[:3]:
        path.unlink()
    assert op.read(folder) == whole


def test_slices_add_up_too(tmp_path):
    table = rows(40, seed=3)
    days = [f"d{row % 3}" for row in range(40)]
    for number, part in enumerate((slice(0, 11), slice(11, 40))):
        seen = counted(table[part], by={"day": days[part]})
        (tmp_path / f"{number}.json").write_text(seen.to_json(), "utf-8")
    assert op.read(tmp_path) == counted(table, by={"day": days})


def test_huge_counts_stay_whole(tmp_path):
    seen = op.Outcomes.from_counts(["a", "b"], {"m": ["a", "a"]}, [2**63 - 1, 2**62])
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(seen.to_json(), "utf-8")
    assert op.read(tmp_path).n == 3 * (2**63 - 1 + 2**62)


def test_one_file_may_be_packed(shards):
    folder, _ = shards
    packed = folder / "0.json.gz"
    packed.write_bytes(gzip.compress((folder / "0.json").read_bytes()))
    assert op.read(packed) == op.read(folder / "0.json")


def test_models_are_chosen_and_renamed(shards):
    folder, whole = shards
    assert op.read(folder, models=["new"]) == whole.select(["new"])
    assert op.read(folder, models={"m": "new"}).models == ("m",)
    with pytest.raises(UsageError, match="did you mean 'new'"):
        op.read(folder, models=["nw"])


def test_what_must_be_asked_before(shards):
    folder, _ = shards
    with pytest.raises(DataError, match="the part '0' has no date in its name, such as day="):
        op.read(folder, by="day")


def test_a_shard_of_other_models_is_named(shards):
    folder, _ = shards
    other = op.Outcomes.from_labels(["ham"], {"older": ["ham"]})
    (folder / "5a.json").write_text(other.to_json(), "utf-8")
    with pytest.raises(DataError, match=r"5a\.json cannot be added to the files before it"):
        op.read(folder)


@pytest.mark.parametrize("damage", ["cut", "flipped", "rows"])
def test_a_damaged_shard_is_named(shards, damage):
    folder, _ = shards
    path = folder / "3.json"
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[:-20],
            "flipped": data.replace(b'"schema": 2', b'"schema": 9'),
            "rows": b'{"label": "ham", "old": "ham"}\n',
        }[damage]
    )
    with pytest.raises(DataError, match=r"3\.json"):
        op.read(folder)


def test_other_files_need_a_column_of_the_truth(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": "ham", "old": "ham"}\n')
    (tmp_path / "a.csv").write_text("label,old\nham,ham\n")
    for source in (tmp_path / "a.jsonl", tmp_path / "a.csv"):
        told = r"pass the column of the true labels, e\.g\. truth='label'.*: 'label', 'old'"
        with pytest.raises(UsageError, match=told):
            op.read(source)
    with pytest.raises(UsageError, match="a list of files must contain at least one"):
        op.read([])
    with pytest.raises(UsageError, match=r"no file .*; did you mean 'a\.jsonl'"):
        op.read(tmp_path / "a.json")
