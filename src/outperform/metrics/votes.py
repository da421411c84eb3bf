"""Pairwise votes: pair shares, or Bradley and Terry's model.

If every pair of models has votes, a model's win rate is the mean of its shares of points against
each of the others. This needs no model of strengths; see :class:`PairShares`. For Elo ratings, and
if some pairs have no votes, strengths are fitted.

In the fit, the model shown first is i, the other is j, and ``u = strength[i] − strength[j] +
place``. The probabilities that the first wins, that the second wins and that they tie are
proportional to ``exp(u / 2)``, ``exp(−u / 2)`` and ``exp(tie)`` (Davidson 1970; Davidson and Beaver
1977). Without ties this is Bradley and Terry's model. The sufficient statistics are sums over
votes: the number of votes on each pair in each order, the points of each model (half a point each
for a tie), the points for first places in excess of half, and the number of ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from outperform._rows import distinct_rows
from outperform._typing import BoolArray, FloatArray, Generator, IntArray
from outperform.metrics.metric import Basis, Sums
from outperform.metrics.weighted import Added, Units

VOTES = ("first", "second", "points of the first", "order is known", "model", "models")
"""Columns of votes, with models as codes; the last two are constant."""

# Far below the precision of the votes; it keeps the fit finite if the maximum is at infinity.
_RIDGE = 1e-10
_STEPS, _LONGEST, _NEAR = 100, 1.0, 1e-6
_AT_ONCE = 1 << 18
_ELO = 400 / np.log(10)


def _terms(votes: FloatArray) -> FloatArray:
    """Return the contribution of each vote to the sums.

    For k models there are k² counts of votes, with the first model in the row and the second in the
    column, and the points of each model on the diagonal; these are followed by the points for first
    places in excess of half, and by ties. If the order is unknown, a vote counts as half a vote in
    each order.
    """
    first, second = votes[:, 0].astype(np.int64), votes[:, 1].astype(np.int64)
    points, known, n_models = votes[:, 2], votes[:, 3], int(votes[0, 5])
    rows, terms = np.arange(len(votes)), np.zeros((len(votes), n_models**2 + 2))
    terms[rows, first * n_models + second] = (1 + known) / 2
    terms[rows, second * n_models + first] = (1 - known) / 2
    terms[rows, first * (n_models + 1)] = points
    terms[rows, second * (n_models + 1)] = 1 - points
    terms[:, -2] = known * (points - 0.5)
    terms[:, -1] = points == 0.5
    return terms


class Fit(NamedTuple):
    """Maximum likelihood estimates for each draw."""

    strength: FloatArray  # (n_draws, n_models), 0 on average
    advantage: FloatArray  # (n_draws,) of the model shown first
    tie: FloatArray  # (n_draws,) −inf if there are no ties


def fit(means: FloatArray) -> Fit:
    """Fit all draws at once by Newton's method, starting from the fit of their mean.

    Examples
    --------
    >>> votes = np.array([[0, 1, 1.0, 0, 0, 2]] * 3 + [[0, 1, 0.0, 0, 0, 2]])  # 3 of 4 won
    >>> found = fit(_terms(votes).mean(axis=0)[:, None])
    >>> round(float(np.exp(found.strength[0, 0] - found.strength[0, 1])), 6)
    3.0
    """
    n_models = math.isqrt(len(means) - 2)
    middle: FloatArray = means.mean(axis=1)[None]
    start = _newton(middle, np.zeros((1, n_models + 2)))
    length = max(1, _AT_ONCE // n_models**2)
    parts = [
        _newton(means.T[begin : begin + length], start)
        for begin in range(0, means.shape[1], length)
    ]
    fitted = np.concatenate(parts)
    tie = fitted[:, -1] if means[-1].any() else np.full(len(fitted), -np.inf)
    return Fit(fitted[:, :-2], fitted[:, -2], tie)


def _sum(values: FloatArray, axis: int | tuple[int, int]) -> FloatArray:
    total: FloatArray = values.sum(axis=axis)
    return total


def _newton(sums: FloatArray, start: FloatArray) -> FloatArray:
    """Return strengths, place and tie of each row of sums."""
    n_models, n_draws = start.shape[1] - 2, len(sums)
    met: FloatArray = sums[:, :-2].reshape(n_draws, n_models, n_models).copy()
    own = np.arange(n_models)
    points: FloatArray = met[:, own, own]
    met[:, own, own] = 0.0
    observed = np.concatenate([points, sums[:, -2:]], axis=1)
    with_ties = bool(sums[:, -1].any())
    at = np.repeat(start, n_draws, axis=0)
    hessian = np.zeros((n_draws, n_models + 2, n_models + 2))
    diagonal = np.arange(n_models + 2)
    for _ in range(_STEPS):
        tie = at[:, -1] if with_ties else np.full(n_draws, -np.inf)
        margin, tied = _expected(at[:, :-2], at[:, -2], tie)
        each, all_ties = met * margin, met * tied
        spread = met * ((1 - tied) / 4 - np.square(margin))
        beside = -each * tied
        gained = met / 2 + each
        won = _sum(gained, 2) + _sum(met - gained, 1)
        expected = np.column_stack([won, _sum(each, (1, 2)), _sum(all_ties, (1, 2))])
        both = spread + spread.transpose(0, 2, 1)
        hessian[:, :-2, :-2] = -both
        hessian[:, own, own] = _sum(both, 2)
        for column, values in ((-2, spread), (-1, beside)):
            cross = _sum(values, 2) - _sum(values, 1)
            hessian[:, :-2, column] = hessian[:, column, :-2] = cross
        hessian[:, -2, -2] = _sum(spread, (1, 2))
        hessian[:, -2, -1] = hessian[:, -1, -2] = _sum(beside, (1, 2))
        hessian[:, -1, -1] = _sum(all_ties * (1 - tied), (1, 2)) if with_ties else 1.0
        hessian[:, :-2, :-2] += 1 / n_models  # the mean is not identified and is set to 0
        hessian[:, diagonal, diagonal] += _RIDGE
        step = np.linalg.solve(hessian, (observed - expected - _RIDGE * at)[:, :, None])[:, :, 0]
        longest: FloatArray = np.abs(step).max(axis=1, keepdims=True)
        at = at + step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LONGEST))
        if longest.max() < _NEAR:
            break
    return at


def _expected(
    strength: FloatArray, advantage: FloatArray, tie: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the first model's points in excess of half, and the share of ties, for every pair."""
    ahead = strength[:, :, None] - strength[:, None, :] + advantage[:, None, None]
    lost, even = np.exp(-ahead), np.exp(tie[:, None, None] - ahead / 2)
    won = 1 / (1 + lost + even)
    return (won - lost * won) / 2, even * won


def _win_rates(means: FloatArray) -> FloatArray:
    """Return each model's mean probability of beating the others if shown first half the time."""
    fitted = fit(means)
    n_models = fitted.strength.shape[1]
    first, _ = _expected(*fitted)
    second, _ = _expected(fitted.strength, -fitted.advantage, fitted.tie)
    beyond = (first + second) / 2  # 0 against itself
    return np.asarray(0.5 + beyond.sum(axis=2).T / (n_models - 1))


def _elo(means: FloatArray) -> FloatArray:
    """Return strengths as Elo ratings around 0; a difference of 400 means ten wins per loss."""
    strength = fit(means).strength
    return np.asarray(_ELO * (strength - strength.mean(axis=1, keepdims=True)).T)


def _first_place(means: FloatArray) -> FloatArray:
    """Return the probability that the first of two equal models wins, the same for all models."""
    fitted = fit(means)
    margin, _ = _expected(np.zeros((len(fitted.advantage), 1)), fitted.advantage, fitted.tie)
    return np.tile(0.5 + margin[:, 0, 0], (fitted.strength.shape[1], 1))


class _Votes(NamedTuple):
    """Votes as passed, with codes of models."""

    first: IntArray
    second: IntArray
    points: FloatArray  # of the first model
    ordered: bool
    n_models: int

    @property
    def pair(self) -> IntArray:
        """Index of each vote's pair; the pairs are 0–1, 0–2, …, 1–2, …"""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        before = low * (2 * self.n_models - low - 1) // 2
        return np.asarray(before + high - low - 1)

    @property
    def n_pairs(self) -> int:
        return self.n_models * (self.n_models - 1) // 2


def _votes(values: FloatArray) -> _Votes:
    first, second = values[:, 0].astype(np.int64), values[:, 1].astype(np.int64)
    return _Votes(first, second, values[:, 2], bool(values[0, 3]), int(values[0, 5]))


def by_pairs(values: FloatArray) -> bool:
    """Return whether every pair has votes and, if order matters, some pair in both orders.

    Examples
    --------
    >>> by_pairs(np.array([[0, 1, 1.0, 0, 0, 3], [1, 2, 1.0, 0, 0, 3]]))  # 0 never met 2
    False
    """
    votes = _votes(values)
    met = np.bincount(votes.pair, minlength=votes.n_pairs)
    if not met.all():
        return False
    upright = np.bincount(votes.pair, votes.first < votes.second, minlength=votes.n_pairs)
    return not votes.ordered or bool(((upright > 0) & (upright < met)).any())


def n_without_votes(values: FloatArray) -> int:
    """Return the number of pairs of models without votes.

    Examples
    --------
    >>> n_without_votes(np.array([[0, 1, 1.0, 0, 0, 3], [1, 2, 1.0, 0, 0, 3]]))
    1
    """
    votes = _votes(values)
    return votes.n_pairs - len(np.unique(votes.pair))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairShares:
    """Win rates as means of shares, if every pair of models has votes.

    For a pair, x is 1 if the model with the lower code was shown first and −1 if it was shown
    second, and y is its points. The sums are those of 1, x and y in each pair, and of x y over all
    pairs. The position effect h is the slope of y on x within pairs. A model's share is the mean of
    y minus h times the mean of x; for two models, it is the mean of the shares in both orders.

    Parameters
    ----------
    n_models
        Number of models.
    expected
        Expected points of the first model of each pair, ``(n_pairs,)``. They lie between one half
        and the prediction of Bradley and Terry's model, weighted by the share of a model's other
        pairs.
    """

    n_models: int
    expected: FloatArray

    def terms(self, values: FloatArray) -> FloatArray:
        """Return the contribution of each vote to the sums."""
        votes = _votes(values)
        rows, pair, n_pairs = np.arange(len(values)), votes.pair, votes.n_pairs
        upright = votes.first < votes.second
        x = votes.ordered * np.where(upright, 1.0, -1.0)
        y = np.where(upright, votes.points, 1 - votes.points)
        sums = np.zeros((len(values), 3 * n_pairs + 1))
        for part, values_of_votes in enumerate((np.ones(len(values)), x, y)):
            sums[rows, part * n_pairs + pair] = values_of_votes
        sums[:, -1] = x * y
        return sums

    def combine(self, means: FloatArray) -> FloatArray:
        """Return each model's win rate, ``(n_models, n_draws)``."""
        n, x, y = np.split(means[:-1], 3)
        voted = n > 0
        safe = np.where(voted, n, 1.0)
        # All votes have a total weight of 1, so the mean of x² is 1.
        around_x = 1 - (x * x / safe).sum(axis=0)
        slope = means[-1] - (x * y / safe).sum(axis=0)
        both = around_x > _ROUNDING  # some pair was shown in both orders
        slope_y = np.where(both, slope, 0.0) / np.where(both, around_x, 1.0)
        share = np.where(voted, (y - slope_y * x) / safe, self.expected[:, None])
        rates = np.zeros((self.n_models, means.shape[1]))
        low, high = np.triu_indices(self.n_models, 1)
        np.add.at(rates, low, share)
        np.add.at(rates, high, 1 - share)
        return np.clip(rates / (self.n_models - 1), 0.0, 1.0)

    def added(self, terms: FloatArray, units: Units) -> Added:
        """Return an additional vote on each pair, with the expected result.

        If one model won both of two votes, no weights would ever let it lose. An additional vote,
        with a gamma of shape p for a win and one of shape 1 − p for a loss, makes a loss possible.
        For two models, p is one half, as in Jeffreys' prior. For more models, p is the expectation
        of the fit, so many pairs with few votes do not shrink win rates toward one half. If votes
        are grouped, the additional vote has the weight of a group's votes on the pair.

        A share s of n votes has variance v/n, and s (1 − s) is v (n − 1)/n on average. Gammas with
        shapes that sum to t have variance s (1 − s)/(t + 1), so t = n − 2 is unbiased. This
        includes the additional vote. The position effect uses one more degree of freedom across all
        pairs.
        """
        n_pairs = len(self.expected)
        each, counts = (
            np.stack([units.sums(column) for column in terms[:, :n_pairs].T]),
            units.counts,
        )
        total = each @ counts
        worth: FloatArray = np.square(each) @ counts / np.maximum(total, _ROUNDING)
        pair = np.arange(n_pairs)
        won, lost = 2 * pair, 2 * pair + 1
        shapes = np.stack([self.expected, 1 - self.expected], axis=1).ravel()
        n = total / np.maximum(worth, _ROUNDING)
        n_used = 3 + bool(terms[:, n_pairs : 2 * n_pairs].any()) / n_pairs
        left = np.maximum(1 - n_used / np.maximum(n, 1.0), _LEAST_LEFT)
        of_votes = left @ terms[:, :n_pairs].T
        mean_left = units.sums(of_votes) / units.sums(np.ones(len(terms)))
        return Added(
            shapes=shapes,
            weight=np.concatenate([won, lost, won]),
            column=np.concatenate([pair, pair, 2 * n_pairs + pair]),
            amount=np.tile(worth, 3),
            left=mean_left,
        )


# The weight of a vote keeps at least a quarter of its shape, however few votes a pair has.
_ROUNDING, _LEAST_LEFT = 1e-9, 0.25


def _win_rates_of(values: FloatArray) -> Sums:
    """Return the win rate by pair shares if every pair has votes, else by the fit."""
    if not by_pairs(values):
        return WIN_RATE
    votes = _votes(values)
    low, high = np.triu_indices(votes.n_models, 1)
    upright = votes.first < votes.second
    n = 1.0 + np.bincount(votes.pair, minlength=votes.n_pairs)  # half a win and half a loss more
    points = np.where(upright, votes.points, 1 - votes.points)
    y = 0.5 + np.bincount(votes.pair, points, minlength=votes.n_pairs)
    met = np.zeros((votes.n_models, votes.n_models))
    met[low, high] = met[high, low] = n / 2
    np.add.at(met, (low, low), y)
    np.add.at(met, (high, high), n - y)
    strength = fit(np.append(met, [0.0, 0.0])[:, None] / n.sum()).strength[0]
    fitted: FloatArray = 1 / (1 + np.exp(strength[high] - strength[low]))
    others = (votes.n_models - 2) / (votes.n_models - 1)  # with two models there is no other pair
    expected = 0.5 + others * (fitted - 0.5)
    shares = PairShares(n_models=votes.n_models, expected=expected)
    basis = Basis(names=VOTES, terms=shares.terms, joint=True)
    return Sums(basis=basis, combine=shares.combine, added=shares.added)


_MEETINGS = Basis(names=VOTES, terms=_terms, joint=True)
WIN_RATE = Sums(basis=_MEETINGS, combine=_win_rates, of_data=_win_rates_of)


def method(metric: str, values: FloatArray) -> str:
    """Return the method used for a vote metric: pair shares, or Bradley and Terry's model.

    Examples
    --------
    >>> method("elo", np.array([[0, 1, 1.0, 0, 0, 2], [1, 0, 1.0, 0, 0, 2]]))
    'Bradley-Terry'
    """
    return "pair shares" if metric == "win_rate" and by_pairs(values) else "Bradley-Terry"


class Misfit(NamedTuple):
    """A pair, its first model's observed share of points, and the fitted share."""

    first: int
    second: int
    share: float
    fitted: float


class FitCheck(NamedTuple):
    """Goodness of fit between the strengths and the votes on each pair."""

    df: int  # number of pairs beyond those needed to fit strengths; 0 if nothing can be checked
    p_value: float  # 1 if nothing can be checked
    worst: tuple[Misfit, ...]


MISFIT = 0.01
"""Significance level of the test of fit."""
_SIMULATIONS, _MOST_WORST = 999, 3


def check_fit(values: FloatArray, units: Units, generator: Generator) -> FitCheck:
    """Test whether strengths explain the votes: Pearson's chi-square over pairs of models.

    Its distribution comes from votes that are simulated from the fit, on the same pairs in the same
    orders, and fitted again, so pairs with few votes are not a problem. If votes are grouped or
    weighted, chi-square is divided by the average overdispersion of a pair's points (Rao and
    Scott).

    Examples
    --------
    >>> circle = [[0, 1], [1, 2], [2, 0]] * 40  # everybody beats the next one, mostly
    >>> rows = [[a, b, float(k % 8 > 0), 0, 0, 3] for k, (a, b) in enumerate(circle)]
    >>> check_fit(np.array(rows), Units(len(rows)), np.random.default_rng(0)).p_value
    0.001
    """
    votes = _votes(values)
    k = votes.n_models
    times = np.ones(len(values)) if units.times is None else units.times
    cell = votes.first * k + votes.second
    raw = np.bincount(cell, minlength=k * k)
    met, points = (
        np.bincount(cell, times * values, minlength=k * k).astype(np.float64)[None]
        for values in (np.ones(len(values)), votes.points)
    )
    ties: FloatArray = np.array([times @ (votes.points == 0.5)])
    result, residual, variance = _residuals(met, points, ties, votes)
    low, high = np.triu_indices(k, 1)
    met_pair = (met.reshape(k, k) + met.reshape(k, k).T)[low, high]
    voted = met_pair > 0
    df = int(voted.sum()) - (k - 1)
    if df < 1:
        return FitCheck(0, 1.0, ())
    squares = np.square(residual[0]) / np.maximum(variance[0], _ROUNDING)
    statistic = float(squares[voted].sum())
    if units.unit is not None or units.times is not None:
        statistic /= _design_effect(votes, units, times, variance[0])
    simulated = _simulated(raw, result, votes, generator)
    p_value = (1 + int((simulated >= statistic * (1 - _ROUNDING)).sum())) / (1 + _SIMULATIONS)
    upright = votes.first < votes.second
    each = np.where(upright, votes.points, 1 - votes.points)
    y = np.bincount(votes.pair, times * each, minlength=votes.n_pairs)
    order = np.argsort(-np.where(voted, squares, -1.0), kind="stable")[:_MOST_WORST]
    worst = tuple(
        Misfit(
            int(low[index]),
            int(high[index]),
            float(y[index] / met_pair[index]),
            float((y[index] - residual[0, index]) / met_pair[index]),
        )
        for index in order.tolist()
        if voted[index]
    )
    return FitCheck(df, p_value, worst)


def _residuals(
    met: FloatArray, points: FloatArray, ties: FloatArray, votes: _Votes
) -> tuple[Fit, FloatArray, FloatArray]:
    """Fit sums of votes and points by order, ``(n, k²)``, and return the residual points by pair.

    The last of the three results is the variance of these points under the fit.
    """
    k, n = votes.n_models, len(met)
    met, points = met.reshape(n, k, k), points.reshape(n, k, k)
    sums = met.copy() if votes.ordered else (met + met.transpose(0, 2, 1)) / 2
    own = np.arange(k)
    sums[:, own, own] = _sum(points, 2) + _sum(met - points, 1)
    advantage = _sum(points - met / 2, (1, 2)) * votes.ordered
    total = _sum(met, (1, 2))[:, None]
    result = fit((np.column_stack([sums.reshape(n, k * k), advantage, ties]) / total).T)
    margin, tied = _expected(*result)
    beyond = points - met * (0.5 + margin)
    spread = met * ((1 - tied) / 4 - np.square(margin))
    low, high = np.triu_indices(k, 1)
    residual: FloatArray = (beyond - beyond.transpose(0, 2, 1))[:, low, high]
    variance: FloatArray = (spread + spread.transpose(0, 2, 1))[:, low, high]
    return result, residual, variance


def _design_effect(votes: _Votes, units: Units, times: FloatArray, variance: FloatArray) -> float:
    """Return the overdispersion of a pair's points relative to independent votes, at least 1."""
    upright, pair = votes.first < votes.second, votes.pair
    y = np.where(upright, votes.points, 1 - votes.points)
    n = np.bincount(pair, times, minlength=votes.n_pairs)
    mean = np.bincount(pair, times * y, minlength=votes.n_pairs) / np.maximum(n, _ROUNDING)
    unit = np.arange(len(y)) if units.unit is None else units.unit
    first, which = distinct_rows(np.stack([pair, unit], axis=1))
    moved = np.bincount(which, times * (y - mean[pair]))
    of_pair = pair[first]
    n_units = np.bincount(of_pair, minlength=votes.n_pairs)
    several = (n_units > 1) & (variance > _ROUNDING)
    if not several.any():
        return 1.0
    between = np.bincount(of_pair, np.square(moved), minlength=votes.n_pairs)[several]
    known: FloatArray = n_units[several] / (n_units[several] - 1)
    return max(1.0, float(np.mean(between * known / variance[several])))


def _simulated(raw: IntArray, result: Fit, votes: _Votes, generator: Generator) -> FloatArray:
    """Return chi-square for votes drawn from the fit and fitted again, ``(n_simulations,)``."""
    k = votes.n_models
    margin, tied = (expected[0].ravel() for expected in _expected(*result))
    won: FloatArray = 0.5 + margin - tied / 2
    cells = np.flatnonzero(raw)
    shares = np.clip(np.stack([won, tied, 1 - won - tied], axis=1)[cells], 0.0, 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    parts = []
    length = max(1, _AT_ONCE // k**2)
    for begin in range(0, _SIMULATIONS, length):
        size = min(length, _SIMULATIONS - begin)
        drawn = generator.multinomial(raw[cells], shares, size=(size, len(cells)))
        met, points = np.zeros((2, size, k * k))
        met[:, cells] = raw[cells]
        points[:, cells] = drawn[:, :, 0] + drawn[:, :, 1] / 2
        ties: FloatArray = drawn[:, :, 1].sum(axis=1).astype(np.float64)
        _, residual, variance = _residuals(met, points, ties, votes)
        known: BoolArray = variance > _ROUNDING
        parts.append(
            np.where(known, np.square(residual) / np.where(known, variance, 1.0), 0.0).sum(axis=1)
        )
    return np.concatenate(parts)


ELO = Sums(basis=_MEETINGS, combine=_elo)
FIRST_PLACE = Sums(basis=_MEETINGS, combine=_first_place)
