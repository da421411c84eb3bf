"""How often do 95% intervals hold the truth where an item has several labels?

The labels of an item share a topic, and what a model gets wrong shares how hard the item
is, for both models or for this one, and how hard each of its labels is. Given topic and difficulty
of the item the labels are independent, so that every metric's true value is a
two-dimensional integral.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.inference import engine
from outperform.inference.question import Sampling
from outperform.inference.spec import LabelSpec, make_spec
from outperform.posterior.rng import seed_sequence

SEED = 20_261_116
BOUNDS = (0.925, 0.98)
METRICS = ("f1_micro", "f1_macro", "f1_samples", "accuracy")
APART = ("f1_micro", "f1_macro")
_N_DRAWS = 1_000
_NODES = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class SetWorld:
    """Items of one kind: how many labels, how alike these are, and how good the models.

    ``topic`` is the share of a label that is the item's. Of an error, ``together`` is the
    share of the item for both models, ``own`` that of the item for one model, and
    ``alike`` that of one label for both models.
    """

    n: int = 300
    n_labels: int = 5
    prevalence: tuple[float, float] = (0.2, 0.4)
    topic: float = 0.3
    together: float = 0.4
    own: float = 0.0
    alike: float = 0.3
    missed: tuple[float, float] = (0.2, 0.26)
    spurious: tuple[float, float] = (0.08, 0.09)
    gated: bool = True

    @property
    def prevalences(self) -> FloatArray:
        """How often each label is true."""
        return np.linspace(*self.prevalence, self.n_labels)

    def fewest(self) -> float:
        """Return the least expected count of true positives, false positives, false negatives."""
        share = self.prevalences
        counts = [
            part
            for missed, spurious in zip(self.missed, self.spurious, strict=True)
            for part in (share * (1 - missed), share * missed, (1 - share) * spurious)
        ]
        return self.n * float(np.min(counts))


_PLAIN = SetWorld()
WORLDS = (
    replace(_PLAIN, n=260, n_labels=3, together=0.2, own=0.3),
    replace(_PLAIN, together=0.0, topic=0.0, spurious=(0.08, 0.08), missed=(0.2, 0.2)),
    replace(_PLAIN, n_labels=10, together=0.3, own=0.4, alike=0.2),
    replace(_PLAIN, n=500, n_labels=10, together=0.2, own=0.6, alike=0.1, topic=0.6),
    replace(_PLAIN, n=400, n_labels=20, prevalence=(0.15, 0.3), missed=(0.2, 0.22)),
    # Where it ends: a handful of items for each label.
    replace(_PLAIN, n=60, n_labels=10, prevalence=(0.05, 0.2), gated=False),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One repetition: for each metric, whether the truth was held and how wide that was."""

    covered: tuple[bool, ...]
    widths: tuple[float, ...]
    apart: tuple[bool, ...]  # the same of APART with a table for each label
    disagreements: int


@lru_cache
def truth_of(world: SetWorld) -> dict[str, float]:
    """Return the true difference A − B in every metric."""
    one, two = (_levels(world, model) for model in range(2))
    return {metric: one[metric] - two[metric] for metric in METRICS}


def _levels(world: SetWorld, model: int) -> dict[str, float]:
    share, missed, spurious = world.prevalences, world.missed[model], world.spurious[model]
    hits, wrong = share * (1 - missed), share * missed + (1 - share) * spurious
    exact, samples = _of_items(world, missed, spurious)
    return {
        "f1_micro": float(2 * hits.sum() / (2 * hits.sum() + wrong.sum())),
        "f1_macro": float(np.mean(2 * hits / (2 * hits + wrong))),
        "f1_samples": samples,
        "accuracy": exact,
    }


def _of_items(world: SetWorld, missed: float, spurious: float) -> tuple[float, float]:
    """Return the chance of a perfect set, and the mean F1 of an item's set.

    Given topic and difficulty the labels are independent: the numbers of hits and of errors
    have the product of their generating polynomials.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    topic, hard = (axis.ravel() for axis in np.meshgrid(nodes, nodes))
    weight = np.outer(weights, weights).ravel()
    shared = world.together + world.own
    miss, alarm = (_given(rate, shared, hard) for rate in (missed, spurious))
    size = world.n_labels + 1
    chances = np.zeros((len(weight), size, size))  # (nodes, hits, errors)
    chances[:, 0, 0] = 1.0
    for share in world.prevalences:
        true = _given(share, world.topic, topic)
        hit, error = true * (1 - miss), true * miss + (1 - true) * alarm
        after = chances * (1 - hit - error)[:, None, None]
        after[:, 1:] += chances[:, :-1] * hit[:, None, None]
        after[:, :, 1:] += chances[:, :, :-1] * error[:, None, None]
        chances = after
    known = np.einsum("n,nhe->he", weight, chances)
    hits, errors = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    scores = 2 * hits / np.maximum(2 * hits + errors, 1)
    return float(known[:, 0].sum()), float((known * scores).sum())


def _given(rate: float, shared: float, factor: FloatArray) -> FloatArray:
    """Return the chance of an event of this rate where the item's part of it is known."""
    return np.asarray(ndtr((ndtri(rate) + np.sqrt(shared) * factor) / np.sqrt(1 - shared)))


def simulate(
    world: SetWorld, generator: np.random.Generator
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Draw the truth and both models' labels, ``(n, n_labels)`` each."""
    shape = (world.n, world.n_labels)
    topic, hard = generator.normal(size=(2, world.n, 1))
    own = np.sqrt(1 - world.topic) * generator.normal(size=shape)
    truth = np.sqrt(world.topic) * topic + own > -ndtri(world.prevalences)
    shared = np.sqrt(world.together) * hard + np.sqrt(world.alike) * generator.normal(size=shape)
    left = np.sqrt(1 - world.together - world.own - world.alike)
    models = []
    for missed, spurious in zip(world.missed, world.spurious, strict=True):
        bar = -ndtri(np.where(truth, missed, spurious))
        noise = shared + left * generator.normal(size=shape)
        if world.own:
            noise += np.sqrt(world.own) * generator.normal(size=(world.n, 1))
        models.append(truth ^ (noise > bar))
    return truth, models[0], models[1]


def repeat(world: SetWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    truth, place = truth_of(world), WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _held(world, truth, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def _held(world: SetWorld, truth: dict[str, float], generator: np.random.Generator) -> Held:
    y, a, b = simulate(world, generator)
    seen = op.Outcomes.from_label_sets(y, {"A": a, "B": b})
    # What is read off the same table shares its draws, as in a scorecard.
    ends: dict[str, tuple[float, float]] = {}
    for together in (APART, ("f1_samples",), ("accuracy",)):
        ends |= _intervals(seen, together, None, generator)
    apart = _intervals(seen, APART, "uniform", generator)
    return Held(
        covered=tuple(ends[metric][0] <= truth[metric] <= ends[metric][1] for metric in METRICS),
        widths=tuple(ends[metric][1] - ends[metric][0] for metric in METRICS),
        apart=tuple(apart[metric][0] <= truth[metric] <= apart[metric][1] for metric in APART),
        disagreements=int((a != b).any(axis=1).sum()),
    )


def _intervals(
    seen: op.Outcomes, metrics: tuple[str, ...], prior: str | None, generator: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Return equal-tailed 95% intervals of A − B."""
    answers = engine.answer(
        [_ask(seen, metric, prior) for metric in metrics],
        Sampling(_N_DRAWS, seed_sequence(generator)),
    )
    found = {}
    for metric, answered in zip(metrics, answers, strict=True):
        low, high = np.quantile(answered.values[0] - answered.values[1], (0.025, 0.975))
        found[metric] = (float(low), float(high))
    return found


def _ask(seen: op.Outcomes, metric: str, prior: str | None) -> LabelSpec:
    return make_spec(
        seen,
        metric=metric,
        prior=prior,
        paired=True,
        labels=None,
        pos_label=None,
    )


SETTINGS = tuple(product(WORLDS, METRICS))
"""Every world in every metric."""
