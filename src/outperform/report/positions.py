"""The places of the ROPE slider: round widths from none to where nothing changes any more."""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor, log10

from outperform import present
from outperform.comparison import Comparison
from outperform.decision import Rope
from outperform.present.facts import Facts


def rope_positions(comparison: Comparison, facts: Facts, *, most: int) -> tuple[list[Rope], int]:
    """Return ROPEs from narrow to wide, at most about ``most``, and where the chosen one is.

    They run over half-widths, or over multiples of a ROPE that is not symmetric, in steps of
    1, 2 or 5 times a power of ten, with the chosen one among them as it is.
    """
    rope = comparison.rope
    low, high, here = (-1.0, 1.0, rope.high) if rope.symmetric else (rope.low, rope.high, 1.0)
    stop = min(present.widest_rope(facts), _widest(comparison, max(abs(low), abs(high))))
    step = _round_step(max(stop, here) / most)
    widths = [float(step * k) for k in range(floor(Decimal(stop) / step) + 1)]
    others = [width for width in widths if abs(width - here) > 1e-9 * here]
    ropes = {width: Rope(low=low * width, high=high * width) for width in others} | {here: rope}
    ordered = sorted(ropes)
    return [ropes[width] for width in ordered], ordered.index(here)


def _widest(comparison: Comparison, unit: float) -> float:
    """Return the greatest multiple that is no wider than any difference of the metric."""
    bounds = comparison.question.metric.bounds
    return float("inf") if bounds is None or unit == 0 else (bounds[1] - bounds[0]) / unit


def _round_step(least: float) -> Decimal:
    power = floor(log10(least))
    for digit in (1, 2, 5):
        step = digit * Decimal(10) ** power
        if step >= Decimal(repr(least)):
            return step
    return Decimal(10) ** ceil(log10(least))
