"""Outcomes: what was seen, as a frozen table that adds up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from outperform._typing import AnyArray, Label
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.outcomes import serial
from outperform.outcomes.checking import (
    check_labels,
    frequency_weights,
    named,
    same_length,
)
from outperform.outcomes.confusions import read_confusions, truth_findings
from outperform.outcomes.counting import as_counts, count_rows
from outperform.outcomes.labels import (
    LABEL_FINDINGS,
    Column,
    label_findings,
    read_column,
    sort_labels,
    unify,
)
from outperform.outcomes.table import Table

Part = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]
Kind = Literal["classes", "correct"]


class ClassCounts(NamedTuple):
    """Exact counts for each class."""

    hits: AnyArray  # (n_classes,) truth and prediction are the class
    actual: AnyArray  # (n_classes,) the truth is the class
    predicted: AnyArray  # (n_classes,) the prediction is the class


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcomes:
    """How often each (truth, prediction of each model) occurred.

    Build one with :meth:`from_labels`, :meth:`from_confusion`,
    :meth:`from_counts` or :meth:`from_correct`. Tables are sparse, counts are
    whole numbers of any size, and outcomes of disjoint documents add up with
    ``+``.

    Parameters
    ----------
    models
        Names of the models, in the order of the predictions.
    labels
        The classes: text, whole numbers or booleans, in canonical order.
    tables
        One joint table if every document carries all models' predictions, or
        one table per model.
    kind
        ``"classes"``, or ``"correct"`` where only right or wrong is known.
    findings
        Doubts about the labels as they were read.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"old": [1, 0, 0], "new": [1, 1, 0]})
    >>> seen
    Outcomes(n=3, models=('old', 'new'), labels=(0, 1), paired=True, cells=3)
    >>> (seen + seen).n
    6
    """

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    tables: tuple[Table, ...]
    kind: Kind = "classes"
    findings: tuple[Finding, ...] = ()

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Mapping[str, Any],
        *,
        labels: Sequence[Label] | None = None,
        sample_weight: Any = None,
    ) -> Outcomes:
        """Count label arrays of the same documents.

        Parameters
        ----------
        y_true
            The true labels: a list, array or series.
        predictions
            The predicted labels of each model, by name.
        labels
            Classes that must be in the table even if they never occur.
        sample_weight
            Frequency weights: how many documents each row stands for, as whole numbers.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_labels(["NA", "01"], {"m": ["NA", "1"]}).labels
        ('01', '1', 'NA')
        """
        columns = [read_column(y_true, name="y_true")]
        for name, values in named(predictions).items():
            columns.append(read_column(values, name=f"predictions of {name!r}"))
        weights = frequency_weights(sample_weight, len(columns[0].codes))
        return cls._from_columns(tuple(predictions), columns, weights=weights, labels=labels)

    @classmethod
    def from_counts(
        cls,
        truth: Any,
        predictions: Mapping[str, Any],
        counts: Any,
        *,
        labels: Sequence[Label] | None = None,
    ) -> Outcomes:
        """Take a table that is already counted, such as a GROUP BY result.

        Parameters
        ----------
        truth
            The true label of each cell.
        predictions
            Each model's prediction in each cell, by name.
        counts
            How many documents each cell holds; repeated cells are added up.
        labels
            Classes that must be in the table even if they never occur.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_counts([1, 0], {"m": [1, 0]}, [10**20, 5]).n
        100000000000000000005
        """
        columns = [read_column(truth, name="truth")]
        for name, values in named(predictions).items():
            columns.append(read_column(values, name=f"predictions of {name!r}"))
        weights = as_counts(counts)
        if weights.shape != columns[0].codes.shape:
            raise DataError(
                f"counts must have one value per cell: {len(columns[0].codes)} cells, "
                f"counts of shape {weights.shape}"
            )
        if not weights.any():
            raise DataError("counts are zero everywhere; at least one document must count")
        return cls._from_columns(tuple(predictions), columns, weights=weights, labels=labels)

    @classmethod
    def from_confusion(
        cls, matrices: Mapping[str, Any], *, labels: Sequence[Label] | None = None
    ) -> Outcomes:
        """Take one confusion matrix per model: rows are the truth, columns the predictions.

        Which documents the models shared is unknown, so these outcomes are unpaired.

        Parameters
        ----------
        matrices
            A square array of counts for each model, by name.
        labels
            The class of each row and column; 0, 1, … by default.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion({"a": [[5, 1], [2, 8]], "b": [[4, 2], [1, 9]]})
        >>> seen.paired, seen.n
        (False, 16)
        """
        arrays = read_confusions(named(matrices))
        size = len(next(iter(arrays.values())))
        given = tuple(range(size)) if labels is None else check_labels(labels)
        if len(given) != size:
            raise DataError(f"{size} rows need {size} labels; got {len(given)}")
        order = np.array([given.index(label) for label in sort_labels(set(given))])
        tables = []
        for array in arrays.values():
            ordered = array[np.ix_(order, order)]
            cells = np.argwhere(ordered != 0)
            tables.append(Table(cells, as_counts(ordered[tuple(cells.T)])))
        return cls(
            models=tuple(arrays),
            labels=tuple(given[place] for place in order),
            tables=tuple(tables),
            findings=label_findings(given) + truth_findings(arrays),
        )

    @classmethod
    def from_correct(cls, correct: Mapping[str, Any]) -> Outcomes:
        """Count documents of which only right or wrong is known, per model.

        Parameters
        ----------
        correct
            For each model, by name, a boolean (or 0/1) per document: was it right?

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_correct({"a": [1, 1, 0], "b": [1, 0, 0]}).kind
        'correct'
        """
        columns = []
        for name, values in named(correct).items():
            column = read_column(values, name=f"correct of {name!r}")
            if not set(column.values) <= {0, 1}:
                raise DataError(f"correct of {name!r} must be true/false or 0/1 for each document")
            bits = np.array(column.values, dtype=np.int64)[column.codes]
            columns.append(Column(name=column.name, kind="bool", values=(False, True), codes=bits))
        same_length(columns)
        truth = Column(
            name="truth", kind="bool", values=(False, True), codes=np.ones_like(columns[0].codes)
        )
        counted = cls._from_columns(tuple(correct), [truth, *columns], weights=None, labels=None)
        return replace(counted, kind="correct")

    @classmethod
    def _from_columns(
        cls,
        models: tuple[str, ...],
        columns: Sequence[Column],
        *,
        weights: AnyArray | None,
        labels: Sequence[Label] | None,
    ) -> Outcomes:
        same_length(columns)
        columns, findings = unify(columns)
        known = {value for column in columns for value in column.values}
        if labels is not None:
            known |= set(check_labels(labels, like=known))
        ordered = sort_labels(known)
        place = {label: code for code, label in enumerate(ordered)}
        codes = [
            np.array([place[value] for value in column.values], dtype=np.int64)[column.codes]
            for column in columns
        ]
        table = Table(*count_rows(codes, n_labels=len(ordered), weights=weights))
        return cls(
            models=models,
            labels=ordered,
            tables=(table,),
            findings=findings + label_findings(ordered),
        )

    # What the table says

    @property
    def paired(self) -> bool:
        """Whether the documents of all models are the same."""
        return len(self.tables) == 1

    @property
    def n(self) -> int:
        """The number of documents (of the largest table, if each model has its own)."""
        return max(table.n for table in self.tables)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    def confusion(self, model: str) -> AnyArray:
        """Return the confusion matrix of one model, rows truth, in exact integers.

        Parameters
        ----------
        model
            The name of the model.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_labels([1, 1, 0], {"m": [1, 0, 0]}).confusion("m").tolist()
        [[1, 0], [1, 1]]
        """
        table = self._alone(model)
        matrix = np.zeros((self.n_classes, self.n_classes), dtype=table.counts.dtype)
        matrix[tuple(table.cells.T)] = table.counts
        return matrix

    def margins(self, model: str) -> ClassCounts:
        """Return hits, actual and predicted counts of every class for one model.

        Parameters
        ----------
        model
            The name of the model.
        """
        table = self._alone(model)
        truth, predicted = table.cells.T
        hits = np.zeros(self.n_classes, dtype=table.counts.dtype)
        right = truth == predicted
        hits[truth[right]] = table.counts[right]
        return ClassCounts(
            hits=hits,
            actual=table.sum_by(truth, n_labels=self.n_classes),
            predicted=table.sum_by(predicted, n_labels=self.n_classes),
        )

    def part(self, model: str, part: Part, *, positive: int | None = None) -> int:
        """Return one exact count of a model: tp, fn, fp, tn of a class, or correct and wrong.

        Parameters
        ----------
        model
            The name of the model.
        part
            Which count.
        positive
            The code of the class that tp, fn, fp and tn refer to.
        """
        table = self._alone(model)
        truth, predicted = table.cells.T
        selected = {
            "tp": (truth == positive) & (predicted == positive),
            "fn": (truth == positive) & (predicted != positive),
            "fp": (truth != positive) & (predicted == positive),
            "tn": (truth != positive) & (predicted != positive),
            "correct": truth == predicted,
            "wrong": truth != predicted,
        }[part]
        return table.sum_where(selected)

    def agreement(self, truth: int | None = None) -> tuple[int, int, int, int]:
        """Return how many documents both, only A, only B and neither got right.

        Parameters
        ----------
        truth
            The code of the only true class to look at; all classes if None.
        """
        if not self.paired or len(self.models) != 2:
            raise UsageError("agreement needs paired outcomes of exactly two models; use select()")
        table = self.tables[0]
        actual, a, b = table.cells.T
        inside = np.ones(len(actual), dtype=bool) if truth is None else actual == truth
        right_a, right_b = a == actual, b == actual
        both = table.sum_where(inside & right_a & right_b)
        only_a = table.sum_where(inside & right_a & ~right_b)
        only_b = table.sum_where(inside & ~right_a & right_b)
        return both, only_a, only_b, table.sum_where(inside & ~right_a & ~right_b)

    # The same data, asked differently

    def select(self, models: Sequence[str]) -> Outcomes:
        """Keep some models and sum out the others.

        Parameters
        ----------
        models
            Their names, in the order wanted.
        """
        places = [self._place(model) for model in models]
        if len(set(places)) != len(places):
            raise UsageError(f"each model may be selected once; got {list(models)}")
        if not self.paired:
            return replace(self, models=tuple(models), tables=tuple(self.tables[p] for p in places))
        if places == list(range(len(self.models))):
            return self
        table = self.tables[0].columns(places, n_labels=self.n_classes)
        return replace(self, models=tuple(models), tables=(table,))

    def unpair(self) -> Outcomes:
        """Forget which documents the models shared: one table per model."""
        return replace(self, tables=tuple(self._alone(model) for model in self.models))

    def binarize(self, label: Label) -> Outcomes:
        """Turn the classes into one against the rest; labels become False and True.

        Parameters
        ----------
        label
            The class that becomes True.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels(["a", "b", "c"], {"m": ["a", "c", "c"]})
        >>> seen.binarize("c").confusion("m").tolist()
        [[1, 1], [0, 1]]
        """
        codes = np.zeros(self.n_classes, dtype=np.int64)
        codes[self.code(label)] = 1
        tables = tuple(table.recode(codes, n_labels=2) for table in self.tables)
        return replace(self, labels=(False, True), tables=tables)

    def with_labels(self, labels: Sequence[Label]) -> Outcomes:
        """Add classes that never occurred; the counts stay as they are.

        Parameters
        ----------
        labels
            The classes to add, beside those that are there.
        """
        wanted = sort_labels(set(self.labels) | set(check_labels(labels, like=set(self.labels))))
        return self if wanted == self.labels else self._relabel(wanted)

    def emptied(self) -> Outcomes:
        """Return the same models and classes before any document was seen."""
        tables = tuple(Table(table.cells[:0], table.counts[:0]) for table in self.tables)
        return replace(self, tables=tables, findings=())

    def code(self, label: Label) -> int:
        """Return the code of a class, or say which classes there are.

        Parameters
        ----------
        label
            The class.
        """
        for code, known in enumerate(self.labels):
            if known == label and isinstance(known, bool) == isinstance(label, (bool, np.bool_)):
                return code
        raise UsageError(unknown_name("class", label, [str(known) for known in self.labels]))

    def __add__(self, other: Outcomes) -> Outcomes:
        if not isinstance(other, Outcomes):
            return NotImplemented
        self._refuse_other_kind(other)
        labels = sort_labels(
            set(self.labels) | set(check_labels(other.labels, like=set(self.labels)))
        )
        left, right = self._relabel(labels), other.select(self.models)._relabel(labels)
        tables = tuple(
            one.plus(two, n_labels=len(labels))
            for one, two in zip(left.tables, right.tables, strict=True)
        )
        # Labels that look alike may come from different shards, so they are looked at again.
        kept = [one for one in self.findings + other.findings if one.name not in LABEL_FINDINGS]
        findings = (*dict.fromkeys(kept), *label_findings(labels))
        return replace(self, labels=labels, tables=tables, findings=findings)

    def _refuse_other_kind(self, other: Outcomes) -> None:
        if set(self.models) != set(other.models):
            raise UsageError(
                f"outcomes of other models do not add up: {self.models}, {other.models}"
            )
        if self.paired != other.paired:
            raise UsageError("paired and unpaired outcomes do not add up; call unpair() first")
        if self.kind != other.kind:
            raise UsageError("outcomes of classes and of right/wrong only do not add up")

    def _relabel(self, labels: tuple[Label, ...]) -> Outcomes:
        place = {label: code for code, label in enumerate(labels)}
        codes = np.array([place[label] for label in self.labels], dtype=np.int64)
        tables = tuple(table.recode(codes, n_labels=len(labels)) for table in self.tables)
        return replace(self, labels=labels, tables=tables)

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise UsageError(unknown_name("model", model, self.models))
        return self.models.index(model)

    def _alone(self, model: str) -> Table:
        return self._tables_alone[self._place(model)]

    @cached_property
    def _tables_alone(self) -> tuple[Table, ...]:
        """Each model's own table, summed out once."""
        if not self.paired:
            return self.tables
        return tuple(
            self.tables[0].columns([place], n_labels=self.n_classes)
            for place in range(len(self.models))
        )

    # In and out

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain JSON-able values."""
        return serial.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcomes:
        """Take back what :meth:`to_dict` gave.

        Parameters
        ----------
        data
            The mapping.
        """
        return cls(**serial.from_dict(data))

    def to_json(self) -> str:
        """Return the table as JSON text.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0], {"m": [1, 1]})
        >>> op.Outcomes.from_json(seen.to_json()) == seen
        True
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Outcomes:
        """Take back what :meth:`to_json` gave.

        Parameters
        ----------
        text
            The JSON text.
        """
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"these are not outcomes in JSON: {error}") from error
        return cls.from_dict(data)

    def __eq__(self, other: object) -> bool:
        # As text, because True == 1 and the labels True and 1 are not the same.
        return isinstance(other, Outcomes) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.models, self.labels, self.n))

    def __repr__(self) -> str:
        cells = sum(len(table.counts) for table in self.tables)
        labels: object = self.labels if self.n_classes <= 6 else f"<{self.n_classes} classes>"
        return (
            f"Outcomes(n={self.n}, models={self.models}, labels={labels}, "
            f"paired={self.paired}, cells={cells})"
        )
