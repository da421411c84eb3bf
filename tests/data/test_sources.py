"""Where counts came from, and items that may have been counted twice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.data.outcomes import source_of
from outperform.data.sources import DOUBLED
from outperform.data.table import CHANCE
from outperform.data.views import stand_beside
from outperform.errors import DataError
from tests.loops import each


def day(seed, n=2_000, **options):
    rng = np.random.default_rng(seed)
    truth, a, b = rng.integers(0, 3, size=(3, n))
    return op.Outcomes.from_labels(truth, {"a": a, "b": b}, **options)


def findings(outcomes):
    return {one.name: one for one in outcomes.findings if one.name in DOUBLED}


# The hash of what was counted


def test_one_hash_for_the_same_counts_in_any_form():
    rng = np.random.default_rng(1)
    truth, a, b = rng.integers(0, 3, size=(3, 500))
    order = rng.permutation(500)
    same = [
        op.Outcomes.from_labels(truth, {"a": a, "b": b}),
        op.Outcomes.from_labels(truth[order], {"b": b[order], "a": a[order]}, labels=[0, 1, 2, 7]),
        op.Outcomes.from_labels(truth, {"a": a, "b": b}, by={"half": np.arange(500) % 2}),
        op.Outcomes.from_counts(truth, {"a": a, "b": b}, np.ones(500, dtype=int)),
    ]
    assert len({source_of(one).sha256 for one in same}) == 1
    other = [
        op.Outcomes.from_labels(truth, {"a": b, "b": a}),
        op.Outcomes.from_labels(truth, {"a": a, "c": b}),
        op.Outcomes.from_labels(truth.astype(str), {"a": a.astype(str), "b": b.astype(str)}),
        op.Outcomes.from_labels(truth, {"a": a, "b": b}).unpair(),
        op.Outcomes.from_labels(truth[1:], {"a": a[1:], "b": b[1:]}),
    ]
    assert len({source_of(one).sha256 for one in [*same, *other]}) == 6


def test_counts_tell_their_data_if_others_would_hardly_have_them():
    # Two samples of n coins agree with a probability of about 1/√(πn); here against simulation.
    rng = np.random.default_rng(2)
    counts = rng.multinomial(60, [0.4, 0.3, 0.3], size=200_000)
    agree = (counts[0::2] == counts[1::2]).all(axis=1).mean()
    by_formula = math.sqrt(4 * math.pi * 60) / math.sqrt(
        math.prod(4 * math.pi * 60 * share for share in (0.4, 0.3, 0.3))
    )
    assert by_formula == pytest.approx(agree, rel=0.15)
    assert agree > CHANCE
    truth = np.repeat([0, 1, 1], [24, 18, 18])
    assert not source_of(op.Outcomes.from_labels(truth, {"a": np.zeros(60, int)})).telling
    assert source_of(day(0)).telling


# Adding up


def test_adding_keeps_the_sources_of_both_in_any_order():
    one, two = day(1), day(2)
    assert {each.sha256 for each in (one + two).sources} == {
        source_of(one).sha256, source_of(two).sha256
    }  # fmt: skip
    assert [each.n for each in (one + two).sources] == [2_000, 2_000]
    assert (one + two).to_json() == (two + one).to_json()
    back = op.Outcomes.from_json((one + two).to_json())
    assert sorted(back.sources, key=str) == sorted((one + two).sources, key=str)
    assert not findings(one + two)


def test_the_same_outcomes_twice_are_a_finding():
    one, two = day(1), day(2)
    again = op.Outcomes.from_json(one.to_json())
    for twice in (one + again, one + two + again, (two + one) + (again + day(3))):
        (found,) = findings(twice).values()
        assert (found.name, found.level) == ("repeated_sources", "warning")
        assert "2 of the added outcomes have exactly the same counts" in found.message
    assert twice.n == 8_000
    assert twice == one + two + again + day(3)


def test_small_samples_that_happen_to_agree_are_no_finding():
    small = op.Outcomes.from_labels([1, 0, 1], {"a": [1, 0, 0]})
    assert not findings(small + small)


def test_slices_of_one_source_are_not_the_same_items():
    seen = day(1, by={"half": np.arange(2_000) % 2})
    seen = replace(seen, sources=(source_of(seen, "day.csv"),))
    assert not findings(seen.slice(0) + seen.slice(1))


def test_outcomes_beside_each_other_keep_their_sources():
    one, two = day(1).select(["a"]), day(1).select(["b"])
    assert len(stand_beside(one, two).sources) == 2


# Files


def write_rows(path, seed, n=2_000):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, size=(n, 3))
    path.write_text("label,a,b\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return path


def test_a_file_is_named(tmp_path):
    path = write_rows(tmp_path / "day=2026-11-15.csv", 1)
    (found,) = op.read(path, truth="label").sources
    assert (found.name, found.n) == (str(path), 2_000)
    assert op.read(path, truth="label").to_json() == op.read(path, truth="label").to_json()
    (joined,) = op.read([path, path], truth="label").sources
    assert joined.name == f"{path}, {path}"
    (many,) = op.read([path] * 5, truth="label").sources
    assert many.name == f"{path}, …, {path}"


def test_a_day_that_was_counted_under_two_names_is_told(tmp_path):
    for name, seed in (("mon", 1), ("tue", 2), ("wed", 1)):
        seen = op.read(write_rows(tmp_path / f"{name}.csv", seed), truth="label")
        (tmp_path / f"{name}.json").write_text(seen.to_json(), "utf-8")
    found = findings(op.read(str(tmp_path / "*.json")))["repeated_sources"]
    assert "mon.json and " in found.message
    assert "wed.json have exactly the same counts, of 2,000 items each" in found.message
    assert "tue.json" not in found.message
    twice = op.read(tmp_path / "mon.json") + op.read(tmp_path / "mon.json")
    assert "mon.json was added 2 times" in findings(twice)["repeated_sources"].message


def test_a_gate_does_not_pass_with_the_same_day_twice():
    truth = np.arange(3_000) % 3
    rng = np.random.default_rng(5)
    noisy = [np.where(rng.random(3_000) < share, truth, (truth + 1) % 3) for share in (0.9, 0.7)]
    one = op.Outcomes.from_labels(truth, {"new": noisy[0], "old": noisy[1]})
    asked = {"metric": "accuracy", "rope": 0.01, "random_state": 0}
    assert op.gate(one, "new", "old", **asked).passed
    for twice in (one + one, op.Outcomes.from_json((one + one).to_json())):
        found = op.gate(twice, "new", "old", **asked)
        assert found.status.value == "undecided"
        assert "repeated_sources" in found.to_dict()["checks"][0]["withheld"]
        levels = {each.name: each.level for each in found.findings}
        assert levels["repeated_sources"] == "serious"
        compared = op.compare(twice, "new", "old", **asked)
        assert {each.level for each in compared.findings if each.name in DOUBLED} == {"warning"}


# Rows that were repeated

ROWS = ([1, 1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 1, 1, 0], [1, 0, 1, 0, 0, 1, 0, 1, 0])


def test_rows_that_were_repeated_are_told(tmp_path):
    truth, new, old = (np.repeat(column, 100) for column in ROWS)
    seen = op.Outcomes.from_labels(truth, {"new": new, "old": old})
    found = findings(seen)["repeated_rows"]
    assert found.level == "warning"
    assert "is a multiple of 100. If rows were repeated, count" in found.message
    path = tmp_path / "rows.csv"
    table = zip(truth, new, old, strict=True)
    path.write_text("label,new,old\n" + "".join(f"{x},{y},{z}\n" for x, y, z in table))
    read = op.read(path, truth="label")
    assert findings(read)["repeated_rows"] == found
    assert findings(op.Outcomes.from_json(read.to_json())) == findings(read)
    right = {"new": truth == new, "old": truth == old}
    assert findings(op.Outcomes.from_correct(right))
    assert not op.gate(seen, "new", "old", metric="accuracy", rope=0.3, random_state=0).passed


def test_counts_weights_and_groups_say_themselves_what_a_row_stands_for(tmp_path):
    truth, new, old = map(np.array, ROWS)
    hundred = np.full(len(truth), 100)
    names = {"new": new, "old": old}
    assert not findings(op.Outcomes.from_counts(truth, names, hundred))
    assert not findings(op.Outcomes.from_labels(truth, names, sample_weight=hundred))
    thrice = {name: np.repeat(one, 100) for name, one in names.items()}
    groups = np.repeat(np.arange(len(truth)), 100)
    assert not findings(op.Outcomes.from_labels(np.repeat(truth, 100), thrice, groups=groups))
    path = tmp_path / "rows.csv"
    table = zip(truth, new, old, strict=True)
    path.write_text("label,new,old,times\n" + "".join(f"{x},{y},{z},100\n" for x, y, z in table))
    assert not findings(op.read(path, truth="label", models=["new", "old"], weight="times"))


def test_doubled_rows_need_many_cells_to_be_told():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, size=(3, 400))
    many = rng.integers(0, 4, size=(3, 400))
    for (truth, a, b), told in ((few, False), (many, True)):
        twice = op.Outcomes.from_labels(np.tile(truth, 2), {"a": np.tile(a, 2), "b": np.tile(b, 2)})
        assert bool(findings(twice)) is told


def test_a_balanced_design_is_no_repetition():
    truth = np.repeat(np.arange(10), 500)
    assert not findings(op.Outcomes.from_labels(truth, {"a": truth, "b": np.zeros(5_000, int)}))


def test_sentences_that_were_repeated_are_told():
    spans = [[(0, 1, "L")], [], [(2, 3, "P")], [(0, 1, "L"), (2, 3, "P")]]
    found = [[(0, 1, "L")], [(5, 6, "L")], [], [(0, 1, "L")]]
    assert not findings(op.Outcomes.from_spans(spans, {"m": found}))
    assert findings(op.Outcomes.from_spans(spans * 100, {"m": found * 100}))


# Text that no file can hold


@each(
    "make",
    [
        lambda bad: op.Outcomes.from_labels(["a", bad], {"m": ["a", "a"]}),
        lambda bad: op.Outcomes.from_labels(["a"], {"m": [bad]}),
        lambda bad: op.Outcomes.from_labels(["a"], {bad: ["a"]}),
        lambda bad: op.Outcomes.from_labels(["a"], {"m": ["a"]}, labels=["a", bad]),
        lambda bad: op.Outcomes.from_labels(["a"], {"m": ["a"]}, by={"day": [bad]}),
        lambda bad: op.Outcomes.from_labels(np.array([bad]), {"m": ["a"]}),
        lambda bad: op.Outcomes.from_label_sets([{bad}], {"m": [{"a"}]}),
        lambda bad: op.Outcomes.from_spans([[(0, 1, bad)]], {"m": [[]]}),
        lambda bad: op.Scores.from_arrays(["a", bad], {"m": [0.5, 0.2]}),
    ],
)
def test_half_characters_are_refused_at_the_door(make):
    with pytest.raises(DataError, match="not valid Unicode text"):
        make("x\ud800")
