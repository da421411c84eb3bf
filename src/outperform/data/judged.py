"""Items that a judge looked at, all of them, and people at some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from outperform._missing import is_missing, unmasked
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
from outperform.data.labels import Column, align, label_findings, read_column, sort_labels, unify
from outperform.data.missing import label_findings_of
from outperform.data.pool import Pool
from outperform.data.table import Table, as_counts, count_rows, place_rows, total
from outperform.data.views import check_labels, named, same_length
from outperform.errors import DataError, UsageError, param
from outperform.findings import counted

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.results.feature_schemas import PoolFacts

MOST_MODELS = 3
"""So many models have joint verdicts that some labels can stand for."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged(Pool):
    """How a judge would count all items, and how people count some of them.

    A stratum is a cell of the judge's table: its verdict on every model, or the class that it
    takes for the truth and every model's prediction. Which items people labelled must not depend
    on anything else.

    Parameters
    ----------
    cells
        By the judge: of right and wrong its verdict on each model, of classes each model's
        prediction, ``(n_strata, n_models)``.
    counts
        How many items each stratum holds, the labelled ones included.
    truth
        By the judge: the class of each stratum; of right and wrong always 1.
    both
        The labelled items: the judge's cell, then the people's.
    """

    truth: IntArray
    both: Table
    CHOSEN: ClassVar[str] = "were judged, and people labelled some of them"

    @property
    def strata(self) -> IntArray:
        """The judge's cells, ``(n_strata, 1 + n_models)``."""
        return np.column_stack([self.truth, self.cells])

    @cached_property
    def stratum(self) -> IntArray:
        """The stratum of every row of ``both``."""
        return place_rows(self.both.cells[:, : 1 + self.cells.shape[1]], self.strata)

    @property
    def human(self) -> IntArray:
        """The people's cell of every row of ``both``."""
        cells: IntArray = self.both.cells[:, 1 + self.cells.shape[1] :]
        return cells

    @property
    def apart(self) -> BoolArray:
        """In which strata the models differ by the judge."""
        found: BoolArray = (self.cells != self.cells[:, :1]).any(axis=1)
        return found

    def same(self, one: int, two: int) -> bool:
        """Return whether neither the judge nor people tell two models apart."""
        human = self.human
        return super().same(one, two) and np.array_equal(human[:, 1 + one], human[:, 1 + two])

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Judged:
        """Keep some models, in this order; strata that only others told apart become one."""
        places = [0, *(1 + place for place in kept)]
        width = 1 + self.cells.shape[1]
        both = [self.both.cells[:, place] for place in (*places, *(width + p for p in places))]
        said = list(self.strata[:, places].T)
        return _judged(said, both, self.counts, self.both.counts, n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Judged:
        """Give every label a new code."""
        said, both = list(codes[self.strata].T), list(codes[self.both.cells].T)
        return _judged(said, both, self.counts, self.both.counts, n_labels=n_labels)

    def plus(self, other: Pool, *, n_labels: int) -> Judged:
        """Put two judged sets of items with the same models and codes together."""
        if not isinstance(other, Judged):
            raise UsageError("items with and without a judge do not add up")
        said = np.concatenate([self.strata, other.strata])
        counts = np.concatenate([self.counts.astype(object), other.counts.astype(object)])
        both = self.both.plus(other.both, n_labels=n_labels)
        return _judged(
            list(said.T), list(both.cells.T), as_counts(counts), both.counts, n_labels=n_labels
        )

    def emptied(self) -> Judged:
        """Return the same before people labelled any."""
        return replace(self, both=self.both.emptied())

    def labelled(self, table: Table, *, n_labels: int) -> FloatArray:
        """Return how many labelled items of each stratum are of each class by people."""
        del table  # it does not know the judge
        counts = np.zeros((len(self.cells), n_labels))
        np.add.at(counts, (self.stratum, self.human[:, 0]), self.both.counts.astype(np.float64))
        return counts

    @property
    def n_labelled(self) -> FloatArray:
        """How many items of each stratum people labelled."""
        counts: FloatArray = np.zeros(len(self.cells))
        np.add.at(counts, self.stratum, self.both.counts.astype(np.float64))
        return counts

    @property
    def _worth(self) -> FloatArray:
        """How many items the rows of ``both`` stand for.

        Those of a stratum for all of it, and for strata of the same pattern that nobody looked at.
        """
        sizes, known = self.counts.astype(np.float64), self.n_labelled > 0
        pattern = agreement_patterns(self.strata)
        whole, seen = np.bincount(pattern, sizes), np.bincount(pattern, sizes * known)
        more = np.divide(whole, seen, out=np.ones_like(whole), where=seen > 0)[pattern]
        rows: FloatArray = self.both.counts.astype(np.float64)
        return rows * (sizes * more / np.maximum(self.n_labelled, 1.0))[self.stratum]

    def weigh(self, table: Table, *, n_labels: int) -> Table:
        """Let the labelled items of every stratum stand for all of it."""
        del table
        return Table(*count_rows(list(self.human.T), n_labels=n_labels, weights=self._worth))

    def sums(self, table: Table, values: FloatArray) -> FloatArray:
        """Add up a value of every cell that people know, over the items of each stratum."""
        found: FloatArray = np.zeros(len(self.cells))
        np.add.at(found, self.stratum, self._worth * values[place_rows(self.human, table.cells)])
        return found

    def to_dict(self) -> PoolFacts:
        """Return both tables as JSON-able values."""
        return {
            "cells": self.strata.tolist(),
            "counts": self.counts.tolist(),
            "people": {"cells": self.both.cells.tolist(), "counts": self.both.counts.tolist()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], table: Table, *, n_labels: int) -> Judged:
        """Put together what :meth:`to_dict` gave, its cells and counts as arrays, checked."""
        said: IntArray = data["cells"]
        both: IntArray = data["people"]["cells"]
        width = table.cells.shape[1]
        counts, people = as_counts(data["counts"]), as_counts(data["people"]["counts"])
        if not len(both):
            both = both.reshape(0, 2 * width)
        if said.shape != (len(counts), width) or both.shape != (len(people), 2 * width):
            raise DataError("every cell of the judge and of people needs a count and its codes")
        if any(part.size and (part.min() < 0 or part.max() >= n_labels) for part in (said, both)):
            raise DataError("a cell of the judge names a class that is not in labels")
        found = _judged(list(said.T), list(both.T), counts, people, n_labels=n_labels)
        if len(found.cells) != len(said) or len(found.both.cells) != len(both):
            raise DataError("a cell of the judge occurs twice, or its count is zero")
        found.check(table, n_labels=n_labels)
        return found

    def check(self, table: Table, *, n_labels: int) -> None:
        """Refuse what people cannot have labelled of these items."""
        try:
            over = self.n_labelled > self.counts.astype(np.float64)
        except KeyError as error:
            raise DataError("people labelled an item that the judge did not see") from error
        cells, counts = count_rows(
            list(self.human.T), n_labels=n_labels, weights=as_counts(self.both.counts)
        )
        same = np.array_equal(cells, table.cells) and np.array_equal(counts, table.counts)
        if over.any() or not same:
            raise DataError("the table does not hold what people labelled of the judged items")


def _judged(
    said: Sequence[IntArray],
    both: Sequence[IntArray],
    counts: AnyArray,
    people: AnyArray,
    *,
    n_labels: int,
) -> Judged:
    strata, sizes = count_rows(said, n_labels=n_labels, weights=counts)
    return Judged(
        cells=strata[:, 1:].copy(),
        truth=strata[:, 0].copy(),
        counts=sizes,
        both=Table(*count_rows(both, n_labels=n_labels, weights=people)),
    )


def agreement_patterns(said: IntArray) -> IntArray:
    """Return a code for who agrees with whom, whatever the class.

    Parameters
    ----------
    said
        The classes that the judge and every model give each stratum, ``(n_strata, 1 + n_models)``.

    Examples
    --------
    >>> agreement_patterns(np.array([[3, 3, 3], [3, 3, 5], [4, 4, 1], [4, 1, 4]])).tolist()
    [0, 1, 1, 2]
    """
    # Each column goes by the first that says the same: (0, 0, 2) where only B differs.
    firsts = (said[:, :, None] == said[:, None, :]).argmax(axis=2)
    codes: IntArray = np.unique(firsts, axis=0, return_inverse=True)[1].ravel()
    return codes


def of_judged(
    judged: object, *, human: object, judge: object, labels: Sequence[Label] | None
) -> dict[str, Any]:
    """Count what a judge says of all items and people of some."""
    if judge is None:
        if labels is not None:
            raise UsageError("right and wrong have no classes; leave labels out")
        return _of_verdicts(judged, human)
    return _of_classes(judged, human, judge, labels)


def _of_verdicts(judged: object, human: object) -> dict[str, object]:
    """Count verdicts, right or wrong, by the judge and by people."""
    verdicts: Mapping[str, object] = named(judged)
    if not isinstance(human, Mapping) and not hasattr(human, "columns"):
        raise UsageError(
            "human must give right or wrong of each model by name, NaN where nobody looked; for "
            f"classes give {param('judge=')}, the class that the judge takes for the truth"
        )
    people: Mapping[str, object] = named(human)
    if set(people) != set(verdicts):
        raise UsageError(
            f"judge and people must look at the same models; got {list(verdicts)} and "
            f"{list(people)}"
        )
    beside = {f"human[{model!r}]": people[model] for model in verdicts}
    rows = align(verdicts, what="judged", beside=beside)
    columns = [_bits(values, f"judged of {model!r}") for model, values in rows.models.items()]
    same_length(columns)
    said = [column.codes for column in columns]
    known = []
    for name, values in rows.beside.items():
        there, places = _there(values, len(said[0]), name=name)
        bits = np.full(len(said[0]), -1, dtype=np.int64)
        if places.size:
            bits[places] = _bits(there, name).codes
        known.append(bits)
    seen = np.stack(known) >= 0
    torn = np.flatnonzero(seen.any(axis=0) & ~seen.all(axis=0))
    if torn.size:
        raise DataError(
            f"people labelled {torn.size:,} items for some models only (the first is row "
            f"{int(torn[0])}); an item needs a label for every model, or NaN for all of them"
        )
    ones = np.ones_like(said[0])
    fields = _counted([ones, *said], [ones, *known], np.flatnonzero(seen.all(axis=0)), n_labels=2)
    return {
        **fields,
        "models": tuple(rows.models),
        "labels": (False, True),
        "kind": "correct",
        "findings": rows.findings,
    }


def _there(values: object, n: int, *, name: str) -> tuple[list[object], IntArray]:
    """Return the labels that are there, and the places of their items."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DataError(f"{name} must be a sequence of labels; got {type(values).__name__}")
    given: list[object] = np.asarray(unmasked(values), dtype=object).tolist()
    if len(given) != n:
        raise DataError(
            f"{name} has {len(given):,} values and the judge saw {n:,} items; give one for each "
            "item, NaN or None where nobody looked"
        )
    places = [place for place, value in enumerate(given) if not is_missing(value)]
    return [given[place] for place in places], np.array(places, dtype=np.int64)


def _bits(values: object, name: str) -> Column:
    column = read_column(values, name=name)
    if not set(column.values) <= {0, 1}:
        raise DataError(
            f"{name} must be true/false or 0/1 for each item; grades are for Scores.from_judged"
        )
    bits = np.array([int(value) for value in column.values], dtype=np.int64)[column.codes]
    return Column(name=name, kind="bool", values=(False, True), codes=bits)


def _of_classes(
    predictions: object, human: object, judge: object, labels: Sequence[Label] | None
) -> dict[str, object]:
    """Count predictions against the classes that the judge gives all items and people some."""
    rows = align(named(predictions), truth=judge, first="judge", beside={"human": human})
    asked = [read_column(rows.truth, name="judge")]
    asked += [read_column(one, name=f"predictions of {m!r}") for m, one in rows.models.items()]
    same_length(asked)
    there, places = _there(rows.beside["human"], len(asked[0].codes), name="human")
    columns, findings = unify([*asked, read_column(there, name="human")])
    known = {value for column in columns for value in column.values}
    if labels is not None:
        known |= set(check_labels(labels, like=known))
    ordered = sort_labels(known)
    place = {label: code for code, label in enumerate(ordered)}
    *said, told = [
        np.array([place[value] for value in column.values], dtype=np.int64)[column.codes]
        for column in columns
    ]
    truth = np.full(len(said[0]), -1, dtype=np.int64)
    truth[places] = told
    fields = _counted(said, [truth, *said[1:]], places, n_labels=len(ordered))
    return {
        **fields,
        "models": tuple(rows.models),
        "labels": ordered,
        "findings": (
            *(rows.findings + findings + label_findings(ordered)),
            *label_findings_of(ordered, fields["tables"], tuple(rows.models)),
        ),
    }


def of_items(
    seen: Outcomes, ids: Sequence[object], people: Mapping[str, Sequence[object]]
) -> dict[str, Any]:
    """Return the arguments of ``Outcomes.from_judged``, where ``seen`` is what the judge says.

    Parameters
    ----------
    seen
        Outcomes that know their items: right or wrong by the judge, or with its classes as truth.
    ids
        The items that people looked at.
    people
        What people said of them: right or wrong for each model, or one column of true classes.
    """
    items = seen._items
    if items is None or items.ids is None:
        raise UsageError(
            "what people said is matched by the items' ids, and these are not known; name their "
            f"column with {param('id=')}"
        )
    place = {str(one): number for number, one in enumerate(items.names)}
    asked = [str(one) for one in ids]
    strange = [one for one in asked if one not in place]
    if strange:
        raise DataError(
            f"people labelled {counted(len(strange), 'items')} that the judge did not see, such as "
            f"{strange[0]!r}"
        )
    twice = [one for one, times in Counter(asked).items() if times > 1]
    if twice:
        raise DataError(f"people labelled the item {twice[0]!r} twice; keep one row for each item")

    def placed(values: Sequence[object]) -> list[object]:
        found: list[object] = [None] * items.n
        for one, value in zip(asked, values, strict=True):
            found[place[one]] = value
        return found

    def said(column: int) -> list[object]:
        codes: list[int] = items.cells[items.cell, column].tolist()
        return [items.values[code] for code in codes]

    judged = {model: said(1 + items.models.index(model)) for model in seen.models}
    human = {name: placed(values) for name, values in people.items()}
    if seen.kind == "correct":
        return {"judged": judged, "human": human}
    return {"judged": judged, "human": next(iter(human.values())), "judge": said(0)}


class _Counts(TypedDict):
    tables: tuple[Table]
    pool: Judged


def _counted(
    said: Sequence[IntArray], human: Sequence[IntArray], which: IntArray, *, n_labels: int
) -> _Counts:
    if not which.size:
        raise DataError(
            "people labelled no item, so nothing is known of the judge; label some at random"
        )
    people = [one[which] for one in human]
    both = [*(one[which] for one in said), *people]
    ones = np.ones(len(said[0]), dtype=np.int64)
    return {
        "tables": (Table(*count_rows(people, n_labels=n_labels)),),
        "pool": _judged(said, both, ones, ones[: len(which)], n_labels=n_labels),
    }


def refuse_many(pool: Judged) -> None:
    """Refuse more models than labels can stand for the joint verdicts of."""
    n_models = pool.cells.shape[1]
    if n_models > MOST_MODELS:
        raise UsageError(
            f"a judge's verdicts on up to {MOST_MODELS} models can be read together, and these "
            f"are {n_models}; keep some with select(), or compare two at a time"
        )


def n_labelled(pool: Judged) -> int:
    """Return how many items people labelled."""
    return total(pool.both.counts)
