"""Metrics as functions of sums over items: regression, and user-defined statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.metrics.custom import check_bounds
from outperform.metrics.metric import Basis, Combine, Sums, Terms
from outperform.metrics.weighted import Added, Buffer, Evaluate, ItemData, Units

TARGETS = ("target", "prediction")
"""Columns of a regression."""

GRADES = ("judge", "judge of all models", "human", "looked")
"""Judge's grade of an item, its mean over models, human grade or 0, and whether that exists."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedMeans:
    """Function of weighted means: one matrix product per block of draws.

    Examples
    --------
    >>> found = CombinedMeans(
    ...     name="wer", terms=np.array([[1.0, 4.0], [0.0, 6.0]]), sums=Sums(
    ...         basis=Basis(), combine=lambda m: m[0] / m[1]), units=Units(2), bounds=(0.0, np.inf))
    >>> found.worker()(np.array([[1.0, 1.0], [3.0, 1.0]])).round(4)
    array([0.1   , 0.1667])
    """

    name: str
    terms: FloatArray  # (n_items, n_statistics)
    sums: Sums
    units: Units
    bounds: tuple[float, float]
    row: int | None = None  # row of the result of combine if the result covers all models

    def added(self) -> Added | None:
        """Return the weights added to the sums in every draw; None if there are none."""
        return None if self.sums.added is None else self.sums.added(self.terms, self.units)

    def of_sums(self, sums: FloatArray) -> FloatArray:
        """Return the value at sums ``(n_statistics + 1, n)``, the last being that of weights."""
        return self.own_row(self.all_rows(sums))

    def all_rows(self, sums: FloatArray) -> FloatArray:
        """Return the values of all models if they share their sums, else of this model."""
        values = self.sums.sign * self.sums.of_means(sums[:-1] / sums[-1:], name=self.name)
        if self.sums.own:
            check_bounds(self.name, values, self.bounds)
        return values

    def own_row(self, values: FloatArray) -> FloatArray:
        """Return this model's values from :meth:`all_rows`."""
        return values if self.row is None else values[self.row]

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        columns = [self.units.sums(column) for column in self.terms.T]
        matrix = np.stack([*columns, self.units.sums(np.ones(len(self.terms)))])
        return lambda weights: self.of_sums(matrix @ weights.T)


@dataclass(frozen=True, slots=True)
class WeightedQuantile:
    """Smallest value with at least a given share of the weight at or below it.

    Examples
    --------
    >>> weights = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 4.0, 1.0, 1.0]])
    >>> WeightedQuantile(np.array([3.0, 9.0, 1.0, 2.0]), Units(4), 0.5).worker()(weights)
    array([2., 9.])
    """

    values: FloatArray  # (n_items,)
    units: Units
    level: float

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        order = np.argsort(self.values, kind="stable")
        ordered, pick = self.values[order], self.units.picker(order)
        buffer = Buffer(len(order))
        # Tolerance for a share that is missed only by rounding.
        level = self.level * (1 - 1e-12)

        def evaluate(weights: FloatArray) -> FloatArray:
            below = np.cumsum(pick(weights), axis=1, out=buffer.rows(len(weights)))
            return np.asarray(ordered[(below >= level * below[:, -1:]).argmax(axis=1)])

        return evaluate


def weighted_quantile(items: ItemData, level: float) -> WeightedQuantile:
    """Return the quantile of grades at a level."""
    return WeightedQuantile(items.values, items.units, level)


def rows(array: FloatArray) -> list[FloatArray]:
    """Return the rows of an array as separate arrays."""
    return [*array]


def _residuals(items: FloatArray) -> FloatArray:
    target, prediction = rows(items.T)
    return target - prediction


def _squares(items: FloatArray) -> FloatArray:
    return np.square(_residuals(items))[:, None]


def _absolute(items: FloatArray) -> FloatArray:
    return np.abs(_residuals(items))[:, None]


def _moments(items: FloatArray) -> FloatArray:
    """Return the residual, the target and their squares, relative to a common origin."""
    target, residual = rows(items.T)[0], _residuals(items)
    target = target - target.mean()  # squares of values far from 0 would lose digits
    return np.stack([residual, np.square(residual), target, np.square(target)], axis=1)


def _products(items: FloatArray) -> FloatArray:
    x, y = rows((items - items.mean(axis=0)).T)
    return np.stack([x, y, x * x, y * y, x * y], axis=1)


def _poisson(items: FloatArray) -> FloatArray:
    target, mean = rows(items.T)
    if (target < 0).any() or (mean <= 0).any():
        raise UsageError(
            "poisson_deviance needs targets of at least 0 and predictions above 0; the smallest "
            f"are {target.min():g} and {mean.min():g}"
        )
    ratio = np.where(target > 0, target / mean, 1.0)
    return np.asarray(2 * (target * np.log(ratio) - target + mean))[:, None]


@dataclass(frozen=True, slots=True)
class Pinball:
    """Pinball loss of predicted quantiles, item by item."""

    alpha: float

    def __call__(self, items: FloatArray) -> FloatArray:
        """Return the loss of each item."""
        residual = _residuals(items)
        return np.maximum(self.alpha * residual, (self.alpha - 1) * residual)[:, None]


@dataclass(frozen=True, slots=True)
class Pick:
    """One item statistic, possibly transformed by a metric of grades."""

    column: int
    then: Terms | None = None

    def __call__(self, items: FloatArray) -> FloatArray:
        """Return the column, ``(n_items, 1)``."""
        values = items[:, self.column : self.column + 1]
        return values if self.then is None else self.then(values[:, 0])


def _graded(items: FloatArray) -> FloatArray:
    """Return the judge's grades and, for human-graded items, 1, all grades and their products."""
    own, mean, human, looked = rows(items.T)
    of_people = [
        np.ones_like(own), human, own, mean, human * own, human * mean, own * own, own * mean,
        mean * mean,
    ]  # fmt: skip
    return np.stack([own, mean, *(looked * column for column in of_people)], axis=1)


def _corrected(means: FloatArray) -> FloatArray:
    """Return the mean human grade, estimated with the judge's grades of the remaining items.

    Human grades are regressed on the judge's grades for items with both, and the fitted plane is
    evaluated at the judge's means over all items. The regression includes the judge's grades of the
    other models, so items that are hard for all models do not blur the difference.
    """
    own, mean, looked, *of_people = rows(means)
    human, x, y, hx, hy, xx, xy, yy = (column / looked for column in of_people)
    hx, hy, xx, xy, yy = hx - human * x, hy - human * y, xx - x * x, xy - x * y, yy - y * y
    # With one model, or a judge that gives all models equal grades, both columns are the same.
    ridge = 1e-9 * (xx + yy) + 1e-12 * (own * own + mean * mean) + 1e-150
    xx, yy = xx + ridge, yy + ridge
    bottom = xx * yy - xy * xy
    of_own, of_mean = (hx * yy - hy * xy) / bottom, (hy * xx - hx * xy) / bottom
    return np.asarray(human + of_own * (own - x) + of_mean * (mean - y))


def _by_people(means: FloatArray) -> FloatArray:
    return np.asarray(rows(means)[3] / rows(means)[2])


def only(means: FloatArray) -> FloatArray:
    """Return the mean of a single statistic."""
    return rows(means)[0]


def _root(means: FloatArray) -> FloatArray:
    return np.sqrt(rows(means)[0])


def _over(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Return a ratio, and 0 for 0/0."""
    safe = np.where(bottom > 0, bottom, 1.0)
    return np.asarray(np.where(bottom > 0, top / safe, 0.0))


def _explained(error: FloatArray, target: FloatArray, square: FloatArray) -> FloatArray:
    """Return 1 − error / variance, with scikit-learn's value for constant targets."""
    variance = square - np.square(target)
    constant = variance <= 1e-14 * square
    share = 1 - error / np.where(constant, 1.0, variance)
    return np.where(constant, np.where(error > 0, 0.0, 1.0), share)


def _r2(means: FloatArray) -> FloatArray:
    _, square, target, of_target = rows(means)
    return _explained(square, target, of_target)


def _explained_variance(means: FloatArray) -> FloatArray:
    residual, square, target, of_target = rows(means)
    return _explained(square - np.square(residual), target, of_target)


def _correlation(means: FloatArray) -> FloatArray:
    x, y, xx, yy, xy = rows(means)
    spread = np.sqrt(np.maximum((xx - x * x) * (yy - y * y), 0.0))
    return _over(xy - x * y, spread)


def ratio(means: FloatArray) -> FloatArray:
    """Return the first sum divided by the second, with 0 for 0/0."""
    top, bottom = rows(means)
    return _over(top, bottom)


def regression(terms: Terms, combine: Combine = only, *, by_spread: bool = False) -> Sums:
    """Return a metric of targets and predictions."""
    basis = Basis(names=TARGETS, terms=terms)
    return Sums(basis=basis, combine=combine, by_spread=by_spread)


MSE = regression(_squares)
RMSE = regression(_squares, _root)
MAE = regression(_absolute)
POISSON = regression(_poisson)
R2 = regression(_moments, _r2, by_spread=True)
EXPLAINED_VARIANCE = regression(_moments, _explained_variance, by_spread=True)
CORRELATION = regression(_products, _correlation)


def _masks(truth: object, prediction: object) -> FloatArray:
    """Return the intersection, true size and predicted size of every mask."""
    arrays = []
    for which, masks in (("y_true", truth), ("a prediction", prediction)):
        array = np.asarray(masks)
        if array.ndim < 2 or array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
            raise UsageError(
                f"masks must be arrays of 0 and 1 with images on the first axis; {which} has "
                f"shape {array.shape} and type {array.dtype}"
            )
        arrays.append(array.reshape(len(array), -1).astype(bool))
    true, predicted = arrays
    if true.shape != predicted.shape:
        raise UsageError(f"masks must have the same shape; got {true.shape} and {predicted.shape}")
    sizes = [(true & predicted).sum(axis=1), true.sum(axis=1), predicted.sum(axis=1)]
    return np.stack(sizes, axis=1).astype(np.float64)


def _dice(sizes: FloatArray) -> FloatArray:
    both, actual, predicted = rows(sizes)
    return np.where(actual + predicted > 0, _over(2 * both, actual + predicted), 1.0)


def _iou(sizes: FloatArray) -> FloatArray:
    both, actual, predicted = rows(sizes)
    union = actual + predicted - both
    return np.where(union > 0, _over(both, union), 1.0)


def _dice_of_items(items: FloatArray) -> FloatArray:
    return _dice(items.T)[:, None]


def _iou_of_items(items: FloatArray) -> FloatArray:
    return _iou(items.T)[:, None]


_SIZES = ("both", "actual", "predicted")
DICE = Sums(basis=Basis(names=_SIZES, read=_masks), combine=_dice)
IOU = Sums(basis=Basis(names=_SIZES, read=_masks), combine=_iou)
MEAN_DICE = Sums(basis=Basis(names=_SIZES, terms=_dice_of_items, read=_masks), combine=only)
MEAN_IOU = Sums(basis=Basis(names=_SIZES, terms=_iou_of_items, read=_masks), combine=only)

JUDGED_MEAN = Sums(basis=Basis(names=GRADES, terms=_graded), combine=_corrected, fitted=3)
PEOPLE_MEAN = Sums(basis=Basis(names=GRADES, terms=_graded), combine=_by_people)
JUDGE_MEAN = Sums(basis=Basis(names=GRADES, terms=Pick(0)), combine=only)
