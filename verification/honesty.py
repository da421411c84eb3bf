"""Are the reported Monte Carlo errors true? The same comparison from many seeds.

The spread of each number over the seeds must be what the result says of its
own error, and a decision that changes with the seed must be flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

import outperform as op
from outperform.decision.rope import margin
from verification.coverage import resample, the_world

# Tables 4 to 6 of the SIGIR paper call a difference of F1 within ±0.05 none.
SIGIR_ROPE = 0.05
FLAG = "monte_carlo_too_coarse"

_LONG_RUN = 400_000
# Decisions further than this many errors from an edge cannot change with the seed.
_FAR = 8.0
# Rarer than this a probability is printed as a bound, not with an error.
_RARE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A comparison that is answered from draws."""

    name: str
    outcomes: Callable[[], op.Outcomes]
    metric: str
    rope: float
    paired: bool = True

    def run(self, outcomes: op.Outcomes, seed: int) -> op.Comparison:
        """Compare with one seed."""
        return op.compare(
            outcomes,
            *outcomes.models,
            metric=self.metric,
            rope=self.rope,
            paired=self.paired,
            random_state=seed,
            n_jobs=1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Honesty:
    """The spread of one number over seeds against the error that is reported for it."""

    case: str
    number: str
    spread: float
    reported: float
    seeds: int

    @property
    def ratio(self) -> float:
        """Above 1 the report is too sure of itself."""
        return self.spread / self.reported

    @property
    def bounds(self) -> tuple[float, float]:
        """What the ratio must keep within."""
        return (0.8, 1.25) if self.number.startswith("HDI") else (0.9, 1.1)


def _binary(positives: Sequence[int], negatives: Sequence[int]) -> Callable[[], op.Outcomes]:
    """Return outcomes from how often both, only A, only B and neither said "positive"."""

    def make() -> op.Outcomes:
        return op.Outcomes.from_counts(
            [1] * 4 + [0] * 4,
            {"A": [1, 1, 0, 0] * 2, "B": [1, 0, 1, 0] * 2},
            [*positives, *negatives],
        )

    return make


def _three_classes() -> op.Outcomes:
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 3, size=300)
    answers = {
        name: np.where(generator.random(300) < right, truth, generator.integers(0, 3, size=300))
        for name, right in (("A", 0.8), ("B", 0.7))
    }
    return op.Outcomes.from_labels(truth, answers)


def _twenty_classes() -> op.Outcomes:
    news = resample(the_world(), 1_000, np.random.default_rng(20))
    return news.select(["nb_mult", "svm_l2"])


CASES = (
    Case(
        name="paired F1, 1,000 items, half positive",
        outcomes=_binary((380, 50, 30, 40), (20, 30, 25, 425)),
        metric="f1",
        rope=0.02,
    ),
    Case(
        name="paired F1, 60 items, 8 positive",
        outcomes=_binary((5, 1, 1, 1), (1, 2, 1, 48)),
        metric="f1",
        rope=0.05,
    ),
    Case(
        name="paired F1, a million items, 1% positive",
        outcomes=_binary((8_000, 400, 380, 1_220), (500, 300, 290, 988_910)),
        metric="f1",
        rope=0.001,
    ),
    Case(
        name="unpaired Matthews correlation, 400 items",
        outcomes=_binary((70, 10, 5, 15), (10, 5, 5, 280)),
        metric="matthews_corrcoef",
        rope=0.05,
        paired=False,
    ),
    Case(
        name="macro-F1, 300 items, 3 classes",
        outcomes=_three_classes,
        metric="f1_macro",
        rope=0.05,
    ),
    Case(
        name="macro-F1, 1,000 items, 20 classes",
        outcomes=_twenty_classes,
        metric="f1_macro",
        rope=0.02,
    ),
)


def _numbers(result: op.Comparison) -> dict[str, tuple[float, float]]:
    """Return each number with its error."""
    assert not result.exact, "an exact answer has no Monte Carlo error to check"
    errors = result.mc_errors
    return {
        "mean": (result.mean, errors["mean"]),
        "sd": (result.sd, errors["sd"]),
        "P(d > 0)": (result.p_greater, errors["p_greater"]),
        "P(ROPE)": (result.p_equivalent, errors["p_equivalent"]),
        "HDI low": (result.hdi.low, result.hdi.mcse_low),
        "HDI high": (result.hdi.high, result.hdi.mcse_high),
        "2.5% quantile": (result.eti.low, result.eti.mcse_low),
        "97.5% quantile": (result.eti.high, result.eti.mcse_high),
    }


def run_case(place: int, seeds: range) -> list[dict[str, tuple[float, float]]]:
    """Run one case from some seeds."""
    case = CASES[place]
    outcomes = case.outcomes()
    return [_numbers(case.run(outcomes, seed)) for seed in seeds]


def judge_case(place: int, runs: Sequence[dict[str, tuple[float, float]]]) -> list[Honesty]:
    """Hold the spread over seeds against the mean reported error, number by number."""
    found = []
    for number in runs[0]:
        values, errors = np.array([run[number] for run in runs]).T
        if number.startswith("P") and not _RARE < values.mean() < 1 - _RARE:
            continue
        found.append(
            Honesty(
                case=CASES[place].name,
                number=number,
                spread=float(values.std(ddof=1)),
                reported=float(errors.mean()),
                seeds=len(runs),
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A comparison in F1 whose decision hangs on the draws."""

    what: str
    outcomes: op.Outcomes
    pos_label: str | int
    rope: float

    def run(self, seed: int, n_draws: int = 20_000) -> op.Comparison:
        """Compare with one seed."""
        return op.compare(
            self.outcomes,
            *self.outcomes.models,
            metric="f1",
            pos_label=self.pos_label,
            rope=self.rope,
            n_draws=n_draws,
            random_state=seed,
            n_jobs=1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """The decisions of one comparison over seeds."""

    what: str
    seeds: int
    decisions: Mapping[str, int]
    flagged: int
    unflagged_flips: int


def sigir_edges(pair: tuple[str, str]) -> list[Edge]:
    """Return the newsgroups whose decision is so near an edge that seeds could change it."""
    world, found = the_world().select(pair), []
    for group in world.labels:
        assert isinstance(group, str)
        what = f"{pair[0]} − {pair[1]}, {group}"
        edge = Edge(what=what, outcomes=world, pos_label=group, rope=SIGIR_ROPE)
        result = edge.run(0, _LONG_RUN)
        gap, error = margin(result.hdi, result.rope)
        if gap < _FAR * error * np.sqrt(_LONG_RUN / 20_000):
            found.append(edge)
    return found


def leaning_edges() -> list[Edge]:
    """Return tables with a ROPE inside, or beyond, which about two thirds of the mass lie."""
    tables = {
        "as many errors": ((30, 6, 6, 8), (5, 4, 4, 137)),
        "one error more in 2,000": ((300, 60, 60, 80), (50, 41, 40, 1_370)),
        "ten errors fewer in 2,000": ((300, 70, 60, 70), (50, 41, 40, 1_370)),
    }
    return [edge for what, counts in tables.items() for edge in _where_it_leans(what, counts)]


def _where_it_leans(what: str, counts: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Edge]:
    edge = Edge(what=what, outcomes=_binary(*counts)(), pos_label=1, rope=0.001)
    steps = edge.run(0, _LONG_RUN).rope_curve()
    return [
        replace(edge, what=f"two thirds, {what}, {one.decision.symbol} to {two.decision.symbol}",
                rope=two.start)
        for one, two in pairwise(steps)
        if not (one.decision.decided or two.decision.decided)
    ]  # fmt: skip


def count_flips(edge: Edge, seeds: int) -> Flips:
    """Compare from many seeds and count unusual decisions that carry no flag."""
    decisions: Counter[str] = Counter()
    unflagged = []
    for seed in range(seeds):
        result = edge.run(seed)
        decisions[result.decision.symbol] += 1
        if all(finding.name != FLAG for finding in result.findings):
            unflagged.append(result.decision.symbol)
    usual = decisions.most_common(1)[0][0]
    return Flips(
        what=edge.what,
        seeds=seeds,
        decisions=dict(decisions.most_common()),
        flagged=seeds - len(unflagged),
        unflagged_flips=sum(symbol != usual for symbol in unflagged),
    )
