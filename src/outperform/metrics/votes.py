"""Votes on two models at a time: Bradley and Terry's model, with ties and places.

The model shown first is i, the other one j, and ``u = strength[i] − strength[j] + place``. The
first wins, the second wins or nobody does in proportion to ``exp(u / 2)``, ``exp(−u / 2)`` and
``exp(tie)`` (Davidson 1970; Davidson and Beaver 1977). Without ties that is Bradley and Terry's.
The likelihood knows the votes by how often each two models met in each order, how many points
each model got, a tie being half a point for both, how many the first places got beyond half, and
how many ties there were: all sums over votes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray
from outperform.metrics.sums import OfSums

VOTES = ("first", "second", "points of the first", "order is known", "model", "models")
"""The columns of votes, models as codes; the last two are the same in every row."""

# Far below what votes can tell; it keeps the fit finite where a maximum lies at infinity.
_RIDGE = 1e-10
_STEPS, _LONGEST, _NEAR = 100, 1.0, 1e-6
_AT_ONCE = 1 << 18
_ELO = 400 / np.log(10)


def _terms(votes: FloatArray) -> FloatArray:
    """Return what each vote adds to the sums.

    Of k models these are k² of meetings, the first of the two in the row and the second in the
    column, with the points of each model in the diagonal; then the points of first places beyond
    half, and ties. Where the order is not known, a vote is half a vote in each.
    """
    first, second = votes[:, 0].astype(np.int64), votes[:, 1].astype(np.int64)
    points, known, n_models = votes[:, 2], votes[:, 3], int(votes[0, 5])
    rows, found = np.arange(len(votes)), np.zeros((len(votes), n_models**2 + 2))
    found[rows, first * n_models + second] = (1 + known) / 2
    found[rows, second * n_models + first] = (1 - known) / 2
    found[rows, first * (n_models + 1)] = points
    found[rows, second * (n_models + 1)] = 1 - points
    found[:, -2] = known * (points - 0.5)
    found[:, -1] = points == 0.5
    return found


class Fit(NamedTuple):
    """What the likelihood is largest at, in each draw."""

    strength: FloatArray  # (n_draws, n_models), 0 on average
    place: FloatArray  # (n_draws,)
    tie: FloatArray  # (n_draws,) −inf where there are none


def fit(means: FloatArray) -> Fit:
    """Fit all draws at once, by Newton's method from the fit of their mean.

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
    found = np.concatenate(parts)
    tie = found[:, -1] if means[-1].any() else np.full(len(found), -np.inf)
    return Fit(found[:, :-2], found[:, -2], tie)


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
    seen = np.concatenate([points, sums[:, -2:]], axis=1)
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
        hessian[:, :-2, :-2] += 1 / n_models  # votes do not know the mean of strengths; it is 0
        hessian[:, diagonal, diagonal] += _RIDGE
        step = np.linalg.solve(hessian, (seen - expected - _RIDGE * at)[:, :, None])[:, :, 0]
        longest: FloatArray = np.abs(step).max(axis=1, keepdims=True)
        at = at + step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LONGEST))
        if longest.max() < _NEAR:
            break
    return at


def _expected(
    strength: FloatArray, place: FloatArray, tie: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the points of the first beyond half, and the share of ties, for every two models."""
    ahead = strength[:, :, None] - strength[:, None, :] + place[:, None, None]
    lost, even = np.exp(-ahead), np.exp(tie[:, None, None] - ahead / 2)
    won = 1 / (1 + lost + even)
    return (won - lost * won) / 2, even * won


def _win_rates(means: FloatArray) -> FloatArray:
    """Return how often each model beats the others, on average, shown first half of the time."""
    found = fit(means)
    n_models = found.strength.shape[1]
    first, _ = _expected(*found)
    second, _ = _expected(found.strength, -found.place, found.tie)
    beyond = (first + second) / 2  # 0 against itself
    return np.asarray(0.5 + beyond.sum(axis=2).T / (n_models - 1))


def _elo(means: FloatArray) -> FloatArray:
    """Return strengths as Elo ratings around 0: 400 are ten wins for each loss."""
    strength = fit(means).strength
    return np.asarray(_ELO * (strength - strength.mean(axis=1, keepdims=True)).T)


def _first_place(means: FloatArray) -> FloatArray:
    """Return how often the first of two equal models wins; the same for every model."""
    found = fit(means)
    margin, _ = _expected(np.zeros((len(found.place), 1)), found.place, found.tie)
    return np.tile(0.5 + margin[:, 0, 0], (found.strength.shape[1], 1))


WIN_RATE = OfSums(columns=VOTES, terms=_terms, combine=_win_rates, joint=True)
ELO = OfSums(columns=VOTES, terms=_terms, combine=_elo, joint=True)
FIRST_PLACE = OfSums(columns=VOTES, terms=_terms, combine=_first_place, joint=True)
