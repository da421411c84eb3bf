"""What comparisons and estimates by folds, training runs and scores of folds know besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from outperform._json import MaybeNaN, written
from outperform._typing import FloatArray
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision
from outperform.findings import Finding
from outperform.inference.folds import Correlation, Folds
from outperform.inference.summary import Summary
from outperform.posterior.fold_scores import FoldScores, HierarchicalDraws, RankWeights
from outperform.posterior.predictive import Trained


@written("m=folds.m correlation=_treatment worth")
@dataclass(frozen=True, slots=True, kw_only=True)
class FoldDetails:
    """The folds of m×2 blocked cross-validation.

    Parameters
    ----------
    folds
        What was counted in each fold.
    correlation
        How the correlation of the folds was treated.
    """

    kind: ClassVar[Literal["folds"]] = "folds"
    folds: Folds
    correlation: Correlation

    @property
    def _treatment(self) -> str:
        """How the correlation of the folds was treated."""
        return str(self.correlation)

    @property
    def worth(self) -> float:
        """How many items one counted item is worth, as folds overlap."""
        return self.correlation.worth(self.folds.m)

    @property
    def verb(self) -> str:
        """The verb that makes such comparisons."""
        return "bcv_compare"


@written()
class VarianceFrom(NamedTuple):
    """How the variance of the difference divides between the test set and the runs.

    Parameters
    ----------
    test_set
        The share that endless items would take away.
    runs
        The share that they would leave.
    runs_low, runs_high
        Its 95% interval, as it is known only as well as the spread of the runs.
    """

    test_set: float
    runs: float
    runs_low: float
    runs_high: float


@written()
class PooledRuns(NamedTuple):
    """What pooling the runs would have said, as if training could give no others.

    Parameters
    ----------
    sd
        Of A − B of the means of these very runs.
    hdi
        The narrowest interval.
    decision
        The decision.
    """

    sd: float
    hdi: Interval
    decision: Decision


class Side(NamedTuple):
    """One of the two models: its name, its runs, and which model of a spec each is."""

    name: str
    runs: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @property
    def deterministic(self) -> bool:
        """Whether several runs all gave the same answers."""
        return self.n > 1 and len(set(self.places)) == 1


class RunDraws(NamedTuple):
    """Draws of each run's metric, of each model's mean over all runs, and of A − B."""

    values: FloatArray  # (n_models, n_draws)
    a: Trained
    b: Trained
    difference: Trained


@written("n=n_runs variance_from pooled")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """The training runs by which two models were compared.

    Parameters
    ----------
    sides
        The runs of A and of B, and which of the draws belong to each.
    drawn
        Draws of the metric of every run, from the same weights, and of the means over all runs.
    variance_from
        How the variance divides between the test set and the runs.
    pooled
        What pooling the runs would have said.
    """

    sides: tuple[Side, Side]
    drawn: RunDraws = field(repr=False)
    variance_from: VarianceFrom
    pooled: PooledRuns

    @property
    def verb(self) -> str:
        """The verb that makes such comparisons."""
        return "compare_runs"

    @property
    def n_runs(self) -> tuple[int, int]:
        """The number of runs of A and of B."""
        return self.sides[0].n, self.sides[1].n


@written("names=runs observed=run_values sd=run_sd")
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRuns:
    """The training runs of one model, whose mean over all runs was estimated.

    Parameters
    ----------
    runs
        The names of the runs.
    run_values
        The observed value of each run.
    """

    kind: ClassVar[Literal["runs"]] = "runs"
    runs: tuple[str, ...]
    run_values: tuple[MaybeNaN, ...]

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @property
    def run_sd(self) -> MaybeNaN:
        """The standard deviation of the observed values of the runs; NaN for a single one."""
        return float(np.std(self.run_values, ddof=1)) if self.n_runs > 1 else float("nan")


@written("name n_folds test_share observed mean sd mcse hdi p_worse p_equivalent p_better mcse_p")
@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDifference(Summary):
    """The posterior of A − B on one data set, which learns from the others if there are any.

    See :class:`Summary`.

    Parameters
    ----------
    name
        The data set; empty where there is only one.
    n_folds
        The number of scores of each model.
    test_share
        The share of the items that a fold tests, which is the correlation of the folds.
    observed
        The mean difference over the folds.
    mean, sd, mcse
        Of the posterior, and the Monte Carlo error of the mean (0 if exact).
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probabilities that A is practically worse, equivalent and better there.
    mcse_p
        The largest of their Monte Carlo errors.
    """

    name: str
    n_folds: int
    test_share: float
    observed: float
    p_worse: float
    p_equivalent: float
    p_better: float
    mcse_p: float


@written()
class NextDataset(NamedTuple):
    """What to expect of A − B on one more data set like these.

    Parameters
    ----------
    p_worse, p_equivalent, p_better
        The probabilities that A is practically worse, equivalent and better there.
    mcse_p
        The largest of their Monte Carlo errors.
    likeliest
        How probable it is that each of these three is the likeliest on data sets like these,
        which is what baycomp reports.
    hdi
        The narrowest interval of the difference there.
    """

    p_worse: float
    p_equivalent: float
    p_better: float
    mcse_p: float
    likeliest: tuple[float, float, float]
    hdi: Interval


class Drawn(NamedTuple):
    """The folds of each data set, and what was drawn from their posterior."""

    datasets: Mapping[str, FoldScores]
    means: FloatArray  # (2, n_draws): of A and of B over these data sets
    hierarchy: HierarchicalDraws | None = None  # of several data sets
    ranks: RankWeights | None = None  # of one score a data set
    verb: str = "compare_scores"

    @property
    def folds(self) -> tuple[FoldScores, ...]:
        """The folds of each data set."""
        return tuple(self.datasets.values())

    @property
    def constant(self) -> tuple[str, ...]:
        """The data sets on which all folds have the same difference."""
        return tuple(key for key, one in self.datasets.items() if np.ptp(one.differences) == 0)


@written("datasets next_dataset signed_rank")
@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDetails:
    """The data sets by whose scores ``compare_scores`` or ``cross_compare`` compared two models.

    Parameters
    ----------
    datasets
        The difference on each data set; empty where each has one score only.
    next_dataset
        What to expect on one more; None with one data set alone.
    signed_rank
        The Bayesian signed-rank test of one score a data set: how probable it is that the mean of
        two data sets is likeliest practically worse, equivalent and better; else None.
    drawn
        The scores, and the draws of everything that was drawn.
    noticed
        Findings about the folds, whatever the ROPE.
    """

    datasets: tuple[DatasetDifference, ...]
    next_dataset: NextDataset | None
    signed_rank: tuple[float, float, float] | None
    drawn: Drawn = field(repr=False)
    noticed: tuple[Finding, ...] = field(repr=False)

    @property
    def verb(self) -> str:
        """The verb that made the comparison."""
        return self.drawn.verb


ComparisonDetails: TypeAlias = FoldDetails | RunDetails | ScoreDetails
EstimateDetails: TypeAlias = FoldDetails | ModelRuns
