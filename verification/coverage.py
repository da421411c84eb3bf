"""How often do 95% intervals hold the truth on real text classifiers?

The 7,532 test items of 20 Newsgroups with the answers of four classifiers
are taken for the world. Small test sets are drawn from them with replacement,
and each interval is checked against the macro-F1 of the whole. This asks more
than calibration does: the world was not drawn from any model's prior.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np

import outperform as op
from outperform.data.table import Table
from verification.chance import share_error

PAIRS = (("nb_bern", "nb_mult"), ("svm_l1", "svm_l2"), ("nb_mult", "svm_l2"))
CLASSIFIERS = ("nb_bern", "nb_mult", "svm_l1", "svm_l2")
# The classifier whose own score is estimated; the others behave alike and take as long again.
LEVELLED = ("nb_mult",)
SIZES = (200, 1_000)
METRIC = "f1_macro"
SEED = 20_150_717

# Enough for the fitted HDI that users get; a plain sample minimum would be too narrow.
_N_DRAWS = 5_200

# Roads to the difference: column title, prior, whether paired.
DIFFERENCES = (
    ("unit", "unit", True),
    ("unit, unpaired", "unit", False),
    ("hierarchical", "hierarchical", True),
    ("bootstrap", "bootstrap", True),
)
LEVELS = ("learned", "hierarchical", "unit", "uniform", "bootstrap")
# The roads beside the default one are for comparison; so many repetitions show what they do.
_BESIDE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One interval: what it was for and whether it held the truth."""

    what: str
    n: int
    road: str
    covered: bool
    width: float
    off: float  # posterior mean minus truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The share of intervals that held the truth, and how wide they were."""

    what: str
    n: int
    road: str
    repetitions: int
    covered: float
    width: float
    bias: float

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the coverage."""
        return share_error(self.covered, self.repetitions)


@lru_cache(maxsize=1)
def the_world() -> op.Outcomes:
    """Return the joint table of all items."""
    news = op.datasets.load_news20()
    return op.Outcomes.from_labels(news.y_true, news.predictions)


def resample(world: op.Outcomes, n: int, generator: np.random.Generator) -> op.Outcomes:
    """Draw a test set of ``n`` items; classes that got none stay in the table."""
    table = world.tables[0]
    counts = generator.multinomial(n, table.counts / table.n)
    seen = counts > 0
    return replace(world, tables=(Table(table.cells[seen], counts[seen]),))


def repeat(n: int, first: int, last: int) -> list[Hit]:
    """Run repetitions ``first`` to ``last`` (not included) at one size."""
    world = the_world()
    truth = {name: observed(world, name) for name in CLASSIFIERS}
    hits = []
    for repetition in range(first, last):
        # A stream per repetition, so that chunks can be run in any order.
        generator = np.random.default_rng([SEED, n, repetition])
        seen = resample(world, n, generator)
        roads = DIFFERENCES if repetition < _BESIDE else DIFFERENCES[:1]
        hits += [*_differences(seen, truth, generator, roads), *_levels(seen, truth, generator)]
    return hits


def observed(outcomes: op.Outcomes, name: str) -> float:
    """Return a classifier's metric as it was counted."""
    margins = op.metrics.Margins(**outcomes.margins(name)._asdict())
    return float(op.metrics.get(METRIC).evaluate(margins))


def _differences(
    seen: op.Outcomes,
    truth: dict[str, float],
    generator: np.random.Generator,
    roads: Sequence[tuple[str, str, bool]],
) -> Iterator[Hit]:
    for (a, b), (road, prior, paired) in product(PAIRS, roads):
        result = op.compare(
            seen,
            a,
            b,
            metric=METRIC,
            prior=prior,
            paired=paired,
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        yield _hit(f"{a} − {b}", seen.n, road, result.hdi, result.mean, truth[a] - truth[b])


def _levels(
    seen: op.Outcomes, truth: dict[str, float], generator: np.random.Generator
) -> Iterator[Hit]:
    for name, prior in product(LEVELLED, LEVELS):
        result = op.estimate(
            seen,
            name,
            metric=METRIC,
            prior=prior,
            n_draws=_N_DRAWS,
            random_state=generator,
            n_jobs=1,
        )
        yield _hit(name, seen.n, prior, result.hdi, result.mean, truth[name])


def _hit(
    what: str, n: int, road: str, interval: op.results.Interval, mean: float, truth: float
) -> Hit:
    return Hit(
        what=what,
        n=n,
        road=road,
        covered=truth in interval,
        width=interval.width,
        off=mean - truth,
    )


def summarise(hits: list[Hit]) -> list[Coverage]:
    """Return one row for each quantity, size and road, in the order of first appearance."""
    groups: dict[tuple[str, int, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.what, hit.n, hit.road), []).append(hit)
    return [
        Coverage(
            what=what,
            n=n,
            road=road,
            repetitions=len(group),
            covered=float(np.mean([hit.covered for hit in group])),
            width=float(np.mean([hit.width for hit in group])),
            bias=float(np.mean([hit.off for hit in group])),
        )
        for (what, n, road), group in groups.items()
    ]


def gate(row: Coverage) -> tuple[float, float] | None:
    """Return the bounds that a coverage must keep, for the roads that are the defaults."""
    if row.road == "unit" and "−" in row.what:
        return 0.93, 0.985
    if row.road == "learned":
        return 0.92, 0.98
    return None
