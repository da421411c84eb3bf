"""Base class of results: tables in every format."""

from __future__ import annotations

from abc import abstractmethod

from outperform._json import Plain
from outperform._typing import ArrowTable, PandasFrame, PolarsFrame
from outperform.decision.intervals import Interval
from outperform.decision.rope import TWO_THIRDS, Decision
from outperform.display.cards import Notebook
from outperform.display.document import Document
from outperform.display.formats import latex_label
from outperform.display.layout import Page, plain
from outperform.display.table import Table
from outperform.findings import Finding


class Tabular(Plain, Notebook):
    """Result whose numbers are rows, with a table in every format."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table:
        """Return the rows."""

    def to_frame(self) -> PandasFrame:
        """Return the rows as a pandas DataFrame."""
        return self.table().to_frame()

    def to_polars(self) -> PolarsFrame:
        """Return the rows as a polars DataFrame."""
        return self.table().to_polars()

    def to_arrow(self) -> ArrowTable:
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
            Caption as plain text. Default: a description of the table.
        label
            LaTeX label for references. Default: derived from the names.
        """
        label = label or self._latex_label()
        return self._document().latex(self.table, caption=caption, label=label)

    def _latex_label(self) -> str:
        return latex_label(type(self).__name__)

    @abstractmethod
    def _document(self) -> Document:
        """Return the contents for every format."""

    def _markdown(self) -> str:
        """Return the Markdown of the command line."""
        return self._document().markdown(self.table)

    def to_html(self) -> str:
        """Return the result as HTML, for notebooks."""
        return self._document().html()

    def __str__(self) -> str:
        return plain(self._document().lines(Page()))


_WITHHELD = {Decision.BETTER: Decision.LEANING_BETTER, Decision.WORSE: Decision.LEANING_WORSE}


def withhold(decision: Decision, hdi: Interval, findings: tuple[Finding, ...]) -> Decision:
    """Return the decision, with ≫ and ≪ withheld if the learners are unstable."""
    unstable = any(finding.name == "unstable_learner" for finding in findings)
    if not unstable or decision not in _WITHHELD:
        return decision
    # If the HDI lies beyond the ROPE, at least the HDI's mass does.
    return _WITHHELD[decision] if hdi.prob >= TWO_THIRDS else Decision.UNDECIDED
