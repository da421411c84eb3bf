"""Numbers and decisions of every slice, computed in blocks."""

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
from outperform.inference.spec import Data, LabelSpec, ModelSums, Spec, indicators, measure
from outperform.inference.summary import Summary, SummaryRows, summarize_many
from outperform.inference.thresholds import SAFE_ERRORS
from outperform.posterior.hierarchical import pool_normal
from outperform.posterior.influence import PlugIn
from outperform.posterior.rng import Blocks, child, spread_blocks
from outperform.posterior.slices import SlicesPosterior


@written(
    "key n observed_a observed_b observed mean sd mcse p_worse p_equivalent p_better "
    "p_greater mc_errors p_wrong p_like_overall coarse hdi decision unpooled_hdi "
    "unpooled_decision disagrees"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow(Summary):
    """A − B in one slice.

    See :class:`Summary`.

    Parameters
    ----------
    key
        Value of each column that defines the slices.
    n
        Number of items.
    observed_a, observed_b, observed
        Plug-in values of A and B in the slice, and their difference.
    mean, sd
        Posterior mean and sd of A − B, partially pooled.
    mcse
        Monte Carlo standard error of the mean.
    sd_error
        Monte Carlo standard error of the sd.
    n_draws
        Number of draws on which these numbers are based.
    hdi
        Highest density interval.
    p_worse, p_equivalent, p_better
        Probabilities that A is worse than B by more than the ROPE, that the difference is inside
        the ROPE, and that A is better by more than the ROPE.
    p_greater
        Probability that A − B is above zero.
    decision
        Decision. It is firm only if the slice's unpooled data give the same decision or a leaning
        to the same side, and never ≈ if the unpooled interval excludes the pooled mean.
    unpooled_hdi
        HDI based only on the slice's own data.
    unpooled_decision
        Decision based only on the slice's own data.
    p_wrong
        Probability that a decision of better or worse is wrong, using the prior learned from the
        other slices; 0 if there is no such decision.
    p_like_overall
        Probability that the models behave in this slice as they do overall, using the prior learned
        from the other slices.
    coarse
        Whether another set of draws could change the decision.
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
    unpooled_hdi: Interval
    unpooled_decision: Decision
    p_wrong: float
    p_like_overall: float
    coarse: bool

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo standard errors of the mean, the sd and each probability.

        These errors treat the draws as independent; stratified draws have slightly smaller errors.
        """
        probabilities = {
            name: probability_error(getattr(self, name), self.n_draws)
            for name in ("p_worse", "p_equivalent", "p_better", "p_greater")
        }
        return {"mean": self.mcse, "sd": self.sd_error, **probabilities}

    @property
    def flagged(self) -> bool:
        """Whether the decision is better or worse."""
        return self.decision in _FLAGGED

    @property
    def disagrees(self) -> bool:
        """Whether the slice's own data disagree with the pooled result.

        This is so if the slice's own data would be flagged as better or worse but the pooled result
        is not, and the unpooled interval excludes the pooled mean.
        """
        hidden = self.unpooled_decision in _FLAGGED and self.unpooled_decision is not self.decision
        return hidden or self.mean not in self.unpooled_hdi


_FLAGGED = (Decision.BETTER, Decision.WORSE)


class Numbers(NamedTuple):
    """Statistics of the draws of each slice, one value per slice."""

    summaries: SummaryRows
    masses: MassRows

    @classmethod
    def of(cls, ordered: FloatArray, rope: Rope, prob: float) -> Numbers:
        """Return the statistics of sorted draws ``(n_slices, n_draws)``."""
        return cls(summarize_many(ordered, prob), masses_rows(ordered, rope))

    @property
    def ends(self) -> Ends:
        """The HDI of each slice."""
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
    """Draw every slice, or only some, and return the statistics without the draws."""
    slices = np.arange(posterior.n_slices) if only is None else only
    length = posterior.block_length(n_draws) if only is None else 1
    blocks: dict[int, Numbers] = {}

    def conclude(inside: slice, differences: FloatArray) -> None:
        differences.sort(axis=1)
        blocks[inside.start] = Numbers.of(differences, rope, prob)

    pieces = posterior.pieces(n_draws, spec.measured.needs)
    draw = partial(_draw_blocks, posterior, spec, length=length, n_jobs=n_jobs)
    if len(pieces) == 1:
        draw(conclude, slices, n_draws, seed)
    else:  # parts of the draws are stored until the last part arrives
        step = length * max(1, _WAITING // (length * n_draws))
        stops = np.cumsum([0, *pieces]).tolist()
        for first in range(0, len(slices), step):
            part = slices[first : first + step]
            waiting = np.empty((len(part), n_draws))
            for number, (start, stop) in enumerate(pairwise(stops)):
                put = partial(_put, waiting[:, start:stop])
                draw(put, part, stop - start, child(child(seed, first), number))
            conclude(slice(first, first + len(part)), waiting)
    numbers: Numbers = _joined([blocks[start] for start in sorted(blocks)])
    _refuse_undefined(spec, numbers.summaries.spreads.mean)
    return numbers


def _joined(parts: Sequence[Any]) -> Any:
    """Concatenate the columns of blocks, including nested tuples."""
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
    positions: IntArray,
    n_draws: int,
    seed: SeedSequence,
    *,
    length: int,
    n_jobs: int | None,
) -> None:
    """Draw A − B in these slices, and yield the draws ``(n_slices, n_draws)`` in blocks."""
    needs = spec.measured.needs
    make_worker = posterior.sharing(needs, seed, n_draws, slices=positions, n_jobs=n_jobs)

    def work(blocks: Blocks) -> None:
        worker = make_worker()
        for generator, block in blocks:
            inside = slice(block * length, min((block + 1) * length, len(positions)))
            first, last = positions[inside][[0, -1]].tolist()
            drawn = worker(generator, slice(first, last + 1), n_draws)
            values = np.empty((2, last + 1 - first, n_draws))
            measure(drawn, [spec], values)
            use(inside, values[0] - values[1])

    spread_blocks(
        work,
        n_blocks=-(-len(positions) // length),
        n_gammas=posterior.n_gammas * n_draws * len(positions),
        seed=seed,
        n_jobs=n_jobs,
    )


_MIN_UNPOOLED_DRAWS = 1_000


class SliceNumbers(NamedTuple):
    """Pooled and unpooled statistics of each slice, and the probability of a wrong decision."""

    pooled: Numbers
    unpooled: Numbers
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
    """Draw every slice pooled and unpooled, and flagged slices with the prior from the others."""

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
    flagged = np.flatnonzero(below | above)
    p_wrong = np.zeros(posterior.n_slices)
    if flagged.size:
        masses = draw(posterior.doubting(0.0), 3, only=flagged).masses
        p_wrong[flagged] = 1 - np.where(below[flagged], masses.below, masses.above)
    # The unpooled interval is only for comparison, so a quarter of the draws is enough.
    n_unpooled = min(n_draws, max(_MIN_UNPOOLED_DRAWS, n_draws // 4))
    return SliceNumbers(pooled, draw(posterior.alone(), 2, n_unpooled), p_wrong)


def _refuse_undefined(spec: LabelSpec, means: FloatArray) -> None:
    if np.isnan(means).any():
        raise DataError(
            f"{spec.metric.name} is 0/0 in some draws of "
            f"{int(np.isnan(means).sum()):,} slices; use another metric"
        )


_AT_ONCE = 1 << 22


def observe(spec: LabelSpec, slices: Slices) -> FloatArray:
    """Return the observed values of A and B in each slice, ``(2, n_slices)``."""
    cells, counts = slices.table.cells, slices.table.counts.astype(np.float64)
    inside = indicators(cells[:, 0], len(slices)).multiply(counts).T
    step = max(1, _AT_ONCE // spec.view.n_classes**2)
    values = np.empty((2, len(slices)))
    for model in range(2):
        model_sums = ModelSums(spec, spec.view, model)
        sums = (model_sums.terms(cells[:, [1, 2 + model]]) @ inside).tocsc()
        for start in range(0, len(slices), step):
            block = slice(start, start + step)
            values[model, block] = _value(model_sums, sums[:, block].toarray())
    return values


def _value(model_sums: ModelSums, sums: FloatArray) -> FloatArray:
    """Return the metric of several slices, given their sums."""
    spec, n_classes = model_sums.spec, model_sums.view.n_classes
    if spec.measured.average not in ("macro", "weighted") or spec.choices.labels is not None:
        observed: FloatArray = PlugIn(sums, model_sums.evaluate).observed[0]
        return observed
    # Slices are grouped by their classes, because a missing class has no observed value.
    occurs = sums[:n_classes].T > 0
    first, which = distinct_rows(occurs)
    values = np.empty(len(occurs))
    for group, pattern in enumerate(occurs[first]):
        classes, inside = tuple(np.flatnonzero(pattern).tolist()), which == group
        part = ModelSums(replace(spec, classes=classes), model_sums.view, 0)
        values[inside] = PlugIn(sums[:, inside], part.evaluate).observed[0]
    return values


def summarize_rows(
    spec: Spec,
    slices: Slices | Parts,
    drawn: SliceNumbers,
    *,
    observed: FloatArray,
    p_like_overall: FloatArray,
    rope: Rope,
    prob: float,
    n_draws: int,
) -> tuple[SliceRow, ...]:
    """Return one row per slice, most concerning first.

    Rows are sorted by the probability that A is worse than B by more than the ROPE, then by the
    mean (worst first), then by the original order.
    """
    numbers, unpooled, p_wrong = drawn
    better = spec.metric.greater_is_better
    below, inside, above, greater = (column.tolist() for column in numbers.masses)
    worse, good = (below, above) if better else (above, below)
    near = _near_an_edge(numbers.ends, rope)
    unmatched = spec.never_matches(0) or spec.never_matches(1)
    rows = []
    for i, key in enumerate(slices):
        summary = numbers.summaries.row(i, prob, n_draws)
        hdi = summary.hdi
        values = observed[:, i].tolist()
        unpooled_hdi = unpooled.ends.interval(i, prob, signed=True)
        decision = decide(hdi, rope, numbers.masses.row(i), greater_is_better=better)
        unpooled_decision = decide(
            unpooled_hdi, rope, unpooled.masses.row(i), greater_is_better=better
        )
        if decision is Decision.EQUIVALENT and summary.mean not in unpooled_hdi:
            decision = Decision.UNDECIDED
        decision = Decision.UNDECIDED if unmatched else supported(decision, unpooled_decision)
        rows.append(
            SliceRow(
                key=key,
                n=int(slices.n[i]),
                observed_a=values[0],
                observed_b=values[1],
                observed=values[0] - values[1],
                **summary._fields(),
                sd_error=float(numbers.summaries.spreads.sd_error[i]),
                n_draws=n_draws,
                p_worse=worse[i],
                p_equivalent=inside[i],
                p_better=good[i],
                p_greater=greater[i],
                decision=decision,
                unpooled_hdi=unpooled_hdi,
                unpooled_decision=Decision.UNDECIDED if unmatched else unpooled_decision,
                p_wrong=float(p_wrong[i]) if decision in _FLAGGED else 0.0,
                p_like_overall=float(p_like_overall[i]),
                coarse=bool(near[i]) and _is_coarse(hdi, rope),
            )
        )
    sign = 1.0 if better else -1.0
    return tuple(sorted(rows, key=lambda row: (-row.p_worse, sign * row.mean)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Slices that are drawn separately, with their keys, data, items and units.

    A unit is an item or a group of items.
    """

    by: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    data: tuple[Data, ...]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.keys)

    @property
    def n(self) -> IntArray:
        """Number of items per slice."""
        return np.array([part.n for part in self.data])

    @property
    def n_units(self) -> IntArray:
        """Number of units per slice."""
        return np.array([_n_units(part) for part in self.data])


def _n_units(part: Data) -> int:
    if isinstance(part, Scores):
        return part.n if part.n_groups is None else part.n_groups
    return part.n if part.groups is None else part.groups.n


class PooledSlices(NamedTuple):
    """Pooled and unpooled statistics of slices, and the probability that each is like overall."""

    numbers: SliceNumbers
    p_like_overall: FloatArray


def pool_differences(
    own: FloatArray,
    n: IntArray,
    *,
    rope: Rope,
    prob: float,
    seed: SeedSequence,
    together: bool = False,
) -> PooledSlices:
    """Pool and summarise draws of A − B in slices ``(n_slices, n_draws)``.

    Parameters
    ----------
    own
        Unpooled draws, from the slice's own data.
    n
        Number of items or groups in each slice.
    rope, prob
        The ROPE, and the mass of the HDI.
    seed
        Seed of the pooling.
    together
        Whether a group can belong to several slices, which makes the draws of slices joint.
    """
    pooled, p_like_overall = pool_normal(own, n, seed, together=together)
    numbers, alone = (Numbers.of(np.sort(each, axis=1), rope, prob) for each in (pooled, own))
    below, above = numbers.ends.high < rope.low, numbers.ends.low > rope.high
    wrong = 1 - np.where(below, numbers.masses.below, numbers.masses.above)
    return PooledSlices(
        SliceNumbers(numbers, alone, np.where(below | above, wrong, 0.0)), p_like_overall
    )


def count_decisions(rows: tuple[SliceRow, ...]) -> dict[Decision, int]:
    """Return the number of slices with each decision."""
    counts = dict.fromkeys(Decision, 0)
    for row in rows:
        counts[row.decision] += 1
    return counts


def _near_an_edge(ends: Ends, rope: Rope) -> AnyArray:
    """Return a mask of the few slices whose HDI may be close to an edge, for an exact check."""
    near = np.zeros(len(ends.low), dtype=bool)
    for end, error in ((ends.low, ends.mcse_low), (ends.high, ends.mcse_high)):
        for edge in (rope.low, rope.high):
            near |= np.abs(end - edge) < SAFE_ERRORS * error
    return near


def _is_coarse(hdi: Interval, rope: Rope) -> bool:
    gap, error = margin(hdi, rope)
    return gap < SAFE_ERRORS * error
