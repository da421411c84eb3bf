"""Items that were all rated by a judge and partly labelled by people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypedDict

import numpy as np

from outperform._json import written
from outperform._missing import is_missing, unmasked
from outperform._rows import count_rows, distinct_rows, place_rows, sum_by
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray, IntRows, Label
from outperform.data.checks import check_labels, named, same_length
from outperform.data.drawn import (
    Chances,
    Drawn,
    DrawnLike,
    column_of,
    count_chances,
    name_of,
    read_chances,
)
from outperform.data.labels import (
    Column,
    align,
    label_findings,
    read_column,
    read_right,
    sort_labels,
    unify,
)
from outperform.data.missing import label_findings_of
from outperform.data.pool import Pool
from outperform.data.table import Table, as_counts, total
from outperform.errors import DataError, UsageError, param

MOST_MODELS = 3
"""With more models than this, there are too many joint verdicts for human labels to cover."""


@written(
    "cells=strata counts people=both{cells counts} drawn? chances?{cells counts "
    "probabilities=chance expected?}"
)
@dataclass(frozen=True, eq=False, kw_only=True)
class Judged(Pool):
    """Counts of all items as rated by a judge, and of some items as labelled by people.

    A stratum is a cell of the judge's table: its verdict on every model, or its choice of the true
    class together with every model's prediction. The selection of human-labelled items must not
    depend on anything else unless each item's probability is known.

    Parameters
    ----------
    cells
        Judge's cells, ``(n_strata, n_models)``: the verdict on each model or, for classes, each
        model's prediction.
    counts
        Number of items of the pool in each stratum, including labelled ones.
    truth
        Judge's class for each stratum; always 1 for verdicts.
    both
        Labelled items: the judge's cell, then the human cell.
    drawn
        How the labelled items were drawn, if declared.
    chances
        Labelled items by their probability of being drawn, if known.
    """

    truth: IntArray
    both: Table
    drawn: Drawn | None = None
    chances: Chances | None = None
    CHOSEN: ClassVar[str] = "were rated by a judge, and people labelled only some of them"

    @property
    def strata(self) -> IntRows:
        """The judge's cells, ``(n_strata, 1 + n_models)``."""
        return np.column_stack([self.truth, self.cells])

    @cached_property
    def stratum(self) -> IntArray:
        """The stratum of every row of ``both``."""
        return place_rows(self.both.cells[:, : 1 + self.cells.shape[1]].T, self.strata)

    @property
    def human(self) -> IntArray:
        """The people's cell of every row of ``both``."""
        cells: IntArray = self.both.cells[:, 1 + self.cells.shape[1] :]
        return cells

    @property
    def apart(self) -> BoolArray:
        """Mask of the strata in which the judge rates the models differently."""
        differ: BoolArray = (self.cells != self.cells[:, :1]).any(axis=1)
        return differ

    def same(self, first: int, second: int) -> bool:
        """Return whether the judge and the people rate the two models the same."""
        human = self.human
        return super().same(first, second) and np.array_equal(
            human[:, 1 + first], human[:, 1 + second]
        )

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Judged:
        """Keep some models in this order, and merge strata that differ only in other models."""
        positions = [0, *(1 + model for model in kept)]
        width = 1 + self.cells.shape[1]
        return self._moved(
            self.strata[:, positions],
            lambda cells: cells[:, [*positions, *(width + p for p in positions)]],
            n_labels=n_labels,
        )

    def recode(self, codes: IntArray, *, n_labels: int) -> Judged:
        """Give every label a new code."""
        return self._moved(codes[self.strata], lambda cells: codes[cells], n_labels=n_labels)

    def _moved(
        self, ratings: IntArray, move: Callable[[IntArray], IntArray], *, n_labels: int
    ) -> Judged:
        """Return the counts with other cells; merged strata keep their own probabilities."""
        drawn, chances = self.drawn, self.chances
        if drawn == "by_ratings" and len(distinct_rows(ratings).first) < len(ratings):
            drawn, chances = "probabilities", self._chances()
        if chances is not None:
            chances = chances._replace(cells=move(chances.cells))
        return _judged(
            list(ratings.T),
            list(move(self.both.cells).T),
            self.counts,
            self.both.counts,
            n_labels=n_labels,
            drawn=drawn,
            chances=chances,
        )

    def plus(self, other: Pool, *, n_labels: int) -> Judged:
        """Combine two judged sets of items with the same models and codes."""
        if not isinstance(other, Judged):
            raise UsageError("items with a judge and items without one cannot be added")
        drawn, chances = _drawn_together(self, other)
        ratings = np.concatenate([self.strata, other.strata])
        counts = np.concatenate([self.counts.astype(object), other.counts.astype(object)])
        both = self.both.plus(other.both, n_labels=n_labels)
        return _judged(
            list(ratings.T),
            list(both.cells.T),
            as_counts(counts),
            both.counts,
            n_labels=n_labels,
            drawn=drawn,
            chances=chances,
        )

    def emptied(self) -> Judged:
        """Return the counts without the human labels."""
        return replace(self, both=self.both.emptied(), drawn=None, chances=None)

    def labelled(self, table: Table, *, n_labels: int) -> FloatArray:
        """Return the number of labelled items of each stratum by human class."""
        del table  # the pool's table does not include the judge
        counts = np.zeros((len(self.cells), n_labels))
        np.add.at(counts, (self.stratum, self.human[:, 0]), self.both.counts.astype(np.float64))
        return counts

    def _chances(self) -> Chances:
        """Return the probabilities: one for all items of a random sample, else one per stratum."""
        if self.chances is not None:
            return self.chances
        sizes = self.counts.astype(np.float64)
        share = self.n_labelled / sizes
        if self.drawn == "random":
            share = np.full(len(sizes), n_labelled(self) / self.n)
        return Chances(self.both.cells, self.both.counts, share[self.stratum], sizes * share)

    @property
    def n_labelled(self) -> FloatArray:
        """Number of human-labelled items in each stratum."""
        return sum_by(self.stratum, self.both.counts.astype(np.float64), size=len(self.cells))

    @property
    def _worth(self) -> FloatArray:
        """Number of items that the rows of ``both`` represent.

        Rows represent their entire stratum as well as unlabelled strata with the same pattern.
        """
        sizes, known = self.counts.astype(np.float64), self.n_labelled > 0
        pattern = agreement_patterns(self.strata)
        whole, with_labels = np.bincount(pattern, sizes), np.bincount(pattern, sizes * known)
        more = np.divide(whole, with_labels, out=np.ones_like(whole), where=with_labels > 0)[
            pattern
        ]
        rows, labelled = self.both.counts.astype(np.float64), self.n_labelled
        if self.chances is not None:
            weights = self.chances.counts.astype(np.float64) * self.chances.weights
            index = place_rows(self.chances.cells.T, self.both.cells)
            rows = sum_by(index, weights, size=len(self.both.cells))
            labelled = sum_by(self.stratum, rows, size=len(sizes))
        share = np.divide(sizes * more, labelled, out=np.zeros_like(sizes), where=labelled > 0)
        worth: FloatArray = rows * share[self.stratum]
        return worth

    def weigh(self, table: Table, *, n_labels: int) -> Table:
        """Weight the labelled items to represent their entire stratum."""
        del table
        return Table(*count_rows(list(self.human.T), n_labels=n_labels, weights=self._worth))

    def sums(self, table: Table, values: FloatArray) -> FloatArray:
        """Sum a value of every human-labelled cell over the items of each stratum."""
        worth = self._worth * values[place_rows(self.human.T, table.cells)]
        return sum_by(self.stratum, worth, size=len(self.cells))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], table: Table, *, n_labels: int) -> Judged:
        """Restore the output of :meth:`to_dict` from checked arrays of cells and counts."""
        ratings: IntArray = data["cells"]
        both: IntArray = data["people"]["cells"]
        width = table.cells.shape[1]
        counts, people = as_counts(data["counts"]), as_counts(data["people"]["counts"])
        if not len(both):
            both = both.reshape(0, 2 * width)
        if ratings.shape != (len(counts), width) or both.shape != (len(people), 2 * width):
            raise DataError(
                "every cell of the judge and of the human labels needs a count and codes"
            )
        if any(
            part.size and (part.min() < 0 or part.max() >= n_labels) for part in (ratings, both)
        ):
            raise DataError("a cell of the judge names a class that is not in labels")
        judged = _judged(
            list(ratings.T),
            list(both.T),
            counts,
            people,
            n_labels=n_labels,
            drawn=data.get("drawn"),
            chances=_stored_chances(data, width=width, n_labels=n_labels),
        )
        if len(judged.cells) != len(ratings) or len(judged.both.cells) != len(both):
            raise DataError("a cell of the judge occurs twice, or its count is zero")
        judged.check(table, n_labels=n_labels)
        return judged

    def check(self, table: Table, *, n_labels: int) -> None:
        """Check that the human labels are possible for these items."""
        try:
            over = self.n_labelled > self.counts.astype(np.float64)
        except KeyError as error:
            raise DataError("people labelled an item that the judge did not rate") from error
        cells, counts = count_rows(
            list(self.human.T), n_labels=n_labels, weights=as_counts(self.both.counts)
        )
        same = np.array_equal(cells, table.cells) and np.array_equal(counts, table.counts)
        if over.any() or not same:
            raise DataError("the table does not match the human labels of the judged items")
        if self.chances is not None:
            columns = list(self.chances.cells.T)
            cells, counts = count_rows(columns, n_labels=n_labels, weights=self.chances.counts)
            same = np.array_equal(cells, self.both.cells)
            if not same or not np.array_equal(counts, self.both.counts):
                raise DataError("the probabilities do not match the human labels")


def _stored_chances(data: Mapping[str, Any], *, width: int, n_labels: int) -> Chances | None:
    """Return the stored probabilities after checking them; None if there are none."""
    kept, declared = data.get("chances"), data.get("drawn")
    if (kept is not None) != (declared == "probabilities"):
        raise DataError(f"drawn is {declared!r}, which does not fit the probabilities")
    if kept is None:
        return None
    cells: IntArray = kept["cells"]
    chance: FloatArray = kept["probabilities"]
    counts, expected = as_counts(kept["counts"]), kept.get("expected")
    if cells.shape != (len(counts), 2 * width) or len(chance) != len(counts):
        raise DataError("every row of the probabilities needs a cell, a count and a probability")
    if cells.size and (cells.min() < 0 or cells.max() >= n_labels):
        raise DataError("a cell of the probabilities names a class that is not in labels")
    if (chance > 1).any():
        raise DataError("a probability of being labelled is above 1")
    if expected is not None and len(expected) != len(data["counts"]):
        raise DataError("every stratum needs its expected number of labels")
    return Chances(cells, counts, chance, expected)


def _drawn_together(first: Judged, second: Judged) -> tuple[Drawn | None, Chances | None]:
    """Return how the items of two judged sets were drawn if both declare the same."""
    if first.drawn != second.drawn:
        raise UsageError(
            "the human-labelled items of the two sets were drawn in different ways, "
            f"{first.drawn!r} and {second.drawn!r}; declare the same for both, or pass the "
            f"probabilities of both as {param('drawn=')}"
        )
    parts = [pool._chances() for pool in (first, second)]
    same = first.drawn == "random" and n_labelled(first) * second.n == n_labelled(second) * first.n
    if first.drawn in (None, "by_ratings") or same:
        return first.drawn, None
    expected = [part.expected for part in parts if part.expected is not None]
    return "probabilities", Chances(
        np.concatenate([part.cells for part in parts]),
        as_counts(np.concatenate([part.counts.astype(object) for part in parts])),
        np.concatenate([part.chance for part in parts]),
        np.concatenate(expected) if len(expected) == len(parts) else None,
    )


def _judged(
    ratings: Sequence[IntArray],
    both: Sequence[IntArray],
    counts: AnyArray,
    people: AnyArray,
    *,
    n_labels: int,
    drawn: Drawn | None,
    chances: Chances | None,
) -> Judged:
    """Count equal cells; ``chances`` matches the rows of ``both`` and the strata of ``said``."""
    strata, sizes = count_rows(ratings, n_labels=n_labels, weights=counts)
    if chances is not None:
        expected = chances.expected
        if expected is not None:
            index = place_rows(ratings, strata)
            expected = sum_by(index, expected, size=len(strata))
        chances = Chances(
            *count_chances(
                list(chances.cells.T), chances.counts, chances.chance, n_labels=n_labels
            ),
            expected,
        )
    return Judged(
        cells=strata[:, 1:].copy(),
        truth=strata[:, 0].copy(),
        counts=sizes,
        both=Table(*count_rows(both, n_labels=n_labels, weights=people)),
        drawn=drawn,
        chances=chances,
    )


def agreement_patterns(ratings: IntArray) -> IntArray:
    """Return a code for each pattern of agreement, regardless of class.

    Parameters
    ----------
    said
        Class given by the judge and by each model in each stratum, ``(n_strata, 1 + n_models)``.

    Examples
    --------
    >>> agreement_patterns(np.array([[3, 3, 3], [3, 3, 5], [4, 4, 1], [4, 1, 4]])).tolist()
    [0, 1, 1, 2]
    """
    # Each column gets the index of the first equal column: (0, 0, 2) if only B differs.
    firsts = (ratings[:, :, None] == ratings[:, None, :]).argmax(axis=2)
    return distinct_rows(firsts).code


def of_judged(
    judged: object,
    *,
    human: object,
    judge: object,
    labels: Sequence[Label] | None,
    drawn: DrawnLike | None,
) -> dict[str, Any]:
    """Count a judge's verdicts on all items and people's verdicts on some."""
    name_of(drawn)  # rejects unknown names before anything is read
    if judge is None:
        if labels is not None:
            raise UsageError("verdicts (right or wrong) have no classes; remove labels")
        return _of_verdicts(judged, human, drawn)
    return _of_classes(judged, human, judge, labels, drawn)


def _of_verdicts(judged: object, human: object, drawn: DrawnLike | None) -> dict[str, object]:
    """Count verdicts, right or wrong, by the judge and by people."""
    verdicts: Mapping[str, object] = named(judged)
    if not isinstance(human, Mapping) and not hasattr(human, "columns"):
        raise UsageError(
            "human must be a mapping from model names to right/wrong labels, NaN for unlabelled "
            f"items; for classes, pass {param('judge=')}, the true class according to the judge"
        )
    people: Mapping[str, object] = named(human)
    if set(people) != set(verdicts):
        raise UsageError(
            f"judged and human must have the same models; got {list(verdicts)} and {list(people)}. "
            f"Pass {param('human')} with a column for each of {list(verdicts)}"
        )
    beside = {f"human[{model!r}]": people[model] for model in verdicts}
    rows = align(verdicts, what="judged", beside={**beside, "drawn": column_of(drawn)})
    columns = [_bits(values, f"judged of {model!r}") for model, values in rows.models.items()]
    same_length(columns)
    ratings = [column.codes for column in columns]
    known = []
    for name in beside:
        labels, positions = _labelled(rows.beside[name], len(ratings[0]), name=name)
        bits = np.full(len(ratings[0]), -1, dtype=np.int64)
        if positions.size:
            bits[positions] = _bits(labels, name).codes
        known.append(bits)
    labelled = np.stack(known) >= 0
    torn = np.flatnonzero(labelled.any(axis=0) & ~labelled.all(axis=0))
    if torn.size:
        raise DataError(
            f"{torn.size:,} items have human labels for some models only (first: row "
            f"{int(torn[0])}); label an item for every model, or use NaN for all of them"
        )
    ones = np.ones_like(ratings[0])
    fields = _counted(
        [ones, *ratings],
        [ones, *known],
        np.flatnonzero(labelled.all(axis=0)),
        n_labels=2,
        drawn=drawn if isinstance(drawn, str) else rows.beside["drawn"],
    )
    return {
        **fields,
        "models": tuple(rows.models),
        "labels": (False, True),
        "kind": "correct",
        "findings": rows.findings,
    }


def _labelled(values: object, n: int, *, name: str) -> tuple[list[object], IntArray]:
    """Return the labels that are not missing, and the indices of their items."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise DataError(f"{name} must be a sequence of labels; got {type(values).__name__}")
    labels: list[object] = np.asarray(unmasked(values), dtype=object).tolist()
    if len(labels) != n:
        raise DataError(
            f"{name} has {len(labels):,} values but the judge rated {n:,} items; pass one value "
            "per item, NaN or None for unlabelled items"
        )
    positions = [position for position, value in enumerate(labels) if not is_missing(value)]
    return [labels[position] for position in positions], np.array(positions, dtype=np.int64)


def _bits(values: object, name: str) -> Column:
    return read_right(values, name=name, hint="; for grades, use Scores.from_judged")


def _of_classes(
    predictions: object,
    human: object,
    judge: object,
    labels: Sequence[Label] | None,
    drawn: DrawnLike | None,
) -> dict[str, object]:
    """Count predictions against the judge's classes of all items and the human classes of some."""
    beside = {"human": human, "drawn": column_of(drawn)}
    rows = align(named(predictions), truth=judge, first="judge", beside=beside)
    judged_columns = [read_column(rows.truth, name="judge")]
    judged_columns += [
        read_column(predicted, name=f"predictions of {m!r}") for m, predicted in rows.models.items()
    ]
    same_length(judged_columns)
    human_labels, positions = _labelled(
        rows.beside["human"], len(judged_columns[0].codes), name="human"
    )
    columns, findings = unify([*judged_columns, read_column(human_labels, name="human")])
    known = {value for column in columns for value in column.values}
    if labels is not None:
        known |= set(check_labels(labels, like=known))
    ordered = sort_labels(known)
    code_of = {label: code for code, label in enumerate(ordered)}
    *ratings, human_codes = [
        np.array([code_of[value] for value in column.values], dtype=np.int64)[column.codes]
        for column in columns
    ]
    truth = np.full(len(ratings[0]), -1, dtype=np.int64)
    truth[positions] = human_codes
    fields = _counted(
        ratings,
        [truth, *ratings[1:]],
        positions,
        n_labels=len(ordered),
        drawn=drawn if isinstance(drawn, str) else rows.beside["drawn"],
    )
    return {
        **fields,
        "models": tuple(rows.models),
        "labels": ordered,
        "findings": (
            *(rows.findings + findings + label_findings(ordered)),
            *label_findings_of(ordered, fields["tables"], tuple(rows.models)),
        ),
    }


class _Counts(TypedDict):
    tables: tuple[Table]
    pool: Judged


def _counted(
    ratings: Sequence[IntArray],
    human: Sequence[IntArray],
    which: IntArray,
    *,
    n_labels: int,
    drawn: DrawnLike | None,
) -> _Counts:
    if not which.size:
        raise DataError(
            "there are no human labels, so the judge's errors are unknown; label some items at "
            "random"
        )
    people = [column[which] for column in human]
    both = [*(column[which] for column in ratings), *people]
    ones = np.ones(len(ratings[0]), dtype=np.int64)
    declared: Drawn | None = name_of(drawn)
    chances = None
    if drawn is not None and declared is None:
        labelled = np.zeros(len(ones), dtype=bool)
        labelled[which] = True
        chance = read_chances(drawn, labelled)
        declared = "probabilities"
        expected = None if np.isnan(chance).any() else chance
        chances = Chances(np.column_stack(both), ones[: len(which)], chance[which], expected)
    pool = _judged(
        ratings, both, ones, ones[: len(which)], n_labels=n_labels, drawn=declared, chances=chances
    )
    return {"tables": (Table(*count_rows(people, n_labels=n_labels)),), "pool": pool}


def refuse_many(pool: Judged) -> None:
    """Check that there are not too many joint verdicts on the models for human labels to cover."""
    n_models = pool.cells.shape[1]
    if n_models > MOST_MODELS:
        raise UsageError(
            f"a judge's verdicts can be used for up to {MOST_MODELS} models at once, but there "
            f"are {n_models}; keep some with select(), or compare two at a time"
        )


def n_labelled(pool: Judged) -> int:
    """Return the number of human-labelled items."""
    return total(pool.both.counts)
