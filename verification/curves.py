"""How often do simultaneous bands of curves hold the whole curve of the population?

Scores of a positive and of a negative item are normal and a distance apart, and a model says the
probability that follows from its score, so that all four curves of the population are closed
forms. The two models share half of the variance of what makes an item hard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import logit
from scipy.stats import norm

import outperform as op
from outperform._typing import BoolArray, FloatArray
from verification import markdown
from verification.chance import share_error, share_is_off
from verification.scores import probability

SEED = 20_261_118
REPETITIONS = 500
LEAST = 0.925  # whole curves in their bands
MOST = 0.05  # equal models that are told apart somewhere
Kind: TypeAlias = Literal["roc", "precision_recall", "calibration", "net_benefit"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BANDS = ("A", "B", "difference")
_N_DRAWS = 2_000
_BINS = 10
_SHARED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveWorld:
    """A test set of one kind: how many items, how many positive, how good the models."""

    n: int
    prevalence: float
    distances: tuple[float, float]

    @property
    def is_equal(self) -> bool:
        """Whether no curve of the models differs."""
        return self.distances[0] == self.distances[1]


WORLDS = (
    CurveWorld(n=200, prevalence=0.5, distances=(1.5, 1.5)),
    CurveWorld(n=300, prevalence=0.3, distances=(1.5, 1.5)),
    CurveWorld(n=300, prevalence=0.3, distances=(1.5, 1.2)),
    CurveWorld(n=1_000, prevalence=0.1, distances=(1.5, 1.5)),
    CurveWorld(n=1_000, prevalence=0.5, distances=(1.5, 1.0)),
    CurveWorld(n=3_000, prevalence=0.1, distances=(1.5, 1.2)),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One test set and curve: which bands held the whole curve, and what was told apart.

    Parameters
    ----------
    covered, width
        Of A, of B and of the difference; widths are means over the points of the curve.
    apart
        Whether the band of the difference leaves out 0 anywhere.
    """

    covered: tuple[bool, ...]
    width: tuple[float, ...]
    apart: bool


def truth_of(kind: Kind, grid: FloatArray, *, distance: float, prevalence: float) -> FloatArray:
    """Return a curve of the population at the points of a grid."""
    if kind == "calibration":
        return _share_in_bins(grid, distance, prevalence)
    if kind == "net_benefit":
        score = _score(grid, distance, prevalence)
        false = (1 - prevalence) * norm.sf(score) * grid / (1 - grid)
        return np.asarray(prevalence * norm.sf(score - distance) - false)
    if kind == "roc":
        return np.asarray(norm.sf(norm.isf(grid) - distance))
    hits, false = prevalence * grid, (1 - prevalence) * norm.sf(norm.isf(grid) + distance)
    return np.asarray(hits / (hits + false))


def _score(probability: FloatArray, distance: float, prevalence: float) -> FloatArray:
    """Return the score with which an item is positive so probably."""
    return np.asarray((logit(probability) - logit(prevalence)) / distance + distance / 2)


def _share_in_bins(middle: FloatArray, distance: float, prevalence: float) -> FloatArray:
    """Return the share of positives among probabilities in bins of equal width."""
    half = 0.5 / _BINS
    ends = np.clip(np.round([middle - half, middle + half], 9), 0.0, 1.0)
    low, high = _score(ends, distance, prevalence)
    up = prevalence * (norm.sf(low - distance) - norm.sf(high - distance))
    down = (1 - prevalence) * (norm.sf(low) - norm.sf(high))
    return np.asarray(up / (up + down))


def simulate(
    world: CurveWorld, generator: np.random.Generator
) -> tuple[BoolArray, list[FloatArray]]:
    """Draw truth and the probabilities of both models."""
    truth = generator.random(world.n) < world.prevalence
    common, *own = generator.normal(size=(3, world.n))
    said = [
        probability(
            distance * truth + np.sqrt(_SHARED) * common + np.sqrt(1 - _SHARED) * noise,
            distance,
            world.prevalence,
        )
        for distance, noise in zip(world.distances, own, strict=True)
    ]
    return truth, said


def repeat(world: CurveWorld, first: int, last: int) -> list[dict[Kind, Held]]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _held(world, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def _held(world: CurveWorld, generator: np.random.Generator) -> dict[Kind, Held]:
    truth, said = simulate(world, generator)
    c = op.compare(
        truth,
        *said,
        metric="roc_auc",
        rope=0.01,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )
    held = {}
    for kind in KINDS:
        curve = c.curve(kind)
        a, b = (
            truth_of(kind, curve.grid, distance=distance, prevalence=world.prevalence)
            for distance in world.distances
        )
        bands = (curve.a, curve.b, curve.difference)
        held[kind] = Held(
            covered=tuple(
                bool(((band.lower <= true) & (true <= band.upper)).all())
                for band, true in zip(bands, (a, b, a - b), strict=True)
            ),
            width=tuple(float((band.upper - band.lower).mean()) for band in bands),
            apart=bool(curve.apart.any()),
        )
    return held


Found = Mapping[CurveWorld, Sequence[Mapping[Kind, Held]]]


def table(found: Found) -> str:
    """Return one row per world and curve; shares in per cent with their standard error."""
    header = (
        *("curve", "items", "positive", "distances", "test sets"),
        *("A", "B", "difference", "told apart", "width of A", "of the difference"),
    )
    rows = [
        _row(kind, world, [one[kind] for one in held])
        for kind in KINDS
        for world, held in found.items()
    ]
    return markdown.table(header, rows) + (
        f"\n95% bands by {_N_DRAWS:,} draws; shares of test sets in which the band held the whole "
        "true curve, and in which it told the models apart anywhere, in per cent.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the bands that hold too rarely, and the equal models that are told apart too often."""
    failed = []
    for kind in KINDS:
        for world, noted in found.items():
            held, n = [one[kind] for one in noted], len(noted)
            what = f"curves, {kind}, {world}"
            for band, covered in zip(BANDS, _covered(held), strict=True):
                if share_is_off(covered, n, low=LEAST):
                    failed.append(f"{what}: {covered:.1%} of {band} covered")
            apart = _apart(held)
            if world.is_equal and share_is_off(apart, n, high=MOST):
                failed.append(f"{what}: {apart:.1%} of equal models told apart")
    return failed


def _covered(held: Sequence[Held]) -> list[float]:
    return [float(share) for share in np.mean([one.covered for one in held], axis=0)]


def _apart(held: Sequence[Held]) -> float:
    return float(np.mean([one.apart for one in held]))


def _row(kind: Kind, world: CurveWorld, held: Sequence[Held]) -> list[str]:
    n, apart = len(held), _apart(held)
    width = np.mean([one.width for one in held], axis=0)
    a, b = world.distances
    return [
        kind.replace("_", " "),
        f"{world.n:,}",
        f"{100 * world.prevalence:g}",
        f"{a:g}, equal" if world.is_equal else f"{a:g} and {b:g}",
        f"{n:,}",
        *(markdown.percent(one, share_error(one, n)) for one in _covered(held)),
        markdown.percent(apart, share_error(apart, n)),
        f"{width[0]:.3f}",
        f"{width[2]:.3f}",
    ]
