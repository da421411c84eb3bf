"""How often do 95% intervals hold the truth where spans of one sentence go wrong together?

Sentences are easy or hard, and in a hard one every error is more probable. A span that a
tagger gets wrong is missed, or it is found with a wrong boundary: one missed and one spurious
span. Some more are made up. The two taggers share a part of what makes a span hard, so they
agree more often than chance. All expectations are products, so the truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outperform as op
from outperform._rows import count_rows, place_rows
from outperform._typing import FloatArray, IntArray
from outperform.data.table import Table, group_rows
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_115
BOUNDS = (0.925, 0.98)
LEAST = 10.0  # expected true positives, false positives, false negatives, disagreements
TAGGERS = ("A", "B")
# The narrowest interval of so few draws holds 94.6%, not 95%: coverage comes out 0.4 points low.
_N_DRAWS = 2_000
# Independent spans are for comparison; so many repetitions show what they do.
_BESIDE = 500

_HARD = 0.3  # the share of hard sentences
_TIMES = (0.5, 2.1 + 1 / 15)  # errors in easy and in hard sentences; 1 on the average
_BOUNDARY = 0.6  # the share of errors that leave a spurious span behind
_MADE_UP = 0.2  # candidates for spans from nothing, for each sentence
_BELIEVED = 0.5  # the share of them that a tagger takes


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanWorld:
    """How many sentences and types there are, how good the taggers, and how alike.

    Parameters
    ----------
    n
        Sentences in a test set.
    n_types
        Types of spans; each next one is rarer and harder.
    errors
        The share of true spans of the first type that A and B get wrong.
    shared
        How often what makes a span hard is the same for both taggers.
    density
        True spans for each sentence.
    metric
        The metric.
    """

    n: int
    n_types: int = 1
    errors: tuple[float, float] = (0.15, 0.2)
    shared: float = 0.6
    density: float = 1.5
    metric: str = "f1"

    @property
    def shares(self) -> FloatArray:
        """The share of each type among the true spans."""
        weights = 1.0 / (1.0 + np.arange(self.n_types))
        shares: FloatArray = weights / weights.sum()
        return shares

    @property
    def rates(self) -> FloatArray:
        """How often each tagger gets a true span of each type wrong, ``(2, n_types)``."""
        harder = 1.0 + 0.2 * np.arange(self.n_types)
        return np.outer(self.errors, harder)


_WORLD = SpanWorld(n=1_000)
WORLDS = (
    *(replace(_WORLD, n=n) for n in (100, 300, 1_000)),
    *(replace(_WORLD, n=n, metric="recall") for n in (200, 500)),
    *(replace(_WORLD, n=n, n_types=2, metric="f1_macro") for n in (200, 500)),
    replace(_WORLD, n=500, n_types=4, metric="f1_macro"),
    replace(_WORLD, n=500, errors=(0.15, 0.15)),
    replace(_WORLD, n=500, shared=0.9),
    replace(_WORLD, n=300, density=5.0),
    replace(_WORLD, n=1_000, errors=(0.05, 0.06), n_types=2),
    replace(_WORLD, n=2_000, shared=0.3),
    # Where it ends: some types hardly ever occur.
    replace(_WORLD, n=100, errors=(0.05, 0.06), n_types=4, metric="f1_macro"),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """One repetition: whether the truth was held by sentences' weights and by independent spans."""

    covered: bool
    width: float
    by_spans: bool | None
    width_by_spans: float | None


def expected(world: SpanWorld) -> FloatArray:
    """Return true positives, false positives and false negatives of a sentence.

    ``(3, 2, n_types)``: what, tagger, type.
    """
    true, wrong = world.density * world.shares, world.rates
    spurious = true * wrong * _BOUNDARY + _MADE_UP * _BELIEVED * world.shares
    return np.stack([true * (1 - wrong), spurious, true * wrong])


def truth_of(world: SpanWorld) -> float:
    """Return the true difference of the metric, A − B."""
    if world.metric == "f1_macro":
        tp, fp, fn = expected(world)
    else:
        tp, fp, fn = expected(world).sum(axis=2, keepdims=True)
    values = tp / (tp + fn) if world.metric == "recall" else 2 * tp / (2 * tp + fp + fn)
    a, b = values.mean(axis=1)
    return float(a - b)


def simulate(world: SpanWorld, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw a test set: the sentence of each distinct span, and who has it.

    The second array is ``(n_spans, 3)``: the type where the truth, A or B has the span, and
    the number of types where not.
    """
    times = np.where(generator.random(world.n) < _HARD, _TIMES[1], _TIMES[0])
    sentence = np.repeat(np.arange(world.n), generator.poisson(world.density, size=world.n))
    kind = generator.choice(world.n_types, size=len(sentence), p=world.shares)
    luck, how, together = _luck(world, len(sentence), generator)
    wrong = luck < world.rates[:, kind] * times[sentence]
    shifted = wrong & (how < _BOUNDARY)
    same = shifted.all(axis=0) & together
    apart = shifted & ~same
    more = np.repeat(np.arange(world.n), generator.poisson(_MADE_UP * times))
    kind_more = generator.choice(world.n_types, size=len(more), p=world.shares)
    believed = _luck(world, len(more), generator)[0] < _BELIEVED
    parts = [
        (sentence, kind, np.stack([np.ones_like(same), ~wrong[0], ~wrong[1]])),
        (sentence[same], kind[same], _who(same.sum(), 0, 1, 1)),
        (sentence[apart[0]], kind[apart[0]], _who(apart[0].sum(), 0, 1, 0)),
        (sentence[apart[1]], kind[apart[1]], _who(apart[1].sum(), 0, 0, 1)),
        (more, kind_more, np.concatenate([np.zeros((1, len(more)), dtype=bool), believed])),
    ]
    where, kinds, has = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    seen = has.any(axis=0)
    codes = np.where(has, kinds, world.n_types).T
    return where[seen], codes[seen]


def _luck(
    world: SpanWorld, n: int, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Draw uniform numbers for both taggers, twice, and whether they share them."""
    together = generator.random(n) < world.shared
    luck, how = generator.random((2, 2, n))
    luck[1], how[1] = (np.where(together, one[0], one[1]) for one in (luck, how))
    return luck, how, together


def _who(n: int, *has: int) -> np.ndarray:
    return np.repeat(np.array(has, dtype=bool)[:, None], n, axis=1)


def as_outcomes(world: SpanWorld, sentence: IntArray, codes: IntArray) -> op.Outcomes:
    """Return spans as the package's outcomes, one weight for each sentence."""
    cells, counts = count_rows(list(codes.T), n_labels=world.n_types + 1)
    groups = group_rows(sentence, place_rows(codes.T, cells), n_groups=world.n, n_cells=len(cells))
    return op.Outcomes(
        models=TAGGERS,
        labels=tuple(range(world.n_types)),
        tables=(Table(cells, counts, groups),),
        kind="spans",
    )


def least_expected(world: SpanWorld) -> float:
    """Return what is expected least often: a part of some type and tagger, or a disagreement."""
    parts = world.n * expected(world)
    n = 20_000  # sentences, so that the expected disagreements are known to a few per cent
    _, codes = simulate(replace(world, n=n), np.random.default_rng(SEED))
    disagreements = (codes[:, 1] != codes[:, 2]).sum() * world.n / n
    return float(min(parts.min(), disagreements))


def repeat(world: SpanWorld, first: int, last: int) -> list[Interval]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth, place = truth_of(world), WORLDS.index(world)
    found = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([SEED, place, repetition])
        seen = as_outcomes(world, *simulate(world, generator))
        hdi = _hdi(world, seen, generator)
        beside = None
        if repetition < _BESIDE:
            apart = Table(seen.tables[0].cells, seen.tables[0].counts)
            beside = _hdi(world, replace(seen, tables=(apart,)), generator)
        found.append(
            Interval(
                truth in hdi,
                hdi.width,
                None if beside is None else truth in beside,
                None if beside is None else beside.width,
            )
        )
    return found


def _hdi(
    world: SpanWorld, seen: op.Outcomes, generator: np.random.Generator
) -> op.results.Interval:
    return op.compare(
        seen,
        *TAGGERS,
        metric=world.metric,
        rope=0.01,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    ).hdi


Found = Mapping[SpanWorld, Sequence[Interval]]


def table(found: Found) -> str:
    """Return one row a world; coverage in per cent with its standard error."""
    header = (
        *("metric", "sentences", "types", "errors of A, B", "shared", "spans a sentence"),
        *("true difference", "expected least", "repetitions", "covered", "width"),
        *("independent spans", "width", "must hold"),
    )
    rows = [_row(world, intervals) for world, intervals in found.items()]
    return markdown.table(header, rows) + (
        f"\n95% intervals of A − B, by {_N_DRAWS:,} draws; shares in per cent. Covered: one weight "
        "a sentence, the default. Beside it, the same spans as if they were independent, on the "
        f"first {_BESIDE:,} repetitions.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds whose intervals hold the truth too rarely or too often."""
    failed = []
    for world, intervals in found.items():
        covered = float(np.mean([one.covered for one in intervals]))
        if least_expected(world) >= LEAST and share_is_off(covered, len(intervals), *BOUNDS):
            failed.append(
                f"spans, {world.metric}, {world.n} sentences, {world.n_types} types, "
                f"errors {world.errors}: {covered:.1%} covered"
            )
    return failed


def _row(world: SpanWorld, intervals: Sequence[Interval]) -> list[str]:
    covered = float(np.mean([one.covered for one in intervals]))
    error = share_error(covered, len(intervals))
    least = least_expected(world)
    beside = [one for one in intervals if one.by_spans is not None]
    return [
        world.metric,
        f"{world.n:,}",
        str(world.n_types),
        f"{100 * world.errors[0]:g}, {100 * world.errors[1]:g}",
        f"{100 * world.shared:g}",
        f"{world.density:g}",
        f"{truth_of(world):+.4f}",
        f"{least:.0f}",
        f"{len(intervals):,}",
        markdown.percent(covered, error),
        f"{np.mean([one.width for one in intervals]):.3f}",
        markdown.percent(float(np.mean([one.by_spans for one in beside]))),
        f"{np.mean([one.width_by_spans for one in beside]):.3f}",
        "yes" if least >= LEAST else "no",
    ]
