"""Asking again, Bayes factors, and every door out of a result."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import outperform as op
from outperform.display.layout import Page, plain
from outperform.errors import UndefinedBayesFactorError, UsageError
from tests.loops import each

FEW = {"n_draws": 1_000, "rope": 0.05, "random_state": 1}


def test_another_rope_draws_nothing_again(two):
    c = op.compare(*two, **FEW)
    for rope in (0.001, 0.3, (-0.02, 0.05)):
        again = c.with_rope(rope)
        fresh = op.compare(*two, n_draws=1_000, rope=rope, random_state=1)
        assert np.array_equal(again.draws, c.draws)
        assert again.to_dict() == fresh.to_dict()
    with pytest.raises(UsageError, match="rope"):
        c.with_rope("wide")
    assert c.rope.high == 0.05


@pytest.mark.parametrize("metric", ["recall", "f1_macro", "accuracy", "matthews_corrcoef"])
def test_another_metric_is_a_fresh_answer_to_the_same_data(metric, two):
    c = op.compare(*two, prior="jeffreys", paired=False, hdi_prob=0.9, **FEW)
    fresh = op.compare(*two, metric=metric, prior="jeffreys", paired=False, hdi_prob=0.9, **FEW)
    assert c.with_metric(metric).to_dict() == fresh.to_dict()


def test_another_metric_keeps_positive_class_and_labels(four):
    c = op.compare(*four, metric="f1", pos_label="jam", **FEW)
    assert c.with_metric("recall").spec.pos_label == "jam"
    assert c.with_metric("f1_macro").spec.prior.name == "learned"
    averaged = op.compare(*four, metric="f1_macro", labels=["jam", "spam"], **FEW)
    fresh = op.compare(*four, metric="recall_macro", labels=["jam", "spam"], **FEW)
    assert averaged.with_metric("recall_macro").observed == fresh.observed


def test_a_default_rope_is_no_default_for_other_units(two):
    def gain(confusion):
        return 10 * confusion[1, 1] / confusion.sum()

    with pytest.raises(UsageError, match="no default ROPE"):
        op.compare(*two, n_draws=200).with_metric(gain)
    assert op.compare(*two, **FEW).with_metric(gain).rope.high == 0.05


def test_the_curve_is_the_decision_at_every_width(two):
    c = op.compare(*two, **FEW)
    for step in c.rope_curve():
        inside = step.start + 1e-6 if step.stop is None else (step.start + step.stop) / 2
        if 0 < inside < 1:
            assert c.with_rope(inside).decision is step.decision


def test_the_interval_null_is_posterior_odds_over_prior_odds(table):
    seen = table([83, 12, 5, 0], [10, 0, 0, 10])
    c = op.compare(seen, "a", "b", metric="recall", rope=0.01, prior="uniform")
    # Before data A − B is the difference of two cells of Dir(1, 1, 2): density 3/2·(1 − |d|)².
    prior = 1 - 0.99**3
    odds = c.p_equivalent / (c.p_worse + c.p_better) / (prior / (1 - prior))
    assert c.bayes_factor.bf01 == pytest.approx(odds, rel=1e-9)
    assert (c.bayes_factor.kind, c.bayes_factor.method) == ("interval", "exact")
    assert c.bayes_factor.mcse == 0.0
    assert c.bayes_factor.bf01 * c.bayes_factor.bf10 == pytest.approx(1.0)


def test_a_factor_from_draws_has_an_error_or_is_a_bound(two):
    c = op.compare(*two, metric="f1", rope=0.01, n_draws=2_000, random_state=1)
    assert c.bayes_factor.method == "draws"
    assert c.p_equivalent == 0.0
    assert c.bayes_factor.bound == "upper"
    assert c.bayes_factor.bf10 > 10
    wide = c.with_rope(op.Rope(low=-0.9, high=0.9)).bayes_factor
    assert wide.bound == "lower"
    middle = c.with_rope(0.2).bayes_factor
    assert middle.bound is None
    assert 0 < middle.mcse < 1


def test_the_prior_of_a_factor_does_not_depend_on_the_seed(two):
    factors = {
        op.compare(*two, metric="recall", rope=0.02, n_draws=200, random_state=s).bayes_factor.bf01
        for s in range(3)
    }
    assert len(factors) == 1


@pytest.mark.parametrize(
    ("counts", "bf01"),
    [
        ((12, 5, 83), 1.620900472005208),
        ((30, 10, 160), 0.0521671267003209),
        ((0, 0, 50), 17.66666666666667),
        ((40, 40, 920), 29.73155413674298),
    ],
)
def test_the_point_null_of_paired_recall(counts, bf01, table):
    c10, c01, rest = counts
    seen = table([rest, c10, c01, 0], [1, 0, 0, 1])
    c = op.compare(seen, "a", "b", metric="recall", rope=0.01, prior="uniform")
    found = c.bayes_factor_point_null()
    assert found.bf01 == pytest.approx(bf01, rel=1e-10)
    assert (found.kind, found.method) == ("point", "exact")


def test_the_point_null_far_out_in_the_tail():
    seen = op.Outcomes.from_confusion({"a": [[50, 100], [200, 800]], "b": [[50, 100], [400, 600]]})
    c = op.compare(seen, "a", "b", prior=op.Prior(rows=1, prevalence=2), rope=0.01)
    assert c.bayes_factor_point_null().bf01 == pytest.approx(1.71878294623671e-16, rel=1e-6)


@each(
    ("metric", "prevalence"),
    [("f1", 1.0), ("f1", [3.0, 1.0]), ("precision", 1.0), ("precision", [1.0, 3.0]), ("f2", 0.5)],
)
def test_point_nulls_that_diverge_are_refused(metric, prevalence, table):
    seen = table([50, 10, 5, 9], [4, 8, 2, 60])
    prior = op.Prior(rows=1.0, prevalence=prevalence)
    c = op.compare(seen, "a", "b", metric=metric, prior=prior, **FEW)
    with pytest.raises(UndefinedBayesFactorError, match=r"infinite.*interval null"):
        c.bayes_factor_point_null()
    assert c.bayes_factor is not None


@each("prior", ["hierarchical", "learned"])
@each("metric", ["accuracy", "f1_macro", "recall"])
def test_learned_shares_have_no_point_null(prior, metric, two):
    c = op.compare(*two, metric=metric, prior=prior, **FEW)
    with pytest.raises(UndefinedBayesFactorError, match=r"infinite.*interval null"):
        c.bayes_factor_point_null()


@pytest.mark.parametrize(
    ("metric", "paired"), [("recall", True), ("accuracy", True), ("recall", False)]
)
def test_the_unit_prior_is_too_peaked_for_a_point_null_of_two_classes(metric, paired, two):
    c = op.compare(*two, metric=metric, prior="unit", paired=paired, **FEW)
    assert c.exact
    with pytest.raises(UndefinedBayesFactorError, match="interval null"):
        c.bayes_factor_point_null()


def test_the_unit_prior_has_a_point_null_of_accuracy_with_more_classes(four):
    c = op.compare(*four, metric="accuracy", prior="unit", **FEW)
    assert math.isfinite(c.bayes_factor_point_null().log_bf01)


def test_where_there_is_no_closed_form_the_point_null_says_so(table):
    seen = table([50, 10, 5, 9], [4, 8, 2, 60])
    c = op.compare(seen, "a", "b", metric="f1", prior=op.Prior(rows=1, prevalence=2), **FEW)
    with pytest.raises(UndefinedBayesFactorError, match=r"closed form.*interval null"):
        c.bayes_factor_point_null()


def test_the_bootstrap_has_no_factor_at_all(two):
    c = op.compare(*two, prior="bootstrap", **FEW)
    assert c.bayes_factor is None
    for method in ("exact", "kde"):
        with pytest.raises(UndefinedBayesFactorError, match="is not proper"):
            c.bayes_factor_point_null(method=method)


def test_the_published_kernel_estimate_is_there_with_a_finding(table):
    seen = table([50, 10, 5, 9], [4, 8, 2, 60])
    asked = {"metric": "recall", "rope": 0.05, "random_state": 1, "prior": "uniform"}
    c = op.compare(seen, "a", "b", **asked)
    found = c.bayes_factor_point_null(method="kde")
    assert found.bf01 == pytest.approx(c.bayes_factor_point_null().bf01, rel=0.15)
    assert (found.kind, found.method) == ("point", "kde")
    assert [one.name for one in found.findings] == ["kde_bayes_factor"]
    f1 = op.compare(seen, "a", "b", metric="f1", rope=0.05, random_state=1)
    assert math.isfinite(f1.bayes_factor_point_null(method="kde").log_bf01)
    with pytest.raises(UsageError, match="'exact' or 'kde'"):
        c.bayes_factor_point_null(method="savage")


def test_equal_models_do_not_break_the_kernel_estimate(two):
    truth, a, _ = two
    for options in ({}, {"prior": "unit"}, {"prior": "hierarchical"}):
        c = op.compare(truth, a, a, metric="f1", **options, **FEW)
        assert c.bayes_factor_point_null(method="kde").bf01 > 1


@pytest.fixture(
    params=["exact", "sampled", "correct", "unpaired", "many", "bound", "boot"], scope="module"
)
def result(request, two, four):
    truth, a, b = two
    if request.param == "exact":
        return op.compare(*two, metric="recall", **FEW)
    if request.param == "sampled":
        return op.compare(*two, metric="f1", n_draws=500)
    if request.param == "correct":
        seen = op.Outcomes.from_correct({"bert": truth == a, "gpt": truth == b})
        return op.compare(seen, "bert", "gpt", metric="accuracy", **FEW)
    if request.param == "unpaired":
        return op.compare(*four, metric="f1_macro", paired=False, **FEW)
    if request.param == "many":
        return op.compare(*four, metric="matthews_corrcoef", names=("new", "old"), **FEW)
    if request.param == "bound":
        huge = [np.tile(column, 200) for column in two]
        return op.compare(*huge, metric="accuracy", prior="unit", **{**FEW, "rope": 1e-4})
    return op.compare(truth, a, a, prior="bootstrap", **FEW)


def test_facts_are_json_and_come_back(result):
    facts = result.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["schema"], facts["kind"]) == (1, "comparison")
    assert facts["decision"]["name"] == result.decision.name
    assert facts["hdi"]["low"] == result.hdi.low
    assert facts["a"]["kind"] == facts["b"]["kind"] == "estimate"
    assert facts["signature"] == result.signature
    assert "draws" not in facts


def test_frames_have_one_row_with_the_numbers(result):
    frame = result.to_frame()
    assert len(frame) == 1
    assert frame["mean"].item() == result.mean
    assert frame["decision"].item() == f"{result.decision.symbol} {result.decision.words}"
    assert result.to_polars()["hdi_low"].to_list() == [result.hdi.low]
    assert result.to_arrow()["p_better"].to_pylist() == [result.p_better]
    for one in (result.a, result.b):
        assert one.to_frame()["mean"].item() == one.mean
        assert one.to_polars().height == 1
        assert one.to_arrow().num_rows == 1


def test_text_in_every_format_names_models_and_decision(result):
    a, b = result.names
    for text in (
        str(result), repr(result), result.report(), result.to_markdown(), result.to_latex(),
        result.to_html(), result._repr_html_(),
    ):  # fmt: skip
        assert isinstance(text, str)
        assert a in text
        assert b in text
    assert result.decision.symbol in repr(result)
    assert result.decision.words.split(",")[0] in result.report()
    decided = result.decision.words.partition(",")[0]
    assert (decided if result.decision.decided else "Undecided") in str(result)
    assert "\n" not in repr(result)
    for one in (result.a, result.b):
        assert one.name in str(one)
        assert one.name in repr(one)
        assert one.report()
        assert one.to_html()
        assert one._repr_html_()
        assert one.to_latex()


def test_a_short_report(result):
    short, long = result.report(length="short"), result.report(length="long")
    usual = result.report()
    assert result.report(length="medium") == usual
    assert len(short) < len(usual) <= len(long)
    for text in (short, long):
        assert result.decision.symbol in text
        assert f"±{result.rope.high:g}" in text or f"{result.rope.high:+g}" in text
        assert result.spec.prior.name in text
        assert f"{result.n:,} " in text
    assert "Method: " in long
    assert "Method: " not in short
    assert result.a.report(length="short").count(result.a.name) >= 1
    with pytest.raises(UsageError, match="length must be"):
        result.report(length="whole")


def test_parts_print_on_one_line(result):
    assert str(result.hdi).startswith(f"{100 * result.hdi.prob:g}% HDI ")
    assert str(result.eti).startswith(f"{100 * result.hdi.prob:g}% ETI ")
    assert "+" not in str(result.a.hdi)
    assert repr(result.hdi) == f"Interval({result.hdi})"
    parts = [result.hdi, result.eti, result.a.hdi, *result.rope_curve()]
    if result.bayes_factor is not None:
        parts.append(result.bayes_factor)
        assert str(result.bayes_factor).startswith("BF")
    for part in parts:
        assert "\n" not in str(part) + repr(part)
        assert len(repr(part)) < 80


def test_every_output_names_the_rope(result):
    width = f"{result.rope.high:g}"
    for text in (str(result), repr(result), result.report(), result.to_html()):
        assert width in text


def test_pictures_are_drawn_and_into_given_axes(result):
    from matplotlib import pyplot

    axes = result.plot()
    figure, given = pyplot.subplots()
    assert result.plot(ax=given) is given
    assert result.a.plot().figure is not figure
    assert axes.get_xlabel() or axes.get_title()
    pyplot.close("all")


def test_results_are_frozen(two):
    c = op.compare(*two, **FEW)
    with pytest.raises(AttributeError):
        c.mean = 0.0


def test_a_bayes_factor_against_the_probabilities_explains_itself():
    truth = np.array([0, 1] * 114)
    a, b = truth.copy(), truth.copy()
    a[:8], b[8:11] = 1 - a[:8], 1 - b[8:11]
    c = op.compare(truth, a, b, metric="accuracy", rope=0.01, n_draws=4_000, random_state=0)
    assert c.p_worse > 0.5
    assert c.bayes_factor.bf01 > 1
    (said,) = c.bayes_factor.findings
    assert said.name in {one["name"] for one in c.to_dict()["findings"]}
    verbose = plain(c._document().lines(Page(verbose=True)))
    assert "because the prior probability of the ROPE is even smaller" in " ".join(verbose.split())
    assert "because the prior probability of the ROPE is even smaller" in c.report(length="long")
    folds_a = [[80, 10, 20], [82, 9, 18], [79, 11, 21], [81, 10, 19], [80, 12, 20], [80, 11, 20]]
    folds_b = [[tp + 1, fp, fn - 1] for tp, fp, fn in folds_a]
    blocked = op.compare_cv_counts(folds_a, folds_b, metric="f1", counts="tp_fp_fn", rope=0.01)
    assert blocked.p_equivalent < 0.5
    verbose = plain(blocked._document().lines(Page(verbose=True)))
    assert "because the prior probability of the ROPE is even smaller" in " ".join(verbose.split())


def test_what_belongs_to_folds_or_runs_is_refused_elsewhere(two):
    c = op.compare(*two, **FEW)
    assert c.details is None
    assert c.a.details is None
    for name in ("p_h0", "p_h1", "accepted"):
        with pytest.raises(UsageError, match=r"\(compare_cv_counts, cross_compare\)"):
            getattr(c, name)
    with pytest.raises(UsageError, match="no training runs to draw"):
        c.plot_runs()
