"""Many comparisons below each other: an interval a row, and its verdict at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outperform.errors import UsageError
from outperform.present import numbers
from outperform.present.figures import style
from outperform.present.figures.intervals import KEY, draw_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.17  # inches
_FRAME = 0.95  # inches: title and axis
_DECIDED = ("BETTER", "EQUIVALENT", "WORSE")
_UNDECIDED = "0.5"


def plot_forest(
    rows: Sequence[Mapping[str, Any]],
    *,
    names: tuple[object, object] = ("A", "B"),
    metric: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one interval a row, in the order given, before the ROPE.

    Rows without a firm verdict are grey. Where rows have ROPEs of their own,
    each row shows its own.

    Parameters
    ----------
    rows
        For each comparison a ``key``, and ``mean``, ``observed``, ``hdi``, ``rope``
        and ``decision`` as its facts have them.
    names
        What to call A and B.
    metric
        The metric in words, if it is the same in all rows.
    ax
        The axes to draw in; a new figure of one column's width, as high as the
        rows need, if None.

    Examples
    --------
    >>> row = {"key": "spam", "mean": 0.2, "observed": 0.21, "rope": {"low": -0.01, "high": 0.01},
    ...        "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95},
    ...        "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_forest([row], ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['spam']
    """
    if not rows:
        raise UsageError("a forest needs at least one comparison, but none came")
    ax = style.new_axes(ax, purpose="plot()", height=_FRAME + _ROW * len(rows))
    size = _text_size(ax, len(rows))
    _draw_ropes(ax, rows)
    ax.axvline(0, color="0.45", lw=0.7, ls=":", zorder=1)
    for place, row in enumerate(rows):
        _draw_row(ax, row, place, size)
    _label_rows(ax, rows, size)
    _finish(ax, rows)
    ax.set_xlabel(_subject(names, metric), **style.SMALL)
    return ax


def _subject(names: tuple[object, object], metric: str | None) -> str:
    facts = {"names": names, "metric": metric}
    return " − ".join(style.names(names)) if metric is None else style.subject(facts)


def _text_size(ax: Axes, n_rows: int) -> float:
    """Return the points that a row leaves for its text."""
    return max(3.0, min(style.text_size(), 0.85 * style.points(ax)[1] / (n_rows + 1)))


def _draw_ropes(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ropes = [(row["rope"]["low"], row["rope"]["high"]) for row in rows]
    if len(set(ropes)) == 1:
        style.draw_rope(ax, *ropes[0])
        return
    for place, (low, high) in enumerate(ropes):
        ax.barh(place, high - low, 1.0, low, **style.BAND, zorder=0)


def _draw_row(ax: Axes, row: Mapping[str, Any], place: int, size: float) -> None:
    firm = row["decision"]["name"] in _DECIDED
    draw_interval(
        ax, row, place, width=min(2.2, size / 3), colour=style.ink(ax) if firm else _UNDECIDED
    )
    ax.annotate(
        row["decision"]["symbol"],
        (1.0, place),
        xycoords=ax.get_yaxis_transform(),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=1.15 * size,
        family=style.family(ax),
        **style.LITERAL,
    )


def _label_rows(ax: Axes, rows: Sequence[Mapping[str, Any]], size: float) -> None:
    keys = style.names(row["key"] for row in rows)
    for text in ax.set_yticks(range(len(rows)), keys) and ax.get_yticklabels():
        text.set(fontsize=size, **style.LITERAL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.4, -0.6)


def _finish(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ropes = {numbers.rope(row["rope"]["low"], row["rope"]["high"]) for row in rows}
    rope = f"ROPE {style.minus(ropes.pop())}" if len(ropes) == 1 else "ROPE of each row"
    hdi = f"{numbers.percent(rows[0]['hdi']['prob'])} HDI"
    ax.set_title(f"{KEY.format(hdi=hdi)}, shaded: {rope}", loc="right", **style.TINY)
    ax.margins(x=0.05)
    style.number_ticks(ax)
    style.bare(ax, sides=("top", "right"))
    ax.spines["left"].set_visible(False)
