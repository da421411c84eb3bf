"""Results of several training runs: a comparison and its estimates that know their runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from outperform import present
from outperform._typing import FloatArray
from outperform.comparison import engine
from outperform.comparison.estimating import Estimate
from outperform.comparison.question import rope_for
from outperform.comparison.result import Comparison
from outperform.comparison.runs import checks
from outperform.comparison.runs.drawing import RunDraws, draw_runs
from outperform.comparison.runs.reading import Side
from outperform.comparison.scored import Asked
from outperform.comparison.summary import interval_facts
from outperform.decision import BayesFactor, Decision, Interval, Rope
from outperform.errors import UndefinedBayesFactor


class VarianceFrom(NamedTuple):
    """How the variance of the difference divides between the test set and the runs.

    Parameters
    ----------
    test_set
        The share that endless documents would take away.
    runs
        The share that they would leave.
    runs_low, runs_high
        Its 95% interval, as it is known only as well as the spread of the runs.
    """

    test_set: float
    runs: float
    runs_low: float
    runs_high: float


class PooledRuns(NamedTuple):
    """What pooling the runs would have said, as if training could give no others.

    Parameters
    ----------
    sd
        Of A − B of the means of these very runs.
    hdi
        The narrowest interval.
    decision
        The verdict.
    """

    sd: float
    hdi: Interval
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RunEstimate(Estimate):
    """The mean of one model's metric over all runs that training could give.

    See :class:`Estimate`.

    Parameters
    ----------
    runs
        The names of the runs.
    run_values
        The observed value of each run.
    """

    runs: tuple[str, ...]
    run_values: tuple[float, ...]

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @property
    def run_sd(self) -> float:
        """The standard deviation of the observed values of the runs; NaN for a single one."""
        return float(np.std(self.run_values, ddof=1)) if self.n_runs > 1 else float("nan")

    @property
    def observed_defined(self) -> bool:
        """Whether the data define the plug-in value of every run."""
        known = self.question.seen.models
        return all(engine.is_defined(self.question, run) for run in self.runs if run in known)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return {
            **Estimate.to_dict(self),
            "runs": {
                "names": list(self.runs),
                "observed": [_number(value) for value in self.run_values],
                "sd": _number(self.run_sd),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RunComparison(Comparison):
    """A comparison of two models by several training runs of each; see :class:`Comparison`.

    Parameters
    ----------
    drawn
        Draws of the metric of every run, from the same weights, and of the means over all runs.
    sides
        The runs of A and of B, and which of the draws belong to each.
    variance_from
        How the variance divides between the test set and the runs.
    pooled
        What pooling the runs would have said.
    """

    verb: ClassVar[str] = "compare_runs"

    a: RunEstimate
    b: RunEstimate
    drawn: RunDraws = field(repr=False)
    sides: tuple[Side, Side]
    variance_from: VarianceFrom
    pooled: PooledRuns

    @property
    def n_runs(self) -> tuple[int, int]:
        """The number of runs of A and of B."""
        return self.a.n_runs, self.b.n_runs

    @property
    def bayes_factor(self) -> BayesFactor | None:
        """None: the prior of how far runs spread is improper."""
        return None

    def point_null(self, *, method: Literal["exact", "kde"] = "exact") -> BayesFactor:
        """Raise an error: the prior of how far runs spread is improper.

        Parameters
        ----------
        method
            Of no use here.
        """
        raise UndefinedBayesFactor(
            "the prior of how far runs spread is improper, so a comparison of runs has no Bayes "
            "factor"
        )

    def with_rope(self, rope: Any) -> Comparison:
        """Return the same comparison under another ROPE; nothing is drawn again.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        checked = rope_for(self.question, rope)
        return self._conclude_drawn(self.question, self.drawn, checked, self.seed)

    def _allowed(self, decision: Decision) -> Decision:
        return checks.allow(self.question, self.sides, decision, self.hdi, self.rope)[0]

    def _conclude(
        self,
        question: Asked,
        answered: engine.Answer,
        rope: Rope,
        seed: np.random.SeedSequence,
    ) -> Comparison:
        drawn = draw_runs(question, answered.values, self.sides, seed)
        return self._conclude_drawn(question, drawn, rope, seed)

    def _conclude_drawn(
        self, question: Asked, drawn: RunDraws, rope: Rope, seed: np.random.SeedSequence
    ) -> Comparison:
        from outperform.comparison.runs.concluding import conclude

        return conclude(question, drawn, self.sides, rope=rope, prob=self.hdi.prob, seed=seed)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        pooled = self.pooled
        return {
            **Comparison.to_dict(self),
            "runs": {
                "n": list(self.n_runs),
                "variance_from": self.variance_from._asdict(),
                "pooled": {
                    "sd": pooled.sd,
                    "hdi": interval_facts(pooled.hdi),
                    "decision": {
                        "name": pooled.decision.name,
                        "symbol": pooled.decision.symbol,
                        "words": pooled.decision.words,
                    },
                },
            },
        }

    def confusions(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean over the runs of each model's confusion matrix."""
        seen = self.counted.seen
        a, b = (
            np.mean([seen.confusion(seen.models[place]) for place in side.places], axis=0)
            for side in self.sides
        )
        return a, b

    def plot_factor(self, ax: Any = None) -> Any:
        """Raise an error: there is no prior to draw, as it is improper.

        Parameters
        ----------
        ax
            Of no use here.
        """
        return self.point_null()

    def plot_runs(self, ax: Any = None) -> Any:
        """Draw the observed value of each run under the posterior of each model's mean.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return present.plot_runs(self.a.draws, self.b.draws, facts=self.to_dict(), ax=ax)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
