"""Outcomes: what was seen, as a frozen table that adds up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from outperform._json import MOST, parse, shown
from outperform._typing import AnyArray, IntArray, Label
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.outcomes import serial
from outperform.outcomes.adding import refuse_unlike
from outperform.outcomes.checking import check_labels
from outperform.outcomes.constructors import Constructors
from outperform.outcomes.groups import Groups
from outperform.outcomes.label_sets import (
    Sets,
    join_sets,
    label_margins,
    move_sets,
    prune_sets,
    split_texts,
)
from outperform.outcomes.labels import LABEL_FINDINGS, label_findings, sort_labels
from outperform.outcomes.pool import Pool
from outperform.outcomes.repeated import RepeatedId
from outperform.outcomes.slices import Slices
from outperform.outcomes.sources import DOUBLED, TWINS, Source, source_of, twin_findings
from outperform.outcomes.table import ClassCounts, Part, Table

Kind = Literal["classes", "correct", "spans", "label_sets"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcomes(Constructors):
    """How often each (truth, prediction of each model) occurred.

    Build one with :meth:`from_labels`, :meth:`from_confusion`,
    :meth:`from_counts` or :meth:`from_correct`, of spans with :meth:`from_tags`
    or :meth:`from_spans`, of documents with several labels each with
    :meth:`from_label_sets`, of documents chosen by their predictions with
    :meth:`from_pool`. Tables are sparse, counts are
    whole numbers, up to 10**27 in all, and outcomes of disjoint documents add up with
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
        are no true negatives; ``"label_sets"`` where a document has several labels, or none.
    findings
        Doubts about the labels as they were read.
    slices
        The same counts for each slice of the documents, if they were divided.
    sets
        Of label sets, the sets that occur, each the codes of its labels; the codes in the cells
        are places among these.
    pool
        The pool that the counted documents were chosen from by their predictions, if they were.
    repeated
        Columns that may name what documents belong to, as they were noticed when a table was
        read; only findings look at them. They do not add up, and JSON leaves them out.
    sources
        What was read and added up, each with its name, its number of documents and a hash of its
        counts; empty for arrays. Equality looks neither at them nor at findings about them.

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
    sets: Sets = ()
    pool: Pool | None = None
    repeated: tuple[RepeatedId, ...] = ()
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        for table in self.tables:
            if table.counts.dtype == object and table.n > MOST:
                raise DataError(f"a table may hold up to 10**27 documents; got {shown(table.n)}")

    # What the table says

    @property
    def origins(self) -> tuple[Source, ...]:
        """The sources; outcomes that know none are one without a name."""
        return self.sources or (source_of(self),)

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
    def weighted(self) -> bool:
        """Whether documents carry importance weights; the counts are of documents all the same."""
        return any(one.groups is not None and one.groups.weighted for one in self.tables)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.labels)

    @property
    def n_codes(self) -> int:
        """The number of codes in the cells: the classes and, of spans, "no span" after them.

        Of label sets it is the number of sets that occur.
        """
        if self.kind == "label_sets":
            return len(self.sets)
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
        if self.kind == "label_sets":
            raise UsageError(
                "documents with several labels have no one confusion matrix; look at one label "
                "against the rest with binarize(label)"
            )
        return self._alone(model).confusion(n_labels=self.n_codes)

    def margins(self, model: str) -> ClassCounts:
        """Return hits, actual and predicted counts of every class for one model.

        Parameters
        ----------
        model
            The name of the model.
        """
        if self.kind == "label_sets":
            return label_margins(self._alone(model), self.sets, n_labels=self.n_classes)
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
        if self.pool is not None:
            return self._reordered(places)
        slices = None if self.slices is None else self.slices.columns(places, n_labels=self.n_codes)
        selected = replace(
            self, models=tuple(models), tables=(self._columns(places),), slices=slices
        )
        if self.kind == "label_sets":
            return selected._over(self.labels, self.sets, np.arange(len(self.sets)))
        return selected._without(self._types() - selected._types())

    def unpair(self) -> Outcomes:
        """Forget which documents the models shared: one table per model."""
        self._refuse_pool("unpair() would forget this; leave paired out")
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
        self._refuse_pool("binarize() would mix them; name the class with pos_label=")
        chosen = self.code(label)
        if self.kind == "label_sets":
            codes = np.array([chosen in one for one in self.sets], dtype=np.int64)
            return replace(self._recoded(codes, (False, True)), kind="classes", sets=())
        codes = np.zeros(self.n_classes, dtype=np.int64)
        codes[chosen] = 1
        return self._recoded(codes, (False, True))

    def split_labels(self, separator: str) -> Outcomes:
        """Turn classes whose names list labels, such as ``"money|sport"``, into label sets.

        So what was read from files, frames or a database, where a column holds the labels of
        a document as one text, becomes outcomes of documents with several labels.

        Parameters
        ----------
        separator
            What stands between two labels. The empty text is a document without labels.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels(["money|sport", ""], {"m": ["sport", ""]})
        >>> seen.split_labels("|").margins("m").actual
        array([1, 1])
        """
        if self.kind != "classes" or self.slices is not None:
            raise UsageError("only classes that are not sliced can be split into labels")
        self._refuse_pool("documents with several labels cannot be chosen in this way yet")
        labels, sets, codes = split_texts(self.labels, separator)
        findings = tuple(one for one in self.findings if one.name not in LABEL_FINDINGS)
        moved = replace(self, kind="label_sets", findings=findings + label_findings(labels))
        return moved._over(labels, sets, codes)

    def only(self, labels: Sequence[Label]) -> Outcomes:
        """Keep the spans of some types, as spans of one type, or some labels of label sets.

        Parameters
        ----------
        labels
            The types, or labels, to keep.

        Examples
        --------
        >>> import outperform as op
        >>> gold = [[(0, 2, "PER"), (3, 4, "LOC")]]
        >>> op.Outcomes.from_spans(gold, {"crf": gold}).only(["LOC"]).margins("crf").hits
        array([1])
        """
        if self.kind not in ("spans", "label_sets"):
            raise UsageError("only spans can be left out; use binarize(label) for classes")
        labels = check_labels(labels)
        if self.kind == "label_sets":
            kept = {self.code(label) for label in labels}
            return self._relabel(tuple(self.labels[code] for code in sorted(kept)))
        codes = np.ones(self.n_codes, dtype=np.int64)
        codes[[self.code(label) for label in labels]] = 0
        tables = []
        for table in self.tables:
            recoded = table.recode(codes, n_labels=2)
            tables.append(recoded.without((recoded.cells == 1).all(axis=1)))
        name = labels[0] if len(labels) == 1 else "span"
        return replace(self, labels=(name,), tables=tuple(tables), sources=())

    def in_weights(self) -> Outcomes:
        """Return the importance weight of every cell instead of its documents, if they have any.

        Documents chosen from a pool by their predictions stand for all that have the same.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 1, 0], {"m": [1, 0, 0]}, sample_weight=[2.5, 1, 1])
        >>> seen.confusion("m").tolist(), seen.in_weights().confusion("m").tolist()
        ([[1, 0], [1, 1]], [[1.0, 0.0], [1.0, 2.5]])
        """
        if self.pool is not None:
            weighed = self.pool.weigh(self.tables[0], n_labels=self.n_codes)
            return replace(self, tables=(weighed,), pool=None)
        tables = tuple(table.in_weights() for table in self.tables)
        return replace(self, tables=tables) if self.weighted else self

    def matches(self) -> Outcomes:
        """Keep only whether each model's label set is the true one: right or wrong.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_label_sets([{1, 2}, {1}], {"m": [{1, 2}, {1, 2}]})
        >>> seen.matches().margins("m").hits
        array([0, 1])
        """
        if self.kind != "label_sets":
            raise UsageError("only label sets match or not; classes are right or wrong as they are")
        tables = tuple(table.matched() for table in self.tables)
        return replace(self, kind="correct", labels=(False, True), tables=tables, sets=())

    def ungroup(self) -> Outcomes:
        """Forget what was seen together; every span or document counts by itself."""
        if self.weighted:
            raise UsageError(
                "these outcomes carry importance weights, which ungroup() would forget; "
                "count again without groups= or without sample_weight="
            )
        tables = tuple(Table(table.cells, table.counts) for table in self.tables)
        return replace(self, tables=tables)

    def scaled(self, factor: float) -> Outcomes:
        """Return effective outcomes: every count times a factor, no longer whole numbers.

        Parameters
        ----------
        factor
            How many independent documents one counted document is worth.
        """
        self._refuse_pool("counts that are worth more or less have no place in it")
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
        table = self.slices.at(self.slices.place(*key))
        return replace(self, tables=(table,), slices=None, repeated=(), sources=())

    def with_labels(self, labels: Sequence[Label]) -> Outcomes:
        """Add classes that never occurred; the counts stay as they are.

        Parameters
        ----------
        labels
            The classes to add, beside those that are there.
        """
        wanted = sort_labels(set(self.labels) | set(check_labels(labels, like=set(self.labels))))
        return self if wanted == self.labels else self._relabel(wanted)

    def in_pool(self, pool: Outcomes) -> Outcomes:
        """Say that the documents were chosen from a pool by the predictions of both models.

        It is :meth:`from_pool` for what was read from files, frames and databases.

        Parameters
        ----------
        pool
            All documents of the pool, labelled or not, with the predictions of the first model
            as their truth and the second as their only model.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0], {"old": [1, 0], "new": [0, 1]})
        >>> pool = op.Outcomes.from_labels([1, 1, 0, 0, 0], {"new": [1, 0, 0, 0, 1]})  # truth: old
        >>> seen.in_pool(pool).pool.n
        5
        """
        self._refuse_in_pool(pool)
        wanted = sort_labels(set(self.labels) | set(check_labels(pool.labels, like={*self.labels})))
        left, right = self._relabel(wanted), pool._relabel(wanted)
        found = Pool(cells=right.tables[0].cells, counts=right.tables[0].counts)
        found.check(left.tables[0], n_labels=len(wanted))
        findings = tuple(dict.fromkeys((*left.findings, *right.findings)))
        return replace(left, pool=found, findings=findings, repeated=())

    def _refuse_in_pool(self, pool: Outcomes) -> None:
        self._refuse_pool("they have one already")
        plain = all(
            one.kind == "classes" and one.groups is None and one.slices is None and one.paired
            for one in (self, pool)
        )
        if not plain or len(self.models) != 2:
            raise UsageError(
                "only paired outcomes of two models, in classes, without groups, weights or "
                "slices, can be chosen from a pool"
            )
        a, b = self.models
        if pool.models != (b,):
            raise UsageError(
                f"the pool must have the predictions of {a!r} as truth and {b!r} as its only "
                f"model, e.g. read(source, truth={a!r}, models=[{b!r}]); got {list(pool.models)}"
            )

    def emptied(self) -> Outcomes:
        """Return the same models and classes before any document was seen.

        A pool is known before any of its documents is labelled, so it stays.
        """
        tables = tuple(table.emptied() for table in self.tables)
        return replace(self, tables=tables, findings=(), slices=None, repeated=(), sources=())

    def code(self, label: Label) -> int:
        """Return the code of a class, or say which classes there are.

        Parameters
        ----------
        label
            The class.
        """
        for code, known in enumerate(self.labels):
            if known == label:
                return code
        noun = {"spans": "type", "label_sets": "label"}.get(self.kind, "class")
        raise UsageError(unknown_name(noun, label, [str(known) for known in self.labels]))

    def __add__(self, other: Outcomes) -> Outcomes:
        if not isinstance(other, Outcomes):
            return NotImplemented
        refuse_unlike(self, other)
        labels = sort_labels(
            set(self.labels) | set(check_labels(other.labels, like=set(self.labels)))
        )
        left, right = self._relabel(labels), other.select(self.models)._relabel(labels)
        left, right = left.sharing_sets(right)
        tables = tuple(
            one.plus(two, n_labels=left.n_codes)
            for one, two in zip(left.tables, right.tables, strict=True)
        )
        sources = self.origins + other.origins
        # Labels that look alike may come from different shards, so they are looked at again.
        again = (*LABEL_FINDINGS, TWINS)
        kept = [one for one in self.findings + other.findings if one.name not in again]
        findings = (*dict.fromkeys(kept), *label_findings(labels), *twin_findings(sources))
        slices = None
        if left.slices is not None and right.slices is not None:
            slices = left.slices.plus(right.slices, n_labels=left.n_codes)
        pool = None
        if left.pool is not None and right.pool is not None:
            pool = left.pool.plus(right.pool, n_labels=left.n_codes)
        return replace(
            left,
            labels=labels,
            tables=tables,
            findings=findings,
            slices=slices,
            pool=pool,
            repeated=(),
            sources=sources,
        )

    def sharing_sets(self, other: Outcomes) -> tuple[Outcomes, Outcomes]:
        """Return both with the same codes for the same label sets; other kinds as they are.

        Parameters
        ----------
        other
            Outcomes over the same labels.
        """
        if self.kind != "label_sets" or self.sets == other.sets:
            return self, other
        columns = [(one.labels, one.sets) for one in (self, other)]
        _, sets, places = join_sets(columns)
        left, right = (
            replace(one._recoded(codes, one.labels, n_codes=len(sets)), sets=sets)
            for one, codes in zip((self, other), places, strict=True)
        )
        return left, right

    def _relabel(self, labels: tuple[Label, ...]) -> Outcomes:
        place = {label: code for code, label in enumerate(labels)}
        kept = [place.get(label, -1) for label in self.labels]  # -1 where it never occurs
        if self.kind == "label_sets":
            return self._over(labels, *move_sets(self.sets, kept))
        codes = np.array(kept + [len(labels)] * (self.kind == "spans"), dtype=np.int64)
        return self._recoded(codes, labels)

    def _over(self, labels: tuple[Label, ...], sets: Sets, codes: IntArray) -> Outcomes:
        """Give every label set a new code, and leave out sets that do not occur."""
        moved = self._recoded(codes, labels, n_codes=len(sets))
        tables, kept = prune_sets(moved.tables, sets)
        return replace(moved, tables=tables, sets=kept)

    def _recoded(
        self, codes: IntArray, labels: tuple[Label, ...], *, n_codes: int | None = None
    ) -> Outcomes:
        n_codes = len(labels) + (self.kind == "spans") if n_codes is None else n_codes
        tables = tuple(table.recode(codes, n_labels=n_codes) for table in self.tables)
        slices = None if self.slices is None else self.slices.recode(codes, n_labels=n_codes)
        pool = None if self.pool is None else self.pool.recode(codes, n_labels=n_codes)
        return replace(self, labels=labels, tables=tables, slices=slices, pool=pool)

    def _reordered(self, places: list[int]) -> Outcomes:
        """Put the models of a pool in another order; none can be left out."""
        assert self.pool is not None
        if len(places) != len(self.models):
            self._refuse_pool("one model alone is not enough; c.a and c.b of compare() are of one")
        pool = self.pool.columns(places, n_labels=self.n_codes)
        models = tuple(self.models[place] for place in places)
        return replace(self, models=models, tables=(self._columns(places),), pool=pool)

    def _refuse_pool(self, why: str) -> None:
        if self.pool is not None:
            raise UsageError(
                f"these documents were chosen from a pool by the predictions of both models; {why}"
            )

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
        """Return the table as plain JSON-able values, with its sources and a checksum."""
        return serial.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcomes:
        """Take back what :meth:`to_dict` gave; a DataError says where it was changed.

        Parameters
        ----------
        data
            The mapping.
        """
        return cls(**serial.from_dict(data))

    def to_json(self) -> str:
        """Return the table as JSON text with a checksum; the same outcomes give the same text.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0], {"m": [1, 1]})
        >>> op.Outcomes.from_json(seen.to_json()) == seen
        True
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Outcomes:
        """Take back what :meth:`to_json` gave; a DataError says where it was changed.

        Parameters
        ----------
        text
            The JSON text, or its bytes in UTF-8.
        """
        try:
            data = parse(text)
        except DataError as error:
            raise DataError(f"these are not outcomes in JSON: {error}") from error
        return cls.from_dict(data)

    def read_from(self, file: str) -> Outcomes:
        """Return the same, with sources that know the file of outcomes they were read from.

        Parameters
        ----------
        file
            Its name.
        """
        return replace(self, sources=tuple(replace(one, file=file) for one in self.origins))

    def __eq__(self, other: object) -> bool:
        # As text, which tells the labels True and 1 apart: they match, but are not written alike.
        return isinstance(other, Outcomes) and self._text() == other._text()

    def _text(self) -> str:
        """Return what was seen, without how it came together."""
        findings = tuple(one for one in self.findings if one.name not in DOUBLED)
        return json.dumps(serial.content(replace(self, findings=findings)))

    def __hash__(self) -> int:
        return hash((self.models, self.labels, self.n))

    def __repr__(self) -> str:
        cells = sum(len(table.counts) for table in self.tables)
        kind = "" if self.kind == "classes" else f", kind={self.kind!r}"
        if self.slices is not None:
            kind += f", slices={len(self.slices)}"
        if self.weighted:
            kind += ", weighted=True"
        alone = self.weighted and self.groups is not None and self.groups.n == self.n
        if self.kind != "spans" and self.groups is not None and not alone:
            kind += f", groups={self.groups.n}"
        if self.pool is not None:
            kind += f", pool={self.pool.n}"
        labels: object = self.labels if self.n_classes <= 6 else f"<{self.n_classes} classes>"
        return (
            f"Outcomes(n={self.n}, models={self.models}, labels={labels}, "
            f"paired={self.paired}, cells={cells}{kind})"
        )
