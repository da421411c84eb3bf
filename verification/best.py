"""Does P(best) come true, and is the leader as good as it is said to be?

The true accuracies of models are drawn with a known spread, and a test set whose items are hard
for all of them. What a ranking says is held against the truth, pooled and before pooling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.decision.ranks import rank_probabilities
from outperform.inference.question import Sampling
from outperform.ranking.result import joint_draws, make_joint_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_116
REPETITIONS = 300
STORED = Path(__file__).parents[1] / "docs" / "figures" / "best.json"
WAYS = ("raw", "pooled")
# Claims around 0.2, 0.5, 0.8 and 0.95.
BINS = ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9), (0.9, 0.99))
_LEVEL = 0.8
_SHARED = 0.7  # of the variance of an item's ease
_N_DRAWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many models there are, on how many items, and how far their accuracies spread.

    ``gated`` says whether claims must come true; those of two models are compare's own.
    """

    n_models: int
    n: int
    spread: float
    gated: bool = True


WORLDS = (
    World(n_models=2, n=400, spread=0.05),
    World(n_models=2, n=5_000, spread=0.02),
    World(n_models=5, n=400, spread=0.0),
    World(n_models=5, n=400, spread=0.02),
    *(World(n_models=10, n=400, spread=spread) for spread in (0.0, 0.005, 0.02, 0.05)),
    World(n_models=10, n=5_000, spread=0.005),
    World(n_models=50, n=5_000, spread=0.005),
    World(n_models=2, n=400, spread=0.005, gated=False),
)


class Said(NamedTuple):
    """What one ranking claimed, one value a model, and the place of its leader."""

    claims: FloatArray
    leader: int
    mean: float


class Noted(NamedTuple):
    """The rankings of one test set, in the order of ``WAYS``, and the true accuracies."""

    said: tuple[Said, Said]
    truth: FloatArray

    @property
    def best(self) -> int:
        """The best model; the first where all are equal, which none of them knows."""
        return int(self.truth.argmax())


Found = Mapping[World, Sequence[Noted]]


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_note(world, repetition) for repetition in range(first, last)]


def _note(world: World, repetition: int) -> Noted:
    settled = [SEED, world.n_models, world.n, round(1000 * world.spread), repetition]
    generator = np.random.default_rng(settled)
    truth = np.clip(generator.normal(_LEVEL, world.spread, world.n_models), 0.01, 0.99)
    ease = np.sqrt(_SHARED) * generator.normal(size=world.n)
    ease = ease + np.sqrt(1 - _SHARED) * generator.normal(size=(world.n_models, world.n))
    right = ease < norm.ppf(truth)[:, None]
    seen = op.Outcomes.from_correct({f"m{place:02}": one for place, one in enumerate(right)})
    spec = make_joint_spec(
        seen, metric="accuracy", prior=None, paired=True, labels=None, pos_label=None
    )
    seed = np.random.SeedSequence(settled)
    pooled, raw = joint_draws(spec, Sampling(_N_DRAWS, seed))
    return Noted((_say(raw), _say(pooled)), truth)


def _say(draws: FloatArray) -> Said:
    means = draws.mean(axis=1)
    leader = int(means.argmax())
    return Said(rank_probabilities(draws)[:, 0], leader, float(means[leader]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Claims of about the same size, and how many of them came true."""

    claimed: float
    true: float
    error: float
    n: int


def reliability(found: Found, way: int, bins: Sequence[tuple[float, float]] = BINS) -> list[Bin]:
    """Return what became of the claims of every model in all worlds that are gated."""
    noted = [one for world, every in found.items() if world.gated for one in every]
    claims = np.concatenate([one.said[way].claims for one in noted])
    true = np.concatenate([np.arange(len(one.truth)) == one.best for one in noted])
    return reliability_of(claims, true, bins)


def reliability_of(
    claims: FloatArray, true: AnyArray, bins: Sequence[tuple[float, float]] = BINS
) -> list[Bin]:
    """Return how many of the claims of about the same size came true."""
    return [_bin(claims[inside], true[inside]) for inside in _inside(claims, bins)]


def _inside(claims: FloatArray, bins: Sequence[tuple[float, float]]) -> list[AnyArray]:
    return [(claims >= low) & (claims < high) for low, high in bins]


def _bin(claims: FloatArray, true: AnyArray) -> Bin:
    n = max(len(claims), 1)
    error = float(np.sqrt((claims * (1 - claims)).sum())) / n
    return Bin(claimed=claims.sum() / n, true=true.sum() / n, error=error, n=len(claims))


def stored(found: Found) -> str:
    """Return what the figure draws: claims in tenths, and how much too high the leaders are."""
    tenths = [(low / 10, (low + 1) / 10) for low in range(10)]
    rows = {
        name: {
            "bins": [
                [round(one.claimed, 4), round(one.true, 4), round(one.error, 4)]
                for one in reliability(found, way, tenths)
                if one.n
            ],
            "too_high": [
                [world.n_models, world.n, world.spread, round(_too_high(noted, way)[0], 5)]
                for world, noted in found.items()
            ],
        }
        for way, name in enumerate(WAYS)
    }
    return json.dumps(rows, indent=1) + "\n"


def _too_high(noted: Sequence[Noted], way: int) -> tuple[float, float]:
    return _mean([one.said[way].mean - one.truth[one.said[way].leader] for one in noted])


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values)))


def table(found: Found) -> str:
    """Return what is said of the leader in every world, and what is true."""
    header = ["models", "items", "spread"]
    for name in WAYS:
        header += [f"{name}: P(best)", "is best", "value too high by"]
    rows = []
    for world, noted in found.items():
        row = [str(world.n_models), f"{world.n:,}", f"{world.spread:g}"]
        for way in range(len(WAYS)):
            claimed = [one.said[way].claims[one.said[way].leader] for one in noted]
            true = [float(one.said[way].leader == one.best) for one in noted]
            off, error = _too_high(noted, way)
            row += [f"{100 * _mean(claimed)[0]:.0f}", _share(true), f"{off:+.4f} ± {error:.4f}"]
        rows.append(row)
    return markdown.table(header, rows, numbers_from=0) + (
        f"\n{len(next(iter(found.values()))):,} test sets each; shares in per cent, with their "
        "standard errors. Of two models nothing is pooled.\n"
    )


def _share(true: Sequence[float]) -> str:
    share, error = _mean(true)
    return f"{100 * share:.0f} ± {100 * error:.0f}"


def claims_table(found: Found) -> str:
    """Return how often the claims of all models came true."""
    header = ["claims of P(best)"]
    for name in WAYS:
        header += [f"{name}: claimed", "came true", "claims"]
    by_way = [reliability(found, way) for way in range(len(WAYS))]
    rows = []
    for place, (low, high) in enumerate(BINS):
        row = [f"{low:g} to {high:g}"]
        for bins in by_way:
            one = bins[place]
            row += [f"{one.claimed:.3f}", f"{one.true:.3f} ± {one.error:.3f}", f"{one.n:,}"]
        rows.append(row)
    gated = sum(world.gated for world in found)
    return markdown.table(header, rows) + (
        f"\nEvery model of every ranking in the first {gated} worlds. Pooled claims must not "
        "exceed what came true by more than chance.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the claims that were too bold."""
    return [
        f"best: claims of {one.claimed:.3f} came true in {one.true:.3f}"
        for one in reliability(found, WAYS.index("pooled"))
        if share_is_off(one.true, one.n, one.claimed)
    ]
