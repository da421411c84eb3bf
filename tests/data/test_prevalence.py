"""Class proportions as a value: what is taken, what is refused, what is drawn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from outperform import Outcomes
from outperform._files import signed
from outperform.data.prevalence import Prevalence
from outperform.errors import DataError, UsageError
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

SEEN = Outcomes.from_labels(["ok", "fraud", "spam"], {"m": ["ok", "ok", "ok"]})
TWO = Outcomes.from_labels([0, 1], {"m": [0, 0]})


def taken(value, seen=SEEN, positive=None):
    return Prevalence.from_param(value, seen, positive=positive)


def test_a_number_is_the_share_of_the_positive_class():
    found = taken(0.02, positive="fraud")
    assert (found.labels, found.shares, found.source) == (("fraud",), (0.02,), "known")
    assert taken(np.float32(0.25), TWO, 1).shares == (0.25,)


def test_a_mapping_is_shares_of_all_classes_or_of_some():
    whole = taken({"spam": 0.5, "ok": 0.3, "fraud": 0.2})
    assert whole.labels == SEEN.labels == ("fraud", "ok", "spam")
    assert whole.shares == pytest.approx((0.2, 0.3, 0.5))
    assert taken({"spam": 0.1, "fraud": 0.02}).labels == ("fraud", "spam")


@pytest.mark.parametrize("counts", [dict, Counter, pd.Series])
def test_whole_numbers_that_sum_to_more_than_one_are_counts(counts):
    found = taken(counts({"ok": 970, "fraud": 20, "spam": 10}))
    assert found.shapes == (21.0, 971.0, 11.0)
    assert found.shares == pytest.approx(np.array([21, 971, 11]) / 1003)
    assert (found.source, found.n_counted) == ("counts", 1_000)
    assert repr(found) == "'fraud': 20, 'ok': 970 and 'spam': 10 of 1,000"


def test_counts_may_be_zero_and_shares_of_integers_may_not():
    assert taken({"ok": 5, "fraud": 0, "spam": 0}).shapes == (1.0, 6.0, 1.0)
    with pytest.raises(UsageError, match="below 1"):
        taken({"ok": 1, "fraud": 0, "spam": 0})


def test_a_distribution_draws_one_share_or_all():
    one = taken(stats.beta(20, 980), positive="fraud")
    assert one.labels == ("fraud",)
    assert one.shares == pytest.approx((0.02,))
    every = taken(stats.dirichlet([2, 97, 1]))
    assert every.labels == SEEN.labels
    assert every.shares == pytest.approx((0.02, 0.97, 0.01))


class Steady:
    """A distribution that has rvs and nothing else."""

    def rvs(self, size, random_state):
        return random_state.uniform(0.1, 0.3, size)


def test_a_distribution_needs_rvs_only():
    assert taken(Steady(), positive="ok").shares == pytest.approx((0.2,), abs=0.01)


@each(
    ("value", "words"),
    lambda: [
        (0.0, "below 1"),
        (1.0, "below 1"),
        (2, "below 1"),
        (-0.1, "below 1"),
        (float("nan"), "below 1"),
        (True, "must be the share"),
        ("0.02", "must be the share"),
        ([0.02, 0.98], "must be the share"),
        ({}, "contains no class"),
        ({"fruad": 0.02}, "did you mean 'fraud'"),
        ({"ok": 0.5, "fraud": float("nan"), "spam": 0.5}, "counts"),
        ({"ok": 0.5, "fraud": -0.5, "spam": 1.0}, "counts"),
        ({"ok": "0.5"}, "counts"),
        ({"ok": True}, "counts"),
        ({"ok": 0.5, "fraud": 0.2, "spam": 0.2}, "sum to 1; they sum to 0.9"),
        ({"ok": 0.7, "fraud": 0.3}, "leaves nothing for the other classes, but 'spam' is missing"),
        ({"ok": 980, "fraud": 20}, "counts must include every class"),
        ({"ok": 980, "fraud": 20.5, "spam": 3}, "Counts are integers"),
        (stats.dirichlet([1, 2]), "shares of all 3 classes"),
        (stats.norm(0.02, 0.02), "must draw shares from 0 to 1"),
        (stats.multivariate_normal([0.3] * 3, np.eye(3) * 1e-8), "sum to 1"),
    ],
)
def test_what_is_no_prevalence_is_refused(value, words):
    with pytest.raises(UsageError, match=words):
        taken(value, positive="fraud")


def test_one_share_needs_a_class():
    for value in (0.02, stats.beta(2, 98)):
        with pytest.raises(UsageError, match="pos_label"):
            taken(value)


def test_a_prevalence_is_kept_if_the_classes_are_there():
    found = taken(0.02, positive="fraud")
    assert taken(found) is found
    with pytest.raises(UsageError, match="unknown class 'fraud'"):
        taken(found, TWO)


def test_it_is_equal_and_hashable_by_value():
    assert taken({0: 95, 1: 5}, TWO) == taken({1: 5, 0: 95}, TWO)
    assert len({taken(0.02, TWO, 1), taken(0.02, TWO, 1), taken(0.03, TWO, 1)}) == 2
    beta = stats.beta(2, 98)
    assert taken(beta, TWO, 1) == taken(beta, TWO, 1) != taken(stats.beta(2, 98), TWO, 1)


# Outcomes that carry one


def test_outcomes_carry_it_and_give_it_back():
    there = SEEN.at_prevalence({"fraud": 0.02})
    assert repr(there).endswith(", at prevalence 'fraud': 0.02)")
    assert there.prevalence == SEEN.at_prevalence(0.02, pos_label="fraud").prevalence
    assert there != SEEN == there.at_prevalence(None)
    assert there.select(["m"]).prevalence == there.ungroup().prevalence == there.prevalence


def test_outcomes_at_the_same_proportions_add_up():
    there = SEEN.at_prevalence({"fraud": 0.02})
    assert (there + there).prevalence == there.prevalence
    for other in (SEEN, SEEN.at_prevalence({"fraud": 0.03})):
        with pytest.raises(
            UsageError, match=r"'fraud': 0.02, and .*call at_prevalence\(\) on the sum"
        ):
            there + other


@pytest.mark.parametrize("given", [0.02, {0: 0.5, 1: 0.5}, {0: 980, 1: 20}])
def test_json_keeps_shares_and_counts(given):
    there = TWO.at_prevalence(given)
    back = Outcomes.from_json(there.to_json())
    assert back == there
    assert back.prevalence == there.prevalence


def test_json_refuses_a_distribution_and_what_does_not_fit():
    with pytest.raises(UsageError, match=r"at_prevalence\(None\)"):
        TWO.at_prevalence(stats.beta(2, 98)).to_json()
    plain = TWO.at_prevalence(0.02).to_dict()
    for changed in (
        {"labels": [0, 1], "shares": [0.5]},
        {"labels": [7], "shares": [0.5]},
        {"labels": [0, 1], "shares": [0.7, 0.6]},
        {"labels": [0], "shares": [0.5], "shapes": [1.0, 2.0]},
        {"labels": [0]},
    ):
        with pytest.raises(DataError, match="damaged"):
            Outcomes.from_dict(signed({**plain, "prevalence": changed}))


def test_what_would_lose_it_is_refused():
    there = SEEN.at_prevalence({"fraud": 0.02})
    for ask in (lambda: there.binarize("ok"), lambda: there.split_labels("|")):
        with pytest.raises(UsageError, match=r"before at_prevalence\(\)"):
            ask()
