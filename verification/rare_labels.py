"""How often are equal models called different where labels or types of spans are rare?

In an average over labels, one item of a label that occurs three times weighs as much as a third
of all items of another. The worlds are those of ``label_sets`` and ``spans``, with rare labels and
with models that are equally good, so that every decision but ≈ is false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import outperform as op
from outperform.decision.rope import firm_decision
from verification import label_sets, markdown, spans
from verification.chance import share_is_off
from verification.influence import mean_of, plain_hdi, share_of

SEED = 20_261_118
SIZES = (100, 200, 400)
MOST_FALSE, LEAST_COVERED = 0.05, 0.92
REPETITIONS = 300
# Where it ends: coverage there is measured, and need not hold.
BEYOND = "rarer labels"
_N_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class RareWorld:
    """Items, or sentences, with rare labels, or types, in macro-F1."""

    kind: str  # labels, rarer labels or types
    n: int


WORLDS = tuple(RareWorld(kind, n) for kind in ("labels", BEYOND, "types") for n in SIZES)
_SETS = {
    "labels": label_sets.SetWorld(
        n_labels=10, prevalence=(0.01, 0.2), missed=(0.2, 0.2), spurious=(0.01, 0.01)
    ),
    # Each model errs by itself, so that more of what sets them apart is chance.
    BEYOND: label_sets.SetWorld(
        n_labels=15,
        prevalence=(0.005, 0.1),
        missed=(0.3, 0.3),
        spurious=(0.002, 0.002),
        together=0.1,
        alike=0.1,
    ),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: was zero held and was a difference called, as asked and by plain weights?"""

    held: bool
    held_plain: bool
    false: bool
    false_plain: bool
    withheld: bool
    n_carrying: float


def simulate(world: RareWorld, generator: np.random.Generator) -> op.Outcomes:
    """Draw a test set of equal models."""
    if world.kind in _SETS:
        truth, a, b = label_sets.simulate(replace(_SETS[world.kind], n=world.n), generator)
        return op.Outcomes.from_label_sets(truth, {"A": a, "B": b})
    of_spans = spans.SpanWorld(n=world.n, n_types=8, errors=(0.12, 0.12), metric="f1_macro")
    return spans.as_outcomes(of_spans, *spans.simulate(of_spans, generator))


def repeat(world: RareWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def _hit(world: RareWorld, generator: np.random.Generator) -> Hit:
    c = op.compare(
        simulate(world, generator),
        *("A", "B"),
        metric="f1_macro",
        rope=0.01,
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )
    plain = plain_hdi(c, generator)
    return Hit(
        held=0.0 in c.hdi,
        held_plain=0.0 in plain,
        false=_differs(c.decision),
        false_plain=_differs(firm_decision(plain, c.rope)),
        withheld=any(
            one.name == "few_disagreements" and one.level == "serious" for one in c.findings
        ),
        n_carrying=c.spec.n_carrying() or 0.0,
    )


def _differs(decision: op.Decision | None) -> bool:
    return decision in (op.Decision.BETTER, op.Decision.WORSE)


Found = Mapping[RareWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    header = (
        *("rare", "items or sentences", "effective number", "covered", "with plain weights"),
        *("false ≫ or ≪", "with plain weights", "withheld"),
    )
    rows = [
        [
            world.kind,
            str(world.n),
            f"{np.median([hit.n_carrying for hit in hits]):.1f}",
            share_of([hit.held for hit in hits]),
            share_of([hit.held_plain for hit in hits]),
            share_of([hit.false for hit in hits]),
            share_of([hit.false_plain for hit in hits]),
            markdown.percent(mean_of([hit.withheld for hit in hits])),
        ]
        for world, hits in found.items()
    ]
    n = max(len(hits) for hits in found.values())
    return markdown.table(header, rows, numbers_from=1) + (
        f"\nEqual models in macro-F1, {n:,} test sets of each size, {_N_DRAWS:,} draws, ROPE "
        "±0.01; shares in per cent. Ten labels that 1 to 20% of the items have, fifteen that 0.5 "
        "to 10% have, or eight types, each rarer and harder than the one before. The effective "
        "number of items, or sentences, that carry the difference is a median.\n"
    )


def failures(found: Found) -> list[str]:
    """Return what did not hold."""
    said = []
    for world, hits in found.items():
        false, held = mean_of([hit.false for hit in hits]), mean_of([hit.held for hit in hits])
        missed = share_is_off(held, len(hits), LEAST_COVERED) and world.kind != BEYOND
        if missed or share_is_off(false, len(hits), high=MOST_FALSE):
            said.append(
                f"rare {world.kind}, {world.n}: {false:.1%} false decisions, {held:.1%} covered"
            )
    return said
