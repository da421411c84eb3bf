"""The region of practical equivalence: what may be given for it."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Rope
from outperform.errors import UsageError


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        (0.01, -0.01, 0.01),
        (1, -1.0, 1.0),
        (0, 0.0, 0.0),
        ((-0.02, 0.01), -0.02, 0.01),
        ([0.0, 0.05], 0.0, 0.05),
        (np.array([-0.03, 0.03]), -0.03, 0.03),
        (np.float32(0.5), -0.5, 0.5),
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
    with pytest.raises(UsageError, match=r"no default ROPE.*give rope="):
        Rope.from_param(None, bounds=bounds)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0.02, 0.01), "low to high"),
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
    with pytest.raises(UsageError, match=r"wider than any difference.*0\.01"):
        Rope.from_param(given, bounds=(0.0, 1.0))
    assert Rope.from_param(1.5, bounds=(-1.0, 1.0)).high == 1.5
    assert Rope.from_param(1.5, bounds=None).high == 1.5


def test_ropes_print_themselves():
    assert str(Rope.from_param(0.01)) == "±0.01"
    assert str(Rope.from_param((-0.02, 0.01))) == "-0.02 to 0.01"
    assert repr(Rope.from_param(0.005)) == "Rope(±0.005)"
    assert Rope.from_param((-0.02, 0.01)).midpoint == pytest.approx(-0.005)
    assert Rope.from_param(0.01).symmetric
    assert not Rope.from_param((-0.02, 0.01)).symmetric
