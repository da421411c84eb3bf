"""The worlds of label sets as a table, and what did not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from verification import markdown
from verification.chance import share_error, share_is_off
from verification.label_sets import APART, BOUNDS, METRICS, SETTINGS, Held, SetWorld, truth_of

Found = Mapping[SetWorld, Sequence[Held]]

_HEADER = (
    *("metric", "items", "labels", "item's share of an error", "fewest expected"),
    *("disagreements", "true difference", "repetitions", "covered", "width"),
    *("label by label", "must hold"),
)


def table(found: Found) -> str:
    """Return one row a world and metric; coverage in per cent with its standard error."""
    rows = [_row(world, metric, found[world]) for world, metric in SETTINGS if world in found]
    return markdown.table(_HEADER, rows) + (
        "\nEqual-tailed 95% intervals of A − B, by 1,000 draws; shares in per cent. *Fewest "
        "expected* is the least expected count of true positives, false positives and false "
        "negatives of a label and a model. The *item's share of an error* is that for both "
        "models, and that for one of them. *Label by label* is the coverage of prior `uniform`, "
        "which takes labels for independent.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the settings whose intervals hold the truth too rarely or too often."""
    failed = []
    for world, metric in SETTINGS:
        if not world.gated or world not in found:
            continue
        covered = _covered(found[world], metric)
        if share_is_off(covered, len(found[world]), *BOUNDS):
            failed.append(
                f"label sets, {metric}, {world.n} items, {world.n_labels} labels, "
                f"together {world.together}, own {world.own}: {covered:.1%} covered"
            )
    return failed


def _covered(noted: Sequence[Held], metric: str) -> float:
    place = METRICS.index(metric)
    return float(np.mean([one.covered[place] for one in noted]))


def _row(world: SetWorld, metric: str, noted: Sequence[Held]) -> list[str]:
    covered, place = _covered(noted, metric), METRICS.index(metric)
    apart = ""
    if metric in APART:
        apart = markdown.percent(float(np.mean([one.apart[APART.index(metric)] for one in noted])))
    error = share_error(covered, len(noted))
    return [
        metric,
        f"{world.n:,}",
        f"{world.n_labels}",
        f"{100 * world.together:g} + {100 * world.own:g}",
        f"{world.fewest():.1f}",
        f"{np.mean([one.disagreements for one in noted]):.0f}",
        f"{truth_of(world)[metric]:+.4f}",
        f"{len(noted):,}",
        markdown.percent(covered, error),
        f"{np.mean([one.widths[place] for one in noted]):.3f}",
        apart,
        "yes" if world.gated else "no",
    ]
