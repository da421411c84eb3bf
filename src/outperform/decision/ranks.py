"""From joint draws of many models to probabilities of ranks, and what a choice would cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray

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
