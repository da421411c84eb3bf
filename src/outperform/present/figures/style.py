"""What all figures share: sizes, greys that differ in print, and names that stay mere text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

from outperform._optional import require
from outperform.present import facts as read
from outperform.present.escape import for_text
from outperform.present.facts import Facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN = 3.3  # inches: one column of a two-column page
PAGE = 7.0
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
    drawn: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return drawn


def ink(ax: Axes) -> Any:
    """Return the colour that people chose for text, dark or light."""
    return ax.xaxis.label.get_color()


def family(ax: Axes) -> list[str]:
    """Return the fonts to look for the verdicts' symbols in; the last one has them."""
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
