"""Forest plots and confusion matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FigureSize, FloatArray
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.figure_style import KEY, colour, draw_interval, row_tone
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import OPEN
from outperform.errors import UsageError, param, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROW = 0.2  # inches
_FRAME = 1.15  # inches: title and axis
_WORDS = {"BETTER": "better", "WORSE": "worse", "EQUIVALENT": "equivalent"}


def draw_forest(
    rows: Sequence[Mapping[str, Any]],
    *,
    names: tuple[object, object] = ("A", "B"),
    metric: str | None = None,
    greater_is_better: bool | None = True,
    title: str | None = None,
    note: str | None = None,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw one interval per row, in the given order and the colour of its decision, over the ROPE.

    If rows have different ROPEs, each row shows its own.

    Parameters
    ----------
    rows
        For each comparison a ``key``, and ``mean``, ``observed``, ``hdi``, ``rope``
        and ``decision`` as in its facts.
    names
        Display names of A and B.
    metric
        Metric name, if it is the same in all rows.
    greater_is_better
        Whether higher values of the metric are better; None if the rows differ.
    title
        Title of the figure. Default: the number of rows with each decision.
    note
        Text after the explanation of the markers.
    ax
        Axes to draw in; a new figure of suitable height if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> row = {"key": "spam", "mean": 0.2, "observed": 0.21, "rope": {"low": -0.01, "high": 0.01},
    ...        "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95},
    ...        "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> from matplotlib.figure import Figure
    >>> ax = draw_forest([row], ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_title(loc="left")
    (['spam'], 'A is better than B in 1 of 1')
    """
    if not rows:
        raise UsageError("a forest plot needs at least one comparison; got none")
    height = _FRAME + _ROW * len(rows)
    facts = {"names": names, "metric": metric, "greater_is_better": greater_is_better}
    with figure_style.canvas(ax, purpose="plot()", height=height, size=size) as ax:
        points = figure_style.row_size(ax, len(rows))
        _draw_ropes(ax, rows)
        for k, row in enumerate(rows):
            # Firm decisions stand out by colour and, in greyscale, by line weight.
            width = min(2.8, points / 3) if row_tone(row) != OPEN else min(1.2, points / 6)
            draw_interval(ax, row, k, width=width, decided=row_tone(row))
            shade = colour(ax, row_tone(row))
            figure_style.beside_row(ax, k, row["decision"]["symbol"], 1.15 * points, color=shade)
        keys = figure_style.name_rows(ax, (row["key"] for row in rows), points)
        ax.margins(x=0.05)
        figure_style.name_axis(ax, facts)
        figure_style.number_ticks(ax)
        figure_style.bare(ax, sides=("top", "right"))
        margin = 0.6 * points * max(len(key.get_text()) for key in keys) + 2 * points
        text = _counts(names, rows) if title is None else title
        figure_style.write_title(
            ax, text, note=_key(rows) + ("" if note is None else f"; {note}"), margin=margin
        )
    return ax


def draw_ranking(
    models: Sequence[Mapping[str, Any]],
    *,
    metric: str,
    greater_is_better: bool,
    pooled: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw the interval of each model in the given order and the colour of its decision.

    The decision is against the leader. Models that could still be best are in a band.

    Parameters
    ----------
    models
        For each model ``name``, ``mean``, ``observed``, ``hdi`` and ``tied`` as in its facts, and
        ``decision``, which is None for the leader.
    metric
        Metric name.
    greater_is_better
        Whether higher values of the metric are better.
    pooled
        Whether the intervals are partially pooled.
    title
        Title of the figure.
    ax
        Axes to draw in; a new figure of suitable height if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> hdi = {"low": 0.7, "high": 0.9, "prob": 0.95}
    >>> models = [{"name": "gpt", "mean": 0.8, "observed": 0.81, "hdi": hdi, "tied": True,
    ...            "decision": None}]
    >>> from matplotlib.figure import Figure
    >>> ax = draw_ranking(models, metric="F1", greater_is_better=True, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['gpt'], 'F1 → better')
    """
    height = _FRAME + 1.3 * _ROW * len(models)
    with figure_style.canvas(ax, purpose="plot()", height=height, size=size) as ax:
        points = figure_style.row_size(ax, len(models))
        ink = figure_style.ink(ax)
        for k, model in enumerate(models):
            if model["tied"]:
                ax.axhspan(k - 0.5, k + 0.5, fc=ink, alpha=figure_style.BAND, lw=0, zorder=0)
            draw_interval(ax, model, k, width=min(2.8, points / 3), decided=_against_leader(model))
        names = figure_style.name_rows(ax, (model["name"] for model in models), points)
        for name, model in zip(names, models, strict=True):
            name.set_fontweight("bold" if model["tied"] else "normal")
        ax.margins(x=0.05)
        text = f"{for_text(metric)} → {'better' if greater_is_better else 'worse'}"
        ax.set_xlabel(text, family=figure_style.family(ax), **figure_style.SMALL)
        figure_style.number_ticks(ax)
        figure_style.bare(ax, sides=("top", "right"))
        margin = 0.65 * points * max(len(name.get_text()) for name in names)
        figure_style.write_title(ax, title or "", note=_ranking_key(models, pooled), margin=margin)
    return ax


def _against_leader(model: Mapping[str, Any]) -> str:
    """Return the colour of the decision against the leader, or of the ink for the leader."""
    return OPEN if model["decision"] is None else row_tone(model)


_COLOURS = {"worse": "orange", "equivalent": "grey", "better": "blue"}
_MEANINGS = {"worse": "worse", "equivalent": "practically equivalent", "better": "better"}


def _ranking_key(models: Sequence[Mapping[str, Any]], pooled: bool) -> str:
    tones = {_against_leader(model) for model in models}
    could_be_best = sum(model["tied"] for model in models) > 1
    parts = [
        KEY.format(hdi=f"{numbers.percent(models[0]['hdi']['prob'])} HDI"),
        f"shaded: {'could still be best' if could_be_best else 'best'}",
        *(f"{_COLOURS[tone]}: {_MEANINGS[tone]}" for tone in _COLOURS if tone in tones),
        *(["partially pooled"] if pooled else []),
    ]
    return "; ".join(parts)


def _counts(names: tuple[object, object], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of rows with each decision."""
    counts = Counter(row["decision"]["name"] for row in rows)
    a, b = figure_style.brief(names, limit=figure_style.SHORT_NAME)
    parts = [f"{word} in {counts[key]}" for key, word in _WORDS.items() if counts[key]]
    if not parts:
        return f"{a} against {b}: {f'all {len(rows)} ' if len(rows) > 1 else ''}undecided"
    parts[0] = parts[0].replace(
        " in ", f" than {b} in " if "equivalent" not in parts[0] else " in "
    )
    parts[0] = parts[0].replace("equivalent", f"equivalent to {b}")
    return f"{a} is {', '.join(parts)} of {len(rows)}"


def _key(rows: Sequence[Mapping[str, Any]]) -> str:
    ropes = {read.rope_text(row) for row in rows}
    rope = f"ROPE {ropes.pop()}" if len(ropes) == 1 else "ROPE of each row"
    hdi = f"{numbers.percent(rows[0]['hdi']['prob'])} HDI"
    signs = [sign for sign in ">~<?" if any(row["decision"]["symbol"] == sign for row in rows)]
    undecided = f"; {' '.join(signs)} undecided" if signs else ""
    return f"{KEY.format(hdi=hdi)}, shaded: {rope}{undecided}"


def _draw_ropes(ax: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    ropes = [(row["rope"]["low"], row["rope"]["high"]) for row in rows]
    figure_style.draw_rope(ax, *(ropes[0] if len(set(ropes)) == 1 else (0.0, 0.0)))
    if len(set(ropes)) > 1:
        look: dict[str, Any] = {"color": figure_style.ink(ax), "alpha": figure_style.BAND, "lw": 0}
        for k, (low, high) in enumerate(ropes):
            ax.barh(k, high - low, 1.0, low, zorder=0, **look)


_MOST = 60
_CELL = 0.115  # inches; class names are unreadable in smaller cells
_LEAST_POINTS = 4.0
_ROOMY = 1.6  # width of a panel in inches
_APART = 0.09  # inches between the sentence and the panels
_LEFT = 0.11  # inches before the sentence
_FEW = 4  # zeros are written too if there are at most this many classes
_NAME = 20
_CENTRED: dict[str, Any] = {"loc": "center", "fontweight": "normal", **figure_style.SMALL}
_HEAD: dict[str, Any] = {"fontsize": "medium", "fontweight": "bold", **figure_style.LITERAL}


def draw_confusion(
    a: ArrayLike,
    b: ArrayLike,
    *,
    labels: Sequence[object],
    names: Sequence[object] = ("A", "B"),
    some: bool = False,
    normalise: bool = False,
    axes: Sequence[Axes] | None = None,
    size: FigureSize = "text",
) -> Sequence[Axes]:
    """Draw the confusion matrices of A and B, and the difference A − B.

    In the third panel a cell has the colour of better if A is right more often or makes the mistake
    less often; otherwise it has the colour of worse. Numbers are written if they fit. Otherwise the
    area of a square shows the size of a difference, and the square is filled if A has more items
    and open if B has more.

    Parameters
    ----------
    a, b
        Counts, with true classes as rows and predicted classes as columns.
    labels
        Classes, in the order of the rows.
    names
        Display names of A and B.
    some
        Whether some classes are not shown.
    normalise
        Whether to show each row as percentages of its sum.
    axes
        Three axes to draw in; a new figure if None.
    size
        Width of a new figure, unless many classes need more.

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
    drawn = _three_axes(axes, classes, size)
    scale = 1.0 if axes is not None else figure_style.inches(size)[1]
    with figure_style.styled(purpose="plot_confusion()", scale=scale):
        top = max(float(left.max()), float(right.max()), 1e-12)
        for ax, values in zip(drawn, (left, right), strict=False):
            _draw_shades(ax, values, top)
        short = figure_style.names(names, limit=figure_style.SHORT_NAME)
        _draw_difference(drawn[2], left - right, short)
        full = figure_style.names(names)
        for ax, title in zip(drawn, (*full, " − ".join(full)), strict=True):
            wide = 0.6 * figure_style.text_size() * len(title) > figure_style.points(ax)[0]
            ax.set_title(title.replace(" − ", "\n− ") if wide else title, **_CENTRED)
            _label_classes(ax, classes, names_rows=ax is drawn[0])
        for ax in drawn[:2]:
            ax.set_xlabel("predicted", **figure_style.SMALL)
        drawn[0].set_ylabel("true (rows in %)" if normalise else "true", **figure_style.SMALL)
        figure = drawn[0].get_figure(root=True)
        if axes is None and figure is not None and not normalise:
            text = _more_right(int(np.trace(left) - np.trace(right)), short)
            text = f"In these {len(classes)} classes {text}" if some else text
            room = int(72 * figure_style.inches(size)[0] / (7.2 * scale))
            margin = _LEFT / figure.get_figwidth()
            figure.suptitle(fill(text, room), x=margin, ha="left", **_HEAD)
        if axes is None and figure is not None:
            figure.draw_without_rendering()
            for ax in drawn:
                _fit_numbers(ax, len(classes))
    return drawn


def _more_right(more: int, names: Sequence[str]) -> str:
    a, b = names
    if not more:
        return f"{a} and {b} are right on the same number of items"
    word = "more" if more > 0 else "fewer"
    return f"{a} is right on {numbers.count(abs(more))} {word} items than {b}"


def _matrix(counts: ArrayLike, labels: Sequence[object]) -> FloatArray:
    values = np.asarray(counts, dtype=np.float64)
    if values.shape != (len(labels), len(labels)) or not np.isfinite(values).all():
        raise UsageError(
            f"a confusion matrix must be square, with a finite row for each of {len(labels)} "
            f"labels; got an array of shape {values.shape}, or one with NaN or infinity"
        )
    if not 2 <= len(labels) <= _MOST:
        raise UsageError(
            f"a plot of a confusion matrix must have 2 to {_MOST} classes; got {len(labels)}: "
            f"select classes with {param('labels=')}"
        )
    return values


def _shares(counts: FloatArray) -> FloatArray:
    """Return percentages of each row; a row without items stays 0."""
    sums = counts.sum(axis=1, keepdims=True)
    shares: FloatArray = 100 * counts / np.where(sums > 0, sums, 1)
    return shares


def _three_axes(
    axes: Sequence[Axes] | None, classes: Sequence[str], size: FigureSize
) -> list[Axes]:
    if axes is not None:
        panels = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(panels) != 3:
            raise UsageError(f"axes must be three, for A, B and A − B; got {len(panels)}")
        return panels
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="plot_confusion()")
    width, scale = figure_style.inches(size)
    longest = 0.06 * scale * max(map(len, classes))  # inches
    frame = 0.75 * scale
    panel = max((width - longest - frame) / 3, len(classes) * _CELL)
    under = 1.1 if panel > _ROOMY else 1.7  # the colour key then needs more lines
    with figure_style.styled(purpose="plot_confusion()"):
        inches = (3 * panel + longest + frame, panel + longest + scale * under)
        figure = pyplot.figure(figsize=inches, layout="compressed")
        # Panels are close to each other, with more space to the border.
        figure.get_layout_engine().set(
            h_pad=_APART,
            w_pad=_APART / 2,
            rect=(_APART / inches[0], 0, 1 - 2 * _APART / inches[0], 1),
        )
        return list(figure.subplots(1, 3))


def _draw_shades(ax: Axes, values: FloatArray, top: float) -> None:
    """Shade by the square root, so rare confusions remain visible."""
    shade = np.sqrt(np.clip(values, 0, None) / top)
    _draw_cells(ax, shade, [figure_style.paper(ax), figure_style.ink(ax)], (0, 1.15))
    texts = [[_number(value, signed=False) for value in row] for row in values]
    size = _number_size(ax, texts)
    if size is None:
        return
    for (row, column), value in np.ndenumerate(values):
        if value != 0 or len(values) <= _FEW:
            light = figure_style.paper(ax) if shade[row, column] > 0.6 else figure_style.ink(ax)
            _write(ax, row, column, texts[row][column], size, color=light)


def _draw_cells(
    ax: Axes, values: FloatArray, colours: Sequence[Any], ends: tuple[float, float]
) -> None:
    """Draw values as cells between colours."""
    maps = require("matplotlib.colors", extra="plot", purpose="plot_confusion()")
    shades = maps.LinearSegmentedColormap.from_list("outperform", colours)
    look: dict[str, Any] = {"aspect": "equal", "interpolation": "nearest"}
    ax.imshow(values, cmap=shades, vmin=ends[0], vmax=ends[1], **look)


def _draw_difference(ax: Axes, difference: FloatArray, names: Sequence[str]) -> None:
    n_classes = len(difference)
    texts = [[_number(value, signed=True) for value in row] for row in difference]
    size = _number_size(ax, texts)
    # Higher counts are better on the diagonal and worse off the diagonal.
    gain = np.where(np.eye(n_classes, dtype=bool), difference, -difference)
    gain = gain / max(float(np.abs(gain).max()), 1e-12)
    if size is None:
        _draw_squares(ax, difference, gain)
    else:
        tones = [colour(ax, "worse"), figure_style.paper(ax), colour(ax, "better")]
        _draw_cells(ax, np.sign(gain) * np.sqrt(np.abs(gain)), tones, (-1.6, 1.6))
        for (row, column), value in np.ndenumerate(difference):
            if value != 0 or n_classes <= _FEW:
                text = texts[row][column]
                _write(ax, row, column, text, size, color=figure_style.ink(ax))
    ax.set(xlim=(-0.5, n_classes - 0.5), ylim=(n_classes - 0.5, -0.5), aspect="equal")
    more, less = ("■", "□") if size is None else ("+", "−")
    a, b = names
    pieces = [f"{more} {a} more,", f"{less} {b} more", f"blue: {a} better,", "orange: worse"]
    room = int(figure_style.points(ax)[0] / (0.36 * figure_style.text_size()))
    key = "\n".join(figure_style.lines(words, room) for words in (pieces[:2], pieces[2:]))
    ax.set_xlabel(key, loc="right", family=figure_style.family(ax), **figure_style.TINY)


def _draw_squares(ax: Axes, difference: FloatArray, gain: FloatArray) -> None:
    """Draw a square per difference with its size as area: filled or open, better or worse."""
    patches = require("matplotlib.patches", extra="plot", purpose="plot_confusion()")
    collections = require("matplotlib.collections", extra="plot", purpose="plot_confusion()")
    side = 0.94 * np.sqrt(np.abs(gain))
    for chosen, filled in ((difference > 0, True), (difference < 0, False)):
        tones = [colour(ax, "better" if value > 0 else "worse") for value in gain[chosen]]
        squares = [
            patches.Rectangle((column - size / 2, row - size / 2), size, size)
            for row, column, size in zip(*np.nonzero(chosen), side[chosen], strict=True)
        ]
        faces = tones if filled else [figure_style.paper(ax)] * len(tones)
        look: dict[str, Any] = {"facecolor": faces, "edgecolor": tones, "lw": 0.9}
        ax.add_collection(collections.PatchCollection(squares, **look))


def _number(value: float, *, signed: bool) -> str:
    digits = 0 if float(value).is_integer() or abs(value) >= 10 else 1
    write = numbers.signed if signed else numbers.plain
    return true_minus(write(value, digits))


def _number_size(ax: Axes, texts: Sequence[Sequence[str]]) -> float | None:
    """Return the font size at which the longest number fits its cell; None if it is unreadable."""
    size = _fitting(ax, (text for row in texts for text in row), len(texts))
    return size if size >= _LEAST_POINTS else None


def _fitting(ax: Axes, texts: Iterable[str], n_classes: int) -> float:
    cell = _cell_points(ax, n_classes)
    return min(0.96 * figure_style.text_size(), 0.5 * cell, cell / (0.8 * max(map(len, texts))))


def _fit_numbers(ax: Axes, n_classes: int) -> None:
    """Reduce the text size if the layout left less space than expected."""
    if ax.texts:
        size = _fitting(ax, (text.get_text() for text in ax.texts), n_classes)
        for text in ax.texts:
            text.set_fontsize(max(size, _LEAST_POINTS))


def _cell_points(ax: Axes, n_classes: int) -> float:
    return min(figure_style.points(ax)) / n_classes


def _write(ax: Axes, row: int, column: int, text: str, size: float, **how: Any) -> None:
    how |= {"ha": "center", "va": "center", **figure_style.LITERAL}
    ax.text(column, row, text, fontsize=size, **how)


def _label_classes(ax: Axes, classes: Sequence[str], *, names_rows: bool) -> None:
    """Label the classes, or every second or third class if space is limited."""
    cell = _cell_points(ax, len(classes))
    step = max(1, ceil(5.0 / cell))
    positions, names = range(0, len(classes), step), classes[::step]
    size = max(_LEAST_POINTS, min(0.84 * figure_style.text_size(), 0.85 * cell * step))
    upright = max(map(len, names)) * 0.6 * size > cell * step
    ax.set_xticks(positions, names, rotation=90 if upright else 0)
    ax.set_yticks(positions, names if names_rows else [""] * len(names))
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set(fontsize=size, **figure_style.LITERAL)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(True)  # empty cells need a frame in any style
