"""Confusion matrices as they come: checked, and looked at side by side."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from outperform._typing import AnyArray
from outperform.errors import DataError
from outperform.findings import Finding
from outperform.outcomes.counting import as_counts


def read_confusions(matrices: Mapping[str, Any]) -> dict[str, AnyArray]:
    """Return the counts of each model, all of one size, or say what is wrong with them."""
    _refuse_other_orders(matrices)
    arrays = {name: _square(value, name) for name, value in matrices.items()}
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        raise DataError(f"confusion matrices must have one size; got {sizes}")
    return arrays


def truth_findings(arrays: Mapping[str, AnyArray]) -> tuple[Finding, ...]:
    """Name matrices that would fit the others if they were transposed or in another order."""
    found = []
    for (one, first), (other, second) in pairwise(arrays.items()):
        truth, rows, columns = first.sum(axis=1), second.sum(axis=1), second.sum(axis=0)
        if (rows == truth).all():
            continue
        if (columns == truth).all():
            doubt = f"the columns of {other!r} sum to what the rows of {one!r} do; transposed?"
        elif sorted(rows) == sorted(truth):
            doubt = f"the classes of {one!r} and {other!r} seem to stand in another order."
        else:
            continue
        message = f"The matrices do not agree on the truth; {doubt}"
        found.append(Finding("tables_disagree_on_truth", "warning", message))
    return tuple(found)


def _square(value: Any, name: str) -> AnyArray:
    array = as_counts(value, name=f"confusion matrix of {name!r}")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise DataError(
            f"the confusion matrix of {name!r} must be square with at least two classes, rows "
            f"truth and columns predictions; got shape {array.shape}"
        )
    if not array.any():
        raise DataError(f"the confusion matrix of {name!r} has no documents")
    return array


def _refuse_other_orders(matrices: Mapping[str, Any]) -> None:
    """Refuse frames whose axes differ: a crosstab leaves out what never occurred."""
    axes = {}
    for name, value in matrices.items():
        if hasattr(value, "index") and hasattr(value, "columns"):
            axes[f"rows of {name!r}"] = list(value.index)
            axes[f"columns of {name!r}"] = list(value.columns)
    for (one, first), (other, second) in pairwise(axes.items()):
        if first != second:
            raise DataError(
                f"the {one} and the {other} must be the same classes in the same order; got "
                f"{first} and {second}; reindex them, e.g. "
                "table.reindex(index=classes, columns=classes, fill_value=0)"
            )
