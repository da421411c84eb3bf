"""A metric as a value: its name, its bounds, and how it is computed from a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.errors import UsageError, unknown_name
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
)
from outperform.metrics.custom import (
    ConfusionFunction,
    Costs,
    Ordinal,
    call_each,
    call_once,
    check_bounds,
)

Part: TypeAlias = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


@dataclass(frozen=True, slots=True)
class Share:
    """A metric as top / (top + Σ weight · part), all parts disjoint.

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
class Metric:
    """One metric; equal, hashable and picklable like any value.

    Make one with :func:`get`, :func:`fbeta`, :func:`cost`, :func:`utility` or
    :func:`from_function`.

    Parameters
    ----------
    name
        The name by which :func:`get` knows it, scikit-learn's where it has one.
    label
        The name in words for people.
    score
        The row of the table of scores that it reads; None for a user's function.
    average
        How the classes' scores become one, or those of items with several labels
        (``"samples"``); None for scores of the whole table.
    beta
        The β of F-beta; None elsewhere.
    function, vectorized
        A user's function or costs, and whether it takes all tables at once.
    greater_is_better
        Whether the larger of two values is the better one.
    bounds
        The least and the greatest value it can take.
    share
        Its form as a share, if it has one; see :meth:`share_over`.

    Examples
    --------
    >>> from outperform import metrics
    >>> metric = metrics.get("f1_macro")
    >>> metric.label
    'macro-averaged F1'
    >>> print(metric.evaluate(metrics.Margins.from_confusion([[6, 2], [2, 6]])))
    0.75
    """

    name: str
    label: str
    score: str | None = None
    average: Average | Samples | None = None
    beta: float | None = None
    function: ConfusionFunction | None = None
    vectorized: bool = False
    greater_is_better: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    share: Share | None = None

    def __post_init__(self) -> None:
        if self.average is not None and self.average not in (*AVERAGES, "samples"):
            raise UsageError(unknown_name("average", self.average, (*AVERAGES, "samples")))
        known: Collection[str] = WHOLE_SCORES if self.average is None else CLASS_SCORES
        known = SET_SCORES if self.average == "samples" else known
        if self.function is None and self.score not in known:
            raise UsageError(unknown_name("score", self.score, known))
        if (self.score == "fbeta") != (self.beta is not None):
            raise UsageError("beta must be given for the score 'fbeta' and for no other")
        if not self.bounds[0] < self.bounds[1]:
            raise UsageError(f"bounds must be a lower and a greater upper value; got {self.bounds}")

    @property
    def needs(self) -> Literal["margins", "confusion"]:
        """What it is evaluated on: ``"margins"``, or the whole ``"confusion"`` array."""
        return "margins" if self.function is None else "confusion"

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
        if self.function is not None:
            values = self._evaluate_function(self.function, sums, classes)
        else:
            values = self._evaluate_margins(sums, classes)
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
        if not self.per_item:
            raise UsageError(f"{self.name} is no mean over items; evaluate it on Margins")
        row = SET_SCORES[str(self.score)]
        extra: dict[str, float] = {} if self.beta is None else {"beta": self.beta}
        if self.score == "hamming_loss":
            extra["n_labels"] = n_labels
        return row.function(*(getattr(margins, name) for name in row.sums), **extra)

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
        if all_classes or self.average in (None, "binary"):
            return self.share
        return None

    def _evaluate_margins(
        self, margins: Margins | FloatArray, classes: IntArray | Sequence[int] | None
    ) -> FloatArray:
        if not isinstance(margins, Margins):
            raise UsageError(
                f"{self.name} is evaluated on Margins; got {type(margins).__name__}; "
                "make them with Margins.from_confusion(confusion)"
            )
        if self.average == "samples":  # not per_item: types follow the literal only
            raise UsageError(
                f"{self.name} is a mean over items with several labels each; give indicator "
                "matrices or sets of labels, e.g. Outcomes.from_label_sets(y_true, {'bert': …})"
            )
        rows = choose_rows(classes, margins.n_classes)
        score = str(self.score)
        if self.score == "balanced_accuracy":
            return balanced_accuracy(margins, rows)
        if self.average is None:
            self._refuse_choice(rows)
            return WHOLE_SCORES[score](margins)
        if self.average == "binary" and len(margins.hits[rows]) != 1:
            raise UsageError(
                f"{self.name} is the value of one class: classes must be exactly one class "
                f"number; or average over the classes with {self.name}_macro, "
                f"{self.name}_micro or {self.name}_weighted"
            )
        return score_classes(margins, score, average=self.average, rows=rows, beta=self.beta)

    def _evaluate_function(
        self,
        function: ConfusionFunction,
        confusion: Margins | FloatArray,
        classes: IntArray | Sequence[int] | None,
    ) -> FloatArray:
        if isinstance(confusion, Margins):
            raise UsageError(f"{self.name} is evaluated on the confusion array, not on Margins")
        table = as_confusion(confusion)
        self._refuse_choice(choose_rows(classes, len(table)))
        if isinstance(function, Ordinal):
            return function(table)
        call = call_once if self.vectorized else call_each
        values = call(function, self.name, table)
        if self.costs is None:  # a mean of costs is off by their rounding only
            check_bounds(self.name, values, self.bounds)
        return values

    def _refuse_choice(self, rows: Rows) -> None:
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise UsageError(
                f"{self.name} reads the whole table and takes no choice of classes; "
                "leave classes out, or take an averaged metric such as f1_macro"
            )
