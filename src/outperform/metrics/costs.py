"""What mistakes cost, or answers are worth: Σ share of (truth, prediction) · cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform._typing import FloatArray, Label
from outperform.errors import UsageError, unknown_name

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """A cost for every pair of true and predicted class; called with a confusion array.

    Parameters
    ----------
    matrix
        The cost of each pair, rows the truth; None where pairs are given by name.
    labels
        The class of each row and column; None for those of the data, in their order.
    pairs
        Truth, prediction and cost of some pairs; all others cost nothing.
    unit
        What the costs are counted in, such as ``"EUR"``.

    Examples
    --------
    >>> costs = Costs.from_param({("fraud", "ok"): 100, ("ok", "fraud"): 5}, unit="EUR")
    >>> costs.aligned(("fraud", "ok")).matrix
    ((0.0, 100.0), (5.0, 0.0))
    """

    matrix: tuple[tuple[float, ...], ...] | None = None
    labels: tuple[Label, ...] | None = None
    pairs: tuple[tuple[Label, Label, float], ...] = ()
    unit: str | None = None

    @classmethod
    def from_param(
        cls, costs: Any, *, labels: Sequence[Label] | None = None, unit: str | None = None
    ) -> Costs:
        """Take a square matrix, or costs by (truth, prediction).

        Parameters
        ----------
        costs
            What the user gave.
        labels
            The class of each row and column of a matrix.
        unit
            What the costs are counted in.
        """
        if unit is not None and (not isinstance(unit, str) or not unit.strip()):
            raise UsageError(f"unit must be text such as 'EUR'; got {unit!r}")
        if isinstance(costs, Mapping):
            if labels is not None:
                raise UsageError("costs by (truth, prediction) name their classes; drop labels=")
            return cls(pairs=_pairs(costs), unit=unit)
        matrix = _matrix(costs)
        named = None if labels is None else tuple(_plain(label) for label in labels)
        if named is not None and (len(named) != len(matrix) or len(set(named)) != len(named)):
            raise UsageError(
                f"a cost matrix of {len(matrix)} rows needs as many different labels; got "
                f"{list(named)}"
            )
        return cls(matrix=matrix, labels=named, unit=unit)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest cost of a document."""
        values = [cost for *_, cost in self.pairs] + [0.0] if self.matrix is None else self.matrix
        return float(np.min(values)), float(np.max(values))

    @property
    def per_document(self) -> str:
        """What the value is in, in words."""
        return "per document" if self.unit is None else f"{self.unit} per document"

    def aligned(self, labels: tuple[Label, ...]) -> Costs:
        """Return the matrix in the order of the classes of some data.

        Parameters
        ----------
        labels
            All classes of the data.
        """
        if self.matrix is None:
            return self._of_pairs(labels)
        if self.labels is None:
            if len(self.matrix) != len(labels):
                raise UsageError(
                    f"the cost matrix is {len(self.matrix)}×{len(self.matrix)}, but there are "
                    f"{len(labels)} classes, in this order: {_listed(labels)}; name the rows with "
                    "labels="
                )
            return replace(self, labels=labels)
        known = [_key(label) for label in self.labels]
        unpriced = [label for label in labels if _key(label) not in known]
        if unpriced:
            raise UsageError(
                f"the cost matrix has rows for {_listed(self.labels)}, but the data also have "
                f"{_listed(unpriced)}"
            )
        order = [known.index(_key(label)) for label in labels]
        matrix = tuple(tuple(self.matrix[row][column] for column in order) for row in order)
        return replace(self, matrix=matrix, labels=labels)

    def _of_pairs(self, labels: tuple[Label, ...]) -> Costs:
        place = {_key(label): code for code, label in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)))
        for truth, prediction, cost in self.pairs:
            for label in (truth, prediction):
                if _key(label) not in place:
                    known = unknown_name("class", label, map(str, labels))
                    raise UsageError(
                        f"{known}; a class that could have occurred is named with labels="
                    )
            matrix[place[_key(truth)], place[_key(prediction)]] = cost
        return replace(self, matrix=_rows(matrix), labels=labels, pairs=())

    def __call__(self, confusion: FloatArray) -> FloatArray:
        """Return the mean cost of each table ``(n_classes, n_classes, n)``, rows the truth."""
        total = np.einsum("jkn,jk->n", confusion, np.array(self.matrix))
        return np.asarray(total / confusion.sum(axis=(0, 1)))

    def to_dict(self) -> dict[str, Any]:
        """Return the costs as plain JSON-able values."""
        if self.matrix is None:
            return {"pairs": [list(pair) for pair in self.pairs], "unit": self.unit}
        labels = None if self.labels is None else list(self.labels)
        return {"labels": labels, "matrix": [list(row) for row in self.matrix], "unit": self.unit}


def _matrix(costs: Any) -> tuple[tuple[float, ...], ...]:
    try:
        array = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"costs must be a square matrix of numbers; got {costs!r}") from error
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        raise UsageError(
            "costs must be a square matrix, rows the truth and columns the predictions, or a "
            f"mapping such as {{('fraud', 'ok'): 100}}; got shape {array.shape}"
        )
    return _checked(array, array)


def _pairs(costs: Mapping[Any, Any]) -> tuple[tuple[Label, Label, float], ...]:
    pairs = []
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise UsageError(f"costs are given by (truth, prediction); got {pair!r}")
        try:
            pairs.append((_plain(pair[0]), _plain(pair[1]), float(cost)))
        except (TypeError, ValueError) as error:
            raise UsageError(f"the cost of {pair!r} must be a number; got {cost!r}") from error
    _checked(np.array([[cost for *_, cost in pairs] + [0.0]]), costs)
    return tuple(sorted(pairs, key=lambda pair: (_key(pair[0]), _key(pair[1]))))


def _checked(array: FloatArray, costs: Any) -> tuple[tuple[float, ...], ...]:
    if not np.isfinite(array).all():
        raise UsageError(f"costs must be finite; got {costs!r}")
    if array.min() == array.max():
        raise UsageError("the costs are all the same, so no model could cost less than another")
    return _rows(array)


def _rows(array: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in array.tolist())


def _plain(label: Any) -> Label:
    plain: Label = label.item() if isinstance(label, np.generic) else label
    return plain


def _key(label: Label) -> tuple[str, str]:
    """Return what tells labels apart: True == 1, and they are not the same class."""
    return type(label).__name__, str(label)


def _listed(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_MOST_NAMED])
    left = len(labels) - _MOST_NAMED
    return shown if left <= 0 else f"{shown} and {left} more"
