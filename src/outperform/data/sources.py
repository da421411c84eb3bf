"""Where counts came from, and which outcomes may be added up."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._json import to_json, written
from outperform._typing import AnyArray
from outperform.data.labels import LABEL_FINDINGS, label_findings, sort_labels
from outperform.data.missing import TEXT_FINDINGS, label_findings_of
from outperform.data.table import CHANCE, row_findings
from outperform.data.views import check_labels, n_codes, sharing_sets
from outperform.errors import DataError, UsageError
from outperform.findings import Finding, clauses, counted, finding, listed

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores


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


def origins(outcomes: Outcomes) -> tuple[Source, ...]:
    """Return the sources of outcomes; those that know none are one without a name."""
    return outcomes.sources or (source_of(outcomes),)


def read_from(outcomes: Outcomes, file: str) -> Outcomes:
    """Return outcomes with sources that know the file of outcomes they were read from."""
    sources = tuple(replace(one, file=file) for one in origins(outcomes))
    return replace(outcomes, sources=sources)


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
    telling = max(_log_chance(table.counts) for table in tables) < math.log(CHANCE)
    return Source(name, outcomes.n, found.hexdigest(), telling)


def with_source(outcomes: Outcomes, name: str, *, weighted: bool) -> Outcomes:
    """Return outcomes that were just counted as one source, and say if rows look repeated."""
    repeated = () if weighted else row_findings(outcomes.tables[0], kind=outcomes.kind)
    return replace(
        outcomes,
        sources=(source_of(outcomes, name),),
        findings=tuple(dict.fromkeys(outcomes.findings + repeated)),
    )


def _label(outcomes: Outcomes, code: int) -> Any:
    if outcomes.kind == "label_sets":
        return [outcomes.labels[label] for label in outcomes.sets[code]]
    return outcomes.labels[code] if code < len(outcomes.labels) else None  # None: no span


def scores_source(scores: Scores, name: str, sha256: str) -> Source:
    """Return scores as one source; rows that are alike tell as little as items of one cell."""
    rows = np.column_stack([one.reshape(scores.n_rows, -1) for one in scores.values])
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    return Source("", scores.n, sha256, _log_chance(counts) < math.log(CHANCE), name)


def _log_chance(counts: AnyArray) -> float:
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
        return f"{len(group)} of the outcomes that were added up hold the very same counts"
    if len(names) == 1:
        return f"{names[0]} was added {len(group)} times with the very same counts"
    named = listed([name or "arrays" for name in names], most=_SHOWN)
    return f"{named} hold the very same counts"


def refuse_unlike(one: Outcomes, other: Outcomes) -> None:
    """Say why two outcomes are not of one kind, and how to make them so."""
    if set(one.models) != set(other.models):
        raise UsageError(f"outcomes of other models do not add up: {one.models}, {other.models}")
    if one.paired != other.paired:
        raise UsageError("paired and unpaired outcomes do not add up; call unpair() first")
    if one.kind != other.kind:
        raise UsageError(f"outcomes of the kinds {one.kind!r} and {other.kind!r} do not add up")
    if one.weighted != other.weighted:
        raise UsageError(
            "outcomes with and without importance weights do not add up; count the others with "
            "sample_weight=[1, 1, …]"
        )
    if (one.groups is None) != (other.groups is None):
        raise UsageError(
            "outcomes with and without groups do not add up; call ungroup() on the former"
        )
    if (one.slices is None) != (other.slices is None):
        raise UsageError("outcomes with and without slices do not add up; divide both or none")
    if one.prevalence != other.prevalence:
        there = [one.prevalence or "the data's own", other.prevalence or "the data's own"]
        raise UsageError(
            f"outcomes at other class proportions do not add up: {there[0]}, and {there[1]}; add "
            "them up at_prevalence(None), and call at_prevalence() on the sum"
        )
    if (one.pool is None) != (other.pool is None):
        raise UsageError(
            "items chosen from a pool by their predictions do not add up with others; give "
            "both to Outcomes.from_pool as one pool, if all of it was open to choice"
        )
    if one.pool is not None and _same_pool(one, other):
        raise UsageError(
            "both outcomes have the same pool, which would count twice; if more of it was "
            "labelled, give all its labels to Outcomes.from_pool at once"
        )


def _same_pool(one: Outcomes, other: Outcomes) -> bool:
    other = other.select(one.models)
    return one.labels == other.labels and (
        one.pool is not None and other.pool is not None and to_json(one.pool) == to_json(other.pool)
    )


def add(one: Outcomes, two: Outcomes) -> Outcomes:
    """Add the counts of two outcomes up, or say why they do not."""
    refuse_unlike(one, two)
    labels = sort_labels(set(one.labels) | set(check_labels(two.labels, like=set(one.labels))))
    left, right = one._relabel(labels), two.select(one.models)._relabel(labels)
    left, right = sharing_sets(left, right)
    tables = tuple(
        mine.plus(theirs, n_labels=n_codes(left))
        for mine, theirs in zip(left.tables, right.tables, strict=True)
    )
    sources = origins(one) + origins(two)
    # Labels that look alike may come from different shards, so they are looked at again.
    again = (*LABEL_FINDINGS, TWINS)
    kept = [each for each in one.findings + two.findings if each.name not in again]
    known = {each.name for each in one.findings + two.findings}
    about = label_findings(labels, empty_is_label="empty_label" not in known)
    if "looks_missing" in known:
        about += label_findings_of(labels, tables, left.models, left.sets or None)
    findings = (*dict.fromkeys(kept), *about, *twin_findings(sources))
    slices = None
    if left.slices is not None and right.slices is not None:
        slices = left.slices.plus(right.slices, n_labels=n_codes(left))
    pool = None
    if left.pool is not None and right.pool is not None:
        pool = left.pool.plus(right.pool, n_labels=n_codes(left))
    return replace(
        left,
        labels=labels,
        tables=tables,
        findings=findings,
        slices=slices,
        pool=pool,
        _repeated=(),
        sources=sources,
        _items=None if one._items is None or two._items is None else one._items.plus(two._items),
        never_true=tuple(dict.fromkeys(one.never_true + two.never_true)),
    )


def stand_beside(one: Outcomes, two: Outcomes) -> Outcomes:
    """Return unpaired outcomes of the only model of ``one`` and the only one of ``two``.

    Parameters
    ----------
    one, two
        Outcomes of one model each; their items need not be the same.

    Examples
    --------
    >>> from outperform import Outcomes
    >>> new = Outcomes.from_labels(["a", "b"], {"new": ["a", "b"]})
    >>> old = Outcomes.from_labels(["a", "c", "c"], {"old": ["a", "a", "c"]})
    >>> stand_beside(new, old)
    Outcomes(n=3, models=('new', 'old'), labels=('a', 'b', 'c'), paired=False, cells=5)
    """
    if len(one.models) != 1 or len(two.models) != 1 or one.models == two.models:
        raise UsageError(
            f"two outcomes of one model each, with two names, are needed; got {one.models} and "
            f"{two.models}"
        )
    if one.kind != two.kind:
        raise DataError(f"outcomes of the kinds {one.kind!r} and {two.kind!r} cannot be compared")
    if one.weighted != two.weighted:
        raise DataError("importance weights of one model only cannot be compared; weigh both")
    if (one.groups is None) != (two.groups is None):
        one, two = one.ungroup(), two.ungroup()
    left, right = one.with_labels(two.labels), two.with_labels(one.labels)
    left, right = sharing_sets(left, right)
    return type(one)(
        models=(*left.models, *right.models),
        labels=left.labels,
        tables=(*left.tables, *right.tables),
        kind=left.kind,
        sets=left.sets,
        findings=tuple(dict.fromkeys(left.findings + right.findings)),
        sources=origins(left) + origins(right),
        never_true=tuple(dict.fromkeys(one.never_true + two.never_true)),
    )
