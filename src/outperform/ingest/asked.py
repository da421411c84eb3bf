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
    weight: str | None = None
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
        """The columns that are counted: labels, what divides the documents, then their group."""
        return (*self.columns, *self.by, *(() if self.groups is None else (self.groups,)))


def not_weights(name: str, table: str, number: int = 0, example: object = None) -> str:
    """Return the sentence for a column that cannot be weights."""
    shown = "nothing" if example is None else repr(example)
    return (
        f"weights say how many documents a row stands for: whole numbers, none below 0; column "
        f"{name!r} of {table} "
        + (f"has {shown} in {number} rows" if number else "has others")
        + "; importance weights are for arrays: compare(…, sample_weight=…)"
    )
