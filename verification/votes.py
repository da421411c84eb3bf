"""Do intervals of win rates hold: of voters with tastes of their own, and of uneven schedules?

A world of voters is four models, voters with likings of their own for each model and for the first
place, and some votes each. The interval of the difference of the win rates of the two best is held
against what endless votes of endless voters would give, and beside it stand votes that are
weighed one by one, as if every vote were cast by somebody else.

A contest is how often each model beats each other one, which need not follow from strengths, and
how many votes there are on each pair. The interval and the decision of ``op.compare`` are held
against the mean of the true shares; a finding that says that the fitted model is wrong, or that
nothing shows whether it is right, counts as withheld. Votes may be tied, come from voters who cast
several, who hold the same view in half of them, or have weights of 1/2 and 2 at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.decision.hdi import narrowest
from outperform.errors import DataError
from outperform.gates.rule import GateStatus, judge
from outperform.inference.items import draw_scores
from outperform.inference.question import Sampling
from outperform.inference.spec import make_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_118
LEAST, MOST = 0.925, 0.98
MOST_WRONG, MOST_ALARMS = 0.05, 0.02
REPETITIONS = 300
_N_DRAWS, _CONTEST_DRAWS, _ROPE = 2_000, 1_000, 0.02
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """How often models beat each other, and the votes on each pair, in the order of triangles."""

    title: str
    beats: tuple[float, ...]
    votes: tuple[int, ...]
    place: float = 0.0
    strengths: bool = True  # whether these explain how often models beat each other
    ties: float = 0.0  # the share of votes that are tied, whoever meets
    per_voter: int = 1  # votes that a voter casts; of several, half follow one view
    weighted: bool = False

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        return f"{self.title}, {self.schedule} votes"

    @property
    def n_models(self) -> int:
        """How many models there are."""
        return round((1 + float(np.sqrt(1 + 8 * len(self.votes)))) / 2)

    @property
    def schedule(self) -> str:
        """The votes on each pair, in words."""
        if len(set(self.votes)) == 1:
            return str(self.votes[0])
        if len(self.votes) > _FEW_PAIRS:
            return f"{min(self.votes)} to {max(self.votes)}"
        return "/".join(map(str, self.votes))

    @property
    def shares(self) -> FloatArray:
        """How often each model, in a row, beats each other one; one half on the diagonal."""
        n = self.n_models
        low, high = np.triu_indices(n, 1)
        shares = np.full((n, n), 0.5)
        shares[low, high] = self.beats
        shares[high, low] = 1 - np.array(self.beats)
        return shares

    @property
    def truth(self) -> float:
        """The difference of the win rates of the first two models."""
        rates = (self.shares.sum(axis=1) - 0.5) / (self.n_models - 1)
        return float(rates[0] - rates[1]) * (1 - self.ties)


def _of_strengths(*strengths: float) -> tuple[float, ...]:
    return tuple(float(1 / (1 + np.exp(b - a))) for a, b in combinations(strengths, 2))


_CIRCLE, _CRUSHED, _MILD = (0.8, 0.05, 0.95), (0.6, 0.6, 0.9), (0.55, 0.5, 0.7)
_LINE = _of_strengths(0.5, 0.2, -0.6)
_TEN = _of_strengths(*np.linspace(1, -1, 10))
_SQUARE = (0.8, 0.5, 0.05, 0.9, 0.5, 0.8)  # a–b, a–c, a–d, b–c, b–d, c–d
# Six models of which each beats the next two and loses to those before.
_SIX = tuple(0.75 if (j - i) % 6 < 3 else 0.4 for i, j in combinations(range(6), 2))


def _uneven(n_models: int, votes: Sequence[int]) -> tuple[int, ...]:
    return tuple(votes[k % len(votes)] for k in range(n_models * (n_models - 1) // 2))


_FEW_PAIRS = 6
CONTESTS = (
    *(
        Contest(title=title, beats=beats, votes=votes, strengths=False)
        for title, beats, votes in (
            ("a circle", _CIRCLE, (540, 30, 30)),
            ("a circle", _CIRCLE, (200, 200, 200)),
            ("b crushes c", _CRUSHED, (540, 315, 45)),
            ("b crushes c", _CRUSHED, (300, 300, 300)),
            ("b is good at c", _MILD, (720, 90, 90)),
            ("a is good at b", (0.7, 0.5, 0.5), (0, 300, 300)),
            ("a circle of four", _SQUARE, (150, 0, 150, 150, 0, 150)),
        )
    ),
    Contest(title="strengths", beats=_LINE, votes=(200, 200, 200)),
    Contest(title="strengths", beats=_LINE, votes=(540, 30, 30)),
    Contest(title="strengths", beats=_LINE, votes=(540, 30, 30), place=0.8),
    Contest(title="strengths", beats=_LINE, votes=(0, 300, 300)),
    Contest(
        title="strengths of four",
        beats=_of_strengths(0.5, 0.2, -0.2, -0.6),
        votes=(150, 0, 150, 150, 0, 150),
    ),
    *(
        Contest(title=title, beats=beats, votes=(n,) * len(beats))
        for n in (5, 10, 20)
        for title, beats in (("two", _of_strengths(0.4, 0.0)), ("three", _LINE), ("ten", _TEN))
    ),
    Contest(title="equal", beats=(0.5,) * 3, votes=(540, 30, 30)),
    Contest(title="equal", beats=(0.5,) * 3, votes=(20,) * 3),
    Contest(title="equal", beats=(0.5,) * 28, votes=_uneven(8, (60, 30, 10, 5))),
    Contest(title="circles", beats=_SIX, votes=_uneven(6, (120, 40, 15, 60)), strengths=False),
    *(
        Contest(title=title, beats=_CIRCLE, votes=(540, 30, 30), strengths=False, **more)
        for title, more in (
            ("a circle, 30% ties", {"ties": 0.3}),
            ("a circle, voters of 4 votes", {"per_voter": 4}),
            ("a circle, weighted votes", {"weighted": True}),
        )
    ),
)
VOTERS = tuple(
    World(n_voters=n_voters, n_votes=n_votes, taste=taste, place=place, tie=tie)
    for n_voters, n_votes in ((40, 20), (150, 8), (600, 2))
    for taste, place, tie in ((0.0, 0.0, None), (0.8, 0.4, -0.5))
)


WORLDS: tuple[World | Contest, ...] = (*VOTERS, *CONTESTS)


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
    met, won = (
        np.bincount(one * n + two, values, minlength=n * n).reshape(n, n)
        for values in (np.ones(len(one)), points)
    )
    # A model is shown first about half of the time, so that its points count both places.
    shares = (won + (met - won).T) / np.maximum(met + met.T, 1)
    rates = shares.sum(axis=1) / (n - 1)
    return float(rates[0] - rates[1])


def interval(seen: op.Scores, seed: Sequence[int]) -> tuple[float, float]:
    """Return the 95% HDI of a − b as ``op.compare`` has it, from fewer draws."""
    spec = make_spec(seen.select(["a", "b"]), metric="win_rate")
    stream = np.random.SeedSequence(seed)
    a, b = draw_scores([spec], Sampling(_N_DRAWS, stream))[0]
    hdi = narrowest(np.sort(a - b), 0.95)
    return hdi.low, hdi.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether the interval held the truth, and its width; with voters and vote by vote."""

    covered: tuple[bool, bool]
    width: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What ``op.compare`` said of a contest, beside the truth; ``mean`` is NaN where it refused."""

    mean: float
    covered: bool = False
    wrong: bool = False
    opened: bool = False  # a gate that the truth does not open
    misfit: bool = False
    unchecked: bool = False

    @property
    def refused(self) -> bool:
        """Whether the votes were refused."""
        return bool(np.isnan(self.mean))

    @property
    def withheld(self) -> bool:
        """Whether the model behind the result was called wrong or unchecked, or votes refused."""
        return self.misfit or self.unchecked or self.refused


def repeat(world: World | Contest, first: int, last: int) -> list[Held | Judged]:
    """Repeat the elections ``first`` to ``last``, not included, of a world."""
    numbers = range(first, last)
    if isinstance(world, Contest):
        return [_judge(world, number) for number in numbers]
    return [_repeat(world, number) for number in numbers]


def draw_contest(world: Contest, rng: np.random.Generator) -> dict[str, Any]:
    """Draw the votes of a contest as ``op.Scores.from_votes`` takes them."""
    low, high = (np.repeat(codes, world.votes) for codes in np.triu_indices(world.n_models, 1))
    n = len(low)
    turned = rng.random(n) < 0.5
    one, two = np.where(turned, high, low), np.where(turned, low, high)
    share = world.shares[low, high]
    place = world.place * np.where(turned, -1.0, 1.0)
    voter = rng.permutation(n) // world.per_voter
    same = (rng.random(n) < 0.5) & (world.per_voter > 1)
    luck = np.where(same, rng.random(n)[voter], rng.random(n))
    won = luck < 1 / (1 + (1 - share) / share * np.exp(-place))
    names = np.array(list("abcdefghij"))
    winner = np.where(rng.random(n) < world.ties, "tie", names[np.where(won, low, high)])
    return {
        "first": names[one],
        "second": names[two],
        "winner": winner,
        "groups": voter if world.per_voter > 1 else None,
        "sample_weight": rng.choice([0.5, 2.0], size=n) if world.weighted else None,
    }


def _judge(world: Contest, number: int) -> Judged:
    # The last number keeps these draws apart from those by which the method was chosen.
    rng = np.random.default_rng([SEED, WORLDS.index(world), number, 1])
    try:
        election = op.Scores.from_votes(**draw_contest(world, rng))
    except DataError:
        return Judged(mean=np.nan)
    c = op.compare(election, "a", "b", rope=_ROPE, n_draws=_CONTEST_DRAWS, random_state=number)
    true, sign = truth_of_contest(world), c.decision.symbol
    findings = {one.name for one in c.findings}
    better, not_worse = (judge(c, require=require) for require in ("better", "not_worse"))
    return Judged(
        mean=c.mean,
        covered=c.hdi.low <= true <= c.hdi.high,
        wrong=(sign == "≫" and true <= _ROPE)
        or (sign == "≪" and true >= -_ROPE)
        or (sign == "≈" and abs(true) > _ROPE),
        opened=(better is GateStatus.PASS and true <= _ROPE)
        or (not_worse is GateStatus.PASS and true < -_ROPE),
        misfit="votes_do_not_fit" in findings,
        unchecked="votes_unchecked" in findings,
    )


def truth_of_contest(world: Contest) -> float:
    """Return a − b where each is shown first half of the time."""
    if not world.place:
        return world.truth
    odds = world.shares / (1 - world.shares)
    both = [1 / (1 + np.exp(-place) / odds) for place in (world.place, -world.place)]
    rates = (np.mean(both, axis=0).sum(axis=1) - 0.5) / (world.n_models - 1)
    return float(rates[0] - rates[1])


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


Found = Mapping[World | Contest, Sequence[Held | Judged]]


def table(found: Found) -> str:
    """Return one row per world: those of voters, then contests."""
    voters = {one: held for one, held in found.items() if isinstance(one, World)}
    contests = {one: held for one, held in found.items() if isinstance(one, Contest)}
    parts = [_table_of_voters(voters)] if voters else []
    return "\n".join([*parts, *([_table_of_contests(contests)] if contests else [])])


def _table_of_contests(found: Mapping[Any, Sequence[Any]]) -> str:
    head = [
        "who beats whom", "models", "votes on each pair", "first place", "repetitions",
        "true a − b", "mean", "covered", "wrong decisions", "gates opened wrongly", "called wrong",
        "unchecked", "refused",
    ]  # fmt: skip
    rows = []
    for world, judged in found.items():
        given = [one for one in judged if not one.refused]
        rows.append(
            [
                world.title,
                f"{world.n_models}",
                world.schedule,
                f"{world.place:g}",
                f"{len(judged):,}",
                f"{truth_of_contest(world):+.3f}",
                f"{np.mean([one.mean for one in given]):+.3f}" if given else "–",
                _share([one.covered for one in given]),
                _share([one.wrong for one in given]),
                _share([one.opened for one in given]),
                _share([one.misfit for one in given]),
                _share([one.unchecked for one in given]),
                _share([one.refused for one in judged]),
            ]
        )
    return markdown.table(head, rows, numbers_from=1) + (
        f"\n95% intervals and decisions of the difference of two win rates, ROPE ±{_ROPE:g}, by "
        f"{_CONTEST_DRAWS:,} draws. Votes are on a–b, a–c, …, b–c, …; one number is that of all "
        "pairs. "
        "No strengths explain who beats whom in circles, where b crushes c, and where one is good "
        "at another. Gates: candidate a and baseline b, required to be better or not worse. "
        "Where a pair has no votes, the Bradley–Terry model is fitted: called wrong is "
        "`votes_do_not_fit`, unchecked `votes_unchecked`.\n"
    )


def _share(values: Sequence[bool]) -> str:
    return f"{np.mean(values):.1%}" if values else "–"


def _table_of_voters(found: Mapping[Any, Sequence[Any]]) -> str:
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
    """Say where coverage leaves 92.5 to 98%, of contests falls below, or decisions are wrong."""
    told = []
    for world, held in found.items():
        if isinstance(world, Contest):
            told += _failures_of_contest(world, [one for one in held if isinstance(one, Judged)])
            continue
        share = float(np.mean([one.covered[0] for one in held if isinstance(one, Held)]))
        if share_is_off(share, len(held), LEAST, MOST):
            told.append(f"votes, {world.name}: {share:.1%} covered")
    return told


def _failures_of_contest(world: Contest, judged: Sequence[Judged]) -> list[str]:
    """Say what a contest breaks: it holds, or the model behind it is called wrong or unchecked."""
    n = len(judged)
    right = float(np.mean([one.covered or one.withheld for one in judged]))
    wrong = float(np.mean([one.wrong and not one.withheld for one in judged]))
    opened = float(np.mean([one.opened for one in judged]))
    alarms = float(np.mean([one.misfit for one in judged])) if world.strengths else 0.0
    return [
        f"votes, {world.name}: {share:.1%} {what}"
        for share, low, high, what in (
            (right, LEAST, 1.0, "covered or withheld"),
            (wrong, 0.0, MOST_WRONG, "wrong decisions that nothing withholds"),
            (opened, 0.0, MOST_WRONG, "gates opened wrongly"),
            (alarms, 0.0, MOST_ALARMS, "called wrong, though strengths explain the votes"),
        )
        if share_is_off(share, n, low, high)
    ]
