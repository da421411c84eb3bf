"""The ROPE, the posterior masses around it, and the decision rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from outperform._json import written
from outperform._typing import Distribution, FloatArray
from outperform.decision.intervals import Interval
from outperform.errors import UsageError, param
from outperform.wrong_calls import ByKeyword

DEFAULT_HALF_WIDTH = 0.01
# Half of a metric's range is never "too small to matter"; the ROPE was probably meant in per cent.
_TOO_WIDE, _TOO_WIDE_BOTH_WAYS = 0.5, 0.25


RopeLike: TypeAlias = "float | Sequence[float] | Rope"


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Rope(ByKeyword):
    """Region of practical equivalence: differences from ``low`` to ``high`` do not matter.

    Parameters
    ----------
    low
        Lower end.
    high
        Upper end.
    default
        Whether the ROPE is the default rather than the user's choice.

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
    def from_param(
        cls,
        rope: RopeLike | None,
        *,
        bounds: tuple[float, float] | None = (-1.0, 1.0),
        name: str | None = None,
    ) -> Rope:
        """Convert a half-width, a pair of ends, a ROPE, or None for the default.

        Parameters
        ----------
        rope
            Value passed by the user.
        bounds
            Smallest and largest value of the metric; None if unknown.
        name
            Name of the parameter in error messages. Default: ``rope``.
        """
        parameter = name or param("rope")
        if isinstance(rope, Rope):
            if bounds is not None and not rope.default:
                _refuse_wide(parameter, rope, rope.low, rope.high, bounds)
            return rope
        if rope is None:
            if bounds is None or bounds[0] < -1 or bounds[1] > 1:
                raise UsageError(
                    "this metric is not within [-1, 1], so there is no default ROPE; set "
                    f"{param('rope=')} to the largest difference that does not matter, in units "
                    "of the metric"
                )
            return cls(low=-DEFAULT_HALF_WIDTH, high=DEFAULT_HALF_WIDTH, default=True)
        low, high = _ends(rope, parameter)
        if not (math.isfinite(low) and math.isfinite(high)) or low > high:
            raise UsageError(f"{parameter} must be finite, with the lower end first; got {rope!r}")
        if bounds is not None:
            _refuse_wide(parameter, rope, low, high, bounds)
        return cls(low=low, high=high)

    @property
    def midpoint(self) -> float:
        """Midpoint of the ends."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    @property
    def symmetric(self) -> bool:
        """Whether the ROPE is symmetric around zero."""
        return self.low == -self.high

    def __str__(self) -> str:
        return f"±{self.high:g}" if self.symmetric else f"{self.low:g} to {self.high:g}"

    def __repr__(self) -> str:
        return f"Rope({self})"


def _refuse_wide(
    parameter: str, rope: RopeLike | None, low: float, high: float, bounds: tuple[float, float]
) -> None:
    """Reject a ROPE that contains nearly every difference and may have been meant in per cent."""
    span, (narrow, wide) = bounds[1] - bounds[0], sorted((abs(low), abs(high)))
    in_units = bounds[0] >= -1 and bounds[1] <= 1
    hint = "set it in units of the metric"
    if in_units:
        ends = [f"{end / 100:g}" for end in (low, high)]
        meant = ends[1] if low == -high else f"({', '.join(ends)})"
        hint += f"; did you mean {meant}?"
    if wide > span:
        raise UsageError(
            f"{parameter} {rope!r} is wider than any difference of this metric (at most "
            f"{span:g}); {hint}"
        )
    both_ways = low < 0 < high and narrow >= _TOO_WIDE_BOTH_WAYS
    if in_units and both_ways and wide >= _TOO_WIDE:
        raise UsageError(
            f"{parameter} {rope!r} contains nearly every difference of a metric from "
            f"{bounds[0]:g} to {bounds[1]:g}, so any two models would be equivalent; {hint}"
        )


def _ends(rope: Any, parameter: str) -> tuple[float, float]:
    message = (
        f"{parameter} must be a half-width such as 0.01 or a pair such as (-0.02, 0.01); "
        f"got {rope!r}"
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
        raise UsageError(f"{parameter} must not be negative if it is a half-width; got {rope!r}")
    return -half, half


@dataclass(frozen=True, slots=True, kw_only=True)
class Masses:
    """Posterior mass below, inside and above the ROPE, and above zero.

    Parameters
    ----------
    below, inside, above
        Mass below, inside and above the ROPE; the three sum to 1.
    greater
        Mass above zero.
    """

    below: float
    inside: float
    above: float
    greater: float


def masses_from_draws(ordered: FloatArray, rope: Rope) -> Masses:
    """Return the masses of sorted draws; a draw at zero counts half for either side.

    Examples
    --------
    >>> masses_from_draws(np.array([-0.2, 0.0, 0.005, 0.3]), Rope.from_param(0.01))
    Masses(below=0.25, inside=0.5, above=0.25, greater=0.625)
    """
    n = ordered.size
    below = int(np.searchsorted(ordered, rope.low, side="left"))
    above = n - int(np.searchsorted(ordered, rope.high, side="right"))
    negative = int(np.searchsorted(ordered, 0.0, side="left"))
    positive = n - int(np.searchsorted(ordered, 0.0, side="right"))
    return Masses(
        below=below / n,
        inside=(n - below - above) / n,
        above=above / n,
        greater=(positive + (n - negative - positive) / 2) / n,
    )


def masses_from_distribution(distribution: Distribution, rope: Rope) -> Masses:
    """Return the exact masses of a closed form."""
    below, above = distribution.cdf(rope.low), distribution.sf(rope.high)
    # Subtracting in the tail that contains the ROPE preserves the digits of tiny masses.
    if distribution.mean > rope.high:
        inside = distribution.cdf(rope.high) - below
    elif distribution.mean < rope.low:
        inside = distribution.sf(rope.low) - above
    else:
        inside = 1 - below - above
    return Masses(below=below, inside=max(inside, 0.0), above=above, greater=distribution.sf(0.0))


def masses_of(posterior: FloatArray | Distribution, rope: Rope) -> Masses:
    """Return the masses of a closed form, or of sorted draws."""
    if isinstance(posterior, np.ndarray):
        return masses_from_draws(posterior, rope)
    return masses_from_distribution(posterior, rope)


def mean_error(sd: float, n_draws: float) -> float:
    """Return the Monte Carlo standard error of the mean of independent draws.

    Examples
    --------
    >>> mean_error(0.02, 10_000)
    0.0002
    """
    return sd / math.sqrt(n_draws)


def sd_error(draws: FloatArray, n_effective: float | None = None) -> float:
    """Return the Monte Carlo standard error of the standard deviation.

    The variance of ``s²`` is ``(μ₄ − σ⁴) / S``, whatever the distribution; S is the number of
    draws, or the number of independent draws to which they are equivalent.

    Examples
    --------
    >>> round(sd_error(np.array([-1.0, 1.0, -2.0, 2.0] * 100)), 4)
    0.0237
    """
    worth = draws.size if n_effective is None else n_effective
    squares: FloatArray = np.square(draws - draws.mean())
    variance = float(squares.mean())
    if variance == 0.0:
        return 0.0
    return float(squares.std()) / (2.0 * math.sqrt(variance * worth))


def chances_of(masses: Masses, *, greater_is_better: bool) -> dict[str, float]:
    """Return the probabilities of worse, equivalent, better and greater, by name.

    Examples
    --------
    >>> chances_of(Masses(below=0.1, inside=0.2, above=0.7, greater=0.8), greater_is_better=False)
    {'p_worse': 0.7, 'p_equivalent': 0.2, 'p_better': 0.1, 'p_greater': 0.8}
    """
    ends = (masses.below, masses.above) if greater_is_better else (masses.above, masses.below)
    return {
        "p_worse": ends[0],
        "p_equivalent": masses.inside,
        "p_better": ends[1],
        "p_greater": masses.greater,
    }


def probability_error(probability: float, n_draws: float) -> float:
    """Return the Monte Carlo standard error of a probability.

    Half a draw is added on either side, so the error of 0 out of S is not 0.

    Examples
    --------
    >>> round(probability_error(0.5, 10_000), 4), probability_error(0.0, 10_000) > 0
    (0.005, True)
    """
    smoothed = (probability * n_draws + 0.5) / (n_draws + 1)
    return float(np.sqrt(smoothed * (1 - smoothed) / n_draws))


TWO_THIRDS = 2 / 3
"""Posterior mass from which an undecided result leans to one side."""


@written("name symbol words")
class Decision(Enum):
    """Decision from comparing the HDI with the ROPE (region of practical equivalence).

    ≫, ≈ and ≪ are firm: the HDI lies above, inside or below the ROPE. Otherwise >, ~ and < lean
    toward the part with at least two thirds of the posterior mass. In all other cases, and if a
    decision is withheld, it is ?.

    Examples
    --------
    >>> Decision.BETTER.symbol, Decision.LEANING_BETTER.decided
    ('≫', False)
    """

    BETTER = "≫"
    LEANING_BETTER = ">"
    EQUIVALENT = "≈"
    LEANING_EQUIVALENT = "~"
    LEANING_WORSE = "<"
    WORSE = "≪"
    UNDECIDED = "?"

    @property
    def symbol(self) -> str:
        """Symbol of the decision."""
        return self.value

    @property
    def words(self) -> str:
        """The decision in words."""
        return _WORDS[self.name]

    @property
    def decided(self) -> bool:
        """Whether the decision is firm: ≫, ≈ or ≪."""
        return self in (Decision.BETTER, Decision.EQUIVALENT, Decision.WORSE)

    @property
    def mirrored(self) -> Decision:
        """The decision on B − A."""
        return _MIRROR.get(self, self)


_WORDS = {
    "BETTER": "better",
    "LEANING_BETTER": "leaning better, not decided",
    "EQUIVALENT": "practically equivalent",
    "LEANING_EQUIVALENT": "probably equivalent, not decided",
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


def decide(
    hdi: Interval, rope: Rope, masses: Masses, *, greater_is_better: bool = True
) -> Decision:
    """Return the decision on A − B.

    ≈ if the HDI lies inside the ROPE, ≪ or ≫ if it lies entirely below or above; otherwise <, ~ or
    > if two thirds of the posterior mass lie below, inside or above the ROPE, and ? if no part has
    that much.

    Examples
    --------
    >>> hdi, rope = Interval(low=0.02, high=0.05, prob=0.95), Rope.from_param(0.01)
    >>> decide(hdi, rope, Masses(below=0.0, inside=0.01, above=0.99, greater=1.0))
    <Decision.BETTER: '≫'>
    """
    decision = firm_decision(hdi, rope) or leaning(masses)
    return decision if greater_is_better else decision.mirrored


def firm_decision(hdi: Interval, rope: Rope) -> Decision | None:
    """Return ≫, ≈ or ≪ if the HDI contains no edge of the ROPE; None otherwise.

    ≫ means above the ROPE, regardless of which side is better.

    Examples
    --------
    >>> firm_decision(Interval(low=-0.03, high=0.05, prob=0.95), Rope.from_param(0.01))
    """
    if rope.low <= hdi.low and hdi.high <= rope.high:
        return Decision.EQUIVALENT
    if hdi.low > rope.high:
        return Decision.BETTER
    return Decision.WORSE if hdi.high < rope.low else None


def supported(decision: Decision, unpooled: Decision) -> Decision:
    """Return a pooled decision to the extent that the unpooled decision supports it.

    A firm decision stays firm if the unpooled decision is the same or leans the same way. Otherwise
    it comes from the other data, so it only leans.

    Examples
    --------
    >>> supported(Decision.WORSE, Decision.LEANING_WORSE).symbol
    '≪'
    >>> supported(Decision.EQUIVALENT, Decision.UNDECIDED).symbol
    '~'
    """
    weaker = _LEANING.get(decision, decision)
    return decision if unpooled in (decision, weaker) else weaker


_LEANING = {
    Decision.BETTER: Decision.LEANING_BETTER,
    Decision.EQUIVALENT: Decision.LEANING_EQUIVALENT,
    Decision.WORSE: Decision.LEANING_WORSE,
}


def leaning(masses: Masses) -> Decision:
    """Return the leaning toward the part with two thirds of the posterior mass, or ?.

    > means above the ROPE, regardless of which side is better.

    Examples
    --------
    >>> leaning(Masses(below=0.1, inside=0.7, above=0.2, greater=0.6))
    <Decision.LEANING_EQUIVALENT: '~'>
    """
    if masses.above >= TWO_THIRDS:
        return Decision.LEANING_BETTER
    if masses.below >= TWO_THIRDS:
        return Decision.LEANING_WORSE
    return Decision.LEANING_EQUIVALENT if masses.inside >= TWO_THIRDS else Decision.UNDECIDED


def margin(hdi: Interval, rope: Rope) -> tuple[float, float]:
    """Return the distance of an HDI end to the ROPE edge where the decision changes.

    The Monte Carlo error of that end is also returned. Together they show how far off the draws may
    be before the decision becomes firm or stops being firm.
    """
    current, gaps = firm_decision(hdi, rope), []
    for end in ("low", "high"):
        bound, error = getattr(hdi, end), getattr(hdi, f"mcse_{end}")
        for edge in (rope.low, rope.high):
            beyond = math.nextafter(edge, math.inf if bound <= edge else -math.inf)
            moved: dict[str, Any] = {end: beyond}
            if firm_decision(replace(hdi, **moved), rope) is not current:
                gaps.append((abs(bound - edge), error))
    return min(gaps, key=lambda gap: gap[0] / gap[1] if gap[1] > 0 else math.inf)


@written("decision=decision.name symbol=decision.symbol from=start to=stop")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CurveStep:
    """Range of ROPE half-widths with the same decision.

    Parameters
    ----------
    decision
        The decision.
    start, stop
        First and last half-width; ``stop`` is None if the range is unbounded.

    Examples
    --------
    >>> CurveStep(decision=Decision.BETTER, start=0.0, stop=0.0127)
    CurveStep(≫ from 0 to 0.0127)
    """

    decision: Decision
    start: float
    stop: float | None

    def __str__(self) -> str:
        end = "on" if self.stop is None else f"to {self.stop:.4g}"
        return f"{self.decision.symbol} from {self.start:.4g} {end}"

    def __repr__(self) -> str:
        return f"CurveStep({self})"


def rope_curve(
    hdi: Interval,
    rope: Rope,
    posterior: FloatArray | Distribution,
    *,
    greater_is_better: bool = True,
) -> tuple[CurveStep, ...]:
    """Return the decision for every half-width of the ROPE, starting at 0.

    For an asymmetric ROPE, both ends are scaled by the same factor, and the widths are multiples of
    the ROPE.

    Parameters
    ----------
    hdi
        The HDI of A − B.
    rope
        The ROPE.
    posterior
        Closed form of A − B, or its sorted draws.
    greater_is_better
        Whether higher values of the metric are better.

    Examples
    --------
    >>> hdi = Interval(low=0.006, high=0.038, prob=0.95)
    >>> curve = rope_curve(hdi, Rope.from_param(0.01), np.linspace(0.005, 0.039, 35))
    >>> [(step.decision.symbol, round(step.start, 3)) for step in curve]
    [('≫', 0.0), ('>', 0.006), ('?', 0.016), ('~', 0.028), ('≈', 0.038)]
    """
    low, high = (-1.0, 1.0) if rope.symmetric else (rope.low, rope.high)
    widths = {0.0}
    for end in (hdi.low, hdi.high):
        for edge in (low, high):
            if edge != 0 and end / edge > 0:
                widths.add(end / edge)
    widths.update(_leaning_edges(posterior, low, high, max(widths)))
    edges: list[float | None] = [*sorted(widths), None]
    steps: list[CurveStep] = []
    for start, stop in pairwise(edges):
        assert start is not None
        middle = 2 * start + 1 if stop is None else (start + stop) / 2
        scaled = Rope(low=low * middle, high=high * middle)
        firm = firm_decision(hdi, scaled)
        decision = leaning(masses_of(posterior, scaled)) if firm is None else firm
        decision = decision if greater_is_better else decision.mirrored
        if steps and steps[-1].decision is decision:
            steps[-1] = CurveStep(decision=decision, start=steps[-1].start, stop=stop)
        else:
            steps.append(CurveStep(decision=decision, start=start, stop=stop))
    return tuple(steps)


_GRID = 65
# Precision of the edges between leaning decisions, as a share of the widest ROPE that gives one.
_TOLERANCE = 1e-7
_NO_MASS = 1e-9


def _leaning_edges(
    posterior: FloatArray | Distribution, low: float, high: float, widest: float
) -> Iterator[float]:
    """Yield the widths at which the mass of one part of the line crosses two thirds.

    Beyond the widest ROPE, every decision is firm unless an edge of the ROPE is zero.
    """
    below, above = _tails(posterior)
    if low == 0 or high == 0:
        widest = widest or 1.0
        while (above(high * widest) if low == 0 else below(low * widest)) > _NO_MASS:
            widest *= 2
    if widest == 0:
        return
    sides: list[Callable[[float], float]] = [
        lambda width: below(low * width) - TWO_THIRDS,
        lambda width: above(high * width) - TWO_THIRDS,
        lambda width: 1 - below(low * width) - above(high * width) - TWO_THIRDS,
    ]
    # If the ROPE contains zero, each mass is monotonic in the width, so two points suffice.
    grid = np.linspace(0.0, widest, 2 if low <= 0 <= high else _GRID).tolist()
    for gap in sides:
        gaps = [gap(width) for width in grid]
        for (start, before), (stop, after) in pairwise(zip(grid, gaps, strict=True)):
            if (before >= 0) != (after >= 0):
                yield _crossing(gap, (start, before), (stop, after), _TOLERANCE * widest)


def _crossing(
    gap: Callable[[float], float],
    start: tuple[float, float],
    stop: tuple[float, float],
    tolerance: float,
) -> float:
    """Return where a gap changes sign, by secants, or by bisection if secants are slow.

    For draws the gap is a step function, for which secants alone converge too slowly.
    """
    (low, before), (high, after) = start, stop
    halve = False
    while high - low > tolerance:
        middle = low + (high - low) * (before / (before - after))
        # A small step past the secant's root closes in from both sides.
        middle += 0.25 * tolerance if middle - low < high - middle else -0.25 * tolerance
        if halve or not low < middle < high:
            middle = (low + high) / 2
        here, width = gap(middle), high - low
        if (here >= 0) == (before >= 0):
            low, before = middle, here
        else:
            high, after = middle, here
        halve = high - low > width / 2
    return (low + high) / 2


def _tails(
    posterior: FloatArray | Distribution,
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return the mass below and the mass above a value, as functions of the value."""
    if not isinstance(posterior, np.ndarray):
        return posterior.cdf, posterior.sf
    n = posterior.size
    return (
        lambda value: float(np.searchsorted(posterior, value, side="left") / n),
        lambda value: float((n - np.searchsorted(posterior, value, side="right")) / n),
    )
