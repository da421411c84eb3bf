"""Item weights: score metrics, means over label sets, and how groups and pools affect the sd."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from outperform._rows import distinct_rows
from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes, RepeatedId
from outperform.data.table import Groups, Table
from outperform.errors import ResourceError, param
from outperform.findings import Finding, clauses, finding
from outperform.inference.changes import view_codes
from outperform.inference.question import Sampling
from outperform.inference.score_spec import NORMAL_KURTOSIS, ScoreSpec
from outperform.inference.score_views import Joined, items_of, joined
from outperform.inference.spec import LabelSpec, ModelSums, item_tables
from outperform.metrics.confusion import Margins
from outperform.metrics.metric import Sums
from outperform.metrics.weighted import Prepared
from outperform.posterior.base import alone
from outperform.posterior.bootstrap import Limit, draw_items, draw_sums
from outperform.posterior.influence import Influence, PlugIn
from outperform.posterior.rng import n_workers

# Approximate amount of work that one core does in an hour: drawing, looking up and adding a weight
# takes 40 ns.
_WEIGHTS_AN_HOUR = 1e11
_MOST_HOURS = 2.0


def draw_scores(
    specs: Sequence[ScoreSpec],
    sampling: Sampling,
) -> list[FloatArray]:
    """Return values ``(n_models, n_draws)`` for each of several specs that share a view."""
    first = specs[0]
    refuse_hours(specs, sampling.n_draws, n_jobs=sampling.n_jobs)
    columns = range(len(first.view.models))
    if first.paired or len(columns) == 1:
        ready = [spec.prepared for spec in specs]
        values = _draw(specs, ready, 0, sampling)
        return _within(specs, values.reshape(len(specs), len(columns), -1))
    apart = [
        _draw(
            specs,
            [spec.prepared[column : column + 1] for spec in specs],
            column,
            sampling.child(column),
        )
        for column in columns
    ]
    return _within(specs, np.stack(apart, axis=1))


def _within(specs: Sequence[ScoreSpec], values: FloatArray) -> list[FloatArray]:
    """Return the draws of each spec, clipped to its bounds to remove rounding errors."""
    return [
        np.clip(drawn, *spec.metric.bounds, out=drawn)
        for spec, drawn in zip(specs, values, strict=True)
    ]


def _draw(
    specs: Sequence[ScoreSpec],
    by_spec: Sequence[Sequence[Prepared]],
    column: int,
    sampling: Sampling,
) -> FloatArray:
    spec, ready = specs[0], [part for own in by_spec for part in own]
    # A user's function may not be thread-safe.
    if any(spec.metric.own for spec in specs):
        sampling = sampling._replace(n_jobs=1)
    shapes, left = spec.shapes, _left_by_fit(specs)
    dfs = [] if left is None else [left.df]
    if left is not None:
        shapes = left.share * spec.units.counts
    # Weights that metrics share are as wide as the widest metric needs.
    known = [each.dfs[column] for each in specs]
    df = min([*dfs, *(each for each in known if each is not None)], default=None)
    combined = joined(ready)
    if combined is not None:
        stretched = any(part.sums.by_spread for part in combined.parts)
        # Draws that are divided by a spread already have heavy tails. These must not be added a
        # second time.
        if stretched and df is not None:
            df *= NORMAL_KURTOSIS
        return draw_sums(
            combined.matrix,
            combined.evaluate,
            shapes=spec.units.counts if shapes is None else shapes,
            n_values=len(ready),
            **sampling._asdict(),
            df=df,
            added=combined.added,
            stretched=stretched,
            limit=_limit(specs, combined, column),
        )
    return draw_prepared(ready, sampling, n_units=spec.units.n, shapes=shapes, df=df)


def _limit(specs: Sequence[ScoreSpec], combined: Joined, column: int) -> Limit | None:
    """Return the units to draw individually: those that matter to any of the metrics."""
    if len(specs) == 1:
        return specs[0].limits[column]
    moved = [each.influences[column] for each in specs]
    known = [influence.moved for influence in moved if influence is not None]
    if len(known) < len(specs):
        return None
    counts = specs[0].units.counts
    return combined.limit(Influence(np.concatenate(known), counts), counts)


class _Left(NamedTuple):
    """Degrees of freedom of a spread after a fit, and the factor for the shapes of the weights."""

    df: float
    share: float


# With this many units, fitting three numbers reduces a width by less than 1%. With this many in
# each class, fitting the mean of the class reduces it by less than 4%.
_MANY_FITTED, _MANY_RANKED = 300, 30


def _left_by_fit(specs: Sequence[ScoreSpec]) -> _Left | None:
    """Return the loss of spread for a metric fitted to its items; None if it is negligible.

    A ranking has a mean in each of two classes, and the smaller class determines the precision of
    the spread. The squared residuals of n units around p fitted numbers are too small by the factor
    (n − p)/n, and weights of shape 1 have a variance of 1/(n + 1). Shapes of (n − p)/(n + 1)
    correct both to first order.
    """
    remainders = []
    for spec in specs:
        how = spec.metric.how
        n_fitted = how.fitted if isinstance(how, Sums) else 0
        if n_fitted:
            marked = spec.units.sums(spec.view.values[0][:, -1]) > 0
            n = int(spec.units.counts[marked].sum())
            if n < _MANY_FITTED:
                left = max(n - n_fitted, 1)
                remainders.append(_Left(float(left), left / (n + 1)))
        if spec.metric.reads == "ranking":
            n = _least_in_class(spec)
            if n < _MANY_RANKED:
                left = max(n - 1, 1)
                remainders.append(_Left(float(left), left / (n + 1)))
    return min(remainders, default=None)


def _least_in_class(spec: ScoreSpec) -> int:
    """Return the number of units (items or groups) with items of the rarer class of a ranking."""
    counts = items_of(spec.view)
    return min(
        int(counts[side].sum()) if spec.view.group is None else len(set(spec.view.group[side]))
        for side in (spec.is_positive, ~spec.is_positive)
    )


def draw_prepared(
    ready: Sequence[Prepared],
    sampling: Sampling,
    *,
    n_units: int,
    shapes: FloatArray | None,
    df: float | None = None,
) -> FloatArray:
    """Draw unit weights and evaluate all prepared metrics on each draw, one row per metric."""

    def make_evaluate() -> Callable[[FloatArray, FloatArray], None]:
        workers = [part.worker() for part in ready]

        def evaluate(weights: FloatArray, out: FloatArray) -> None:
            for row, worker in enumerate(workers):
                out[row] = worker(weights)

        return evaluate

    return draw_items(
        make_evaluate,
        n_units=n_units,
        shapes=shapes,
        n_values=len(ready),
        **sampling._asdict(),
        df=df,
    )


def refuse_hours(specs: Sequence[ScoreSpec], n_draws: int, *, n_jobs: int | None) -> None:
    """Raise an error if the computation would take hours, and suggest a smaller number of draws."""
    first = specs[0]
    n_models = len(first.view.models)
    own_metrics = [spec for spec in specs if spec.metric.reads == "anything"]
    if own_metrics:
        started = time.perf_counter()
        for spec in own_metrics:
            _ = spec.observed
        hours = (time.perf_counter() - started) * n_draws / 3600
    else:
        columns = len(first.view.labels) if first.metric.reads == "classes" else 1
        weights = float(first.view.n_rows) * n_draws * n_models * len(specs) * columns
        hours = weights / _WEIGHTS_AN_HOUR / min(n_workers(n_jobs), 8)
    if hours > _MOST_HOURS:
        enough = max(100, int(n_draws * 0.1 / hours) // 100 * 100)
        raise ResourceError(
            f"{n_draws:,} draws of {first.metric.label} on {first.view.n_rows:,} rows would take "
            f"about {hours:,.0f} hours; {param('n_draws=', enough)} takes a few minutes, and "
            "more items do not require more draws"
        )


def undefined_findings(spec: LabelSpec) -> Iterator[Finding]:
    """Yield the number of items whose value is 0 only because it is 0/0."""
    shown = []
    for name, (table, margins) in zip(spec.view.models, item_tables(spec.view), strict=True):
        n = table.sum_where(_BOTTOMS[str(spec.measured.score)](margins) == 0)
        if n:
            shown.append(f"{n:,} of {name}")
    if shown:
        metric = spec.measured.label.partition(" ")[2]
        yield finding("undefined_items", metric=metric, counts=clauses(shown))


_BOTTOMS: dict[str, Callable[[Margins], FloatArray]] = {
    "precision": lambda margins: margins.predicted,
    "recall": lambda margins: margins.actual,
    "fbeta": lambda margins: margins.actual + margins.predicted,
    "jaccard": lambda margins: margins.actual + margins.predicted,
    "hamming_loss": lambda margins: np.ones_like(margins.actual),
}


def draw_means(spec: LabelSpec, view: Outcomes, sampling: Sampling) -> FloatArray:
    """Draw ``(n_models, n_draws)`` values; items of ``view`` may have reduced weight."""
    drawn = []
    effective = view.tables[0].counts.dtype.kind == "f"  # same number of items, with less weight
    counted = alone(spec.view if effective else view)
    for index, (means, own) in enumerate(zip(spec.weighed_means(view), counted, strict=True)):
        moved = spec.moved_by(own)
        drawn.append(
            draw_prepared(
                means.ready,
                sampling if view.paired else sampling.child(index),
                n_units=len(means.shapes),
                shapes=None if (means.shapes == 1).all() else means.shapes,
                df=None if moved is None else moved.df(spec.counting.times),
            )
        )
    return np.clip(np.concatenate(drawn), 0.0, 1.0)


# Step size, as a share of the class.
_STEP = 1e-6
_AT_ONCE = 1 << 20
# With more classes (or more cells of a user's function), this would take longer than the
# comparison.
_MOST_CLASSES = 2_000
_MOST_CELLS = 1_000


def cell_slopes(spec: LabelSpec, table: Table, model: int) -> FloatArray | None:
    """Return the derivative of one model's metric with respect to the count of each cell.

    Return None if there are so many classes that this would take longer than the comparison.
    """
    from scipy.sparse import identity, kron

    spec = replace(spec, view_prevalence=None, view_errors=None)
    own, n_classes = ModelSums(spec, spec.view, model), spec.view.n_classes
    cells = table.cells[:, [0, 1 + model]]
    sums = own.terms(cells) @ table.counts.astype(np.float64)
    if spec.needs == "confusion":
        first, which = distinct_rows(cells)
        if len(first) > _MOST_CELLS or len(first) * n_classes**2 > 32 * _AT_ONCE:
            return None
        terms = own.terms(cells[first])
        steps = _STEP * (sums @ terms)
    else:
        if n_classes > _MOST_CLASSES:
            return None
        # Hits, true counts and predicted counts of each class.
        actual, _, predicted = sums.reshape(3, -1)
        steps = np.tile(_STEP * np.maximum(actual + predicted, 1), 3)
        terms = kron([[1, 1, 0], [1, 0, 0], [1, 0, 1]], identity(n_classes))
    at_all = PlugIn(sums[:, None], partial(own.evaluate, drawn=True))
    slopes: FloatArray = (at_all.without(terms, -steps) - at_all.observed)[0] / steps
    if spec.needs == "confusion":
        return np.asarray(slopes[which])
    truth, answer = cells.T
    right, of_truth, of_answer = slopes.reshape(3, -1)
    apart: FloatArray = of_truth[truth] + of_answer[answer]
    return np.where(truth == answer, right[truth], apart)


class Spreads(NamedTuple):
    """The sd with one weight per id and with one weight per item; NaN if unknown."""

    grouped: float
    apart: float

    @property
    def ratio(self) -> float:
        """Ratio of the sd with groups to the sd without."""
        return 0.0 if np.isnan(self.grouped) else self.grouped / self.apart


def spreads(spec: LabelSpec, column: RepeatedId, models: Sequence[int]) -> Spreads | None:
    """Return the sd with and without groups.

    Return None if the outcomes were changed after they were read, or if the models do not differ.
    """
    recoded = _recoded(spec, column.outcomes)
    if recoded is None:
        return None
    # The slopes are valid only for the test set's proportions and uncorrected labels.
    if spec.view_prevalence is not None or spec.view_errors is not None:
        return Spreads(np.nan, np.nan)
    table, groups = recoded
    slopes = [cell_slopes(spec, table, model) for model in models]
    known = [each for each in slopes if each is not None and np.isfinite(each).all()]
    if len(known) < len(slopes):
        return Spreads(np.nan, np.nan)
    if spec.paired and len(known) == 2:
        known = [known[0] - known[1]]
    grouped = sum(_by_group(each, groups) for each in known)
    apart = sum(_apart(each, table) for each in known)
    return Spreads(float(np.sqrt(grouped)), float(np.sqrt(apart))) if apart > 0 else None


def _by_group(slopes: FloatArray, groups: Groups) -> float:
    sums = np.bincount(
        groups.pattern,
        groups.times.astype(np.float64) * slopes[groups.cell],
        minlength=len(groups.repeats),
    )
    return float(groups.repeats.astype(np.float64) @ np.square(sums))


def _apart(slopes: FloatArray, table: Table) -> float:
    return float(table.counts.astype(np.float64) @ np.square(slopes))


def _recoded(spec: LabelSpec, read: Outcomes) -> tuple[Table, Groups] | None:
    """Return the outcomes as read, with the view's classes, in their original cells.

    Cells are not merged, because groups would then have to be sorted again.
    """
    table, groups, view = read.tables[0], read.groups, spec.view
    if groups is None or not {*view.models} <= {*read.models}:
        return None
    if not {*map(repr, read.labels)} <= {*map(repr, spec.data.labels)}:  # distinguishes True from 1
        return None
    columns = [0, *(1 + read.models.index(model) for model in view.models)]
    known = dict(zip(map(repr, spec.data.labels), view_codes(spec), strict=True))
    codes = np.array([known[repr(label)] for label in read.labels], dtype=np.int64)
    recoded = Table(codes[table.cells[:, columns]], table.counts)
    for index, model in enumerate(view.models):
        same = zip(
            recoded.margins(n_labels=view.n_classes, model=index), view.margins(model), strict=True
        )
        if not all(np.array_equal(left, right) for left, right in same):
            return None
    return recoded, groups


class Left(NamedTuple):
    """Number of further labels that would be useful, and the share of the variance that remains."""

    most: int
    stays: float


def left_in_pool(spec: LabelSpec, sd: float) -> Left | None:
    """Return the effect of future labels that are distributed like the existing ones.

    Return None if all or none of the disagreements are labelled, or if the slopes are unknown.
    """
    view, pool = spec.view, spec.view.pool
    assert pool is not None
    if spec.view_prevalence is not None:  # the slopes are valid only for the pool's proportions
        return None
    labelled: FloatArray = pool.labelled(view.tables[0], n_labels=view.n_classes).sum(axis=1)
    n_apart: float = labelled[pool.apart].sum()
    if n_apart == 0:
        return None
    times = pool.counts[pool.apart].astype(np.float64).sum() / n_apart
    most = int(min(labelled.sum() * times, pool.n) - labelled.sum())
    variance = _variance_of_pool(spec)
    if most < 1 or variance is None:
        return None
    return Left(most, min(variance / sd**2, 1.0))


def _variance_of_pool(spec: LabelSpec) -> float | None:
    """Return the variance of the difference if the true labels in every stratum were known."""
    view, pool = spec.view, spec.view.pool
    assert pool is not None
    table = pool.weigh(view.tables[0], n_labels=view.n_classes)
    a, b = (cell_slopes(spec, table, model) for model in range(2))
    if a is None or b is None or not np.isfinite(a - b).all():
        return None
    sums = pool.sums(table, a - b)  # of each stratum: N_s ḡ_s
    sizes = pool.counts.astype(np.float64)
    return float((np.square(sums) / sizes).sum() - sums.sum() ** 2 / sizes.sum())
