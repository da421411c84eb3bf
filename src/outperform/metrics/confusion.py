"""Metrics from the diagonal and margins of a table: per class, averaged and overall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from outperform._missing import unmasked
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray
from outperform.errors import DataError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margins:
    """Hits, true weight and predicted weight of every class, with the class axis first.

    Further axes (draws, simulations) are kept unchanged. Integers of any size are accepted and
    stored as float64. Misses and false alarms are computed before this conversion, so they stay
    exact even next to a count of 10¹⁸.

    Parameters
    ----------
    hits
        Weight with truth and prediction in the class.
    actual
        Weight with the truth in the class.
    predicted
        Weight with the prediction in the class.

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
                "hits, actual and predicted must have the same shape, classes first; got "
                f"{hits.shape}, {actual.shape} and {predicted.shape}"
            )
        if any(values.dtype.kind != "f" for values in (hits, actual, predicted)):
            object.__setattr__(self, "_missed", _whole_difference(actual, hits))
            object.__setattr__(self, "_spurious", _whole_difference(predicted, hits))
        object.__setattr__(self, "hits", _as_float(hits))
        object.__setattr__(self, "actual", _as_float(actual))
        object.__setattr__(self, "predicted", _as_float(predicted))

    @classmethod
    def from_confusion(cls, confusion: ArrayLike) -> Self:
        """Sum a table of shape (n_classes, n_classes, ...), true classes in rows.

        Parameters
        ----------
        confusion
            Counts or weights of every pair of a true and a predicted class.

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

    def mended(self) -> Self:
        """Return margins without negative errors; the other errors are scaled to keep the sum.

        Examples
        --------
        >>> hits, actual, predicted = [4.0, 3.0, 2.0], [3.0, 5.0, 4.0], [5.0, 4.0, 3.0]
        >>> Margins(hits=hits, actual=actual, predicted=predicted).mended().missed
        array([0. , 1.5, 1.5])
        """
        missed, spurious = (_above_zero(errors) for errors in (self.missed, self.spurious))
        # Unchanged to the last digit if nothing is negative.
        predicted = self.predicted + (spurious - self.spurious)
        margins = type(self)(hits=self.hits, actual=self.hits + missed, predicted=predicted)
        object.__setattr__(margins, "_missed", missed)
        object.__setattr__(margins, "_spurious", spurious)
        return margins

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.hits)

    @property
    def total(self) -> FloatArray:
        """Total weight over all classes."""
        return np.asarray(self.actual.sum(axis=0))

    @property
    def missed(self) -> FloatArray:
        """Weight of the class predicted as another class (false negatives)."""
        return _difference(self.actual, self.hits) if self._missed is None else self._missed

    @property
    def spurious(self) -> FloatArray:
        """Weight of other classes predicted as the class (false positives)."""
        return _difference(self.predicted, self.hits) if self._spurious is None else self._spurious

    @property
    def negatives(self) -> FloatArray:
        """Weight with the truth in another class."""
        return others(self.actual)


def others(weights: FloatArray) -> FloatArray:
    """Return, for every class, the weight of all other classes.

    Examples
    --------
    >>> others(np.array([1e18, 3.0, 4.0]))
    array([7.e+00, 1.e+18, 1.e+18])
    """
    total: FloatArray = weights.sum(axis=0)
    rest: FloatArray = total - weights
    # The difference loses digits only for a class with most of the weight. At most one class can
    # have it, and for that class the sum over the others is used instead.
    heavy = weights > 0.5 * total
    if heavy.any():
        light = np.where(heavy, 0.0, weights).sum(axis=0)
        rest = np.where(heavy, light, rest)
    return rest


def as_confusion(confusion: ArrayLike) -> FloatArray:
    """Return a checked table (n_classes, n_classes, ...) as float64."""
    table = _as_float(_as_counts(confusion))
    if table.ndim < 2 or table.shape[0] != table.shape[1] or not len(table):
        raise DataError(
            "a confusion array must be square, with true classes in rows, predicted classes in "
            f"columns and further axes last; got shape {table.shape}"
        )
    return table


def _as_counts(values: ArrayLike) -> AnyArray:
    values = unmasked(values)
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # NumPy rounds a list of integers to floats as soon as one reaches 2⁶³.
        array = np.array(values, dtype=object)
    if array.dtype.kind not in "biufO":
        raise DataError(f"counts and weights must be numbers; got an array of {array.dtype}")
    return array


def _as_float(array: AnyArray) -> FloatArray:
    try:
        numbers = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"counts and weights must be finite numbers: {error}") from error
    if array.dtype.kind == "O" and np.isnan(numbers).any():
        missing = np.count_nonzero(np.isnan(numbers))
        raise DataError(f"counts and weights must be finite numbers; {missing} are missing")
    return numbers


def _difference(whole: FloatArray, part: FloatArray) -> FloatArray:
    rest = whole - part
    # Summing the same weights in a different order can change the last digit.
    return np.maximum(rest, 0.0, out=rest)


def _above_zero(errors: FloatArray) -> FloatArray:
    """Set negative errors to 0 and scale the others to keep the sum."""
    above = np.maximum(errors, 0.0)
    whole, kept = errors.sum(axis=0), above.sum(axis=0)
    scaled: FloatArray = above * np.divide(whole, kept, out=np.zeros_like(kept), where=kept > 0)
    return scaled


def _whole_difference(whole: AnyArray, part: AnyArray) -> FloatArray:
    if whole.dtype != part.dtype or whole.dtype.kind == "b":
        whole, part = whole.astype(object), part.astype(object)
    return _as_float(np.asarray(whole - part))


def without_negatives(confusion: FloatArray) -> FloatArray:
    """Return a confusion array without negative entries, with the same column sums.

    A correction for label errors can make a cell negative. Hits change only if they are negative or
    exceed the predicted total; the errors in a column are scaled.

    Examples
    --------
    >>> without_negatives(np.array([[6.0, 1.0, 2.0], [-1.0, 4.0, 0.0], [3.0, 1.0, 5.0]]))
    array([[6., 1., 2.],
           [0., 4., 0.],
           [2., 1., 5.]])
    """
    if not (confusion < 0).any():
        return confusion
    diagonal = np.arange(len(confusion))
    predicted = np.maximum(confusion.sum(axis=0), 0.0)
    errors = np.maximum(confusion, 0.0)
    hits = np.minimum(errors[diagonal, diagonal], predicted)
    errors[diagonal, diagonal] = 0.0
    kept: FloatArray = errors.sum(axis=0)
    errors *= np.divide(predicted - hits, kept, out=np.zeros_like(kept), where=kept > 0)
    errors[diagonal, diagonal] = hits
    return errors


Sums: TypeAlias = Literal["hits", "actual", "predicted", "missed", "spurious", "negatives"]


def precision(hits: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return tp / (tp + fp) of each class; 0 if nothing was predicted."""
    return ratio(hits, predicted)


def recall(hits: FloatArray, actual: FloatArray) -> FloatArray:
    """Return tp / (tp + fn) of each class; 0 if the class never occurs."""
    return ratio(hits, actual)


def specificity(spurious: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return tn / (tn + fp) of each class; 0 if there is no other class."""
    return ratio(negatives - spurious, negatives)


def fbeta(
    hits: FloatArray, actual: FloatArray, predicted: FloatArray, *, beta: float
) -> FloatArray:
    """Return (1+β²) tp / ((1+β²) tp + β² fn + fp) of each class; 0 for 0/0."""
    if beta == 1.0:
        bottom = actual + predicted
        bottom *= 0.5
    else:
        bottom = actual * miss_weight(beta)
        bottom += predicted * miss_weight(1.0 / beta)
    return ratio(hits, bottom)


def miss_weight(beta: float) -> float:
    """Return β²/(1+β²), the weight of a miss if a false alarm has 1/(1+β²).

    Examples
    --------
    >>> miss_weight(2.0)
    0.8
    """
    inverse = 1.0 / beta
    return 1.0 / (1.0 + inverse * inverse)


def jaccard(hits: FloatArray, actual: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return tp / (tp + fp + fn) of each class; 0 for 0/0."""
    bottom = actual + predicted
    bottom -= hits
    return ratio(hits, bottom)


def informedness(
    hits: FloatArray, actual: FloatArray, spurious: FloatArray, negatives: FloatArray
) -> FloatArray:
    """Return recall + specificity − 1 of each class; 0 if either is 0/0."""
    value = ratio(hits, actual)
    value -= ratio(spurious, negatives)
    undefined: BoolArray = (actual == 0.0) | (negatives == 0.0)
    return np.where(undefined, 0.0, value) if undefined.any() else value


def hamming_loss(missed: FloatArray, spurious: FloatArray, *, n_labels: int) -> FloatArray:
    """Return the share of wrong labels: missed or spurious."""
    return np.asarray((missed + spurious) / n_labels)


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 for 0/0. If the denominator is 0, the numerator must be 0 too.

    Examples
    --------
    >>> ratio(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    array([0.  , 0.25])
    """
    empty: BoolArray = bottom == 0.0
    if empty.any():
        bottom = np.where(empty, 1.0, bottom)
    return top / bottom


@dataclass(frozen=True, slots=True)
class ClassScore:
    """A function and the sums it needs, in the order of its arguments."""

    function: Callable[..., FloatArray]
    sums: tuple[Sums, ...]


CLASS_SCORES: dict[str, ClassScore] = {
    "precision": ClassScore(precision, ("hits", "predicted")),
    "recall": ClassScore(recall, ("hits", "actual")),
    "specificity": ClassScore(specificity, ("spurious", "negatives")),
    "fbeta": ClassScore(fbeta, ("hits", "actual", "predicted")),
    "jaccard": ClassScore(jaccard, ("hits", "actual", "predicted")),
    "informedness": ClassScore(informedness, ("hits", "actual", "spurious", "negatives")),
}

SET_SCORES: dict[str, ClassScore] = {
    **{name: CLASS_SCORES[name] for name in ("precision", "recall", "fbeta", "jaccard")},
    "hamming_loss": ClassScore(hamming_loss, ("missed", "spurious")),
}
"""Score of a label set, from the numbers of its true, predicted and correct labels."""


Average: TypeAlias = Literal["binary", "micro", "macro", "weighted"]
AVERAGES: tuple[Average, ...] = get_args(Average)

Samples: TypeAlias = Literal["samples"]
"""Mean over items of a label set score."""

Rows: TypeAlias = slice | IntArray


def score_classes(
    margins: Margins, score: str, *, average: Average, rows: Rows, beta: float | None = None
) -> FloatArray:
    """Return the average of a per-class score over the chosen classes.

    ``"micro"`` adds up the sums of the chosen classes before computing the score; ``"macro"`` is
    the mean of their scores; ``"weighted"`` weights the scores by the true weights of the classes,
    or is the plain mean if these are all 0; ``"binary"`` is the value of a single class.

    Examples
    --------
    >>> margins = Margins.from_confusion([[8, 2], [1, 5]])
    >>> print(score_classes(margins, "recall", average="micro", rows=slice(None)))
    0.8125
    """
    row = CLASS_SCORES[score]
    extra = {} if beta is None else {"beta": beta}
    sums: list[FloatArray] = [getattr(margins, name)[rows] for name in row.sums]
    if average == "micro":
        return row.function(*(values.sum(axis=0) for values in sums), **extra)
    values = row.function(*sums, **extra)
    if average == "weighted":
        return _weighted_mean(values, margins.actual[rows])
    value: FloatArray = values[0] if average == "binary" else values.sum(axis=0) / len(values)
    return value


def choose_rows(classes: IntArray | Sequence[int] | None, n_classes: int) -> Rows:
    """Return the rows of the chosen classes, or all rows for None."""
    if classes is None:
        return slice(None)
    chosen = np.asarray(classes)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise UsageError(
            "classes must be a list of class numbers, at least one; "
            f"got {chosen.dtype} of shape {chosen.shape}"
        )
    if chosen.min() < 0 or chosen.max() >= n_classes:
        raise UsageError(
            f"classes must lie between 0 and {n_classes - 1} in a table of {n_classes} classes; "
            f"got {chosen.tolist()}"
        )
    if len(set(chosen.tolist())) < len(chosen):
        raise UsageError(f"classes must be distinct; got {chosen.tolist()}")
    if len(chosen) == n_classes:
        return slice(None)
    if len(chosen) == 1:
        return slice(int(chosen[0]), int(chosen[0]) + 1)
    return chosen


def _weighted_mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    total: FloatArray = weights.sum(axis=0)
    if np.any(total == 0.0):
        weights = np.where(total == 0.0, 1.0, weights)
        total = weights.sum(axis=0)
    value: FloatArray = (values * weights).sum(axis=0) / total
    return value


# Below this share of differing pairs, 1 − Σ share² has lost two digits to cancellation, so slower
# sums without subtraction are used.
_UNEVEN = 1e-2


def accuracy(margins: Margins) -> FloatArray:
    """Return the share of the weight on the diagonal."""
    return ratio(_sum(margins.hits), margins.total)


def balanced_accuracy(margins: Margins, rows: Rows = slice(None)) -> FloatArray:
    """Return the mean recall of the classes that occur in the truth, or of the chosen classes."""
    hits, actual = margins.hits[rows], margins.actual[rows]
    occurring = np.count_nonzero(actual, axis=0)
    return ratio(_sum(recall(hits, actual)), np.asarray(occurring, np.float64))


def matthews_corrcoef(margins: Margins) -> FloatArray:
    """Return the correlation of truth and prediction; 0 if either is constant.

    In terms of shares of the total, it is (Σ hits − Σ actual·predicted) / sqrt((1 − Σ actual²)(1 −
    Σ predicted²)).
    """
    total = margins.total
    actual, predicted = ratio(margins.actual, total), ratio(margins.predicted, total)
    spread_actual = 1.0 - _dot(actual, actual)
    spread_predicted = 1.0 - _dot(predicted, predicted)
    if np.any(np.minimum(spread_actual, spread_predicted) < _UNEVEN):
        return _matthews_of_uneven(margins)
    covariance = accuracy(margins) - _dot(actual, predicted)
    return ratio(covariance, np.sqrt(spread_actual * spread_predicted))


def cohen_kappa(margins: Margins) -> FloatArray:
    """Return 1 − disagreement / disagreement by chance; NaN if the latter is 0.

    Disagreement by chance is 0 if truth and prediction are always the same single class. The result
    is then NaN, as in scikit-learn.
    """
    total = margins.total
    actual = ratio(margins.actual, total)
    by_chance = total - _dot(actual, margins.predicted)
    if np.any(by_chance <= _UNEVEN * total):
        by_chance = _dot(actual, others(margins.predicted))
    wrong = _sum(margins.missed)
    unknown = np.full_like(by_chance, np.nan)
    return np.asarray(1.0 - np.divide(wrong, by_chance, out=unknown, where=by_chance != 0.0))


def _matthews_of_uneven(margins: Margins) -> FloatArray:
    """Return the correlation from Σ (tp·tn − fp·fn), with each class against the rest.

    Only tn is a difference. If it is computed from the smaller of the two sums that contain it, its
    error is at most the rounding error of the denominator. So the result is accurate to a few units
    in the last place however imbalanced the classes are.
    """
    total = _sum(margins.hits) + _sum(margins.missed)
    tp, fn, fp = (ratio(x, total) for x in (margins.hits, margins.missed, margins.spurious))
    actual, predicted = tp + fn, tp + fp
    not_actual, not_predicted = others(actual), others(predicted)
    tn = np.where(not_actual <= not_predicted, not_actual - fp, not_predicted - fn)
    spread = np.sqrt(_dot(actual, not_actual)) * np.sqrt(_dot(predicted, not_predicted))
    covariance = np.where(spread == 0.0, 0.0, _dot(tp, tn) - _dot(fp, fn))
    return ratio(covariance, spread)


def _sum(weights: FloatArray) -> FloatArray:
    return np.asarray(weights.sum(axis=0))


def _dot(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("i...,i...->...", left, right))


WHOLE_SCORES: dict[str, Callable[[Margins], FloatArray]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa,
}
