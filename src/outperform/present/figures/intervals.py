"""One look for an interval in every figure: a bar, a dot for the mean, a diamond for the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outperform.present.facts import Facts
from outperform.present.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEY = "{hdi}, ● mean, ◇ observed"


def draw_interval(
    ax: Axes, facts: Facts, level: float, *, width: float = 3.0, colour: Any = None
) -> None:
    """Draw the HDI as a bar, the mean as a dot on it and the observed value as a diamond."""
    colour = style.ink(ax) if colour is None else colour
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    ax.plot(
        [low, high],
        [level, level],
        color=colour,
        lw=width,
        marker="|",
        ms=width + 4,
        zorder=5,
        **style.BUTT,
    )
    # Where they coincide, the dot lies in the diamond and both are seen.
    paper = ax.get_facecolor()
    if facts.get("observed") is not None:
        look: dict[str, Any] = {"marker": "D", "ms": width + 3.2, "mfc": paper, "mec": colour}
        ax.plot([facts["observed"]], [level], ls="", mew=0.9, zorder=6, **look)
    if facts.get("mean") is not None:
        look = {"marker": "o", "ms": width + 1.6, "mfc": colour, "mec": paper}
        ax.plot([facts["mean"]], [level], ls="", mew=0.8, zorder=7, **look)
