"""Metrics that are one sum of weights over a weighted total of disjoint sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["tp", "fn", "fp", "tn", "correct", "wrong"]


@dataclass(frozen=True, slots=True)
class Share:
    """A metric as top / (top + Σ weight · part), all parts disjoint.

    Disjoint sums of Dirichlet weights are Dirichlet again, so such a metric
    has an exact posterior under a Dirichlet table.

    Parameters
    ----------
    top
        The part that counts in favour: ``"tp"``, ``"tn"`` or ``"correct"``.
    rest
        The parts that count against, each with its weight.

    Examples
    --------
    >>> Share("tp", (("fn", 0.5), ("fp", 0.5))).parts
    ('tp', 'fn', 'fp')
    """

    top: Part
    rest: tuple[tuple[Part, float], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The names of all parts, the top first."""
        return (self.top, *(part for part, _ in self.rest))
