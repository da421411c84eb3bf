"""Slices: how many of 10,000 are called falsely, and how many of those that differ are found.

An item is positive or negative, and of two models both, only A, only B or neither is
right; that is all that a world of slices has to say. What is planted is a slice in which A
loses a share of its right answers, so large that its F1 falls by the amount wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import multinomial

from outperform import Outcomes, Rope
from outperform._typing import FloatArray, IntArray
from outperform.decision.rope import Decision
from outperform.inference.spec import LabelSpec, make_spec
from outperform.posterior.rng import seed_sequence
from outperform.posterior.slices import pool_slices
from outperform.slices.summary import SliceRow, draw_numbers, draw_slices, observe, summarize_rows

ROPE = Rope.from_param(0.01)
N_DRAWS = 1_000
MOST_FALSE = 0.001
LEAST_FOUND = 0.80
MOST_EQUIVALENT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceWorld:
    """Slices of one kind, and what is planted in some of them.

    ``items`` is None for sizes from 10 to 20,000; ``prevalence`` is a range where it
    differs between slices; ``scatter`` is the κ with which rates differ in every slice.
    """

    name: str
    items: int | None = 200
    prevalence: tuple[float, float] = (0.5, 0.5)
    accuracy: float = 0.9
    agreement: float = 0.95
    planted: float = 0.0
    loss: float = 0.10
    where: Literal["both", "positives"] = "both"
    turned: bool = False  # every second planted slice has B worse, not A
    scatter: float | None = None
    must_find: bool = False


_SAME = SliceWorld(name="all equal")
_WORSE = SliceWorld(name="5% worse by 0.10", planted=0.05)
EQUAL = (
    replace(_SAME, items=50, agreement=0.90),
    _SAME,
    replace(_SAME, items=2_000, accuracy=0.85, agreement=0.90),
    replace(_SAME, prevalence=(0.1, 0.1)),
    replace(_SAME, prevalence=(0.05, 0.6), accuracy=0.8, agreement=0.8),
    replace(_SAME, items=None, accuracy=0.85, agreement=0.90),
)
PLANTED = (
    replace(_WORSE, must_find=True),
    replace(_WORSE, accuracy=0.85, agreement=0.90, must_find=True),
    replace(_WORSE, name="5% worse by 0.10, on positives", where="positives", must_find=True),
    replace(_WORSE, prevalence=(0.2, 0.8)),
    replace(_WORSE, prevalence=(0.1, 0.1)),
    replace(_WORSE, name="5% worse by 0.05", loss=0.05),
    replace(_WORSE, name="2.5% worse, 2.5% better by 0.10", turned=True),
    replace(
        _WORSE,
        name="one in 200 worse by 0.09",
        items=60,
        accuracy=0.85,
        agreement=0.90,
        planted=0.005,
        loss=0.09,
    ),
    replace(
        _WORSE,
        name="one in 50 worse by 0.13",
        items=100,
        accuracy=0.85,
        agreement=0.90,
        planted=0.02,
        loss=0.13,
    ),
)
SCATTERED = (SliceWorld(name="every slice differs (κ = 60)", scatter=60.0, agreement=0.90),)
WORLDS = (*EQUAL, *PLANTED, *SCATTERED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one road makes of a world, as shares; None where there is nothing to count."""

    false: float  # of the slices that do not differ, or differ the other way, those called
    found: float | None  # of the planted, those called as they are
    covered: float | None  # of the slices that differ, those whose interval holds the truth
    equivalent: float | None  # of the planted, those called practically equivalent
    named: float | None  # of the planted, those called as they are or named as disagreeing
    wrong: float  # of the called, those called falsely
    expected: float  # what the result itself expects of these


def rates(world: SliceWorld) -> FloatArray:
    """Return P(both, only A, only B, neither is right)."""
    apart = (1 - world.agreement) / 2
    return np.array([world.accuracy - apart, apart, apart, 1 - world.accuracy - apart])


def weaken(right: FloatArray, share: float) -> FloatArray:
    """Take a share of its right answers from A."""
    both, only_a, only_b, neither = right
    kept = 1 - share
    return np.array([both * kept, only_a * kept, only_b + both * share, neither + only_a * share])


def f1_difference(prevalence: FloatArray, positive: FloatArray, negative: FloatArray) -> FloatArray:
    """Return F1 of A − F1 of B from rates ``(…, 4)`` among positives and negatives."""
    found = []
    for only in (1, 2):
        recall = positive[..., 0] + positive[..., only]
        spurious = 1 - negative[..., 0] - negative[..., only]
        top = prevalence * recall
        found.append(2 * top / (prevalence + top + (1 - prevalence) * spurious))
    return found[0] - found[1]


def plant(world: SliceWorld, prevalence: float) -> tuple[FloatArray, FloatArray]:
    """Return rates among positives and negatives that make A worse by the loss."""
    low, high, right = 0.0, 1.0, rates(world)
    for _ in range(50):
        share = (low + high) / 2
        positive = weaken(right, share)
        negative = weaken(right, share) if world.where == "both" else right
        short = -f1_difference(np.array(prevalence), positive, negative) < world.loss
        low, high = (share, high) if short else (low, share)
    return positive, negative


def simulate(
    world: SliceWorld, n_slices: int, generator: np.random.Generator
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return counts ``(n_slices, 8)``, true differences, and the sign of what is planted."""
    items = np.full(n_slices, world.items or 0)
    if world.items is None:
        items = np.exp(generator.normal(np.log(150), 1.2, n_slices)).astype(int).clip(10, 20_000)
    prevalence = generator.uniform(*world.prevalence, n_slices)
    right = np.tile(rates(world), (2, n_slices, 1))  # (positives and negatives, slices, cells)
    if world.scatter is not None:
        right = generator.dirichlet(world.scatter * rates(world), size=(2, n_slices))
    signs = np.zeros(n_slices)
    for place in range(int(world.planted * n_slices)):
        turned = world.turned and place % 2 == 1
        found = np.array(plant(world, prevalence[place]))
        right[:, place] = found[:, [0, 2, 1, 3]] if turned else found
        signs[place] = 1 if turned else -1
    positives = generator.binomial(items, prevalence)
    counts = np.hstack(
        [
            generator.multinomial(positives, right[0]),
            generator.multinomial(items - positives, right[1]),
        ]
    )
    return counts, f1_difference(prevalence, *right), signs


def outcomes_of(counts: IntArray) -> Outcomes:
    """Return outcomes with a slice for each row of counts."""
    place, cell = np.nonzero(counts)
    truth = np.where(cell < 4, 1, 0)
    a = np.where(np.isin(cell % 4, (0, 1)), truth, 1 - truth)
    b = np.where(np.isin(cell % 4, (0, 2)), truth, 1 - truth)
    by = {"slice": [f"{one:06d}" for one in place]}
    return Outcomes.from_counts(truth, {"a": a, "b": b}, counts[place, cell], by=by)


def run(task: tuple[SliceWorld, int, int]) -> tuple[Judged, Judged]:
    """Simulate a world once and judge it pooled, and each slice on its own."""
    world, n_slices, seed = task
    counts, truth, signs = simulate(world, n_slices, np.random.default_rng(seed))
    spec = _spec(counts)
    rows = _rows(spec, seed)
    own = [replace(row, hdi=row.unpooled_hdi, decision=row.unpooled_decision) for row in rows]
    return _judge(spec, rows, truth, signs), _judge(spec, own, truth, signs)


def _spec(counts: IntArray) -> LabelSpec:
    return make_spec(
        outcomes_of(counts),
        metric="f1",
        prior=None,
        defaults=("uniform", "unit"),
        paired=True,
        labels=None,
        pos_label=1,
    )


DOUBTS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
FEW = tuple(world for world in PLANTED if world.name.startswith("one in"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Traded:
    """What a doubt buys and costs, as shares; the doubt is None for slices on their own."""

    doubt: float | None
    found: float  # of the planted
    covered: float
    equivalent: float
    false: float  # of the equal
    equal_equivalent: float


def trade(task: tuple[SliceWorld, int, int]) -> list[Traded]:
    """Judge a world under each doubt, and each slice on its own."""
    world, n_slices, seed = task
    counts, truth, signs = simulate(world, n_slices, np.random.default_rng(seed))
    spec = _spec(counts)
    posterior = pool_slices(spec.view, prior=spec.prior)
    found, planted = [], signs != 0
    for doubt in (*DOUBTS, None):
        one = posterior.alone() if doubt is None else posterior.doubting(doubt)
        options: dict[str, Any] = {"rope": ROPE, "prob": 0.95, "n_draws": N_DRAWS // 2}
        ends = draw_numbers(one, spec, **options, seed=seed_sequence(seed), n_jobs=1).ends
        calls = (ends.low > ROPE.high) * 1 - (ends.high < ROPE.low) * 1
        equal = (ends.low >= ROPE.low) & (ends.high <= ROPE.high)
        covered = (ends.low <= truth) & (truth <= ends.high)
        found.append(
            Traded(
                doubt=doubt,
                found=float((calls == signs)[planted].mean()),
                covered=float(covered[planted].mean()),
                equivalent=float(equal[planted].mean()),
                false=float((calls != 0)[~planted].mean()),
                equal_equivalent=float(equal[~planted].mean()),
            )
        )
    return found


def most_found(world: SliceWorld, level: float = MOST_FALSE) -> float:
    """Return how many of the planted any rule finds that calls this share of the equal.

    The lemma of Neyman and Pearson, for a rule that knows the rates of equal slices and of
    planted ones, but not which of the two models is worse there.
    """
    n = world.items
    assert n is not None
    right, planted = rates(world), plant(world, 0.5)[0]
    counts = np.indices((n + 1, n + 1, n + 1)).reshape(3, -1).T
    counts = counts[counts.sum(axis=1) <= n]  # only A, only B, neither
    counts = np.column_stack([n - counts.sum(axis=1), counts])
    equal = multinomial.pmf(counts, n, right)
    worse = multinomial.pmf(counts, n, planted)
    better = multinomial.pmf(counts, n, planted[[0, 2, 1, 3]])
    order = np.argsort(-(worse + better) / equal)
    called = np.cumsum(equal[order])
    # Called as it is: a rule that knows the side calls the likelier one.
    rightly = np.cumsum(np.where(worse > better, worse, 0.0)[order])
    return float(np.interp(level, called, rightly))


def _rows(spec: LabelSpec, seed: int) -> Sequence[SliceRow]:
    slices = spec.view.slices
    assert slices is not None
    posterior = pool_slices(spec.view, prior=spec.prior)
    options: dict[str, Any] = {"rope": ROPE, "prob": 0.95, "n_draws": N_DRAWS}
    return summarize_rows(
        spec,
        slices,
        draw_slices(posterior, spec, **options, seed=seed_sequence(seed), n_jobs=1),
        observed=observe(spec, slices),
        p_like_overall=posterior.learned.p_like_overall,
        **options,
    )


def _judge(
    spec: LabelSpec, rows: Sequence[SliceRow], truth: FloatArray, signs: FloatArray
) -> Judged:
    slices = spec.view.slices
    assert slices is not None
    known = {key: place for place, key in enumerate(slices)}
    places = [known[row.key] for row in rows]
    truth, signs = truth[places], signs[places]
    calls = np.array([_SIGNS.get(row.decision, 0) for row in rows])
    is_false = (calls != 0) & ((np.abs(truth) <= ROPE.high) | (np.sign(truth) != calls))
    inside = np.array([true in row.hdi for row, true in zip(rows, truth, strict=True)])
    called = max(int(np.count_nonzero(calls)), 1)
    expected = float(sum(row.p_wrong for row in rows))
    planted = signs != 0
    # Slices that are equal have one truth and, pooled, one interval: it holds for all or for none.
    differ = truth != 0
    named = np.array([row.disagrees for row in rows]) | (calls == signs)
    equal = np.array([row.decision is Decision.EQUIVALENT for row in rows])
    return Judged(
        false=float(is_false.sum() / np.count_nonzero(~planted)),
        found=float((calls == signs)[planted].mean()) if planted.any() else None,
        covered=float(inside[differ].mean()) if differ.any() else None,
        equivalent=float(equal[planted].mean()) if planted.any() else None,
        named=float(named[planted].mean()) if planted.any() else None,
        wrong=float(is_false.sum() / called),
        expected=expected / called,
    )


_SIGNS = {Decision.WORSE: -1, Decision.BETTER: 1}
