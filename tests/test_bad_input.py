"""The catalogue of bad input: what arrays and tables must lead to, row by row.

Numbers are those of the verification programme; rows about files and the
command line belong to the readers. E2 is a UsageError, E3 a DataError, E5 a
ResourceError; a warning is a finding; OK is a whole answer.
"""

from __future__ import annotations

import datetime
import json
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.errors import DataError, ResourceError, UsageError
from tests.lazily import lazily
from tests.loops import each

f1_score = lazily("sklearn.metrics.f1_score")

FEW = {"n_draws": 500, "rope": 0.05, "random_state": 1}
TRUTH = [1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0] * 3
A = [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0] * 3
B = [1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1] * 3


def findings(result):
    return {finding.name for finding in result.findings}


def check_whole(result):
    """Fail unless every number of a result is finite and its facts are JSON."""
    numbers = [result.mean, result.sd, result.hdi.low, result.hdi.high, result.p_better]
    assert np.isfinite(numbers).all()
    assert np.isfinite(result.draws).all()
    assert result.hdi.low <= result.hdi.high
    json.dumps(result.to_dict(), allow_nan=False)
    str(result)
    return result


def changed(values, place, value):
    values = list(values)
    values[place] = value
    return values


@each("missing", [None, float("nan"), pd.NA, pd.NaT, np.nan])
def test_06_nulls_in_the_truth(missing):
    with pytest.raises(DataError, match=r"y_true has 1 missing.*row 4.*drop"):
        op.compare(changed(map(str, TRUTH), 4, missing), list(map(str, A)), list(map(str, B)))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_07_nulls_in_one_models_predictions(missing):
    with pytest.raises(DataError, match=r"predictions of 'new' has 1 missing.*row 7"):
        op.compare(TRUTH, A, changed(B, 7, missing), names=("old", "new"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_08_floats_that_are_no_numbers(value):
    for container in (list, np.array, pd.Series):
        labels = container(changed(map(float, A), 2, value))
        with pytest.raises(DataError, match=r"predictions of 'A'.*row 2"):
            op.compare(TRUTH, labels, B)


def test_09_lengths_that_differ():
    with pytest.raises(DataError, match=r"y_true has 36 rows but predictions of 'B' has 35"):
        op.compare(TRUTH, A, B[:-1])
    with pytest.raises(DataError, match=r"y_true has 5 rows but predictions of 'A' has 36"):
        op.compare(TRUTH[:5], A, B)


def test_13_a_predicted_class_that_the_truth_lacks():
    c = check_whole(op.compare(TRUTH, changed(A, 0, 2), B, metric="f1_macro", **FEW))
    assert "predicted_never_true" in findings(c)


def test_14_a_true_class_that_is_never_predicted():
    silent = [0] * len(TRUTH)
    c = check_whole(op.compare(TRUTH, silent, B, metric="precision", **FEW))
    assert "class_never_predicted" in findings(c)
    # Nothing was predicted, so tp and fp are 1 and 1 of the prior, doubled by the pairing.
    assert 0.2 < c.a.mean < 0.8
    assert c.a.sd > 0.1


@pytest.mark.parametrize("only", [0, 1])
def test_15_a_macro_average_of_one_true_class_is_that_class(only):
    c = check_whole(op.compare([only] * 36, A, B, metric="f1_macro", **FEW))
    assert c.a.observed == pytest.approx(f1_score([only] * 36, A, pos_label=only))
    assert "predicted_never_true" in findings(c)


@each("metric", ["f1", "recall", "precision", "accuracy"])
@each("only", [0, 1])
def test_15_only_one_class_in_the_truth(metric, only):
    c = check_whole(op.compare([only] * 36, A, B, metric=metric, **FEW))
    finding = next(one for one in c.findings if one.name == "class_without_truth")
    assert "come from the prior alone" in finding.message


@each(
    "make",
    [
        lambda: op.compare([], [], []),
        lambda: op.compare(np.array([]), np.array([]), np.array([])),
        lambda: op.Outcomes.from_counts([1, 0], {"m": [1, 0]}, [0, 0]),
        lambda: op.Outcomes.from_confusion({"m": np.zeros((2, 2), dtype=int)}),
        lambda: op.Outcomes.from_correct({"m": []}),
        lambda: op.compare(TRUTH, A, B, sample_weight=[0] * 36),
    ],
)
def test_16_no_items(make):
    with pytest.raises(DataError, match=r"no rows|counts are zero|zero for all rows|no items"):
        make()


@each("metric", ["f1", "accuracy", "recall", "f1_macro", "matthews_corrcoef"])
def test_17_one_item(metric):
    c = check_whole(op.compare([1], [1], [0], metric=metric, labels=[0, 1], **FEW))
    assert "few_items" in findings(c)
    assert c.hdi.width > 0.4
    assert not c.decision.decided


@each("metric", op.metrics.names())
@each("flip", [0, 1], ids=["right", "wrong"])
def test_18_all_right_and_all_wrong(metric, flip):
    answers = [value ^ flip for value in TRUTH]
    c = check_whole(op.compare(TRUTH, answers, answers, metric=metric, **FEW))
    assert c.a.observed == c.b.observed
    assert c.decision.symbol in "?~≈"


@each("prior", ["uniform", "unit", "hierarchical", "learned", "bootstrap"])
def test_19_a_identical_to_b(prior):
    from matplotlib import pyplot

    c = check_whole(op.compare(TRUTH, A, A, prior=prior, **FEW))
    assert c.decision.symbol in "?~≈"
    assert c.observed == 0.0
    if prior == "bootstrap":
        assert not c.draws.any()
        assert c.decision is op.Decision.UNDECIDED
    else:
        c.bayes_factor_point_null(method="kde")
    c.plot()
    pyplot.close("all")


def test_20_nothing_predicted_positive():
    c = op.compare(TRUTH, [0] * 36, B, metric="precision", names=("quiet", "loud"), **FEW)
    assert c.a.observed == 0.0
    for text in (c.to_markdown(), c.to_latex(), c.to_html(), str(c)):
        assert "undefined" in text
    assert math.isfinite(c.a.mean)


@pytest.mark.parametrize("prior", [0, 0.0, [[0, 1], [1, 1]], op.Prior(rows=1, prevalence=0)])
def test_21_a_prior_of_zero_on_an_empty_cell(prior):
    with pytest.raises(DataError, match=r"improper.*positive prior for every cell"):
        op.compare([1] * 9, [1] * 9, [1, 0, 1] * 3, prior=prior, **FEW)


@each("prior", [1e-3, 1e-6, 1e-300])
@each("metric", ["f1", "precision", "recall", "accuracy", "f1_macro"])
def test_22_tiny_priors(prior, metric):
    for truth, a, b in ((TRUTH, A, B), ([1] * 9, [1] * 9, [1, 0, 1] * 3)):
        check_whole(op.compare(truth, a, b, metric=metric, prior=prior, **FEW))
        both = op.Prior(rows=prior, prevalence=prior)
        check_whole(op.compare(truth, a, b, metric=metric, prior=both, **FEW))


@pytest.mark.parametrize("prior", [1e-301, 5e-324, op.metrics])
def test_22_priors_below_the_floats(prior):
    with pytest.raises(UsageError, match="prior"):
        op.compare(TRUTH, A, B, prior=prior, **FEW)


@each(
    "prior",
    [-1, float("nan"), float("inf"), [1, 1], np.ones((3, 3)), "flat", [[1, -1], [1, 1]], {}, ()],
)
def test_23_priors_that_are_none(prior):
    with pytest.raises(UsageError, match="prior"):
        op.compare(TRUTH, A, B, prior=prior, **FEW)
    with pytest.raises(UsageError, match="prevalence"):
        op.compare(TRUTH, A, B, prior=op.Prior(prevalence=[1, 1, 1]), **FEW)


@each(
    "rope",
    [
        (0.1, -0.1),
        float("nan"),
        (0, float("nan")),
        2,
        (-3, 0),
        "0.01",
        (1, 2, 3),
        -0.01,
        float("inf"),
    ],
)
def test_24_ropes_that_are_none(rope):
    with pytest.raises(UsageError, match="rope"):
        op.compare(TRUTH, A, B, rope=rope)


def test_24_a_rope_without_width():
    c = check_whole(op.compare(TRUTH, A, B, rope=0, n_draws=500))
    assert "zero_width_rope" in findings(c)
    assert c.bayes_factor is None


@each("prob", [0, 1, 95, -0.1, "95%", None, float("nan")])
def test_25_levels_that_are_none(prob):
    words = r"did you mean 0\.95" if prob == 95 else "hdi_prob"
    with pytest.raises(UsageError, match=words):
        op.compare(TRUTH, A, B, hdi_prob=prob)
    with pytest.raises(UsageError, match=words):
        op.estimate(TRUTH, A, hdi_prob=prob)


@each("n_draws", [0, 1, -5, 0.5, "many", float("nan")])
def test_26_numbers_of_draws_that_are_none(n_draws):
    for ask in (
        lambda: op.compare(TRUTH, A, B, n_draws=n_draws),
        lambda: op.estimate(TRUTH, A, n_draws=n_draws),
        lambda: op.scorecard(TRUTH, A, B, metrics=["f1"], n_draws=n_draws),
    ):
        with pytest.raises(UsageError, match="n_draws"):
            ask()


def test_26_too_many_draws():
    with pytest.raises(ResourceError, match=r"GB"):
        op.compare(TRUTH, A, B, n_draws=10**12)


@each("seed", [-1, 2**64, 1.5, "seed", (1, 2)])
def test_27_seeds_that_are_none(seed):
    with pytest.raises(UsageError, match="random_state"):
        op.compare(TRUTH, A, B, random_state=seed)


def test_27_no_seed_is_drawn_and_shown():
    c = op.compare(TRUTH, A, B, n_draws=500)
    seed = int(c.signature.partition("seed=")[2].partition(" ")[0])
    assert np.array_equal(op.compare(TRUTH, A, B, n_draws=500, random_state=seed).draws, c.draws)


def test_28_unknown_metrics_and_classes():
    with pytest.raises(UsageError, match=r"unknown metric 'f1macro'; did you mean 'f1_macro'\?"):
        op.compare(TRUTH, A, B, metric="f1macro")
    with pytest.raises(UsageError, match=r"unknown metric 'ff'.*Known: .*f1_macro and .* more"):
        op.compare(TRUTH, A, B, metric="ff")
    with pytest.raises(UsageError, match=r"unknown class '7'.*0, 1"):
        op.compare(TRUTH, A, B, pos_label=7)
    with pytest.raises(UsageError, match="unknown class"):
        op.compare(TRUTH, A, B, pos_label="1")


@each("word", ["NA", "null", "None", "nan", "NaN", "N/A", "<NA>", "inf"])
def test_31_words_that_often_mean_missing(word):
    truth, a, b = ([word if code else "other" for code in column] for column in (TRUTH, A, B))
    c = check_whole(op.compare(truth, a, b, pos_label=word, **FEW))
    numbers = op.compare(TRUTH, A, B, **FEW)
    assert c.spec.data.labels == tuple(sorted([word, "other"]))
    assert c.observed == numbers.observed


def test_32_leading_zeros_are_text():
    c = op.compare(["01", "1"] * 9, ["01", "01"] * 9, ["1", "1"] * 9, metric="accuracy", **FEW)
    assert c.spec.data.labels == ("01", "1")
    assert "near_duplicate_labels" in findings(c)


def test_33_numbers_in_several_spellings():
    plain = op.compare(TRUTH, A, B, **FEW)
    c = op.compare(TRUTH, list(map(float, A)), list(map(str, B)), **FEW)
    assert np.array_equal(c.draws, plain.draws)
    assert "labels_converted" in findings(c)
    with pytest.raises(DataError, match=r"predictions of 'B' contains text such as '01'"):
        op.compare(TRUTH, A, [f"0{code}" for code in B], **FEW)


@pytest.mark.parametrize("other", [["true", "false"], ["True", "False"], ["1", "0"]])
def test_34_booleans_and_words(other):
    truth = [True, False] * 9
    with pytest.raises(DataError, match=r"True/False.*map one to the other"):
        op.compare(truth, truth, other * 9, **FEW)


@pytest.mark.parametrize("twin", [" cat ", "Cat", "cat\n", "CAT"])
def test_35_labels_that_differ_in_case_or_blanks(twin):
    c = op.compare(
        ["cat", "dog"] * 9, [twin, "dog"] * 9, ["cat", "cat"] * 9, metric="accuracy", **FEW
    )
    assert twin in c.spec.data.labels
    assert "near_duplicate_labels" in findings(c)


def test_36_composed_and_decomposed_letters():
    nfc, nfd = "caf\u00e9", "cafe\u0301"
    c = op.compare([nfc, "x"] * 9, [nfd, "x"] * 9, [nfc, "x"] * 9, metric="accuracy", **FEW)
    assert {nfc, nfd} <= set(c.spec.data.labels)
    assert "near_duplicate_labels" in findings(c)


@pytest.mark.parametrize("label", ["abc\u202edef", "zero\u200bwidth", "\u2066hidden\u2069"])
def test_37_invisible_characters_are_shown_escaped(label):
    odd = op.compare([label, "x"] * 9, ["x", label] * 9, [label, "x"] * 9, metric="f1_macro", **FEW)
    assert label in odd.spec.data.labels
    table = odd.by_class()
    for text in (str(odd), odd.report(), str(table), table.to_markdown(), table.to_html()):
        assert not any(character in text for character in "\u202e\u200b\u2066\u2069")
    named = op.compare(TRUTH, A, B, names=(label, "plain"), **FEW)
    for text in (str(named), repr(named), named.report(), named.to_markdown(), named.to_html()):
        assert not any(character in text for character in "\u202e\u200b\u2066\u2069")


@pytest.mark.parametrize("label", ["😀", "x" * 10_000, "two\nlines"])
def test_38_long_and_odd_labels_are_cut_in_tables_only(label):
    c = op.compare([label, "x"] * 9, ["x", label] * 9, [label, "x"] * 9, metric="f1_macro", **FEW)
    assert label in c.spec.data.labels
    table = c.by_class()
    assert label in table.keys
    assert json.loads(json.dumps(table.to_dict()))["keys"].count(label) == 1
    for text in (table.to_markdown(), str(table)):
        assert max(map(len, text.splitlines())) < 1_000


def test_39_the_empty_label():
    c = op.compare(["", "x"] * 9, ["", ""] * 9, ["x", "x"] * 9, metric="f1_macro", **FEW)
    assert "" in c.spec.data.labels
    assert "empty_label" in findings(c)
    assert "(empty)" in str(c.by_class())


def test_40_scores_in_the_place_of_labels():
    scores = np.linspace(0.01, 0.99, 36)
    for a, b in ((scores, B), (list(scores), B), (pd.Series(scores), B)):
        with pytest.raises(DataError, match=r"'A' contains 0\.\d+.*looks like a score"):
            op.compare(TRUTH, a, b)


def test_41_probability_columns_in_the_place_of_labels():
    proba = np.column_stack([np.linspace(0, 1, 36), np.linspace(1, 0, 36)])
    for given in (proba, pd.DataFrame(proba)):
        with pytest.raises(UsageError, match=r"predictions of 'A'.*threshold"):
            op.compare(TRUTH, given, B)


@each(
    "label",
    [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), {"a": 1}, b"x", 1j,
     Fraction(1, 2), np.datetime64("2020-01-01"), object()],
    ids=lambda label: type(label).__name__,
)  # fmt: skip
def test_42_labels_of_other_types(label):
    with pytest.raises(DataError, match=r"y_true.*type"):
        op.compare([label] * 36, A, B)


@pytest.mark.parametrize("label", [[1], (1,), {1}])
def test_42_sets_of_labels_beside_labels(label):
    with pytest.raises(DataError, match=r"y_true has a set .* of 'A' have only one label"):
        op.compare([label] * 36, A, B)


def test_42_columns_of_other_types():
    dates = pd.Series(pd.date_range("2020", periods=36))
    for column in (dates, dates.to_numpy(), np.array([b"a"] * 36), np.ones(36, dtype=complex)):
        with pytest.raises(DataError, match=r"y_true has labels of type"):
            op.compare(column, A, B)


def test_43_columns_that_mix_types():
    mixed = changed(A, 3, "one")
    for container in (list, lambda values: np.array(values, dtype=object), pd.Series):
        with pytest.raises(
            DataError, match=r"predictions of 'A' mixes labels of types int and text"
        ):
            op.compare(TRUTH, container(mixed), B)


def test_44_the_ends_of_int64():
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    truth, a, b = (np.where(np.array(column) == 1, high, low) for column in (TRUTH, A, B))
    c = check_whole(op.compare(truth, a, b, pos_label=int(high), **FEW))
    assert c.spec.data.labels == (low, high)
    assert c.observed == op.compare(TRUTH, A, B, **FEW).observed


@each("count", [-1, 0.5, "3", None, float("nan")])
def test_45_counts_that_are_none(count):
    with pytest.raises(DataError, match=r"counts must"):
        op.Outcomes.from_counts([1, 0], {"m": [1, 0]}, [5, count])


@pytest.mark.parametrize("count", [10**12, 2**53 + 1, 2**63 - 1])
def test_46_huge_counts_are_exact(count):
    table = [[count, 3], [5, count - 1]]
    seen = op.Outcomes.from_confusion({"a": table, "b": [[count, 4], [4, count]]})
    assert seen.confusion("a").tolist() == table
    c = op.compare(seen, "a", "b", metric="matthews_corrcoef", rope=1e-6, n_draws=200)
    (tn, fp), (fn, tp) = table
    top = tp * tn - fp * fn
    bottom = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    exact = top / math.isqrt(bottom * 10**40) * 10**20
    assert c.a.observed == pytest.approx(float(exact), rel=1e-12)
    check_whole(c)


@pytest.mark.parametrize("metric", ["f1", "recall", "accuracy", "f1_macro"])
def test_46_huge_counts_give_a_whole_answer(metric):
    cells = [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 0)]
    truth, a, b = zip(*cells, strict=True)
    counts = [10**12, 10**8, 10**7, 10**12, 10**6]
    seen = op.Outcomes.from_counts(truth, {"a": a, "b": b}, counts)
    c = check_whole(op.compare(seen, "a", "b", metric=metric, rope=1e-6, n_draws=500))
    assert c.mean == pytest.approx(c.observed, abs=6 * c.sd)
    assert 0 < c.sd < 1e-7
    assert c.decision is op.Decision.BETTER


def test_47_sums_beyond_int64():
    top = 2**63 - 1
    seen = op.Outcomes.from_counts([1, 0, 1], {"a": [1, 0, 0], "b": [1, 0, 1]}, [top, top, 10**18])
    assert seen.n == 2 * top + 10**18
    c = check_whole(op.compare(seen, "a", "b", metric="f1_macro", rope=0.01, n_draws=200))
    assert c.n == seen.n
    assert c.b.observed == 1.0
    assert c.a.observed == pytest.approx(
        np.mean([2 * top / (2 * top + 10**18), 2 * top / (2 * top + 10**18)]), rel=1e-12
    )
    often = op.Outcomes.from_counts(TRUTH, {"a": A, "b": B}, [top] * 36)
    assert op.compare(often, "a", "b", **FEW).n == 36 * top


def test_48_narrow_counts():
    counts = np.array([250, 251, 252, 253], dtype=np.uint8)
    seen = op.Outcomes.from_counts([1, 1, 0, 0], {"m": [1, 0, 1, 0]}, counts)
    assert seen.n == 1_006
    table = np.array([[250, 250], [250, 250]], dtype=np.uint8)
    assert op.Outcomes.from_confusion({"m": table}).n == 1_000
    often = op.Outcomes.from_counts(TRUTH, {"a": A, "b": B}, np.full(36, 255, dtype=np.uint8))
    assert op.compare(often, "a", "b", **FEW).n == 36 * 255


def test_49_tables_that_are_not_square_or_turned():
    with pytest.raises(DataError, match=r"'m' must be square.*\(2, 3\)"):
        op.Outcomes.from_confusion({"m": [[1, 2, 3], [4, 5, 6]]})
    good = np.array([[50, 10, 1], [5, 30, 2], [0, 4, 9]])
    turned = op.Outcomes.from_confusion({"a": good, "b": good.T})
    c = op.compare(turned, "a", "b", metric="f1_macro", **FEW)
    assert "tables_disagree_on_truth" in findings(c)
    order = [2, 0, 1]
    moved = op.Outcomes.from_confusion({"a": good, "b": good[np.ix_(order, order)]})
    assert "tables_disagree_on_truth" in findings(
        op.compare(moved, "a", "b", metric="f1_macro", **FEW)
    )


@each("value", [float("nan"), float("inf"), "x", "3", None, -1, 0.5, [1]])
def test_50_tables_of_what_are_no_counts(value):
    with pytest.raises(DataError, match=r"confusion matrix of 'm' must"):
        op.Outcomes.from_confusion({"m": [[5, value], [3, 4]]})


@pytest.mark.parametrize(
    "weights", [[-1] + [1] * 35, [0] * 36, [float("inf")] + [1] * 35, [1] * 35]
)
def test_51_weights_that_are_none(weights):
    with pytest.raises(DataError, match="sample_weight"):
        op.compare(TRUTH, A, B, sample_weight=weights)


def many_classes(n_classes, n_rows):
    rng = np.random.default_rng(52)
    truth = rng.integers(0, n_classes, n_rows)
    a = np.where(rng.random(n_rows) < 0.8, truth, rng.integers(0, n_classes, n_rows))
    b = np.where(rng.random(n_rows) < 0.7, truth, rng.integers(0, n_classes, n_rows))
    return op.Outcomes.from_labels(truth, {"a": a, "b": b})


def peak_of(ask):
    """Return the memory that an answer took at its peak, in bytes."""
    tracemalloc.start()
    try:
        check = ask()
        return check, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_52_many_classes_are_sparse():
    seen = many_classes(5_000, 20_000)
    for metric in ("f1_macro", "accuracy"):
        asked = {"metric": metric, "n_draws": 100, "rope": 0.01, "random_state": 1}
        c, peak = peak_of(lambda asked=asked: op.compare(seen, "a", "b", **asked))
        assert c.decision is op.Decision.BETTER
        assert peak < 400e6
    with pytest.raises(ResourceError, match=r"cells.*prior='unit'"):
        op.compare(seen, "a", "b", metric="f1_macro", prior="uniform", rope=0.01)
    with pytest.raises(ResourceError, match="confusion"):
        op.compare(seen, "a", "b", metric=lambda table: table.trace(), rope=0.01)


@pytest.mark.slow
def test_52_a_hundred_thousand_classes_stay_below_two_gigabytes():
    seen = many_classes(100_000, 300_000)
    asked = {"metric": "f1_macro", "n_draws": 100, "rope": 0.01, "random_state": 1}
    c, peak = peak_of(lambda: op.compare(seen, "a", "b", **asked))
    assert c.decision is op.Decision.BETTER
    assert peak < 2e9


def measured_numbers(*, whole):
    """Return a truth of numbers, perhaps all of them whole, and what two models predict."""
    rng = np.random.default_rng(0)
    truth = 100 + 40 * rng.normal(size=60)
    truth = np.round(truth) if whole else truth
    return {"y": truth, "a": truth + rng.normal(size=60), "b": truth + rng.normal(size=60)}


@pytest.mark.parametrize("whole", [False, True])
def test_a_truth_of_numbers_without_a_metric_names_those_of_regression(whole, tmp_path):
    table = measured_numbers(whole=whole)
    with pytest.raises(DataError, match=r"rmse, mae or r2$") as refused:
        op.compare(*table.values())
    assert "roc_auc" not in str(refused.value)
    file = tmp_path / "preds.csv"
    rows = zip(*(one.tolist() for one in table.values()), strict=True)
    file.write_text("\n".join(["y,a,b", *(",".join(map(str, row)) for row in rows)]))
    for source in (file, pd.DataFrame(table)):
        with pytest.raises(DataError, match=r"rmse, mae or r2$"):
            op.read(source, truth="y", models=["a", "b"])


def test_probabilities_of_many_classes_are_not_taken_for_regression():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="looks like a score"):
        op.compare(np.arange(60), rng.random(60), rng.random(60))
