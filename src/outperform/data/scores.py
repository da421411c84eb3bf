"""``Scores``: one number, or one per class, for each item and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from outperform._typing import AnyArray, ColumnLike, FloatArray, IntArray, Label, ModelsLike
from outperform.data.groups import group_codes
from outperform.data.items import read_ids
from outperform.data.labels import (
    Column,
    align,
    column_names,
    is_frame,
    only_column,
    read_column,
    sort_labels,
    unify,
)
from outperform.data.table import read_weights, total
from outperform.data.views import check_labels, named
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding


def read_scores(columns: Mapping[str, object]) -> dict[str, FloatArray]:
    """Return the scores of each model, ``(n,)`` or ``(n, n_classes)``; all of one length."""
    arrays = {name: _read(values, name=f"scores of {name!r}") for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise DataError(f"{param('models')} must score the same items in the same order; {shown}")
    if not min(lengths.values()):
        raise DataError("there are no scores; at least one item is needed")
    return arrays


def _read(values: object, *, name: str) -> FloatArray:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise DataError(f"{name} must be one number an item; got {type(values).__name__}")
    array = _as_floats(values, name)
    if array.ndim not in (1, 2):
        raise DataError(
            f"{name} must be one number an item, or one a class; got shape {array.shape}"
        )
    finite = np.isfinite(array)
    bad = np.flatnonzero(~(finite if array.ndim == 1 else finite.all(axis=1)))
    if bad.size:
        raise DataError(
            f"{name} has {bad.size} missing or infinite score(s), the first in row {bad[0]} "
            "(counted from 0); drop those rows of all models, or give them a score"
        )
    array.setflags(write=False)
    return array


def _as_floats(values: object, name: str) -> FloatArray:
    try:
        array: AnyArray = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} must have as many numbers for every item") from error
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind == "O" and not any(isinstance(one, (str, bytes)) for one in array.flat):
        try:
            return np.array([_number(one) for one in array.flat], dtype=np.float64).reshape(
                array.shape
            )
        except (TypeError, ValueError):
            pass
    raise DataError(f"{name} must be numbers; got values of type {array.dtype}")


def _number(value: Any) -> float:
    return float("nan") if value is None or type(value).__name__ == "NAType" else float(value)


def read_truth(y_true: Any, labels: Any) -> tuple[IntArray, tuple[Label, ...], tuple[Finding, ...]]:
    """Return a code for the true class of each item, the classes, and findings.

    The classes are in their natural order, or as they are given: that is the order of the
    columns of probabilities.
    """
    columns, findings = unify([read_column(y_true, name="y_true")])
    column: Column = columns[0]
    if not column.codes.size:
        raise DataError("y_true has no rows; at least one item is needed")
    known = {column.values[code] for code in np.unique(column.codes)}
    if column.kind == "bool" or known in ({0}, {1}):
        known = {False, True} if column.kind == "bool" else {0, 1}
    ordered = sort_labels(known)
    if labels is not None:
        ordered = check_labels(labels, like=known)
        if not known <= set(ordered):
            missing = ", ".join(repr(one) for one in sort_labels(known - set(ordered)))
            raise DataError(f"{param('labels')} must name every class; y_true also has {missing}")
    place = {label: code for code, label in enumerate(ordered)}
    codes = np.array([place.get(value, -1) for value in column.values], dtype=np.int64)
    return codes[column.codes], ordered, findings


# A gamma of any shape takes as long as a dozen of the exponentials that it stands for.
_WORTH_MERGING = 16


def _in_class_order(values: Any, labels: Sequence[Label], *, name: str) -> Any:
    """Return a matrix with a column for each class in the order of the classes.

    A frame's columns go by name. Without names, which is what pandas calls 0, 1, … unless these
    are classes, they are in this order already.
    """
    if not is_frame(values) or values.shape[1] == 1:
        return only_column(values, name=name)
    names, matrix = column_names(values, name=name), np.asarray(values)
    known = {label if label in names else str(label): label for label in labels}
    if set(known) == set(names):
        return matrix[:, [names.index(one) for one in known]]
    if names == list(range(len(names))):
        return matrix
    shown = ", ".join(repr(label) for label in labels)
    spare = [one for one in names if one not in known]
    lacking = [one for one in known if one not in names]
    odd = f"has {spare[0]!r}" if spare else f"lacks {lacking[0]!r}"
    raise DataError(
        f"the columns of {name} must be called like the classes {shown}; it {odd}. Rename them, "
        f"name classes that never occur in {param('labels=')}, or pass .to_numpy() for columns in "
        "the order of the classes"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Scores:
    """The scores of one or more models on the same items.

    Scores are probabilities, margins, or grades such as those of answers. Unlike outcomes they
    do not become a small table, so the rows stay in memory.

    Parameters
    ----------
    models
        The names of the models.
    labels
        The classes, in the order of the columns of probabilities; empty without a truth.
    truth
        A code for the true class of each row; None for grades, which have no truth.
    values
        Each model's scores, one a row, or one a row and class.
    counts
        How many items each row stands for; None for one each.
    group
        A code for the group of each row; None if every item is weighed by itself.
    weights
        The importance weight of each row's item; None for equal ones.
    findings
        Findings about the data.
    sources
        The names of the score or of the columns that the values were read from, if known.
    ids
        What the item of each row is called; None for its number.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Scores.from_arrays([1, 0, 1], {"bert": [0.9, 0.2, 0.4], "gpt": [0.8, 0.1, 0.7]})
    >>> seen
    Scores(n=3, models=('bert', 'gpt'), labels=(0, 1))
    >>> c = op.compare(seen, "bert", "gpt", metric="roc_auc", rope=0.01, random_state=1)
    >>> c.observed
    0.0
    """

    kind: ClassVar[Literal["scores"]] = "scores"

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    truth: IntArray | None  # (n_rows,)
    values: tuple[FloatArray, ...]  # (n_rows,) or (n_rows, n_classes)
    counts: AnyArray | None = None  # (n_rows,)
    group: IntArray | None = None  # (n_rows,)
    weights: FloatArray | None = None  # (n_rows,)
    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()
    ids: AnyArray | None = None  # (n_rows,)

    @classmethod
    def from_arrays(
        cls,
        y_true: ColumnLike,
        scores: ModelsLike,
        *,
        labels: Sequence[Label] | None = None,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Take the truth and the scores of each model on the same items.

        Parameters
        ----------
        y_true
            The true labels: a list, array or series.
        scores
            For each model, by name, one number an item; or one for each class: a frame whose
            columns are called like the classes, or an array with columns in the order of
            ``labels``.
        labels
            All classes, in the order of the columns; by default those that occur, sorted.
        groups
            The group of each item, such as its author or its prompt, if groups rather than
            items should get one weight each.
        sample_weight
            How much the item of each row matters, as in scikit-learn.
        ids
            What each item is called, for :meth:`Comparison.items`; its number by default.

        Examples
        --------
        >>> import outperform as op
        >>> op.Scores.from_arrays(["ham", "spam"], {"m": [0.1, 0.7]}).n_classes
        2
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows = align(named(scores), truth=y_true, what="scores", beside=beside)
        truth, ordered, findings = read_truth(rows.truth, labels)
        arrays = read_scores(
            {
                model: _in_class_order(values, ordered, name=f"scores of {model!r}")
                for model, values in rows.models.items()
            }
        )
        n_rows = len(next(iter(arrays.values())))
        if len(truth) != n_rows:
            raise DataError(
                f"y_true has {len(truth)} rows and the scores have {n_rows}; "
                "they must be the same items in the same order"
            )
        for name, array in arrays.items():
            if array.ndim == 2 and array.shape[1] != len(ordered):
                raise DataError(
                    f"scores of {name!r} must have a column for each of the {len(ordered)} "
                    f"classes; got shape {array.shape}; name classes that never occur in "
                    f"{param('labels=')}"
                )
        made = cls(
            models=tuple(arrays),
            labels=ordered,
            truth=truth,
            values=tuple(arrays.values()),
            findings=rows.findings + findings,
        )
        return made._weighed(**rows.beside)

    @classmethod
    def from_values(
        cls,
        values: ModelsLike,
        *,
        groups: ColumnLike | None = None,
        sample_weight: ColumnLike | None = None,
        ids: ColumnLike | None = None,
    ) -> Scores:
        """Take grades of the same items, such as those of answers, which need no truth.

        Parameters
        ----------
        values
            For each model, by name or as a frame, one number an item.
        groups
            The group of each row, such as the item that several samples answer.
        sample_weight, ids
            As for :meth:`from_arrays`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Scores.from_values({"a": [7, 9, 4], "b": [6, 9, 5]}, groups=["p", "p", "q"])
        >>> seen.n, seen.n_groups
        (3, 2)
        """
        beside = {"groups": groups, "sample_weight": sample_weight, "ids": ids}
        rows = align(named(values), what="scores", beside=beside)
        arrays = read_scores(
            {
                model: only_column(one, name=f"values of {model!r}")
                for model, one in rows.models.items()
            }
        )
        for name, array in arrays.items():
            if array.ndim != 1:
                raise DataError(
                    f"values of {name!r} must be one number an item; got shape {array.shape}"
                )
        made = cls(
            models=tuple(arrays),
            labels=(),
            truth=None,
            values=tuple(arrays.values()),
            findings=rows.findings,
        )
        return made._weighed(**rows.beside)

    def _weighed(
        self, groups: ColumnLike | None, sample_weight: ColumnLike | None, ids: ColumnLike | None
    ) -> Scores:
        weights = read_weights(sample_weight, self.n_rows)
        group = None if groups is None else group_codes(groups, self.n_rows)[0]
        names = None if ids is None else read_ids(ids, self.n_rows)
        found = replace(self, weights=weights, group=group, ids=names)
        if weights is None or weights.all():
            return found
        kept = found._take(np.flatnonzero(weights))  # an item of no weight is left out
        if kept.group is None:
            return kept
        return replace(kept, group=np.unique(kept.group, return_inverse=True)[1])

    # What is in it

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.values[0])

    @property
    def n(self) -> int:
        """The number of items."""
        return self.n_rows if self.counts is None else int(total(self.counts))

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None without a truth."""
        return len(self.labels) or None

    @property
    def n_groups(self) -> int | None:
        """The number of groups; None if every item is weighed by itself."""
        return None if self.group is None else int(self.group.max()) + 1

    # The same, seen differently

    def select(self, models: Sequence[str]) -> Scores:
        """Return the scores of some models, in this order.

        Parameters
        ----------
        models
            Their names.
        """
        for name in models:
            if name not in self.models:
                raise UsageError(unknown_name("model", name, self.models))
        places = [self.models.index(name) for name in models]
        return replace(
            self, models=tuple(models), values=tuple(self.values[place] for place in places)
        )

    def _take(self, rows: IntArray) -> Scores:
        """Return some rows, in this order."""
        return replace(
            self,
            truth=None if self.truth is None else self.truth[rows],
            values=tuple(array[rows] for array in self.values),
            counts=None if self.counts is None else self.counts[rows],
            group=None if self.group is None else self.group[rows],
            weights=None if self.weights is None else self.weights[rows],
            ids=None if self.ids is None else self.ids[rows],
        )

    def __repr__(self) -> str:
        parts = [f"n={self.n}", f"models={self.models}"]
        if self.labels:
            parts.append(f"labels={self.labels}")
        if self.n_groups is not None:
            parts.append(f"groups={self.n_groups}")
        if self.weights is not None:
            parts.append("weighted=True")
        return f"Scores({', '.join(parts)})"


def arranged(scores: Scores) -> Scores:
    """Return the rows sorted by class and by the first model's scores, equal ones as one.

    The order of rows means nothing, but weights that are drawn in it need no sorting for
    the first model. Rows that are equal are merged where there are many of them.
    """
    keys = [array.T if array.ndim == 2 else array[None] for array in scores.values]
    truth = [] if scores.truth is None else [scores.truth[None]]
    columns = np.concatenate([*keys[:0:-1], -keys[0], *truth]) if _may_merge(scores) else None
    if columns is None:
        first = [-keys[0][0], *([] if scores.truth is None else [scores.truth])]
        return scores._take(np.lexsort(first))
    order = np.lexsort(columns)
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (columns[:, order[1:]] != columns[:, order[:-1]]).any(axis=0)
    starts = np.flatnonzero(fresh)
    if len(starts) * _WORTH_MERGING > len(order):
        return scores._take(order)
    ordered = scores._take(order)
    counts = np.ones(len(order), dtype=np.int64) if scores.counts is None else ordered.counts
    assert counts is not None
    return replace(ordered._take(starts), counts=np.add.reduceat(counts, starts))


def _may_merge(scores: Scores) -> bool:
    """Return whether rows may be merged: they are weighed one by one and many look alike."""
    if scores.group is not None or scores.weights is not None:
        return False
    sample = scores.values[0][:: max(1, scores.n_rows // 4096)]
    distinct = len(np.unique(sample, axis=0))
    return distinct * 4 <= len(sample)
