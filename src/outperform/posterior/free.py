"""Model free: the hierarchical model with its concentration learned too.

``ω_jj = s·η`` and ``ω_jk = s·(1 − η)/(M − 1)`` with ``η ~ Beta(1, 1)`` and a mass
``s`` of density ``1/(1 + s)²``. Fixing ``s`` at 1, as the ICDM model does, pulls a
classifier's own macro-averages down where classes have few documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.outcomes import Outcomes
from outperform.posterior.dense import dense_counts
from outperform.posterior.gammas import fill_proportions, log_gammas, runs
from outperform.posterior.grid import (
    GridPosterior,
    RisingFactorial,
    Term,
    grid_posterior,
    log_logistic,
    logistic,
)
from outperform.posterior.protocol import Drawn, Needs, NoClosedForms, Worker, margins_of


class Free(NoClosedForms):
    """Posterior of one model with learned diagonal share and learned prior mass."""

    n_models = 1

    def __init__(self, outcomes: Outcomes) -> None:
        if len(outcomes.models) != 1:
            raise UsageError("model 'free' serves one model; use model='unit' to pair several")
        self.n_classes = outcomes.n_classes
        self.counts = dense_counts(outcomes)  # (n_classes, n_classes)
        self.grid = mass_posterior(self.counts)

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw takes."""
        return self.counts.size + self.n_classes

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws η and s, then prevalence and rows given them."""
        n_classes = self.n_classes
        prevalence_shapes = self.counts.sum(axis=1) + 1.0
        pieces = runs(prevalence_shapes)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            logit, log_mass = self.grid.draw(generator, length)
            mass, right = np.exp(log_mass), logistic(logit)
            on, off = mass * right, mass * (1 - right) / (n_classes - 1)
            prevalence = np.empty((n_classes, length))
            fill_proportions(generator, prevalence_shapes, pieces, prevalence)
            confusion = np.empty((n_classes, n_classes, length))
            for row in range(n_classes):
                shapes = self.counts[row][:, None] + off
                shapes[row] = self.counts[row, row] + on
                confusion[row] = _row(generator, shapes) * prevalence[row]
            return [confusion if needs == "confusion" else margins_of(confusion)]

        return draw


def _row(generator: np.random.Generator, shapes: FloatArray) -> FloatArray:
    # Tiny shapes occur wherever the mass is small, so every row is drawn by its logarithms.
    logs = log_gammas(generator, shapes, shapes.shape)
    logs -= logs.max(axis=0)
    weights = np.exp(logs, out=logs)
    weights /= weights.sum(axis=0)
    return weights


def mass_posterior(counts: FloatArray) -> GridPosterior:
    """Return the posterior of ``(logit η, log s)``.

    ``log p = Σ_j [log Γ(s) − log Γ(s + n_j)] + Σ_jk [log Γ(c_jk + ω_jk) − log Γ(ω_jk)]``.
    """
    n_classes = len(counts)
    diagonal = np.eye(n_classes, dtype=bool)

    def on(axes: Sequence[FloatArray]) -> FloatArray:
        return axes[1] + log_logistic(axes[0])

    def off(axes: Sequence[FloatArray]) -> FloatArray:
        share: FloatArray = axes[1] + log_logistic(-axes[0]) - np.log(n_classes - 1)
        return share

    terms = [
        Term(function=RisingFactorial(counts[diagonal]), log_alpha=on),
        Term(function=RisingFactorial(counts[~diagonal]), log_alpha=off),
        Term(
            function=RisingFactorial(counts.sum(axis=1)), log_alpha=lambda axes: axes[1], sign=-1.0
        ),
    ]
    return grid_posterior(terms, 2)
