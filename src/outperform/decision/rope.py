"""The region of practical equivalence: the user's, in the metric's own units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from outperform.errors import UsageError

DEFAULT_HALF_WIDTH = 0.01
# Of a metric from 0 to 1 nobody means half of it by "too small to matter", but perhaps per cent.
_TOO_WIDE, _TOO_WIDE_BOTH_WAYS = 0.5, 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """Differences between ``low`` and ``high`` are too small to matter.

    Parameters
    ----------
    low
        The lower end.
    high
        The upper end.
    default
        Whether nobody chose it.

    Examples
    --------
    >>> Rope.from_param(0.01)
    Rope(±0.01)
    >>> Rope.from_param((-0.02, 0.01))
    Rope(-0.02 to 0.01)
    """

    low: float
    high: float
    default: bool = False

    @classmethod
    def from_param(cls, rope: Any, *, bounds: tuple[float, float] | None = (-1.0, 1.0)) -> Rope:
        """Take a half-width, a pair of ends, a rope, or None for the default.

        Parameters
        ----------
        rope
            What the user gave.
        bounds
            The smallest and largest value of the metric; None if unknown.
        """
        if isinstance(rope, Rope):
            return rope
        if rope is None:
            if bounds is None or bounds[0] < -1 or bounds[1] > 1:
                raise UsageError(
                    "this metric is not within [-1, 1], so there is no default ROPE; "
                    "give rope=, the largest difference that does not matter, in the metric's units"
                )
            return cls(low=-DEFAULT_HALF_WIDTH, high=DEFAULT_HALF_WIDTH, default=True)
        low, high = _ends(rope)
        if not (math.isfinite(low) and math.isfinite(high)) or low > high:
            raise UsageError(f"rope must be finite and go from low to high; got {rope!r}")
        if bounds is not None:
            _refuse_wide(rope, low, high, bounds)
        return cls(low=low, high=high)

    @property
    def midpoint(self) -> float:
        """Half-way between the ends."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low

    @property
    def symmetric(self) -> bool:
        """Whether it is ± one number."""
        return self.low == -self.high

    def __str__(self) -> str:
        return f"±{self.high:g}" if self.symmetric else f"{self.low:g} to {self.high:g}"

    def __repr__(self) -> str:
        return f"Rope({self})"


def _refuse_wide(rope: Any, low: float, high: float, bounds: tuple[float, float]) -> None:
    """Refuse a ROPE that holds nearly every difference; perhaps it was meant in per cent."""
    span, (narrow, wide) = bounds[1] - bounds[0], sorted((abs(low), abs(high)))
    in_units = bounds[0] >= -1 and bounds[1] <= 1
    hint = "give it in the metric's units"
    if in_units:
        ends = [f"{end / 100:g}" for end in (low, high)]
        meant = ends[1] if low == -high else f"({', '.join(ends)})"
        hint += f"; did you mean {meant}?"
    if wide > span:
        raise UsageError(
            f"rope {rope!r} is wider than any difference of this metric (at most {span:g}); {hint}"
        )
    both_ways = low < 0 < high and narrow >= _TOO_WIDE_BOTH_WAYS
    if in_units and both_ways and wide >= _TOO_WIDE:
        raise UsageError(
            f"rope {rope!r} holds nearly every difference of a metric from {bounds[0]:g} to "
            f"{bounds[1]:g}, so any two models would be equivalent; {hint}"
        )


def _ends(rope: Any) -> tuple[float, float]:
    message = (
        f"rope must be a half-width such as 0.01 or a pair such as (-0.02, 0.01); got {rope!r}"
    )
    if isinstance(rope, (str, bytes, bool)):
        raise UsageError(message)
    try:
        if hasattr(rope, "__len__"):
            low, high = rope
            return float(low), float(high)
        half = float(rope)
    except (TypeError, ValueError) as error:
        raise UsageError(message) from error
    if half < 0:
        raise UsageError(
            f"rope as one number is a half-width and must not be negative; got {rope!r}"
        )
    return -half, half
