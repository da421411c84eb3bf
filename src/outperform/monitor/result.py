"""One look, and when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias, get_args

from outperform._json import MaybeNaN, Plain, written
from outperform.comparison.result import Comparison
from outperform.data.sources import GATED
from outperform.decision.bayes_factor import BayesFactor
from outperform.decision.rope import Decision
from outperform.errors import UsageError, either, param, unknown_name
from outperform.gates.rule import Judgement, judge, withheld
from outperform.inference.summary import Summary

Rule = Literal["width", "decision", "bayes_factor"]
StopLike: TypeAlias = "Rule | tuple[Rule, float] | Stop"
_OF_ROPE = 0.8  # an interval of that share of the ROPE can lie inside it
_STRONG = 10.0


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """When a monitored experiment may stop.

    A look whose decision is withheld by a serious finding never stops it.

    Parameters
    ----------
    rule
        ``"width"``: the HDI is at most so wide. ``"decision"``: the decision is ≫, ≈ or ≪.
        ``"bayes_factor"``: BF10 or BF01 is at least so large.
    at
        How wide, or how large; by default 0.8 of the ROPE's width, and 10. A decision takes none.

    Examples
    --------
    >>> Stop.from_param(("width", 0.02))
    Stop(rule='width', at=0.02)
    >>> Stop.from_param("decision")
    Stop(rule='decision', at=None)
    """

    rule: Rule
    at: float | None = None

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise UsageError(unknown_name("rule to stop by", self.rule, get_args(Rule)))
        if self.at is None:
            return
        least = {"width": 0.0, "bayes_factor": 1.0}.get(self.rule)
        if least is None:
            raise UsageError(f"the rule 'decision' takes no number; leave {self.at!r} out")
        if not isinstance(self.at, Real) or not least < self.at < math.inf:
            what = self.rule.replace("_", " ")
            raise UsageError(f"a {what} to stop at must be above {least:g}; got {self.at!r}")

    @classmethod
    def from_param(cls, stop: StopLike | None) -> Stop | None:
        """Return a rule from its name, from a pair of name and number, or None from None.

        Parameters
        ----------
        stop
            The rule.
        """
        if stop is None or isinstance(stop, cls):
            return stop
        if isinstance(stop, str):
            return cls(rule=stop)
        if isinstance(stop, (tuple, list)) and len(stop) == 2:
            return cls(rule=stop[0], at=stop[1])
        raise UsageError(
            f"stop must be one of {', '.join(get_args(Rule))}, a pair such as ('width', 0.02), or "
            f"None; got {stop!r}"
        )

    def threshold(self, comparison: Comparison) -> float | None:
        """Return how wide or how large, the default where none was given.

        Parameters
        ----------
        comparison
            Whose ROPE gives the default.
        """
        if self.at is not None or self.rule == "decision":
            return self.at
        if self.rule == "bayes_factor":
            return _STRONG
        if not comparison.rope.width:
            raise UsageError(
                f"a width to stop at is {_OF_ROPE} of the ROPE's by default, and the ROPE is "
                f"{comparison.rope}; give one, such as "
                + either("('width', 0.02)", param("stop=", "width=0.02"))
            )
        return _OF_ROPE * comparison.rope.width

    def holds(self, comparison: Comparison) -> bool:
        """Return whether the rule holds of a comparison.

        Parameters
        ----------
        comparison
            A − B on all items so far.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01)
        >>> op.results.Stop(rule="decision").holds(c)
        True
        >>> op.results.Stop(rule="width", at=0.1).holds(c)
        False
        """
        if withheld(comparison):
            return False
        if self.rule == "decision":
            return comparison.decision.decided
        at = self.threshold(comparison)
        assert at is not None
        if self.rule == "width":
            return comparison.hdi.width <= at
        factor = comparison.bayes_factor
        if factor is None:
            raise UsageError(
                "there is no Bayes factor to stop by: it needs a ROPE of some width and a "
                f"proper prior, and the ROPE is {comparison.rope}, the prior "
                f"{comparison.spec.prior.name!r}"
            )
        return abs(factor.log_bf01) >= math.log(at)


@written(
    "number key n mean sd p_worse p_equivalent p_better observed hdi width=hdi.width decision "
    "bayes_factor judgement=judgement.value holds"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Summary, Plain):
    """What a comparison said after a batch; the comparison itself is ``monitor.at(number)``.

    See :class:`Summary`.

    Parameters
    ----------
    number
        How many batches there were.
    key
        The last of them.
    n
        How many items there were.
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
        The decision.
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
    observed: MaybeNaN
    p_worse: float
    p_equivalent: float
    p_better: float
    decision: Decision
    bayes_factor: BayesFactor | None
    judgement: Judgement
    holds: bool


def look_at(comparison: Comparison, *, number: int, key: str, stop: Stop | None) -> Look:
    """Note what a comparison says, without its draws."""
    names = ("n", "observed", "decision", "bayes_factor")
    shares = ("p_worse", "p_equivalent", "p_better")
    withheld = any(one.name in GATED for one in comparison.findings)
    return Look(
        number=number,
        key=key,
        **comparison._fields(),
        **{name: getattr(comparison, name) for name in (*names, *shares)},
        judgement=Judgement.UNDECIDED if withheld else judge(comparison),
        holds=stop is not None and stop.holds(comparison),
    )
