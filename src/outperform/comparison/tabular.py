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

    def to_latex(self) -> str:
        """Return the rows as a LaTeX table."""
        return self.table().to_latex()

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return self.table().to_html()

    def _repr_html_(self) -> str:
        return self.to_html()
