"""Tables in Markdown, as they are included in the documentation."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers_from: int = 1) -> str:
    """Return a table; the columns from ``numbers_from`` on are aligned to the right."""
    rules = [":---" if place < numbers_from else "---:" for place in range(len(header))]
    lines = [header, rules, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def p_value(value: float) -> str:
    """Return a p-value in two digits, tiny ones as a bound.

    Examples
    --------
    >>> p_value(0.0314), p_value(2.5e-9), p_value(0.0)
    ('0.031', '2.5e-09', '< 1e-99')
    """
    return "< 1e-99" if value < 1e-99 else f"{value:.2g}"


def percent(value: float, error: float | None = None) -> str:
    """Return a share in per cent, with its standard error if there is one."""
    shown = f"{100 * value:.1f}"
    return shown if error is None else f"{shown} ± {100 * error:.1f}"
