"""Rows align by index, columns by name, and what does not align is refused with a way out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outperform as op
from outperform import Outcomes, Scores
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

log_loss = lazily("sklearn.metrics.log_loss")

N = 60
FEW = {"rope": 0.01, "n_draws": 200, "random_state": 1}
RNG = np.random.default_rng(3)
TRUTH = RNG.choice(["cat", "dog", "fish"], N)
A, B = (np.where(RNG.random(N) < share, TRUTH, "dog") for share in (0.8, 0.6))
ORDER = RNG.permutation(N)
ROWS = pd.Index(1000 + 7 * np.arange(N))
SHUFFLED = pd.Series(A, ROWS).iloc[ORDER]
CLASSES = ["cat", "dog", "fish"]
PROBABILITIES = RNG.dirichlet(np.ones(3), N)
FRAMES = {
    "pandas": lambda matrix, names: pd.DataFrame(dict(zip(names, matrix.T, strict=True))),
    "polars": lambda matrix, names: pl.DataFrame(dict(zip(names, matrix.T, strict=True))),
    "pyarrow": lambda matrix, names: pa.table(dict(zip(names, matrix.T, strict=True))),
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def names_of(seen):
    return [one.name for one in seen.findings]


# Rows, by index


def test_a_shuffled_column_is_aligned_and_said_so():
    plain = op.compare(TRUTH, A, B, metric="accuracy", **FEW)
    y, b = pd.Series(TRUTH, ROWS), pd.Series(B, ROWS)
    c = op.compare(y, SHUFFLED, b, metric="accuracy", **FEW)
    assert np.array_equal(c.draws, plain.draws)
    found = next(one for one in c.findings if one.name == "aligned_by_index")
    assert found.level == "warning"
    assert "predictions of 'A'" in found.message
    assert ".to_numpy()" in found.message
    same = op.compare(y, pd.Series(A, ROWS), b, metric="accuracy", **FEW)
    assert "aligned_by_index" not in names_of(same)


def test_by_position_is_asked_for_with_arrays():
    y = pd.Series(TRUTH, ROWS)
    by_position = Outcomes.from_labels(y, {"A": SHUFFLED.to_numpy(), "B": B.tolist()})
    assert by_position == Outcomes.from_labels(TRUTH, {"A": A[ORDER], "B": B})
    assert names_of(by_position) == []


def test_predictions_with_a_fresh_index_are_refused():
    y_test = pd.Series(TRUTH, ROWS).sample(frac=1, random_state=0)
    with pytest.raises(DataError, match=r"different indices: only y_true has \d+; .*to_numpy"):
        op.compare(y_test, pd.Series(A), pd.Series(B), metric="accuracy")


def test_a_permuted_range_is_aligned_with_a_warning():
    """The index cannot tell a fresh range from the rows that it names, so people are told."""
    y = pd.Series(TRUTH).iloc[ORDER]
    seen = Outcomes.from_labels(y, {"A": pd.Series(A)})
    assert names_of(seen) == ["aligned_by_index"]
    assert (
        seen.confusion("A").tolist()
        == Outcomes.from_labels(TRUTH, {"A": A}).confusion("A").tolist()
    )


def test_predictions_must_agree_where_the_truth_has_no_index():
    one, other = pd.Series(A, ROWS), pd.Series(B, ROWS).iloc[ORDER]
    with pytest.raises(DataError, match="y_true has no index, so its order"):
        op.compare(TRUTH, one, other, metric="accuracy")
    with pytest.raises(DataError, match="only predictions of 'A' has 1000"):
        op.compare(TRUTH, one, pd.Series(B), metric="accuracy")
    same = Outcomes.from_labels(TRUTH, {"A": one, "B": pd.Series(B, ROWS)})
    assert same == Outcomes.from_labels(TRUTH, {"A": A, "B": B})


def test_rows_named_twice_are_matched_only_if_they_are_in_order():
    twice = pd.Index([1, 1, 2])
    y, a = pd.Series([1, 0, 1], twice), pd.Series([1, 1, 1], twice)
    assert Outcomes.from_labels(y, {"A": a}).n == 3
    with pytest.raises(DataError, match=r"that of y_true contains 1 twice.*to_numpy"):
        Outcomes.from_labels(y, {"A": a.iloc[::-1]})
    with pytest.raises(DataError, match="that of predictions of 'A' contains 1 twice"):
        Outcomes.from_labels(pd.Series([1, 0, 1], [1, 2, 3]), {"A": a})


@each(
    ("one", "other", "aligned"),
    [
        (pd.Index(list("xyz")), pd.CategoricalIndex(list("zxy")), True),
        (pd.Index([0, 1, 2]), pd.Index([2.0, 0.0, 1.0]), True),
        (pd.Index([0, 1, 2]), pd.Index(["2", "0", "1"]), False),
        (
            pd.MultiIndex.from_tuples([(1, "a"), (2, "b"), (3, "c")]),
            pd.MultiIndex.from_tuples([(3, "c"), (1, "a"), (2, "b")]),
            True,
        ),
        (pd.MultiIndex.from_tuples([(1, "a"), (2, "b"), (3, "c")]), pd.RangeIndex(3), False),
        (
            pd.date_range("2026", periods=3, tz="UTC"),
            pd.date_range("2026", periods=3, tz="UTC").tz_convert("Asia/Tokyo")[[2, 0, 1]],
            True,
        ),
        (pd.date_range("2026", periods=3, tz="UTC"), pd.date_range("2026", periods=3), False),
    ],
)
def test_indices_of_every_kind(one, other, aligned):
    y, a = pd.Series([1, 2, 3], one), pd.Series([3, 1, 2], other)
    if aligned:
        assert Outcomes.from_labels(y, {"A": a}).margins("A").hits.sum() == 3
    else:
        with pytest.raises(DataError, match="different indices"):
            Outcomes.from_labels(y, {"A": a})


def test_lengths_are_named_before_indices():
    with pytest.raises(DataError, match=r"y_true has 3 rows but predictions of 'A' has 2"):
        Outcomes.from_labels(pd.Series([1, 0, 1]), {"A": pd.Series([1, 0], [5, 6])})


@pytest.mark.parametrize("what", ["groups", "sample_weight", "by"])
def test_what_goes_with_the_rows_is_aligned_too(what):
    values = np.arange(N) % 7
    given, plain = pd.Series(values, ROWS).iloc[ORDER], values
    if what == "by":
        given, plain = {"day": given}, {"day": plain}
    y, models = pd.Series(TRUTH, ROWS), {"A": pd.Series(A, ROWS), "B": B}
    seen = Outcomes.from_labels(y, models, **{what: given})
    assert names_of(seen) == ["aligned_by_index"]
    expected = Outcomes.from_labels(TRUTH, {"A": A, "B": B}, **{what: plain})
    assert seen.to_dict()["tables"] == expected.to_dict()["tables"]
    with pytest.raises(DataError, match="different indices"):
        Outcomes.from_labels(
            y, models, **{what: {"day": pd.Series(values)} if what == "by" else pd.Series(values)}
        )


def test_every_door_aligns():
    y = pd.Series(TRUTH, ROWS)
    right = {"a": pd.Series(A == TRUTH, ROWS), "b": pd.Series(B == TRUTH, ROWS).iloc[ORDER]}
    sets = pd.Series([{one} for one in TRUTH], ROWS)
    tags = pd.Series([["B-X", "O"], ["O", "O"]] * (N // 2), ROWS)
    number = pd.Series(np.arange(N, dtype=float), ROWS)
    seen = [
        (Outcomes.from_labels(y, {"m": SHUFFLED}), Outcomes.from_labels(TRUTH, {"m": A})),
        (
            Outcomes.from_counts(y, {"m": SHUFFLED}, pd.Series(np.arange(N), ROWS)),
            Outcomes.from_counts(TRUTH, {"m": A}, np.arange(N)),
        ),
        (
            Outcomes.from_correct(right),
            Outcomes.from_correct({"a": A == TRUTH, "b": B == TRUTH}),
        ),
        (
            Outcomes.from_label_sets(sets, {"m": sets.iloc[ORDER]}),
            Outcomes.from_label_sets(sets.tolist(), {"m": sets.tolist()}),
        ),
        (
            Outcomes.from_tags(tags, {"m": tags.iloc[ORDER]}, scheme="IOB2"),
            Outcomes.from_tags(tags.tolist(), {"m": tags.tolist()}, scheme="IOB2"),
        ),
        (
            Outcomes.from_pool(y, {"a": SHUFFLED, "b": pd.Series(B, ROWS)}),
            Outcomes.from_pool(TRUTH, {"a": A, "b": B}),
        ),
    ]
    for aligned, plain in seen:
        assert names_of(aligned) == ["aligned_by_index"]
        assert replace(aligned, findings=()).to_dict() == plain.to_dict()
    scores = Scores.from_values({"a": number, "b": number.iloc[ORDER]})
    assert np.array_equal(*scores.values)
    assert names_of(scores) == ["aligned_by_index"]
    ranked = Scores.from_arrays(y == "cat", {"a": number.iloc[ORDER]})
    assert ranked.values[0].tolist() == number.tolist()


def test_every_verb_aligns():
    y, b = pd.Series(TRUTH, ROWS), pd.Series(B, ROWS)
    few = {"metric": "accuracy", **FEW}
    results = [
        op.compare(y, SHUFFLED, b, **few),
        op.rank(y, {"a": SHUFFLED, "b": b}, **few),
        op.estimate(y, SHUFFLED, metric="accuracy", n_draws=200),
        op.scorecard(y, SHUFFLED, b, metrics=["accuracy"], **FEW)["accuracy"],
        op.gate(y, SHUFFLED, b, **few).main,
        op.compare_runs(y, [SHUFFLED, b], [b, y], **few),
    ]
    for result in results:
        assert "aligned_by_index" in names_of(result)


def test_a_pool_is_aligned_before_items_are_chosen():
    a, b = pd.Series(A, ROWS), pd.Series(B, ROWS)
    few = {"budget": 20, "metric": "accuracy", "random_state": 1}
    plain, moved = op.propose(A, B, **few), op.propose(a, b.iloc[ORDER], **few)
    assert moved.items.tolist() == plain.items.tolist()
    with pytest.raises(DataError, match="different indices"):
        op.propose(a, b.reset_index(drop=True), **few)
    labelled = pd.Series(TRUTH, ROWS).iloc[plain.items]
    assert moved.outcomes(labelled).n == 20


# Columns, by name


@frames
def test_probabilities_go_by_the_names_of_their_columns(frame):
    good = frame(PROBABILITIES, CLASSES)
    same = frame(PROBABILITIES[:, [2, 0, 1]], ["fish", "cat", "dog"])
    c = op.compare(TRUTH, good, same, metric="log_loss", **FEW)
    expected = log_loss(TRUTH, PROBABILITIES, labels=CLASSES)
    assert c.a.observed == pytest.approx(expected, rel=1e-12)
    assert c.b.observed == pytest.approx(expected, rel=1e-12)
    assert c.observed == 0
    # Without names the columns are in the order of the classes.
    plain = op.compare(TRUTH, PROBABILITIES, pd.DataFrame(PROBABILITIES), metric="log_loss", **FEW)
    assert plain.b.observed == pytest.approx(expected, rel=1e-12)


@frames
def test_classes_that_are_numbers_go_by_their_text(frame):
    truth = np.searchsorted(CLASSES, TRUTH) + 3
    turned = frame(PROBABILITIES[:, ::-1], ["5", "4", "3"])
    seen = Scores.from_arrays(truth, {"m": turned})
    assert np.array_equal(seen.values[0], PROBABILITIES)
    given = Scores.from_arrays(truth, {"m": turned}, labels=[4, 3, 5])
    assert np.array_equal(given.values[0], PROBABILITIES[:, [1, 0, 2]])
    yes = Scores.from_arrays(TRUTH == "cat", {"m": frame(PROBABILITIES[:, :2], ["True", "False"])})
    assert np.array_equal(yes.values[0], PROBABILITIES[:, [1, 0]])


@frames
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["cat", "dog", "fisch"], "it has 'fisch'.*to_numpy"),
        (["cat", "dog", "fish", "bird"], "it has 'bird'.*labels="),
        (["cat", "dog"], "it lacks 'fish'"),
        (["p_cat", "p_dog", "p_fish"], "be named after the classes, 'cat', 'dog', 'fish'"),
    ],
)
def test_names_that_are_no_classes_are_refused(frame, names, words):
    matrix = RNG.dirichlet(np.ones(len(names)), N)
    with pytest.raises(DataError, match=rf"the columns of scores of 'm' must.*{words}"):
        Scores.from_arrays(TRUTH, {"m": frame(matrix, names)})


def test_a_class_that_never_occurs_is_named_in_labels():
    names = ["fish", "dog", "cat", "bird"]
    matrix = RNG.dirichlet(np.ones(4), N)
    seen = Scores.from_arrays(
        TRUTH, {"m": FRAMES["pandas"](matrix, names)}, labels=["bird", "cat", "dog", "fish"]
    )
    assert np.array_equal(seen.values[0], matrix[:, ::-1])


@frames
def test_indicators_go_by_the_names_of_their_columns(frame):
    truth, predicted = (RNG.integers(0, 2, (N, 3)) for _ in range(2))
    seen = Outcomes.from_labels(
        frame(truth, CLASSES), {"m": frame(predicted[:, ::-1], CLASSES[::-1])}
    )
    assert seen == Outcomes.from_label_sets(truth, {"m": predicted}, labels=CLASSES)
    with pytest.raises(DataError, match="only one of them has 'cow'"):
        Outcomes.from_labels(frame(truth, CLASSES), {"m": frame(truth, ["cat", "cow", "dog"])})


def test_a_column_that_is_there_twice_is_refused():
    twice = pd.DataFrame(PROBABILITIES, columns=["cat", "dog", "cat"])
    with pytest.raises(DataError, match="two columns named 'cat'"):
        Scores.from_arrays(TRUTH, {"m": twice})
    with pytest.raises(DataError, match="two columns named 'a'"):
        op.rank(TRUTH, pd.DataFrame({0: A, 1: B}).set_axis(["a", "a"], axis=1))


# Frames where several columns are welcome, or one


@frames
def test_a_frame_is_a_mapping_of_models(frame):
    both = frame(np.stack([A, B], axis=1), ["a", "b"])
    seen = Outcomes.from_labels(TRUTH, both)
    assert seen == Outcomes.from_labels(TRUTH, {"a": A, "b": B})
    ranked = op.rank(TRUTH, both, metric="accuracy", **FEW)
    assert sorted(ranked.names) == ["a", "b"]
    right = frame(np.stack([A == TRUTH, B == TRUTH], axis=1), ["a", "b"])
    assert Outcomes.from_correct(right).models == ("a", "b")
    assert Scores.from_values(frame(PROBABILITIES, CLASSES)).models == tuple(CLASSES)


def test_a_frame_of_models_has_an_index_too():
    both = pd.DataFrame({"a": A, "b": B}, ROWS).iloc[ORDER]
    seen = Outcomes.from_labels(pd.Series(TRUTH, ROWS), both)
    assert (
        seen.to_dict()["tables"]
        == Outcomes.from_labels(TRUTH, {"a": A, "b": B}).to_dict()["tables"]
    )
    with pytest.raises(UsageError, match="model names must be text; got 0"):
        op.rank(TRUTH, pd.DataFrame({0: A, 1: B}))


@frames
def test_a_frame_of_runs_has_a_column_for_each(frame):
    runs_a, runs_b = (
        [np.where(RNG.random(N) < s, TRUTH, "dog") for _ in range(3)] for s in (0.8, 0.5)
    )
    seeds = ["s1", "s2", "s3"]
    few = {"metric": "accuracy", **FEW}
    by_frame = op.compare_runs(
        TRUTH, frame(np.stack(runs_a, axis=1), seeds), frame(np.stack(runs_b, axis=1), seeds), **few
    )
    by_list = op.compare_runs(TRUTH, runs_a, runs_b, **few)
    assert by_frame.observed == by_list.observed
    assert np.array_equal(by_frame.draws, by_list.draws)
    assert by_frame.names == ("A", "B")


@frames
def test_a_frame_of_one_column_is_that_column(frame):
    y, a = frame(TRUTH[:, None], ["label"]), frame(A[:, None], ["predicted"])
    assert Outcomes.from_labels(y, {"m": a}) == Outcomes.from_labels(TRUTH, {"m": A})
    score = frame(PROBABILITIES[:, :1], ["score"])
    assert Scores.from_arrays(TRUTH == "cat", {"m": score}).values[0].ndim == 1
    assert Scores.from_values({"m": score}).n == N
    with pytest.raises(DataError, match="pass one column of the frame"):
        Outcomes.from_labels(frame(np.stack([A, B], axis=1), ["a", "b"]), {"m": A})


# Columns of every library and type


@each(
    "column",
    [
        pd.Series(A, dtype="category"),
        pd.Series(A, dtype="string"),
        pd.Series(A, dtype="string[pyarrow]"),
        pl.Series(A),
        pl.Series(A, dtype=pl.Categorical),
        pl.Series(A, dtype=pl.Enum(CLASSES)),
        pa.array(A),
        pa.chunked_array([A[:20], A[20:]]),
        pa.array(A).dictionary_encode(),
    ],
)
def test_text_of_every_library(column):
    y = pd.Series(TRUTH, ROWS)
    assert Outcomes.from_labels(y.to_numpy(), {"m": column}) == Outcomes.from_labels(
        TRUTH, {"m": A}
    )
    groups = Outcomes.from_labels(TRUTH, {"m": A}, groups=column)
    assert groups == Outcomes.from_labels(TRUTH, {"m": A}, groups=A)


@each(
    "column",
    [
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([1, 0, 1], dtype="int64[pyarrow]"),
        pd.Series([1, 0, 1], dtype="category"),
        pl.Series([1, 0, 1], dtype=pl.UInt8),
        pa.chunked_array([[1], [0, 1]]),
    ],
)
def test_whole_numbers_of_every_library(column):
    plain = Outcomes.from_labels([1, 0, 1], {"m": [1, 0, 1]})
    assert Outcomes.from_labels([1, 0, 1], {"m": column}) == plain
    weighed = Outcomes.from_labels([1, 0, 1], {"m": [1, 0, 1]}, sample_weight=column)
    assert weighed.n == 2


@each(
    "column",
    [
        pd.Series([1, None, 1], dtype="Int64"),
        pd.Series([True, None, True], dtype="boolean"),
        pd.Series(["x", None, "x"], dtype="string"),
        pd.Series(["x", None, "x"], dtype="category"),
        pl.Series([1, None, 1]),
        pl.Series(["x", None, "x"]),
        pa.array(["x", None, "x"]),
        pa.chunked_array([[True, None, True]]),
    ],
)
def test_what_is_missing_is_refused(column):
    with pytest.raises(DataError, match="1 missing or non-finite label"):
        Outcomes.from_labels(column, {"m": column})
    with pytest.raises(DataError, match="1 items have no group"):
        Outcomes.from_labels([1, 0, 1], {"m": [1, 0, 1]}, groups=column)
