"""Views of scores for metrics: rankings, losses, quantiles and sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outperform._rows import distinct_records, distinct_rows, sum_by
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray
from outperform.data.moments import Kind, Moments, moments_of
from outperform.data.scores import Scores
from outperform.data.table import group_rows
from outperform.errors import UsageError, param, unknown_name
from outperform.metrics.added_up import of_terms, stored_rows
from outperform.metrics.curves import rankings_of
from outperform.metrics.custom import Called, Checked, check_items, checked, is_own
from outperform.metrics.metric import Basis, Metric, MetricLike, Order, Sums, Whole
from outperform.metrics.registry import find, score_names
from outperform.metrics.sums import TARGETS, CombinedMeans, Pick, only
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
    """Return a metric of one named statistic for a name such as ``"mean_cost:seconds"``.

    The part before the colon is a metric of grades, which defines whether lower is better; the part
    after it is the column. Other metrics are returned unchanged.
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
    index = scores.columns.index(column)
    pick = Pick(index, graded.basis.terms)
    bounds = bounds_of_grades(graded, [array[:, index] for array in scores.values])
    return replace(
        graded,
        name=f"{graded.name}:{column}",
        label=f"{graded.label.removesuffix(' score')} of {column}",
        how=replace(graded.how, basis=Basis(terms=pick)),
        bounds=bounds,
    )


def bounds_of_grades(metric: Metric, grades: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the bounds of a metric of grades: 0 and 1 if it is a mean of grades in that range."""
    how = metric.how
    if not isinstance(how, Sums) or how.combine is not only or how.basis.terms is not None:
        return metric.bounds
    if all(array.min() >= 0 and array.max() <= 1 for array in grades):
        return (0.0, 1.0) if how.sign > 0 else (-1.0, 0.0)
    return metric.bounds


def added_up(scores: Scores, moments: Moments, metric: Metric) -> tuple[Scores, Metric]:
    """Return units with the moments of scores, and the metric as a function of their terms."""
    rows = stored_rows(metric)
    own = {name for name, model in moments.terms if model is not None}
    shared = {name for name, model in moments.terms if model is None}
    if rows is None or not {name for row in rows for name in row} <= own | shared:
        what = "grades" if moments.kind == "grades" else "targets and predictions"
        raise UsageError(
            f"metric {metric.name!r} cannot be computed from sums of {what}, to which these scores "
            f"were reduced where they are stored; read the rows with {param('keep=', 'rows')}"
        )
    units, counts = moments.units()
    columns = {
        model: [index for index, term in enumerate(moments.terms) if term[1] in (None, model)]
        for model in moments.models
    }
    positions = columns[moments.models[0]]
    terms = tuple(moments.terms[index][0] for index in positions)
    view = replace(
        scores,
        values=tuple(units[:, columns[model]] for model in moments.models),
        columns=terms,
        counts=counts,
        group=None,
        ids=None,
        moments=None,
    )
    how = metric.how
    bounds = metric.bounds
    if isinstance(how, Sums) and how.basis.reads == "grade" and how.combine is only:
        bounds = bounds_of_grades(metric, [moments.low, moments.high])
    return view, of_terms(replace(metric, bounds=bounds), rows, terms, moments.origin)


# With more rows than this, looking for equal ones takes longer than drawing.
_MOST_MERGED = 500_000


def in_memory(scores: Scores, metric: Metric) -> Moments | None:
    """Return the moments of very many rows; None if there are fewer, or if rows are needed."""
    kind: Kind = "grades" if scores.columns is None else "targets"
    if scores.n_rows <= _MOST_MERGED or stored_rows(metric) is None:
        return None
    if scores.columns not in (None, TARGETS):
        return None
    if any(column is not None for column in (scores.truth, scores.counts, scores.weights)):
        return None
    if scores.values[0].ndim != len(scores.columns or "."):
        return None
    by_model = dict(zip(scores.models, scores.values, strict=True))
    return moments_of(kind, by_model, scores.group)


def prepare_all(
    metric: Metric, view: Scores, *, data: Scores, positive: int | None, units: Units
) -> tuple[Prepared, ...]:
    """Prepare the scores of every model; what all models share is prepared only once.

    ``data`` contains the same scores before equal rows are merged, for metrics that need all rows.
    """
    first, *others = range(len(view.models))
    how = metric.how
    metrics = [
        replace(metric, how=how.for_data(values)) if isinstance(how, Sums) else metric
        for values in data.values
    ]
    ready = prepare(metrics[first], view, first, positive=positive, units=units)
    if isinstance(ready, CombinedMeans) and ready.row is not None:
        return (ready, *(replace(ready, row=_row(view, index)) for index in others))
    remaining = [
        prepare(metrics[index], view, index, positive=positive, units=units) for index in others
    ]
    return (ready, *remaining)


def _row(view: Scores, model: int) -> int:
    """Return the index of this model among the models with the same sums."""
    return int(view.values[model][0, -2])


def prepare(
    metric: Metric, view: Scores, model: int, *, positive: int | None, units: Units
) -> Prepared:
    """Sort a model's scores or convert them to summands."""
    how, values = metric.how, view.values[model]
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
        items = item_data(metric, view, model, positive, units)
        return checked(metric.name, how.prepare(items, *how.settings), metric.bounds)
    if metric.reads != "statistics" and how.combine is only:
        return WeightedMean(values_of(metric, view, model, positive), units)
    return CombinedMeans(
        name=metric.name,
        terms=terms_of(metric, view, model, positive),
        sums=how,
        units=units,
        bounds=metric.bounds,
        row=_row(view, model) if how.basis.joint else None,
    )


def item_data(
    metric: Metric, view: Scores, model: int, positive: int | None, units: Units
) -> ItemData:
    """Return a model's data for a metric of the order of items."""
    values, truth = view.values[model], view.truth
    if metric.reads == "ranking":
        column = values if values.ndim == 1 else values[:, positive]
        return ItemData(column, np.asarray(truth == positive), units)
    if metric.reads == "probability":
        truth, values = probabilities(view, model, positive)
    return ItemData(metric_values(metric, values), truth, units)


def metric_values(metric: Metric, values: FloatArray) -> FloatArray:
    """Return the item scores, or the single column that a metric of the items' order reads."""
    if metric.reads not in ("statistics", "grade"):
        return values
    read = metric.basis.of_items(values)
    return read if read.ndim == 1 else read[:, 0]


def values_of(metric: Metric, view: Scores, model: int, positive: int | None) -> FloatArray:
    """Return the contribution of each item to a mean."""
    assert isinstance(metric.how, Sums)
    return metric.how.sign * terms_of(metric, view, model, positive)[:, 0]


def terms_of(
    metric: Metric, view: Scores, models: int | Sequence[int], positive: int | None
) -> FloatArray:
    """Return the contribution of each item to the sums of a model, ``(n_items, n_statistics)``.

    The items of several models are concatenated, so summands that are relative to a common origin
    all get the same origin.
    """
    assert isinstance(metric.how, Sums)
    chosen = [models] if isinstance(models, int) else models
    by_argument = zip(*(_read(metric, view, model, positive) for model in chosen), strict=True)
    arguments = [np.concatenate(part) if len(chosen) > 1 else part[0] for part in by_argument]
    terms = metric.basis.terms
    values = arguments[-1] if terms is None else terms(*arguments)
    if metric.how.own or not is_own(terms):
        values = check_items(metric.name, values, len(arguments[-1]))
    return values if values.ndim == 2 else values[:, None]


def _read(metric: Metric, view: Scores, model: int, positive: int | None) -> tuple[AnyArray, ...]:
    """Return the arguments for the summands: truth and values, or values only."""
    if metric.reads in ("statistics", "grade"):
        return (view.values[model],)
    if metric.reads == "ranking":
        items = item_data(metric, view, model, positive, Units(view.n_rows))
        return (np.asarray(items.truth), items.values)
    return probabilities(view, model, positive)


def probabilities(view: Scores, model: int, positive: int | None) -> tuple[IntArray, FloatArray]:
    """Return the true columns and the probabilities, for two classes or for all."""
    assert view.truth is not None
    score = view.values[model]
    if positive is None:
        return view.truth, score
    column = score if score.ndim == 1 else score[:, positive]
    return (view.truth == positive).astype(np.int64), np.stack([1 - column, column], axis=1)


def items_of(view: Scores) -> FloatArray:
    """Return the number of items that each row represents."""
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
    """Count the items or groups on which two models differ."""
    differing = _differing(metric, view, pair, positive, rankings)
    if view.group is None:
        return int(items_of(view)[differing].sum())
    return int(units.counts[np.unique(view.group[differing])].sum())


def _differing(
    metric: Metric,
    view: Scores,
    pair: tuple[int, int],
    positive: int | None,
    rankings: Sequence[Sequence[Ranking]],
) -> AnyArray:
    if any(rankings):
        differing = np.zeros(view.n_rows, dtype=bool)
        for both in zip(*(rankings[model] for model in pair), strict=True):
            a, b = (_standing(ranking, view.n_rows) for ranking in both)
            differing |= (a != b).any(axis=0)
        return differing
    if isinstance(metric.how, Sums) and metric.reads != "statistics":
        a, b = (terms_of(metric, view, model, positive) for model in pair)
    else:
        a, b = (view.values[model] for model in pair)
        if isinstance(metric.basis.terms, Pick):
            a, b = (metric.basis.of_items(values) for values in (a, b))
    differs: BoolArray = a != b
    return differs if differs.ndim == 1 else np.asarray(differs.any(axis=1))


def _standing(ranking: Ranking, n_rows: int) -> AnyArray:
    """Return how many items of the other class rank above each item, and how many tie with it."""
    standing = np.zeros((2, n_rows), dtype=np.int64)
    standing[0, ranking.positives], standing[1, ranking.positives] = ranking.above, ranking.level
    ranks = np.arange(len(ranking.negatives))
    # A positive item ranks above a negative one that is not at its level or above.
    standing[0, ranking.negatives] = np.searchsorted(ranking.level, ranks, side="right")
    standing[1, ranking.negatives] = np.searchsorted(ranking.above, ranks, side="right")
    return standing


def tied_share(ranking: Ranking, view: Scores) -> float:
    """Return the share of positive–negative item pairs with the same score."""
    counts = items_of(view)
    positive, negative = counts[ranking.positives], counts[ranking.negatives]
    total = np.concatenate([[0.0], np.cumsum(negative)])
    level = total[ranking.level] - total[ranking.above]
    return float(positive @ level / (positive.sum() * negative.sum()))


# With more models than this, only some pairs are checked.
_MOST_PAIRED = 8


class Joined(NamedTuple):
    """Sums of several models or metrics, stacked."""

    matrix: csr_array | FloatArray  # (n_sums, n_units)
    parts: tuple[CombinedMeans, ...]
    added: MoreWeights | None = None

    def evaluate(self, sums: FloatArray) -> FloatArray:
        """Return the value of each part at sums ``(n_sums, n)``."""
        values_of_parts, start = [], 0
        for before, part in zip((None, *self.parts), self.parts, strict=False):
            if before is None or not _share_sums(before, part):
                stop = start + part.terms.shape[1] + 1
                values = part.all_rows(sums[start:stop])
                start = stop
            values_of_parts.append(part.own_row(values))
        return np.stack(values_of_parts)

    def limit(self, influence: Influence | None, shapes: FloatArray) -> Limit | None:
        """Return the units to draw individually if there are many; None means all.

        No mean of a statistic, no value and no difference between two values may lose a noticeable
        part of its skewness.
        """
        if influence is None or self.added is not None or not isinstance(self.matrix, np.ndarray):
            return None
        if self.matrix.shape[1] <= MANY_UNITS:
            return None
        rows, start = [*influence.moved], 0
        rows += [a - b for a, b in combinations(influence.moved[:_MOST_PAIRED], 2)]
        for part in self.parts:
            *sums, weight = self.matrix[start : start + part.terms.shape[1] + 1]
            total = weight @ shapes
            rows += [part_sums - (part_sums @ shapes / total) * weight for part_sums in sums]
            start += len(sums) + 1
        return Limit.of(self.matrix, np.stack(rows), shapes)

    def unchecked(self) -> Joined:
        """Return the same sums with NaN instead of an error if a user's function has no value."""
        return self._replace(parts=tuple(_unchecked(part) for part in self.parts))


def _unchecked(part: CombinedMeans) -> CombinedMeans:
    return replace(part, sums=replace(part.sums, own=False)) if part.sums.own else part


def _share_sums(first: CombinedMeans, second: CombinedMeans) -> bool:
    """Return whether two models have the same sums, so one fit gives both values."""
    return first.row is not None and first.terms is second.terms and first.sums is second.sums


# Below this share of nonzero numbers, a sparse matrix is faster.
_SPARSE = 0.25


def _held(part: CombinedMeans) -> csr_array | FloatArray:
    """Return the contribution of each unit to every sum and, last, to that of the weights.

    ``(n_statistics + 1, n_units)``; sparse if most of it is 0.
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
    """Return a mean over more than ``least`` units as a metric of one sum."""
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
    """Return prepared metrics as stacked sums; None if any of them is not a sum.

    A mean is treated as one sum if there are more than ``least`` units.
    """
    from scipy.sparse import vstack

    sums = [_as_sums(part, least) for part in ready]
    parts = tuple(part for part in sums if isinstance(part, CombinedMeans))
    if len(parts) < len(ready):
        return None
    distinct = [
        part
        for before, part in zip((None, *parts), parts, strict=False)
        if before is None or not _share_sums(before, part)
    ]
    matrices = [_held(part) for part in distinct]
    dense = [part for part in matrices if isinstance(part, np.ndarray)]
    if len(dense) == len(matrices):
        return Joined(np.concatenate(dense), parts, _added(distinct))
    return Joined(vstack(matrices, format="csr"), parts, _added(distinct))


def _added(parts: Sequence[CombinedMeans]) -> MoreWeights | None:
    """Return the additions to the sums of all parts, in blocks, one per part."""
    from scipy.sparse import block_diag, csr_array

    added = [part.added() for part in parts]
    if all(more is None for more in added):
        return None
    matrices = [
        csr_array((part.terms.shape[1] + 1, 0))
        if more is None
        else csr_array(
            (more.amount, (more.column, more.weight)),
            shape=(part.terms.shape[1] + 1, len(more.shapes)),
        )
        for part, more in zip(parts, added, strict=True)
    ]
    shapes = np.concatenate([more.shapes for more in added if more is not None])
    left = np.minimum.reduce([more.left for more in added if more is not None])
    return MoreWeights(shapes=shapes, matrix=csr_array(block_diag(matrices)), left=left)


# Sorting or fitting without each unit in turn is skipped in two cases: if there are more groups
# than the first number, because it would take longer than the comparison; or if there are more
# items than the second number, because it would take a tenth of that time and items are rarely so
# uneven. The third number is the number of values of positive items to look up at a time.
_MOST_LEFT_OUT, _MOST_ITEMS, _AT_ONCE = 5_000, 2_000, 1 << 20


class UnitSums(NamedTuple):
    """Values as a function of sums over units; if the metric is not a sum, of the weights."""

    matrix: csr_array | FloatArray  # (n_sums, n_kinds)
    repeats: FloatArray  # (n_kinds,) number of units of each kind
    evaluate: Callable[[FloatArray], FloatArray]
    scarce: Callable[[FloatArray], FloatArray]  # the same without some units; unchecked
    most: float  # largest number of units that can be dropped in turn in acceptable time

    @property
    def whole(self) -> PlugIn:
        """Values for all units."""
        return PlugIn((self.matrix @ self.repeats)[:, None], self.evaluate)

    def influence(self) -> Influence | None:
        """Return the influence of each unit; None if that would take too long."""
        if len(self.repeats) > self.most:
            return None
        whole = self.whole
        # Evaluating two draws checks what a user's function returns.
        _ = whole._replace(sums=np.repeat(whole.sums, 2, axis=1)).observed
        return whole._replace(evaluate=self.scarce).influence(self.matrix, self.repeats)


def unit_sums(ready: Sequence[Prepared], repeats: FloatArray, *, items: bool = False) -> UnitSums:
    """Return the values as a function of sums over units.

    Parameters
    ----------
    ready
        Prepared metric of each model.
    repeats
        Number of units of each kind.
    items
        Whether the units are items, not groups.
    """
    from scipy.sparse import identity

    most = _MOST_ITEMS if items else _MOST_LEFT_OUT
    combined = joined(ready, least=0)
    if combined is not None:
        added, unchecked = combined.added, combined.unchecked().evaluate
        constant = 0.0 if added is None else (added.matrix @ added.shapes)[:, None]
        fitted = any(part.sums.basis.joint for part in combined.parts)
        return UnitSums(
            combined.matrix,
            repeats,
            combined.evaluate,
            lambda at: unchecked(at + constant),
            most if fitted else np.inf,
        )
    rankings = rankings_of(ready[0])
    n_positive = sum(len(ranking.positives) for ranking in rankings)
    # If the items at the top have weight 0, their precision is 0/0.
    least = 1e-12 if isinstance(ready[0], AveragePrecision) else 0.0

    def evaluate(
        weights: FloatArray, ready: Sequence[Prepared] = ready, least: float = 0.0
    ) -> FloatArray:
        pieces = 1 + weights.shape[1] * n_positive // _AT_ONCE
        parts = np.array_split(np.maximum(weights.T, least), pieces)
        workers = [metric.worker() for metric in ready]
        return np.stack([np.concatenate([worker(part) for part in parts]) for worker in workers])

    slow = any(isinstance(metric, Called) for metric in ready)
    matrices = identity(len(repeats), format="csr")
    plain = [metric.ready if isinstance(metric, Checked) else metric for metric in ready]
    scarce = partial(evaluate, ready=plain, least=least)
    return UnitSums(matrices, repeats, evaluate, scarce, 0 if slow else most)


class Merged(NamedTuple):
    """Scores with equal rows merged, and equal groups merged."""

    scores: Scores
    repeats: FloatArray | None  # number of groups per group of the view; None if 1 each


def merged(scores: Scores) -> Merged:
    """Return one row for all equal rows, and one group for all groups with the same rows.

    Rows are compared by their numbers, never by sums of these, and rows and groups are ordered by
    counts and numbers. So the drawn weights do not depend on the order of rows or models.
    """
    by_name = [scores.values[model] for model in np.argsort(scores.models)]
    columns = [column if column.ndim == 2 else column[:, None] for column in by_name]
    further = [column[:, None] for column in (scores.truth, scores.weights) if column is not None]
    first, code = distinct_records([*columns, *further])
    if scores.group is None:
        sums = sum_by(code, scores.counts, size=len(first))
        order = np.argsort(sums, kind="stable")
        return Merged(_with_counts(scores._take(first[order]), sums[order]), None)
    assert scores.n_groups is not None
    groups = group_rows(
        scores.group, code, n_groups=scores.n_groups, n_cells=len(first), times=scores.counts
    )
    order = np.argsort(groups.repeats, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_group = np.argsort(rank[groups.pattern], kind="stable")
    view = _with_counts(scores._take(first[groups.cell[by_group]]), groups.times[by_group])
    repeats = groups.repeats[order].astype(np.float64)
    return Merged(
        replace(view, group=rank[groups.pattern[by_group]]),
        None if (repeats == 1).all() else repeats,
    )


def _with_counts(view: Scores, counts: AnyArray) -> Scores:
    return replace(view, counts=None if (counts == 1).all() else counts, ids=None)


# Drawing a gamma of any shape takes as long as drawing a dozen of the exponentials that it
# replaces.
_WORTH_MERGING = 16


def arranged(scores: Scores) -> Scores:
    """Sort the rows by class and by the first model's scores, and merge equal rows.

    Results do not depend on the order of rows, but weights drawn in this order need no sorting
    for the first model. Equal rows are merged only if there are many of them.
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
    """Return whether to merge rows: true if each has its own weight and many are equal."""
    if scores.group is not None or scores.weights is not None:
        return False
    sample = scores.values[0][:: max(1, scores.n_rows // 4096)]
    distinct = distinct_rows(sample.reshape(len(sample), -1))
    return len(distinct.first) * 4 <= len(sample)
