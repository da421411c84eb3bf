"""The worlds of slices as a table, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verification import markdown
from verification.chance import share_is_off
from verification.slices import (
    LEAST_FOUND,
    MOST_EQUIVALENT,
    MOST_FALSE,
    Judged,
    SliceWorld,
    Traded,
    most_found,
)

Found = Mapping[SliceWorld, tuple[Judged, Judged]]
"""What each world gave, pooled and each slice on its own."""

_HEADER = (
    *("world", "items", "positive", "right", "agree"),
    *("false calls", "found", "covered", "found or named", "called ≈"),
    *("false calls, separate", "found, separate", "covered, separate"),
    *("wrong of the called", "as expected"),
)


def table(found: Found, n_slices: int) -> str:
    """Return one row a world, shares in per cent."""
    rows = [_row(world, *judged) for world, judged in found.items()]
    return markdown.table(_HEADER, rows) + f"\n{n_slices:,} slices a row, shares in per cent.\n"


def trades(found: Mapping[SliceWorld, Sequence[Traded]], n_slices: int) -> str:
    """Return one row a doubt, and what no rule can exceed; shares in per cent."""
    rows = []
    for world, traded in found.items():
        for one in traded:
            name = "on its own" if one.doubt is None else f"{one.doubt:g}"
            shares = (one.found, one.covered, one.equivalent)
            costs = f"{100 * one.false:.2f}", markdown.percent(one.equal_equivalent)
            rows.append([world.name, name, *map(markdown.percent, shares), *costs])
        most = markdown.percent(most_found(world)), "", "", f"{100 * MOST_FALSE:.2f}", ""
        rows.append([world.name, "no rule finds more", *most])
    header = ("world", "doubt", "found", "covered", "called ≈", "false calls", "equal called ≈")
    return markdown.table(header, rows, numbers_from=2) + (
        f"\n{n_slices:,} slices a row, shares in per cent.\n"
    )


def failures(found: Found, n_slices: int) -> list[str]:
    """Return the worlds with too many false calls, or too little found."""
    failed = []
    for world, (pooled, _) in found.items():
        planted = int(world.planted * n_slices)
        what = f"slices, {world.name}, {world.items} items, {world.agreement:.0%} agree"
        too_many = share_is_off(pooled.false, n_slices - planted, high=MOST_FALSE)
        if too_many and world.scatter is None:
            failed.append(f"{what}: {pooled.false:.3%} called falsely")
        if share_is_off(pooled.equivalent or 0.0, planted, high=MOST_EQUIVALENT):
            failed.append(f"{what}: {pooled.equivalent:.1%} of the planted called equivalent")
        if world.must_find and share_is_off(pooled.found or 0.0, planted, LEAST_FOUND):
            failed.append(f"{what}: {pooled.found:.1%} of the planted found")
    return failed


def _row(world: SliceWorld, pooled: Judged, separate: Judged) -> list[str]:
    low, high = (f"{100 * end:g}" for end in world.prevalence)
    return [
        world.name,
        "10 to 20,000" if world.items is None else f"{world.items:,}",
        low if low == high else f"{low} to {high}",
        f"{100 * world.accuracy:g}",
        f"{100 * world.agreement:g}",
        *_shares(pooled),
        *map(_share, (pooled.named, pooled.equivalent)),
        *_shares(separate),
        f"{100 * pooled.wrong:.2f}",
        f"{100 * pooled.expected:.2f}",
    ]


def _shares(judged: Judged) -> list[str]:
    return [f"{100 * judged.false:.2f}", *map(_share, (judged.found, judged.covered))]


def _share(share: float | None) -> str:
    return "" if share is None else markdown.percent(share)
