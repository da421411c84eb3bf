"""What ``to_dict`` returns of rankings, slices, gates, monitors, plans, proposals and outcomes."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from outperform._typing import Label
from outperform.results.schemas import (
    ComparisonFacts,
    CoverageFacts,
    DecisionFacts,
    Ends,
    EstimateFacts,
    FactorFacts,
    FindingFacts,
    IntervalFacts,
    Kind,
    NeededFacts,
    RopeFacts,
    SpecFacts,
    TableFacts,
)
from outperform.results.suite_schemas import (
    CurveFacts,
    JointFacts,
    RatioFacts,
    SuiteFacts,
    SuiteRankingFacts,
)

# Many models, many slices, many priors


class RawFacts(TypedDict):
    """One model of a ranking as if alone."""

    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts


class ModelFacts(TypedDict):
    """One model of a ranking."""

    name: str
    observed: float | None
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    raw: RawFacts
    p_best: float
    p_practically_best: float
    p_rank: list[float]
    expected_rank: float
    regret: float
    errors: dict[str, float]
    decision: DecisionFacts | None
    tied: bool


class PairFacts(TypedDict):
    """The difference of two models of a ranking."""

    names: list[str]
    observed: float | None
    mean: float
    sd: float
    mcse: float
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    hdi: IntervalFacts
    decision: DecisionFacts
    withheld: bool
    coarse: bool


class RankingFacts(SpecFacts):
    """``Ranking.to_dict()``."""

    schema: int
    kind: Literal["ranking"]
    names: list[str]
    paired: bool
    rope: RopeFacts
    hdi_prob: float
    n_draws: int
    leader: str
    tied: list[str]
    p_missed: float
    models: list[ModelFacts]
    decisions: list[list[str | None]]
    pairs: list[PairFacts]
    findings: list[FindingFacts]
    signature: str


class SliceFacts(TypedDict):
    """One slice."""

    key: list[str]
    n: int
    observed_a: float
    observed_b: float
    observed: float
    mean: float
    sd: float
    mcse: float
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    errors: dict[str, float]
    p_wrong: float
    like_whole: float
    coarse: bool
    hdi: IntervalFacts
    decision: DecisionFacts
    own_hdi: IntervalFacts
    own_decision: DecisionFacts
    disagrees: bool


class SlicesFacts(SpecFacts):
    """``SliceComparison.to_dict()``."""

    schema: int
    kind: Literal["slices"]
    by: list[str]
    names: list[str]
    rope: RopeFacts
    hdi_prob: float
    n_draws: int
    n_slices: int
    counts: dict[str, int]
    expected_wrong: float
    whole: ComparisonFacts
    findings: list[FindingFacts]
    signature: str
    rows: list[SliceFacts]


class PriorFacts(TypedDict):
    """A comparison under one of the priors."""

    prior: str
    own: bool
    proper: bool
    shapes: str | None
    mean: float
    sd: float
    mcse: float
    hdi: IntervalFacts
    rope: Ends
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    exact: bool
    n_draws: int
    decision: DecisionFacts
    decisions: list[DecisionFacts]
    pulls: bool
    findings: list[str]


class SensitivityFacts(SpecFacts):
    """``Sensitivity.to_dict()``."""

    schema: int
    kind: Literal["sensitivity"]
    names: list[str]
    paired: bool
    rope: RopeFacts
    ropes: list[Ends]
    rows: list[PriorFacts]
    left_out: dict[str, str]
    apart: dict[str, str]
    findings: list[FindingFacts]
    signature: str


# Gates and monitors


CheckFacts = TypedDict(
    "CheckFacts",
    {
        "guard": bool,
        "class": Label | None,
        "require": Literal["not_worse", "better"],
        "judgement": str,
        "edge": float,
        "more_items": int | None,
        "needed": NeededFacts | None,
        "withheld": list[str],
        "near_edge": bool,
        "findings": list[FindingFacts],
        "comparison": ComparisonFacts,
        "task": NotRequired[str],
        "advisory": NotRequired[bool],
        "n_checks": NotRequired[int],
    },
)
CheckFacts.__doc__ = "One comparison of a gate and what is required of it."


class GateFacts(TypedDict):
    """``Gate.to_dict()``."""

    schema: int
    kind: Literal["gate"]
    names: list[str]
    judgement: str
    require: Literal["not_worse", "better"]
    checks: list[CheckFacts]
    findings: list[FindingFacts]


class StopFacts(TypedDict):
    """When a monitor stops."""

    rule: Literal["width", "decision", "bayes_factor"]
    at: float | None


class LookFacts(TypedDict):
    """What a comparison said after a batch."""

    number: int
    key: str
    n: int
    mean: float
    sd: float
    p_worse: float
    p_equivalent: float
    p_better: float
    observed: float | None
    hdi: IntervalFacts
    width: float
    decision: DecisionFacts
    bayes_factor: FactorFacts | None
    judgement: str
    holds: bool


class MonitorFacts(TypedDict):
    """``Monitor.to_dict()``."""

    schema: int
    kind: Literal["monitor"]
    names: list[str]
    n_batches: int
    stop: StopFacts | None
    stopped: int | None
    looks: list[LookFacts]
    comparison: ComparisonFacts | None
    findings: list[FindingFacts]


# Planning and labelling


class PlanFacts(TypedDict):
    """``Plan.to_dict()``."""

    schema: int
    kind: Literal["plan"]
    names: list[str]
    metric: str
    metric_label: str
    goal: str
    target: float
    rope: RopeFacts
    n: int | None
    n_error: float
    least: int | None
    least_error: float
    tasks: dict[str, int]
    reached: float
    error: float
    highest: float
    seen: int
    items: Literal["more", "new", "certain"]
    most: int
    width: float | None
    detectable: float | None
    sizes: list[int]
    shares: list[float]
    errors: list[float]
    widths: list[float | None]
    n_simulations: int
    findings: list[FindingFacts]
    signature: str


class PowerFacts(TypedDict):
    """``Power.to_dict()``."""

    schema: int
    kind: Literal["power"]
    goal: str
    sizes: list[int]
    power: list[float]
    mcse: list[float]
    n_simulations: int
    signature: str


class StratumFacts(TypedDict):
    """All items of a pool with the same two predictions, and the class that a judge gives."""

    a: Label
    b: Label
    n_pool: int
    n_proposed: int
    judge: NotRequired[Label]


class RightFacts(TypedDict):
    """How many items both, only A, only B and neither got right."""

    both: int
    only_a: int
    only_b: int
    neither: int


class ItemsFacts(TypedDict):
    """``ItemTable.to_dict()``."""

    schema: int
    kind: Literal["items"]
    names: list[str]
    metric: str
    which: Literal["flips", "all"]
    n: int
    right: RightFacts
    observed: float
    decision: DecisionFacts
    room: float | None
    rows: list[dict[str, str | int | float | None]]


class ChangeFacts(TypedDict):
    """Gold labels that are changed in the same way."""

    truth: Label | None
    a: Label
    b: Label
    to: Label
    n: int


class FragilityFacts(TypedDict):
    """``Fragility.to_dict()``."""

    schema: int
    kind: Literal["fragility"]
    names: list[str]
    n: int | None
    exact: bool
    n_items: int
    decision: DecisionFacts
    other: DecisionFacts | None
    changes: list[ChangeFacts]


class ProposalFacts(TypedDict):
    """``Proposal.to_dict()``."""

    schema: int
    kind: Literal["proposal"]
    names: list[str]
    metric: str
    n_pool: int
    n_proposed: int
    n_apart: int
    n_proposed_apart: int
    strata: list[StratumFacts]
    items: list[int]
    signature: str
    judge: NotRequired[Literal["classes", "verdicts"]]


# Outcomes


class CellFacts(TypedDict):
    """Cells, as codes of labels, and how often each occurred."""

    cells: list[list[int]]
    counts: list[int | float]


class ChanceFacts(CellFacts):
    """What people labelled, by the probability of being labelled, and what was expected."""

    probabilities: list[float]
    expected: NotRequired[list[float]]


class PoolFacts(CellFacts):
    """The strata of a pool; of a judge's, its cells, and beside them what people labelled."""

    people: NotRequired[CellFacts]
    drawn: NotRequired[Literal["random", "by_ratings", "probabilities"]]
    chances: NotRequired[ChanceFacts]


class GroupFacts(TypedDict):
    """Which cells the groups of one pattern hold, and how often the pattern occurred."""

    pattern: list[int]
    cell: list[int]
    times: NotRequired[list[int | float]]
    repeats: list[int]
    weights: NotRequired[list[float]]


class CountFacts(CellFacts):
    """A table of counts, perhaps with its groups."""

    groups: NotRequired[GroupFacts]


class SourceFacts(TypedDict):
    """Where counts come from."""

    name: str
    n: int
    sha256: str
    telling: bool


class ProportionFacts(TypedDict):
    """Class proportions as they were given."""

    labels: list[Label]
    shares: list[float]
    shapes: NotRequired[list[float]]


class SliceCountFacts(CountFacts):
    """The counts of every slice."""

    by: list[str]
    keys: list[list[str]]


class OutcomesContent(TypedDict):
    """What was seen, without where it came from."""

    format: Literal["outperform/outcomes"]
    schema: int
    kind: Literal["classes", "correct", "spans", "label_sets"]
    models: list[str]
    labels: list[Label]
    tables: list[CountFacts]
    findings: list[list[str]]
    sets: NotRequired[list[list[int]]]
    pool: NotRequired[PoolFacts]
    slices: NotRequired[SliceCountFacts]


class OutcomesFacts(OutcomesContent):
    """``Outcomes.to_dict()``."""

    sources: list[SourceFacts]
    prevalence: NotRequired[ProportionFacts]
    never_true: NotRequired[list[Label]]
    sha256: str


FACTS: dict[Kind, type] = {
    "comparison": ComparisonFacts,
    "comparisons": TableFacts,
    "coverage": CoverageFacts,
    "curve": CurveFacts,
    "estimate": EstimateFacts,
    "fragility": FragilityFacts,
    "gate": GateFacts,
    "items": ItemsFacts,
    "joint": JointFacts,
    "monitor": MonitorFacts,
    "outcomes": OutcomesFacts,
    "plan": PlanFacts,
    "power": PowerFacts,
    "proposal": ProposalFacts,
    "ranking": RankingFacts,
    "ratio": RatioFacts,
    "sensitivity": SensitivityFacts,
    "slices": SlicesFacts,
    "suite": SuiteFacts,
    "suite_ranking": SuiteRankingFacts,
}
