"""Stored baselines come back as they were, or are refused with the reason."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.ingest import read_baseline, read_outcomes, write_baseline, write_outcomes

IDS = ["a", "b", "ü\n", ""]
LABELS = [
    ["x", "y", "", "NA"],
    [1, 0, -(2**63), 2**63 - 1],
    [True, False, True, True],
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "baseline.parquet"


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("metadata", [None, {"model": 'it\'s "old"', "n": 4, "nested": [1, None]}])
def test_a_baseline_comes_back_as_it_was(path, labels, metadata):
    write_baseline(path, IDS, labels, labels[::-1], metadata)
    stored = read_baseline(path)
    assert stored.ids.tolist() == IDS
    assert stored.truth.tolist() == labels
    assert stored.predictions.tolist() == labels[::-1]
    assert list(map(type, stored.truth.tolist())) == list(map(type, labels))
    assert stored.metadata == (metadata or {})


def test_ids_are_text(path):
    write_baseline(path, [1, 2], ["x", "y"], ["x", "x"])
    assert read_baseline(path).ids.tolist() == ["1", "2"]


def test_a_baseline_is_an_ordinary_parquet_file(path):
    write_baseline(path, ["a", "b"], [1, 0], [1, 1])
    assert pq.read_table(path).to_pydict() == {
        "id": ["a", "b"],
        "truth": [1, 0],
        "prediction": [1, 1],
    }
    assert op.read(path, id="id", truth="truth", models={"old": "prediction"}).n == 2


@settings(max_examples=settings.default.max_examples // 8)
@given(
    rows=st.dictionaries(
        st.text(max_size=5),
        st.tuples(st.text(max_size=3), st.text(max_size=3)),
        min_size=1,
        max_size=9,
    )
)
def test_any_text_comes_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    truth, predictions = map(list, zip(*rows.values(), strict=True))
    write_baseline(path, list(rows), truth, predictions)
    stored = read_baseline(path)
    assert stored.ids.tolist() == list(rows)
    assert stored.truth.tolist() == truth
    assert stored.predictions.tolist() == predictions


@pytest.mark.parametrize(
    ("ids", "truth", "predictions", "message"),
    [
        (["a", "a"], [1, 0], [1, 0], "1 repeat: 'a'"),
        ([1, "1"], [1, 0], [1, 0], "mixes"),
        (["a", "b"], [1], [1, 0], "one value a document"),
        ([], [], [], "one value a document"),
        (["a", "b"], [1, None], [1, 0], "missing"),
        (["a", "b"], [1, 0], [0.5, 0.7], "fractions"),
        (["a", "b"], [1, 2**70], [1, 0], "64 bits"),
    ],
)
def test_what_is_no_baseline_is_not_stored(path, ids, truth, predictions, message):
    with pytest.raises(DataError, match=message):
        write_baseline(path, ids, truth, predictions)
    assert not path.exists()


def changed(path, *, marks=(), **columns):
    """Store a baseline again with other content under the same checksum."""
    table = pq.read_table(path)
    kept = {**table.schema.metadata, **dict(marks)}
    content = {name: pa.array(values) for name, values in {**table.to_pydict(), **columns}.items()}
    pq.write_table(pa.table(content).replace_schema_metadata(kept), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prediction": [1, 0]}, "does not fit its checksum"),
        ({"truth": [1, 1]}, "does not fit its checksum"),
        ({"id": ["b", "a"]}, "does not fit its checksum"),
        ({"truth": ["1", "0"]}, "does not fit its checksum"),
        ({"truth": [1.0, 0.0]}, "has the columns"),
        ({"extra": [1, 0]}, "has the columns"),
        ({"marks": {b"outperform.metadata": b'{"model": "other"}'}}, "does not fit its checksum"),
        ({"marks": {b"outperform.schema": b"2"}}, "schema 2; this version reads 1"),
        ({"marks": {b"outperform.format": b"other"}}, "not a baseline"),
    ],
)
def test_a_changed_baseline_is_refused(path, change, message):
    write_baseline(path, ["a", "b"], [1, 0], [1, 1])
    changed(path, **change)
    with pytest.raises(DataError, match=message):
        read_baseline(path)


def test_other_files_are_no_baselines(path, tmp_path):
    pq.write_table(pa.table({"id": ["a"]}), path)
    with pytest.raises(DataError, match="not a baseline"):
        read_baseline(path)
    path.write_text("id,truth\n")
    with pytest.raises(DataError, match="should be a parquet file"):
        read_baseline(path)
    with pytest.raises(UsageError, match="no file"):
        read_baseline(tmp_path / "none.parquet")


def test_a_baseline_with_any_flipped_byte_is_refused_or_the_same(path):
    write_baseline(path, IDS, LABELS[0], LABELS[0])
    data = path.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        try:
            stored = read_baseline(path)
        except DataError:
            continue
        assert stored.ids.tolist() == IDS
        assert stored.truth.tolist() == stored.predictions.tolist() == LABELS[0]


def test_outcomes_come_back_as_they_were(tmp_path):
    seen = op.Outcomes.from_labels(["a", "é", "NA"], {"old": ["a", "a", "NA"]})
    path = tmp_path / "old.json"
    write_outcomes(path, seen)
    assert read_outcomes(path) == seen
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-20], encoding="utf-8")
    with pytest.raises(DataError, match=r"old\.json: these are not outcomes in JSON"):
        read_outcomes(path)
