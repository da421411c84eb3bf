"""What outcomes are made of, checked once at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outperform._typing import Label
from outperform.errors import DataError, UsageError
from outperform.outcomes.aligning import frame_columns, is_frame
from outperform.outcomes.labels import Column, check_label


def named(columns: Any) -> Mapping[str, Any]:
    """Return models by name, be it a mapping or the columns of a frame; or say how to give them."""
    if is_frame(columns):
        columns = frame_columns(columns, name="the frame of models")
    if not isinstance(columns, Mapping) or not columns:
        raise UsageError("give the models by name, e.g. {'bert': predictions}, or as a frame")
    for name in columns:
        if not isinstance(name, str):
            raise UsageError(f"model names must be text; got {name!r}")
    return columns


def same_length(columns: Sequence[Column]) -> None:
    """Refuse columns that cannot be the same documents."""
    first = columns[0]
    for column in columns[1:]:
        if len(column.codes) != len(first.codes):
            raise DataError(
                f"{first.name} has {len(first.codes)} rows and {column.name} has "
                f"{len(column.codes)}; they must be the same documents in the same order"
            )
    if not len(first.codes):
        raise DataError(f"{first.name} has no rows; at least one document is needed")


def check_labels(labels: Sequence[Label], *, like: set[Label] | None = None) -> tuple[Label, ...]:
    """Return distinct labels of the type of the data, in which True is 1."""
    if isinstance(labels, (str, bytes)):
        raise UsageError(f"labels must be a list of classes; got {labels!r}")
    checked = tuple(check_label(label, name="labels") for label in labels)
    if not checked or len(set(checked)) != len(checked):
        raise UsageError(f"labels must be distinct classes; got {list(labels)}")
    kinds = {type(label) for label in checked} | {type(label) for label in like or ()}
    if kinds == {bool, int}:
        as_truth = {type(label) for label in like or ()} == {bool} and set(checked) <= {0, 1}
        return tuple(bool(label) if as_truth else int(label) for label in checked)
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"labels must be of the type of the data; got a mixture of {names}")
    return checked
