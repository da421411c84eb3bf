"""What a metric needs to know of a confusion table: its diagonal and its two margins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import AnyArray, FloatArray
from outperform.errors import DataError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margins:
    """Hits, true and predicted weight of every class, class axis first.

    Every further axis (draws, simulations) is carried along untouched. Whole
    numbers of any size are accepted; they are kept as float64, but the misses
    and the false alarms are taken before that, so that they stay exact even
    beside a count of 10¹⁸.

    Parameters
    ----------
    hits
        Weight whose truth and prediction are both the class.
    actual
        Weight whose truth is the class.
    predicted
        Weight whose prediction is the class.

    Examples
    --------
    >>> margins = Margins(hits=[8, 5], actual=[10, 6], predicted=[9, 7])
    >>> margins.total
    array(16.)
    >>> margins.missed, margins.spurious
    (array([2., 1.]), array([1., 2.]))
    """

    hits: FloatArray
    actual: FloatArray
    predicted: FloatArray
    _missed: FloatArray | None = field(init=False, repr=False, default=None)
    _spurious: FloatArray | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        hits, actual, predicted = (
            _as_counts(values) for values in (self.hits, self.actual, self.predicted)
        )
        if hits.ndim == 0 or not hits.shape == actual.shape == predicted.shape:
            raise UsageError(
                "hits, actual and predicted must have one shape, classes first; "
                f"got {hits.shape}, {actual.shape} and {predicted.shape}"
            )
        if any(values.dtype.kind != "f" for values in (hits, actual, predicted)):
            object.__setattr__(self, "_missed", _whole_difference(actual, hits))
            object.__setattr__(self, "_spurious", _whole_difference(predicted, hits))
        object.__setattr__(self, "hits", _as_float(hits))
        object.__setattr__(self, "actual", _as_float(actual))
        object.__setattr__(self, "predicted", _as_float(predicted))

    @classmethod
    def from_confusion(cls, confusion: ArrayLike) -> Self:
        """Sum a table of shape (n_classes, n_classes, ...), rows the truth.

        Parameters
        ----------
        confusion
            Counts or weights of every pair of true and predicted class.

        Examples
        --------
        >>> Margins.from_confusion([[8, 2], [1, 5]]).predicted
        array([9., 7.])
        """
        table = as_confusion(confusion)
        diagonal = np.arange(len(table))
        hits = table[diagonal, diagonal]
        errors = table.copy()
        errors[diagonal, diagonal] = 0.0
        missed, spurious = errors.sum(axis=1), errors.sum(axis=0)
        margins = cls(hits=hits, actual=hits + missed, predicted=hits + spurious)
        object.__setattr__(margins, "_missed", missed)
        object.__setattr__(margins, "_spurious", spurious)
        return margins

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.hits)

    @property
    def total(self) -> FloatArray:
        """All weight, summed over the classes."""
        return np.asarray(self.actual.sum(axis=0))

    @property
    def missed(self) -> FloatArray:
        """Weight of the class that was called something else (false negatives)."""
        return _difference(self.actual, self.hits) if self._missed is None else self._missed

    @property
    def spurious(self) -> FloatArray:
        """Weight of other classes that was called the class (false positives)."""
        return _difference(self.predicted, self.hits) if self._spurious is None else self._spurious

    @property
    def negatives(self) -> FloatArray:
        """Weight whose truth is another class."""
        return others(self.actual)


def others(weights: FloatArray) -> FloatArray:
    """Return, for every class, the weight of all the other classes.

    Examples
    --------
    >>> others(np.array([1e18, 3.0, 4.0]))
    array([7.e+00, 1.e+18, 1.e+18])
    """
    total = weights.sum(axis=0)
    rest: FloatArray = total - weights
    # The difference cancels only where one class holds most of the weight, and
    # no more than one can: there the sum over the others is taken instead.
    heavy = weights > 0.5 * total
    if heavy.any():
        light = np.where(heavy, 0.0, weights).sum(axis=0)
        rest = np.where(heavy, light, rest)
    return rest


def as_confusion(confusion: ArrayLike) -> FloatArray:
    """Return a table (n_classes, n_classes, ...) as float64, or say what is wrong with it."""
    table = _as_float(_as_counts(confusion))
    if table.ndim < 2 or table.shape[0] != table.shape[1] or not len(table):
        raise DataError(
            "a confusion array must be square, rows the true and columns the predicted "
            f"classes, further axes behind; got shape {table.shape}"
        )
    return table


def _as_counts(values: ArrayLike) -> AnyArray:
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # numpy rounds a list of whole numbers to floats as soon as one reaches 2⁶³.
        array = np.array(values, dtype=object)
    if array.dtype.kind not in "biufO":
        raise DataError(f"counts and weights must be numbers; got an array of {array.dtype}")
    return array


def _as_float(array: AnyArray) -> FloatArray:
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"counts and weights must be finite numbers: {error}") from error


def _difference(whole: FloatArray, part: FloatArray) -> FloatArray:
    rest = whole - part
    # Sums of the same weights in another order may differ in the last digit.
    return np.maximum(rest, 0.0, out=rest)


def _whole_difference(whole: AnyArray, part: AnyArray) -> FloatArray:
    if whole.dtype != part.dtype or whole.dtype.kind == "b":
        whole, part = whole.astype(object), part.astype(object)
    return _as_float(np.asarray(whole - part))
