"""The world of the papers: two classes, and how often each pair of predictions occurs in either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from outperform import metrics
from outperform._typing import FloatArray
from outperform.comparison.planning.outlook import Outlook
from outperform.comparison.planning.worlds import simulated_ends
from outperform.decision import narrowest_ends
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.posterior import (
    DenseRows,
    Independent,
    Posterior,
    Prior,
    Sums,
    child,
)

_OUTCOMES = ("11", "10", "01", "00")
# So many documents that the prior does not show.
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesWorld:
    """Outcome probabilities and how data from them are analysed."""

    theta: FloatArray  # (2, 4): negative and positive documents, outcomes 11, 10, 01, 00
    prevalence: float
    prior: Prior
    paired: bool
    metric: metrics.Metric
    n_draws: int
    prob: float

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return "A", "B"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """No doubts: the probabilities are taken as they are."""
        return ()

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)`` of simulated comparisons."""

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            for place in range(out.shape[1]):
                difference = self._difference(generator, self._counts(generator, size))
                out[:, place] = narrowest_ends(difference, self.prob)

        return simulated_ends(lambda: fill, n_simulations, self.n_draws, seed=seed, n_jobs=n_jobs)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return what normal theory says: the expected counts of very many documents."""
        generator = np.random.Generator(np.random.SFC64(child(seed, 0)))
        shares = np.array([1 - self.prevalence, self.prevalence])[:, None] * self.theta
        difference = self._difference(generator, _MANY * shares[:, [3, 2, 1, 0]].reshape(2, 2, 2))
        mean, (low, high) = float(difference.mean()), narrowest_ends(difference, self.prob)
        return Outlook(
            n=_MANY,
            mean=mean,
            sd=float(difference.std()),
            below=mean - low,
            above=high - mean,
            documents="certain",
        )

    def _difference(self, generator: np.random.Generator, counts: FloatArray) -> FloatArray:
        """Draw A − B given counts ``(2, 2, 2)`` of truth, A and B, and sort the draws."""
        a, b = self._posterior(counts).worker("margins")(generator, self.n_draws)
        assert isinstance(a, Sums)
        assert isinstance(b, Sums)
        values = [
            self.metric.evaluate(metrics.Margins(**sums._asdict()), classes=(1,)) for sums in (a, b)
        ]
        difference: FloatArray = values[0] - values[1]
        difference.sort()
        return difference

    def _counts(self, generator: np.random.Generator, size: int) -> FloatArray:
        positive = generator.binomial(size, self.prevalence)
        counts = np.empty((2, 2, 2))
        for truth, n in enumerate((size - positive, positive)):
            both, only_a, only_b, neither = generator.multinomial(n, self.theta[truth])
            counts[truth] = [[neither, only_b], [only_a, both]]
        return counts

    def _posterior(self, counts: FloatArray) -> Posterior:
        prevalence = self.prior.prevalence_shapes(2)
        if self.paired:
            return DenseRows(counts, rows=self.prior.row_shapes(2, 2), prevalence=prevalence)
        rows = self.prior.row_shapes(2, 1)
        return Independent(
            [
                DenseRows(counts.sum(axis=other), rows=rows, prevalence=prevalence)
                for other in (2, 1)
            ]
        )

    def parts(self) -> list[str]:
        """Return the world and its analysis as parts of a signature."""
        rates = ["/".join(f"{rate:g}" for rate in row) for row in self.theta[::-1]]
        return [
            "paired" if self.paired else "unpaired",
            repr(self.prior),
            f"theta_pos={rates[0]}",
            f"theta_neg={rates[1]}",
            f"prevalence={self.prevalence:g}",
        ]


def binary_metric(metric: Any, verb: str) -> metrics.Metric:
    """Return a metric of one class, or say that outcome probabilities know no other."""
    measured = metrics.get(metric)
    if measured.average != "binary":
        raise UsageError(f"{verb} takes a metric of one class such as 'f1'; got {measured.name!r}")
    return measured


def check_theta(theta_pos: Mapping[str, float], theta_neg: Mapping[str, float]) -> FloatArray:
    """Return the outcome probabilities ``(2, 4)`` of negative and of positive documents."""
    return np.array([_theta(theta_neg, "theta_neg"), _theta(theta_pos, "theta_pos")])


def _theta(theta: Mapping[str, float], name: str) -> list[float]:
    if not isinstance(theta, Mapping) or set(theta) != set(_OUTCOMES):
        raise UsageError(
            f"{name} must be a mapping with the keys {', '.join(_OUTCOMES)}; got {theta!r}"
        )
    values = [check_probability(theta[key]) for key in _OUTCOMES]
    if abs(sum(values) - 1) > 1e-9:
        raise UsageError(f"the probabilities in {name} must sum to 1; they sum to {sum(values):g}")
    return values


def check_probability(value: Any) -> float:
    """Return a number from 0 to 1, or say that it must be one."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise UsageError(f"a probability must lie between 0 and 1; got {value!r}")
    return float(value)
