"""Do intervals hold the difference in production, where the classes have other shares?

The test set is balanced on purpose, 1,000 items of each of two classes, and the world is
not. Both models' rates in each class are known, so the true difference in production is too.
The models agree as often as a share of maximal coupling makes them. The interval with
``at_prevalence`` is held against the one that takes the test set for the world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import outperform as op
from outperform import metrics
from outperform._typing import FloatArray

SEED = 20_261_116
BOUNDS = (0.925, 0.98)
ROPE = 0.01
# Enough for the fitted HDI that users get; a plain sample minimum would be too narrow.
_N_DRAWS = 5_200
# The naive interval is so far off that fewer repetitions show it.
_NAIVE = 500


def _rates(recall: float, false_alarm: float) -> tuple[tuple[float, ...], ...]:
    return ((1 - false_alarm, false_alarm), (1 - recall, recall))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceWorld:
    """Two models' rates P(prediction | class), and the shares of the classes in production."""

    name: str
    a: tuple[tuple[float, ...], ...] = _rates(0.90, 0.02)
    b: tuple[tuple[float, ...], ...] = _rates(0.92, 0.03)
    n: int = 2_000
    shares: tuple[float, ...] = (0.98, 0.02)
    shared: float = 0.5
    counted: int | None = None  # items counted in production; None if the shares are known
    metric: str = "f1"
    prior: str | None = None
    gated: bool = True


_ONE = PrevalenceWorld(name="recall 0.90, 0.92; false alarms 2%, 3%")
_THREE = PrevalenceWorld(
    name="three classes, the rare one called too often",
    a=((0.95, 0.03, 0.02), (0.05, 0.90, 0.05), (0.05, 0.05, 0.90)),
    b=((0.93, 0.03, 0.04), (0.05, 0.92, 0.03), (0.03, 0.03, 0.94)),
    n=2_100,
    shares=(0.80, 0.18, 0.02),
    metric="f1_macro",
)
WORLDS = (
    _ONE,
    replace(_ONE, shared=0.9),
    replace(_ONE, shared=0.0),
    replace(_ONE, name="the same rates", b=_rates(0.90, 0.02)),
    replace(
        _ONE,
        name="recall 0.80, 0.95; false alarms 2%, 6%",
        a=_rates(0.80, 0.02),
        b=_rates(0.95, 0.06),
    ),
    replace(
        _ONE,
        name="recall 0.85, 0.80; false alarms 5%, 2.5%",
        a=_rates(0.85, 0.05),
        b=_rates(0.80, 0.025),
    ),
    replace(
        _ONE,
        name="recall 0.95, 0.95; false alarms 1.5%, 4%",
        a=_rates(0.95, 0.015),
        b=_rates(0.95, 0.04),
    ),
    replace(_ONE, counted=5_000),
    replace(_ONE, prior="unit"),
    replace(_ONE, prior="bootstrap"),
    _THREE,
    replace(_THREE, counted=5_000),
    # Where it ends: a handful of false alarms, each of which counts 49 times.
    replace(
        _ONE,
        name="recall 0.90, 0.92; false alarms 0.2%, 0.5%",
        a=_rates(0.90, 0.002),
        b=_rates(0.92, 0.005),
        gated=False,
    ),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One repetition: did each interval hold the truth, how wide was it, was it firmly wrong?"""

    covered: bool
    width: float
    wrong: bool
    naive_covered: bool | None
    naive_wrong: bool | None


def truth_of(world: PrevalenceWorld) -> float:
    """Return the true difference of the metric in production, A − B."""
    shares = np.array(world.shares)[:, None]
    metric = metrics.get(world.metric)
    classes = (1,) if metric.average == "binary" else None
    a, b = (
        float(metric.evaluate(metrics.Margins.from_confusion(shares * np.array(one)), classes))
        for one in (world.a, world.b)
    )
    return a - b


def couple(a: FloatArray, b: FloatArray, shared: float) -> FloatArray:
    """Return P(prediction of A, prediction of B): a mixture of maximal coupling and none."""
    same = np.minimum(a, b)
    left = 1.0 - same.sum()
    rest = np.outer(a - same, b - same) / left if left > 1e-12 else np.zeros((len(a), len(a)))
    mixed: FloatArray = shared * (np.diag(same) + rest) + (1 - shared) * np.outer(a, b)
    return mixed


def simulate(world: PrevalenceWorld, generator: np.random.Generator) -> op.Outcomes:
    """Draw a test set with as many items of each class."""
    n_classes = len(world.shares)
    counts = np.stack(
        [
            generator.multinomial(
                world.n // n_classes, couple(np.array(a), np.array(b), world.shared).ravel()
            )
            for a, b in zip(world.a, world.b, strict=True)
        ]
    )
    truth, a, b = np.indices((n_classes,) * 3).reshape(3, -1)
    return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts.ravel())


def repeat(world: PrevalenceWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth, place = truth_of(world), WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _held(
            world,
            truth,
            np.random.default_rng([SEED, place, repetition]),
            naively=repetition < _NAIVE,
        )
        for repetition in range(first, last)
    ]


def _held(
    world: PrevalenceWorld, truth: float, generator: np.random.Generator, *, naively: bool
) -> Held:
    seen = simulate(world, generator)
    given: dict[int, float] = dict(enumerate(world.shares))
    if world.counted is not None:
        given = dict(enumerate(generator.multinomial(world.counted, world.shares).tolist()))
    settings: dict[str, Any] = {
        "metric": world.metric,
        "rope": ROPE,
        "prior": world.prior,
        "n_draws": _N_DRAWS,
        "random_state": int(generator.integers(2**63)),
        "n_jobs": 1,
    }
    found = op.compare(seen.at_prevalence(given), "A", "B", **settings)
    held = truth in found.hdi, found.hdi.width, _wrong(found, truth)
    if not naively:
        return Held(*held, None, None)
    naive = op.compare(seen, "A", "B", **settings)
    return Held(*held, truth in naive.hdi, _wrong(naive, truth))


def _wrong(comparison: op.Comparison, truth: float) -> bool:
    """Return whether a firm decision is not that of the true difference."""
    name = "EQUIVALENT" if abs(truth) <= ROPE else ("BETTER" if truth > ROPE else "WORSE")
    return comparison.decision.decided and comparison.decision.name != name
