"""Where counts came from, and whether the same items were counted more than once."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.findings import Finding
from outperform.outcomes.table import Table

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes

# What happens by chance less often than this is taken as a copy.
CHANCE = 1e-6
TWINS = "repeated_sources"
DOUBLED = (TWINS, "repeated_rows")  # items that may count twice; a gate does not pass with these
_SHOWN = 3


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "n": self.n, "sha256": self.sha256, "telling": self.telling}


def source_of(outcomes: Outcomes, name: str = "") -> Source:
    """Return outcomes as one source.

    Examples
    --------
    >>> import outperform as op
    >>> one = op.Outcomes.from_labels([1, 0], {"a": [1, 1], "b": [0, 0]})
    >>> two = op.Outcomes.from_labels([0, 1], {"b": [0, 0], "a": [1, 1]})
    >>> source_of(one) == source_of(two)
    True
    """
    ordered = replace(outcomes, slices=None).select(sorted(outcomes.models))
    tables = ordered.tables
    used = np.unique(np.concatenate([table.cells.ravel() for table in tables]))
    names = [_label(ordered, code) for code in used.tolist()]
    found = hashlib.sha256(json.dumps([ordered.kind, ordered.models, names]).encode("ascii"))
    for table in tables:
        cells = np.searchsorted(used, table.cells).astype("<i8")
        found.update(f"\n{cells.shape}\n".encode("ascii"))
        found.update(cells.tobytes())
        found.update(json.dumps(table.counts.tolist()).encode("ascii"))
    telling = max(map(_log_chance, tables)) < math.log(CHANCE)
    return Source(name, outcomes.n, found.hexdigest(), telling)


def _label(outcomes: Outcomes, code: int) -> Any:
    if outcomes.kind == "label_sets":
        return [outcomes.labels[label] for label in outcomes.sets[code]]
    return outcomes.labels[code] if code < len(outcomes.labels) else None  # None: no span


def _log_chance(table: Table) -> float:
    """Return the log of the chance that other data of the same kind have the same counts.

    Two samples of one multinomial distribution agree in all cells with a probability of about
    √(4πn) / ∏ √(4πc), c the count of a cell.
    """
    counts = table.counts.astype(np.float64)
    if not counts.any():
        return 0.0
    logs = np.log(4 * np.pi * counts)
    return float(np.log(4 * np.pi * counts.sum()) - logs.sum()) / 2


def twin_findings(sources: Sequence[Source]) -> tuple[Finding, ...]:
    """Say which sources hold the very same counts.

    Examples
    --------
    >>> one = Source("mon.csv", 900, "0" * 64, True)
    >>> (found,) = twin_findings([one, Source("tue.csv", 900, "0" * 64, True)])
    >>> print(found.message)  # doctest: +NORMALIZE_WHITESPACE
    mon.csv and tue.csv hold the very same counts, of 900 items each. If one is a copy, its items
    count twice: leave it out.
    """
    alike: dict[str, list[Source]] = {}
    for one in sources:
        if one.telling:
            alike.setdefault(one.sha256, []).append(one)
    twins = [group for group in alike.values() if len(group) > 1]
    if not twins:
        return ()
    told = "; ".join(f"{_names(group)}, of {group[0].n:,} items each" for group in twins[:_SHOWN])
    more = f"; and {len(twins) - _SHOWN:,} more" if len(twins) > _SHOWN else ""
    message = f"{told}{more}. If one is a copy, its items count twice: leave it out."
    return (Finding("repeated_sources", "warning", message),)


def made_serious(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Let findings that items count twice withhold the verdict, as a gate does.

    Examples
    --------
    >>> print(*made_serious([Finding(TWINS, "warning", "One is a copy.")]))
    serious: One is a copy. [repeated_sources]
    """
    return tuple(replace(one, level="serious") if one.name in DOUBLED else one for one in findings)


def _names(group: Sequence[Source]) -> str:
    names = list(dict.fromkeys(one.file or one.name for one in group))
    if names == [""]:
        return f"{len(group)} of the outcomes that were added up hold the very same counts"
    if len(names) == 1:
        return f"{names[0]} was added {len(group)} times with the very same counts"
    named = [name or "arrays" for name in names[:_SHOWN]]
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    joined = ", ".join(named) + rest if rest else " and ".join([", ".join(named[:-1]), named[-1]])
    return f"{joined} hold the very same counts"


def row_findings(table: Table, *, kind: str) -> tuple[Finding, ...]:
    """Say that rows may have been repeated: every count is a multiple of one number g ≥ 2.

    The chance of that is about g to the power of minus the number of cells, without those that a
    balanced design fixes: one for each true class. Where groups say what belongs together,
    repeated rows are weighed as they should be. Spans are rows of sentences.

    Examples
    --------
    >>> import outperform as op
    >>> truth, new, old = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 1]
    >>> seen = op.Outcomes.from_labels(truth * 100, {"new": new * 100, "old": old * 100})
    >>> [one.name for one in seen.findings]
    ['repeated_rows']
    """
    if kind == "spans" and table.groups is not None:
        counts, fixed = table.groups.repeats, 1
    elif table.groups is None or table.groups.weighted:
        counts, fixed = table.counts, len(np.unique(table.cells[:, 0]))
    else:
        return ()
    times = math.gcd(*counts.tolist())
    if times < 2 or (len(counts) - fixed) * math.log(times) < -math.log(CHANCE) - 1e-9:
        return ()
    seen = "set of spans" if kind == "spans" else "combination of truth and predictions"
    message = (
        f"Every {seen} occurs a multiple of {times:,} times; were rows repeated? Count each item "
        "once. If a row stands for several items, say so by a weight or by counts."
    )
    return (Finding("repeated_rows", "warning", message),)
