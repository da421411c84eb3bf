"""Normal theory: against simulated normals, at its limits, and where it must be silent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from outperform.decision.rope import Rope
from outperform.errors import UsageError
from outperform.planning.goals import Outlook, firm_goal, first_size, judged_goal
from outperform.planning.more_data import needed_by
from tests.loops import each

ROPE = Rope.from_param(0.01)
N = 500
Z = float(ndtri(0.975))


def outlook(mean=0.02, sd=0.012, items="more"):
    return Outlook(n=N, mean=mean, sd=sd, below=Z * sd, above=Z * sd, items=items)


def goal(name, rope=ROPE, greater=True):
    return firm_goal(name, rope, greater_is_better=greater)


def simulated(now, m, rope, generator, times=40_000):
    """Return decision shares by drawing truth, data and conjugate normal posteriors."""
    noise = now.sd * np.sqrt(now.n)  # of one item
    truth = now.mean if now.items == "certain" else generator.normal(now.mean, now.sd, times)
    seen = generator.normal(truth, noise / np.sqrt(m), times)
    if now.items == "more":
        centre = (now.n * now.mean + m * seen) / (now.n + m)
        reach = Z * noise / np.sqrt(now.n + m)
    else:
        centre, reach = seen, Z * noise / np.sqrt(m)
    low, high = centre - reach, centre + reach
    return {
        "≫": (low > rope.high).mean(),
        "≪": (high < rope.low).mean(),
        "≈": ((low >= rope.low) & (high <= rope.high)).mean(),
    }


@each("items", ["more", "new", "certain"])
@each("mean", [0.02, 0.002])
@each("m", [400, 6_000, 50_000])
def test_probabilities_are_those_of_simulated_normals(items, mean, m):
    now = outlook(mean=mean, items=items)
    found = simulated(now, m, ROPE, np.random.default_rng([m, len(items)]))
    for symbol, share in found.items():
        error = np.sqrt(max(share * (1 - share), 1e-4) / 40_000)
        assert float(now.probability(goal(symbol), m)) == pytest.approx(share, abs=4.5 * error)
    total = float(now.probability(goal("decided"), m))
    assert total == pytest.approx(sum(found.values()), abs=0.011)


def test_in_the_end_every_decision_comes_as_probably_as_the_posterior_has_it():
    now = outlook()
    assert float(now.probability(goal("≫"), 1e14)) == pytest.approx(ndtr(0.01 / 0.012), abs=1e-4)
    assert float(now.probability(goal("decided"), 1e14)) == pytest.approx(1, abs=1e-3)
    # At the edge a certain world is decided one time in forty, whatever its size.
    edge = outlook(mean=0.01, items="certain")
    assert edge.probability(goal("≫"), [100, 10_000]) == pytest.approx([0.025, 0.025])


def test_lower_is_better_is_the_mirror_image():
    for name in ("≫", "≈", "≪", "decided", "not_worse"):
        one = outlook(mean=0.015).probability(goal(name), [300, 3_000])
        two = outlook(mean=-0.015).probability(goal(name, greater=False), [300, 3_000])
        assert one == pytest.approx(two)


def test_a_gate_is_a_rope_without_width():
    now = outlook(mean=-0.005)
    gate = now.probability(judged_goal(-0.01, greater_is_better=True), 2_000)
    passes = now.probability(goal("not_worse"), 2_000)
    low = ndtr((0.005 - Z * 0.012 * np.sqrt(0.2)) / (0.012 * np.sqrt(0.8)))
    assert float(passes) == pytest.approx(low)
    assert gate > passes


def test_the_size_of_a_z_test():
    # (z₉₇.₅ + z₈₀)² σ² / (d − rope)², as in every textbook.
    certain = outlook(mean=0.05, items="certain")
    n = first_size(lambda sizes: certain.probability(goal("≫"), sizes), 0.8, max_items=10**6)
    expected = (Z + ndtri(0.8)) ** 2 * (0.012**2 * N) / 0.04**2
    assert n == int(np.ceil(expected))
    assert float(certain.width(n)) == pytest.approx(2 * Z * 0.012 * np.sqrt(N / n))


def test_the_first_size_is_the_first():
    steps = np.array([7, 50, 4_321])
    for size in steps:
        found = first_size(lambda n, size=size: (n >= size).astype(float), 0.5, max_items=10**6)
        assert found == size
    assert first_size(lambda n: 0 * n, 0.5, max_items=10**6) is None
    assert first_size(lambda n: 0 * n + 1, 0.5, max_items=10**6) == 1


def test_nothing_varies_where_the_sd_is_zero():
    assert float(outlook(sd=0.0).probability(goal("≫"), 5)) == 1.0


@pytest.mark.parametrize("name", [">", "<", "?", "leaning_better"])
def test_leaning_decisions_are_not_planned_for(name):
    with pytest.raises(UsageError, match="firm decision"):
        goal(name)


def test_a_goal_must_be_one():
    with pytest.raises(UsageError, match="unknown goal"):
        goal("wins")
    with pytest.raises(UsageError, match="ROPE of width 0"):
        goal("≈", rope=Rope.from_param(0.0))


@pytest.mark.parametrize("items", ["more", "new"])
@pytest.mark.parametrize("stays", [0.0, 0.3])
def test_the_least_probability_is_that_of_the_worst_plausible_scatter(items, stays):
    # Brute force: pairs of models and their data are drawn, and those kept whose data look so.
    mean, sd, m, generator = 0.012, 0.01, 4_000, np.random.default_rng(11)
    now = Outlook(n=N, mean=mean, sd=sd, below=Z * sd, above=Z * sd, items=items, stays=stays)
    shares = []
    for scatter in (0.0, 0.003, 0.01, 0.03, 0.1):
        true = generator.normal(0, scatter, 2_000_000) if scatter else np.zeros(2_000_000)
        measured = true + generator.normal(0, sd * np.sqrt(stays), true.size) if stays else true
        noise = sd * np.sqrt((1 - stays) * N)  # of one item
        seen = generator.normal(measured, noise / np.sqrt(N))
        near = np.abs(seen - mean) < 0.05 * sd
        fresh = generator.normal(measured[near], noise / np.sqrt(m))
        more = items == "more"
        centre = (N * seen[near] + m * fresh) / (N + m) if more else fresh
        total = N + m if more else m
        reach = Z * np.sqrt(stays * sd**2 + noise**2 / total)
        low, high = centre - reach, centre + reach
        decided = (low > 0.01) | (high < -0.01) | ((low >= -0.01) & (high <= 0.01))
        shares.append((decided.mean(), near.sum()))
    worst, n = min(shares)
    least = float(now.least_probability(goal("decided"), m))
    # The scatters of the product are others: the worst of them is near the worst of these.
    assert least <= worst + 4 * np.sqrt(worst * (1 - worst) / n)
    assert least == pytest.approx(worst, abs=0.03)
    assert float(now.most_probability(goal("decided"), m)) >= max(shares)[0] - 0.02


@each("scatter", [0.003, 0.01, 0.03])
@each("chosen", [False, True])
def test_the_safe_number_keeps_its_promise_and_face_value_does_not(scatter, chosen):
    generator, sd, kept = np.random.default_rng([17, chosen]), 0.008, []
    pairs = generator.normal(0, scatter, (300, 10 if chosen else 1))
    pilots = generator.normal(pairs, sd)
    best = pilots.argmax(axis=1)[:, None]
    for true, seen in zip(
        np.take_along_axis(pairs, best, 1)[:, 0],
        np.take_along_axis(pilots, best, 1)[:, 0],
        strict=True,
    ):
        now = outlook(mean=seen, sd=sd)
        if now.probability(goal("decided"), 1) > 0.5:
            continue
        needed = needed_by(now, goal("decided"), max_items=1_000 * N)
        if needed.n is None:
            continue
        m, noise = needed.n, sd * np.sqrt(N)
        centre = (N * seen + m * generator.normal(true, noise / np.sqrt(m))) / (N + m)
        reach = Z * noise / np.sqrt(N + m)
        ends = np.array([[centre - reach], [centre + reach]])
        kept.append(bool(goal("decided").reached(ends)[0]))
    share = np.mean(kept)
    assert len(kept) > 25
    assert share >= 0.8 - 4 * np.sqrt(0.16 / len(kept))


def test_data_that_rule_out_small_differences_are_taken_at_face_value():
    now = outlook(mean=0.2, sd=0.01)
    better = goal("≫")
    assert float(now.least_probability(better, N)) == pytest.approx(
        float(now.probability(better, N)), abs=0.01
    )
    certain = outlook(items="certain")
    assert float(certain.least_probability(better, 900)) == float(certain.probability(better, 900))
