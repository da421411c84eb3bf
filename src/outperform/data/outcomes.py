"""``Outcomes``: what was seen, as a frozen table that adds up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from outperform._files import MOST, shown
from outperform._json import Json
from outperform._typing import AnyArray, IntArray, Label
from outperform.data import serialization
from outperform.data.constructors import Constructors
from outperform.data.groups import Groups, RepeatedId
from outperform.data.items import Items
from outperform.data.judged import Judged
from outperform.data.label_sets import Sets, label_margins, move_sets, prune_sets, split_texts
from outperform.data.labels import LABEL_FINDINGS, label_findings, sort_labels
from outperform.data.missing import label_findings_of
from outperform.data.pool import Pool, Slices
from outperform.data.prevalence import LabelErrors, Prevalence, PrevalenceLike
from outperform.data.sources import DOUBLED, Source, add
from outperform.data.table import ClassCounts, Table
from outperform.data.views import (
    check_labels,
    choose_from_pool,
    clear_positive,
    code_of,
    describe,
    n_codes,
    refuse_lost_prevalence,
    refuse_pool,
    refuse_proportions,
    refuse_true,
)
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding

Kind = Literal["classes", "correct", "spans", "label_sets"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcomes(Constructors):
    """How often each (truth, prediction of each model) occurred.

    Build one with :meth:`from_labels`, :meth:`from_confusion`,
    :meth:`from_counts` or :meth:`from_correct`, of spans with :meth:`from_tags`
    or :meth:`from_spans`, of items with several labels each with
    :meth:`from_label_sets`, of items chosen by their predictions with
    :meth:`from_pool`, of a judge and people with :meth:`from_judged`. Tables are sparse, counts
    are whole numbers, up to 10**27 in all, and outcomes of disjoint items add up with ``+``.

    Parameters
    ----------
    models
        Names of the models, in the order of the predictions.
    labels
        The classes: text, whole numbers or booleans, in canonical order.
    tables
        One joint table if every item carries all models' predictions, or
        one table per model.
    kind
        ``"classes"``; ``"correct"`` where only right or wrong is known; ``"spans"`` where there
        are no true negatives; ``"label_sets"`` where an item has several labels, or none.
    findings
        Findings about the labels as they were read.
    slices
        The same counts for each slice of the items, if they were divided.
    sets
        Of label sets, the sets that occur, each the codes of its labels; the codes in the cells
        are places among these.
    pool
        The pool that the counted items were chosen from by their predictions, if they were.
    sources
        What was read and added up, each with its name, its number of items and a hash of its
        counts; empty for arrays. Equality looks neither at them nor at findings about them.
    prevalence
        The class proportions at which to answer, if not those of the data; see
        :meth:`at_prevalence`.
    never_true
        Classes that models may predict and that are meant never to be true, such as a refusal;
        see :meth:`with_never_true`. Equality does not look at them.

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
    sources: tuple[Source, ...] = ()
    # Columns that may name what items belong to, noticed when a table was read, for findings.
    # They do not add up, and JSON leaves them out.
    _repeated: tuple[RepeatedId, ...] = ()
    # Which cell each item is in, where rows came one by one; equality and JSON leave it out.
    _items: Items | None = None
    prevalence: Prevalence | None = None
    # What a comparison asks of the gold labels; equality and JSON leave it out.
    _label_errors: LabelErrors | None = None
    never_true: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        for table in self.tables:
            if table.counts.dtype == object and table.n > MOST:
                raise DataError(f"a table may hold up to 10**27 items; got {shown(table.n)}")
        if self.never_true:
            refuse_true(self)

    # What the table says

    @property
    def paired(self) -> bool:
        """Whether the items of all models are the same."""
        return len(self.tables) == 1

    @property
    def n(self) -> int:
        """The number of items (of the largest table, if each model has its own).

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
        """Whether items carry importance weights; the counts are of items all the same."""
        return any(one.groups is not None and one.groups.weighted for one in self.tables)

    @property
    def cells(self) -> int:
        """How many cells there are: different rows of truth and predictions that occurred."""
        return sum(len(table.counts) for table in self.tables)

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
        if self.kind == "label_sets":
            raise UsageError(
                "items with several labels have no one confusion matrix; look at one label "
                "against the rest with binarize(label)"
            )
        return self._alone(model).confusion(n_labels=n_codes(self))

    def margins(self, model: str) -> ClassCounts:
        """Return hits, actual and predicted counts of every class for one model.

        Parameters
        ----------
        model
            The name of the model.
        """
        if self.kind == "label_sets":
            return label_margins(self._alone(model), self.sets, n_labels=self.n_classes)
        counts = self._alone(model).margins(n_labels=n_codes(self))
        return ClassCounts(*(of_codes[: self.n_classes] for of_codes in counts))

    def agreement(self, truth: int | None = None) -> tuple[int, int, int, int]:
        """Return how many items both, only A, only B and neither got right.

        Parameters
        ----------
        truth
            The code of the only true class to look at; all classes if None.
        """
        if not self.paired or len(self.models) != 2:
            raise UsageError("agreement needs paired outcomes of exactly two models; use select()")
        return self.tables[0].agreement(truth)

    # The same data, asked differently

    def at_prevalence(
        self, shares: PrevalenceLike | None, *, pos_label: Label | None = None
    ) -> Outcomes:
        """Return the same counts, to be answered at the class proportions of another place.

        What was seen within each class is kept, and its share is replaced. Every verb that takes
        outcomes answers at these proportions, or says that it cannot.

        Parameters
        ----------
        shares
            The share of the positive class; a mapping from classes to shares, or to counts; a
            distribution such as ``scipy.stats.beta(20, 980)``; or None for those of the data.
        pos_label
            The class that one share is about, where the classes are not 0 and 1.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion({"m": [[90, 10], [20, 80]]}, labels=["ok", "fraud"])
        >>> print(round(op.estimate(seen, "m", pos_label="fraud").observed, 3))
        0.842
        >>> there = seen.at_prevalence({"fraud": 0.02, "ok": 0.98})
        >>> print(round(op.estimate(there, "m", pos_label="fraud").observed, 3))
        0.239
        """
        if shares is None:
            return replace(self, prevalence=None)
        refuse_proportions(self)
        positive = clear_positive(self.labels)
        if pos_label is not None:
            positive = self.labels[code_of(self, pos_label)]
        found = Prevalence.from_param(shares, self, positive=positive)
        return replace(self, prevalence=found)

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
            chosen = tuple(self.tables[p] for p in places)
            return replace(self, models=tuple(models), tables=chosen)._looked_over()
        if places == list(range(len(self.models))):
            return self
        if self.pool is not None:
            return self._reordered(places)
        slices = (
            None if self.slices is None else self.slices.columns(places, n_labels=n_codes(self))
        )
        selected = replace(
            self, models=tuple(models), tables=(self._columns(places),), slices=slices
        )
        if self.kind == "label_sets":
            over = selected._over(self.labels, self.sets, np.arange(len(self.sets)))
            return over._looked_over()
        return selected._without(self._types() - selected._types())._looked_over()

    def _looked_over(self) -> Outcomes:
        """Return the same with what looks missing counted anew, unless it was declared."""
        old = [each for each in self.findings if each.name == "looks_missing"]
        if not old:
            return self
        about = label_findings_of(self.labels, self.tables, self.models, self.sets or None)
        new = tuple(replace(each, level=old[0].level) for each in about)
        return replace(
            self, findings=tuple(each for each in self.findings if each not in old) + new
        )

    def unpair(self) -> Outcomes:
        """Forget which items the models shared: one table per model."""
        refuse_pool(self, "unpair() would forget this; leave paired out")
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
            raise UsageError(
                "spans have no true negatives to be the rest; name the type with "
                f"{param('pos_label=')}"
            )
        refuse_pool(self, "binarize() would mix them; name the positive class instead")
        refuse_lost_prevalence(self, "binarize()")
        chosen = code_of(self, label)
        if self.kind == "label_sets":
            codes = np.array([chosen in one for one in self.sets], dtype=np.int64)
            bare = replace(self, never_true=())
            found = replace(bare._recoded(codes, (False, True)), kind="classes", sets=())
            return replace(found, _items=None)
        codes = np.zeros(self.n_classes, dtype=np.int64)
        codes[chosen] = 1
        meaning = {known: code == chosen for code, known in enumerate(self.labels)}
        bare = replace(self, never_true=())
        return bare._recoded(codes, (False, True))._with_items(meaning)

    def split_labels(self, separator: str) -> Outcomes:
        """Turn classes whose names list labels, such as ``"money|sport"``, into label sets.

        So what was read from files, frames or a database, where a column holds the labels of
        an item as one text, becomes outcomes of items with several labels.

        Parameters
        ----------
        separator
            What stands between two labels. The empty text is an item without labels.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels(["money|sport", ""], {"m": ["sport", ""]})
        >>> seen.split_labels("|").margins("m").actual
        array([1, 1])
        """
        if self.kind != "classes" or self.slices is not None:
            raise UsageError("only classes that are not sliced can be split into labels")
        refuse_pool(self, "items with several labels cannot be chosen in this way yet")
        refuse_lost_prevalence(self, "split_labels()")
        labels, sets, codes = split_texts(self.labels, separator)
        findings = tuple(one for one in self.findings if one.name not in LABEL_FINDINGS)
        moved = replace(self, kind="label_sets", findings=findings + label_findings(labels))
        named = [frozenset(labels[one] for one in sets[code]) for code in codes]
        meaning = dict(zip(self.labels, named, strict=True))
        split = moved._over(labels, sets, codes)._with_items(meaning)
        if any(one.name == "looks_missing" for one in self.findings):
            about = label_findings_of(labels, split.tables, split.models, split.sets)
            return replace(split, findings=split.findings + about)
        return split

    def ungroup(self) -> Outcomes:
        """Forget what was seen together; every span or item counts by itself."""
        if self.weighted:
            raise UsageError(
                "these outcomes carry importance weights, which ungroup() would forget; count "
                f"again without {param('groups=')} or without sample_weight="
            )
        tables = tuple(Table(table.cells, table.counts) for table in self.tables)
        return replace(self, tables=tables)

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
            raise UsageError(f"these outcomes have no slices; divide them with {param('by=')}")
        table = self.slices.at(self.slices.place(*key))
        own = replace(self, tables=(table,), slices=None, _repeated=(), sources=(), _items=None)
        return own._looked_over()

    def with_labels(self, labels: Sequence[Label]) -> Outcomes:
        """Add classes that never occurred; the counts stay as they are.

        Parameters
        ----------
        labels
            The classes to add to those that are there.
        """
        wanted = sort_labels(set(self.labels) | set(check_labels(labels, like=set(self.labels))))
        return self if wanted == self.labels else self._relabel(wanted)

    def with_never_true(self, labels: Sequence[Label]) -> Outcomes:
        """Declare classes that are predicted and meant never to be true, such as a refusal.

        Predictions of a class that is never true may be labels spelled otherwise, so a gate that
        depends on them is undecided, unless they are declared. They count as errors either way.

        Parameters
        ----------
        labels
            The classes; they need not occur.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels(["A", "B"], {"m": ["A", "refusal"]})
        >>> seen.with_never_true(["refusal"]).never_true
        ('refusal',)
        """
        found = check_labels(labels, like=set(self.labels), name="never_true")
        return replace(self, never_true=tuple(dict.fromkeys((*self.never_true, *found))))

    def in_pool(self, pool: Outcomes) -> Outcomes:
        """Say that the items were chosen from a pool by the predictions of both models.

        It is :meth:`from_pool` for what was read from files, frames and databases.

        Parameters
        ----------
        pool
            All items of the pool, labelled or not, with the predictions of the first model
            as their truth and the second as their only model.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0], {"old": [1, 0], "new": [0, 1]})
        >>> pool = op.Outcomes.from_labels([1, 1, 0, 0, 0], {"new": [1, 0, 0, 0, 1]})  # truth: old
        >>> seen.in_pool(pool).pool.n
        5
        """
        return choose_from_pool(self, pool)

    def __add__(self, other: Outcomes) -> Outcomes:
        if not isinstance(other, Outcomes):
            return NotImplemented
        return add(self, other)

    def _with_items(self, meaning: Mapping[Label, object]) -> Outcomes:
        """Return the same with items whose labels mean something else."""
        return replace(self, _items=self._items and self._items.renamed(meaning))

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
        """Put the models of a pool in another order; without a judge none can be left out."""
        assert self.pool is not None
        if len(places) != len(self.models) and not isinstance(self.pool, Judged):
            refuse_pool(self, "one model alone is not enough; c.a and c.b of compare() are of one")
        pool = self.pool.columns(places, n_labels=n_codes(self))
        models = tuple(self.models[place] for place in places)
        return replace(self, models=models, tables=(self._columns(places),), pool=pool)

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
        table = self.tables[0].columns(places, n_labels=n_codes(self))
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

    def to_dict(self) -> Json:
        """Return the table as plain JSON-able values, with its sources and a checksum."""
        return serialization.to_dict(self)

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

    def __eq__(self, other: object) -> bool:
        # As text, which tells the labels True and 1 apart: they match, but are not written alike.
        if not isinstance(other, Outcomes) or self.prevalence != other.prevalence:
            return False
        return self._text() == other._text()

    def _text(self) -> str:
        """Return what was seen, without how it came together."""
        findings = tuple(one for one in self.findings if one.name not in DOUBLED)
        return json.dumps(serialization.content(replace(self, findings=findings)))

    def __hash__(self) -> int:
        return hash((self.models, self.labels, self.n))

    def __repr__(self) -> str:
        return describe(self)
