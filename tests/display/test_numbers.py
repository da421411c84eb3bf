from __future__ import annotations

import math
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.display import numbers
from outperform.errors import UsageError
from tests.loops import each


@each(
    ("value", "digits", "shown"),
    [
        (0.0222, 4, "+0.0222"),
        (-0.10861, 4, "−0.1086"),
        (0.0, 4, "0.0000"),
        (-0.0, 4, "0.0000"),
        (-0.00001, 4, "0.0000"),
        (0.00001, 4, "0.0000"),
        (1234.5, 1, "+1,234.5"),
        (math.nan, 4, "undefined"),
        (math.inf, 4, "+inf"),
        (-math.inf, 4, "−inf"),
    ],
)
def test_signed(value, digits, shown):
    assert numbers.signed(value, digits) == shown


@pytest.mark.parametrize(("value", "shown"), [(7532, "7,532"), (12.0, "12"), (0.5, "0.5")])
def test_counts(value, shown):
    assert numbers.count(value) == shown


@each(
    ("p", "n_draws", "shown"),
    [
        (0.0, 20_000, "<0.02%"),
        (1.0, 20_000, ">99.98%"),
        (-1e-17, 20_000, "<0.02%"),
        (1 + 1e-12, 20_000, ">99.98%"),
        (0.0, 50_000, "<0.006%"),
        (0.0, 7_000, "<0.05%"),
        (0.0, 1_000_000, "<0.0003%"),
        (1.0, 100, ">97%"),
        (0.0, 2, "<100%"),
        (1 / 20_000, 20_000, "<0.02%"),
        (1 - 1 / 20_000, 20_000, ">99.98%"),
        (0.5, 20_000, "50.0%"),
        (0.9731, 20_000, "97.3%"),
        (0.9731, None, "97.31%"),
        (0.5, None, "50.00%"),
        (0.0, None, "<0.01%"),
        (1e-300, None, "<0.01%"),
        (1.0, None, ">99.99%"),
        (1 - 1e-12, None, ">99.99%"),
        (math.nan, None, "undefined"),
    ],
)
def test_probability(p, n_draws, shown):
    assert numbers.probability(p, n_draws=n_draws) == shown


def test_a_known_error_sets_the_digits():
    assert numbers.probability(0.9731, mcse=0.004) == "97.3%"
    assert numbers.probability(0.9731, mcse=0.0001) == "97.31%"
    assert numbers.probability(0.0001, mcse=0.003) == "<0.7%"


def test_numbers_of_numpy_are_welcome():
    assert numbers.probability(np.float64(0.0), n_draws=np.int64(20_000)) == "<0.02%"
    assert numbers.count(np.int64(7532)) == "7,532"


@pytest.mark.parametrize("p", [-0.1, 1.1, math.inf])
def test_what_is_no_probability_is_refused(p):
    with pytest.raises(UsageError, match="between 0 and 1"):
        numbers.probability(p)


@given(st.floats(0, 1), st.none() | st.integers(1, 10**7))
def test_never_a_bare_zero_or_one(p, n_draws):
    shown = numbers.probability(p, n_draws=n_draws)
    assert re.fullmatch(r"[<>]?\d+(\.\d+)?%", shown)
    if shown[0] not in "<>":
        assert 0 < float(shown.rstrip("%")) < 100


@given(st.integers(1, 10**6), st.data())
def test_the_digits_shown_are_right(n_draws, data):
    k = data.draw(st.integers(0, n_draws))
    shown = numbers.probability(k / n_draws, n_draws=n_draws)
    value = float(shown.strip("<>%")) / 100
    if shown[0] == "<":
        assert k == 0
        assert min(1, 3 / n_draws) <= value * (1 + 1e-9) <= min(1, 6 / n_draws) * (1 + 1e-8)
    elif shown[0] == ">":
        assert k == n_draws
    else:
        p = k / n_draws
        assert abs(value - p) <= max(0.0005, math.sqrt(p * (1 - p) / n_draws)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("parts", "n_draws", "shown"),
    [
        ((0.9970, 0.0030, 0.0), 20_000, ["99.70%", "0.30%", "<0.02%"]),
        ((0.0003, 0.00935, 0.99035), None, ["0.03%", "0.93%", "99.04%"]),
        ((1.0, 0.0, 0.0), 20_000, [">99.98%", "<0.02%", "<0.02%"]),
        ((0.99985, 0.00008, 0.00007), None, ["99.99%", "<0.01%", "<0.01%"]),
    ],
)
def test_shares(parts, n_draws, shown):
    assert numbers.shares(parts, n_draws) == shown


@given(st.lists(st.integers(0, 10**5), min_size=3, max_size=3).filter(any), st.booleans())
def test_shares_sum_to_one_hundred(counts, exact):
    parts = [count / sum(counts) for count in counts]
    shown = numbers.shares(parts, None if exact else sum(counts))
    known = [Decimal(text.rstrip("%")) for text in shown if text[0].isdigit()]
    assert not {Decimal(0), Decimal(100)} & set(known)
    assert len({value.as_tuple().exponent for value in known}) <= 1
    unit = Decimal(1).scaleb(known[0].as_tuple().exponent) if known else Decimal(0)
    rest = sum(max(unit, Decimal(text.strip("<%"))) for text in shown if text.startswith("<"))
    assert 100 - rest <= sum(known) <= 100 or len(known) < 2
    for text, part in zip(shown, parts, strict=True):
        value = float(text.strip("<>%"))
        assert text[0] != "<" or 100 * part <= value
        assert not text[0].isdigit() or abs(value - 100 * part) <= 1.01 * float(unit)


def test_intervals():
    assert numbers.interval(-0.1234, -0.0937) == "−0.1234 to −0.0937"
    assert numbers.interval(0.01, 0.02, 3, sign=True) == "+0.010 to +0.020"


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-0.01, 0.01, "±0.01"),
        (-0.02, 0.01, "−0.02 to +0.01"),
        (0.0, 0.0, "±0"),
        (-0.04, 0.0, "−0.04 to 0"),
    ],
)
def test_rope(low, high, shown):
    assert numbers.rope(low, high) == shown


@each(
    ("bf", "shown"),
    [
        ({"bf01": 12.34}, "BF01 = 12.3"),
        ({"bf01": 1.0}, "BF01 = 1.00"),
        ({"bf01": 0.25}, "BF10 = 4.00"),
        ({"bf01": 1 / 4100, "bound": "upper"}, "BF10 > 4.1e+03"),
        ({"bf01": 2.4e-4, "log10_bf10": -math.log10(2.4e-4), "bound": "upper"}, "BF10 > 4.1e+03"),
        ({"bf01": 5678.0, "bound": "lower"}, "BF01 > 5.6e+03"),
        ({"bf01": 5678.0, "bound": "upper"}, "BF01 < 5.7e+03"),
        ({"bf01": 5678.0, "bound": None}, "BF01 = 5.7e+03"),
        ({"bf01": 0.5, "bound": "lower"}, "BF10 < 2.00"),
        ({"bf01": 0.0, "log10_bf10": 412.3}, "BF10 = 2.0e+412"),
        ({"bf01": 999.7}, "BF01 = 1.0e+03"),
        ({"bf01": 850.0}, "BF01 = 850"),
        ({"log10_bf10": 2.0}, "BF10 = 100"),
        ({"bf01": 0.0}, "BF10 > 1e+300"),
        ({"bf01": math.nan}, "BF01 undefined"),
    ],
)
def test_bayes_factor(bf, shown):
    assert numbers.bayes_factor(bf) == shown


@given(st.floats(-300, 300), st.sampled_from(["upper", "lower"]))
def test_a_bound_is_never_sharpened_by_rounding(log10_bf10, bound):
    shown = numbers.bayes_factor({"log10_bf10": log10_bf10, "bound": bound})
    name, relation, value = shown.split(" ")
    truth = 10.0 ** abs(log10_bf10)
    assert (name == "BF10") == (log10_bf10 > 0)
    if relation == ">":
        assert float(value) <= truth * (1 + 1e-8)
    else:
        assert float(value) >= truth * (1 - 1e-8)


@each(
    ("spread", "places"),
    [(0.0076, 4), (0.3, 4), (0.0009, 5), (2e-5, 6), (1.5, 1), (120.0, 0), (0.0, 4), (None, 4)],
)
def test_decimals(spread, places):
    assert numbers.decimals(spread) == places
