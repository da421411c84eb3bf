"""``Outcomes``: an immutable, additive table of true labels and predictions."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from outperform._files import MOST, shown, signed, signed_text
from outperform._json import Json, to_json
from outperform._typing import AnyArray, IntArray, Label
from outperform.data import serialization
from outperform.data.checks import check_labels, clear_positive, code_of
from outperform.data.constructors import Constructors
from outperform.data.items import Items
from outperform.data.judged import Judged
from outperform.data.label_sets import (
    Sets,
    join_sets,
    label_margins,
    move_sets,
    prune_sets,
    split_texts,
)
from outperform.data.labels import LABEL_FINDINGS, label_findings, sort_labels
from outperform.data.missing import label_findings_of
from outperform.data.pool import Pool, Slices
from outperform.data.prevalence import LabelErrors, Prevalence, PrevalenceLike
from outperform.data.sources import DOUBLED, TWINS, Source, log_chance, twin_findings
from outperform.data.table import CHANCE, ClassCounts, Groups, Table
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding
from outperform.wrong_calls import ByKeyword

Kind = Literal["classes", "correct", "spans", "label_sets"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedId:
    """A column with repeated values, and the outcomes grouped by it.

    No posterior uses it. It only allows a finding to report how much groups would change the
    result.

    Parameters
    ----------
    column
        Name of the column.
    n_values
        Number of distinct values.
    n_rows
        Number of rows.
    outcomes
        The same outcomes with one group per value.
    """

    column: str
    n_values: int
    n_rows: int
    outcomes: Outcomes


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcomes(Constructors, ByKeyword):
    """Counts of each combination of true label and model predictions.

    Build outcomes with :meth:`from_labels`, :meth:`from_confusion`, :meth:`from_counts` or
    :meth:`from_correct`. Use :meth:`from_tags` or :meth:`from_spans` for spans,
    :meth:`from_label_sets` for items with several labels each, :meth:`from_pool` for items selected
    by their predictions, and :meth:`from_judged` for a judge's ratings. Tables are sparse, counts
    are integers up to 10**27 in total, and outcomes of disjoint items are added with ``+``.

    Parameters
    ----------
    models
        Names of the models, in the order of the predictions.
    labels
        Classes: text, integers or booleans, in canonical order.
    tables
        One joint table if every item has all models' predictions, otherwise one table per model.
    kind
        ``"classes"``; ``"correct"`` if only correctness is known; ``"spans"``, without true
        negatives; ``"label_sets"`` if an item has several labels, or none.
    findings
        Findings about the labels, reported when they were read.
    slices
        The same counts for each slice, if there are slices.
    sets
        For label sets, the sets that occur, each as the codes of its labels. The codes in the cells
        are indices of these sets.
    pool
        Pool from which the counted items were selected by their predictions, if any.
    sources
        Sources that were read and added, each with its name, number of items and a hash of its
        counts; empty for arrays. Equality ignores sources and findings about them.
    prevalence
        Class proportions for the analysis if they differ from those of the data; see
        :meth:`at_prevalence`.
    never_true
        Classes that models may predict but that are never true by design, such as a refusal; see
        :meth:`with_never_true`. Equality ignores them.

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
    # Possible group columns, detected when a table was read, and used for findings. Addition drops
    # them, and they are not written to JSON.
    _repeated: tuple[RepeatedId, ...] = ()
    # The cell of each item if rows were read individually; ignored by equality and JSON.
    _items: Items | None = None
    prevalence: Prevalence | None = None
    # The error rates of gold labels set for a comparison; ignored by equality and JSON.
    _label_errors: LabelErrors | None = None
    never_true: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        for table in self.tables:
            if table.counts.dtype == object and table.n > MOST:
                raise DataError(f"a table can contain at most 10**27 items; got {shown(table.n)}")
        if self.never_true:
            refuse_true(self)

    # Counts and properties

    @property
    def paired(self) -> bool:
        """Whether all models were tested on the same items."""
        return len(self.tables) == 1

    @property
    def n(self) -> int:
        """Number of items (in the largest table if each model has its own).

        For spans, the number of documents or sentences if known, otherwise the number of spans.
        """
        groups = self.groups
        if self.kind == "spans" and groups is not None:
            return groups.n
        return max(table.n for table in self.tables)

    @property
    def groups(self) -> Groups | None:
        """The groups of items, if known."""
        return self.tables[0].groups

    @property
    def weighted(self) -> bool:
        """Whether items have importance weights; counts are still numbers of items."""
        return any(table.groups is not None and table.groups.weighted for table in self.tables)

    @property
    def cells(self) -> int:
        """Number of cells: distinct combinations of true label and predictions that occurred."""
        return sum(len(table.counts) for table in self.tables)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    def confusion(self, model: str) -> AnyArray:
        """Return one model's confusion matrix in exact integers, with true classes in rows.

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
                "items with several labels have no single confusion matrix; reduce to one label "
                "against the rest with binarize(label)"
            )
        return self._alone(model).confusion(n_labels=n_codes(self))

    def margins(self, model: str) -> ClassCounts:
        """Return hits, true counts and predicted counts of every class for one model.

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
        """Return the numbers of items that both, only A, only B and neither got right.

        Parameters
        ----------
        truth
            Code of the true class to count; None counts all classes.
        """
        if not self.paired or len(self.models) != 2:
            raise UsageError("agreement needs paired outcomes of exactly two models; use select()")
        return self.tables[0].agreement(truth)

    # Derived outcomes

    def at_prevalence(
        self, shares: PrevalenceLike | None, *, pos_label: Label | None = None
    ) -> Outcomes:
        """Return the same counts for analysis at other class proportions.

        The counts within each class are unchanged, and the share of each class is replaced. Every
        function that takes outcomes uses these proportions or raises an error.

        Parameters
        ----------
        shares
            Share of the positive class, a mapping from classes to shares or counts, a distribution
            such as ``scipy.stats.beta(20, 980)``, or None for the proportions of the data.
        pos_label
            Class to which a single share refers, if the classes are not 0 and 1.

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
        prevalence = Prevalence.from_param(shares, self, positive=positive)
        return replace(self, prevalence=prevalence)

    def select(self, models: Sequence[str]) -> Outcomes:
        """Keep some models and sum over the others.

        Parameters
        ----------
        models
            Names of the models, in the new order.
        """
        positions = [self._place(model) for model in models]
        if len(set(positions)) != len(positions):
            raise UsageError(f"each model can be selected only once; got {list(models)}")
        if not self.paired:
            chosen = tuple(self.tables[p] for p in positions)
            return replace(self, models=tuple(models), tables=chosen)._looked_over()
        if positions == list(range(len(self.models))):
            return self
        if self.pool is not None:
            return self._reordered(positions)
        slices = self.slices
        if slices is not None:
            slices = slices.columns(positions, n_labels=n_codes(self))
            slices = slices.without_code(self.n_classes) if self.kind == "spans" else slices
        selected = replace(
            self, models=tuple(models), tables=(self._columns(positions),), slices=slices
        )
        if self.kind == "label_sets":
            over = selected._over(self.labels, self.sets, np.arange(len(self.sets)))
            return over._looked_over()
        return selected._without(self._types() - selected._types())._looked_over()

    def _looked_over(self) -> Outcomes:
        """Return the outcomes with updated findings about undeclared missing values."""
        old = [each for each in self.findings if each.name == "looks_missing"]
        if not old:
            return self
        about = label_findings_of(self.labels, self.tables, self.models, self.sets or None)
        new = tuple(replace(each, level=old[0].level) for each in about)
        return replace(
            self, findings=tuple(each for each in self.findings if each not in old) + new
        )

    def unpair(self) -> Outcomes:
        """Discard the pairing of items: one table per model."""
        refuse_pool(self, "unpair() would discard this; omit paired")
        tables = tuple(self._alone(model) for model in self.models)
        return replace(self, tables=tables, slices=None)

    def binarize(self, label: Label) -> Outcomes:
        """Reduce to one class against the rest, with the labels False and True.

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
                "spans have no true negatives, so there is no second class; pass the type with "
                f"{param('pos_label=')}"
            )
        refuse_pool(self, "binarize() would mix them; pass the positive class instead")
        refuse_lost_prevalence(self, "binarize()")
        chosen = code_of(self, label)
        if self.kind == "label_sets":
            codes = np.array([chosen in label_set for label_set in self.sets], dtype=np.int64)
            bare = replace(self, never_true=())
            binary = replace(bare._recoded(codes, (False, True)), kind="classes", sets=())
            return replace(binary, _items=None)
        codes = np.zeros(self.n_classes, dtype=np.int64)
        codes[chosen] = 1
        meaning = {known: code == chosen for code, known in enumerate(self.labels)}
        bare = replace(self, never_true=())
        return bare._recoded(codes, (False, True))._with_items(meaning)

    def split_labels(self, separator: str) -> Outcomes:
        """Convert classes that list labels, such as ``"money|sport"``, to label sets.

        Use it for files, frames or a database in which one text column contains all labels of an
        item.

        Parameters
        ----------
        separator
            Separator between two labels. The empty text means no labels.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels(["money|sport", ""], {"m": ["sport", ""]})
        >>> seen.split_labels("|").margins("m").actual
        array([1, 1])
        """
        if self.kind != "classes":
            raise UsageError("only classes can be split into labels")
        refuse_pool(
            self,
            "almost all items have different label sets, so labelled items would represent no "
            "others; select items by one label, or label a random sample",
        )
        refuse_lost_prevalence(self, "split_labels()")
        labels, sets, codes = split_texts(self.labels, separator)
        findings = tuple(finding for finding in self.findings if finding.name not in LABEL_FINDINGS)
        moved = replace(self, kind="label_sets", findings=findings + label_findings(labels))
        named = [frozenset(labels[label] for label in sets[code]) for code in codes]
        meaning = dict(zip(self.labels, named, strict=True))
        split = moved._over(labels, sets, codes)._with_items(meaning)
        if any(finding.name == "looks_missing" for finding in self.findings):
            about = label_findings_of(labels, split.tables, split.models, split.sets)
            return replace(split, findings=split.findings + about)
        return split

    def ungroup(self) -> Outcomes:
        """Remove the groups, so every item or span is treated as independent."""
        if self.weighted:
            raise UsageError(
                "these outcomes have importance weights, which ungroup() would discard; count "
                f"again without {param('groups=')} or without sample_weight="
            )
        tables = tuple(Table(table.cells, table.counts) for table in self.tables)
        return replace(self, tables=tables)

    def slice(self, *key: object) -> Outcomes:
        """Return the outcomes of one slice.

        Parameters
        ----------
        *key
            Value of each column in ``slices.by``.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0, 1], {"m": [1, 1, 1]}, by={"day": [1, 1, 2]})
        >>> list(seen.slices), seen.slice(1).n
        ([('1',), ('2',)], 2)
        """
        if self.slices is None:
            raise UsageError(f"these outcomes have no slices; define them with {param('by=')}")
        table = self.slices.at(self.slices.index_of(*key))
        own = replace(self, tables=(table,), slices=None, _repeated=(), sources=(), _items=None)
        if self.kind == "label_sets":
            own = own._over(self.labels, self.sets, np.arange(len(self.sets)))
        return own._looked_over()

    def with_labels(self, labels: Sequence[Label]) -> Outcomes:
        """Add classes that never occurred, without changing the counts.

        Parameters
        ----------
        labels
            Classes to add to the existing ones.
        """
        wanted = sort_labels(set(self.labels) | set(check_labels(labels, like=set(self.labels))))
        return self if wanted == self.labels else self._relabel(wanted)

    def with_never_true(self, labels: Sequence[Label]) -> Outcomes:
        """Declare classes that are predicted but never true by design, such as a refusal.

        Predictions of a class that is never true may be misspelled labels, so a gate that depends
        on them is undecided unless the class is declared. They count as errors either way.

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
        checked = check_labels(labels, like=set(self.labels), name="never_true")
        return replace(self, never_true=tuple(dict.fromkeys((*self.never_true, *checked))))

    def in_pool(self, pool: Outcomes) -> Outcomes:
        """Mark the items as selected from a pool based on both models' predictions.

        Use it in place of :meth:`from_pool` for outcomes that were read from files, frames or
        databases.

        Parameters
        ----------
        pool
            All items of the pool, labelled or not, with the first model's predictions as the truth
            and the second model's as the only model.

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
        """Return the outcomes with items whose codes have other labels."""
        return replace(self, _items=self._items and self._items.renamed(meaning))

    def _relabel(self, labels: tuple[Label, ...]) -> Outcomes:
        code_by_label = {label: code for code, label in enumerate(labels)}
        kept = [code_by_label.get(label, -1) for label in self.labels]  # -1 if it never occurs
        if self.kind == "label_sets":
            return self._over(labels, *move_sets(self.sets, kept))
        codes = np.array(kept + [len(labels)] * (self.kind == "spans"), dtype=np.int64)
        return self._recoded(codes, labels)

    def _over(self, labels: tuple[Label, ...], sets: Sets, codes: IntArray) -> Outcomes:
        """Recode every label set, and drop sets that do not occur."""
        moved = self._recoded(codes, labels, n_codes=len(sets))
        tables, kept, slices = prune_sets(moved.tables, sets, moved.slices)
        return replace(moved, tables=tables, sets=kept, slices=slices)

    def _recoded(
        self, codes: IntArray, labels: tuple[Label, ...], *, n_codes: int | None = None
    ) -> Outcomes:
        n_codes = len(labels) + (self.kind == "spans") if n_codes is None else n_codes
        tables = tuple(table.recode(codes, n_labels=n_codes) for table in self.tables)
        slices = None if self.slices is None else self.slices.recode(codes, n_labels=n_codes)
        pool = None if self.pool is None else self.pool.recode(codes, n_labels=n_codes)
        return replace(self, labels=labels, tables=tables, slices=slices, pool=pool)

    def _reordered(self, positions: list[int]) -> Outcomes:
        """Reorder the models of a pool; without a judge, none can be dropped."""
        assert self.pool is not None
        if len(positions) != len(self.models) and not isinstance(self.pool, Judged):
            refuse_pool(
                self,
                "one model is not enough; for a single model, compare both and use c.a or "
                "c.b of the result",
            )
        pool = self.pool.columns(positions, n_labels=n_codes(self))
        models = tuple(self.models[position] for position in positions)
        return replace(self, models=models, tables=(self._columns(positions),), pool=pool)

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise UsageError(unknown_name("model", model, self.models))
        return self.models.index(model)

    def _alone(self, model: str) -> Table:
        return self._tables_alone[self._place(model)]

    @cached_property
    def _tables_alone(self) -> tuple[Table, ...]:
        """Separate table of each model, computed only once."""
        if not self.paired:
            return self.tables
        return tuple(self._columns([position]) for position in range(len(self.models)))

    def _columns(self, positions: Sequence[int]) -> Table:
        table = self.tables[0].columns(positions, n_labels=n_codes(self))
        if self.kind != "spans":
            return table
        # Spurious spans of the dropped models are no longer spans.
        return table.without((table.cells == self.n_classes).all(axis=1))

    def _types(self) -> set[int]:
        """Return the codes of the types of spans that occur."""
        if self.kind != "spans":
            return set()
        types = {int(code) for table in self.tables for code in np.unique(table.cells)}
        return types - {self.n_classes}

    def _without(self, types: set[int]) -> Outcomes:
        """Drop types that no longer occur, because an average over types must not include them."""
        kept = tuple(label for code, label in enumerate(self.labels) if code not in types)
        return self._relabel(kept) if types and kept else self

    # Serialization

    def to_dict(self) -> Json:
        """Return the table as JSON-compatible values, with its sources and a checksum."""
        return signed(_unsigned(self))

    def to_json(self) -> str:
        """Return the table as JSON text with a checksum; equal outcomes give equal text.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_labels([1, 0], {"m": [1, 1]})
        >>> op.Outcomes.from_json(seen.to_json()) == seen
        True
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __eq__(self, other: object) -> bool:
        # The text form distinguishes the labels True and 1, which are equal but are written
        # differently.
        if not isinstance(other, Outcomes) or self.prevalence != other.prevalence:
            return False
        return self._text() == other._text()

    def _text(self) -> str:
        """Return the counts and labels, without their sources."""
        findings = tuple(finding for finding in self.findings if finding.name not in DOUBLED)
        return json.dumps(content(replace(self, findings=findings)))

    def __hash__(self) -> int:
        return hash((self.models, self.labels, self.n))

    def __repr__(self) -> str:
        return describe(self)


def true_codes(outcomes: Outcomes) -> IntArray:
    """Return the codes of the classes, types or labels that are ever true."""
    return occurring(outcomes, [table.cells[:, 0] for table in outcomes.tables])


def occurring(outcomes: Outcomes, columns: Sequence[IntArray]) -> IntArray:
    """Return the codes of the classes, types or labels in some columns of cells."""
    codes = np.unique(np.concatenate(columns))
    if outcomes.kind == "label_sets":
        labels = {label for code in codes.tolist() for label in outcomes.sets[code]}
        return np.array(sorted(labels), dtype=np.int64)
    return codes[codes < outcomes.n_classes]  # the code after the last means "no span"


def refuse_true(outcomes: Outcomes) -> None:
    """Check that classes declared as never true do not occur as true classes."""
    if outcomes.kind == "correct":
        return
    true = {outcomes.labels[code] for code in true_codes(outcomes).tolist()}
    wrong = [label for label in outcomes.never_true if label in true]
    if wrong:
        raise DataError(
            f"{param('never_true')} contains {wrong[0]!r}, which is the true class of some items; "
            "remove it"
        )


def n_codes(outcomes: Outcomes) -> int:
    """Return the number of codes in the cells: the classes and, for spans, "no span" after them.

    For label sets, it is the number of sets that occur.
    """
    if outcomes.kind == "label_sets":
        return len(outcomes.sets)
    return len(outcomes.labels) + (outcomes.kind == "spans")


def sharing_sets(first: Outcomes, second: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Recode outcomes to the same labels and the same label sets."""
    if first.kind != "label_sets" or first.sets == second.sets:
        return first, second
    _, sets, codes = join_sets([(each.labels, each.sets) for each in (first, second)])
    left, right = (
        replace(each._recoded(own, each.labels, n_codes=len(sets)), sets=sets)
        for each, own in zip((first, second), codes, strict=True)
    )
    return left, right


def refuse_pool(outcomes: Outcomes, why: str) -> None:
    """Raise an error for an operation that items selected from a pool do not support."""
    if outcomes.pool is not None:
        raise UsageError(f"these items {outcomes.pool.CHOSEN}; {why}")


def refuse_proportions(outcomes: Outcomes) -> None:
    """Reject other class proportions if there are no classes."""
    why = {
        "spans": "spans have no true negatives, so their classes have no proportions",
        "correct": "these outcomes record only correctness, not the classes",
    }
    if outcomes.kind != "classes":
        reason = why.get(outcomes.kind, "these outcomes have no classes")
        raise UsageError(f"{reason}; remove prevalence")


def refuse_lost_prevalence(outcomes: Outcomes, method: str) -> None:
    """Reject operations that would lose the class proportions of the outcomes."""
    if outcomes.prevalence is not None:
        raise UsageError(
            f"{method} would lose the class proportions of these outcomes; call it before "
            "at_prevalence(), or on at_prevalence(None)"
        )


def choose_from_pool(outcomes: Outcomes, pool: Outcomes) -> Outcomes:
    """Mark items as selected from a pool based on both models' predictions."""
    _refuse_pool_of(outcomes, pool)
    refuse_lost_prevalence(outcomes, "in_pool()")
    known = set(outcomes.labels)
    wanted = sort_labels(known | set(check_labels(pool.labels, like=known)))
    left, right = outcomes._relabel(wanted), pool._relabel(wanted)
    chosen = Pool(cells=right.tables[0].cells, counts=right.tables[0].counts)
    chosen.check(left.tables[0], n_labels=len(wanted))
    findings = tuple(dict.fromkeys((*left.findings, *right.findings)))
    return replace(left, pool=chosen, findings=findings, _repeated=())


def _refuse_pool_of(outcomes: Outcomes, pool: Outcomes) -> None:
    refuse_pool(outcomes, "they already have one")
    plain = all(
        part.kind == "classes" and part.groups is None and part.slices is None and part.paired
        for part in (outcomes, pool)
    )
    if not plain or len(outcomes.models) != 2:
        raise UsageError(
            "a pool needs paired outcomes of two models, with classes, without groups, weights "
            "or slices"
        )
    a, b = outcomes.models
    if pool.models != (b,):
        raise UsageError(
            f"the pool must have the predictions of {a!r} as truth and {b!r} as its only model, "
            f"e.g. {param('truth=', a)}, {param('models=', [b])}; got {list(pool.models)}"
        )


def describe(outcomes: Outcomes) -> str:
    """Describe outcomes in one line."""
    kind = "" if outcomes.kind == "classes" else f", kind={outcomes.kind!r}"
    if outcomes.slices is not None:
        kind += f", slices={len(outcomes.slices)}"
    if outcomes.weighted:
        kind += ", weighted=True"
    alone = outcomes.weighted and outcomes.groups is not None and outcomes.groups.n == outcomes.n
    if outcomes.kind != "spans" and outcomes.groups is not None and not alone:
        kind += f", groups={outcomes.groups.n}"
    if outcomes.pool is not None:
        kind += f", pool={outcomes.pool.n}"
    if outcomes.prevalence is not None:
        kind += f", at prevalence {outcomes.prevalence}"
    few = outcomes.n_classes <= 6
    labels: object = outcomes.labels if few else f"<{outcomes.n_classes} classes>"
    return (
        f"Outcomes(n={outcomes.n}, models={outcomes.models}, labels={labels}, "
        f"paired={outcomes.paired}, cells={outcomes.cells}{kind})"
    )


def origins(outcomes: Outcomes) -> tuple[Source, ...]:
    """Return the sources of outcomes; if unknown, one source without a name."""
    return outcomes.sources or (source_of(outcomes),)


def source_of(outcomes: Outcomes, name: str = "") -> Source:
    """Return outcomes as one source.

    Examples
    --------
    >>> import outperform as op
    >>> one = op.Outcomes.from_labels([1, 0], {"a": [1, 1], "b": [0, 0]})
    >>> two = op.Outcomes.from_labels([0, 1], {"b": [0, 0], "a": [1, 1]})
    >>> source_of(one) == source_of(two)
    True
    """
    ordered = replace(outcomes, slices=None).select(sorted(outcomes.models))
    tables = ordered.tables
    used = np.unique(np.concatenate([table.cells.ravel() for table in tables]))
    names = [_label(ordered, code) for code in used.tolist()]
    digest = hashlib.sha256(json.dumps([ordered.kind, ordered.models, names]).encode("ascii"))
    for table in tables:
        cells = np.searchsorted(used, table.cells).astype("<i8")
        digest.update(f"\n{cells.shape}\n".encode("ascii"))
        digest.update(cells.tobytes())
        digest.update(json.dumps(table.counts.tolist()).encode("ascii"))
    telling = max(log_chance(table.counts) for table in tables) < math.log(CHANCE)
    return Source(name, outcomes.n, digest.hexdigest(), telling)


def _label(outcomes: Outcomes, code: int) -> Any:
    if outcomes.kind == "label_sets":
        return [outcomes.labels[label] for label in outcomes.sets[code]]
    return outcomes.labels[code] if code < len(outcomes.labels) else None  # None: no span


def refuse_unlike(outcomes: Outcomes, other: Outcomes) -> None:
    """Raise an error with advice if two outcomes are not of the same kind."""
    if set(outcomes.models) != set(other.models):
        raise UsageError(
            f"outcomes of different models cannot be added: {outcomes.models}, {other.models}"
        )
    if outcomes.paired != other.paired:
        raise UsageError("paired and unpaired outcomes cannot be added; call unpair() first")
    if outcomes.kind != other.kind:
        raise UsageError(
            f"outcomes of the kinds {outcomes.kind!r} and {other.kind!r} cannot be added"
        )
    if outcomes.weighted != other.weighted:
        raise UsageError(
            "outcomes with and without importance weights cannot be added; count the latter with "
            "sample_weight=[1, 1, …]"
        )
    if (outcomes.groups is None) != (other.groups is None):
        raise UsageError(
            "outcomes with and without groups cannot be added; call ungroup() on the former"
        )
    if (outcomes.slices is None) != (other.slices is None):
        raise UsageError(
            "outcomes with and without slices cannot be added; use slices for both or neither"
        )
    if outcomes.prevalence != other.prevalence:
        proportions = [
            outcomes.prevalence or "those of the data",
            other.prevalence or "those of the data",
        ]
        raise UsageError(
            f"outcomes at different class proportions cannot be added: {proportions[0]}, and "
            f"{proportions[1]}; call at_prevalence(None) on both, add them, and call "
            "at_prevalence() on the sum"
        )
    if (outcomes.pool is None) != (other.pool is None):
        raise UsageError(
            "items selected from a pool by their predictions cannot be added to others; pass "
            "both to Outcomes.from_pool as one pool, if all of it was available for selection"
        )
    if outcomes.pool is not None and _same_pool(outcomes, other):
        raise UsageError(
            "both outcomes have the same pool, which would count twice; if more of it was "
            "labelled later, pass all labels to Outcomes.from_pool at once"
        )


def _same_pool(outcomes: Outcomes, other: Outcomes) -> bool:
    other = other.select(outcomes.models)
    return outcomes.labels == other.labels and (
        outcomes.pool is not None
        and other.pool is not None
        and to_json(outcomes.pool) == to_json(other.pool)
    )


def add(first: Outcomes, second: Outcomes) -> Outcomes:
    """Add the counts of two outcomes, or raise an error with the reason."""
    refuse_unlike(first, second)
    labels = sort_labels(
        set(first.labels) | set(check_labels(second.labels, like=set(first.labels)))
    )
    left, right = first._relabel(labels), second.select(first.models)._relabel(labels)
    left, right = sharing_sets(left, right)
    tables = tuple(
        mine.plus(theirs, n_labels=n_codes(left))
        for mine, theirs in zip(left.tables, right.tables, strict=True)
    )
    sources = origins(first) + origins(second)
    # Similar labels may come from different shards, so they are checked again.
    again = (*LABEL_FINDINGS, TWINS)
    kept = [each for each in first.findings + second.findings if each.name not in again]
    known = {each.name for each in first.findings + second.findings}
    about = label_findings(labels, empty_is_label="empty_label" not in known)
    if "looks_missing" in known:
        about += label_findings_of(labels, tables, left.models, left.sets or None)
    findings = (*dict.fromkeys(kept), *about, *twin_findings(sources))
    slices = None
    if left.slices is not None and right.slices is not None:
        slices = left.slices.plus(right.slices, n_labels=n_codes(left))
    pool = None
    if left.pool is not None and right.pool is not None:
        pool = left.pool.plus(right.pool, n_labels=n_codes(left))
    return replace(
        left,
        labels=labels,
        tables=tables,
        findings=findings,
        slices=slices,
        pool=pool,
        _repeated=(),
        sources=sources,
        _items=None
        if first._items is None or second._items is None
        else first._items.plus(second._items),
        never_true=tuple(dict.fromkeys(first.never_true + second.never_true)),
    )


def _stored(outcomes: Outcomes) -> serialization.StoredOutcomes:
    return serialization.StoredOutcomes(
        kind=outcomes.kind,
        models=outcomes.models,
        labels=outcomes.labels,
        # Effective counts are included for comparisons of equality; they cannot be read back.
        tables=outcomes.tables,
        findings=tuple(
            (finding.name, finding.level, finding.message) for finding in outcomes.findings
        ),
        sets=outcomes.sets if outcomes.kind == "label_sets" else None,
        pool=outcomes.pool,
        slices=outcomes.slices,
        sources=outcomes.sources,
        prevalence=outcomes.prevalence,
        never_true=outcomes.never_true or None,
    )


def content(outcomes: Outcomes) -> Json:
    """Return the counts and labels as JSON-compatible values, without their sources."""
    return to_json(_stored(outcomes), serialization.CONTENT)


def to_short_json(outcomes: Outcomes) -> tuple[str, str]:
    """Return outcomes as JSON without spaces, and their checksum."""
    return signed_text(_unsigned(outcomes))


def _unsigned(outcomes: Outcomes) -> Json:
    groups = [table.groups for table in outcomes.tables if table.groups is not None]
    if any((each.times < 0).any() for each in groups):
        raise UsageError(
            "outcomes with a latent truth cannot be stored; store the annotators' labels"
        )
    if outcomes.prevalence is not None and outcomes.prevalence.distribution is not None:
        raise UsageError(
            "class proportions given as a distribution cannot be written; write the outcomes "
            "at_prevalence(None), and call at_prevalence() again after reading them"
        )
    sources = sorted(origins(outcomes), key=lambda source: (source.name, source.sha256))
    return to_json(_stored(outcomes)._replace(sources=tuple(sources)), serialization.UNSIGNED)
