"""Colours of the three decisions, for screens, pages and figures."""

from __future__ import annotations

from collections.abc import Mapping

# People with colour blindness can distinguish these, also in greyscale.
LIGHT: Mapping[str, str] = {"worse": "#D55E00", "equivalent": "#8C8C8C", "better": "#0072B2"}
"""For a light or unknown background."""
DARK: Mapping[str, str] = {"worse": "#FF9E4A", "equivalent": "#A6A6A6", "better": "#5AB4F0"}
"""For a dark background."""


def with_colours(sheet: str) -> str:
    """Return a style sheet with the colours in place of ``/* LIGHT */`` and ``/* DARK */``.

    Examples
    --------
    >>> with_colours("p { /* DARK */ }")
    'p { --worse: #FF9E4A; --equivalent: #A6A6A6; --better: #5AB4F0; }'
    """
    for mark, colours in (("/* LIGHT */", LIGHT), ("/* DARK */", DARK)):
        declared = " ".join(f"--{name}: {value};" for name, value in colours.items())
        sheet = sheet.replace(mark, declared)
    return sheet
