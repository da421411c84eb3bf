"""Slices of label sets and of spans: do intervals contain the truth, and are equal slices called?

Items with several labels, or sentences with several spans, are drawn for many slices. Two models
are equally good in each, except that A loses some of its right answers in the first slice of some
worlds. Items are easy or hard, so the errors of one item or sentence cluster. All expectations are
products, so the truth of the bad slice is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

import outperform as op
from verification import markdown
from verification.chance import share_is_off
from verification.slice_groups import Noted, _mean, note_slices

REPETITIONS = 100
LEAST, LEAST_BAD, MOST_CALLED = 0.925, 0.85, 0.025
_ROPE, _N_DRAWS = 0.01, 1_000
_SEED = 20_261_125
_LABELS, _SHARE = 4, 0.4
_SPANS, _MADE_UP = 2, 0.3
# Errors of easy and of hard items, half of each.
_ERRORS, _LOSS = (0.08, 0.24), 0.25


Kind = Literal["label sets", "spans"]
_ASKED: tuple[tuple[Kind, str], ...] = (
    ("label sets", "f1_micro"),
    ("label sets", "f1_samples"),
    ("spans", "f1"),
    ("spans", "recall"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the items are, how they are divided, and the metric."""

    kind: Kind
    metric: str
    slices: int = 20
    items: int = 150
    bad: bool = False


WORLDS = tuple(
    World(kind=kind, metric=metric, bad=bad) for kind, metric in _ASKED for bad in (False, True)
)


def true_loss(world: World) -> float:
    """Return the true A − B of the bad slice, in expected hits and errors of an item."""
    error = sum(_ERRORS) / 2
    true, spurious = 1.0, _MADE_UP / _SPANS
    if world.kind == "label sets":
        true, spurious = _SHARE, (1 - _SHARE) * error / 2

    def value(found: float) -> float:
        hits = true * (1 - error) * found
        return hits / true if world.metric == "recall" else 2 * hits / (true + hits + spurious)

    return value(1 - _LOSS) - value(1.0)


def simulate(world: World, rng: np.random.Generator) -> op.Outcomes:
    """Return the outcomes of one test set."""
    place = np.repeat(np.arange(world.slices), world.items)
    by = {"slice": [f"{number:03d}" for number in place]}
    n, width = len(place), _LABELS if world.kind == "label sets" else _SPANS
    error = np.where(rng.random(n) < 0.5, *_ERRORS)[:, None]
    true = rng.random((n, width)) < (_SHARE if world.kind == "label sets" else 1.0)
    luck, answers = rng.random((n, width)), []
    for model in range(2):
        shared = rng.random((n, width)) < 0.5
        wrong = np.where(shared, luck, rng.random((n, width))) < np.where(true, error, error / 2)
        found = np.where(true, ~wrong, (world.kind == "label sets") & wrong)
        if world.bad and model == 0:
            found &= ~(true & (place == 0)[:, None] & (rng.random((n, width)) < _LOSS))
        answers.append(found)
    if world.kind == "label sets":
        a, b = answers
        return op.Outcomes.from_label_sets(true, {"a": a, "b": b}, by=by)
    spans = [[(k, k + 1, "X") for k in range(width)]] * n
    documents = []
    for found in answers:
        more = rng.random(n) < _MADE_UP
        documents.append(
            [
                [(k, k + 1, "X") for k in np.flatnonzero(row).tolist()]
                + [(9, 10, "X")] * int(extra)
                for row, extra in zip(found, more, strict=True)
            ]
        )
    return op.Outcomes.from_spans(spans, dict(zip("ab", documents, strict=True)), by=by)


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Noted:
    outcomes = simulate(world, np.random.default_rng([_SEED, WORLDS.index(world), number]))
    compared = op.compare_slices(
        outcomes,
        "a",
        "b",
        metric=world.metric,
        rope=_ROPE,
        n_draws=_N_DRAWS,
        random_state=number,
    )
    return note_slices(compared, true_loss(world), bad=world.bad)


Found = Mapping[World, Sequence[Noted]]


def _judges_bad(world: World) -> bool:
    """Whether the truth of the bad slice is known: a mean over items is not, nor needed."""
    return world.bad and world.metric != "f1_samples"


def table(found: Found) -> str:
    """Return one row per world."""
    head = ["kind", "metric", "slices", "items each", "test sets", "covered", "covered, alone"]
    head += ["called", "bad slice: A − B", "covered", "≪"]
    rows = []
    for world, noted in found.items():
        shares = [_mean(noted, name) for name in ("covered", "own_covered", "called")]
        texts = [markdown.percent(share, error) for share, error in shares]
        bad = ["–", "–", "–"]
        if world.bad:
            held, called = (_mean(noted, name)[0] for name in ("bad_covered", "bad_called"))
            bad = ["–", "–", markdown.percent(called)]
            if _judges_bad(world):
                bad[:2] = [f"{true_loss(world):+.3f}", markdown.percent(held)]
        sizes = [str(world.slices), str(world.items), f"{len(noted):,}"]
        rows.append([world.kind, world.metric, *sizes, *texts, *bad])
    return markdown.table(head, rows, numbers_from=2) + (
        f"\nIn per cent; ROPE ±{_ROPE}, {_N_DRAWS:,} draws. Pooled 95% intervals of equal slices "
        f"must contain zero in {LEAST:.1%} or more and at most {MOST_CALLED:.1%} of them be "
        f"called; the interval of a bad slice must contain its difference in {LEAST_BAD:.0%}.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table states."""
    broken = []
    for world, noted in found.items():
        name = f"slices of {world.kind}, {world.metric}{', one bad' if world.bad else ''}"
        covered, error = _mean(noted, "covered")
        called, called_error = _mean(noted, "called")
        if covered + 3 * error < LEAST:
            broken.append(f"{name}: {covered:.1%} covered")
        if called - 3 * called_error > MOST_CALLED:
            broken.append(f"{name}: {called:.1%} called")
        held = _mean(noted, "bad_covered")[0]
        if _judges_bad(world) and share_is_off(held, len(noted), low=LEAST_BAD):
            broken.append(f"{name}: the bad slice held in {held:.1%}")
    return broken
