"""Several posterior densities on one axis, told apart by shade and by dashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FloatArray
from outperform.errors import UsageError, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (3.5, 2.5)  # inches: one column of a two-column page
# Pairs share a shade and differ by dashes, so that neither needs a colour.
_STYLES: tuple[dict[str, Any], ...] = (
    {"color": "0.1", "lw": 1.3, "ls": "-"},
    {"color": "0.1", "lw": 1.1, "ls": (0, (3.5, 1.8))},
    {"color": "0.6", "lw": 2.2, "ls": "-"},
    {"color": "0.6", "lw": 1.8, "ls": (0, (2.6, 1.3))},
    {"color": "0.35", "lw": 1.3, "ls": (0, (1, 1.4))},
    {"color": "0.35", "lw": 1.3, "ls": (0, (5, 1.5, 1, 1.5))},
)
# Labels are text, not formulas: neither mathtext nor LaTeX may read them.
_LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}


def plot_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw posterior densities over each other, readable without colours.

    The first two curves share a dark shade, solid and dashed, the next two a
    light one, the last two are dotted and dash-dotted. Each begins and ends
    where its grid does. A legend is left to the caller, who may want one for
    several axes.

    Parameters
    ----------
    curves
        For each label a grid of values and the density on it; six at most.
    title
        What stands above the axes.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curves = {"A": ([0.1, 0.2, 0.3], [0, 10, 0]), "B": ([0.1, 0.3, 0.5], [0, 5, 0])}
    >>> ax = plot_curves(curves, title="recall", ax=Figure().subplots())
    >>> [line.get_label() for line in ax.get_lines()]
    ['A', 'B']
    """
    if not 1 <= len(curves) <= len(_STYLES):
        raise UsageError(
            f"curves must be one to {len(_STYLES)}, so that they can be told apart; "
            f"got {len(curves)}. Draw the others in axes of their own"
        )
    read = {label: _read(label, *curve) for label, curve in curves.items()}
    if ax is None:
        pyplot = require("matplotlib.pyplot", extra="plot", purpose="plot_curves()")
        ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    for place, ((label, (grid, density)), style) in enumerate(
        zip(read.items(), _STYLES, strict=False)
    ):
        # The wide light lines lie below, so that they hide none of the dark ones.
        low = 2 if style["lw"] > 1.5 else 3
        ax.plot(grid, density, label=label, zorder=low + place / 10, **style)
    _finish(ax, title)
    return ax


def _read(label: str, grid: ArrayLike, density: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, height = (np.asarray(part, dtype=np.float64) for part in (grid, density))
    if x.ndim != 1 or x.shape != height.shape or x.size < 2:
        raise UsageError(
            f"curve {label!r} must be a grid and as many heights, two at least, "
            f"but arrays of shapes {x.shape} and {height.shape} came"
        )
    if not (np.isfinite(x).all() and np.isfinite(height).all()):
        raise UsageError(
            f"curve {label!r} must be finite, but NaN or infinity came; "
            "leave out the ends of the grid where the density is infinite"
        )
    return x, height


def _finish(ax: Axes, title: str) -> None:
    """Leave away what tells nothing: the scale of a density, and the frame."""
    if title:
        ax.set_title(title, **_LITERAL)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.locator_params(axis="x", nbins=4)
    ax.minorticks_on()
    # 0.955 on every tick, never an offset beside the axis.
    ax.ticklabel_format(axis="x", useOffset=False, style="plain")
    for side in ("left", "top", "right"):
        ax.spines[side].set_visible(False)
