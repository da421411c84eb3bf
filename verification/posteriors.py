"""What the package draws from the posterior, in the form that calibration needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from outperform._typing import FloatArray, IntArray
from outperform.posterior.base import Independent, Sums, Tables, build_posterior
from outperform.posterior.dirichlet import DenseRows, SparseWeights, sparse_unit
from outperform.posterior.learned import Learned
from outperform.posterior.registry import get_prior
from verification.worlds import NAMES, World, as_outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws of one posterior; draws on the last axis.

    Parameters
    ----------
    tables
        Cell probabilities of each table, ``(n_classes, n_classes, …, n_draws)``.
    sums
        What the metrics of each model are computed from: drawn on their own,
        by the road that ``compare`` takes.
    hyper
        Hyper-parameters by name.
    """

    tables: tuple[FloatArray, ...]
    sums: tuple[Sums, ...]
    hyper: dict[str, FloatArray]


Sampler = Callable[[World, Sequence[IntArray], np.random.Generator, int], Draws]


def sample(
    world: World, counts: Sequence[IntArray], generator: np.random.Generator, n_draws: int
) -> Draws:
    """Draw from the package's posterior given counts."""
    outcomes = as_outcomes(counts)
    if world.sticks:
        posterior: Tables = sparse_unit(outcomes)
    else:
        posterior = build_posterior(outcomes, get_prior(world.prior))
    return draws_of(posterior, world, generator, n_draws)


def draws_of(
    posterior: Tables, world: World, generator: np.random.Generator, n_draws: int
) -> Draws:
    """Draw from a posterior of the package."""
    sums = posterior.worker("margins")(generator, n_draws)
    return Draws(
        tables=tuple(_tables(posterior, generator, n_draws)),
        sums=tuple(Sums(*one) for one in sums),
        hyper=hyper_of(posterior, world, generator, n_draws),
    )


def _tables(posterior: Tables, generator: np.random.Generator, n_draws: int) -> list[FloatArray]:
    if posterior.n_models == 1 or isinstance(posterior, Independent):
        return [np.array(table) for table in posterior.worker("confusion")(generator, n_draws)]
    if isinstance(posterior, DenseRows):
        cells = posterior.weights_worker()(generator, n_draws)
    else:
        assert isinstance(posterior, SparseWeights)
        draw = posterior.tallied(_JointTally(posterior))
        # A large table is drawn piece by piece, so that it stays in the cache.
        step = n_draws if posterior.n_classes ** (1 + posterior.n_models) <= 128 else 128
        pieces = [
            np.asarray(draw(generator, min(step, n_draws - start))[0])
            for start in range(0, n_draws, step)
        ]
        cells = np.concatenate(pieces, axis=1)
    return [cells.reshape((posterior.n_classes,) * (1 + posterior.n_models) + (n_draws,))]


class _JointTally:
    """Keeps every cell of the joint table apart, and scales them to sum to 1."""

    def __init__(self, posterior: SparseWeights) -> None:
        self.shape = (posterior.n_classes,) * (1 + posterior.n_models)
        self.places = np.ravel_multi_index(tuple(posterior.cells.T), self.shape)
        n_classes, n_tickets = posterior.n_classes, 2 * (posterior.n_classes - 1)
        truth, ticket = np.indices((n_classes, n_tickets))
        # The class that a ticket means: the true one, or the i-th one after it.
        self.meant = ((truth + np.maximum(ticket - n_classes + 2, 0)) % n_classes).ravel()
        self.firsts = (np.arange(n_classes) * n_tickets)[:, None]

    def of_cells(self, gammas: FloatArray) -> FloatArray:
        sums = np.zeros((int(np.prod(self.shape)), gammas.shape[1]))
        sums[self.places] = gammas
        return sums

    def add_prior(self, sums: FloatArray, masses: FloatArray, tickets: Sequence[IntArray]) -> None:
        n_classes, length = masses.shape[1:]
        place = np.arange(n_classes)[:, None]
        for ticket in tickets:
            place = place * n_classes + self.meant.take(ticket + self.firsts, mode="clip")
        place = place * length + np.arange(length)
        flat = sums.reshape(-1)
        for stick, mass in zip(place, masses, strict=True):
            # Within one stick every class has one place, so nothing is added twice.
            flat[stick] += mass

    def split(self, sums: FloatArray) -> list[Sums | FloatArray]:
        sums /= sums.sum(axis=0)
        return [sums]


def hyper_of(
    posterior: Tables, world: World, generator: np.random.Generator, n_draws: int
) -> dict[str, FloatArray]:
    """Draw the hyper-parameters from the quadrature that the weights are drawn from."""
    if isinstance(posterior, Learned):
        (rows,) = posterior.rows
        logit, log_mass, slope = rows.recall.draw(generator, n_draws)
        spread, _ = rows.spread.draw(generator, n_draws)
        found = {"η A": expit(logit), "s A": np.exp(log_mass)}
        return found | {"b A": slope, "t A": spread}
    if world.prior == "hierarchical":
        assert isinstance(posterior, SparseWeights)
        rates = posterior.right_rates(generator, n_draws)
        return {f"η {name}": np.asarray(rate) for name, rate in zip(NAMES, rates, strict=False)}
    return {}
