"""Many models: how probable each rank is, and the verdict on every difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform.present import numbers
from outperform.present.facts import Facts
from outperform.present.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.2  # inches
_FRAME = 0.85
_FIRST = 0.12  # the darkest grey, of rank 1
_LAST = 0.93
_WIDEST = 12.0
_FIRM = {"≫": 0.55, "≪": 0.8, "≈": 0.93}
_WORDS = {
    "≫": "better",
    ">": "leaning better",
    "≈": "equivalent",
    "<": "leaning worse",
    "≪": "worse",
    "?": "undecided",
}


def plot_ranks(facts: Facts, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each rank as a bar a model, rank 1 at the left and darkest.

    Parameters
    ----------
    facts
        The facts of the ranking.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "models": [{"name": "gpt", "p_rank": [0.8, 0.2], "p_best": 0.8, "tied": True},
    ...                     {"name": "bert", "p_rank": [0.2, 0.8], "p_best": 0.2, "tied": False}]}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_ranks(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['gpt', 'bert']
    """
    models = facts["models"]
    ax = style.new_axes(ax, purpose="plot()", height=_FRAME + _ROW * len(models))
    shares = np.array([model["p_rank"] for model in models])
    starts = np.cumsum(shares, axis=1) - shares
    places = np.arange(len(models))
    for rank in range(len(models)):
        grey = str(_grey(rank, len(models)))
        look: dict[str, Any] = {"color": grey, "edgecolor": "0.45", "lw": 0.4}
        label = f"rank {rank + 1}"
        ax.barh(places, shares[:, rank], 0.78, starts[:, rank], label=label, **look)
    size = _text_size(ax, len(models))
    _name_rows(ax, facts["names"], size, tied=set(facts["tied"]))
    for place, model in enumerate(models):
        _beside(ax, place, numbers.probability(model["p_best"], facts.get("n_draws")), size)
    _finish_ranks(ax, len(models))
    return ax


def _grey(rank: int, n_models: int) -> float:
    """Return a grey that is darkest for rank 1; the first ranks are the furthest apart."""
    share = rank / max(n_models - 1, 1)
    return _FIRST + (_LAST - _FIRST) * float(share**0.6)


def _beside(ax: Axes, place: int, text: str, size: float) -> None:
    ax.annotate(
        text,
        (1.0, place),
        xycoords=ax.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        **style.LITERAL,
    )


def _finish_ranks(ax: Axes, n_models: int) -> None:
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(n_models - 0.4, -0.6)
    ax.set_xlabel("probability of each rank", **style.SMALL)
    ax.set_title(
        f"darkest: rank 1, lightest: rank {n_models}; at the right P(best)\nbold: tied for best",
        loc="left",
        **style.TINY,
    )
    style.number_ticks(ax)
    style.bare(ax, sides=("top", "right"))
    ax.spines["left"].set_visible(False)


def plot_verdicts(facts: Facts, *, ax: Axes | None = None) -> Axes:
    """Draw the verdict on row − column for every two models, the leader first.

    Firm verdicts have a grey ground; what the symbols mean stands below.

    Parameters
    ----------
    facts
        The facts of the ranking.
    ax
        The axes to draw in; a new figure as large as the models need if None.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "verdicts": [[None, "≫"], ["≪", None]], "rope": {"low": -0.01, "high": 0.01}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_verdicts(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['≫', '≪']
    """
    names, verdicts = facts["names"], facts["verdicts"]
    n_models = len(names)
    side = min(_WIDEST, max(style.COLUMN, 1.3 + 0.24 * n_models))
    ax = style.new_axes(ax, purpose="plot_matrix()", height=side, width=side)
    greys = [[_FIRM.get(symbol, 1.0) for symbol in row] for row in verdicts]
    ax.imshow(np.array(greys), cmap="gray", vmin=0.0, vmax=1.0, alpha=0.6)
    size = _text_size(ax, n_models)
    for i, row in enumerate(verdicts):
        for j, symbol in enumerate(row):
            if symbol is not None:
                how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 1.1 * size}
                ax.text(j, i, symbol, family=style.family(ax), **how, **style.LITERAL)
    _name_rows(ax, names, size, tied=set(facts["tied"]))
    short = style.names(names, limit=style.SHORT_NAME)
    for text in ax.set_xticks(range(n_models), short, rotation=90) and ax.get_xticklabels():
        text.set(fontsize=size, **style.LITERAL)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(_legend(verdicts), **style.TINY)
    rope = style.minus(numbers.rope(facts["rope"]["low"], facts["rope"]["high"]))
    ax.set_title(f"row − column, ROPE {rope}; bold: tied for best", loc="left", **style.TINY)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _legend(verdicts: Sequence[Sequence[str | None]]) -> str:
    used = {symbol for row in verdicts for symbol in row}
    shown = [f"{symbol} {words}" for symbol, words in _WORDS.items() if symbol in used]
    lines = [", ".join(shown[start : start + 3]) for start in range(0, len(shown), 3)]
    return "\n".join(lines)


def _name_rows(ax: Axes, names: Sequence[object], size: float, *, tied: set[object]) -> None:
    shown = style.names(names)
    for name, text in zip(
        names, ax.set_yticks(range(len(names)), shown) and ax.get_yticklabels(), strict=True
    ):
        weight = "bold" if name in tied else "normal"
        text.set(fontsize=size, fontweight=weight, **style.LITERAL)
    ax.tick_params(axis="y", length=0)


def _text_size(ax: Axes, n_rows: int) -> float:
    """Return the points that a row leaves for its text."""
    return max(3.0, min(style.text_size(), 0.85 * style.points(ax)[1] / (n_rows + 1)))
