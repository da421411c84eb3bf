"""Numbers and decisions of every slice, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from outperform._json import written
from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray, SeedSequence
from outperform.data.pool import Slices
from outperform.data.scores import Scores
from outperform.decision.intervals import Ends, Interval
from outperform.decision.ranks import MassRows, masses_rows
from outperform.decision.rope import (
    Decision,
    Rope,
    decide,
    margin,
    probability_error,
    supported,
)
from outperform.errors import DataError
from outperform.inference.diagnostics import SAFE_ERRORS
from outperform.inference.spec import Data, LabelSpec, ModelSums, Spec, indicators, measure
from outperform.inference.summary import Summary, SummaryRows, summarize_many
from outperform.posterior.hierarchical import pool_normal
from outperform.posterior.influence import PlugIn
from outperform.posterior.rng import Blocks, child, spread_blocks
from outperform.posterior.slices import SlicesPosterior


@written(
    "key n observed_a observed_b observed mean sd mcse p_worse p_equivalent p_better "
    "p_greater errors p_wrong like_whole coarse hdi decision own_hdi own_decision disagrees"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow(Summary):
    """A − B in one slice.

    See :class:`Summary`.

    Parameters
    ----------
    key
        The slice: the value of each column that divides the items.
    n
        How many items it has.
    observed_a, observed_b, observed
        The plug-in values of A and of B in the slice alone, and their difference.
    mean, sd
        Of A − B, pulled toward the whole.
    mcse
        The Monte Carlo error of the mean.
    sd_error
        The Monte Carlo error of the sd.
    n_draws
        How many draws these numbers rest on.
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probabilities that A is worse than B by more than the ROPE, that the
        difference lies in it, and that A is better.
    p_greater
        The probability that A − B is above zero.
    decision
        The decision; firm only where the slice's own items decide or lean the same way, and
        never ≈ where its own interval leaves out the pooled mean.
    own_hdi
        The narrowest interval of the slice on its own, without the others.
    own_decision
        The decision on it.
    p_wrong
        The probability that a decision of better or worse is wrong if the slice is taken for
        one like the others as far as these teach it; 0 without such a decision.
    like_whole
        The probability that the models answer in this slice as they do elsewhere, as far as
        the others teach it.
    coarse
        Whether so few draws leave the decision open.
    """

    key: tuple[str, ...]
    n: int
    observed_a: float
    observed_b: float
    observed: float
    sd_error: float
    n_draws: int
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    own_hdi: Interval
    own_decision: Decision
    p_wrong: float
    like_whole: float
    coarse: bool

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo error of the mean, the sd and each probability.

        They take the draws as independent; what is drawn by share errs a little less.
        """
        of_probability = {
            name: probability_error(getattr(self, name), self.n_draws)
            for name in ("p_worse", "p_equivalent", "p_better", "p_greater")
        }
        return {"mean": self.mcse, "sd": self.sd_error, **of_probability}

    @property
    def called(self) -> bool:
        """Whether the decision is better or worse."""
        return self.decision in _CALLS

    @property
    def disagrees(self) -> bool:
        """Whether the slice's own items say otherwise than the pooled numbers.

        They do where they alone would be called better or worse and the slice is not, and where
        their own interval leaves out the pooled mean.
        """
        hidden = self.own_decision in _CALLS and self.own_decision is not self.decision
        return hidden or self.mean not in self.own_hdi


_CALLS = (Decision.BETTER, Decision.WORSE)


class Numbers(NamedTuple):
    """What the draws of each slice say, one value a slice."""

    summaries: SummaryRows
    masses: MassRows

    @classmethod
    def of(cls, ordered: FloatArray, rope: Rope, prob: float) -> Numbers:
        """Return them for rows of sorted draws ``(n_slices, n_draws)``."""
        return cls(summarize_many(ordered, prob), masses_rows(ordered, rope))

    @property
    def ends(self) -> Ends:
        """The narrowest interval of each slice."""
        return self.summaries.hdi


def draw_numbers(
    posterior: SlicesPosterior,
    spec: LabelSpec,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: SeedSequence,
    n_jobs: int | None,
    only: IntArray | None = None,
) -> Numbers:
    """Draw every slice, or these only, and keep the numbers; the draws are not kept."""
    places = np.arange(posterior.n_slices) if only is None else only
    length = posterior.block_length(n_draws) if only is None else 1
    blocks: dict[int, Numbers] = {}

    def conclude(inside: slice, differences: FloatArray) -> None:
        differences.sort(axis=1)
        blocks[inside.start] = Numbers.of(differences, rope, prob)

    pieces = posterior.pieces(n_draws, spec.measured.needs)
    draw = partial(_draw_blocks, posterior, spec, length=length, n_jobs=n_jobs)
    if len(pieces) == 1:
        draw(conclude, places, n_draws, seed)
    else:  # draws that come in pieces wait for the last of them
        step = length * max(1, _WAITING // (length * n_draws))
        stops = np.cumsum([0, *pieces]).tolist()
        for first in range(0, len(places), step):
            some = places[first : first + step]
            waiting = np.empty((len(some), n_draws))
            for number, (start, stop) in enumerate(pairwise(stops)):
                put = partial(_put, waiting[:, start:stop])
                draw(put, some, stop - start, child(child(seed, first), number))
            conclude(slice(first, first + len(some)), waiting)
    numbers: Numbers = _joined([blocks[start] for start in sorted(blocks)])
    _refuse_undefined(spec, numbers.summaries.spreads.mean)
    return numbers


def _joined(parts: Sequence[Any]) -> Any:
    """Put columns of blocks one after the other, whatever the tuples in which they are."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return type(parts[0])(*map(_joined, zip(*parts, strict=True)))


_WAITING = 1 << 24


def _put(waiting: FloatArray, inside: slice, differences: FloatArray) -> None:
    waiting[inside] = differences


def _draw_blocks(
    posterior: SlicesPosterior,
    spec: LabelSpec,
    use: Callable[[slice, FloatArray], None],
    places: IntArray,
    n_draws: int,
    seed: SeedSequence,
    *,
    length: int,
    n_jobs: int | None,
) -> None:
    """Draw A − B of these slices, and use the draws ``(n_slices, n_draws)`` block by block."""
    needs = spec.measured.needs
    make_worker = posterior.sharing(needs, seed, n_draws, places=places, n_jobs=n_jobs)

    def work(blocks: Blocks) -> None:
        worker = make_worker()
        for generator, block in blocks:
            inside = slice(block * length, min((block + 1) * length, len(places)))
            first, last = places[inside][[0, -1]].tolist()
            drawn = worker(generator, slice(first, last + 1), n_draws)
            values = np.empty((2, last + 1 - first, n_draws))
            measure(drawn, [spec], values)
            use(inside, values[0] - values[1])

    spread_blocks(
        work,
        n_blocks=-(-len(places) // length),
        n_gammas=posterior.n_gammas * n_draws * len(places),
        seed=seed,
        n_jobs=n_jobs,
    )


_FEWEST_OWN = 1_000


class SliceNumbers(NamedTuple):
    """The numbers of each slice pooled and on its own, and how probably a call is wrong."""

    pooled: Numbers
    own: Numbers
    p_wrong: FloatArray


def draw_slices(
    posterior: SlicesPosterior,
    spec: LabelSpec,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: SeedSequence,
    n_jobs: int | None,
) -> SliceNumbers:
    """Draw every slice with the others and without, and those called as the others teach."""

    def draw(
        of: SlicesPosterior, stream: int, n: int = n_draws, only: IntArray | None = None
    ) -> Numbers:
        return draw_numbers(
            of,
            spec,
            rope=rope,
            prob=prob,
            n_draws=n,
            seed=child(seed, stream),
            n_jobs=n_jobs,
            only=only,
        )

    pooled = draw(posterior, 1)
    below, above = pooled.ends.high < rope.low, pooled.ends.low > rope.high
    called = np.flatnonzero(below | above)
    p_wrong = np.zeros(posterior.n_slices)
    if called.size:
        masses = draw(posterior.doubting(0.0), 3, only=called).masses
        p_wrong[called] = 1 - np.where(below[called], masses.below, masses.above)
    # A slice's own interval is there to be compared; a quarter of the draws will do for that.
    few = min(n_draws, max(_FEWEST_OWN, n_draws // 4))
    return SliceNumbers(pooled, draw(posterior.alone(), 2, few), p_wrong)


def _refuse_undefined(spec: LabelSpec, means: FloatArray) -> None:
    if np.isnan(means).any():
        raise DataError(
            f"{spec.metric.name} is 0/0 in some draws of "
            f"{int(np.isnan(means).sum()):,} slices; use another metric"
        )


_AT_ONCE = 1 << 22


def observe(spec: LabelSpec, slices: Slices) -> FloatArray:
    """Return what was observed of A and of B in each slice, ``(2, n_slices)``."""
    cells, counts = slices.table.cells, slices.table.counts.astype(np.float64)
    inside = indicators(cells[:, 0], len(slices)).multiply(counts).T
    step = max(1, _AT_ONCE // spec.view.n_classes**2)
    found = np.empty((2, len(slices)))
    for model in range(2):
        own = ModelSums(spec, spec.view, model)
        sums = (own.terms(cells[:, [1, 2 + model]]) @ inside).tocsc()
        for start in range(0, len(slices), step):
            some = slice(start, start + step)
            found[model, some] = _value(own, sums[:, some].toarray())
    return found


def _value(own: ModelSums, sums: FloatArray) -> FloatArray:
    """Return the values of several slices at their sums."""
    spec, n_classes = own.spec, own.view.n_classes
    if spec.measured.average not in ("macro", "weighted") or spec.choices.labels is not None:
        whole: FloatArray = PlugIn(sums, own.evaluate).observed[0]
        return whole
    # Of a class that a slice lacks nothing is observed; slices with the same classes go together.
    occurs = sums[:n_classes].T > 0
    first, which = distinct_rows(occurs)
    values = np.empty(len(occurs))
    for place, pattern in enumerate(occurs[first]):
        classes = tuple(np.flatnonzero(pattern).tolist())
        there = ModelSums(replace(spec, classes=classes), own.view, 0)
        values[which == place] = PlugIn(sums[:, which == place], there.evaluate).observed[0]
    return values


def summarize_rows(
    spec: Spec,
    slices: Slices | Parts,
    drawn: SliceNumbers,
    *,
    observed: FloatArray,
    like_whole: FloatArray,
    rope: Rope,
    prob: float,
    n_draws: int,
) -> tuple[SliceRow, ...]:
    """Return a row for each slice, the most concerning first.

    Concern is the probability that A is worse than B by more than the ROPE;
    among equals the worse mean comes first, then the slices' own order.
    """
    numbers, own, p_wrong = drawn
    better = spec.metric.greater_is_better
    below, inside, above, greater = (column.tolist() for column in numbers.masses)
    worse, good = (below, above) if better else (above, below)
    near = _near_an_edge(numbers.ends, rope)
    unmatched = spec.never_matches(0) or spec.never_matches(1)
    rows = []
    for place, key in enumerate(slices):
        summary = numbers.summaries.row(place, prob, n_draws)
        hdi = summary.hdi
        seen = observed[:, place].tolist()
        own_hdi = own.ends.interval(place, prob, signed=True)
        decision = decide(hdi, rope, numbers.masses.row(place), greater_is_better=better)
        alone = decide(own_hdi, rope, own.masses.row(place), greater_is_better=better)
        if decision is Decision.EQUIVALENT and summary.mean not in own_hdi:
            decision = Decision.UNDECIDED
        decision = Decision.UNDECIDED if unmatched else supported(decision, alone)
        rows.append(
            SliceRow(
                key=key,
                n=int(slices.n[place]),
                observed_a=seen[0],
                observed_b=seen[1],
                observed=seen[0] - seen[1],
                **summary._fields(),
                sd_error=float(numbers.summaries.spreads.sd_error[place]),
                n_draws=n_draws,
                p_worse=worse[place],
                p_equivalent=inside[place],
                p_better=good[place],
                p_greater=greater[place],
                decision=decision,
                own_hdi=own_hdi,
                own_decision=Decision.UNDECIDED if unmatched else alone,
                p_wrong=float(p_wrong[place]) if decision in _CALLS else 0.0,
                like_whole=float(like_whole[place]),
                coarse=bool(near[place]) and _is_coarse(hdi, rope),
            )
        )
    sign = 1.0 if better else -1.0
    return tuple(sorted(rows, key=lambda row: (-row.p_worse, sign * row.mean)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Slices that are each asked alone: their keys, their data, items and units.

    A unit is what is weighed as one: an item, or a group of them.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    data: tuple[Data, ...]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.keys)

    @property
    def n(self) -> IntArray:
        """How many items each slice has."""
        return np.array([part.n for part in self.data])

    @property
    def n_units(self) -> IntArray:
        """How many units each slice has."""
        return np.array([_n_units(part) for part in self.data])


def _n_units(part: Data) -> int:
    if isinstance(part, Scores):
        return part.n if part.n_groups is None else part.n_groups
    return part.n if part.groups is None else part.groups.n


class PooledSlices(NamedTuple):
    """What draws of each slice say, pooled and alone, and what was learned of them."""

    numbers: SliceNumbers
    like_whole: FloatArray


def pool_differences(
    own: FloatArray,
    n: IntArray,
    *,
    rope: Rope,
    prob: float,
    seed: SeedSequence,
    together: bool = False,
) -> PooledSlices:
    """Pool draws of A − B in slices ``(n_slices, n_draws)``, and sum them up.

    Parameters
    ----------
    own
        Draws as the items of each slice alone give them.
    n
        How many items, or groups of them, each has.
    rope, prob
        What is asked of the draws.
    seed
        Of the prior's part of the draws.
    together
        Whether a group may lie in several slices, so that the draws of slices are joint.
    """
    pooled, like_whole = pool_normal(own, n, seed, together=together)
    numbers, alone = (Numbers.of(np.sort(each, axis=1), rope, prob) for each in (pooled, own))
    below, above = numbers.ends.high < rope.low, numbers.ends.low > rope.high
    wrong = 1 - np.where(below, numbers.masses.below, numbers.masses.above)
    return PooledSlices(
        SliceNumbers(numbers, alone, np.where(below | above, wrong, 0.0)), like_whole
    )


def count_decisions(rows: tuple[SliceRow, ...]) -> dict[Decision, int]:
    """Return how many slices have each decision."""
    counts = dict.fromkeys(Decision, 0)
    for row in rows:
        counts[row.decision] += 1
    return counts


def _near_an_edge(ends: Ends, rope: Rope) -> AnyArray:
    """Return which slices deserve the exact question, of which there are few."""
    near = np.zeros(len(ends.low), dtype=bool)
    for end, error in ((ends.low, ends.mcse_low), (ends.high, ends.mcse_high)):
        for edge in (rope.low, rope.high):
            near |= np.abs(end - edge) < SAFE_ERRORS * error
    return near


def _is_coarse(hdi: Interval, rope: Rope) -> bool:
    gap, error = margin(hdi, rope)
    return gap < SAFE_ERRORS * error
