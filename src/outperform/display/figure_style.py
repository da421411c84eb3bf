"""What all figures share: sizes, greys, intervals and outlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import bidirectional

import numpy as np

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display.facts import Facts
from outperform.display.numbers import for_text
from outperform.errors import UsageError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType


COLUMN = 3.3  # inches: one column of a two-column page
PAGE = 7.0
DPI = 150  # so that one column is readable in a notebook
NAME_LIMIT = 18
SHORT_NAME = 12
LINE = 44  # characters of small text that fit over one column's width

# Half-transparent greys stand out on light and on dark pages, and in print.
SHAPE: dict[str, Any] = {"facecolor": (0.4, 0.4, 0.4, 0.6), "edgecolor": "0.45", "lw": 0.6}
BAND: dict[str, Any] = {"facecolor": (0.5, 0.5, 0.5, 0.2), "edgecolor": "0.45", "lw": 0.6}
DARK: dict[str, Any] = {"facecolor": (0.2, 0.2, 0.2, 0.7), "edgecolor": "0.3", "lw": 0.8}
LIGHT: dict[str, Any] = {"facecolor": (0.6, 0.6, 0.6, 0.35), "edgecolor": "0.45", "lw": 1.1}
DASHES = (0, (3.5, 1.8))
BUTT: dict[str, Any] = {"solid_capstyle": "butt"}
# Names are text, not formulas: neither mathtext nor LaTeX may read them.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
SMALL: dict[str, Any] = {"fontsize": "small", **LITERAL}
TINY: dict[str, Any] = {"fontsize": "x-small", **LITERAL}

_FIRST_STRONG, _LEFT_TO_RIGHT, _POP = "\u2068", "\u2066", "\u2069"


def new_axes(ax: Axes | None, *, purpose: str, height: float = 2.5, width: float = COLUMN) -> Axes:
    """Return the axes that came, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plot", purpose=purpose)
    dpi = max(DPI, pyplot.rcParams["figure.dpi"])
    drawn: Axes = pyplot.subplots(figsize=(width, height), dpi=dpi, layout="constrained")[1]
    return drawn


def ink(ax: Axes) -> ColorType:
    """Return the colour that people chose for text, dark or light."""
    return ax.xaxis.label.get_color()


def family(ax: Axes) -> list[str]:
    """Return the fonts to look for the decisions' symbols in; the last one has them."""
    return [*ax.xaxis.label.get_fontfamily(), "DejaVu Sans"]


def name(label: object, *, limit: int = NAME_LIMIT) -> str:
    """Return a label as short harmless text that does not turn its neighbours round.

    Examples
    --------
    >>> name("nb_bern"), name("x" * 50, limit=5)
    ('nb_bern', 'xxxx…')
    """
    return _upright(for_text(label, limit=limit))


def names(labels: Iterable[object], *, limit: int = NAME_LIMIT) -> list[str]:
    """Return short labels that stay apart and do not turn their neighbours round.

    Examples
    --------
    >>> names(["nb_bern", "nb_mult"])
    ['nb_bern', 'nb_mult']
    """
    return [_upright(text) for text in brief(labels, limit=limit)]


def brief(labels: Iterable[object], *, limit: int = NAME_LIMIT) -> list[str]:
    """Return short labels; those that would become equal lose their middle, not their end.

    Examples
    --------
    >>> brief(["ham", "talk.politics.guns", "talk.politics.misc"], limit=11)
    ['ham', 'talk.….guns', 'talk.….misc']
    """
    whole = [for_text(label) for label in labels]
    short = [for_text(label, limit=limit) for label in whole]
    seen = Counter(short)
    return [
        _without_middle(text, limit) if seen[one] > 1 else one
        for text, one in zip(whole, short, strict=True)
    ]


def _without_middle(text: str, limit: int) -> str:
    head = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[:head]}…{text[head + 1 - limit :]}"


def _upright(text: str) -> str:
    return f"{_FIRST_STRONG}{text}{_POP}" if _turns(text) else text


def leftwards(text: str) -> str:
    """Return a sentence that begins on the left whatever names are in it."""
    return f"{_LEFT_TO_RIGHT}{text}{_POP}" if _turns(text) else text


def _turns(text: str) -> bool:
    return any(bidirectional(character) in ("R", "AL", "AN") for character in text)


def subject(facts: Facts) -> str:
    """Return what the axis shows, on two lines if one is too short for it.

    Examples
    --------
    >>> subject({"names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1"})
    'bert − gpt, F1'
    """
    whom = " − ".join(names(facts["names"])) if "names" in facts else name(facts["name"])
    metric = for_text(read.metric(facts), limit=LINE)
    label = f"{whom}, {metric}"
    return label if len(label) < LINE else f"{whom},\n{metric}"


def minus(text: str) -> str:
    """Return a written number with a true minus, as the ticks have it.

    Examples
    --------
    >>> minus("-0.1")
    '−0.1'
    """
    return text.replace("-", "−")


def bare(ax: Axes, *, sides: Sequence[str] = ("left", "top", "right")) -> None:
    """Leave away the frame, and the scale of a density, which tells nothing."""
    for side in sides:
        ax.spines[side].set_visible(False)
    if "left" in sides:
        ax.set_yticks([])


def number_ticks(ax: Axes, *, most: int = 5) -> None:
    """Write few plain numbers under the axis, never an offset beside it."""
    ax.tick_params(axis="x", labelsize="small")
    ax.locator_params(axis="x", nbins=most)
    if hasattr(ax.xaxis.get_major_formatter(), "set_useOffset"):  # nobody chose another one
        ax.ticklabel_format(axis="x", useOffset=False, style="plain")


def veiled(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **how: Any
) -> None:
    """Write beside a point, over a veil of the background that keeps text apart from lines."""
    veil = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    how = {**SMALL, "bbox": veil, "zorder": 4, **how}
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **how)


def text_size() -> float:
    """Return the size of small text in points."""
    settings = require("matplotlib", extra="plot", purpose="plot()").rcParams
    return 0.833 * float(settings["font.size"])


def points(ax: Axes) -> tuple[float, float]:
    """Return the width and the height of the axes, as far as they are known before a layout."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return 72 * box.width / dpi, 72 * box.height / dpi


def write_key(ax: Axes, text: str) -> None:
    """Write in the middle, right over the axis, what the marks mean."""
    axes = {"xycoords": "axes fraction", "ha": "center", "va": "bottom"}
    veiled(ax, text, (0.5, 0.0), (0, 2), **axes, **TINY)


def draw_rope(ax: Axes, low: float, high: float) -> None:
    """Shade the region of practical equivalence, from top to bottom."""
    if low < high:
        ax.axvspan(low, high, **BAND, zorder=0)
    else:
        ax.axvline(low, color=BAND["edgecolor"], lw=0.8, zorder=0)


KEY = "{hdi}, ● mean, ◇ observed"


def draw_interval(
    ax: Axes, facts: Facts, level: float, *, width: float = 3.0, colour: object = None
) -> None:
    """Draw the HDI as a bar, the mean as a dot on it and the observed value as a diamond."""
    colour = ink(ax) if colour is None else colour
    low, high = facts["hdi"]["low"], facts["hdi"]["high"]
    ax.plot(
        [low, high],
        [level, level],
        color=colour,
        lw=width,
        marker="|",
        ms=width + 4,
        zorder=5,
        **BUTT,
    )
    # Where they coincide, the dot lies in the diamond and both are seen.
    paper = ax.get_facecolor()
    if facts.get("observed") is not None:
        look: dict[str, Any] = {"marker": "D", "ms": width + 3.2, "mfc": paper, "mec": colour}
        ax.plot([facts["observed"]], [level], ls="", mew=0.9, zorder=6, **look)
    if facts.get("mean") is not None:
        look = {"marker": "o", "ms": width + 1.6, "mfc": colour, "mec": paper}
        ax.plot([facts["mean"]], [level], ls="", mew=0.8, zorder=7, **look)


_BINS = (10, 40)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Heights over a grid of values; steps are a histogram's."""

    grid: FloatArray
    height: FloatArray
    step: bool

    @property
    def top(self) -> float:
        """The greatest height."""
        return float(self.height.max())

    @property
    def low(self) -> float:
        """Where it begins."""
        return float(self.grid[0])

    @property
    def high(self) -> float:
        """Where it ends."""
        return float(self.grid[-1])

    def fill(self, ax: Axes, *, base: float = 0.0, scale: float = 1.0, **how: Any) -> None:
        """Draw it as a filled outline that stands on a base."""
        step: Literal["post"] | None = "post" if self.step else None
        ax.fill_between(self.grid, base + scale * self.height, base, step=step, **how)


def read_shape(
    draws_or_density: object, *, window: tuple[float, float] | None = None, name: str = "draws"
) -> Shape:
    """Return the outline of draws, or of a pair of a grid and the density on it.

    Parameters
    ----------
    draws_or_density
        Draws, or a tuple of a grid and heights.
    window
        The stretch whose draws are binned; all but one in a thousand if None.
    name
        What the draws are called in a complaint.

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
            f"{name} must be one row of finite numbers, "
            f"but an array of shape {draws.shape} came, or one with NaN or infinity"
        )
    return _histogram(draws, window)


def _density(grid: object, height: object) -> Shape:
    x, y = (np.asarray(part, dtype=np.float64) for part in (grid, height))
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise UsageError(
            "a density must be a grid and as many heights, two at least, "
            f"but arrays of shapes {x.shape} and {y.shape} came"
        )
    if not np.isfinite(y).all() or y.max() <= 0:
        raise UsageError(
            "a density must be finite and somewhere above 0, but its heights are not; "
            "leave out the ends of the grid where it is infinite"
        )
    return Shape(grid=x, height=y, step=False)


def _histogram(draws: FloatArray, window: tuple[float, float] | None) -> Shape:
    """Bin the draws; equal draws, which have no density, become one narrow bar."""
    low, high = np.quantile(draws, [0.0005, 0.9995]) if window is None else window
    if high <= low:
        low, high = draws[0] - 5e-4, draws[0] + 5e-4
        return Shape(grid=np.array([low, high]), height=np.array([1.0, 1.0]), step=True)
    counted = int(((draws >= low) & (draws <= high)).sum())
    n_bins = int(np.clip(np.sqrt(counted) / 3, *_BINS))
    height, edges = np.histogram(draws, bins=n_bins, range=(low, high))
    heights = height / (draws.size * np.diff(edges))
    return Shape(grid=edges, height=np.append(heights, heights[-1]), step=True)
