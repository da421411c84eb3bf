"""The outline of a distribution: the density as it is, or a histogram of draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from outperform._typing import FloatArray
from outperform.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    draws_or_density: Any, *, window: tuple[float, float] | None = None, name: str = "draws"
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


def _density(grid: Any, height: Any) -> Shape:
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
