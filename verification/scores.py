"""How often do 95% intervals of metrics of scores hold the truth?

Scores of a positive and of a negative item are normal and a distance apart, so that
ROC AUC is Φ(distance / √2) and everything else is an integral. The two models share a part
of what makes an item hard. Grades of answers come as several samples of an item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

import outperform as op
from outperform._typing import FloatArray
from verification.delong import delong

SEED = 20_261_115
BOUNDS = (0.925, 0.98)
# Enough for the fitted HDI that users get; a plain sample minimum would be too narrow.
_N_DRAWS = 5_200
_SAMPLES = 4
_FAR = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreWorld:
    """A test set of one kind: how many items, how good the models, how alike."""

    metric: str = "roc_auc"
    n: int = 200
    prevalence: float = 0.5
    distances: tuple[float, float] = (1.5, 1.0)
    shared: float = 0.8
    gated: bool = True


_PAIRS = ((1.0, 1.0), (1.5, 1.0), (2.5, 2.0))
_AUC = ScoreWorld()
WORLDS = (
    *(
        replace(_AUC, n=n, prevalence=prevalence, distances=distances)
        for n, prevalence, distances in product((200, 300), (0.5, 0.2), _PAIRS)
    ),
    replace(_AUC, n=500, shared=0.3),
    replace(_AUC, n=1_000, prevalence=0.05),
    replace(_AUC, n=500, prevalence=0.3, metric="average_precision"),
    replace(_AUC, n=500, prevalence=0.3, metric="log_loss"),
    replace(_AUC, n=500, prevalence=0.3, metric="brier_score"),
    replace(_AUC, n=400, metric="mean"),
    # Where it ends: a handful of positives, and models that make almost no mistake.
    replace(_AUC, n=100, prevalence=0.1, gated=False),
    replace(_AUC, n=200, distances=(4.0, 3.0), gated=False),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """One repetition: whether the truth was held, how wide that was, and DeLong's on it."""

    covered: bool
    width: float
    by_delong: bool | None
    sd_ratio: float | None


def truth_of(world: ScoreWorld) -> float:
    """Return the true difference of the metric, A − B."""
    if world.metric == "mean":
        return world.distances[0] - world.distances[1]
    a, b = (_level(world, distance) for distance in world.distances)
    return a - b


def _level(world: ScoreWorld, distance: float) -> float:
    if world.metric == "roc_auc":
        return float(norm.cdf(distance / np.sqrt(2)))
    share = world.prevalence

    def at(score: float) -> float:
        up, down = share * norm.pdf(score - distance), (1 - share) * norm.pdf(score)
        if world.metric == "average_precision":
            right, wrong = share * norm.sf(score - distance), (1 - share) * norm.sf(score)
            return float(norm.pdf(score - distance) * right / (right + wrong))
        p = float(probability(score, distance, share))
        if world.metric == "brier_score":
            return float(up * (1 - p) ** 2 + down * p**2)
        return float(-up * np.log(p) - down * np.log1p(-p))

    return float(quad(at, -_FAR, _FAR, limit=200)[0])


def probability(score: FloatArray | float, distance: float, prevalence: float) -> FloatArray:
    """Return how probable it is that an item with this score is positive."""
    found: FloatArray = expit(distance * (score - distance / 2) + logit(prevalence))
    return found


def simulate(
    world: ScoreWorld, generator: np.random.Generator
) -> tuple[np.ndarray | None, FloatArray, np.ndarray | None]:
    """Draw truth, scores of both models ``(2, n)``, and groups where there are any."""
    if world.metric == "mean":
        items = world.n // _SAMPLES
        hard = generator.normal(size=(3, items))
        own = np.sqrt(world.shared) * hard[0] + np.sqrt(1 - world.shared) * hard[1:]
        grades = np.repeat(own, _SAMPLES, axis=1) + generator.normal(size=(2, world.n))
        return None, grades + np.array(world.distances)[:, None], np.arange(world.n) // _SAMPLES
    truth = generator.random(world.n) < world.prevalence
    if truth.all() or not truth.any():
        return simulate(world, generator)
    hard = generator.normal(size=(3, world.n))
    noise = np.sqrt(world.shared) * hard[0] + np.sqrt(1 - world.shared) * hard[1:]
    return truth, noise + np.outer(world.distances, truth), None


def repeat(world: ScoreWorld, first: int, last: int) -> list[Interval]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth, place = truth_of(world), WORLDS.index(world)
    found = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([SEED, place, repetition])
        found.append(_interval(world, truth, generator))
    return found


def _interval(world: ScoreWorld, truth: float, generator: np.random.Generator) -> Interval:
    y, scores, groups = simulate(world, generator)
    given = scores
    if world.metric in ("log_loss", "brier_score"):
        given = np.stack(
            [
                probability(score, distance, world.prevalence)
                for score, distance in zip(scores, world.distances, strict=True)
            ]
        )
    c = op.compare(
        y,
        *given,
        metric=world.metric,
        rope=0.01,
        groups=groups,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )
    if world.metric != "roc_auc" or y is None:
        return Interval(truth in c.hdi, c.hdi.width, None, None)
    auc, covariance = delong(y, scores)
    error = float(np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))
    by_delong = abs(auc[0] - auc[1] - truth) <= norm.ppf(0.975) * error
    ratio = c.sd / error if error else None
    return Interval(truth in c.hdi, c.hdi.width, bool(by_delong), ratio)
