"""The three colours that carry all meaning; screens, pages and figures take them from here."""

from __future__ import annotations

from collections.abc import Mapping

# Told apart by those who see no red or green, and in grey.
LIGHT: Mapping[str, str] = {"worse": "#D55E00", "equivalent": "#8C8C8C", "better": "#0072B2"}
"""On a light background, and where nothing is known of it."""
DARK: Mapping[str, str] = {"worse": "#FF9E4A", "equivalent": "#A6A6A6", "better": "#5AB4F0"}
"""On a dark background."""


def with_colours(sheet: str) -> str:
    """Return a style sheet with the colours where it says ``/* LIGHT */`` and ``/* DARK */``.

    Examples
    --------
    >>> with_colours("p { /* DARK */ }")
    'p { --worse: #FF9E4A; --equivalent: #A6A6A6; --better: #5AB4F0; }'
    """
    for mark, colours in (("/* LIGHT */", LIGHT), ("/* DARK */", DARK)):
        declared = " ".join(f"--{name}: {value};" for name, value in colours.items())
        sheet = sheet.replace(mark, declared)
    return sheet
