"""Do promised numbers of items keep what they promise, where models differ little?

Pairs of models are drawn whose true differences in accuracy scatter about 0 with a given sd, the
models agreeing as real ones do (they disagree on about 8% of the items). A pilot of each pair is
compared with the default prior. Where it is undecided, the comparison promises that between so
many and so many more items would probably decide it; both numbers are drawn and added.
Intervals are those of draws, as ``more_data`` simulates them. Plans
are made from pilots, and carried out. Pilots are taken as they come, or ten are drawn, of ten
pairs, and only that which looks best is continued, as people do.

The first number takes the data at face value, which keeps no promise where models differ little.
The second must keep it: it is enough with a probability of 80% for any scatter that the data do
not rule out. What rules a scatter out errs in few pilots.

Gates, for each setting:

- Of the pilots that are promised a second number, at most 25% (80% less five points) break the
  promise, or else at most 5% of all pilots do.
- With 1,000 items and a ROPE of ±0.02 or more, 75% of the undecided pilots as they come have a
  second number: what promises nothing keeps every promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

import outperform as op
from outperform.decision.rope import Rope
from outperform.inference.spec import make_spec
from outperform.planning.goals import Goal, firm_goal
from outperform.planning.more_data import needed_by
from outperform.planning.worlds import TableWorld, posterior_world
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_124
SCATTERS = (0.0, 0.005, 0.01, 0.02, 0.05)
ROPES = (0.005, 0.01, 0.02, 0.05)
PILOTS = (50, 200, 1_000)
BROKEN = 0.25
BROKEN_OF_ALL = 0.05
PROMISED = 0.75
_BEST_OF = 10
_ACCURACY, _SAME = 0.85, 0.7
_N_DRAWS = 2_000
_N_SIMULATIONS = 100

Pilots = Literal["as they come", "best of ten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Models that differ by so much, a pilot, and what is asked of it."""

    scatter: float
    rope: float
    pilot: int
    pilots: Pilots = "as they come"
    metric: str = "accuracy"
    goal: str = "decided"
    planned: bool = False

    @property
    def name(self) -> str:
        """The setting in words."""
        by = f"plan for {self.goal}" if self.planned else "more items"
        return (
            f"{by}, {self.metric}, ROPE ±{self.rope:g}, pilots of {self.pilot:,} {self.pilots}, "
            f"sd {self.scatter:g}"
        )


def _settings() -> Iterable[Setting]:
    chosen: tuple[Pilots, ...] = ("as they come", "best of ten")
    for pilots, pilot, rope, scatter in product(chosen, PILOTS, ROPES, SCATTERS):
        yield Setting(scatter=scatter, rope=rope, pilot=pilot, pilots=pilots)
    for pilot, scatter in product((200, 1_000), (0.01, 0.05)):
        yield Setting(scatter=scatter, rope=0.02, pilot=pilot, metric="f1")
    for pilots, goal, pilot in product(chosen, ("decided", "≫"), (100, 1_000)):
        for scatter in (0.02, 0.05):
            yield Setting(
                scatter=scatter, rope=0.01, pilot=pilot, pilots=pilots, goal=goal, planned=True
            )


WORLDS = tuple(_settings())


@dataclass(frozen=True, slots=True)
class Promise:
    """What one pilot was promised, and what came of it; None: nothing was promised."""

    undecided: bool
    least: bool | None
    safe: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models: how probably only A is right, only B, and both."""

    only_a: float
    only_b: float
    both: float

    @classmethod
    def drawn(cls, scatter: float, generator: np.random.Generator) -> Pair:
        """Draw two models; on a share of the items both are right or wrong for one reason."""
        half = np.clip(scatter * generator.normal(), -0.25, 0.25) / 2
        a, b = _ACCURACY + half, _ACCURACY - half
        return cls(
            only_a=_SAME * max(a - b, 0) + (1 - _SAME) * a * (1 - b),
            only_b=_SAME * max(b - a, 0) + (1 - _SAME) * b * (1 - a),
            both=_SAME * min(a, b) + (1 - _SAME) * a * b,
        )

    def items(self, n: int, generator: np.random.Generator) -> op.Outcomes:
        """Draw items; half of them are of the class 1."""
        right = (self.both, self.only_a, self.only_b)
        rates = np.array([*right, max(0.0, 1 - sum(right))])
        counts = generator.multinomial(n, np.repeat(rates / rates.sum(), 2) / 2)
        truth = np.tile([0, 1], 4)
        a = np.where(np.repeat([1, 1, 0, 0], 2) == 1, truth, 1 - truth)
        b = np.where(np.repeat([1, 0, 1, 0], 2) == 1, truth, 1 - truth)
        return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts, labels=[0, 1])


def repeat(world: Setting, first: int, last: int) -> list[Promise]:
    """Draw and continue the pilots ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    found = []
    for repetition in range(first, last):
        generator = np.random.default_rng([SEED, place, repetition])
        pair, pilot = _pilot(world, generator)
        carry_out = _planned if world.planned else _more
        found.append(carry_out(world, pair, pilot, generator))
    return found


def _pilot(world: Setting, generator: np.random.Generator) -> tuple[Pair, op.Outcomes]:
    n_pairs = _BEST_OF if world.pilots == "best of ten" else 1
    pairs = [Pair.drawn(world.scatter, generator) for _ in range(n_pairs)]
    pilots = [pair.items(world.pilot, generator) for pair in pairs]
    leads = [_lead(pilot) for pilot in pilots]
    best = int(np.argmax(leads))
    return pairs[best], pilots[best]


def _lead(pilot: op.Outcomes) -> int:
    """Return on how many more items A is right than B."""
    rows = [pilot.agreement(truth) for truth in (0, 1)]  # both right, only A, only B, neither
    return sum(only_a - only_b for _, only_a, only_b, _ in rows)


def _asked(world: Setting, seen: op.Outcomes) -> TableWorld:
    """Return the question as ``more_data`` simulates it: with draws, without closed forms."""
    spec = make_spec(
        seen,
        metric=world.metric,
        prior=None,
        paired=True,
        labels=None,
        pos_label=1 if world.metric == "f1" else None,
    )
    rope = Rope.from_param(world.rope)
    return posterior_world(
        spec, rope=rope, items="more", prob=0.95, n_draws=_N_DRAWS, origin="promises"
    )


def _reached(world: Setting, goal: Goal, seen: op.Outcomes, generator: np.random.Generator) -> bool:
    asked = _asked(world, seen)
    low, high = asked.ends(asked.spec.view, generator)
    return bool(goal.reached(np.array([[low], [high]]))[0])


def _goal(world: Setting) -> Goal:
    return firm_goal(world.goal, Rope.from_param(world.rope), greater_is_better=True)


def _more(
    world: Setting, pair: Pair, pilot: op.Outcomes, generator: np.random.Generator
) -> Promise:
    goal, asked = _goal(world), _asked(world, pilot)
    low, high = asked.ends(asked.spec.view, generator)
    if np.isnan(low):  # a decision is withheld, and nothing promised
        return Promise(True, None, None)
    if goal.reached(np.array([[low], [high]]))[0]:
        return Promise(False, None, None)
    outlook = asked.outlook(np.random.SeedSequence(int(generator.integers(2**63))))
    needed = needed_by(outlook, goal, max_items=100 * world.pilot)

    def kept(n: int | None) -> bool | None:
        if n is None:
            return None
        return _reached(world, goal, pilot + pair.items(n, generator), generator)

    least = kept(needed.least)
    return Promise(True, least, least if needed.n == needed.least else kept(needed.n))


def _planned(
    world: Setting, pair: Pair, pilot: op.Outcomes, generator: np.random.Generator
) -> Promise:
    plan = op.plan(
        pilot=pilot,
        goal=world.goal,
        metric=world.metric,
        rope=world.rope,
        n_simulations=_N_SIMULATIONS,
        n_draws=_N_DRAWS // 4,
        random_state=generator,
        n_jobs=1,
    )

    def kept(n: int | None) -> bool | None:
        return (
            None
            if n is None
            else _reached(world, _goal(world), pair.items(n, generator), generator)
        )

    least = kept(plan.least)
    return Promise(True, least, least if plan.n == plan.least else kept(plan.n))


Found = Mapping[Setting, Sequence[Promise]]


def table(found: Found) -> str:
    """Return how often each number was enough, over all scatters and in the worst one."""
    counted = ("", "pilots", "ROPE", "undecided", "has a second number")
    header = (*counted, "first number enough, %", "second enough, %", "in the worst sd, %")
    rows = []
    for key in dict.fromkeys(_row(one) for one in found):
        group = {world: some for world, some in found.items() if _row(world) == key}
        promises = [one for some in group.values() for one in some]
        undecided = [one for one in promises if one.undecided]
        made = [one for one in undecided if one.safe is not None]
        worst = min(
            (
                (_share([one.safe for one in some]), world.scatter)
                for world, some in group.items()
                if sum(one.safe is not None for one in some) >= max(10, len(some) // 20)
            ),
            default=None,
        )
        what, pilots, rope = key
        rows.append(
            [
                what,
                pilots,
                f"±{rope:g}",
                f"{len(undecided):,} of {len(promises):,}",
                f"{100 * len(made) / max(len(undecided), 1):.0f}%",
                _percent([one.least for one in undecided]),
                _percent([one.safe for one in undecided]),
                "–" if worst is None else f"{100 * worst[0]:.0f} (sd {worst[1]:g})",
            ]
        )
    return markdown.table(header, rows, numbers_from=2) + (
        "\nTrue differences scatter about 0 with sds from 0 to 0.05, of F1 0.01 and 0.05, of plans "
        "0.02 and 0.05; accuracies of about 0.85, models that disagree on about 8% of the items. "
        "Best of ten: of ten pilots of ten pairs only the best-looking one is continued. The first "
        "number takes the data at face value; the second promises 80% however little such models "
        "differ.\n"
    )


def _row(world: Setting) -> tuple[str, str, float]:
    what = f"plan, {world.goal}" if world.planned else f"more items, {world.metric}"
    return what, f"{world.pilot:,}, {world.pilots}", world.rope


def _share(kept: Sequence[bool | None]) -> float:
    made = [one for one in kept if one is not None]
    return float(np.mean(made)) if made else float("nan")


def _percent(kept: Sequence[bool | None]) -> str:
    made = sum(one is not None for one in kept)
    if not made:
        return "–"
    share = _share(kept)
    return markdown.percent(share, share_error(share, made))


def failures(found: Found) -> list[str]:
    """Return the settings that break promises, and those that promise too little."""
    missed = []
    for world, promises in found.items():
        made = [one.safe for one in promises if one.safe is not None]
        broken = sum(not one for one in made)
        too_many = share_is_off(broken / max(len(made), 1), len(made), high=BROKEN)
        if too_many and share_is_off(broken / len(promises), len(promises), high=BROKEN_OF_ALL):
            missed.append(f"promises: {world.name}: {broken} of {len(made)} broken")
        undecided = [one for one in promises if one.undecided]
        useful = world.rope >= 0.02 and world.pilot >= 1_000 and world.pilots == "as they come"
        share = len(made) / max(len(undecided), 1)
        if useful and share_is_off(share, len(undecided), low=PROMISED):
            missed.append(f"promises: {world.name}: {share:.2f} have a number")
    return missed
