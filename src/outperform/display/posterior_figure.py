"""Posterior densities with HDI and ROPE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from outperform._typing import FigureSize
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.facts import Facts
from outperform.display.figure_style import KEY, colour, draw_interval, read_shape
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import density_domain
from outperform.display.sentences import amount, answer, estimate_headline
from outperform.findings import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Positions, in multiples of the posterior's height.
_BOTTOM, _BAR, _ROOF = -0.36, -0.11, 1.12  # the name of the ROPE is above 1


def plot_posterior(
    draws_or_density: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw the posterior of a difference (in three parts) or of one model's metric.

    Parameters
    ----------
    draws_or_density
        Draws, or a pair of a grid and the density on it.
    facts
        The facts of the comparison or estimate.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> facts = {"name": "bert", "metric": "f1", "metric_label": "F1", "sd": 0.05,
    ...          "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_posterior([0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'F1 of bert'
    """
    shape = read_shape(draws_or_density)
    with figure_style.canvas(ax, purpose="plot()", height=3.0, size=size) as ax:
        ax.set(
            xlim=density_domain(shape.grid, facts), ylim=(_BOTTOM * shape.top, _ROOF * shape.top)
        )
        shape.fill(ax, facts)
        if facts.get("rope") is not None:
            # The line at zero ends above the numbers of the HDI and below the name of the ROPE.
            base, peak = ((height - _BOTTOM) / (_ROOF - _BOTTOM) for height in (0, 1))
            low, high = facts["rope"]["low"], facts["rope"]["high"]
            figure_style.draw_rope(ax, low, high, ends=(base, peak))
            _name_rope(ax, facts)
            _write_shares(ax, facts)
        _write_title(ax, facts)
        _draw_hdi(ax, facts, _BAR * shape.top)
        key = KEY.format(hdi=read.hdi_label(facts)) if "mean" in facts else read.hdi_label(facts)
        position = {"xycoords": "axes fraction", "ha": "center", "va": "bottom"}
        figure_style.outlined(ax, key, (0.5, 0.0), (0, 2), **position, **figure_style.TINY)
        figure_style.name_axis(ax, facts)
        figure_style.number_ticks(ax, most=6)
        figure_style.bare(ax)
    return ax


def _name_rope(ax: Axes, facts: Facts) -> None:
    """Label the ROPE at its top, above the posterior."""
    middle = (facts["rope"]["low"] + facts["rope"]["high"]) / 2
    how: dict[str, Any] = {"ha": "center", "va": "top", "zorder": 6}
    how |= {"alpha": figure_style.QUIET, **figure_style.TINY}
    position: dict[str, Any] = {
        "xycoords": ax.get_xaxis_transform(),
        "textcoords": "offset points",
    }
    ax.annotate(f"ROPE {read.rope_text(facts)}", (middle, 1.0), xytext=(0, -1), **position, **how)


def _write_shares(ax: Axes, facts: Facts) -> None:
    """Write the three probabilities above the axes, in their colours, from left to right."""
    name = figure_style.names(facts["names"], limit=figure_style.SHORT_NAME)[0]
    parts = list(read.shares(facts).items())
    parts = parts if facts.get("greater_is_better", True) else parts[::-1]
    alignments = zip((0.0, 0.5, 1.0), ("left", "center", "right"), strict=True)
    for (word, share), (x, align) in zip(parts, alignments, strict=True):
        whose = word if word == "equivalent" else f"{name} {word}"
        how: dict[str, Any] = {"ha": align, "va": "bottom", "color": colour(ax, word)}
        text = f"{whose}\n{share}"
        ax.text(x, 1.02, text, transform=ax.transAxes, **how, **figure_style.SMALL)


def _write_title(ax: Axes, facts: Facts) -> None:
    """Write which model is better and, if there is space, by how much."""
    if "names" not in facts:
        if facts.get("mean") is not None:
            figure_style.write_title(ax, estimate_headline(facts, limit=30).partition(" (")[0])
        return
    if facts.get("decision") is None:
        return
    brief = {**facts, "names": figure_style.brief(facts["names"], limit=figure_style.SHORT_NAME)}
    title = answer(brief)
    longer = f"{title}: {amount(brief)}" if facts.get("mean") is not None else title
    title = longer if figure_style.fits_title(ax, longer) else title
    figure_style.write_title(ax, title, above=2.6 * figure_style.text_size())


def _draw_hdi(ax: Axes, facts: Facts, level: float) -> None:
    """Draw the interval, with both ends as text."""
    draw_interval(ax, facts, level)
    decimals = read.digits(facts)
    write = numbers.signed if "names" in facts else numbers.plain
    for end, offset, side in (("low", -6, "right"), ("high", 6, "left")):
        value = facts["hdi"][end]
        text = true_minus(write(value, decimals))
        # A number that crosses an edge of the ROPE stands on one ground, not on two.
        ground: dict[str, Any] = {"fc": figure_style.paper(ax), "ec": "none", "pad": 1.5}
        how: dict[str, Any] = {"ha": side, "va": "center", "bbox": ground}
        figure_style.outlined(ax, text, (value, level), (offset, 0), **how)


_HEIGHT = 0.62  # height of the taller posterior, in rows
_UNDER, _RUNS = -0.13, -0.34  # positions of interval and runs below a row


def draw_models(
    a: ArrayLike | tuple[ArrayLike, ArrayLike],
    b: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    facts: Facts,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw one row per model: its posterior with HDI and observed value, and its runs.

    Parameters
    ----------
    a, b
        Draws of each model's metric, or pairs of a grid and the density on it.
    facts
        The comparison as a dictionary, with the fields of ``a`` and ``b``. The observed values of
        training runs are drawn if there are any.
    ax
        Axes to draw in; a new figure if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> own = {"hdi": {"low": 0.1, "high": 0.3, "prob": 0.95}, "mean": 0.2, "sd": 0.05}
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "hdi": own["hdi"],
    ...          "a": own | {"name": "bert"}, "b": own | {"name": "gpt"}}
    >>> from matplotlib.figure import Figure
    >>> ax = draw_models([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['bert', 'gpt']
    """
    shapes = [read_shape(a, name="draws of A"), read_shape(b, name="draws of B")]
    top = max(shape.top for shape in shapes)
    models = (facts["a"], facts["b"])
    with figure_style.canvas(ax, purpose="plot_models()", height=3.0, size=size) as ax:
        for shape, model, row in zip(shapes, models, (1, 0), strict=True):
            shape.fill(ax, model, base=row, scale=_HEIGHT / top)
            _draw_hdi(ax, model, row + _UNDER)
            if "runs" in model:
                values = [value for value in model["runs"]["observed"] if value is not None]
                dots: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4, "mew": 0.8, "mfc": "none"}
                dots |= {"mec": figure_style.ink(ax), "zorder": 4}
                ax.plot(values, [row + _RUNS] * len(values), **dots)
        _finish_models(ax, facts)
    return ax


def _finish_models(ax: Axes, facts: Facts) -> None:
    models = (facts["a"], facts["b"])
    names = figure_style.names(model["name"] for model in models)
    metric = for_text(read.metric(facts), limit=40)
    levels = [true_minus(numbers.plain(model["mean"], read.digits(model))) for model in models]
    runs = "runs" in facts["a"]
    note = KEY.format(hdi=read.hdi_label(facts["a"])) + (", ○ run" if runs else "")
    margin = 0.6 * figure_style.text_size() * max(map(len, names))
    title = ", ".join(f"{name} {level}" for name, level in zip(names, levels, strict=True))
    figure_style.write_title(ax, f"{metric}: {title}", note=note, margin=margin)
    figure_style.bare(ax)
    if runs:
        counts = [counted(len(model["runs"]["observed"]), "runs") for model in models]
        names = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
    ax.set_yticks([1, 0], names, **figure_style.LITERAL)
    ax.tick_params(axis="y", length=0, labelsize=figure_style.text_size())
    ax.set_ylim(-0.5, 1 + _HEIGHT + 0.04)
    ax.margins(x=0.12)
    ax.set_xlabel(metric, **figure_style.SMALL)
    figure_style.number_ticks(ax, most=6)
