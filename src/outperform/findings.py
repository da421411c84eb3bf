"""Doubts about the numbers, as data: a name, a level and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["note", "warning", "serious"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One doubt about a result.

    Parameters
    ----------
    name
        A stable identifier such as ``"default_rope"``.
    level
        ``"note"`` for what a reader should know, ``"warning"`` for what may
        change the conclusion, ``"serious"`` for what withholds it.
    message
        One sentence for people.

    Examples
    --------
    >>> print(Finding("default_rope", "note", "The ROPE of ±0.01 is the default."))
    note: The ROPE of ±0.01 is the default. [default_rope]
    """

    name: str
    level: Level
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message} [{self.name}]"
