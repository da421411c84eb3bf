"""Outcomes as they would be if predictions that are never true were right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._rows import sum_by
from outperform._typing import IntArray
from outperform.data.outcomes import n_codes
from outperform.data.table import Table, group_rows

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes


Meant = Mapping[int, "int | None"]
"""Codes that a model predicts but that are never true, with the class that each resembles."""


def taken_as_right(outcomes: Outcomes, meant: Mapping[int, Meant]) -> Outcomes:
    """Return the same outcomes with some predictions counted as the item's true class.

    In a label set, such labels are replaced by missing true labels. Such spans are replaced by
    missed spans of the same sentence or document, of the resembled type if possible and otherwise
    of any type. In a pool, the truth of most items is unknown, so such a prediction becomes the
    class that it resembles.

    Parameters
    ----------
    outcomes
        The outcomes.
    meant
        Predictions to count as right, by index of the model.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels(["y", "n"], {"old": ["Y", "y"]})
    >>> taken_as_right(seen, {0: {seen.labels.index("Y"): None}}).confusion("old").tolist()
    [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    bare = replace(outcomes, _items=None, _repeated=())
    if outcomes.kind == "label_sets":
        return _label_sets(bare, meant)
    if outcomes.kind == "spans":
        tables, slices = list(outcomes.tables), outcomes.slices
        for model, codes in meant.items():
            number, column = (0, 1 + model) if outcomes.paired else (model, 1)
            tables[number] = _spans(tables[number], column, codes, outside=outcomes.n_classes)
            if slices is not None:
                table = _spans(
                    slices.table, 1 + column, codes, outside=outcomes.n_classes, n_before=1
                )
                slices = replace(slices, table=table)
        return replace(bare, tables=tuple(tables), slices=slices)
    if outcomes.pool is not None:
        return _of_pool(bare, meant)
    tables = []
    for number, table in enumerate(outcomes.tables):
        own = meant if outcomes.paired else {0: meant.get(number, {})}
        tables.append(table._moved(_right(table.cells, own), n_labels=n_codes(outcomes)))
    slices = outcomes.slices
    if slices is not None:
        columns = _right(slices.table.cells[:, 1:], meant)
        slices = slices._moved(columns, n_labels=n_codes(outcomes))
    return replace(bare, tables=tuple(tables), slices=slices)


def _right(cells: IntArray, meant: Mapping[int, Meant]) -> list[IntArray]:
    """Return the columns of cells with some predictions replaced by the truth."""
    columns = list(cells.T)
    for model, codes in meant.items():
        own = columns[1 + model]
        columns[1 + model] = np.where(np.isin(own, list(codes)), columns[0], own)
    return columns


def _of_pool(outcomes: Outcomes, meant: Mapping[int, Meant]) -> Outcomes:
    """Recode predictions to the class that they resemble, in the pool as well."""
    assert outcomes.pool is not None
    (table,), pool, n_labels = outcomes.tables, outcomes.pool, outcomes.n_classes
    # All models are recoded at once, because a code is a class of the pool whichever model predicts
    # it.
    codes = np.arange(n_labels)
    for own in meant.values():
        for code, like in own.items():
            codes[code] = code if like is None else like
    return replace(
        outcomes,
        tables=(table.recode(codes, n_labels=n_labels),),
        pool=pool.recode(codes, n_labels=n_labels),
    )


def _label_sets(outcomes: Outcomes, meant: Mapping[int, Meant]) -> Outcomes:
    known = list(outcomes.sets)
    place_of = {label_set: code for code, label_set in enumerate(known)}
    moved, slices = [], outcomes.slices
    cells = [table.cells for table in outcomes.tables]
    if slices is not None:
        cells.append(slices.table.cells[:, 1:])
    for number, rows in enumerate(cells):
        own = meant if outcomes.paired else {0: meant.get(number, {})}
        columns = list(rows.T)
        for model, codes in own.items():
            column = columns[1 + model].copy()
            for row, (truth, predicted) in enumerate(
                zip(columns[0].tolist(), column.tolist(), strict=True)
            ):
                wanted = _as_right(known[truth], known[predicted], codes)
                if wanted not in place_of:
                    place_of[wanted] = len(known)
                    known.append(wanted)
                column[row] = place_of[wanted]
            columns[1 + model] = column
        moved.append(columns)
    order = sorted(range(len(known)), key=known.__getitem__)
    codes_of = np.empty(len(known), dtype=np.int64)
    codes_of[order] = np.arange(len(known))
    tables = tuple(
        table._moved([codes_of[column] for column in columns], n_labels=len(known))
        for table, columns in zip(outcomes.tables, moved, strict=False)
    )
    if slices is not None:
        columns = [codes_of[column] for column in moved[-1]]
        slices = slices._moved(columns, n_labels=len(known))
    sets = tuple(known[code] for code in order)
    respelled = replace(outcomes, tables=tables, sets=sets, slices=slices)
    return respelled._over(respelled.labels, sets, np.arange(len(sets)))


def _as_right(truth: tuple[int, ...], predicted: tuple[int, ...], codes: Meant) -> tuple[int, ...]:
    """Return a predicted set with some labels replaced by missing true labels."""
    odd = [code for code in predicted if code in codes]
    if not odd:
        return predicted
    like = {codes[code] for code in odd}
    lacking = sorted(set(truth) - set(predicted), key=lambda code: (code not in like, code))
    return tuple(sorted({*predicted} - {*odd} | {*lacking[: len(odd)]}))


def _spans(table: Table, column: int, codes: Meant, *, outside: int, n_before: int = 0) -> Table:
    """Match spans of such types to missed spans in the same group.

    The truth comes after ``n_before`` other codes, such as that of a slice, which must match.
    """
    groups = table.groups
    patterns: list[dict[tuple[int, ...], Any]] = []
    rows = [tuple(row) for row in table.cells.tolist()]
    if groups is None:
        patterns.append(dict(zip(rows, table.counts.tolist(), strict=True)))
    else:
        patterns = [{} for _ in groups.repeats]
        entries = zip(
            groups.pattern.tolist(), groups.cell.tolist(), groups.times.tolist(), strict=True
        )
        for pattern, cell, times in entries:
            patterns[pattern][rows[cell]] = times
    matched = [_matched(pattern, column, codes, outside, n_before) for pattern in patterns]
    cells = np.array(sorted({row for times_of in matched for row in times_of}), dtype=np.int64)
    place_of = {tuple(row): code for code, row in enumerate(cells.tolist())}
    entries_of = [
        (number, place_of[row], times)
        for number, times_of in enumerate(matched)
        for row, times in times_of.items()
    ]
    pattern, cell = (np.array([entry[at] for entry in entries_of], dtype=np.int64) for at in (0, 1))
    times = np.array([entry[2] for entry in entries_of], dtype=table.counts.dtype)
    if groups is None:
        return Table(cells, times)
    together = group_rows(
        pattern,
        cell,
        n_groups=len(groups.repeats),
        n_cells=len(cells),
        times=times.astype(groups.times.dtype),
        repeats=groups.repeats,
    )
    amounts = together.times * together.repeats[together.pattern]
    counts = sum_by(together.cell, amounts.astype(table.counts.dtype), size=len(cells))
    return Table(cells, counts, together)


def _matched(
    pattern: Mapping[tuple[int, ...], Any], column: int, codes: Meant, outside: int, n_before: int
) -> Mapping[tuple[int, ...], Any]:
    """Return the cells of one group after replacing unexpected spans with missed ones."""
    odd = [row for row in pattern if row[column] in codes and row[n_before] == outside]
    if not odd:
        return pattern
    counts = Counter(pattern)
    for row in odd:
        like = codes[row[column]]
        for missed in sorted(other for other in counts if other[column] == outside):
            n = min(counts[row], counts[missed])
            truth = missed[n_before]
            wanted = truth != outside and (like is None or truth == like)
            if n > 0 and wanted and missed[:n_before] == row[:n_before]:
                _move(counts, missed, column, truth, n, outside, n_before)
                _move(counts, row, column, outside, n, outside, n_before)
    return {row: n for row, n in counts.items() if n > 0}


def _move(
    counts: Counter[tuple[int, ...]],
    row: tuple[int, ...],
    column: int,
    code: int,
    n: Any,
    outside: int,
    n_before: int,
) -> None:
    """Change the prediction of n items of a cell; cells without any span are dropped."""
    changed = (*row[:column], code, *row[column + 1 :])
    counts[row] -= n
    if any(code != outside for code in changed[n_before:]):
        counts[changed] += n
