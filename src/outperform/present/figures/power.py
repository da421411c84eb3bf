"""Power curves: how often the wanted verdict comes, against the number of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform.errors import UsageError
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Curves on the same axes differ in dashes and marks before they differ in shade.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"ls": "-", "marker": "o", "open": False},
    {"ls": style.DASHES, "marker": "o", "open": True},
    {"ls": (0, (1, 1.4)), "marker": "s", "open": False},
    {"ls": (0, (5, 1.5, 1, 1.5)), "marker": "s", "open": True},
)


def plot_power(
    sizes: ArrayLike,
    power: ArrayLike,
    mcse: ArrayLike | None = None,
    *,
    goal: str,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one power curve; called again with its axes, another one beside it.

    Parameters
    ----------
    sizes
        Numbers of documents.
    power
        The share of data sets that reached the goal, one a size.
    mcse
        The simulation error of each; two of them to either side are drawn.
    goal
        The wanted verdict.
    label
        What the curve is called in the legend; without one there is none.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_power([500, 1000], [0.3, 0.7], goal="≫", label="paired", ax=Figure().subplots())
    >>> ax.get_title()
    'how often the verdict is ≫'
    """
    x, y = (np.asarray(part, dtype=np.float64) for part in (sizes, power))
    if x.ndim != 1 or x.shape != y.shape or x.size < 1:
        raise UsageError(
            "a power curve must be sizes and as many shares, one at least, "
            f"but arrays of shapes {x.shape} and {y.shape} came"
        )
    ax = style.new_axes(ax, purpose="plot()", height=2.3)
    look = _LOOKS[len(ax.containers) % len(_LOOKS)]
    colour = style.ink(ax)
    ax.errorbar(
        x,
        y,
        yerr=None if mcse is None else 2 * np.asarray(mcse, dtype=np.float64),
        color=colour,
        ls=look["ls"],
        marker=look["marker"],
        ms=4.5,
        mfc=ax.get_facecolor() if look["open"] else colour,
        lw=1.1,
        elinewidth=0.8,
        label=None if label is None else style.name(label),
        zorder=3,
    )
    _finish(ax, goal, with_legend=label is not None)
    return ax


def plot_plan(
    sizes: ArrayLike,
    probability: ArrayLike,
    *,
    facts: Facts,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the curve of a plan, the shares behind it, and where it reaches the target.

    Parameters
    ----------
    sizes
        Numbers of documents.
    probability
        The probability of the goal at each.
    facts
        The facts of a plan.
    label
        What the curve is called in the legend; without one there is none.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> facts = {"goal": "≫", "target": 0.8, "n": 900, "seen": 0, "sizes": [500, 1000],
    ...          "shares": [0.6, 0.83], "errors": [0.02, 0.02]}
    >>> ax = plot_plan([500, 1000], [0.6, 0.83], facts=facts, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'documents'
    """
    x, y = (np.asarray(part, dtype=np.float64) for part in (sizes, probability))
    ax = style.new_axes(ax, purpose="plot()", height=2.3)
    look = _LOOKS[len(ax.containers) % len(_LOOKS)]
    colour = style.ink(ax)
    ax.plot(x, y, color=colour, ls=look["ls"], lw=1.1, zorder=3)
    shown = np.asarray(facts["sizes"]) <= x.max()
    ax.errorbar(
        np.asarray(facts["sizes"])[shown],
        np.asarray(facts["shares"])[shown],
        yerr=2 * np.asarray(facts["errors"])[shown],
        color=colour,
        ls="none",
        marker=look["marker"],
        ms=4.5,
        mfc=ax.get_facecolor() if look["open"] else colour,
        elinewidth=0.8,
        label=None if label is None else style.name(label),
        zorder=3,
    )
    if facts["n"]:
        ax.plot([facts["n"]] * 2, [0, facts["target"]], color=colour, lw=0.7, ls=":", zorder=2)
    ax.axhline(facts["target"], color=colour, lw=0.7, ls=":", zorder=2)
    _finish(ax, facts["goal"].replace("_", " "), with_legend=label is not None)
    ax.set_xlabel("more documents" if facts["seen"] else "documents", **style.SMALL)
    ax.set_ylabel("probability", **style.SMALL)
    return ax


def _finish(ax: Axes, goal: str, *, with_legend: bool) -> None:
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"], fontsize="small")
    ax.grid(axis="y", color=(0.5, 0.5, 0.5, 0.25), lw=0.7)
    ax.set_axisbelow(True)
    ax.set_xlabel("documents", **style.SMALL)
    ax.set_ylabel("power", **style.SMALL)
    title = f"how often the verdict is {for_text(goal)}"
    ax.set_title(title, family=style.family(ax), **style.SMALL)
    style.number_ticks(ax)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.bare(ax, sides=("top", "right"))
    if with_legend:
        legend = ax.legend(frameon=False, fontsize="small", loc="best")
        for text in legend.get_texts():
            text.set_parse_math(False)
            text.set_usetex(False)
