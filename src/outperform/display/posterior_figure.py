"""Posterior densities with HDI and ROPE."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.facts import Facts
from outperform.display.figure_style import KEY, draw_interval, read_shape
from outperform.display.numbers import for_text
from outperform.display.sentences import decision_words
from outperform.findings import counted

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
    ax = figure_style.new_axes(ax, purpose="plot()")
    shape.fill(ax, **figure_style.SHAPE, zorder=2)
    if facts.get("rope") is not None:
        _draw_rope(ax, facts)
        _write_shares(ax, facts)
        _write_decision(ax, facts)
    _draw_hdi(ax, facts, shape.top)
    ax.set_xlabel(figure_style.subject(facts), **figure_style.SMALL)
    ax.set_ylim(-0.34 * shape.top, 1.05 * shape.top)
    ax.margins(x=0.12)
    figure_style.number_ticks(ax, most=6)
    figure_style.bare(ax)
    return ax


def _draw_rope(ax: Axes, facts: Facts) -> None:
    low, high = facts["rope"]["low"], facts["rope"]["high"]
    figure_style.draw_rope(ax, low, high)
    ax.annotate(
        figure_style.minus(f"ROPE {numbers.rope(low, high)}"),
        (low, 0.97),
        xycoords=ax.get_xaxis_transform(),
        xytext=(2, 0),
        textcoords="offset points",
        rotation=90,
        va="top",
        zorder=6,
        **figure_style.TINY,
    )


def _write_shares(ax: Axes, facts: Facts) -> None:
    """Write the three probabilities above the axes, below the ROPE on the left."""
    name = figure_style.names(facts["names"], limit=figure_style.SHORT_NAME)[0]
    below, above = f"{name} worse", f"{name} better"
    keys = ["p_worse", "p_equivalent", "p_better"]
    if not facts.get("greater_is_better", True):
        below, above = above, below
        keys.reverse()
    words = (below, "equivalent", above)
    aligns = ("left", "center", "right")
    for key, word, x, align in zip(keys, words, (0.0, 0.5, 1.0), aligns, strict=True):
        text = f"{word}\n{read.probability(facts, key)}"
        ax.text(x, 1.03, text, transform=ax.transAxes, ha=align, va="bottom", **figure_style.SMALL)


def _write_decision(ax: Axes, facts: Facts) -> None:
    """Write the decision over the probabilities, as the title that people may replace."""
    decision = facts.get("decision")
    if decision is None:
        return
    short = figure_style.brief(facts["names"], limit=figure_style.SHORT_NAME)
    words = f"{decision.get('symbol', '')} {decision_words({**facts, 'names': short})}".strip()
    long = len(words) > _TITLE
    ax.set_title(
        figure_style.leftwards(fill(words, _LONG_TITLE) if long else words),
        loc="left",
        pad=28,
        family=figure_style.family(ax),
        fontsize="small" if long else "medium",
        **figure_style.LITERAL,
    )


def _draw_hdi(ax: Axes, facts: Facts, top: float) -> None:
    places, level = read.digits(facts), _BAR * top
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    draw_interval(ax, facts, level)
    write = numbers.signed if "names" in facts else numbers.plain
    ends = [figure_style.minus(write(end, places)) for end in (low, high)]
    figure_style.veiled(ax, ends[0], (low, level), (-4, 0), ha="right", va="center")
    figure_style.veiled(ax, ends[1], (high, level), (4, 0), ha="left", va="center")
    key = KEY.format(hdi=read.hdi_label(facts)) if "mean" in facts else read.hdi_label(facts)
    figure_style.write_key(ax, key)


_LEVELS = (-0.12, -0.29)  # where the HDIs lie, in heights of the higher posterior
_LOOKS = (figure_style.DARK, figure_style.LIGHT)


def draw_models(
    a: ArrayLike | tuple[ArrayLike, ArrayLike],
    b: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posteriors of both classifiers with their HDIs and observed values.

    Parameters
    ----------
    a, b
        Draws of each classifier's metric, or pairs of a grid and the density on it.
    facts
        The facts of the comparison, with those of ``a`` and ``b``.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> own = {"hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}, "mean": 0.2, "sd": 0.05}
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "hdi": own["hdi"],
    ...          "a": own | {"name": "bert"}, "b": own | {"name": "gpt"}}
    >>> from matplotlib.figure import Figure
    >>> ax = draw_models([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['bert', 'gpt']
    """
    shapes = [read_shape(a, name="draws of A"), read_shape(b, name="draws of B")]
    ax = figure_style.new_axes(ax, purpose="plot_models()", height=2.7)
    top = max(shape.top for shape in shapes)
    owners = (facts["a"], facts["b"])
    names = figure_style.names(own["name"] for own in owners)
    for shape, own, name, look, level in zip(shapes, owners, names, _LOOKS, _LEVELS, strict=True):
        shape.fill(ax, label=name, **look, zorder=2)
        _mark_hdi(ax, own, level * top, look)
    figure_style.write_key(ax, KEY.format(hdi=read.hdi_label(facts["a"])))
    _finish(ax, facts, top)
    return ax


def _mark_hdi(ax: Axes, own: Facts, level: float, look: dict[str, Any]) -> None:
    dark = look["facecolor"][0] < 0.4
    draw_interval(ax, own, level, colour=figure_style.ink(ax) if dark else "0.55")
    places = read.digits(own)
    for end, offset, side in (("low", -4, "right"), ("high", 4, "left")):
        value = own["hdi"][end]
        written = figure_style.minus(numbers.plain(value, places))
        figure_style.veiled(ax, written, (value, level), (offset, 0), ha=side, va="center")


def _finish(ax: Axes, facts: Facts, top: float) -> None:
    ax.set_xlabel(for_text(read.metric(facts), limit=figure_style.LINE), **figure_style.SMALL)
    ax.set_ylim(-0.5 * top, 1.05 * top)
    ax.margins(x=0.14)
    legend = ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
        frameon=False,
        fontsize="small",
        handlelength=1.4,
        borderaxespad=0.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)
    figure_style.number_ticks(ax, most=6)
    figure_style.bare(ax)


_HEIGHT = 0.62  # of the higher posterior, in rows
_DOTS = -0.2


def plot_runs(
    a: ArrayLike | tuple[ArrayLike, ArrayLike],
    b: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    ax: Axes | None = None,
) -> Axes:
    """Draw a row for each model: the posterior of its mean over all runs, and the runs seen.

    Parameters
    ----------
    a, b
        Draws of each model's mean, or pairs of a grid and the density on it.
    facts
        The facts of a comparison of runs.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> own = {"hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}, "mean": 0.2, "sd": 0.05,
    ...        "runs": {"observed": [0.1, 0.2, 0.3]}}
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1",
    ...          "a": own | {"name": "bert"}, "b": own | {"name": "gpt"}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_runs([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['bert (3 runs)', 'gpt (3 runs)']
    """
    shapes = [read_shape(a, name="draws of A"), read_shape(b, name="draws of B")]
    ax = figure_style.new_axes(ax, purpose="plot_runs()", height=2.4)
    top = max(shape.top for shape in shapes)
    owners = (facts["a"], facts["b"])
    for shape, own, row in zip(shapes, owners, (1, 0), strict=True):
        shape.fill(ax, base=row, scale=_HEIGHT / top, **figure_style.SHAPE, zorder=2)
        draw_interval(ax, own, row, colour=figure_style.ink(ax))
        seen = [value for value in own["runs"]["observed"] if value is not None]
        dots: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4, "mew": 0.8, "mfc": "none"}
        ax.plot(seen, [row + _DOTS] * len(seen), mec=figure_style.ink(ax), zorder=4, **dots)
    _finish_runs(ax, facts)
    return ax


def _finish_runs(ax: Axes, facts: Facts) -> None:
    owners = (facts["a"], facts["b"])
    names = figure_style.names(own["name"] for own in owners)
    counts = [len(own["runs"]["observed"]) for own in owners]
    labels = [f"{name} ({counted(n, 'runs')})" for name, n in zip(names, counts, strict=True)]
    figure_style.bare(ax)
    ax.set_yticks([1, 0], labels, **figure_style.LITERAL)
    ax.tick_params(axis="y", length=0, labelsize="small")
    ax.set_ylim(-0.75, 1.75)
    ax.margins(x=0.08)
    ax.set_xlabel(for_text(read.metric(facts), limit=figure_style.LINE), **figure_style.SMALL)
    figure_style.write_key(ax, f"{KEY.format(hdi=read.hdi_label(facts['a']))}, ○ runs")
    figure_style.number_ticks(ax)
