"""The colours of the page's pictures; the style sheet changes them for dark screens."""

from __future__ import annotations

INK = "#1b1f24"
QUIET = "#59636e"
LINE = "#8c959f"
ROPE = "#e4e8ec"
BETTER = "#0b5fad"
WORSE = "#a84300"
EQUIVALENT = "#4d5761"

NAMES = {
    INK: "ink",
    QUIET: "quiet",
    LINE: "line",
    ROPE: "rope",
    BETTER: "better",
    WORSE: "worse",
    EQUIVALENT: "equivalent",
    "#ffffff": "paper",
}
"""How the style sheet calls them."""

VERDICTS = {
    "BETTER": BETTER,
    "LEANING_BETTER": QUIET,
    "EQUIVALENT": EQUIVALENT,
    "LEANING_WORSE": QUIET,
    "WORSE": WORSE,
    "UNDECIDED": QUIET,
}

AXIS = {
    "domainColor": LINE,
    "tickColor": LINE,
    "labelColor": QUIET,
    "titleColor": QUIET,
    "titleFontWeight": "normal",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titlePadding": 8,
    "labelFlush": False,
    "labelOverlap": True,
    "tickCount": 6,
    "grid": False,
}
