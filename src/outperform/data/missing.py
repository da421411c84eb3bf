"""Texts that mark a missing value, or look like one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outperform.errors import UsageError, param
from outperform.findings import Finding, clauses, counted, finding

if TYPE_CHECKING:
    from outperform.data.table import Table

LOOK_MISSING = frozenset(
    ["NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NaT", "null", "NULL", "None", "\\N"]
)
"""Texts that other programs write for missing values."""
TEXT_FINDINGS = ("empty_label", "looks_missing")
_SHOWN = 5


def looks_missing(text: object) -> bool:
    """Return whether a label is a text that other programs write for missing values.

    Examples
    --------
    >>> [one for one in ("NA", " nan", "none", "", " ", 0) if looks_missing(one)]
    ['NA', ' nan', ' ']
    """
    if not isinstance(text, str) or not text:
        return False
    bare = text.strip()
    return not bare or bare in LOOK_MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingTexts:
    """Texts that the user declared as missing values.

    Parameters
    ----------
    na_values
        Texts that mark a missing value. If None, texts that look missing are labels, with a
        finding.
    empty_is_label
        Whether the empty text is a label.

    Examples
    --------
    >>> MissingTexts.from_param(["NA"], False).of(text_file=True)
    ('', 'NA')
    """

    na_values: tuple[str, ...] | None = None
    empty_is_label: bool = False

    @classmethod
    def from_param(cls, na_values: object, empty_is_label: object) -> MissingTexts:
        """Check the parameters.

        Parameters
        ----------
        na_values, empty_is_label
            As for :func:`outperform.read`.
        """
        if not isinstance(empty_is_label, bool):
            raise UsageError(
                f"{param('empty_is_label')} must be True or False; got {empty_is_label!r}"
            )
        if na_values is None:
            return cls(empty_is_label=empty_is_label)
        several = isinstance(na_values, Iterable) and not isinstance(na_values, (str, bytes))
        texts: tuple[Any, ...] = tuple(na_values) if several else ()  # type: ignore[arg-type]
        if not several or not all(isinstance(text, str) for text in texts):
            raise UsageError(
                f"{param('na_values')} must be a list of texts such as ['NA', 'null'], or [] if "
                f"no text marks a missing value; got {na_values!r}"
            )
        if empty_is_label and "" in texts:
            raise UsageError(
                f"the empty text is either a label, {param('empty_is_label=', True)}, or missing, "
                f"{param('na_values=', [''])}; remove one of them"
            )
        return cls(na_values=tuple(dict.fromkeys(texts)), empty_is_label=empty_is_label)

    def of(self, *, text_file: bool) -> tuple[str, ...]:
        """Return the texts that are missing values; in text files, these include the empty field.

        Parameters
        ----------
        text_file
            Whether the values come from CSV or TSV, where every value is text.
        """
        empty = ("",) if text_file and not self.empty_is_label else ()
        return tuple(dict.fromkeys((*empty, *(self.na_values or ()))))

    def without(self, values: Sequence[Any], *, text_file: bool = False) -> list[Any]:
        """Replace texts that mark missing values with None.

        Parameters
        ----------
        values
            Labels of any type.
        text_file
            As for :meth:`of`.
        """
        missing = set(self.of(text_file=text_file))
        return [None if isinstance(value, str) and value in missing else value for value in values]

    def undeclared(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Drop findings about texts that the user has declared.

        Parameters
        ----------
        findings
            Findings about labels.
        """
        declared = {
            *(() if self.na_values is None else ("looks_missing",)),
            *(("empty_label",) if self.empty_is_label else ()),
        }
        return tuple(finding for finding in findings if finding.name not in declared)


UNDECLARED = MissingTexts()
"""The default, without a declaration."""


def label_findings_of(
    labels: Sequence[object],
    tables: Sequence[Table],
    models: Sequence[str],
    sets: Sequence[Collection[int]] | None = None,
) -> tuple[Finding, ...]:
    """Report labels that look like missing values, with their counts in each column.

    Parameters
    ----------
    labels
        All labels.
    tables
        Counted rows of true labels and predictions: one table for all models, or one per model.
    models
        The names of the models.
    sets
        For label sets, the label codes of each set; None for classes.
    """
    odd = {code: label for code, label in enumerate(labels) if looks_missing(label)}
    if not odd:
        return ()
    parts = []
    for name, table, column in _columns(tables, models):
        for code, label in odd.items():
            own = [code] if sets is None else [at for at, each in enumerate(sets) if code in each]
            # Each row contains one of these codes, so the counts can be added. NumPy is not
            # imported here because the command line imports this module to print its help.
            number = sum(table.sum_where(table.cells[:, column] == each) for each in own)
            if number:
                parts.append(f"{label!r} in {name} ({counted(number, 'items')})")
    if not parts:
        return ()
    return (finding("looks_missing", texts=clauses(parts, most=_SHOWN)),)


def _columns(tables: Sequence[Table], models: Sequence[str]) -> Iterator[tuple[str, Table, int]]:
    """Yield the name of each column, its table, and its index there."""
    yield "the truth", tables[0], 0
    paired = len(tables) == 1
    for index, model in enumerate(models):
        yield repr(model), tables[0 if paired else index], index + 1 if paired else 1
