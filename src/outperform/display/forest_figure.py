"""Forest plots and confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.display import figure_style, numbers
from outperform.display.figure_style import KEY, draw_interval
from outperform.errors import UsageError, param, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROW = 0.17  # inches
_FRAME = 0.95  # inches: title and axis
_DECIDED = ("BETTER", "EQUIVALENT", "WORSE")
_UNDECIDED = "0.5"


def draw_forest(
    rows: Sequence[Mapping[str, object]],
    *,
    names: tuple[object, object] = ("A", "B"),
    metric: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one interval a row, in the order given, before the ROPE.

    Rows without a firm decision are grey. Where rows have ROPEs of their own,
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
    >>> ax = draw_forest([row], ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['spam']
    """
    if not rows:
        raise UsageError("a forest needs at least one comparison, but none came")
    ax = figure_style.new_axes(ax, purpose="plot()", height=_FRAME + _ROW * len(rows))
    size = _text_size(ax, len(rows))
    _draw_ropes(ax, rows)
    ax.axvline(0, color="0.45", lw=0.7, ls=":", zorder=1)
    for place, row in enumerate(rows):
        _draw_row(ax, row, place, size)
    _label_rows(ax, rows, size)
    _finish(ax, rows)
    ax.set_xlabel(_subject(names, metric), **figure_style.SMALL)
    return ax


def _subject(names: tuple[object, object], metric: str | None) -> str:
    facts = {"names": names, "metric": metric}
    return " − ".join(figure_style.names(names)) if metric is None else figure_style.subject(facts)


def _text_size(ax: Axes, n_rows: int) -> float:
    """Return the points that a row leaves for its text."""
    return max(3.0, min(figure_style.text_size(), 0.85 * figure_style.points(ax)[1] / (n_rows + 1)))


def _draw_ropes(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ropes = [(row["rope"]["low"], row["rope"]["high"]) for row in rows]
    if len(set(ropes)) == 1:
        figure_style.draw_rope(ax, *ropes[0])
        return
    for place, (low, high) in enumerate(ropes):
        ax.barh(place, high - low, 1.0, low, **figure_style.BAND, zorder=0)


def _draw_row(ax: Axes, row: Mapping[str, Any], place: int, size: float) -> None:
    firm = row["decision"]["name"] in _DECIDED
    draw_interval(
        ax,
        row,
        place,
        width=min(2.2, size / 3),
        colour=figure_style.ink(ax) if firm else _UNDECIDED,
    )
    ax.annotate(
        row["decision"]["symbol"],
        (1.0, place),
        xycoords=ax.get_yaxis_transform(),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=1.15 * size,
        family=figure_style.family(ax),
        **figure_style.LITERAL,
    )


def _label_rows(ax: Axes, rows: Sequence[Mapping[str, object]], size: float) -> None:
    keys = figure_style.names(row["key"] for row in rows)
    for text in ax.set_yticks(range(len(rows)), keys) and ax.get_yticklabels():
        text.set(fontsize=size, **figure_style.LITERAL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.4, -0.6)


def _finish(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ropes = {numbers.rope(row["rope"]["low"], row["rope"]["high"]) for row in rows}
    rope = f"ROPE {figure_style.minus(ropes.pop())}" if len(ropes) == 1 else "ROPE of each row"
    hdi = f"{numbers.percent(rows[0]['hdi']['prob'])} HDI"
    ax.set_title(f"{KEY.format(hdi=hdi)}, shaded: {rope}", loc="right", **figure_style.TINY)
    ax.margins(x=0.05)
    figure_style.number_ticks(ax)
    figure_style.bare(ax, sides=("top", "right"))
    ax.spines["left"].set_visible(False)


_MOST = 60
_CELL = 0.115  # inches: below it, class names cannot be read
_LEAST_POINTS = 4.0
_FEW = 4  # classes up to which zeros are written too
_NAME = 16
_MORE_IN_A: dict[str, Any] = {"facecolor": "0.6", "edgecolor": "0.2", "lw": 0.7}
_MORE_IN_B: dict[str, Any] = {"facecolor": "white", "edgecolor": "0.2", "lw": 0.7}


def draw_confusion(
    a: ArrayLike,
    b: ArrayLike,
    *,
    labels: Sequence[object],
    names: Sequence[object] = ("A", "B"),
    normalise: bool = False,
    axes: Sequence[Axes] | None = None,
) -> Sequence[Axes]:
    """Draw the confusion matrices of A and B, and the difference A − B.

    Where numbers find room they are written. Where not, the area of a square in
    the third panel is the size of a difference; it is filled where A has more
    and open where B has.

    Parameters
    ----------
    a, b
        Counts, rows the truth, columns the prediction.
    labels
        The classes, in the order of the rows.
    names
        What to call A and B.
    normalise
        Whether each row is shown as per cent of its sum.
    axes
        Three axes to draw in; a new figure if None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = draw_confusion([[9, 1], [2, 8]], [[8, 2], [2, 8]], labels=["ham", "spam"],
    ...                       axes=Figure().subplots(1, 3))
    >>> [text.get_text() for text in axes[2].texts]
    ['+1', '−1', '0', '0']
    """
    left, right = _matrix(a, labels), _matrix(b, labels)
    if normalise:
        left, right = _shares(left), _shares(right)
    classes = figure_style.names(labels, limit=_NAME)
    drawn = _three_axes(axes, classes)
    top = max(float(left.max()), float(right.max()), 1e-12)
    for ax, values in zip(drawn, (left, right), strict=False):
        _draw_shades(ax, values, top)
    _draw_difference(
        drawn[2], left - right, figure_style.names(names, limit=figure_style.SHORT_NAME)
    )
    shown = figure_style.names(names)
    for ax, title in zip(drawn, (*shown, " − ".join(shown)), strict=True):
        wide = 0.55 * figure_style.text_size() * len(title) > figure_style.points(ax)[0]
        ax.set_title(title.replace(" − ", "\n− ") if wide else title, **figure_style.SMALL)
        _label_classes(ax, classes, names_rows=ax is drawn[0])
    for ax in drawn[:2]:
        ax.set_xlabel("predicted", **figure_style.SMALL)
    drawn[0].set_ylabel("true (rows in %)" if normalise else "true", **figure_style.SMALL)
    return drawn


def _matrix(counts: ArrayLike, labels: Sequence[object]) -> FloatArray:
    values = np.asarray(counts, dtype=np.float64)
    if values.shape != (len(labels), len(labels)) or not np.isfinite(values).all():
        raise UsageError(
            f"a confusion matrix must be square, with a finite row for each of {len(labels)} "
            f"labels, but an array of shape {values.shape} came, or one with NaN or infinity"
        )
    if not 2 <= len(labels) <= _MOST:
        raise UsageError(
            f"a confusion matrix of 2 to {_MOST} classes can be drawn, but {len(labels)} came; "
            f"name the classes to show with {param('labels=')}"
        )
    return values


def _shares(counts: FloatArray) -> FloatArray:
    """Return per cent of each row; a row without items stays empty."""
    sums = counts.sum(axis=1, keepdims=True)
    shares: FloatArray = 100 * counts / np.where(sums > 0, sums, 1)
    return shares


def _three_axes(axes: Sequence[Axes] | None, classes: Sequence[str]) -> list[Axes]:
    if axes is not None:
        given = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(given) != 3:
            raise UsageError(f"axes must be three, for A, B and A − B, but {len(given)} came")
        return given
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="plot_confusion()")
    panel = max(1.75, len(classes) * _CELL)
    longest = 0.06 * max(map(len, classes))  # inches
    size = (3 * panel + longest + 0.75, panel + longest + 0.75)
    figure = pyplot.figure(figsize=size, layout="compressed")
    return list(figure.subplots(1, 3))


def _draw_shades(ax: Axes, values: FloatArray, top: float) -> None:
    """Shade by the square root, so that rare confusions are seen beside the diagonal."""
    shade = np.sqrt(np.clip(values, 0, None) / top)
    ax.imshow(shade, cmap="Greys", vmin=0, vmax=1.15, aspect="equal", interpolation="nearest")
    written = [[_number(value, signed=False) for value in row] for row in values]
    size = _number_size(ax, written)
    if size is None:
        return
    for (row, column), value in np.ndenumerate(values):
        if value != 0 or len(values) <= _FEW:
            colour = "white" if shade[row, column] > 0.6 else "black"
            _write(ax, row, column, written[row][column], size, color=colour)


def _draw_difference(ax: Axes, difference: FloatArray, names: Sequence[str]) -> None:
    n_classes = len(difference)
    written = [[_number(value, signed=True) for value in row] for row in difference]
    size = _number_size(ax, written)
    ax.set_facecolor("white")
    if size is None:
        _draw_squares(ax, difference)
    else:
        shade = np.abs(difference) / max(float(np.abs(difference).max()), 1e-12)
        ax.imshow(np.sqrt(shade), cmap="Greys", vmin=0, vmax=2.2, interpolation="nearest")
        for (row, column), value in np.ndenumerate(difference):
            if value != 0 or n_classes <= _FEW:
                _write(ax, row, column, written[row][column], size, color="black")
    ax.set(xlim=(-0.5, n_classes - 0.5), ylim=(n_classes - 0.5, -0.5), aspect="equal")
    marks = ("■", "□") if size is None else ("+", "−")
    key = "\n".join(f"{mark} {name} more" for mark, name in zip(marks, names, strict=True))
    ax.set_xlabel(key, family=figure_style.family(ax), **figure_style.TINY)


def _draw_squares(ax: Axes, difference: FloatArray) -> None:
    """Draw a square for each difference, as large as it is: filled or open."""
    patches = require("matplotlib.patches", extra="plot", purpose="plot_confusion()")
    collections = require("matplotlib.collections", extra="plot", purpose="plot_confusion()")
    side = 0.94 * np.sqrt(np.abs(difference) / max(float(np.abs(difference).max()), 1e-12))
    for chosen, look in ((difference > 0, _MORE_IN_A), (difference < 0, _MORE_IN_B)):
        squares = [
            patches.Rectangle((column - size / 2, row - size / 2), size, size)
            for row, column, size in zip(*np.nonzero(chosen), side[chosen], strict=True)
        ]
        ax.add_collection(collections.PatchCollection(squares, **look))


def _number(value: float, *, signed: bool) -> str:
    digits = 0 if float(value).is_integer() or abs(value) >= 10 else 1
    write = numbers.signed if signed else numbers.plain
    return figure_style.minus(write(value, digits))


def _number_size(ax: Axes, written: Sequence[Sequence[str]]) -> float | None:
    """Return the size in which the longest number fits its cell; None if nobody could read it."""
    longest = max(len(text) for row in written for text in row)
    cell = _cell_points(ax, len(written))
    size = min(8.0, 0.5 * cell, cell / (0.66 * longest))
    return size if size >= _LEAST_POINTS else None


def _cell_points(ax: Axes, n_classes: int) -> float:
    return min(figure_style.points(ax)) / n_classes


def _write(ax: Axes, row: int, column: int, text: str, size: float, **how: Any) -> None:
    how |= {"ha": "center", "va": "center", **figure_style.LITERAL}
    ax.text(column, row, text, fontsize=size, **how)


def _label_classes(ax: Axes, classes: Sequence[str], *, names_rows: bool) -> None:
    """Name the classes; where that many names find no room, every second or third of them."""
    cell = _cell_points(ax, len(classes))
    step = max(1, ceil(5.0 / cell))
    places, shown = range(0, len(classes), step), classes[::step]
    size = max(_LEAST_POINTS, min(7.0, 0.85 * cell * step))
    upright = max(map(len, shown)) * 0.6 * size > cell * step
    ax.set_xticks(places, shown, rotation=90 if upright else 0)
    ax.set_yticks(places, shown if names_rows else [""] * len(shown))
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set(fontsize=size, **figure_style.LITERAL)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(True)  # empty cells end somewhere, whatever the style
