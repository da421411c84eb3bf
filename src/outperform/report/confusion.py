"""Where the predictions differ: the confusion matrix of A minus that of B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import Comparison
from outperform.present import numbers
from outperform.present.escape import for_text

_LARGEST_MATRIX = 25
_LONGEST_LIST = 20
_SHADES = 4
_NAME = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One difference, and whom it speaks for: ``a1`` to ``a4``, ``b1`` to ``b4``, or nobody."""

    text: str
    shade: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences as a matrix, or the largest of them as a list."""

    labels: tuple[str, ...]
    matrix: tuple[tuple[Cell, ...], ...]
    largest: tuple[tuple[str, str, str, str, str], ...]  # truth, predicted, A, B, A − B
    n_different: int


def confusion_differences(comparison: Comparison) -> Differences | None:
    """Return A − B in every cell of the confusion matrix; None where only right is known."""
    if comparison.question.seen.kind in ("correct", "scores", "label_sets"):
        return None
    seen = comparison.counted.seen
    if seen.kind == "correct":
        return None
    names = [*seen.labels, *(["(no span)"] if seen.kind == "spans" else [])]
    labels = tuple(for_text(name, limit=_NAME) for name in names)
    a, b = (np.asarray(matrix, dtype=np.float64) for matrix in comparison.confusions())
    whole = len(labels) <= _LARGEST_MATRIX
    return Differences(
        labels=labels,
        matrix=_matrix(a - b) if whole else (),
        largest=() if whole else _largest(labels, a, b),
        n_different=int(np.count_nonzero(a - b)),
    )


def _matrix(difference: FloatArray) -> tuple[tuple[Cell, ...], ...]:
    top = float(np.abs(difference).max())
    return tuple(
        tuple(_cell(value, row == column, top) for column, value in enumerate(values))
        for row, values in enumerate(difference.tolist())
    )


def _cell(value: float, right: bool, top: float) -> Cell:
    if value == 0:
        return Cell(text="0", shade="none")
    level = int(np.ceil(_SHADES * np.sqrt(abs(value) / top)))
    return Cell(text=_signed(value), shade=f"{'a' if (value > 0) is right else 'b'}{level}")


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + numbers.count(abs(value))


def _largest(
    labels: tuple[str, ...], a: FloatArray, b: FloatArray
) -> tuple[tuple[str, str, str, str, str], ...]:
    difference = a - b
    order = np.argsort(-np.abs(difference), axis=None, kind="stable")[:_LONGEST_LIST]
    places = [divmod(int(place), len(labels)) for place in order]
    return tuple(
        (
            labels[row],
            labels[column],
            numbers.count(float(a[row, column])),
            numbers.count(float(b[row, column])),
            _signed(float(difference[row, column])),
        )
        for row, column in places
        if difference[row, column] != 0
    )
