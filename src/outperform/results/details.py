"""Additional fields of comparisons and estimates from folds, training runs and fold scores."""

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
    """Folds of m×2 blocked cross-validation.

    Parameters
    ----------
    folds
        Counts of each fold.
    correlation
        Treatment of the correlation between folds.
    """

    kind: ClassVar[Literal["folds"]] = "folds"
    folds: Folds
    correlation: Correlation

    @property
    def _treatment(self) -> str:
        """Treatment of the correlation between folds."""
        return str(self.correlation)

    @property
    def worth(self) -> float:
        """Number of items that one counted item is worth, because folds overlap."""
        return self.correlation.worth(self.folds.m)

    @property
    def verb(self) -> str:
        """Name of the function that makes such comparisons."""
        return "compare_cv_counts"


@written()
class VarianceFrom(NamedTuple):
    """Shares of the variance of the difference that come from the test set and from the runs.

    Parameters
    ----------
    test_set
        Share that would vanish with infinitely many items.
    runs
        Share that would remain with infinitely many items.
    runs_low, runs_high
        95% interval of that share; it reflects the uncertain variance of the runs.
    """

    test_set: float
    runs: float
    runs_low: float
    runs_high: float


@written()
class PooledRuns(NamedTuple):
    """Result of pooling the runs, treating these runs as the only possible ones.

    Parameters
    ----------
    sd
        Standard deviation of A − B, the difference between the means of these runs.
    hdi
        Highest density interval.
    decision
        Decision.
    """

    sd: float
    hdi: Interval
    decision: Decision


class Side(NamedTuple):
    """One of the two models: its name, its runs, and their indices in a spec."""

    name: str
    runs: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @property
    def deterministic(self) -> bool:
        """Whether there are several runs with identical predictions."""
        return self.n > 1 and len(set(self.places)) == 1


class RunDraws(NamedTuple):
    """Draws of each run's metric, of each model's mean over all possible runs, and of A − B."""

    values: FloatArray  # (n_models, n_draws)
    a: Trained
    b: Trained
    difference: Trained


@written("n=n_runs variance_from pooled")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """Training runs of a comparison of two models.

    Parameters
    ----------
    sides
        Runs of A and B, with the index of their draws.
    drawn
        Draws of every run's metric, using the same item weights, and of the means over all possible
        runs.
    variance_from
        Shares of the variance that come from the test set and from the runs.
    pooled
        Result of pooling the runs.
    """

    sides: tuple[Side, Side]
    drawn: RunDraws = field(repr=False)
    variance_from: VarianceFrom
    pooled: PooledRuns

    @property
    def verb(self) -> str:
        """Name of the function that makes such comparisons."""
        return "compare_runs"

    @property
    def n_runs(self) -> tuple[int, int]:
        """Number of runs of A and B."""
        return self.sides[0].n, self.sides[1].n


@written("names=runs observed=run_values sd=run_sd")
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRuns:
    """Training runs of one model, used to estimate its mean over all possible runs.

    Parameters
    ----------
    runs
        Names of the runs.
    run_values
        Observed value of each run.
    """

    kind: ClassVar[Literal["runs"]] = "runs"
    runs: tuple[str, ...]
    run_values: tuple[MaybeNaN, ...]

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @property
    def run_sd(self) -> MaybeNaN:
        """Standard deviation of the runs' observed values; NaN for a single run."""
        return float(np.std(self.run_values, ddof=1)) if self.n_runs > 1 else float("nan")


@written("name n_folds test_share observed mean sd mcse hdi p_worse p_equivalent p_better mcse_p")
@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDifference(Summary):
    """Posterior of A − B on one data set, partially pooled if there are several.

    See :class:`Summary`.

    Parameters
    ----------
    name
        Name of the data set; empty if there is only one.
    n_folds
        Number of scores of each model.
    test_share
        Share of the items that a fold tests, which is also the correlation between folds.
    observed
        Mean difference over the folds.
    mean, sd, mcse
        Mean and sd of the posterior, and the Monte Carlo error of the mean (0 if exact).
    hdi
        Highest density interval.
    p_worse, p_equivalent, p_better
        Probabilities that A is practically worse, equivalent and better on this data set.
    mcse_p
        Largest Monte Carlo error of these probabilities.
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
    """Prediction of A − B on another data set like these.

    Parameters
    ----------
    p_worse, p_equivalent, p_better
        Probabilities that A is practically worse, equivalent and better on that data set.
    mcse_p
        Largest Monte Carlo error of these probabilities.
    likeliest
        Probability that each of these three is the most probable one on data sets like these, as
        reported by baycomp.
    hdi
        Highest density interval of the difference on that data set.
    """

    p_worse: float
    p_equivalent: float
    p_better: float
    mcse_p: float
    likeliest: tuple[float, float, float]
    hdi: Interval


class Drawn(NamedTuple):
    """Folds of each data set, and draws from their posterior."""

    datasets: Mapping[str, FoldScores]
    means: FloatArray  # (2, n_draws): A and B over these data sets
    hierarchy: HierarchicalDraws | None = None  # for several data sets
    ranks: RankWeights | None = None  # for one score per data set
    verb: str = "compare_cv_scores"

    @property
    def folds(self) -> tuple[FoldScores, ...]:
        """Folds of each data set."""
        return tuple(self.datasets.values())

    @property
    def constant(self) -> tuple[str, ...]:
        """The data sets on which all folds have the same difference."""
        scores = self.datasets.items()
        return tuple(name for name, folds in scores if np.ptp(folds.differences) == 0)


@written("datasets next_dataset signed_rank")
@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDetails:
    """Data sets and scores of a comparison by ``compare_cv_scores`` or ``cross_compare``.

    Parameters
    ----------
    datasets
        Difference on each data set; empty if each has only one score.
    next_dataset
        Prediction for another data set; None if there is only one.
    signed_rank
        Bayesian signed-rank test for one score per data set: the probabilities that the mean of two
        data sets is most probably worse, equivalent and better in practice; otherwise None.
    drawn
        Scores and draws.
    noticed
        Findings about the folds that do not depend on the ROPE.
    """

    datasets: tuple[DatasetDifference, ...]
    next_dataset: NextDataset | None
    signed_rank: tuple[float, float, float] | None
    drawn: Drawn = field(repr=False)
    noticed: tuple[Finding, ...] = field(repr=False)

    @property
    def verb(self) -> str:
        """Name of the function that made the comparison."""
        return self.drawn.verb


ComparisonDetails: TypeAlias = FoldDetails | RunDetails | ScoreDetails
EstimateDetails: TypeAlias = FoldDetails | ModelRuns
