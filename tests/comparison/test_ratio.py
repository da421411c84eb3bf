"""A / B instead of A − B: quadrature, the delta method, coverage, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import outperform as op
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

binom = lazily("scipy.stats.binom")
norm = lazily("scipy.stats.norm")

RANDOM = np.random.default_rng(60)


def costs(n, random=RANDOM, ratio=0.7):
    """Return what two models cost on the same items; hard items cost both more."""
    hard = random.gamma(2.0, size=n)
    return ratio * hard * random.gamma(4.0, 0.25, size=n), hard * random.gamma(4.0, 0.25, size=n)


@pytest.fixture(scope="module")
def cheaper():
    new, old = costs(200)
    asked = {"metric": "mean_cost", "rope": 0.1, "names": ("new", "old"), "random_state": 1}
    return op.compare(None, new, old, **asked)


def test_the_draws_are_divided_and_counted(cheaper):
    found = cheaper.ratio(rope=0.1)
    expected = cheaper.a.draws / cheaper.b.draws
    assert found.draws.tolist() == expected.tolist()
    assert found.mean == pytest.approx(expected.mean())
    assert found.observed == cheaper.a.observed / cheaper.b.observed
    assert (found.rope.low, found.rope.high) == (0.9, 1.1)
    # Less is better, so below the ROPE is better.
    assert found.p_better == (expected < 0.9).mean()
    assert found.p_worse == (expected > 1.1).mean()
    assert found.p_greater == (expected > 1).mean()
    assert found.p_better + found.p_equivalent + found.p_worse == pytest.approx(1.0)
    assert found.decision is op.Decision.BETTER
    assert "lower" in str(found)


def test_swapping_the_models_turns_the_decision_round():
    new, old = costs(200, np.random.default_rng(61))
    c = op.compare(None, old, new, metric="mean_cost", rope=0.1, random_state=1)
    found = c.ratio(rope=(0.9, 1 / 0.9))
    back = op.compare(None, new, old, metric="mean_cost", rope=0.1, random_state=1)
    mirror = back.ratio(rope=(0.9, 1 / 0.9))
    assert found.decision is op.Decision.WORSE
    assert found.decision.mirrored is mirror.decision
    assert found.p_worse == pytest.approx(mirror.p_better, abs=1e-3)


def test_independent_betas_by_quadrature():
    seen = op.Outcomes.from_correct({"a": [1] * 43 + [0] * 17, "b": [1] * 35 + [0] * 25})
    c = op.compare(
        seen, "a", "b", metric="accuracy", rope=0.05, paired=False, n_draws=100_000, random_state=2
    )
    found = c.ratio(rope=(0.9, 1.2))
    a, b = c.a.distribution, c.b.distribution

    def below(ratio):
        return quad(lambda x: a.cdf(min(ratio * x, 1.0)) * b.pdf(x), 0, 1, limit=200)[0]

    for got, expected in (
        (found.p_worse, below(0.9)),
        (found.p_better, 1 - below(1.2)),
        (found.p_greater, 1 - below(1.0)),
    ):
        assert got == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 100_000))
    inside = below(found.hdi.high) - below(found.hdi.low)
    assert inside == pytest.approx(0.95, abs=0.005)


def test_many_items_follow_the_delta_method():
    n = 4_000
    new, old = costs(n, np.random.default_rng(62))
    c = op.compare(None, new, old, metric="mean_cost", rope=0.1, random_state=3)
    found = c.ratio(rope=0.05)
    # Var log(Ā / B̄) = Var(a / Ā − b / B̄) / n
    spread = np.std(new / new.mean() - old / old.mean()) / np.sqrt(n)
    assert found.sd / found.mean == pytest.approx(spread, rel=0.04)
    center = np.log(new.mean() / old.mean())
    ends = np.exp(center + norm.ppf([0.025, 0.975]) * spread)
    assert [found.hdi.low, found.hdi.high] == pytest.approx(ends.tolist(), abs=0.15 * spread)


@pytest.mark.slow
def test_the_interval_covers_the_true_ratio():
    random, repeats = np.random.default_rng(63), 400
    hits = 0
    for seed in range(repeats):
        new, old = costs(120, random, ratio=0.8)
        c = op.compare(
            None, new, old, metric="mean_cost", rope=0.1, n_draws=2_000, random_state=seed
        )
        hits += 0.8 in c.ratio(rope=0.05).hdi
    # Not below 92.5% in truth, beyond doubt.
    assert hits >= binom.ppf(0.001, repeats, 0.925)
    assert hits <= binom.ppf(0.9999, repeats, 0.965)


def test_a_denominator_around_zero_is_refused():
    c = op.compare(None, [1.0, 2.0, 3.0] * 10, [-1.0, 1.0, 0.5] * 10, metric="mean", rope=0.1)
    with pytest.raises(DataError, match="not certainly above 0"):
        c.ratio(rope=0.05)
    c = op.compare(None, [1.0, 2.0, 3.0] * 10, [2.0, 1.0, 3.0] * 10, metric="neg_mean", rope=0.1)
    with pytest.raises(DataError, match="mean_cost instead of neg_mean"):
        c.ratio(rope=0.05)


@each("rope", [1.5, (-0.1, 0.1), (1.1, 1.2), (0.0, 1.1), -0.1, "5%"])
def test_a_rope_that_is_none_of_ratios_is_refused(cheaper, rope):
    if rope == (-0.1, 0.1):
        assert cheaper.ratio(rope=rope).rope.low == 0.9
        return
    with pytest.raises(UsageError, match="rope"):
        cheaper.ratio(rope=rope)


def test_identical_models_are_not_called_equivalent():
    same = [1.0, 2.0, 4.0] * 20
    c = op.compare(None, same, same, metric="mean_cost", rope=0.1, random_state=1)
    found = c.ratio(rope=0.05)
    assert found.decision is op.Decision.UNDECIDED
    assert {step.decision for step in found.rope_curve()} == {op.Decision.UNDECIDED}


def test_the_curve_of_ropes_agrees_with_the_decision(cheaper):
    found = cheaper.ratio(rope=0.05)
    for step in found.rope_curve():
        width = step.start + (0.001 if step.stop is None else (step.stop - step.start) / 2)
        assert cheaper.ratio(rope=width).decision is step.decision


def test_facts_and_figure(cheaper):
    found = cheaper.ratio(rope=0.05)
    facts = found.to_dict()
    assert facts["kind"] == "ratio"
    assert facts["rope"] == {"low": 0.95, "high": 1.05, "default": False}
    assert facts["mc_errors"]["mean"] == pytest.approx(found.sd / np.sqrt(20_000))
    ax = found.plot()
    assert "new / old" in ax.get_xlabel()
    assert found.to_frame()["mean"].tolist() == [found.mean]
