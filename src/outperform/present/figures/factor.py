"""The factor plot: the difference before and after the data, and what that does to the null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.facts import Facts
from outperform.present.figures import style
from outperform.present.figures.shapes import Shape, read_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.15  # of what must be seen, to either side
_TAIL = 0.7  # of the HDI's width, to either side
_LAST = 6  # points of the prior's line that its name stands over
_DECADES = 6.0  # below the posterior's top; what lies deeper is only written


def plot_factor(
    posterior: ArrayLike | tuple[ArrayLike, ArrayLike],
    prior: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    null: Mapping[str, Any],
    ax: Axes | None = None,
) -> Axes:
    """Draw prior and posterior of the difference on a logarithmic scale, and both nulls.

    At zero the distance of the two densities is the Bayes factor of the point
    null; what the interval null compares, the mass in the ROPE, is written.

    Parameters
    ----------
    posterior, prior
        Draws, or a pair of a grid and the density on it.
    facts
        The facts of the comparison.
    null
        ``inside``: the ROPE's mass before and after the data, or None;
        ``density``: the densities at zero, before and after, or None;
        ``point``: the facts of the point null's Bayes factor, or None.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "recall", "exact": True,
    ...          "rope": {"low": -0.1, "high": 0.1}, "bayes_factor": {"bf01": 4.0},
    ...          "hdi": {"low": -0.4, "high": 0.4, "prob": 0.95}}
    >>> null = {"inside": (0.2, 0.5), "density": None, "point": None}
    >>> from matplotlib.figure import Figure
    >>> after, before = ([-0.5, 0.0, 0.5], [0.1, 1.0, 0.1]), ([-1, 0, 1], [0.1, 0.8, 0.1])
    >>> ax = plot_factor(after, before, facts=facts, null=null, ax=Figure().subplots())
    >>> print(ax.texts[-1].get_text().splitlines()[0])
    inside the ROPE: prior 20.00%, posterior 50.00%
    """
    after = read_shape(posterior, name="draws of the posterior")
    window = factor_window(facts)
    before = _shape_within(prior, window)
    ax = style.new_axes(ax, purpose="plot_factor()", height=2.8)
    style.draw_rope(ax, facts["rope"]["low"], facts["rope"]["high"])
    floor = _floor(after, before, null)
    _draw_shapes(ax, after, before, floor)
    _draw_densities(ax, null, floor)
    _write_meaning(ax, facts, null)
    ax.set(yscale="log", xlim=window, ylim=(floor, 4 * max(after.top, before.top)))
    ax.set_xlabel(style.subject(facts), **style.SMALL)
    ax.set_ylabel("density (log scale)", **style.SMALL)
    ax.tick_params(axis="y", labelsize="small")
    style.number_ticks(ax)
    style.bare(ax, sides=("top", "right"))
    return ax


def factor_window(facts: Facts) -> tuple[float, float]:
    """Return what the figure must show: the posterior but for its tails, the ROPE and zero.

    Examples
    --------
    >>> low, high = factor_window({"hdi": {"low": 0.0, "high": 0.1},
    ...                            "rope": {"low": -0.01, "high": 0.01}})
    >>> round(low, 3), round(high, 3)
    (-0.106, 0.206)
    """
    hdi, rope = facts["hdi"], facts["rope"]
    tail = _TAIL * (hdi["high"] - hdi["low"])
    low = min(hdi["low"] - tail, rope["low"], 0.0)
    high = max(hdi["high"] + tail, rope["high"], 0.0)
    margin = max(_MARGIN * (high - low), 1e-9)
    return low - margin, high + margin


def _shape_within(prior: Any, window: tuple[float, float]) -> Shape:
    if isinstance(prior, tuple):
        return read_shape(prior)
    shape = read_shape(prior, window=window, name="draws of the prior")
    # A stretch that no draw hit has no logarithm; it is left out of the line.
    return Shape(
        grid=shape.grid, height=np.where(shape.height > 0, shape.height, np.nan), step=shape.step
    )


def _floor(after: Shape, before: Shape, null: Mapping[str, Any]) -> float:
    """Return the lowest density shown: below the prior's, and below both at zero."""
    shown = [after.top / 100, float(np.nanmin(before.height)) / 3]
    shown += [value / 3 for value in null["density"] or () if value > 0]
    deepest = after.top * 10**-_DECADES
    return max(min(shown), deepest) if np.nanmin(before.height) > deepest else min(shown[:2])


def _draw_shapes(ax: Axes, after: Shape, before: Shape, floor: float) -> None:
    clipped: FloatArray = np.maximum(after.height, floor)
    Shape(grid=after.grid, height=clipped, step=after.step).fill(ax, **style.SHAPE, zorder=2)
    how: dict[str, Any] = {"drawstyle": "steps-post"} if before.step else {}
    ax.plot(
        before.grid, before.height, color=style.ink(ax), ls=style.DASHES, lw=1.2, zorder=3, **how
    )
    peak = float(after.grid[int(np.argmax(after.height))])
    style.veiled(ax, "posterior", (peak, after.top), (0, 2), ha="center", va="bottom")
    level = float(before.height[~np.isnan(before.height)][-_LAST:].max())
    side = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    style.veiled(ax, "prior", (1.0, level), (0, 4), **side)


def _draw_densities(ax: Axes, null: Mapping[str, Any], floor: float) -> None:
    """Mark both densities at zero and the distance between them."""
    colour = style.ink(ax)
    ax.axvline(0, color=colour, lw=0.7, ls=":", zorder=1)
    if null["density"] is None:
        return
    before, after = null["density"]
    ax.plot([0, 0], [before, max(after, floor)], color=colour, lw=1.6, zorder=5)
    edge = {"ms": 5.5, "mec": colour, "mew": 1.0, "ls": "", "zorder": 6}
    ax.plot([0], [before], "o", mfc=ax.get_facecolor(), **edge)
    ax.plot([0], [max(after, floor)], "o" if after > floor else "v", mfc=colour, **edge)


def _write_meaning(ax: Axes, facts: Facts, null: Mapping[str, Any]) -> None:
    text = "\n".join([*_of_interval(facts, null), *_of_point(null)])
    ax.text(0.0, 1.03, text, transform=ax.transAxes, va="bottom", linespacing=1.25, **style.TINY)


def _of_interval(facts: Facts, null: Mapping[str, Any]) -> list[str]:
    if null["inside"] is None or facts.get("bayes_factor") is None:
        return ["interval null: the ROPE has no width, or no mass before the data"]
    before, after = null["inside"]
    shares = (
        numbers.probability(before),
        numbers.probability(after, n_draws=read.draws_behind(facts)),
    )
    return [
        f"inside the ROPE: prior {shares[0]}, posterior {shares[1]}",
        _odds(facts["bayes_factor"], "lying inside", "lying outside"),
    ]


def _of_point(null: Mapping[str, Any]) -> list[str]:
    if null["point"] is None or null["density"] is None:
        return ["point null (exactly 0): no exact Bayes factor"]
    before, after = (f"{value:.3g}" for value in null["density"])
    return [
        f"density at 0: prior ○ {before}, posterior ● {after}",
        _odds(null["point"], "no difference", "a difference"),
    ]


def _odds(factor: Mapping[str, Any], null: str, other: str) -> str:
    """Say which claim the data made likelier, and how much."""
    written = numbers.bayes_factor(factor)
    direction, relation, *rest = written.split(" ")
    if not rest:
        return written
    claim = null if direction == "BF01" else other
    return f"    the odds of {claim} grew {relation.strip('=')}{rest[0]}-fold ({direction})"
