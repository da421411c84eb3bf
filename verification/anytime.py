"""Do intervals that claim to be valid at every look contain the truth at all of them?

Experiments in which items arrive a few at a time, with 20, 200 or 2,000 looks from 20 items on. For
each metric an item contributes a few sums, and A − B is a function of their means; its standard
error at a look comes from the influence of the items seen so far. The widening and the betting
capital are the package's own, and so is the rule from which look on an interval is claimed to be
valid. Looks before that make no decision and are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from outperform._typing import FloatArray
from outperform.decision.anytime import log_capital, widening
from outperform.inference.thresholds import FEW_FOR_ANY_LOOK
from verification import markdown
from verification.chance import share_error, share_is_off

BoolArray = NDArray[np.bool_]

SEED = 20_261_119
EXPERIMENTS = 2_000
PROB, MOST = 0.95, 0.05
ROPE = 0.02
START = 20
_PRIOR = 0.25  # of an item in each cell: the default prior of two classes, spread over the cells


class Plan(NamedTuple):
    """So many looks, with so many items more at each, after the first at ``START``."""

    looks: int
    step: int


MANY = 200  # looks; plans of more are run for half of the experiments
PLANS = (Plan(20, 100), Plan(200, 10), Plan(2_000, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A metric of kinds of items, and how frequent they are.

    ``kinds`` are truth and the answers of A and B, ``(n_kinds, 3)``; ``shares`` their frequencies.
    """

    metric: str
    name: str
    kinds: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    truth: float


Evaluate = Callable[[FloatArray, FloatArray], FloatArray]


def _right(kinds: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the mean of what items contribute: grades of A minus those of B."""
    return np.asarray(counts @ (kinds[:, 1] - kinds[:, 2]) / counts.sum(axis=-1))


def _f1(kinds: FloatArray, counts: FloatArray, positive: float = 1) -> FloatArray:
    true = counts @ (kinds[:, 0] == positive)
    values = []
    for model in (1, 2):
        said = kinds[:, model] == positive
        hits = counts @ (said & (kinds[:, 0] == positive))
        values.append(2 * hits / np.maximum(true + counts @ said, 1e-12))
    return np.asarray(values[0] - values[1])


def _macro(kinds: FloatArray, counts: FloatArray) -> FloatArray:
    return np.asarray(
        np.mean([_f1(kinds, counts, code) for code in np.unique(kinds[:, 0])], axis=0)
    )


def _mcc(kinds: FloatArray, counts: FloatArray) -> FloatArray:
    values = []
    n, true = counts.sum(axis=-1), counts @ (kinds[:, 0] == 1)
    for model in (1, 2):
        said = counts @ (kinds[:, model] == 1)
        both = counts @ ((kinds[:, model] == 1) & (kinds[:, 0] == 1))
        spread = np.sqrt(np.maximum(true * (n - true) * said * (n - said), 1e-12))
        values.append((n * both - true * said) / spread)
    return np.asarray(values[0] - values[1])


def _wer(kinds: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the difference of errors over words; kinds are words, errors of A and of B."""
    return np.asarray(counts @ (kinds[:, 1] - kinds[:, 2]) / (counts @ kinds[:, 0]))


METRICS: Mapping[str, Evaluate] = {
    "accuracy": _right,
    "grades": _right,
    "F1": _f1,
    "macro-F1": _macro,
    "MCC": _mcc,
    "WER": _wer,
}
BETS = ("accuracy", "grades")


def _label_kinds(n_classes: int) -> FloatArray:
    grid = np.indices((n_classes,) * 3).reshape(3, -1).T
    return grid.astype(np.float64)


def _label_shares(
    prevalence: Sequence[float], hit_a: float, hit_b: float, shared: float
) -> FloatArray:
    """Return shares of cells; with probability ``shared`` B repeats what A says."""
    m, found = len(prevalence), []
    for t, a, b in _label_kinds(m).astype(int).tolist():
        p_a, p_b = ((h if x == t else (1 - h) / (m - 1)) for h, x in ((hit_a, a), (hit_b, b)))
        found.append(prevalence[t] * p_a * (shared * (a == b) + (1 - shared) * p_b))
    return np.array(found)


def _of_labels(
    metric: str, name: str, prevalence: Sequence[float], hit: float, shared: float, goal: float
) -> World:
    """Return a world in which A − B is as asked, by making B worse."""
    kinds, low, high = _label_kinds(len(prevalence)), 0.0, hit
    evaluate = METRICS[metric]
    for _ in range(80):
        middle = (low + high) / 2
        truth = float(evaluate(kinds, _label_shares(prevalence, hit, middle, shared)))
        low, high = (middle, high) if truth > goal else (low, middle)
    shares = _label_shares(prevalence, hit, (low + high) / 2, shared)
    return World(
        metric=metric,
        name=name,
        kinds=tuple(map(tuple, kinds.tolist())),
        shares=tuple(shares.tolist()),
        truth=goal,
    )


def _of_numbers(metric: str, name: str, kinds: FloatArray, goal: float) -> World:
    """Return a world of equally frequent kinds, with A's numbers tilted until A − B is right."""
    low, high = -3.0, 3.0
    gain = kinds[:, 1] - kinds[:, 2]
    for _ in range(80):
        middle = (low + high) / 2
        shares = np.exp(middle * gain)
        truth = float(METRICS[metric](kinds, shares / shares.sum()))
        low, high = (low, middle) if truth > goal else (middle, high)
    shares = np.exp((low + high) / 2 * gain)
    return World(
        metric=metric,
        name=name,
        kinds=tuple(map(tuple, kinds.tolist())),
        shares=tuple((shares / shares.sum()).tolist()),
        truth=goal,
    )


def _right_or_wrong(name: str, disagree: float, goal: float) -> World:
    a, b = ((disagree + sign * goal) / 2 for sign in (1, -1))
    return World(
        metric="accuracy",
        name=name,
        kinds=((0, 1, 0), (0, 0, 1), (0, 0, 0)),
        shares=(a, b, 1 - a - b),
        truth=goal,
    )


def _worlds() -> tuple[World, ...]:
    rng = np.random.default_rng(SEED)
    grades = np.column_stack([np.zeros(60), rng.beta(2, 1, 60), rng.beta(2, 1, 60)]).round(2)
    words = rng.geometric(0.1, 80).astype(np.float64)
    errors = [rng.binomial(words.astype(int), rng.beta(1, 6, 80)) for _ in range(2)]
    spoken = np.column_stack([words, *errors]).astype(np.float64)
    found = []
    for goal in (0.0, ROPE, 2.5 * ROPE):
        found += [
            _right_or_wrong("30% disagree", 0.3, goal),
            _right_or_wrong("6% disagree", 0.06, goal),
            _of_numbers("grades", "from 0 to 1", grades, goal),
            _of_labels("F1", "half positive", (0.5, 0.5), 0.85, 0.6, goal),
            _of_labels("F1", "10% positive", (0.9, 0.1), 0.92, 0.6, goal),
            _of_labels("F1", "2% positive", (0.98, 0.02), 0.97, 0.5, goal),
            _of_labels("macro-F1", "3 classes", (0.6, 0.3, 0.1), 0.8, 0.6, goal),
            _of_labels("MCC", "20% positive", (0.8, 0.2), 0.85, 0.6, goal),
            _of_numbers("WER", "0 to 60 words", spoken, goal),
        ]
    return tuple(found)


WORLDS = _worlds()


class Found(NamedTuple):
    """Of each experiment: was the truth left out, was a firm decision false, was there a right one.

    The last two are the number of items at the first firm decision, and at the first valid look;
    infinite if there was none.
    """

    out: BoolArray
    false: BoolArray
    decided: BoolArray
    fixed: BoolArray  # a single look at the end with the ordinary interval decides rightly
    items: FloatArray
    valid: FloatArray
    width: float  # relative to the ordinary interval, at the last look


def run(task: tuple[World, Plan, int]) -> Found:
    """Watch so many experiments of a world by a plan."""
    world, plan, size = task
    generator = np.random.default_rng([SEED, WORLDS.index(world), plan.looks])
    parts = [_watch(world, plan, min(50, size - first), generator) for first in range(0, size, 50)]
    every: list[Any] = [np.concatenate(one) for one in list(zip(*parts, strict=True))[:-1]]
    out, false, decided, fixed, items, valid = every
    width = float(np.mean([part.width for part in parts]))
    return Found(out, false, decided, fixed, items, valid, width)


def _watch(world: World, plan: Plan, size: int, generator: np.random.Generator) -> Found:
    kinds, shares = np.array(world.kinds), np.array(world.shares)
    first = generator.multinomial(START, shares, size=(size, 1))
    later = generator.multinomial(plan.step, shares, size=(size, plan.looks - 1))
    counts = np.concatenate([first, later], axis=1).cumsum(axis=1).astype(np.float64)
    n = counts.sum(axis=-1)
    mean, sd, carrying = moments(world, counts)
    if world.metric in BETS:
        values, codes = np.unique(kinds[:, 1] - kinds[:, 2], return_inverse=True)
        merged = counts @ np.eye(len(values))[codes.ravel()]
        beyond = _bets(values, merged)
        valid = np.ones(n.shape, dtype=bool)
        at_end = np.array([_half_width(values, one) for one in merged[:5, -1]])
        width = float(np.mean(at_end / (norm.ppf(0.975) * sd[:5, -1])))
    else:
        valid = np.minimum(n, carrying) >= FEW_FOR_ANY_LOOK
        times = widening(n, PROB)

        def beyond(point: float) -> tuple[BoolArray, BoolArray]:
            return mean - times * sd > point, mean + times * sd < point

        width = float(times[0, -1] / norm.ppf(0.975))
    above, below = beyond(world.truth)
    over_high, under_high = beyond(ROPE)
    over_low, under_low = beyond(-ROPE)
    better, worse, equal = over_high, under_low, over_low & under_high
    is_better = world.truth > ROPE + 1e-9
    false = valid & (worse | (equal if is_better else better))
    firm = valid & (better | worse | equal)
    right = firm & ~false
    z = norm.ppf(0.975)
    low, high = mean[:, -1] - z * sd[:, -1], mean[:, -1] + z * sd[:, -1]
    fixed = low > ROPE if is_better else (low > -ROPE) & (high < ROPE)
    return Found(
        out=np.asarray((valid & (above | below)).any(axis=1)),
        false=np.asarray(false.any(axis=1)),
        decided=np.asarray(right.any(axis=1)),
        fixed=fixed,
        items=_first(firm, n),
        valid=_first(valid, n),
        width=width,
    )


def _first(holds: BoolArray, n: FloatArray) -> FloatArray:
    items = n[np.arange(len(n)), holds.argmax(axis=1)]
    return np.where(holds.any(axis=1), items, np.inf)


def _bets(values: FloatArray, counts: FloatArray) -> Callable[[float], tuple[BoolArray, BoolArray]]:
    limit = np.log(2 / (1 - PROB))

    def beyond(point: float) -> tuple[BoolArray, BoolArray]:
        return (
            log_capital(values, counts, point, -1.0) >= limit,
            log_capital(-values, counts, -point, -1.0) >= limit,
        )

    return beyond


def _half_width(values: FloatArray, counts: FloatArray) -> float:
    from outperform.decision.anytime import betting_interval

    low, high = betting_interval(values, counts, bounds=(-1.0, 1.0), prob=PROB)
    return (high - low) / 2


def moments(world: World, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return A − B, its standard error, and the number of items that carry it, at each look."""
    kinds, evaluate = np.array(world.kinds), METRICS[world.metric]
    prior = 0.0 if world.metric in ("WER", "grades") else _PRIOR
    seen = counts + prior
    n = seen.sum(axis=-1, keepdims=True)
    mean = evaluate(kinds, seen)
    influence = np.empty(seen.shape)
    for kind in range(len(kinds)):
        more = seen.copy()
        more[..., kind] += 1e-4 * n[..., 0]
        influence[..., kind] = (evaluate(kinds, more) - mean) / 1e-4
    influence -= (influence * seen).sum(axis=-1, keepdims=True) / n
    square = (seen * influence**2).sum(axis=-1)
    fourth = (counts * influence**4).sum(axis=-1)
    own = (counts * influence**2).sum(axis=-1)
    carrying = np.divide(own**2, fourth, out=np.zeros_like(own), where=fourth > 0)
    return mean, np.sqrt(square) / n[..., 0], carrying


Results = Mapping[tuple[World, Plan], Found]


def failures(found: Results) -> list[str]:
    """Return the worlds in which a truth is left out, or a firm decision is false, too often."""
    wrong = []
    for (world, plan), one in found.items():
        for what, share in (("truths left out", one.out), ("false decisions", one.false)):
            if share_is_off(float(share.mean()), share.size, high=MOST):
                wrong.append(
                    f"anytime: {world.metric}, {world.name}, difference {world.truth:g}, "
                    f"{plan.looks} looks: {share.mean():.3f} {what}"
                )
    return wrong


def error_table(found: Results) -> str:
    """Return, for each metric, how often the truth was left out and a decision was false."""
    header = ["metric", "items", "valid from"]
    header += [f"left out: {plan.looks:,} looks" for plan in PLANS]
    header += [f"false: {plan.looks:,} looks" for plan in PLANS]
    groups: dict[tuple[str, str], dict[Plan, list[Found]]] = {}
    for (world, plan), one in found.items():
        group = groups.setdefault((world.metric, world.name), {})
        group.setdefault(plan, []).append(one)
    rows = []
    for (metric, name), group in groups.items():
        starts = np.concatenate([one.valid for several in group.values() for one in several])
        row = [metric, name, f"{np.median(starts):,.0f}"]
        for what in ("out", "false"):
            row += [
                markdown.percent(max(float(getattr(one, what).mean()) for one in group[plan]))
                if plan in group
                else "–"
                for plan in PLANS
            ]
        rows.append(row)
    size = next(iter(found.values())).out.size
    return markdown.table(header, rows, numbers_from=2) + (
        f"\nThe highest share among true differences of 0, {ROPE:g} (the edge of the ROPE) and "
        f"{2.5 * ROPE:g}, in per cent of {size:,} experiments, so with a standard error of up to "
        f"{100 * share_error(MOST, size):.1f} points; it must not exceed {100 * MOST:g}% by more "
        f"than chance. Looks start at {START} items; valid from: the median number of items at "
        f"the first look that counts.\n"
    )


def price_table(found: Results) -> str:
    """Return what validity at every look costs: width and power, after 20 looks."""
    header = ["metric", "items", "width, relative to one look"]
    header += ["decided rightly: one look at the end", "at any of 20 looks", "items at the stop"]
    rows = []
    for (world, plan), one in found.items():
        if plan != PLANS[0] or world.truth <= ROPE:
            continue
        stopped = one.items[np.isfinite(one.items)]
        items = f"{np.median(stopped):,.0f}" if stopped.size else "–"
        rows.append(
            [
                world.metric,
                world.name,
                f"{one.width:.2f}",
                markdown.percent(float(one.fixed.mean())),
                markdown.percent(float(one.decided.mean())),
                items,
            ]
        )
    total = START + PLANS[0].step * (PLANS[0].looks - 1)
    return markdown.table(header, rows, numbers_from=2) + (
        f"\nA true difference of {2.5 * ROPE:g}, ROPE ±{ROPE:g}, {total:,} items; shares in per "
        "cent; items: the median of the experiments that stopped.\n"
    )
