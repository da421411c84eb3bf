"""Groups: outcomes that remember what was seen together, in any order and any split."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform import Outcomes
from outperform._files import signed
from outperform._rows import place_rows
from outperform.data.table import group_rows
from outperform.data.views import only, scaled
from outperform.errors import DataError, UsageError
from tests.loops import each

MODELS = ("a", "b", "c")
SPANS = st.tuples(st.integers(0, 2), st.integers(3, 4), st.sampled_from(["LOC", "PER", "per", "x"]))
LISTS = st.lists(SPANS, max_size=2, unique=True)
ITEMS = st.lists(st.tuples(LISTS, LISTS, LISTS, LISTS), min_size=1, max_size=5)


def count(items, groups=None, models=MODELS):
    gold, *predicted = ([item[column] for item in items] for column in range(4))
    taken = {m: spans for m, spans in zip(MODELS, predicted, strict=True) if m in models}
    return Outcomes.from_spans(gold, taken, groups=groups)


def has_spans(items):
    return any(spans for item in items for spans in item)


@pytest.fixture
def seen():
    gold = [[(0, 2, "PER"), (3, 4, "LOC")], [(1, 2, "LOC")], [], []]
    a = [[(0, 2, "PER"), (3, 5, "LOC")], [(1, 2, "PER")], [(0, 1, "PER")], []]
    b = [[(0, 2, "PER")], [(1, 2, "LOC")], [(5, 6, "MISC")], []]
    return Outcomes.from_spans(gold, {"a": a, "b": b})


def held(outcomes):
    """Return the groups as (labels of a cell, times) with repeats, in a form that can be sorted."""
    (table,), groups = outcomes.tables, outcomes.groups
    names = [*map(str, outcomes.labels), "-"]
    looks = [[] for _ in groups.repeats]
    for pattern, cell, times in zip(groups.pattern, groups.cell, groups.times, strict=True):
        looks[pattern].append((*(names[code] for code in table.cells[cell]), int(times)))
    return sorted(zip(map(sorted, looks), groups.repeats.tolist(), strict=True))


# Rows


def test_groups_that_look_alike_are_one_pattern():
    groups = group_rows(
        np.array([0, 1, 1, 2, 3, 3, 4, 4]),
        np.array([5, 5, 6, 5, 6, 5, 5, 5]),
        n_groups=6,
        n_cells=7,
    )
    assert groups.repeats.tolist() == [1, 2, 1, 2]  # nothing, {5}, {5 twice}, {5, 6}
    assert groups.pattern.tolist() == [1, 2, 3, 3]
    assert groups.cell.tolist() == [5, 5, 5, 6]
    assert groups.times.tolist() == [1, 2, 1, 1]
    assert groups.n == 6


def test_groups_with_any_counts_groups_not_entries():
    groups = group_rows(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), n_groups=4, n_cells=3)
    assert groups.with_any(np.array([True, True, False])) == 2
    assert groups.with_any(np.array([False, False, False])) == 0


def test_cells_that_are_left_out_leave_the_groups():
    groups = group_rows(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), n_groups=3, n_cells=3)
    moved = groups.moved(np.array([0, -1, 0]), n_cells=1)
    assert moved.repeats.tolist() == [1, 2]
    assert moved.n == 3


def test_the_arrays_cannot_be_changed(seen):
    with pytest.raises(ValueError, match="read-only"):
        seen.groups.repeats[0] = 7


# Adding up


@given(ITEMS.filter(has_spans), st.data())
def test_outcomes_add_up_in_any_order_and_any_split(items, data):
    whole = count(items)
    order = data.draw(st.permutations(items))
    cut = data.draw(st.integers(0, len(items)))
    parts = [part for part in (order[:cut], order[cut:]) if has_spans(part)]
    # A part without one span cannot be counted, so it only goes missing as empty groups.
    missing = len(items) - sum(map(len, parts))
    total = count(parts[0])
    for part in parts[1:]:
        total = total + count(part)
    assert total.n == whole.n - missing
    filled = [[one for one in held(seen) if one[0]] for seen in (total, whole)]
    assert filled[0] == filled[1]
    if not missing:
        assert total == whole
        assert total.findings == whole.findings
    if len(parts) == 2:
        assert count(parts[1]) + count(parts[0]) == total


@given(ITEMS.filter(has_spans))
def test_json_takes_groups_there_and_back(items):
    whole = count(items)
    back = Outcomes.from_json(whole.to_json())
    assert back == whole
    assert held(back) == held(whole)


@given(ITEMS.filter(has_spans), st.data())
def test_the_table_is_what_the_groups_hold(items, data):
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(items), max_size=len(items)))
    whole = count(items, groups)
    assert whole.n == len(set(groups))
    assert whole.ungroup() == count(items).ungroup()
    (table,) = whole.tables
    sums = np.zeros(len(table.counts), dtype=np.int64)
    repeats = whole.groups.repeats[whole.groups.pattern]
    np.add.at(sums, whole.groups.cell, whole.groups.times * repeats)
    assert sums.tolist() == table.counts.tolist()


@given(ITEMS)
def test_selecting_models_is_counting_them_alone(items):
    if not has_spans(items) or not has_spans([one[:3] for one in items]):
        return
    selected = count(items).select(["b", "a"])
    alone = count(items, models=("a", "b")).select(["b", "a"])
    assert held(selected) == held(alone)
    assert selected.labels == alone.labels
    assert selected.tables[0].cells.tolist() == alone.tables[0].cells.tolist()
    assert selected.ungroup().n == alone.ungroup().n
    for model in ("a", "b"):
        assert selected.margins(model).hits.sum() == alone.margins(model).hits.sum()
        assert selected.margins(model).predicted.sum() == alone.margins(model).predicted.sum()
        assert selected.confusion(model)[-1, -1] == 0


def test_what_only_a_model_left_out_made_up_is_no_span(seen):
    only_a = seen.select(["a"])
    assert only_a.n == 4
    assert only_a.ungroup().n == 6  # LOC missed twice, PER found, and three spurious ones
    assert seen.unpair().tables[0].n == 6


def test_unpaired_outcomes_keep_their_groups(seen):
    apart = seen.unpair()
    assert [table.groups.n for table in apart.tables] == [4, 4]
    assert Outcomes.from_json(apart.to_json()) == apart
    assert apart + apart == (seen + seen).unpair()


def test_only_some_types(seen):
    persons = only(seen, ["PER"])
    assert persons.labels == ("PER",)
    assert persons.n == 4
    assert [int(counts[0]) for counts in persons.margins("a")] == [1, 1, 3]
    pooled = only(seen, ["LOC", "PER"])
    assert pooled.labels == ("span",)
    assert [int(counts[0]) for counts in pooled.margins("a")] == [1, 3, 4]
    assert int(only(seen, seen.labels).margins("b").predicted[0]) == 3


def test_types_that_only_models_left_out_predict_go_with_them(seen):
    assert seen.select(["a"]).labels == ("LOC", "PER")
    assert seen.select(["b"]).labels == ("LOC", "MISC", "PER")
    # labels that were asked for stay
    assert seen.with_labels(["ORG"]).select(["a"]).labels == ("LOC", "ORG", "PER")


def test_a_model_of_which_nothing_is_left():
    seen = Outcomes.from_spans([[], []], {"a": [[(0, 1, "X")], []], "b": [[], []]})
    nothing = seen.select(["b"])
    assert nothing.labels == ("X",)
    assert (nothing.n, nothing.ungroup().n) == (2, 0)
    assert Outcomes.from_json(nothing.to_json()) == nothing


def test_labels_that_never_occurred_change_no_count(seen):
    wider = seen.with_labels(["A", "ZZZ"])
    assert wider.labels == ("A", "LOC", "MISC", "PER", "ZZZ")
    assert held(wider) == held(seen)
    assert wider.margins("a").hits.tolist() == [0, 0, 0, 1, 0]


def test_ungrouped_outcomes_forget_the_items(seen):
    bare = seen.ungroup()
    assert bare.groups is None
    assert bare.n == 7
    assert bare.tables[0].counts.tolist() == seen.tables[0].counts.tolist()


def test_scaled_outcomes_are_effective_counts(seen):
    half = scaled(seen, 0.5)
    assert half.n == 2.0
    assert half.ungroup().n == 3.5
    assert half.groups.repeats.tolist() == [0.5, 0.5, 0.5, 0.5]
    assert half.groups.times.tolist() == seen.groups.times.tolist()
    assert half.select(["a"]).groups.n == 2.0
    assert half != scaled(seen, 0.4)
    assert half == scaled(seen, 0.5)
    with pytest.raises(DataError, match="counts must be integers"):
        half + seen
    with pytest.raises(DataError, match="must be an integer"):
        Outcomes.from_json(half.to_json())


def test_outcomes_that_do_not_add_up(seen):
    classes = Outcomes.from_labels([0], {"a": [0], "b": [0]})
    with pytest.raises(UsageError, match="kinds 'spans' and 'classes' cannot be added"):
        seen + classes
    with pytest.raises(UsageError, match="with and without groups cannot be added"):
        seen + seen.ungroup()
    with pytest.raises(UsageError, match="call unpair"):
        seen + seen.unpair()


def test_questions_that_spans_do_not_answer(seen):
    with pytest.raises(
        UsageError,
        match="no true negatives, so there is no second class; pass the type with pos_label=",
    ):
        seen.binarize("PER")
    with pytest.raises(UsageError, match=r"use binarize\(label\)"):
        only(Outcomes.from_labels([0, 1], {"m": [1, 1]}), [1])
    with pytest.raises(UsageError, match="unknown type 'ORG'"):
        only(seen, ["ORG"])
    with pytest.raises(UsageError, match="labels must be a list of classes; got 'PER'"):
        only(seen, "PER")
    for labels in ([], ["PER", "PER"]):
        with pytest.raises(UsageError, match="labels must be distinct classes"):
            only(seen, labels)


# Damaged JSON


def damaged(seen, change):
    data = json.loads(seen.to_json())
    change(data["tables"][0])
    return json.dumps(signed(data))


@each(
    ("change", "words"),
    [
        (lambda t: t["groups"]["repeats"].__setitem__(1, 5), "do not add up to the table"),
        (lambda t: t["groups"]["times"].__setitem__(0, 2), "do not add up to the table"),
        (lambda t: t["groups"]["repeats"].append(0), "a group must occur at least once"),
        (lambda t: t["groups"]["times"].__setitem__(0, 0), "must occur at least once"),
        (lambda t: t["groups"]["times"].pop(), "needs a pattern, a cell and a count"),
        (
            lambda t: t["groups"]["cell"].__setitem__(0, 99),
            ("a cell or a pattern that does not exist"),
        ),
        (
            lambda t: t["groups"]["pattern"].__setitem__(0, 9),
            ("cell or a pattern that does not exist"),
        ),
        (lambda t: t["groups"]["cell"].__setitem__(0, -1), "must be an integer from 0"),
        (lambda t: t["groups"]["repeats"].__setitem__(0, 0.5), "must be an integer"),
        (lambda t: t["groups"].pop("repeats"), "the field tables[0].groups.repeats is missing"),
        (lambda t: t.__setitem__("groups", None), "tables[0].groups must be an object"),
        (lambda t: t["cells"].__setitem__(0, [0, 1, 0]), "each cell of spans must have one type"),
        (lambda t: t["cells"].__setitem__(0, [3, 3, 3]), "each cell of spans must have one type"),
        (lambda t: t["cells"].__setitem__(0, [4, 4, 4]), "a class that is not in labels"),
        (lambda t: t["counts"].pop(), "every cell needs one count"),
        (lambda t: t["cells"].clear(), "every cell needs one count"),
    ],
)
def test_damaged_groups_are_refused(seen, change, words):
    with pytest.raises(DataError) as caught:
        Outcomes.from_json(damaged(seen, change))
    assert words in str(caught.value)


def test_cells_and_patterns_may_come_in_any_order(seen):
    data = json.loads(seen.to_json())
    (table,) = data["tables"]
    n_cells, n_patterns = len(table["cells"]), len(table["groups"]["repeats"])
    for name in ("cells", "counts"):
        table[name].reverse()
    groups = table["groups"]
    groups["cell"] = [n_cells - 1 - cell for cell in groups["cell"]]
    groups["pattern"] = [n_patterns - 1 - pattern for pattern in groups["pattern"]]
    groups["repeats"].reverse()
    assert Outcomes.from_dict(signed(data)) == seen


def test_groups_of_one_size_are_worth_their_number_and_uneven_ones_less():
    even = group_rows(np.arange(40), np.zeros(40, dtype=int), n_groups=50, n_cells=1)
    assert even.n_even == pytest.approx(40)  # ten groups hold nothing
    members = np.repeat(np.arange(40), [61, *[1] * 39])
    uneven = group_rows(members, np.zeros(100, dtype=int), n_groups=40, n_cells=1)
    assert uneven.n_even == pytest.approx(100**2 / (61**2 + 39))


# Groups of items

ROWS = st.lists(
    st.tuples(*[st.sampled_from("xyz")] * 3, st.integers(0, 3)), min_size=1, max_size=12
)


def of_labels(rows):
    truth, a, b, groups = map(list, zip(*rows, strict=True))
    return Outcomes.from_labels(truth, {"a": a, "b": b}, groups=groups, labels=["x", "y", "z"])


@given(ROWS)
def test_items_of_a_group_may_come_in_any_order(rows):
    seen = of_labels(rows)
    assert of_labels(rows[::-1]) == seen
    assert of_labels([(*row[:3], 3 - row[3]) for row in rows]) == seen
    assert Outcomes.from_json(seen.to_json()) == seen
    assert (seen.n, seen.groups.n) == (len(rows), len({row[3] for row in rows}))


@given(ROWS, ROWS)
def test_groups_of_disjoint_items_add_up(one, two):
    moved = [(*row[:3], row[3] + 10) for row in two]
    assert of_labels(one) + of_labels(two) == of_labels(one + moved)


@given(ROWS)
def test_groups_follow_select_and_binarize(rows):
    seen = of_labels(rows)
    alone = Outcomes.from_labels(
        [row[0] for row in rows],
        {"b": [row[2] for row in rows]},
        groups=[row[3] for row in rows],
        labels=["x", "y", "z"],
    )
    assert seen.select(["b"]) == alone
    truth, a, b = ([row[place] == "x" for row in rows] for place in range(3))
    against_rest = Outcomes.from_labels(
        truth, {"a": a, "b": b}, groups=[row[3] for row in rows], labels=[False, True]
    )
    assert seen.binarize("x") == against_rest


@pytest.mark.parametrize("top", [4, 2**31])
def test_rows_find_their_place_among_the_cells(top):
    rng = np.random.default_rng(0)
    cells = np.unique(rng.integers(0, top, (50, 3)), axis=0)
    wanted = rng.integers(0, len(cells), 200)
    assert place_rows(cells[wanted].T, cells).tolist() == wanted.tolist()
    assert place_rows(cells[:0].T, cells[:0]).tolist() == []
    with pytest.raises(KeyError):
        place_rows(np.array([[top], [top], [top]]), cells)
    with pytest.raises(KeyError):
        place_rows(cells[:1].T, cells[1:])
