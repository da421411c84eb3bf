"""Files with confusion matrices and fold counts."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.data.outcomes import Outcomes
from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding, finding
from outperform.io.csv_files import read_records
from outperform.io.engine import workspace
from outperform.io.formats import Dialect
from outperform.io.paths import find_files


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMatrix:
    """Confusion matrix with the class of each row and column.

    Attributes
    ----------
    labels
        Classes, as text, in the order of the rows.
    counts
        Counts, with true classes as rows and predicted classes as columns, in label order.
    findings
        Findings from reading the file.
    """

    labels: tuple[str, ...]
    counts: AnyArray
    findings: tuple[Finding, ...] = ()


def read_confusion(
    source: object, *, separator: str | None = None, encoding: str = "utf-8"
) -> LabelledMatrix:
    r"""Read one confusion matrix, with true classes as rows and predicted classes as columns.

    Parameters
    ----------
    source
        CSV file with the predicted classes in the first row and the true classes in the first
        column.
    separator
        Separator between columns. Default: detected.
    encoding
        Encoding of the file.

    Examples
    --------
    >>> import io
    >>> matrix = read_confusion(io.StringIO(",ham,spam\nham,50,3\nspam,7,40\n"))
    >>> matrix.labels, matrix.counts.tolist()
    (('ham', 'spam'), [[50, 3], [7, 40]])
    """
    dialect = Dialect(format="csv", separator=separator, encoding=encoding)
    with workspace() as folder:
        files = find_files(source, dialect, folder=folder)
        if len(files) != 1:
            raise DataError(f"a confusion matrix must be a single file; got {len(files)}")
        name, records = files[0].name, list(read_records(files[0], dialect))
    return _matrix(name, records)


def read_confusions(sources: Mapping[str, object], **options: Any) -> Outcomes:
    r"""Read one confusion matrix per model, all with the same classes.

    Parameters
    ----------
    sources
        File of each model, by name.
    **options
        As in :func:`read_confusion`.

    Examples
    --------
    >>> import io
    >>> old = io.StringIO(",ham,spam\nham,50,3\nspam,7,40\n")
    >>> new = io.StringIO(",spam,ham\nspam,45,2\nham,4,49\n")
    >>> read_confusions({"old": old, "new": new}).confusion("new").tolist()
    [[49, 4], [2, 45]]
    """
    matrices_by_model = {
        model: read_confusion(source, **options) for model, source in sources.items()
    }
    if not matrices_by_model:
        return Outcomes.from_confusion({})
    labels = next(iter(matrices_by_model.values())).labels
    matrices = {
        model: _in_order(model, matrix, labels) for model, matrix in matrices_by_model.items()
    }
    outcomes = Outcomes.from_confusion(matrices, labels=labels)
    findings = [finding for matrix in matrices_by_model.values() for finding in matrix.findings]
    return replace(outcomes, findings=(*findings, *outcomes.findings))


def _in_order(model: str, matrix: LabelledMatrix, labels: Sequence[str]) -> AnyArray:
    if set(matrix.labels) != set(labels):
        unshared = sorted(set(matrix.labels) ^ set(labels))
        raise DataError(
            f"confusion matrices must have the same classes; the matrix of {model!r} and the "
            f"first one do not share {', '.join(map(repr, unshared[:5]))}"
        )
    order = [matrix.labels.index(label) for label in labels]
    return matrix.counts[np.ix_(order, order)]


def _matrix(name: str, records: Sequence[list[str]]) -> LabelledMatrix:
    predicted, true = records[0][1:], [record[0] for record in records[1:]]
    if len(predicted) != len(true):
        raise DataError(
            f"{name}: a confusion matrix must be square; got {len(true)} rows and "
            f"{len(predicted)} columns of counts"
        )
    for position, labels in (("first row", predicted), ("first column", true)):
        duplicates = [label for label in labels if labels.count(label) > 1]
        if duplicates:
            raise DataError(f"{name}: the class {duplicates[0]!r} occurs twice in the {position}")
    if set(predicted) != set(true):
        unshared = sorted(set(predicted) ^ set(true))
        raise DataError(
            f"{name}: the first row and the first column must contain the same classes; they do "
            f"not share {', '.join(map(repr, unshared[:5]))}"
        )
    counts = np.array([_counts(name, record, predicted) for record in records[1:]], dtype=object)
    order = [predicted.index(label) for label in true]
    findings = () if predicted == true else (finding("confusion_reordered", file=name),)
    return LabelledMatrix(labels=tuple(true), counts=counts[:, order], findings=findings)


def _counts(name: str, record: Sequence[str], predicted: Sequence[str]) -> list[int]:
    true, *values = record
    for value, label in zip(values, predicted, strict=True):
        if not (value.strip().isascii() and value.strip().isdecimal()):
            raise DataError(
                f"{name}: counts must be whole numbers of at least 0; got {value!r} for the true "
                f"class {true!r} and the predicted class {label!r}"
            )
    return [int(value) for value in values]


FOLD_COLUMNS = {
    "tp_fp_fn": ("tp", "fp", "fn"),
    "gold_predicted_correct": ("gold", "predicted", "correct"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldCounts:
    """Fold counts of each model, and the kind of their columns."""

    kind: str
    models: Mapping[str, Sequence[Sequence[int]]]

    def rows(self, name: str) -> Sequence[Sequence[int]]:
        """Return the folds of a model; an unknown name raises an error."""
        if name not in self.models:
            raise UsageError(unknown_name("model", name, self.models))
        return self.models[name]

    def require_pair(self, names: Sequence[str]) -> None:
        """Raise an error unless there are two models."""
        if len(names) != 2:
            raise UsageError(
                f"select two models with --a and --b; the file has {', '.join(self.models)}"
            )


def read_fold_counts(path: str | Path) -> FoldCounts:
    """Read a CSV with the columns model and tp, fp, fn, or gold, predicted, correct."""
    if str(path) == "-":
        return _parse(csv.DictReader(sys.stdin), "stdin")
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            return _parse(csv.DictReader(file), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from error
    except FileNotFoundError as error:
        raise UsageError(f"no file {path}") from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _parse(rows: csv.DictReader[str], name: str) -> FoldCounts:
    header = [column.strip() for column in rows.fieldnames or ()]
    rows.fieldnames = header
    kind = next(
        (kind_name for kind_name, columns in FOLD_COLUMNS.items() if set(columns) <= set(header)),
        None,
    )
    if kind is None or "model" not in header:
        raise DataError(
            f"{name} must have the columns model, tp, fp and fn, or model, gold, predicted and "
            f"correct; got {', '.join(header) or 'none'}"
        )
    models: dict[str, list[list[int]]] = {}
    for row in rows:
        counts = [_whole(row[column], column, name, rows.line_num) for column in FOLD_COLUMNS[kind]]
        models.setdefault(row["model"].strip(), []).append(counts)
    if not models:
        raise DataError(f"{name} has a header but no rows")
    return FoldCounts(kind=kind, models=models)


def _whole(text: str | None, column: str, name: str, line: int) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise DataError(
            f"{name}, line {line}: {column} must be a whole number; got {text!r}"
        ) from error
