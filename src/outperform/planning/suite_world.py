"""Scenario of a suite plan: each task is drawn from its own posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from outperform import metrics
from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes
from outperform.findings import Finding
from outperform.inference.suite import Average
from outperform.planning.goals import Outlook
from outperform.planning.worlds import TableWorld, interval_of, simulated_ends
from outperform.posterior.rng import child


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteWorld:
    """Scenario with several tasks; items are divided among them as in the pilot.

    Parameters
    ----------
    tasks
        Scenario of each task.
    how
        Settings of the mean over tasks.
    metric
        Metric that describes the mean.
    """

    tasks: Mapping[str, TableWorld]
    how: Average
    metric: metrics.Metric

    @property
    def _first(self) -> TableWorld:
        return next(iter(self.tasks.values()))

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and of B."""
        return self._first.names

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all tasks, without duplicates."""
        return tuple(
            dict.fromkeys(finding for task in self.tasks.values() for finding in task.findings)
        )

    @property
    def n_draws(self) -> int:
        """Draws of each simulated posterior."""
        return self._first.n_draws

    @property
    def prob(self) -> float:
        """Probability mass of the HDI."""
        return self._first.prob

    @property
    def n(self) -> int:
        """Number of items in the pilot."""
        return sum(task.spec.n for task in self.tasks.values())

    def sizes(self, size: int) -> dict[str, int]:
        """Return the number of items of each task, in proportion to the pilot."""
        return {
            name: max(1, round(size * task.spec.n / self.n)) for name, task in self.tasks.items()
        }

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN if the decision is withheld."""
        sizes, worlds = tuple(self.sizes(size).values()), tuple(self.tasks.values())

        def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
            predicts = [task.make_predict() for task in worlds]

            def fill(generator: np.random.Generator, out: FloatArray) -> None:
                for i in range(out.shape[1]):
                    views = [
                        task.analysed(predict(generator, n))
                        for task, predict, n in zip(worlds, predicts, sizes, strict=True)
                    ]
                    out[:, i] = self._ends(views, generator)

            return fill

        n_draws = self.n_draws * len(worlds)
        return simulated_ends(make_fill, n_simulations, n_draws, seed=seed, n_jobs=n_jobs)

    def _ends(
        self, views: Sequence[Outcomes], generator: np.random.Generator
    ) -> tuple[float, float]:
        pairs = tuple(zip(self.tasks.values(), views, strict=True))
        draws = [task.draws(view, generator) for task, view in pairs]
        mean = np.sort(self.how.mean(draws))
        if np.isnan(mean[-1]):
            return np.nan, np.nan
        # The suite's decision is withheld if the decision on every task is withheld.
        if all(
            task.is_withheld(view, *interval_of(np.sort(differences), self.prob))
            for (task, view), differences in zip(pairs, draws, strict=True)
        ):
            return np.nan, np.nan
        return interval_of(mean, self.prob)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return the normal-theory prediction, in which the variances of the tasks add up."""
        outlooks = [task.outlook(child(seed, i)) for i, task in enumerate(self.tasks.values())]
        factors = self.how.weights / self.how.units
        sd = float(
            np.sqrt(
                np.sum(
                    [(f * outlook.sd) ** 2 for f, outlook in zip(factors, outlooks, strict=True)]
                )
            )
        )
        reach = float(ndtri((1 + self.prob) / 2)) * sd
        mean = float(factors @ [outlook.mean for outlook in outlooks])
        return Outlook(n=self.n, mean=mean, sd=sd, below=reach, above=reach, items="new")

    def parts(self) -> list[str]:
        """Return the scenario and its analysis as parts of a signature."""
        return [
            f"prior={self._first.spec.prior.name}",
            "paired" if self._first.spec.paired else "unpaired",
            f"tasks={len(self.tasks)}",
            f"scale={self.how.scale}",
            f"pilot={self.n}",
        ]
