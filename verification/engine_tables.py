"""The engines side by side as tables, and what did not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scipy.special import ndtr

from outperform.posterior.pymc.sampling import FEWEST_EFFECTIVE, MOST_RHAT
from verification import markdown
from verification.engine_data import DATA, cells_of
from verification.engines import CHAINS, EXACT_DRAWS, Agreement, Plant

MOST_ERRORS = 5.0
FAR = 3.0

_PRIORS = (
    *("prior", "data sets", "farthest", "of", "on", f"beyond {FAR:g} errors"),
    *("R-hat", "effective draws", "divergences", "CPU seconds"),
)
_SETS = ("data set", "items", "classes", "empty cells", "metric", "ROPE ±", "farthest")


def tables(found: Sequence[Agreement], planted: Mapping[Plant, Agreement]) -> dict[str, str]:
    """Return a table of the models, one of the data sets and one of what was planted."""
    return {
        "engines.md": _of_priors(found),
        "engine_data.md": _of_data(found),
        "engine_plants.md": _of_plants(planted),
    }


def failures(found: Iterable[Agreement], planted: Mapping[Plant, Agreement]) -> list[str]:
    """Return where the engines are apart, where a chain did not converge, what was missed."""
    failed = [
        f"engines, {one.road} on {one.data}: {fault}" for one in found for fault in faults(one)
    ]
    missed = [plant.name for plant, one in planted.items() if one.farthest <= MOST_ERRORS]
    return failed + [f"engines: the planted bug {name!r} was not found" for name in missed]


def faults(one: Agreement) -> list[str]:
    """Return what stands against one agreement, in words."""
    found = [
        f"{name} is {distance:.1f} errors away"
        for name, distance in one.distances.items()
        if not distance <= MOST_ERRORS
    ]
    if not one.rhat < MOST_RHAT:
        found.append(f"R-hat is {one.rhat:.4f}")
    if one.divergences:
        found.append(f"{one.divergences} draws diverged")
    if not one.ess >= FEWEST_EFFECTIVE:
        found.append(f"the draws are worth {one.ess:.0f}")
    return found


def _of_priors(found: Sequence[Agreement]) -> str:
    rows = [_model_row(name, _where(found, "road", name)) for name in _names(found, "road")]
    n = sum(len(one.distances) for one in found)
    failed = [one for one in found if faults(one)]
    text = (
        f"\n{len(found)} comparisons of {EXACT_DRAWS:,} independent draws, or a closed form, "
        f"with a chain ({CHAINS}), of {n:,} numbers: {_beyond(found)} are more than {FAR:g} joint "
        f"errors apart, where {2 * ndtr(-FAR) * n:.1f} would be by chance. "
        f"{len(failed) or 'None'} of the comparisons failed.\n"
    )
    listed = [f"\n- {one.road} on {one.data}: {'; '.join(faults(one))}\n" for one in failed]
    return markdown.table(_PRIORS, rows) + text + "".join(listed)


def _model_row(name: str, group: Sequence[Agreement]) -> list[str]:
    worst = max(group, key=lambda one: one.farthest)
    return [
        name,
        str(len(group)),
        f"{worst.farthest:.1f}",
        max(worst.distances, key=worst.distances.__getitem__),
        worst.data,
        str(_beyond(group)),
        f"{max(one.rhat for one in group):.4f}",
        f"{min(one.ess for one in group):,.0f}",
        str(sum(one.divergences for one in group)),
        f"{sum(one.seconds for one in group):,.0f}",
    ]


def _of_data(found: Sequence[Agreement]) -> str:
    rows = []
    for data in DATA:
        group = _where(found, "data", data.name)
        if group:
            cells = cells_of(data)
            empty = f"{(cells == 0).sum():,} of {cells.size:,}"
            shown = (f"{data.n:,}", str(data.n_classes), empty, data.metric, f"{data.rope:g}")
            rows.append([data.name, *shown, f"{max(one.farthest for one in group):.1f}"])
    return markdown.table(_SETS, rows)


def _of_plants(planted: Mapping[Plant, Agreement]) -> str:
    rows = []
    for plant, one in planted.items():
        caught = "yes" if one.farthest > MOST_ERRORS else "**no**"
        rows.append([plant.name, one.road, one.data, f"{one.farthest:.0f}", caught])
    header = ("planted bug", "asked of the direct engine", "data set", "farthest", "found")
    return markdown.table(header, rows, numbers_from=3)


def _names(found: Sequence[Agreement], field: str) -> list[str]:
    return list(dict.fromkeys(getattr(one, field) for one in found))


def _where(found: Sequence[Agreement], field: str, name: str) -> list[Agreement]:
    return [one for one in found if getattr(one, field) == name]


def _beyond(found: Sequence[Agreement]) -> int:
    return sum(distance > FAR for one in found for distance in one.distances.values())
