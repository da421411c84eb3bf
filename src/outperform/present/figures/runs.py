"""The observed value of each training run under the posterior of its model's mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from outperform.present import facts as read
from outperform.present.escape import for_text
from outperform.present.facts import Facts
from outperform.present.figures import style
from outperform.present.figures.intervals import KEY, draw_interval
from outperform.present.figures.shapes import read_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    ax = style.new_axes(ax, purpose="plot_runs()", height=2.4)
    top = max(shape.top for shape in shapes)
    owners = (facts["a"], facts["b"])
    for shape, own, row in zip(shapes, owners, (1, 0), strict=True):
        shape.fill(ax, base=row, scale=_HEIGHT / top, **style.SHAPE, zorder=2)
        draw_interval(ax, own, row, colour=style.ink(ax))
        seen = [value for value in own["runs"]["observed"] if value is not None]
        dots: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4, "mew": 0.8, "mfc": "none"}
        ax.plot(seen, [row + _DOTS] * len(seen), mec=style.ink(ax), zorder=4, **dots)
    _finish(ax, facts)
    return ax


def _finish(ax: Axes, facts: Facts) -> None:
    owners = (facts["a"], facts["b"])
    names = style.names(own["name"] for own in owners)
    counts = [len(own["runs"]["observed"]) for own in owners]
    labels = [f"{name} ({_counted(n)})" for name, n in zip(names, counts, strict=True)]
    style.bare(ax)
    ax.set_yticks([1, 0], labels, **style.LITERAL)
    ax.tick_params(axis="y", length=0, labelsize="small")
    ax.set_ylim(-0.75, 1.75)
    ax.margins(x=0.08)
    ax.set_xlabel(for_text(read.metric(facts), limit=style.LINE), **style.SMALL)
    style.write_key(ax, f"{KEY.format(hdi=read.hdi_label(facts['a']))}, ○ runs")
    style.number_ticks(ax)


def _counted(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"
