"""All pairs of models: differences of the same draws, with a verdict each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import checks, disagreements
from outperform.comparison.scored import Asked
from outperform.decision import (
    Decision,
    Interval,
    Masses,
    Rope,
    decide,
    margin,
    masses_from_draws,
    mean_error,
    narrowest,
)
from outperform.posterior import n_cores

_WORTH_A_THREAD = 20

Matrix = tuple[tuple["Pair | None", ...], ...]
"""A pair for each row − column; None on the diagonal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The difference A − B between two of the models.

    Parameters
    ----------
    names
        A and B.
    observed
        The plug-in difference.
    mean, sd, mcse
        Of A − B, and the Monte Carlo error of the mean.
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probabilities that A is worse than B by more than the ROPE, that the
        difference lies in it, and that A is better.
    p_greater
        The probability that A − B is above zero.
    decision
        The verdict.
    withheld
        Whether a verdict was withheld because the two hardly ever disagree.
    coarse
        Whether so few draws leave the verdict open.
    """

    names: tuple[str, str]
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: Interval
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    withheld: bool
    coarse: bool


def all_pairs(
    question: Asked,
    values: FloatArray,
    observed: Sequence[float],
    *,
    rope: Rope,
    prob: float,
    n_jobs: int | None,
) -> Matrix:
    """Compare every model with every other, ``values`` being ``(n_models, n_draws)``."""
    names = question.view.models
    work = partial(_both_ways, question, values, observed, rope, prob)
    places = list(combinations(range(len(names)), 2))
    if n_jobs == 1 or len(places) < _WORTH_A_THREAD:
        found = list(map(work, places))
    else:
        with ThreadPoolExecutor(n_cores() if n_jobs in (None, -1) else n_jobs) as pool:
            found = list(pool.map(work, places))
    matrix: list[list[Pair | None]] = [[None] * len(names) for _ in names]
    for (i, j), (forward, backward) in zip(places, found, strict=True):
        matrix[i][j], matrix[j][i] = forward, backward
    return tuple(map(tuple, matrix))


def in_order(matrix: Matrix, order: Sequence[int]) -> Matrix:
    """Return the matrix with its models in another order."""
    return tuple(tuple(matrix[i][j] for j in order) for i in order)


def above_diagonal(matrix: Matrix) -> Iterator[Pair]:
    """Yield every pair once, the model that comes first as A."""
    for i, row in enumerate(matrix):
        for pair in row[i + 1 :]:
            assert pair is not None
            yield pair


def _both_ways(
    question: Asked,
    values: FloatArray,
    observed: Sequence[float],
    rope: Rope,
    prob: float,
    places: tuple[int, int],
) -> tuple[Pair, Pair]:
    i, j = places
    ordered = values[i] - values[j]
    ordered.sort()
    mean, sd = float(ordered.mean()), float(ordered.std(ddof=1))
    hdi = replace(narrowest(ordered, prob), kind="HDI", signed=True)
    conclude = partial(_conclude, question, rope=rope, sd=sd, mcse=mean_error(sd, ordered.size))
    seen = observed[i] - observed[j]
    forward = conclude((i, j), hdi, masses_from_draws(ordered, rope), mean=mean, observed=seen)
    # Only a symmetric ROPE says the same of B − A.
    mirrored = Rope(low=-rope.high, high=-rope.low)
    turned = _turned(masses_from_draws(ordered, mirrored))
    backward = conclude((j, i), _negated(hdi), turned, mean=-mean, observed=-seen)
    return forward, backward


def _conclude(
    question: Asked,
    places: tuple[int, int],
    hdi: Interval,
    masses: Masses,
    *,
    mean: float,
    observed: float,
    sd: float,
    mcse: float,
    rope: Rope,
) -> Pair:
    better = question.metric.greater_is_better
    said = decide(hdi, rope, greater_is_better=better)
    decision, few = disagreements.allow(question, said, hdi, rope, places)
    gap, error = margin(hdi, rope)
    models = question.view.models
    return Pair(
        names=(models[places[0]], models[places[1]]),
        observed=observed,
        mean=mean,
        sd=sd,
        mcse=mcse,
        hdi=hdi,
        p_worse=masses.below if better else masses.above,
        p_equivalent=masses.inside,
        p_better=masses.above if better else masses.below,
        p_greater=masses.greater,
        decision=decision,
        withheld=few is not None and few.level == "serious",
        coarse=gap < checks.SAFE_ERRORS * error,
    )


def _negated(hdi: Interval) -> Interval:
    return replace(
        hdi, low=-hdi.high, high=-hdi.low, mcse_low=hdi.mcse_high, mcse_high=hdi.mcse_low
    )


def _turned(masses: Masses) -> Masses:
    return Masses(
        below=masses.above, inside=masses.inside, above=masses.below, greater=1 - masses.greater
    )


def mean_matrix(matrix: Matrix) -> FloatArray:
    """Return the means of row − column; zero on the diagonal."""
    return np.array([[0.0 if pair is None else pair.mean for pair in row] for row in matrix])
