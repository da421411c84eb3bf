"""The study of slices: its worlds are what they say, and pooling does what it promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.loops import each
from verification import slice_classes, slices
from verification.slice_tables import failures, table, trades
from verification.slices import EQUAL, FEW, PLANTED, SCATTERED, WORLDS


def test_what_is_planted_costs_what_it_says():
    for world in PLANTED:
        counts, truth, signs = slices.simulate(world, 100, np.random.default_rng(1))
        assert counts.shape == (100, 8)
        np.testing.assert_allclose(truth, world.loss * signs, atol=1e-9)
        assert np.count_nonzero(signs) == int(100 * world.planted)


def test_worlds_agree_and_are_right_as_often_as_they_say():
    for world in WORLDS:
        both, only_a, only_b, neither = slices.rates(world)
        assert both + only_a == both + only_b == pytest.approx(world.accuracy)
        assert both + neither == pytest.approx(world.agreement)


def test_the_difference_of_f1_is_that_of_its_definition():
    positive, negative = np.array([0.7, 0.1, 0.05, 0.15]), np.array([0.8, 0.02, 0.1, 0.08])
    tp, fn, fp = 0.3 * 0.8, 0.3 * 0.2, 0.7 * 0.18
    b_tp, b_fn, b_fp = 0.3 * 0.75, 0.3 * 0.25, 0.7 * 0.1
    expected = 2 * tp / (2 * tp + fp + fn) - 2 * b_tp / (2 * b_tp + b_fp + b_fn)
    found = slices.f1_difference(np.array(0.3), positive, negative)
    assert found == pytest.approx(expected)


def test_equal_slices_are_not_called_and_separate_ones_are():
    pooled, separate = slices.run((EQUAL[4], 800, 3))
    assert pooled.false == 0
    assert separate.false > 0.005  # what would be planted by leaving the pooling out


def test_most_of_the_planted_are_found():
    pooled, _ = slices.run((PLANTED[0], 1_000, 5))
    assert pooled.found >= 0.8
    assert pooled.false < 0.001
    assert pooled.expected < 0.02


def test_what_does_not_hold_is_said():
    rest = {"expected": 0.01, "named": 0.92}
    bad = slices.Judged(false=0.02, found=0.5, covered=0.9, equivalent=0.05, wrong=0.1, **rest)
    good = slices.Judged(false=0.0, found=0.9, covered=0.95, equivalent=0.0, wrong=0.0, **rest)
    assert len(failures({PLANTED[0]: (bad, good)}, 10_000)) == 3
    assert failures({PLANTED[0]: (good, bad), EQUAL[0]: (good, bad)}, 10_000) == []
    text = table({PLANTED[0]: (good, bad)}, 1_000)
    assert "| 0.00 | 90.0 | 95.0 | 92.0 | 0.0 | 2.00 | 50.0 | 90.0 | 0.00 | 1.00 |" in text


def test_no_rule_finds_more_than_the_likelihood_ratio():
    world = replace(FEW[0], items=20, loss=0.3)
    right, bad = slices.rates(world), slices.plant(world, 0.5)[0]
    generator = np.random.default_rng(1)

    def ratios(rates):
        counts = generator.multinomial(20, rates, size=100_000)
        both_ways = [np.exp(counts @ np.log(one / right)) for one in (bad, bad[[0, 2, 1, 3]])]
        return sum(both_ways)

    for level in (0.001, 0.02):
        edge = np.quantile(ratios(right), 1 - level)
        found = ratios(bad)
        # Counts are whole numbers: the rule lies between the calls above the edge and at it.
        low, high = np.mean(found > edge * 1.001), np.mean(found > edge * 0.999)
        assert low - 0.01 < slices.most_found(world, level) < high + 0.01
    assert slices.most_found(world, 0.02) > slices.most_found(world, 0.001)


def test_doubt_trades_equivalence_for_bad_slices():
    traded = slices.trade((replace(FEW[1], planted=0.1), 200, 2))
    assert [one.doubt for one in traded] == [*slices.DOUBTS, None]
    assert traded[-2].found >= traded[0].found - 0.05
    assert traded[-1].covered > 0.7
    text = trades({FEW[1]: traded}, 200)
    assert text.count("\n| ") == len(traded) + 2
    assert "no rule finds more" in text


def test_slices_of_many_classes_are_what_they_say():
    generator = np.random.default_rng(1)
    world = replace(slice_classes.WORLDS[2], items=4_000)
    found = slice_classes.simulate(world, generator)
    values = slices.observe(
        slices.make_spec(
            found,
            metric="accuracy",
            prior=None,
            defaults=("uniform", "unit"),
            paired=True,
            labels=None,
            pos_label=None,
        ),
        found.slices,
    )
    assert values.shape == (2, 20)
    # Of 4,000 items a difference has an error of 0.007 at most.
    assert values[0, 0] - values[1, 0] == pytest.approx(slice_classes.truth(world), abs=0.035)
    assert np.abs(values[0, 1:] - values[1, 1:]).max() < 0.035
    assert slice_classes.truth(replace(world, metric="matthews_corrcoef")) == pytest.approx(
        -0.1275 * 20 / 19
    )


def test_hidden_bad_slices_false_calls_and_missing_findings_are_said():
    world = slice_classes.WORLDS[2]
    good = slice_classes.Noted(
        held=True,
        own_held=True,
        called=True,
        equivalent=False,
        named=False,
        mean=-0.11,
        observed=-0.13,
        false=0,
        unnamed=0,
    )
    assert slice_classes.failures({world: [good] * 100}) == []
    hidden = good._replace(held=False, false=1, unnamed=1)
    assert len(slice_classes.failures({world: [good] * 50 + [hidden] * 50})) == 3
    text = slice_classes.table({world: [good] * 99 + [hidden]})
    assert "| 20 | accuracy | 20 | 200 | −0.128 | −0.110 | −0.130 | 99.0 ± 1.0 |" in text


@pytest.mark.slow
@each("place", range(len(WORLDS)))
def test_ten_thousand_slices(place):
    world = WORLDS[place]
    pooled, separate = slices.run((world, 10_000, 1 + place))
    assert failures({world: (pooled, separate)}) == []
    if world in SCATTERED:
        assert 0.92 < pooled.covered < 0.97
