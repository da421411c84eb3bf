"""Where counts came from, and which outcomes may be added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from outperform._json import written
from outperform._typing import AnyArray
from outperform.data.missing import TEXT_FINDINGS
from outperform.findings import Finding, clauses, counted, finding, listed

TWINS = "repeated_sources"
DOUBLED = (TWINS, "repeated_rows")  # items that may count twice; a gate does not pass with these
GATED = (*DOUBLED, *TEXT_FINDINGS, "index_not_used")
"""Findings that warn where models are compared, and with which no gate passes."""
BATCHES = ("batches_differ", "version_changed")
"""Findings about batches that were added up and are not of one population or of one model."""
_SHOWN = 3


@written("name n sha256 telling")
@dataclass(frozen=True, slots=True)
class Source:
    """One thing that was counted: a file, several, a frame, a table of a database, arrays.

    Parameters
    ----------
    name
        What it was called; of several files the first and the last. Empty for arrays.
    n
        How many items were counted.
    sha256
        A hash of the counts, whatever the order of models and rows and whatever the format.
    telling
        Whether other data would hardly have the very same counts, so that two sources with one
        hash are the same items: the chance is below one in a million.
    file
        The file of outcomes that it was read from, if it was. It is not stored.
    """

    name: str
    n: int
    sha256: str
    telling: bool
    file: str = field(default="", compare=False)


def log_chance(counts: AnyArray) -> float:
    """Return the log of the chance that other data of the same kind have the same counts.

    Two samples of one multinomial distribution agree in all cells with a probability of about
    √(4πn) / ∏ √(4πc), c the count of a cell.
    """
    if not counts.any():
        return 0.0
    counts = counts.astype(np.float64)
    logs = np.log(4 * np.pi * counts)
    return float(np.log(4 * np.pi * counts.sum()) - logs.sum()) / 2


def twin_findings(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Say which sources have exactly the same counts.

    Examples
    --------
    >>> one = Source("mon.csv", 900, "0" * 64, True)
    >>> (found,) = twin_findings([one, Source("tue.csv", 900, "0" * 64, True)])
    >>> print(found.message)  # doctest: +NORMALIZE_WHITESPACE
    mon.csv and tue.csv have exactly the same counts, of 900 items each. If one is a copy, its items
    count twice: remove it.
    """
    alike: dict[str, list[Source]] = {}
    for one in sources:
        if one.telling:
            alike.setdefault(one.sha256, []).append(one)
    twins = [group for group in alike.values() if len(group) > 1]
    if not twins:
        return ()
    copies = [f"{_names(group)}, of {counted(group[0].n, 'items')} each" for group in twins]
    return (finding("repeated_sources", copies=clauses(copies, most=_SHOWN)),)


def made_serious(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Let findings withhold the decision with which no gate passes.

    Examples
    --------
    >>> print(*made_serious([Finding(TWINS, "warning", "One is a copy.")]))
    serious: One is a copy. [repeated_sources]
    """
    return tuple(replace(one, level="serious") if one.name in GATED else one for one in findings)


def batches_differ(findings: Iterable[Finding]) -> bool:
    """Return whether batches that were added up differ so much that no decision is given.

    Examples
    --------
    >>> batches_differ([Finding("version_changed", "serious", "The model is another one.")])
    True
    """
    return any(one.name in BATCHES and one.level == "serious" for one in findings)


def _names(group: Sequence[Source]) -> str:
    names = list(dict.fromkeys(one.file or one.name for one in group))
    if names == [""]:
        return f"{len(group)} of the outcomes that were added up have exactly the same counts"
    if len(names) == 1:
        return f"{names[0]} was added {len(group)} times with exactly the same counts"
    named = listed([name or "arrays" for name in names], most=_SHOWN)
    return f"{named} have exactly the same counts"
