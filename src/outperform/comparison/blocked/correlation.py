"""How much the folds repeat each other: what one counted document is worth.

Over the 2m folds of m×2 blocked cross-validation every document is counted m
times. With correlation ρ₁ between the two folds of a repetition and ρ₂ between
folds of different repetitions, the variance of the pooled estimate is that of
``w · (sum over all folds)`` independent documents with

    w = 1 / (1 + ρ₁ + 2 (m − 1) ρ₂).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from outperform.comparison.question import Counting, Scale
from outperform.errors import UsageError, unknown_name

# What Wang et al. (2014, 2017) found: 0 ≤ ρ₁ ≤ 1/2 and 1/4 ≤ ρ₂ ≤ 1/2.
_RHO1 = (0.0, 0.5)
_RHO2 = (0.25, 0.5)
_NODES = 5

_NAMES = ("averaged", "integrated", "full")


@dataclass(frozen=True, slots=True)
class Correlation:
    """A treatment of the correlation between folds, as a value.

    Parameters
    ----------
    name
        ``"averaged"``, the paper's: w averaged over ρ₁ ~ U(0, ½), ρ₂ ~ U(¼, ½);
        ``"integrated"``: the posterior averaged over them instead, a mixture;
        ``"full"``: ρ₁ = ρ₂ = 1, w = 1/2m; ``"fixed"``: see :meth:`fixed`.
    rho1, rho2
        The correlations of ``"fixed"``.

    Examples
    --------
    >>> import outperform as op
    >>> print(round(op.Correlation("averaged").worth(3), 6))
    0.368802
    >>> op.Correlation.fixed(0.2, 0.4)
    Correlation.fixed(0.2, 0.4)
    """

    name: str = "averaged"
    rho1: float | None = None
    rho2: float | None = None

    def __post_init__(self) -> None:
        if self.name not in (*_NAMES, "fixed"):
            raise UsageError(unknown_name("correlation", self.name, (*_NAMES, "fixed")))
        known = [rho for rho in (self.rho1, self.rho2) if rho is not None]
        if len(known) != (2 if self.name == "fixed" else 0):
            raise UsageError(
                "only the correlation 'fixed' takes rho1 and rho2, and it needs both; "
                "e.g. Correlation.fixed(0.2, 0.4)"
            )
        if not all(isinstance(rho, Real) and 0.0 <= rho <= 1.0 for rho in known):
            raise UsageError(f"correlations lie between 0 and 1; got {self.rho1!r}, {self.rho2!r}")

    @classmethod
    def fixed(cls, rho1: float, rho2: float) -> Correlation:
        """Take both correlations as known.

        Parameters
        ----------
        rho1
            Between the two folds of one repetition.
        rho2
            Between folds of different repetitions.
        """
        return cls("fixed", rho1, rho2)

    @classmethod
    def from_param(cls, correlation: Any) -> Correlation:
        """Take a name, a pair of correlations or a treatment.

        Parameters
        ----------
        correlation
            ``"averaged"``, ``"integrated"``, ``"full"``, ``(rho1, rho2)`` or a treatment.
        """
        if isinstance(correlation, Correlation):
            return correlation
        if isinstance(correlation, str):
            return cls(correlation)
        if isinstance(correlation, (tuple, list)) and len(correlation) == 2:
            return cls.fixed(*correlation)
        raise UsageError(
            f"correlation must be one of {', '.join(map(repr, _NAMES))}, or a pair (rho1, rho2); "
            f"got {correlation!r}"
        )

    def counting(self, m: int) -> Counting:
        """Return how often each document is counted, and what each count is worth.

        Parameters
        ----------
        m
            The number of repetitions of two-fold cross-validation.
        """
        one = (Scale(factor=self.worth(m), share=1.0),)
        return Counting(times=int(m), scales=_integrated(m) if self.name == "integrated" else one)

    def worth(self, m: int) -> float:
        """Return what one counted document is worth, on average.

        Parameters
        ----------
        m
            The number of repetitions of two-fold cross-validation.
        """
        if not isinstance(m, (int, np.integer)) or isinstance(m, bool) or m < 1:
            raise UsageError(f"m must be a whole number of repetitions, 1 or more; got {m!r}")
        if self.name == "full":
            return 1.0 / (2 * m)
        if self.rho1 is not None and self.rho2 is not None:
            return 1.0 / (1.0 + self.rho1 + 2 * (m - 1) * self.rho2)
        return _averaged(m)

    def __repr__(self) -> str:
        fixed = f".fixed({self.rho1:g}, {self.rho2:g})" if self.name == "fixed" else None
        return f"Correlation{fixed or f'({self.name!r})'}"

    def __str__(self) -> str:
        return f"fixed({self.rho1:g}, {self.rho2:g})" if self.name == "fixed" else self.name


def _averaged(m: int) -> float:
    """Return E[1/(1 + ρ₁ + c ρ₂)], c = 2(m − 1), in closed form: ∫ln is x ln x − x."""
    c = 2.0 * (m - 1)
    if m == 1:
        return 2.0 * math.log(1.5)
    corners = (
        (sign_1 * sign_2) * (x := 1.0 + rho1 + c * rho2) * math.log(x)
        for rho1, sign_1 in zip(_RHO1, (-1, 1), strict=True)
        for rho2, sign_2 in zip(_RHO2, (-1, 1), strict=True)
    )
    return 8.0 / c * math.fsum(corners)


def _integrated(m: int) -> tuple[Scale, ...]:
    """Return Gauss–Legendre nodes over both correlations, which miss w by less than 1e-9."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = [
        [(low + high + (high - low) * node) / 2 for node in nodes] for low, high in (_RHO1, _RHO2)
    ]
    rho2_nodes = list(zip(places[1], weights / 2, strict=True)) if m > 1 else [(0.0, 1.0)]
    return tuple(
        Scale(factor=float(1.0 / (1.0 + rho1 + 2 * (m - 1) * rho2)), share=float(share_1 * share_2))
        for rho1, share_1 in zip(places[0], weights / 2, strict=True)
        for rho2, share_2 in rho2_nodes
    )
