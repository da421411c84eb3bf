"""Files of confusion matrices, and of counts of folds."""

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
    """A confusion matrix with the class of each row and column.

    Attributes
    ----------
    labels
        The classes, as text, in the order of the rows.
    counts
        The counts, rows truth and columns predictions, both in the order of the labels.
    findings
        What was noticed.
    """

    labels: tuple[str, ...]
    counts: AnyArray
    findings: tuple[Finding, ...] = ()


def read_confusion(
    source: object, *, separator: str | None = None, encoding: str = "utf-8"
) -> LabelledMatrix:
    r"""Read one confusion matrix: rows are the truth, columns the predictions.

    Parameters
    ----------
    source
        A CSV file with the predicted classes in the first row and the true ones in the first
        column.
    separator
        What stands between the columns; found out by default.
    encoding
        How the file is encoded.

    Examples
    --------
    >>> import io
    >>> found = read_confusion(io.StringIO(",ham,spam\nham,50,3\nspam,7,40\n"))
    >>> found.labels, found.counts.tolist()
    (('ham', 'spam'), [[50, 3], [7, 40]])
    """
    dialect = Dialect(format="csv", separator=separator, encoding=encoding)
    with workspace() as folder:
        files = find_files(source, dialect, folder=folder)
        if len(files) != 1:
            raise DataError(f"a confusion matrix is one file; got {len(files)}")
        name, records = files[0].name, list(read_records(files[0], dialect))
    return _matrix(name, records)


def read_confusions(sources: Mapping[str, object], **options: Any) -> Outcomes:
    r"""Read one confusion matrix for each model, all of the same classes.

    Parameters
    ----------
    sources
        The file of each model, by name.
    **options
        As for :func:`read_confusion`.

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
        odd = sorted(set(matrix.labels) ^ set(labels))
        raise DataError(
            f"confusion matrices must be of the same classes; that of {model!r} and the first one "
            f"do not share {', '.join(map(repr, odd[:5]))}"
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
    for what, labels in (("first row", predicted), ("first column", true)):
        twins = [label for label in labels if labels.count(label) > 1]
        if twins:
            raise DataError(f"{name}: the class {twins[0]!r} is in the {what} twice")
    if set(predicted) != set(true):
        odd = sorted(set(predicted) ^ set(true))
        raise DataError(
            f"{name}: the first row and the first column must name the same classes; they do not "
            f"share {', '.join(map(repr, odd[:5]))}"
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
                f"{name}: counts must be whole numbers of 0 or more; got {value!r} for the truth "
                f"{true!r} and the prediction {label!r}"
            )
    return [int(value) for value in values]


_KINDS = {
    "tp_fp_fn": ("tp", "fp", "fn"),
    "gold_predicted_correct": ("gold", "predicted", "correct"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldCounts:
    """The counts of each model's folds, and what the columns are."""

    kind: str
    models: Mapping[str, Sequence[Sequence[int]]]

    def rows(self, name: str) -> Sequence[Sequence[int]]:
        """Return the folds of a model, or say which models there are."""
        if name not in self.models:
            raise UsageError(unknown_name("model", name, self.models))
        return self.models[name]

    def two(self, names: Sequence[str]) -> None:
        """Refuse to compare any other number of models than two."""
        if len(names) != 2:
            raise UsageError(
                f"two models are compared; the file has {', '.join(self.models)}: "
                "choose with --a and --b"
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
        raise UsageError(f"there is no file {path}") from error
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error


def _parse(rows: csv.DictReader[str], name: str) -> FoldCounts:
    header = [column.strip() for column in rows.fieldnames or ()]
    rows.fieldnames = header
    kind = next(
        (kind_name for kind_name, columns in _KINDS.items() if set(columns) <= set(header)), None
    )
    if kind is None or "model" not in header:
        raise DataError(
            f"{name} needs the columns model and tp, fp, fn, or model and gold, predicted, "
            f"correct; it has {', '.join(header) or 'none'}"
        )
    models: dict[str, list[list[int]]] = {}
    for row in rows:
        counts = [_whole(row[column], column, name, rows.line_num) for column in _KINDS[kind]]
        models.setdefault(row["model"].strip(), []).append(counts)
    if not models:
        raise DataError(f"{name} has a header and no rows")
    return FoldCounts(kind=kind, models=models)


def _whole(text: str | None, column: str, name: str, line: int) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise DataError(
            f"{name}, line {line}: {column} must be a whole number; got {text!r}"
        ) from error
