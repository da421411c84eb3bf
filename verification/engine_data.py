"""Twelve data sets for both engines: counts of what was true, what A said and what B said.

A class k has its share of the items. A is right at its rate and otherwise says one of
the other classes; B says the same as A in a part of the items and answers by itself in
the rest. Only counts are drawn, so a million items cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outperform import Outcomes
from outperform._typing import FloatArray, IntArray
from verification.worlds import diagonal_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """How the counts of a data set are drawn, and what is asked of them.

    ``shares`` are relative; ``together`` is the part of the items in which B says what
    A says; ``unsaid`` is a class that A never predicts.
    """

    name: str
    n: int
    shares: tuple[float, ...]
    right: tuple[float, float]
    together: float = 0.5
    unsaid: int | None = None
    metric: str = "f1_macro"
    rope: float = 0.01

    @property
    def n_classes(self) -> int:
        """How many classes it has, those without items included."""
        return len(self.shares)

    @property
    def is_binary(self) -> bool:
        """Whether the models of two classes serve it."""
        return self.n_classes == 2


_EVEN = {n: (1.0,) * n for n in (2, 3, 4, 5, 10)}

DATA = (
    DataSet(name="tiny", n=20, shares=_EVEN[2], right=(0.8, 0.6), metric="f1", rope=0.1),
    DataSet(
        name="few positives",
        n=200,
        shares=(0.97, 0.03),
        right=(0.95, 0.93),
        metric="f1",
        rope=0.1,
    ),
    DataSet(name="equal", n=300, shares=_EVEN[2], right=(0.9, 0.9), together=1.0, metric="f1"),
    DataSet(
        name="closed form",
        n=10_000,
        shares=_EVEN[2],
        right=(0.900, 0.895),
        metric="accuracy",
        rope=0.003,
    ),
    DataSet(
        name="million",
        n=1_000_000,
        shares=(0.9, 0.1),
        right=(0.95, 0.95),
        together=0.8,
        metric="f1",
        rope=0.0005,
    ),
    DataSet(name="three classes", n=60, shares=_EVEN[3], right=(0.8, 0.7), rope=0.05),
    DataSet(
        name="rare class",
        n=10_000,
        shares=(0.6, 0.397, 0.003),
        right=(0.90, 0.89),
        rope=0.003,
    ),
    DataSet(name="A perfect", n=400, shares=_EVEN[4], right=(1.0, 0.98)),
    DataSet(
        name="million, four classes",
        n=1_000_000,
        shares=(0.7, 0.2, 0.09, 0.01),
        right=(0.90, 0.90),
        metric="matthews_corrcoef",
        rope=0.0005,
    ),
    DataSet(
        name="A never says one class",
        n=150,
        shares=_EVEN[5],
        right=(0.8, 0.65),
        unsaid=4,
        rope=0.05,
    ),
    DataSet(
        name="classes without documents",
        n=100,
        shares=(40, 30, 15, 10, 4, 1, 0.2, 0.1),
        right=(0.75, 0.7),
        metric="recall_macro",
        rope=0.05,
    ),
    DataSet(name="ten classes", n=2_000, shares=_EVEN[10], right=(0.80, 0.79)),
)


def cells_of(data: DataSet) -> IntArray:
    """Return how many items ``(truth, prediction of A, prediction of B)``."""
    generator = np.random.default_rng([20_161_115, 0, data.n, data.n_classes])
    shares = np.array(data.shares) / sum(data.shares)
    totals = generator.multinomial(data.n, shares)
    a, b = (diagonal_rows(data.n_classes, rate) for rate in data.right)
    if data.unsaid is not None:
        a[:, data.unsaid] = 0.0
        a /= a.sum(axis=1, keepdims=True)
    found = [
        generator.multinomial(total, _pairs(row_a, row_b, data.together).ravel())
        for total, row_a, row_b in zip(totals, a, b, strict=True)
    ]
    return np.stack(found).reshape((data.n_classes,) * 3)


def _pairs(a: FloatArray, b: FloatArray, together: float) -> FloatArray:
    """Return the chance of each pair of predictions ``(A, B)`` in one class."""
    return together * np.diag(a) + (1 - together) * np.outer(a, b)


def outcomes_of(data: DataSet) -> Outcomes:
    """Return the data set with one class an item."""
    cells = cells_of(data)
    truth, a, b = np.nonzero(cells)
    labels = range(data.n_classes)
    return Outcomes.from_counts(truth, {"A": a, "B": b}, cells[truth, a, b], labels=list(labels))


def label_sets_of(data: DataSet) -> Outcomes:
    """Return the data set with label sets: class k stands for the labels k and k + 1.

    After the last label comes the first one; with two classes, k stands for itself.
    """
    cells = cells_of(data)
    places = np.nonzero(cells)
    own = np.eye(data.n_classes, dtype=np.int64)
    sets = own if data.is_binary else own + np.roll(own, 1, axis=1)
    truth, a, b = (sets[np.repeat(place, cells[places])] for place in places)
    return Outcomes.from_label_sets(truth, {"A": a, "B": b})
