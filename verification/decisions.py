"""How often are decisions wrong, and how often do they see a difference, beside the usual tests?

Two models on one test set, with accuracies or F1 whose true difference is 0, at the edge of the
region of practical equivalence, or beyond it. Beside the decision, whether the interval leaves
out 0 stands next to tests of the same hypothesis at 5%, on the same test sets: McNemar's exact
test, the paired t, the permutation test that swaps both models' answers, and the percentile
bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest, ttest_1samp

import outperform as op
from outperform._typing import FloatArray, IntArray
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_120
REPETITIONS = 1_000
ROPE = 0.02
MOST_AT_EDGE = 0.035
MOST_AT_ZERO = 0.01
MOST_WITHOUT_ZERO = 0.075
FIRM = ("≫", "≪", "≈")
TESTS = ("HDI", "McNemar", "paired t", "permutation", "bootstrap")
_LEVEL = 0.05
_N_SHUFFLES = 1_000
_ACCURACY, _PREVALENCE, _RECALL, _FALSE_ALARMS, _SHARED = 0.85, 0.2, 0.75, 0.05, 0.7
# Every item is one of these: the truth and what A and B say.
CELLS = np.array([(y, a, b) for y in (0, 1) for a in (0, 1) for b in (0, 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionWorld:
    """A metric, so many items, the true difference, and on how many items one model is right."""

    metric: str
    n: int
    truth: float
    discordance: float = 0.0  # of F1 it follows from the rest

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        return f"{self.metric}, {self.n:,} items, {discordance_of(self):.1%}, {self.truth:+g}"


_TRUTHS = (-ROPE, 0.0, ROPE, 2 * ROPE)
WORLDS = (
    *(
        DecisionWorld(metric="accuracy", n=n, truth=truth, discordance=discordance)
        for discordance in (0.06, 0.2)
        for n in (200, 1_000, 5_000)
        for truth in _TRUTHS
    ),
    *(
        DecisionWorld(metric="f1", n=n, truth=truth)
        for n in (200, 1_000, 5_000)
        for truth in _TRUTHS
    ),
)


@lru_cache(maxsize=128)
def population(world: DecisionWorld) -> FloatArray:
    """Return the probability of each kind of item."""
    if world.metric == "accuracy":
        a_only, b_only = (world.discordance + np.array([1, -1]) * world.truth) / 2
        right = (_ACCURACY - a_only, a_only, b_only)
        return kinds_of(0.5, right, right)
    # Both raise the same alarms in the mean; A finds as many more as its F1 asks for.
    recall = float(brentq(lambda one: _of_recall(one, world.truth)[0], 0.3, 0.995))
    return _of_recall(recall, world.truth)[1]


def _of_recall(recall: float, truth: float) -> tuple[float, FloatArray]:
    found = kinds_of(
        _PREVALENCE,
        right_together(1 - _FALSE_ALARMS, 1 - _FALSE_ALARMS),
        right_together(recall, _RECALL),
    )
    return float(difference(found[None], "f1")[0]) - truth, found


def right_together(a: float, b: float) -> tuple[float, float, float]:
    """Return how often both, only A and only B are right, if they share most of their luck."""
    both = _SHARED * min(a, b) + (1 - _SHARED) * a * b
    return both, a - both, b - both


def kinds_of(
    prevalence: float, negative: tuple[float, float, float], positive: tuple[float, float, float]
) -> FloatArray:
    """Return the probability of each of CELLS; of a class: both, only A and only B are right."""
    found = []
    for share, (both, a_only, b_only), right in (
        (1 - prevalence, negative, 0),
        (prevalence, positive, 1),
    ):
        given = {(1, 1): both, (1, 0): a_only, (0, 1): b_only, (0, 0): 1 - both - a_only - b_only}
        found += [share * given[int(a == right), int(b == right)] for a in (0, 1) for b in (0, 1)]
    return np.array(found)


def discordance_of(world: DecisionWorld) -> float:
    """Return on how many items one model is right and the other wrong."""
    return float(population(world)[CELLS[:, 1] != CELLS[:, 2]].sum())


def difference(counts: FloatArray, metric: str) -> FloatArray:
    """Return the metric of A minus that of B for rows of counts of each kind, ``(n_rows, 8)``."""
    y, said = CELLS[:, 0], CELLS[:, 1:].T
    if metric == "accuracy":
        a, b = (counts @ (one == y) / counts.sum(axis=1) for one in said)
        return np.asarray(a - b)
    hits, both = ([counts @ (one * of) for one in said] for of in (y, np.ones(8)))
    a, b = (2 * hit / np.maximum(n + counts @ y, 1e-300) for hit, n in zip(hits, both, strict=True))
    return np.asarray(a - b)


@dataclass(frozen=True, slots=True)
class Decided:
    """One test set: the decision, and which tests reject that the models are equal."""

    symbol: str
    rejected: tuple[bool | None, ...]  # one for each of TESTS; None where it does not apply


def repeat(world: DecisionWorld, first: int, last: int) -> list[Decided]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_decided(world, number) for number in range(first, last)]


def _decided(world: DecisionWorld, number: int) -> Decided:
    rng = np.random.default_rng([SEED, WORLDS.index(world), number])
    counts = rng.multinomial(world.n, population(world))
    y, a, b = CELLS.T
    seen = op.Outcomes.from_counts(y, {"A": a, "B": b}, counts, labels=[0, 1])
    c = op.compare(seen, "A", "B", metric=world.metric, rope=ROPE, random_state=rng, n_jobs=1)
    own = [0.0 not in c.hdi, None, None]
    if world.metric == "accuracy":
        own[1:] = tests_of_accuracy(counts)
    others = (permutation_p(counts, world.metric, rng) <= _LEVEL, _bootstrap(counts, world, rng))
    return Decided(c.decision.symbol, (*own, *others))


def tests_of_accuracy(counts: IntArray) -> list[bool]:
    """Return whether McNemar's exact test and the paired t reject."""
    y, a, b = CELLS.T
    gain = (a == y).astype(int) - (b == y)
    wins, losses = int(counts[gain > 0].sum()), int(counts[gain < 0].sum())
    if not wins + losses:
        return [False, False]
    t_test = ttest_1samp(np.repeat(gain, counts), 0.0)
    return [binomtest(wins, wins + losses).pvalue <= _LEVEL, bool(t_test.pvalue <= _LEVEL)]


def permutation_p(counts: IntArray, metric: str, rng: np.random.Generator) -> float:
    """Return the p-value of swapping both models' answers on every item by a coin."""
    shuffled = np.tile(counts.astype(np.float64), (_N_SHUFFLES, 1))
    for first in (0, 4):  # the two kinds of items of a class on which the answers differ
        n = counts[first + 1] + counts[first + 2]
        shuffled[:, first + 1] = rng.binomial(n, 0.5, _N_SHUFFLES)
        shuffled[:, first + 2] = n - shuffled[:, first + 1]
    seen = abs(difference(counts[None].astype(np.float64), metric)[0])
    as_far = np.abs(difference(shuffled, metric)) >= seen - 1e-12
    return float((1 + as_far.sum()) / (1 + _N_SHUFFLES))


def _bootstrap(counts: IntArray, world: DecisionWorld, rng: np.random.Generator) -> bool:
    again = rng.multinomial(world.n, counts / world.n, _N_SHUFFLES).astype(np.float64)
    low, high = np.quantile(difference(again, world.metric), [_LEVEL / 2, 1 - _LEVEL / 2])
    return not low <= 0 <= high


Found = Mapping[DecisionWorld, Sequence[Decided]]


def table(found: Found) -> str:
    """Return one row a world; shares in per cent."""
    head = ("metric", "items", "differ on", "true A − B", *FIRM, *(f"{one} ≠ 0" for one in TESTS))
    rows = []
    for world, decided in found.items():
        rejected = zip(*(one.rejected for one in decided), strict=True)
        rows.append(
            [
                world.metric,
                f"{world.n:,}",
                f"{100 * discordance_of(world):.0f}%",
                f"{world.truth:+.2f}",
                *(markdown.percent(_share(decided, symbol)) for symbol in FIRM),
                *(
                    "–" if None in one else markdown.percent(float(np.mean(one)))
                    for one in rejected
                ),
            ]
        )
    n = min(len(decided) for decided in found.values())
    return markdown.table(head, rows) + (
        f"\n{n:,} test sets a row, in per cent; standard errors are {_error(0.5, n)} at most, and "
        f"{_error(MOST_AT_EDGE, n)} near {100 * MOST_AT_EDGE:g}%; ROPE ± {ROPE:g}; tests at "
        f"{100 * _LEVEL:.0f}%.\n"
    )


def _error(share: float, n: int) -> str:
    return f"{100 * share_error(share, n):.1f}"


def _share(decided: Sequence[Decided], symbol: str) -> float:
    return float(np.mean([one.symbol == symbol for one in decided]))


def failures(found: Found) -> list[str]:
    """Return where a decision is wrong too often: models that differ on ten items or more."""
    failed = []
    for world, decided in found.items():
        if world.n * discordance_of(world) < 10:
            continue
        n = len(decided)
        for symbol in _wrong(world.truth):
            most = MOST_AT_EDGE if world.truth else MOST_AT_ZERO
            if share_is_off(_share(decided, symbol), n, high=most):
                failed.append(f"false {symbol}, {world.name}: {_share(decided, symbol):.1%}")
        without = float(np.mean([one.rejected[0] for one in decided]))
        if world.truth == 0 and share_is_off(without, n, high=MOST_WITHOUT_ZERO):
            failed.append(f"HDI without 0, {world.name}: {without:.1%}")
    return failed


def _wrong(truth: float) -> tuple[str, ...]:
    """Return the firm decisions that are wrong, or at the edge of it."""
    if truth == 0:
        return "≫", "≪"
    if abs(truth) <= ROPE:
        return FIRM
    return ("≪", "≈") if truth > 0 else ("≫", "≈")
