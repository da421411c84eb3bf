"""What every posterior is: a way to draw weights, and closed forms where there are any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.streams import run_blocks

Needs = Literal["margins", "confusion"]


class Sums(NamedTuple):
    """Sums of weights for each class; draws on the last axis."""

    hits: FloatArray  # (n_classes, n_draws) truth and prediction are the class
    actual: FloatArray  # (n_classes, n_draws) the truth is the class
    predicted: FloatArray  # (n_classes, n_draws) the prediction is the class


Drawn = Sums | FloatArray
"""Margins, or a confusion array of shape ``(n_classes, n_classes, n_draws)``, rows truth."""

Worker = Callable[[np.random.Generator, int], list[Drawn]]
"""Draw a block of a given length: one :class:`Drawn` per model."""


Scale = Callable[[FloatArray], FloatArray]
"""From the sum of each true class ``(n_classes, n_draws)`` to the factor of its weights."""

ScaledWorker = Callable[[np.random.Generator, int, Scale], list[Drawn]]
"""Draw a block whose true classes are scaled before the weights are added up."""


class Shapes(NamedTuple):
    """Dirichlet shapes of what two models got right among the same documents."""

    both: float
    only_a: float
    only_b: float
    neither: float


class Posterior(Protocol):
    """A posterior over the weights of what was seen, for one model or several at once."""

    @property
    def n_models(self) -> int:
        """How many models are read off the same weights."""

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""

    def worker(self, needs: Needs) -> Worker:
        """Return a function with buffers of its own that draws blocks."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part where all cells are one Dirichlet, else None."""

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong among documents of one true class."""

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of both, A only, B only and neither right; None if not Dirichlet."""

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of a class and of the rest where they have a prior of their own."""


class NoClosedForms:
    """What a posterior inherits that has only draws; one that knows shapes says so itself."""

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return None: the parts are no sums of Dirichlet cells."""
        return None

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return None: right and wrong in a class are no Dirichlet."""
        return None

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return None: what both got right is no Dirichlet."""
        return None

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return None: prevalence has no prior of its own."""
        return None


class Independent(NoClosedForms):
    """Posteriors of different documents, side by side: the unpaired comparison."""

    def __init__(self, posteriors: Sequence[Posterior]) -> None:
        self.posteriors = tuple(posteriors)

    @property
    def n_models(self) -> int:
        """How many models there are."""
        return len(self.posteriors)

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        return sum(posterior.n_gammas for posterior in self.posteriors)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws each posterior in turn."""
        workers = [posterior.worker(needs) for posterior in self.posteriors]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            return [drawn for one in workers for drawn in one(generator, length)]

        return draw

    def part_shape(self, model: int, part: str, positive: int | None) -> float | None:
        """Return the gamma shape of a part in the model's own posterior."""
        return self.posteriors[model].part_shape(0, part, positive)

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong in the model's own posterior."""
        return self.posteriors[model].row_shapes(0, positive)


def draw_values(
    posterior: Posterior,
    evaluate: Callable[[list[Drawn], FloatArray], None],
    *,
    needs: Needs,
    n_values: int,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw and evaluate block by block; returns ``(n_values, n_draws)``.

    ``evaluate(drawn, out)`` turns one block into ``out  # (n_values, block)``,
    so that the weights themselves are never kept.
    """

    def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
        worker = posterior.worker(needs)

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            evaluate(worker(generator, out.shape[1]), out)

        return fill

    return run_blocks(
        make_fill,
        n_values=n_values,
        n_draws=n_draws,
        n_gammas=posterior.n_gammas,
        seed=seed,
        n_jobs=n_jobs,
    )


def margins_of(confusion: FloatArray) -> Sums:
    """Return the margins of confusion arrays ``(n_classes, n_classes, n_draws)``."""
    diagonal = np.arange(confusion.shape[0])
    return Sums(
        hits=confusion[diagonal, diagonal],
        actual=confusion.sum(axis=1),
        predicted=confusion.sum(axis=0),
    )
