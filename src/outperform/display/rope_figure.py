"""The decision for every ROPE, and the Bayes factor plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.figure_style import Shape, read_shape
from outperform.display.sentences import DECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from outperform.results.schemas import ComparisonFacts, CurveFacts, Ends, FactorFacts


_FILLS: dict[str, tuple[float, float, float, float]] = {
    "BETTER": (0.35, 0.35, 0.35, 0.5),
    "WORSE": (0.35, 0.35, 0.35, 0.5),
    "EQUIVALENT": (0.5, 0.5, 0.5, 0.25),
}
_WORDS = {
    "BETTER": "better",
    "LEANING_BETTER": "leaning better,\nnot decided",
    "EQUIVALENT": "practically\nequivalent",
    "LEANING_WORSE": "leaning worse,\nnot decided",
    "WORSE": "worse",
    "UNDECIDED": "undecided",
}
_ROOF = 1.85  # of the line's height; above the line stand the words
_NO_ROOM = 0.07  # of the axes: a narrower band has no words


def draw_rope_curve(
    shares: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    facts: ComparisonFacts,
    ax: Axes | None = None,
) -> Axes:
    """Draw which decision each half-width of the ROPE gives, and mark the chosen one.

    For a ROPE that is not symmetric the widths are multiples of it.

    Parameters
    ----------
    shares
        Half-widths and the posterior mass inside each, drawn as a line; none if None.
    facts
        The facts of the comparison, with ``rope_curve``.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "rope": {"low": -0.01, "high": 0.01},
    ...          "rope_curve": [
    ...              {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.0, "to": 0.04},
    ...              {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.04, "to": None}]}
    >>> from matplotlib.figure import Figure
    >>> ax = draw_rope_curve(facts=facts, ax=Figure().subplots())
    >>> [text.get_text().splitlines()[0] for text in ax.texts[:2]]
    ['>', 'leaning better,']
    """
    ax = figure_style.new_axes(ax, purpose="plot_rope_curve()", height=2.8)
    stop = widest_rope(facts)
    for stretch in facts["rope_curve"]:
        _draw_band(ax, stretch, stop)
    if shares is not None:
        ax.plot(*shares, color=figure_style.ink(ax), lw=1.6, zorder=4)
    _mark_chosen(ax, facts)
    ax.set(xlim=(0, stop), ylim=(0, _ROOF))
    _finish(ax, facts, with_shares=shares is not None)
    return ax


def widest_rope(facts: ComparisonFacts) -> float:
    """Return the greatest half-width shown: all changes of the decision, and the chosen ROPE.

    Examples
    --------
    >>> widest_rope({"rope": {"low": -0.01, "high": 0.01},
    ...         "rope_curve": [{"from": 0.0, "to": 0.04}, {"from": 0.04, "to": None}]})
    0.05
    """
    changes = [stretch["from"] for stretch in facts["rope_curve"]]
    return float(1.25 * max(*changes, 1.1 * _chosen(facts["rope"]), 1e-9))


def _chosen(rope: Ends) -> float:
    return float(rope["high"]) if rope["low"] == -rope["high"] else 1.0


def _draw_band(ax: Axes, stretch: CurveFacts, stop: float) -> None:
    low = stretch["from"]
    high = stop if stretch["to"] is None else stretch["to"]
    if high <= low:
        return
    face = _FILLS.get(stretch["decision"], (0.5, 0.5, 0.5, 0.0))
    ax.axvspan(low, high, facecolor=face, edgecolor="none", zorder=0)
    if stretch["to"] is not None:
        ax.axvline(high, color="0.35", lw=0.8, zorder=1)
    middle, room = (low + high) / 2, (high - low) / stop
    how: dict[str, Any] = {"ha": "center", "zorder": 5}
    symbol = {**figure_style.LITERAL, "fontsize": "large", "family": figure_style.family(ax)}
    ax.text(middle, _ROOF, stretch["symbol"], va="bottom", **how, **symbol)
    words = _WORDS[stretch["decision"]]
    if room >= _NO_ROOM:
        longest = 0.55 * figure_style.text_size() * max(map(len, words.splitlines()))
        upright = longest < room * figure_style.points(ax)[0]
        how |= figure_style.SMALL if upright else {**figure_style.TINY, "rotation": 90}
        ax.text(middle, (1 + _ROOF) / 2, words, va="center", **how)


def _mark_chosen(ax: Axes, facts: ComparisonFacts) -> None:
    rope = facts["rope"]
    at = _chosen(rope)
    ax.plot([at, at], [0, 1], color=figure_style.ink(ax), lw=1.6, ls=figure_style.DASHES, zorder=3)
    even = rope["low"] == -rope["high"]
    text = f"ROPE {numbers.rope(rope['low'], rope['high'])}" if even else "the given ROPE"
    figure_style.veiled(ax, text, (at, 0.03), (3, 0), rotation=90, va="bottom", **figure_style.TINY)


def _changes(facts: ComparisonFacts) -> str:
    """Say where the decision changes, on one short line."""
    if not any(stretch["decision"] in DECIDED for stretch in facts["rope_curve"]):
        return "withheld for every width"
    parts: list[str] = []
    even = facts["rope"]["low"] == -facts["rope"]["high"]
    for stretch in facts["rope_curve"]:
        stop = stretch["to"]
        if stop is None:
            parts.append(f"{stretch['symbol']} {'beyond' if parts else 'for every width'}")
        elif stop > stretch["from"]:
            width = f"{stop:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
            parts.append(f"{stretch['symbol']} to {f'±{width}' if even else f'{width}×'}")
    return ", ".join(parts)


def _finish(ax: Axes, facts: ComparisonFacts, *, with_shares: bool) -> None:
    rope = facts["rope"]
    even = rope["low"] == -rope["high"]
    ends = figure_style.minus(numbers.rope(rope["low"], rope["high"]))
    what = "half-width of the ROPE" if even else f"multiple of the ROPE {ends}"
    ax.set_xlabel(f"{what}\n{figure_style.subject(facts)}", **figure_style.SMALL)
    ax.set_title(_changes(facts), pad=20, family=figure_style.family(ax), **figure_style.SMALL)
    figure_style.number_ticks(ax)
    figure_style.bare(ax, sides=("top", "right") if with_shares else ("left", "top", "right"))
    if with_shares:
        ax.spines["left"].set_bounds(0, 1)
        ax.set_ylabel("probability inside", y=0.5 / _ROOF, **figure_style.SMALL)
        ax.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"], fontsize="small")


_MARGIN = 0.15  # of what must be seen, to either side
_TAIL = 0.7  # of the HDI's width, to either side
_LAST = 6  # points of the prior's line that its name stands over
_DECADES = 6.0  # below the posterior's top; what lies deeper is only written


class PointNull(TypedDict):
    """The densities at zero before and after the data, and the Bayes factor of the point null."""

    density: tuple[float, float] | None
    point: FactorFacts | None


class Null(PointNull):
    """The same, and the mass in the ROPE before and after the data."""

    inside: tuple[float, float] | None


def draw_factor(
    posterior: ArrayLike | tuple[ArrayLike, ArrayLike],
    prior: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: ComparisonFacts,
    null: Null,
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
    >>> ax = draw_factor(after, before, facts=facts, null=null, ax=Figure().subplots())
    >>> print(ax.texts[-1].get_text().splitlines()[0])
    inside the ROPE: prior 20.00%, posterior 50.00%
    """
    after = read_shape(posterior, name="draws of the posterior")
    window = factor_window(facts)
    before = _shape_within(prior, window)
    ax = figure_style.new_axes(ax, purpose="plot_factor()", height=2.8)
    figure_style.draw_rope(ax, facts["rope"]["low"], facts["rope"]["high"])
    floor = _floor(after, before, null)
    _draw_shapes(ax, after, before, floor)
    _draw_densities(ax, null, floor)
    _write_meaning(ax, facts, null)
    ax.set(yscale="log", xlim=window, ylim=(floor, 4 * max(after.top, before.top)))
    ax.set_xlabel(figure_style.subject(facts), **figure_style.SMALL)
    ax.set_ylabel("density (log scale)", **figure_style.SMALL)
    ax.tick_params(axis="y", labelsize="small")
    figure_style.number_ticks(ax)
    figure_style.bare(ax, sides=("top", "right"))
    return ax


def factor_window(facts: ComparisonFacts) -> tuple[float, float]:
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


def _shape_within(prior: object, window: tuple[float, float]) -> Shape:
    if isinstance(prior, tuple):
        return read_shape(prior)
    shape = read_shape(prior, window=window, name="draws of the prior")
    # A stretch that no draw hit has no logarithm; it is left out of the line.
    return Shape(
        grid=shape.grid, height=np.where(shape.height > 0, shape.height, np.nan), step=shape.step
    )


def _floor(after: Shape, before: Shape, null: Null) -> float:
    """Return the lowest density shown: below the prior's, and below both at zero."""
    shown = [after.top / 100, float(np.nanmin(before.height)) / 3]
    shown += [value / 3 for value in null["density"] or () if value > 0]
    deepest = after.top * 10**-_DECADES
    return max(min(shown), deepest) if np.nanmin(before.height) > deepest else min(shown[:2])


def _draw_shapes(ax: Axes, after: Shape, before: Shape, floor: float) -> None:
    clipped: FloatArray = np.maximum(after.height, floor)
    Shape(grid=after.grid, height=clipped, step=after.step).fill(ax, **figure_style.SHAPE, zorder=2)
    how: dict[str, Any] = {"drawstyle": "steps-post"} if before.step else {}
    ax.plot(
        before.grid,
        before.height,
        color=figure_style.ink(ax),
        ls=figure_style.DASHES,
        lw=1.2,
        zorder=3,
        **how,
    )
    peak = float(after.grid[int(np.argmax(after.height))])
    figure_style.veiled(ax, "posterior", (peak, after.top), (0, 2), ha="center", va="bottom")
    level = float(before.height[~np.isnan(before.height)][-_LAST:].max())
    side = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    figure_style.veiled(ax, "prior", (1.0, level), (0, 4), **side)


def _draw_densities(ax: Axes, null: Null, floor: float) -> None:
    """Mark both densities at zero and the distance between them."""
    colour = figure_style.ink(ax)
    ax.axvline(0, color=colour, lw=0.7, ls=":", zorder=1)
    if null["density"] is None:
        return
    before, after = null["density"]
    ax.plot([0, 0], [before, max(after, floor)], color=colour, lw=1.6, zorder=5)
    edge: dict[str, Any] = {"ms": 5.5, "mec": colour, "mew": 1.0, "ls": "", "zorder": 6}
    ax.plot([0], [before], "o", mfc=ax.get_facecolor(), **edge)
    ax.plot([0], [max(after, floor)], "o" if after > floor else "v", mfc=colour, **edge)


def _write_meaning(ax: Axes, facts: ComparisonFacts, null: Null) -> None:
    text = "\n".join([*_of_interval(facts, null), *_of_point(null)])
    ax.text(
        0.0, 1.03, text, transform=ax.transAxes, va="bottom", linespacing=1.25, **figure_style.TINY
    )


def _of_interval(facts: ComparisonFacts, null: Null) -> list[str]:
    factor = facts.get("bayes_factor")
    if null["inside"] is None or factor is None:
        return ["interval null: the ROPE has no width, or no mass before the data"]
    before, after = null["inside"]
    shares = (
        numbers.probability(before),
        numbers.probability(after, n_draws=read.draws_behind(facts)),
    )
    return [
        f"inside the ROPE: prior {shares[0]}, posterior {shares[1]}",
        _odds(factor, "lying inside", "lying outside"),
    ]


def _of_point(null: Null) -> list[str]:
    if null["point"] is None or null["density"] is None:
        return ["point null (exactly 0): no exact Bayes factor"]
    before, after = (f"{value:.3g}" for value in null["density"])
    return [
        f"density at 0: prior ○ {before}, posterior ● {after}",
        _odds(null["point"], "no difference", "a difference"),
    ]


def _odds(factor: Mapping[str, object], null: str, other: str) -> str:
    """Say which claim the data made likelier, and how much."""
    written = numbers.bayes_factor(factor)
    direction, relation, *rest = written.split(" ")
    if not rest:
        return written
    claim = null if direction == "BF01" else other
    return f"    the odds of {claim} grew {relation.strip('=')}{rest[0]}-fold ({direction})"
