"""Both engines on the same data: does a chain of PyMC give the direct engine's posterior?

Nine numbers of the posterior of A − B are compared: mean, sd, five quantiles, P(A > B) and
P(in ROPE). What is told is how far apart they are in joint Monte Carlo errors, where the
draws of a chain count as what they are worth for that very number: ArviZ's effective sample
size of the draws, of their squared distances from the mean, or of "is it below?". Quantiles
are compared by their levels, P(d ≤ q) at the direct engine's q, which needs no density.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.decision.rope import sd_error
from outperform.errors import require
from outperform.inference.spec import counted, measure
from outperform.posterior import pymc as chains
from outperform.posterior.pymc.sampling import Chain
from outperform.posterior.rng import child, seed_sequence
from verification.engine_data import DATA, DataSet, cells_of, label_sets_of, outcomes_of

LEVELS = (0.05, 0.25, 0.50, 0.75, 0.95)
EXACT_DRAWS = 400_000
# NUTS of NumPyro takes less than half the time of PyMC's own.
CHAINS = op.PyMC(sampler="numpyro", progress=False)
_MOST_NODES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Road:
    """A model of the PyMC engine: which one, and of which outcomes.

    ``own`` builds it from counts ``(truth, A, B)`` where it has no name in ``compare``.
    """

    name: str
    prior: str
    paired: bool = True
    sets: bool = False
    own: Callable[[IntArray], Sequence[Any]] | None = None
    most: int | None = None  # items

    def serves(self, data: DataSet) -> bool:
        """Whether it is a model of these data."""
        small = self.most is None or data.n <= self.most
        return small and (self.own is None or data.is_binary)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far the engines are apart on one data set, and what the chain says of itself."""

    data: str
    road: str
    distances: dict[str, float]  # in joint Monte Carlo errors
    rhat: float
    ess: float
    divergences: int
    seconds: float  # of a processor

    @property
    def farthest(self) -> float:
        """The largest of the distances."""
        return max(self.distances.values())


def _tables(cells: IntArray) -> tuple[IntArray, IntArray]:
    return cells.sum(axis=2), cells.sum(axis=1)


def _compact(cells: IntArray) -> list[Any]:
    """Return the compact binary model of A, and that of B."""
    return [
        chains.binary(tn=int(tn), fp=int(fp), fn=int(fn), tp=int(tp))
        for (tn, fp), (fn, tp) in _tables(cells)
    ]


def _by_item(cells: IntArray) -> list[Any]:
    """Return the model of A with a node for each item, and that of B."""
    truth, *said = items_of(cells)
    return [chains.per_item(truth, one) for one in said]


def _by_item_paired(cells: IntArray) -> list[Any]:
    return [chains.per_item_paired(*items_of(cells))]


def items_of(cells: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return truth, what A said and what B said of each item."""
    truth, a, b = (
        np.repeat(place, cells.ravel()) for place in np.indices(cells.shape).reshape(3, -1)
    )
    return truth, a, b


ROADS = (
    Road(name="uniform, paired", prior="uniform"),
    Road(name="uniform, unpaired", prior="uniform", paired=False),
    Road(name="unit, paired", prior="unit"),
    Road(name="unit, unpaired", prior="unit", paired=False),
    Road(name="hierarchical, paired", prior="hierarchical"),
    Road(name="hierarchical, unpaired", prior="hierarchical", paired=False),
    Road(name="learned, unpaired", prior="learned", paired=False),
    Road(name="label sets, uniform", prior="uniform", sets=True),
    Road(name="label sets, unit", prior="unit", sets=True),
    Road(name="binary, counts", prior="uniform", paired=False, own=_compact),
    Road(
        name="binary, documents", prior="uniform", paired=False, own=_by_item, most=_MOST_NODES
    ),
    Road(
        name="binary, documents, paired", prior="uniform", own=_by_item_paired, most=_MOST_NODES
    ),
)  # fmt: skip

Case = tuple[DataSet, Road]
CASES: list[Case] = [(data, road) for road in ROADS for data in DATA if road.serves(data)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A chain that is asked something else than the direct engine."""

    name: str
    data: str
    asked: str
    chained: str

    def agree(self, pymc: op.PyMC = CHAINS) -> Agreement:
        """Ask both engines, the chain wrongly."""
        case, bug = _case(self.data, self.asked), _case(self.data, self.chained)
        return agree(case, pymc, chained=bug[1])


PLANTS = (
    Plant(name="another prior", data="tiny", asked="uniform, paired", chained="unit, paired"),
    Plant(
        name="pairs torn apart", data="tiny", asked="uniform, paired", chained="uniform, unpaired"
    ),
    Plant(
        name="no more than one rate learned", data="A perfect", asked="learned, unpaired",
        chained="hierarchical, unpaired",
    ),
)  # fmt: skip


def _case(data: str, road: str) -> Case:
    (found,) = (case for case in CASES if (case[0].name, case[1].name) == (data, road))
    return found


def run_plant(plant: Plant) -> Agreement:
    """Ask both engines with a bug in place."""
    return plant.agree()


def agree(case: Case, pymc: op.PyMC = CHAINS, chained: Road | None = None) -> Agreement:
    """Ask both engines about one data set.

    Parameters
    ----------
    case
        The data set, and the model.
    pymc
        How the chain walks.
    chained
        What the chain is asked instead, to plant a bug.
    """
    data, road = case
    start = time.process_time()
    exact = _compare(data, road, n_draws=EXACT_DRAWS, random_state=_seed("exact", data, road))
    draws, said = chain_draws(data, chained or road, exact, pymc)
    return Agreement(
        data=data.name,
        road=road.name,
        distances=distances(draws, exact),
        rhat=max(one.rhat for one in said),
        ess=min(one.ess for one in said),
        divergences=max(one.divergences for one in said),
        seconds=time.process_time() - start,
    )


def _seed(engine: str, data: DataSet, road: Road) -> int:
    """Return a seed of its own: with one for all, a chain of like models takes like steps."""
    return zlib.crc32(f"{engine}, {data.name}, {road.name}".encode())


def _compare(data: DataSet, road: Road, **how: Any) -> op.Comparison:
    return op.compare(
        (label_sets_of if road.sets else outcomes_of)(data),
        "A",
        "B",
        metric="f1_macro" if road.sets else data.metric,
        rope=data.rope,
        prior=road.prior,
        paired=road.paired,
        n_jobs=1,
        **how,
    )


def chain_draws(
    data: DataSet, road: Road, exact: op.Comparison, pymc: op.PyMC
) -> tuple[FloatArray, list[Chain]]:
    """Return draws of A − B, one chain a row, and the diagnostics of A, B and A − B."""
    if road.own is not None:
        values, divergences = _own_values(data, road, exact, pymc)
        a, b = values.reshape(2, pymc.chains, -1)
        said = [
            chains.diagnose(one, sampler=str(pymc), divergences=divergences)
            for one in (a, b, a - b)
        ]
        return a - b, said
    seed = _seed("pymc", data, road)
    c = _compare(data, road, engine=pymc, random_state=seed)
    found = [one for one in (c.a.chain, c.b.chain, c.chain) if one is not None]
    return c.draws.reshape(pymc.chains, -1), found


def _own_values(
    data: DataSet, road: Road, exact: op.Comparison, pymc: op.PyMC
) -> tuple[FloatArray, int]:
    """Return the metric of A and of B ``(2, n_draws)`` from one chain, or from one for each."""
    assert road.own is not None
    drawn: list[Any] = []
    divergences = 0
    models, seed = road.own(cells_of(data)), seed_sequence(_seed("pymc", data, road))
    for place, model in enumerate(models):
        trace = chains.sample(model, pymc, seed=child(seed, place), n_jobs=1)
        drawn += chains.confusions(trace.posterior, n_models=2 // len(models), n_classes=2)
        divergences += chains.count_divergences(trace)
    values = np.empty((2, pymc.n_draws))
    measure(drawn, [counted(exact.spec)], values)
    return values, divergences


# How far apart


def distances(draws: FloatArray, exact: op.Comparison) -> dict[str, float]:
    """Return how far the numbers are apart in joint Monte Carlo errors.

    Parameters
    ----------
    draws
        A chain's draws of A − B, one chain a row.
    exact
        The direct engine's answer.
    """
    squares = np.square(draws - draws.mean())
    n_exact = math.inf if exact.exact else float(exact.draws.size)
    found = {
        "mean": _apart(
            draws.mean(), exact.mean, draws.std() / math.sqrt(worth(draws)), exact.mc_errors["mean"]
        ),
        "sd": _apart(draws.std(), exact.sd, sd_error(draws, worth(squares)), exact.mc_errors["sd"]),
    }
    for level in LEVELS:
        place, share = _quantile(exact, level)
        found[f"{level:.0%}"] = share_distance((draws <= place).astype(float), share, n_exact)
    above = (draws > 0) + 0.5 * (draws == 0)
    found["P(A > B)"] = share_distance(above, exact.p_greater, n_exact)
    inside = (draws >= exact.rope.low) & (draws <= exact.rope.high)
    found["P(ROPE)"] = share_distance(inside.astype(float), exact.p_equivalent, n_exact)
    return found


def worth(values: FloatArray) -> float:
    """Return how many independent values those of a chain are worth for their mean."""
    if values.min() == values.max():
        return float(values.size)
    az = require("arviz", extra="pymc", purpose="the study of engines")
    return float(az.ess(values, method="mean"))


def _apart(one: float, other: float, error: float, other_error: float) -> float:
    return float(abs(one - other)) / math.hypot(error, other_error)


def _quantile(exact: op.Comparison, level: float) -> tuple[float, float]:
    """Return where the direct engine has a quantile, and its P(d ≤ quantile)."""
    if exact.distribution is not None:
        return exact.distribution.quantile(level), level
    place = float(np.quantile(exact.draws, level))
    return place, float((exact.draws <= place).mean())


def share_distance(inside: FloatArray, share: float, n: float) -> float:
    """Return how far a chain's share is from one of n independent draws, in joint errors.

    Both errors are those of that one of the two shares that is nearer to one half, after
    two draws more on either side: an engine that has not seen a rare event yet has not
    shown that it is impossible.

    Examples
    --------
    >>> never = np.zeros((4, 250))
    >>> round(share_distance(never, 0.0, 1000.0), 1), round(share_distance(never, 0.1, 1e9), 1)
    (0.0, 10.5)
    """
    own, n_own = float(inside.mean()), worth(inside)
    off = min(abs(_with_four(own, n_own) - 0.5), abs(_with_four(share, n) - 0.5))
    return abs(own - share) / math.sqrt((0.25 - off**2) * (1 / n_own + 1 / n))


def _with_four(share: float, n: float) -> float:
    return share if math.isinf(n) else (share * n + 2) / (n + 4)
