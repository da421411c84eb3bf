"""What a metric reads of scores: rankings, losses, quantiles and sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outperform._rows import distinct_records, distinct_rows, sum_by
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray
from outperform.data.scores import Scores
from outperform.data.table import group_rows
from outperform.errors import UsageError, unknown_name
from outperform.metrics.curves import rankings_of
from outperform.metrics.custom import Called, Checked, check_items, checked, is_own
from outperform.metrics.metric import Basis, Metric, MetricLike, Order, Sums, Whole
from outperform.metrics.registry import find, score_names
from outperform.metrics.sums import CombinedMeans, Pick, only
from outperform.metrics.weighted import (
    AveragePrecision,
    ItemData,
    Prepared,
    Ranking,
    Units,
    WeightedMean,
)
from outperform.posterior.bootstrap import MANY_UNITS, Limit, MoreWeights
from outperform.posterior.influence import Influence, PlugIn

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def of_column(metric: MetricLike, scores: Scores) -> MetricLike:
    """Return a metric of one named statistic, such as ``"mean_cost:seconds"``; others as they are.

    Before the colon stands a metric of grades, which says whether less is better; behind it the
    column.
    """
    if not isinstance(metric, str) or ":" not in metric or scores.columns is None:
        return metric
    name, _, column = metric.partition(":")
    graded = find(name)
    if graded is None or graded.reads != "grade":
        raise UsageError(unknown_name("metric of a column", name, score_names(graded=True)))
    if column not in scores.columns:
        raise UsageError(unknown_name("column", column, scores.columns))
    assert not isinstance(graded.how, Whole)
    place = scores.columns.index(column)
    pick = Pick(place, graded.basis.terms)
    bounds = bounds_of_grades(graded, [array[:, place] for array in scores.values])
    return replace(
        graded,
        name=f"{graded.name}:{column}",
        label=f"{graded.label.removesuffix(' score')} of {column}",
        how=replace(graded.how, basis=Basis(terms=pick)),
        bounds=bounds,
    )


def bounds_of_grades(metric: Metric, grades: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the bounds of a metric of grades on these data: a mean of 0 to 1 is from 0 to 1."""
    how = metric.how
    if not isinstance(how, Sums) or how.combine is not only or how.basis.terms is not None:
        return metric.bounds
    if all(array.min() >= 0 and array.max() <= 1 for array in grades):
        return (0.0, 1.0) if how.sign > 0 else (-1.0, 0.0)
    return metric.bounds


def prepare_all(
    metric: Metric, view: Scores, *, data: Scores, positive: int | None, units: Units
) -> tuple[Prepared, ...]:
    """Prepare the scores of every model; what all of them share only once.

    ``data`` are the same scores with every row apart, which a metric may have to see to know what
    it is made of.
    """
    first, *others = range(len(view.models))
    how = metric.how
    metrics = [
        replace(metric, how=how.for_data(values)) if isinstance(how, Sums) else metric
        for values in data.values
    ]
    ready = prepare(metrics[first], view, first, positive=positive, units=units)
    if isinstance(ready, CombinedMeans) and ready.row is not None:
        return (ready, *(replace(ready, row=_row(view, place)) for place in others))
    rest = [
        prepare(metrics[place], view, place, positive=positive, units=units) for place in others
    ]
    return (ready, *rest)


def _row(view: Scores, place: int) -> int:
    """Return which of all models with the same sums this one is."""
    return int(view.values[place][0, -2])


def prepare(
    metric: Metric, view: Scores, place: int, *, positive: int | None, units: Units
) -> Prepared:
    """Sort the scores of a model, or turn them into what is added up."""
    how, values = metric.how, view.values[place]
    if isinstance(how, Whole):
        return Called(
            name=metric.name,
            function=how.function,
            truth=None if view.truth is None else np.array(view.labels)[view.truth],
            score=values,
            units=units,
            bounds=metric.bounds,
        )
    if isinstance(how, Order):
        items = item_data(metric, view, place, positive, units)
        return checked(metric.name, how.prepare(items, *how.settings), metric.bounds)
    if metric.reads != "statistics" and how.combine is only:
        return WeightedMean(values_of(metric, view, place, positive), units)
    return CombinedMeans(
        name=metric.name,
        terms=terms_of(metric, view, place, positive),
        sums=how,
        units=units,
        bounds=metric.bounds,
        row=_row(view, place) if how.basis.joint else None,
    )


def item_data(
    metric: Metric, view: Scores, place: int, positive: int | None, units: Units
) -> ItemData:
    """Return what a metric of the order of items reads of a model."""
    values, truth = view.values[place], view.truth
    if metric.reads == "ranking":
        column = values if values.ndim == 1 else values[:, positive]
        return ItemData(column, np.asarray(truth == positive), units)
    if metric.reads == "probability":
        truth, values = probabilities(view, place, positive)
    return ItemData(metric_values(metric, values), truth, units)


def metric_values(metric: Metric, values: FloatArray) -> FloatArray:
    """Return the scores of items, or the one number that a metric of their order reads."""
    if metric.reads not in ("statistics", "grade"):
        return values
    read = metric.basis.of_items(values)
    return read if read.ndim == 1 else read[:, 0]


def values_of(metric: Metric, view: Scores, place: int, positive: int | None) -> FloatArray:
    """Return what each item adds to a mean."""
    assert isinstance(metric.how, Sums)
    return metric.how.sign * terms_of(metric, view, place, positive)[:, 0]


def terms_of(
    metric: Metric, view: Scores, models: int | Sequence[int], positive: int | None
) -> FloatArray:
    """Return what each item adds to the sums of a model, ``(n_items, n_statistics)``.

    Of several models the items of each come after those of the one before, so that summands that
    have a common origin have the same one.
    """
    assert isinstance(metric.how, Sums)
    chosen = [models] if isinstance(models, int) else models
    read = zip(*(_read(metric, view, model, positive) for model in chosen), strict=True)
    arguments = [np.concatenate(part) if len(chosen) > 1 else part[0] for part in read]
    terms = metric.basis.terms
    made = arguments[-1] if terms is None else terms(*arguments)
    if metric.how.own or not is_own(terms):
        made = check_items(metric.name, made, len(arguments[-1]))
    return made if made.ndim == 2 else made[:, None]


def _read(metric: Metric, view: Scores, model: int, positive: int | None) -> tuple[AnyArray, ...]:
    """Return what the summands of each item are made of: with the truth, if the metric reads it."""
    if metric.reads in ("statistics", "grade"):
        return (view.values[model],)
    if metric.reads == "ranking":
        items = item_data(metric, view, model, positive, Units(view.n_rows))
        return (np.asarray(items.truth), items.values)
    return probabilities(view, model, positive)


def probabilities(view: Scores, place: int, positive: int | None) -> tuple[IntArray, FloatArray]:
    """Return the column that is true and the probabilities, of two classes or of all."""
    assert view.truth is not None
    score = view.values[place]
    if positive is None:
        return view.truth, score
    column = score if score.ndim == 1 else score[:, positive]
    return (view.truth == positive).astype(np.int64), np.stack([1 - column, column], axis=1)


def items_of(view: Scores) -> FloatArray:
    """Return how many items each row stands for."""
    return np.ones(view.n_rows) if view.counts is None else view.counts.astype(np.float64)


def count_apart(
    metric: Metric,
    view: Scores,
    pair: tuple[int, int],
    *,
    positive: int | None,
    units: Units,
    rankings: Sequence[Sequence[Ranking]],
) -> int:
    """Count the items, or groups, on which two models differ."""
    apart = _apart(metric, view, pair, positive, rankings)
    if view.group is None:
        return int(items_of(view)[apart].sum())
    return int(units.counts[np.unique(view.group[apart])].sum())


def _apart(
    metric: Metric,
    view: Scores,
    pair: tuple[int, int],
    positive: int | None,
    rankings: Sequence[Sequence[Ranking]],
) -> AnyArray:
    if any(rankings):
        apart = np.zeros(view.n_rows, dtype=bool)
        for both in zip(*(rankings[place] for place in pair), strict=True):
            a, b = (_standing(one, view.n_rows) for one in both)
            apart |= (a != b).any(axis=0)
        return apart
    if isinstance(metric.how, Sums) and metric.reads != "statistics":
        a, b = (terms_of(metric, view, place, positive) for place in pair)
    else:
        a, b = (view.values[place] for place in pair)
        if isinstance(metric.basis.terms, Pick):
            a, b = (metric.basis.of_items(values) for values in (a, b))
    differs: BoolArray = a != b
    return differs if differs.ndim == 1 else np.asarray(differs.any(axis=1))


def _standing(ranking: Ranking, n_rows: int) -> AnyArray:
    """Return how many of the other class are above each item, and how many as high."""
    found = np.zeros((2, n_rows), dtype=np.int64)
    found[0, ranking.positives], found[1, ranking.positives] = ranking.above, ranking.level
    ranks = np.arange(len(ranking.negatives))
    # A positive is above a negative if it leaves it out of those at its level or above.
    found[0, ranking.negatives] = np.searchsorted(ranking.level, ranks, side="right")
    found[1, ranking.negatives] = np.searchsorted(ranking.above, ranks, side="right")
    return found


def tied_share(ranking: Ranking, view: Scores) -> float:
    """Return the share of pairs of a positive and a negative item with the same score."""
    counts = items_of(view)
    positive, negative = counts[ranking.positives], counts[ranking.negatives]
    total = np.concatenate([[0.0], np.cumsum(negative)])
    level = total[ranking.level] - total[ranking.above]
    return float(positive @ level / (positive.sum() * negative.sum()))


# Of more models than this the pairs are not looked at one by one.
_MOST_PAIRED = 8


class Joined(NamedTuple):
    """The sums of several models or metrics, beside each other."""

    held: csr_array | FloatArray  # (n_sums, n_units)
    parts: tuple[CombinedMeans, ...]
    added: MoreWeights | None = None

    def evaluate(self, sums: FloatArray) -> FloatArray:
        """Return the value of each part at sums ``(n_sums, n)``."""
        found, start = [], 0
        for before, part in zip((None, *self.parts), self.parts, strict=False):
            if before is None or not _share_sums(before, part):
                stop = start + part.terms.shape[1] + 1
                values = part.all_rows(sums[start:stop])
                start = stop
            found.append(part.own_row(values))
        return np.stack(found)

    def limit(self, influence: Influence | None, shapes: FloatArray) -> Limit | None:
        """Return which units are drawn one by one where there are many; None for all.

        Neither the mean of a statistic, nor a value, nor the difference of two may lose more of
        its skewness than can be told.
        """
        if influence is None or self.added is not None or not isinstance(self.held, np.ndarray):
            return None
        if self.held.shape[1] <= MANY_UNITS:
            return None
        rows, start = [*influence.moved], 0
        rows += [a - b for a, b in combinations(influence.moved[:_MOST_PAIRED], 2)]
        for part in self.parts:
            *sums, weight = self.held[start : start + part.terms.shape[1] + 1]
            total = weight @ shapes
            rows += [one - (one @ shapes / total) * weight for one in sums]
            start += len(sums) + 1
        return Limit.of(self.held, np.stack(rows), shapes)

    def unchecked(self) -> Joined:
        """Return the same, with NaN where a user's function has no value."""
        return self._replace(parts=tuple(_unchecked(part) for part in self.parts))


def _unchecked(part: CombinedMeans) -> CombinedMeans:
    return replace(part, sums=replace(part.sums, own=False)) if part.sums.own else part


def _share_sums(one: CombinedMeans, two: CombinedMeans) -> bool:
    """Return whether two models have the same sums, of which one fit gives both values."""
    return one.row is not None and one.terms is two.terms and one.sums is two.sums


# Below this share of numbers that are not 0 a sparse matrix is faster.
_SPARSE = 0.25


def _held(part: CombinedMeans) -> csr_array | FloatArray:
    """Return what each unit adds to every sum and, last, to that of the weights.

    ``(n_statistics + 1, n_units)``; sparse where most of it is 0.
    """
    from scipy.sparse import csr_array, hstack

    terms, units, n_items = part.terms, part.units, len(part.terms)
    each = np.ones((n_items, 1))
    if np.count_nonzero(terms) < _SPARSE * terms.size:
        items = hstack([csr_array(terms), each], format="csr")
    else:
        items = np.hstack([terms, each])
    if units.unit is not None or units.times is not None:
        unit = np.arange(n_items) if units.unit is None else units.unit
        times = np.ones(n_items) if units.times is None else units.times
        items = csr_array((times, (unit, np.arange(n_items))), shape=(units.n, n_items)) @ items
    return items.T if isinstance(items, np.ndarray) else items.T.tocsr()


def _as_sums(ready: Prepared, least: int) -> Prepared:
    """Return a mean over more units than these as the metric of one sum that it is."""
    if not isinstance(ready, WeightedMean) or ready.units.n <= least:
        return ready
    return CombinedMeans(
        name="mean",
        terms=ready.values[:, None],
        sums=Sums(basis=Basis(), combine=only),
        units=ready.units,
        bounds=(-np.inf, np.inf),
    )


def joined(ready: Sequence[Prepared], least: int = MANY_UNITS) -> Joined | None:
    """Return what is prepared as sums beside each other; None where some are no sums.

    A mean is one sum. It is so treated where there are more units than the least.
    """
    from scipy.sparse import vstack

    sums = [_as_sums(one, least) for one in ready]
    parts = tuple(one for one in sums if isinstance(one, CombinedMeans))
    if len(parts) < len(ready):
        return None
    own = [
        part
        for before, part in zip((None, *parts), parts, strict=False)
        if before is None or not _share_sums(before, part)
    ]
    held = [_held(part) for part in own]
    dense = [one for one in held if isinstance(one, np.ndarray)]
    if len(dense) == len(held):
        return Joined(np.concatenate(dense), parts, _added(own))
    return Joined(vstack(held, format="csr"), parts, _added(own))


def _added(parts: Sequence[CombinedMeans]) -> MoreWeights | None:
    """Return what is added to the sums of all parts, those of each beside those of the others."""
    from scipy.sparse import block_diag, csr_array

    added = [part.added() for part in parts]
    if all(one is None for one in added):
        return None
    held = [
        csr_array((part.terms.shape[1] + 1, 0))
        if one is None
        else csr_array(
            (one.amount, (one.column, one.weight)),
            shape=(part.terms.shape[1] + 1, len(one.shapes)),
        )
        for part, one in zip(parts, added, strict=True)
    ]
    shapes = np.concatenate([one.shapes for one in added if one is not None])
    left = np.minimum.reduce([one.left for one in added if one is not None])
    return MoreWeights(shapes=shapes, held=csr_array(block_diag(held)), left=left)


# To sort or fit without each of more units than this would take longer than the comparison itself,
# or of items, which are rarely so uneven, a tenth of it; so many values of positive items are
# looked up at a time.
_MOST_LEFT_OUT, _MOST_ITEMS, _AT_ONCE = 5_000, 2_000, 1 << 20


class UnitSums(NamedTuple):
    """How values follow from sums over units: of what is no sum, from the weights themselves."""

    held: csr_array | FloatArray  # (n_sums, n_kinds)
    repeats: FloatArray  # (n_kinds,) how many units there are of each kind
    evaluate: Callable[[FloatArray], FloatArray]
    scarce: Callable[[FloatArray], FloatArray]  # the same where units are left out, unchecked
    most: float  # so many can be left out in turn before it takes too long

    @property
    def whole(self) -> PlugIn:
        """The values at the sums of all units."""
        return PlugIn((self.held @ self.repeats)[:, None], self.evaluate)

    def influence(self) -> Influence | None:
        """Return how far each unit moves the values; None where that would take too long."""
        if len(self.repeats) > self.most:
            return None
        whole = self.whole
        # What a user's function returns is checked.
        _ = whole._replace(sums=np.repeat(whole.sums, 2, axis=1)).observed
        return whole._replace(evaluate=self.scarce).influence(self.held, self.repeats)


def unit_sums(ready: Sequence[Prepared], repeats: FloatArray, *, items: bool = False) -> UnitSums:
    """Return how values follow from units.

    Parameters
    ----------
    ready
        What is prepared of each model.
    repeats
        How many units there are of each kind.
    items
        Whether the units are items, not groups.
    """
    from scipy.sparse import identity

    most = _MOST_ITEMS if items else _MOST_LEFT_OUT
    combined = joined(ready, least=0)
    if combined is not None:
        added, unchecked = combined.added, combined.unchecked().evaluate
        constant = 0.0 if added is None else (added.held @ added.shapes)[:, None]
        fitted = any(part.sums.basis.joint for part in combined.parts)
        return UnitSums(
            combined.held,
            repeats,
            combined.evaluate,
            lambda at: unchecked(at + constant),
            most if fitted else np.inf,
        )
    rankings = rankings_of(ready[0])
    n_positive = sum(len(one.positives) for one in rankings)
    # Without any weight, items at the top have no precision.
    least = 1e-12 if isinstance(ready[0], AveragePrecision) else 0.0

    def evaluate(
        weights: FloatArray, ready: Sequence[Prepared] = ready, least: float = 0.0
    ) -> FloatArray:
        pieces = 1 + weights.shape[1] * n_positive // _AT_ONCE
        parts = np.array_split(np.maximum(weights.T, least), pieces)
        workers = [one.worker() for one in ready]
        return np.stack([np.concatenate([one(part) for part in parts]) for one in workers])

    slow = any(isinstance(one, Called) for one in ready)
    held = identity(len(repeats), format="csr")
    plain = [one.ready if isinstance(one, Checked) else one for one in ready]
    scarce = partial(evaluate, ready=plain, least=least)
    return UnitSums(held, repeats, evaluate, scarce, 0 if slow else most)


class Merged(NamedTuple):
    """Scores whose equal rows are one, and groups that look alike."""

    scores: Scores
    repeats: FloatArray | None  # how many groups each group of the view stands for; None for one


def merged(scores: Scores) -> Merged:
    """Return one row for all that are equal, and one group for all that hold the same rows.

    Rows are told apart by their numbers, never by what was added up of them, and the order of
    rows and groups is that of their counts and numbers: in whatever order they and the models
    came, the weights that are drawn for them are the same.
    """
    by_name = [scores.values[place] for place in np.argsort(scores.models)]
    columns = [one if one.ndim == 2 else one[:, None] for one in by_name]
    beside = [one[:, None] for one in (scores.truth, scores.weights) if one is not None]
    first, code = distinct_records([*columns, *beside])
    if scores.group is None:
        sums = sum_by(code, scores.counts, size=len(first))
        order = np.argsort(sums, kind="stable")
        return Merged(_with_counts(scores._take(first[order]), sums[order]), None)
    assert scores.n_groups is not None
    groups = group_rows(
        scores.group, code, n_groups=scores.n_groups, n_cells=len(first), times=scores.counts
    )
    order = np.argsort(groups.repeats, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    by_group = np.argsort(place[groups.pattern], kind="stable")
    view = _with_counts(scores._take(first[groups.cell[by_group]]), groups.times[by_group])
    repeats = groups.repeats[order].astype(np.float64)
    return Merged(
        replace(view, group=place[groups.pattern[by_group]]),
        None if (repeats == 1).all() else repeats,
    )


def _with_counts(view: Scores, counts: AnyArray) -> Scores:
    return replace(view, counts=None if (counts == 1).all() else counts, ids=None)


# A gamma of any shape takes as long as a dozen of the exponentials that it stands for.
_WORTH_MERGING = 16


def arranged(scores: Scores) -> Scores:
    """Return the rows sorted by class and by the first model's scores, equal ones as one.

    The order of rows means nothing, but weights that are drawn in it need no sorting for
    the first model. Rows that are equal are merged where there are many of them.
    """
    keys = [array.T if array.ndim == 2 else array[None] for array in scores.values]
    truth = [] if scores.truth is None else [scores.truth[None]]
    columns = np.concatenate([*keys[:0:-1], -keys[0], *truth]) if _may_merge(scores) else None
    if columns is None:
        sorted_by = [-keys[0][0], *([] if scores.truth is None else [scores.truth])]
        return scores._take(np.lexsort(sorted_by))
    first, code = distinct_rows(columns[::-1].T)
    if len(first) * _WORTH_MERGING > scores.n_rows:
        return scores._take(np.argsort(code, kind="stable"))
    return replace(scores._take(first), counts=sum_by(code, scores.counts, size=len(first)))


def _may_merge(scores: Scores) -> bool:
    """Return whether rows may be merged: they are weighed one by one and many look alike."""
    if scores.group is not None or scores.weights is not None:
        return False
    sample = scores.values[0][:: max(1, scores.n_rows // 4096)]
    distinct = distinct_rows(sample.reshape(len(sample), -1))
    return len(distinct.first) * 4 <= len(sample)
