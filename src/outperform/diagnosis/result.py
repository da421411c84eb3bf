"""``Diagnosis``: what a file is, what can be asked of it, and the commands to type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from outperform._json import written
from outperform._typing import Label
from outperform.diagnosis.text import diagnosis_document, diagnosis_headline, proposals_table
from outperform.display.document import Document
from outperform.display.table import Table
from outperform.results.base import Tabular


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """Column of a file: what it contains, and what it is believed to be.

    Parameters
    ----------
    name
        Name of the column.
    type
        Type of its values.
    role
        What it is believed to be, for example ``"truth"`` or ``"id"``.
    why
        Reason for this belief.
    n_missing
        Number of missing values in the rows that were read.
    n_distinct
        Number of distinct values in these rows; None for lists.
    """

    name: str
    type: str
    role: str
    why: str
    n_missing: int
    n_distinct: int | None


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCount:
    """Class, and how often it is true.

    Parameters
    ----------
    label
        The class.
    n
        Number of rows, among those that were read, in which it is the true class.
    """

    label: Label
    n: int


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Question that the file can answer, with the command to type.

    Parameters
    ----------
    question
        The question.
    command
        The command, quoted for a shell.
    python
        The same in Python.
    why
        Assumptions of the command, and what to change if they are wrong; may be empty.
    tool
        Name of the tool for agents that answers it; None if there is none.
    arguments
        Arguments of this tool.
    """

    question: str
    command: str
    python: str
    why: str = ""
    tool: str | None = None
    arguments: Mapping[str, str | float | bool | tuple[str, ...] | Mapping[str, str]] | None = None


@written(
    "sources what format n_rows n_seen columns models n_classes classes n_repeated_rows "
    "n_repeated_ids suggestions notes",
    kind="diagnosis",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diagnosis(Tabular):
    r"""What files contain, what can be asked of them, and the commands to type.

    Parameters
    ----------
    sources
        The files, as they were passed.
    what
        What they are, in a few words.
    format
        Format of the files.
    n_rows
        Number of rows or items; None if they were not counted.
    n_seen
        Number of rows that were read; the columns and classes are those of these rows. None if
        the files are not a table.
    columns
        Columns of a table.
    models
        Names of the models.
    n_classes
        Number of classes; None if there are no labels.
    classes
        The most frequent true classes, at most twenty.
    n_repeated_rows
        Number of rows, among those that were read, that equal an earlier row.
    n_repeated_ids
        Number of rows, among those that were read, whose id occurred before; None without an id.
    suggestions
        What can be asked, the most likely question first.
    notes
        What to check, and what else to pass.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import outperform as op
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "preds.csv"
    ...     _ = path.write_text("label,bert,gpt\n" + "ham,ham,spam\nspam,spam,spam\n" * 20)
    ...     d = op.doctor(path)
    >>> d.models, d.suggestions[0].command.split()[:2]
    (('bert', 'gpt'), ['outperform', 'compare'])
    """

    sources: tuple[str, ...]
    what: str
    format: str
    n_rows: int | None = None
    n_seen: int | None = None
    columns: tuple[ColumnFacts, ...] = ()
    models: tuple[str, ...] = ()
    n_classes: int | None = None
    classes: tuple[ClassCount, ...] = ()
    n_repeated_rows: int = 0
    n_repeated_ids: int | None = None
    suggestions: tuple[Suggestion, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.suggestions)

    def table(self) -> Table:
        """Return one row per question, with its command."""
        return proposals_table(self.to_dict())

    def _document(self) -> Document:
        return diagnosis_document(self.to_dict())

    def __repr__(self) -> str:
        return f"Diagnosis({diagnosis_headline(self.to_dict())})"
