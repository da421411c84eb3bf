"""How many items does a decision take, paired and unpaired?

Test sets of growing size are drawn from 20 Newsgroups, and the share of those that end with
the right decision, ≫ or ≪, is the power. The ROPE is a fifth of the true difference, so that
the decision can be reached. For the pair that is furthest apart that takes only eleven
items a class, so few that the prior pulls; a ROPE of half the difference stands beside
it. Power follows a probit curve in the square root of the size, since the interval's width
falls with it: ``Φ(a + b √N)``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

import outperform as op
from outperform._typing import FloatArray
from verification import coverage, markdown
from verification.chance import mean_is_off

SEED = 20_261_116
POWER = 0.8
# What the paired model may need of the items that the unpaired one needs.
MOST = {pair: 0.6 for pair in coverage.PAIRS} | {("svm_l1", "svm_l2"): 0.4}
# Around the size at which theory puts a power of 0.8.
FACTORS = (0.6, 0.85, 1.15, 1.5)
STORED = Path(__file__).parents[1] / "docs" / "figures" / "power_paired.json"
_N_DRAWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One pair of classifiers, with or without pairing, and the ROPE's share of the difference."""

    pair: tuple[str, str]
    paired: bool
    rope_share: float = 0.2


_FAR_APART = ("nb_bern", "nb_mult")
CURVES = (
    *(Curve(pair=pair, paired=paired) for pair, paired in product(coverage.PAIRS, (True, False))),
    *(Curve(pair=_FAR_APART, paired=paired, rope_share=0.5) for paired in (True, False)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """How many of the test sets of one size ended with the right decision."""

    n: int
    repetitions: int
    decided: int

    @property
    def share(self) -> float:
        """The power."""
        return self.decided / self.repetitions


def true_difference(pair: tuple[str, str]) -> float:
    """Return the difference of the metric over all items."""
    world = coverage.the_world()
    a, b = (coverage.observed(world, name) for name in pair)
    return a - b


def sizes(curve: Curve) -> list[int]:
    """Return the sizes to try, from the posterior sd of all items.

    The interval ends ``z₉₅ sd`` from its middle, and the middle itself varies by one sd, so
    power 0.8 asks for ``|d| − rope = (z₉₅ + z₈₀) sd`` and ``sd`` falls with ``√N``.
    """
    world = coverage.the_world()
    whole = op.compare(
        world,
        *curve.pair,
        metric=coverage.METRIC,
        prior="unit",
        paired=curve.paired,
        n_draws=_N_DRAWS,
        random_state=SEED,
        n_jobs=1,
    )
    room = (1 - curve.rope_share) * abs(true_difference(curve.pair))
    needed = world.n * ((ndtri(0.975) + ndtri(POWER)) * whole.sd / room) ** 2
    return [round(needed * factor) for factor in FACTORS]


def repeat(curve: Curve, n: int, repetitions: int) -> Point:
    """Draw test sets of one size and count the right decisions."""
    world, difference = coverage.the_world(), true_difference(curve.pair)
    right = op.Decision.BETTER if difference > 0 else op.Decision.WORSE
    decided = 0
    for repetition in range(repetitions):
        # A stream per size and repetition; both curves of a pair see sets of their own.
        generator = np.random.default_rng([SEED, CURVES.index(curve), n, repetition])
        result = op.compare(
            coverage.resample(world, n, generator),
            *curve.pair,
            metric=coverage.METRIC,
            rope=curve.rope_share * abs(difference),
            prior="unit",
            paired=curve.paired,
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        decided += result.decision is right
    return Point(n=n, repetitions=repetitions, decided=decided)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The probit curve of some points, and the items that a power of 0.8 takes."""

    intercept: float
    slope: float
    needed: float
    log_error: float  # the standard error of log(needed)

    def at(self, n: FloatArray) -> FloatArray:
        """Return the power at other sizes."""
        power: FloatArray = ndtr(self.intercept + self.slope * np.sqrt(n))
        return power


def fit(points: Sequence[Point]) -> Fit:
    """Fit ``Φ(a + b √N)`` by maximum likelihood; the error is by the delta method."""
    roots = np.sqrt([point.n for point in points])
    decided = np.array([point.decided for point in points])
    total = np.array([point.repetitions for point in points])

    def loss(ab: FloatArray) -> float:
        score = ab[0] + ab[1] * roots
        return -float(decided @ log_ndtr(score) + (total - decided) @ log_ndtr(-score))

    start = np.array([-2.0, 2.8 / roots.mean()])
    a, b = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).x
    score = a + b * roots
    density = np.exp(-(score**2) / 2) / np.sqrt(2 * np.pi)
    weight = total * density**2 / (ndtr(score) * ndtr(-score))
    design = np.stack([np.ones_like(roots), roots])
    covariance = np.linalg.inv((design * weight) @ design.T)
    root = (ndtri(POWER) - a) / b
    # log N = 2 log((z − a) / b)
    gradient = np.array([-2 / (b * root), -2 / b])
    error = float(np.sqrt(gradient @ covariance @ gradient))
    return Fit(intercept=float(a), slope=float(b), needed=float(root**2), log_error=error)


Found = dict[Curve, list[Point]]


def stored(found: Found) -> str:
    """Return the points, and the curves through them, for the figure."""
    rows = [
        {
            "pair": list(curve.pair),
            "paired": curve.paired,
            "rope_share": curve.rope_share,
            "points": [asdict(one) for one in points],
            "fit": asdict(fit(points)),
        }
        for curve, points in found.items()
    ]
    return json.dumps(rows, indent=1) + "\n"


def load(path: Path = STORED) -> Found:
    """Read what was stored."""
    found: Found = {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        a, b = row["pair"]
        curve = Curve(pair=(a, b), paired=row["paired"], rope_share=row["rope_share"])
        found[curve] = [Point(**point) for point in row["points"]]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """What pairing saves for one pair."""

    pair: tuple[str, str]
    rope_share: float
    paired: Fit
    unpaired: Fit

    @property
    def gated(self) -> bool:
        """Whether there are enough items for a promise."""
        return self.pair != _FAR_APART or self.rope_share > 0.2

    @property
    def share(self) -> float:
        """The items that paired needs, of those that unpaired needs."""
        return self.paired.needed / self.unpaired.needed

    @property
    def error(self) -> float:
        """The standard error of the share."""
        return self.share * float(np.hypot(self.paired.log_error, self.unpaired.log_error))


def ratios(found: Found) -> list[Ratio]:
    """Return what pairing saves for every pair and ROPE."""
    return [
        Ratio(
            pair=curve.pair,
            rope_share=curve.rope_share,
            paired=fit(points),
            unpaired=fit(found[replace(curve, paired=False)]),
        )
        for curve, points in found.items()
        if curve.paired
    ]


def table(found: Found) -> str:
    """Return the items needed for each pair, paired and unpaired."""
    header = ("A − B", "true difference", "ROPE", "paired", "unpaired", "share", "at most")
    rows = []
    for one in ratios(found):
        difference = true_difference(one.pair)
        needed = (
            f"{fitted.needed:,.0f} ± {fitted.needed * fitted.log_error:,.0f}"
            for fitted in (one.paired, one.unpaired)
        )
        share = f"{one.share:.2f} ± {one.error:.2f}"
        rope = f"±{one.rope_share * abs(difference):.4f}"
        most = f"{MOST[one.pair]:.2f}" if one.gated else ""
        rows.append([" − ".join(one.pair), f"{difference:+.4f}", rope, *needed, share, most])
    repetitions = min(point.repetitions for points in found.values() for point in points)
    return markdown.table(header, rows) + (
        f"\nItems for a power of {POWER:g}: the share of test sets that end with ≫ or ≪, "
        f"whichever is right. Macro-averaged F1, prior `unit`; {len(FACTORS)} sizes a curve, "
        f"{repetitions:,} test sets a size, probit curves in √N.\n"
    )


def failures(found: Found) -> list[str]:
    """Return the pairs for which pairing saves less than it should."""
    n = min(point.repetitions for points in found.values() for point in points)
    failed = []
    for one in ratios(found):
        # The logarithm of the share is what strays evenly.
        most, log, error = np.log(MOST[one.pair]), np.log(one.share), one.error / one.share
        if one.gated and mean_is_off(float(log), error, n, -np.inf, float(most)):
            pair = " − ".join(one.pair)
            failed.append(f"power: {pair} needs {one.share:.2f} of the items when paired")
    return failed
