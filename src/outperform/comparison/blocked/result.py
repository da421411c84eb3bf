"""Results of blocked cross-validation: a comparison and an estimate that know their folds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison import engine
from outperform.comparison.blocked.correlation import Correlation
from outperform.comparison.blocked.folds import Folds
from outperform.comparison.blocked.stability import stability_findings
from outperform.comparison.estimating import Estimate
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked, counted
from outperform.decision import CurveStep, Decision, Rope
from outperform.findings import Finding

_WITHHELD = {Decision.BETTER: Decision.LEANING_BETTER, Decision.WORSE: Decision.LEANING_WORSE}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class BlockedComparison(Comparison):
    """A comparison by m×2 blocked cross-validation; see :class:`Comparison`.

    Parameters
    ----------
    folds
        What was counted in each fold.
    correlation
        How the correlation of the folds was treated.
    """

    verb: ClassVar[str] = "bcv_compare"

    folds: Folds
    correlation: Correlation

    @property
    def p_h0(self) -> float:
        """The probability that B is no better than A, the paper's H₀."""
        return self.masses.greater

    @property
    def p_h1(self) -> float:
        """The probability that B is better than A, the paper's H₁."""
        if self.distribution is not None:
            return self.distribution.cdf(0.0)
        return 1.0 - self.masses.greater

    @property
    def accepted(self) -> str:
        """What the paper's rule accepts: the likelier of ``"H0"`` and ``"H1"``."""
        return "H1" if self.p_h1 > self.p_h0 else "H0"

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the verdict for every half-width of the ROPE."""
        steps = Comparison.rope_curve(self)
        if not _unstable(self.findings):
            return steps
        found: list[CurveStep] = []
        for step in steps:
            decision = _WITHHELD.get(step.decision, step.decision)
            if found and found[-1].decision is decision:
                found[-1] = replace(found[-1], stop=step.stop)
            else:
                found.append(replace(step, decision=decision))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return {
            **Comparison.to_dict(self),
            "p_h0": self.p_h0,
            "p_h1": self.p_h1,
            "accepted": self.accepted,
            "folds": fold_facts(self.folds, self.correlation),
        }

    def _conclude(
        self,
        question: Asked,
        answered: engine.Answer,
        rope: Rope,
        seed: np.random.SeedSequence,
    ) -> Comparison:
        # What the folds leave to doubt does not depend on the metric.
        same = replace(question, findings=self.question.findings)
        plain = Comparison._conclude(self, same, answered, rope, seed)
        return blocked(plain, self.folds, self.correlation)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class BlockedEstimate(Estimate):
    """One model's metric by m×2 blocked cross-validation; see :class:`Estimate`.

    Parameters
    ----------
    folds
        What was counted in each fold.
    correlation
        How the correlation of the folds was treated.
    """

    folds: Folds
    correlation: Correlation

    def pdf(self, t: Any) -> FloatArray:
        """Return the posterior density at each value.

        Parameters
        ----------
        t
            A value or an array of them.
        """
        return _at_each(self, "pdf", t)

    def cdf(self, t: Any) -> FloatArray:
        """Return the posterior probability of at most each value.

        Parameters
        ----------
        t
            A value or an array of them.
        """
        return _at_each(self, "cdf", t)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return {**Estimate.to_dict(self), "folds": fold_facts(self.folds, self.correlation)}


def blocked(plain: Comparison, folds: Folds, correlation: Correlation) -> BlockedComparison:
    """Add the folds to a comparison, and withhold ≫ and ≪ where they spread too much."""
    doubts = stability_findings(counted(plain.question), folds, correlation)
    decision = plain.decision
    if _unstable(doubts):
        decision = _WITHHELD.get(decision, decision)
    return BlockedComparison(
        **{
            **{field.name: getattr(plain, field.name) for field in fields(Comparison)},
            "decision": decision,
            "findings": (*doubts, *plain.findings, _COIN_TOSS),
        },
        folds=folds,
        correlation=correlation,
    )


def blocked_estimate(plain: Estimate, folds: Folds, correlation: Correlation) -> BlockedEstimate:
    """Add the folds to an estimate."""
    doubts = stability_findings(counted(plain.question), folds, correlation)
    return BlockedEstimate(
        **{
            **{field.name: getattr(plain, field.name) for field in fields(Estimate)},
            "findings": (*doubts, *plain.findings),
        },
        folds=folds,
        correlation=correlation,
    )


def _unstable(findings: tuple[Finding, ...]) -> bool:
    return any(finding.name == "unstable_learner" for finding in findings)


_COIN_TOSS = Finding(
    "likelier_hypothesis",
    "note",
    "The paper's rule accepts the likelier of H0 and H1; for two equal models that is the toss of "
    "a coin. The verdict is the one of interval and ROPE.",
)


def fold_facts(folds: Folds, correlation: Correlation) -> dict[str, Any]:
    """Return the design of the folds as plain values."""
    return {"m": folds.m, "correlation": str(correlation), "worth": correlation.worth(folds.m)}


def _at_each(estimate: Estimate, function: str, t: Any) -> FloatArray:
    evaluate = np.vectorize(getattr(estimate.distribution, function), otypes=[np.float64])
    values: FloatArray = evaluate(np.asarray(t, dtype=np.float64))[()]
    return values
