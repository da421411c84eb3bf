"""``compare_runs``: what it agrees with, what it leaves as it is, what it notices and refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision
from outperform.errors import DataError, UndefinedBayesFactorError, UsageError
from outperform.inference.spec import counted
from tests.loops import each

N = 600


def train(levels, *, seed=1, n=N, n_classes=2):
    """Return a truth and one run for each share of right answers; hard items are shared."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(n_classes, size=n)
    hard = generator.random(n)
    runs = []
    for level in levels:
        mixed = np.where(generator.random(n) < 0.6, hard, generator.random(n))
        wrong = (truth + generator.integers(1, n_classes, size=n)) % n_classes
        runs.append(np.where(mixed < level, truth, wrong))
    return truth, runs


LEVELS = (0.84, 0.80, 0.86, 0.82, 0.85, 0.80, 0.83, 0.78, 0.81, 0.79)
TRUTH, RUNS = train(LEVELS)
A, B = RUNS[:5], RUNS[5:]
ASKED = {"metric": "accuracy", "rope": 0.01, "random_state": 1, "n_draws": 6_000}


@pytest.fixture(scope="module")
def comparison():
    return op.compare_runs(TRUTH, A, B, names=("bert", "gpt"), **ASKED)


def names_of(findings):
    return [finding.name for finding in findings]


# What it agrees with


def test_runs_that_are_all_the_same_are_one_model():
    asked = ASKED | {"n_draws": 40_000}
    runs = op.compare_runs(TRUTH, [A[0]] * 5, [B[0]] * 4, **asked)
    once = op.compare(TRUTH, A[0], B[0], prior="unit", **asked)
    assert runs.mean == pytest.approx(once.mean, abs=5 * runs.mcse)
    assert runs.sd == pytest.approx(once.sd, rel=5 * runs.mc_errors["sd"] / runs.sd)
    assert runs.observed == pytest.approx(once.observed)
    assert runs.details.variance_from == pytest.approx((1.0, 0.0, 0.0, 0.0), abs=1e-12)
    assert runs.details.pooled.sd == pytest.approx(runs.sd)
    assert names_of(runs.findings).count("identical_runs") == 2
    assert runs.details.n_runs == (5, 4)


def test_observed_values_are_means_over_the_runs(comparison):
    right = [float(np.mean(run == TRUTH)) for run in RUNS]
    assert comparison.a.details.run_values == pytest.approx(right[:5])
    assert comparison.b.details.run_values == pytest.approx(right[5:])
    assert comparison.observed == pytest.approx(np.mean(right[:5]) - np.mean(right[5:]))
    assert comparison.a.details.run_sd == pytest.approx(np.std(right[:5], ddof=1))
    assert comparison.names == ("bert", "gpt")
    assert comparison.a.details.runs == ("bert-1", "bert-2", "bert-3", "bert-4", "bert-5")


def test_many_items_leave_welchs_interval():
    truth, runs = train(LEVELS, n=400_000)
    found = op.compare_runs(truth, runs[:5], runs[5:], **ASKED | {"n_draws": 20_000})
    from scipy import stats

    right = [[np.mean(run == truth) for run in side] for side in (runs[:5], runs[5:])]
    interval = stats.ttest_ind(*right, equal_var=False).confidence_interval(0.95)
    assert found.eti.low == pytest.approx(interval.low, abs=0.002)
    assert found.eti.high == pytest.approx(interval.high, abs=0.002)
    assert found.details.variance_from.runs > 0.98


def test_the_variance_divides_into_test_set_and_runs(comparison):
    shares = comparison.details.variance_from
    assert shares.test_set + shares.runs == pytest.approx(1)
    assert 0 < shares.runs_low < shares.runs < shares.runs_high < 1
    assert comparison.details.pooled.sd < comparison.sd
    more = op.compare_runs(*spread_runs(n=6_000), **ASKED)
    assert (
        more.details.variance_from.runs
        > op.compare_runs(*spread_runs(n=300), **ASKED).details.variance_from.runs
    )


def spread_runs(n):
    truth, runs = train(LEVELS, n=n)
    return truth, runs[:5], runs[5:]


# What changes nothing


def test_swapping_the_models_mirrors_the_answer(comparison):
    turned = op.compare_runs(TRUTH, B, A, names=("gpt", "bert"), **ASKED)
    error = 5 * np.hypot(comparison.mcse, turned.mcse)
    assert turned.mean == pytest.approx(-comparison.mean, abs=error)
    assert turned.hdi.low == pytest.approx(-comparison.hdi.high, abs=0.004)
    assert turned.details.variance_from.runs == pytest.approx(
        comparison.details.variance_from.runs, abs=0.01
    )


def test_the_order_of_the_runs_changes_nothing_but_the_draws(comparison):
    shuffled = op.compare_runs(TRUTH, A[::-1], [B[k] for k in (3, 0, 4, 1, 2)], **ASKED)
    assert shuffled.mean == pytest.approx(comparison.mean, abs=5 * 1.5 * comparison.mcse)
    assert shuffled.sd == pytest.approx(comparison.sd, rel=0.07)
    assert shuffled.observed == pytest.approx(comparison.observed)


def test_every_way_to_give_the_runs_is_the_same(comparison):
    named = {f"bert-{k}": run for k, run in enumerate(A, 1)}
    other = {f"gpt-{k}": run for k, run in enumerate(B, 1)}
    seen = op.Outcomes.from_labels(TRUTH, {**named, **other})
    ways = [
        op.compare_runs(TRUTH, np.stack(A), np.stack(B), names=("bert", "gpt"), **ASKED),
        op.compare_runs(TRUTH, named, other, names=("bert", "gpt"), **ASKED),
        op.compare_runs(seen, list(named), list(other), **ASKED),
        op.compare_runs(seen, list(named), list(other), n_jobs=2, **ASKED),
    ]
    for one in ways:
        assert one.to_dict() == comparison.to_dict()


def test_names_come_from_what_the_runs_have_in_common():
    runs = dict(zip(["m", "bert s1", "x1", "x2"], RUNS, strict=False))
    seen = op.Outcomes.from_labels(TRUTH, runs)
    asked = ASKED | {"n_draws": 200}
    assert op.compare_runs(seen, ["x1", "x2"], ["m"], **asked).names == ("x", "m")
    assert op.compare_runs(seen, ["x1", "m"], ["x2"], **asked).names == ("A", "B")


# The same data, asked again


def test_another_rope_draws_nothing_again(comparison):
    wide = comparison.with_rope(0.2)
    assert isinstance(wide.details, op.results.RunDetails)
    assert wide.decision is Decision.EQUIVALENT
    assert np.array_equal(wide.draws, comparison.draws)
    assert wide.details.pooled.decision is Decision.EQUIVALENT
    assert wide.with_rope(0.01).to_dict() == comparison.to_dict()


def test_another_metric_keeps_the_runs(comparison):
    other = comparison.with_metric("f1")
    assert isinstance(other.details, op.results.RunDetails)
    assert other.details.n_runs == (5, 5)
    assert (
        other.to_dict()
        == op.compare_runs(TRUTH, A, B, names=("bert", "gpt"), **ASKED | {"metric": "f1"}).to_dict()
    )


def test_every_class_is_compared_by_its_runs():
    truth, runs = train(LEVELS, n_classes=3)
    whole = op.compare_runs(truth, runs[:5], runs[5:], **ASKED | {"metric": "f1_macro"})
    found = whole.by_class()
    assert found.keys == (0, 1, 2)
    assert all(isinstance(one.details, op.results.RunDetails) for one in found)
    assert "sign_test_p" in found.table().rows[0]
    assert found.table().rows[0]["sign_test_p"] is None


def test_groups_spans_and_scores_have_runs_too():
    grouped = op.compare_runs(TRUTH, A, B, groups=np.arange(N) // 4, **ASKED)
    assert grouped.spec.prior.name == "bootstrap"
    generator = np.random.default_rng(2)
    scores = [np.clip(run + generator.normal(0, 0.4, N), -2, 3) for run in RUNS]
    found = op.compare_runs(TRUTH, scores[:5], scores[5:], **ASKED | {"metric": "roc_auc"})
    assert found.details.variance_from.runs > 0
    seen = op.Scores.from_arrays(TRUTH, {f"m{k}": one for k, one in enumerate(scores)})
    same = op.compare_runs(
        seen, [f"m{k}" for k in range(5)], [f"m{k}" for k in range(5, 10)], names=("A", "B"),
        **ASKED | {"metric": "roc_auc"},
    )  # fmt: skip
    assert same.mean == found.mean
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER", "O", "O"]] * 30
    runs = {
        f"r{k}": [row if (i + k) % 5 else ["O"] * 4 for i, row in enumerate(gold)] for k in range(4)
    }
    tags = op.Outcomes.from_tags(gold, runs, scheme="IOB2")
    assert op.compare_runs(tags, ["r0", "r1"], ["r2", "r3"], **ASKED | {"metric": "f1"}).sd > 0


# Words


def test_everything_is_said(comparison):
    facts = json.loads(json.dumps(comparison.to_dict()))
    assert facts["runs"]["n"] == [5, 5]
    assert facts["a"]["runs"]["observed"] == pytest.approx(list(comparison.a.details.run_values))
    shares = facts["runs"]["variance_from"]
    text = str(comparison)
    assert f"{100 * shares['runs']:.0f}% from the runs" in text
    assert "5 of bert" in text
    assert "of the variance" in comparison.report()
    assert "of the variance" in comparison.report(length="short")
    assert comparison.signature.endswith("runs=5+5")
    assert repr(comparison).startswith("Comparison(")


def test_there_is_no_bayes_factor(comparison):
    assert comparison.bayes_factor is None
    for ask in (comparison.bayes_factor_point_null, comparison.plot_bayes_factor):
        with pytest.raises(UndefinedBayesFactorError, match="improper"):
            ask()


def test_confusion_matrices_are_means_over_the_runs(comparison):
    a, b = comparison.confusions()
    seen = counted(comparison.spec).data
    assert a == pytest.approx(np.mean([seen.confusion(f"bert-{k}") for k in range(1, 6)], axis=0))
    assert a.sum() == pytest.approx(N)
    assert b.sum() == pytest.approx(N)


def test_a_report_is_written(comparison, tmp_path):
    page = op.write_report(comparison, tmp_path / "runs.html").read_text("utf-8")
    assert "from the runs" in page


# Findings


def test_pooling_would_have_decided():
    truth, runs = train(LEVELS, n=4_000)
    found = op.compare_runs(truth, runs[:5], runs[5:], **ASKED | {"rope": 0.001})
    assert found.details.pooled.decision is Decision.BETTER
    assert found.decision is Decision.LEANING_BETTER
    assert "runs_not_pooled" in names_of(found.findings)


def test_few_runs_and_single_runs_are_noticed():
    found = op.compare_runs(TRUTH, A[:3], B[:1], **ASKED)
    assert {"few_runs", "single_run"} <= set(names_of(found.findings))
    assert found.details.n_runs == (3, 1)
    assert np.isnan(found.b.details.run_sd)
    assert found.to_dict()["b"]["runs"]["sd"] is None
    assert "1 of B" in str(found)
    two = op.compare_runs(TRUTH, A[:2], B[:2], **ASKED)
    assert np.isfinite(two.sd)
    assert np.abs(two.draws).max() <= 1


def test_a_run_entered_twice_is_noticed():
    found = op.compare_runs(TRUTH, [A[0], A[1], A[0], A[2], A[3]], B, **ASKED)
    (repeated,) = [one for one in found.findings if one.name == "repeated_run"]
    assert repeated.message.startswith("A-1 and A-3")
    assert "repeated_run" not in names_of(op.compare_runs(TRUTH, A, B, **ASKED).findings)


def test_the_same_runs_on_both_sides_are_a_tie():
    found = op.compare_runs(TRUTH, A, A, **ASKED)
    assert found.decision is Decision.UNDECIDED
    assert found.observed == 0
    assert {step.decision for step in found.rope_curve()} == {
        Decision.UNDECIDED,
        Decision.LEANING_EQUIVALENT,
        Decision.EQUIVALENT,
    }


def test_models_that_hardly_disagree_get_no_decision():
    close = A[0].copy()
    close[:2] = 1 - close[:2]
    found = op.compare_runs(TRUTH, [A[0]] * 3, [close] * 3, prior="bootstrap", **ASKED)
    assert "few_disagreements" in names_of(found.findings)
    assert found.decision is Decision.UNDECIDED
    assert "few_disagreements" not in names_of(op.compare_runs(TRUTH, A, B, **ASKED).findings)


# What it refuses


@each(
    ("a", "b", "said"),
    [
        (A[:1], B[:1], "one run of each"),
        (A[0], B, "runs_a must be the predictions of each run"),
        (A, [], "runs_b must be the predictions"),
        (A, "gpt", "'gpt'"),
        ({"x": A[0], "y": A[1]}, {"x": B[0]}, "belongs to both"),
    ],
)
def test_what_is_no_set_of_runs(a, b, said):
    with pytest.raises(UsageError, match=said):
        op.compare_runs(TRUTH, a, b, **ASKED)


def test_runs_of_different_lengths():
    with pytest.raises(DataError):
        op.compare_runs(TRUTH, [A[0], A[1][:-1]], B, **ASKED)


def test_outcomes_must_know_who_was_right_where():
    matrix = [[40, 5], [9, 46]]
    seen = op.Outcomes.from_confusion(dict.fromkeys("abc", matrix))
    with pytest.raises(DataError, match="same items"):
        op.compare_runs(seen, ["a", "b"], ["c"], **ASKED)
    paired = op.Outcomes.from_labels(TRUTH, {"a": A[0], "b": A[1], "c": B[0]})
    for runs, said in (
        (["a", "a"], "twice"),
        (A, "must be names of runs"),
        ("a", "must be names of runs"),
        (["z"], "'z'"),
    ):
        with pytest.raises(UsageError, match=said):
            op.compare_runs(paired, runs, ["c", "b"], **ASKED)
    with pytest.raises(UsageError, match="unit"):
        op.compare_runs(paired, ["a", "b"], ["c"], prior="uniform", **ASKED)
    with pytest.raises(UsageError, match="already counted"):
        op.compare_runs(paired, ["a", "b"], ["c"], groups=[1], **ASKED)


# A lucky seed is no better model


def test_equal_models_are_seldom_called_different():
    generator = np.random.default_rng(4)
    called = {"runs": 0, "pooled": 0}
    repetitions = 150
    for repetition in range(repetitions):
        truth, runs = train(generator.normal(0.8, 0.03, 10), seed=repetition, n=300)
        found = op.compare_runs(
            truth, runs[:5], runs[5:], metric="f1", rope=0.001, n_draws=600, random_state=repetition
        )
        called["runs"] += found.decision in (Decision.BETTER, Decision.WORSE)
        called["pooled"] += found.details.pooled.decision in (Decision.BETTER, Decision.WORSE)
    # 6% and three standard errors; pooling calls a third of them.
    assert called["runs"] <= 0.06 * repetitions + 3 * np.sqrt(0.06 * 0.94 * repetitions)
    assert called["pooled"] > 0.2 * repetitions
