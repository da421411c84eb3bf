"""Does blocked cross-validation say what is true when learners are equal?

Two models of one kind of learner see two features each of the same items.
The features have the same distribution, so in the long run neither model is
better. The package makes the folds, trains, and judges; counted are the
intervals that hold the true F1, the decisions that call one model better, and
the runs in which the guard against unstable learners speaks up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import outperform as op
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.data.checks import code_of
from outperform.decision.rope import Decision, Rope, firm_decision

SEED = 20_190_728
UNSTABLE = "unstable_learner"
CORRELATIONS = ("averaged", "full")
ROADS = ("unpaired", "paired")
HALF_WIDTHS = (0.01, 0.0)
# The runs beside the main ones are for comparison; so many show what happens.
DRAWN_RUNS = 500
LIMITS_RUNS = 200

LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "naive Bayes": GaussianNB,
    "tree of depth 4": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "tree of depth 2": lambda: DecisionTreeClassifier(max_depth=2, random_state=0),
    "25 nearest neighbours": lambda: KNeighborsClassifier(25),
}

# How far apart the classes are in every feature: at 0.5 as in the paper, at 0.1
# so that all learners find enough positives for an F1 of 0.4 or more.
_SHIFT = {0.5: 0.5, 0.1: 1.4}
_FIRM = (Decision.BETTER, Decision.WORSE)
# Enough for the fitted HDI that users get; a plain sample minimum would be too narrow.
_N_DRAWS = 5_200
# For the truth, with every training set.
_TEST_ROWS = 20_000
# Neighbours are slow to find, and these are still two million rows in all.
_FEWER_ROWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where the items come from, who learns from them and how often they are halved."""

    learner: str
    prevalence: float = 0.5
    n: int = 600
    m: int = 3
    against: str | None = None  # the learner of B, if it is another one
    drawn: bool = False  # whether the number of positives is random

    @property
    def learners(self) -> tuple[str, str]:
        """The learners of A and of B."""
        return self.learner, self.against or self.learner

    @property
    def stream(self) -> tuple[int, int, int]:
        """What the items depend on, as part of a seed."""
        return self.n, round(1_000 * self.prevalence), int(self.drawn)

    def items(self, n: int, generator: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """Draw ``n`` items: four features each, and the class."""
        positive = generator.random(n) < self.prevalence
        if not self.drawn:
            positive = np.arange(n) < round(self.prevalence * n)
        y = positive.astype(np.int64)
        return generator.standard_normal((n, 4)) + _SHIFT[self.prevalence] * y[:, None], y


EXAMPLE = World(learner="logistic regression")
DRAWN = replace(EXAMPLE, drawn=True)
MAIN = tuple(
    World(learner=learner, prevalence=prevalence)
    for prevalence in (0.5, 0.1)
    for learner in ("logistic regression", "naive Bayes", "tree of depth 4")
)
_TREE = World(learner="tree of depth 4", prevalence=0.1)
_RARE = World(learner="logistic regression", prevalence=0.1)
LIMITS = (
    *(replace(_TREE, m=m) for m in (2, 5, 7)),
    *(replace(_TREE, n=n) for n in (200, 2_000)),
    replace(_RARE, m=7),
    *(replace(_RARE, n=n) for n in (200, 2_000)),
    replace(_TREE, learner="tree of depth 2"),
    replace(_TREE, learner="25 nearest neighbours"),
    replace(_TREE, against="logistic regression"),
)


@dataclass(slots=True)
class Sees:
    """A learner that is shown some of the columns."""

    columns: slice
    learner: Any

    def fit(self, x: FloatArray, y: IntArray) -> Sees:
        """Train on these columns."""
        self.learner.fit(x[:, self.columns], y)
        return self

    def predict(self, x: FloatArray) -> AnyArray:
        """Predict from these columns."""
        return np.asarray(self.learner.predict(x[:, self.columns]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one cross-validation said.

    ``called`` tells by road and half-width of the ROPE whether one of the models was called
    better, before the guard and after it.
    """

    intervals: dict[str, tuple[op.results.Interval, op.results.Interval]]
    unstable: bool
    unstable_alone: tuple[bool, bool]
    called: dict[tuple[str, float], tuple[bool, bool]]
    accepted: str


def repeat(world: World, first: int, last: int) -> list[Run]:
    """Run repetitions ``first`` to ``last`` (not included) of one world."""
    with _frugal():
        return [run(world, repetition) for repetition in range(first, last)]


@contextmanager
def _frugal() -> Iterator[None]:
    """Take one thread for each process, and let scikit-learn trust what it is given."""
    trust = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), trust:
        yield


def run(world: World, repetition: int) -> Run:
    """Cross-validate once, and note what is said."""
    return _note(cross_validate(world, repetition))


def cross_validate(world: World, repetition: int) -> op.Comparison:
    """Draw items, and let the package train and compare both models on them."""
    # A stream per repetition, so that chunks can be run in any order. Learners share it.
    generator = np.random.default_rng([SEED, *world.stream, world.m, repetition])
    x, y = world.items(world.n, generator)
    a, b = (LEARNERS[learner]() for learner in world.learners)
    return op.cross_compare(
        Sees(slice(0, 2), a),
        Sees(slice(2, 4), b),
        x,
        y,
        cv=op.BlockedTwoFold(world.m, random_state=generator),
        metric="f1",
        n_draws=_N_DRAWS,
        random_state=generator,
        n_jobs=1,
    )


def _note(result: op.Comparison) -> Run:
    of_models = [fold_counts(result, name) for name in result.names]
    alone = {
        correlation: [
            op.estimate_cv_counts(rows, correlation=correlation, n_draws=1_000, random_state=0)
            for rows in of_models
        ]
        for correlation in CORRELATIONS
    }
    first, second = alone["averaged"]
    assert isinstance(result.details, op.results.CrossDetails)
    unpaired = result.details.unpaired
    return Run(
        intervals={name: (one.eti, other.eti) for name, (one, other) in alone.items()},
        unstable=_warned(result),
        unstable_alone=(_warned(first), _warned(second)),
        called={
            (road, half_width): _called(one, half_width)
            for road, one in zip(ROADS, (unpaired, result), strict=True)
            for half_width in HALF_WIDTHS
        },
        accepted=unpaired.accepted,
    )


def fold_counts(result: op.Comparison, name: str) -> list[list[int]]:
    """Return tp, fp and fn of one model, a row for each fold."""
    assert isinstance(result.details, op.results.CrossDetails)
    rows = []
    for fold in result.details.outcomes:
        hits, actual, predicted = (int(one[code_of(fold, 1)]) for one in fold.margins(name))
        rows.append([hits, predicted - hits, actual - hits])
    return rows


def _called(result: op.Comparison, half_width: float) -> tuple[bool, bool]:
    before = firm_decision(result.hdi, Rope.from_param(half_width)) in _FIRM
    if half_width == result.rope.high:
        return before, result.decision in _FIRM
    # What with_rope would say; it would take as long again.
    return before, before and not _warned(result)


def _warned(result: op.Comparison | op.results.Estimate) -> bool:
    return any(finding.name == UNSTABLE for finding in result.findings)


def true_f1(world: World, learner: str, training_sets: int) -> float:
    """Return F1 of the expected tp, fp and fn over training sets of half the items."""
    half = (_FEWER_ROWS if "neighbours" in learner else _TEST_ROWS) // 2
    generator = np.random.default_rng([SEED, *world.stream])
    found = np.zeros(2)
    with _frugal():
        for _ in range(training_sets):
            x, y = world.items(world.n // 2, generator)
            test = generator.standard_normal((2 * half, 2))
            test[:half] += _SHIFT[world.prevalence]
            answers = LEARNERS[learner]().fit(x[:, :2], y).predict(test)
            found += answers[:half].mean(), answers[half:].mean()
    recall, alarms = found / training_sets
    tp, fp = world.prevalence * recall, (1 - world.prevalence) * alarms
    return float(2 * tp / (tp + fp + world.prevalence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the runs, or a mean over them, and its Monte Carlo standard error."""

    value: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All runs of one world, summed up; shares of single models are over both."""

    world: World
    runs: int
    truths: tuple[float, float]
    covered: dict[str, Share]
    length: dict[str, Share]
    unstable: Share
    unstable_alone: Share
    called: dict[tuple[str, float], tuple[Share, Share]]
    accepted_h1: Share


def summarise(world: World, runs: Sequence[Run], truths: tuple[float, float]) -> Row:
    """Return the shares of one world."""
    ends = {
        name: np.array([[(i.low, i.high) for i in run.intervals[name]] for run in runs])
        for name in CORRELATIONS
    }  # (n_runs, n_models, 2)
    called = {
        key: (
            share([one.called[key][0] for one in runs]),
            share([one.called[key][1] for one in runs]),
        )
        for key in runs[0].called
    }
    return Row(
        world=world,
        runs=len(runs),
        truths=truths,
        covered={
            name: share(((one[..., 0] <= truths) & (truths <= one[..., 1])).mean(axis=1))
            for name, one in ends.items()
        },
        length={name: share(np.diff(one).mean(axis=(1, 2))) for name, one in ends.items()},
        unstable=share([one.unstable for one in runs]),
        unstable_alone=share(np.mean([one.unstable_alone for one in runs], axis=1)),
        called=called,
        accepted_h1=share([one.accepted == "H1" for one in runs]),
    )


def share(values: Any) -> Share:
    """Return the mean of one value per run, and its error; A and B of a run are no two runs."""
    each = np.asarray(values, dtype=np.float64)
    return Share(value=float(each.mean()), error=float(each.std() / np.sqrt(each.size)))
