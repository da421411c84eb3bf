"""The picture of a posterior: its shape, the HDI and the ROPE on one axis."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.facts import Facts
from outperform.present.figures import style
from outperform.present.figures.intervals import KEY, draw_interval
from outperform.present.figures.shapes import read_shape
from outperform.present.sentences import verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = -0.1  # where the HDI lies, in heights of the posterior
_TITLE, _LONG_TITLE = 36, 44  # characters that fit over one column's width, usual and small


def plot_posterior(
    draws_or_density: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior of a difference, or of one model's metric.

    Parameters
    ----------
    draws_or_density
        Draws, or a pair of a grid and the density on it.
    facts
        The facts of the comparison or estimate that the draws belong to.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"name": "bert", "metric": "f1", "metric_label": "F1", "sd": 0.05,
    ...          "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_posterior([0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'bert, F1'
    """
    shape = read_shape(draws_or_density)
    ax = style.new_axes(ax, purpose="plot()")
    shape.fill(ax, **style.SHAPE, zorder=2)
    if facts.get("rope") is not None:
        _draw_rope(ax, facts)
        _write_shares(ax, facts)
        _write_verdict(ax, facts)
    _draw_hdi(ax, facts, shape.top)
    ax.set_xlabel(style.subject(facts), **style.SMALL)
    ax.set_ylim(-0.34 * shape.top, 1.05 * shape.top)
    ax.margins(x=0.12)
    style.number_ticks(ax, most=6)
    style.bare(ax)
    return ax


def _draw_rope(ax: Axes, facts: Facts) -> None:
    low, high = facts["rope"]["low"], facts["rope"]["high"]
    style.draw_rope(ax, low, high)
    ax.annotate(
        style.minus(f"ROPE {numbers.rope(low, high)}"),
        (low, 0.97),
        xycoords=ax.get_xaxis_transform(),
        xytext=(2, 0),
        textcoords="offset points",
        rotation=90,
        va="top",
        zorder=6,
        **style.TINY,
    )


def _write_shares(ax: Axes, facts: Facts) -> None:
    """Write the three probabilities above the axes, below the ROPE on the left."""
    name = style.names(facts["names"], limit=style.SHORT_NAME)[0]
    below, above = f"{name} worse", f"{name} better"
    keys = ["p_worse", "p_equivalent", "p_better"]
    if not facts.get("greater_is_better", True):
        below, above = above, below
        keys.reverse()
    words = (below, "equivalent", above)
    aligns = ("left", "center", "right")
    for key, word, x, align in zip(keys, words, (0.0, 0.5, 1.0), aligns, strict=True):
        text = f"{word}\n{read.probability(facts, key)}"
        ax.text(x, 1.03, text, transform=ax.transAxes, ha=align, va="bottom", **style.SMALL)


def _write_verdict(ax: Axes, facts: Facts) -> None:
    """Write the verdict over the probabilities, as the title that people may replace."""
    decision = facts.get("decision")
    if decision is None:
        return
    short = style.brief(facts["names"], limit=style.SHORT_NAME)
    words = f"{decision.get('symbol', '')} {verdict({**facts, 'names': short})}".strip()
    long = len(words) > _TITLE
    ax.set_title(
        style.leftwards(fill(words, _LONG_TITLE) if long else words),
        loc="left",
        pad=28,
        family=style.family(ax),
        fontsize="small" if long else "medium",
        **style.LITERAL,
    )


def _draw_hdi(ax: Axes, facts: Facts, top: float) -> None:
    places, level = read.digits(facts), _BAR * top
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    draw_interval(ax, facts, level)
    write = numbers.signed if "names" in facts else numbers.plain
    ends = [style.minus(write(end, places)) for end in (low, high)]
    style.veiled(ax, ends[0], (low, level), (-4, 0), ha="right", va="center")
    style.veiled(ax, ends[1], (high, level), (4, 0), ha="left", va="center")
    key = KEY.format(hdi=read.hdi_label(facts)) if "mean" in facts else read.hdi_label(facts)
    style.write_key(ax, key)
