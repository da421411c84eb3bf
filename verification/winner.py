"""Is the best of many candidates, chosen on the test set, compared honestly with the baseline?

The measured accuracies of k candidates and of the baseline are normal around the true ones. Their
errors are equally correlated, or also within families of candidates, such as checkpoints of one
run. The candidate that looks best is compared with the baseline: as if it had been the only one,
with their number stated, and with the outcomes of all of them, which show how the errors are
correlated. The truths are spread by so many standard errors of a difference. The interval is that
of the package for these standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from outperform._typing import FloatArray
from outperform.decision.intervals import Interval
from outperform.decision.selection import Errors, widened
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_119
EXPERIMENTS = 10_000
ROPE, PROB = 0.01, 0.95
LEAST_COVERAGE, MOST_FALSE = 0.925, 0.025
WAYS = ("alone", "number", "outcomes")
_LEVEL, _FAMILY = 0.8, 5
_N_DRAWS = 20_000
_PART = 1_000  # experiments in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many candidates on how many items, and how far their truths lie apart.

    ``shared`` is the correlation of all errors, ``kin`` that within a family beyond it, ``spread``
    is in standard errors of a difference, and ``ahead`` is by how much all candidates are better
    than the baseline.
    """

    k: int
    n: int
    shared: float
    spread: float
    kin: float = 0.0
    ahead: float = 0.0

    @property
    def error(self) -> float:
        """Return the standard error of a difference."""
        return float(np.sqrt(2 * _LEVEL * (1 - _LEVEL) * (1 - self.shared) / self.n))


_SIZES = (1, 2, 5, 20, 100)
WORLDS = (
    *(
        World(k=k, n=n, shared=shared, spread=spread, kin=kin)
        for k in _SIZES
        for n in (200, 1_000, 5_000)
        for shared in (0.0, 0.7, 0.98)
        for spread in (0.0, 0.5, 1.0, 2.0)
        for kin in (0.0, 0.9)
    ),
    *(World(k=k, n=1_000, shared=0.7, spread=0.0, ahead=ROPE) for k in _SIZES),
)


class Row(NamedTuple):
    """Of each way: coverage, false ≫, and width relative to that of a candidate alone."""

    coverage: tuple[float, ...]
    false: tuple[float, ...]
    width: tuple[float, ...]
    n: int


def run(task: tuple[World, int]) -> Row:
    """Choose the best candidate in so many experiments of a world."""
    world, size = task
    generator = np.random.default_rng([SEED, WORLDS.index(world)])
    single = float(norm.ppf((1 + PROB) / 2)) * world.error
    alone = Interval(low=-single, high=single, prob=PROB)
    joint = Errors.of_draws(-_errors(world, _N_DRAWS, generator)[1:])
    ends = [alone, alone, alone]
    if world.k > 1:
        ends[1:] = [widened(alone, 0.0, errors) for errors in (Errors(world.k), joint)]
    low, high = (np.array([getattr(one, end) for one in ends]) for end in ("low", "high"))
    covered, false = np.zeros(3), np.zeros(3)
    for first in range(0, size, _PART):
        part = min(_PART, size - first)
        errors = _errors(world, part, generator)[1:]
        true = world.ahead + world.spread * world.error * generator.normal(size=errors.shape)
        best = (true + errors).argmax(axis=0), np.arange(part)
        truth, seen = true[best][:, None], (true + errors)[best][:, None]
        covered += ((seen + low <= truth) & (truth <= seen + high)).sum(axis=0)
        false += ((seen + low > ROPE) & (truth <= ROPE + 1e-12)).sum(axis=0)
    return Row(
        coverage=tuple((covered / size).tolist()),
        false=tuple((false / size).tolist()),
        width=tuple(((high - low) / (high - low)[0]).tolist()),
        n=size,
    )


def _errors(world: World, size: int, generator: np.random.Generator) -> FloatArray:
    """Return errors of a zero and of all differences from the baseline, ``(k + 1, size)``.

    What all models share cancels in a difference.
    """
    n_families = -(-world.k // _FAMILY)
    family = generator.normal(size=(n_families, size)).repeat(_FAMILY, axis=0)[: world.k]
    own = generator.normal(size=(world.k, size))
    candidates = np.sqrt(world.kin) * family + np.sqrt(1 - world.kin) * own
    differences = (candidates - generator.normal(size=size)) / np.sqrt(2)
    return np.concatenate([np.zeros((1, size)), world.error * differences])


Found = Mapping[World, Row]


def failures(found: Found) -> list[str]:
    """Return the worlds in which an interval holds too rarely, or ≫ is false too often."""
    wrong = []
    for world, row in found.items():
        for way in (1, 2):
            if share_is_off(row.coverage[way], row.n, low=LEAST_COVERAGE):
                wrong.append(f"winner: {world} covers {row.coverage[way]:.3f} by {WAYS[way]}")
            if share_is_off(row.false[way], row.n, high=MOST_FALSE):
                wrong.append(f"winner: {world} has {row.false[way]:.3f} false ≫ by {WAYS[way]}")
    return wrong


_WAYS = ("alone", "with their number", "with outcomes")


def table(found: Found) -> str:
    """Return, for each number of candidates, the least coverage and the most errors."""
    header = ["candidates"]
    header += [f"coverage {name}" for name in _WAYS]
    header += [f"false ≫ {name}" for name in _WAYS]
    header += [f"on the edge {name}" for name in _WAYS]
    header += ["width with their number", "with outcomes"]
    rows = []
    for k in sorted({world.k for world in found}):
        group = [row for world, row in found.items() if world.k == k and not world.ahead]
        edge = next(row for world, row in found.items() if world.k == k and world.ahead)
        row = [str(k)]
        row += [markdown.percent(min(one.coverage[way] for one in group)) for way in range(3)]
        row += [markdown.percent(max(one.false[way] for one in group)) for way in range(3)]
        row += [markdown.percent(edge.false[way]) for way in range(3)]
        row += [_range([one.width[way] for one in group]) for way in (1, 2)]
        rows.append(row)
    size = next(iter(found.values())).n
    return markdown.table(header, rows, numbers_from=0) + (
        "\nThe lowest coverage and the highest rate of false ≫, in per cent, among worlds with "
        "200, 1,000 and 5,000 items, errors correlated by 0, 0.7 and 0.98 and within families of "
        "five or not, and true accuracies spread by 0, 0.5, 1 and 2 standard errors of a "
        f"difference; {size:,} experiments each, with a standard error of up to "
        f"{100 * share_error(0.925, size):.1f} points; ROPE ±{ROPE:g}. On the edge: every "
        "candidate is better by exactly the edge of the ROPE, so ≫ is false, and its nominal rate "
        "is 2.5%. The width is relative to that of a candidate alone.\n"
    )


def _range(values: Sequence[float]) -> str:
    low, high = (f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
