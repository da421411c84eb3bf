"""The rule: where the HDI lies against the ROPE, and for every other width of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any

from outperform.decision.intervals import Interval
from outperform.decision.rope import Rope


class Decision(Enum):
    """What the interval and the region of practical equivalence say together.

    Examples
    --------
    >>> Decision.BETTER.symbol, Decision.LEANING_BETTER.decided
    ('≫', False)
    """

    BETTER = "≫"
    LEANING_BETTER = ">"
    EQUIVALENT = "≈"
    LEANING_WORSE = "<"
    WORSE = "≪"
    UNDECIDED = "?"

    @property
    def symbol(self) -> str:
        """The papers' sign for it."""
        return self.value

    @property
    def words(self) -> str:
        """The same in words."""
        return _WORDS[self.name]

    @property
    def decided(self) -> bool:
        """Whether it is one of the three firm answers."""
        return self in (Decision.BETTER, Decision.EQUIVALENT, Decision.WORSE)

    @property
    def mirrored(self) -> Decision:
        """The same answer seen from the other model."""
        return _MIRROR.get(self, self)


_WORDS = {
    "BETTER": "better",
    "LEANING_BETTER": "leaning better, not decided",
    "EQUIVALENT": "practically equivalent",
    "LEANING_WORSE": "leaning worse, not decided",
    "WORSE": "worse",
    "UNDECIDED": "undecided",
}
_MIRROR = {
    Decision.BETTER: Decision.WORSE,
    Decision.LEANING_BETTER: Decision.LEANING_WORSE,
    Decision.LEANING_WORSE: Decision.LEANING_BETTER,
    Decision.WORSE: Decision.BETTER,
}


def decide(hdi: Interval, rope: Rope, *, greater_is_better: bool = True) -> Decision:
    """Return the verdict on A − B.

    ≈ if the HDI lies inside the ROPE, ≪ or ≫ if it lies entirely below or
    above; otherwise < or > by the side of the ROPE's midpoint that the HDI's
    midpoint is on, ? if they are equal within Monte Carlo error.

    Examples
    --------
    >>> decide(Interval(low=0.02, high=0.05, prob=0.95), Rope.from_param(0.01))
    <Decision.BETTER: '≫'>
    """
    decision = _above_or_below(hdi, rope)
    return decision if greater_is_better else decision.mirrored


def _above_or_below(hdi: Interval, rope: Rope) -> Decision:
    if rope.low <= hdi.low and hdi.high <= rope.high:
        return Decision.EQUIVALENT
    if hdi.low > rope.high:
        return Decision.BETTER
    if hdi.high < rope.low:
        return Decision.WORSE
    lean = hdi.midpoint - rope.midpoint
    error = (hdi.mcse_low + hdi.mcse_high) / 2
    # Two floats whose difference is below this cannot be told apart.
    if abs(lean) <= max(error, 1e-12 * hdi.width):
        return Decision.UNDECIDED
    return Decision.LEANING_BETTER if lean > 0 else Decision.LEANING_WORSE


def margin(hdi: Interval, rope: Rope) -> tuple[float, float]:
    """Return how far an HDI end is from the ROPE edge whose crossing would change the verdict.

    With it comes that end's error: how much the draws may be off before the
    verdict turns firm, or stops being so.
    """
    here, gaps = _firmly(hdi, rope), []
    for end in ("low", "high"):
        place, error = getattr(hdi, end), getattr(hdi, f"mcse_{end}")
        for edge in (rope.low, rope.high):
            beyond = math.nextafter(edge, math.inf if place <= edge else -math.inf)
            moved: dict[str, Any] = {end: beyond}
            if _firmly(replace(hdi, **moved), rope) is not here:
                gaps.append((abs(place - edge), error))
    return min(gaps, key=lambda gap: gap[0] / gap[1] if gap[1] > 0 else math.inf)


def _firmly(hdi: Interval, rope: Rope) -> Decision:
    decision = _above_or_below(hdi, rope)
    return decision if decision.decided else Decision.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CurveStep:
    """One stretch of ROPE half-widths that share a verdict.

    Examples
    --------
    >>> CurveStep(decision=Decision.BETTER, start=0.0, stop=0.0127)
    CurveStep(≫ from 0 to 0.0127)
    """

    decision: Decision
    start: float
    stop: float | None  # None: from start on

    def __str__(self) -> str:
        end = "on" if self.stop is None else f"to {self.stop:.4g}"
        return f"{self.decision.symbol} from {self.start:.4g} {end}"

    def __repr__(self) -> str:
        return f"CurveStep({self})"


def rope_curve(
    hdi: Interval, rope: Rope, *, greater_is_better: bool = True
) -> tuple[CurveStep, ...]:
    """Return the verdict for every half-width of the ROPE, from 0 on.

    For a ROPE that is not symmetric both ends are scaled together and the
    widths are multiples of the given one.

    Examples
    --------
    >>> curve = rope_curve(Interval(low=0.006, high=0.038, prob=0.95), Rope.from_param(0.01))
    >>> [(step.decision.symbol, step.start, step.stop) for step in curve]
    [('≫', 0.0, 0.006), ('>', 0.006, 0.038), ('≈', 0.038, None)]
    """
    low, high = (-1.0, 1.0) if rope.symmetric else (rope.low, rope.high)
    widths = {0.0}
    for end in (hdi.low, hdi.high):
        for edge in (low, high):
            if edge != 0 and end / edge > 0:
                widths.add(end / edge)
    lean = hdi.midpoint / ((low + high) / 2) if low + high != 0 else 0.0
    if lean > 0:
        widths.add(lean)
    edges: list[float | None] = [*sorted(widths), None]
    steps: list[CurveStep] = []
    for start, stop in pairwise(edges):
        assert start is not None
        middle = 2 * start + 1 if stop is None else (start + stop) / 2
        scaled = Rope(low=low * middle, high=high * middle)
        decision = decide(hdi, scaled, greater_is_better=greater_is_better)
        if steps and steps[-1].decision is decision:
            steps[-1] = CurveStep(decision=decision, start=steps[-1].start, stop=stop)
        else:
            steps.append(CurveStep(decision=decision, start=start, stop=stop))
    return tuple(steps)
