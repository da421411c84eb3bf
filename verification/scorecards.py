"""How often is any metric of a scorecard wrong? Equal models, eleven metrics, one card a test set.

A scorecard decides each metric as if it were alone. Two models with the same rates in both classes,
whose errors are independent or go together, are equal in every metric, so every ≫ or ≪ is false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import outperform as op
from verification import markdown
from verification.influence import share_of

SEED = 20_261_121
REPETITIONS = 400
ITEMS, ROPE, DRAWS = 300, 0.01, 2_000
# Nothing is promised of a card; more than this would mean that a metric alone is wrong too often.
MOST = 0.15
METRICS = (
    *("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "f1_macro"),
    *("jaccard", "informedness", "matthews_corrcoef", "cohen_kappa"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The share of positives, how often models are right, how many errors are in common."""

    positive: float = 0.3
    right: float = 0.8
    common: float = 0.0


WORLDS = (Card(), Card(common=0.5))


@dataclass(frozen=True, slots=True)
class Wrong:
    """How many metrics of one card are called better or worse."""

    firm: int


def repeat(world: Card, first: int, last: int) -> list[Wrong]:
    """Run test sets ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    return [
        _card(world, np.random.default_rng([SEED, place, number]), number)
        for number in range(first, last)
    ]


def _card(world: Card, generator: np.random.Generator, number: int) -> Wrong:
    truth = (generator.random(ITEMS) < world.positive).astype(int)
    hard, together = generator.random(ITEMS), generator.random(ITEMS) < world.common
    models = []
    for _ in range(2):
        luck = np.where(together, hard, generator.random(ITEMS))
        models.append(np.where(luck < world.right, truth, 1 - truth))
    card = op.scorecard(
        truth, *models, metrics=list(METRICS), rope=ROPE, n_draws=DRAWS, random_state=number
    )
    return Wrong(sum(card[name].decision.symbol in "≫≪" for name in METRICS))


Found = Mapping[Card, Sequence[Wrong]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent with their standard errors."""
    rows = [
        [
            f"{world.common:.0%}",
            share_of([card.firm > 0 for card in cards]),
            markdown.percent(float(np.mean([card.firm for card in cards])) / len(METRICS)),
            f"{len(cards):,}",
        ]
        for world, cards in found.items()
    ]
    header = ("items on which both fare alike", "any metric is wrong", "a metric", "cards")
    return markdown.table(header, rows, numbers_from=0) + (
        f"\nEqual models, right in 80% of {ITEMS} items, 30% of them positive; {len(METRICS)} "
        f"metrics, a ROPE of ±{ROPE:g}, {DRAWS:,} draws; per cent of the cards in which some "
        "metric is called better or worse, and of all metrics.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds in which cards are wrong more often than metrics alone would explain."""
    said = []
    for world, cards in found.items():
        share = float(np.mean([card.firm > 0 for card in cards]))
        if share > MOST:
            said.append(f"scorecards: {world}: some metric is wrong in {share:.3f} of the cards")
    return said
