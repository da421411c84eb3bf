"""Each classifier's own posterior, both on one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.figures import style
from outperform.present.figures.intervals import KEY, draw_interval
from outperform.present.figures.shapes import read_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = (-0.12, -0.29)  # where the HDIs lie, in heights of the higher posterior
_LOOKS = (style.DARK, style.LIGHT)


def plot_models(
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
    >>> ax = plot_models([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], facts=facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['bert', 'gpt']
    """
    shapes = [read_shape(a, name="draws of A"), read_shape(b, name="draws of B")]
    ax = style.new_axes(ax, purpose="plot_models()", height=2.7)
    top = max(shape.top for shape in shapes)
    owners = (facts["a"], facts["b"])
    names = style.names(own["name"] for own in owners)
    for shape, own, name, look, level in zip(shapes, owners, names, _LOOKS, _LEVELS, strict=True):
        shape.fill(ax, label=name, **look, zorder=2)
        _draw_hdi(ax, own, level * top, look)
    style.write_key(ax, KEY.format(hdi=read.hdi_label(facts["a"])))
    _finish(ax, facts, top)
    return ax


def _draw_hdi(ax: Axes, own: Facts, level: float, look: dict[str, Any]) -> None:
    dark = look["facecolor"][0] < 0.4
    draw_interval(ax, own, level, colour=style.ink(ax) if dark else "0.55")
    places = read.digits(own)
    for end, offset, side in (("low", -4, "right"), ("high", 4, "left")):
        value = own["hdi"][end]
        written = style.minus(numbers.plain(value, places))
        style.veiled(ax, written, (value, level), (offset, 0), ha=side, va="center")


def _finish(ax: Axes, facts: Facts, top: float) -> None:
    ax.set_xlabel(for_text(read.metric(facts), limit=style.LINE), **style.SMALL)
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
    style.number_ticks(ax, most=6)
    style.bare(ax)
