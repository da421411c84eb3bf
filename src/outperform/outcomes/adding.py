"""Which outcomes do not add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes


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
    if (one.pool is None) != (other.pool is None):
        raise UsageError(
            "documents chosen from a pool by their predictions do not add up with others; give "
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
        one.pool is not None
        and other.pool is not None
        and one.pool.to_dict() == other.pool.to_dict()
    )
