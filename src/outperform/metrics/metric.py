"""A metric as a value: its name, its bounds, and how it is computed."""

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
"""From the statistics of items ``(n_items, n_columns)`` to what is added up of each; of
probabilities, from the column that is true and all probabilities to one number per item."""

Combine: TypeAlias = Callable[[FloatArray], ArrayLike]
"""From weighted means ``(n_statistics, n_draws)`` to one value per draw."""

Read: TypeAlias = Callable[[object, object], FloatArray]
"""From what is true of items, or None, and what a model answered, to their statistics."""

Part: TypeAlias = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


@dataclass(frozen=True, slots=True)
class Share:
    """The hint that a metric is top / (top + Σ weight · part), all parts disjoint.

    Disjoint sums of Dirichlet weights are Dirichlet again, so such a metric
    has an exact posterior under a Dirichlet table.

    Parameters
    ----------
    top
        The part that counts in favour: ``"tp"``, ``"tn"`` or ``"correct"``.
    rest
        The parts that count against, each with its weight.

    Examples
    --------
    >>> Share("tp", (("fn", 0.5), ("fp", 0.5))).parts
    ('tp', 'fn', 'fp')
    """

    top: Part
    rest: tuple[tuple[Part, float], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The names of all parts, the top first."""
        return (self.top, *(part for part, _ in self.rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a metric reads of each item.

    Parameters
    ----------
    reads
        ``"labels"``; of scores, a ``"ranking"`` of two classes, one of each of several
        ``"classes"``, a ``"probability"``, a ``"grade"`` without any truth, ``"statistics"`` of
        items, or ``"anything"``.
    names
        The names of the statistics that an item must have; empty if only the function knows them.
    terms
        What is added up or ordered of each item, made of its statistics; None for these
        themselves.
    read
        Makes the statistics of items from what is true and what a model answered; None for
        targets, which are their own statistics.
    joint
        Whether all models have the same sums. ``combine`` then returns a row for each of them, and
        the last column but one of the statistics names a model's own.
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
            The statistics of each item, as the data have them.
        """
        return statistics if self.terms is None else self.terms(statistics)


CLASS_MARGINS = Basis(reads="labels", names=("hits", "actual", "predicted"))
"""The sums of labels: of each class its hits, how often it is true, and how often predicted."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """A score of classes and how their values become one, as a function of class margins.

    Parameters
    ----------
    score
        The row of the table of scores.
    average
        How the classes' scores become one, or those of items with several labels
        (``"samples"``); None for scores of the whole table.
    beta
        The β of F-beta; None elsewhere.
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
            raise UsageError("beta must be given for the score 'fbeta' and for no other")

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
    """A metric as a function of weighted sums over items.

    Parameters
    ----------
    basis
        What is added up of each item.
    combine
        From the means ``(n_statistics, n_draws)`` to one value per draw; of labels, from
        :class:`Margins` and the classes averaged over.
    parts
        The hint that it is a share of weights, if it is one.
    sign
        1, or −1 for the negative of a loss.
    own
        Whether a user wrote ``combine``, so its values are checked; a metric sets it.
    fitted
        The number of parameters that ``combine`` fits to the items that the last column marks,
        which know the spread that much less; 0 if it fits none.
    by_spread
        Whether ``combine`` divides by the spread of the items, which a few of them hardly have.
    of_data
        From the statistics of all items to the metric as these data can have it; None if it is
        the same for all data.
    added
        From the terms and what is weighed to what is added in every draw; None for nothing.

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
        """Return the metric as these data define it.

        Parameters
        ----------
        statistics
            The statistics of each item.
        """
        return self if self.of_data is None else self.of_data(statistics)

    def of_means(self, means: FloatArray, *, name: str = "combine") -> FloatArray:
        """Return the value at each column of means.

        Parameters
        ----------
        means
            The weighted means of the statistics, ``(n_statistics, n_draws)``.
        name
            The name of the function in messages.
        """
        if not self.own:
            return np.asarray(self.combine(means), dtype=np.float64)
        locked = means.view()
        locked.flags.writeable = False
        answer = np.asarray(self.combine(locked))
        each = answer.shape[1:] if self.basis.joint else answer.shape
        if each != means.shape[1:] or answer.dtype.kind not in "biuf":
            raise UsageError(
                f"the metric function {name!r} gets the means of {len(means)} statistics in "
                f"{means.shape[1]} draws, an array of shape {means.shape}, and must return "
                f"{means.shape[1]} numbers, one a draw; it returned an array of shape "
                f"{answer.shape} and type {answer.dtype}"
            )
        if np.isnan(answer).any():
            raise UsageError(
                f"the metric function {name!r} must return a number for every draw; it returned "
                f"NaN for {int(np.isnan(answer).sum())} of {answer.size}; decide in the function "
                "what 0/0 is, for instance 0.0"
            )
        return answer.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A metric of the order of items, which is found once, before any weight is drawn.

    Parameters
    ----------
    basis
        What is read of each item.
    prepare
        From :class:`~outperform.metrics.weighted.ItemData` of one model, and the settings, to an
        object whose ``worker()`` returns a function from weights ``(n_draws, n_units)`` to one
        value per draw. Each thread has a worker.
    settings
        More arguments of ``prepare``.
    level
        The share of the items below the quantile that it is; None for anything else.
    """

    basis: Basis
    prepare: Callable[..., Prepared]
    settings: tuple[float | str, ...] = ()
    level: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A function of all there is: of a whole confusion array, or of all rows as they came.

    Parameters
    ----------
    function
        A user's function or costs; called on one thread only.
    of
        ``"confusion"`` for a function of a confusion array, ``"rows"`` for one of truth, score
        and weight.
    vectorized
        Whether it takes all confusion arrays at once.
    """

    function: Callable[..., ArrayLike]
    of: Literal["confusion", "rows"]
    vectorized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric, of labels or of scores; equal, hashable and picklable like any value.

    Get one by name from :func:`get`, or make one with :func:`fbeta`, :func:`cost`,
    :func:`from_function` or another function of this module.

    Parameters
    ----------
    name
        The name by which :func:`get` knows it, scikit-learn's if it has one.
    label
        The name in words for people.
    how
        How it is computed: from sums over items, from their order, or by a function of the whole.
    merge
        Which items count as equal, and can be merged without changing any draw's distribution:
        those that add the same ``"terms"``, equal ``"rows"``, or none (``"never"``), as for
        squares of weights and a user's function of rows.
    bounds
        The least and the greatest value it can take.
    greater_is_better
        Whether the larger of two values is the better one.
    aliases
        Other names by which :func:`get` knows it.

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
            raise UsageError(f"bounds must be a lower and a greater upper value; got {self.bounds}")
        how = self.how
        if isinstance(how, Sums) and not how.own and not is_own(how.combine):
            object.__setattr__(self, "how", replace(how, own=True))
        if not isinstance(how, Whole):
            self._check_basis(how.basis)

    def _check_basis(self, basis: Basis) -> None:
        """Refuse what no metric of sums, or of the order of items, can read."""
        kind = "Sums" if isinstance(self.how, Sums) else "Order"
        if basis.reads == "anything" or (kind == "Order" and basis.reads == "labels"):
            raise UsageError(
                f"metric {self.name!r} cannot read {basis.reads!r} as {kind}; "
                "use Whole(function=…, of=…)"
            )
        truthful = basis.reads in ("ranking", "classes", "probability")
        if kind == "Sums" and truthful and basis.terms is None:
            raise UsageError(
                f"metric {self.name!r} needs the truth to make summands of each {basis.reads}; "
                "pass terms= to Basis, a function of the column that is true and the scores"
            )

    def read_items(self, y_true: object, prediction: object) -> FloatArray:
        """Return the statistics that ``basis.read`` makes of items, ``(n_items, n_statistics)``.

        Parameters
        ----------
        y_true
            What is true of each item; None if the metric needs no truth.
        prediction
            What one model answered.

        Examples
        --------
        >>> from outperform import metrics
        >>> metrics.get("wer").read_items(["the cat sat"], ["the cat"])
        array([[1., 3.]])
        """
        read, names = self.basis.read, self.basis.names
        if read is None:
            raise UsageError(f"metric {self.name!r} has no statistics of its own to make")
        lengths = [len(rows) for rows in (y_true, prediction) if isinstance(rows, Sized)]
        if len(set(lengths)) > 1 and not is_own(read):
            raise DataError(
                f"metric {self.name!r} got {lengths[0]} items in y_true and {lengths[1]} in a "
                "prediction; give one for each"
            )
        try:
            answer = read(y_true, prediction)
        except OutperformError:
            raise
        except Exception as error:  # whatever the code of others raises of what it cannot read
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
                f"metric {self.name!r} names {len(names)} statistics ({', '.join(names)}), and its "
                f"function read returned {statistics.shape[1]} of each item; return as many "
                "columns as there are names"
            )
        return statistics

    @property
    def basis(self) -> Basis:
        """What it reads of each item."""
        if not isinstance(self.how, Whole):
            return self.how.basis
        return CLASS_MARGINS if self.how.of == "confusion" else _ANYTHING

    @property
    def reads(self) -> Reads:
        """What it takes items for; see :class:`Basis`."""
        return self.basis.reads

    @property
    def needs(self) -> Literal["margins", "confusion"]:
        """What it is evaluated on: ``"margins"``, or the whole ``"confusion"`` array."""
        return "confusion" if isinstance(self.how, Whole) else "margins"

    @property
    def own(self) -> bool:
        """Whether a user's function of scores is called, which need not bear several threads."""
        return (isinstance(self.how, Sums) and self.how.own) or self.reads == "anything"

    @property
    def _averaged(self) -> Averaged | None:
        combine = self.how.combine if isinstance(self.how, Sums) else None
        return combine if isinstance(combine, Averaged) else None

    @property
    def score(self) -> str | None:
        """The row of the table of scores of labels that it reads; None of other metrics."""
        return None if self._averaged is None else self._averaged.score

    @property
    def average(self) -> Average | Samples | None:
        """How the scores of classes, or of items with several labels, become one; or None."""
        return None if self._averaged is None else self._averaged.average

    @property
    def beta(self) -> float | None:
        """The β of F-beta; None of other metrics."""
        return None if self._averaged is None else self._averaged.beta

    @property
    def function(self) -> Callable[..., ArrayLike] | None:
        """The function of the whole, costs among them; None of other metrics."""
        return self.how.function if isinstance(self.how, Whole) else None

    @property
    def per_item(self) -> bool:
        """Whether it is a mean over items with several labels; see :meth:`of_items`."""
        return self.average == "samples"

    @property
    def over_classes(self) -> bool:
        """Whether it is a mean over classes, so that the choice of classes changes it."""
        return self.average in ("macro", "weighted") or self.score == "balanced_accuracy"

    @property
    def costs(self) -> Costs | None:
        """What each pair of truth and prediction costs or is worth; None of other metrics."""
        return self.function if isinstance(self.function, Costs) else None

    def with_function(self, function: ConfusionFunction) -> Metric:
        """Return the metric with another function of the whole, such as costs in another order.

        Parameters
        ----------
        function
            The function of a confusion array.
        """
        assert isinstance(self.how, Whole)
        return replace(self, how=replace(self.how, function=function))

    def evaluate(
        self, sums: Margins | FloatArray, classes: IntArray | Sequence[int] | None = None
    ) -> FloatArray:
        """Return the metric of every table, in the shape of the axes behind the classes.

        0/0 is 0, as in scikit-learn, with two exceptions: ``cohen_kappa`` is
        NaN where truth and prediction are one and the same class throughout,
        and ``balanced_accuracy`` leaves out classes that the truth lacks.

        Parameters
        ----------
        sums
            :class:`Margins`, or for a user's function the confusion array
            itself, of shape (n_classes, n_classes, ...), rows the truth.
        classes
            The classes averaged over, by number; None for all. Exactly one
            for the average ``"binary"``; not for scores of the whole table other
            than ``balanced_accuracy``.

        Examples
        --------
        >>> from outperform import metrics
        >>> margins = metrics.Margins.from_confusion([[8, 2], [1, 5]])
        >>> metrics.get("recall").evaluate(margins, classes=[0])
        array(0.8)
        """
        if self.reads != "labels":
            raise UsageError(f"{self.name} is a metric of scores and has no value of a table")
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
        """Return the value of each item, of which a samples average is the mean.

        0/0 is 0, as in scikit-learn.

        Parameters
        ----------
        margins
            How many labels each item has, is given, and is given rightly: items
            instead of classes on the first axis.
        n_labels
            How many labels there are.

        Examples
        --------
        >>> from outperform import metrics
        >>> sizes = metrics.Margins(hits=[1, 0], actual=[2, 0], predicted=[1, 0])
        >>> metrics.get("recall_samples").of_items(sizes, n_labels=3)
        array([0.5, 0. ])
        """
        if self._averaged is None or not self.per_item:
            raise UsageError(f"{self.name} is no mean over items; evaluate it on Margins")
        return self._averaged.of_items(margins, n_labels=n_labels)

    def share_over(self, all_classes: bool) -> Share | None:
        """Return the share that the metric is, or None.

        A micro average is a share of items only when it runs over all
        classes: then every miss of one class is a false alarm of another.
        The same holds for the weighted recall.

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
        """Return margins and the classes averaged over, if the metric can have these."""
        if not isinstance(margins, Margins):
            raise UsageError(
                f"{self.name} is evaluated on Margins; got {type(margins).__name__}; "
                "make them with Margins.from_confusion(confusion)"
            )
        if self.per_item:
            raise UsageError(
                f"{self.name} is a mean over items with several labels each; give indicator "
                "matrices or sets of labels, e.g. Outcomes.from_label_sets(y_true, {'bert': …})"
            )
        rows = choose_rows(classes, margins.n_classes)
        if self.average is None and self.score != "balanced_accuracy":
            self._refuse_choice(rows)
        if self.average == "binary" and len(margins.hits[rows]) != 1:
            raise UsageError(
                f"{self.name} is the value of one class: classes must be exactly one class "
                f"number; or average over the classes with {self.name}_macro, "
                f"{self.name}_micro or {self.name}_weighted"
            )
        return margins, rows

    def _evaluate_function(
        self,
        how: Whole,
        confusion: Margins | FloatArray,
        classes: IntArray | Sequence[int] | None,
    ) -> FloatArray:
        if isinstance(confusion, Margins):
            raise UsageError(f"{self.name} is evaluated on the confusion array, not on Margins")
        table = as_confusion(confusion)
        self._refuse_choice(choose_rows(classes, len(table)))
        if isinstance(how.function, Ordinal):
            return how.function(table)
        call = call_once if how.vectorized else call_each
        if not is_own(how.function):
            table = without_negatives(table)
        values = call(how.function, self.name, table)
        if self.costs is None:  # a mean of costs is off by their rounding only
            check_bounds(self.name, values, self.bounds)
        return values

    def _refuse_choice(self, rows: Rows) -> None:
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise UsageError(
                f"{self.name} reads the whole table and takes no choice of classes; "
                "leave classes out, or take an averaged metric such as f1_macro"
            )


_ANYTHING = Basis(reads="anything")
