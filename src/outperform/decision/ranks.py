"""Ranks and P(best) of many models and their pooling, expected loss, decisions row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray, Distribution, FloatArray, IntArray
from outperform.decision.intervals import SHORTEST_NOISE, Interval
from outperform.decision.rope import Rope, mean_error

_AT_ONCE = 1 << 20


def rank_probabilities(values: FloatArray, *, greater_is_better: bool = True) -> FloatArray:
    """Return P(model has rank r), ``(n_models, n_models)``, from ``(n_models, n_draws)``.

    Rank 1, the best, comes first. Models with the same value in a draw share
    the ranks between them evenly, so every row and every column sums to 1.

    Examples
    --------
    >>> rank_probabilities(np.array([[0.9, 0.8], [0.7, 0.8], [0.1, 0.2]])).tolist()
    [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
    """
    n_models, n_draws = values.shape
    length = max(1, _AT_ONCE // n_models)
    steps = np.zeros((n_models, n_models + 1))
    for start in range(0, n_draws, length):
        block = values[:, start : start + length].T
        steps += _steps(np.ascontiguousarray(-block if greater_is_better else block))
    sums = np.cumsum(steps, axis=1)[:, :-1]
    probabilities: FloatArray = np.clip(sums, 0.0, n_draws) / n_draws
    return probabilities


def _steps(rows: FloatArray) -> FloatArray:
    """Add up where ranks begin and end, the least value of each row having rank 1.

    A run of equal values adds 1 / length to each of its ranks: a step up before them and
    a step down behind.
    """
    n_models = rows.shape[1]
    order = np.argsort(rows, axis=1, kind="stable")
    first, last = _runs(np.take_along_axis(rows, order, axis=1))
    share = (1.0 / (1 + last - first)).ravel()
    size = n_models * (n_models + 1)
    up, down = (
        np.bincount((order * (n_models + 1) + place).ravel(), share, minlength=size)
        for place in (first, last + 1)
    )
    return np.asarray(up - down, dtype=np.float64).reshape(n_models, n_models + 1)


def _runs(ordered: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Return the first and the last place of the run of equal values at each place of a row."""
    places = np.arange(ordered.shape[1])
    starts = np.ones(ordered.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=starts[:, 1:])
    stops = np.ones(ordered.shape, dtype=bool)
    stops[:, :-1] = starts[:, 1:]
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    ends = np.where(stops, places, ordered.shape[1])
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return first, last


class RankMoments(NamedTuple):
    """The expected rank of each model, counted from 1, and its Monte Carlo error."""

    mean: FloatArray
    mcse: FloatArray


def expected_ranks(probabilities: FloatArray, n_draws: int) -> RankMoments:
    """Return expected ranks from the probabilities of ranks.

    Examples
    --------
    >>> expected_ranks(np.array([[0.75, 0.25], [0.25, 0.75]]), 100).mean.tolist()
    [1.25, 1.75]
    """
    ranks = 1.0 + np.arange(probabilities.shape[1])
    mean = probabilities @ ranks
    variance = np.maximum(probabilities @ ranks**2 - mean**2, 0.0)
    return RankMoments(mean=mean, mcse=np.sqrt(variance / n_draws))


def losses(values: FloatArray, *, greater_is_better: bool = True) -> FloatArray:
    """Return what each model falls short of the best one of the same draw; never negative.

    Examples
    --------
    >>> losses(np.array([[0.75, 0.5], [0.5, 1.0]])).tolist()
    [[0.0, 0.5], [0.25, 0.0]]
    """
    if greater_is_better:
        return np.asarray(values.max(axis=0) - values)
    return np.asarray(values - values.min(axis=0))


# The prior of the spread τ, on the scale of angles: mostly a half-Cauchy, partly near zero,
# within what the data cannot tell from it; chosen by how often claims come true.
_TYPICAL = 1 / 16  # about 0.05 for accuracies around 0.8
_NEAR_ZERO, _SHARE_NEAR_ZERO = 0.5, 0.2
_SPREADS, _LEAST_SPREAD = 24, 0.05
# A model may stand apart from the others, such as a baseline: it has a wide prior of its own,
# so that the spread is that of the rest.
_STANDS_APART, _WIDE, _MOST_APART = 0.02, 4.0, 8
_FEWEST_POOLED = 3
_TWINS = 0.25  # of the largest error of a difference


def pool_models(
    values: FloatArray,
    *,
    generator: np.random.Generator,
    bounds: tuple[float, float] = (0.0, 1.0),
    n_items: float = 1.0,
) -> FloatArray:
    """Return joint draws ``(n_models, n_draws)`` of models that are exchangeable beforehand.

    The models' true values are normal around a centre, which is unknown, with a spread that is
    learned from all of them. A metric with finite bounds is pooled as an angle, the arc sine of
    a square root, whose error hardly depends on the value and which has no end to leave. Fewer
    than three kinds of models are returned as they are: one difference teaches no spread.

    Parameters
    ----------
    values
        Draws as the data alone give them.
    generator
        The source of the prior's part of the draws.
    bounds
        Of the metric; they may be infinite.
    n_items
        How many items there are, which says how large a spread is typical where the metric has
        no bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> alike = 0.8 + rng.normal(scale=0.02, size=(5, 1)) + rng.normal(scale=0.02, size=(5, 4000))
    >>> pooled = pool_models(alike, generator=rng)
    >>> bool(np.ptp(pooled.mean(axis=1)) < 0.5 * np.ptp(alike.mean(axis=1)))
    True
    """
    # Sorted, so that the order in which models are given changes nothing.
    order = np.argsort(values.mean(axis=1), kind="stable")
    low, high = bounds
    bounded = math.isfinite(high - low)
    known = values[order]
    if bounded:
        known = np.arcsin(np.sqrt(np.clip((known - low) / (high - low), 0.0, 1.0)))
    kinds = _kinds(np.cov(known))
    n_kinds = int(kinds.max()) + 1
    if n_kinds < _FEWEST_POOLED:
        return values
    groups = [np.flatnonzero(kinds == kind) for kind in range(n_kinds)]
    together = np.stack([known[group].mean(axis=0) for group in groups])
    covariance = np.cov(together)
    item = math.sqrt(n_items * float(np.median(np.diagonal(covariance))))
    spread = learn_spread(
        together.mean(axis=1), covariance, typical=_TYPICAL if bounded else 2 * _TYPICAL * item
    )
    moved = spread.pool(together, covariance, generator) - together
    known = known + moved[kinds]
    pooled = np.empty_like(values)
    pooled[order] = low + (high - low) * np.sin(known) ** 2 if bounded else known
    return np.clip(pooled, low, high, out=pooled)


def _kinds(covariance: FloatArray) -> IntArray:
    """Return the kind of each model, counted from 0; near twins are of one kind.

    The difference of near twins, such as two checkpoints, is known far better than others. That
    it is small says nothing of the spread of the models, and it stays as it is.
    """
    variance = np.diagonal(covariance)
    apart = np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)
    near = apart <= _TWINS**2 * apart.max()
    np.fill_diagonal(near, True)
    kinds = np.arange(len(variance))
    while True:
        least = np.where(near, kinds, len(kinds)).min(axis=1)
        if np.array_equal(least, kinds):
            return np.unique(kinds, return_inverse=True)[1].ravel()
        kinds = least


class Spread(NamedTuple):
    """What was learned of the spread: prior variances of the models, and how probable they are.

    ``variances`` is ``(n_settings, n_models)``; the weights sum to 1; given its variances the
    centre of the models is normal with mean ``centre`` and variance ``centre_variance``.
    """

    variances: FloatArray
    weights: FloatArray
    centre: FloatArray
    centre_variance: FloatArray

    def pool(
        self, values: FloatArray, covariance: FloatArray, generator: np.random.Generator
    ) -> FloatArray:
        """Draw from the posterior of the models by moving the draws ``(n_models, n_draws)``.

        With ``x`` from N(y, S) and ``p`` from the prior N(μ, T), the mixture ``G x + (1 − G) p``
        with ``G = T (S + T)⁻¹`` has the mean and the covariance of the posterior. As T grows it
        becomes ``x``, whatever the shape of its distribution.
        """
        n_models, n_draws = values.shape
        ends = np.round(np.cumsum(self.weights) * n_draws).astype(np.int64)
        groups = np.split(generator.permutation(n_draws), ends[:-1])
        pooled = np.empty_like(values)
        for setting, places in enumerate(groups):
            if not places.size:
                continue
            variance = self.variances[setting]
            prior = self.centre[setting] + math.sqrt(
                self.centre_variance[setting]
            ) * generator.normal(size=places.size)
            prior = prior + np.sqrt(variance)[:, None] * generator.normal(
                size=(n_models, places.size)
            )
            off = np.linalg.solve(covariance + np.diag(variance), values[:, places] - prior)
            pooled[:, places] = prior + variance[:, None] * off
        return pooled


def learn_spread(means: FloatArray, covariance: FloatArray, *, typical: float) -> Spread:
    """Learn how far apart the true values of models are.

    A setting is a spread τ and the number of models, those furthest from the median, that
    stand apart. Its weight is its prior times the density of the means, N(μ, S + T), with a flat
    prior of the centre μ.
    """
    n_models = len(means)
    error = math.sqrt((np.trace(covariance) - covariance.mean(axis=0).sum()) / (n_models - 1))
    away = np.abs(means - np.median(means))
    top = max(4 * typical, 4 * error, 2 * float(np.ptp(means)))
    spreads = np.geomspace(_LEAST_SPREAD * error, top, _SPREADS)
    apart = np.argsort(-away, kind="stable")[: min((n_models - 1) // 2, _MOST_APART)]
    wide = max(_WIDE * typical, float(away.max()))
    base = np.repeat(spreads[:, None] ** 2, n_models, axis=1)
    settings, logs = [], []
    for n_apart in range(len(apart) + 1):
        variances = base.copy()
        variances[:, apart[:n_apart]] += wide**2
        odds = n_apart * math.log(_STANDS_APART / (1 - _STANDS_APART))
        settings.append((variances, *_centres(means, covariance, variances)))
        logs.append(_log_prior(spreads, error, typical) + odds)
    variances, evidence, centre, centre_variance = map(np.concatenate, zip(*settings, strict=True))
    log_weights = np.concatenate(logs) + evidence
    weights = np.exp(log_weights - log_weights.max())
    return Spread(variances, weights / weights.sum(), centre, centre_variance)


def _log_prior(spreads: FloatArray, error: float, typical: float) -> FloatArray:
    """Return the log mass of each spread, which stands for its neighbourhood on the log scale."""
    near = _NEAR_ZERO * error
    density = (1 - _SHARE_NEAR_ZERO) * 2 / (np.pi * typical * (1 + (spreads / typical) ** 2))
    density += _SHARE_NEAR_ZERO * math.sqrt(2 / np.pi) / near * np.exp(-((spreads / near) ** 2) / 2)
    widths = spreads * math.log(spreads[1] / spreads[0])
    widths[0] += spreads[0]  # and for what lies below it
    return np.asarray(np.log(density * widths))


def _centres(
    means: FloatArray, covariance: FloatArray, variances: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log evidence, and mean and variance of the centre, one of each a setting."""
    whole = covariance + variances[:, :, None] * np.eye(len(means))
    inverse = np.linalg.inv(whole)
    rows = inverse.sum(axis=2)
    centre_variance = 1 / rows.sum(axis=1)
    centre = centre_variance * (rows @ means)
    off = means - centre[:, None]
    misfit = np.einsum("gi,gij,gj->g", off, inverse, off)
    evidence = (np.log(centre_variance) - np.linalg.slogdet(whole)[1] - misfit) / 2
    return evidence, centre, centre_variance


_NODES = 24
_FAR = math.sqrt(72.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regret:
    """What choosing A, and what choosing B, loses on average, in the metric's own units.

    Parameters
    ----------
    a
        E[max(0, how much worse A is than B)].
    b
        E[max(0, how much worse B is than A)].
    mcse_a, mcse_b
        Their Monte Carlo errors; 0 if exact.
    """

    a: float
    b: float
    mcse_a: float = 0.0
    mcse_b: float = 0.0


def regret_from_draws(
    draws: FloatArray, *, greater_is_better: bool = True, n_effective: float | None = None
) -> Regret:
    """Return the regrets from draws of A − B, which may be worth fewer independent ones.

    Examples
    --------
    >>> found = regret_from_draws(np.array([0.2, 0.2, 0.2, -0.2]))
    >>> round(found.a, 4), round(found.b, 4)
    (0.05, 0.15)
    """
    worth = draws.size if n_effective is None else n_effective
    gains = draws if greater_is_better else -draws
    lost_a, lost_b = np.maximum(-gains, 0.0), np.maximum(gains, 0.0)
    return Regret(
        a=float(lost_a.mean()),
        b=float(lost_b.mean()),
        mcse_a=mean_error(float(lost_a.std(ddof=1)), worth),
        mcse_b=mean_error(float(lost_b.std(ddof=1)), worth),
    )


def regret_from_distribution(difference: Distribution, *, greater_is_better: bool = True) -> Regret:
    """Return the exact regrets of a closed form of A − B.

    E[δ₊] = ∫₀ P(δ > x) dx, and E[δ₊] − E[(−δ)₊] is the mean, so the smaller of the two is
    integrated and keeps its digits.
    """
    mean, (low, high) = difference.mean, difference.support
    reach = _reach(abs(mean), difference.sd)
    if mean > 0:
        below = _integral(lambda x: difference.cdf(-x), min(-low, reach))
        above = below + mean
    else:
        above = _integral(difference.sf, min(high, reach))
        below = above - mean
    return Regret(a=below, b=above) if greater_is_better else Regret(a=above, b=below)


def _reach(mean: float, sd: float) -> float:
    """Return how far beyond zero there is anything: twice as far as a normal has e⁻³⁶ of it."""
    return 2.0 * (math.hypot(mean, _FAR * sd) - mean)


def _integral(tail: Callable[[float], float], stop: float) -> float:
    """Integrate a tail from zero on; it is smooth and falls, so few nodes do."""
    if stop <= 0:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    values = [tail(float(x)) for x in (nodes + 1.0) * stop / 2.0]
    return float(weights @ np.array(values)) * stop / 2.0


class Ends(NamedTuple):
    """Narrowest intervals, one a row, and the Monte Carlo errors of their ends."""

    low: FloatArray
    high: FloatArray
    mcse_low: FloatArray
    mcse_high: FloatArray

    def interval(self, row: int, prob: float) -> Interval:
        """Return one of them as a value."""
        low, high, mcse_low, mcse_high = (float(column[row]) for column in self)
        return Interval(
            low=low,
            high=high,
            prob=prob,
            mcse_low=mcse_low,
            mcse_high=mcse_high,
            kind="HDI",
            signed=True,
        )


def narrowest_rows(ordered: FloatArray, prob: float) -> Ends:
    """Return the narrowest interval of each row of sorted draws ``(n_rows, n_draws)``.

    The plain sample version, as one comparison of so few draws takes it.

    Examples
    --------
    >>> narrowest_rows(np.array([[0.0, 5.0, 5.1, 5.2]]), 0.75).low
    array([5.])
    """
    n = ordered.shape[1]
    span = min(int(np.ceil(prob * n)), n) - 1
    start = (ordered[:, span:] - ordered[:, : n - span]).argmin(axis=1)
    rows = np.arange(len(ordered))
    return Ends(
        low=ordered[rows, start],
        high=ordered[rows, start + span],
        mcse_low=SHORTEST_NOISE * _quantile_errors(ordered, start / n),
        mcse_high=SHORTEST_NOISE * _quantile_errors(ordered, (start + span) / n),
    )


def _quantile_errors(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    spread = np.sqrt(levels * (1 - levels) / ordered.shape[1])
    high = _quantiles(ordered, np.minimum(levels + spread, 1.0))
    return (high - _quantiles(ordered, np.maximum(levels - spread, 0.0))) / 2


def _quantiles(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    last = ordered.shape[1] - 1
    ranks = levels * last
    below = ranks.astype(np.int64)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, np.minimum(below + 1, last)]
    quantiles: FloatArray = low + (ranks - below) * (high - low)
    return quantiles


class Spreads(NamedTuple):
    """Mean and sd, one posterior a row, and the Monte Carlo error of the sd."""

    mean: FloatArray
    sd: FloatArray
    sd_error: FloatArray


def spreads_rows(draws: FloatArray) -> Spreads:
    """Return mean and sd of each row of draws ``(n_rows, n_draws)``; see :func:`sd_error`.

    Examples
    --------
    >>> spreads_rows(np.array([[-1.0, 1.0, -2.0, 2.0] * 100])).sd_error.round(4)
    array([0.0237])
    """
    n = draws.shape[1]
    mean = draws.mean(axis=1)
    squares = np.square(draws - mean[:, None])
    variance = squares.mean(axis=1)
    error = np.divide(
        squares.std(axis=1),
        2.0 * np.sqrt(variance * n),
        out=np.zeros(len(draws)),
        where=variance > 0,
    )
    return Spreads(mean, np.sqrt(variance * n / (n - 1)), error)


class MassRows(NamedTuple):
    """Mass below, inside and above the ROPE, and above zero, one posterior a row."""

    below: FloatArray
    inside: FloatArray
    above: FloatArray
    greater: FloatArray


def masses_rows(draws: FloatArray, rope: Rope) -> MassRows:
    """Count the draws ``(n_rows, n_draws)``; a draw at zero counts half for either side.

    Examples
    --------
    >>> masses_rows(np.array([[-0.2, 0.0, 0.005, 0.3]]), Rope.from_param(0.01)).greater
    array([0.625])
    """
    n = draws.shape[1]
    below, above = _count(draws < rope.low), _count(draws > rope.high)
    positive, negative = _count(draws > 0), _count(draws < 0)
    return MassRows(
        below=below / n,
        inside=(n - below - above) / n,
        above=above / n,
        greater=(positive + (n - negative - positive) / 2) / n,
    )


def _count(selected: AnyArray) -> FloatArray:
    return np.asarray(np.count_nonzero(selected, axis=1), dtype=np.float64)
