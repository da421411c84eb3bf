"""The world of prior ``"learned"``: rates, recalls and errors of classes, one model.

The number of items is random there and a class without items may or may not be on the list.
Ranks stay uniform if data sets are chosen by the data alone, so those are kept that have the
wanted number of items and, as the package tells the two cases apart, some class without items
or none. The package is even on the location between bounds that depend on the mean count;
with a given number of items they are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from outperform._typing import FloatArray, IntArray
from verification.worlds import Truth, World, dirichlet

_SCALES, _SKEWS, _LOCATIONS = (0.1, 3.5), (-4.0, 2.0), (-6.0, 3.0)
_LEAST_MASS, _LEAST_SPREAD = 1.0, 0.05
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
_AT_ONCE, _MOST_TRIES = 2_000, 2_000


@dataclass(frozen=True, kw_only=True)
class LearnedWorld(World):
    """Prior ``"learned"`` of a single model.

    Parameters
    ----------
    listed
        Whether the list of classes is that of classes seen: none is empty. Otherwise some is.
    """

    prior: str = "learned"
    listed: bool = False

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{super().name}, {'none' if self.listed else 'some'} empty"

    def serves(self, n: int) -> bool:
        """Whether there are data sets of so many items."""
        return n >= self.n_classes if self.listed else True

    def draw(self, n: int, generator: np.random.Generator) -> tuple[Truth, tuple[IntArray, ...]]:
        """Draw rates and class counts, what the model makes of them, and the items."""
        rates, totals = self._rates(n, generator)
        eta, slope = generator.random(), float(logit(generator.random()))
        mass = _long_tailed(_LEAST_MASS, generator)
        spread = _long_tailed(_LEAST_SPREAD, generator)
        sizes = np.log(totals + 1.0)
        means = expit(logit(eta) + slope * 0.5 * (sizes - sizes.mean()))
        pairs = np.stack([mass * means, mass * (1 - means)], axis=1)
        right, wrong = dirichlet(generator, np.maximum(pairs, 1e-300)).T
        base = (totals + 0.5) ** generator.choice(_POWERS)
        others = [np.delete(base, truth) for truth in range(self.n_classes)]
        errors = spread * np.stack([one / one.sum() for one in others])
        rows = wrong[:, None] * dirichlet(generator, errors)
        theta = np.empty((self.n_classes, self.n_classes))
        theta[np.eye(self.n_classes, dtype=bool)] = right
        theta[~np.eye(self.n_classes, dtype=bool)] = rows.ravel()
        counts = generator.multinomial(totals, theta / theta.sum(axis=1, keepdims=True))
        hyper = {"η A": eta, "s A": mass, "b A": slope, "t A": spread}
        table = (rates / rates.sum())[:, None] * theta
        return Truth(tables=(table,), hyper=hyper), (counts,)

    def _rates(self, n: int, generator: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Return rates and counts of the first data set of so many items that is kept."""
        while True:
            low, high = np.arctan(_SCALES)
            scale = np.tan(generator.uniform(low, high, (_AT_ONCE, 1)))  # half-Cauchy
            skew = generator.uniform(*_SKEWS, (_AT_ONCE, 1))
            location = np.log(max(n / self.n_classes, 0.5))
            location = location + generator.uniform(*_LOCATIONS, (_AT_ONCE, 1))
            parameters = np.concatenate([location, scale, skew], axis=1)
            rates = np.zeros((_AT_ONCE, self.n_classes))
            counts = np.zeros((_AT_ONCE, self.n_classes), dtype=np.int64)
            for _ in range(_MOST_TRIES if self.listed else 1):
                # A class on the list is one with items: those without are drawn anew.
                row, place = np.nonzero((counts == 0) & (counts.sum(axis=1) <= n)[:, None])
                rates[row, place] = _rate(parameters[row].T, generator)
                counts[row, place] = generator.poisson(np.minimum(rates[row, place], 1e9))
                if not row.size:
                    break
            whole = (counts > 0).all(axis=1)
            kept = np.flatnonzero((counts.sum(axis=1) == n) & (whole == self.listed))
            if kept.size:
                return rates[kept[0]], counts[kept[0]]


def _rate(parameters: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Draw ``exp(location + scale · z)``, where ``exp(skew · z)`` is a gamma of mean 1."""
    location, scale, skew = parameters
    skew = np.where(np.abs(skew) < 1e-3, 1e-3, skew)
    shape = skew**-2
    standard = (np.log(generator.standard_gamma(shape)) - np.log(shape)) / skew
    rate: FloatArray = np.exp(np.minimum(location + scale * standard, 40.0))
    return rate


def _long_tailed(least: float, generator: np.random.Generator) -> float:
    """Draw a number of density ``1 / (1 + x)²`` above the least."""
    return (1 + least) / (1 - float(generator.random())) - 1
