"""Protocol of a comparison, for features that ``Comparison`` imports.

A feature such as ``c.more_data()`` is imported by the class ``Comparison``, so it uses this
protocol instead of the class.
"""

# ruff: noqa: D102 -- the class Comparison documents them.

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from outperform._json import Json, MaybeNaN
from outperform._typing import AnyArray, Distribution, FloatArray
from outperform.data.prevalence import LabelErrorsLike
from outperform.decision.bayes_factor import BayesFactor
from outperform.decision.intervals import Interval
from outperform.decision.ranks import Regret
from outperform.decision.rope import CurveStep, Decision, Rope, RopeLike
from outperform.findings import Finding
from outperform.inference.processes import AnyLook, Selection
from outperform.inference.spec import Spec
from outperform.posterior.pymc.sampling import Chain
from outperform.results.estimate import Estimate

if TYPE_CHECKING:
    from outperform.results.details import ComparisonDetails


class Compared(Protocol):
    """A spec of two models and its result; see :class:`Comparison`."""

    @property
    def spec(self) -> Spec: ...

    @property
    def a(self) -> Estimate: ...

    @property
    def b(self) -> Estimate: ...

    @property
    def names(self) -> tuple[str, str]: ...

    @property
    def metric(self) -> str: ...

    @property
    def n(self) -> int: ...

    @property
    def observed(self) -> MaybeNaN: ...

    @property
    def mean(self) -> float: ...

    @property
    def sd(self) -> float: ...

    @property
    def mcse(self) -> float: ...

    @property
    def hdi(self) -> Interval: ...

    @property
    def eti(self) -> Interval: ...

    @property
    def rope(self) -> Rope: ...

    @property
    def decision(self) -> Decision: ...

    @property
    def p_worse(self) -> float: ...

    @property
    def p_equivalent(self) -> float: ...

    @property
    def p_better(self) -> float: ...

    @property
    def p_greater(self) -> float: ...

    @property
    def regret(self) -> Regret: ...

    @property
    def mc_errors(self) -> dict[str, float]: ...

    @property
    def bayes_factor(self) -> BayesFactor | None: ...

    @property
    def draws(self) -> FloatArray: ...

    @property
    def n_effective(self) -> float: ...

    @property
    def distribution(self) -> Distribution | None: ...

    @property
    def exact(self) -> bool: ...

    @property
    def chain(self) -> Chain | None: ...

    @property
    def p_h0(self) -> float: ...

    @property
    def p_h1(self) -> float: ...

    @property
    def accepted(self) -> str: ...

    @property
    def findings(self) -> tuple[Finding, ...]: ...

    @property
    def signature(self) -> str: ...

    @property
    def seed(self) -> np.random.SeedSequence: ...

    @property
    def selection(self) -> Selection | None: ...

    @property
    def any_look(self) -> AnyLook | None: ...

    @property
    def details(self) -> ComparisonDetails | None: ...

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the decision for every half-width of the ROPE."""
        ...

    def confusions(self) -> tuple[AnyArray, AnyArray]:
        """Return the confusion matrices of A and B, with true classes as rows."""
        ...

    def to_dict(self) -> Json:
        """Return everything except the draws as plain values."""
        ...

    def with_rope(self, rope: RopeLike | None) -> Self:
        """Return the same comparison with another ROPE, without new draws."""
        ...

    def with_label_errors(self, rates: LabelErrorsLike | None) -> Self:
        """Return the same comparison, assuming that some gold labels are wrong."""
        ...

    def _ask(self, spec: Spec, *, rope: Rope, seed: np.random.SeedSequence) -> Self:
        """Return the comparison for another spec of the same data."""
        ...


Comparable = TypeVar("Comparable", bound=Compared)
"""The type of a comparison, and of what its methods return."""


def verb_of(details: ComparisonDetails | None) -> str:
    """Return the name of the function that makes comparisons of this kind."""
    return "compare" if details is None else details.verb
