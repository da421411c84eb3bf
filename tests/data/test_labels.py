"""Labels are read as they are, from any container, or refused with the row named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outperform as op
from outperform import Outcomes, Scores
from outperform.data.checks import code_of
from outperform.data.labels import check_label, label_findings
from outperform.errors import DataError, UsageError
from tests.loops import each

TRUTH = ["NA", "null", "01", "1", "None", "nan", "", "cat", "cat", "dog"]
GUESS = ["NA", "None", "1", "1", "None", "", "", "cat", "dog", "dog"]


def plain(outcomes):
    """Return the parts of outcomes that must not depend on the container."""
    (table,) = outcomes.tables
    return outcomes.labels, table.cells.tolist(), table.counts.tolist()


TEXT_CONTAINERS = {
    "tuple": tuple,
    "numpy text": np.array,
    "numpy object": lambda values: np.array(values, dtype=object),
    "numpy StringDType": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "list of numpy text": lambda values: list(np.array(values)),
    "pandas object": lambda values: pd.Series(values, dtype=object),
    "pandas string": lambda values: pd.Series(values, dtype="string"),
    "pandas str": lambda values: pd.Series(values, dtype="str"),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "pandas other index": lambda values: pd.Series(values, index=range(50, 50 + len(values))),
    "pandas index": pd.Index,
    "polars": lambda values: pl.Series(values),
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series(values, dtype=pl.Enum(sorted(set(TRUTH + GUESS)))),
    "pyarrow": pa.array,
    "pyarrow chunked": lambda values: pa.chunked_array([values[:4], values[4:]]),
    "pyarrow dictionary": lambda values: pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (values[:4], values[4:])]
    ),
}
INT_CONTAINERS = {
    "tuple": tuple,
    **{f"numpy {kind}": (lambda values, kind=kind: np.array(values, dtype=kind)) for kind in (
        "int8", "int64", "uint8", "uint64", "object"
    )},
    "list of numpy integers": lambda values: list(np.array(values)),
    "pandas int": pd.Series,
    "pandas Int64": lambda values: pd.Series(values, dtype="Int64"),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "pyarrow": pa.array,
}  # fmt: skip
BOOL_CONTAINERS = {
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda values: np.array(values, dtype=object),
    "list of numpy booleans": lambda values: list(np.array(values)),
    "pandas": pd.Series,
    "pandas boolean": lambda values: pd.Series(values, dtype="boolean"),
    "polars": pl.Series,
    "pyarrow": pa.array,
}


@each("container", TEXT_CONTAINERS)
def test_text_counts_the_same_from_every_container(container):
    make = TEXT_CONTAINERS[container]
    expected = Outcomes.from_labels(TRUTH, {"m": GUESS})
    assert plain(Outcomes.from_labels(make(TRUTH), {"m": make(GUESS)})) == plain(expected)


@each("container", INT_CONTAINERS)
def test_whole_numbers_count_the_same_from_every_container(container):
    make = INT_CONTAINERS[container]
    truth, guess = [0, 1, 2, 2, 0], [0, 2, 2, 2, 1]
    expected = Outcomes.from_labels(truth, {"m": guess})
    found = Outcomes.from_labels(make(truth), {"m": make(guess)})
    assert found == expected
    assert all(type(label) is int for label in found.labels)


@each("container", BOOL_CONTAINERS)
@each("truth", [[True, False, True], [True, True, True]])
def test_booleans_count_the_same_from_every_container(container, truth):
    make = BOOL_CONTAINERS[container]
    guess = [True, True, True]
    expected = Outcomes.from_labels(truth, {"m": guess})
    found = Outcomes.from_labels(make(truth), {"m": make(guess)})
    assert found == expected
    assert found.labels == (False, True)
    assert all(type(label) is bool for label in found.labels)


def test_words_that_often_mean_missing_are_classes_like_any_other():
    seen = Outcomes.from_labels(TRUTH, {"m": GUESS})
    assert seen.labels == tuple(sorted(set(TRUTH) | set(GUESS)))
    assert seen.n == len(TRUTH)
    assert seen.confusion("m")[code_of(seen, "01"), code_of(seen, "1")] == 1


def test_whole_numbers_of_any_size_are_labels():
    low, high = -(2**63), 2**63 - 1
    extremes = np.array([low, high], dtype=np.int64)
    assert Outcomes.from_labels(extremes, {"m": extremes}).labels == (low, high)
    assert Outcomes.from_labels([10**30, 2], {"m": [2, 2]}).labels == (2, 10**30)
    unsigned = np.array([2**64 - 1, 0], dtype=np.uint64)
    assert Outcomes.from_labels(unsigned, {"m": [-1, 0]}).labels == (-1, 0, 2**64 - 1)


def test_numbers_that_say_the_same_become_one_class_with_a_finding():
    seen = Outcomes.from_labels([1, 0, 2], {"a": [1.0, 0.0, 2.0], "b": ["1", "0", "-2"]})
    assert seen.labels == (-2, 0, 1, 2)
    assert [finding.name for finding in seen.findings] == ["labels_converted"]
    assert "'a'" in seen.findings[0].message
    assert "'b'" in seen.findings[0].message
    assert Outcomes.from_labels([1, 0], {"a": [1, 0]}).findings == ()


@each("text", ["01", "1.0", "one", " 1", "+1", "²", "٣", "-0", ""])
def test_text_that_is_no_plain_number_is_refused_beside_numbers(text):
    with pytest.raises(DataError, match=r"predictions of 'm'.*astype\(str\)"):
        Outcomes.from_labels([1, 2], {"m": ["1", text]})


@pytest.mark.parametrize("other", [["true", "false"], ["True", "False"], ["1", "0"]])
def test_booleans_beside_text_are_refused(other):
    with pytest.raises(DataError, match="True/False"):
        Outcomes.from_labels([True, False], {"m": other})


BITS = [1, 0, 0, 1, 1]


@each(
    "other",
    [
        [bool(one) for one in BITS],
        np.array(BITS, dtype=bool),
        pd.Series(BITS, dtype="boolean"),
        pl.Series(BITS).cast(pl.Boolean),
        [True, 0, False, np.int8(1), np.bool_(True)],
        [True, 0.0, False, 1.0, 1],
    ],
)
def test_true_is_one_and_false_is_zero(other):
    plain = Outcomes.from_labels(BITS, {"m": [1, 1, 0, 0, 1]})
    for seen in (
        Outcomes.from_labels(other, {"m": [1, 1, 0, 0, 1]}),
        Outcomes.from_labels(BITS, {"m": other}),
    ):
        assert seen.labels == (0, 1)
        assert [type(label) for label in seen.labels] == [int, int]
        assert code_of(seen, True) == code_of(seen, 1) == 1
    expected = plain.confusion("m").tolist()
    assert Outcomes.from_labels(other, {"m": [1, 1, 0, 0, 1]}).confusion("m").tolist() == expected
    assert Outcomes.from_labels([2, *BITS], {"m": [True, *other]}).labels == (0, 1, 2)


def test_a_named_class_may_be_true_or_one():
    truth, predicted = [True, False, True], [True, True, False]
    seen = Outcomes.from_labels(truth, {"m": predicted}, labels=[0, 1])
    assert [type(label) for label in seen.labels] == [bool, bool]
    assert seen.with_labels([1, 2]).labels == (0, 1, 2)
    assert (seen + Outcomes.from_labels([1, 0], {"m": [1, 0]})).n == 5
    for pos_label in (True, 1, np.bool_(True), np.int64(1)):
        e = op.estimate(truth, predicted, metric="recall", pos_label=pos_label, n_draws=100)
        assert (e.observed, e.spec.pos_label) == (0.5, True)
        scores = Scores.from_arrays([1, 0, 1], {"m": [0.9, 0.2, 0.4]})
        assert code_of(scores, pos_label) == 1


@each(
    "values",
    [
        ["a", None],
        ["a", float("nan")],
        ["a", pd.NA],
        ["a", pd.NaT],
        [1, None],
        [1, float("nan")],
        [1.0, float("-inf")],
        [True, None],
        np.array([1.0, np.nan]),
        np.array([1.0, np.inf]),
        np.array(["a", None], dtype=object),
        np.array(["a", np.nan], dtype=np.dtypes.StringDType(na_object=np.nan)),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype="category"),
        pd.Series([1, None], dtype="Int64"),
        pd.Series([True, None], dtype="boolean"),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        pa.array(["a", None]),
        pa.array([1, None]),
        pa.chunked_array([pa.array(["a", None]).dictionary_encode()]),
    ],
    ids=lambda values: f"{type(values).__module__}-{getattr(values, 'dtype', '')}",
)
def test_missing_labels_are_refused_with_column_and_row(values):
    good = ["a", "b"] if isinstance(values[0], str) else [1, 0]
    with pytest.raises(DataError, match=r"predictions of 'bert'.*1 missing.*row 1"):
        Outcomes.from_labels(good, {"bert": values})


def test_missing_labels_are_counted():
    with pytest.raises(DataError, match=r"y_true has 3 missing.*first in row 2"):
        Outcomes.from_labels(["a", "b", None, None, "a", None], {"m": ["a"] * 6})


def test_a_missing_label_late_in_a_long_column_is_found_in_its_row():
    values = np.array(["a"] * 300_000, dtype=object)
    values[290_000] = None
    with pytest.raises(DataError, match="row 290000"):
        Outcomes.from_labels(values, {"m": ["a"] * 300_000})


@each(
    ("values", "words"),
    [
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "datetime64"),
        (pd.Series(pd.date_range("2020", periods=2)), "datetime64"),
        ([["a"], ["b"]], "y_true has a set of labels"),
        (["a", ("b",)], "type tuple in row 1"),
        ([b"a", b"b"], "type bytes"),
        (np.array([1j, 2]), "complex"),
        (["a", 1], "mixes labels of types int and text"),
        ([True, "1"], "mixes labels of types bool and text"),
        (np.array(["a", 1], dtype=object), "mixes labels"),
        ("ab", "sequence of labels"),
        (3, "sequence of labels"),
        (None, "sequence of labels"),
        (np.array("a"), "one-dimensional"),
        (np.array([["a", "b"]]), "one-dimensional"),
    ],
)
def test_what_cannot_be_a_column_of_labels_is_refused(values, words):
    with pytest.raises(DataError, match=words) as caught:
        Outcomes.from_labels(values, {"m": ["a", "b"]})
    assert "y_true" in str(caught.value)


def test_scores_are_told_from_labels():
    with pytest.raises(DataError, match=r"predictions of 'm' contains 0\.73.*looks like a score"):
        Outcomes.from_labels([0, 1], {"m": [0.0, 0.73]})


def test_probability_columns_are_a_wrong_use_with_the_threshold_shown():
    with pytest.raises(UsageError, match=r"shape \(2, 2\).*argmax.*threshold"):
        Outcomes.from_labels([0, 1], {"m": np.array([[0.9, 0.1], [0.3, 0.7]])})


@each(
    ("labels", "twins"),
    [
        (["cat", "Cat"], True),
        (["cat", " cat "], True),
        (["01", "1"], True),
        (["0", "00"], True),
        (["caf\u00e9", "cafe\u0301"], True),
        (["straße", "STRASSE"], True),
        (["cat", "cats"], False),
        (["10", "1"], False),
        ([1, 2], False),
        ([True, False], False),
    ],
)
def test_labels_that_look_alike_are_named_and_kept_apart(labels, twins):
    seen = Outcomes.from_labels(labels, {"m": labels})
    assert seen.n_classes == 2
    assert ("near_duplicate_labels" in [one.name for one in seen.findings]) is twins


def test_near_duplicates_are_shown_so_that_they_can_be_told_apart():
    (finding,) = label_findings(["caf\u00e9", "cafe\u0301"])
    assert r"'caf\xe9'" in finding.message
    assert r"'cafe\u0301'" in finding.message


def test_the_empty_label_is_a_class_with_a_finding():
    seen = Outcomes.from_labels(["", "a"], {"m": ["", ""]})
    assert seen.labels == ("", "a")
    assert [finding.name for finding in seen.findings] == ["empty_label"]
    assert "(empty)" in seen.findings[0].message


@each("label", ["a\u202eb", "x\u200by", "line\nbreak", "😀", "x" * 10_000])
def test_odd_text_is_kept_as_it_is(label):
    seen = Outcomes.from_labels([label, "plain"], {"m": ["plain", label]})
    assert set(seen.labels) == {label, "plain"}
    assert Outcomes.from_json(seen.to_json()) == seen


@pytest.mark.parametrize("label", [np.int64(3), 3.0, np.float64(3.0), 3])
def test_a_single_label_may_be_any_whole_number(label):
    assert check_label(label, name="pos_label") == 3
    assert type(check_label(label, name="pos_label")) is int


@each("label", [0.5, None, ("a",), b"a", float("nan")])
def test_a_single_label_must_be_one(label):
    with pytest.raises(DataError, match="pos_label must be text"):
        check_label(label, name="pos_label")
