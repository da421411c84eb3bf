"""Suites of tasks that a plan draws, each task from its own posterior."""

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
    """Suites of tasks, each a world of its own; a size is shared among them as the pilot's is.

    Parameters
    ----------
    tasks
        The world of each task.
    how
        How the mean over tasks is taken.
    metric
        The mean, in words.
    """

    tasks: Mapping[str, TableWorld]
    how: Average
    metric: metrics.Metric

    @property
    def _first(self) -> TableWorld:
        return next(iter(self.tasks.values()))

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self._first.names

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of any task, each once."""
        return tuple(dict.fromkeys(one for task in self.tasks.values() for one in task.findings))

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
        """The items of the pilot."""
        return sum(task.spec.n for task in self.tasks.values())

    def sizes(self, size: int) -> dict[str, int]:
        """Return the items of each task, in proportion to those of the pilot."""
        return {
            name: max(1, round(size * task.spec.n / self.n)) for name, task in self.tasks.items()
        }

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN where the decision is withheld."""
        sizes, worlds = tuple(self.sizes(size).values()), tuple(self.tasks.values())

        def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
            predicts = [task.make_predict() for task in worlds]

            def fill(generator: np.random.Generator, out: FloatArray) -> None:
                for place in range(out.shape[1]):
                    views = [
                        task.analysed(predict(generator, n))
                        for task, predict, n in zip(worlds, predicts, sizes, strict=True)
                    ]
                    out[:, place] = self._ends(views, generator)

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
        # A suite is undecided where no task may be decided.
        if all(
            task.is_withheld(view, *interval_of(np.sort(own), self.prob))
            for (task, view), own in zip(pairs, draws, strict=True)
        ):
            return np.nan, np.nan
        return interval_of(mean, self.prob)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return what normal theory says: the variances of the tasks add up."""
        alone = [task.outlook(child(seed, place)) for place, task in enumerate(self.tasks.values())]
        factors = self.how.weights / self.how.units
        sd = float(
            np.sqrt(np.sum([(f * one.sd) ** 2 for f, one in zip(factors, alone, strict=True)]))
        )
        reach = float(ndtri((1 + self.prob) / 2)) * sd
        mean = float(factors @ [one.mean for one in alone])
        return Outlook(n=self.n, mean=mean, sd=sd, below=reach, above=reach, items="new")

    def parts(self) -> list[str]:
        """Return the world and its analysis as parts of a signature."""
        return [
            f"prior={self._first.spec.prior.name}",
            "paired" if self._first.spec.paired else "unpaired",
            f"tasks={len(self.tasks)}",
            f"scale={self.how.scale}",
            f"pilot={self.n}",
        ]
