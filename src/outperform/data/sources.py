"""Sources of counts, and checks of outcomes to be added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from outperform._json import written
from outperform._typing import AnyArray
from outperform.data.missing import TEXT_FINDINGS
from outperform.findings import Finding, clauses, counted, finding, listed

TWINS = "repeated_sources"
DOUBLED = (TWINS, "repeated_rows")  # items that may count twice; these prevent a gate from passing
GATED = (*DOUBLED, *TEXT_FINDINGS, "index_not_used")
"""Findings that are warnings in a comparison but prevent a gate from passing."""
BATCHES = ("batches_differ", "version_changed")
"""Findings about added batches that may come from different populations or models."""
_SHOWN = 3


@written("name n sha256 telling")
@dataclass(frozen=True, slots=True)
class Source:
    """One source of counts: a file, several files, a frame, a database table or arrays.

    Parameters
    ----------
    name
        Name of the source. For several files, names of the first and the last. Empty for arrays.
    n
        Number of items.
    sha256
        Hash of the counts, independent of format and order.
    telling
        Whether different data are unlikely (less than one in a million) to have exactly these
        counts, so two sources with the same hash are the same items.
    file
        File of outcomes from which the source was read, if any. Not stored.
    """

    name: str
    n: int
    sha256: str
    telling: bool
    file: str = field(default="", compare=False)


def log_chance(counts: AnyArray) -> float:
    """Return the log probability that other data of the same kind have the same counts.

    Two samples of the same multinomial distribution agree in all cells with probability about
    √(4πn) / ∏ √(4πc), where c is the count in a cell.
    """
    if not counts.any():
        return 0.0
    counts = counts.astype(np.float64)
    logs = np.log(4 * np.pi * counts)
    return float(np.log(4 * np.pi * counts.sum()) - logs.sum()) / 2


def twin_findings(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Report sources with exactly the same counts.

    Examples
    --------
    >>> one = Source("mon.csv", 900, "0" * 64, True)
    >>> (found,) = twin_findings([one, Source("tue.csv", 900, "0" * 64, True)])
    >>> print(found.message)  # doctest: +NORMALIZE_WHITESPACE
    mon.csv and tue.csv have exactly the same counts, of 900 items each. If one is a copy, its items
    count twice: remove it.
    """
    alike: dict[str, list[Source]] = {}
    for source in sources:
        if source.telling:
            alike.setdefault(source.sha256, []).append(source)
    twins = [group for group in alike.values() if len(group) > 1]
    if not twins:
        return ()
    copies = [f"{_names(group)}, of {counted(group[0].n, 'items')} each" for group in twins]
    return (finding("repeated_sources", copies=clauses(copies, most=_SHOWN)),)


def made_serious(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Raise findings that prevent a gate from passing to the level "serious".

    Examples
    --------
    >>> print(*made_serious([Finding(TWINS, "warning", "One is a copy.")]))
    serious: One is a copy. [repeated_sources]
    """
    return tuple(
        replace(finding, level="serious") if finding.name in GATED else finding
        for finding in findings
    )


def batches_differ(findings: Iterable[Finding]) -> bool:
    """Return whether the added batches differ so much that the decision is withheld.

    Examples
    --------
    >>> batches_differ([Finding("version_changed", "serious", "The model is another one.")])
    True
    """
    return any(finding.name in BATCHES and finding.level == "serious" for finding in findings)


def _names(group: Sequence[Source]) -> str:
    names = list(dict.fromkeys(source.file or source.name for source in group))
    if names == [""]:
        return f"{len(group)} of the added outcomes have exactly the same counts"
    if len(names) == 1:
        return f"{names[0]} was added {len(group)} times with exactly the same counts"
    named = listed([name or "arrays" for name in names], most=_SHOWN)
    return f"{named} have exactly the same counts"
