"""``Look``: one interim analysis. ``Stop``: a stopping rule."""

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
from outperform.gates.rule import GateStatus, judge, withheld
from outperform.inference.processes import AnyLook, Selection
from outperform.inference.summary import Summary

Rule = Literal["width", "decision", "bayes_factor", "anytime"]
StopLike: TypeAlias = "Rule | tuple[Rule, float] | Stop"
# An interval whose width is this share of the ROPE's width fits inside the ROPE.
_SHARE_OF_ROPE = 0.8
_STRONG = 10.0
_BY_DECISION = ("decision", "anytime")


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Stopping rule of a monitor.

    A look whose decision is withheld by a serious finding never stops it.

    Parameters
    ----------
    rule
        ``"width"``: the HDI is at most ``at`` wide. ``"decision"``: the decision is ≫, ≈ or ≪.
        ``"bayes_factor"``: BF10 or BF01 is at least ``at``. ``"anytime"``: the decision is ≫, ≈ or
        ≪ by an interval that is valid at every look.
    at
        Threshold. Default: 0.8 of the ROPE's width, or a Bayes factor of 10. Not used by
        ``"decision"`` and ``"anytime"``.

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
            raise UsageError(unknown_name("stopping rule", self.rule, get_args(Rule)))
        if self.at is None:
            return
        least = {"width": 0.0, "bayes_factor": 1.0}.get(self.rule)
        if least is None:
            raise UsageError(f"the rule {self.rule!r} takes no number; remove {self.at!r}")
        if not isinstance(self.at, Real) or not least < self.at < math.inf:
            what = self.rule.replace("_", " ")
            raise UsageError(f"the {what} to stop at must be above {least:g}; got {self.at!r}")

    @classmethod
    def from_param(cls, stop: StopLike | None) -> Stop | None:
        """Return a rule from its name, or from a pair of name and number; None stays None.

        Parameters
        ----------
        stop
            Stopping rule.
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
        """Return the threshold of the rule, or its default.

        Parameters
        ----------
        comparison
            Comparison whose ROPE determines the default.
        """
        if self.at is not None or self.rule in _BY_DECISION:
            return self.at
        if self.rule == "bayes_factor":
            return _STRONG
        if not comparison.rope.width:
            raise UsageError(
                f"the default stopping width is {_SHARE_OF_ROPE} of the ROPE's width, but the "
                f"ROPE is {comparison.rope}; set a width such as "
                + either("('width', 0.02)", param("stop=", "width=0.02"))
            )
        return _SHARE_OF_ROPE * comparison.rope.width

    def holds(self, comparison: Comparison) -> bool:
        """Return whether a comparison meets the rule.

        Parameters
        ----------
        comparison
            Comparison of A and B on all items so far.

        Examples
        --------
        >>> import outperform as op
        >>> right = {"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40}
        >>> c = op.compare(op.Outcomes.from_correct(right), "a", "b", metric="accuracy", rope=0.01)
        >>> op.results.Stop(rule="decision").holds(c)
        True
        >>> op.results.Stop(rule="width", at=0.1).holds(c)
        False
        """
        if withheld(comparison):
            return False
        if self.rule in _BY_DECISION:
            return comparison.decision.decided
        at = self.threshold(comparison)
        assert at is not None
        if self.rule == "width":
            return comparison.hdi.width <= at
        factor = comparison.bayes_factor
        if factor is None:
            raise UsageError(
                "a Bayes factor needs a ROPE wider than 0 and a proper prior; the ROPE is "
                f"{comparison.rope} and the prior is {comparison.spec.prior.name!r}"
            )
        return abs(factor.log_bf01) >= math.log(at)


@written(
    "number key n mean sd p_worse p_equivalent p_better observed hdi width=hdi.width decision "
    "bayes_factor selection? any_look? status=status.value holds"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Look(Summary, Plain):
    """Summary of the comparison after a batch, which is ``monitor.at(number)``.

    See :class:`Summary`.

    Parameters
    ----------
    number
        Number of batches so far.
    key
        Key of the last batch.
    n
        Number of items so far.
    observed
        Plug-in difference; NaN if it is undefined.
    mean, sd
        Mean and sd of A − B.
    hdi
        Highest density interval of A − B.
    p_worse, p_equivalent, p_better
        Probabilities that A is worse than B by more than the ROPE, that the difference lies in the
        ROPE, and that A is better by more than the ROPE.
    decision
        Decision of the comparison.
    bayes_factor
        Bayes factor of the interval null, if there is one.
    selection, any_look
        As in the comparison: what the interval accounts for.
    status
        Status of a gate: can A replace B?
    holds
        Whether the look meets the stopping rule.
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
    selection: Selection | None
    any_look: AnyLook | None
    status: GateStatus
    holds: bool


def look_at(comparison: Comparison, *, number: int, key: str, stop: Stop | None) -> Look:
    """Return the look of a comparison, without its draws."""
    names = ("n", "observed", "decision", "bayes_factor", "selection", "any_look")
    shares = ("p_worse", "p_equivalent", "p_better")
    withheld = any(finding.name in GATED for finding in comparison.findings)
    return Look(
        number=number,
        key=key,
        **comparison._fields(),
        **{name: getattr(comparison, name) for name in (*names, *shares)},
        status=GateStatus.UNDECIDED if withheld else judge(comparison),
        holds=stop is not None and stop.holds(comparison),
    )
