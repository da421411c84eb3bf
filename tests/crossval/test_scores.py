"""``compare_cv_scores``: what it reads, what it answers, what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import outperform as op
from outperform.decision.rope import Decision
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each
from tests.posterior.test_fold_scores import A, B, table

stats = lazily("scipy.stats")

ONE = table(A)[0], table(B)[0]
SEVERAL = table(A), table(B)
FEW = {"rope": 0.01, "n_draws": 640, "random_state": 0}
THREE = FEW | {"folds": 10, "datasets": 3}
EIGHT = FEW | {"folds": 10, "datasets": 8}


def names_of(c):
    return [one.name for one in c.findings]


# One data set


@each(
    ("row", "runs", "wanted"),
    [  # CorrelatedTTest.probs(b, a, rope=0.01, runs=runs) of baycomp 1.0.3
        (0, 1, (0.05686393634915721, 0.22261882994738857, 0.7205172337034542)),
        (1, 1, (0.9688352803170981, 0.026588749121762012, 0.004575970561139897)),
        (2, 1, (2.874335456846467e-06, 1.3286055923433793e-05, 0.9999838396086197)),
        (0, 2, (0.10338415343724823, 0.2209427346858689, 0.6756731118768828)),
        (1, 2, (0.9335241857599391, 0.05130879012387146, 0.01516702411618942)),
        (2, 2, (2.1995050025699144e-05, 8.91760195690372e-05, 0.9998888289304053)),
    ],
)
def test_the_probabilities_are_those_of_baycomp(row, runs, wanted):
    c = op.compare_cv_scores(table(A)[row], table(B)[row], runs=runs, rope=0.01)
    assert (c.p_worse, c.p_equivalent, c.p_better) == pytest.approx(wanted, rel=1e-9)
    assert c.exact
    assert c.mcse == 0
    assert set(c.mc_errors.values()) == {0.0}


def test_mean_interval_and_regret_are_those_of_the_t():
    a, b = ONE
    d = a - b
    t = stats.t(9, d.mean(), d.std(ddof=1) * np.sqrt(1 / 10 + 1 / 9))
    c = op.compare_cv_scores(a, b, folds=10, rope=0.01, hdi_prob=0.9)
    assert (c.observed, c.mean) == pytest.approx((d.mean(), d.mean()))
    assert c.sd == pytest.approx(t.std())
    assert (c.hdi.low, c.hdi.high) == pytest.approx(t.interval(0.9))
    assert c.p_greater == pytest.approx(t.sf(0))
    lost = t.expect(lambda x: -x, ub=0)
    assert c.regret.a == pytest.approx(lost, rel=1e-6)
    assert c.regret.b == pytest.approx(lost + d.mean(), rel=1e-6)
    for side, values in ((c.a, a), (c.b, b)):
        assert side.mean == pytest.approx(values.mean())
        assert side.sd == pytest.approx(
            np.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1) * 9 / 7), rel=1e-9
        )
    (only,) = c.details.datasets
    assert (only.mean, only.hdi, only.p_better, only.mcse) == (c.mean, c.hdi, c.p_better, 0.0)
    assert c.details.next_dataset is None


def test_it_is_the_corrected_resampled_t_test():
    a, b = ONE
    c = op.compare_cv_scores(a, b, test_share=0.2, rope=0.01)
    p = op.nhst.corrected_resampled_t(a - b, n_train=80, n_test=20).p_value
    assert 2 * min(c.p_greater, 1 - c.p_greater) == pytest.approx(p, rel=1e-9)
    assert c.details.datasets[0].test_share == 0.2


def test_a_and_b_change_places():
    a, b = ONE
    one, other = (op.compare_cv_scores(*both, folds=10, rope=0.01) for both in ((a, b), (b, a)))
    assert (one.p_better, one.mean) == pytest.approx((other.p_worse, -other.mean))


def test_of_costs_less_is_better():
    a, b = ONE
    c = op.compare_cv_scores(a, b, folds=10, metric="mean_cost", rope=0.01)
    plain = op.compare_cv_scores(a, b, folds=10, rope=0.01)
    assert (c.p_worse, c.p_better) == (plain.p_better, plain.p_worse)
    assert c.details.datasets[0].p_better == c.p_better


def test_draws_follow_the_closed_form():
    c = op.compare_cv_scores(*ONE, folds=10, rope=0.01, random_state=4)
    t = stats.t(9, c.mean, c.distribution.scale)
    assert stats.kstest(c.draws, t.cdf).pvalue > 0.01
    np.testing.assert_allclose(c.draws, c.a.draws - c.b.draws)


def test_folds_that_all_differ_by_the_same_withhold_the_decision():
    c = op.compare_cv_scores([0.9, 0.8, 0.7, 0.95], [0.8, 0.7, 0.6, 0.85], folds=4, rope=0.01)
    assert c.decision is Decision.UNDECIDED
    assert {step.decision for step in c.rope_curve()} == {Decision.UNDECIDED}
    assert "constant_folds" in names_of(c)
    assert c.with_rope(0.2).decision is Decision.UNDECIDED
    assert str(c)


# What must be stated


def test_scores_nobody_called_folds_are_refused():
    """Taken as folds, five seeds of equal models on one test set differ in a quarter of cases."""
    seeds = ([0.91, 0.92, 0.90, 0.93, 0.91], [0.89, 0.90, 0.90, 0.91, 0.88])
    with pytest.raises(UsageError, match="5 scores per model do not show how") as refused:
        op.compare_cv_scores(*seeds, rope=0.01)
    for line in ("folds=5", "test_share=0.2", "datasets=[names]", "compare_runs(y_true, runs_a"):
        assert line in str(refused.value)
    for stated in ({"folds": 5}, {"runs": 1}, {"test_share": 0.2}, {"datasets": list("vwxyz")}):
        assert op.compare_cv_scores(*seeds, rope=0.01, **stated).n == 5


def test_rows_nobody_called_data_sets_are_refused():
    """Ten rows of ten folds may also be ten repetitions on one data set."""
    a, b = (values[:3] for values in SEVERAL)
    with pytest.raises(UsageError, match="datasets=3"):
        op.compare_cv_scores(a, b, folds=10, **FEW)
    with pytest.raises(UsageError, match="the scores of each data set do not show how"):
        op.compare_cv_scores(a, b, datasets=3, **FEW)
    column = ONE[0][:, None], ONE[1][:, None]
    with pytest.raises(UsageError, match="datasets=10"):
        op.compare_cv_scores(*column, **FEW)


@each("name", ["seed", "seed_{}", "Run {}", "fold{}", "random seed {}", "split-{}"])
def test_seeds_and_folds_are_not_data_sets(name):
    a, b = ({name.format(k): value for k, value in enumerate(one)} for one in ONE)
    if len(a) > 1:
        with pytest.raises(UsageError, match="not the name of a data set"):
            op.compare_cv_scores(a, b, **FEW)
    rows = {name.format(1): list("wxyz"), "A": ONE[0][:4], "B": ONE[1][:4]}
    with pytest.raises(UsageError, match="compare_runs"):
        op.Suite.from_scores(rows, by=name.format(1))


def test_a_table_of_scores_must_state_it_too():
    rows = {"A": ONE[0], "B": ONE[1]}
    with pytest.raises(UsageError, match="folds=10"):
        op.compare(op.Suite.from_scores(rows), "A", "B")
    c = op.compare(op.Suite.from_scores(rows, folds=10, rope=0.01), "A", "B")
    assert c.hdi == op.compare_cv_scores(*ONE, folds=10, rope=0.01).hdi


def test_folds_and_runs_name_the_same_design():
    a, b = (np.concatenate(values[:3]) for values in SEVERAL)
    by_folds, by_runs, by_both = (
        op.compare_cv_scores(a, b, rope=0.01, **stated)
        for stated in ({"folds": 10}, {"runs": 3}, {"folds": 10, "runs": 3})
    )
    assert by_folds.hdi == by_runs.hdi == by_both.hdi


def test_datasets_may_be_names_of_numbers_in_a_vector():
    a, b = (values.mean(axis=1) for values in SEVERAL)
    keys = list("stuvwxyz")
    c = op.compare_cv_scores(a, b, datasets=keys, **FEW)
    mapped = op.compare_cv_scores(*(dict(zip(keys, one, strict=True)) for one in (a, b)), **FEW)
    np.testing.assert_array_equal(c.draws, mapped.draws)
    turned = pd.Series(b, index=keys)[::-1]
    aligned = op.compare_cv_scores(pd.Series(a, index=keys), turned, datasets=keys, **FEW)
    np.testing.assert_array_equal(aligned.draws, c.draws)
    assert "aligned_by_index" in names_of(aligned)


# Several data sets


def test_every_kind_of_input_says_the_same():
    a, b = (values[:3] for values in SEVERAL)
    keys = ["x", "y", "z"]
    plain = op.compare_cv_scores(a, b, **THREE)
    assert op.compare_cv_scores(a.tolist(), b.tolist(), **THREE).mean == plain.mean
    asked = FEW | {"folds": 10}
    for make in (
        lambda one: dict(zip(keys, one, strict=True)),
        lambda one: pd.DataFrame(dict(zip(keys, one, strict=True))),
        lambda one: pl.DataFrame(dict(zip(keys, one, strict=True))),
    ):
        c = op.compare_cv_scores(make(a), make(b), **asked)
        np.testing.assert_array_equal(c.draws, plain.draws)
    assert [one.name for one in c.details.datasets] == keys
    backwards = {key: dict(zip(keys, b, strict=True))[key] for key in reversed(keys)}
    again = op.compare_cv_scores(dict(zip(keys, a, strict=True)), backwards, **asked)
    np.testing.assert_array_equal(again.draws, plain.draws)


def test_series_are_aligned_by_their_index():
    a, b = (pd.Series(one) for one in ONE)
    c = op.compare_cv_scores(a, b.sample(frac=1, random_state=1), folds=10, rope=0.01)
    assert c.mean == pytest.approx((ONE[0] - ONE[1]).mean())
    assert c.sd == pytest.approx(op.compare_cv_scores(*ONE, folds=10, rope=0.01).sd)
    assert "aligned_by_index" in names_of(c)


def test_data_sets_may_have_different_folds():
    a = {"x": ONE[0], "y": ONE[0][:5], "z": np.tile(ONE[0], 2)}
    b = {"x": ONE[1], "y": ONE[1][:5], "z": np.tile(ONE[1], 2)}
    c = op.compare_cv_scores(a, b, runs=1, **FEW)
    assert [one.n_folds for one in c.details.datasets] == [10, 5, 20]
    assert [one.test_share for one in c.details.datasets] == pytest.approx([0.1, 0.2, 0.05])
    assert "few_datasets" in names_of(c)


def test_the_numbers_are_those_of_the_draws():
    c = op.compare_cv_scores(*SEVERAL, **EIGHT | {"n_draws": 3_200, "random_state": 1})
    drawn, own = c.details.drawn.hierarchy, c.details.datasets[3]
    assert c.draws.size == 3_200
    np.testing.assert_array_equal(np.sort(c.draws), np.sort(drawn.centre, axis=None))
    assert c.mean == pytest.approx(drawn.centre.mean())
    assert c.observed == pytest.approx((SEVERAL[0] - SEVERAL[1]).mean())
    assert own.mean == pytest.approx(drawn.differences[:, :, 3].mean())
    assert own.p_worse == pytest.approx((drawn.differences[:, :, 3] < -0.01).mean())
    following = c.details.next_dataset
    above = stats.t.sf(0.01, drawn.nu, drawn.centre, drawn.spread)
    below = stats.t.cdf(-0.01, drawn.nu, drawn.centre, drawn.spread)
    assert (following.p_worse, following.p_better) == pytest.approx((below.mean(), above.mean()))
    most = np.argmax([below, 1 - below - above, above], axis=0)
    assert following.likeliest == pytest.approx([(most == k).mean() for k in range(3)])
    assert following.hdi.width > c.hdi.width
    assert all(error > 0 for error in (c.mcse, own.mcse, own.mcse_p, following.mcse_p))
    assert c.chain.n_draws == 3_200


def test_another_rope_changes_the_probabilities_only():
    c = op.compare_cv_scores(*SEVERAL, **EIGHT)
    wide = c.with_rope(0.03)
    np.testing.assert_array_equal(wide.draws, c.draws)
    whole = op.compare_cv_scores(*SEVERAL, **EIGHT | {"rope": 0.03})
    assert wide.to_dict() == whole.to_dict()


def test_a_still_data_set_is_said():
    a, b = (values[:3].copy() for values in SEVERAL)
    a[1] = b[1]
    named = (dict(zip("xyz", one, strict=True)) for one in (a, b))
    c = op.compare_cv_scores(*named, folds=10, **FEW)
    (said,) = [one.message for one in c.findings if one.name == "constant_folds"]
    assert "'y'" in said


def test_one_score_for_each_data_set():
    a, b = (dict(enumerate(values.mean(axis=1))) for values in SEVERAL)
    c = op.compare_cv_scores(a, b, rope=0.01, random_state=2)
    assert (c.n, c.spec.unit, c.exact, c.chain) == (8, "data sets", False, None)
    assert c.details.datasets == ()
    assert sum(c.details.signed_rank) == pytest.approx(1)
    rows = op.compare_cv_scores(
        *(values.mean(axis=1, keepdims=True) for values in SEVERAL),
        datasets=8,
        rope=0.01,
        random_state=2,
    )
    np.testing.assert_array_equal(rows.draws, c.draws)
    assert c.a.mean == pytest.approx(SEVERAL[0].mean(), abs=0.01)
    # As wide as Student's t of the same differences or wider; weights alone would be narrower.
    d = (SEVERAL[0] - SEVERAL[1]).mean(axis=1)
    t = stats.t(7, d.mean(), d.std(ddof=1) / np.sqrt(8))
    assert 0.95 < c.hdi.width / np.ptp(t.interval(0.95)) < 1.5
    assert c.details.next_dataset.hdi.width > 2 * c.hdi.width


def test_few_scores_warn_below_ten():
    for n, wanted in ((9, True), (10, False)):
        c = op.compare_cv_scores(ONE[0][:n], ONE[1][:n], datasets=n, **FEW)
        assert ("few_datasets" in names_of(c)) == wanted


def test_data_sets_that_all_differ_by_the_same_withhold_the_decision():
    a, b = [0.9, 0.8, 0.7, 0.95, 0.6], [0.8, 0.7, 0.6, 0.85, 0.5]
    c = op.compare_cv_scores(a, b, datasets=5, **FEW)
    assert c.decision is Decision.UNDECIDED
    assert "constant_folds" in names_of(c)


def test_harmless_data_sets_lose_no_decision_to_their_chain():
    """At 2,000 draws the chain of one in seven such sets is short of R-hat 1.01."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        own = 0.02 * rng.standard_normal((4, 1))
        shared, fold = rng.standard_normal((4, 1)), rng.standard_normal((4, 5))
        b = 0.8 + 0.02 * rng.standard_normal((4, 5))
        a = b + own + 0.02 * (np.sqrt(0.2) * shared + np.sqrt(0.8) * fold)
        asked = {"folds": 5, "datasets": 4, "rope": 0.005, "n_draws": 2_000, "random_state": seed}
        assert op.compare_cv_scores(a, b, **asked).chain.converged


# What every comparison has


@pytest.mark.parametrize(
    ("scores", "stated"),
    [
        (ONE, {"folds": 10}),
        (SEVERAL, {"folds": 10, "datasets": 8}),
        (tuple(values.mean(axis=1) for values in SEVERAL), {"datasets": 8}),
    ],
)
def test_it_is_shown_and_stored_like_any_other(scores, stated):
    c = op.compare_cv_scores(*scores, **stated, **FEW, names=("new", "old"))
    assert json.loads(json.dumps(c.to_dict()))["scores"]["signed_rank"] in (
        None,
        [pytest.approx(one) for one in c.details.signed_rank or ()],
    )
    for text in (str(c), repr(c), c.report(), c.report(length="short"), c.to_html(), c.to_latex()):
        assert "new" in text
    assert "next data set" in str(c) or len(c.details.datasets) == 1
    assert c.bayes_factor is None
    assert "compare_cv_scores" in c.signature
    for again in (lambda: c.with_metric("mean"), c.sensitivity, c.more_data, c.by_class):
        with pytest.raises(UsageError):
            again()


def test_the_seed_repeats_the_draws():
    one, other = (op.compare_cv_scores(*SEVERAL, **EIGHT) for _ in range(2))
    assert one.to_dict() == other.to_dict()
    assert one.signature == other.signature


# What is refused


@each(
    ("a", "b", "asked", "said"),
    [
        ("accuracy", ONE[1], {"folds": 10}, "must be one vector"),
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.4], {"folds": 3}, "minimum: 4"),
        (ONE[0], ONE[1][:9], {"folds": 10}, "same items"),
        ([0.1, 0.2, None, 0.4], [0.1, 0.2, 0.3, 0.4], {"folds": 4}, "missing"),
        (ONE[0], SEVERAL[1], {"folds": 10, "datasets": 8}, "no scores"),
        (dict(zip("ab", SEVERAL[0], strict=False)), dict(zip("ac", SEVERAL[1], strict=False)), {},
         "data set 'b'"),
        (*ONE, {"runs": 3}, "check runs"),
        (*ONE, {"runs": 10}, "check runs"),
        (*ONE, {"runs": 0}, "whole number"),
        (*ONE, {"folds": 3}, "10 scores cannot be 3 folds"),
        (*ONE, {"folds": 1}, "whole number of at least 2"),
        (*ONE, {"folds": True}, "whole number"),
        (*ONE, {"folds": 5, "runs": 3}, "3 runs of 5 folds"),
        (*ONE, {"runs": 2, "test_share": 0.1}, "pass either test_share or folds and runs"),
        (*ONE, {"folds": 10, "test_share": 0.1}, "pass either test_share or folds and runs"),
        (*ONE, {"test_share": 1.0}, "strictly between"),
        (*ONE, {"folds": 10, "metric": "accuracy"}, "mean"),
        (*ONE, {"folds": 10, "names": ("x", "x")}, "different names"),
        (*(100 * one for one in ONE), {"folds": 10}, "rope"),
        ([[0.5] * 4] * 2, [[0.4] * 4] * 2, {"rope": 0.01, "folds": 4, "datasets": 2},
         "more digits"),
        ({"x": 0.1, "y": 0.2}, {"x": 0.1, "y": 0.3}, {}, "at least 4 data sets"),
        ({k: 0.1 for k in "abcd"}, {k: 0.2 for k in "abcd"}, {"runs": 2}, "one score"),
        ({k: 0.1 for k in "abcd"}, {k: 0.2 for k in "abcd"}, {"datasets": 4}, "remove datasets"),
        (*ONE, {"datasets": 9}, "9 names for 10"),
        (*ONE, {"datasets": "mail"}, "names or their number"),
        (*ONE, {"datasets": ["x"] * 10}, "'x' twice"),
        (*ONE, {"datasets": 10, "folds": 10}, "one score"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(a, b, asked, said):
    with pytest.raises((DataError, UsageError), match=said):
        op.compare_cv_scores(a, b, **asked)
