"""Figures of two metrics, of changes in per cent, and of curves with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import AnyArray, FigureSize, FloatArray
from outperform.display import figure_style
from outperform.display.facts import Facts
from outperform.display.figure_style import colour, ink
from outperform.display.pictures import OPEN
from outperform.display.posterior_figure import plot_posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DOTS = 3_000


def draw_ratio(
    draws: FloatArray,
    *,
    facts: Facts,
    title: str,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw the posterior of a change, as for a difference.

    Parameters
    ----------
    draws
        Draws of A / B − 1, in per cent.
    facts
        The ratio as a dictionary, with numbers as changes.
    title
        Title of the figure.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.
    """
    ax = plot_posterior(draws, facts=facts, ax=ax, size=size)
    with figure_style.styled(purpose="plot()", scale=figure_style.inches(size)[1]):
        figure_style.write_title(ax, title.partition(" (")[0], above=2.6 * figure_style.text_size())
        ax.set_xlabel(_axis(facts), family=figure_style.family(ax), **figure_style.SMALL)
    return ax


def _axis(facts: Facts, *, change: str = " − 1 in per cent") -> str:
    a, b = figure_style.names(facts["names"], limit=figure_style.SHORT_NAME)
    way = "better" if facts.get("greater_is_better", True) else "worse"
    metric = figure_style.name(facts["metric_label"], limit=40)
    return f"{metric}, {a} / {b}{change} → {a} {way}"


def draw_joint(
    draws: FloatArray,
    *,
    events: FloatArray,
    facts: Sequence[Facts],
    chances: Mapping[str, str],
    title: str,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw one dot per draw of two metrics, coloured by the dominating model, and both ROPEs.

    Parameters
    ----------
    draws
        ``(2, n_draws)``, with the first metric on the x-axis and the second on the y-axis.
    events
        ``(2, n_draws)``: 0 better, 1 equivalent, 2 worse.
    facts
        The facts of the two comparisons or ratios.
    chances
        Probabilities of dominates, equivalent, trade_off and dominated, as text.
    title
        Title of the figure.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.
    """
    some = draws[:, :_MOST_DOTS]
    tones = _tones(events[:, :_MOST_DOTS])
    with figure_style.canvas(ax, purpose="plot()", height=4.2, size=size) as ax:
        for word in ("equivalent", OPEN, "worse", "better"):
            dots = some[:, tones == word]
            how: dict[str, Any] = {"ls": "", "marker": ".", "ms": 3, "alpha": 0.35, "mew": 0}
            ax.plot(*dots, color=colour(ax, word), zorder=2, **how)
        _draw_centre(ax, facts)
        _span(ax, draws, facts)
        for upright, metric in zip((True, False), facts, strict=True):
            _draw_region(ax, metric, upright=upright)
            _name_axis(ax, metric, upright=not upright)
        a, b = figure_style.names(facts[0]["names"], limit=figure_style.SHORT_NAME)
        note = (
            f"{a} dominates {chances['dominates']}, {b} dominates {chances['dominated']}, "
            f"equivalent in both {chances['equivalent']}, trade-off {chances['trade_off']}; "
            "● mean, ◇ observed, bands ROPE"
        )
        margin = figure_style.beside_numbers()
        figure_style.write_title(ax, title, note=note, margin=margin)
        figure_style.number_ticks(ax)
        ax.tick_params(axis="y", labelsize=figure_style.text_size())
        figure_style.bare(ax, sides=("top", "right"))
    return ax


def _tones(events: FloatArray) -> AnyArray:
    """Return the colour of each draw: better if A dominates, the ink for a trade-off."""
    first, second = events[0], events[1]
    tones: AnyArray = np.full(first.shape, OPEN, dtype=object)
    tones[(first <= 1) & (second <= 1)] = "better"
    tones[(first >= 1) & (second >= 1)] = "worse"
    tones[(first == 1) & (second == 1)] = "equivalent"
    return tones


def _draw_centre(ax: Axes, facts: Sequence[Facts]) -> None:
    look: dict[str, Any] = {"ls": "", "mec": ink(ax), "zorder": 5}
    ax.plot(*([metric["observed"]] for metric in facts), marker="D", ms=7, mfc="none", **look)
    ax.plot(*([metric["mean"]] for metric in facts), marker="o", ms=4, mfc=ink(ax), **look)


def _span(ax: Axes, draws: FloatArray, facts: Sequence[Facts]) -> None:
    """Set axis limits to show nearly all draws and both ROPEs, except much larger ROPEs."""
    limits = []
    for k, metric in enumerate(facts):
        low, high = (float(np.quantile(draws[k], level)) for level in (0.001, 0.999))
        middle, room = float(metric["ratio"]), 2.5 * (high - low)
        ends = [low, high, max(middle, low - room) if middle < low else min(middle, high + room)]
        for edge in (float(metric["rope"]["low"]), float(metric["rope"]["high"])):
            ends += [edge] if low - room < edge < high + room else []
        pad = 0.06 * (max(ends) - min(ends) or 1.0)
        limits.append((min(ends) - pad, max(ends) + pad))
    ax.set(xlim=limits[0], ylim=limits[1])


def _draw_region(ax: Axes, facts: Facts, *, upright: bool) -> None:
    low, high, middle = facts["rope"]["low"], facts["rope"]["high"], float(facts["ratio"])
    if middle == 0.0:
        figure_style.draw_rope(ax, low, high, upright=upright)
        return
    span, line = (ax.axvspan, ax.axvline) if upright else (ax.axhspan, ax.axhline)
    span(low, high, facecolor=ink(ax), alpha=figure_style.BAND, lw=0, zorder=0)
    line(middle, color=ink(ax), alpha=figure_style.FAINT, lw=0.8, ls=":", zorder=1)


def _name_axis(ax: Axes, facts: Facts, *, upright: bool) -> None:
    if not facts["ratio"]:
        figure_style.name_axis(ax, facts, upright=upright)
        return
    text = _axis(facts, change="")
    text = text.replace("→", "↑") if upright else text
    (ax.set_ylabel if upright else ax.set_xlabel)(
        text, family=figure_style.family(ax), **figure_style.SMALL
    )


def draw_curve(
    facts: Facts,
    *,
    title: str,
    difference: bool,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw the curves of two models with their bands, or the difference with its band.

    Parameters
    ----------
    facts
        The facts of the curve.
    title
        Title of the figure.
    difference
        Whether to draw A − B instead of A and B.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.
    """
    keys = ["difference"] if difference else ["a", "b"]
    binned = facts["curve"] == "calibration"
    with figure_style.canvas(ax, purpose="plot()", height=3.8, size=size) as ax:
        for k, key in enumerate(keys):
            draw = _draw_bins if binned else _draw_band
            draw(ax, facts["grid"], facts[key], dashed=k == 1)
            if facts["curve"] == "roc" and not difference:
                _draw_ends(ax, facts["grid"], facts[key], dashed=k == 1)
        if not (binned or difference):
            _name_lines(ax, facts)
        quiet: dict[str, Any] = {"color": ink(ax), "lw": 0.8, "ls": ":", "zorder": 1}
        if difference or facts["curve"] == "net_benefit":
            ax.axhline(0.0, alpha=figure_style.FAINT, **quiet)
        elif facts["curve"] in ("roc", "calibration"):
            ax.plot([0, 1], [0, 1], alpha=figure_style.FAINT, **quiet)
        if facts["curve"] == "net_benefit" and not difference:
            # Nobody would use a model at thresholds with a net benefit far below zero.
            top = max(float(np.max(facts[key]["upper"])) for key in keys)
            ax.set_ylim(bottom=max(ax.get_ylim()[0], -0.5 * top), top=1.05 * top)
        margin = figure_style.beside_numbers()
        note = _curve_key(facts, difference=difference)
        figure_style.write_title(ax, title.partition(":")[0], note=note, margin=margin)
        ax.set_xlabel(facts["x"], **figure_style.SMALL)
        ax.set_ylabel(facts["y"] + (", A − B" if difference else ""), **figure_style.SMALL)
        figure_style.number_ticks(ax)
        ax.tick_params(axis="y", labelsize=figure_style.text_size())
        figure_style.bare(ax, sides=("top", "right"))
    return ax


def _draw_band(ax: Axes, grid: Sequence[float], band: Facts, *, dashed: bool) -> None:
    """Draw the mean with its band (dashed: two lines), and the observed values as a thin line."""
    shade, low, high = ink(ax), band["lower"], band["upper"]
    if dashed:
        for edge in (low, high):
            ax.plot(grid, edge, color=shade, lw=0.8, ls=":", alpha=figure_style.QUIET)
    else:
        ax.fill_between(grid, low, high, fc=shade, alpha=0.14, lw=0)
    ax.plot(grid, band["mean"], color=shade, lw=1.6, ls="--" if dashed else "-")
    ax.plot(grid, band["observed"], color=shade, lw=0.6, alpha=figure_style.QUIET)


def _draw_ends(ax: Axes, grid: Sequence[float], band: Facts, *, dashed: bool) -> None:
    """Extend a curve to the corners, where every such curve starts and ends."""
    look: dict[str, Any] = {"color": ink(ax), "lw": 1.6, "ls": "--" if dashed else "-"}
    for index, corner in ((0, 0.0), (-1, 1.0)):
        ax.plot([corner, grid[index]], [corner, band["mean"][index]], **look)


def _name_lines(ax: Axes, facts: Facts) -> None:
    """Write each model's name under its line, where the lines are farthest apart."""
    a, b = (np.asarray(facts[key]["mean"]) for key in ("a", "b"))
    middle = slice(len(a) // 3, 2 * len(a) // 3)
    index = middle.start + int(np.abs(a - b)[middle].argmax())
    how: dict[str, Any] = {"va": "top", "color": ink(ax), "family": figure_style.family(ax)}
    for name, mean in zip(figure_style.names(facts["names"], limit=30), (a, b), strict=True):
        at = (float(facts["grid"][index]), float(mean[index]))
        figure_style.outlined(ax, name, at, (4, -5), **how)


def _draw_bins(ax: Axes, grid: Sequence[float], band: Facts, *, dashed: bool) -> None:
    """Draw an interval for each bin, without a line between bins."""
    at: FloatArray = np.asarray(grid) + (0.012 if dashed else -0.012)
    look: dict[str, Any] = {"color": ink(ax), "ls": ""}
    bars = ax.vlines(at, band["lower"], band["upper"], color=ink(ax), lw=1.2)
    bars.set_linestyle("--" if dashed else "-")
    ax.plot(at, band["mean"], marker="o", ms=5, mfc="none" if dashed else ink(ax), **look)
    ax.plot(at, band["observed"], marker="D", ms=7, mfc="none", mew=0.6, **look)


def _curve_key(facts: Facts, *, difference: bool) -> str:
    a, b = figure_style.names(facts["names"])
    band = f"simultaneous {100 * facts['prob']:g}% band"
    binned = facts["curve"] == "calibration"
    if difference:
        text = f"{a} − {b}"
    elif binned:
        text = f"{a} ● solid, {b} ○ dashed"
    else:
        return f"posterior means, each in a {band}; thin lines observed"
    return f"{text}: posterior mean and {band}; {'◇' if binned else 'thin line'} observed"
