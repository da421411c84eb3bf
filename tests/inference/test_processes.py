"""The best of many candidates, and intervals that are valid at every look."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import outperform as op
from outperform.decision.anytime import betting_interval, log_capital, widening
from outperform.decision.intervals import Interval
from outperform.decision.selection import Errors, shrunk, widened
from outperform.errors import UsageError

NAMES = [f"m{i}" for i in range(6)]


def outcomes(n=300, seed=3, k=5, level=0.8):
    rng = np.random.default_rng(seed)
    right = {f"m{i}": rng.random(n) < level for i in range(k)}
    right["base"] = rng.random(n) < level
    seen = op.Outcomes.from_correct(right)
    best = max(list(right)[:-1], key=lambda name: right[name].sum())
    return seen, best


def ask(seen, best, **kwargs):
    return op.compare(seen, best, "base", metric="accuracy", rope=0.01, random_state=1, **kwargs)


# The choice


def test_errors_of_a_number_are_those_of_independent_candidates():
    draws = np.random.default_rng(0).normal(size=(20, 200_000))
    assert Errors(20).reach(0.975)[0] == pytest.approx(norm.ppf(0.975 ** (1 / 20)))
    drawn, error = Errors.of_draws(draws).reach(0.975)
    assert drawn == pytest.approx(Errors(20).reach(0.975)[0], abs=5 * error)


def test_errors_of_correlated_candidates_match_an_integral():
    covariance = 0.5 + 0.5 * np.eye(3)
    draws = np.random.default_rng(1).multivariate_normal(np.zeros(3), covariance, 200_000).T
    reach, error = Errors.of_draws(draws).reach(0.975)
    inside = multivariate_normal.cdf(np.full(3, reach), mean=np.zeros(3), cov=covariance)
    assert inside == pytest.approx(0.975, abs=1e-3)
    assert 0 < error < 0.02


def test_only_the_lower_end_of_the_best_moves():
    single = Interval(low=-0.02, high=0.03, prob=0.95)
    best = widened(single, 0.005, Errors(10))
    other = widened(single, 0.005, Errors(10), is_best=False)
    assert best.high == single.high
    assert best.low == other.low < single.low
    assert other.high > single.high
    assert widened(single, 0.005, Errors(1)).low == pytest.approx(single.low)


def test_the_interval_is_that_of_the_worst_case_and_no_pooling_reaches_it():
    seen, best = outcomes()
    plain, number, data = (ask(seen, best, chosen_from=c) for c in (1, 5, seen))
    assert plain.hdi == ask(seen, best).hdi
    assert plain.exact
    expected = widened(plain.eti, plain.mean, Errors(5))
    assert number.hdi == expected
    assert number.hdi.low < data.hdi.low < plain.hdi.low
    assert number.hdi.high == data.hdi.high == plain.eti.high
    assert data.mean < plain.mean
    assert data.bayes_factor is None


def test_lower_is_better_mirrors_the_interval():
    rng = np.random.default_rng(5)
    losses = {f"m{i}": rng.gamma(2.0, size=400) for i in range(4)}
    best = min(list(losses)[:-1], key=lambda name: losses[name].mean())
    cost = op.Scores.from_values(losses)
    gain = op.Scores.from_values({name: -one for name, one in losses.items()})
    lower = op.compare(
        cost, best, "m3", metric="mean_cost", rope=0.05, random_state=1, chosen_from=3
    )
    higher = op.compare(gain, best, "m3", metric="mean", rope=0.05, random_state=1, chosen_from=3)
    assert lower.hdi.low == pytest.approx(-higher.hdi.high, abs=0.02)
    assert lower.hdi.high == pytest.approx(-higher.hdi.low, abs=0.02)
    assert lower.hdi.high - lower.mean > lower.mean - lower.selection.unadjusted.low - 0.05


def test_another_candidate_than_the_best_is_widened_at_both_ends():
    seen, best = outcomes()
    other = next(name for name in seen.models if name not in (best, "base"))
    plain, chosen = ask(seen, other), ask(seen, other, chosen_from=seen)
    assert not chosen.selection.is_best
    assert chosen.hdi.high > plain.hdi.high
    assert "not_the_best_candidate" in {finding.name for finding in chosen.findings}


def test_another_rope_keeps_the_interval_and_another_metric_the_choice():
    seen, best = outcomes()
    chosen = ask(seen, best, chosen_from=seen)
    assert chosen.with_rope(0.3).hdi == chosen.hdi
    assert chosen.with_rope(0.3).decision.symbol == "≈"
    assert chosen.with_rope(0.01).mean == chosen.mean


def test_what_people_read_names_the_choice():
    seen, best = outcomes()
    chosen = ask(seen, best, chosen_from=5)
    assert "chosen_from=5" in chosen.signature
    assert "best of 5 candidates" in str(chosen)
    assert "95% interval" in str(chosen)
    assert "95% HDI would be" in chosen.to_html()
    assert chosen.to_dict()["selection"]["n"] == 5
    assert "highest-density" not in chosen.report()
    assert "chosen_from=5 candidates" in ask(seen, best, chosen_from=seen).signature


def test_shrinkage_grows_with_the_number_of_candidates():
    draws = np.random.default_rng(2).normal(0.02, 0.01, 20_000)
    means = [
        shrunk(draws, n, np.random.default_rng(3).random((2, 20_000))).mean()
        for n in (1, 5, 20, 100)
    ]
    assert np.all(np.diff(means) < 0)
    assert means[0] == pytest.approx(0.02, abs=5e-4)


@pytest.mark.parametrize("name", ["step-1000", "run/ckpt_12", "epoch3", "bert-checkpoint-500"])
def test_names_of_checkpoints_are_noticed(name):
    right = {name: [1, 0] * 50, "base": [0, 1] * 50}
    seen = op.Outcomes.from_correct(right)
    found = {finding.name for finding in ask(seen, name).findings}
    assert "may_be_a_checkpoint" in found
    told = {finding.name for finding in ask(seen, name, chosen_from=1).findings}
    assert "may_be_a_checkpoint" not in told


@pytest.mark.parametrize("name", ["gpt-4", "stepwise", "model-2", "epochal", "footsteps7x"])
def test_other_names_are_not(name):
    seen = op.Outcomes.from_correct({name: [1, 0] * 50, "base": [0, 1] * 50})
    assert "may_be_a_checkpoint" not in {finding.name for finding in ask(seen, name).findings}


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"chosen_from": 0}, "at least 1"),
        ({"chosen_from": True}, "outcomes or scores of all candidates"),
        ({"chosen_from": "all"}, "outcomes or scores of all candidates"),
        ({"looks": "many"}, "'once' or 'any'"),
        ({"chosen_from": 3, "looks": "any"}, "cannot be combined"),
    ],
)
def test_wrong_processes_are_refused(kwargs, message):
    seen, best = outcomes()
    with pytest.raises(UsageError, match=message):
        ask(seen, best, **kwargs)


def test_candidates_on_other_items_are_refused():
    seen, best = outcomes()
    others, _ = outcomes(seed=4)
    with pytest.raises(UsageError, match="other results there"):
        ask(seen, best, chosen_from=others)
    with pytest.raises(UsageError, match="'base' is not among"):
        ask(seen, best, chosen_from=seen.select([name for name in seen.models if name != "base"]))


@pytest.mark.parametrize("method", ["fragility", "more_data", "expected_coverage"])
def test_methods_for_one_candidate_are_refused(method):
    seen, best = outcomes()
    for kwargs in ({"chosen_from": 5}, {"looks": "any"}):
        with pytest.raises(UsageError, match="one candidate and one look"):
            getattr(ask(seen, best, **kwargs), method)()


# Every look


def test_capital_is_a_fair_game():
    # The mean over all sequences of three items is exactly 1, if the claimed mean is true.
    values, shares = np.array([-1.0, 0.0, 1.0]), np.array([0.1, 0.6, 0.3])
    mean, total = float(values @ shares), 0.0
    for a in range(3):
        for b in range(3):
            for c in range(3):
                counts = np.bincount([a, b, c], minlength=3)
                capital = np.exp(log_capital(values, counts, mean, -1.0))
                total += shares[a] * shares[b] * shares[c] * capital
    assert total == pytest.approx(1.0, abs=1e-12)


def test_capital_falls_as_the_claimed_mean_grows():
    values, counts = np.array([-1.0, 0.0, 1.0]), np.array([10, 60, 30])
    grid = np.linspace(-0.9, 0.9, 50)
    capital = log_capital(values, np.tile(counts, (50, 1)), grid, -1.0)
    assert np.all(np.diff(capital) < 0)


def test_betting_interval_ends_where_the_capital_reaches_the_limit():
    values, counts = np.array([-1.0, 0.0, 1.0]), np.array([20, 920, 60])
    low, high = betting_interval(values, counts, bounds=(-1, 1), prob=0.95)
    assert log_capital(values, counts, low, -1.0) == pytest.approx(np.log(40), abs=1e-6)
    assert log_capital(-values, counts, -high, -1.0) == pytest.approx(np.log(40), abs=1e-6)
    mirrored = betting_interval(values, counts[::-1], bounds=(-1, 1), prob=0.95)
    assert mirrored == pytest.approx((-high, -low))


def test_betting_interval_of_equal_values_keeps_the_other_end():
    low, high = betting_interval(np.array([1.0]), np.array([50]), bounds=(-1, 1), prob=0.95)
    assert -1 < low < 1 == high


def test_widening_is_least_where_it_is_meant_to_be():
    n = np.arange(200, 5_000)
    assert abs(n[widening(n, 0.95).argmin()] - 1_000) <= 1
    square = widening(1_000, 0.95) ** 2
    # The closed form of the least value, m + 1 with log((m + 1) / α²) = m.
    assert np.log(square / 0.05**2) == pytest.approx(square - 1, abs=1e-9)


def test_truths_stay_inside_at_all_looks():
    rng, values = np.random.default_rng(11), np.array([-1.0, 0.0, 1.0])
    shares = np.array([0.03, 0.92, 0.05])
    steps = rng.multinomial(20, shares, size=(400, 200)).cumsum(axis=1)
    limit, mean = np.log(40), float(values @ shares)
    out = (log_capital(values, steps, mean, -1.0) >= limit).any(axis=1)
    out |= (log_capital(-values, steps, -mean, -1.0) >= limit).any(axis=1)
    assert out.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_accuracy_and_bounded_grades_bet_and_other_metrics_do_not():
    seen, best = outcomes()
    look = ask(seen, best, looks="any")
    assert look.any_look.rule == "betting"
    grades = {name: np.random.default_rng(i).random(200) for i, name in enumerate("ab")}
    of_grades = op.compare(
        None, grades["a"], grades["b"], metric="mean", rope=0.01, looks="any", random_state=1
    )
    assert of_grades.any_look.rule == "betting"
    rng = np.random.default_rng(0)
    y, a, b = (rng.integers(0, 2, 2_000) for _ in range(3))
    f1 = op.compare(y, a, b, metric="f1", rope=0.01, looks="any", random_state=1)
    assert f1.any_look.rule == "asymptotic"
    assert f1.any_look.holds
    half = (f1.hdi.high - f1.hdi.low) / 2
    assert half == pytest.approx(f1.sd * float(widening(2_000, 0.95)))
    assert f1.hdi.midpoint == pytest.approx(f1.mean)
    assert "valid at every look" in str(f1)
    assert "looks=any" in f1.signature


def test_few_items_withhold_the_decision():
    y, a = [0, 1] * 30, [0, 1] * 30
    b = [1, 0] * 20 + [0, 1] * 10
    look = op.compare(y, a, b, metric="f1", pos_label=1, rope=0.01, looks="any", random_state=1)
    assert not look.any_look.holds
    assert look.decision.symbol == "?"
    assert {step.decision.symbol for step in look.rope_curve()} == {"?"}
    assert "too_few_for_any_look" in {finding.name for finding in look.findings}


def test_groups_count_once():
    rng = np.random.default_rng(0)
    y, a, b = (rng.integers(0, 2, 2_000) for _ in range(3))
    look = op.compare(
        y, a, b, metric="accuracy", rope=0.01, looks="any", groups=np.arange(2_000) // 10
    )
    assert look.any_look.rule == "asymptotic"
    assert look.any_look.n <= 200
    half = (look.hdi.high - look.hdi.low) / 2
    assert half == pytest.approx(look.sd * float(widening(200, 0.95)))


def test_a_monitor_stops_by_an_interval_valid_at_every_look(tmp_path):
    rng = np.random.default_rng(0)
    monitor = op.Monitor(tmp_path, "new", "old", metric="accuracy", rope=0.02, stop="anytime")
    for day in range(4):
        right = {"new": rng.random(150) < 0.9, "old": rng.random(150) < 0.75}
        monitor.add(op.Outcomes.from_correct(right), key=day)
    assert [look.any_look.rule for look in monitor.looks] == ["betting"] * 4
    assert monitor.stopped.decision.decided
    assert monitor.stopped.hdi.kind == "interval"
    assert "valid at every look" in str(monitor)
    assert "stopped_by_decision" not in {finding.name for finding in monitor.findings}
    assert monitor.at(2).hdi == monitor.looks[1].hdi


def test_a_monitor_takes_the_number_of_candidates(tmp_path):
    seen, best = outcomes()
    monitor = op.Monitor(tmp_path, best, "base", metric="accuracy", rope=0.01, chosen_from=5)
    monitor.add(seen.select([best, "base"]), key="all")
    assert monitor.latest.selection.n == 5
    with pytest.raises(UsageError, match="number of candidates"):
        op.Monitor(tmp_path, best, "base", chosen_from=seen)


def test_a_gate_accounts_for_choice_and_looks():
    seen, best = outcomes(n=2_000)
    plain, chosen, ever = (
        op.gate(seen, best, "base", metric="accuracy", rope=0.03, **kwargs)
        for kwargs in ({}, {"chosen_from": seen}, {"anytime": True})
    )
    assert chosen.main.hdi == ask(seen, best, chosen_from=seen).hdi or chosen.main.selection.n == 5
    assert chosen.main.hdi.low < plain.main.hdi.low
    assert ever.main.any_look.rule == "betting"
    assert "95% interval" in str(chosen)
    assert "valid at every look" in str(ever)


def test_a_gate_of_levels_refuses_many_looks():
    seen, best = outcomes()
    with pytest.raises(UsageError, match="not to levels"):
        op.gate(seen, best, at_least=0.5, metric="accuracy", anytime=True)
