"""Worlds: the priors of the models, drawn as the textbook says and not as the package does.

A world draws the truth from the prior, then items from the truth, and then
asks the package for the posterior. In all models ``μ ~ Dir(β)`` and, in each
true class, ``θ_j ~ Dir(α_j)`` over the models' predictions; they differ only
in ``α``. Prior ``"learned"`` has a world of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform import Outcomes, Prior
from outperform._typing import FloatArray, IntArray
from outperform.data.table import Table
from outperform.posterior.registry import get_prior

NAMES = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Cell probabilities of each table, ``(n_classes, n_classes, …)``, and hyper-parameters."""

    tables: tuple[FloatArray, ...]
    hyper: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class World:
    """A prior of the package, on tables of some size.

    Parameters
    ----------
    prior
        As for ``compare``.
    n_classes, n_models
        The size of the tables.
    paired
        Whether several models see the same items.
    sticks
        Draw prior ``"unit"`` by sticks even where the package would draw every cell.
    """

    prior: str | Prior
    n_classes: int
    n_models: int = 1
    paired: bool = True
    sticks: bool = False

    @property
    def name(self) -> str:
        """What to call it in a table."""
        classes = "binary" if self.n_classes == 2 else f"{self.n_classes} classes"
        few = ("single", "paired" if self.paired else "unpaired")
        models = few[self.n_models - 1] if self.n_models <= 2 else f"{self.n_models} models"
        prior = self.prior if isinstance(self.prior, str) else "skewed"
        return f"{models}, {classes}, {prior}{' by sticks' if self.sticks else ''}"

    @property
    def shapes(self) -> Prior | None:
        """The shape of every cell; None for other priors."""
        return get_prior(self.prior).shapes

    @property
    def by_sticks(self) -> bool:
        """Whether the package draws the prior's mass by sticks, not cell by cell."""
        return self.sticks or self.prior == "hierarchical"

    @property
    def n_tables(self) -> int:
        """One joint table, or one for each model."""
        return 1 if self.paired else self.n_models

    def serves(self, n: int) -> bool:
        """Whether there are data sets of so many items."""
        return True

    def draw(self, n: int, generator: np.random.Generator) -> tuple[Truth, tuple[IntArray, ...]]:
        """Draw a truth from the prior, and items from the truth."""
        truth = self.draw_truth(generator)
        return truth, draw_counts(truth, n, generator)

    def draw_truth(self, generator: np.random.Generator) -> Truth:
        """Draw every table's cell probabilities from the prior."""
        together = self.n_models if self.paired else 1
        tables, hyper = [], {}
        for _ in range(self.n_tables):
            rows, drawn = self._rows(generator, together)
            hyper.update(drawn)
            prevalence = np.broadcast_to(self._prevalence(), (self.n_classes,))
            mu = dirichlet(generator, prevalence)
            theta = dirichlet(generator, rows.reshape(self.n_classes, -1))
            tables.append((mu[:, None] * theta).reshape(rows.shape))
        return Truth(tables=tuple(tables), hyper=hyper)

    def _prevalence(self) -> Any:
        return 1.0 if self.shapes is None else self.shapes.prevalence

    def _rows(
        self, generator: np.random.Generator, n_models: int
    ) -> tuple[FloatArray, dict[str, float]]:
        """Return prior shapes ``(n_classes, n_classes, …)`` and the hyper-parameters drawn."""
        n_classes = self.n_classes
        if self.shapes is not None:
            given = np.asarray(self.shapes.rows)
            if given.ndim == 0:
                return np.full((n_classes,) * (1 + n_models), float(given)), {}
            return product([given] * n_models, given.sum(axis=1)), {}
        rates = [0.5] * n_models
        drawn: dict[str, float] = {}
        if self.prior == "hierarchical":
            rates = generator.random(n_models).tolist()
            drawn = {f"η {name}": rate for name, rate in zip(NAMES, rates, strict=False)}
        rows = [diagonal_rows(n_classes, rate) for rate in rates]
        return product(rows, np.ones(n_classes)), drawn


def diagonal_rows(n_classes: int, right: float) -> FloatArray:
    """Return rows of mass 1 with ``right`` on the diagonal and the rest spread evenly."""
    wrong = (1 - right) / (n_classes - 1)
    return wrong + (right - wrong) * np.eye(n_classes)


def product(rows: Sequence[FloatArray], mass: FloatArray) -> FloatArray:
    """Return ``α_jkl = ω_jk · ω_jl / s_j``, likewise for more models, or ``ω`` for one."""
    joint = rows[0]
    for own in rows[1:]:
        shape = (len(own),) + (1,) * (joint.ndim - 1)
        joint = joint[..., None] * own.reshape(*shape, -1) / mass.reshape(*shape, 1)
    return joint


def dirichlet(generator: np.random.Generator, shapes: FloatArray) -> FloatArray:
    """Draw from a Dirichlet distribution along the last axis, in log space.

    ``log G(a) = log G(a + 1) + log(U) / a``: small shapes would underflow otherwise.
    """
    logs = np.log(generator.standard_gamma(shapes + 1.0))
    logs = logs + np.log(generator.random(shapes.shape)) / shapes
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    proportions: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
    return proportions


def draw_counts(truth: Truth, n: int, generator: np.random.Generator) -> tuple[IntArray, ...]:
    """Draw ``n`` items for each table."""
    return tuple(
        generator.multinomial(n, table.ravel()).reshape(table.shape) for table in truth.tables
    )


def as_outcomes(counts: Sequence[IntArray]) -> Outcomes:
    """Return counts as the package's outcomes; no items at all are allowed here."""
    tables = []
    for table in counts:
        cells = np.argwhere(table)
        tables.append(Table(cells, table[tuple(cells.T)]))
    n_models = sum(table.ndim - 1 for table in counts)
    return Outcomes(
        models=tuple(NAMES[:n_models]),
        labels=tuple(range(len(counts[0]))),
        tables=tuple(tables),
    )
