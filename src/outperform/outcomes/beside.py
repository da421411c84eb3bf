"""Outcomes of two models of which nobody knows what they shared."""

from __future__ import annotations

from outperform.errors import DataError, UsageError
from outperform.outcomes.outcomes import Outcomes


def stand_beside(one: Outcomes, two: Outcomes) -> Outcomes:
    """Return unpaired outcomes of the only model of ``one`` and the only one of ``two``.

    Parameters
    ----------
    one, two
        Outcomes of one model each; their documents need not be the same.

    Examples
    --------
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
    left, right = left.sharing_sets(right)
    return Outcomes(
        models=(*left.models, *right.models),
        labels=left.labels,
        tables=(*left.tables, *right.tables),
        kind=left.kind,
        sets=left.sets,
        findings=tuple(dict.fromkeys(left.findings + right.findings)),
        sources=left.origins + right.origins,
    )
