"""The worlds of scores as a table, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from verification import markdown
from verification.chance import share_error, share_is_off
from verification.scores import BOUNDS, WORLDS, Interval, ScoreWorld, truth_of

Found = Mapping[ScoreWorld, Sequence[Interval]]

_HEADER = (
    *("metric", "items", "positive", "true difference", "shared"),
    *("repetitions", "covered", "width", "DeLong covered", "sd over DeLong's", "must hold"),
)


def table(found: Found) -> str:
    """Return one row a world; coverage in per cent with its standard error."""
    rows = [_row(world, intervals) for world, intervals in found.items()]
    return markdown.table(_HEADER, rows) + (
        f"\n{len(found)} of {len(WORLDS)} worlds; 95% intervals of A − B, by 5,200 draws; shares "
        "in per cent.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds whose intervals hold the truth too rarely or too often."""
    failed = []
    for world, intervals in found.items():
        covered = float(np.mean([one.covered for one in intervals]))
        if world.gated and share_is_off(covered, len(intervals), *BOUNDS):
            failed.append(
                f"scores, {world.metric}, {world.n} items, {world.prevalence:.0%} positive, "
                f"distances {world.distances}: {covered:.1%} covered"
            )
    return failed


def _row(world: ScoreWorld, intervals: Sequence[Interval]) -> list[str]:
    covered = float(np.mean([one.covered for one in intervals]))
    beside = [one.by_delong for one in intervals if one.by_delong is not None]
    ratios = [one.sd_ratio for one in intervals if one.sd_ratio is not None]
    grades = world.metric == "mean"
    return [
        world.metric,
        f"{world.n:,}" + (" in groups of 4" if grades else ""),
        "" if grades else f"{100 * world.prevalence:g}",
        f"{truth_of(world):+.4f}",
        f"{100 * world.shared:g}",
        f"{len(intervals):,}",
        markdown.percent(covered, share_error(covered, len(intervals))),
        f"{np.mean([one.width for one in intervals]):.3f}",
        markdown.percent(float(np.mean(beside))) if beside else "",
        f"{np.mean(ratios):.3f}" if ratios else "",
        "yes" if world.gated else "no",
    ]
