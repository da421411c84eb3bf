"""Table that can be written in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from outperform.display import formats
from outperform.display.cards import Notebook, fragment, table_html
from outperform.display.formats import Column
from outperform.display.numbers import for_text
from outperform.errors import UsageError, require, unknown_name
from outperform.findings import counted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Table(Notebook):
    """Rows of raw values, with columns that define their format.

    Parameters
    ----------
    columns
        The columns, from left to right.
    rows
        One mapping per row, with a value (or None) for the key of every column.
    title
        Title, in a few words.
    notes
        Lines below the table.

    Examples
    --------
    >>> from outperform.display.formats import signed_column, text_column
    >>> table = Table((text_column("class"), signed_column("mean")),
    ...               ({"class": "spam", "mean": 0.0222},))
    >>> table["mean"]
    (0.0222,)
    >>> print(table.to_markdown())
    | class | mean |
    | :--- | ---: |
    | spam | +0.0222 |
    """

    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, object], ...]
    title: str | None = field(default=None, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if not keys or len(set(keys)) < len(keys):
            raise UsageError(f"columns of a table must have different keys; got {keys}")
        frozen = []
        for number, row in enumerate(self.rows):
            missing = [key for key in keys if key not in row]
            if missing:
                raise UsageError(
                    f"every row needs a value for every column, but row {number} "
                    f"lacks {missing}; use None for unknown values"
                )
            frozen.append(MappingProxyType({key: formats.plain_value(row[key]) for key in keys}))
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(frozen))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        return iter(self.rows)

    def __getitem__(self, key: str) -> tuple[Any, ...]:
        if key not in self.keys:
            raise UsageError(unknown_name("column", key, self.keys))
        return tuple(row[key] for row in self.rows)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        name = "" if self.title is None else f"{for_text(self.title, limit=60)}: "
        rows = counted(len(self), "rows")
        keys = ", ".join(for_text(key, limit=formats.LIMIT) for key in self.keys)
        return f"<Table {name}{rows} of {keys}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only views of dictionaries cannot be pickled; their contents can.
        rows = tuple(dict(row) for row in self.rows)
        return _rebuild, (self.columns, rows, self.title, self.notes)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the columns, from left to right."""
        return tuple(column.key for column in self.columns)

    def only(self, keys: Iterable[str]) -> Table:
        """Return the table with some of its columns, in the order given.

        Parameters
        ----------
        keys
            Keys of the columns to keep.

        Examples
        --------
        >>> from outperform.display.formats import text_column
        >>> Table((text_column("a"), text_column("b")), ({"a": 1, "b": 2},)).only(["b"]).keys
        ('b',)
        """
        if isinstance(keys, str):
            raise UsageError(f"columns must be a list such as ['mean', 'sd']; got {keys!r}")
        known = {column.key: column for column in self.columns}
        selected = list(keys)
        for key in selected:
            if key not in known:
                raise UsageError(unknown_name("column", key, self.keys))
        return replace(self, columns=tuple(known[key] for key in selected))

    def to_text(self) -> str:
        """Return the table aligned for a terminal."""
        return formats.as_text(self.columns, self.rows, self.title, self.notes)

    def to_markdown(self) -> str:
        """Return the table as GitHub Markdown."""
        return formats.as_markdown(self.columns, self.rows, self.title, self.notes)

    def to_latex(self, *, label: str | None = None) -> str:
        """Return the table for LaTeX with the booktabs package.

        With a title it becomes a table environment, in a font size that fits the width of a page. A
        table that is still too wide is rotated, with the rotating package.

        Parameters
        ----------
        label
            LaTeX label for references; requires a title.
        """
        return formats.as_latex(self.columns, self.rows, self.title, self.notes, label=label)

    def to_html(self) -> str:
        """Return the table as one self-contained HTML element."""
        return fragment(table_html(self.columns, self.rows, title=self.title, notes=self.notes))

    def to_csv(self) -> str:
        """Return the raw values as CSV; text that looks like a formula is escaped."""
        return formats.as_csv(self.keys, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the raw values for JSON; NaN and infinity are converted to text."""
        return {
            "schema": SCHEMA,
            "kind": "table",
            "title": self.title,
            "columns": [{"key": c.key, "heading": c.title} for c in self.columns],
            "rows": [{k: formats.json_value(v) for k, v in row.items()} for row in self.rows],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the raw values as a pandas DataFrame."""
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame({key: list(self[key]) for key in self.keys})
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the raw values as a polars DataFrame."""
        polars = require("polars", extra="polars", purpose="to_polars()")
        frame: pl.DataFrame = polars.DataFrame(self._uniform_columns())
        return frame

    def to_arrow(self) -> pa.Table:
        """Return the raw values as an Arrow table."""
        pyarrow = require("pyarrow", extra="arrow", purpose="to_arrow()")
        return pyarrow.table(self._uniform_columns())

    def _uniform_columns(self) -> dict[str, list[Any]]:
        return {key: formats.uniform(self[key]) for key in self.keys}


def _rebuild(
    columns: tuple[Column, ...],
    rows: tuple[Mapping[str, object], ...],
    title: str | None,
    notes: tuple[str, ...],
) -> Table:
    return Table(columns, rows, title=title, notes=notes)
