"""Checks of names, labels and columns before they are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from outperform._typing import AnyArray, IntArray, Label
from outperform.data.labels import (
    Column,
    check_label,
    frame_columns,
    is_frame,
    refuse_half_characters,
)
from outperform.data.table import Table, total
from outperform.errors import DataError, UsageError, param, unknown_name

_FEWEST = 30  # number of distinct values; fewer are harmless
_ENOUGH_ROWS = 10
_NEARLY_ALL = 0.9
_FEW_LABELS = 0.1  # as a share of the distinct values in the truth
_HARDLY_ANY = 0.05  # as a share of the rows


def named(columns: object) -> Mapping[str, Any]:
    """Return predictions by model name from a mapping or from the columns of a frame."""
    if is_frame(columns):
        columns = frame_columns(columns, name="the frame of models")
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError(
            "pass predictions by model name, such as {'bert': predictions}, or a frame"
        )
    for name in columns:
        if not isinstance(name, str):
            raise UsageError(f"model names must be text; got {name!r}")
        refuse_half_characters([name], name="models")
    return columns


def clear_positive(labels: Sequence[Label]) -> Label | None:
    """Return the positive class if it is clear (True or 1); otherwise None.

    Text is accepted too, because files store labels as text and must give the same result.

    Examples
    --------
    >>> clear_positive([0, 1]), clear_positive(["0", "1"]), clear_positive(["no", "yes"])
    (1, '1', None)
    """
    if all(isinstance(label, bool) for label in labels):
        return True
    pairs: tuple[tuple[Label, Label], ...] = ((0, 1), ("0", "1"), ("False", "True"))
    return next(
        (positive for negative, positive in pairs if set(labels) == {negative, positive}), None
    )


def same_length(columns: Sequence[Column]) -> None:
    """Check that all columns have the same number of rows."""
    first = columns[0]
    for column in columns[1:]:
        if len(column.codes) != len(first.codes):
            raise DataError(
                f"{first.name} has {len(first.codes)} rows but {column.name} has "
                f"{len(column.codes)}; both must list the same items in the same order"
            )
    if not len(first.codes):
        raise DataError(f"{first.name} has no rows; at least one item is needed")


def listed(labels: Sequence[Label], *, name: str = "labels") -> tuple[Label, ...]:
    """Return a list of labels as a tuple; a string is rejected."""
    if isinstance(labels, (str, bytes)):
        raise UsageError(f"{param(name)} must be a list of classes; got {labels!r}")
    return tuple(labels)


def check_labels(
    labels: Sequence[Label], *, like: set[Label] | None = None, name: str = "labels"
) -> tuple[Label, ...]:
    """Return distinct labels, converted to the label type of the data."""
    checked = tuple(check_label(label, name=name) for label in listed(labels, name=name))
    if not checked or len(set(checked)) != len(checked):
        raise UsageError(f"{param(name)} must be distinct classes; got {list(labels)}")
    kinds = {type(label) for label in checked} | {type(label) for label in like or ()}
    if kinds == {bool, int}:
        as_truth = {type(label) for label in like or ()} == {bool} and set(checked) <= {0, 1}
        return tuple(bool(label) if as_truth else int(label) for label in checked)
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(
            f"{param(name)} must have the type of the labels in the data; got a mixture of {names}"
        )
    return checked


class Values(NamedTuple):
    """Comparison of the values of one column with the labels of another."""

    n_rows: int
    n_values: int
    n_labels: int  # number of labels of the other column
    n_shared: int  # number of values that are labels of the other column
    n_right: int  # number of rows with one of these values

    @property
    def look_like_ids(self) -> bool:
        """Whether nearly every row has a distinct value and almost no value is a known label.

        Free-text answers also have many values, but so does their truth.
        """
        return (
            self.n_values >= max(_FEWEST, _NEARLY_ALL * self.n_rows)
            and self.n_labels <= _FEW_LABELS * self.n_values
            and self.n_right < _HARDLY_ANY * self.n_rows
        )

    @property
    def may_be_ids(self) -> bool:
        """Whether nearly every row has a distinct value and there are far fewer labels."""
        many = self.n_values >= max(_FEWEST, _NEARLY_ALL * self.n_rows)
        return self.look_like_ids or (many and 2 * self.n_labels <= self.n_values)

    @property
    def hold_no_label(self) -> bool:
        """Whether no row has a known label; with only a few rows, a model may always be wrong."""
        return not self.n_shared and self.n_rows >= _ENOUGH_ROWS

    def sentence(self, subject: str, other: str) -> str:
        """Describe a column.

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
    """Compare the values of a column, whose rows represent ``counts`` items, with labels."""
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
    """Reject predictions or a truth if nearly every row has a distinct value."""
    truth, *models = columns
    for column in models:
        if len(column.values) >= _FEWEST:
            comparison = compare_values(column.values, column.codes, truth.values, counts)
            if comparison.look_like_ids:
                reason = comparison.sentence(f"{column.name} have", truth.name)
                raise DataError(
                    f"{reason}. Predictions must be labels; if these are ids or free text, remove "
                    "them or convert them to labels"
                )
    if models and len(truth.values) >= _FEWEST:
        predicted = [value for column in models for value in column.values]
        comparison = compare_values(truth.values, truth.codes, predicted, counts)
        if comparison.look_like_ids and not comparison.n_shared:
            raise DataError(
                f"{truth.name} has {comparison.n_values:,} different values in "
                f"{comparison.n_rows:,} rows, and no model predicts any of them; check that this "
                "is the column of true labels"
            )


class Classes(Protocol):
    """Data with classes."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes."""
        ...

    @property
    def kind(self) -> str:
        """Kind of data, which decides the name of a class."""
        ...


class Counted(Classes, Protocol):
    """Counts by class."""

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        ...

    @property
    def tables(self) -> tuple[Table, ...]:
        """One table for all models, or one per model."""
        ...


def code_of(data: Classes, label: Label) -> int:
    """Return the code of a class, or raise an error that lists the classes."""
    for code, known in enumerate(data.labels):
        if known == label:
            return code
    noun = {"spans": "type", "label_sets": "label"}.get(data.kind, "class")
    twin = next((known for known in data.labels if str(known) == str(label)), None)
    if twin is not None:
        raise UsageError(
            f"unknown {noun} {label!r}; the {noun} {twin!r} is of type {type(twin).__name__}: pass "
            f"{twin!r}"
        )
    raise UsageError(unknown_name(noun, label, [str(known) for known in data.labels]))
