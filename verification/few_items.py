"""How often do 95% intervals hold the truth where there are only ten to thirty items?

Two models are equally good on items of a world, so that their true difference is zero, and each
has errors of its own. Every metric weighs items, or queries, of which so few hardly know how far
they spread. Twelve items are also compared with a group for each of them, which must make no
difference, and judged by a gate that requires A to be better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import IntArray
from outperform.data.scores import Scores
from outperform.inference.thresholds import FEW_GROUPS
from verification import markdown
from verification.chance import share_is_off
from verification.influence import mean_of, share_of

SEED = 20_261_118
COVERED = (0.925, 0.98)
MOST_CALLED, MOST_PASSED, LEAST_WARNED = 0.05, 0.025, 0.95
# Intervals of a quantile of so few items reach from one item to another, and are wide.
WIDE = ("p95", "median")
# So few positive items hardly tell how well a model ranks; intervals may be wide, or warned of.
RARE = ("roc_auc, rare", "average_precision, rare")
REPETITIONS = 500
_N_DRAWS = 2_000
_ROPE = 0.01
SIZES = (10, 12, 15, 20, 30)
JUDGED = 12
_WARNINGS = ("few_items", "few_disagreements")
METRICS = (
    *("mean", "mean_cost", "rmse", "mae", "r2", "pearson", "ndcg@10", "wer"),
    *("log_loss", "brier_score", "roc_auc", "average_precision", "median", "p95", *RARE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FewWorld:
    """A metric, after which ``rare`` means that a quarter is positive, and the number of items."""

    metric: str
    n: int

    @property
    def asked(self) -> str:
        """The name of the metric."""
        return self.metric.partition(",")[0]


WORLDS = tuple(FewWorld(metric=metric, n=n) for metric in METRICS for n in SIZES)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: was zero held, what was called and said; as groups, and in a gate."""

    held: bool
    called: bool
    warned: bool
    width: float
    held_as_groups: bool | None = None
    passed: bool | None = None


def simulate(world: FewWorld, generator: np.random.Generator) -> tuple[Any, Any, Any]:
    """Draw what is true, and what two equally good models say of it."""
    n, metric = world.n, world.asked
    if metric in ("mean", "median", "p95"):
        a, b = generator.normal(size=(2, n))
        return None, a, b
    if metric == "mean_cost":
        a, b = generator.gamma(2.0, size=(2, n))
        return None, a, b
    if metric == "ndcg@10":
        relevance = generator.integers(0, 3, (n, 20))
        a, b = relevance + generator.normal(0, 2.0, (2, n, 20))
        return relevance, a, b
    if metric == "wer":
        return _sentences(generator, n)
    if metric in ("log_loss", "brier_score"):
        truth = generator.integers(0, 2, n)
        truth[:2] = 0, 1  # both classes occur
        a, b = 1 / (1 + np.exp(-(2 * truth - 1 + 1.5 * generator.normal(size=(2, n)))))
        return truth, a, b
    if metric in ("roc_auc", "average_precision"):
        positives = n // 4 if world.metric in RARE else n // 2
        truth = (np.arange(n) < positives).astype(int)
        a, b = truth + generator.normal(size=(2, n))
        return truth, a, b
    target = generator.normal(size=n)
    a, b = target + generator.normal(size=(2, n))
    return target, a, b


def _sentences(generator: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Return sentences of 5 to 20 words, and what two models hear, which miss some of them."""
    lengths, rates = generator.integers(5, 21, n), generator.beta(1, 4, (2, n))
    a, b = (
        [
            " ".join("x" if wrong else "w" for wrong in generator.random(length) < rate)
            for length, rate in zip(lengths, own, strict=True)
        ]
        for own in rates
    )
    return [" ".join("w" * length) for length in lengths], a, b


def repeat(world: FewWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]), repetition)
        for repetition in range(first, last)
    ]


def _hit(world: FewWorld, generator: np.random.Generator, repetition: int) -> Hit:
    data = simulate(world, generator)
    c = _compared(world, data, repetition)
    hit = Hit(
        held=0.0 in c.hdi,
        called=c.decision.symbol in ("≫", "≪"),
        warned=any(one.name in _WARNINGS for one in c.findings),
        width=c.hdi.width,
    )
    if world.n != JUDGED:
        return hit
    grouped = _compared(world, data, repetition, groups=np.arange(world.n))
    assert isinstance(c.spec.data, Scores)
    judged = op.gate(
        c.spec.data,
        *c.spec.data.models,
        metric=world.asked,
        rope=_ROPE,
        require="better",
        n_draws=_N_DRAWS,
        random_state=repetition,
        n_jobs=1,
    )
    passed = judged.status.value == "pass"
    return replace(hit, held_as_groups=0.0 in grouped.hdi, passed=passed)


def _compared(
    world: FewWorld,
    data: tuple[Any, Any, Any],
    repetition: int,
    groups: IntArray | None = None,
) -> op.results.Comparison:
    return op.compare(
        *data,
        groups=groups,
        metric=world.asked,
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=repetition,
        n_jobs=1,
    )


Found = Mapping[FewWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("metric", "items", "covered", "false ≫ or ≪", "width", "warned"),
        *("covered, a group for each item", "gate passed"),
    )
    rows = [
        [
            f"`{world.metric}`",
            str(world.n),
            share_of([hit.held for hit in hits]),
            share_of([hit.called for hit in hits]),
            f"{np.mean([hit.width for hit in hits]):.3g}",
            markdown.percent(mean_of([hit.warned for hit in hits])),
            _known([hit.held_as_groups for hit in hits]),
            _known([hit.passed for hit in hits]),
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows, numbers_from=1) + (
        f"\nEqual models: how often the 95% interval of A − B held zero in {n:,} test sets, by "
        f"{_N_DRAWS:,} draws; shares in per cent. It must hold in {COVERED[0]:.1%} to "
        f"{COVERED[1]:.0%}, ≫ or ≪ must be given in {MOST_CALLED:.0%} at most, a gate that "
        f"requires A to be better must pass in {MOST_PASSED:.1%} at most, and fewer than thirty "
        "items must be warned of. Where a quarter of the items is positive (rare) or a quantile is "
        "asked, wider intervals are right as well, and rare ones need not hold as often.\n"
    )


def _known(hits: Sequence[bool | None]) -> str:
    known = [hit for hit in hits if hit is not None]
    return share_of(known) if known else ""


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table says."""
    said = []
    for world, hits in found.items():
        n, name = len(hits), f"few items: {world.metric}, {world.n} items"
        grouped = [one.held_as_groups for one in hits if one.held_as_groups is not None]
        for what, held in (
            ("covered", [one.held for one in hits]),
            ("covered as groups", grouped),
        ):
            share = mean_of(held) if held else COVERED[0]
            high = 1.0 if world.metric in (*WIDE, *RARE) else COVERED[1]
            low = 0.0 if world.metric in RARE else COVERED[0]  # which is warned of, see below
            if share_is_off(share, len(held), low, high):
                said.append(f"{name}: {share:.1%} {what}")
        called, warned = (
            mean_of([hit.called for hit in hits]),
            mean_of([hit.warned for hit in hits]),
        )
        if share_is_off(called, n, high=MOST_CALLED):
            said.append(f"{name}: {called:.1%} false decisions")
        passed = [hit.passed for hit in hits if hit.passed is not None]
        if passed and share_is_off(mean_of(passed), n, high=MOST_PASSED):
            said.append(f"{name}: {mean_of(passed):.1%} pass the gate")
        if (world.n < FEW_GROUPS or world.metric in RARE) and share_is_off(warned, n, LEAST_WARNED):
            said.append(f"{name}: {warned:.1%} warned of")
    return said
