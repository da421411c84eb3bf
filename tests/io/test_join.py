"""Gold and one file per model, joined on an id."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.errors import DataError, OutperformError, UsageError

FEW = settings.default.max_examples // 8
GOLD = "doc,label\na,x\nb,y\nc,x\nd,y\n"
BERT = "doc,label\nd,y\nc,x\nb,x\na,x\n"
GPT = "label,doc\nx,a\ny,b\ny,c\ny,d\n"


@pytest.fixture
def files(tmp_path):
    """Return a function that writes files and names their paths."""

    def write(**contents):
        paths = {}
        for name, content in contents.items():
            paths[name] = tmp_path / f"{name}.csv"
            paths[name].write_text(content, encoding="utf-8")
        return paths

    return write


def test_files_are_joined_on_the_id_in_whatever_order(files):
    seen = op.read(files(gold=GOLD, bert=BERT, gpt=GPT), id="doc", label="label")
    assert (seen.n, seen.models, seen.paired) == (4, ("bert", "gpt"), True)
    assert seen.confusion("bert").tolist() == [[2, 0], [1, 1]]
    assert seen.confusion("gpt").tolist() == [[1, 1], [0, 2]]
    assert seen.findings == ()


def test_a_list_names_the_models_like_their_files(files):
    paths = list(files(gold=GOLD, bert=BERT, gpt=GPT).values())
    assert op.read(paths, id="doc", label="label").models == ("bert", "gpt")


def test_files_of_different_kinds_are_joined(tmp_path):
    (tmp_path / "gold.csv").write_text("doc;label\n1;7\n2;8\n")
    rows = [{"doc": 1, "label": 7}, {"doc": 2, "label": 7}]
    (tmp_path / "bert.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pq.write_table(pa.table({"doc": ["2", "1"], "label": [8, 7]}), tmp_path / "gpt.parquet")
    paths = [tmp_path / name for name in ("gold.csv", "bert.jsonl", "gpt.parquet")]
    seen = op.read(paths, id="doc", label="label")
    assert seen.labels == (7, 8)
    assert seen.confusion("bert").tolist() == [[1, 0], [1, 0]]
    assert seen.confusion("gpt").tolist() == [[1, 0], [0, 1]]
    assert {one.name for one in seen.findings} == {"separator_detected", "labels_converted"}


def test_gold_may_call_its_column_otherwise(files):
    paths = files(gold=GOLD.replace("label", "truth"), bert=BERT)
    seen = op.read(paths, id="doc", label="label", truth="truth")
    assert seen.confusion("bert").tolist() == [[2, 0], [1, 1]]


BOTH = "doc,truth,label\na,x,x\nb,y,x\n"


def test_without_gold_every_file_brings_the_truth(files):
    paths = files(bert=BOTH, gpt="doc,truth,label\nb,y,y\na,x,x\n")
    seen = op.read(paths, id="doc", label="label", truth="truth")
    assert seen.models == ("bert", "gpt")
    assert seen.confusion("bert").tolist() == [[1, 0], [1, 0]]
    assert seen.confusion("gpt").tolist() == [[1, 0], [0, 1]]


def test_files_that_disagree_on_the_truth_are_refused(files):
    paths = files(bert=BOTH, gpt="doc,truth,label\nb,x,y\na,x,x\n")
    with pytest.raises(DataError, match=r"disagree on 'truth' in 1 rows, e\.g\. the ids 'b'"):
        op.read(paths, id="doc", label="label", truth="truth")


def test_missing_and_surplus_ids_are_refused_with_five_examples(files):
    gold = "doc,label\n" + "".join(f"{one},x\n" for one in "abcdefgh")
    paths = files(gold=gold, bert="doc,label\na,x\nz,x\n")
    with pytest.raises(DataError) as caught:
        op.read(paths, id="doc", label="label")
    message = str(caught.value)
    assert "lacks 7 ids" in message
    assert "'b', 'c', 'd', 'e', 'f'" in message
    assert "'g'" not in message
    assert "has 1 ids" in message
    assert "'z'" in message
    assert "on_missing='drop'" in message


def test_the_common_ids_are_kept_if_asked_and_the_others_counted(files):
    paths = files(gold=GOLD, bert="doc,label\na,x\nb,y\nz,x\n", gpt="doc,label\na,x\nb,y\nc,y\n")
    seen = op.read(paths, id="doc", label="label", on_missing="drop")
    assert seen.n == 2
    (finding,) = seen.findings
    assert (finding.name, finding.level) == ("unmatched_ids_dropped", "warning")
    assert finding.message.startswith("Only 2 of the 4 ids in")
    assert "1 id missing from" in finding.message


def test_files_without_a_common_id_are_refused_whatever_is_asked(files):
    paths = files(gold=GOLD, bert="doc,label\n01,x\n")
    with pytest.raises(DataError, match="no id in common"):
        op.read(paths, id="doc", label="label", on_missing="drop")


@pytest.mark.parametrize("who", ["gold", "bert"])
def test_repeated_ids_are_refused(files, who):
    contents = {"gold": GOLD, "bert": BERT}
    contents[who] += "a,x\na,y\n"
    with pytest.raises(DataError, match=rf"{who}.csv, but 2 rows.*'a' \(3 times\)"):
        op.read(files(**contents), id="doc", label="label", on_missing="drop")


def test_ids_are_compared_as_they_are_written(files):
    with pytest.raises(DataError, match="no id in common"):
        op.read(files(gold="doc,label\n1,x\n", bert="doc,label\n01,x\n"), id="doc", label="label")


def test_missing_labels_are_refused_or_dropped_from_all_files(tmp_path):
    for name, labels in (("gold", [1, 2, None]), ("bert", [1, None, 2])):
        pq.write_table(pa.table({"doc": [1, 2, 3], "label": labels}), tmp_path / f"{name}.parquet")
    paths = [tmp_path / "gold.parquet", tmp_path / "bert.parquet"]
    with pytest.raises(DataError, match=r"1 rows of .*gold\.parquet have no value .* ids '3'"):
        op.read(paths, id="doc", label="label")
    seen = op.read(paths, id="doc", label="label", on_null="drop")
    assert seen.n == 1
    assert [one.name for one in seen.findings] == ["null_rows_dropped"] * 2


def test_a_null_id_is_refused(tmp_path):
    for name, ids in (("gold", [1, 2]), ("bert", [1, None])):
        pq.write_table(pa.table({"doc": ids, "label": [1, 2]}), tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match=r"1 of 2 rows .* have no id"):
        op.read([tmp_path / "gold.parquet", tmp_path / "bert.parquet"], id="doc", label="label")


@pytest.mark.parametrize(
    ("bert", "options", "error", "message"),
    [
        (BERT, {"id": "dok"}, UsageError, r"no column 'dok' in .*; did you mean 'doc'\?"),
        (BERT, {"label": "lable"}, UsageError, "did you mean 'label'"),
        (BERT, {"id": None}, UsageError, "id= and label="),
        (BERT, {"label": None}, UsageError, "id= and label="),
        (BERT, {"where": {"doc": "a"}}, UsageError, "with one table"),
        (BERT, {"models": ["bert"]}, UsageError, "with one table"),
        ("doc,label\n", {}, DataError, r"bert\.csv has no rows"),
        ("doc,label\na,0.25\nb,0.5\nc,1\nd,0\n", {}, DataError, "scores"),
        ("doc,label\na,x\nb\n", {}, DataError, r"bert\.csv.*line 3"),
        ('doc,label\na,x\n"b,x\n', {}, DataError, r"bert\.csv.*line 3"),
    ],
)
def test_bad_joins_are_refused(files, bert, options, error, message):
    with pytest.raises(error, match=message):
        op.read(files(gold=GOLD, bert=bert), **{"id": "doc", "label": "label", **options})


def test_a_damaged_file_is_told_from_a_sound_one(tmp_path):
    pq.write_table(pa.table({"doc": ["a"], "label": ["x"]}), tmp_path / "gold.parquet")
    lines = '{"doc": "a", "label": "x"}\n' * 1_500 + "{\n"
    (tmp_path / "bert.jsonl").write_text(lines)
    with pytest.raises(DataError, match=r"bert\.jsonl: line 1501 is not JSON"):
        op.read([tmp_path / "gold.parquet", tmp_path / "bert.jsonl"], id="doc", label="label")


def test_one_file_is_no_join_and_twins_need_names(files, tmp_path):
    (path,) = files(gold=GOLD).values()
    with pytest.raises(UsageError, match="at least one model"):
        op.read({"gold": path}, id="doc", label="label")
    with pytest.raises(UsageError, match="must be unique"):
        op.read([path, path], id="doc", label="label")
    with pytest.raises(UsageError, match="pass model names"):
        op.read([path, io.StringIO(BERT)], id="doc", label="label")


IDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6)


@settings(max_examples=FEW)
@given(gold=IDS, bert=IDS, drop=st.booleans())
def test_a_join_is_that_of_dictionaries_or_is_refused(gold, bert, drop):
    def table(ids, shift):
        return [(one, "xyz"[(ord(one) + shift) % 3]) for one in ids]

    def stream(rows):
        return io.StringIO("doc,label\n" + "".join(f"{one},{label}\n" for one, label in rows))

    left, right = table(gold, 0), table(bert, 1)
    twins = len(set(gold)) < len(gold) or len(set(bert)) < len(bert)
    common = set(gold) & set(bert)
    fits = not twins and common and (drop or set(gold) == set(bert))
    try:
        seen = op.read(
            {"gold": stream(left), "bert": stream(right)},
            id="doc",
            label="label",
            on_missing="drop" if drop else "raise",
        )
    except OutperformError:
        assert not fits
        return
    assert fits
    kept = [dict(left)[one] for one in sorted(common)], [dict(right)[one] for one in sorted(common)]
    expected = op.Outcomes.from_labels(kept[0], {"bert": kept[1]})
    assert seen.labels == expected.labels
    assert seen.confusion("bert").tolist() == expected.confusion("bert").tolist()
