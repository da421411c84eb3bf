"""What the page says for each place of the ROPE slider: worked out here, looked up there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from outperform import present
from outperform._typing import Distribution
from outperform.comparison import Comparison
from outperform.comparison.summary import finding_facts
from outperform.present import facts as read
from outperform.present import numbers
from outperform.present.facts import Facts
from outperform.report.positions import rope_positions

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
        verdicts, verdict = _pool((one.symbol, one.decision, one.words) for one in self.answers)
        return {
            "chosen": self.chosen,
            "rope": [one.rope for one in self.answers],
            "ends": [[one.low, one.high] for one in self.answers],
            "verdicts": verdicts,
            "verdict": verdict,
            "percentages": [one.percentages for one in self.answers],
            "masses": [[round(mass, 4) for mass in one.masses] for one in self.answers],
            "sentences": sentences,
            "sentence": say,
            "findings": findings,
            "doubts": [[place[finding] for finding in one.findings] for one in self.answers],
        }


def answer_everywhere(comparison: Comparison, facts: Facts, *, most: int) -> Live:
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
        sentence=present.headline(facts),
        percentages=(worse, equivalent, better),
        masses=masses,
        findings=tuple(read.findings(facts)),
    )


def _around(sentence: str, rope: str) -> tuple[str, str]:
    before, here, after = sentence.rpartition(f"ROPE {rope}")
    return before + here.removesuffix(rope), after


def _pool(texts: Iterable[Any]) -> tuple[list[Any], list[int]]:
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
