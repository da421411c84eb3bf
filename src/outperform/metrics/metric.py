"""Metric objects: name, bounds and method of computation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray, IntArray
from outperform.errors import DataError, OutperformError, UsageError, unknown_name
from outperform.metrics.confusion import (
    AVERAGES,
    CLASS_SCORES,
    SET_SCORES,
    WHOLE_SCORES,
    Average,
    Margins,
    Rows,
    Samples,
    as_confusion,
    balanced_accuracy,
    choose_rows,
    score_classes,
    without_negatives,
)
from outperform.metrics.custom import (
    ConfusionFunction,
    Costs,
    Ordinal,
    ScoreFunction,
    call_each,
    call_once,
    check_bounds,
    check_items,
    check_values,
    is_own,
)
from outperform.metrics.weighted import Added, Prepared, Units

Reads: TypeAlias = Literal[
    "labels", "ranking", "classes", "probability", "grade", "statistics", "anything"
]
Merge: TypeAlias = Literal["terms", "rows", "never"]
MetricLike: TypeAlias = "str | Metric | ConfusionFunction | ScoreFunction"

Terms: TypeAlias = Callable[..., FloatArray]
"""Function from the statistics of items ``(n_items, n_columns)`` to their summands.

For probabilities, it takes the index of the true class and all probabilities, and returns one
number per item.
"""

Combine: TypeAlias = Callable[[FloatArray], ArrayLike]
"""Function from weighted means ``(n_statistics, n_draws)`` to one value per draw."""

Read: TypeAlias = Callable[[object, object], FloatArray]
"""Function from the truth of items, or None, and a model's predictions, to item statistics."""

Part: TypeAlias = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


@dataclass(frozen=True, slots=True)
class Share:
    """Declares a metric as top / (top + Σ weight · part), with disjoint parts.

    Disjoint sums of Dirichlet weights are again Dirichlet, so such a metric has an exact posterior
    for a Dirichlet table.

    Parameters
    ----------
    top
        Part that counts in favour: ``"tp"``, ``"tn"`` or ``"correct"``.
    rest
        Parts that count against, with their weights.

    Examples
    --------
    >>> Share("tp", (("fn", 0.5), ("fp", 0.5))).parts
    ('tp', 'fn', 'fp')
    """

    top: Part
    rest: tuple[tuple[Part, float], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Names of all parts, the top first."""
        return (self.top, *(part for part, _ in self.rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Item data used by a metric.

    Parameters
    ----------
    reads
        ``"labels"``, or for scores: a ``"ranking"`` of two classes, one ranking for each of several
        ``"classes"``, a ``"probability"``, a ``"grade"`` without truth, item ``"statistics"`` or
        ``"anything"``.
    names
        Names of the required item statistics; empty if they are not checked.
    terms
        Function from statistics to the values that are summed or sorted. None means the statistics
        themselves.
    read
        Function from truth and predictions to item statistics. None for targets, which are already
        statistics.
    joint
        Whether all models have the same sums. ``combine`` then returns one row per model, and the
        second-to-last column of the statistics is the index of the model.
    """

    reads: Reads = "statistics"
    names: tuple[str, ...] = ()
    terms: Terms | None = None
    read: Read | None = None
    joint: bool = False

    def of_items(self, statistics: FloatArray) -> FloatArray:
        """Return the summands of each item, ``(n_items, n_statistics)``.

        Parameters
        ----------
        statistics
            Statistics of each item, as in the data.
        """
        return statistics if self.terms is None else self.terms(statistics)


CLASS_MARGINS = Basis(reads="labels", names=("hits", "actual", "predicted"))
"""Sums for labels: hits, true count and predicted count of each class."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """Averaged class score as a function of class margins.

    Parameters
    ----------
    score
        Name in the table of scores.
    average
        Average over classes, or over items with several labels (``"samples"``); None for scores of
        the entire table.
    beta
        β of F-beta; None for other scores.
    """

    score: str
    average: Average | Samples | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        if self.average is not None and self.average not in (*AVERAGES, "samples"):
            raise UsageError(unknown_name("average", self.average, (*AVERAGES, "samples")))
        known: Collection[str] = WHOLE_SCORES if self.average is None else CLASS_SCORES
        known = SET_SCORES if self.average == "samples" else known
        if self.score not in known:
            raise UsageError(unknown_name("score", self.score, known))
        if (self.score == "fbeta") != (self.beta is not None):
            raise UsageError("beta is required for the score 'fbeta' and not allowed for others")

    def __call__(self, margins: Margins, rows: Rows) -> FloatArray:
        """Return the value of every table."""
        if self.score == "balanced_accuracy":
            return balanced_accuracy(margins, rows)
        if self.average is None or self.average == "samples":
            return WHOLE_SCORES[self.score](margins)
        return score_classes(margins, self.score, average=self.average, rows=rows, beta=self.beta)

    def of_items(self, margins: Margins, *, n_labels: int) -> FloatArray:
        """Return the value of each item with several labels; see :meth:`Metric.of_items`."""
        row = SET_SCORES[self.score]
        extra: dict[str, float] = {} if self.beta is None else {"beta": self.beta}
        if self.score == "hamming_loss":
            extra["n_labels"] = n_labels
        return row.function(*(getattr(margins, name) for name in row.sums), **extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Metric as a function of weighted sums over items.

    Parameters
    ----------
    basis
        Item data that are summed.
    combine
        Function from the means ``(n_statistics, n_draws)`` to one value per draw. For labels, its
        arguments are :class:`Margins` and the classes to average over.
    parts
        Declaration of the metric as a share of weights, if it is one.
    sign
        1, or −1 if the metric is the negative of a loss.
    own
        Whether ``combine`` is user-defined, so its values are checked; set by the metric.
    fitted
        Number of parameters that ``combine`` fits to the items marked by the last column. It
        reduces the degrees of freedom of the spread. 0 if no parameters are fitted.
    by_spread
        Whether ``combine`` divides by the spread of the items, which may be almost 0 with few
        items.
    of_data
        Function from the statistics of all items to the metric for these data; None if it does not
        depend on the data.
    added
        Function from terms and units to the weights added in every draw. None means none are added.

    Examples
    --------
    >>> rate = Sums(basis=Basis(names=("errors", "words")), combine=lambda m: m[0] / m[1])
    >>> rate.of_means(np.array([[1.0], [8.0]]))
    array([0.125])
    """

    basis: Basis
    combine: Callable[..., ArrayLike]
    parts: Share | None = None
    sign: int = 1
    own: bool = False
    fitted: int = 0
    by_spread: bool = False
    of_data: Callable[[FloatArray], Sums] | None = None
    added: Callable[[FloatArray, Units], Added] | None = None

    def for_data(self, statistics: FloatArray) -> Sums:
        """Return the metric for these data.

        Parameters
        ----------
        statistics
            Statistics of each item.
        """
        return self if self.of_data is None else self.of_data(statistics)

    def of_means(self, means: FloatArray, *, name: str = "combine") -> FloatArray:
        """Return the value at each column of means.

        Parameters
        ----------
        means
            Weighted means of the statistics, ``(n_statistics, n_draws)``.
        name
            Name of the function in messages.
        """
        if not self.own:
            return np.asarray(self.combine(means), dtype=np.float64)
        locked = means.view()
        locked.flags.writeable = False
        answer = np.asarray(self.combine(locked))
        each = answer.shape[1:] if self.basis.joint else answer.shape
        if each != means.shape[1:] or answer.dtype.kind not in "biuf":
            raise UsageError(
                f"the metric function {name!r} takes the means of {len(means)} statistics in "
                f"{means.shape[1]} draws, an array of shape {means.shape}, and must return "
                f"{means.shape[1]} numbers, one per draw; it returned an array of shape "
                f"{answer.shape} and type {answer.dtype}"
            )
        if np.isnan(answer).any():
            raise UsageError(
                f"the metric function {name!r} must return a number for every draw; it returned "
                f"NaN for {int(np.isnan(answer).sum())} of {answer.size}; define 0/0 in the "
                "function, for example as 0.0"
            )
        return answer.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Metric of the order of items, which are sorted once, before weights are drawn.

    Parameters
    ----------
    basis
        Item data that are used.
    prepare
        Function from :class:`~outperform.metrics.weighted.ItemData` of one model, and the settings,
        to an object whose ``worker()`` returns a function from weights ``(n_draws, n_units)`` to
        one value per draw. Each thread has its own worker.
    settings
        Additional arguments of ``prepare``.
    level
        Share of the items below the metric if it is a quantile; otherwise None.
    """

    basis: Basis
    prepare: Callable[..., Prepared]
    settings: tuple[float | str, ...] = ()
    level: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Metric as a function of a full confusion array, or of all rows.

    Parameters
    ----------
    function
        User-defined function or costs; called on a single thread.
    of
        ``"confusion"`` for a function of a confusion array, ``"rows"`` for a function of truth,
        score and weight.
    vectorized
        Whether the function takes all confusion arrays at once.
    """

    function: Callable[..., ArrayLike]
    of: Literal["confusion", "rows"]
    vectorized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Metric of labels or of scores; comparable, hashable and picklable.

    Get a metric by name from :func:`get`, or create one with :func:`fbeta`, :func:`cost`,
    :func:`from_function` or another function of this module.

    Parameters
    ----------
    name
        Name for :func:`get`, as in scikit-learn if it exists there.
    label
        Display name.
    how
        Computation: from sums over items, from their order, or by a function of all data.
    merge
        Items that are equivalent and can be merged without changing the distribution of draws:
        those with the same ``"terms"``, equal ``"rows"`` or none (``"never"``). ``"never"`` is
        needed for squares of weights and for user-defined functions of rows.
    bounds
        Smallest and largest possible value.
    greater_is_better
        Whether the larger of two values is the better one.
    aliases
        Other names for :func:`get`.

    Examples
    --------
    >>> from outperform import metrics
    >>> metric = metrics.get("f1_macro")
    >>> metric.label, metric.reads, metric.merge
    ('macro-averaged F1', 'labels', 'terms')
    >>> print(metric.evaluate(metrics.Margins.from_confusion([[6, 2], [2, 6]])))
    0.75
    >>> metrics.get("roc_auc").reads, metrics.get("ece_debiased").merge
    ('ranking', 'never')
    """

    name: str
    label: str
    how: Sums | Order | Whole
    merge: Merge
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool = True
    aliases: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.bounds[0] < self.bounds[1]:
            raise UsageError(f"bounds must be (low, high) with low < high; got {self.bounds}")
        how = self.how
        if isinstance(how, Sums) and not how.own and not is_own(how.combine):
            object.__setattr__(self, "how", replace(how, own=True))
        if not isinstance(how, Whole):
            self._check_basis(how.basis)

    def _check_basis(self, basis: Basis) -> None:
        """Check that the metric can use the declared item data."""
        kind = "Sums" if isinstance(self.how, Sums) else "Order"
        if basis.reads == "anything" or (kind == "Order" and basis.reads == "labels"):
            raise UsageError(
                f"metric {self.name!r} cannot read {basis.reads!r} as {kind}; "
                "use Whole(function=…, of=…)"
            )
        truthful = basis.reads in ("ranking", "classes", "probability")
        if kind == "Sums" and truthful and basis.terms is None:
            raise UsageError(
                f"metric {self.name!r} needs the truth to compute summands of each {basis.reads}; "
                "pass terms= to Basis, a function of the index of the true class and the scores"
            )

    def read_items(self, y_true: object, prediction: object) -> FloatArray:
        """Return the item statistics from ``basis.read``, ``(n_items, n_statistics)``.

        Parameters
        ----------
        y_true
            Truth of each item; None if the metric needs no truth.
        prediction
            Predictions of one model.

        Examples
        --------
        >>> from outperform import metrics
        >>> metrics.get("wer").read_items(["the cat sat"], ["the cat"])
        array([[1., 3.]])
        """
        read, names = self.basis.read, self.basis.names
        if read is None:
            raise UsageError(f"metric {self.name!r} has no item statistics")
        lengths = [len(rows) for rows in (y_true, prediction) if isinstance(rows, Sized)]
        if len(set(lengths)) > 1 and not is_own(read):
            raise DataError(
                f"metric {self.name!r} got {lengths[0]} items in y_true but {lengths[1]} in a "
                "prediction; pass one prediction per item"
            )
        try:
            answer = read(y_true, prediction)
        except OutperformError:
            raise
        except Exception as error:  # external code may raise any exception on invalid input
            raise DataError(
                f"metric {self.name!r} cannot read these items: {type(error).__name__}: {error}"
            ) from error
        if is_own(read):
            return answer
        n_items = lengths[0] if lengths else len(np.atleast_1d(answer))
        statistics = check_items(self.name, answer, n_items)
        statistics = statistics if statistics.ndim == 2 else statistics[:, None]
        if names and statistics.shape[1] != len(names):
            raise UsageError(
                f"metric {self.name!r} names {len(names)} statistics ({', '.join(names)}), but "
                f"its function read returned {statistics.shape[1]} per item; return one column "
                "per name"
            )
        return statistics

    @property
    def basis(self) -> Basis:
        """Item data that the metric uses."""
        if not isinstance(self.how, Whole):
            return self.how.basis
        return CLASS_MARGINS if self.how.of == "confusion" else _ANYTHING

    @property
    def reads(self) -> Reads:
        """Kind of items; see :class:`Basis`."""
        return self.basis.reads

    @property
    def needs(self) -> Literal["margins", "confusion"]:
        """Input of the evaluation: ``"margins"``, or the full ``"confusion"`` array."""
        return "confusion" if isinstance(self.how, Whole) else "margins"

    @property
    def own(self) -> bool:
        """Whether it calls a user-defined function of scores, which may not be thread-safe."""
        return (isinstance(self.how, Sums) and self.how.own) or self.reads == "anything"

    @property
    def _averaged(self) -> Averaged | None:
        combine = self.how.combine if isinstance(self.how, Sums) else None
        return combine if isinstance(combine, Averaged) else None

    @property
    def score(self) -> str | None:
        """Name in the table of label scores; None for other metrics."""
        return None if self._averaged is None else self._averaged.score

    @property
    def average(self) -> Average | Samples | None:
        """Average over classes, or over items with several labels; None for other metrics."""
        return None if self._averaged is None else self._averaged.average

    @property
    def beta(self) -> float | None:
        """β of F-beta; None for other metrics."""
        return None if self._averaged is None else self._averaged.beta

    @property
    def function(self) -> Callable[..., ArrayLike] | None:
        """The function of all data, including costs; None for other metrics."""
        return self.how.function if isinstance(self.how, Whole) else None

    @property
    def per_item(self) -> bool:
        """Whether the metric is a mean over items with several labels; see :meth:`of_items`."""
        return self.average == "samples"

    @property
    def over_classes(self) -> bool:
        """Whether the metric is a mean over classes, so it depends on which classes are chosen."""
        return self.average in ("macro", "weighted") or self.score == "balanced_accuracy"

    @property
    def costs(self) -> Costs | None:
        """Costs or utilities of each pair of truth and prediction; None for other metrics."""
        return self.function if isinstance(self.function, Costs) else None

    def with_function(self, function: ConfusionFunction) -> Metric:
        """Return the metric with another function, such as reordered costs.

        Parameters
        ----------
        function
            Function of a confusion array.
        """
        assert isinstance(self.how, Whole)
        return replace(self, how=replace(self.how, function=function))

    def evaluate(
        self, sums: Margins | FloatArray, classes: IntArray | Sequence[int] | None = None
    ) -> FloatArray:
        """Return the metric of every table; the shape is that of the axes after the classes.

        0/0 is 0, as in scikit-learn, with two exceptions: ``cohen_kappa`` is NaN if truth and
        prediction are always the same single class, and ``balanced_accuracy`` ignores classes that
        are never true.

        Parameters
        ----------
        sums
            :class:`Margins`, or for a user-defined function the confusion array itself, of shape
            (n_classes, n_classes, ...), with true classes in rows.
        classes
            Indices of the classes to average over. None means all. The average ``"binary"`` needs
            exactly one. Not allowed for scores of the entire table other than
            ``balanced_accuracy``.

        Examples
        --------
        >>> from outperform import metrics
        >>> margins = metrics.Margins.from_confusion([[8, 2], [1, 5]])
        >>> metrics.get("recall").evaluate(margins, classes=[0])
        array(0.8)
        """
        if self.reads != "labels":
            raise UsageError(f"{self.name} is computed from scores, not from a table of counts")
        how = self.how
        if isinstance(how, Whole):
            values = self._evaluate_function(how, sums, classes)
        else:
            assert isinstance(how, Sums)
            margins, rows = self._checked(sums, classes)
            values = np.asarray(how.combine(margins, rows))
            if how.own:
                shape = margins.hits.shape[1:]
                values = check_values(self.name, values, shape=shape, bounds=self.bounds)
        values = np.asarray(values, dtype=np.float64, order="C")
        return np.clip(values, *self.bounds, out=values)

    def of_items(self, margins: Margins, *, n_labels: int) -> FloatArray:
        """Return the value of each item; the samples average is their mean.

        0/0 is 0, as in scikit-learn.

        Parameters
        ----------
        margins
            Numbers of true, predicted and correctly predicted labels per item, with items in place
            of classes on the first axis.
        n_labels
            Number of labels.

        Examples
        --------
        >>> from outperform import metrics
        >>> sizes = metrics.Margins(hits=[1, 0], actual=[2, 0], predicted=[1, 0])
        >>> metrics.get("recall_samples").of_items(sizes, n_labels=3)
        array([0.5, 0. ])
        """
        if self._averaged is None or not self.per_item:
            raise UsageError(f"{self.name} is not a mean over items; evaluate it on Margins")
        return self._averaged.of_items(margins, n_labels=n_labels)

    def share_over(self, all_classes: bool) -> Share | None:
        """Return the metric as a share, or None.

        A micro average is a share of items only if it runs over all classes, because then every
        miss of one class is a false alarm for another. The same applies to weighted recall.

        Parameters
        ----------
        all_classes
            Whether the average runs over all classes of the table.

        Examples
        --------
        >>> from outperform import metrics
        >>> metrics.get("f1_micro").share_over(all_classes=True)
        Share(top='correct', rest=(('wrong', 1.0),))
        >>> metrics.get("f1_micro").share_over(all_classes=False) is None
        True
        """
        if isinstance(self.how, Sums) and (all_classes or self.average in (None, "binary")):
            return self.how.parts
        return None

    def _checked(
        self, margins: Margins | FloatArray, classes: IntArray | Sequence[int] | None
    ) -> tuple[Margins, Rows]:
        """Return margins and the classes to average over, checked against the metric."""
        if not isinstance(margins, Margins):
            raise UsageError(
                f"{self.name} is evaluated on Margins; got {type(margins).__name__}; create them "
                "with Margins.from_confusion(confusion)"
            )
        if self.per_item:
            raise UsageError(
                f"{self.name} is a mean over items with several labels each; pass indicator "
                f"matrices or sets of labels, e.g. Outcomes.from_label_sets(y_true, {{'bert': …}})"
            )
        rows = choose_rows(classes, margins.n_classes)
        if self.average is None and self.score != "balanced_accuracy":
            self._refuse_choice(rows)
        if self.average == "binary" and len(margins.hits[rows]) != 1:
            raise UsageError(
                f"{self.name} is computed for a single class: pass exactly one class number as "
                f"classes, or average over the classes with {self.name}_macro, {self.name}_micro "
                f"or {self.name}_weighted"
            )
        return margins, rows

    def _evaluate_function(
        self,
        how: Whole,
        confusion: Margins | FloatArray,
        classes: IntArray | Sequence[int] | None,
    ) -> FloatArray:
        if isinstance(confusion, Margins):
            raise UsageError(f"{self.name} needs the confusion array, not Margins")
        table = as_confusion(confusion)
        self._refuse_choice(choose_rows(classes, len(table)))
        if isinstance(how.function, Ordinal):
            return how.function(table)
        call = call_once if how.vectorized else call_each
        if not is_own(how.function):
            table = without_negatives(table)
        values = call(how.function, self.name, table)
        if self.costs is None:  # tolerance for rounding in a mean of costs
            check_bounds(self.name, values, self.bounds)
        return values

    def _refuse_choice(self, rows: Rows) -> None:
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise UsageError(
                f"{self.name} uses the entire table, not a selection of classes; omit classes, or "
                "use an averaged metric such as f1_macro"
            )


_ANYTHING = Basis(reads="anything")
