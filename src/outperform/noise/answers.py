"""Repeated answers of one model, item by item, from outcomes, scores, columns, files or arrays."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from outperform._missing import is_missing
from outperform._rows import distinct_rows
from outperform._typing import AnyArray, BoolArray, FloatArray, IntArray
from outperform.data.items import read_ids
from outperform.data.labels import frame_columns, is_file, is_frame, is_source
from outperform.data.missing import UNDECLARED
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.table import effective_size
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding
from outperform.inference.spec import refuse_prevalence, selected
from outperform.inputs.columns import is_logs, read_columns, read_logs
from outperform.inputs.models import refuse_truth
from outperform.noise.columns import as_number, refuse_no_runs

LEAST = 2
"""Number of answers that an item needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers of one model, each with its item and its run.

    Parameters
    ----------
    runs
        Names of the runs.
    values
        Grade of each answer; 1 if right and 0 if wrong.
    item, run
        Index of the item and of the run of each answer.
    times
        Number of items with the same answers, for each item; 1 if items were read one by one.
    names
        Id of each item, or its row number; None if equal items were counted together.
    findings
        Findings about the data.
    weights
        Importance weight of each item; None if all are equal.
    """

    runs: tuple[str, ...]
    values: FloatArray  # (n_answers,)
    item: IntArray  # (n_answers,)
    run: IntArray  # (n_answers,)
    times: FloatArray  # (n_items,)
    names: list[Any] | None
    findings: tuple[Finding, ...] = ()
    weights: FloatArray | None = None  # (n_items,)

    def __post_init__(self) -> None:
        short = np.flatnonzero(self.n_each < LEAST)
        if short.size:
            first = f", e.g. {self.names[short[0]]!r}" if self.names is not None else ""
            n = int(self.times[short].sum())
            raise DataError(
                f"{n:,} of {self.n:,} items have a single answer{first}; the noise shows only in "
                "items that were answered at least twice, so pass several runs of the same model"
            )

    @property
    def n(self) -> int:
        """Number of items."""
        return round(float(self.times.sum()))

    @property
    def n_even(self) -> int:
        """Effective number of items: (Σ w)² / Σ w² with weights, otherwise their number."""
        if self.weights is None:
            return self.n
        return max(1, round(effective_size(self.weights, self.times)))

    @property
    def n_each(self) -> IntArray:
        """Number of answers to each item."""
        return np.bincount(self.item, minlength=len(self.times))

    @property
    def n_answers(self) -> int:
        """Number of answers to all items."""
        return round(float(self.n_each @ self.times))

    @property
    def n_trials(self) -> int:
        """Usual number of answers to an item in one run."""
        usual = np.repeat(self.n_each, self.times.astype(np.int64))
        return max(1, round(float(np.median(usual)) / len(self.runs)))

    @property
    def binary(self) -> bool:
        """Whether every answer is right or wrong."""
        return bool(np.isin(self.values, (0.0, 1.0)).all())


def answers_of(
    runs: Any,
    *,
    truth: str | None,
    models: Sequence[str] | None,
    groups: Any,
    ids: Any,
    verb: str = "noise_floor",
) -> Answers:
    """Return the answers of one model, from any kind of input.

    Parameters
    ----------
    runs
        Outcomes, scores, a frame, a file, evaluation logs, or the answers by run.
    truth
        Column of the true labels in a frame or file.
    models
        Names of the runs to use; None for all.
    groups
        Item of each row, or the name of its column.
    ids
        Id of each row, or the name of its column.
    verb
        Function that the user called, for messages.
    """
    if isinstance(runs, (Outcomes, Scores)):
        refuse_truth(truth, verb)
        _refuse_columns(groups=groups, ids=ids)
        if models is None and isinstance(runs, Scores) and runs.truth is None:
            columns = dict(
                zip(runs.models, (values.tolist() for values in runs.values), strict=True)
            )
            refuse_no_runs(columns, source="data")
        return _of_data(runs if models is None else selected(runs, [*models], verb=verb))
    if is_logs(runs):
        _refuse_columns(truth=truth, groups=groups, ids=ids)
        data = read_logs(_named_logs(runs))
        return _of_data(data if models is None else selected(data, [*models], verb=verb))
    if is_source(runs) and not isinstance(runs, Mapping):
        return _of_columns(runs, truth, models, groups, ids)
    if truth is not None:
        raise UsageError(
            f"{param('truth=')} is a column of a frame or file; for arrays of labels, pass "
            "op.Outcomes.from_labels(y_true, {'run1': pred_1, 'run2': pred_2})"
        )
    if models is not None:
        raise UsageError(f"{param('models=')} selects runs by name; pass only these runs instead")
    if isinstance(runs, Mapping):
        refuse_no_runs(_single_answers(runs), source="arrays")
        return _of_arrays(runs, groups, ids)
    if isinstance(runs, np.ndarray) or (isinstance(runs, (list, tuple)) and runs):
        return _of_arrays({"run": runs}, groups, ids)  # a row of answers per item
    raise UsageError(
        "runs must be the answers by run, such as {'run1': [1, 0, 1], 'run2': [1, 1, 1]}, a table "
        f"with a row of answers per item, outcomes, scores, a frame, or a file; got "
        f"{type(runs).__name__}"
    )


def _refuse_columns(**passed: Any) -> None:
    for name, value in passed.items():
        if value is not None:
            raise UsageError(
                f"{param(f'{name}=')} describes the rows of arrays, a frame or a file; these data "
                "already have their items, so remove it"
            )


def _named_logs(runs: Any) -> Any:
    """Return logs by run name; the folders or files of a list become names."""
    if isinstance(runs, Mapping) or not isinstance(runs, (list, tuple)):
        return runs
    paths = [Path(str(path)) for path in runs]
    for names in ([path.stem for path in paths], [str(path) for path in paths]):
        if len(set(names)) == len(names):
            return dict(zip(names, runs, strict=True))
    raise UsageError("the same run is listed twice; pass each run once")


# From data


def _of_data(data: Outcomes | Scores) -> Answers:
    refuse_prevalence(data, "noise_floor")
    return _of_scores(data) if isinstance(data, Scores) else _of_outcomes(data)


def _of_outcomes(data: Outcomes) -> Answers:
    if data.kind == "spans":
        raise UsageError(
            "noise_floor needs one answer per item that is right, wrong or graded; for spans, "
            "grade each document, e.g. with its F1, and pass the grades"
        )
    if data.pool is not None:
        raise UsageError(
            "noise_floor needs the answers to all items, so it takes no pool; pass the right or "
            "wrong answers to the items themselves"
        )
    if not data.paired:
        raise DataError(
            "the data do not show which items each run got right, so the noise cannot be "
            "separated from the items; pass the runs' answers to the same items"
        )
    table, n_runs = data.tables[0], len(data.models)
    right = table.cells[:, 1:] == table.cells[:, :1]
    if table.groups is not None:
        groups = table.groups
        if groups.weighted and len(groups.pattern) > len(groups.repeats):
            raise UsageError(
                "noise_floor takes groups or importance weights, not both; remove one of them"
            )
        times = np.ones(len(groups.times), np.int64) if groups.weighted else groups.times
        entry = np.repeat(np.arange(len(times)), times)
        return Answers(
            runs=data.models,
            values=right[groups.cell[entry]].ravel().astype(np.float64),
            item=np.repeat(groups.pattern[entry], n_runs),
            run=np.tile(np.arange(n_runs), len(entry)),
            times=groups.repeats.astype(np.float64),
            names=None,
            findings=data.findings,
            weights=groups.times if groups.weighted else None,
        )
    rows = data._items
    if rows is not None and rows.models == data.models and rows.spans is None:
        right = (rows.cells[:, 1:] == rows.cells[:, :1])[rows.cell]
        counts, names = np.ones(len(right)), rows.names
    else:
        counts, names = table.counts.astype(np.float64), None
    return _by_run(data.models, right.astype(np.float64), counts, names, data.findings)


def _of_scores(data: Scores) -> Answers:
    if data.truth is not None or any(values.ndim != 1 for values in data.values):
        raise UsageError(
            "noise_floor needs graded answers, one number per item and run, not probabilities of "
            "classes; pass labels with op.Outcomes.from_labels"
        )
    if data.weights is not None:
        raise UsageError("noise_floor takes no weights of scores; pass the scores without them")
    values = np.column_stack(data.values)
    if data.group is None:
        counts = np.ones(len(values)) if data.counts is None else data.counts.astype(np.float64)
        ids = None if data.counts is not None else _listed(data.ids, len(values))
        return _by_run(data.models, values, counts, ids, data.findings)
    names = _names_of_items(data.ids, data.group)
    return _grouped(data.models, values, data.group, names, data.findings)


def _listed(ids: AnyArray | None, n: int) -> list[Any]:
    return list(range(n)) if ids is None else ids.tolist()


_NUMBERED = re.compile(r"#\d+$")


def _names_of_items(ids: AnyArray | None, group: IntArray) -> list[Any]:
    """Return the name of each item; logs number its answers, as in ``q7#2``."""
    n_items = int(group.max()) + 1
    if ids is None:
        return list(range(n_items))
    first = np.unique(group, return_index=True)[1]
    names = [ids.tolist()[row] for row in first]
    texts = [str(label) for label in ids.tolist()]
    numbered = all(_NUMBERED.search(text) for text in texts)
    return [_NUMBERED.sub("", str(name)) for name in names] if numbered else names


def _by_run(
    runs: tuple[str, ...],
    values: FloatArray,
    times: FloatArray,
    names: list[Any] | None,
    findings: tuple[Finding, ...] = (),
) -> Answers:
    """Return answers ``(n_items, n_runs)``, one per item and run."""
    n_items, n_runs = values.shape
    return Answers(
        runs=runs,
        values=values.ravel(),
        item=np.repeat(np.arange(n_items), n_runs),
        run=np.tile(np.arange(n_runs), n_items),
        times=times,
        names=names,
        findings=findings,
    )


def _grouped(
    runs: tuple[str, ...],
    values: FloatArray,
    group: IntArray,
    names: list[Any],
    findings: tuple[Finding, ...] = (),
) -> Answers:
    """Return answers ``(n_rows, n_runs)``, where several rows belong to one item."""
    n_runs = values.shape[1]
    return Answers(
        runs=runs,
        values=values.ravel(),
        item=np.repeat(group, n_runs),
        run=np.tile(np.arange(n_runs), len(group)),
        times=np.ones(int(group.max()) + 1),
        names=names,
        findings=findings,
    )


# From columns and arrays


def _of_columns(
    source: Any, truth: str | None, models: Sequence[str] | None, groups: Any, ids: Any
) -> Answers:
    for name, value in {"groups": groups, "ids": ids}.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"with a frame or file, {param(f'{name}=')} is the name of a column")
    others = [name for name in (truth, groups, ids) if name is not None]
    names = None if models is None else [*dict.fromkeys([*models, *others])]
    columns = read_columns(source, names, missing=UNDECLARED)
    runs = [name for name in columns if name not in others] if models is None else [*models]
    of_groups, of_ids = columns.get(groups), columns.get(ids)
    if models is None:
        labels = () if truth is None else columns[truth]
        refuse_no_runs({name: columns[name] for name in runs}, truth=truth, labels=labels)
    if truth is None:
        return _of_arrays({name: columns[name] for name in runs}, of_groups, of_ids)
    outcomes = Outcomes.from_labels(columns[truth], {name: columns[name] for name in runs})
    rows = outcomes._items
    if rows is None:  # too many rows to store one by one
        return _of_data(outcomes)
    right = (rows.cells[:, 1:] == rows.cells[:, :1])[rows.cell].astype(np.float64)
    columns_right = {name: right[:, index] for index, name in enumerate(rows.models)}
    return _of_arrays(columns_right, of_groups, of_ids, outcomes.findings)


def _of_arrays(
    runs: Mapping[str, Any], groups: Any, ids: Any, findings: tuple[Finding, ...] = ()
) -> Answers:
    if is_frame(runs):
        runs = frame_columns(runs, name="runs")
    if not runs:
        raise UsageError("runs is empty; pass the answers of at least two runs")
    rows = {str(name): _rows(values, str(name)) for name, values in runs.items()}
    sizes = {name: len(values) for name, values in rows.items()}
    n_rows = next(iter(sizes.values()))
    for name, size in sizes.items():
        if size != n_rows:
            raise DataError(
                f"run {name!r} has {size:,} items but {next(iter(sizes))!r} has {n_rows:,}; every "
                "run must answer the same items, in the same order"
            )
    if n_rows == 0:
        raise DataError("the runs have no items")
    names = list(range(n_rows)) if ids is None else read_ids(ids, n_rows).tolist()
    item = np.arange(n_rows)
    if groups is not None:
        listed = [*groups]
        if len(listed) != n_rows:
            raise DataError(f"groups has {len(listed):,} rows but the runs have {n_rows:,}")
        known = {value: index for index, value in enumerate(dict.fromkeys(listed))}
        item = np.array([known[value] for value in listed], dtype=np.int64)
        names = [*known]
    answers = [
        (value, item[row], index)
        for index, values in enumerate(rows.values())
        for row, each in enumerate(values)
        for value in each
    ]
    values, items, indices = zip(*answers, strict=True) if answers else ((), (), ())
    return Answers(
        runs=tuple(rows),
        values=np.array(values, dtype=np.float64),
        item=np.array(items, dtype=np.int64),
        run=np.array(indices, dtype=np.int64),
        times=np.ones(len(names)),
        names=names,
        findings=findings,
    )


def _rows(values: Any, name: str) -> list[list[float]]:
    """Return the answers of one run, a list per item."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Sequence):
        listed = [*listed] if hasattr(listed, "__iter__") and not is_file(listed) else None
    if listed is None:
        raise UsageError(
            f"run {name!r} must be a list of answers, one per item; got {type(values).__name__}"
        )
    return [
        [_grade(grade, name, row) for grade in (each if _is_row(each) else (each,))]
        for row, each in enumerate(listed)
    ]


def _single_answers(runs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the runs with one answer per item, as lists."""
    listed = {
        str(name): [*values]
        for name, values in runs.items()
        if hasattr(values, "__iter__") and not is_file(values)
    }
    return {name: row for name, row in listed.items() if not any(map(_is_row, row))}


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _grade(value: Any, name: str, row: int) -> float:
    if is_missing(value):
        raise DataError(
            f"run {name!r} has no answer in row {row} (counted from 0); drop the item from all "
            "runs, or score it"
        )
    grade = as_number(value)
    if not math.isfinite(grade):
        raise DataError(
            f"run {name!r} must contain right or wrong answers (1 and 0, true and false) or "
            f"grades; got {str(value)[:60]!r} in row {row} (counted from 0). If these are labels, "
            f"name the column of the true ones with {param('truth=', 'label')}"
        )
    return grade


# Statistics of items


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMoments:
    """Statistics of each item: unbiased, so their means estimate those of all such items.

    Parameters
    ----------
    n
        Number of answers.
    mean, square
        Mean of the answers, and of their squares.
    within
        Sample variance of the answers.
    flips
        Share of pairs of answers that differ.
    """

    n: IntArray
    mean: FloatArray
    square: FloatArray
    within: FloatArray
    flips: FloatArray

    @property
    def rows(self) -> FloatArray:
        """One row per item, for merging equal items."""
        return np.column_stack([self.n, self.mean, self.square, self.within, self.flips])


def moments(answers: Answers) -> ItemMoments:
    """Return the statistics of each item.

    Parameters
    ----------
    answers
        The answers.
    """
    item, values, n_items = answers.item, answers.values, len(answers.times)
    n = np.bincount(item, minlength=n_items)
    mean = np.bincount(item, values, minlength=n_items) / n
    square = np.bincount(item, values**2, minlength=n_items) / n
    apart = np.bincount(item, (values - mean[item]) ** 2, minlength=n_items)
    # Ordered pairs of equal answers per item: the sum of c (c − 1) over its distinct answers.
    codes = np.column_stack([item, np.unique(values, return_inverse=True)[1]])
    distinct = distinct_rows(codes)
    counts = np.bincount(distinct.code)
    same = np.bincount(codes[distinct.first, 0], counts * (counts - 1.0), minlength=n_items)
    constant: BoolArray = same == n * (n - 1)
    return ItemMoments(
        n=n,
        mean=mean,
        square=square,
        within=np.where(constant, 0.0, apart / (n - 1)),
        flips=1 - same / (n * (n - 1)),
    )
