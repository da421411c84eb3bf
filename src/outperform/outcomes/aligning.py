"""Rows and columns that have names: brought to one order by them, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from outperform._typing import IntArray, Label
from outperform.errors import DataError
from outperform.findings import Finding

# Rows: by the index of pandas, which other libraries do not have


class Rows(NamedTuple):
    """Columns of the same items, all in the order of the first one."""

    truth: Any
    models: dict[str, Any]
    beside: dict[str, Any]
    findings: tuple[Finding, ...]


def align(
    models: Mapping[str, Any],
    *,
    truth: Any = None,
    first: str = "y_true",
    what: str = "predictions",
    beside: Mapping[str, Any],
) -> Rows:
    """Put the rows of all columns in the order of the truth, or of the first model without one.

    Where indices differ rows are matched by them; what has none is taken by position.

    Parameters
    ----------
    models
        A column for each model.
    truth
        The column that says what is right, if there is one.
    first
        What to call it in an error.
    what
        What the columns of the models hold, in an error.
    beside
        Other columns of the same rows, such as groups, by what to call them; None where there
        are none.
    """
    columns = {} if truth is None else {first: truth}
    columns |= {f"{what} of {model!r}": values for model, values in models.items()}
    aligned, findings = align_rows({**columns, **beside})
    values = iter(aligned.values())
    return Rows(
        truth=None if truth is None else next(values),
        models={model: next(values) for model in models},
        beside={name: next(values) for name in beside},
        findings=findings,
    )


def align_rows(columns: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Put the rows of columns in the order of the first one, by their index where it differs.

    Examples
    --------
    >>> import pandas as pd
    >>> truth, predicted = pd.Series([1, 0, 0], [7, 8, 9]), pd.Series([0, 0, 1], [9, 8, 7])
    >>> columns, (finding,) = align_rows({"y_true": truth, "predictions": predicted})
    >>> columns["predictions"].tolist(), finding.name
    ([1, 0, 0], 'aligned_by_index')
    """
    indexed = [name for name, values in columns.items() if _has_index(values)]
    aligned, moved = dict(columns), []
    for name in indexed[1:]:
        places = _places(columns, indexed[0], name)
        if places is not None:
            aligned[name] = columns[name].iloc[places]
            moved.append(name)
    if not moved:
        return aligned, ()
    leading = next(iter(columns))
    if leading != indexed[0]:
        raise DataError(
            f"{indexed[0]} and {moved[0]} have the same index in another order, and {leading} has "
            "none that says which order is its own; give all of them an index, or pass "
            ".to_numpy() to compare by position"
        )
    message = (
        f"The rows of {', '.join(moved)} were in another order than those of {leading} and were "
        "aligned by index; pass .to_numpy() for position."
    )
    return aligned, (Finding("aligned_by_index", "warning", message),)


def _has_index(values: Any) -> bool:
    return hasattr(values, "iloc") and hasattr(getattr(values, "index", None), "get_indexer")


def _places(columns: Mapping[str, Any], first: str, name: str) -> IntArray | None:
    """Return where each row of the first column is in another one; None if at the same place."""
    wanted, own = columns[first].index, columns[name].index
    if len(wanted) != len(own) or wanted.equals(own):
        return None  # what differs in length is refused where columns are read
    for one, index in ((first, wanted), (name, own)):
        if not index.is_unique:
            twice = _shown(index[index.duplicated()][0])
            raise DataError(
                f"{first} and {name} have different indices, and that of {one} has {twice} "
                f"twice, so rows cannot be matched; {_MEND}"
            )
    places: IntArray = np.asarray(own.get_indexer(wanted), dtype=np.int64)
    if (places < 0).any():
        lacking = _shown(wanted[int(np.flatnonzero(places < 0)[0])])
        raise DataError(
            f"{first} and {name} have as many rows but different indices: only {first} has "
            f"{lacking}; {_MEND}"
        )
    return None if (places == np.arange(len(places))).all() else places


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


_MEND = "give them the same index, or pass .to_numpy() to compare by position"

# Columns: by the names of a frame, of whichever library


def is_frame(values: Any) -> bool:
    """Return whether values are columns with names: a frame of pandas or polars, or Arrow."""
    return hasattr(values, "columns") and hasattr(values, "shape") and hasattr(values, "__len__")


def column_names(frame: Any, *, name: str) -> list[Any]:
    """Return the names of a frame's columns, which must differ."""
    # What Arrow calls columns are the columns themselves.
    names = list(getattr(frame, "column_names", frame.columns))
    if len(set(names)) != len(names):
        twice = next(one for place, one in enumerate(names) if one in names[:place])
        raise DataError(f"{name} has two columns of the name {twice!r}; rename one of them")
    return names


def frame_columns(frame: Any, *, name: str) -> dict[Any, Any]:
    """Return the columns of a frame by name, each with the frame's index if it has one."""
    return {one: frame[one] for one in column_names(frame, name=name)}


def only_column(values: Any, *, name: str) -> Any:
    """Return the column of a frame that has just one; anything else as it is."""
    if not is_frame(values) or values.shape[1] != 1:
        return values
    (column,) = frame_columns(values, name=name).values()
    return column


def in_class_order(values: Any, labels: Sequence[Label], *, name: str) -> Any:
    """Return a matrix with a column for each class in the order of the classes.

    A frame's columns go by name. Without names, which is what pandas calls 0, 1, … unless these
    are classes, they are in this order already.
    """
    if not is_frame(values) or values.shape[1] == 1:
        return only_column(values, name=name)
    names, matrix = column_names(values, name=name), np.asarray(values)
    known = {label if label in names else str(label): label for label in labels}
    if set(known) == set(names):
        return matrix[:, [names.index(one) for one in known]]
    if names == list(range(len(names))):
        return matrix
    shown = ", ".join(repr(label) for label in labels)
    spare = [one for one in names if one not in known]
    lacking = [one for one in known if one not in names]
    odd = f"has {spare[0]!r}" if spare else f"lacks {lacking[0]!r}"
    raise DataError(
        f"the columns of {name} must be called like the classes {shown}; it {odd}. Rename them, "
        "name classes that never occur in labels=, or pass .to_numpy() for columns in the order "
        "of the classes"
    )
