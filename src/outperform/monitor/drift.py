"""Test at every look, within one error budget, whether newer batches differ from older ones.

If nothing changed, the order of the items is random: given all items so far, those of the newer
batches are a random subset. So the sum of any statistic over that subset has a known
distribution, and its tail has a bound that is valid for every batch size and every metric.

The subset is drawn without replacement, and a sum over it has no larger moment generating function
than one over items drawn with replacement (Hoeffding 1963, theorem 4). With values a of mean 0 over
all N items, n of them newer,

    log P(S ≥ s) ≤ min over λ ≥ 0 of  n log(mean exp(λ a)) − λ s,

and the same applies to the older items and −s. The second bound conditions on the number drawn:
if each item is newer with probability p = n / N, then given that n of them are,

    log P(S ≥ s) ≤ min over λ, v of  Σ log(1 − p + p exp(λ a + v)) − λ s − v n − log Bin(n; N, p).

This bound is the smaller one if both parts are large. All of them bound the same probability, so
the smallest is used.

At each look the cuts between older and newer batches lie near either end, at distances that grow by
about 50% each time. The budget is divided equally among statistics, sides and cuts of a look, and
among the slices and the whole, if the batches have slices: within a slice, too, the newer items are
a random subset. It is divided among looks as 1 / ((j + 1)(j + 2) 2^j) with j = floor(log2 look).
These add up to 1 over all looks, so by the union bound an unchanged folder ever raises an alarm
with probability at most BUDGET.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.data.label_sets import item_margins
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.table import Table
from outperform.inference.changes import view_codes
from outperform.inference.items import cell_slopes
from outperform.inference.score_spec import ScoreSpec, as_targets
from outperform.inference.spec import LabelSpec, Spec
from outperform.metrics.sums import TARGETS

BUDGET = 0.05
"""Upper limit on the probability that a folder without changes ever raises an alarm."""

# A bound is computed only if z is at least this share of the z at which a normal sum would raise an
# alarm. Skipped sums never raise one, so the budget is kept.
SCREEN = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One number per unit, in all batches; a unit is an item or a group of items.

    Parameters
    ----------
    name
        ``"a"``, ``"b"``, ``"difference"``, or ``"share"``.
    label
        Class of a share.
    values
        Value of each distinct unit.
    repeats
        Number of identical units in the batch.
    owner
        Index of the kind's batch.
    stratum
        True class of each distinct unit, if class shares do not matter. The newer items are then a
        random subset of each class.
    tests
        Number of statistics with this name that share a budget.
    slice
        Values of the slice columns, if only the units of one slice are included.
    """

    name: str
    values: FloatArray
    repeats: FloatArray
    owner: IntArray
    stratum: IntArray | None = None
    label: object = None
    tests: int = 1
    slice: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Detected difference between newer and older batches.

    Parameters
    ----------
    look
        Look at which the change was detected.
    cut
        Number of older batches.
    log_p
        Logarithm of the bound on the probability of such a difference.
    share
        Bound as a share of the budget of this test; below 1.
    statistic
        Statistic that differs most.
    label
        Class whose share differs, if the statistic is a share.
    slice
        Values of the slice columns, if the batches differ in one slice.
    """

    look: int
    cut: int
    log_p: float
    share: float
    statistic: str
    label: object = None
    slice: tuple[str, ...] | None = None


def spent_at(look: int) -> float:
    """Return the share of the budget for a look; the shares of all looks add up to 1.

    Examples
    --------
    >>> spent_at(1), spent_at(2), spent_at(3)
    (0.5, 0.08333333333333333, 0.08333333333333333)
    >>> sum(spent_at(look) for look in range(1, 2**16)) < 1
    True
    """
    epoch = look.bit_length() - 1
    return 1.0 / ((epoch + 1) * (epoch + 2) * (1 << epoch))


def cuts_at(look: int) -> list[int]:
    """Return the numbers of older batches to test.

    Examples
    --------
    >>> cuts_at(10)
    [1, 2, 3, 4, 6, 7, 8, 9]
    """
    sizes, size = [1, 2, 3], 4
    while size < look:
        sizes += [size, size + size // 2]
        size *= 2
    near = [size for size in sizes if size < look]
    return sorted({cut for size in near for cut in (size, look - size) if 2 * size <= look})


def find_change(statistics: Sequence[Statistic], look: int) -> Change | None:
    """Return the most significant change at a look; None if there is none.

    Examples
    --------
    >>> right = np.tile([1.0, 0.0], 2)  # two batches: 80 of 100 are right, then 20 of 100
    >>> counts = np.array([80.0, 20.0, 20.0, 80.0])
    >>> owner = np.array([0, 0, 1, 1])
    >>> change = find_change([Statistic(name="a", values=right, repeats=counts, owner=owner)], 2)
    >>> change.cut, change.log_p < -30
    (1, True)
    """
    cuts, names = cuts_at(look), {statistic.name for statistic in statistics}
    if not cuts:
        return None
    best: Change | None = None
    for statistic in statistics:
        allowed = BUDGET * spent_at(look) / (2 * len(cuts) * len(names) * statistic.tests)
        for cut, log_p in _bounds(statistic, cuts, look, math.log(allowed)):
            share = math.exp(log_p) / allowed
            if log_p < math.log(allowed) and (best is None or log_p < best.log_p):
                best = Change(
                    look=look, cut=cut, log_p=log_p, share=share, statistic=statistic.name,
                    label=statistic.label, slice=statistic.slice,
                )  # fmt: skip
    return best


def _bounds(
    statistic: Statistic, cuts: Sequence[int], look: int, least: float
) -> Iterator[tuple[int, float]]:
    """Yield cuts at which a change is possible, with the bound at each."""
    centred = _centred(statistic)
    weighed = centred * statistic.repeats
    sums = np.cumsum(np.bincount(statistic.owner, weighed, minlength=look))
    squares = float(weighed @ centred)
    counts = np.cumsum(np.bincount(statistic.owner, statistic.repeats, minlength=look))
    n = counts[-1]
    if squares <= 0 or n < 2:
        return
    older = counts[np.array(cuts) - 1]
    newer = n - older
    with np.errstate(invalid="ignore", divide="ignore"):
        z: FloatArray = sums[np.array(cuts) - 1] / np.sqrt(squares / n * older * newer / n)
    for index in np.flatnonzero(np.abs(z) > SCREEN * math.sqrt(-2 * least)):
        cut = cuts[int(index)]
        yield cut, log_bound(statistic, cut)


def _sums(index: IntArray, values: FloatArray, n: int = 0) -> FloatArray:
    """Return the sum of the values for each index."""
    return np.bincount(index, values, minlength=n).astype(np.float64)


def _centred(statistic: Statistic) -> FloatArray:
    """Return values minus their mean over all units, or over the units of the same class."""
    if statistic.stratum is None:
        centred: FloatArray = statistic.values - np.average(
            statistic.values, weights=statistic.repeats
        )
        return centred
    sizes = np.bincount(statistic.stratum, statistic.repeats)
    sums = np.bincount(statistic.stratum, statistic.repeats * statistic.values)
    return np.asarray(statistic.values - (sums / np.maximum(sizes, 1e-300))[statistic.stratum])


def log_bound(statistic: Statistic, cut: int) -> float:
    """Return the logarithm of a bound on the tail of the sum over the newer batches.

    The tail is on the same side as the sum.

    Parameters
    ----------
    statistic
        Number per unit.
    cut
        Number of older batches.

    Examples
    --------
    >>> values, owner = np.tile([0.0, 1.0], 2), np.array([0, 0, 1, 1])
    >>> counts = np.array([30.0, 10.0, 10.0, 30.0])
    >>> right = Statistic(name="a", values=values, repeats=counts, owner=owner)
    >>> from scipy.stats import hypergeom
    >>> exact = hypergeom(80, 40, 40).logsf(29)  # 30 or more of the 40 right ones are newer
    >>> bool(exact < log_bound(right, 1) < exact + 4)
    True
    """
    values = _centred(statistic)
    newer = statistic.owner >= cut
    total = float((values * statistic.repeats)[newer].sum())
    if total == 0:
        return 0.0
    largest = float(np.abs(values).max())
    values = math.copysign(1.0, total) / largest * values
    stratum = (
        np.zeros(len(values), dtype=np.int64) if statistic.stratum is None else statistic.stratum
    )
    # Units with the same value are one kind, whichever batch they are in.
    first, which = distinct_rows((values + 3 * stratum)[:, None])
    kinds, strata = values[first], stratum[first]
    counts = np.stack([_sums(which, statistic.repeats * part) for part in (~newer, newer)])
    # The smaller part almost always gives the smaller bound.
    if counts[1].sum() <= counts[0].sum():
        bound = _bound_with_replacement(kinds, strata, counts)
    else:
        bound = _bound_with_replacement(-kinds, strata, counts[::-1])
    if statistic.stratum is None:
        bound = min(bound, _bound_given_number(kinds, counts))
    return min(bound, 0.0)


# Any λ and v give a valid bound, so they need not be optimal.
_STEPS = 40
_PRECISE = 1e-3


def _bound_with_replacement(values: FloatArray, stratum: IntArray, counts: FloatArray) -> float:
    """Return the bound for units drawn with replacement, separately for each class.

    The rows of ``counts`` are the units that were not drawn and those that were.
    """
    repeats, chosen = counts.sum(axis=0), counts[1]
    total = float(values @ chosen)
    sizes = np.bincount(stratum, repeats)
    drawn = np.bincount(stratum, chosen, minlength=len(sizes))
    used = drawn > 0
    sizes, drawn = sizes[used], drawn[used]
    shift, at, best = float(values.max()), 0.0, 0.0
    for _ in range(_STEPS):  # Newton's method; the bound is convex in λ
        weights: FloatArray = repeats * np.exp(at * (values - shift))
        mass: FloatArray = np.maximum(np.bincount(stratum, weights)[used], 1e-300)
        mean: FloatArray = np.bincount(stratum, weights * values)[used] / mass
        square: FloatArray = np.bincount(stratum, weights * np.square(values))[used] / mass
        bound = float(drawn @ (np.log(mass / sizes) + at * shift) - at * total)
        enough = best - bound < _PRECISE and at > 0
        best = min(best, bound)
        spread = float(drawn @ (square - np.square(mean)))
        if enough or spread <= 0:
            break
        step = (total - float(drawn @ mean)) / spread
        at = min(max(at + step, at / 2), 2 * at + 5.0, 500.0)
    return best


def _bound_given_number(values: FloatArray, counts: FloatArray) -> float:
    """Return the bound given the number of newer units, by Newton's method in λ and v."""
    repeats = counts.sum(axis=0)
    total, n, size = float(values @ counts[1]), float(counts[1].sum()), float(repeats.sum())
    p = n / size
    binomial = (
        math.lgamma(size + 1) - math.lgamma(n + 1) - math.lgamma(size - n + 1)
        + n * math.log(p) + (size - n) * math.log1p(-p)
    )  # fmt: skip

    def objective(at: FloatArray) -> float:
        tilted: FloatArray = np.logaddexp(math.log1p(-p), math.log(p) + at[0] * values + at[1])
        return float(repeats @ tilted - at[0] * total - at[1] * n) - binomial

    at: FloatArray = np.zeros(2)
    best = objective(at)
    for _ in range(_STEPS):
        odds: FloatArray = at[0] * values + at[1] + math.log(p) - math.log1p(-p)
        chance: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        spread: FloatArray = repeats * chance * (1 - chance)
        gradient = np.array([(repeats * chance) @ values - total, repeats @ chance - n])
        second = np.array(
            [[spread @ np.square(values), spread @ values], [spread @ values, spread.sum()]]
        )
        try:
            step: FloatArray = np.linalg.solve(second + 1e-12 * np.eye(2), -gradient)
        except np.linalg.LinAlgError:
            break
        length = 1.0
        while objective(at + length * step) > best and length > 1e-6:
            length /= 2
        after = objective(at + length * step)
        if after >= best:
            break
        enough = best - after < _PRECISE
        at, best = at + length * step, after
        if enough:
            break
    return best if at[0] >= 0 else 0.0


# The statistics of a comparison


def statistics_of(spec: Spec, batches: Sequence[Outcomes | Scores]) -> list[Statistic]:
    """Return the statistics to test: metric of each model, their difference, class shares.

    The contribution of an item to a metric is the derivative with respect to the item's count,
    evaluated on all items so far. If that is expensive, a related statistic replaces it: F1 over
    all labels for spans and label sets, the rank for ranking metrics, the error of a probability.

    Parameters
    ----------
    spec
        Spec of the comparison on all batches.
    batches
        Batches in order of arrival.
    """
    if isinstance(spec, ScoreSpec):
        return _score_statistics(spec, [batch for batch in batches if isinstance(batch, Scores)])
    return _label_statistics(spec, [batch for batch in batches if isinstance(batch, Outcomes)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stack:
    """Tables of all batches with separate cells per batch, in the codes of the sum."""

    cells: IntArray  # (n_cells, 1 + n_models)
    counts: FloatArray  # Items, or weights.
    owner: IntArray
    pattern: IntArray | None  # For each entry, over all batches.
    entry: IntArray  # Cell of each entry.
    times: FloatArray
    repeats: FloatArray  # For each pattern.
    group_owner: IntArray

    def statistic(
        self,
        name: str,
        values: FloatArray,
        *,
        stratum: IntArray | None = None,
        label: object = None,
        tests: int = 1,
    ) -> Statistic:
        """Return one statistic per unit, given values per cell."""
        repeats, owner = self.counts, self.owner
        if self.pattern is not None:
            entries = self.times * values[self.entry]
            values = _sums(self.pattern, entries, len(self.repeats))
            repeats, owner = self.repeats, self.group_owner
        return Statistic(
            name=name, values=values, repeats=repeats, owner=owner, stratum=stratum, label=label,
            tests=tests,
        )  # fmt: skip


def _stacked(total: Outcomes, batches: Sequence[Outcomes], table_index: int) -> _Stack:
    """Stack the tables of batches, all with the same models."""
    cells, counts, owner = [], [], []
    pattern, entry, times, repeats, group_owner = [], [], [], [], []
    n_cells = n_patterns = 0
    for number, batch in enumerate(batches):
        table = batch.tables[table_index]
        cells.append(_in_codes_of(total, batch)[table.cells])
        counts.append(table.counts.astype(np.float64))
        owner.append(np.full(len(table.counts), number))
        groups = table.groups
        if groups is not None:
            pattern.append(groups.pattern + n_patterns)
            entry.append(groups.cell + n_cells)
            times.append(groups.times.astype(np.float64))
            repeats.append(groups.repeats.astype(np.float64))
            group_owner.append(np.full(len(groups.repeats), number))
            n_patterns += len(groups.repeats)
        n_cells += len(table.counts)
    totals = np.concatenate(counts)
    grouped = bool(pattern)
    if grouped:
        weights = np.concatenate(times) * np.concatenate(repeats)[np.concatenate(pattern)]
        totals = _sums(np.concatenate(entry), weights, n_cells)
    empty: IntArray = np.zeros(0, dtype=np.int64)
    return _Stack(
        cells=np.concatenate(cells),
        counts=totals,
        owner=np.concatenate(owner),
        pattern=np.concatenate(pattern) if grouped else None,
        entry=np.concatenate(entry) if grouped else empty,
        times=np.concatenate(times) if grouped else empty.astype(np.float64),
        repeats=np.concatenate(repeats) if grouped else empty.astype(np.float64),
        group_owner=np.concatenate(group_owner) if grouped else empty,
    )


def _in_codes_of(total: Outcomes, batch: Outcomes) -> IntArray:
    """Return, for each label code of a batch, the code in the sum."""
    known = {repr(label): code for code, label in enumerate(total.labels)}  # True is not 1
    codes = np.array([known[repr(label)] for label in batch.labels], dtype=np.int64)
    if batch.kind == "spans":
        return np.append(codes, len(total.labels))
    if batch.kind != "label_sets":
        return codes
    known_sets = {tuple(sorted(members)): code for code, members in enumerate(total.sets)}
    sets = [tuple(sorted(int(codes[label]) for label in members)) for members in batch.sets]
    return np.array([known_sets[members] for members in sets], dtype=np.int64)


def _label_statistics(spec: LabelSpec, batches: Sequence[Outcomes]) -> list[Statistic]:
    total = spec.data
    statistics, slopes = [], []
    separate = spec.view_prevalence is not None
    for model, _ in enumerate(total.models):
        table_index, column = (0, model) if total.paired else (model, 0)
        stack = _stacked(total, batches, table_index)
        slope = _slopes(spec, stack, column)
        slopes.append(slope)
        stratum = stack.cells[:, 0] if separate and stack.pattern is None else None
        statistics.append(stack.statistic("ab"[model], slope, stratum=stratum))
    if total.paired and len(slopes) == 2:
        statistics.append(stack.statistic("difference", slopes[0] - slopes[1], stratum=stratum))
    if not separate:
        statistics += _shares(total, stack)
    if total.slices is None or stack.pattern is not None or not total.paired or separate:
        return statistics
    return among_slices(statistics, _slice_statistics(total, batches, stack, slopes))


def among_slices(whole: Sequence[Statistic], slices: Sequence[Statistic]) -> list[Statistic]:
    """Return the statistics of all items and of slices, which share one budget equally."""
    n_parts = 1 + len({statistic.slice for statistic in slices})
    return [replace(statistic, tests=statistic.tests * n_parts) for statistic in (*whole, *slices)]


def _slice_statistics(
    total: Outcomes, batches: Sequence[Outcomes], stack: _Stack, slopes: Sequence[FloatArray]
) -> list[Statistic]:
    """Return each model's statistic and their difference in every slice of all batches."""
    assert total.slices is not None
    code_of = {key: number for number, key in enumerate(total.slices.keys)}
    cells, counts, owner = [], [], []
    for number, batch in enumerate(batches):
        assert batch.slices is not None
        table = batch.slices.table
        codes = np.array([code_of[key] for key in batch.slices.keys], dtype=np.int64)
        cells.append(
            np.column_stack(
                [codes[table.cells[:, 0]], _in_codes_of(total, batch)[table.cells[:, 1:]]]
            )
        )
        counts.append(table.counts.astype(np.float64))
        owner.append(np.full(len(table.counts), number))
    all_cells, repeats = np.concatenate(cells), np.concatenate(counts)
    batch_of = np.concatenate(owner)
    # The slopes of the cells, which the batches have with and without slices.
    which = distinct_rows(np.concatenate([stack.cells, all_cells[:, 1:]]))[1]
    known = np.zeros((len(slopes), int(which.max()) + 1))
    known[:, which[: len(stack.cells)]] = np.stack(slopes)
    values = known[:, which[len(stack.cells) :]]
    named = {"a": values[0]} | (
        {"b": values[1], "difference": values[0] - values[1]} if len(values) == 2 else {}
    )
    order = np.argsort(all_cells[:, 0], kind="stable")
    bounds = np.searchsorted(all_cells[order, 0], np.arange(len(code_of) + 1))
    return [
        Statistic(
            name=name, values=value[rows], repeats=repeats[rows], owner=batch_of[rows], slice=key
        )
        for key, number in code_of.items()
        for rows in (order[bounds[number] : bounds[number + 1]],)
        for name, value in named.items()
        if len(rows)
    ]


def _slopes(spec: LabelSpec, stack: _Stack, column: int) -> FloatArray:
    """Return, for each cell, what an item contributes to a model's metric or a related one."""
    total = spec.data
    cells = stack.cells[:, [0, 1 + column]]
    first, which = distinct_rows(cells)
    kinds = cells[first]
    counts = _sums(which, stack.counts)
    if total.kind == "label_sets":
        sizes = item_margins(Table(kinds, counts), total.sets, model=0, n_labels=total.n_classes)
        hits, true, predicted = (margin.astype(np.float64) for margin in sizes)
        return np.asarray(_of_f1(hits, true, predicted, counts)[which])
    if total.kind == "spans":
        columns, no_span = kinds.T, len(total.labels)
        true, predicted = (columns != no_span).astype(np.float64)
        hits = (kinds[:, 0] == kinds[:, 1]) * true
        return np.asarray(_of_f1(hits, true, predicted, counts)[which])
    right: FloatArray = (kinds[:, 0] == kinds[:, 1]).astype(np.float64)
    if spec.view.kind != "classes" or total.kind != "classes":
        return np.asarray(right[which])
    table, scale = Table(view_codes(spec)[kinds], counts), np.ones(len(kinds))
    if spec.view_prevalence is not None:
        truth = table.cells[:, 0]
        actual = np.bincount(truth, counts, minlength=spec.view.n_classes)
        mean_shares = spec.view_prevalence.mean_shares(spec.view, spec.view.models[0])
        shares = np.array([mean_shares.get(code, 0.0) for code in range(len(actual))])
        scale = (shares / np.maximum(actual / counts.sum(), 1e-300))[truth]
        table = Table(table.cells, counts * scale)
    slopes = cell_slopes(spec, table, 0)
    if slopes is None or not np.isfinite(slopes).all() or not np.any(slopes):
        return np.asarray(right[which])
    return np.asarray((scale * slopes)[which])


def _of_f1(
    hits: FloatArray, actual: FloatArray, predicted: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return values whose mean over a subset is 0 if its pooled F1 equals the overall F1."""
    f1 = 2 * float(counts @ hits) / max(float(counts @ (actual + predicted)), 1e-300)
    return np.asarray(2 * hits - f1 * (actual + predicted))


def _shares(total: Outcomes, stack: _Stack) -> list[Statistic]:
    """Return whether an item has each class; of two classes, only the second is needed."""
    if total.kind not in ("classes", "label_sets"):
        return []
    if total.kind == "label_sets":
        has_label = np.zeros((len(total.sets), total.n_classes))
        for code, members in enumerate(total.sets):
            has_label[code, list(members)] = 1.0
        has = has_label[stack.cells[:, 0]]
        codes = range(total.n_classes)
    else:
        has, codes = None, np.unique(stack.cells[:, 0]).tolist()
        codes = codes[1:] if len(codes) == 2 else codes
    statistics = []
    for code in codes:
        values = (stack.cells[:, 0] == code).astype(np.float64) if has is None else has[:, code]
        statistics.append(
            stack.statistic("share", values, label=total.labels[code], tests=len(codes))
        )
    return statistics


def _score_statistics(spec: ScoreSpec, batches: Sequence[Scores]) -> list[Statistic]:
    rows = [as_targets(batch) if spec.metric.reads == "statistics" else batch for batch in batches]
    owner = np.concatenate([np.full(batch.n_rows, index) for index, batch in enumerate(rows)])
    counts = np.concatenate(
        [np.ones(batch.n_rows) if batch.counts is None else batch.counts.astype(np.float64)
         for batch in rows]
    )  # fmt: skip
    weights = np.concatenate(
        [np.ones(batch.n_rows) if batch.weights is None else batch.weights for batch in rows]
    )
    groups, n_groups = [], 0
    for batch in rows:
        if batch.group is not None:
            groups.append(np.unique(batch.group, return_inverse=True)[1].ravel() + n_groups)
            n_groups = int(groups[-1].max()) + 1
    group = np.concatenate(groups) if groups else None
    truth = _truths(spec, rows)
    statistics: list[Statistic] = []

    def add(name: str, values: FloatArray, *, label: object = None, tests: int = 1) -> None:
        # An item without a value, for example without a human label, counts as the mean.
        known = ~np.isnan(values)
        mean = np.average(values[known], weights=(counts * weights)[known]) if known.any() else 0.0
        worth = weights * (np.where(known, values, mean) - mean)
        if group is None:
            statistics.append(
                Statistic(name=name, values=worth, repeats=counts, owner=owner, label=label,
                          tests=tests)
            )  # fmt: skip
            return
        first = np.unique(group, return_index=True)[1]
        sums = _sums(group, worth * counts)
        statistics.append(
            Statistic(name=name, values=sums, repeats=np.ones(len(first)), owner=owner[first],
                      label=label, tests=tests)
        )  # fmt: skip

    columns = [_columns(spec, rows, model, truth, counts) for model in range(len(rows[0].models))]
    for name, model_values in zip("ab", columns, strict=False):
        for values in model_values:
            add(name, values, tests=len(model_values))
    if len(columns) == 2:
        for a, b in zip(*columns, strict=True):
            add("difference", a - b, tests=len(columns[0]))
    if truth is not None:
        codes = np.unique(truth).tolist()
        codes = codes[1:] if len(codes) == 2 else codes
        for code in codes:
            is_of = (truth == code).astype(np.float64)
            add("share", is_of, label=spec.data.labels[code], tests=len(codes))
    return statistics


def _truths(spec: ScoreSpec, rows: Sequence[Scores]) -> IntArray | None:
    """Return the true class of each row, as a code of the sum."""
    if rows[0].truth is None:
        return None
    known = {repr(label): code for code, label in enumerate(spec.data.labels)}
    parts = []
    for batch in rows:
        assert batch.truth is not None
        codes = np.array([known[repr(label)] for label in batch.labels], dtype=np.int64)
        parts.append(codes[batch.truth])
    return np.concatenate(parts)


def _columns(
    spec: ScoreSpec,
    rows: Sequence[Scores],
    model: int,
    truth: IntArray | None,
    counts: FloatArray,
) -> list[FloatArray]:
    """Return the values of each row that a metric is related to."""
    values = np.concatenate([batch.values[model] for batch in rows])
    if truth is None:
        if rows[0].columns == TARGETS:
            return [np.square(values[:, 1] - values[:, 0])]
        return [values] if values.ndim == 1 else list(values.T)
    if spec.metric.reads == "probability":
        return _losses(values, truth, positive=spec.positive)
    if values.ndim == 2:
        return [values[np.arange(len(values)), truth]]
    positive = len(spec.data.labels) - 1 if spec.positive is None else spec.positive
    is_positive = truth == positive
    if spec.metric.reads != "ranking":
        return [np.where(is_positive, values, -values)]
    return [_ranks(values, is_positive, counts)]


def _losses(values: FloatArray, truth: IntArray, *, positive: int | None) -> list[FloatArray]:
    """Return each row's squared error of probabilities, and log probability of the true class."""
    if values.ndim == 1:
        is_positive = truth == (1 if positive is None else positive)
        of_truth = np.where(is_positive, values, 1 - values)
        squares = np.square(1 - of_truth)
    else:
        rows = np.arange(len(values))
        of_truth = values[rows, truth]
        squares = np.square(values).sum(axis=1) - np.square(of_truth) + np.square(1 - of_truth)
    return [squares, np.log(np.maximum(of_truth, np.finfo(np.float64).eps))]


def _ranks(values: FloatArray, is_positive: AnyArray, counts: FloatArray) -> FloatArray:
    """Return, for each item, the share of the other class that it is ranked correctly against."""
    ranks = np.empty(len(values))
    for side in (True, False):
        this, other = is_positive == side, is_positive != side
        order = np.argsort(values[other], kind="stable")
        ordered, sums = values[other][order], np.append(0.0, np.cumsum(counts[other][order]))
        total = max(sums[-1], 1e-300)
        below = sums[np.searchsorted(ordered, values[this], side="left")]
        upto = sums[np.searchsorted(ordered, values[this], side="right")]
        share = (below + upto) / 2 / total
        ranks[this] = share if side else 1 - share
        # Both classes contribute equally, however many items each has.
        ranks[this] -= np.average(ranks[this], weights=counts[this]) if this.any() else 0.0
        ranks[this] /= max(counts[this].sum(), 1e-300) / counts.sum()
    return ranks
