"""Shared parts of figures: size, style, colours, markers and outlines."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

import numpy as np

from outperform._typing import FigureSize, FloatArray
from outperform.display import facts as read
from outperform.display.colours import DARK, LIGHT
from outperform.display.facts import Facts
from outperform.display.numbers import for_text
from outperform.display.pictures import OPEN, smooth, tone
from outperform.errors import UsageError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

_SIZES = {"column": (3.4, 1.0), "text": (6.5, 1.0), "slide": (10.0, 1.6)}  # inches, scale of text
_STYLE = Path(__file__).with_name("outperform.mplstyle")
NAME_LIMIT, SHORT_NAME = 18, 12
_NARROW, _LONG_NAME = 250.0, 30  # points, and the maximum length of row names in wider axes
_LINE = 44  # characters per line
_USUAL = 8.33  # the usual size of small text in points; marks are scaled in proportion
_HEADING = 36.0  # height of a title above rows, in points
_NOTE = "note"  # group of the note below the title
_MARGIN = 0.11  # inches on either side of a new figure, as in the style file
_WIDE = 0.6  # average width of a character as a share of the font size, rounded up

BAND, QUIET, FAINT = 0.1, 0.72, 0.55  # opacity of the ROPE, small text and lines
DASHES, _DOTTED = (0, (3.5, 1.8)), (0, (1.5, 2.5))
# Names are text, not formulas, so they must not be parsed by mathtext or LaTeX.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
SMALL: dict[str, Any] = {"fontsize": "small", **LITERAL}
TINY: dict[str, Any] = {"fontsize": "x-small", **LITERAL}

_MINUS = re.compile(r"(?<![^\s(±])-(?=\d)")
_FIRST_STRONG, _LEFT_TO_RIGHT, _POP = "\u2068", "\u2066", "\u2069"


def inches(size: FigureSize) -> tuple[float, float]:
    """Return the width of a new figure, and the scale of its text.

    Examples
    --------
    >>> inches("column"), inches("slide")
    ((3.4, 1.0), (10.0, 1.6))
    """
    if size not in _SIZES:
        raise UsageError(f"size must be one of {', '.join(_SIZES)}; got {size!r}")
    return _SIZES[size]


@contextmanager
def canvas(
    ax: Axes | None,
    *,
    purpose: str,
    height: float,
    size: FigureSize = "text",
) -> Iterator[Axes]:
    """Provide axes (new ones if None) with the style set while drawing.

    Parameters
    ----------
    ax
        Axes to draw in; a new figure if None.
    purpose
        Name of the function, for the error without matplotlib.
    height
        Height of a new figure in inches, before scaling.
    size
        Width of a new figure.
    """
    wide, scale = inches(size)
    if ax is not None and not hasattr(ax, "get_figure"):
        raise UsageError(
            f"ax must be matplotlib's Axes; got {ax!r}. To save a figure, type "
            "result.plot().figure.savefig('figure.png')"
        )
    if ax is not None:
        with styled(purpose=purpose):
            yield ax
        return
    pyplot = require("matplotlib.pyplot", extra="plot", purpose=purpose)
    with styled(purpose=purpose, scale=scale):
        yield pyplot.subplots(figsize=(wide, scale * height), layout="constrained")[1]


@contextmanager
def styled(*, purpose: str, scale: float = 1.0) -> Iterator[None]:
    """Apply the style, except for settings that the user changed, and scale the text size."""
    matplotlib = require("matplotlib", extra="plot", purpose=purpose)
    style = matplotlib.rc_params_from_file(_STYLE, use_default_template=False)
    now, usual = matplotlib.rcParams, matplotlib.rcParamsDefault
    chosen = {key: value for key, value in style.items() if now[key] == usual[key]}
    with matplotlib.rc_context({**chosen, "font.size": scale * now["font.size"]}):
        yield


FIGURE_SUFFIXES = (".png", ".svg", ".pdf")


def image(plot: Callable[[], Axes], kind: str) -> bytes:
    """Draw a figure without a screen, and return it as a file; the same figure, the same bytes.

    Parameters
    ----------
    plot
        Function that draws a new figure and returns its axes.
    kind
        Format of the file: ``"png"``, ``"svg"`` or ``"pdf"``.
    """
    matplotlib = require("matplotlib", extra="plot", purpose="a figure")
    matplotlib.use("Agg")
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "outperform"}):
        # A style can trim or scale the figure when it is saved; the size is that of plot().
        figure: Any = plot().figure  # of its own, so it can be saved
        figure.savefig(stream, format=kind, dpi="figure", metadata=metadata[kind])
    return stream.getvalue()


def ink(ax: Axes) -> ColorType:
    """Return the text colour set by the user, dark or light."""
    return ax.xaxis.label.get_color()


def paper(ax: Axes) -> tuple[float, float, float, float]:
    """Return the colour of the background; white if there is none."""
    colours = require("matplotlib.colors", extra="plot", purpose="plot()")
    background: tuple[float, float, float, float] = colours.to_rgba(ax.get_facecolor())
    return background if background[3] > 0 else (1.0, 1.0, 1.0, 1.0)


def colour(ax: Axes, name: str) -> ColorType:
    """Return the colour of worse, equivalent or better on this background; otherwise the ink."""
    dark = float(np.dot(paper(ax)[:3], (0.2126, 0.7152, 0.0722))) < 0.5
    return (DARK if dark else LIGHT).get(name) or ink(ax)


def family(ax: Axes) -> list[str]:
    """Return the fonts for text with decision symbols. The last font has all symbols."""
    return [*ax.xaxis.label.get_fontfamily(), "DejaVu Sans"]


def name(label: object, *, limit: int = NAME_LIMIT) -> str:
    """Return a label as short, harmless text that does not reverse adjacent text.

    Examples
    --------
    >>> name("nb_bern"), name("x" * 50, limit=5)
    ('nb_bern', 'xxxx…')
    """
    return _upright(for_text(label, limit=limit))


def names(labels: Iterable[object], *, limit: int = NAME_LIMIT) -> list[str]:
    """Return short labels that stay distinct and do not reverse adjacent text.

    Examples
    --------
    >>> names(["nb_bern", "nb_mult"])
    ['nb_bern', 'nb_mult']
    """
    return [_upright(text) for text in brief(labels, limit=limit)]


def brief(labels: Iterable[object], *, limit: int = NAME_LIMIT) -> list[str]:
    """Return short labels, shortened in the middle if shortening the ends makes them equal.

    Examples
    --------
    >>> brief(["ham", "talk.politics.guns", "talk.politics.misc"], limit=11)
    ['ham', 'talk.….guns', 'talk.….misc']
    """
    full = [for_text(label) for label in labels]
    short = [for_text(label, limit=limit) for label in full]
    counts = Counter(short)
    return [
        _without_middle(text, limit) if counts[cut] > 1 else cut
        for text, cut in zip(full, short, strict=True)
    ]


def _without_middle(text: str, limit: int) -> str:
    head = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def _upright(text: str) -> str:
    return f"{_FIRST_STRONG}{text}{_POP}" if _turns(text) else text


def _leftwards(text: str) -> str:
    """Return a sentence that starts on the left even if it contains right-to-left names."""
    return f"{_LEFT_TO_RIGHT}{text}{_POP}" if _turns(text) else text


def _turns(text: str) -> bool:
    return any(bidirectional(character) in ("R", "AL", "AN") for character in text)


def subject(facts: Facts, *, room: int = 2 * _LINE, arrow: str = "→") -> str:
    r"""Return the metric, the models and the better direction, with line breaks if needed.

    Examples
    --------
    >>> told = {"names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1"}
    >>> subject(told)
    'F1, bert − gpt → bert better'
    >>> subject(told | {"metric_label": "log loss", "greater_is_better": False}, room=24)
    'log loss, bert − gpt\n→ bert worse'
    """
    metric = for_text(read.metric(facts), limit=_LINE) if facts.get("metric") else None
    if "names" not in facts:
        return f"{metric} of {name(facts['name'])}"
    a, b = names(facts["names"])
    pieces = [*([f"{metric},"] if metric else []), f"{a} − {b}"]
    greater = facts.get("greater_is_better", True)
    if greater is not None:
        pieces.append(f"{arrow} {a} {'better' if greater else 'worse'}")
    return lines(pieces, room)


def lines(pieces: Sequence[str], room: int) -> str:
    r"""Join pieces, with a line break before each piece that does not fit.

    Examples
    --------
    >>> lines(["one,", "two,", "three"], 10)
    'one, two,\nthree'
    """
    rows = [pieces[0]]
    for piece in pieces[1:]:
        if len(rows[-1]) + len(piece) < room:
            rows[-1] += f" {piece}"
        else:
            rows.append(piece)
    return "\n".join(rows)


def name_axis(ax: Axes, facts: Facts, *, upright: bool = False) -> None:
    """Label an axis with the metric and the better direction."""
    across, up = points(ax)
    room = int((up if upright else 1.15 * across) / (0.9 * _WIDE * text_size()))
    label = subject(facts, room=room, arrow="↑" if upright else "→")
    (ax.set_ylabel if upright else ax.set_xlabel)(label, family=family(ax), **SMALL)


def write_title(
    ax: Axes, title: str, *, note: str | None = None, margin: float = 0.0, above: float = 0.0
) -> None:
    """Write a title above the axes, which users can replace, and a note below it.

    Both replace those of an earlier call.

    Parameters
    ----------
    ax
        The axes.
    title
        The title, broken into lines if it is too long.
    note
        Explanation of the markers, in small text.
    margin
        Space for labels to the left and right of the axes, in points.
    above
        Space between the axes and this text, in points.
    """
    width = max(_room(ax) - margin, 60.0)
    small = "\n".join(_filled(ax, line, width, "x-small") for line in (note or "").splitlines())
    pad = above + 5 + (3 + 1.04 * text_size() * (small.count("\n") + 1) if small else 0)
    # Numbers get a true minus sign; names keep their hyphens.
    text = _filled(ax, _MINUS.sub("−", title), width)
    ax.set_title(_leftwards(text), loc="left", pad=pad, family=family(ax), **LITERAL)
    for earlier in [text for text in ax.texts if text.get_gid() == _NOTE]:
        earlier.remove()
    if small:
        how: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        how |= {"va": "bottom", "family": family(ax), "alpha": QUIET, **TINY}
        ax.annotate(_leftwards(small), (0.0, 1.0), xytext=(0, above + 4), gid=_NOTE, **how)


def _room(ax: Axes) -> float:
    """Return the width in points of axes without labels after layout."""
    figure = ax.get_figure(root=True)
    if figure is None or len(figure.axes) > 1 or figure.get_layout_engine() is None:
        return points(ax)[0]
    return 72 * (figure.get_figwidth() - 2 * _MARGIN)


def fits_title(ax: Axes, title: str) -> bool:
    """Return whether a title fits on one line above the axes."""
    return _width(ax, title) <= _room(ax)


def bare(ax: Axes, *, sides: Sequence[str] = ("left", "top", "right")) -> None:
    """Remove the frame and the meaningless scale of a density."""
    for side in sides:
        ax.spines[side].set_visible(False)
    if "left" in sides:
        ax.set_yticks([])


def number_ticks(ax: Axes, *, most: int = 5) -> None:
    """Write a few plain numbers below the axis, without an offset."""
    ax.tick_params(axis="x", labelsize=text_size())
    ax.locator_params(axis="x", nbins=most)
    if hasattr(ax.xaxis.get_major_formatter(), "set_useOffset"):  # the user has not set a formatter
        ax.ticklabel_format(axis="x", useOffset=False, style="plain")


def count_ticks(ax: Axes) -> None:
    """Write numbers of items below the axis."""
    number_ticks(ax)
    ax.tick_params(axis="y", labelsize=text_size())
    ax.xaxis.set_major_formatter("{x:,.0f}")
    bare(ax, sides=("top", "right"))


def name_rows(ax: Axes, labels: Iterable[object], size: float, *, shift: float = 0.0) -> list[Any]:
    """Write row names, the first at the top, and return the text objects."""
    short = names(labels, limit=NAME_LIMIT if points(ax)[0] < _NARROW else _LONG_NAME)
    positions = [shift + k for k in range(len(short))]
    texts = ax.set_yticks(positions, short) and ax.get_yticklabels()
    for text in texts:
        text.set(fontsize=size, **LITERAL)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(short) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    return list(texts)


def beside_row(ax: Axes, position: float, text: str, size: float, **how: Any) -> None:
    """Write text to the right of a row."""
    how |= {"fontsize": size, "family": family(ax), "va": "center", **LITERAL}
    how |= {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    ax.annotate(text, (1.0, position), xytext=(5, 0), **how)


def row_size(ax: Axes, n_rows: int) -> float:
    """Return the largest text size in points that fits the row height."""
    return max(2.5, min(text_size(), 0.85 * (points(ax)[1] - _HEADING) / (n_rows + 1)))


def outlined(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **how: Any
) -> None:
    """Write text next to a point, with an outline so it is readable over lines."""
    effects = require("matplotlib.patheffects", extra="plot", purpose="plot()")
    outline = effects.withStroke(linewidth=2.0, foreground=paper(ax), alpha=0.8)
    how = {**SMALL, "path_effects": [outline], "zorder": 4, **how}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **how)


def text_size() -> float:
    """Return the size of small text in points."""
    settings = require("matplotlib", extra="plot", purpose="plot()").rcParams
    return 0.833 * float(settings["font.size"])


def _filled(ax: Axes, text: str, width: float, size: str | None = None) -> str:
    """Break text, by default in title size, into lines of a given width in points."""
    return fill(text, max(10, int(0.97 * len(text) * width / max(_width(ax, text, size), 1.0))))


def _width(ax: Axes, text: str, size: str | None = None) -> float:
    """Return the width of text in points, by default in title size."""
    settings = require("matplotlib", extra="plot", purpose="plot()").rcParams
    fonts = require("matplotlib.font_manager", extra="plot", purpose="plot()")
    paths = require("matplotlib.textpath", extra="plot", purpose="plot()").text_to_path
    of_titles = {key: settings[f"axes.title{key}"] for key in ("size", "weight")}
    font = fonts.FontProperties(family=family(ax), **({"size": size} if size else of_titles))
    usual = re.sub(r"[^ -~]", "m", text)  # because the font may lack other characters
    return float(paths.get_text_width_height_descent(usual, font, ismath=False)[0])


def points(ax: Axes) -> tuple[float, float]:
    """Return the width and height of the axes in points, before layout."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return 72 * box.width / dpi, 72 * box.height / dpi


def draw_rope(
    ax: Axes,
    low: float,
    high: float,
    *,
    upright: bool = True,
    ends: tuple[float, float] = (0.0, 1.0),
) -> None:
    """Shade the region of practical equivalence, and mark zero with a thin line.

    The line extends between two shares of the axes, which can leave space for text.
    """
    span, line = (ax.axvspan, ax.axvline) if upright else (ax.axhspan, ax.axhline)
    if low < high:
        span(low, high, facecolor=ink(ax), alpha=BAND, lw=0, zorder=0)
    for at in {0.0, *([low] if low == high else [])}:
        line(at, *ends, color=ink(ax), alpha=FAINT, lw=0.8, ls=_DOTTED, zorder=3)


KEY = "{hdi}, ● mean, ◇ observed"


def draw_interval(
    ax: Axes, facts: Facts, level: float, *, width: float = 3.0, decided: str = OPEN
) -> None:
    """Draw the HDI as a bar, the mean as a dot on it, and the observed value as a diamond.

    Parameters
    ----------
    ax
        The axes.
    facts
        Facts with ``hdi``, and with ``mean`` and ``observed`` if known.
    level
        Vertical position.
    width
        Width of the bar in points.
    decided
        Colour of bar and dot: worse, equivalent or better; otherwise the ink.
    """
    shade, ground = colour(ax, decided), paper(ax)
    width *= text_size() / _USUAL
    ends = [facts["hdi"]["low"], facts["hdi"]["high"]]
    bar: dict[str, Any] = {"lw": width, "marker": "|", "ms": width + 4, "solid_capstyle": "butt"}
    ax.plot(ends, [level, level], color=shade, zorder=5, **bar)
    # If they coincide, the dot lies inside the diamond and both are visible.
    mark = max(width, 2.0)
    if facts.get("observed") is not None:
        look: dict[str, Any] = {"marker": "D", "ms": mark + 3.2, "mfc": ground, "mec": ink(ax)}
        ax.plot([facts["observed"]], [level], ls="", mew=0.9, zorder=6, **look)
    if facts.get("mean") is not None:
        look = {"marker": "o", "ms": mark + 1.6, "mfc": shade, "mec": ground}
        ax.plot([facts["mean"]], [level], ls="", mew=0.8, zorder=7, **look)


def beside_numbers() -> float:
    """Return the width in points of the numbers and the label of a vertical axis."""
    return 6.0 * text_size()


def row_tone(row: Facts) -> str:
    """Return the colour of a firm decision; otherwise the ink."""
    return tone(row["decision"]["symbol"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Heights on a grid of values."""

    grid: FloatArray
    height: FloatArray

    @property
    def top(self) -> float:
        """Maximum height."""
        return float(self.height.max())

    def between(self, low: float, high: float) -> Shape:
        """Return the part between two values."""
        first, last = np.clip([low, high], self.grid[0], self.grid[-1])
        inside = (self.grid > first) & (self.grid < last)
        start, stop = np.interp([first, last], self.grid, self.height)
        return Shape(
            grid=np.r_[first, self.grid[inside], last],
            height=np.r_[start, self.height[inside], stop],
        )

    def fill(
        self, ax: Axes, facts: Facts, *, base: float = 0.0, scale: float = 1.0, floor: float = 0.0
    ) -> None:
        """Draw it on a base; a difference has parts below, inside and above the ROPE."""
        parts = [(-np.inf, np.inf, OPEN)]
        if facts.get("rope") is not None:
            low, high = facts["rope"]["low"], facts["rope"]["high"]
            tones = ["worse", "equivalent", "better"]
            if not facts.get("greater_is_better", True):
                tones.reverse()
            edges = [-np.inf, low, high, np.inf]
            parts = list(zip(edges, edges[1:], tones, strict=False))
        for low, high, decided in parts:
            part = self.between(low, high)
            heights = base + scale * np.maximum(part.height, floor)
            how: dict[str, Any] = {"alpha": FAINT} if decided == OPEN else {}
            shade = colour(ax, decided)
            ax.fill_between(part.grid, heights, base or floor, fc=shade, lw=0, zorder=2, **how)


def read_shape(draws_or_density: object, *, name: str = "draws") -> Shape:
    """Return the density of draws, or the given density (grid and heights).

    Parameters
    ----------
    draws_or_density
        Draws, or a tuple of a grid and heights.
    name
        Name of the draws in an error message.

    Examples
    --------
    >>> read_shape(([0.0, 0.5, 1.0], [0.0, 2.0, 0.0])).top
    2.0
    """
    if isinstance(draws_or_density, tuple) and len(draws_or_density) == 2:
        return _density(*draws_or_density)
    draws = np.asarray(draws_or_density, dtype=np.float64)
    if draws.ndim != 1 or draws.size == 0 or not np.isfinite(draws).all():
        raise UsageError(
            f"{name} must be a non-empty, one-dimensional array of finite numbers; got an array "
            f"of shape {draws.shape}, or one with NaN or infinity"
        )
    grid, height = smooth(draws)
    return Shape(grid=grid, height=height / np.trapezoid(height, grid))


def _density(grid: object, height: object) -> Shape:
    x, y = (np.asarray(part, dtype=np.float64) for part in (grid, height))
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise UsageError(
            "a density must be a grid and heights of the same length, at least two; "
            f"got arrays of shapes {x.shape} and {y.shape}"
        )
    if not np.isfinite(y).all() or y.max() <= 0:
        raise UsageError(
            "heights of a density must be finite and not all 0; drop the ends of the grid if it "
            "is infinite there"
        )
    return Shape(grid=x, height=y)
