"""The region of practical equivalence: what may be given for it."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Rope
from outperform.errors import UsageError
from tests.loops import each


@each(
    ("given", "low", "high"),
    [
        (0.01, -0.01, 0.01),
        (0, 0.0, 0.0),
        ((-0.02, 0.01), -0.02, 0.01),
        ([0.0, 0.05], 0.0, 0.05),
        (np.array([-0.03, 0.03]), -0.03, 0.03),
        (np.float32(0.25), -0.25, 0.25),
        ((0.01, 0.02), 0.01, 0.02),
    ],
)
def test_half_widths_and_pairs_are_taken(given, low, high):
    rope = Rope.from_param(given)
    assert (rope.low, rope.high, rope.default) == (low, high, False)


def test_the_default_is_named_as_such():
    rope = Rope.from_param(None)
    assert (rope.low, rope.high, rope.default) == (-0.01, 0.01, True)
    assert Rope.from_param(rope) is rope


@pytest.mark.parametrize("bounds", [None, (0.0, 2.0), (-np.inf, np.inf), (-2.0, 1.0)])
def test_there_is_no_default_beyond_plus_and_minus_one(bounds):
    with pytest.raises(UsageError, match=r"no default ROPE.*set rope="):
        Rope.from_param(None, bounds=bounds)


@each(
    ("given", "words"),
    [
        ((0.02, 0.01), "lower end first"),
        ((-1, float("inf")), "finite"),
        (float("nan"), "finite"),
        ((float("nan"), 0.1), "finite"),
        (-0.01, "half-width"),
        ("0.01", "half-width such as 0.01"),
        (True, "half-width"),
        ((0.01,), "pair"),
        ((1, 2, 3), "pair"),
        (("a", "b"), "pair"),
        (object(), "half-width"),
    ],
)
def test_what_is_no_rope_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        Rope.from_param(given)


@pytest.mark.parametrize("given", [1.5, 5, (-2, 0.1)])
def test_a_rope_wider_than_any_difference_is_refused(given):
    with pytest.raises(UsageError, match=r"wider than any difference.*did you mean"):
        Rope.from_param(given, bounds=(0.0, 1.0))
    assert Rope.from_param(1.5, bounds=None).high == 1.5


@each(
    ("given", "meant"),
    [
        (1, "did you mean 0.01?"),
        (1.0, "did you mean 0.01?"),
        (0.5, "did you mean 0.005?"),
        ((-1, 1), "did you mean 0.01?"),
        ((-1, 0.5), r"did you mean \(-0.01, 0.005\)?"),
        ((-2, 1), r"did you mean \(-0.02, 0.01\)?"),
        (5, "did you mean 0.05?"),
    ],
)
@each("bounds", [(0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0)])
def test_per_cent_in_place_of_a_share_is_refused(given, meant, bounds):
    with pytest.raises(UsageError, match=meant.replace("?", r"\?")):
        Rope.from_param(given, bounds=bounds)


@each("given", [0.4, 0.2, (-0.01, 1), (-1, 0.02), (-0.05, 0.8), 0])
def test_wide_ropes_that_may_be_meant_are_taken(given):
    assert Rope.from_param(given, bounds=(0.0, 1.0)).width >= 0


def test_costs_have_units_of_their_own():
    assert Rope.from_param(5, bounds=(0.0, 100.0)).high == 5
    assert Rope.from_param(60, bounds=(0.0, 100.0)).high == 60
    with pytest.raises(UsageError, match=r"wider than any difference.*units of the metric$"):
        Rope.from_param(200, bounds=(0.0, 100.0))


def test_ropes_print_themselves():
    assert str(Rope.from_param(0.01)) == "±0.01"
    assert str(Rope.from_param((-0.02, 0.01))) == "-0.02 to 0.01"
    assert repr(Rope.from_param(0.005)) == "Rope(±0.005)"
    assert Rope.from_param((-0.02, 0.01)).midpoint == pytest.approx(-0.005)
    assert Rope.from_param(0.01).symmetric
    assert not Rope.from_param((-0.02, 0.01)).symmetric
