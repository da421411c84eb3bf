"""Bayes factors with their kind, direction and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from outperform._json import written
from outperform._typing import Distribution, FloatArray
from outperform.decision.rope import probability_error
from outperform.errors import UndefinedBayesFactorError
from outperform.findings import Finding, finding

Findings = tuple[Finding, ...]

# A mass or density below this may have lost digits, or all of its value, to underflow.
_SMALLEST = 1e-300

# A factor within this many Monte Carlo errors of 1 favours neither hypothesis.
_CLEAR_ERRORS = 2.0

KDE_FINDING = finding("kde_bayes_factor")


@written("bf01 log10_bf10 kind method bound mcse")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BayesFactor:
    """Evidence for the null over the alternative (bf01) or vice versa (bf10).

    Parameters
    ----------
    log_bf01
        Natural logarithm of the factor in favour of the null.
    kind
        ``"interval"``: the difference lies in the ROPE; ``"point"``: it is exactly zero.
    method
        ``"exact"``, ``"draws"`` or ``"kde"``.
    bound
        ``"upper"`` or ``"lower"`` if all that is known is that bf01 is below or above the value.
    mcse
        Monte Carlo standard error of ``log_bf01``.
    findings
        Findings about the factor.

    Examples
    --------
    >>> bf = BayesFactor(log_bf01=0.0, kind="interval", method="exact")
    >>> bf.bf01, bf.bf10, bf.log10_bf10
    (1.0, 1.0, 0.0)
    >>> print(BayesFactor(log_bf01=-2.526, kind="interval", method="draws"))
    BF10 = 12.5 (interval null, from draws)
    """

    log_bf01: float
    kind: Literal["interval", "point"]
    method: Literal["exact", "draws", "kde"]
    bound: Literal["upper", "lower"] | None = None
    mcse: float = 0.0
    findings: Findings = ()

    @property
    def bf01(self) -> float:
        """Factor in favour of the null."""
        return _exp(self.log_bf01)

    @property
    def bf10(self) -> float:
        """Factor in favour of the alternative."""
        return _exp(-self.log_bf01)

    @property
    def log10_bf10(self) -> float:
        """Decimal logarithm of the factor in favour of the alternative."""
        return -self.log_bf01 / math.log(10) + 0.0

    def __str__(self) -> str:
        name = "BF01" if self.log_bf01 >= 0 else "BF10"
        relation = "="
        if self.bound is not None:
            relation = ">" if (self.bound == "lower") is (name == "BF01") else "<"
        value = _power_of_ten(abs(self.log_bf01) / math.log(10), relation)
        return f"{name} {relation} {value} ({self.kind} null, {_FROM[self.method]})"

    def __repr__(self) -> str:
        return f"BayesFactor({self})"


_FROM = {"exact": "exact", "draws": "from draws", "kde": "from a kernel density"}


def _power_of_ten(size: float, relation: str) -> str:
    """Format 10**size with three digits; bounds are rounded to the safe side."""
    if not math.isfinite(size):
        return "infinity" if size > 0 else "undefined"
    exponent = math.floor(size)
    if exponent >= 300:
        return f"1e+{exponent + (relation == '<')}"
    hundreds = 100 * 10 ** (size - exponent)
    # Rounding the logarithm must not push a bound to the next digit.
    digits = {
        "=": round(hundreds),
        ">": math.floor(hundreds + 1e-7),
        "<": math.ceil(hundreds - 1e-7),
    }[relation]
    return f"{float(f'{digits}e{exponent - 2}'):.3g}"


def _exp(value: float) -> float:
    return math.exp(value) if value < 709 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """Mass inside and outside a ROPE; ``n_draws`` is None if it is exact."""

    inside: float
    outside: float
    n_draws: int | None = None


def interval_null(posterior: Inside, prior: Inside) -> BayesFactor | None:
    """Return the ratio of the ROPE's posterior to its prior odds; None if the prior rules it out.

    Odds that the draws cannot resolve become a bound at three draws. Exact odds beyond the range of
    floats become a bound at 10⁻³⁰⁰.

    Examples
    --------
    >>> interval_null(Inside(inside=0.5, outside=0.5), Inside(inside=0.2, outside=0.8)).bf01
    4.0
    """
    if min(prior.inside, prior.outside) <= 0:
        return None
    bound: Literal["upper", "lower"] | None = None
    inside, outside = posterior.inside, posterior.outside
    least = _SMALLEST if posterior.n_draws is None else 3 / posterior.n_draws
    if inside <= 0:
        inside, outside, bound = least, 1 - least, "upper"
    elif outside <= 0:
        inside, outside, bound = 1 - least, least, "lower"
    sampled = posterior.n_draws is not None or prior.n_draws is not None
    log_bf01 = _log_odds(inside, outside) - _log_odds(prior.inside, prior.outside)
    mcse = math.hypot(_log_odds_error(posterior), _log_odds_error(prior))
    clear = bound is None and abs(log_bf01) > _CLEAR_ERRORS * mcse
    return BayesFactor(
        log_bf01=log_bf01,
        kind="interval",
        method="draws" if sampled else "exact",
        bound=bound,
        mcse=mcse,
        findings=_against_probability(posterior, prior) if clear else (),
    )


def _against_probability(posterior: Inside, prior: Inside) -> Findings:
    """Return a finding if a factor favours the less probable hypothesis."""
    before, after = prior.inside, posterior.inside
    if (after > before) is (after > 0.5):
        return ()
    return (
        finding(
            "bayes_factor_against_probability/equivalence"
            if after > before
            else "bayes_factor_against_probability/difference",
            before=100 * before,
            after=100 * after,
        ),
    )


def _log_odds(inside: float, outside: float) -> float:
    return math.log(inside) - math.log(outside)


def _log_odds_error(mass: Inside) -> float:
    if mass.n_draws is None:
        return 0.0
    # d log(p / (1 - p)) = dp / (p (1 - p)); half a draw keeps it finite.
    smoothed = (mass.inside * mass.n_draws + 0.5) / (mass.n_draws + 1)
    return probability_error(mass.inside, mass.n_draws) / (smoothed * (1 - smoothed))


def bayes_factor_point_null(
    posterior: Distribution | None, prior: Distribution | None
) -> BayesFactor:
    """Return the Savage–Dickey ratio of exact densities at zero."""
    if posterior is None or prior is None:
        raise UndefinedBayesFactorError(
            "this metric and model have no closed form for the density of the difference at zero; "
            "use the interval null, c.bayes_factor"
        )
    before, after = prior.pdf(0.0), posterior.pdf(0.0)
    if not (math.isfinite(before) and before > 0):
        raise UndefinedBayesFactorError(
            "the prior density of the difference at zero is not a positive number, so the point "
            "null has no Bayes factor; use the interval null, c.bayes_factor"
        )
    return _density_ratio(after, before, method="exact")


def point_null_kde(posterior: FloatArray, prior: FloatArray) -> BayesFactor:
    """Return the ratio of kernel density estimates at zero, as in the papers."""
    from scipy.stats import gaussian_kde

    densities = []
    for draws in (posterior, prior):
        if np.ptp(draws) == 0:
            raise UndefinedBayesFactorError(
                "all draws of the difference are equal, so there is no density to estimate; "
                "use the interval null, c.bayes_factor"
            )
        densities.append(float(gaussian_kde(draws)(0.0)[0]))
    after, before = densities
    return _density_ratio(after, before, method="kde", findings=(KDE_FINDING,))


def _density_ratio(
    after: float, before: float, *, method: Literal["exact", "kde"], findings: Findings = ()
) -> BayesFactor:
    return BayesFactor(
        log_bf01=math.log(max(after, _SMALLEST)) - math.log(max(before, _SMALLEST)),
        kind="point",
        method=method,
        bound="upper" if after < _SMALLEST else None,
        findings=findings,
    )
