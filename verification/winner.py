"""Is the best of many candidates, chosen on the test set, compared honestly with the baseline?

The true accuracies of k candidates lie around the baseline's, as far apart as a few standard errors
of a difference, and the ease of an item is shared by all models more or less. The candidate with
the most right answers is compared with the baseline: as if it had been the only one, with their
number stated, and with the outcomes of all of them. The single posterior is that of
``verification.looks``, the covariance of the errors that of the data; what follows from them is
the package's own rule. Of some test sets ``op.compare`` is asked as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import outperform as op
from outperform._typing import FloatArray
from outperform.decision.intervals import Interval
from outperform.decision.selection import Errors, widened
from verification import markdown
from verification.chance import share_error, share_is_off
from verification.looks import posteriors

SEED = 20_261_119
REPETITIONS = 1_000
ROPE, PROB = 0.01, 0.95
LEAST_COVERAGE, MOST_FALSE = 0.925, 0.025
WAYS = ("alone", "number", "outcomes")
_LEVEL = 0.8
_N_DRAWS = 4_000
_ASKED, _MOST_ASKED = 2, 10_000  # test sets of a world, of so many answers, that compare is asked
_MOST_APART = 0.15  # of the width: what compare may differ by, by Monte Carlo error of the ends


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many candidates on how many items; the spread of their truths in standard errors.

    ``shared`` is the part of an item's ease that all models share, and ``ahead`` by how much the
    candidates are better than the baseline.
    """

    k: int
    n: int
    shared: float
    spread: float
    ahead: float = 0.0


WORLDS = (
    *(
        World(k=k, n=n, shared=shared, spread=spread)
        for k in (1, 2, 5, 20, 100)
        for n in (200, 1_000, 5_000)
        for shared in (0.0, 0.7, 0.98)
        for spread in (0.0, 0.5, 1.0, 2.0)
    ),
    *(
        World(k=k, n=n, shared=0.7, spread=0.0, ahead=ROPE)
        for k in (1, 5, 20, 100)
        for n in (1_000, 5_000)
    ),
)


class Noted(NamedTuple):
    """One test set: the true difference, and the interval of each way to compare."""

    truth: float
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    asked: float  # how far compare's ends are from these, as a share of the width; NaN if not asked


Found = Mapping[World, Sequence[Noted]]


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    seen = [_draw(world, repetition) for repetition in range(first, last)]
    counts = np.array([one.counts for one in seen]).reshape(-1, 2)
    found = posteriors(
        np.full(len(seen), world.n), counts[:, 0], counts[:, 1], rope=ROPE, prob=PROB
    )
    return [
        _note(world, one, mean, low, high)
        for one, mean, low, high in zip(seen, found.mean, found.low, found.high, strict=True)
    ]


class _Seen(NamedTuple):
    truth: float
    counts: tuple[int, int]
    errors: Errors
    asked: tuple[Interval, Interval] | None


def _draw(world: World, repetition: int) -> _Seen:
    place = WORLDS.index(world) if world in WORLDS else len(WORLDS)
    generator = np.random.default_rng([SEED, place, repetition])
    ease = np.sqrt(world.shared) * generator.normal(size=world.n)
    ease = ease + np.sqrt(1 - world.shared) * generator.normal(size=(world.k + 1, world.n))
    level = norm.ppf(_LEVEL)
    apart = 2 * np.mean((ease[0] < level) != (ease[1] < level)) / 2
    error = np.sqrt(max(apart, 1 / world.n) / world.n)
    truth = _LEVEL + world.ahead + world.spread * error * generator.normal(size=world.k + 1)
    truth[-1] = _LEVEL  # the baseline
    truth = np.clip(truth, 0.01, 0.99)
    right = ease < norm.ppf(truth)[:, None]
    best, base = int(right[:-1].sum(axis=1).argmax()), world.k
    counts = (
        int((right[best] & ~right[base]).sum()), int((right[base] & ~right[best]).sum())
    )  # fmt: skip
    differences = right[:-1].astype(np.float64) - right[base]
    return _Seen(
        truth=float(truth[best] - truth[base]),
        counts=counts,
        errors=_errors(differences, generator),
        asked=_ask(right, best, repetition)
        if repetition < _ASKED and right.size <= _MOST_ASKED
        else None,
    )


def _errors(differences: FloatArray, generator: np.random.Generator) -> Errors:
    """Return the errors of all candidates by the covariance of their differences in the data."""
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(differences)))
    factors = vectors * np.sqrt(np.maximum(values, 0.0))
    return Errors.of_draws(factors @ generator.normal(size=(len(factors), _N_DRAWS)))


def _ask(right: FloatArray, best: int, seed: int) -> tuple[Interval, Interval]:
    seen = op.Outcomes.from_correct({f"m{i:03}": one for i, one in enumerate(right)})
    names = f"m{best:03}", f"m{len(right) - 1:03}"
    one, two = (
        op.compare(
            seen, *names, metric="accuracy", rope=ROPE, random_state=seed, chosen_from=candidates
        ).hdi
        for candidates in (len(right) - 1, seen)
    )
    return one, two


def _note(world: World, seen: _Seen, mean: float, low: float, high: float) -> Noted:
    single = Interval(low=low, high=high, prob=PROB)
    found = [single, single, single]
    if world.k > 1:
        found[1:] = [widened(single, mean, one) for one in (Errors(world.k), seen.errors)]
    off = np.nan
    if seen.asked is not None:
        gaps = [
            max(abs(asked.low - fast.low), abs(asked.high - fast.high)) / fast.width
            for asked, fast in zip(seen.asked, found[1:], strict=True)
        ]
        off = max(gaps)
    lows, highs = (tuple(getattr(one, end) for one in found) for end in ("low", "high"))
    return Noted(seen.truth, lows, highs, off)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Of each way: coverage, false ≫, and width relative to that of a candidate alone."""

    coverage: tuple[float, ...]
    false: tuple[float, ...]
    width: tuple[float, ...]
    n: int
    asked: float


def summarise(noted: Sequence[Noted]) -> Row:
    """Count over the test sets of one world."""
    truth = np.array([one.truth for one in noted])[:, None]
    low, high = (np.array([getattr(one, end) for one in noted]) for end in ("low", "high"))
    width = high - low
    asked = np.array([one.asked for one in noted])
    return Row(
        coverage=tuple(((low <= truth) & (truth <= high)).mean(axis=0).tolist()),
        false=tuple(((low > ROPE) & (truth <= ROPE + 1e-9)).mean(axis=0).tolist()),
        width=tuple((width.mean(axis=0) / width[:, 0].mean()).tolist()),
        n=len(noted),
        asked=0.0 if np.isnan(asked).all() else float(np.nanmax(asked)),
    )


def failures(found: Found) -> list[str]:
    """Return the worlds in which an interval holds too rarely, or ≫ is false too often."""
    wrong = []
    for world, noted in found.items():
        row = summarise(noted)
        for way in (1, 2):
            if share_is_off(row.coverage[way], row.n, low=LEAST_COVERAGE):
                wrong.append(f"winner: {world} covers {row.coverage[way]:.3f} by {WAYS[way]}")
            if share_is_off(row.false[way], row.n, high=MOST_FALSE):
                wrong.append(f"winner: {world} has {row.false[way]:.3f} false ≫ by {WAYS[way]}")
        if row.asked > _MOST_APART:
            wrong.append(f"winner: {world} is {row.asked:.3f} from what compare returns")
    return wrong


def table(found: Found) -> str:
    """Return, for each number of candidates and items, the least coverage and the most errors."""
    header = ["candidates", "items"]
    header += [f"coverage {name}" for name in ("alone", "with their number", "with outcomes")]
    header += [f"false ≫ {name}" for name in ("alone", "with their number", "with outcomes")]
    header += ["width with their number", "with outcomes"]
    groups: dict[tuple[int, int], list[Row]] = {}
    for world, noted in found.items():
        if not world.ahead:
            groups.setdefault((world.k, world.n), []).append(summarise(noted))
    rows = []
    for (k, n), group in groups.items():
        row = [str(k), f"{n:,}"]
        row += [markdown.percent(min(one.coverage[way] for one in group)) for way in range(3)]
        row += [markdown.percent(max(one.false[way] for one in group)) for way in range(3)]
        row += [_range([one.width[way] for one in group]) for way in (1, 2)]
        rows.append(row)
    size = next(iter(groups.values()))[0].n
    return markdown.table(header, rows, numbers_from=0) + (
        f"\nThe lowest coverage and the highest rate of false ≫ among worlds that differ in the "
        "shared part of an item's ease (0, 0.7, 0.98) and in the spread of the candidates' true "
        f"accuracies (0, 0.5, 1 and 2 standard errors of a difference); {size:,} test sets each, "
        f"so with a standard error of {100 * share_error(0.95, size):.1f} points; ROPE ±{ROPE:g}. "
        "The width is relative to that of a candidate alone, where it is least and most.\n"
    )


def edge_table(found: Found) -> str:
    """Return what is said where every candidate is better by exactly the edge of the ROPE."""
    header = ["candidates", "items"]
    header += [f"false ≫ {name}" for name in ("alone", "with their number", "with outcomes")]
    rows = []
    for world, noted in found.items():
        if world.ahead:
            row = summarise(noted)
            shares = [markdown.percent(one, share_error(one, row.n)) for one in row.false]
            rows.append([str(world.k), f"{world.n:,}", *shares])
    return markdown.table(header, rows, numbers_from=0) + (
        "\nAll candidates are better than the baseline by exactly the edge of the ROPE, so ≫ is "
        "false, and its nominal rate is 2.5%.\n"
    )


def _range(values: Sequence[float]) -> str:
    low, high = (f"{one:.2f}" for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
