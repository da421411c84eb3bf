"""Whether newer batches differ from older ones: a test at every look, within one budget.

If nothing changed, the order of the items means nothing: given all items so far, those of the
newer batches are a random subset of them. So the sum of any number per item over that subset has a
known distribution, and its tail has a bound that holds for every size of batch and every metric.

The subset is drawn without replacement, and a sum over it has no larger moment generating function
than one over items drawn with replacement (Hoeffding 1963, theorem 4). With values a of mean 0 over
all N items, n of them newer,

    log P(S ≥ s) ≤ min over λ ≥ 0 of  n log(mean exp(λ a)) − λ s,

and the same holds of the older items and −s. The second bound counts what was drawn: of items that
are each newer with probability p = n / N, given that n of them are,

    log P(S ≥ s) ≤ min over λ, v of  Σ log(1 − p + p exp(λ a + v)) − λ s − v n − log Bin(n; N, p).

It is the smaller one where both parts are large. All of them bound the same probability, so the
smallest counts.

At each look the cuts between older and newer batches are a few from either end, about half as many
again each time. The budget is shared evenly among numbers, sides and cuts of a look, and among
looks as 1 / ((j + 1)(j + 2) 2^j) with j = floor(log2 look): these add up to 1 over all looks, so by
the union bound the probability that an unchanged folder ever raises an alarm is at most BUDGET.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
"""The probability that a folder in which nothing changes ever raises an alarm, at most."""

# A bound is only worked out where z is at least so large a share of what a normal sum would need.
# A sum that is left out by this raises no alarm, so the budget holds all the same.
SCREEN = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One number per unit, in all batches; a unit is an item or a group of them.

    Parameters
    ----------
    name
        ``"a"``, ``"b"``, ``"difference"``, or ``"share"``.
    label
        The class that a share is of.
    values
        The number of each kind of unit.
    repeats
        How many units of the kind there are in its batch.
    owner
        The place of the kind's batch.
    stratum
        The true class of each kind where class shares do not matter: then the newer items are a
        random subset of each class.
    tests
        How many statistics share the budget of this name.
    """

    name: str
    values: FloatArray
    repeats: FloatArray
    owner: IntArray
    stratum: IntArray | None = None
    label: object = None
    tests: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Newer batches that differ from older ones.

    Parameters
    ----------
    look
        The look at which that was noticed.
    cut
        How many batches are older.
    log_p
        The logarithm of what the probability of so large a difference is at most.
    share
        Of the budget of this test; below 1.
    statistic
        The number that differs most.
    label
        The class whose share differs, if that is the number.
    """

    look: int
    cut: int
    log_p: float
    share: float
    statistic: str
    label: object = None


def spent_at(look: int) -> float:
    """Return the share of the budget that a look may spend; all looks together spend 1.

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
    """Return after how many batches the newer ones may begin.

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
    """Return the change that is the surest one at a look; None if there is none.

    Examples
    --------
    >>> right = np.tile([1.0, 0.0], 2)  # two batches: 80 of 100 are right, then 20 of 100
    >>> counts = np.array([80.0, 20.0, 20.0, 80.0])
    >>> owner = np.array([0, 0, 1, 1])
    >>> found = find_change([Statistic(name="a", values=right, repeats=counts, owner=owner)], 2)
    >>> found.cut, found.log_p < -30
    (1, True)
    """
    cuts, names = cuts_at(look), {one.name for one in statistics}
    if not cuts:
        return None
    best: Change | None = None
    for one in statistics:
        allowed = BUDGET * spent_at(look) / (2 * len(cuts) * len(names) * one.tests)
        for cut, log_p in _bounds(one, cuts, look, math.log(allowed)):
            share = math.exp(log_p) / allowed
            if log_p < math.log(allowed) and (best is None or log_p < best.log_p):
                best = Change(
                    look=look, cut=cut, log_p=log_p, share=share, statistic=one.name,
                    label=one.label,
                )  # fmt: skip
    return best


def _bounds(
    one: Statistic, cuts: Sequence[int], look: int, least: float
) -> Iterator[tuple[int, float]]:
    """Yield cuts at which a change may be established, and the bound there."""
    centred = _centred(one)
    weighed = centred * one.repeats
    sums = np.cumsum(np.bincount(one.owner, weighed, minlength=look))
    squares = float(weighed @ centred)
    counts = np.cumsum(np.bincount(one.owner, one.repeats, minlength=look))
    n = counts[-1]
    if squares <= 0 or n < 2:
        return
    older = counts[np.array(cuts) - 1]
    newer = n - older
    with np.errstate(invalid="ignore", divide="ignore"):
        z: FloatArray = sums[np.array(cuts) - 1] / np.sqrt(squares / n * older * newer / n)
    for place in np.flatnonzero(np.abs(z) > SCREEN * math.sqrt(-2 * least)):
        cut = cuts[int(place)]
        yield cut, log_bound(one, cut)


def _sums(places: IntArray, values: FloatArray, n: int = 0) -> FloatArray:
    """Return the sum of the values of each place."""
    return np.bincount(places, values, minlength=n).astype(np.float64)


def _centred(one: Statistic) -> FloatArray:
    """Return values less their mean over all units, or over those of the same class."""
    if one.stratum is None:
        centred: FloatArray = one.values - np.average(one.values, weights=one.repeats)
        return centred
    sizes = np.bincount(one.stratum, one.repeats)
    sums = np.bincount(one.stratum, one.repeats * one.values)
    return np.asarray(one.values - (sums / np.maximum(sizes, 1e-300))[one.stratum])


def log_bound(one: Statistic, cut: int) -> float:
    """Return the logarithm of what the tail of a sum over the newer batches is at most.

    The tail is that on the side on which the sum lies.

    Parameters
    ----------
    one
        The number per unit.
    cut
        How many batches are older.

    Examples
    --------
    >>> values, owner = np.tile([0.0, 1.0], 2), np.array([0, 0, 1, 1])
    >>> counts = np.array([30.0, 10.0, 10.0, 30.0])
    >>> one = Statistic(name="a", values=values, repeats=counts, owner=owner)
    >>> from scipy.stats import hypergeom
    >>> exact = hypergeom(80, 40, 40).logsf(29)  # 30 or more of the 40 right ones are newer
    >>> bool(exact < log_bound(one, 1) < exact + 4)
    True
    """
    values = _centred(one)
    newer = one.owner >= cut
    total = float((values * one.repeats)[newer].sum())
    if total == 0:
        return 0.0
    largest = float(np.abs(values).max())
    values = math.copysign(1.0, total) / largest * values
    stratum = np.zeros(len(values), dtype=np.int64) if one.stratum is None else one.stratum
    # Units with the same number are one kind, however many batches they are in.
    first, which = distinct_rows((values + 3 * stratum)[:, None])
    kinds, strata = values[first], stratum[first]
    counts = np.stack([_sums(which, one.repeats * part) for part in (~newer, newer)])
    # The smaller part has the smaller bound, nearly always.
    if counts[1].sum() <= counts[0].sum():
        found = _replaced(kinds, strata, counts)
    else:
        found = _replaced(-kinds, strata, counts[::-1])
    if one.stratum is None:
        found = min(found, _counted(kinds, counts))
    return min(found, 0.0)


# Any λ and v give a bound, so they need not be precise.
_STEPS = 40
_PRECISE = 1e-3


def _replaced(values: FloatArray, stratum: IntArray, counts: FloatArray) -> float:
    """Return the bound of units that are drawn with replacement, each class by itself.

    The two rows of counts are those of units that were not drawn and of those that were.
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


def _counted(values: FloatArray, counts: FloatArray) -> float:
    """Return the bound of units of which so many are newer, by Newton's method in λ and v."""
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


# The numbers of a comparison


def statistics_of(spec: Spec, batches: Sequence[Outcomes | Scores]) -> list[Statistic]:
    """Return the numbers that are watched: the metric of each model, their difference, classes.

    What an item adds to a metric is its derivative by the items' counts, at all items so far. Where
    there is none that is cheap, another number takes its place that the metric follows: F1 over
    all labels of spans and of sets, the place in a ranking, the error of a probability.

    Parameters
    ----------
    spec
        What is asked of all batches.
    batches
        The batches, in the order of arrival.
    """
    if isinstance(spec, ScoreSpec):
        return _score_statistics(spec, [one for one in batches if isinstance(one, Scores)])
    return _label_statistics(spec, [one for one in batches if isinstance(one, Outcomes)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stack:
    """The tables of all batches, cells of each batch apart; codes are those of the sum."""

    cells: IntArray  # (n_cells, 1 + n_models)
    counts: FloatArray  # items, or weights
    owner: IntArray
    pattern: IntArray | None  # of each entry, over all batches
    entry: IntArray  # its cell
    times: FloatArray
    repeats: FloatArray  # of each pattern
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
        """Return what is of each cell as a number per unit."""
        repeats, owner = self.counts, self.owner
        if self.pattern is not None:
            entries = self.times * values[self.entry]
            values = _sums(self.pattern, entries, len(self.repeats))
            repeats, owner = self.repeats, self.group_owner
        return Statistic(
            name=name, values=values, repeats=repeats, owner=owner, stratum=stratum, label=label,
            tests=tests,
        )  # fmt: skip


def _stacked(total: Outcomes, batches: Sequence[Outcomes], place: int) -> _Stack:
    """Put the tables of batches, all with the same models, on top of each other."""
    cells, counts, owner = [], [], []
    pattern, entry, times, repeats, group_owner = [], [], [], [], []
    n_cells = n_patterns = 0
    for number, batch in enumerate(batches):
        table = batch.tables[place]
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
    whole = np.concatenate(counts)
    grouped = bool(pattern)
    if grouped:
        weights = np.concatenate(times) * np.concatenate(repeats)[np.concatenate(pattern)]
        whole = _sums(np.concatenate(entry), weights, n_cells)
    empty: IntArray = np.zeros(0, dtype=np.int64)
    return _Stack(
        cells=np.concatenate(cells),
        counts=whole,
        owner=np.concatenate(owner),
        pattern=np.concatenate(pattern) if grouped else None,
        entry=np.concatenate(entry) if grouped else empty,
        times=np.concatenate(times) if grouped else empty.astype(np.float64),
        repeats=np.concatenate(repeats) if grouped else empty.astype(np.float64),
        group_owner=np.concatenate(group_owner) if grouped else empty,
    )


def _in_codes_of(total: Outcomes, batch: Outcomes) -> IntArray:
    """Return the code in the sum of each code of a batch."""
    known = {repr(label): code for code, label in enumerate(total.labels)}  # True is not 1
    codes = np.array([known[repr(label)] for label in batch.labels], dtype=np.int64)
    if batch.kind == "spans":
        return np.append(codes, len(total.labels))
    if batch.kind != "label_sets":
        return codes
    places = {tuple(sorted(one)): place for place, one in enumerate(total.sets)}
    sets = [tuple(sorted(int(codes[label]) for label in one)) for one in batch.sets]
    return np.array([places[one] for one in sets], dtype=np.int64)


def _label_statistics(spec: LabelSpec, batches: Sequence[Outcomes]) -> list[Statistic]:
    total = spec.data
    found, slopes = [], []
    apart = spec.view_prevalence is not None
    for model, _ in enumerate(total.models):
        place, column = (0, model) if total.paired else (model, 0)
        stack = _stacked(total, batches, place)
        slope = _slopes(spec, stack, column)
        slopes.append(slope)
        stratum = stack.cells[:, 0] if apart and stack.pattern is None else None
        found.append(stack.statistic("ab"[model], slope, stratum=stratum))
    if total.paired and len(slopes) == 2:
        found.append(stack.statistic("difference", slopes[0] - slopes[1], stratum=stratum))
    if not apart:
        found += _shares(total, stack)
    return found


def _slopes(spec: LabelSpec, stack: _Stack, column: int) -> FloatArray:
    """Return what an item of each cell adds to a model's metric, or to one that it follows."""
    total = spec.data
    cells = stack.cells[:, [0, 1 + column]]
    first, which = distinct_rows(cells)
    kinds = cells[first]
    counts = _sums(which, stack.counts)
    if total.kind == "label_sets":
        sizes = item_margins(Table(kinds, counts), total.sets, model=0, n_labels=total.n_classes)
        hits, true, predicted = (one.astype(np.float64) for one in sizes)
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
        there = spec.view_prevalence.mean_shares(spec.view, spec.view.models[0])
        shares = np.array([there.get(code, 0.0) for code in range(len(actual))])
        scale = (shares / np.maximum(actual / counts.sum(), 1e-300))[truth]
        table = Table(table.cells, counts * scale)
    slopes = cell_slopes(spec, table, 0)
    if slopes is None or not np.isfinite(slopes).all() or not np.any(slopes):
        return np.asarray(right[which])
    return np.asarray((scale * slopes)[which])


def _of_f1(
    hits: FloatArray, actual: FloatArray, predicted: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return numbers whose mean is 0 where F1 over all labels is what it is over all items."""
    f1 = 2 * float(counts @ hits) / max(float(counts @ (actual + predicted)), 1e-300)
    return np.asarray(2 * hits - f1 * (actual + predicted))


def _shares(total: Outcomes, stack: _Stack) -> list[Statistic]:
    """Return whether an item has each class; of two classes one will do."""
    if total.kind not in ("classes", "label_sets"):
        return []
    if total.kind == "label_sets":
        held = np.zeros((len(total.sets), total.n_classes))
        for place, one in enumerate(total.sets):
            held[place, list(one)] = 1.0
        has = held[stack.cells[:, 0]]
        codes = range(total.n_classes)
    else:
        has, codes = None, np.unique(stack.cells[:, 0]).tolist()
        codes = codes[1:] if len(codes) == 2 else codes
    found = []
    for code in codes:
        values = (stack.cells[:, 0] == code).astype(np.float64) if has is None else has[:, code]
        found.append(stack.statistic("share", values, label=total.labels[code], tests=len(codes)))
    return found


def _score_statistics(spec: ScoreSpec, batches: Sequence[Scores]) -> list[Statistic]:
    rows = [as_targets(one) if spec.metric.reads == "statistics" else one for one in batches]
    owner = np.concatenate([np.full(one.n_rows, place) for place, one in enumerate(rows)])
    counts = np.concatenate(
        [np.ones(one.n_rows) if one.counts is None else one.counts.astype(np.float64)
         for one in rows]
    )  # fmt: skip
    weights = np.concatenate(
        [np.ones(one.n_rows) if one.weights is None else one.weights for one in rows]
    )
    groups, n_groups = [], 0
    for one in rows:
        if one.group is not None:
            groups.append(np.unique(one.group, return_inverse=True)[1].ravel() + n_groups)
            n_groups = int(groups[-1].max()) + 1
    group = np.concatenate(groups) if groups else None
    truth = _truths(spec, rows)
    found: list[Statistic] = []

    def add(name: str, values: FloatArray, *, label: object = None, tests: int = 1) -> None:
        # An item without a value, as one that no person labelled, is as good as the mean.
        known = ~np.isnan(values)
        mean = np.average(values[known], weights=(counts * weights)[known]) if known.any() else 0.0
        worth = weights * (np.where(known, values, mean) - mean)
        if group is None:
            found.append(
                Statistic(name=name, values=worth, repeats=counts, owner=owner, label=label,
                          tests=tests)
            )  # fmt: skip
            return
        first = np.unique(group, return_index=True)[1]
        sums = _sums(group, worth * counts)
        found.append(
            Statistic(name=name, values=sums, repeats=np.ones(len(first)), owner=owner[first],
                      label=label, tests=tests)
        )  # fmt: skip

    columns = [_columns(spec, rows, place, truth, counts) for place in range(len(rows[0].models))]
    for name, own in zip("ab", columns, strict=False):
        for values in own:
            add(name, values, tests=len(own))
    if len(columns) == 2:
        for one, two in zip(*columns, strict=True):
            add("difference", one - two, tests=len(columns[0]))
    if truth is not None:
        codes = np.unique(truth).tolist()
        codes = codes[1:] if len(codes) == 2 else codes
        for code in codes:
            is_of = (truth == code).astype(np.float64)
            add("share", is_of, label=spec.data.labels[code], tests=len(codes))
    return found


def _truths(spec: ScoreSpec, rows: Sequence[Scores]) -> IntArray | None:
    """Return the true class of each row, in the codes of all batches."""
    if rows[0].truth is None:
        return None
    known = {repr(label): code for code, label in enumerate(spec.data.labels)}
    parts = []
    for one in rows:
        assert one.truth is not None
        codes = np.array([known[repr(label)] for label in one.labels], dtype=np.int64)
        parts.append(codes[one.truth])
    return np.concatenate(parts)


def _columns(
    spec: ScoreSpec,
    rows: Sequence[Scores],
    place: int,
    truth: IntArray | None,
    counts: FloatArray,
) -> list[FloatArray]:
    """Return the numbers of each row that a metric follows."""
    values = np.concatenate([one.values[place] for one in rows])
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
    return [_places(values, is_positive, counts)]


def _losses(values: FloatArray, truth: IntArray, *, positive: int | None) -> list[FloatArray]:
    """Return the squared error of each row's probabilities, and the logarithm of the true one."""
    if values.ndim == 1:
        is_positive = truth == (1 if positive is None else positive)
        of_truth = np.where(is_positive, values, 1 - values)
        squares = np.square(1 - of_truth)
    else:
        rows = np.arange(len(values))
        of_truth = values[rows, truth]
        squares = np.square(values).sum(axis=1) - np.square(of_truth) + np.square(1 - of_truth)
    return [squares, np.log(np.maximum(of_truth, np.finfo(np.float64).eps))]


def _places(values: FloatArray, is_positive: AnyArray, counts: FloatArray) -> FloatArray:
    """Return the share of the other class that each item stands on the right side of."""
    found = np.empty(len(values))
    for side in (True, False):
        own, other = is_positive == side, is_positive != side
        order = np.argsort(values[other], kind="stable")
        ordered, sums = values[other][order], np.append(0.0, np.cumsum(counts[other][order]))
        total = max(sums[-1], 1e-300)
        below = sums[np.searchsorted(ordered, values[own], side="left")]
        upto = sums[np.searchsorted(ordered, values[own], side="right")]
        share = (below + upto) / 2 / total
        found[own] = share if side else 1 - share
        # A class as a whole adds as much as the other, however many items each has.
        found[own] -= np.average(found[own], weights=counts[own]) if own.any() else 0.0
        found[own] /= max(counts[own].sum(), 1e-300) / counts.sum()
    return found
