"""Folds of blocked cross-validation: the counts in each fold, and the folds' correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import TypeAlias

import numpy as np

from outperform._typing import AnyArray, FloatArray
from outperform.data.checks import code_of
from outperform.errors import UsageError, either, param, unknown_name
from outperform.inference.question import Counting, Scale
from outperform.inference.spec import LabelSpec, measure
from outperform.posterior.base import Sums
from outperform.posterior.influence import PlugIn

# Bounds of Wang et al. (2014, 2017): 0 ≤ ρ₁ ≤ 1/2 and 1/4 ≤ ρ₂ ≤ 1/2.
_RHO1 = (0.0, 0.5)
_RHO2 = (0.25, 0.5)
_NODES = 5

_NAMES = ("averaged", "integrated", "full")

CorrelationLike: TypeAlias = "str | tuple[float, float] | Correlation"


@dataclass(frozen=True, slots=True)
class Correlation:
    """A way to treat the correlation between folds.

    Parameters
    ----------
    name
        ``"averaged"``, as in the paper: w is averaged over ρ₁ ~ U(0, ½) and ρ₂ ~ U(¼, ½).
        ``"integrated"``: the posterior is averaged over them instead, which gives a mixture.
        ``"full"``: ρ₁ = ρ₂ = 1, so w = 1/2m. ``"fixed"``: see :meth:`fixed`.
    rho1, rho2
        Correlations for ``"fixed"``.

    Examples
    --------
    >>> import outperform as op
    >>> print(round(op.results.Correlation("averaged").worth(3), 6))
    0.368802
    >>> op.results.Correlation.fixed(0.2, 0.4)
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
                either(
                    "only the correlation 'fixed' takes rho1 and rho2, and it needs both; e.g. "
                    "Correlation.fixed(0.2, 0.4)",
                    f"{param('correlation=', 'fixed')} needs two numbers, which only the Python "
                    "interface accepts; use averaged, integrated or full",
                )
            )
        if not all(isinstance(rho, Real) and 0.0 <= rho <= 1.0 for rho in known):
            raise UsageError(
                f"correlations must be between 0 and 1; got {self.rho1!r}, {self.rho2!r}"
            )

    @classmethod
    def fixed(cls, rho1: float, rho2: float) -> Correlation:
        """Return a treatment with known correlations.

        Parameters
        ----------
        rho1
            Correlation between the two folds of a repetition.
        rho2
            Correlation between folds of different repetitions.
        """
        return cls("fixed", rho1, rho2)

    @classmethod
    def from_param(cls, correlation: CorrelationLike) -> Correlation:
        """Convert a name, a pair of correlations or a treatment.

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
        """Return how often each item is counted and the worth of each count.

        Parameters
        ----------
        m
            Number of repetitions of two-fold cross-validation.
        """
        single = (Scale(factor=self.worth(m), share=1.0),)
        return Counting(
            times=int(m), scales=_integrated(m) if self.name == "integrated" else single
        )

    def worth(self, m: int) -> float:
        """Return the average worth of a counted item.

        Parameters
        ----------
        m
            Number of repetitions of two-fold cross-validation.
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
    """Return E[1/(1 + ρ₁ + c ρ₂)] with c = 2(m − 1), in closed form: ∫ln x is x ln x − x."""
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
    """Return Gauss–Legendre nodes over both correlations, with an error of w below 1e-9."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    correlations = [
        [(low + high + (high - low) * node) / 2 for node in nodes] for low, high in (_RHO1, _RHO2)
    ]
    rho2_nodes = list(zip(correlations[1], weights / 2, strict=True)) if m > 1 else [(0.0, 1.0)]
    return tuple(
        Scale(factor=float(1.0 / (1.0 + rho1 + 2 * (m - 1) * rho2)), share=float(share_1 * share_2))
        for rho1, share_1 in zip(correlations[0], weights / 2, strict=True)
        for rho2, share_2 in rho2_nodes
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folds:
    """Hits, true counts and predicted counts of each model and class in each of the 2m folds.

    Parameters
    ----------
    hits, actual, predicted
        Counts of shape ``(n_models, n_classes, 2m)``; folds 2j and 2j + 1 are the two halves of
        repetition j.
    """

    hits: AnyArray
    actual: AnyArray
    predicted: AnyArray

    @property
    def m(self) -> int:
        """Number of repetitions."""
        return int(self.hits.shape[2]) // 2

    def values(self, spec: LabelSpec) -> FloatArray:
        """Return the metric of each model in each fold, ``(n_models, 2m)``."""
        return self._evaluate(spec, self._of_view(spec))

    def repetitions(self, spec: LabelSpec) -> FloatArray:
        """Return the metric of each model in each repetition, ``(n_models, m)``."""
        return self._evaluate(spec, [_pairs(counts) for counts in self._of_view(spec)])

    def repetition_counts(self, spec: LabelSpec) -> FloatArray:
        """Return tp, fp and fn of each repetition, ``(n_models, n_classes, 3, m)``."""
        hits, actual, predicted = (_pairs(counts) for counts in self._of_view(spec))
        return np.stack([hits, predicted - hits, actual - hits], axis=2).astype(np.float64)

    def triples(self, spec: LabelSpec) -> AnyArray | None:
        """Return tp, fp and fn, ``(n_models, 3, 2m)``, if the metric needs no more."""
        if not _of_one_class(spec):
            return None
        hits, actual, predicted = (counts[:, 0] for counts in self._of_view(spec))
        return np.stack([hits, predicted - hits, actual - hits], axis=1)

    @staticmethod
    def _evaluate(spec: LabelSpec, sums: list[AnyArray]) -> FloatArray:
        classes = None if _of_one_class(spec) else _classes(spec)
        evaluate = partial(_at, replace(spec, classes=classes))
        values = [PlugIn(np.concatenate(own), evaluate).observed for own in zip(*sums, strict=True)]
        return np.concatenate(values)

    def _of_view(self, spec: LabelSpec) -> list[AnyArray]:
        """Return the sums over the classes of the spec's view."""
        sums = [self.hits, self.actual, self.predicted]
        if not _of_one_class(spec):
            return sums
        kept = _positive_types(spec)
        return [counts[:, kept].sum(axis=1, keepdims=True) for counts in sums]


def _at(spec: LabelSpec, at: AnyArray) -> FloatArray:
    """Return a model's values at stacked hits, true counts and predicted counts of each class."""
    values = np.empty((1, at.shape[1]))
    measure([Sums(*np.split(at, 3))], [spec], values)
    return values


def _pairs(counts: AnyArray) -> AnyArray:
    """Add up the two folds of each repetition, on the last axis."""
    return np.asarray(counts[..., 0::2] + counts[..., 1::2])


SCORES_OF_COUNTS = ("precision", "recall", "fbeta", "jaccard")


def _of_one_class(spec: LabelSpec) -> bool:
    """Return whether the metric needs only tp, fp and fn."""
    return spec.positive is not None and spec.measured.score in SCORES_OF_COUNTS


def _classes(spec: LabelSpec) -> tuple[int, ...] | None:
    if spec.pos_label is None:
        return spec.classes
    return (code_of(spec.data, spec.pos_label),)


def _positive_types(spec: LabelSpec) -> list[int]:
    if spec.pos_label is not None:
        return [code_of(spec.data, spec.pos_label)]
    labels = spec.choices.labels or spec.data.labels
    return [code_of(spec.data, label) for label in labels]
