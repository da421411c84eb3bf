"""The interval closing in: the difference against the number of documents, look by look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outperform.errors import UsageError
from outperform.present import facts as read
from outperform.present.facts import Facts
from outperform.present.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TALLEST = 5.0  # times the last interval's width; what is wider runs out of the picture
_BARS = 40  # more of them are one black area
_APART = 0.05  # of the picture's width, for two verdicts


def plot_looks(*, facts: Facts, ax: Axes | None = None) -> Axes:
    """Draw mean and HDI after each batch, the ROPE, and where the rule to stop first held.

    Parameters
    ----------
    facts
        The facts of a monitored experiment.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> looks = [{"number": k, "n": 100 * k, "mean": 0.02, "decision": {"symbol": ">"},
    ...           "hdi": {"low": 0.02 - 0.1 / k, "high": 0.02 + 0.1 / k, "prob": 0.95}}
    ...          for k in (1, 2, 3)]
    >>> facts = {"names": ["bert", "gpt"], "looks": looks, "stopped": 3, "comparison":
    ...          {"metric": "f1", "names": ["bert", "gpt"], "rope": {"low": -0.01, "high": 0.01}}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_looks(facts=facts, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'documents'
    """
    looks = facts["looks"]
    if not looks:
        raise UsageError("there is no look to draw yet; the figure needs one batch at least")
    ax = style.new_axes(ax, purpose="plot()", height=2.6)
    rope, colour = facts["comparison"]["rope"], style.ink(ax)
    _draw_rope(ax, rope)
    n = [look["n"] for look in looks]
    low, high = ([look["hdi"][end] for look in looks] for end in ("low", "high"))
    mean = [look["mean"] for look in looks]
    ax.fill_between(n, low, high, **style.LIGHT, zorder=2)
    some = range(len(looks))[:: -(1 + (len(looks) - 1) // _BARS)]  # and the last in any case
    at, bottom, top = ([values[place] for place in some] for values in (n, low, high))
    ax.vlines(at, bottom, top, color=colour, lw=0.8, zorder=3)
    dots: dict[str, Any] = {"marker": "o", "ms": 3.5, "mec": ax.get_facecolor(), "mew": 0.6}
    ax.plot(n, mean, color=colour, lw=1.0, zorder=4, markevery=list(some), **dots)
    _limit(ax, looks, rope)
    _write_verdicts(ax, looks)
    _mark_stop(ax, facts)
    _finish(ax, facts)
    return ax


def _draw_rope(ax: Axes, rope: Facts) -> None:
    if rope["low"] < rope["high"]:
        ax.axhspan(rope["low"], rope["high"], **style.BAND, zorder=0)
    ax.axhline(0, color=style.BAND["edgecolor"], lw=0.7, ls=":", zorder=1)


def _limit(ax: Axes, looks: list[Facts], rope: Facts) -> None:
    """Show the ROPE and all intervals but the first wide ones in full."""
    last = looks[-1]["hdi"]
    most = _TALLEST * max(last["high"] - last["low"], rope["high"] - rope["low"])
    shown = [look["hdi"] for look in looks if look["hdi"]["high"] - look["hdi"]["low"] <= most]
    low = min([rope["low"], *(one["low"] for one in shown)])
    high = max([rope["high"], *(one["high"] for one in shown)])
    margin = 0.12 * (high - low or 1.0)
    ax.set_ylim(low - margin, high + 1.6 * margin)


def _write_verdicts(ax: Axes, looks: list[Facts]) -> None:
    """Write the verdict over the looks at which it changed."""
    for n, symbol in _changes(looks):
        ax.annotate(
            symbol,
            (n, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, -2),
            textcoords="offset points",
            ha="center",
            va="top",
            family=style.family(ax),
            **style.SMALL,
        )


def _changes(looks: list[Facts]) -> list[tuple[int, str]]:
    """Return where the verdict became another; of those close together the one that stayed."""
    kept: list[tuple[int, str]] = []
    for look in looks:
        n, symbol = look["n"], look["decision"]["symbol"]
        if kept and symbol == kept[-1][1]:
            continue
        if kept and n - kept[-1][0] < _APART * looks[-1]["n"]:
            kept.pop()
        if not kept or symbol != kept[-1][1]:
            kept.append((n, symbol))
    return kept


def _mark_stop(ax: Axes, facts: Facts) -> None:
    if facts["stopped"] is None:
        return
    n = next(look["n"] for look in facts["looks"] if look["number"] == facts["stopped"])
    ax.axvline(n, color=style.ink(ax), ls=style.DASHES, lw=1.0, zorder=1)
    text = f"stop, look {facts['stopped']}"
    right = n > 0.6 * max(look["n"] for look in facts["looks"])
    side: dict[str, Any] = {"ha": "right" if right else "left", "va": "bottom"}
    at = ax.get_xaxis_transform()
    style.veiled(ax, text, (n, 0.0), (-3 if right else 3, 3), xycoords=at, **side, **style.TINY)


def _finish(ax: Axes, facts: Facts) -> None:
    ax.set_xlim(left=0)
    ax.set_xlabel("documents", **style.SMALL)
    ax.set_ylabel(style.subject(facts["comparison"]), **style.SMALL)
    ax.tick_params(axis="y", labelsize="small")
    hdi = read.hdi_label(facts["looks"][-1])
    ax.set_title(f"● mean, │ {hdi}, grey band: ROPE", **style.TINY)
    style.number_ticks(ax)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    style.bare(ax, sides=("top", "right"))
