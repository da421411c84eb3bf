"""Tables of outcomes against a table worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes
from outperform.data.checks import code_of
from outperform.data.views import count_of, emptied
from outperform.errors import DataError, UsageError
from tests.loops import each

# truth, a, b of ten items
ROWS = [
    ("x", "x", "x"),
    ("x", "x", "x"),
    ("x", "x", "y"),
    ("x", "y", "z"),
    ("y", "y", "y"),
    ("y", "x", "y"),
    ("y", "z", "z"),
    ("z", "z", "x"),
    ("z", "z", "z"),
    ("z", "x", "x"),
]
TRUTH, A, B = (list(column) for column in zip(*ROWS, strict=True))
CONFUSION_A = [[3, 1, 0], [1, 1, 1], [1, 0, 2]]
CONFUSION_B = [[2, 1, 1], [0, 2, 1], [2, 0, 1]]


@pytest.fixture
def seen():
    return Outcomes.from_labels(TRUTH, {"a": A, "b": B})


def test_the_table_says_what_was_seen(seen):
    assert (seen.n, seen.n_classes) == (10, 3)
    assert seen.labels == ("x", "y", "z")
    assert seen.models == ("a", "b")
    assert seen.paired
    assert seen.kind == "classes"
    assert seen.findings == ()
    assert repr(seen) == (
        "Outcomes(n=10, models=('a', 'b'), labels=('x', 'y', 'z'), paired=True, cells=9)"
    )


@pytest.mark.parametrize(("n_classes", "named"), [(6, True), (7, False), (50, False)])
def test_a_repr_names_classes_only_if_they_are_few(n_classes, named):
    seen = Outcomes.from_labels([0, 1], {"a": [0, 1]}, labels=range(n_classes))
    assert (f"labels={seen.labels}" in repr(seen)) == named
    assert (f"labels=<{n_classes} classes>" in repr(seen)) != named


def test_confusion_matrices_have_the_truth_in_rows(seen):
    assert seen.confusion("a").tolist() == CONFUSION_A
    assert seen.confusion("b").tolist() == CONFUSION_B


def test_margins(seen):
    a = seen.margins("a")
    assert a.hits.tolist() == [3, 1, 2]
    assert a.actual.tolist() == [4, 3, 3]
    assert a.predicted.tolist() == [5, 2, 3]
    assert seen.margins("b").predicted.tolist() == [4, 3, 3]


@each(
    ("part", "positive", "count"),
    [
        ("tp", 0, 3),
        ("fn", 0, 1),
        ("fp", 0, 2),
        ("tn", 0, 4),
        ("tp", 2, 2),
        ("fn", 2, 1),
        ("fp", 2, 1),
        ("tn", 2, 6),
        ("correct", None, 6),
        ("wrong", None, 4),
    ],
)
def test_parts(seen, part, positive, count):
    assert count_of(seen, "a", part, positive=positive) == count


def test_agreement(seen):
    assert seen.agreement() == (4, 2, 1, 3)
    assert seen.agreement(0) == (2, 1, 0, 1)
    assert seen.agreement(1) == (1, 0, 1, 1)
    assert seen.agreement(2) == (1, 1, 0, 1)
    with pytest.raises(UsageError, match="two models"):
        seen.select(["a"]).agreement()
    with pytest.raises(UsageError, match="paired"):
        seen.unpair().agreement()


def test_select_sums_the_others_out(seen):
    alone = seen.select(["b"])
    assert alone.models == ("b",)
    assert alone == Outcomes.from_labels(TRUTH, {"b": B})
    swapped = seen.select(["b", "a"])
    assert swapped == Outcomes.from_labels(TRUTH, {"b": B, "a": A})
    assert swapped.select(["a", "b"]) == seen
    assert seen.select(["a", "b"]) is seen


def test_select_names_what_it_does_not_know(seen):
    with pytest.raises(UsageError, match=r"unknown model 'c'.*a, b"):
        seen.select(["c"])
    with pytest.raises(UsageError, match="once"):
        seen.select(["a", "a"])


def test_unpair_keeps_every_model_alone(seen):
    apart = seen.unpair()
    assert not apart.paired
    assert apart.n == 10
    assert apart.confusion("a").tolist() == CONFUSION_A
    assert apart == Outcomes.from_confusion(
        {"a": CONFUSION_A, "b": CONFUSION_B}, labels=["x", "y", "z"]
    )
    assert apart.select(["b"]).confusion("b").tolist() == CONFUSION_B


def test_binarize_is_one_class_against_the_rest(seen):
    for label in seen.labels:
        rest = seen.binarize(label)
        assert rest.labels == (False, True)
        assert rest == Outcomes.from_labels(
            [value == label for value in TRUTH],
            {"a": [value == label for value in A], "b": [value == label for value in B]},
        )
    with pytest.raises(UsageError, match=r"unknown class 'w'.*x, y, z"):
        seen.binarize("w")


def test_with_labels_adds_classes_and_no_items(seen):
    wider = seen.with_labels(["w", "z"])
    assert wider.labels == ("w", "x", "y", "z")
    assert wider.n == 10
    assert wider.confusion("a")[1:, 1:].tolist() == CONFUSION_A
    assert not wider.confusion("a")[0].any()
    assert seen.with_labels(["z", "x"]) is seen


@pytest.mark.parametrize(
    ("labels", "error"),
    [([1], DataError), (["w", "w"], UsageError), ([], UsageError), ("xyz", UsageError)],
)
def test_with_labels_refuses_what_is_no_list_of_classes(seen, labels, error):
    with pytest.raises(error, match="labels"):
        seen.with_labels(labels)


def test_labels_may_be_given_that_never_occur():
    seen = Outcomes.from_labels([1, 0], {"m": [1, 1]}, labels=[2, 1, 0])
    assert seen.labels == (0, 1, 2)
    assert seen.confusion("m").tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]


def test_emptied_forgets_the_items_only(seen):
    for outcomes in (seen, seen.unpair()):
        empty = emptied(outcomes)
        assert (empty.n, empty.labels, empty.models) == (0, seen.labels, seen.models)
        assert empty.paired == outcomes.paired
        assert not empty.confusion("a").any()


def test_truth_values_and_numbers_are_the_same_labels():
    booleans = Outcomes.from_labels([True, False], {"m": [True, True]})
    numbers = Outcomes.from_labels([1, 0], {"m": [1, 1]})
    for outcomes in (booleans, numbers):
        assert (code_of(outcomes, True), code_of(outcomes, 1)) == (1, 1)
        with pytest.raises(UsageError, match="unknown class"):
            code_of(outcomes, "1")
    assert booleans != numbers  # they are shown, and written to JSON, as they came
    assert (booleans + numbers).confusion("m").tolist() == [[0, 2], [0, 2]]


def test_shards_add_up_in_any_order(seen):
    parts = [Outcomes.from_labels(TRUTH[i::3], {"a": A[i::3], "b": B[i::3]}) for i in range(3)]
    assert parts[0] + parts[1] + parts[2] == seen
    assert parts[2] + (parts[1] + parts[0]) == seen


def test_models_are_matched_by_name_when_they_add_up(seen):
    swapped = Outcomes.from_labels(TRUTH, {"b": B, "a": A})
    assert (seen + swapped).models == ("a", "b")
    assert (seen + swapped).confusion("a").tolist() == (2 * np.array(CONFUSION_A)).tolist()


def test_unpaired_tables_add_up_too(seen):
    assert (seen.unpair() + seen.unpair()) == (seen + seen).unpair()


def test_labels_that_look_alike_are_seen_when_shards_meet():
    one = Outcomes.from_labels(["cat", "a"], {"m": ["cat", "a"]})
    two = Outcomes.from_labels(["Cat", "a"], {"m": ["Cat", "a"]})
    assert one.findings == two.findings == ()
    both = Outcomes.from_labels(["cat", "a", "Cat", "a"], {"m": ["cat", "a", "Cat", "a"]})
    assert one + two == both
    assert [finding.name for finding in (both + both).findings] == ["near_duplicate_labels"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Outcomes.from_labels(TRUTH, {"a": A}), "different models"),
        (Outcomes.from_labels(TRUTH, {"a": A, "b": B}).unpair(), "unpair"),
        (Outcomes.from_correct({"a": [1], "b": [0]}), "kinds .classes. and .correct."),
        (Outcomes.from_labels([1], {"a": [1], "b": [1]}), "type of the labels"),
    ],
)
def test_what_is_of_another_kind_does_not_add_up(seen, other, words):
    with pytest.raises((UsageError, DataError), match=words):
        seen + other


def test_only_outcomes_add_up_with_outcomes(seen):
    with pytest.raises(TypeError):
        seen + 1


def test_counts_are_repeated_rows(seen):
    cells = sorted(set(ROWS))
    counts = [ROWS.count(cell) for cell in cells]
    truth, a, b = zip(*cells, strict=True)
    assert Outcomes.from_counts(truth, {"a": a, "b": b}, counts) == seen
    twice = Outcomes.from_counts(truth + truth, {"a": a + a, "b": b + b}, counts + counts)
    assert twice == seen + seen


def test_cells_of_no_items_keep_their_labels():
    seen = Outcomes.from_counts(["x", "y"], {"m": ["x", "w"]}, [3, 0])
    assert seen.labels == ("w", "x", "y")
    assert (seen.n, len(seen.tables[0].counts)) == (3, 1)


@each("count", [10**12, 2**53 + 1, 2**63 - 1, 2**63, 10**25])
def test_counts_of_any_size_are_exact(count):
    seen = Outcomes.from_counts([1, 1, 0], {"a": [1, 0, 0], "b": [1, 1, 0]}, [count, count, 1])
    assert seen.n == 2 * count + 1
    assert count_of(seen, "a", "fn", positive=1) == count
    assert seen.agreement() == (count + 1, 0, count, 0)
    assert (seen + seen).n == 4 * count + 2
    assert seen.confusion("a").tolist() == [[1, 0], [count, count]]
    assert seen.margins("b").actual.tolist() == [1, 2 * count]
    assert count_of(seen.select(["b"]), "b", "tp", positive=1) == 2 * count
    assert Outcomes.from_json(seen.to_json()) == seen


def test_counts_from_uint8_do_not_wrap():
    counts = np.array([250, 250], dtype=np.uint8)
    assert Outcomes.from_counts([1, 1], {"m": [1, 1]}, counts).n == 500


def test_adding_beyond_int64_does_not_wrap():
    seen = Outcomes.from_counts([1, 0], {"m": [1, 0]}, [2**63 - 2, 1])
    assert seen.tables[0].counts.dtype == np.int64
    assert (seen + seen).n == 2**64 - 2


@each(
    ("counts", "words"),
    [
        ([1], r"2 in all; got shape \(1,\)"),
        ([1, -1], "negative"),
        ([1, 0.5], "integers"),
        ([0, 0], "all counts are zero"),
        ([1, np.nan], "integers"),
        (["1", "2"], "integers"),
    ],
)
def test_counts_that_are_none_are_refused(counts, words):
    with pytest.raises(DataError, match=words):
        Outcomes.from_counts(["x", "y"], {"m": ["x", "y"]}, counts)


@each(
    ("weights", "words"),
    [
        ([1, -1], "negative.*-1"),
        ([1, -0.5], "negative.*-0.5"),
        ([1, np.inf], "finite.*inf"),
        ([1, np.nan], "finite.*nan"),
        ([1, "2"], "numbers"),
        ([1, None], "finite.*None"),
        ([1e308, 1e308], "sums to more"),
        ([0, 0], "zero for all rows"),
        ([1], "must have 2 values"),
        ([[1, 2]], "must have 2 values"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    with pytest.raises(DataError, match=f"sample_weight.*{words}"):
        Outcomes.from_labels(["x", "y"], {"m": ["x", "y"]}, sample_weight=weights)


def test_lengths_that_differ_are_named():
    with pytest.raises(DataError, match=r"y_true has 3 rows but predictions of 'b' has 2"):
        Outcomes.from_labels([1, 0, 1], {"a": [1, 0, 1], "b": [1, 0]})
    with pytest.raises(DataError, match=r"correct of 'a' has 3 rows but correct of 'b' has 2"):
        Outcomes.from_correct({"a": [1, 0, 1], "b": [1, 0]})


@pytest.mark.parametrize("empty", [[], np.array([]), np.array([], dtype=str)])
def test_no_rows_are_too_few(empty):
    with pytest.raises(DataError, match="no rows"):
        Outcomes.from_labels(empty, {"m": empty})


@pytest.mark.parametrize("predictions", [{}, [1, 0], None, {1: [1, 0]}])
def test_models_must_be_named(predictions):
    with pytest.raises(UsageError, match=r"by model name|must be text"):
        Outcomes.from_labels([1, 0], predictions)


def test_right_or_wrong_is_all_that_is_known():
    seen = Outcomes.from_correct({"a": [True, True, False, False], "b": [1, 0, 1, 0]})
    assert seen.kind == "correct"
    assert seen.agreement() == (1, 1, 1, 1)
    assert count_of(seen, "a", "tp", positive=1) == 2
    assert seen == Outcomes.from_correct({"a": np.array([1.0, 1, 0, 0]), "b": [1, 0, 1, 0]})
    with pytest.raises(DataError, match="correct of 'b' must be true/false"):
        Outcomes.from_correct({"a": [1, 0], "b": [1, 2]})
    with pytest.raises(DataError, match="correct of 'a'"):
        Outcomes.from_correct({"a": ["spam", "no"]})


def test_outcomes_cannot_be_changed(seen):
    with pytest.raises(ValueError, match="read-only"):
        seen.tables[0].counts[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        seen.tables[0].cells[0] = 1
    with pytest.raises(AttributeError):
        seen.labels = ("q",)


def test_equal_outcomes_have_equal_hashes(seen):
    again = Outcomes.from_labels(TRUTH[::-1], {"a": A[::-1], "b": B[::-1]})
    assert again == seen
    assert hash(again) == hash(seen)
    assert seen != "outcomes"
    assert seen.select(["b", "a"]) != seen
