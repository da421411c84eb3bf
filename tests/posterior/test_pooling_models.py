"""The pooling of models against closed forms, its limits, what it does not depend on, and bugs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from outperform.decision.ranks import rank_probabilities
from outperform.posterior import hierarchical
from outperform.posterior.hierarchical import MODELS, PARTS, Spread, learn_spread, pool_models

LINE = (-math.inf, math.inf)
DRAWS = 10_000


def rng(seed=0):
    return np.random.default_rng(seed)


def joint(means, covariance, *, n=DRAWS, seed=0):
    """Return normal draws that have exactly these means and this covariance."""
    noise = rng(seed).normal(size=(len(means), n))
    noise -= noise.mean(axis=1, keepdims=True)
    noise = np.linalg.solve(np.linalg.cholesky(np.cov(noise)), noise)
    return np.array(means)[:, None] + np.linalg.cholesky(np.array(covariance)) @ noise


def paired(n_models, level=0.02, own=0.01):
    return level**2 * np.ones((n_models, n_models)) + own**2 * np.eye(n_models)


def shares(means, *, own=0.01, n=DRAWS, seed=0):
    """Return draws of accuracies; their errors are those of counts, alike as angles."""
    angles = np.arcsin(np.sqrt(np.array(means)))
    return np.sin(joint(angles, paired(len(means), own=own), n=n, seed=seed)) ** 2


def centres(means, covariance, spreads, *, outliers=(), wide=1.0):
    eigen = np.linalg.eigh(covariance)
    places = np.array(outliers, dtype=np.int64)
    return hierarchical._centres(
        np.array(means), *eigen, np.array(spreads), outliers=places, wide=wide
    )


def given(means, covariance, tau):
    """Return the spread that is known to be τ."""
    variances = np.full((1, len(means)), tau**2)
    _, centre, centre_variance = centres(means, covariance, [tau])
    return Spread(variances, np.ones(1), centre, centre_variance)


# Given τ


@pytest.mark.parametrize("tau", [0.002, 0.01, 0.05])
def test_two_models_given_the_spread(tau):
    """A − B has prior N(0, 2τ²) and error 2s²: a normal posterior; A + B stays as it was."""
    own, means = 0.01, (0.82, 0.80)
    covariance = paired(2, own=own)
    values = joint(means, covariance)
    pooled = given(means, covariance, tau).pool(values, covariance, rng(1))
    kept = tau**2 / (tau**2 + own**2)
    difference, level = pooled[0] - pooled[1], pooled.mean(axis=0)
    sd = math.sqrt(2 * kept) * own
    assert abs(difference.mean() - kept * 0.02) < 5 * sd / math.sqrt(DRAWS)
    assert difference.std() == pytest.approx(sd, rel=5 / math.sqrt(2 * DRAWS))
    # A flat prior of the centre, and ½ (a + b) tells τ nothing: N(y, l² + ½ s²) as before.
    sd = math.hypot(0.02, own / math.sqrt(2))
    assert abs(level.mean() - 0.81) < 5 * sd / math.sqrt(DRAWS)
    assert level.std() == pytest.approx(sd, rel=5 / math.sqrt(2 * DRAWS))


def test_the_joint_posterior_of_unlike_errors():
    """Mean and covariance against the posterior by precisions, the centre a parameter too."""
    root = rng(3).normal(size=(4, 4)) * 0.01
    covariance, tau = root @ root.T + 1e-5 * np.eye(4), 0.008
    means = np.array([0.81, 0.80, 0.79, 0.78])
    pooled = given(means, covariance, tau).pool(joint(means, covariance), covariance, rng(1))
    # Of (θ, μ): the error's precision, and (θ − μ)ᵀ(θ − μ) / τ².
    around = np.hstack([np.eye(4), -np.ones((4, 1))])
    precision = around.T @ around / tau**2
    precision[:4, :4] += np.linalg.inv(covariance)
    posterior = np.linalg.inv(precision)[:4, :4]
    centre = posterior @ np.linalg.inv(covariance) @ means
    errors = np.sqrt(np.diagonal(posterior) / DRAWS)
    assert np.all(np.abs(pooled.mean(axis=1) - centre) < 5 * errors)
    scale = np.sqrt(np.outer(np.diagonal(posterior), np.diagonal(posterior)))
    np.testing.assert_allclose(np.cov(pooled) / scale, posterior / scale, atol=0.05)


def test_the_evidence_is_the_density_over_all_centres():
    """Three models of independent errors, the centre integrated by a fine sum."""
    means, own = np.array([0.80, 0.82, 0.77]), 0.02
    variances = np.array([[0.01**2] * 3, [0.05**2] * 3, [0.01**2, 0.3**2, 0.01**2]])
    found = np.concatenate(
        [
            centres(means, own**2 * np.eye(3), [0.01, 0.05])[0],
            centres(means, own**2 * np.eye(3), [0.01], outliers=[1], wide=math.sqrt(0.0899))[0],
        ]
    )
    grid = np.linspace(-3, 5, 400_001)
    expected = []
    for variance in variances:
        total = (variance + own**2)[:, None]
        density = np.exp(-((means[:, None] - grid) ** 2) / (2 * total)) / np.sqrt(total)
        expected.append(np.log(density.prod(axis=0).sum()))
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], atol=1e-6)


# Limits


def test_clearly_different_models_stay_as_they_are():
    values = shares([0.60, 0.70, 0.80, 0.90], own=0.003)
    pooled = pool_models(values, generator=rng(1))
    np.testing.assert_allclose(pooled.mean(axis=1), values.mean(axis=1), rtol=1e-3)
    gaps, before = np.diff(pooled, axis=0), np.diff(values, axis=0)
    np.testing.assert_allclose(gaps.mean(axis=1), before.mean(axis=1), rtol=0.01)
    np.testing.assert_allclose(gaps.std(axis=1), before.std(axis=1), rtol=0.02)
    p_best = [rank_probabilities(one)[:, 0] for one in (values, pooled)]
    np.testing.assert_allclose(*p_best, atol=0.01)


def test_a_wide_spread_leaves_the_shape_of_the_draws():
    values = rng(1).gamma(2.0, 0.01, size=(3, DRAWS)) + np.array([[0.0], [1.0], [2.0]])
    pooled = pool_models(values, generator=rng(2), bounds=LINE, n_items=1e4)
    skew = ((values - values.mean(axis=1, keepdims=True)) ** 3).mean(axis=1)
    kept = ((pooled - pooled.mean(axis=1, keepdims=True)) ** 3).mean(axis=1)
    np.testing.assert_allclose(kept, skew, rtol=0.05)
    np.testing.assert_allclose(pooled, values, atol=0.01)


def test_a_bad_baseline_does_not_stop_the_pooling_of_the_others():
    noise = rng(5).normal(scale=0.01, size=9)
    means = 0.8 + noise - noise.mean()
    alone = pool_models(shares(means), generator=rng(1))
    beside = pool_models(shares([*means, 0.6]), generator=rng(1))
    spreads = [np.ptp(one.mean(axis=1)[:9]) for one in (alone, beside)]
    assert spreads[0] < 0.5 * np.ptp(means)
    assert spreads[1] == pytest.approx(spreads[0], rel=0.35)
    assert beside[9].mean() == pytest.approx(0.6, abs=0.002)


def test_equal_models_are_hardly_told_apart():
    claims = []
    for seed in range(40):
        values = joint(rng(seed).multivariate_normal(np.full(10, 0.8), paired(10)), paired(10),
                       n=2_000, seed=seed)  # fmt: skip
        both = [values, pool_models(values, generator=rng(seed))]
        claims.append([rank_probabilities(one)[:, 0].max() for one in both])
    raw, pooled = np.mean(claims, axis=0)
    assert raw > 0.38
    assert pooled < 0.22


def test_one_better_model_among_equals_keeps_most_of_its_difference():
    """Nine at 0.80 and one at 0.86 with the errors of 500 items: two to three of a difference."""
    kept = {}
    angles = np.arcsin(np.sqrt([0.8] * 9 + [0.86]))
    covariance = (0.3 * np.ones((10, 10)) + 0.7 * np.eye(10)) / (4 * 500)
    for population in (PARTS, MODELS):
        found = []
        for seed in range(200):
            means = rng(seed).multivariate_normal(angles, covariance)
            spread = learn_spread(means, covariance, typical=1 / 16, population=population)
            prior = spread.variances[:, :, None] * np.eye(10)
            off = means - spread.centre[:, None]
            pull = np.linalg.solve(covariance + prior, off[:, :, None])[:, :, 0]
            posterior = np.sin(spread.weights @ (spread.centre[:, None] + spread.variances * pull))
            found.append(posterior[-1] ** 2 - (posterior[:-1] ** 2).mean())
        kept[population] = np.mean(found)
    assert kept[PARTS] < 0.045
    assert kept[MODELS] > 0.048


def test_fewer_than_three_different_models_are_left_alone():
    values = joint([0.8, 0.81], paired(2))
    assert pool_models(values, generator=rng()) is values
    twins = values[[0, 1, 1, 0]]
    assert pool_models(twins, generator=rng()) is twins


# What it does not depend on


def test_the_order_of_the_models_does_not_matter():
    values = joint([0.80, 0.79, 0.83, 0.81, 0.70], paired(5), n=2_000)
    order = [3, 0, 4, 1, 2]
    one, two = (pool_models(v, generator=rng(1)) for v in (values, values[order]))
    np.testing.assert_allclose(one[order], two, rtol=1e-12)


def test_a_constant_and_a_unit_change_nothing_but_themselves():
    values = joint([0.80, 0.79, 0.83, 0.81, 0.70], paired(5), n=2_000)
    one = pool_models(values, generator=rng(1), bounds=LINE, n_items=400)
    two = pool_models(300 * values + 7, generator=rng(1), bounds=LINE, n_items=400)
    np.testing.assert_allclose(300 * one + 7, two, rtol=1e-9)


def test_twins_stay_twins_and_leave_the_others_as_they_were():
    values = joint([0.80, 0.79, 0.83, 0.81], paired(4), n=2_000)
    alone = pool_models(values, generator=rng(1))
    beside = pool_models(values[[0, 1, 2, 3, 2]], generator=rng(1))
    np.testing.assert_array_equal(beside[2], beside[4])
    np.testing.assert_allclose(beside[:4], alone, rtol=1e-12)


def test_near_twins_keep_their_difference_and_teach_no_spread():
    values = joint([0.80, 0.79, 0.83, 0.81], paired(4), n=2_000)
    twin = values[2] + rng(4).normal(0.0002, 0.0005, size=2_000)
    alone = pool_models(values, generator=rng(1), bounds=LINE, n_items=400)
    beside = pool_models(np.vstack([values, twin]), generator=rng(1), bounds=LINE, n_items=400)
    np.testing.assert_allclose(beside[4] - beside[2], twin - values[2], atol=1e-12)
    np.testing.assert_allclose(beside[:4].mean(axis=1), alone.mean(axis=1), atol=0.004)
    both = np.vstack([values[:2], values[:2] + rng(4).normal(scale=0.0005, size=(2, 2_000))])
    assert pool_models(both, generator=rng()) is both


def test_draws_stay_within_the_bounds():
    values = rng(1).beta(399.0, [[1.5], [2.0], [3.0], [9.0]], size=(4, 5_000))
    for low, high in ((0.0, 1.0), (-1.0, 1.0), (0.0, 40.0)):
        scaled = low + (high - low) * values
        pooled = pool_models(scaled, generator=rng(2), bounds=(low, high))
        assert low <= pooled.min() <= pooled.max() <= high
    certain = np.vstack([np.ones((1, 5_000)), values])  # a model that is always right
    assert np.isfinite(pool_models(certain, generator=rng(2))).all()


def test_the_weights_sum_to_one_and_learn():
    near, far = (
        learn_spread(np.array(means), paired(4), typical=0.06, population=MODELS)
        for means in ([0.80, 0.801, 0.799, 0.80], [0.9, 0.8, 0.7, 0.6])
    )
    typical = []
    for one in (near, far):
        assert one.weights.sum() == pytest.approx(1)
        typical.append(float(one.weights @ np.sqrt(np.median(one.variances, axis=1))))
    assert typical[0] < 0.01 < 0.05 < typical[1]


# Bugs


@pytest.mark.parametrize("bug", ["no noise", "no centre", "twice the spread"])
def test_bugs_are_caught(monkeypatch, bug):
    def wrong(spread, values, covariance, generator):
        less = {"no noise": (0.0, 1.0), "no centre": (1.0, 0.0), "twice the spread": (1.0, 1.0)}
        noise, centre = less[bug]
        variance = spread.variances[0] * (4 if bug == "twice the spread" else 1)
        prior = spread.centre[0] + centre * math.sqrt(spread.centre_variance[0]) * generator.normal(
            size=values.shape[1]
        )
        prior = prior + noise * np.sqrt(variance)[:, None] * generator.normal(size=values.shape)
        off = np.linalg.solve(covariance + np.diag(variance), values - prior)
        return prior + variance[:, None] * off

    monkeypatch.setattr(Spread, "pool", wrong)
    with pytest.raises(AssertionError):
        test_two_models_given_the_spread(0.01)
