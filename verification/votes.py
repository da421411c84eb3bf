"""Do intervals of win rates hold where voters vote several times, each with a taste of their own?

A world is four models, voters with likings of their own for each model and for the first place,
and some votes each. The interval of the difference of the win rates of the two best is held
against what endless votes of endless voters would give, and beside it stand votes that are
weighed one by one, as if every vote were cast by somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.decision.hdi import narrowest
from outperform.inference.items import draw_scores
from outperform.inference.score_spec import make_score_spec
from outperform.metrics import votes as fitted
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_118
LEAST, MOST = 0.925, 0.98
REPETITIONS = 300
_N_DRAWS = 2_000
_TRUE_VOTERS = 400_000
_STRENGTHS = np.array([0.5, 0.3, -0.2, -0.6])
_NAMES = np.array(["a", "b", "c", "d"])


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many voters with how many votes, how far tastes differ, and what the first place gets."""

    n_voters: int
    n_votes: int
    taste: float
    place: float
    tie: float | None

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        return f"{self.n_voters} voters with {self.n_votes} votes, taste {self.taste:g}"


WORLDS = tuple(
    World(n_voters=n_voters, n_votes=n_votes, taste=taste, place=place, tie=tie)
    for n_voters, n_votes in ((40, 20), (150, 8), (600, 2))
    for taste, place, tie in ((0.0, 0.0, None), (0.8, 0.4, -0.5))
)


def draw_votes(
    world: World, n_voters: int, n_votes: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Draw the first and the second model of each vote, the points of the first, and the voter."""
    n, n_models = n_voters * n_votes, len(_STRENGTHS)
    voter = np.repeat(np.arange(n_voters), n_votes)
    likes = _STRENGTHS + world.taste * rng.normal(size=(n_voters, n_models))
    place = world.place + world.taste / 2 * rng.normal(size=n_voters)
    one = rng.integers(0, n_models, n)
    two = (one + rng.integers(1, n_models, n)) % n_models
    ahead = likes[voter, one] - likes[voter, two] + place[voter]
    even = 0.0 if world.tie is None else np.exp(world.tie)
    won = 1 / (1 + np.exp(-ahead) + even * np.exp(-ahead / 2))
    tied = even * np.exp(-ahead / 2) * won
    luck = rng.random(n)
    points = np.where(luck < won, 1.0, np.where(luck < won + tied, 0.5, 0.0))
    return one, two, points, voter


def votes_of(one: IntArray, two: IntArray, points: FloatArray, voter: IntArray | None) -> op.Scores:
    """Return votes as the package takes them."""
    winner = np.where(points == 1, _NAMES[one], np.where(points == 0, _NAMES[two], "tie"))
    return op.Scores.from_votes(_NAMES[one], _NAMES[two], winner, groups=voter)


@lru_cache(maxsize=32)
def truth_of(world: World) -> float:
    """Return the difference of the two best by the votes of very many voters."""
    one, two, points, _ = draw_votes(world, _TRUE_VOTERS, 4, np.random.default_rng([SEED, 7]))
    n = len(_STRENGTHS)
    met = np.bincount(one * n + two, minlength=n * n).astype(np.float64)
    met[:: n + 1] = np.bincount(one, points, minlength=n) + np.bincount(
        two, 1 - points, minlength=n
    )
    sums = np.append(met, [(points - 0.5).sum(), (points == 0.5).sum()])
    rates = np.asarray(fitted.WIN_RATE.combine((sums / len(one))[:, None]))[:, 0]
    return float(rates[0] - rates[1])


def interval(seen: op.Scores, seed: Sequence[int]) -> tuple[float, float]:
    """Return the 95% HDI of a − b as ``op.compare`` has it, from fewer draws."""
    spec = make_score_spec(
        seen.select(["a", "b"]),
        metric="win_rate",
        prior=None,
        paired=True,
        labels=None,
        pos_label=None,
    )
    stream = np.random.SeedSequence(seed)
    a, b = draw_scores([spec], n_draws=_N_DRAWS, seed=stream, n_jobs=1)[0]
    hdi = narrowest(np.sort(a - b), 0.95)
    return hdi.low, hdi.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval held the truth, and its width; with voters and vote by vote."""

    covered: tuple[bool, bool]
    width: tuple[float, float]


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the elections ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place, true = WORLDS.index(world), truth_of(world)
    rng = np.random.default_rng([SEED, place, number])
    one, two, points, voter = draw_votes(world, world.n_voters, world.n_votes, rng)
    ends = [
        interval(votes_of(one, two, points, groups), [SEED, place, number, which])
        for which, groups in enumerate((voter, None))
    ]
    (low, high), (low_2, high_2) = ends
    return Held(
        covered=(low <= true <= high, low_2 <= true <= high_2), width=(high - low, high_2 - low_2)
    )


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row a world."""
    head = [
        "voters", "votes each", "taste", "first place", "ties", "repetitions", "covered",
        "vote by vote", "width", "vote by vote",
    ]  # fmt: skip
    rows = [
        [
            f"{world.n_voters:,}",
            f"{world.n_votes:,}",
            f"{world.taste:g}",
            f"{world.place:g}",
            "no" if world.tie is None else "yes",
            f"{len(held):,}",
            *(f"{np.mean([one.covered[k] for one in held]):.1%}" for k in (0, 1)),
            *(f"{np.mean([one.width[k] for one in held]):.3f}" for k in (0, 1)),
        ]
        for world, held in found.items()
    ]
    return markdown.table(head, rows, numbers_from=0) + (
        f"\n95% intervals of the difference of two win rates by {_N_DRAWS:,} draws; four models. "
        "Taste: the sd of a voter's own liking for each model, on the scale of log odds. First "
        "place: what it adds on average, on the same scale. Covered: voters as groups.\n"
    )


def failures(found: Found) -> list[str]:
    """Say where coverage leaves 92.5 to 98%."""
    told = []
    for world, held in found.items():
        share = float(np.mean([one.covered[0] for one in held]))
        if share_is_off(share, len(held), LEAST, MOST):
            told.append(f"votes, {world.name}: {share:.1%} covered")
    return told
