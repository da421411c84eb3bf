"""What ``to_dict`` returns of suites, of two metrics at once, of ratios and of curves."""

from __future__ import annotations

from typing import Literal, TypedDict

from outperform.results.schemas import (
    DecisionFacts,
    FindingFacts,
    IntervalFacts,
    RopeFacts,
)


class DifferenceFacts(TypedDict):
    """One difference on a suite."""

    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    rope: RopeFacts
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: DecisionFacts
    errors: dict[str, float]


class TaskFacts(TypedDict):
    """The comparison on one task of a suite."""

    task: str
    weight: float
    metric: str
    n: int
    observed: float
    mean: float
    sd: float
    hdi: IntervalFacts
    rope: RopeFacts
    p_worse: float
    p_equivalent: float
    p_better: float
    decision: DecisionFacts
    errors: dict[str, float]
    pooled: DifferenceFacts
    findings: list[FindingFacts]


class SuiteFacts(DifferenceFacts):
    """``SuiteComparison.to_dict()``."""

    schema: int
    kind: Literal["suite"]
    names: list[str]
    metric: str
    greater_is_better: bool
    scale: Literal["metric", "rope"]
    n: int
    n_draws: int
    observed: float
    win_rate: float
    win_rate_mcse: float
    new_tasks: DifferenceFacts | None
    tasks: list[TaskFacts]
    findings: list[FindingFacts]
    signature: str


class SuiteModelFacts(TypedDict):
    """One model of a ranking on a suite."""

    name: str
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    p_best: float
    p_rank: list[float]
    p_practically_best: float
    p_best_new_tasks: float | None
    expected_rank: float
    mean_rank: float
    mean_rank_hdi: IntervalFacts
    win_rate: float
    borda: float
    regret: float
    errors: dict[str, float]
    against_leader: DifferenceFacts | None
    new_tasks: DifferenceFacts | None
    tied: bool


class RankedTaskFacts(TypedDict):
    """The ranking on one task of a suite, in short."""

    task: str
    weight: float
    metric: str
    n: int
    leader: str
    tied: list[str]
    means: dict[str, float]
    mcse: dict[str, float]
    observed: dict[str, float]


class SuiteRankingFacts(TypedDict):
    """``SuiteRanking.to_dict()``."""

    schema: int
    kind: Literal["suite_ranking"]
    names: list[str]
    metric: str
    greater_is_better: bool
    scale: Literal["metric", "rope"]
    n: int
    n_draws: int
    hdi_prob: float
    rope: RopeFacts
    tied: list[str]
    models: list[SuiteModelFacts]
    tasks: list[RankedTaskFacts]
    findings: list[FindingFacts]
    signature: str


class TaskCheckFacts(TypedDict, total=False):
    """What a check of a suite knows more."""

    task: str
    advisory: bool
    n_checks: int


# Two metrics at once, and ratios


class RatioFacts(TypedDict):
    """``Ratio.to_dict()``."""

    schema: int
    kind: Literal["ratio"]
    names: list[str]
    metric: str
    metric_label: str
    greater_is_better: bool
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    eti: IntervalFacts
    rope: RopeFacts
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    errors: dict[str, float]
    n_draws: int
    decision: DecisionFacts
    findings: list[FindingFacts]
    signature: str


class JointPartFacts(TypedDict):
    """One of two metrics that are looked at together."""

    metric: str
    contrast: Literal["difference", "ratio"]
    rope: RopeFacts
    mean: float
    hdi: IntervalFacts
    decision: DecisionFacts


class JointFacts(TypedDict):
    """``Joint.to_dict()``."""

    schema: int
    kind: Literal["joint"]
    names: list[str]
    metrics: list[JointPartFacts]
    events: list[str]
    probabilities: list[list[float]]
    mcse: list[list[float]]
    p_better_in_both: float
    p_dominates: float
    p_equivalent: float
    p_trade_off: float
    p_dominated: float
    p_not_worse: float
    errors: dict[str, float]
    decision: Literal["dominates", "equivalent", "trade_off", "dominated", "undecided"]
    prob: float
    n_draws: int
    findings: list[FindingFacts]
    signature: str


class BandFacts(TypedDict):
    """A curve and its simultaneous band."""

    observed: list[float]
    mean: list[float]
    mcse: list[float]
    lower: list[float]
    upper: list[float]


class CurveFacts(TypedDict):
    """``Curve.to_dict()``."""

    schema: int
    kind: Literal["curve"]
    curve: Literal["roc", "precision_recall", "calibration", "net_benefit"]
    names: list[str]
    x: str
    y: str
    grid: list[float]
    a: BandFacts
    b: BandFacts
    difference: BandFacts
    prob: float
    n_draws: int
    signature: str
