"""Does a gate flip as often as the noise floor predicts, and do its intervals hold?

The items of a test set have their own chances of a right answer, or their own grades, from worlds
that are not drawn from the package's prior. A few runs are given to ``noise_floor``. Then the
same model is run again, as a baseline and twice as a candidate, and both candidates go through the
gate: what it says is held against the prediction. Gates of means are real ones; those of counts
follow the package's fast rule, which one real gate of every study checks.

The bounds, written down before the run: predicted and simulated flips differ by at most two points
in every world; intervals of flip rate and ICC hold in 92.5 to 98% of all studies; at least 98% of
the real gates agree with the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.gates.rule import GateStatus, judge
from outperform.noise.floor import gate_statuses
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_119
REPETITIONS = 40
GATES = 200  # of each repetition; a tenth if they are drawn
POINTS = 0.02
COVERED = (0.925, 0.98)
_RUNS = 3

Ease = Callable[[np.random.Generator, int], FloatArray]

# How likely the items' answers are to be right; and the flip rate and ICC that follow.
EASE: Mapping[str, Ease] = {
    "beta(4, 0.8)": lambda g, n: g.beta(4, 0.8, n),
    "beta(0.3, 0.3)": lambda g, n: g.beta(0.3, 0.3, n),
    "all 0.9": lambda g, n: np.full(n, 0.9),
    "a tenth are coins": lambda g, n: g.choice([1.0, 0.0, 0.5], n, p=[0.7, 0.2, 0.1]),
    "one in fifty is 0.8": lambda g, n: g.choice([1.0, 0.0, 0.8], n, p=[0.75, 0.23, 0.02]),
}
GRADED = ("graded, normal noise", "graded, skewed noise")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The kind of items, their number, the answers to each in a run, and the gate's ROPE."""

    ease: str
    n: int
    rope: float
    n_trials: int = 1

    @property
    def graded(self) -> bool:
        """Whether the answers are grades."""
        return self.ease in GRADED


WORLDS = (
    *(
        World(ease=ease, n=n, rope=rope)
        for ease, n, rope in (
            *(("beta(4, 0.8)", n, rope) for n, rope in
              ((100, 0.05), (300, 0.02), (300, 0.05), (1_000, 0.01), (1_000, 0.03), (3_000, 0.02))),
            *(("beta(0.3, 0.3)", n, rope) for n, rope in
              ((100, 0.1), (300, 0.05), (1_000, 0.02), (1_000, 0.03), (3_000, 0.02))),
            *(("all 0.9", n, rope) for n, rope in ((300, 0.05), (1_000, 0.02), (1_000, 0.03))),
            *(("a tenth are coins", n, rope) for n, rope in
              ((300, 0.02), (300, 0.03), (1_000, 0.01), (1_000, 0.02), (3_000, 0.01))),
            *(("one in fifty is 0.8", n, rope) for n, rope in
              ((1_000, 0.005), (3_000, 0.003), (3_000, 0.005))),
        )
    ),
    World(ease="beta(4, 0.8)", n=300, rope=0.02, n_trials=3),
    World(ease="beta(4, 0.8)", n=300, rope=0.03, n_trials=5),
    World(ease="a tenth are coins", n=300, rope=0.02, n_trials=4),
    World(ease="all 0.9", n=200, rope=0.03, n_trials=4),
    World(ease=GRADED[0], n=200, rope=0.1),
    World(ease=GRADED[0], n=200, rope=0.15),
    World(ease=GRADED[1], n=200, rope=0.15),
    World(ease=GRADED[1], n=500, rope=0.1),
)  # fmt: skip


class Answered(NamedTuple):
    """A test set of one model, which can be run as often as one likes."""

    run: Callable[[np.random.Generator], FloatArray]  # (n_items, n_trials)


def _items(world: World, generator: np.random.Generator) -> Answered:
    shape = (world.n, world.n_trials)
    if not world.graded:
        ease = EASE[world.ease](generator, world.n)[:, None]
        return Answered(lambda g: (g.random(shape) < ease).astype(np.float64))
    centre = generator.normal(0, 1, world.n)[:, None]
    spread = generator.choice([0.2, 0.8], world.n)[:, None]
    if world.ease == GRADED[0]:
        return Answered(lambda g: centre + spread * g.normal(size=shape))
    return Answered(lambda g: centre + spread * (g.standard_exponential(shape) - 1))


@lru_cache
def true_components(ease: str) -> tuple[float, float]:
    """Return the true flip rate and ICC of one kind of items."""
    if ease in GRADED:
        within = (0.2**2 + 0.8**2) / 2
        return 1.0, 1 / (1 + within)
    if ease.startswith("beta"):
        a, b = (float(part) for part in ease[5:-1].split(","))
        return 2 * a * b / ((a + b) * (a + b + 1)), 1 / (a + b + 1)
    values, shares = {
        "all 0.9": ([0.9], [1.0]),
        "a tenth are coins": ([1.0, 0.0, 0.5], [0.7, 0.2, 0.1]),
        "one in fifty is 0.8": ([1.0, 0.0, 0.8], [0.75, 0.23, 0.02]),
    }[ease]
    p, share = np.array(values), np.array(shares)
    within, mean = float(share @ (p * (1 - p))), float(share @ p)
    return 2 * within, 1 - within / (mean * (1 - mean))


_CODES = {GateStatus.PASS: 0, GateStatus.FAIL: 1, GateStatus.UNDECIDED: 2}


def _statuses(world: World, new: AnyArray, old: AnyArray) -> AnyArray:
    """Return the results of gates; those of counts by the rule that is checked on real ones."""
    if not world.graded and world.n_trials == 1:
        better, worse = (new > old).sum(axis=1), (new < old).sum(axis=1)
        return gate_statuses(better, worse, world.n, op.Rope.from_param(world.rope), 0.95)
    return np.array([_real(world, *pair) for pair in zip(new, old, strict=True)])


def _real(world: World, new: FloatArray, old: FloatArray) -> int:
    """Return the result of a real gate: of counts, or of means per item, as answers in groups."""
    if not world.graded and world.n_trials == 1:
        seen = op.Outcomes.from_correct({"new": new, "old": old})
        compared = op.compare(
            seen, "new", "old", metric="accuracy", rope=world.rope, n_draws=1_000, random_state=0
        )
    else:
        # With fewer draws than usual, gates near the edge would be undecided because of them.
        compared = op.compare(None, new, old, metric="mean", rope=world.rope, random_state=0)
    return _CODES[judge(compared)]


class Noted(NamedTuple):
    """One study: what was predicted, whether intervals hold, and which gates flipped."""

    predicted: float
    flip_rate_held: bool
    icc_held: bool
    flipped: AnyArray  # (GATES,)
    agrees: bool  # whether the rule of counts gives the result of a real gate


Found = Mapping[World, Sequence[Noted]]


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_note(world, repetition) for repetition in range(first, last)]


def _note(world: World, repetition: int) -> Noted:
    settled = [SEED, WORLDS.index(world) if world in WORLDS else 99, repetition]
    generator = np.random.default_rng(settled)
    items = _items(world, generator)
    runs = {f"run{place}": [*items.run(generator)] for place in range(_RUNS)}
    noise = op.noise_floor(runs, rope=world.rope, n_draws=2_000, random_state=settled[2])
    flips, icc = true_components(world.ease)
    counts = not world.graded and world.n_trials == 1
    n_gates = GATES if counts else GATES // 10
    base, one, two = (
        np.stack([items.run(generator).mean(axis=1) for _ in range(n_gates)]) for _ in range(3)
    )
    first = _statuses(world, one, base)
    return Noted(
        noise.p_gate_flips.mean,
        _holds(noise.flip_rate, flips),
        _holds(noise.icc, icc),
        first != _statuses(world, two, base),
        not counts or _real(world, one[0], base[0]) == first[0],
    )


def _holds(summary: op.results.Summary, truth: float) -> bool:
    return bool(summary.hdi.low - 1e-9 <= truth <= summary.hdi.high + 1e-9)


def table(found: Found) -> str:
    """Return predicted and simulated flips of every world."""
    header = ["items", "n", "answers", "ROPE", "predicted", "flipped", "off", "HDI of flip rate",
              "of ICC"]  # fmt: skip
    rows = []
    for world, noted in found.items():
        predicted, flipped, n = _pair(noted)
        error = np.sqrt(max(flipped * (1 - flipped), 0.25 / n) / n)
        rows.append(
            [
                world.ease,
                f"{world.n:,}",
                str(world.n_trials),
                f"{world.rope:g}",
                markdown.percent(predicted),
                markdown.percent(flipped, error),
                f"{100 * (predicted - flipped):+.1f}",
                markdown.percent(float(np.mean([one.flip_rate_held for one in noted]))),
                markdown.percent(float(np.mean([one.icc_held for one in noted]))),
            ]
        )
    n_studies = sum(len(noted) for noted in found.values())
    held = [_coverage(found, name) for name in ("flip_rate_held", "icc_held")]
    return markdown.table(header, rows) + (
        f"\nIn per cent. {n_studies:,} studies of {_RUNS} runs each; over all of them, the 95% HDI "
        f"held the true flip rate in {100 * held[0]:.1f}% and the true ICC in "
        f"{100 * held[1]:.1f}%.\n"
    )


def _pair(noted: Sequence[Noted]) -> tuple[float, float, int]:
    flipped = np.concatenate([one.flipped for one in noted])
    return float(np.mean([one.predicted for one in noted])), float(flipped.mean()), flipped.size


def _coverage(found: Found, name: str) -> float:
    """Return how often an interval held the truth, in the worlds where it has a width."""
    held = [
        getattr(one, name)
        for world, noted in found.items()
        if not (name == "flip_rate_held" and world.graded)
        for one in noted
    ]
    return float(np.mean(held)) if held else 0.95


def failures(found: Found) -> list[str]:
    """Return the predictions that are off by more than two points, and intervals that fail."""
    faults = []
    for world, noted in found.items():
        predicted, flipped, n = _pair(noted)
        if share_is_off(flipped, n, predicted - POINTS, predicted + POINTS):
            faults.append(f"noise: {world}: predicted {predicted:.3f}, flipped {flipped:.3f}")
    n_studies = sum(len(noted) for noted in found.values())
    for name in ("flip_rate_held", "icc_held"):
        share = _coverage(found, name)
        if share_is_off(share, n_studies, *COVERED):
            faults.append(f"noise: {name} in {share:.3f} of {n_studies} studies")
    agreed = _coverage(found, "agrees")
    if share_is_off(agreed, n_studies, 0.98):
        faults.append(f"noise: the rule of counts is that of a real gate in {agreed:.3f}")
    return faults
