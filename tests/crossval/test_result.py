"""Results of blocked cross-validation: fields, doors to words, and asking again."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError

A = [[80, 10, 20], [78, 12, 22], [81, 9, 19], [77, 11, 23], [79, 10, 21], [78, 13, 22]]
B = [[82, 11, 18], [80, 12, 20], [83, 10, 17], [79, 12, 21], [84, 9, 16], [80, 11, 20]]
# Far apart and the same in every repetition; tp moves from half to half only.
WEAK = [[40, 30, 60], [41, 31, 59], [42, 30, 58], [39, 31, 61], [41, 32, 59], [40, 29, 60]]
# Right and wrong move by far more than their counts allow.
WILD = [[90, 5, 10], [92, 4, 8], [40, 50, 60], [45, 60, 55], [88, 9, 12], [60, 20, 40]]


@pytest.fixture(scope="module")
def result():
    return op.compare_cv_counts(A, B, rope=0.01, random_state=0, names=("crf", "bert"))


@pytest.fixture(scope="module")
def own():
    return op.estimate_cv_counts(A, random_state=0, name="crf")


def found(result):
    return {finding.name for finding in result.findings}


def test_it_is_a_comparison_like_any_other(result):
    assert isinstance(result, op.Comparison)
    assert isinstance(result.details, op.results.FoldDetails)
    assert isinstance(result.a, op.results.Estimate)
    assert result.names == ("crf", "bert")
    assert result.details.folds.m == 3
    assert result.details.correlation == op.results.Correlation("averaged")
    assert result.p_better + result.p_equivalent + result.p_worse == pytest.approx(1.0)
    assert result.bayes_factor.kind == "interval"
    assert result.bayes_factor_point_null().method == "exact"


def test_the_hypotheses_are_the_papers(result):
    assert result.p_h0 == result.p_greater
    assert result.p_h1 == pytest.approx(1 - result.p_h0, abs=1e-12)
    assert (result.accepted, result.p_h1 > 0.5) == ("H1", True)
    assert op.compare_cv_counts(B, A).accepted == "H0"


def test_what_was_seen_is_what_was_observed(result):
    for rows, one in zip((A, B), (result.a, result.b), strict=True):
        tp, fp, fn = np.sum(rows, axis=0)
        assert one.observed == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_another_rope_keeps_everything_else(result):
    other = result.with_rope(0.2)
    assert type(other.details) is op.results.FoldDetails
    assert other.decision.symbol == "≈"
    assert (other.details.folds, other.details.correlation) == (
        result.details.folds,
        result.details.correlation,
    )
    assert (other.p_h1, other.hdi) == (result.p_h1, result.hdi)
    assert found(other) == found(result)
    assert " | compare_cv_counts | " in other.signature


def test_another_metric_is_the_same_as_asking_for_it(result):
    for metric in ("precision", "recall", "jaccard"):
        other = result.with_metric(metric)
        fresh = op.compare_cv_counts(
            A, B, metric=metric, rope=0.01, random_state=0, names=("crf", "bert")
        )
        assert type(other.details) is op.results.FoldDetails
        assert other.to_dict() == fresh.to_dict()
        assert np.array_equal(other.draws, fresh.draws)


def test_another_metric_of_a_mixture_is_a_mixture():
    c = op.compare_cv_counts(A, B, correlation="integrated", random_state=0)
    other = c.with_metric("recall")
    assert other.p_h1 == op.compare_cv_counts(A, B, metric="recall", correlation="integrated").p_h1


def test_a_metric_that_the_counts_do_not_tell_is_refused_later_too(result):
    with pytest.raises(UsageError, match="accuracy"):
        result.with_metric("accuracy")


def test_repeated_rows_stay_a_finding_in_another_metric():
    twice = [A[0], A[1], A[0], A[1]]
    c = op.compare_cv_counts(twice, B[:4])
    assert "repeated_fold" in found(c)
    assert found(c.with_metric("recall")) >= {"repeated_fold", "likelier_hypothesis"}
    assert "independent_spans" not in found(c.with_metric("recall"))


def test_to_dict_is_ready_for_json(result, own):
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts["kind"] == "comparison"
    assert facts["p_h0"] + facts["p_h1"] == pytest.approx(1.0)
    assert facts["accepted"] == "H1"
    assert facts["folds"]["m"] == 3
    assert facts["folds"]["correlation"] == "averaged"
    assert facts["folds"]["worth"] == pytest.approx(0.368802, abs=1e-6)
    assert json.loads(json.dumps(own.to_dict()))["folds"] == facts["folds"]


@pytest.mark.parametrize("correlation", ["integrated", "full", (0.2, 0.4)])
def test_to_dict_names_the_treatment(correlation):
    facts = json.loads(json.dumps(op.compare_cv_counts(A, B, correlation=correlation).to_dict()))
    assert facts["folds"]["correlation"] == str(op.results.Correlation.from_param(correlation))


def test_words(result, own):
    assert repr(result).startswith("Comparison(? Undecided between crf and bert: F1 differs")
    assert repr(own).startswith("Estimate(crf: F1 0.8")
    screen = str(result)
    assert "3×2 blocked cross-validation" in screen
    assert "paper's test" in screen
    assert "3×2 blocked cross-validation" in str(own)
    for text in (result.report(), own.report()):
        assert "crf" in text
        assert "worth=0.368802" in text


def test_tables(result, own):
    for one in (result, own):
        assert "| crf |" in one.to_markdown()
        assert "\\toprule" in one.to_latex()
        assert "<table" in one.to_html()
        assert len(one.to_frame()) == 1


def test_pictures(result, own):
    import matplotlib as mpl

    with mpl.rc_context({"backend": "agg"}):
        from matplotlib import pyplot as plt

        for one in (result, own):
            assert one.plot().lines
        plt.close("all")


def test_results_can_be_copied_and_sent(result, own):
    for one in (result, own):
        assert copy.copy(one).to_dict() == one.to_dict()
        assert pickle.loads(pickle.dumps(one)).to_dict() == one.to_dict()


def test_stable_folds_that_are_far_apart_are_decided():
    c = op.compare_cv_counts(WEAK, A, rope=0.01)
    assert "unstable_learner" not in found(c)
    assert c.decision.symbol == "≪"


def test_folds_that_differ_too_much_withhold_the_decision():
    low = [[30, 40, 70], [32, 42, 68], [28, 41, 72], [31, 40, 69], [30, 43, 70], [29, 40, 71]]
    assert op.compare_cv_counts(WEAK, low, rope=0.01).decision.decided
    gold = np.array(WILD)[:, 0] + np.array(WILD)[:, 2]
    against = [[int(g) - 80, 60, 80] for g in gold]
    c = op.compare_cv_counts(WILD, against, rope=0.01)
    assert c.hdi.low > 0.01
    assert "unstable_learner" in found(c)
    assert c.decision.symbol == ">"
    curve = c.rope_curve()
    # ≫ becomes >, and the rest of the curve is what it would be.
    assert [step.decision.symbol for step in curve] == [">", "?", "~", "≈"]
    assert (curve[0].start, curve[-1].start) == (0.0, c.hdi.high)
    assert c.with_rope(0.02).decision.symbol == ">"
    assert c.with_metric("recall").decision.symbol in ("<", ">", "?")
    assert "unstable_learner" in found(op.estimate_cv_counts(WILD))


def test_an_estimate_has_both_intervals_and_the_density(own):
    assert isinstance(own, op.results.Estimate)
    assert own.hdi.low < own.eti.low + 0.01
    assert own.cdf(own.eti.high) - own.cdf(own.eti.low) == pytest.approx(0.95, abs=1e-10)
    grid = np.linspace(0.6, 1.0, 4001)
    assert np.trapezoid(own.pdf(grid), grid) == pytest.approx(1.0, abs=1e-6)
