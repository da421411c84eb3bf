"""May one look while labels come in? Monitored experiments with twenty looks, stopped by a rule.

Each experiment labels a hundred items at a time and looks after each hundred. Its truth is
drawn from the null's own prior (that of the model, given that the difference lies in the ROPE),
from the alternative's (given that it does not), or is the same in all experiments of a world. What
is asked of each look is what ``op.Monitor``
asks: the HDI, the decision and the Bayes factor of the interval null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outperform._typing import FloatArray, IntArray
from verification import markdown
from verification.chance import mean_is_off, share_error, share_is_off
from verification.looks import posteriors

BoolArray = NDArray[np.bool_]

SEED = 20_261_115
LOOKS, STEP = 20, 100
ROPE, PROB, WIDTH, STRONG = 0.02, 0.95, 0.05, 10.0
FACTORS = (3.0, 10.0, 30.0)
BOUNDS = (0.925, 0.975)
PRIOR_INSIDE = 1 - (1 - ROPE) ** 3  # of p1 - p2 under Dirichlet(1, 1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How often A and B differ in being right, and by how much; or the prior that both are from."""

    prior: str | None = None
    disagree: float = 0.0
    difference: float = 0.0

    @property
    def name(self) -> str:
        """What to call it in a table."""
        if self.prior is not None:
            return f"the {self.prior}'s own prior"
        return f"{self.disagree:.0%} disagree, difference {self.difference:g}"


NULL, OTHER = World(prior="null"), World(prior="alternative")
WORLDS = (
    NULL,
    OTHER,
    *(World(disagree=share, difference=0.0) for share in (0.05, 0.1, 0.3)),
    *(World(disagree=share, difference=ROPE) for share in (0.05, 0.1, 0.3)),
    *(World(disagree=share, difference=0.04) for share in (0.1, 0.3)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiments:
    """What was true of each experiment, and what each of its looks said."""

    truth: FloatArray  # (n_experiments,)
    mean: FloatArray  # (n_experiments, n_looks), and so are the others
    low: FloatArray
    high: FloatArray
    bf10: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What experiments that stopped by one rule say of the truth."""

    coverage: float
    bias: float
    items: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What all experiments of a world said."""

    experiments: int
    factor_last: tuple[float, ...]  # the share whose BF10 is at least 3, 10, 30 at the last look
    factor_any: tuple[float, ...]  # and at any look
    null_any: tuple[float, ...]  # the same of BF01
    null_first: tuple[float, float]  # BF01 at the first look: its mean, and the error of that
    false_last: float
    false_any: float
    end: Stopped
    width: Stopped
    decision: Stopped
    factor: Stopped

    @property
    def rules(self) -> tuple[Stopped, ...]:
        """At the end, by width, by decision and by Bayes factor."""
        return self.end, self.width, self.decision, self.factor


def run(task: tuple[World, int]) -> Found:
    """Watch so many experiments of a world."""
    world, size = task
    return summarise(watch(world, size))


def watch(world: World, size: int) -> Experiments:
    """Simulate experiments and ask every look."""
    generator = np.random.default_rng([SEED, WORLDS.index(world)])
    shares = _shares(world, size, generator)
    steps = generator.multinomial(STEP, shares[:, None, :], size=(size, LOOKS))
    only_a, only_b, _ = np.moveaxis(steps.cumsum(axis=1), -1, 0)
    n: IntArray = STEP * np.arange(1, LOOKS + 1)
    found = posteriors(n, only_a, only_b, rope=ROPE, prob=PROB)
    inside = np.clip(found.inside, 1e-12, 1 - 1e-12)
    return Experiments(
        truth=shares[:, 0] - shares[:, 1],
        mean=found.mean,
        low=found.low,
        high=found.high,
        bf10=(1 - inside) / inside * PRIOR_INSIDE / (1 - PRIOR_INSIDE),
    )


def _shares(world: World, size: int, generator: np.random.Generator) -> FloatArray:
    """Return the true shares of only A right, only B right and the rest, one row each."""
    if world.prior is not None:
        kept: FloatArray = np.empty((0, 3))
        while len(kept) < size:
            drawn = generator.dirichlet((1, 1, 2), size=2 * size)
            inside = np.abs(drawn[:, 0] - drawn[:, 1]) <= ROPE
            kept = np.concatenate([kept, drawn[inside == (world == NULL)]])
        return kept[:size]
    a, b = ((world.disagree + sign * world.difference) / 2 for sign in (1, -1))
    return np.tile([a, b, 1 - a - b], (size, 1))


def decided(seen: Experiments, rope: float = ROPE) -> tuple[BoolArray, BoolArray]:
    """Return whether each look has a firm decision, and whether that is false."""
    better, worse = seen.low > rope, seen.high < -rope
    equal = (seen.low >= -rope) & (seen.high <= rope)
    truth = seen.truth[:, None]
    # A difference on the edge is practically equivalent, but for what rounding made of it.
    inside = np.abs(truth) <= rope + 1e-9
    false = (better & ~(truth > rope + 1e-9)) | (worse & ~(truth < -rope - 1e-9))
    return better | worse | equal, false | (equal & ~inside)


def summarise(seen: Experiments) -> Found:
    """Count over all experiments of one world."""
    firm, false = decided(seen)
    larger = [seen.bf10 >= factor for factor in FACTORS]
    first = 1 / seen.bf10[:, 0]
    return Found(
        experiments=len(seen.truth),
        factor_last=tuple(float(one[:, -1].mean()) for one in larger),
        factor_any=tuple(float(one.any(axis=1).mean()) for one in larger),
        null_any=tuple(float((1 / seen.bf10 >= k).any(axis=1).mean()) for k in FACTORS),
        null_first=(float(first.mean()), float(first.std() / np.sqrt(first.size))),
        false_last=float(false[:, -1].mean()),
        false_any=float(false.any(axis=1).mean()),
        end=_stopped(seen, np.zeros_like(firm)),
        width=_stopped(seen, seen.high - seen.low <= WIDTH),
        decision=_stopped(seen, firm),
        factor=_stopped(seen, (seen.bf10 >= STRONG) | (seen.bf10 <= 1 / STRONG)),
    )


def _stopped(seen: Experiments, holds: BoolArray) -> Stopped:
    """Look where the rule first holds, or at the end."""
    place = np.where(holds.any(axis=1), holds.argmax(axis=1), LOOKS - 1)
    rows = np.arange(len(place))
    low, high = seen.low[rows, place], seen.high[rows, place]
    return Stopped(
        coverage=float(((low <= seen.truth) & (seen.truth <= high)).mean()),
        bias=float((seen.mean[rows, place] - seen.truth).mean()),
        items=float(STEP * (1 + place).mean()),
    )


# How often one looks, and how wide the ROPE is


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A ROPE, and so many looks with so many items more at each."""

    rope: float
    looks: int
    step: int


PLANS = (
    Plan(rope=0.02, looks=20, step=100),
    Plan(rope=0.02, looks=50, step=40),
    Plan(rope=0.01, looks=50, step=20),
    Plan(rope=0.01, looks=50, step=40),
    Plan(rope=0.01, looks=200, step=50),
    Plan(rope=0.005, looks=50, step=40),
    Plan(rope=0.02, looks=10, step=200),
    Plan(rope=0.02, looks=200, step=10),
    Plan(rope=0.01, looks=10, step=200),
    Plan(rope=0.005, looks=10, step=200),
    Plan(rope=0.005, looks=200, step=10),
)
# Equal models that disagree often: where stopping by the decision errs most.
PLANNED = World(disagree=0.3, difference=0.0)
PLAN_EXPERIMENTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What equal models are called by a plan that stops at the first firm decision."""

    experiments: int
    false_last: float  # by one look at the end instead
    false_stopped: float
    coverage: float  # at the stop


def look(task: tuple[Plan, int]) -> Looked:
    """Watch so many experiments of equal models by a plan."""
    plan, size = task
    generator = np.random.default_rng([SEED, 1_000 + PLANS.index(plan)])
    shares = _shares(PLANNED, size, generator)
    steps = generator.multinomial(plan.step, shares[:, None, :], size=(size, plan.looks))
    only_a, only_b, _ = np.moveaxis(steps.cumsum(axis=1), -1, 0)
    n: IntArray = plan.step * np.arange(1, plan.looks + 1)
    found = posteriors(n, only_a, only_b, rope=plan.rope, prob=PROB)
    seen = Experiments(
        truth=shares[:, 0] - shares[:, 1],
        mean=found.mean,
        low=found.low,
        high=found.high,
        bf10=np.ones_like(found.mean),
    )
    firm, false = decided(seen, plan.rope)
    place = np.where(firm.any(axis=1), firm.argmax(axis=1), plan.looks - 1)
    rows = np.arange(size)
    low, high = seen.low[rows, place], seen.high[rows, place]
    return Looked(
        experiments=size,
        false_last=float(false[:, -1].mean()),
        false_stopped=float(false[rows, place].mean()),
        coverage=float(((low <= seen.truth) & (seen.truth <= high)).mean()),
    )


def _by_rope(row: tuple[Plan, Looked]) -> tuple[float, int, int]:
    """Sort plans from the widest ROPE to the narrowest, and from few looks to many."""
    plan, _ = row
    return -plan.rope, plan.looks, plan.step


def plan_table(found: Mapping[Plan, Looked]) -> str:
    """Return how often equal models are called different, by ROPE and number of looks."""
    header = (
        "ROPE", "looks", "items at each", "false decisions: one look at the end",
        "stopped at the first decision", "coverage at the stop",
    )  # fmt: skip
    rows = [
        [
            f"±{plan.rope:g}",
            f"{plan.looks}",
            f"{plan.step}",
            *(
                markdown.percent(share, share_error(share, one.experiments))
                for share in (one.false_last, one.false_stopped, one.coverage)
            ),
        ]
        for plan, one in sorted(found.items(), key=_by_rope)
    ]
    size = next(iter(found.values())).experiments
    return markdown.table(header, rows, numbers_from=0) + (
        f"\n{PLANNED.name}; {size:,} experiments a row; shares in per cent. Nothing is promised "
        "here.\n"
    )


def factor_table(found: Mapping[World, Found]) -> str:
    """Return how often the Bayes factor against the ROPE got large."""
    header = (
        "truth",
        *(f"BF10 ≥ {factor:g} at the last look" for factor in FACTORS),
        *(f"≥ {factor:g} at any look" for factor in FACTORS),
    )
    rows = [
        [world.name, *(markdown.percent(share) for share in (*one.factor_last, *one.factor_any))]
        for world, one in found.items()
        if world != OTHER
    ]
    size = next(iter(found.values())).experiments
    other = _of_alternative(found[OTHER]) if OTHER in found else ""
    limits = ", ".join(f"{100 / factor:.1f}%" for factor in FACTORS)
    return markdown.table(header, rows) + (
        f"\n{size:,} experiments a row, {LOOKS} looks of {STEP} items more each, ROPE "
        f"±{ROPE:g}; shares in per cent. In the first row those of any look must be at most "
        f"{limits}. {other}Nothing is promised for the other rows.\n"
    )


def _of_alternative(one: Found) -> str:
    shares = ", ".join(f"{100 * share:.1f}%" for share in one.null_any)
    return (
        "With a truth from the alternative's own prior these bound BF01, which got that large in "
        f"{shares}. "
    )


def rule_table(found: Mapping[World, Found]) -> str:
    """Return false decisions and coverage by the rule to stop."""
    header = (
        "truth", "false decisions: last look", "any look", "coverage: at the end", "by width",
        "by decision", "by Bayes factor",
    )  # fmt: skip
    rows = [
        [
            world.name,
            *(markdown.percent(share) for share in (one.false_last, one.false_any)),
            *(markdown.percent(rule.coverage) for rule in one.rules),
        ]
        for world, one in found.items()
    ]
    return markdown.table(header, rows) + (
        f"\nShares in per cent. By width: the {PROB:.0%} HDI is at most {WIDTH:g} wide. By Bayes "
        f"factor: BF10 or BF01 is at least {STRONG:g}. Who reaches no stop goes on to the end, "
        f"{LOOKS * STEP:,} items. Coverage by width must lie between {100 * BOUNDS[0]:g} and "
        f"{100 * BOUNDS[1]:g} in every row.\n"
    )


def bias_table(found: Mapping[World, Found]) -> str:
    """Return how far the mean at the stop is off on average, and how late the stop is."""
    header = (
        "truth", "mean − truth: at the end", "by width", "by decision", "by Bayes factor",
        "items: by width", "by decision", "by Bayes factor",
    )  # fmt: skip
    rows = [
        [
            world.name,
            *(f"{rule.bias:+.4f}" for rule in one.rules),
            *(f"{rule.items:,.0f}" for rule in one.rules[1:]),
        ]
        for world, one in found.items()
    ]
    return markdown.table(header, rows)


def failures(found: Mapping[World, Found]) -> list[str]:
    """Return what did not hold."""
    said = []
    for world, one in found.items():
        n = one.experiments
        if share_is_off(one.width.coverage, n, *BOUNDS):
            said.append(f"stopping: {world.name}: coverage by width {one.width.coverage:.3f}")
        if world == NULL:
            said += _too_often("BF10", one.factor_any, n)
        if world == OTHER:
            said += _too_often("BF01", one.null_any, n)
            mean, error = one.null_first  # whose expectation is 1 there, at every look
            if mean_is_off(mean, error, n, 1.0, 1.0):
                said.append(f"stopping: BF01 is {mean:.3f} ± {error:.3f} on average, not 1")
    return said


def _too_often(name: str, shares: Sequence[float], n: int) -> list[str]:
    """Hold the promise of Ville's inequality against what was seen."""
    return [
        f"stopping: {name} reaches {factor:g} in {share:.3f} of the experiments"
        for factor, share in zip(FACTORS, shares, strict=True)
        if share_is_off(share, n, high=1 / factor)
    ]
