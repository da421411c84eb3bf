"""What is asked of one table, be it in files, a frame or a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from outperform.ingest.cells import OnNull
from outperform.ingest.files.tables import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which columns of a table are what."""

    truth: str | None  # None where the models' columns say right or wrong
    models: Mapping[str, str]  # column by model
    id: str | None = None
    where: Where = None
    count: str | None = None  # how many items a row stands for
    weight: str | None = None  # how much each of them matters
    by: tuple[str, ...] = ()
    groups: str | None = None
    named: bool = True  # whether the models were, or all other columns are taken for them
    on_null: OnNull = "refuse"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of labels, the truth first if there is one."""
        return (*(() if self.truth is None else (self.truth,)), *self.models.values())

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that are counted: labels, slices, then the group and the weight of items."""
        others = (name for name in (self.groups, self.weight) if name is not None)
        return (*self.columns, *self.by, *others)


def not_counts(name: str, table: str, number: int = 0, example: object = None) -> str:
    """Return the sentence for a column that cannot be counts."""
    shown = "nothing" if example is None else repr(example)
    return (
        f"counts say how many items a row stands for: whole numbers, none below 0; column "
        f"{name!r} of {table} "
        + (f"has {shown} in {number} rows" if number else "has others")
        + f"; if it says how much an item matters, give weight={name!r}"
    )
