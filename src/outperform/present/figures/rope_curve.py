"""The verdict for every width of the ROPE: bands with a symbol and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from outperform.present import numbers
from outperform.present.facts import Facts
from outperform.present.figures import style
from outperform.present.sentences import DECIDED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILLS: dict[str, tuple[float, float, float, float]] = {
    "BETTER": (0.35, 0.35, 0.35, 0.5),
    "WORSE": (0.35, 0.35, 0.35, 0.5),
    "EQUIVALENT": (0.5, 0.5, 0.5, 0.25),
}
_WORDS = {
    "BETTER": "better",
    "LEANING_BETTER": "leaning better,\nnot decided",
    "EQUIVALENT": "practically\nequivalent",
    "LEANING_WORSE": "leaning worse,\nnot decided",
    "WORSE": "worse",
    "UNDECIDED": "undecided",
}
_ROOF = 1.85  # of the line's height; above the line stand the words
_NO_ROOM = 0.07  # of the axes: a narrower band has no words


def plot_rope_curve(
    shares: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    facts: Facts,
    ax: Axes | None = None,
) -> Axes:
    """Draw which verdict each half-width of the ROPE gives, and mark the chosen one.

    For a ROPE that is not symmetric the widths are multiples of it.

    Parameters
    ----------
    shares
        Half-widths and the posterior mass inside each, drawn as a line; none if None.
    facts
        The facts of the comparison, with ``rope_curve``.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "rope": {"low": -0.01, "high": 0.01},
    ...          "rope_curve": [
    ...              {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.0, "to": 0.04},
    ...              {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.04, "to": None}]}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_rope_curve(facts=facts, ax=Figure().subplots())
    >>> [text.get_text().splitlines()[0] for text in ax.texts[:2]]
    ['>', 'leaning better,']
    """
    ax = style.new_axes(ax, purpose="plot_rope_curve()", height=2.8)
    stop = widest_rope(facts)
    for stretch in facts["rope_curve"]:
        _draw_band(ax, stretch, stop)
    if shares is not None:
        ax.plot(*shares, color=style.ink(ax), lw=1.6, zorder=4)
    _mark_chosen(ax, facts)
    ax.set(xlim=(0, stop), ylim=(0, _ROOF))
    _finish(ax, facts, with_shares=shares is not None)
    return ax


def widest_rope(facts: Facts) -> float:
    """Return the greatest half-width shown: all changes of the verdict, and the chosen ROPE.

    Examples
    --------
    >>> widest_rope({"rope": {"low": -0.01, "high": 0.01},
    ...         "rope_curve": [{"from": 0.0, "to": 0.04}, {"from": 0.04, "to": None}]})
    0.05
    """
    changes = [stretch["from"] for stretch in facts["rope_curve"]]
    return float(1.25 * max(*changes, 1.1 * _chosen(facts["rope"]), 1e-9))


def _chosen(rope: Mapping[str, Any]) -> float:
    return float(rope["high"]) if rope["low"] == -rope["high"] else 1.0


def _draw_band(ax: Axes, stretch: Mapping[str, Any], stop: float) -> None:
    low = stretch["from"]
    high = stop if stretch["to"] is None else stretch["to"]
    if high <= low:
        return
    face = _FILLS.get(stretch["decision"], (0.5, 0.5, 0.5, 0.0))
    ax.axvspan(low, high, facecolor=face, edgecolor="none", zorder=0)
    if stretch["to"] is not None:
        ax.axvline(high, color="0.35", lw=0.8, zorder=1)
    middle, room = (low + high) / 2, (high - low) / stop
    how: dict[str, Any] = {"ha": "center", "zorder": 5}
    symbol = {**style.LITERAL, "fontsize": "large", "family": style.family(ax)}
    ax.text(middle, _ROOF, stretch["symbol"], va="bottom", **how, **symbol)
    words = _WORDS[stretch["decision"]]
    if room >= _NO_ROOM:
        longest = 0.55 * style.text_size() * max(map(len, words.splitlines()))
        upright = longest < room * style.points(ax)[0]
        how |= style.SMALL if upright else {**style.TINY, "rotation": 90}
        ax.text(middle, (1 + _ROOF) / 2, words, va="center", **how)


def _mark_chosen(ax: Axes, facts: Facts) -> None:
    rope = facts["rope"]
    at = _chosen(rope)
    ax.plot([at, at], [0, 1], color=style.ink(ax), lw=1.6, ls=style.DASHES, zorder=3)
    even = rope["low"] == -rope["high"]
    text = f"ROPE {numbers.rope(rope['low'], rope['high'])}" if even else "the given ROPE"
    style.veiled(ax, text, (at, 0.03), (3, 0), rotation=90, va="bottom", **style.TINY)


def _changes(facts: Facts) -> str:
    """Say where the verdict changes, on one short line."""
    if not any(stretch["decision"] in DECIDED for stretch in facts["rope_curve"]):
        return "withheld for every width"
    parts: list[str] = []
    even = facts["rope"]["low"] == -facts["rope"]["high"]
    for stretch in facts["rope_curve"]:
        stop = stretch["to"]
        if stop is None:
            parts.append(f"{stretch['symbol']} {'beyond' if parts else 'for every width'}")
        elif stop > stretch["from"]:
            width = f"{stop:.{numbers.DIGITS}f}".rstrip("0").rstrip(".")
            parts.append(f"{stretch['symbol']} to {f'±{width}' if even else f'{width}×'}")
    return ", ".join(parts)


def _finish(ax: Axes, facts: Facts, *, with_shares: bool) -> None:
    rope = facts["rope"]
    even = rope["low"] == -rope["high"]
    ends = style.minus(numbers.rope(rope["low"], rope["high"]))
    what = "half-width of the ROPE" if even else f"multiple of the ROPE {ends}"
    ax.set_xlabel(f"{what}\n{style.subject(facts)}", **style.SMALL)
    ax.set_title(_changes(facts), pad=20, family=style.family(ax), **style.SMALL)
    style.number_ticks(ax)
    style.bare(ax, sides=("top", "right") if with_shares else ("left", "top", "right"))
    if with_shares:
        ax.spines["left"].set_bounds(0, 1)
        ax.set_ylabel("probability inside", y=0.5 / _ROOF, **style.SMALL)
        ax.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"], fontsize="small")
