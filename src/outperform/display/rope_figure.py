"""Figures of the decision for every ROPE, and of the Bayes factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FigureSize, FloatArray
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.facts import Facts
from outperform.display.figure_style import Shape, colour, read_shape
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import OPEN
from outperform.display.sentences import DECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WORDS = {
    "BETTER": "better",
    "LEANING_BETTER": "leaning better,\nnot decided",
    "EQUIVALENT": "equivalent",
    "LEANING_EQUIVALENT": "probably\nequivalent",
    "LEANING_WORSE": "leaning worse,\nnot decided",
    "WORSE": "worse",
    "UNDECIDED": "undecided",
}
_LEANING = {
    "LEANING_BETTER": "better",
    "LEANING_EQUIVALENT": "equivalent",
    "LEANING_WORSE": "worse",
}
_STRIP, _ROOF = 1.07, 1.42  # the decisions lie between these, above the probabilities
_NO_ROOM = 0.07  # a band with a smaller share of the axes is not labelled
_THICK = 0.14  # thinner parts have no name


def draw_rope_curve(
    shares: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    *,
    facts: Facts,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw the probabilities and the decision for each half-width of the ROPE.

    For an asymmetric ROPE the widths are multiples of it.

    Parameters
    ----------
    shares
        Half-widths and, at each, the probabilities of worse and of better; None to omit them.
    facts
        The facts of the comparison, with ``rope_curve``.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "rope": {"low": -0.01, "high": 0.01},
    ...          "rope_curve": [
    ...              {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.0, "to": 0.04},
    ...              {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.04, "to": None}]}
    >>> from matplotlib.figure import Figure
    >>> ax = draw_rope_curve(facts=facts, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'bert and gpt are equivalent from ±0.04 on'
    """
    with figure_style.canvas(ax, purpose="plot_rope_curve()", height=3.2, size=size) as ax:
        stop = widest_rope(facts)
        ax.set(xlim=(0, stop), ylim=(0, _ROOF))
        for stretch in facts["rope_curve"]:
            _draw_band(ax, stretch, stop)
        parts = None if shares is None else _stacked(*(np.asarray(part) for part in shares))
        labelled = _mark_chosen(ax, facts, stop, parts)
        if parts is not None:
            lines = [(end, end) for end in _changes_of(facts)]
            _draw_shares(ax, *parts, occupied=[*lines, labelled])
        _finish(ax, facts, with_shares=shares is not None)
    return ax


def _stacked(
    widths: FloatArray, worse: FloatArray, better: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the half-widths, and the lower and upper ends of the three probabilities at each."""
    return widths, np.stack([np.zeros(widths.size), worse, 1 - better, np.ones(widths.size)])


def _draw_shares(
    ax: Axes, widths: FloatArray, ends: FloatArray, *, occupied: Sequence[tuple[float, float]]
) -> None:
    """Stack the three probabilities, with each name where the area is thick and free of lines."""
    for name, floor, top in zip(("worse", "equivalent", "better"), ends, ends[1:], strict=False):
        share = top - floor
        look: dict[str, Any] = {"fc": colour(ax, name), "ec": figure_style.paper(ax), "lw": 0.6}
        ax.fill_between(widths, floor, top, zorder=2, **look)
        half = 0.33 * figure_style.text_size() * len(name) * _per_point(ax, widths[-1])
        free = share >= max(0.5 * share.max(), _THICK)
        free &= (widths > half) & (widths < widths[-1] - half)
        for low, high in occupied:
            free &= (widths < low - half) | (widths > high + half)
        if free.any():
            best = np.flatnonzero(free & (share >= 0.98 * share[free].max()))
            at = int(best[best.size // 2])
            how: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
            how |= {"color": figure_style.paper(ax), **figure_style.SMALL}
            ax.text(widths[at], floor[at] + share[at] / 2, name, **how)


def widest_rope(facts: Facts) -> float:
    """Return the largest half-width to show, beyond the chosen ROPE and all decision changes.

    Examples
    --------
    >>> widest_rope({"rope": {"low": -0.01, "high": 0.01},
    ...         "rope_curve": [{"from": 0.0, "to": 0.04}, {"from": 0.04, "to": None}]})
    0.05
    """
    return float(1.25 * max(*_changes_of(facts), 1.1 * _chosen(facts["rope"]), 1e-9))


def _changes_of(facts: Facts) -> list[float]:
    """Return the half-widths at which the decision changes, starting with 0."""
    return [stretch["from"] for stretch in facts["rope_curve"]]


def _per_point(ax: Axes, stop: float) -> float:
    """Return the half-width of the ROPE that a point of the axis represents."""
    return stop / figure_style.points(ax)[0]


def _chosen(rope: Facts) -> float:
    return float(rope["high"]) if rope["low"] == -rope["high"] else 1.0


def _draw_band(ax: Axes, stretch: Facts, stop: float) -> None:
    low = stretch["from"]
    high = stop if stretch["to"] is None else stretch["to"]
    if high <= low:
        return
    decided = stretch["decision"]
    name = DECIDED.get(decided) or _LEANING.get(decided, OPEN)
    ends = {"ymin": _STRIP / _ROOF, "ymax": 1.0}
    strength = 1.0 if decided in DECIDED else 0.0 if name == OPEN else 0.3
    ax.axvspan(low, high, **ends, fc=colour(ax, name), alpha=strength, lw=0, zorder=0)
    if stretch["to"] is not None:
        ax.axvline(high, color=figure_style.ink(ax), lw=0.8, zorder=3)
    room = (high - low) / stop * figure_style.points(ax)[0]
    if (high - low) / stop < _NO_ROOM:
        return
    words = _WORDS[decided]
    longest = 0.55 * figure_style.text_size() * max(map(len, words.splitlines()))
    text = words if longest < room else stretch["symbol"]
    shade = figure_style.paper(ax) if decided in DECIDED else figure_style.ink(ax)
    how: dict[str, Any] = {"ha": "center", "va": "center", "color": shade, "zorder": 5}
    how |= {"family": figure_style.family(ax), **figure_style.SMALL}
    ax.text((low + high) / 2, (_STRIP + _ROOF) / 2, text, **how)


def _mark_chosen(
    ax: Axes, facts: Facts, stop: float, parts: tuple[FloatArray, FloatArray] | None
) -> tuple[float, float]:
    """Draw the chosen ROPE, named on the emptier side, and return the range that they occupy."""
    rope = facts["rope"]
    at = _chosen(rope)
    ax.plot(
        [at, at],
        [0, _STRIP],
        color=figure_style.ink(ax),
        lw=1.6,
        ls=figure_style.DASHES,
        zorder=4,
    )
    even = rope["low"] == -rope["high"]
    text = f"ROPE {read.rope_text(facts)}" if even else "the given ROPE"
    name = 1.6 * figure_style.text_size() * _per_point(ax, stop)
    right = not any(at < change < at + name for change in _changes_of(facts))
    how: dict[str, Any] = {"rotation": 90, "va": "bottom", "zorder": 5, **figure_style.TINY}
    how |= {"ha": "left" if right else "right", "textcoords": "offset points"}
    how["color"] = figure_style.ink(ax) if parts is None else figure_style.paper(ax)
    floor = 0.0
    if parts is not None:  # inside the thickest part, so no edge crosses the name
        ends = [float(np.interp(at, parts[0], level)) for level in parts[1]]
        floor = ends[int(np.argmax(np.diff(ends)))]
    ax.annotate(text, (at, floor + 0.03), xytext=(3 if right else -3, 0), **how)
    return (at, at + name) if right else (at - name, at)


def _changes(facts: Facts) -> str:
    """Return, in words, the decision for each range of widths."""
    a, b = figure_style.brief(facts["names"], limit=figure_style.SHORT_NAME)
    even = facts["rope"]["low"] == -facts["rope"]["high"]
    parts = []
    for stretch in facts["rope_curve"]:
        word, start, stop = DECIDED.get(stretch["decision"]), stretch["from"], stretch["to"]
        if word is None or stop == start:
            continue
        ends = [None if end is None else _width(end, even=even) for end in (start or None, stop)]
        where = f"from {ends[0]} on" if ends[0] else f"up to {ends[1]}"
        where = "for every width" if ends == [None, None] else where
        parts.append(f"{word} {where}")
    if not parts:
        return f"{a} and {b}: withheld for every width"
    if parts[0].startswith("equivalent"):
        return f"{a} and {b} are {parts[0]}"
    first, _, where = parts[0].partition(" ")
    return "; ".join([f"{a} is {first} than {b} {where}", *parts[1:]])


def _width(value: float, *, even: bool) -> str:
    width = f"{value:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
    return f"±{width}" if even else f"{width} times the ROPE"


def _finish(ax: Axes, facts: Facts, *, with_shares: bool) -> None:
    rope = facts["rope"]
    even = rope["low"] == -rope["high"]
    ends = true_minus(numbers.rope(rope["low"], rope["high"]))
    width = "half-width of the ROPE" if even else f"multiple of the ROPE {ends}"
    models = " − ".join(figure_style.names(facts["names"]))
    metric = for_text(read.metric(facts), limit=40)
    ax.set_xlabel(f"{width}\n{metric}, {models}", **figure_style.SMALL)
    figure_style.write_title(ax, _changes(facts), margin=figure_style.beside_numbers())
    figure_style.number_ticks(ax)
    figure_style.bare(ax)
    if with_shares:
        ax.set_ylabel("probability", y=0.5 / _ROOF, **figure_style.SMALL)
        ax.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"], fontsize=figure_style.text_size())


_MARGIN = 0.15  # margin on either side, as a share of the range
_TAIL = 0.7  # tail on either side, as a share of the HDI's width
_FINE = 161
_DECADES = 6.0  # range below the posterior's maximum; lower values are shown only as text


class PointNull(TypedDict):
    """Prior and posterior densities at zero, and the Bayes factor of the point null."""

    density: tuple[float, float] | None
    point: Facts | None


class Null(PointNull):
    """Point null, with the prior and posterior mass in the ROPE."""

    inside: tuple[float, float] | None


def draw_factor(
    posterior: ArrayLike | tuple[ArrayLike, ArrayLike],
    prior: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    null: Null,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw prior and posterior of the difference on a logarithmic scale, and both nulls.

    The distance between the two densities at zero is the Bayes factor of the point null. The
    interval null compares masses in the ROPE, which are shown as text.

    Parameters
    ----------
    posterior, prior
        Draws, or a pair of a grid and the density on it.
    facts
        The facts of the comparison.
    null
        ``inside``: prior and posterior mass of the ROPE, or None; ``density``: prior and posterior
        density at zero, or None; ``point``: the point null's Bayes factor as a dictionary, or None.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "recall", "exact": True,
    ...          "rope": {"low": -0.1, "high": 0.1}, "bayes_factor": {"bf01": 4.0},
    ...          "hdi": {"low": -0.4, "high": 0.4, "prob": 0.95}}
    >>> null = {"inside": (0.2, 0.5), "density": None, "point": None}
    >>> from matplotlib.figure import Figure
    >>> after, before = ([-0.5, 0.0, 0.5], [0.1, 1.0, 0.1]), ([-1, 0, 1], [0.1, 0.8, 0.1])
    >>> ax = draw_factor(after, before, facts=facts, null=null, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    'The odds of lying inside the ROPE grew 4.00-fold'
    """
    after = read_shape(posterior, name="draws of the posterior")
    window = factor_window(facts)
    before = _shape_within(prior, window)
    with figure_style.canvas(ax, purpose="plot_bayes_factor()", height=3.2, size=size) as ax:
        floor = _floor(after, before, null)
        ax.set(yscale="log", xlim=window, ylim=(floor, 4 * max(after.top, before.top)))
        figure_style.draw_rope(ax, facts["rope"]["low"], facts["rope"]["high"])
        _draw_shapes(ax, facts, after, before, floor)
        _draw_densities(ax, null, floor)
        figure_style.name_axis(ax, facts)
        ax.set_ylabel("density (log scale)", **figure_style.SMALL)
        ax.tick_params(axis="y", labelsize=figure_style.text_size())
        figure_style.number_ticks(ax)
        figure_style.bare(ax, sides=("top", "right"))
        note = f"{_of_interval(facts, null)}\n{_of_point(null)}"
        margin = figure_style.beside_numbers()
        figure_style.write_title(ax, _grown(facts, null), note=note, margin=margin)
    return ax


def factor_window(facts: Facts) -> tuple[float, float]:
    """Return the range of the figure: the posterior without its tails, the ROPE and zero.

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
    """Return the prior's density in a window, estimated only from draws in or near the window."""
    if isinstance(prior, tuple):
        return read_shape(prior)
    draws = np.asarray(prior, dtype=np.float64)
    wide = window[1] - window[0]
    near = draws[(draws > window[0] - wide) & (draws < window[1] + wide)]
    shape = read_shape(near if near.size else draws, name="draws of the prior")
    grid = np.linspace(*window, _FINE)
    height = np.interp(grid, shape.grid, shape.height * near.size / draws.size, left=0, right=0)
    # A density of 0, far from all draws, has no logarithm, so the line omits it.
    return Shape(grid=grid, height=np.where(height > 0, height, np.nan))


def _floor(after: Shape, before: Shape, null: Null) -> float:
    """Return the lowest density to show, below the prior and both densities at zero."""
    lowest = float(np.nanmin(before.height, initial=after.top))
    densities = [after.top / 100, lowest / 3]
    densities += [value / 3 for value in null["density"] or () if value > 0]
    return max(min(densities), after.top * 10**-_DECADES)


def _draw_shapes(ax: Axes, facts: Facts, after: Shape, before: Shape, floor: float) -> None:
    after.fill(ax, facts, floor=floor)
    ax.plot(
        before.grid,
        before.height,
        color=figure_style.ink(ax),
        ls=figure_style.DASHES,
        lw=1.2,
        zorder=3,
    )
    peak = float(after.grid[int(np.argmax(after.height))])
    figure_style.outlined(ax, "posterior", (peak, after.top), (0, 2), ha="center", va="bottom")
    drawn = before.height[~np.isnan(before.height)]
    if drawn.size:
        side = {"xycoords": ax.get_yaxis_transform(), "ha": "right", "va": "bottom"}
        figure_style.outlined(ax, "prior", (1.0, float(drawn[-1])), (0, 4), **side)


def _draw_densities(ax: Axes, null: Null, floor: float) -> None:
    """Mark both densities at zero and the distance between them."""
    shade = figure_style.ink(ax)
    if null["density"] is None:
        return
    before, after = null["density"]
    ax.plot([0, 0], [before, max(after, floor)], color=shade, lw=1.6, zorder=5)
    edge: dict[str, Any] = {"ms": 5.5, "mec": shade, "mew": 1.0, "ls": "", "zorder": 6}
    ax.plot([0], [before], "o", mfc=figure_style.paper(ax), **edge)
    ax.plot([0], [max(after, floor)], "o" if after > floor else "v", mfc=shade, **edge)


def _grown(facts: Facts, null: Null) -> str:
    """Return the claim that the data made more probable, and by how much."""
    factor = facts.get("bayes_factor")
    if null["inside"] is not None and factor is not None:
        return _odds(factor, "lying inside the ROPE", "lying outside the ROPE")
    if null["point"] is not None:
        return _odds(null["point"], "no difference", "a difference")
    return "Prior and posterior of the difference"


def _of_interval(facts: Facts, null: Null) -> str:
    factor = facts.get("bayes_factor")
    if null["inside"] is None or factor is None:
        return "interval null: the ROPE has no width, or no prior mass"
    before = numbers.probability(null["inside"][0])
    after = numbers.probability(null["inside"][1], n_draws=read.draws_behind(facts))
    factor_text = numbers.bayes_factor(factor)
    return f"inside the ROPE: prior {before}, posterior {after}; {factor_text}"


def _of_point(null: Null) -> str:
    if null["point"] is None or null["density"] is None:
        return "point null (exactly 0): no exact Bayes factor"
    before, after = (f"{value:.3g}" for value in null["density"])
    factor_text = numbers.bayes_factor(null["point"])
    return f"density at 0: prior ○ {before}, posterior ● {after}; {factor_text}"


def _odds(factor: Mapping[str, object], null: str, other: str) -> str:
    direction, relation, *values = numbers.bayes_factor(factor).split(" ")
    if not values:
        return "Prior and posterior of the difference"
    claim = null if direction == "BF01" else other
    return f"The odds of {claim} grew {relation.strip('=')}{values[0]}-fold"
