"""Checks of outcomes, and other readings of the same counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from outperform._typing import AnyArray, IntArray, Label
from outperform.data.label_sets import join_sets
from outperform.data.labels import (
    Column,
    check_label,
    frame_columns,
    is_frame,
    refuse_half_characters,
    sort_labels,
)
from outperform.data.pool import Pool
from outperform.data.table import total
from outperform.errors import DataError, UsageError, param, unknown_name

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.data.table import Part


_FEWEST = 30  # different values; fewer do no harm
_ENOUGH_ROWS = 10
_NEARLY_ALL = 0.9
_FEW_LABELS = 0.1  # of the different values, in the truth
_HARDLY_ANY = 0.05  # of the rows


def named(columns: object) -> Mapping[str, Any]:
    """Return models by name, be it a mapping or the columns of a frame; or say how to give them."""
    if is_frame(columns):
        columns = frame_columns(columns, name="the frame of models")
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError("give the models by name, e.g. {'bert': predictions}, or as a frame")
    for name in columns:
        if not isinstance(name, str):
            raise UsageError(f"model names must be text; got {name!r}")
        refuse_half_characters([name], name="models")
    return columns


def clear_positive(labels: Sequence[Label]) -> Label | None:
    """Return the positive class where it is clear, True or 1; else None.

    A file has them as text, and the same data must get the same answer.

    Examples
    --------
    >>> clear_positive([0, 1]), clear_positive(["0", "1"]), clear_positive(["no", "yes"])
    (1, '1', None)
    """
    if all(isinstance(label, bool) for label in labels):
        return True
    pairs: tuple[tuple[Label, Label], ...] = ((0, 1), ("0", "1"), ("False", "True"))
    return next((one for zero, one in pairs if set(labels) == {zero, one}), None)


def same_length(columns: Sequence[Column]) -> None:
    """Refuse columns that cannot be the same items."""
    first = columns[0]
    for column in columns[1:]:
        if len(column.codes) != len(first.codes):
            raise DataError(
                f"{first.name} has {len(first.codes)} rows and {column.name} has "
                f"{len(column.codes)}; they must be the same items in the same order"
            )
    if not len(first.codes):
        raise DataError(f"{first.name} has no rows; at least one item is needed")


def check_labels(
    labels: Sequence[Label], *, like: set[Label] | None = None, name: str = "labels"
) -> tuple[Label, ...]:
    """Return distinct labels of the type of the data, in which True is 1."""
    if isinstance(labels, (str, bytes)):
        raise UsageError(f"{param(name)} must be a list of classes; got {labels!r}")
    checked = tuple(check_label(label, name=name) for label in labels)
    if not checked or len(set(checked)) != len(checked):
        raise UsageError(f"{param(name)} must be distinct classes; got {list(labels)}")
    kinds = {type(label) for label in checked} | {type(label) for label in like or ()}
    if kinds == {bool, int}:
        as_truth = {type(label) for label in like or ()} == {bool} and set(checked) <= {0, 1}
        return tuple(bool(label) if as_truth else int(label) for label in checked)
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"{param(name)} must be of the type of the data; got a mixture of {names}")
    return checked


class Values(NamedTuple):
    """How the values of one column compare with the labels of another one."""

    n_rows: int
    n_values: int
    n_labels: int  # of the other column
    n_shared: int  # values that are labels of the other column
    n_right: int  # rows that have one of these

    @property
    def look_like_ids(self) -> bool:
        """Whether there is nearly one value a row, and hardly any is one of few labels.

        Free text that answers questions has many values too, but so has its truth.
        """
        return (
            self.n_values >= max(_FEWEST, _NEARLY_ALL * self.n_rows)
            and self.n_labels <= _FEW_LABELS * self.n_values
            and self.n_right < _HARDLY_ANY * self.n_rows
        )

    @property
    def may_be_ids(self) -> bool:
        """Whether there is nearly one value a row and the labels are much fewer."""
        many = self.n_values >= max(_FEWEST, _NEARLY_ALL * self.n_rows)
        return self.look_like_ids or (many and 2 * self.n_labels <= self.n_values)

    @property
    def hold_no_label(self) -> bool:
        """Whether no row has a label; in a few rows a model may be wrong throughout."""
        return not self.n_shared and self.n_rows >= _ENOUGH_ROWS

    def sentence(self, subject: str, other: str) -> str:
        """Say it of a column.

        Examples
        --------
        >>> Values(7532, 7532, 20, 0, 0).sentence("'id' has", "'label'")
        "'id' has 7,532 different values in 7,532 rows and none is a label of 'label'"
        """
        shared = "none is a label" if not self.n_shared else f"{self.n_shared:,} are labels"
        return (
            f"{subject} {self.n_values:,} different values in {self.n_rows:,} rows and {shared} "
            f"of {other}"
        )


def compare_values(
    values: Sequence[object], codes: IntArray, labels: Sequence[object], counts: AnyArray | None
) -> Values:
    """Compare the values of a column, whose rows stand for ``counts``, with labels."""
    known = {str(label) for label in labels if label is not None}
    shared = np.array([str(value) in known for value in values], dtype=bool)
    hits = shared[codes]
    return Values(
        n_rows=len(codes) if counts is None else total(counts),
        n_values=len({str(value) for value in values if value is not None}),
        n_labels=len(known),
        n_shared=int(shared.sum()),
        n_right=int(hits.sum()) if counts is None else total(counts[hits]),
    )


def refuse_ids(columns: Sequence[Column], counts: AnyArray | None) -> None:
    """Refuse a model's column, or a truth, that has a value of its own in nearly every row."""
    truth, *models = columns
    for column in models:
        if len(column.values) >= _FEWEST:
            found = compare_values(column.values, column.codes, truth.values, counts)
            if found.look_like_ids:
                told = found.sentence(f"{column.name} have", truth.name)
                raise DataError(
                    f"{told}. Predictions must be labels; if these are ids or free text, leave "
                    "them out or turn them into labels"
                )
    if models and len(truth.values) >= _FEWEST:
        predicted = [value for column in models for value in column.values]
        found = compare_values(truth.values, truth.codes, predicted, counts)
        if found.look_like_ids and not found.n_shared:
            raise DataError(
                f"{truth.name} has {found.n_values:,} different values in {found.n_rows:,} rows, "
                "and no model predicts any of them; true labels must be those that can be predicted"
            )


def true_codes(outcomes: Outcomes) -> IntArray:
    """Return the codes of the classes, types or labels that are ever true."""
    return _occurring(outcomes, [table.cells[:, 0] for table in outcomes.tables])


def predicted_codes(outcomes: Outcomes, place: int) -> IntArray:
    """Return the codes that a model ever predicts, also beyond what is labelled of a pool.

    Parameters
    ----------
    outcomes
        What was seen.
    place
        Which of its models.
    """
    paired = outcomes.paired
    table, column = (outcomes.tables[0], 1 + place) if paired else (outcomes.tables[place], 1)
    columns = [table.cells[:, column]]
    if outcomes.pool is not None:
        columns.append(outcomes.pool.cells[:, place])
    return _occurring(outcomes, columns)


def _occurring(outcomes: Outcomes, columns: Sequence[IntArray]) -> IntArray:
    found = np.unique(np.concatenate(columns))
    if outcomes.kind == "label_sets":
        labels = {label for code in found.tolist() for label in outcomes.sets[code]}
        return np.array(sorted(labels), dtype=np.int64)
    return found[found < outcomes.n_classes]  # what is beyond them means "no span"


def refuse_true(outcomes: Outcomes) -> None:
    """Refuse classes that were declared as never true and are true."""
    if outcomes.kind == "correct":
        return
    true = {outcomes.labels[code] for code in true_codes(outcomes).tolist()}
    wrong = [label for label in outcomes.never_true if label in true]
    if wrong:
        raise DataError(
            f"{param('never_true')} names {wrong[0]!r}, which is the true class of some items; "
            "leave it out"
        )


def code_of(data: Outcomes | Scores, label: Label) -> int:
    """Return the code of a class, or say which classes there are."""
    for code, known in enumerate(data.labels):
        if known == label:
            return code
    noun = {"spans": "type", "label_sets": "label"}.get(data.kind, "class")
    raise UsageError(unknown_name(noun, label, [str(known) for known in data.labels]))


def n_codes(outcomes: Outcomes) -> int:
    """Return the number of codes in the cells: the classes and, of spans, "no span" after them.

    Of label sets it is the number of sets that occur.
    """
    if outcomes.kind == "label_sets":
        return len(outcomes.sets)
    return len(outcomes.labels) + (outcomes.kind == "spans")


def count_of(outcomes: Outcomes, model: str, part: Part, *, positive: int | None = None) -> int:
    """Return one exact count of a model: tp, fn, fp, tn of a class, or correct and wrong.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"m": [1, 0, 0]})
    >>> count_of(seen, "m", "tp", positive=1), count_of(seen, "m", "correct")
    (1, 2)
    """
    return outcomes._alone(model).part(part, positive=positive)


def in_weights(outcomes: Outcomes) -> Outcomes:
    """Return the importance weight of every cell instead of its items, if they have any.

    Items chosen from a pool by their predictions stand for all that have the same.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"m": [1, 0, 0]}, sample_weight=[2.5, 1, 1])
    >>> seen.confusion("m").tolist(), in_weights(seen).confusion("m").tolist()
    ([[1, 0], [1, 1]], [[1.0, 0.0], [1.0, 2.5]])
    """
    if outcomes.pool is not None:
        weighed = outcomes.pool.weigh(outcomes.tables[0], n_labels=n_codes(outcomes))
        return replace(outcomes, tables=(weighed,), pool=None)
    tables = tuple(table.in_weights() for table in outcomes.tables)
    return replace(outcomes, tables=tables) if outcomes.weighted else outcomes


def scaled(outcomes: Outcomes, factor: float) -> Outcomes:
    """Return every count times what one item is worth; they are no longer whole numbers."""
    refuse_pool(outcomes, "counts that are worth more or less have no place in it")
    tables = tuple(table.scaled(factor) for table in outcomes.tables)
    return replace(outcomes, tables=tables, slices=None)


def emptied(outcomes: Outcomes) -> Outcomes:
    """Return the same models and classes before any item was seen.

    A pool is known before any of its items is labelled, so it stays.
    """
    tables = tuple(table.emptied() for table in outcomes.tables)
    pool = None if outcomes.pool is None else outcomes.pool.emptied()
    bare = replace(outcomes, findings=(), slices=None, _repeated=(), sources=(), _items=None)
    return replace(bare, tables=tables, pool=pool)


def only(outcomes: Outcomes, labels: Sequence[Label]) -> Outcomes:
    """Keep the spans of some types, as spans of one type, or some labels of label sets.

    Examples
    --------
    >>> import outperform as op
    >>> gold = [[(0, 2, "PER"), (3, 4, "LOC")]]
    >>> only(op.Outcomes.from_spans(gold, {"crf": gold}), ["LOC"]).margins("crf").hits
    array([1])
    """
    if outcomes.kind not in ("spans", "label_sets"):
        raise UsageError("only spans can be left out; use binarize(label) for classes")
    labels = check_labels(labels)
    kept = {code_of(outcomes, label) for label in labels}
    if outcomes.kind == "label_sets":
        return outcomes._relabel(tuple(outcomes.labels[code] for code in sorted(kept)))
    codes = np.ones(n_codes(outcomes), dtype=np.int64)
    codes[list(kept)] = 0
    tables = []
    for table in outcomes.tables:
        recoded = table.recode(codes, n_labels=2)
        tables.append(recoded.without((recoded.cells == 1).all(axis=1)))
    name = labels[0] if len(labels) == 1 else "span"
    return replace(outcomes, labels=(name,), tables=tuple(tables), sources=())


def matches(outcomes: Outcomes) -> Outcomes:
    """Keep only whether each model's label set is the true one: right or wrong.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_label_sets([{1, 2}, {1}], {"m": [{1, 2}, {1, 2}]})
    >>> matches(seen).margins("m").hits
    array([0, 1])
    """
    if outcomes.kind != "label_sets":
        raise UsageError("only label sets match or not; classes are right or wrong as they are")
    tables = tuple(table.matched() for table in outcomes.tables)
    return replace(outcomes, kind="correct", labels=(False, True), tables=tables, sets=())


def sharing_sets(one: Outcomes, two: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Return outcomes over the same labels with the same codes for the same label sets."""
    if one.kind != "label_sets" or one.sets == two.sets:
        return one, two
    _, sets, codes = join_sets([(each.labels, each.sets) for each in (one, two)])
    left, right = (
        replace(each._recoded(own, each.labels, n_codes=len(sets)), sets=sets)
        for each, own in zip((one, two), codes, strict=True)
    )
    return left, right


def refuse_pool(outcomes: Outcomes, why: str) -> None:
    """Say why items that were chosen from a pool cannot be seen in some way."""
    if outcomes.pool is not None:
        raise UsageError(f"these items {outcomes.pool.CHOSEN}; {why}")


def refuse_proportions(outcomes: Outcomes) -> None:
    """Refuse other class proportions where there are no classes, or some items were chosen."""
    why = {
        "spans": "spans have no true negatives, so their classes have no proportions",
        "correct": "only right or wrong is known of these outcomes, not the classes",
    }
    if outcomes.kind != "classes":
        reason = why.get(outcomes.kind, "these outcomes have no classes")
        raise UsageError(f"{reason}; leave prevalence out")
    if outcomes.pool is not None:
        raise UsageError(
            "the class proportions of a pool of which some items were chosen cannot be "
            "replaced yet; leave prevalence out"
        )


_NO_ERRORS = {
    "correct": (
        "only right or wrong is known of these outcomes, so what a wrong gold label hides is not"
    ),
    "label_sets": "an item has several labels, each of which may be wrong or missing",
    "spans": "spans may be wrong, missing or too many, which no rate of wrong labels says",
}


def refuse_label_errors(outcomes: Outcomes) -> None:
    """Refuse stated label errors where no class is known, or the labels are not taken as gold."""
    refuse_pool(outcomes, "stated label errors are not known with that; leave them out")
    reason = _NO_ERRORS.get(outcomes.kind)
    if any(one.name == "annotators" for one in outcomes.findings):
        reason = "the truth is made of the labels of several annotators, errors and all"
    if reason is not None:
        raise UsageError(
            f"{reason}; label some items again with care and give both to Outcomes.from_judged, or "
            "leave label errors out"
        )


def refuse_lost_prevalence(outcomes: Outcomes, method: str) -> None:
    """Refuse what would lose the class proportions that outcomes carry."""
    if outcomes.prevalence is not None:
        raise UsageError(
            f"{method} would lose the class proportions that these outcomes carry; call it "
            "before at_prevalence(), or on at_prevalence(None)"
        )


def choose_from_pool(outcomes: Outcomes, pool: Outcomes) -> Outcomes:
    """Say that items were chosen from a pool by the predictions of both models."""
    _refuse_pool_of(outcomes, pool)
    refuse_lost_prevalence(outcomes, "in_pool()")
    known = set(outcomes.labels)
    wanted = sort_labels(known | set(check_labels(pool.labels, like=known)))
    left, right = outcomes._relabel(wanted), pool._relabel(wanted)
    found = Pool(cells=right.tables[0].cells, counts=right.tables[0].counts)
    found.check(left.tables[0], n_labels=len(wanted))
    findings = tuple(dict.fromkeys((*left.findings, *right.findings)))
    return replace(left, pool=found, findings=findings, _repeated=())


def _refuse_pool_of(outcomes: Outcomes, pool: Outcomes) -> None:
    refuse_pool(outcomes, "they have one already")
    plain = all(
        one.kind == "classes" and one.groups is None and one.slices is None and one.paired
        for one in (outcomes, pool)
    )
    if not plain or len(outcomes.models) != 2:
        raise UsageError(
            "only paired outcomes of two models, in classes, without groups, weights or "
            "slices, can be chosen from a pool"
        )
    a, b = outcomes.models
    if pool.models != (b,):
        raise UsageError(
            f"the pool must have the predictions of {a!r} as truth and {b!r} as its only model, "
            f"e.g. {param('truth=', a)}, {param('models=', [b])}; got {list(pool.models)}"
        )


def describe(outcomes: Outcomes) -> str:
    """Return outcomes in one line."""
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
