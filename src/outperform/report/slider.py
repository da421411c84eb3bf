"""The ROPE slider: what the page says at each position."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from math import ceil, floor, log10
from typing import Any

from outperform._typing import Distribution
from outperform.decision.rope import Rope
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.facts import Facts
from outperform.display.rope_figure import widest_rope
from outperform.display.sentences import headline
from outperform.inference.summary import finding_facts
from outperform.results.comparison import Comparison
from outperform.results.schemas import ComparisonFacts


def rope_positions(
    comparison: Comparison, facts: ComparisonFacts, *, most: int
) -> tuple[list[Rope], int]:
    """Return ROPEs from narrow to wide, at most about ``most``, and where the chosen one is.

    They run over half-widths, or over multiples of a ROPE that is not symmetric, in steps of
    1, 2 or 5 times a power of ten, with the chosen one among them as it is.
    """
    rope = comparison.rope
    low, high, here = (-1.0, 1.0, rope.high) if rope.symmetric else (rope.low, rope.high, 1.0)
    stop = min(widest_rope(facts), _widest(comparison, max(abs(low), abs(high))))
    step = _round_step(max(stop, here) / most)
    widths = [float(step * k) for k in range(floor(Decimal(stop) / step) + 1)]
    others = [width for width in widths if abs(width - here) > 1e-9 * here]
    ropes = {width: Rope(low=low * width, high=high * width) for width in others} | {here: rope}
    ordered = sorted(ropes)
    return [ropes[width] for width in ordered], ordered.index(here)


def _widest(comparison: Comparison, unit: float) -> float:
    """Return the greatest multiple that is no wider than any difference of the metric."""
    bounds = comparison.spec.metric.bounds
    return float("inf") if bounds is None or unit == 0 else (bounds[1] - bounds[0]) / unit


def _round_step(least: float) -> Decimal:
    power = floor(log10(least))
    for digit in (1, 2, 5):
        step = digit * Decimal(10) ** power
        if step >= Decimal(repr(least)):
            return step
    return Decimal(10) ** ceil(log10(least))


SHARES = ("worse", "equivalent", "better")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is said for one ROPE."""

    rope: str
    low: float
    high: float
    symbol: str
    decision: str
    words: str
    sentence: str
    percentages: tuple[str, str, str]  # worse, equivalent, better
    masses: tuple[float, float, float]
    findings: tuple[tuple[str, str, str], ...]  # level, message, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """All answers, from the narrowest ROPE to the widest, and the place of the chosen one."""

    answers: tuple[Answer, ...]
    chosen: int

    @property
    def now(self) -> Answer:
        """The answer for the chosen ROPE."""
        return self.answers[self.chosen]

    def packed(self) -> dict[str, Any]:
        """Return the answers as columns, with texts that repeat kept once.

        A sentence is what stands before and after its ROPE, because that is what changes.
        """
        parts = [_around(one.sentence, one.rope) for one in self.answers]
        sentences, say = _pool(parts)
        findings, _ = _pool(finding for one in self.answers for finding in one.findings)
        place = {finding: k for k, finding in enumerate(findings)}
        decisions, decision = _pool((one.symbol, one.decision, one.words) for one in self.answers)
        return {
            "chosen": self.chosen,
            "rope": [one.rope for one in self.answers],
            "ends": [[one.low, one.high] for one in self.answers],
            "decisions": decisions,
            "decision": decision,
            "percentages": [one.percentages for one in self.answers],
            "masses": [[round(mass, 4) for mass in one.masses] for one in self.answers],
            "sentences": sentences,
            "sentence": say,
            "findings": findings,
            "found": [[place[finding] for finding in one.findings] for one in self.answers],
        }


def answer_everywhere(comparison: Comparison, facts: ComparisonFacts, *, most: int) -> Live:
    """Ask a comparison again for every place of the slider."""
    ropes, chosen = rope_positions(comparison, facts, most=most)
    quick = _remembering(comparison)
    answers = [
        _answer(comparison if place == chosen else quick.with_rope(rope), facts)
        for place, rope in enumerate(ropes)
    ]
    return Live(answers=tuple(answers), chosen=chosen)


def _answer(comparison: Comparison, base: Facts) -> Answer:
    rope, decision = comparison.rope, comparison.decision
    masses = comparison.p_worse, comparison.p_equivalent, comparison.p_better
    facts = {
        **base,
        "rope": {"low": rope.low, "high": rope.high, "default": rope.default},
        "decision": {"name": decision.name, "symbol": decision.symbol, "words": decision.words},
        "findings": finding_facts(comparison.findings),
        **{f"p_{word}": mass for word, mass in zip(SHARES, masses, strict=True)},
    }
    worse, equivalent, better = (read.probability(facts, f"p_{word}") for word in SHARES)
    return Answer(
        rope=numbers.rope(rope.low, rope.high),
        low=rope.low,
        high=rope.high,
        symbol=decision.symbol,
        decision=decision.name.lower().replace("_", "-"),
        words=decision.words,
        sentence=headline(facts),
        percentages=(worse, equivalent, better),
        masses=masses,
        findings=tuple(read.findings(facts)),
    )


def _around(sentence: str, rope: str) -> tuple[str, str]:
    before, here, after = sentence.rpartition(f"ROPE {rope}")
    return before + here.removesuffix(rope), after


def _pool(texts: Iterable[object]) -> tuple[list[Any], list[int]]:
    """Return the different texts in the order of their first use, and which one each is."""
    places: dict[Any, int] = {}
    used = [places.setdefault(text, len(places)) for text in texts]
    return list(places), used


class _Remembered:
    """A distribution that works out no value twice; it stays the same under every ROPE."""

    def __init__(self, distribution: Distribution) -> None:
        self._inner = distribution
        self._known: dict[str, Callable[[float], float]] = {
            name: cache(getattr(distribution, name)) for name in ("cdf", "sf", "pdf", "quantile")
        }

    def __getattr__(self, name: str) -> Any:
        return self._known.get(name) or getattr(self._inner, name)


def _remembering(comparison: Comparison) -> Comparison:
    """Return the same comparison, which answers with_rope faster."""
    return replace(
        comparison,
        distribution=_remembered(comparison.distribution),
        a=replace(comparison.a, distribution=_remembered(comparison.a.distribution)),
        b=replace(comparison.b, distribution=_remembered(comparison.b.distribution)),
    )


def _remembered(distribution: Distribution | None) -> Any:
    return None if distribution is None else _Remembered(distribution)
