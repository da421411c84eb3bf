"""User-defined metrics: functions of a confusion array or of scores, and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from outperform._json import Plain, written
from outperform._typing import AnyArray, CostsLike, FloatArray, Label
from outperform.errors import UsageError, param, unknown_name
from outperform.findings import quoted
from outperform.metrics.weighted import Evaluate, Prepared, Units

ConfusionFunction: TypeAlias = Callable[[FloatArray], ArrayLike]


def call_each(function: ConfusionFunction, name: str, confusion: FloatArray) -> FloatArray:
    """Call the function once per table to get one number each.

    Examples
    --------
    >>> call_each(np.trace, "trace", np.ones((2, 2, 3)))
    array([2., 2., 2.])
    """
    tables = confusion.reshape(*confusion.shape[:2], -1)
    values = np.empty(tables.shape[2])
    for i in range(len(values)):
        # The function gets a copy because it may modify its argument.
        answer = np.asarray(function(tables[:, :, i].copy()))
        if answer.ndim or answer.dtype.kind not in "biuf":
            raise UsageError(f"{_asked(name)} one number; it returned {_shown(answer)}")
        values[i] = answer
    _refuse_nan(name, values)
    return values.reshape(confusion.shape[2:])


def call_once(function: ConfusionFunction, name: str, confusion: FloatArray) -> FloatArray:
    """Call the function once on all tables to get one number per table.

    Examples
    --------
    >>> call_once(lambda c: c[0, 0] + c[1, 1], "trace", np.ones((2, 2, 3)))
    array([2., 2., 2.])
    """
    tables = confusion.reshape(*confusion.shape[:2], -1).view()
    tables.flags.writeable = False
    answer = np.asarray(function(tables))
    if answer.shape != tables.shape[2:] or answer.dtype.kind not in "biuf":
        raise UsageError(
            f"{_asked(name)} an array of shape ({tables.shape[2]},), one number per table of its "
            f"argument {tables.shape}, because it was declared vectorized; it returned "
            f"{_shown(answer)}"
        )
    values = answer.astype(np.float64)
    _refuse_nan(name, values)
    return values.reshape(confusion.shape[2:])


def is_own(function: object) -> bool:
    """Return whether a function or an object belongs to this package and needs no checks.

    Examples
    --------
    >>> is_own(name_of), is_own(np.mean)
    (True, False)
    """
    return str(getattr(function, "__module__", "")).partition(".")[0] == "outperform"


def check_values(
    name: str, answer: ArrayLike, *, shape: tuple[int, ...], bounds: tuple[float, float]
) -> FloatArray:
    """Check the values that external code returned for draws; errors name the metric.

    Parameters
    ----------
    name
        Name of the metric.
    answer
        The returned values.
    shape
        The required shape.
    bounds
        Declared smallest and largest value of the metric.
    """
    values = np.asarray(answer)
    if values.shape != shape or values.dtype.kind not in "biuf":
        raise UsageError(
            f"{_asked(name)} an array of shape {shape}, one number per draw; "
            f"it returned {_shown(values)}"
        )
    values = values.astype(np.float64)
    _refuse_nan(name, values, "draw")
    check_bounds(name, values, bounds)
    return values


def check_items(name: str, answer: ArrayLike, n_items: int) -> FloatArray:
    """Check the rows that external code returned for items; errors name the metric.

    Parameters
    ----------
    name
        Name of the metric.
    answer
        One number or one row of numbers per item.
    n_items
        Number of items.
    """
    values = np.asarray(answer)
    if values.ndim not in (1, 2) or len(values) != n_items or values.dtype.kind not in "biuf":
        raise UsageError(
            f"metric {name!r} must convert {n_items} items to an array of shape ({n_items}, "
            f"n_statistics) of numbers; its function returned {_shown(values)}"
        )
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values.reshape(n_items, -1)).all(axis=1))[0])
        raise UsageError(
            f"metric {name!r} must return finite numbers for each item; its function returned "
            f"{values[row].tolist()} for item {row} (counted from 0)"
        )
    return values


def check_bounds(name: str, values: FloatArray, bounds: tuple[float, float]) -> None:
    """Check that values are within the bounds, except for rounding."""
    low, high = bounds
    slack = 1e-9
    outside = (values < low - slack) | (values > high + slack)
    if np.any(outside):
        raise UsageError(
            f"{_asked(name)} numbers within its bounds ({low}, {high}); it returned "
            f"{float(values[outside].flat[0])!r}; widen bounds= or fix the function"
        )


def name_of(function: object) -> str:
    """Return the default name of a metric based on a function."""
    own = str(getattr(function, "__name__", type(function).__name__))
    return own.replace("<lambda>", "custom")


def as_bounds(bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Return the checked bounds of a metric."""
    if bounds is None:
        return (-math.inf, math.inf)
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise UsageError(f"bounds must be two numbers, (low, high); got {bounds!r}") from error
    if not low < high:
        raise UsageError(f"bounds must be (low, high) with low < high; got {bounds!r}")
    return low, high


def _asked(name: str) -> str:
    return f"the metric function {name!r} must return"


def _shown(answer: AnyArray) -> str:
    if answer.ndim:
        return f"an array of shape {answer.shape} and type {answer.dtype}"
    return f"{answer.item()!r}"


def _refuse_nan(name: str, values: FloatArray, each: str = "table") -> None:
    n_nan = int(np.count_nonzero(np.isnan(values)))
    if n_nan:
        raise UsageError(
            f"{_asked(name)} a number for every {each}; it returned NaN for {n_nan} of "
            f"{values.size}; define 0/0 in the function, for example as 0.0"
        )


ScoreFunction: TypeAlias = Callable[[AnyArray, FloatArray, FloatArray], ArrayLike]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Called:
    """A user's function and its arguments; the weights sum to the number of items."""

    name: str
    function: Callable[..., ArrayLike]  # truth is None for metrics without a truth
    truth: AnyArray | None
    score: FloatArray
    units: Units
    bounds: tuple[float, float]

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        n = len(self.score)
        pick = self.units.picker(np.arange(n))
        truth = None if self.truth is None else _locked(self.truth)
        score = _locked(self.score)

        def evaluate(weights: FloatArray) -> FloatArray:
            values = np.empty(len(weights))
            for row in range(len(weights)):
                weight = pick(weights[row : row + 1])[0]
                weight = weight * (n / weight.sum())  # a copy: the function may modify it
                values[row] = self._number(self.function(truth, score, weight))
            check_bounds(self.name, values, self.bounds)
            return np.clip(values, *self.bounds)

        return evaluate

    def _number(self, answer: ArrayLike) -> float:
        number = np.asarray(answer)
        if number.ndim or number.dtype.kind not in "biuf" or np.isnan(number):
            shown = f"an array of shape {number.shape}" if number.ndim else repr(answer)
            raise UsageError(
                f"the metric function {self.name!r}(y_true, score, weight) must return one number; "
                f"it returned {shown}"
            )
        return float(number)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checked:
    """External prepared data of one model, with checks of every value."""

    name: str
    ready: Prepared
    bounds: tuple[float, float]

    def worker(self) -> Evaluate:
        """Return a function of weights."""
        evaluate = self.ready.worker()

        def check(weights: FloatArray) -> FloatArray:
            shape = (len(weights),)
            return check_values(self.name, evaluate(weights), shape=shape, bounds=self.bounds)

        return check


def checked(name: str, ready: Prepared, bounds: tuple[float, float]) -> Prepared:
    """Return prepared data, with checks of its values unless it belongs to this package.

    Parameters
    ----------
    name
        Name of the metric.
    ready
        Return value of ``prepare`` of the metric.
    bounds
        Declared smallest and largest value of the metric.
    """
    if is_own(ready):
        return ready
    if not callable(getattr(ready, "worker", None)):
        raise UsageError(
            f"prepare of the metric {name!r} must return an object with a method worker(); "
            f"it returned {type(ready).__name__}"
        )
    return Checked(name=name, ready=ready, bounds=bounds)


def _locked(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True)
class Ordinal:
    """Distance between truth and prediction for ordered levels.

    ``"mae"`` is the mean of |i − j|. Kappa is 1 − Σ w p / Σ w q, where p is the confusion array, q
    its expectation by chance, and w is |i − j| or its square; it is NaN if there is no disagreement
    by chance.

    Examples
    --------
    >>> table = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    >>> print(*(round(float(Ordinal(of)(table)), 3) for of in ("mae", "linear", "quadratic")))
    0.267 0.7 0.8
    """

    of: Literal["mae", "linear", "quadratic"]
    levels: tuple[int, ...] | None = None  # of each class; None if classes are already ordered

    def __call__(self, confusion: FloatArray) -> FloatArray:
        """Return the value of each table ``(n_classes, n_classes, …)``, rows the truth."""
        levels = range(len(confusion)) if self.levels is None else self.levels
        level = np.array(levels, dtype=np.float64)
        apart = np.abs(level[:, None] - level)
        if self.of == "quadratic":
            apart = apart * apart
        total = confusion.sum(axis=(0, 1))
        wrong = np.einsum("ij,ij...->...", apart, confusion) / total
        if self.of == "mae":
            return np.asarray(wrong)
        truth, predicted = confusion.sum(axis=1) / total, confusion.sum(axis=0) / total
        by_chance = np.einsum("ij,i...,j...->...", apart, truth, predicted, optimize=True)
        unknown = np.full_like(by_chance, np.nan)
        return np.asarray(1.0 - np.divide(wrong, by_chance, out=unknown, where=by_chance > 0))

    def aligned(self, labels: Sequence[Label], order: Sequence[Label] | None) -> Ordinal:
        """Return this metric with the level of each class in the data.

        Parameters
        ----------
        labels
            All classes of the data, sorted.
        order
            Labels from the lowest to the highest level. None sorts numbers. The only natural order
            of text is alphabetical, which is rarely intended.
        """
        if order is None:
            if len(labels) > 2 and any(isinstance(label, str) for label in labels):
                raise UsageError(
                    f"levels must be ordered, but {_listed(labels)} is only alphabetical order; "
                    f"list them from the lowest to the highest with {param('labels=')}"
                )
            return replace(self, levels=tuple(range(len(labels))))
        levels = {_key(_plain(label)): level for level, label in enumerate(order)}
        lacking = [label for label in labels if _key(label) not in levels]
        if lacking:
            raise UsageError(
                f"{param('labels=')} must include every level; missing: {_listed(lacking)}"
            )
        return replace(self, levels=tuple(levels[_key(label)] for label in labels))


_MOST_NAMED = 8


@written()
class PairCosts(NamedTuple):
    """Costs of some pairs.

    Parameters
    ----------
    pairs
        Truth, prediction and cost; all other pairs cost 0.
    unit
        Unit of the costs.
    """

    pairs: tuple[tuple[Label, Label, float], ...]
    unit: str | None


@written()
class MatrixCosts(NamedTuple):
    """Costs of all pairs.

    Parameters
    ----------
    labels
        Class of each row and column; null for the sorted classes of the data.
    matrix
        Cost of each pair, true classes in rows.
    unit
        Unit of the costs.
    """

    labels: tuple[Label, ...] | None
    matrix: tuple[tuple[float, ...], ...]
    unit: str | None


@written("*_given")
@dataclass(frozen=True, slots=True, kw_only=True)
class Costs(Plain):
    """Cost of every pair of true and predicted class; callable with a confusion array.

    Parameters
    ----------
    matrix
        Cost of each pair, true classes in rows; None if pairs are given by name.
    labels
        Class of each row and column; None for the sorted classes of the data.
    pairs
        Truth, prediction and cost of some pairs; all others cost 0.
    unit
        Unit of the costs, such as ``"EUR"``.

    Examples
    --------
    >>> costs = Costs.from_param({("fraud", "ok"): 100, ("ok", "fraud"): 5}, unit="EUR")
    >>> costs.aligned(("fraud", "ok")).matrix
    ((0.0, 100.0), (5.0, 0.0))
    """

    matrix: tuple[tuple[float, ...], ...] | None = None
    labels: tuple[Label, ...] | None = None
    pairs: tuple[tuple[Label, Label, float], ...] = ()
    unit: str | None = None

    @property
    def _given(self) -> PairCosts | MatrixCosts:
        if self.matrix is None:
            return PairCosts(self.pairs, self.unit)
        return MatrixCosts(self.labels, self.matrix, self.unit)

    @classmethod
    def from_param(
        cls, costs: CostsLike, *, labels: Sequence[Label] | None = None, unit: str | None = None
    ) -> Costs:
        """Convert a square matrix, or costs by (truth, prediction).

        Parameters
        ----------
        costs
            Costs as passed by the user.
        labels
            The class of each row and column of a matrix.
        unit
            Unit of the costs.
        """
        if unit is not None and (not isinstance(unit, str) or not unit.strip()):
            raise UsageError(f"unit must be text such as 'EUR'; got {unit!r}")
        if isinstance(costs, Mapping):
            if labels is not None:
                raise UsageError(
                    "costs by (truth, prediction) already name the classes; remove "
                    f"{param('labels=')}"
                )
            return cls(pairs=_pairs(costs), unit=unit)
        matrix = _matrix(costs)
        named = None if labels is None else tuple(_plain(label) for label in labels)
        if named is not None and (len(named) != len(matrix) or len(set(named)) != len(named)):
            raise UsageError(
                f"a cost matrix with {len(matrix)} rows needs {len(matrix)} different labels; got "
                f"{list(named)}"
            )
        return cls(matrix=matrix, labels=named, unit=unit)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest cost of an item."""
        values = [cost for *_, cost in self.pairs] + [0.0] if self.matrix is None else self.matrix
        return float(np.min(values)), float(np.max(values))

    @property
    def per_item(self) -> str:
        """Unit of the value, for display."""
        return "per item" if self.unit is None else f"{self.unit} per item"

    def aligned(self, labels: tuple[Label, ...]) -> Costs:
        """Return the matrix in the order of the classes of some data.

        Parameters
        ----------
        labels
            All classes of the data.
        """
        if self.matrix is None:
            return self._of_pairs(labels)
        if self.labels is None:
            if len(self.matrix) != len(labels):
                raise UsageError(
                    f"the cost matrix is {len(self.matrix)}×{len(self.matrix)}, but there are "
                    f"{len(labels)} classes, in this order: {_listed(labels)}; pass the classes "
                    f"of the rows with {param('labels=')}"
                )
            return replace(self, labels=labels)
        known = [_key(label) for label in self.labels]
        unpriced = [label for label in labels if _key(label) not in known]
        if unpriced:
            raise UsageError(
                f"the cost matrix has rows for {_listed(self.labels)}, but the data also have "
                f"{_listed(unpriced)}"
            )
        order = [known.index(_key(label)) for label in labels]
        matrix = tuple(tuple(self.matrix[row][column] for column in order) for row in order)
        return replace(self, matrix=matrix, labels=labels)

    def _of_pairs(self, labels: tuple[Label, ...]) -> Costs:
        code_of = {_key(label): code for code, label in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)))
        for truth, prediction, cost in self.pairs:
            for label in (truth, prediction):
                if _key(label) not in code_of:
                    known = unknown_name("class", label, map(str, labels))
                    raise UsageError(
                        f"{known}; add classes that did not occur with {param('labels=')}"
                    )
            matrix[code_of[_key(truth)], code_of[_key(prediction)]] = cost
        return replace(self, matrix=_rows(matrix), labels=labels, pairs=())

    def __call__(self, confusion: FloatArray) -> FloatArray:
        """Return the mean cost of each table ``(n_classes, n_classes, n)``, rows the truth."""
        total = np.einsum("jkn,jk->n", confusion, np.array(self.matrix))
        return np.asarray(total / confusion.sum(axis=(0, 1)))


def _matrix(costs: object) -> tuple[tuple[float, ...], ...]:
    try:
        array = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"costs must be a square matrix of numbers; got {costs!r}") from error
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        raise UsageError(
            "costs must be a square matrix, with true classes in rows and predictions in "
            f"columns, or a mapping such as {{('fraud', 'ok'): 100}}; got shape {array.shape}"
        )
    return _checked(array, array)


def _pairs(costs: Mapping[Any, Any]) -> tuple[tuple[Label, Label, float], ...]:
    pairs = []
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise UsageError(f"costs must be keyed by (truth, prediction); got {pair!r}")
        try:
            pairs.append((_plain(pair[0]), _plain(pair[1]), float(cost)))
        except (TypeError, ValueError) as error:
            raise UsageError(f"the cost of {pair!r} must be a number; got {cost!r}") from error
    _checked(np.array([[cost for *_, cost in pairs] + [0.0]]), costs)
    return tuple(sorted(pairs, key=lambda pair: (_key(pair[0]), _key(pair[1]))))


def _checked(array: FloatArray, costs: object) -> tuple[tuple[float, ...], ...]:
    if not np.isfinite(array).all():
        raise UsageError(f"costs must be finite; got {costs!r}")
    if array.min() == array.max():
        raise UsageError("all costs are equal, so no model could cost less than another")
    return _rows(array)


def _rows(array: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in array.tolist())


def _plain(label: Any) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label
    return plain


def _key(label: Label) -> tuple[str, str]:
    """Return a key that distinguishes labels: True == 1, but they are different classes."""
    return type(label).__name__, str(label)


def _listed(labels: Sequence[Label]) -> str:
    return quoted(labels, most=_MOST_NAMED)
