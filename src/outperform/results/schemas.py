"""What ``to_dict`` returns of estimates and comparisons, and the JSON Schema of every result."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Literal, NotRequired, TypedDict, get_args

from outperform._typing import Label
from outperform.errors import UsageError, unknown_name
from outperform.findings import Level

Kind = Literal[
    "comparison",
    "comparisons",
    "coverage",
    "curve",
    "estimate",
    "fragility",
    "gate",
    "items",
    "joint",
    "monitor",
    "outcomes",
    "plan",
    "power",
    "proposal",
    "ranking",
    "ratio",
    "sensitivity",
    "slices",
    "suite",
    "suite_ranking",
]


def json_schema(kind: Kind) -> dict[str, object]:
    """Return the JSON Schema of what ``to_dict`` returns.

    Parameters
    ----------
    kind
        The ``kind`` that the plain values name, such as ``"comparison"``; ``"outcomes"`` for
        those of :class:`Outcomes`.

    Examples
    --------
    >>> import outperform as op
    >>> op.results.json_schema("power")["required"][:3]
    ['schema', 'kind', 'goal']
    """
    if kind not in get_args(Kind):
        raise UsageError(unknown_name("kind of result", kind, get_args(Kind)))
    found: dict[str, object] = json.loads(
        files("outperform.results")
        .joinpath("json_schemas", f"{kind}.json")
        .read_text(encoding="utf-8")
    )
    return found


# Parts that several results have


class Ends(TypedDict):
    """The two ends of a ROPE."""

    low: float
    high: float


class RopeFacts(Ends):
    """A ROPE, and whether nobody chose it."""

    default: bool


class IntervalFacts(Ends):
    """An interval and the Monte Carlo errors of its ends."""

    prob: float
    mcse_low: float
    mcse_high: float


class NamedDecision(TypedDict):
    """A decision by name and symbol."""

    name: str
    symbol: str


class DecisionFacts(NamedDecision):
    """A decision, with words for people."""

    words: str


class FindingFacts(TypedDict):
    """A finding."""

    name: str
    level: Level
    message: str


class CostFacts(TypedDict):
    """Costs by (truth, prediction), or a matrix of them."""

    pairs: NotRequired[list[list[Label | float]]]
    labels: NotRequired[list[Label] | None]
    matrix: NotRequired[list[list[float]]]
    unit: str | None


class PrevalenceFacts(TypedDict):
    """Class proportions that replaced those of the data."""

    classes: list[Label]
    shares: list[float]
    source: str
    n_counted: int | None


class ChainFacts(TypedDict):
    """What a Markov chain says of itself."""

    sampler: str
    n_draws: int
    rhat: float
    ess: float
    mcse: float
    divergences: int


class FactorFacts(TypedDict):
    """A Bayes factor."""

    bf01: float
    log10_bf10: float
    kind: Literal["interval", "point"]
    method: Literal["exact", "draws", "kde"]
    bound: Literal["upper", "lower"] | None
    mcse: float


class NeededFacts(TypedDict):
    """About how many more items would decide, safely and at face value, and how probably."""

    n: int | None
    least: int | None
    probability: float
    most: int


class OfCosts(TypedDict, total=False):
    """Of metrics of costs."""

    costs: CostFacts


class OfLabels(TypedDict, total=False):
    """Of items with several labels."""

    n_labels: int


class AverageFacts(TypedDict):
    """How many classes are averaged over, and what chose them."""

    n: int
    by: Literal["truth", "labels"]


class OfAverage(TypedDict, total=False):
    """Of averages over classes, types or labels."""

    averaged_over: AverageFacts


class OfPrevalence(TypedDict, total=False):
    """Of other class proportions."""

    prevalence: PrevalenceFacts


class LabelErrorFacts(TypedDict):
    """How often the gold labels of true classes are taken to be wrong."""

    classes: list[Label]
    rates: list[float]
    same: bool


class OfLabelErrors(TypedDict, total=False):
    """Of stated label errors."""

    label_errors: LabelErrorFacts


class OfChain(TypedDict, total=False):
    """Of Markov chains."""

    chain: ChainFacts


class OfNeeded(TypedDict, total=False):
    """Of what is not decided yet."""

    needed: NeededFacts


class Sizes(TypedDict, total=False):
    """Of groups, weights and pools."""

    n_groups: int
    n_effective: float
    n_pool: int


class SpecFacts(OfCosts, Sizes, OfLabels, OfAverage, OfPrevalence, OfLabelErrors):
    """What was asked, and of what."""

    metric: str
    metric_label: str
    greater_is_better: bool
    n: int
    unit: str
    n_classes: int | None
    n_types: int | None
    pos_label: Label | None
    prior: str


# Estimates and comparisons


class FoldFacts(TypedDict):
    """The design of m×2 blocked cross-validation."""

    m: int
    correlation: str
    worth: float


class ModelRunFacts(TypedDict):
    """The training runs of one model."""

    names: list[str]
    observed: list[float | None]
    sd: float | None


class EstimateDetailFacts(TypedDict, total=False):
    """What an estimate knows more."""

    runs: ModelRunFacts
    folds: FoldFacts


class EstimateFacts(SpecFacts, OfChain, EstimateDetailFacts):
    """``Estimate.to_dict()``."""

    schema: int
    kind: Literal["estimate"]
    name: str
    observed: float | None
    observed_defined: bool
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    eti: IntervalFacts
    errors: dict[str, float]
    n_draws: int
    exact: bool
    findings: list[FindingFacts]
    signature: str


class RegretFacts(TypedDict):
    """What choosing A, and choosing B, loses on average."""

    a: float
    b: float


CurveFacts = TypedDict(
    "CurveFacts", {"decision": str, "symbol": str, "from": float, "to": float | None}
)
CurveFacts.__doc__ = "One stretch of half-widths of the ROPE that share a decision."


class UnpairedFacts(TypedDict):
    """The same folds, as if each model had its own items."""

    p_h0: float
    p_h1: float
    accepted: str
    mean: float
    sd: float
    hdi: IntervalFacts
    decision: NamedDecision
    exact: bool
    n_draws: int
    signature: str


class VarianceFacts(TypedDict):
    """How the variance divides between the test set and the runs."""

    test_set: float
    runs: float
    runs_low: float
    runs_high: float


class PooledFacts(TypedDict):
    """What pooling the runs would have said."""

    sd: float
    hdi: IntervalFacts
    decision: DecisionFacts


class RunFacts(TypedDict):
    """The training runs of both models."""

    n: list[int]
    variance_from: VarianceFacts
    pooled: PooledFacts


class DatasetFacts(TypedDict):
    """The difference on one data set."""

    name: str
    n_folds: int
    test_share: float
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    p_worse: float
    p_equivalent: float
    p_better: float
    mcse_p: float


class NextDatasetFacts(TypedDict):
    """What to expect on one more data set."""

    p_worse: float
    p_equivalent: float
    p_better: float
    mcse_p: float
    likeliest: list[float]
    hdi: IntervalFacts


class ScoreFacts(TypedDict):
    """The data sets whose scores per fold were compared."""

    datasets: list[DatasetFacts]
    next_dataset: NextDatasetFacts | None
    signed_rank: list[float] | None


class ComparisonDetailFacts(TypedDict, total=False):
    """What a comparison of runs, of folds or of their scores knows more."""

    runs: RunFacts
    scores: ScoreFacts
    p_h0: float
    p_h1: float
    accepted: str
    folds: FoldFacts
    unpaired: UnpairedFacts


class ComparisonFacts(SpecFacts, OfChain, OfNeeded, ComparisonDetailFacts):
    """``Comparison.to_dict()``."""

    schema: int
    kind: Literal["comparison"]
    names: list[str]
    paired: bool
    observed: float | None
    observed_defined: bool
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
    regret: RegretFacts
    errors: dict[str, float]
    n_draws: int
    exact: bool
    decision: DecisionFacts
    rope_curve: list[CurveFacts]
    bayes_factor: FactorFacts | None
    a: EstimateFacts
    b: EstimateFacts
    findings: list[FindingFacts]
    signature: str


class TableFacts(TypedDict):
    """``ComparisonTable.to_dict()``."""

    schema: int
    kind: Literal["comparisons"]
    by: str
    keys: list[Label]
    comparisons: list[ComparisonFacts]


class SettingFacts(TypedDict):
    """A simulated setting."""

    classes: int
    balance: Literal["even", "zipf"]
    items: int
    dependence: Literal["typical", "independent", "nearly equal", "opposed"]


class TraitFacts(TypedDict):
    """What a test set looks like: classes, and answers of both models."""

    evenness: float
    correlation: float
    right: float


class ShareFacts(TypedDict):
    """How many intervals held the truth."""

    held: int
    repetitions: int
    share: float
    error: float


class CoverageFacts(TypedDict):
    """``ExpectedCoverage.to_dict()``."""

    schema: int
    kind: Literal["coverage"]
    metric: str
    setting: SettingFacts
    there: TraitFacts
    here: TraitFacts
    difference: ShareFacts
    level: ShareFacts
    outside: list[str]
