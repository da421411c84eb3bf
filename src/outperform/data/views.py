"""Functions of outcomes: counts, weights, selections and sources."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._missing import is_missing
from outperform._rows import distinct_rows
from outperform._typing import FloatArray, IntArray, Label
from outperform.data.checks import check_labels, code_of
from outperform.data.outcomes import (
    Outcomes,
    n_codes,
    occurring,
    origins,
    refuse_pool,
    sharing_sets,
    source_of,
)
from outperform.data.scores import Scores
from outperform.data.sources import Source, log_chance
from outperform.data.table import CHANCE, Part, row_findings
from outperform.errors import DataError, UsageError, param
from outperform.findings import counted


def predicted_codes(outcomes: Outcomes, model: int) -> IntArray:
    """Return the codes that a model ever predicts, including the unlabelled part of a pool.

    Parameters
    ----------
    outcomes
        The outcomes.
    place
        Index of the model.
    """
    paired = outcomes.paired
    table, column = (outcomes.tables[0], 1 + model) if paired else (outcomes.tables[model], 1)
    columns = [table.cells[:, column]]
    if outcomes.pool is not None:
        columns.append(outcomes.pool.cells[:, model])
    return occurring(outcomes, columns)


def count_of(outcomes: Outcomes, model: str, part: Part, *, positive: int | None = None) -> int:
    """Return one exact count of a model: tp, fn, fp or tn of a class, or correct or wrong.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels([1, 1, 0], {"m": [1, 0, 0]})
    >>> count_of(seen, "m", "tp", positive=1), count_of(seen, "m", "correct")
    (1, 2)
    """
    return outcomes._alone(model).part(part, positive=positive)


def in_weights(outcomes: Outcomes) -> Outcomes:
    """Return the cells' importance weights in place of counts, if there are any.

    Items selected from a pool by their predictions represent all items with the same predictions.

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
    """Return every count multiplied by the weight of an item; the results are not integers."""
    refuse_pool(outcomes, "it needs unweighted counts")
    tables = tuple(table.scaled(factor) for table in outcomes.tables)
    return replace(outcomes, tables=tables, slices=None)


def emptied(outcomes: Outcomes) -> Outcomes:
    """Return the same models and classes without any items.

    A pool is kept because it is known before any of its items is labelled.
    """
    tables = tuple(table.emptied() for table in outcomes.tables)
    pool = None if outcomes.pool is None else outcomes.pool.emptied()
    bare = replace(outcomes, findings=(), slices=None, _repeated=(), sources=(), _items=None)
    return replace(bare, tables=tables, pool=pool)


def only(outcomes: Outcomes, labels: Sequence[Label]) -> Outcomes:
    """Keep the spans of some types as spans of one type, or keep some labels of label sets.

    Examples
    --------
    >>> import outperform as op
    >>> gold = [[(0, 2, "PER"), (3, 4, "LOC")]]
    >>> only(op.Outcomes.from_spans(gold, {"crf": gold}), ["LOC"]).margins("crf").hits
    array([1])
    """
    if outcomes.kind not in ("spans", "label_sets"):
        raise UsageError("items with one class each cannot be dropped; use binarize(label)")
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
    return replace(outcomes, labels=(name,), tables=tuple(tables), slices=None, sources=())


def matches(outcomes: Outcomes) -> Outcomes:
    """Reduce each model's label set to right or wrong.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_label_sets([{1, 2}, {1}], {"m": [{1, 2}, {1, 2}]})
    >>> matches(seen).margins("m").hits
    array([0, 1])
    """
    if outcomes.kind != "label_sets":
        raise UsageError("this needs label sets; classes are already right or wrong")
    tables = tuple(table.matched() for table in outcomes.tables)
    bare = replace(outcomes, slices=None, sets=())
    return replace(bare, kind="correct", labels=(False, True), tables=tables)


_NO_ERRORS = {
    "correct": (
        "these outcomes record only correctness, so the effect of a wrong gold label is unknown"
    ),
    "label_sets": "an item has several labels, and each may be wrong or missing",
    "spans": "spans may be wrong, missing or spurious, which a label error rate does not describe",
}


def refuse_label_errors(outcomes: Outcomes) -> None:
    """Reject stated label errors without known classes or without gold labels."""
    refuse_pool(outcomes, "label error rates are not supported with that; remove them")
    reason = _NO_ERRORS.get(outcomes.kind)
    if any(finding.name == "annotators" for finding in outcomes.findings):
        reason = "the truth is based on several annotators' labels, including their errors"
    if reason is not None:
        raise UsageError(
            f"{reason}; relabel some items with care and pass both to Outcomes.from_judged, or "
            "remove the label errors"
        )


def read_from(outcomes: Outcomes, file: str) -> Outcomes:
    """Return outcomes whose sources record the file they were read from."""
    sources = tuple(replace(source, file=file) for source in origins(outcomes))
    return replace(outcomes, sources=sources)


def with_source(outcomes: Outcomes, name: str, *, weighted: bool) -> Outcomes:
    """Return new outcomes as one source, with a finding if rows look repeated."""
    repeated = () if weighted else row_findings(outcomes.tables[0], kind=outcomes.kind)
    return replace(
        outcomes,
        sources=(source_of(outcomes, name),),
        findings=tuple(dict.fromkeys(outcomes.findings + repeated)),
    )


def stand_beside(first: Outcomes, second: Outcomes) -> Outcomes:
    """Combine two outcomes of one model each into unpaired outcomes.

    Parameters
    ----------
    one, two
        Outcomes of one model each. Their items need not be the same.

    Examples
    --------
    >>> from outperform import Outcomes
    >>> new = Outcomes.from_labels(["a", "b"], {"new": ["a", "b"]})
    >>> old = Outcomes.from_labels(["a", "c", "c"], {"old": ["a", "a", "c"]})
    >>> stand_beside(new, old)
    Outcomes(n=3, models=('new', 'old'), labels=('a', 'b', 'c'), paired=False, cells=5)
    """
    if len(first.models) != 1 or len(second.models) != 1 or first.models == second.models:
        raise UsageError(
            f"two outcomes of one model each, with different names, are needed; got {first.models} "
            f"and {second.models}"
        )
    if first.kind != second.kind:
        raise DataError(
            f"outcomes of the kinds {first.kind!r} and {second.kind!r} cannot be compared"
        )
    if first.weighted != second.weighted:
        raise DataError("only one model has importance weights; pass weights for both")
    if (first.groups is None) != (second.groups is None):
        first, second = first.ungroup(), second.ungroup()
    left, right = first.with_labels(second.labels), second.with_labels(first.labels)
    left, right = sharing_sets(left, right)
    return type(first)(
        models=(*left.models, *right.models),
        labels=left.labels,
        tables=(*left.tables, *right.tables),
        kind=left.kind,
        sets=left.sets,
        findings=tuple(dict.fromkeys(left.findings + right.findings)),
        sources=origins(left) + origins(right),
        never_true=tuple(dict.fromkeys(first.never_true + second.never_true)),
    )


def scores_source(scores: Scores, name: str, sha256: str) -> Source:
    """Return scores as one source; equal rows are as uninformative as items in the same cell."""
    rows = np.column_stack([values.reshape(scores.n_rows, -1) for values in scores.values])
    counts = np.bincount(distinct_rows(rows).code)
    return Source("", scores.n, sha256, log_chance(counts) < math.log(CHANCE), name)


def of_items(
    outcomes: Outcomes,
    ids: Sequence[object],
    people: Mapping[str, Sequence[object]],
    *,
    chances: Sequence[object] | None = None,
) -> dict[str, Any]:
    """Return the arguments of ``Outcomes.from_judged``; ``seen`` contains the judge's verdicts.

    Parameters
    ----------
    seen
        Outcomes with items: the judge's verdicts, or its classes as truth.
    ids
        Ids of the human-labelled items.
    people
        Human labels: right or wrong for each model, or one column of true classes.
    chances
        Probability of each of these items being labelled, if known.
    """
    items = outcomes._items
    if items is None or items.ids is None:
        raise UsageError(
            "human labels are matched by item id, but the data have no ids; pass the id column "
            f"with {param('id=')}"
        )
    row_of = {str(name): number for number, name in enumerate(items.names)}
    requested = [str(item_id) for item_id in ids]
    strange = [item_id for item_id in requested if item_id not in row_of]
    if strange:
        raise DataError(
            f"people labelled {counted(len(strange), 'items')} that the judge did not rate, such "
            f"as {strange[0]!r}"
        )
    twice = [item_id for item_id, times in Counter(requested).items() if times > 1]
    if twice:
        raise DataError(f"people labelled the item {twice[0]!r} twice; keep one row per item")

    def placed(values: Sequence[object]) -> list[object]:
        column: list[object] = [None] * items.n
        for item_id, value in zip(requested, values, strict=True):
            column[row_of[item_id]] = value
        return column

    def ratings(column: int) -> list[object]:
        codes: list[int] = items.cells[items.cell, column].tolist()
        return [items.values[code] for code in codes]

    judged = {model: ratings(1 + items.models.index(model)) for model in outcomes.models}
    human = {name: placed(values) for name, values in people.items()}
    drawn = {} if chances is None else {"drawn": _as_numbers(placed(chances))}
    if outcomes.kind == "correct":
        return {"judged": judged, "human": human, **drawn}
    return {"judged": judged, "human": next(iter(human.values())), "judge": ratings(0), **drawn}


def _as_numbers(values: Sequence[object]) -> FloatArray:
    """Return probabilities that were read from a file, with NaN for missing values."""
    try:
        return np.array([np.nan if is_missing(value) else float(str(value)) for value in values])
    except ValueError as error:
        raise DataError(f"the probabilities of being labelled must be numbers: {error}") from None
