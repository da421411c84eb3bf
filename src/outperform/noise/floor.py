"""Posterior of the noise of an evaluation, and how often a gate changes its result by noise.

An item has a distribution of answers; the runs draw from it independently. With grade x of item i,
σ_w² is the mean over items of the variance of its answers, and σ_b² the variance over items of its
mean. The flip rate is the probability that two answers to an item differ; for right and wrong it is
2 σ_w². The ICC is σ_b² / (σ_b² + σ_w²). The mean of N items with T answers each has the variance

    (σ_b² + σ_w² / T) / N,

and the difference between two runs of one model on the same items has 2 σ_w² / (N T): the items
cancel, the trials do not.

Each item contributes unbiased estimates of these quantities, so they are functions of weighted sums
over items, and their posterior is the bootstrap over items. For right and wrong, a prior of three
items with uniform probabilities of being right is added, so that "no flip seen" does not become
"no flip possible".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import chdtrc, ndtr, ndtri

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray
from outperform.decision.rope import Rope
from outperform.inference.thresholds import FEW_GROUPS
from outperform.noise.answers import Answers, ItemMoments
from outperform.posterior.bootstrap import draw_sums
from outperform.posterior.registry import dirichlet_shapes

# Weight of the prior for right and wrong, in items. With 1 item, the intervals of rates below 1/n
# miss too often.
_PRIOR_ITEMS = 3.0


class Components(NamedTuple):
    """Draws, or values, of what makes up the variance of an evaluation."""

    mean: FloatArray
    flips: FloatArray
    within: FloatArray  # σ_w²
    between: FloatArray  # σ_b²

    @property
    def icc(self) -> FloatArray:
        """The share of the items in the variance of one answer."""
        total = self.between + self.within
        return np.divide(self.between, total, out=np.ones_like(total), where=total > 0)

    def trials(self, n_trials: int) -> FloatArray:
        """Return the share of the trials in the variance of a run's score."""
        noise = self.within / n_trials
        total = self.between + noise
        return np.divide(noise, total, out=np.zeros_like(total), where=total > 0)


def _components(sums: FloatArray) -> FloatArray:
    """Return the components of weighted sums of weights, means, squares, variances and flips."""
    mean, square, within, flips = sums[1:] / sums[0]
    between = np.maximum(square - mean**2 - within, 0.0)
    return np.stack([mean, flips, within, between])


def draw_components(
    by_item: ItemMoments,
    times: FloatArray,
    *,
    binary: bool,
    n_draws: int,
    seed: np.random.SeedSequence,
    weights: FloatArray | None = None,
) -> Components:
    """Draw the components from their posterior.

    Parameters
    ----------
    seen
        Statistics of the items.
    times
        Number of items with each of these.
    binary
        Whether the answers are right or wrong, so there is a prior.
    n_draws, seed
        Number of draws, and their seed.
    weights
        Importance weights of the items; None if they are equal.
    """
    rows = by_item.rows
    rows[:, 0] = 1.0 if weights is None else weights / np.average(weights, weights=times)
    distinct = distinct_rows(rows)
    shapes: FloatArray = np.bincount(distinct.code, times).astype(np.float64)
    rows = rows[distinct.first]
    if binary:
        prior = _prior_rows(round(float(np.median(by_item.n))))
        shapes = np.concatenate([shapes, np.full(len(prior), _PRIOR_ITEMS / len(prior))])
        rows = np.concatenate([rows, prior])
    order = np.argsort(-shapes, kind="stable")  # equal shapes are drawn faster if adjacent
    terms = np.column_stack([rows[:, 0], rows[:, 1:] * rows[:, :1]])[order].T
    n_items = float(times.sum())
    drawn = draw_sums(
        np.ascontiguousarray(terms),
        _components,
        shapes=shapes[order],
        n_values=4,
        n_draws=n_draws,
        seed=seed,
        n_jobs=None,
        df=max(n_items - 1, 1.0) if n_items < FEW_GROUPS and not binary else None,
    )
    return Components(*drawn)


def _prior_rows(n_answers: int) -> FloatArray:
    """Return the statistics of items with 0 to n right answers."""
    right = np.arange(n_answers + 1.0)
    mean = right / n_answers
    flips = 2 * right * (n_answers - right) / (n_answers * (n_answers - 1))
    return np.column_stack([np.ones(len(right)), mean, mean, flips / 2, flips])


def right_alone(by_item: ItemMoments, times: FloatArray) -> float:
    """Return, of three answers with one that differs, how often the one that differs is right.

    If the items are mostly right, it is mostly wrong: a baseline's bad luck then helps both runs of
    a candidate, which correlates their results more on one side than on the other. With p the
    chance of a right answer, this is E[p (1 − p)²] / E[p (1 − p)]: from triples of answers, or with
    two answers per item from the beta distribution with the same mean and ICC. Two imaginary
    items, one of each kind, keep it off the ends.
    """
    n, right = by_item.n, by_item.mean * by_item.n
    both = float(times @ by_item.flips) / 2
    if n.min() >= 3:
        alone = float(times @ (right * (n - right) * (n - right - 1) / (n * (n - 1) * (n - 2))))
    else:
        mean = float(times @ by_item.mean / times.sum())
        total = mean * (1 - mean) * times.sum()
        spread = (total - both) / both if both > 0 else np.inf  # icc / (1 − icc)
        size = min(1 / max(spread, 1e-6), 1e6)  # a + b of the beta
        alone = both * ((1 - mean) * size + 1) / (size + 2)
    return (alone + 0.25) / (both + 0.5)


def smallest_effect(
    within: FloatArray,
    *,
    n_items: int,
    n_trials: int,
    rope: Rope,
    prob: float,
    target: float,
    binary: bool,
) -> FloatArray:
    """Return the true difference that is declared better with probability ``target``.

    The models differ by noise and by the effect only. The HDI is mean ± z sd, so the mean must
    exceed the ROPE by z sd, and its own sd is the same: effect = ROPE + (z + z_target) sd. For
    right and wrong, an effect of d changes at least a share d of the items, which adds d − d² to
    the variance per item.
    """
    times = ndtri((1 + prob) / 2) + ndtri(target)
    noise = 2 * within / n_trials
    if not binary:
        return np.asarray(rope.high + times * np.sqrt(noise / n_items))
    # With c = times² / N: (d − r)² = c (noise + d − d²), a quadratic equation in d.
    c, r = times**2 / n_items, rope.high
    half = (2 * r + c) / (2 * (1 + c))
    return np.asarray(half + np.sqrt(half**2 - (r**2 - c * noise) / (1 + c)))


# Gates


class Flips(NamedTuple):
    """Probabilities of a gate between two identical models, one value per posterior draw."""

    flips: FloatArray
    passes: FloatArray
    fails: FloatArray
    error: float  # simulation error of each


def gate_flips(
    components: Components,
    *,
    n_items: int,
    n_trials: int,
    rope: Rope,
    prob: float,
    alone: float | None,
    seed: np.random.SeedSequence,
) -> Flips:
    """Return how often a gate changes its result if the candidate is run again.

    Candidate and baseline are the same model, and the baseline's run is kept. Given the baseline,
    the two runs of the candidate are independent, so the probability of two equal results is the
    mean over baselines of the sum of squared probabilities.

    Parameters
    ----------
    components
        Draws of the components.
    n_items, n_trials
        Size of the gate's test set: items, and answers of each model per item.
    rope, prob
        ROPE and HDI mass of the gate.
    alone
        For right and wrong, the share of :func:`right_alone`; None for grades. With one right or
        wrong answer per item, the gate's own posterior of counts is used.
    seed
        Seed of the simulated gates.
    """
    if alone is not None and n_trials == 1:
        return _simulated(components.flips, alone, n_items, rope, prob, seed)
    sd = np.sqrt(components.within / (n_items * n_trials))  # of one run, given the items
    z = ndtri((1 + prob) / 2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    edge, half = -max(-rope.low, 0.0), z * np.sqrt(2) * sd
    # Run and baseline in units of sd: the difference of a run with noise e is (e − node) sd.
    with np.errstate(divide="ignore", invalid="ignore"):
        pass_from = np.where(sd > 0, (edge + half) / sd, -np.inf)[:, None] + nodes
        fail_below = np.where(sd > 0, (edge - half) / sd, -np.inf)[:, None] + nodes
    chances = np.stack([ndtr(-pass_from), ndtr(fail_below)])
    chances = np.concatenate([chances, 1 - chances.sum(axis=0, keepdims=True)])
    same = (chances**2).sum(axis=0) @ weights
    passes, fails, _ = chances @ weights
    return Flips(1 - same, passes, fails, 0.0)


_SIMULATIONS, _POINTS = 20_000, 11


def _simulated(
    flips: FloatArray,
    alone: float,
    n_items: int,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
) -> Flips:
    """Simulate gates of right and wrong answers on a grid of flip rates, and interpolate.

    Of a baseline and two runs, exactly one differs from the other two on a share of 3/2 of the flip
    rate, and each of the three equally often. All points of the grid use the same random numbers.
    """
    low, high = float(flips.min()), float(flips.max())
    grid = np.unique(np.geomspace(max(low, 1e-9), max(high, 2e-9), _POINTS))
    shares = np.empty((3, len(grid)))
    for index, rate in enumerate(grid):
        generator = np.random.Generator(np.random.SFC64(seed))
        apart = generator.binomial(n_items, min(1.5 * rate, 1.0), _SIMULATIONS)
        of_runs = generator.multinomial(apart, [1 / 3] * 3)
        better = generator.binomial(of_runs, alone)  # the one that differs is right
        base, first_runs, second_runs = np.moveaxis(
            np.stack([better, of_runs - better]), -1, 1
        ).swapaxes(0, 1)
        first = gate_statuses(first_runs[0] + base[1], first_runs[1] + base[0], n_items, rope, prob)
        second = gate_statuses(
            second_runs[0] + base[1], second_runs[1] + base[0], n_items, rope, prob
        )
        shares[:, index] = (first != second).mean(), (first == 0).mean(), (first == 1).mean()
    error = float(np.sqrt(0.25 / _SIMULATIONS))
    if len(grid) == 1:
        values = [np.full(flips.shape, value) for value in shares[:, 0]]
    else:
        at = np.log(np.clip(flips, grid[0], grid[-1]))
        values = [np.asarray(PchipInterpolator(np.log(grid), row)(at)) for row in shares]
    return Flips(values[0], values[1], values[2], error)


def gate_statuses(
    only_new: AnyArray, only_old: AnyArray, n_items: int, rope: Rope, prob: float
) -> AnyArray:
    """Return the result of gates from the items that one model got right: 0 pass, 1 fail, 2 open.

    The posterior is that of the default prior. Its HDI is computed from the cumulants of a
    difference of gammas, by the expansion of Cornish and Fisher: for skewness γ and excess kurtosis
    κ, the ends of the narrowest interval are z + γ (z² − 3) / 6 + κ (z³ − 3 z) / 24.
    """
    rows = dirichlet_shapes("unit").row_shapes(2, 2)[1]
    new, old = only_new + rows[1, 0], only_old + rows[0, 1]
    total = n_items + rows.sum()
    mean, both = (new - old) / total, new + old
    sd = np.sqrt((both / total - mean**2) / (total + 1))
    skewness, kurtosis = 2 * (new - old) / both**1.5, 6 / both
    z = ndtri((1 + prob) / 2)
    shift, reach = skewness * (z**2 - 3) / 6, z + kurtosis * (z**3 - 3 * z) / 24
    low, high = mean + (shift - reach) * sd, mean + (shift + reach) * sd
    return np.where(low >= rope.low, 0, np.where(high < rope.low, 1, 2))


def runs_differ(answers: Answers, by_item: ItemMoments) -> float:
    """Return the p-value of the hypothesis that the runs are interchangeable.

    If they are, the answers of an item are in random order over the runs. The scores of the runs
    then vary only by the variance within items: Σ_r (S_r − S̄)² / Σ_i v_i, with S_r the sum of a
    run's item means, is χ² with one degree of freedom less than runs, times the answers per run.
    With one answer per item and run, this is Cochran's Q.
    """
    n_runs, n_items = len(answers.runs), len(answers.times)
    cell = answers.item * n_runs + answers.run
    n_each = np.bincount(cell, minlength=n_items * n_runs).reshape(n_items, n_runs)
    variance = float(by_item.within @ answers.times)
    if n_runs < 2 or variance <= 0 or n_each.min() != n_each.max():
        return 1.0  # the runs cannot be separated
    sums = np.bincount(cell, answers.values, minlength=n_items * n_runs).reshape(n_items, n_runs)
    scores = answers.times @ (sums / n_each)
    spread = float(((scores - scores.mean()) ** 2).sum()) * int(n_each[0, 0])
    return float(chdtrc(n_runs - 1, spread / variance))
