"""How often do intervals from the scores of folds hold the truth?

Scores are drawn from the models that the intervals assume: folds that correlate by the share that
they test, and differences between data sets from Student's t. In two worlds they come from real
cross-validations instead, of two nearest-mean classifiers of which one sees all features, on items
from two normal classes: there the truth is the mean difference of accuracies over training sets of
that size, and nothing says that folds correlate by just that share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

import outperform as op
from outperform._typing import AnyArray, BoolArray, FloatArray
from verification import markdown
from verification.chance import share_error, share_is_off

SEED = 20_261_117
BOUNDS = (0.93, 0.97)
# A chain that needs more draws takes them, so no harmless data set may lose its decision by it.
MOST_WITHHELD = 0.01
_N_DRAWS = 1_600
_CENTRE = 0.3  # in standard deviations of a fold
_ITEMS, _SEEN, _DISTANCE = 200, (8, 5), 0.35  # features of A and of B, each so far apart
_TRAINING_SETS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldWorld:
    """Data sets, folds, and how far differences spread between data sets.

    Parameters
    ----------
    datasets
        How many data sets.
    folds
        Folds of one cross-validation.
    runs
        How often it is repeated.
    spread
        The scale σ₀ of differences between data sets, in standard deviations of a fold.
    nu
        The degrees of freedom of their t.
    trained
        Whether classifiers are trained; else scores are drawn from the model.
    """

    datasets: int = 1
    folds: int = 10
    runs: int = 1
    spread: float = 0.0
    nu: float = 5.0
    trained: bool = False

    @property
    def repetitions(self) -> int:
        """How often it is drawn: the hierarchical model takes its time."""
        return 1_000 if self.datasets == 1 else 200

    @property
    def name(self) -> str:
        """What to call it in a table."""
        if self.datasets == 1:
            return "trained classifiers" if self.trained else "the model"
        return f"the model, σ₀ {self.spread:g}, ν {self.nu:g}"

    @property
    def gated(self) -> bool:
        """Whether the coverage must hold: where scores are drawn from the model."""
        return not self.trained and self.datasets == 1


_ONE, _SEVERAL = FoldWorld(), FoldWorld(datasets=10, spread=1.0)
WORLDS = (
    _ONE,
    replace(_ONE, folds=5),
    replace(_ONE, runs=10),
    replace(_ONE, trained=True),
    replace(_ONE, trained=True, runs=10),
    _SEVERAL,
    replace(_SEVERAL, spread=0.2, nu=30.0),
    replace(_SEVERAL, datasets=5),
)


@dataclass(frozen=True, slots=True)
class Held:
    """One repetition: whether each interval held its truth, how wide, and how far off."""

    covered: bool
    width: float
    datasets: float = float("nan")  # the share of data sets whose interval held theirs
    next_dataset: bool = False
    shrunk: float = float("nan")  # squared errors of the shrunk and of the observed differences
    observed: float = float("nan")
    converged: bool = True  # the chain; else the decision is withheld


def correlated(world: FoldWorld, generator: np.random.Generator) -> FloatArray:
    """Draw the noise of the folds of each data set, ``(datasets, folds · runs)``."""
    rho, n = 1 / world.folds, world.folds * world.runs
    shared = np.sqrt(rho) * generator.standard_normal((world.datasets, 1))
    own = np.sqrt(1 - rho) * generator.standard_normal((world.datasets, n))
    noise: FloatArray = shared + own
    return noise


def repeat(world: FoldWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = WORLDS.index(world) if world in WORLDS else len(WORLDS)
    found = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([SEED, place, repetition])
        found.append(_one(world, generator) if world.datasets == 1 else _many(world, generator))
    return found


def _one(world: FoldWorld, generator: np.random.Generator) -> Held:
    if world.trained:
        a, b = cross_validate(world, generator)
        truth = true_difference(world.folds)
    else:
        a, truth = _CENTRE + correlated(world, generator)[0], _CENTRE
        b = np.zeros_like(a)
    c = op.compare_cv_scores(a, b, runs=world.runs, rope=0.001, n_draws=100, random_state=generator)
    return Held(truth in c.hdi, c.hdi.width)


def _many(world: FoldWorld, generator: np.random.Generator) -> Held:
    truths = _CENTRE + world.spread * generator.standard_t(world.nu, world.datasets + 1)
    sizes = generator.uniform(0.5, 1.5, (world.datasets, 1))
    a = truths[:-1, None] + sizes * correlated(world, generator)
    c = op.compare_cv_scores(
        a,
        0 * a,
        folds=world.folds,
        datasets=world.datasets,
        rope=0.1,
        n_draws=_N_DRAWS,
        random_state=generator,
    )
    assert isinstance(c.details, op.results.ScoreDetails)
    own, following = c.details.datasets, c.details.next_dataset
    assert following is not None
    pairs = list(zip(own, truths[:-1].tolist(), strict=True))
    return Held(
        covered=_CENTRE in c.hdi,
        width=c.hdi.width,
        datasets=float(np.mean([truth in one.hdi for one, truth in pairs])),
        next_dataset=float(truths[-1]) in following.hdi,
        shrunk=float(np.mean([(one.mean - truth) ** 2 for one, truth in pairs])),
        observed=float(np.mean([(one.observed - truth) ** 2 for one, truth in pairs])),
        converged=c.chain is not None and c.chain.converged,
    )


# Two nearest-mean classifiers


def cross_validate(
    world: FoldWorld, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the accuracies of both classifiers in every fold."""
    label = np.arange(_ITEMS) % 2
    x = generator.standard_normal((_ITEMS, max(_SEEN))) + _DISTANCE * (2 * label[:, None] - 1) / 2
    found = []
    for _ in range(world.runs):
        order = generator.permutation(_ITEMS)
        for test in np.array_split(order, world.folds):
            kept = np.setdiff1d(order, test)
            found.append([_right(x, label, kept, test, seen).mean() for seen in _SEEN])
    a, b = np.array(found).T
    return a, b


def _right(x: FloatArray, label: AnyArray, kept: AnyArray, test: AnyArray, seen: int) -> BoolArray:
    w, middle = _fit(x[kept, :seen], label[kept])
    right: BoolArray = (x[test, :seen] @ w > middle) == (label[test] == 1)
    return right


def _fit(x: FloatArray, label: AnyArray) -> tuple[FloatArray, float]:
    high, low = (x[label == one].mean(axis=0) for one in (1, 0))
    return high - low, float((high - low) @ (high + low)) / 2


@lru_cache(maxsize=4)
def true_difference(folds: int) -> float:
    """Return the mean difference of accuracies over training sets as large as those of a fold."""
    generator = np.random.default_rng([SEED, 99])
    n = _ITEMS - _ITEMS // folds
    label = np.arange(n) % 2
    means = _DISTANCE * np.array([-0.5, 0.5])
    total = 0.0
    for _ in range(_TRAINING_SETS):
        x = generator.standard_normal((n, max(_SEEN))) + means[label][:, None]
        of_models = []
        for seen in _SEEN:
            w, middle = _fit(x[:, :seen], label)
            size = float(np.sqrt(w @ w))
            low, high = ((middle - float(w.sum()) * mean) / size for mean in means)
            of_models.append(0.5 * (float(ndtr(low)) + 1 - float(ndtr(high))))
        total += of_models[0] - of_models[1]
    return total / _TRAINING_SETS


# Tables


def tables(found: Mapping[FoldWorld, Sequence[Held]]) -> dict[str, str]:
    """Return the tables of one data set and of several."""
    one = [
        [
            world.name,
            f"{world.runs} × {world.folds}",
            markdown.percent(*_share([held.covered for held in noted])),
            f"{np.mean([held.width for held in noted]):.3f}",
        ]
        for world, noted in found.items()
        if world.datasets == 1
    ]
    several = [
        [
            world.name,
            str(world.datasets),
            markdown.percent(*_share([held.covered for held in noted])),
            markdown.percent(*_share([held.next_dataset for held in noted])),
            markdown.percent(float(np.mean([held.datasets for held in noted]))),
            f"{_ratio(noted):.2f}",
        ]
        for world, noted in found.items()
        if world.datasets > 1
    ]
    header = ("scores from", "runs × folds", "coverage of A − B", "width")
    wide = ("scores from", "data sets", "δ₀", "next data set", "each data set", "error")
    return {
        "fold_scores.md": markdown.table(header, one, numbers_from=1) + _times(found, one=True),
        "fold_scores_datasets.md": (
            markdown.table(wide, several, numbers_from=1) + _times(found, one=False)
        ),
    }


def _times(found: Mapping[FoldWorld, Sequence[Held]], *, one: bool) -> str:
    times = [len(noted) for world, noted in found.items() if (world.datasets == 1) == one]
    return f"\n{min(times, default=0):,} repetitions of each.\n"


def _share(covered: Sequence[bool]) -> tuple[float, float]:
    share = float(np.mean(covered))
    return share, share_error(share, len(covered))


def _ratio(noted: Sequence[Held]) -> float:
    """Return the root mean square error of shrunk differences over that of observed ones."""
    shrunk, observed = (
        np.mean([getattr(held, way) for held in noted]) for way in ("shrunk", "observed")
    )
    return float(np.sqrt(shrunk / observed))


def failures(found: Mapping[FoldWorld, Sequence[Held]]) -> list[str]:
    """Return what did not hold."""
    said = []
    for world, noted in found.items():
        share, _ = _share([held.covered for held in noted])
        if world.gated and share_is_off(share, len(noted), *BOUNDS):
            said.append(f"fold scores: coverage {share:.3f} in {world}")
        lost, _ = _share([not held.converged for held in noted])
        if share_is_off(lost, len(noted), high=MOST_WITHHELD):
            said.append(f"fold scores: {lost:.3f} of the chains did not converge in {world}")
    return said
