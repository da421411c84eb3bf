"""Confusion matrices in CSV files: labels in the first row and the first column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform._typing import AnyArray
from outperform.errors import DataError
from outperform.findings import Finding
from outperform.ingest.files.csv_file import read_records
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import workspace
from outperform.ingest.files.finding import find_files
from outperform.outcomes import Outcomes


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
    source: Any, *, separator: str | None = None, encoding: str = "utf-8"
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


def read_confusions(sources: Mapping[str, Any], **options: Any) -> Outcomes:
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
    found = {model: read_confusion(source, **options) for model, source in sources.items()}
    if not found:
        return Outcomes.from_confusion({})
    labels = next(iter(found.values())).labels
    matrices = {model: _in_order(model, matrix, labels) for model, matrix in found.items()}
    outcomes = Outcomes.from_confusion(matrices, labels=labels)
    findings = [finding for matrix in found.values() for finding in matrix.findings]
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
    return LabelledMatrix(
        labels=tuple(true), counts=counts[:, order], findings=_ordered(name, predicted, true)
    )


def _counts(name: str, record: Sequence[str], predicted: Sequence[str]) -> list[int]:
    true, *values = record
    for value, label in zip(values, predicted, strict=True):
        if not (value.strip().isascii() and value.strip().isdecimal()):
            raise DataError(
                f"{name}: counts must be whole numbers of 0 or more; got {value!r} for the truth "
                f"{true!r} and the prediction {label!r}"
            )
    return [int(value) for value in values]


def _ordered(name: str, predicted: Sequence[str], true: Sequence[str]) -> tuple[Finding, ...]:
    if list(predicted) == list(true):
        return ()
    message = f"Rows and columns of {name} name the classes in different orders; names were used."
    return (Finding("confusion_reordered", "warning", message),)
