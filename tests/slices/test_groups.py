"""Slices of items that are weighed together, or that matter differently."""

import json
from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.posterior.rng import seed_sequence
from outperform.posterior.slices import coupled

N = 2_400
RNG = np.random.default_rng(20)
TRUTH = RNG.integers(0, 2, N)
MODELS = {
    name: np.where(RNG.random(N) < share, TRUTH, 1 - TRUTH)
    for name, share in (("new", 0.85), ("old", 0.8))
}
USER = RNG.integers(0, 120, N)
LAND = np.array(["de", "fr", "pl", "se"])[RNG.integers(0, 4, N)]
WEIGHT = RNG.lognormal(0, 0.5, N) * (RNG.random(N) < 0.9)


BY_USER, WEIGHTED = {"groups": USER}, {"sample_weight": WEIGHT}


def outcomes(rows=slice(None), **beside):
    models = {name: answers[rows] for name, answers in MODELS.items()}
    columns = {name: values[rows] for name, values in beside.items()}
    return op.Outcomes.from_labels(TRUTH[rows], models, by={"land": LAND[rows]}, **columns)


def test_slices_and_whole_are_what_is_counted_of_their_rows():
    for beside in (BY_USER, WEIGHTED):
        sliced = outcomes(**beside)
        assert replace(sliced, slices=None) == op.Outcomes.from_labels(TRUTH, MODELS, **beside)
        for land in "de", "pl":
            rows = land == LAND
            models = {name: answers[rows] for name, answers in MODELS.items()}
            columns = {name: values[rows] for name, values in beside.items()}
            assert sliced.slice(land) == op.Outcomes.from_labels(TRUTH[rows], models, **columns)


def test_stored_slices_come_back_and_add_up():
    for beside in (BY_USER, WEIGHTED, BY_USER | WEIGHTED):
        sliced = outcomes(**beside)
        assert op.Outcomes.from_dict(json.loads(json.dumps(sliced.to_dict()))) == sliced
    halves = [outcomes(slice(0, 1200), groups=USER), outcomes(slice(1200, N), groups=USER)]
    both = halves[0] + halves[1]
    assert both.slice("fr") == halves[0].slice("fr") + halves[1].slice("fr")


def test_stored_groups_of_slices_must_be_those_of_the_whole():
    plain = outcomes(groups=USER).to_dict()
    plain["slices"]["groups"]["repeats"][0] += 1
    with pytest.raises(DataError, match="damaged"):
        op.Outcomes.from_dict(plain)


def test_slice_of_zero_weights_is_none():
    weight = np.where(LAND == "pl", 0.0, 1.0)
    assert list(outcomes(sample_weight=weight).slices) == [("de",), ("fr",), ("se",)]


def test_own_interval_is_that_of_the_slice_compared_alone():
    sliced = outcomes(groups=USER)
    found = op.compare_slices(sliced, "new", "old", metric="accuracy", rope=0.02, random_state=1)
    for row in found.rows:
        alone = op.compare(sliced.slice(*row.key), "new", "old", metric="accuracy", rope=0.02)
        assert (row.observed, row.n) == (pytest.approx(alone.observed), alone.n)
        for end in ("low", "high"):
            error = np.hypot(
                getattr(row.unpooled_hdi, f"mcse_{end}"), getattr(alone.hdi, f"mcse_{end}")
            )
            assert getattr(row.unpooled_hdi, end) == pytest.approx(
                getattr(alone.hdi, end), abs=5 * error
            )
    assert found.whole.observed == pytest.approx(
        op.compare(TRUTH, *MODELS.values(), metric="accuracy", rope=0.02).observed
    )


def test_weighted_slices_observe_weighted_means():
    found = op.compare_slices(
        outcomes(sample_weight=WEIGHT), "new", "old", metric="accuracy", rope=0.02, random_state=1
    )
    for row in found.rows:
        rows = row.key[0] == LAND
        right = [answers[rows] == TRUTH[rows] for answers in MODELS.values()]
        shares = [np.average(bits, weights=WEIGHT[rows]) for bits in right]
        assert [row.observed_a, row.observed_b] == pytest.approx(shares)


def test_order_of_rows_and_jobs_leave_every_number():
    order = np.random.default_rng(3).permutation(N)
    asked = {"metric": "f1", "rope": 0.02, "random_state": 1}
    first = op.compare_slices(outcomes(groups=USER), "new", "old", **asked)
    other = op.compare_slices(outcomes(order, groups=USER), "new", "old", n_jobs=4, **asked)
    assert first.to_dict()["rows"] == other.to_dict()["rows"]


def test_groups_in_several_slices_move_them_together():
    """Each user answers the same in both slices, so the two differences are one."""
    user = np.arange(100)
    right = {"new": np.arange(100) % 3 != 0, "old": np.arange(100) % 5 != 0}
    twice = {name: np.tile(bits, 2) for name, bits in right.items()}
    data = op.Outcomes.from_correct(
        twice, groups=np.tile(user, 2), by={"day": np.repeat(["mon", "tue"], 100)}
    )
    own = np.random.default_rng(0).normal(size=(2, 4_000))
    joint = coupled(own, data, seed_sequence(1))
    assert np.corrcoef(joint)[0, 1] > 0.99
    assert np.array_equal(np.sort(joint), np.sort(own))
    apart = op.Outcomes.from_correct(
        twice, groups=np.arange(200), by={"day": np.repeat(["mon", "tue"], 100)}
    )
    assert coupled(own, apart, seed_sequence(1)) is own


def test_too_many_slices_with_groups_are_refused():
    data = op.Outcomes.from_correct(
        {"a": np.arange(602) % 2 == 0, "b": np.arange(602) % 3 == 0},
        groups=np.arange(602) // 2,
        by={"user": np.arange(602) // 2},
    )
    with pytest.raises(UsageError, match="at most 300"):
        op.compare_slices(data, "a", "b", metric="accuracy", rope=0.01)
