"""Ids that repeat: a column that was not asked for and may name what documents belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outperform.outcomes.outcomes import Outcomes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedId:
    """A column whose values repeat, and the outcomes with these as groups.

    No posterior looks at it; it is there so that a doubt can say what groups would change.

    Parameters
    ----------
    column
        Its name.
    n_values
        How many different values it has.
    n_rows
        In how many rows.
    outcomes
        The same outcomes, with one group for each value.
    """

    column: str
    n_values: int
    n_rows: int
    outcomes: Outcomes
