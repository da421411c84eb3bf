"""What every result that is a table can become."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from outperform import present


class Tabular(ABC):
    """A result whose numbers are rows: one source, every format."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> present.Table:
        """Return the rows."""

    def to_frame(self) -> Any:
        """Return the rows as a pandas frame."""
        return self.table().to_frame()

    def to_polars(self) -> Any:
        """Return the rows as a polars frame."""
        return self.table().to_polars()

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        return self.table().to_arrow()

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table."""
        return self.table().to_markdown()

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """Return the rows as a LaTeX table.

        Parameters
        ----------
        caption
            Plain text for the caption; by default what the table shows.
        label
            What the paper's references call the table; made of the names if None.
        """
        table = present.captioned(self._latex_table(), caption)
        return table.to_latex(label=label or self._latex_label())

    def _latex_table(self) -> present.Table:
        return self.table()

    def _latex_label(self) -> str:
        return present.latex_label(type(self).__name__)

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return self.table().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()
