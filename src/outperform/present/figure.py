"""The picture of a posterior: its shape, the HDI and the ROPE on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from outperform._optional import require
from outperform._typing import FloatArray
from outperform.errors import UsageError
from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME_LIMIT = 18
_SHORT_NAME = 12
_LABEL_WIDTH = 40  # characters that fit under one column's width
_SIZE = (3.5, 2.5)  # inches: one column of a two-column page
# Half-transparent greys stand out on light and on dark pages, and in print.
_CURVE: dict[str, Any] = {"facecolor": (0.4, 0.4, 0.4, 0.6), "edgecolor": "0.45", "lw": 0.6}
_BAND: dict[str, Any] = {"facecolor": (0.5, 0.5, 0.5, 0.2), "edgecolor": "0.45", "lw": 0.6}
_BUTT: dict[str, Any] = {"solid_capstyle": "butt"}
# Names are text, not formulas: neither mathtext nor LaTeX may read them.
_LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A curve to fill: heights over a grid of values."""

    grid: FloatArray
    height: FloatArray
    step: bool


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
    shape = _shape(draws_or_density)
    if ax is None:
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="plot()")
        ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    top = float(shape.height.max())
    step: Literal["post"] | None = "post" if shape.step else None
    ax.fill_between(shape.grid, shape.height, step=step, **_CURVE, zorder=2)
    if facts.get("rope") is not None:
        _draw_rope(ax, facts)
        _write_shares(ax, facts)
    _draw_hdi(ax, facts, top)
    _finish(ax, facts, top)
    return ax


def _shape(draws_or_density: Any) -> _Shape:
    if isinstance(draws_or_density, tuple) and len(draws_or_density) == 2:
        grid, height = (np.asarray(part, dtype=np.float64) for part in draws_or_density)
        if grid.ndim != 1 or grid.shape != height.shape or grid.size < 2:
            raise UsageError(
                "a density must be a grid and as many heights, two at least, "
                f"but arrays of shapes {grid.shape} and {height.shape} came"
            )
        if not np.isfinite(height).all() or height.max() <= 0:
            raise UsageError(
                "a density must be finite and somewhere above 0, but its heights are not; "
                "leave out the ends of the grid where it is infinite"
            )
        return _Shape(grid=grid, height=height, step=False)
    draws = np.asarray(draws_or_density, dtype=np.float64)
    if draws.ndim != 1 or draws.size == 0 or not np.isfinite(draws).all():
        raise UsageError(
            "draws must be one row of finite numbers, "
            f"but an array of shape {draws.shape} came, or one with NaN or infinity"
        )
    return _histogram(draws)


def _histogram(draws: FloatArray) -> _Shape:
    """Bin the draws; equal draws, which have no density, become one narrow bar."""
    low, high = np.quantile(draws, [0.0005, 0.9995])
    if high <= low:
        low, high = draws[0] - 5e-4, draws[0] + 5e-4
        return _Shape(grid=np.array([low, high]), height=np.array([1.0, 1.0]), step=True)
    n_bins = int(np.clip(np.sqrt(draws.size) / 3, 10, 40))
    height, edges = np.histogram(draws, bins=n_bins, range=(low, high))
    heights = height / (draws.size * np.diff(edges))
    return _Shape(grid=edges, height=np.append(heights, heights[-1]), step=True)


def _draw_rope(ax: Axes, facts: Facts) -> None:
    low, high = facts["rope"]["low"], facts["rope"]["high"]
    ax.axvspan(low, high, **_BAND, zorder=0)
    ax.annotate(
        f"ROPE {numbers.rope(low, high)}",
        (low, 0.97),
        xycoords=ax.get_xaxis_transform(),
        xytext=(2, 0),
        textcoords="offset points",
        rotation=90,
        va="top",
        fontsize="x-small",
        zorder=6,
        **_LITERAL,
    )


def _write_shares(ax: Axes, facts: Facts) -> None:
    """Write the three probabilities above the axes, below the ROPE on the left."""
    name = read.names(facts, limit=_SHORT_NAME)[0]
    below, above = f"{name} worse", f"{name} better"
    keys = ["p_worse", "p_equivalent", "p_better"]
    if not facts.get("greater_is_better", True):
        below, above = above, below
        keys.reverse()
    words = (below, "equivalent", above)
    aligns = ("left", "center", "right")
    for key, word, x, align in zip(keys, words, (0.0, 0.5, 1.0), aligns, strict=True):
        text = f"{word}\n{read.probability(facts, key)}"
        how = {"ha": align, "va": "bottom", "fontsize": "small", **_LITERAL}
        ax.text(x, 1.03, text, transform=ax.transAxes, **how)


def _draw_hdi(ax: Axes, facts: Facts, top: float) -> None:
    places, level = read.digits(facts), -0.1 * top
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    ink = ax.xaxis.label.get_color()
    ax.plot([low, high], [level, level], color=ink, lw=3, marker="|", ms=7, zorder=5, **_BUTT)
    write = numbers.signed if "names" in facts else numbers.plain
    _label(ax, write(low, places), (low, level), (-4, 0), ha="right", va="center")
    _label(ax, write(high, places), (high, level), (4, 0), ha="left", va="center")
    middle = ((low + high) / 2, level)
    _label(ax, read.hdi_label(facts), middle, (0, -5), ha="center", va="top")


def _label(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **how: Any
) -> None:
    # A veil of the background keeps the text apart from the ROPE's edge behind it.
    veil = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    how = {"fontsize": "small", "bbox": veil, "zorder": 4, **_LITERAL, **how}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **how)


def _finish(ax: Axes, facts: Facts, top: float) -> None:
    if "names" in facts:
        subject = read.difference(facts, limit=_NAME_LIMIT)
    else:
        subject = for_text(facts["name"], limit=_NAME_LIMIT)
    label = f"{subject}, {read.metric(facts)}"
    if len(label) > _LABEL_WIDTH:
        label = f"{subject},\n{read.metric(facts)}"
    ax.set_xlabel(label, fontsize="small", **_LITERAL)
    ax.tick_params(axis="x", labelsize="small")
    ax.set_ylim(-0.3 * top, 1.05 * top)
    ax.margins(x=0.12)
    ax.locator_params(axis="x", nbins=6)
    ax.set_yticks([])
    for side in ("left", "top", "right"):
        ax.spines[side].set_visible(False)
