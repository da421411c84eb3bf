"""Columns of a table: a key, a heading and the one way in which its cells are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from outperform.present import numbers

Align = Literal["left", "right"]


def _as_text(value: Any) -> str:
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: where its values are found and how they are written.

    Parameters
    ----------
    key
        The key of its values in the rows, and its name in frames and CSV files.
    heading
        What people read above it; the key if None.
    write
        Turns a value that is not text into text. Text is never passed to it.
    align
        The side on which its cells line up.

    Examples
    --------
    >>> Column(key="n", heading="documents", write=numbers.count, align="right").show(7532)
    '7,532'
    """

    key: str
    heading: str | None = None
    write: Callable[[Any], str] = _as_text
    align: Align = "left"

    @property
    def title(self) -> str:
        """What stands above the column."""
        return self.key if self.heading is None else self.heading

    def show(self, value: object) -> str:
        """Return a value as text, before any escaping."""
        if value is None:
            return "–"
        return str(value) if isinstance(value, str) else self.write(value)


def text_column(key: str, heading: str | None = None) -> Column:
    """Return a column of labels and other text.

    Examples
    --------
    >>> text_column("class").show("spam")
    'spam'
    """
    return Column(key=key, heading=heading)


def number_column(key: str, heading: str | None = None, digits: int = numbers.DIGITS) -> Column:
    """Return a column of numbers with a fixed number of decimals.

    Examples
    --------
    >>> number_column("sd").show(0.00761)
    '0.0076'
    """
    write = partial(numbers.plain, digits=digits)
    return Column(key=key, heading=heading, write=write, align="right")


def signed_column(key: str, heading: str | None = None, digits: int = numbers.DIGITS) -> Column:
    """Return a column of differences, each with its sign.

    Examples
    --------
    >>> signed_column("mean").show(0.0222)
    '+0.0222'
    """
    write = partial(numbers.signed, digits=digits)
    return Column(key=key, heading=heading, write=write, align="right")


def count_column(key: str, heading: str | None = None) -> Column:
    """Return a column of whole numbers with thousands separators.

    Examples
    --------
    >>> count_column("n").show(18846)
    '18,846'
    """
    return Column(key=key, heading=heading, write=numbers.count, align="right")


def probability_column(key: str, heading: str | None = None, n_draws: int | None = None) -> Column:
    """Return a column of probabilities, exact ones or from ``n_draws`` draws.

    Examples
    --------
    >>> probability_column("p_better", n_draws=20_000).show(1.0)
    '>99.985%'
    """
    write = partial(numbers.probability, n_draws=n_draws)
    return Column(key=key, heading=heading, write=write, align="right")
