"""The study of sums over items: what its table says, and what it rejects."""

from __future__ import annotations

from functools import lru_cache

from verification import sums
from verification.sums import LIMITS, METRICS, WORLDS, Interval, SumsWorld


def made(n_held):
    return {
        world: [Interval(0.25, k < n_held, 0.1) for k in range(1_000)]
        for world in (
            SumsWorld(metric=one, rough=rough) for one in METRICS for rough in (False, True)
        )
    }


def test_the_table_says_what_was_true_and_how_often_it_was_held():
    rows = sums.table(made(950)).splitlines()
    assert len([row for row in rows if row.startswith("| `")]) == len(METRICS)
    assert rows[2].count("+0.25 | 95.0 ± 0.7 | 0.1") == 2


def test_intervals_that_hold_too_rarely_or_too_often_fail_but_where_a_limit_is_shown():
    assert sums.failures(made(950)) == []
    for n_held in (880, 1_000):
        assert len(sums.failures(made(n_held))) == len(WORLDS) - len(LIMITS)


def test_the_truth_is_that_of_many_items(monkeypatch):
    # A hundred times as many as a repetition has: their error is a tenth of an interval's.
    monkeypatch.setattr(sums, "_POPULATION", 200_000)
    monkeypatch.setattr(sums, "_AT_ONCE", 20_000)
    monkeypatch.setattr(sums, "truth_of", lru_cache(sums.truth_of.__wrapped__))
    world = next(one for one in WORLDS if one.metric == "mae" and not one.rough)
    many = sums.repeat(world, 0, 12)
    assert {one.truth for one in many} == {sums.truth_of(world)}
    # Of 12 intervals that hold with 95%, fewer than 7 hold with a chance of 10⁻⁵.
    assert sum(one.covered for one in many) >= 7
