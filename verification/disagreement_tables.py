"""The pools of which some items were chosen as a table, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from verification import markdown
from verification.chance import share_error, share_is_off
from verification.disagreement import BOUNDS, TIMES, Held, PoolWorld, truth_of

Found = Mapping[PoolWorld, Sequence[Held]]

_HEADER = (
    *("world", "metric", "true difference", "repetitions", "covered", "width"),
    *("width at random", "covered at random", "times the labels", "naive covered", "must hold"),
)


def table(found: Found) -> str:
    """Return one row a world; shares in per cent, coverage with its standard error."""
    rows = [_row(world, held) for world, held in found.items()]
    return markdown.table(_HEADER, rows) + (
        "\n95% intervals of A − B by 5,200 draws, from 400 proposed labels of a pool of 10,000. At "
        f"random: {TIMES} times as many labels, drawn at random from the same pools. Times the "
        "labels: so many times 400 would have to be drawn at random for an interval as narrow. "
        "Naive: the proposed items, taken as if they had been drawn at random. What stands "
        "beside the proposed labels is from the first 100 repetitions, its coverage with an error "
        "of up to 5 per cent.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds whose intervals hold the truth too rarely or too often, or are wide."""
    failed = []
    for world, held in found.items():
        covered = float(np.mean([one.covered for one in held]))
        name = f"disagreement, {world.name}, {world.metric}"
        if world.gated and share_is_off(covered, len(held), *BOUNDS):
            failed.append(f"{name}: {covered:.1%} covered")
        if world.gated and _saved(held) < TIMES:
            failed.append(f"{name}: worth {_saved(held):.2f} times the labels")
    return failed


def _saved(held: Sequence[Held]) -> float:
    """Return how many times the labels an interval as narrow would take at random.

    Widths at random shrink with the root of the number of labels.
    """
    both = [(one.width, one.random_width) for one in held if one.random_width is not None]
    width, random = np.mean(both, axis=0)
    return float(TIMES * (random / width) ** 2)


def _row(world: PoolWorld, held: Sequence[Held]) -> list[str]:
    covered = float(np.mean([one.covered for one in held]))
    beside = [one for one in held if one.random_width is not None]
    return [
        world.name,
        world.metric,
        f"{truth_of(world):+.4f}",
        f"{len(held):,}",
        markdown.percent(covered, share_error(covered, len(held))),
        f"{np.mean([one.width for one in held]):.4f}",
        f"{np.mean([float(one.random_width or 0.0) for one in beside]):.4f}",
        markdown.percent(float(np.mean([bool(one.random_covered) for one in beside]))),
        f"{_saved(held):.1f}",
        markdown.percent(float(np.mean([bool(one.naive_covered) for one in beside]))),
        "yes" if world.gated else "no",
    ]
