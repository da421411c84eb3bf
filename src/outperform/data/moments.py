"""``Moments``: what metrics of sums need of any number of rows, as a small table that adds up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import DataError

Kind = Literal["grades", "targets"]
Term = tuple[str, str | None]
"""Name of a term, and the model that it belongs to; None if all models share it."""

SIZE: Term = ("size", None)
OWN: dict[Kind, tuple[str, ...]] = {
    "grades": ("value",),
    "targets": ("residual", "square", "product", "absolute", "deviance"),
}
SHARED: dict[Kind, tuple[str, ...]] = {"grades": (), "targets": ("target", "target square")}

# Units listed one by one at first, and at most.
_LISTED, _MOST_LISTED = 2_048, 8_192
# The other units shift a quantile by less than a hundredth of an sd if their skewness does not
# exceed this.
_SKEWNESS = 0.02
# Pairs of more models than this are not looked at one by one.
_MOST_PAIRED = 8
# A variance that is reduced to this share by other terms is due to rounding.
_FLAT = 1e-12


def terms_of(kind: Kind, models: Sequence[str]) -> tuple[Term, ...]:
    """Return the terms of a unit, the number of its rows last.

    Examples
    --------
    >>> terms_of("grades", ["a", "b"])
    (('value', 'a'), ('value', 'b'), ('size', None))
    """
    shared = [(name, None) for name in SHARED[kind]]
    return (*shared, *((name, model) for model in models for name in OWN[kind]), SIZE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Sums over units of their terms and of the products of these, and the largest units.

    A unit is an item, or a group of items whose terms are added up. The weight of a unit in a draw
    is Exp(1), so a weighted sum has mean Σt and covariance Σtt′: these and the units that are drawn
    one by one determine every metric of sums. Tables of different units add up exactly.

    Parameters
    ----------
    kind
        ``"grades"``, or ``"targets"`` for true numbers and predictions.
    models
        Names of the models.
    terms
        Terms of a unit; the last is its number of rows.
    origin
        Grades and targets are relative to this number, so that squares keep their digits.
    grouped
        Whether units are groups.
    n_units
        Number of units.
    totals, products
        ``(n_terms,)`` and ``(n_terms, n_terms)`` sums over all units.
    heavy
        ``(n_heavy, n_terms)`` terms of the units with the largest influence.
    low, high
        ``(n_models,)`` smallest and largest grade or prediction.
    apart
        ``(n_models, n_models)`` number of units on which two models differ.
    """

    kind: Kind
    models: tuple[str, ...]
    terms: tuple[Term, ...]
    origin: float
    grouped: bool
    n_units: int
    totals: FloatArray
    products: FloatArray
    heavy: FloatArray
    low: FloatArray
    high: FloatArray
    apart: IntArray

    @property
    def n(self) -> int:
        """Number of items."""
        return round(float(self.totals[-1]))

    @property
    def n_others(self) -> int:
        """Number of units that are not listed one by one."""
        return self.n_units - len(self.heavy)

    def select(self, models: Sequence[str]) -> Moments:
        """Return the moments of some models, in this order."""
        shared = [term for term in self.terms[:-1] if term[1] is None]
        own = [term for model in models for term in self.terms if term[1] == model]
        positions = [self.models.index(model) for model in models]
        return replace(
            self.keep((*shared, *own, SIZE)),
            models=tuple(models),
            low=self.low[positions],
            high=self.high[positions],
            apart=self.apart[np.ix_(positions, positions)],
        )

    def keep(self, terms: tuple[Term, ...]) -> Moments:
        """Return the moments of some terms."""
        positions = [self.terms.index(term) for term in terms]
        return replace(
            self,
            terms=terms,
            totals=self.totals[positions],
            products=self.products[np.ix_(positions, positions)],
            heavy=self.heavy[:, positions],
        )

    def __add__(self, other: Moments) -> Moments:
        """Combine the moments of different units."""
        if (self.kind, self.models) != (other.kind, other.models):
            raise DataError(
                "sums can be added only for the same models and the same kind of scores; got "
                f"{self.kind} of {', '.join(self.models)} and {other.kind} of "
                f"{', '.join(other.models)}"
            )
        if self.grouped or other.grouped:
            raise DataError(
                "groups that occur in both parts cannot be matched; read all files at once"
            )
        terms = tuple(term for term in self.terms if term in other.terms)
        first, second = self.keep(terms), other.keep(terms).moved(self.origin)
        both = replace(
            first,
            n_units=first.n_units + second.n_units,
            totals=first.totals + second.totals,
            products=first.products + second.products,
            heavy=np.concatenate([first.heavy, second.heavy]),
            low=np.minimum(first.low, second.low),
            high=np.maximum(first.high, second.high),
            apart=first.apart + second.apart,
        )
        extreme = np.abs(both.heavy @ both.influences().T).max(axis=1, initial=0.0)
        most = max(len(first.heavy), len(second.heavy), _LISTED)
        largest = np.argsort(-extreme, kind="stable")[:most]
        return replace(both, heavy=both.heavy[np.sort(largest)])

    def moved(self, origin: float) -> Moments:
        """Return the same moments relative to another origin, to which all terms are linear."""
        step = self.origin - origin
        if step == 0:
            return self
        index_of = {term: index for index, term in enumerate(self.terms)}
        matrix = np.eye(len(self.terms))
        for (name, model), index in index_of.items():
            if name in ("value", "target"):
                matrix[index, -1] = step
            elif name == "target square":
                matrix[index, [index_of["target", None], -1]] = 2 * step, step * step
            elif name == "product":
                matrix[index, index_of["residual", model]] = step
        return replace(
            self,
            origin=origin,
            totals=matrix @ self.totals,
            products=matrix @ self.products @ matrix.T,
            heavy=self.heavy @ matrix.T,
        )

    def influences(self) -> FloatArray:
        """Return what makes a unit influential, as functions of its terms ``(n_rows, n_terms)``.

        The rows are the influence on the mean of each term, and on the difference in it between two
        models, in units of their sds. A value is nearly a linear function of these means.
        """
        rows = np.eye(len(self.terms))[:-1]
        rows[:, -1] -= self.totals[:-1] / self.totals[-1]
        index_of = {term: index for index, term in enumerate(self.terms)}
        pairs = [
            rows[index_of[name, a]] - rows[index_of[name, b]]
            for name in dict.fromkeys(name for name, model in self.terms if model is not None)
            for a, b in combinations(self.models[:_MOST_PAIRED], 2)
        ]
        rows = np.stack([*rows, *pairs])
        size = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", rows, self.products, rows), 0.0))
        influences: FloatArray = rows[size > 0] / size[size > 0, None]
        return influences

    def listing(self, largest: Callable[[int], FloatArray]) -> Moments:
        """Return the moments with as many of the largest units as the skewness of the rest needs.

        A sum of cubes is at most the largest value times the sum of squares, and an Exp(1) weight
        has third central moment 2: the skewness that the others contribute is at most twice the
        influence of the least influential unit listed, times their share of the squares.

        Parameters
        ----------
        largest
            Function that returns the terms of the n most influential units.
        """
        n_listed = _LISTED
        while True:
            heavy = largest(n_listed)
            influence = np.abs(heavy @ self.influences().T)
            least = float(influence.max(axis=1, initial=0.0).min(initial=1.0))
            left = 1 - float(np.square(influence).sum(axis=0).min(initial=1.0))
            enough = 2 * least * left <= _SKEWNESS
            if enough or len(heavy) < n_listed or n_listed >= _MOST_LISTED:
                return replace(self, heavy=heavy)
            n_listed *= 2

    def units(self) -> tuple[FloatArray, FloatArray]:
        """Return units ``(n, n_terms)`` with the same moments, and how often each occurs.

        The heavy units come first, once each. All others are replaced by pairs of units on either
        side of their mean: with k columns v of a root of their covariance and m units at
        μ ± √(n/2m) v each, n = 2km, the sums over them are Σt and Σtt′ exactly. Their weights are
        gammas of shape m, and m is so large that the sum over them is a normal variable for all
        purposes. Nothing depends on the order of rows or models.
        """
        order = sorted(range(len(self.terms)), key=lambda index: self.terms[index][1] or "")
        heavy = self.heavy[np.lexsort(self.heavy[:, order[::-1]].T)]
        n = self.n_others
        if n <= 0:
            return heavy, np.ones(len(heavy))
        mean = (self.totals - heavy.sum(axis=0)) / n
        apart = heavy - mean
        shift = self.totals - self.n_units * mean  # of the heavy units
        spread = self.products - self.n_units * np.outer(mean, mean)
        spread -= np.outer(shift, mean) + np.outer(mean, shift) + apart.T @ apart
        root = np.zeros_like(spread)
        root[np.ix_(order, range(len(order)))] = _root(spread[np.ix_(order, order)])
        root = root[:, root.any(axis=0)]
        times = n // max(2 * root.shape[1], 1)
        steps = root.T / np.sqrt(2 * max(times, 1))
        left = n - 2 * len(steps) * times
        others = np.concatenate([mean + steps, mean - steps, mean[None]])
        counts = np.append(np.full(2 * len(steps), float(times)), float(left))
        used = counts > 0
        return (
            np.concatenate([heavy, others[used]]),
            np.concatenate([np.ones(len(heavy)), counts[used]]),
        )


def _root(spread: FloatArray) -> FloatArray:
    """Return the Cholesky root of a matrix that may be singular.

    Examples
    --------
    >>> _root(np.array([[4.0, 2.0], [2.0, 1.0]]))
    array([[2., 0.],
           [1., 0.]])
    """
    left, size = spread.copy(), np.maximum(np.diag(spread), 0.0)
    root = np.zeros_like(spread)
    for pivot in range(len(left)):
        if left[pivot, pivot] > _FLAT * size[pivot]:
            root[pivot:, pivot] = left[pivot:, pivot] / np.sqrt(left[pivot, pivot])
            left -= np.outer(root[:, pivot], root[:, pivot])
    return root


def moments_of(kind: Kind, by_model: Mapping[str, FloatArray], codes: IntArray | None) -> Moments:
    """Return the moments of scores in memory.

    Parameters
    ----------
    kind
        Kind of scores.
    by_model
        Each model's grades ``(n_rows,)``, or targets and predictions ``(n_rows, 2)``.
    codes
        Group of each row. None if rows are units.
    """
    models = tuple(by_model)
    arrays = [array if array.ndim == 2 else array[:, None] for array in by_model.values()]
    origin = float(np.float32(arrays[0][:, 0].mean()))
    n_rows = len(arrays[0])
    columns: list[FloatArray] = []
    if kind == "targets":
        away = arrays[0][:, 0] - origin
        columns += [away, np.square(away)]
    for array in arrays:
        columns += [array[:, 0] - origin] if kind == "grades" else _of_targets(array, origin)
    columns.append(np.ones(n_rows))
    if codes is not None:
        columns = [np.bincount(codes, column).astype(np.float64) for column in columns]
    predicted = [array[:, -1] for array in arrays]
    differ = np.zeros((len(models), len(models)), dtype=np.int64)
    for a, b in combinations(range(len(models)), 2):
        rows = predicted[a] != predicted[b]
        differ[a, b] = int(rows.sum()) if codes is None else len(np.unique(codes[rows]))
    units = np.stack(columns)
    whole = Moments(
        kind=kind,
        models=models,
        terms=terms_of(kind, models),
        origin=origin,
        grouped=codes is not None,
        n_units=units.shape[1],
        totals=units.sum(axis=1),
        products=units @ units.T,
        heavy=np.empty((0, len(units))),
        low=np.array([column.min() for column in predicted]),
        high=np.array([column.max() for column in predicted]),
        apart=differ + differ.T,
    )
    known = [index for index, total in enumerate(whole.totals) if total == total]
    whole, units = whole.keep(tuple(whole.terms[index] for index in known)), units[known]
    extreme = np.zeros(units.shape[1])
    for row in whole.influences():
        np.maximum(extreme, np.abs(row @ units), out=extreme)

    def largest(n: int) -> FloatArray:
        first = max(len(extreme) - n, 0)
        return units[:, np.argpartition(extreme, first)[first:]].T

    return whole.listing(largest)


def _of_targets(items: FloatArray, origin: float) -> list[FloatArray]:
    """Return the terms of targets and predictions, in the order of ``OWN``."""
    target, predicted = items[:, 0], items[:, 1]
    residual = target - predicted
    deviance = np.full(len(target), np.nan)
    if target.min() >= 0 and predicted.min() > 0:
        ratio = np.where(target > 0, target / predicted, 1.0)
        deviance = 2 * (target * np.log(ratio) - residual)
    return [residual, np.square(residual), (target - origin) * residual, np.abs(residual), deviance]
