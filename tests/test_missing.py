"""Missing values at every door: None, NaN, NA, NaT, masks, empty fields, texts that look so."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform import metrics, nhst
from outperform.cli.main import main
from outperform.errors import DataError, OutperformError, UsageError
from outperform.gates.rule import GateStatus
from outperform.metrics.confusion import as_confusion
from outperform.testing import assert_not_worse
from tests.loops import each

TRUTH = ["x", "y", "x", None, "y", "x", "y", "x"]
OLD = ["x", None, "y", "x", "y", None, "y", "x"]
NEW = ["x", "y", "y", "x", "y", "x", None, "y"]
KEPT = [(t, o, n) for t, o, n in zip(TRUTH, OLD, NEW, strict=True) if None not in (t, o, n)]
TABLE = {"label": TRUTH, "old": OLD, "new": NEW}


def as_text(separator=",", quoted=False):
    empty = '""' if quoted else ""
    rows = [TABLE, *zip(*TABLE.values(), strict=True)]
    return "".join(separator.join(empty if v is None else v for v in row) + "\n" for row in rows)


def every_format(folder):
    """Yield one table in every format that can be read."""
    (folder / "t.csv").write_text(as_text())
    (folder / "quoted.csv").write_text(as_text(quoted=True))
    (folder / "t.tsv").write_text(as_text("\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(as_text().encode()))
    (folder / "returns.csv").write_bytes(as_text().replace("\n", "\r\n").encode())
    rows = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bare = [{name: value for name, value in row.items() if value is not None} for row in rows]
    (folder / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bare))
    pq.write_table(pa.table(TABLE), folder / "t.parquet")
    names = ["t.csv", "quoted.csv", "t.tsv", "t.csv.gz", "returns.csv"]
    names += ["t.jsonl", "bare.jsonl", "t.parquet"]
    yield from ((name, folder / name) for name in names)
    yield "a stream", io.StringIO(as_text())
    yield "pandas", pd.DataFrame(TABLE)
    yield "pandas string", pd.DataFrame(TABLE).astype("string")
    yield "pandas category", pd.DataFrame(TABLE).astype("category")
    yield "pandas of CSV", pd.read_csv(folder / "t.csv")
    yield "polars", pl.DataFrame(TABLE)
    yield "polars lazy", pl.DataFrame(TABLE).lazy()
    yield "arrow", pa.table(TABLE)
    with sqlite3.connect(folder / "t.sqlite") as base:
        pd.DataFrame(TABLE).to_sql("t", base, index=False)
    base.close()
    with duckdb.connect(str(folder / "t.duckdb")) as base:
        base.execute("CREATE TABLE t AS SELECT * FROM read_parquet(?)", [str(folder / "t.parquet")])
    yield "sqlite", folder / "t.sqlite"
    yield "duckdb", folder / "t.duckdb"


def test_all_formats_agree_on_missing_values(tmp_path):
    expected = op.Outcomes.from_labels(
        [row[0] for row in KEPT], {"old": [r[1] for r in KEPT], "new": [r[2] for r in KEPT]}
    )
    refusals, told, seen = {}, {}, {}
    for name, source in every_format(tmp_path):
        if name == "a stream":
            again = {"source": io.StringIO(as_text()), "format": "csv"}
            asked = {"truth": "label", "models": ["old", "new"], "format": "csv"}
        else:
            again = {"source": source, **({"table": "t"} if name in ("sqlite", "duckdb") else {})}
            asked = {"truth": "label", "models": ["old", "new"]}
            asked |= {"table": "t"} if name in ("sqlite", "duckdb") else {}
        with pytest.raises(DataError) as caught:
            op.read(source, **asked)
        refusals[name] = str(caught.value)
        again = {**asked, **again}
        found = op.read(again.pop("source"), on_null="drop", **again)
        seen[name] = found.tables[0].cells.tolist(), found.tables[0].counts.tolist()
        told[name] = [one.message.partition(" rows from ")[0] for one in found.findings]
    cells = expected.tables[0].cells.tolist(), expected.tables[0].counts.tolist()
    assert seen == dict.fromkeys(seen, cells)
    assert set(map(tuple, told.values())) == {("Dropped 4 of 8",)}
    for name, words in refusals.items():
        assert "column 'label' has no value in 1 of 8 rows" in words, name
        assert "'old' in 2" in words, name
        assert "'new' in 1" in words, name
        assert "on_null='drop'" in words, name
    for name in ("t.csv", "quoted.csv", "t.tsv", "t.csv.gz", "returns.csv", "a stream"):
        assert "the first in line 5 of" in refusals[name], name
        assert "empty_is_label=True" in refusals[name], name
    for name in ("t.jsonl", "t.parquet", "pandas", "polars"):
        assert "the first in row 4 of" in refusals[name], name


def test_empty_fields_are_labels_if_declared(tmp_path):
    for name in ("t.csv", "quoted.csv"):
        (tmp_path / name).write_text(as_text(quoted=name == "quoted.csv"))
        seen = op.read(tmp_path / name, truth="label", models=["old", "new"], empty_is_label=True)
        assert (seen.n, seen.labels, seen.findings) == (8, ("", "x", "y"), ())


def test_line_numbers_count_blank_and_quoted_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('y,m\n"a\nb",c\n\nc,\nc,c\n')
    with pytest.raises(DataError, match=r"'m' has no value in 1 of 3 rows, the first in line 5 of"):
        op.read(path, truth="y", models=["m"])


def test_where_finds_empty_fields(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,m,c\na,a,\nb,a,DE\na,a,\n")
    for value in ("", None, ["", "FR"]):
        assert op.read(path, truth="y", models=["m"], where={"c": value}).n == 2
    assert op.read(path, truth="y", models=["m"], where={"c": "DE"}).n == 1


def test_slices_weights_and_groups_are_never_missing(tmp_path):
    rows = [("a", "a", "1", "2", "u")] * 3 + [("a", "b", "", "1", "v"), ("b", "b", "1", "", "")]
    (tmp_path / "t.csv").write_text("y,m,s,w,g\n" + "".join(",".join(r) + "\n" for r in rows))
    for role, column in (("by", "s"), ("weight", "w"), ("groups", "g")):
        asked = {"truth": "y", "models": ["m"], role: column}
        with pytest.raises(DataError, match=rf"'{column}' has no value in 1 of 5 rows.* line "):
            op.read(tmp_path / "t.csv", **asked)
        seen = op.read(tmp_path / "t.csv", on_null="drop", **asked)
        assert seen.n == 4
        assert "1 of 5 rows" in seen.findings[0].message


def test_scores_are_dropped_where_they_are_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,a,b\n1,0.9,0.8\n0,,0.1\n0,0.2,0.1\n,0.3,0.3\n1,nan,0.7\n")
    asked = {"truth": "y", "models": ["a", "b"]}
    with pytest.raises(DataError, match=r"'a' has no value in 1 of 5 rows, the first in line 3"):
        op.read_scores(path, **asked)
    seen = op.read_scores(path, on_null="drop", na_values=["nan"], **asked)
    assert (seen.n, seen.findings[0].name) == (2, "null_rows_dropped")
    assert "3 of 5 rows" in seen.findings[0].message


def test_standard_input_has_missing_values_too(monkeypatch, capsys):
    rows = "label,old,new\n" + "x,,x\ny,y,y\nx,x,x\n" * 40
    for more, codes in (([], {3}), (["--on-null", "drop"], {0, 4})):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode()), "utf-8"))
        asked = ["gate", "-", "--truth", "label", "--candidate", "new", "--baseline", "old"]
        assert main([*asked, "--metric", "accuracy", "--rope", "0.01", *more]) in codes
        written = capsys.readouterr()
        told = "40 of 120 rows" in (written.out if more else written.err)
        assert told


# Doors and kinds of missing values

LABELS = [0, 1, 1, 0, 1, 0]
FLOATS = [0.1, 0.7, 0.4, 0.2, 0.9, 0.3]


def holes(values):
    """Yield values with the third one missing, in every way that a library has for it."""
    whole = all(isinstance(value, int) for value in values)
    gone = [*values[:2], None, *values[3:]]
    mask = [place == 2 for place in range(len(values))]
    plain = np.array(values)
    yield "masked", np.ma.array(plain, mask=mask)
    yield "masked objects", np.ma.array(plain.astype(object), mask=mask)
    yield "None in a list", gone
    yield "NaN in a list", [float("nan") if value is None else value for value in gone]
    yield "masked in a list", [np.ma.masked if value is None else value for value in gone]
    yield "None in an array", np.array(gone, dtype=object)
    yield "NaN in an array", np.array(gone, dtype=float)
    yield "Decimal", np.array([Decimal("NaN") if v is None else v for v in gone], dtype=object)
    yield "NaT", np.array([np.datetime64("NaT") if v is None else v for v in gone], dtype=object)
    yield "pandas", pd.Series(gone)
    yield "pandas nullable", pd.Series(gone, dtype="Int64" if whole else "Float64")
    yield "pandas NaT", pd.Series([pd.NaT if value is None else value for value in gone])
    yield "pandas category", pd.Series(gone, dtype="category")
    yield "polars", pl.Series(gone)
    yield "arrow", pa.array(gone)
    yield "arrow in chunks", pa.chunked_array([gone[:3], gone[3:]])


def doors():
    """Yield every function that takes an array, the array it is given, and where it takes it."""
    y, a, b = LABELS, [1, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]
    ask = {"metric": "accuracy", "rope": 0.01, "n_draws": 200, "random_state": 0}
    one = {"metric": "accuracy", "n_draws": 200, "random_state": 0}
    labels = op.Outcomes.from_labels
    yield "compare truth", y, lambda v: op.compare(v, a, b, **ask)
    yield "compare a", a, lambda v: op.compare(y, v, b, **ask)
    yield "compare b", b, lambda v: op.compare(y, a, v, **ask)
    yield "compare groups", y, lambda v: op.compare(y, a, b, groups=v, **ask)
    yield "compare weights", FLOATS, lambda v: op.compare(y, a, b, sample_weight=v, **ask)
    yield "estimate", a, lambda v: op.estimate(y, v, **one)
    yield "rank", a, lambda v: op.rank(y, {"a": v, "b": b}, **ask)
    yield "scorecard", a, lambda v: op.scorecard(y, v, b, metrics=["accuracy"], rope=0.01)
    yield "gate", a, lambda v: op.gate(y, v, b, metric="accuracy", rope=0.01)
    yield "gate truth", y, lambda v: op.gate(v, a, b, metric="accuracy", rope=0.01)
    allowed = {"metric": "accuracy", "rope": 0.01, "undecided": "pass"}
    yield "assert_not_worse", a, lambda v: assert_not_worse(y, v, b, **allowed)
    yield "propose", a, lambda v: op.propose(v, b, budget=3, random_state=0)
    yield "from_labels", a, lambda v: labels(y, {"a": v})
    yield "from_labels by", a, lambda v: labels(y, {"a": a}, by={"s": v})
    yield "from_labels groups", a, lambda v: labels(y, {"a": a}, groups=v)
    yield "from_labels ids", list(range(6)), lambda v: labels(y, {"a": a}, ids=v)
    yield "from_labels weights", FLOATS, lambda v: labels(y, {"a": a}, sample_weight=v)
    yield "from_correct", a, lambda v: op.Outcomes.from_correct({"a": v})
    yield "from_correct by", a, lambda v: op.Outcomes.from_correct({"a": a}, by={"s": v})
    yield "from_counts", a, lambda v: op.Outcomes.from_counts(y, {"a": v}, [1] * 6)
    yield "from_counts counts", list(range(6)), lambda v: op.Outcomes.from_counts(y, {"a": a}, v)
    yield "from_pool", a, lambda v: op.Outcomes.from_pool(y, {"a": v, "b": b})
    yield "from_judged", a, lambda v: op.Outcomes.from_judged({"a": v}, human={"a": a})
    yield "from_statistics", FLOATS, lambda v: op.Outcomes.from_statistics({"a": {"s": v}})
    yield "from_arrays truth", y, lambda v: op.Scores.from_arrays(v, {"a": FLOATS})
    yield "from_arrays", FLOATS, lambda v: op.Scores.from_arrays(y, {"a": v})
    yield "from_values", FLOATS, lambda v: op.Scores.from_values({"a": v})
    yield "from_values groups", y, lambda v: op.Scores.from_values({"a": FLOATS}, groups=v)
    yield "from_targets", FLOATS, lambda v: op.Scores.from_targets(v, {"a": FLOATS})
    yield "from_targets a", FLOATS, lambda v: op.Scores.from_targets(FLOATS, {"a": v})
    yield "roc_auc", FLOATS, lambda v: op.compare(y, v, FLOATS, **(ask | {"metric": "roc_auc"}))
    scores = op.Scores.from_values({"a": FLOATS, "b": FLOATS[::-1]})
    yield (
        "compare_slices",
        y,
        lambda v: op.compare_slices(scores, "a", "b", by={"s": v}, metric="mean", rope=0.1),
    )
    yield (
        "compare_cv_scores",
        FLOATS,
        lambda v: op.compare_cv_scores(v, FLOATS, rope=0.01, test_share=0.2),
    )
    yield (
        "Suite.from_scores",
        y,
        lambda v: op.Suite.from_scores({"d": v, "A": FLOATS, "B": FLOATS}, by="d"),
    )
    yield "BlockedTwoFold", y, lambda v: list(op.BlockedTwoFold(1).split(np.zeros((6, 1)), v))
    yield (
        "BlockedTwoFold groups",
        y,
        lambda v: list(op.BlockedTwoFold(1).split(np.zeros((6, 1)), y, groups=v)),
    )
    yield "nhst", FLOATS, lambda v: nhst.paired_t_over_classes(v, FLOATS[::-1])
    yield "nhst sign", FLOATS, lambda v: nhst.sign_test_over_classes(v, FLOATS[::-1])
    yield "nhst folds", FLOATS, lambda v: nhst.corrected_resampled_t(v, 9, 1)
    gap = metrics.gap("accuracy", [0, 1] * 3)
    yield "gap", a, lambda v: op.compare(y, v, b, **(ask | {"metric": gap}))
    yield "gap by", y, lambda v: metrics.gap("accuracy", v)


def test_every_door_refuses_every_missing_value():
    let_in, odd = [], []
    for door, values, call in doors():
        call(values)
        for kind, given in holes(values):
            try:
                call(given)
            except OutperformError:
                continue
            except Exception as error:
                odd.append((door, kind, repr(error)[:100]))
            else:
                let_in.append((door, kind))
    assert let_in == []
    assert odd == []


def test_masked_labels_are_refused_with_their_number_and_row():
    masked = np.ma.array([1, 0, 1, 0], mask=[False, True, False, True])
    with pytest.raises(DataError, match=r"'m' has 2 missing .*, the first in row 1"):
        op.Outcomes.from_labels([1, 0, 1, 0], {"m": masked})
    with pytest.raises(DataError, match=r"'m' has 2 missing or infinite .* row 1"):
        op.Scores.from_values({"m": masked * 0.5})
    whole = np.ma.array([1, 0, 1, 0], mask=False)
    assert op.Outcomes.from_labels([1, 0, 1, 0], {"m": whole}).margins("m").hits.sum() == 4


def test_masked_items_of_a_pool_have_no_label():
    pool = {"old": [1, 1, 0, 0, 0, 0], "new": [1, 0, 0, 0, 1, 0]}
    masked = np.ma.array([9, 1, 0, 9, 0, 9], mask=[1, 0, 0, 1, 0, 1])
    assert op.Outcomes.from_pool(masked, pool).n == 3
    human = {name: np.ma.array(said, mask=[0, 1, 0, 0, 1, 1]) for name, said in pool.items()}
    assert op.Outcomes.from_judged(pool, human=human).n == 3


def test_masked_tables_are_refused():
    table = np.ma.array([[5, 1], [2, 8]], mask=[[0, 1], [0, 0]])
    with pytest.raises(DataError):
        op.Outcomes.from_confusion({"a": table})
    with pytest.raises(DataError):
        as_confusion(table)
    sets = np.ma.array(np.eye(3, dtype=int), mask=np.eye(3, dtype=bool))
    with pytest.raises(DataError):
        op.Outcomes.from_labels(sets, {"m": np.eye(3, dtype=int)})


def test_gate_does_not_pass_on_what_a_mask_hides():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    fails = rng.random(3000) < 0.3
    new = np.where(rng.random(3000) < 0.8, truth, 1 - truth)
    old = np.where(rng.random(3000) < 0.85, truth, 1 - truth)
    new[fails] = truth[fails]
    asked = {"metric": "accuracy", "rope": 0.01, "random_state": 0}
    assert op.gate(truth, new, old, **asked).passed
    with pytest.raises(DataError, match="missing"):
        op.gate(truth, np.ma.array(new, mask=fails), old, **asked)
    with pytest.raises(DataError, match="missing"):
        op.gate(np.ma.array(truth, mask=fails), new, old, **asked)


# Texts that look missing

SURE = ["a", "b"] * 200
LOST = ["a", "b"] * 150 + ["NA"] * 100
ASKED = {"metric": "accuracy", "rope": 0.01, "random_state": 0}


def names(found):
    return {one.name: one.level for one in found.findings}


@each("text", ["NA", "nan", "None", "null", "<NA>", "", " "])
def test_texts_that_look_missing_warn_and_withhold_a_gate(text):
    lost = [text if label == "NA" else label for label in LOST]
    name = "looks_missing" if text else "empty_label"
    found = op.compare(SURE, SURE, lost, **ASKED)
    assert names(found)[name] == "warning"
    assert found.decision is op.Decision.BETTER
    gate = op.gate(SURE, SURE, lost, **ASKED)
    assert (gate.status, gate.can_allow) == (GateStatus.UNDECIDED, False)
    assert names(gate)[name] == "serious"
    declared = {"na_values": []} if text else {"empty_is_label": True}
    assert op.gate(SURE, SURE, lost, **ASKED, **declared).passed
    with pytest.raises(DataError, match="'baseline' has 100 missing"):
        op.gate(SURE, SURE, lost, na_values=[text], **ASKED)
    with pytest.raises(AssertionError):
        assert_not_worse(SURE, SURE, lost, undecided="pass", **ASKED)


def test_looks_missing_names_column_text_and_number():
    seen = op.Outcomes.from_labels(["a", "NA", "b"], {"m": ["NA", "NA", "b"], "k": ["a"] * 3})
    (found,) = (one for one in seen.findings if one.name == "looks_missing")
    assert "'NA' in the truth (1 item); 'NA' in 'm' (2 items)." in found.message
    assert "'m'" not in seen.select(["k"]).findings[0].message
    assert "looks_missing" not in names(op.Outcomes.from_labels(["a"], {"m": ["none"]}))


def test_looks_missing_survives_adding_and_writing():
    one = op.Outcomes.from_labels(["a", "NA"], {"m": ["NA", "b"]})
    both = op.Outcomes.from_json((one + one).to_json())
    (found,) = (each for each in both.findings if each.name == "looks_missing")
    assert "'NA' in 'm' (2 items)" in found.message
    quiet = op.Outcomes.from_labels(["a", "NA"], {"m": ["NA", "b"]}, na_values=[])
    assert "looks_missing" not in names(quiet + quiet)


def test_suites_and_scores_are_withheld_too():
    seen = op.Outcomes.from_labels(SURE, {"new": SURE, "old": LOST})
    clean = op.Outcomes.from_labels(SURE, {"new": SURE, "old": SURE[::-1]})
    suite = op.Suite({"lost": seen, "clean": clean}, metrics="accuracy", ropes=0.01)
    gate = op.gate(suite, "new", "old", random_state=0)
    judged = {check.task: check.status for check in gate.checks}
    assert judged == {"lost": GateStatus.UNDECIDED, "clean": GateStatus.PASS}
    assert not gate.can_allow
    truth = ["NA", "x"] * 100
    high, low = [0.1, 0.9] * 100, [0.6, 0.5] * 100
    asked = {"metric": "roc_auc", "rope": 0.01, "pos_label": "x", "random_state": 0}
    assert op.gate(truth, high, low, **asked).status is GateStatus.UNDECIDED
    assert op.gate(truth, high, low, na_values=[], **asked).passed


def test_missing_truth_never_matches_missing_prediction(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,a\nx,x\n,\n,\nx,y\n")
    assert op.read(path, truth="y", models=["a"], on_null="drop").margins("a").hits.sum() == 1


@each(
    "given",
    [
        {"na_values": "NA"},
        {"na_values": [1]},
        {"na_values": 3},
        {"empty_is_label": 1},
        {"na_values": [""], "empty_is_label": True},
    ],
)
def test_bad_declarations_are_usage_errors(given):
    with pytest.raises(UsageError):
        op.Outcomes.from_labels(["a"], {"m": ["a"]}, **given)
    with pytest.raises(UsageError):
        op.read(io.StringIO("y,m\na,a\n"), truth="y", models=["m"], **given)
    with pytest.raises(UsageError, match="already counted"):
        op.gate(op.Outcomes.from_correct({"a": [1], "b": [0]}), "a", "b", na_values=[])


# An index that shows a shuffle, beside columns without one


def shuffled(values, order):
    return pd.Series(values).iloc[order]


def test_shuffled_index_beside_arrays_warns_and_withholds_a_gate():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    good = np.where(rng.random(600) < 0.9, truth, 1 - truth)
    bad = np.where(rng.random(600) < 0.7, truth, 1 - truth)
    order = rng.permutation(600)
    for y, a, b in (
        (shuffled(truth, order), good, bad),
        (truth, shuffled(good, order), bad),
        (truth, good, shuffled(bad, order)),
        (shuffled(truth, order), pl.Series(good), bad),
    ):
        assert names(op.compare(y, a, b, **ASKED))["index_not_used"] == "warning"
        gate = op.gate(y, a, b, **ASKED)
        assert names(gate)["index_not_used"] == "serious"
        assert gate.status is GateStatus.UNDECIDED
    frame = pd.DataFrame({"a": good, "b": bad}).iloc[order]
    assert "index_not_used" in names(op.rank(truth, frame, **ASKED))
    weights = shuffled(rng.random(600), order)
    seen = op.Outcomes.from_labels(truth, {"a": good}, sample_weight=weights)
    assert "index_not_used" in names(seen)


def test_other_indices_are_no_evidence_of_a_shuffle():
    truth, said = [1, 0, 1, 0], np.array([1, 0, 0, 0])
    for index in ([0, 1, 2, 3], [512, 3, 77, 9], list("dcba"), [1, 2, 3, 4], [0.5, 0, 1, 2]):
        seen = op.Outcomes.from_labels(pd.Series(truth, index), {"m": said})
        assert seen.findings == (), index
    order = [2, 0, 3, 1]
    both = op.Outcomes.from_labels(shuffled(truth, order), {"m": shuffled(said, order)})
    assert both.findings == ()
