"""How often does a level gate pass a model that lies exactly on the threshold, or fail it?

For right or wrong answers every count is possible with a binomial probability, so the error is a
sum over all counts and needs no simulation. For other metrics, test sets are drawn from models that
lie exactly on the level: false alarms and misses are equally frequent, so F1, precision and recall
agree; with four classes of different size every confusion is as frequent as its reverse; answers in
groups of five have a common difficulty. Every answer is that of the package's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

import outperform as op
from outperform._typing import FloatArray
from outperform.gates.levels import Level, level_status
from outperform.gates.rule import GateStatus
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_119
ALLOWED = 0.025
SIZES = (20, 50, 200, 1_000, 5_000)
THRESHOLDS = (0.8, 0.9, 0.95, 0.99)
DRAWN_SIZES = (20, 50, 200, 1_000)
DRAWN_THRESHOLDS = (0.9, 0.99)
METRICS = ("recall", "f1", "balanced_accuracy", "f1_macro", "accuracy, groups")
_N_DRAWS = 2_000
_SHARES = np.array([0.4, 0.3, 0.2, 0.1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Exact error probabilities of accuracy; ``hdi`` those of a rule that reads only the HDI."""

    n: int
    theta: float
    passed: float
    failed: float
    hdi: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelWorld:
    """A metric, a number of items and the true value, which is the threshold."""

    metric: str
    n: int
    theta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Simulated gates: how many were drawn, and how many passed, failed, or had an HDI above."""

    world: LevelWorld
    n: int
    passed: int
    failed: int
    hdi: int


WORLDS = tuple(
    LevelWorld(metric=metric, n=n, theta=theta)
    for metric in METRICS
    for theta in DRAWN_THRESHOLDS
    for n in DRAWN_SIZES
)


def counted(n: int, theta: float) -> Counted:
    """Return the exact error probabilities of accuracy: results are monotone in the count."""
    level = Level("at_least", theta)

    def estimated(k: int) -> op.results.Estimate:
        data = op.Outcomes.from_correct({"m": [1] * k + [0] * (n - k)})
        return op.estimate(data, "m", metric="accuracy", n_draws=100, random_state=0)

    first = _first(n, lambda k: level_status(estimated(k), level) is GateStatus.PASS)
    last = _first(n, lambda k: level_status(estimated(k), level) is not GateStatus.FAIL)
    of_hdi = _first(n, lambda k: estimated(k).hdi.low > theta)
    return Counted(
        n=n,
        theta=theta,
        passed=float(stats.binom.sf(first - 1, n, theta)),
        failed=float(stats.binom.cdf(last - 1, n, theta)),
        hdi=float(stats.binom.sf(of_hdi - 1, n, theta)),
    )


def _first(n: int, holds: object) -> int:
    """Return the smallest count from which something holds; n + 1 if it never does."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        if holds(middle):  # type: ignore[operator]
            high = middle
        else:
            low = middle + 1
    return low


def draw(world: LevelWorld, repetitions: int) -> Drawn:
    """Draw test sets of a model on the level, and gate each."""
    generator = np.random.default_rng([SEED, WORLDS.index(world)])
    level, passed, failed, above = Level("at_least", world.theta), 0, 0, 0
    for repetition in range(repetitions):
        e = _estimate(world, generator, repetition)
        if e is None:  # no item defines the metric, which the gate reports
            continue
        status = level_status(e, level)
        passed += status is GateStatus.PASS
        failed += status is GateStatus.FAIL
        above += e.hdi.low > world.theta
    return Drawn(world=world, n=repetitions, passed=passed, failed=failed, hdi=above)


def _estimate(
    world: LevelWorld, generator: np.random.Generator, seed: int
) -> op.results.Estimate | None:
    asked: dict[str, Any] = {"n_draws": _N_DRAWS, "random_state": seed}
    if world.metric == "accuracy, groups":
        n_groups = world.n // 5
        # A Beta distribution of the groups' difficulty, with an intraclass correlation of 0.3.
        size = 1 / 0.3 - 1
        easy = generator.beta(world.theta * size, (1 - world.theta) * size, n_groups)
        right = generator.random((n_groups, 5)) < easy[:, None]
        data = op.Outcomes.from_correct(
            {"m": right.ravel()}, groups=np.repeat(np.arange(n_groups), 5)
        )
        return op.estimate(data, "m", metric="accuracy", **asked)
    table = generator.multinomial(world.n, confusion(world).ravel()).reshape(confusion(world).shape)
    if (table.sum(axis=1) == 0).any():
        return None
    data = op.Outcomes.from_confusion({"m": table})
    kwargs: dict[str, Any] = (
        {"pos_label": data.labels[1]} if world.metric in ("recall", "f1") else {}
    )
    return op.estimate(data, "m", metric=world.metric, **kwargs, **asked)


@cache
def confusion(world: LevelWorld) -> FloatArray:
    """Return the probabilities of truth and prediction, for which the metric is exactly theta."""
    wrong = 1 - world.theta
    if world.metric != "f1_macro":
        # As many false alarms as misses: precision, recall and F1 of class 1 are theta.
        share = 0.3
        rate = wrong * share / (1 - share)
        if world.metric == "balanced_accuracy":
            rate = wrong
        rows = [[1 - rate, rate], [wrong, 1 - wrong]]
        joint: FloatArray = np.array(rows) * np.array([[1 - share], [share]])
        return joint
    flow = np.outer(_SHARES, _SHARES)
    np.fill_diagonal(flow, 0.0)
    for _ in range(2_000):  # symmetric, and every class loses the same share
        scale = np.sqrt(wrong * _SHARES / flow.sum(axis=1))
        flow = flow * np.outer(scale, scale)
    table: FloatArray = flow + np.diag(_SHARES - flow.sum(axis=1))
    return table


def failures(exact: Sequence[Counted], drawn: Sequence[Drawn]) -> list[str]:
    """Return what exceeds the allowed error: by any amount if exact, beyond chance if drawn."""
    found = [
        f"levels: accuracy {one.theta} at n={one.n}: {name} {value:.2%}"
        for one in exact
        for name, value in (("passes", one.passed), ("fails", one.failed))
        if value > ALLOWED
    ]
    for one in drawn:
        for name, count in (("passes", one.passed), ("fails", one.failed)):
            if share_is_off(count / one.n, one.n, 0.0, ALLOWED):
                world = one.world
                found.append(
                    f"levels: {world.metric} {world.theta} at n={world.n}: {name} "
                    f"{count / one.n:.2%} of {one.n}"
                )
    return found


def table(exact: Sequence[Counted], drawn: Sequence[Drawn]) -> str:
    """Return both studies as Markdown."""
    header = ("metric", "level", "items", "wrong passes", "wrong failures", "if only the HDI")
    rows = [
        ["accuracy", f"{one.theta:g}", f"{one.n:,}", *map(_percent, _rates(one))] for one in exact
    ]
    rows += [
        [one.world.metric, f"{one.world.theta:g}", f"{one.world.n:,}",
         *(_percent(count / one.n) for count in (one.passed, one.failed, one.hdi))]
        for one in drawn
    ]  # fmt: skip
    sets = drawn[0].n if drawn else 0
    return markdown.table(header, rows) + (
        f"\nThe model lies exactly on the level. Rows of accuracy are exact; the others are from "
        f"{sets:,} test sets each. Wrong passes and wrong failures must be at most 2.5% each. The "
        "last column is the share of passes if a pass needed only an HDI above the level.\n"
    )


def _rates(one: Counted) -> tuple[float, float, float]:
    return one.passed, one.failed, one.hdi


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


__all__ = ["Counted", "Drawn", "LevelWorld", "counted", "draw", "failures", "table"]
