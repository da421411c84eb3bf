"""How often do 95% intervals hold the truth where items come in clusters?

Whether a model is right on the items of one cluster is correlated: each cluster has
a chance of its own, drawn from a beta distribution whose mean is the model's accuracy, so
that two answers in a cluster have correlation 0.3. Scores have a normal part that the
cluster shares instead. The truth is that of infinitely many clusters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr

import outperform as op
from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.inference.thresholds import FEW_GROUPS
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_115
CORRELATION = 0.3
METRICS = ("accuracy", "f1", "f1_macro", "roc_auc")
# What must hold with fifty clusters: coverage with groups, by sizes, and without them.
LEAST = {"even": 0.92, "uneven": 0.89}
MOST_IGNORING = 0.70
GATED = 50
_SIZE = 20
_RIGHT = (0.75, 0.70)  # accuracy of A and of B
_DISTANCES = (1.5, 1.2)  # of positive from negative scores
_POSITIVE = 0.3
_SHARES = (0.5, 0.3, 0.2)  # of three classes
# Enough for the fitted HDI that users get; scores take ten times as long, so they get fewer, and
# what ignores their clusters is only asked in the first repetitions.
_N_DRAWS = 5_200
_N_DRAWS_OF_SCORES = 2_000
_IGNORING_OF_SCORES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWorld:
    """How many clusters there are, of which sizes, and what is asked."""

    n_clusters: int
    sizes: str  # even: 20 each; uneven: geometric, 20 on average
    metric: str

    @property
    def n_draws(self) -> int:
        """How many draws a comparison takes."""
        return _N_DRAWS_OF_SCORES if self.metric == "roc_auc" else _N_DRAWS

    def ignores(self, repetition: int) -> bool:
        """Return whether a repetition is also asked without groups."""
        return self.metric != "roc_auc" or repetition < _IGNORING_OF_SCORES


WORLDS = tuple(
    ClusterWorld(n_clusters=n_clusters, sizes=sizes, metric=metric)
    for n_clusters, metrics in ((GATED, METRICS), *((n, METRICS[:1]) for n in (100, 20, 10)))
    for metric, sizes in product(metrics, LEAST)
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One repetition: was the truth held with groups and without, and was a finding raised?"""

    held: bool
    held_ignoring: bool | None
    few_groups: bool


def truth_of(metric: str) -> float:
    """Return the true difference of a metric, A − B."""
    if metric == "roc_auc":
        a, b = (float(ndtr(distance / np.sqrt(2))) for distance in _DISTANCES)
        return a - b
    a, b = (_level(metric, right) for right in _RIGHT)
    return a - b


def _level(metric: str, right: float) -> float:
    if metric == "accuracy":
        return right
    if metric == "f1":
        return 2 * _POSITIVE * right / (2 * _POSITIVE * right + 1 - right)
    shares = np.array(_SHARES)
    predicted = shares * right + (1 - shares) * (1 - right) / (len(shares) - 1)
    return float(np.mean(2 * shares * right / (shares + predicted)))


def simulate(world: ClusterWorld, generator: np.random.Generator) -> tuple[AnyArray, ...]:
    """Draw truth, what A and B make of it, and the cluster of each item."""
    sizes = np.full(world.n_clusters, _SIZE)
    if world.sizes == "uneven":
        sizes = generator.geometric(1 / _SIZE, world.n_clusters)
    cluster = np.repeat(np.arange(world.n_clusters), sizes)
    if world.metric == "roc_auc":
        truth: AnyArray = generator.random(len(cluster)) < _POSITIVE
        good = _scores(cluster, world.n_clusters, generator)
        return truth, *(np.where(truth, one, -one) for one in good), cluster
    n_classes = len(_SHARES) if world.metric == "f1_macro" else 2
    shares = _SHARES if n_classes == 3 else (1 - _POSITIVE, _POSITIVE)
    truth = generator.choice(n_classes, len(cluster), p=shares)
    found = []
    for right in _correct(cluster, world.n_clusters, generator):
        wrong = (truth + generator.integers(1, n_classes, len(truth))) % n_classes
        found.append(np.where(right, truth, wrong))
    return truth, *found, cluster


def _correct(cluster: IntArray, n: int, generator: np.random.Generator) -> list[AnyArray]:
    """Return whether A and B are right; they share half of what makes an item hard."""
    mass = 1 / CORRELATION - 1
    chances = [generator.beta(p * mass, (1 - p) * mass, n)[cluster] for p in _RIGHT]
    luck, own = generator.random((2, len(cluster)))
    mixed = np.where(generator.random(len(cluster)) < 0.5, luck, own)
    return [luck < chances[0], mixed < chances[1]]


def _scores(cluster: IntArray, n: int, generator: np.random.Generator) -> list[FloatArray]:
    """Return how far on the right side the scores of A and of B are."""
    both, of_clusters = generator.normal(size=(3, len(cluster))), generator.normal(size=(3, n))
    found = []
    for place, distance in enumerate(_DISTANCES, start=1):
        shared = (of_clusters[0] + of_clusters[place])[cluster] * np.sqrt(CORRELATION / 2)
        own = (both[0] + both[place]) * np.sqrt((1 - CORRELATION) / 2)
        found.append(distance / 2 + shared + own)
    return found


def repeat(world: ClusterWorld, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _hit(world, np.random.default_rng([SEED, place, repetition]), world.ignores(repetition))
        for repetition in range(first, last)
    ]


def _hit(world: ClusterWorld, generator: np.random.Generator, ignoring: bool) -> Hit:
    *seen, cluster = simulate(world, generator)
    truth = truth_of(world.metric)
    together, *apart = (
        op.compare(
            *seen,
            metric=world.metric,
            rope=0.01,
            groups=groups,
            n_draws=world.n_draws,
            random_state=generator,
            n_jobs=1,
        )
        for groups in ((cluster, None) if ignoring else (cluster,))
    )
    return Hit(
        held=truth in together.hdi,
        held_ignoring=truth in apart[0].hdi if apart else None,
        few_groups=any(one.name == "few_groups" for one in together.findings),
    )


Found = Mapping[ClusterWorld, Sequence[Hit]]


def table(found: Found) -> str:
    """Return one row a world; coverage in per cent with its standard error."""
    header = (
        *("clusters", "sizes", "metric", "true difference", "repetitions"),
        *("with groups", "ignoring them", "few_groups raised"),
    )
    rows = [
        [
            str(world.n_clusters),
            world.sizes,
            world.metric,
            f"{truth_of(world.metric):+.4f}",
            f"{len(hits):,}",
            _covered([hit.held for hit in hits]),
            _covered(_ignoring(hits)),
            markdown.percent(float(np.mean([hit.few_groups for hit in hits]))),
        ]
        for world, hits in found.items()
    ]
    return markdown.table(header, rows, numbers_from=3) + (
        f"\nHow often the 95% interval of A − B held the truth, by {_N_DRAWS:,} draws, of scores "
        f"by {_N_DRAWS_OF_SCORES:,} and, ignoring the clusters, in the first "
        f"{_IGNORING_OF_SCORES} repetitions; shares in per cent. Clusters have {_SIZE} items "
        f"each, or {_SIZE} on average with sizes from a geometric distribution.\n"
    )


def failures(found: Found) -> list[str]:
    """Return what did not hold."""
    said = []
    for world, hits in found.items():
        where = f"clusters: {world.metric}, {world.n_clusters} clusters of {world.sizes} sizes"
        held = float(np.mean([hit.held for hit in hits]))
        beside = _ignoring(hits)
        ignoring = float(np.mean(beside))
        if world.n_clusters == GATED and share_is_off(held, len(hits), LEAST[world.sizes]):
            said.append(f"{where}: {held:.1%} covered")
        if world.n_clusters == GATED and share_is_off(ignoring, len(beside), high=MOST_IGNORING):
            said.append(f"{where}: {ignoring:.1%} covered without groups")
        if world.n_clusters < FEW_GROUPS and not all(hit.few_groups for hit in hits):
            said.append(f"{where}: few_groups was not always raised")
    return said


def _ignoring(hits: Sequence[Hit]) -> list[bool]:
    return [hit.held_ignoring for hit in hits if hit.held_ignoring is not None]


def _covered(held: Sequence[bool]) -> str:
    share = float(np.mean(held))
    return markdown.percent(share, share_error(share, len(held)))
