"""One look: what all documents so far said after one more batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform.comparison.factors import factor_facts
from outperform.comparison.judging import Judgement, judge
from outperform.comparison.result import Comparison
from outperform.comparison.summary import interval_facts
from outperform.decision import BayesFactor, Decision, Interval
from outperform.monitor.stopping import Stop
from outperform.outcomes.sources import DOUBLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a comparison said after a batch; the comparison itself is ``monitor.at(number)``.

    Parameters
    ----------
    number
        How many batches there were.
    key
        The last of them.
    n
        How many documents there were.
    observed
        The plug-in difference; NaN where it is undefined.
    mean, sd
        Of A − B.
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probability that A is worse than B by more than the ROPE, that the difference lies
        in it, and that A is better by more.
    decision
        The verdict.
    bayes_factor
        Of the interval null, where it exists.
    judgement
        What a gate would say: may A replace B?
    holds
        Whether the rule to stop by holds.
    """

    number: int
    key: str
    n: int
    observed: float
    mean: float
    sd: float
    hdi: Interval
    p_worse: float
    p_equivalent: float
    p_better: float
    decision: Decision
    bayes_factor: BayesFactor | None
    judgement: Judgement
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("number", "key", "n", "mean", "sd", "p_worse", "p_equivalent", "p_better")
        return {
            **{name: getattr(self, name) for name in names},
            "observed": None if np.isnan(self.observed) else self.observed,
            "hdi": interval_facts(self.hdi),
            "width": self.hdi.width,
            "decision": {
                "name": self.decision.name,
                "symbol": self.decision.symbol,
                "words": self.decision.words,
            },
            "bayes_factor": factor_facts(self.bayes_factor),
            "judgement": self.judgement.value,
            "holds": self.holds,
        }


def look_at(comparison: Comparison, *, number: int, key: str, stop: Stop | None) -> Look:
    """Note what a comparison says, without its draws."""
    names = ("n", "observed", "mean", "sd", "hdi", "decision", "bayes_factor")
    shares = ("p_worse", "p_equivalent", "p_better")
    doubled = any(one.name in DOUBLED for one in comparison.findings)  # no gate passes with these
    return Look(
        number=number,
        key=key,
        **{name: getattr(comparison, name) for name in (*names, *shares)},
        judgement=Judgement.UNDECIDED if doubled else judge(comparison),
        holds=stop is not None and stop.holds(comparison),
    )
