"""How often do 95% intervals hold the truth under the default prior?

Levels and differences of five metrics, from 2 to 1,000 classes, balanced and after Zipf, for
pairs of models that are alike, that cross, that are nearly perfect, one of which is constant.
No truth is drawn from a prior of the package, and every true value is exact: it is the metric
of the population's confusion matrix. Beside it: priors "unit", "uniform" and "bootstrap", and
the percentile bootstrap of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from operator import attrgetter

import numpy as np
from scipy.sparse import csr_array

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.decision.hdi import narrowest_ends
from outperform.posterior.base import Sums, build_posterior
from outperform.posterior.registry import get_prior
from verification import markdown
from verification.chance import share_is_off

METRICS = ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef")
BOUNDS = (0.925, 0.985)
LEAST = 0.85  # where classes have fewer than five items in the mean
BESIDE = ("unit", "uniform", "bootstrap", "percentile")
_N_DRAWS = 1_000
_AT_ONCE = 1 << 21
_MOST_UNIFORM = 20  # with more classes its rows are all prior, and every cell is drawn
_PROB = 0.95
# Warnings of the ROPE, and of how many draws there are.
_ABOUT_OTHERS = {"default_rope", "monte_carlo_too_coarse", "hdi_and_equal_tails_disagree"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultWorld:
    """A population of items and two models.

    Parameters
    ----------
    n_classes, zipf, n
        How many classes, whether the j-th is 1 / j as frequent as the first, how many items.
    accuracy, gap
        A's mean recall over classes, and how much lower B's is.
    kind
        ``"usual"``; ``"independent"`` errors; ``"close"``, nearly the same errors;
        ``"crossing"``, A right on frequent classes and B on rare ones; ``"sharp"``, recalls
        that hardly differ between classes; ``"popular"``, errors that follow the frequency of
        classes; ``"constant"``, B always says the first class; ``"opposed"``, B mostly right
        where A is wrong.
    """

    n_classes: int
    n: int
    zipf: bool = False
    accuracy: float = 0.75
    gap: float = 0.05
    kind: str = "usual"

    @property
    def mean_class(self) -> float:
        """The mean number of items of a class."""
        return self.n / self.n_classes

    @property
    def rarest(self) -> float:
        """How many items the rarest class has in the mean."""
        return self.n * float(population(self, 0).shares.min())

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.n_classes:,} {'Zipf' if self.zipf else 'even'}, {self.kind}"


def _grid() -> Iterator[DefaultWorld]:
    sizes = {2: (30, 200), 3: (30, 300), 10: (100, 500), 20: (200, 2_000), 50: (500, 1_000)}
    for (n_classes, (small, large)), zipf in product(sizes.items(), (False, True)):
        yield DefaultWorld(n_classes=n_classes, n=small, zipf=zipf)
        yield DefaultWorld(n_classes=n_classes, n=large, zipf=zipf, gap=0.1)
    for n in (500, 2_000, 20_000):
        yield DefaultWorld(n_classes=200, n=n, zipf=True, accuracy=0.85, gap=0.25)
    yield DefaultWorld(n_classes=200, n=2_000)
    yield DefaultWorld(n_classes=1_000, n=5_000, zipf=True)
    yield DefaultWorld(n_classes=1_000, n=20_000)
    for n_classes, n in ((2, 200), (3, 100), (10, 500), (20, 1_000)):
        few = DefaultWorld(n_classes=n_classes, n=n)
        yield replace(few, accuracy=0.98, gap=0.01, kind="sharp")
        yield replace(few, gap=0.02, kind="close")
        yield replace(few, gap=0.0, kind="independent")
        yield replace(few, zipf=True, kind="constant")
        yield replace(few, zipf=True, kind="crossing")
    for n_classes, n in ((20, 2_000), (50, 1_000), (200, 2_000)):
        yield DefaultWorld(n_classes=n_classes, n=n, zipf=True, gap=0.1, kind="popular")


WORLDS = tuple(_grid())


@dataclass(frozen=True, slots=True)
class Population:
    """Class shares, each model's confusion matrix, and how often its errors are the other's."""

    shares: FloatArray
    recalls: tuple[FloatArray, FloatArray]
    wrong: FloatArray  # given an error, where it falls: (n_classes, n_classes)
    same: float

    def confusion(self, model: int) -> FloatArray:
        """Return the joint probabilities of truth and prediction."""
        recall = self.recalls[model]
        matrix: FloatArray = self.shares[:, None] * (1 - recall)[:, None] * self.wrong
        matrix[np.diag_indices_from(matrix)] += self.shares * recall
        return matrix


@lru_cache(maxsize=4)
def population(world: DefaultWorld, number: int) -> Population:
    """Return one of the populations of a world: every test set has its own."""
    generator = np.random.default_rng([world.n_classes, int(world.zipf), number, 20_261_116])
    m = world.n_classes
    shares = 1.0 / np.arange(1, m + 1) if world.zipf else np.ones(m)
    shares /= shares.sum()
    apart = 0.01 if world.kind == "sharp" else 0.1
    a = np.clip(generator.normal(world.accuracy, apart, m), 0.1, 0.995)
    b = np.clip(a - world.gap + generator.normal(0, apart / 2, m), 0.02, 0.99)
    if world.kind == "crossing":
        a = np.linspace(0.95, 0.5, m)
        b = a[::-1].copy()
    spread = np.full(m, max(5.0 / m, 0.2))
    wrong = np.tile(shares, (m, 1)) if world.kind == "popular" else generator.dirichlet(spread, m)
    np.fill_diagonal(wrong, 0.0)
    wrong = np.where(wrong.sum(axis=1, keepdims=True) > 0, wrong, 1 - np.eye(m))
    wrong /= wrong.sum(axis=1, keepdims=True)
    same = {"independent": 0.0, "close": 0.97}.get(world.kind, 0.8)
    return Population(shares, (a, b), wrong, same)


def draw_items(world: DefaultWorld, number: int, generator: np.random.Generator) -> list[IntArray]:
    """Draw the truth and both models' predictions."""
    whole, n, m = population(world, number), world.n, world.n_classes
    truth = generator.choice(m, n, p=whole.shares)
    hard = generator.random(n)
    own = np.where(generator.random(n) < whole.same, hard, generator.random(n))
    if world.kind == "opposed":
        own = 1 - own
    cumulative = np.cumsum(whole.wrong, axis=1) + np.arange(m)[:, None]
    columns = [truth]
    for recall, level in zip(whole.recalls, (hard, own), strict=True):
        places = np.searchsorted(cumulative.ravel(), truth + generator.random(n), side="right")
        errors = np.minimum(places - truth * m, m - 1)
        columns.append(np.where(level < recall[truth], truth, errors))
    if world.kind == "constant":
        columns[2] = np.zeros_like(truth)
    return columns


def true_values(world: DefaultWorld, number: int) -> FloatArray:
    """Return the metrics of A and of B in the population, ``(2, n_metrics)``."""
    return np.stack([values_of(one)[:, 0] for one in true_margins(world, number)])


def true_margins(world: DefaultWorld, number: int) -> list[Sums]:
    """Return the margins of each model's confusion matrix in the population, as one draw."""
    matrices = [population(world, number).confusion(model) for model in range(2)]
    if world.kind == "constant":
        matrices[1] = np.zeros_like(matrices[1])
        matrices[1][:, 0] = population(world, number).shares
    margins = [(np.diag(one), one.sum(axis=1), one.sum(axis=0)) for one in matrices]
    return [Sums(*(part[:, None] for part in one)) for one in margins]


def values_of(sums: Sums) -> FloatArray:
    """Return every metric of drawn margins, ``(n_metrics, n_draws)``."""
    total = sums.actual.sum(axis=0)
    hits, actual, predicted = (part / total for part in sums)
    right = hits.sum(axis=0)
    tiny = np.finfo(np.float64).tiny
    chance = (actual * predicted).sum(axis=0)
    room = (1 - (actual**2).sum(axis=0)) * (1 - (predicted**2).sum(axis=0))
    found: FloatArray = np.stack(
        [
            right,
            (hits / np.maximum(actual, tiny)).mean(axis=0),
            (2 * hits / np.maximum(actual + predicted, tiny)).mean(axis=0),
            np.where(room > 1e-12, (right - chance) / np.sqrt(np.maximum(room, 1e-12)), 0.0),
        ]
    )
    return found


@dataclass(frozen=True, slots=True)
class Answer:
    """What one prior said of macro-F1: intervals that hold or not, pulls in sds, findings."""

    difference: bool
    level: bool
    pull: float
    level_pull: float
    raised: frozenset[str]  # findings, also notes
    warned: bool


@dataclass(frozen=True, slots=True)
class Held:
    """One test set: whether the default's intervals hold each metric, and every prior's answer."""

    differences: FloatArray  # (n_metrics,)
    levels: FloatArray  # (n_metrics,)
    answers: Mapping[str, Answer]


def repeat(world: DefaultWorld, first: int, last: int) -> list[Held]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_held(world, number) for number in range(first, last)]


def _held(world: DefaultWorld, number: int) -> Held:
    generator = np.random.default_rng([WORLDS.index(world), number])
    truth, columns = true_values(world, number), draw_items(world, number, generator)
    labels = list(range(world.n_classes))
    named = {"A": columns[1], "B": columns[2]}
    seen = op.Outcomes.from_labels(columns[0], named, labels=labels)
    a, b = truth[:, METRICS.index("f1_macro")]
    answers = {}
    for prior in ("learned", *BESIDE):
        if prior == "percentile":
            drawn = resampled(seen, generator, values_of)
            answers[prior] = _percentile_answer(drawn[:, METRICS.index("f1_macro")], a, b)
        elif prior != "uniform" or world.n_classes <= _MOST_UNIFORM:
            answers[prior] = _answer(seen, prior, (a, b), generator)
    drawn = draw_values(seen, "learned", generator, values_of)  # (2, n_metrics, n_draws)
    return Held(holds(drawn[0] - drawn[1], truth[0] - truth[1]), holds(drawn[0], truth[0]), answers)


def _answer(
    seen: op.Outcomes, prior: str, truth: tuple[float, float], generator: np.random.Generator
) -> Answer:
    c = op.compare(
        seen,
        "A",
        "B",
        metric="f1_macro",
        labels=list(seen.labels),
        rope=0.01,
        prior=prior,
        n_draws=_N_DRAWS,
        random_state=generator,
    )
    observed = c.a.observed - c.b.observed
    return Answer(
        truth[0] - truth[1] in c.hdi,
        truth[0] in c.a.hdi,
        (c.mean - observed) / c.sd if c.sd else 0.0,
        (c.a.mean - c.a.observed) / c.a.sd if c.a.sd else 0.0,
        frozenset(one.name for one in c.findings) - _ABOUT_OTHERS,
        any(one.level != "note" and one.name not in _ABOUT_OTHERS for one in c.findings),
    )


def _percentile_answer(drawn: FloatArray, a: float, b: float) -> Answer:
    tails = [(1 - _PROB) / 2, (1 + _PROB) / 2]
    (low, high), (low_a, high_a) = np.quantile([drawn[0] - drawn[1], drawn[0]], tails, axis=1).T
    return Answer(low <= a - b <= high, low_a <= a <= high_a, 0.0, 0.0, frozenset(), False)


def draw_values(
    seen: op.Outcomes,
    prior: str,
    generator: np.random.Generator,
    values: Callable[[Sums], FloatArray],
) -> FloatArray:
    """Draw metrics of both models from the posterior, ``(2, n_metrics, n_draws)``."""
    posterior = build_posterior(seen, get_prior(prior))
    worker = posterior.worker("margins")
    step = max(1, min(_N_DRAWS, _AT_ONCE // max(posterior.n_gammas, 1)))
    parts = []
    for start in range(0, _N_DRAWS, step):
        drawn = worker(generator, min(step, _N_DRAWS - start))
        parts.append([values(one) for one in drawn if isinstance(one, Sums)])
    return np.concatenate([np.stack(part) for part in parts], axis=2)


def resampled(
    seen: op.Outcomes, generator: np.random.Generator, values: Callable[[Sums], FloatArray]
) -> FloatArray:
    """Resample items, as everybody does."""
    (table,) = seen.tables
    drawn = generator.multinomial(seen.n, table.counts / seen.n, _N_DRAWS)
    counts = np.ascontiguousarray(drawn.T, dtype=np.float64)
    truth, cells, found = table.cells[:, 0], np.arange(len(table.cells)), []
    shape = (seen.n_classes, cells.size)
    for model in (1, 2):
        predicted = table.cells[:, model]
        ones, right = np.ones(cells.size), (truth == predicted).astype(np.float64)
        margins = [
            csr_array((data, (into, cells)), shape=shape) @ counts
            for data, into in ((right, truth), (ones, truth), (ones, predicted))
        ]
        found.append(values(Sums(*margins)))
    return np.stack(found)


def holds(draws: FloatArray, truth: FloatArray) -> FloatArray:
    """Return for each row of draws whether the HDI holds the truth."""
    low, high = np.transpose([narrowest_ends(np.sort(row), _PROB) for row in draws])
    held: FloatArray = ((low <= truth) & (truth <= high)).astype(np.float64)
    return held


Found = Mapping[DefaultWorld, Sequence[Held]]


def tables(found: Found) -> dict[str, str]:
    """Return the shares of intervals that hold, and how well findings tell where they do not."""
    return {
        "defaults_differences.md": _table(found, "differences"),
        "defaults_levels.md": _table(found, "levels"),
        "guards.md": _guards(found),
    }


# Findings that claim to guard coverage, and of what.
GUARDS = (
    ("prior_pull", "difference"),
    ("prior_pull_on_levels", "level"),
    ("sparse_classes", "difference"),
    ("sparse_classes", "level"),
    ("sparse_cells", "difference"),
    ("few_items", "difference"),
)


def _guards(found: Found) -> str:
    """Return how often each finding is raised where coverage of macro-F1 is poor, and good."""
    rows = []
    for name, of in GUARDS:
        poor, good = guarded(found, name, of)
        shown = [
            cell
            for shares in (poor, good)
            for cell in (
                str(len(shares)),
                markdown.percent(float(np.mean(shares))) if shares else "–",
            )
        ]
        rows.append([f"`{name}`", of, *shown])
    head = ("finding", "of the", "below 90%", "raised", "above 93%", "raised")
    return markdown.table(head, rows, numbers_from=2)


def guarded(found: Found, name: str, of: str) -> tuple[list[float], list[float]]:
    """Return how often it is raised in each setting of poor coverage, and in each of good.

    A setting is a world and a prior.
    """
    poor, good = [], []
    for held in found.values():
        for prior in set(held[0].answers) - {"percentile"}:
            covered = _mean(held, prior, attrgetter(of))
            raised = _mean(held, prior, lambda answer: name in answer.raised)
            if covered < 0.9:
                poor.append(raised)
            elif covered > 0.93:
                good.append(raised)
    return poor, good


def _table(found: Found, what: str) -> str:
    head = ("classes, models", "items", *METRICS, "warned")
    beside = tuple(f"{prior}: f1_macro" for prior in BESIDE)
    one = what.removesuffix("s")
    rows = []
    for world, held in found.items():
        own = [markdown.percent(share) for share in _shares(held, what).tolist()]
        others = [
            markdown.percent(_mean(held, prior, lambda answer: getattr(answer, one)))
            if prior in held[0].answers
            else "–"
            for prior in BESIDE
        ]
        warned = markdown.percent(_mean(held, "learned", lambda answer: answer.warned))
        rows.append([world.name, f"{world.n:,}", *own, warned, *others])
    n = min(len(held) for held in found.values())
    text = markdown.table((*head, *beside), rows)
    return text + f"\n{n:,} test sets a row; 95% intervals by {_N_DRAWS:,} draws; per cent.\n"


def _shares(held: Sequence[Held], what: str) -> FloatArray:
    shares: FloatArray = np.mean([getattr(one, what) for one in held], axis=0)
    return shares


def _mean(held: Sequence[Held], prior: str, of: Callable[[Answer], float]) -> float:
    return float(np.mean([of(one.answers[prior]) for one in held]))


def failures(found: Found) -> list[str]:
    """Return where intervals hold too rarely, or too often."""
    failed = []
    for world, held in found.items():
        warned = _mean(held, "learned", lambda answer: answer.warned)
        for what in ("differences", "levels"):
            for metric, share in zip(METRICS, _shares(held, what).tolist(), strict=True):
                low, high = BOUNDS if world.mean_class >= 5 else (LEAST, 1.0)
                if share_is_off(share, len(held), low, high):
                    failed.append(f"{what} of {metric}, {world.name}, {world.n}: {share:.3f}")
                unwarned = share_is_off(warned, len(held), 0.9)
                if unwarned and share_is_off(share, len(held), 0.9):
                    failed.append(f"{what} of {metric}, {world.name}, {world.n}: unwarned")
    return failed
