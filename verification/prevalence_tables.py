"""The worlds with other shares in production as a table, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from verification import markdown
from verification.chance import share_error, share_is_off
from verification.prevalence import BOUNDS, Held, PrevalenceWorld, truth_of

Found = Mapping[PrevalenceWorld, Sequence[Held]]

_HEADER = (
    *("models", "metric", "posterior", "prevalence", "shared", "true difference", "repetitions"),
    *("covered", "width", "wrong decisions", "naive covered", "naive wrong", "must hold"),
)


def table(found: Found) -> str:
    """Return one row a world; shares in per cent, coverage with its standard error."""
    rows = [_row(world, held) for world, held in found.items()]
    return markdown.table(_HEADER, rows) + (
        "\n95% intervals of A − B in production, by 5,200 draws; shares in per cent. Naive: the "
        "same test sets, the first 500 of them, without `at_prevalence`.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the worlds whose intervals hold the truth too rarely or too often."""
    failed = []
    for world, held in found.items():
        covered = float(np.mean([one.covered for one in held]))
        if world.gated and share_is_off(covered, len(held), *BOUNDS):
            failed.append(
                f"prevalence, {world.name}, {_posterior(world)}, {_known(world)}, shared "
                f"{world.shared:g}: {covered:.1%} covered"
            )
    return failed


def _row(world: PrevalenceWorld, held: Sequence[Held]) -> list[str]:
    covered = float(np.mean([one.covered for one in held]))
    naive = [one for one in held if one.naive_covered is not None]
    return [
        world.name,
        world.metric,
        _posterior(world),
        _known(world),
        f"{100 * world.shared:g}",
        f"{truth_of(world):+.4f}",
        f"{len(held):,}",
        markdown.percent(covered, share_error(covered, len(held))),
        f"{np.mean([one.width for one in held]):.3f}",
        markdown.percent(float(np.mean([one.wrong for one in held]))),
        markdown.percent(float(np.mean([bool(one.naive_covered) for one in naive]))),
        markdown.percent(float(np.mean([bool(one.naive_wrong) for one in naive]))),
        "yes" if world.gated else "no",
    ]


def _posterior(world: PrevalenceWorld) -> str:
    return "default" if world.prior is None else world.prior


def _known(world: PrevalenceWorld) -> str:
    rare = f"{world.shares[-1]:g}"
    return rare if world.counted is None else f"{rare}, from {world.counted:,} counted"
