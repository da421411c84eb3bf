"""Where do intervals hold least often, and is that warned of?

Each world was chosen because a simulation held in fewer than 93% there: weighted kappa of few
items, importance weights with a heavy tail, a rare class at its own prevalence, few labels of a
pool, ratios of rare errors, and label errors that are stated wrongly. The truth of each is known
in closed form. A world is in order if intervals hold where nothing is warned of, and decisions
there are seldom wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import AnyArray, FloatArray
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_119
REPETITIONS = 300
# Of what is not warned of: so often the truth must be held, and so seldom may a decision be wrong.
LEAST_COVERED, MOST_WRONG = 0.92, 0.05
_N_DRAWS = 2_000
# What says nothing of whether an interval holds.
_OTHER = ("default_rope", "zero_width_rope", "monte_carlo_too_coarse")


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: what was held of the difference and of each model, decided and warned of."""

    held: bool
    wrong: bool
    warned: bool
    levels: tuple[bool, ...] = ()


Draw = Callable[[np.random.Generator, int], Hit]
"""What one repetition does, with its random stream and its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakWorld:
    """A question with a known answer: how it is asked, and of what.

    ``gated`` where something can be done about it.
    """

    name: str
    asked: str
    of: tuple[Any, ...]
    gated: bool = True


def repeat(world: WeakWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place, hit = WORLDS.index(world), _QUESTIONS[world.asked](*world.of)
    return [
        hit(np.random.default_rng([SEED, place, repetition]), repetition)
        for repetition in range(first, last)
    ]


def _noted(
    result: Any, true: float, rope: tuple[float, float], levels: Sequence[float] = ()
) -> Hit:
    """Hold a result against the truth; a ROPE of ratios lies around one."""
    symbol, (low, high) = result.decision.symbol, rope
    wrong = {"≈": not low <= true <= high}
    above, below = ("≫", "≪") if result.to_dict()["greater_is_better"] else ("≪", "≫")
    wrong[above], wrong[below] = true <= high, true >= low
    warned = any(one.level != "note" and one.name not in _OTHER for one in result.findings)
    own = (result.a, result.b) if levels else ()
    held = tuple(one in model.hdi for one, model in zip(levels, own, strict=True))
    return Hit(true in result.hdi, wrong.get(symbol, False), warned, held)


def _asked(repetition: int, rope: float = 0.02) -> dict[str, Any]:
    return {"rope": rope, "n_draws": _N_DRAWS, "random_state": repetition, "n_jobs": 1}


def _predicted(
    generator: np.random.Generator, truth: AnyArray, rows: Sequence[FloatArray], shared: float
) -> list[AnyArray]:
    """Draw predictions of models from their rows P(prediction | truth), with luck in common."""
    n = len(truth)
    luck = generator.random((len(rows) + 1, n))
    together = generator.random(n) < shared
    return [
        (np.cumsum(row, axis=1)[truth] < np.where(together, luck[-1], own)[:, None]).sum(axis=1)
        for row, own in zip(rows, luck, strict=False)
    ]


_LEVELS = np.arange(5)


def _neighbours(right: float, reach: float) -> FloatArray:
    """Return P(prediction | truth) of five levels, errors mostly to the next ones."""
    apart = np.abs(_LEVELS[:, None] - _LEVELS)
    wrong = np.where(apart > 0, np.exp(-apart / reach), 0.0)
    rows: FloatArray = np.where(
        apart > 0, (1 - right) * wrong / wrong.sum(axis=1, keepdims=True), right
    )
    return rows


def _kappa(shares: FloatArray, rows: FloatArray) -> float:
    joint = shares[:, None] * rows
    squares = (_LEVELS[:, None] - _LEVELS) ** 2
    chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(1 - (squares * joint).sum() / (squares * chance).sum())


def _ordinal(n: int, shares: Sequence[float]) -> Draw:
    given = np.array(shares)
    rows = (_neighbours(0.7, 0.5), _neighbours(0.6, 0.7))
    true = [_kappa(given, one) for one in rows]

    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        truth = generator.choice(5, n, p=given)
        a, b = _predicted(generator, truth, rows, 0.5)
        metric = op.metrics.cohen_kappa(weights="quadratic")
        labels = _LEVELS.tolist()
        c = op.compare(truth, a, b, metric=metric, labels=labels, **_asked(repetition))
        return _noted(c, true[0] - true[1], (-0.02, 0.02), true)

    return hit


def _symmetric(right: float) -> FloatArray:
    return np.array([[right, 1 - right], [1 - right, right]])


def _weights(n: int, sd: float, metric: str) -> Draw:
    rights = (0.9, 0.8)

    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        truth = generator.integers(0, 2, n)
        a, b = _predicted(generator, truth, [_symmetric(one) for one in rights], 0.5)
        weight = np.exp(sd * generator.normal(size=n))
        asked = _asked(repetition) | {"metric": metric, "sample_weight": weight}
        scored = metric == "mean"
        c = (
            op.compare(None, (a == truth) * 1.0, (b == truth) * 1.0, **asked)
            if scored
            else op.compare(truth, a, b, **asked)
        )
        return _noted(c, rights[0] - rights[1], (-0.02, 0.02), rights)

    return hit


def _f1(recall: float, false_alarms: float, share: float) -> float:
    hits, spurious = share * recall, (1 - share) * false_alarms
    return 2 * hits / (hits + spurious + share)


def _prevalence(false_alarms: tuple[float, float]) -> Draw:
    recalls, share = (0.9, 0.85), 0.02
    pairs = list(zip(recalls, false_alarms, strict=True))
    rows = [np.array([[1 - alarm, alarm], [1 - recall, recall]]) for recall, alarm in pairs]
    true = [_f1(*pair, share) for pair in pairs]

    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        truth = np.repeat([0, 1], 200)
        a, b = _predicted(generator, truth, rows, 0.5)
        c = op.compare(truth, a, b, metric="f1", **_asked(repetition)).at_prevalence(share)
        return _noted(c, true[0] - true[1], (-0.02, 0.02), true)

    return hit


def _pool(budget: int, rights: tuple[float, float]) -> Draw:
    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        truth = generator.integers(0, 2, 3_000)
        a, b = _predicted(generator, truth, [_symmetric(one) for one in rights], 0.7)
        proposal = op.propose(
            a, b, budget=budget, metric="accuracy", random_state=repetition, labels=[0, 1]
        )
        seen = proposal.outcomes(truth[proposal.items])
        c = op.compare(seen, "A", "B", metric="accuracy", **_asked(repetition, 0.01))
        return _noted(c, rights[0] - rights[1], (-0.01, 0.01), rights)

    return hit


def _ratio(n: int, rate: float) -> Draw:
    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        luck = generator.random((3, n))
        together = generator.random(n) < 0.5
        a, b = (np.where(together, luck[2], own) < rate for own in luck[:2])
        if not b.any():  # a ratio to nothing is refused
            return Hit(held=True, wrong=False, warned=True)
        c = op.compare(None, a * 1.0, b * 1.0, metric="mean_cost", **_asked(repetition, 0.001))
        return _noted(c.ratio(rope=0.05), 1.0, (0.95, 1.05))

    return hit


def _label_errors(n: int, wrong: float) -> Draw:
    """Gold labels wrong in 2% of one class and in ``wrong`` of the other, stated as 2%."""
    rows = [np.array([[0.95, 0.05], [0.25, 0.75]]), np.array([[0.75, 0.25], [0.05, 0.95]])]
    stated = 0.02

    def hit(generator: np.random.Generator, repetition: int) -> Hit:
        truth = generator.integers(0, 2, n)
        a, b = _predicted(generator, truth, rows, 0.5)
        flipped = generator.random(n) < np.where(truth == 1, wrong, stated)
        gold = np.where(flipped, 1 - truth, truth)
        c = op.compare(gold, a, b, metric="accuracy", **_asked(repetition))
        return _noted(c.with_label_errors(stated), 0.0, (-0.02, 0.02), (0.85, 0.85))

    return hit


_QUESTIONS: dict[str, Callable[..., Draw]] = {
    "ordinal": _ordinal,
    "weights": _weights,
    "prevalence": _prevalence,
    "pool": _pool,
    "ratio": _ratio,
    "label_errors": _label_errors,
}
_EVEN, _UNEVEN = (0.2,) * 5, (0.02, 0.05, 0.13, 0.4, 0.4)
# Nobody can tell from the data that label errors were stated wrongly, so these are not gated.
WORLDS = (
    WeakWorld(
        name="quadratic kappa, five levels, 60 items",
        asked="ordinal",
        of=(60, _EVEN),
    ),
    WeakWorld(
        name="quadratic kappa, five uneven levels, 400 items",
        asked="ordinal",
        of=(400, _UNEVEN),
    ),
    WeakWorld(
        name="accuracy, lognormal weights of sd 2, 1,000 items",
        asked="weights",
        of=(1_000, 2.0, "accuracy"),
    ),
    WeakWorld(
        name="F1, lognormal weights of sd 2, 300 items",
        asked="weights",
        of=(300, 2.0, "f1"),
    ),
    WeakWorld(
        name="F1, lognormal weights of sd 1, 300 items",
        asked="weights",
        of=(300, 1.0, "f1"),
    ),
    WeakWorld(
        name="mean, lognormal weights of sd 2, 1,000 items",
        asked="weights",
        of=(1_000, 2.0, "mean"),
    ),
    WeakWorld(
        name="F1 at 2%, 200 + 200 items, false alarms 2% and 3%",
        asked="prevalence",
        of=((0.02, 0.03),),
    ),
    WeakWorld(
        name="F1 at 2%, 200 + 200 items, false alarms 6% and 8%",
        asked="prevalence",
        of=((0.06, 0.08),),
    ),
    WeakWorld(
        name="accuracy, 30 proposed labels, equal models",
        asked="pool",
        of=(30, (0.9, 0.9)),
    ),
    WeakWorld(
        name="accuracy, 50 proposed labels, equal models",
        asked="pool",
        of=(50, (0.9, 0.9)),
    ),
    WeakWorld(
        name="accuracy, 50 proposed labels, 5 points apart",
        asked="pool",
        of=(50, (0.9, 0.85)),
    ),
    WeakWorld(
        name="accuracy, 100 proposed labels, equal models",
        asked="pool",
        of=(100, (0.9, 0.9)),
    ),
    WeakWorld(
        name="ratio of errors, 1% of 500 items",
        asked="ratio",
        of=(500, 0.01),
    ),
    WeakWorld(
        name="ratio of errors, 1% of 1,000 items",
        asked="ratio",
        of=(1_000, 0.01),
    ),
    WeakWorld(
        name="ratio of errors, 1% of 3,000 items",
        asked="ratio",
        of=(3_000, 0.01),
    ),
    WeakWorld(
        name="label errors, 2% and 6% of the classes, stated as 2%",
        asked="label_errors",
        of=(1_000, 0.06),
        gated=False,
    ),
    WeakWorld(
        name="label errors, 2% and 20% of the classes, stated as 2%",
        asked="label_errors",
        of=(1_000, 0.2),
        gated=False,
    ),
)


Found = Mapping[WeakWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("world", "covered", "covered, A", "covered, B", "wrong decisions", "warned"),
        *("covered, not warned", "wrong, not warned", "must hold"),
    )
    rows = [
        [world.name, *_shares(hits), "yes" if world.gated else "no"]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows) + (
        f"\n95% intervals of A − B, or of A / B, in {n:,} test sets by {_N_DRAWS:,} draws; shares "
        f"in per cent. Where nothing is warned of, they must hold in {LEAST_COVERED:.0%} at least, "
        f"and decisions must be wrong in {MOST_WRONG:.0%} at most.\n"
    )


def _shares(hits: Sequence[Hit]) -> list[str]:
    quiet = [one for one in hits if not one.warned]
    levels = zip(*(one.levels for one in hits), strict=False)
    own = [share_of(list(one)) for one in levels] or ["", ""]
    return [
        share_of([one.held for one in hits]),
        *own,
        share_of([one.wrong for one in hits]),
        markdown.percent(mean_of([one.warned for one in hits])),
        share_of([one.held for one in quiet]) if quiet else "",
        share_of([one.wrong for one in quiet]) if quiet else "",
    ]


def failures(found: Found) -> list[str]:
    """Return the worlds where intervals that nothing is warned of do not hold, or decisions err."""
    said = []
    for world, hits in found.items():
        quiet = [one for one in hits if not one.warned]
        if not world.gated or not quiet:
            continue
        checks = {"of differences": [one.held for one in quiet]}
        for place, name in enumerate("AB"):
            if quiet[0].levels:
                checks[f"of {name}"] = [one.levels[place] for one in quiet]
        for what, held in checks.items():
            share = mean_of(held)
            if share_is_off(share, len(held), LEAST_COVERED):
                said.append(
                    f"weak spots: {world.name}: {share:.1%} {what} covered without a warning"
                )
        wrong = mean_of([one.wrong for one in quiet])
        if share_is_off(wrong, len(quiet), high=MOST_WRONG):
            said.append(f"weak spots: {world.name}: {wrong:.1%} wrong without a warning")
    return said
