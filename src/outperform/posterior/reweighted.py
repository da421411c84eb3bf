"""A posterior at other class proportions: its rates of each class, and the shares given.

In every draw the weights of a true class are divided by their sum, which leaves
P(prediction | class), and multiplied by the class's share in the other population. All
models of a draw get the same shares, because it is the same world, paired or not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._typing import FloatArray
from outperform.posterior.linear import LinearWeights
from outperform.posterior.prevalence import Prevalence
from outperform.posterior.protocol import (
    Drawn,
    Independent,
    Needs,
    NoClosedForms,
    Posterior,
    Scale,
    ScaledWorker,
    Shapes,
    Sums,
    Worker,
    margins_of,
)
from outperform.posterior.sparse import SparseWeights


class Reweighted(NoClosedForms):
    """A posterior whose class proportions are replaced and whose rates are kept.

    What happens within one true class, such as recall, stays as it was, closed forms too.

    Parameters
    ----------
    posterior
        The posterior of what was seen.
    prevalence
        The shares of the classes in the other population.
    codes
        The true class that each named share is about.
    n_classes
        How many classes the posterior has.
    """

    def __init__(
        self,
        posterior: Posterior,
        prevalence: Prevalence,
        *,
        codes: Sequence[int],
        n_classes: int,
    ) -> None:
        self.posterior, self.prevalence = posterior, prevalence
        self.codes, self.n_classes = tuple(codes), n_classes

    @property
    def n_models(self) -> int:
        """How many models are read off the same weights."""
        return self.posterior.n_models

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        return self.posterior.n_gammas + self.n_classes

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws the shares and scales every model's classes to them."""
        apart = self.posterior.posteriors if isinstance(self.posterior, Independent) else None
        workers = [_scaled(one, needs) for one in apart or (self.posterior,)]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            shares = self.prevalence.draw(generator, length)

            def scale(actual: FloatArray) -> FloatArray:
                return row_factors(actual, shares, self.codes)

            return [drawn for one in workers for drawn in one(generator, length, scale)]

        return draw

    def row_shapes(self, model: int, positive: int) -> tuple[float, float] | None:
        """Return the shapes of right and wrong in one true class, which has its own rates."""
        return self.posterior.row_shapes(model, positive)

    def agreement_shapes(self, truth: int | None) -> Shapes | None:
        """Return the shapes of what two models got right in one true class."""
        return None if truth is None else self.posterior.agreement_shapes(truth)

    def prevalence_shapes(self, positive: int) -> tuple[float, float] | None:
        """Return the shapes of a class and of the rest where two classes were counted."""
        shapes = self.prevalence.shapes
        if shapes is None or len(shapes) != 2 or self.n_classes != 2:
            return None
        of_class = dict(zip(self.codes, shapes, strict=True))
        return of_class[positive], of_class[1 - positive]


def row_factors(actual: FloatArray, shares: FloatArray, codes: Sequence[int]) -> FloatArray:
    """Return what the weights of each true class are multiplied by to get other shares.

    Classes without a share of their own share what is left in their own proportions.

    Parameters
    ----------
    actual
        The weight of each true class, ``(n_classes, n_draws)``.
    shares
        Of the named classes, ``(n_named, n_draws)``.
    codes
        The named classes.

    Examples
    --------
    >>> import numpy as np
    >>> row_factors(np.array([[100.0], [50.0]]), np.array([[0.02]]), [1]).ravel().tolist()
    [0.0098, 0.0004]
    """
    rest = np.delete(np.arange(len(actual)), list(codes))
    target = np.empty_like(actual)
    target[list(codes)] = shares
    left = np.maximum(1.0 - shares.sum(axis=0), 0.0)
    target[rest] = left * _divided(actual[rest], actual[rest].sum(axis=0))
    return _divided(target, actual)


def _divided(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 where a class has no weight at all."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _scaled(posterior: Posterior, needs: Needs) -> ScaledWorker:
    """Scale cells before they are added up; where all cells are drawn, the confusion arrays."""
    if isinstance(posterior, (SparseWeights, LinearWeights)):
        return posterior.scaled_worker(needs)
    inner = posterior.worker("confusion")

    def draw(generator: np.random.Generator, length: int, scale: Scale) -> list[Drawn]:
        found: list[Drawn] = []
        for confusion in inner(generator, length):
            assert not isinstance(confusion, Sums)  # confusion arrays were asked for
            weighed = confusion * scale(confusion.sum(axis=1))[:, None]
            found.append(weighed if needs == "confusion" else margins_of(weighed))
        return found

    return draw
