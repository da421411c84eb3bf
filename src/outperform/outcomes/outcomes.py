"""Outcomes: what was seen, as a frozen table that adds up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from outperform._typing import AnyArray, IntArray, Label
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.outcomes import building, schemes, serial
from outperform.outcomes.checking import check_labels
from outperform.outcomes.groups import Groups
from outperform.outcomes.labels import LABEL_FINDINGS, label_findings, sort_labels
from outperform.outcomes.slices import Slices
from outperform.outcomes.table import ClassCounts, Part, Table

Kind = Literal["classes", "correct", "spans"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcomes:
    """How often each (truth, prediction of each model) occurred.

    Build one with :meth:`from_labels`, :meth:`from_confusion`,
    :meth:`from_counts` or :meth:`from_correct`, of spans with :meth:`from_tags`
    or :meth:`from_spans`. Tables are sparse, counts are
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
        ``"classes"``; ``"correct"`` where only right or wrong is known; ``"spans"`` where there
        are no true negatives.
    findings
        Doubts about the labels as they were read.
    slices
        The same counts for each slice of the documents, if they were divided.

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
    slices: Slices | None = None

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Mapping[str, Any],
        *,
        labels: Sequence[Label] | None = None,
        sample_weight: Any = None,
        by: Mapping[str, Any] | None = None,
        groups: Any = None,
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
        by
            Columns that divide the documents into slices, by name.
        groups
            The group of each document, such as its author or its prompt, if groups rather than
            documents should get one weight each.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_labels(["NA", "01"], {"m": ["NA", "1"]}).labels
        ('01', '1', 'NA')
        >>> seen = op.Outcomes.from_labels([1, 0, 1], {"m": [1, 1, 1]}, groups=["x", "x", "y"])
        >>> seen.n, seen.groups.n
        (3, 2)
        """
        fields = building.of_labels(
            y_true, predictions, labels=labels, weights=sample_weight, by=by, groups=groups
        )
        return cls(**fields)

    @classmethod
    def from_counts(
        cls,
        truth: Any,
        predictions: Mapping[str, Any],
        counts: Any,
        *,
        labels: Sequence[Label] | None = None,
        by: Mapping[str, Any] | None = None,
        groups: Any = None,
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
        by
            The slice of each cell: columns by name.
        groups
            The group of each cell, if groups rather than documents should get one weight each.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_counts([1, 0], {"m": [1, 0]}, [10**20, 5]).n
        100000000000000000005
        """
        fields = building.of_counts(truth, predictions, counts, labels=labels, by=by, groups=groups)
        return cls(**fields)

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
        return cls(**building.of_confusion(matrices, labels=labels))

    @classmethod
    def from_correct(cls, correct: Mapping[str, Any], *, groups: Any = None) -> Outcomes:
        """Count documents of which only right or wrong is known, per model.

        Parameters
        ----------
        correct
            For each model, by name, a boolean (or 0/1) per document: was it right?
        groups
            The group of each document, such as the question that several samples answer, if
            groups rather than documents should get one weight each.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_correct({"a": [1, 1, 0], "b": [1, 0, 0]}).kind
        'correct'
        """
        return cls(**building.of_correct(correct, groups=groups))

    @classmethod
    def from_tags(
        cls,
        gold: Any,
        predictions: Mapping[str, Any],
        *,
        scheme: Any,
        strict: bool = False,
        groups: Sequence[Any] | None = None,
    ) -> Outcomes:
        """Count the spans of tag sequences, such as named entities or words.

        A predicted span counts if its boundaries and its type are those of a
        gold span. Spans of one sentence go wrong together, so each sentence
        keeps its spans and later gets one weight.

        Parameters
        ----------
        gold
            The true tags: a list of tags for each sentence.
        predictions
            The predicted tags of each model, by name.
        scheme
            ``"IOB1"``, ``"IOB2"``, ``"IOE1"``, ``"IOE2"``, ``"IOBES"``, ``"BILOU"``, ``"BMES"``,
            ``"BB2B3MES"``, or a table of your own; see :mod:`outperform.schemes`.
        strict
            Whether a sequence that breaks the scheme loses its span; by default
            it is read as conlleval reads it.
        groups
            The document (or author, or prompt) of each sentence, if these rather
            than sentences should get one weight each.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]]
        >>> tagged = [["B-PER", "I-PER", "O"], ["O", "O", "B-LOC"]]
        >>> seen = op.Outcomes.from_tags(gold, {"crf": tagged}, scheme="IOB2")
        >>> seen
        Outcomes(n=2, models=('crf',), labels=('LOC', 'PER'), paired=True, cells=3, kind='spans')
        >>> seen.margins("crf").hits.tolist()
        [0, 1]
        """
        return cls(
            **building.of_tags(
                gold, predictions, scheme=schemes.get(scheme), strict=strict, groups=groups
            )
        )

    @classmethod
    def from_spans(
        cls,
        gold: Any,
        predictions: Mapping[str, Any],
        *,
        groups: Sequence[Any] | None = None,
    ) -> Outcomes:
        """Count spans given as (start, end, type); whether the end is inclusive is yours.

        Parameters
        ----------
        gold
            The true spans: a list of ``(start, end, type)`` for each document.
        predictions
            The predicted spans of each model, by name.
        groups
            What should get one weight each, if not the documents themselves.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [[(0, 2, "PER")], [(1, 2, "LOC")]]
        >>> op.Outcomes.from_spans(gold, {"crf": [[(0, 2, "PER")], []]}).margins("crf").predicted
        array([0, 1])
        """
        return cls(**building.of_spans(gold, predictions, groups=groups))

    @classmethod
    def from_span_counts(cls, truth: Any, predictions: Mapping[str, Any], counts: Any) -> Outcomes:
        """Take spans that are already counted, with None for "no span".

        Which spans came from one sentence is unknown, so they are taken as independent.

        Parameters
        ----------
        truth
            The type of each cell's true span, or None where it is spurious.
        predictions
            The same type where a model found the span, None where not, by model.
        counts
            How many spans each cell holds.

        Examples
        --------
        >>> import outperform as op
        >>> op.Outcomes.from_span_counts(
        ...     ["X", "X", "X", "X", None, None, None],
        ...     {"A": ["X", "X", None, None, "X", "X", None],
        ...      "B": ["X", None, "X", None, "X", None, "X"]},
        ...     [70, 8, 5, 17, 6, 4, 3],
        ... ).margins("A").predicted
        array([88])
        """
        return cls(**building.of_span_counts(truth, predictions, counts))

    @classmethod
    def from_tp_fp_fn(cls, counts: Mapping[str, Any], *, label: Label = "span") -> Outcomes:
        """Take true positives, false positives and false negatives of each model.

        Nothing is known of true negatives, nor of what the models found together,
        so these outcomes are unpaired.

        Parameters
        ----------
        counts
            ``(tp, fp, fn)`` of each model, by name.
        label
            What to call the class.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})
        >>> print(round(op.compare(seen, "A", "B", metric="f1", rope=0.01).p_greater, 6))
        0.968397
        """
        return cls(**building.of_tp_fp_fn(counts, label=label))

    # What the table says

    @property
    def paired(self) -> bool:
        """Whether the documents of all models are the same."""
        return len(self.tables) == 1

    @property
    def n(self) -> int:
        """The number of documents (of the largest table, if each model has its own).

        Of spans it is the number of documents or sentences where these are
        known, else the number of spans.
        """
        groups = self.groups
        if self.kind == "spans" and groups is not None:
            return groups.n
        return max(table.n for table in self.tables)

    @property
    def groups(self) -> Groups | None:
        """What was seen together, if that is known."""
        return self.tables[0].groups

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    @property
    def n_codes(self) -> int:
        """The number of codes in the cells: the classes and, of spans, "no span" after them."""
        return len(self.labels) + (self.kind == "spans")

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
        return self._alone(model).confusion(n_labels=self.n_codes)

    def margins(self, model: str) -> ClassCounts:
        """Return hits, actual and predicted counts of every class for one model.

        Parameters
        ----------
        model
            The name of the model.
        """
        counts = self._alone(model).margins(n_labels=self.n_codes)
        return ClassCounts(*(of_codes[: self.n_classes] for of_codes in counts))

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
        return self._alone(model).part(part, positive=positive)

    def agreement(self, truth: int | None = None) -> tuple[int, int, int, int]:
        """Return how many documents both, only A, only B and neither got right.

        Parameters
        ----------
        truth
            The code of the only true class to look at; all classes if None.
        """
        if not self.paired or len(self.models) != 2:
            raise UsageError("agreement needs paired outcomes of exactly two models; use select()")
        return self.tables[0].agreement(truth)

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
        slices = None if self.slices is None else self.slices.columns(places, n_labels=self.n_codes)
        selected = replace(
            self, models=tuple(models), tables=(self._columns(places),), slices=slices
        )
        return selected._without(self._types() - selected._types())

    def unpair(self) -> Outcomes:
        """Forget which documents the models shared: one table per model."""
        tables = tuple(self._alone(model) for model in self.models)
        return replace(self, tables=tables, slices=None)

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
        if self.kind == "spans":
            raise UsageError("spans have no true negatives to be the rest; use only([label])")
        codes = np.zeros(self.n_classes, dtype=np.int64)
        codes[self.code(label)] = 1
        return self._recoded(codes, (False, True))

    def only(self, labels: Sequence[Label]) -> Outcomes:
        """Keep the spans of some types, as spans of one type.

        Parameters
        ----------
        labels
            The types to keep.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [[(0, 2, "PER"), (3, 4, "LOC")]]
        >>> op.Outcomes.from_spans(gold, {"crf": gold}).only(["LOC"]).margins("crf").hits
        array([1])
        """
        if self.kind != "spans":
            raise UsageError("only spans can be left out; use binarize(label) for classes")
        labels = check_labels(labels)
        codes = np.ones(self.n_codes, dtype=np.int64)
        codes[[self.code(label) for label in labels]] = 0
        tables = []
        for table in self.tables:
            recoded = table.recode(codes, n_labels=2)
            tables.append(recoded.without((recoded.cells == 1).all(axis=1)))
        name = labels[0] if len(labels) == 1 else "span"
        return replace(self, labels=(name,), tables=tuple(tables))

    def ungroup(self) -> Outcomes:
        """Forget what was seen together; every span or document counts by itself."""
        tables = tuple(Table(table.cells, table.counts) for table in self.tables)
        return replace(self, tables=tables)

    def scaled(self, factor: float) -> Outcomes:
        """Return effective outcomes: every count times a factor, no longer whole numbers.

        Parameters
        ----------
        factor
            How many independent documents one counted document is worth.
        """
        tables = tuple(table.scaled(factor) for table in self.tables)
        return replace(self, tables=tables, slices=None)

    def slice(self, *key: object) -> Outcomes:
        """Return the outcomes of one slice.

        Parameters
        ----------
        *key
            The value of each column in ``slices.by``.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0, 1], {"m": [1, 1, 1]}, by={"day": [1, 1, 2]})
        >>> list(seen.slices), seen.slice(1).n
        ([('1',), ('2',)], 2)
        """
        if self.slices is None:
            raise UsageError("these outcomes have no slices; divide them with by=")
        return replace(self, tables=(self.slices.at(self.slices.place(*key)),), slices=None)

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
        tables = tuple(table.emptied() for table in self.tables)
        return replace(self, tables=tables, findings=(), slices=None)

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
        noun = "type" if self.kind == "spans" else "class"
        raise UsageError(unknown_name(noun, label, [str(known) for known in self.labels]))

    def __add__(self, other: Outcomes) -> Outcomes:
        if not isinstance(other, Outcomes):
            return NotImplemented
        self._refuse_other_kind(other)
        labels = sort_labels(
            set(self.labels) | set(check_labels(other.labels, like=set(self.labels)))
        )
        left, right = self._relabel(labels), other.select(self.models)._relabel(labels)
        tables = tuple(
            one.plus(two, n_labels=left.n_codes)
            for one, two in zip(left.tables, right.tables, strict=True)
        )
        # Labels that look alike may come from different shards, so they are looked at again.
        kept = [one for one in self.findings + other.findings if one.name not in LABEL_FINDINGS]
        findings = (*dict.fromkeys(kept), *label_findings(labels))
        slices = None
        if left.slices is not None and right.slices is not None:
            slices = left.slices.plus(right.slices, n_labels=left.n_codes)
        return replace(self, labels=labels, tables=tables, findings=findings, slices=slices)

    def _refuse_other_kind(self, other: Outcomes) -> None:
        if set(self.models) != set(other.models):
            raise UsageError(
                f"outcomes of other models do not add up: {self.models}, {other.models}"
            )
        if self.paired != other.paired:
            raise UsageError("paired and unpaired outcomes do not add up; call unpair() first")
        if self.kind != other.kind:
            raise UsageError(
                f"outcomes of the kinds {self.kind!r} and {other.kind!r} do not add up"
            )
        if (self.groups is None) != (other.groups is None):
            raise UsageError(
                "outcomes with and without groups do not add up; call ungroup() on the former"
            )
        if (self.slices is None) != (other.slices is None):
            raise UsageError("outcomes with and without slices do not add up; divide both or none")

    def _relabel(self, labels: tuple[Label, ...]) -> Outcomes:
        place = {label: code for code, label in enumerate(labels)}
        kept = [place.get(label, -1) for label in self.labels]  # -1 where it never occurs
        codes = np.array(kept + [len(labels)] * (self.kind == "spans"), dtype=np.int64)
        return self._recoded(codes, labels)

    def _recoded(self, codes: IntArray, labels: tuple[Label, ...]) -> Outcomes:
        n_codes = len(labels) + (self.kind == "spans")
        tables = tuple(table.recode(codes, n_labels=n_codes) for table in self.tables)
        slices = None if self.slices is None else self.slices.recode(codes, n_labels=n_codes)
        return replace(self, labels=labels, tables=tables, slices=slices)

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
        return tuple(self._columns([place]) for place in range(len(self.models)))

    def _columns(self, places: Sequence[int]) -> Table:
        table = self.tables[0].columns(places, n_labels=self.n_codes)
        if self.kind != "spans":
            return table
        # What only the models left out made up is no span any more.
        return table.without((table.cells == self.n_classes).all(axis=1))

    def _types(self) -> set[int]:
        """Return the codes of the types of spans that occur."""
        if self.kind != "spans":
            return set()
        found = {int(code) for table in self.tables for code in np.unique(table.cells)}
        return found - {self.n_classes}

    def _without(self, types: set[int]) -> Outcomes:
        """Leave out types that occur no more; an average over types must not count them."""
        kept = tuple(label for code, label in enumerate(self.labels) if code not in types)
        return self._relabel(kept) if types and kept else self

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
        kind = "" if self.kind == "classes" else f", kind={self.kind!r}"
        if self.slices is not None:
            kind += f", slices={len(self.slices)}"
        if self.kind != "spans" and self.groups is not None:
            kind += f", groups={self.groups.n}"
        labels: object = self.labels if self.n_classes <= 6 else f"<{self.n_classes} classes>"
        return (
            f"Outcomes(n={self.n}, models={self.models}, labels={labels}, "
            f"paired={self.paired}, cells={cells}{kind})"
        )
