"""The best of many candidates: intervals and probabilities that account for the choice.

Candidate i differs from the baseline by d_i and is measured with error e_i. Whoever takes the
largest measured difference also takes a large error, so the interval of the chosen candidate, S, is
too high. Its two ends need different corrections.

*Lower end.* S is one of k, so P(e_S > c) ≤ P(max e_i > c), whatever the true values are; with
equality if all are equal. Hence c is the 1 − α/2 quantile of the largest of k standardized errors,
not of one.

*Upper end.* Let m be the truly best candidate. If S has the error e_S < −z and was still chosen
over m, then e_m ≤ e_S + d_S − d_m ≤ e_S < −z. So P(e_S < −z) ≤ P(e_m < −z) = α/2: the upper end
needs no correction.

Both hold for any dependence between the errors. If the candidates' joint draws are known, so is
the distribution of the largest error. If only k is known, the errors are treated as independent,
which is the worst case among errors that are positively correlated, as those on the same items are.
For a candidate that was chosen in another way, such as by another metric, the argument for the
upper end fails, since its error can be the smallest of all. Both ends then take the correction of
the lower one. So do the guards of a gate, whose main metric chose the candidate.

The interval decides. Nothing in it is shrunk toward the other candidates. A posterior that pools
them is narrower, but it contains the truth too rarely if the baseline differs from them, or if they
are few (`python -m verification winner`). It only gives the mean and the probabilities.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from outperform._typing import FloatArray
from outperform.decision.intervals import Interval, quantile_errors, quantiles


class Errors(NamedTuple):
    """Errors of k candidates: the size that the largest of them exceeds with some probability.

    ``largest`` and ``smallest`` are sorted draws of the extremes of the standardized errors; None
    if only k is known.
    """

    n: int
    largest: FloatArray | None = None
    smallest: FloatArray | None = None

    @classmethod
    def of_draws(cls, differences: FloatArray) -> Errors:
        """Return the errors of joint draws ``(n_candidates, n_draws)``.

        A draw minus its mean is distributed like an error with the opposite sign.

        Parameters
        ----------
        differences
            Draws of candidate − baseline, jointly for all candidates.
        """
        off = differences.mean(axis=1, keepdims=True) - differences
        spread = off.std(axis=1, keepdims=True)
        off = np.divide(off, spread, out=np.zeros_like(off), where=spread > 0)
        return cls(len(off), np.sort(off.max(axis=0)), np.sort(-off.min(axis=0)))

    def reach(self, prob: float) -> tuple[float, float]:
        """Return the prob-quantile of the largest error in standard errors, and its MC error.

        Parameters
        ----------
        prob
            Probability that the largest error is smaller.

        Examples
        --------
        >>> round(Errors(1).reach(0.975)[0], 2), round(Errors(20).reach(0.975)[0], 2)
        (1.96, 3.02)
        """
        return self._quantile(self.largest, prob)

    def reach_below(self, prob: float) -> tuple[float, float]:
        """Return the same for the smallest error, without its sign.

        Parameters
        ----------
        prob
            Probability that the smallest error is larger.
        """
        return self._quantile(self.smallest, prob)

    def _quantile(self, draws: FloatArray | None, prob: float) -> tuple[float, float]:
        if draws is None:
            return float(-ndtri(-math.expm1(math.log(prob) / self.n))), 0.0
        level = np.array([prob])
        return float(quantiles(draws[None], level)[0]), float(
            quantile_errors(draws[None], level)[0]
        )


def widened(eti: Interval, mean: float, errors: Errors, *, is_best: bool = True) -> Interval:
    """Return the interval of the chosen candidate's difference.

    Parameters
    ----------
    eti
        Equal-tailed interval if it had been the only candidate. Larger values are better.
    mean
        Its posterior mean.
    errors
        Errors of all candidates.
    is_best
        Whether it is the best of them in the data. Otherwise both ends are moved.

    Examples
    --------
    >>> one = Interval(low=-0.0196, high=0.0196, prob=0.95)
    >>> twenty = widened(one, 0.0, Errors(20))
    >>> round(twenty.low, 3), round(twenty.high, 3)
    (-0.03, 0.02)
    """
    level = (1 + eti.prob) / 2
    single = float(ndtri(level))

    def moved(end: float, mcse: float, reach: tuple[float, float]) -> tuple[float, float]:
        quantile, error = reach
        unit = (end - mean) / single
        return mean + unit * quantile, math.hypot(mcse * quantile / single, unit * error)

    low, mcse_low = moved(eti.low, eti.mcse_low, errors.reach(level))
    high, mcse_high = eti.high, eti.mcse_high
    if not is_best:
        high, mcse_high = moved(eti.high, eti.mcse_high, errors.reach_below(level))
    return replace(eti, low=low, high=high, mcse_low=mcse_low, mcse_high=mcse_high, kind="interval")


def shrunk(draws: FloatArray, n: int, uniform: FloatArray) -> FloatArray:
    """Return draws of the difference of the best of n candidates, if nothing else is known.

    The candidates' true values are normal with unknown centre μ, with a flat prior, and spread τ.
    Half of the variance of a difference is the candidate's own, s², and half is the baseline's, as
    with equal and equally correlated errors. The best measured value exceeds μ by √(s² + τ²) times
    the largest of n standard normal variables, M, and is regressed by s² / (s² + τ²) of that. The
    spread has a half-Cauchy prior of scale s, because a single value does not show it.

    Parameters
    ----------
    draws
        Draws of chosen − baseline, with larger values for better candidates.
    n
        Number of candidates.
    uniform
        Uniform numbers for τ and M, ``(2, n_draws)``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> draws = rng.normal(0.02, 0.01, 40_000)
    >>> shrunk(draws, 20, rng.random((2, 40_000))).mean().round(3)
    np.float64(0.012)
    """
    mean, variance = draws.mean(), draws.var()
    own = variance / 2
    spread = own * np.tan(np.pi / 2 * uniform[0]) ** 2
    share = own / (own + spread)
    # The largest of n standard normal variables, by its distribution function Φⁿ.
    largest = -ndtri(-np.expm1(np.log(uniform[1]) / n))
    kept = np.sqrt(((1 - share) * own + own) / (2 * own)) if own > 0 else 1.0
    return np.asarray(mean + kept * (draws - mean) - share * np.sqrt(own + spread) * largest)
