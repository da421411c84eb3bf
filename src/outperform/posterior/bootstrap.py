"""Prior ``bootstrap``: weights on items, groups or label sets. Also plain span counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.data.label_sets import labels_in_both, labels_of
from outperform.data.outcomes import Outcomes
from outperform.errors import UsageError, param
from outperform.posterior.base import (
    Drawn,
    Needs,
    Prior,
    Sums,
    Tables,
    TablesBase,
    Worker,
)
from outperform.posterior.gammas import fill_gammas, fill_rows, spread_factors
from outperform.posterior.influence import PlugIn
from outperform.posterior.rng import Fill, block_length, run_blocks
from outperform.posterior.sums import DirichletCells, LinearWeights, Margins, held_by

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class MoreWeights(NamedTuple):
    """Weights added to those of the units, and factors for the unit weights."""

    shapes: FloatArray  # (n_added,) shapes of the gammas drawn
    matrix: csr_array  # (n_sums, n_added), contribution of each added weight to the sums
    left: FloatArray  # (n_units,) factor for the shape of each unit's weight


# This many weights stay in the cache while a block of draws is evaluated.
_NEAR = 1 << 17


def block_of_items(n_units: int) -> int:
    """Return the number of draws per block, which depends only on the number of units.

    Examples
    --------
    >>> block_of_items(200), block_of_items(1_000_000)
    (655, 1)
    """
    return max(1, min(4096, _NEAR // max(n_units, 1)))


def draw_items(
    make_evaluate: Callable[[], Callable[[FloatArray, FloatArray], None]],
    *,
    n_units: int,
    shapes: FloatArray | None,
    n_values: int,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    df: float | None = None,
) -> FloatArray:
    """Draw a weight for every unit and evaluate, block by block; ``(n_values, n_draws)``.

    A unit that represents r equal items has a Gamma(r) weight, the sum of r Exp(1) weights. The
    weights are not normalised, and they are never stored.

    Parameters
    ----------
    make_evaluate
        Called once per thread; returns ``evaluate(weights, out)`` from weights ``(length,
        n_units)`` to ``out  # (n_values, length)``.
    n_units
        Number of weights per draw.
    shapes
        Number of items that each unit represents. None means one each.
    n_values
        Number of values per draw.
    n_draws
        Number of draws.
    seed
        Seed of the draws.
    n_jobs
        Number of parallel jobs. None means 1 and -1 means all available cores, as in scikit-learn.
        Results do not depend on it.
    df
        Degrees of freedom of the units' estimate of the values' spread. None if there are many
        units.
    """
    length = block_of_items(n_units)

    def make_fill() -> Fill:
        evaluate, weights = make_evaluate(), np.empty((min(length, n_draws), n_units))

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            block = weights[: out.shape[1]]
            factors = None if df is None else spread_factors(generator, df, len(block))[:, None]
            each = 1.0 if shapes is None else shapes
            fill_gammas(generator, each if factors is None else each * factors, block)
            evaluate(block, out)

        return fill

    return run_blocks(
        make_fill,
        n_values=n_values,
        n_draws=n_draws,
        n_gammas=n_units,
        seed=seed,
        n_jobs=n_jobs,
        length=length,
    )


# Up to this many kinds of units, each kind has its own weight. Beyond that, only the most
# influential ones do (initially this many); the rest are treated jointly, in blocks of this many
# sums.
MANY_UNITS, _LEAST_DRAWN, _MOST_SUMS = 1 << 14, 512, 64
# The units treated jointly shift a quantile by less than a hundredth of an sd if their skewness
# does not exceed this.
_SKEWNESS = 0.02


class Limit(NamedTuple):
    """The most influential units. All others are replaced by one normal with the exact moments."""

    drawn: IntArray  # kinds of units that have their own weights
    n_others: int  # number of units (not kinds) without their own weight
    mean: FloatArray  # (n_sums,) means of the sums over the others
    root: FloatArray  # (n_sums, n_sums); factor of their covariance

    @classmethod
    def of(cls, terms: FloatArray, moved: FloatArray, shapes: FloatArray) -> Limit | None:
        """Choose the units that contribute most to the values' third moments.

        Parameters
        ----------
        terms
            Contribution of one unit of each kind to every sum, ``(n_sums, n_kinds)``.
        moved
            Influence of one such unit on every value whose skewness must be preserved, ``(n_values,
            n_kinds)``.
        shapes
            Number of units of each kind.

        Returns
        -------
        Limit or None
            None if there are few kinds, or if most of them matter.
        """
        n_kinds = len(shapes)
        if n_kinds <= MANY_UNITS or len(terms) > _MOST_SUMS or np.isnan(moved).any():
            return None
        sd = np.sqrt(np.square(moved) @ shapes)[:, None]
        # A gamma of shape r has third central moment 2r. Absolute values are used because
        # contributions that cancel in one sum need not cancel in another.
        thirds = 2 * shapes * np.abs(moved / np.where(sd > 0, sd, 1.0)) ** 3
        order = np.argsort(-thirds.max(axis=0), kind="stable")
        left = np.cumsum(thirds[:, order[::-1]], axis=1).max(axis=0)[::-1]  # without the first k
        n_drawn = _LEAST_DRAWN
        while n_drawn < n_kinds // 2 and left[n_drawn] > _SKEWNESS:
            n_drawn *= 2
        if n_drawn >= n_kinds // 2:
            return None
        others = np.sort(order[n_drawn:])
        matrix, own = terms[:, others], shapes[others]
        # QR is used because squaring sums far from 0 would lose the digits of their spread.
        root = np.asarray(np.linalg.qr((matrix * np.sqrt(own)).T, mode="r")).T
        return cls(np.sort(order[:n_drawn]), round(float(own.sum())), matrix @ own, root)

    def add(
        self, sums: FloatArray, generator: np.random.Generator, spread: FloatArray | None
    ) -> None:
        """Add the remaining units to sums ``(n_sums, n)``; ``spread`` multiplies their shapes."""
        normal = self.root @ generator.standard_normal((self.root.shape[1], sums.shape[1]))
        if spread is None:
            sums += self.mean[:, None] + normal
        else:
            sums += self.mean[:, None] * spread + normal * np.sqrt(spread)


# This many draws are multiplied by a run of units at a time.
_TOGETHER = 64


def draw_sums(
    terms: csr_array | FloatArray,
    evaluate: Callable[[FloatArray], FloatArray],
    *,
    shapes: FloatArray,
    n_values: int,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    df: float | None = None,
    added: MoreWeights | None = None,
    stretched: bool = False,
    limit: Limit | None = None,
) -> FloatArray:
    """Draw a weight for every unit, add up the weighted terms, and evaluate the sums.

    Weights and terms are multiplied tile by tile, so each is read from memory only once per several
    dozen draws. Weights are drawn in the order of the units.

    Parameters
    ----------
    terms
        Contribution of one unit of each kind to every sum, ``(n_sums, n_kinds)``.
    evaluate
        Function from sums ``(n_sums, length)`` to values ``(n_values, length)``; must be stateless.
    shapes
        Number of units of each kind; equal shapes are drawn faster if adjacent.
    n_values, n_draws, seed, n_jobs, df
        As for :func:`draw_items`.
    added
        Additional weights in each draw, with their contributions. None means no such weights.
    stretched
        Whether ``df`` stretches the values around those at even weights instead of changing the
        shapes of the weights. Needed if a value is meaningless when a few items have almost all the
        weight.
    limit
        Units to draw individually; the rest are treated jointly. None means all are drawn
        individually.
    """
    drawn = [(shapes, terms)]
    if added is not None:
        drawn = [(shapes * added.left, terms), (added.shapes, added.matrix)]
    n_gammas, mass = sum(len(own) for own, _ in drawn), float(drawn[0][0].sum())
    whole: FloatArray = np.sum([matrix @ own for own, matrix in drawn], axis=0)
    twice = PlugIn(np.repeat(whole[:, None], 2, axis=1), evaluate)
    centre = twice.observed[:, :1] if stretched else None
    if limit is not None:
        drawn = [(shapes[limit.drawn], terms[:, limit.drawn])]
        n_gammas = len(limit.drawn)
    length = max(block_length(n_gammas), _TOGETHER)
    width = max(1, _NEAR // length)
    tiles = [
        (own[start : start + width], matrix[:, start : start + width])
        for own, matrix in drawn
        for start in range(0, len(own), width)
    ]

    def make_fill() -> Fill:
        memory = np.empty(min(length, n_draws) * width)

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            n = out.shape[1]
            totals = np.zeros((terms.shape[0], n))
            spread = None if df is None else spread_factors(generator, df, n)
            for own, matrix in tiles:
                weights = memory[: len(own) * n].reshape(-1, n)
                fill_rows(generator, own, weights, None if stretched else spread)
                totals += matrix @ weights
            if limit is not None:
                limit.add(totals, generator, None if stretched else spread)
            out[:] = evaluate(totals)
            if spread is not None and centre is not None:
                # Factor by which weights with these shapes change the spread of a mean.
                out[:] = centre + (out - centre) * np.sqrt((mass + 1) / (mass * spread + 1))

        return fill

    return run_blocks(
        make_fill,
        n_values=n_values,
        n_draws=n_draws,
        n_gammas=n_gammas,
        seed=seed,
        n_jobs=n_jobs,
        length=length,
    )


class LabelMargins(Margins):
    """Sums item weights into hits, actual and predicted counts for each label and model."""

    def __init__(self, outcomes: Outcomes, cells: IntArray) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.n_models = outcomes.n_classes, cells.shape[1] - 1
        truth = labels_of(outcomes.sets, cells[:, 0])
        rows, columns = [truth.label], [truth.row]
        for model in range(self.n_models):
            predicted = labels_of(outcomes.sets, cells[:, 1 + model])
            hits = labels_in_both(truth, predicted, n_labels=self.n_classes)
            start = self._offset(model)
            rows += [start + hits.label, start + self.n_classes + predicted.label]
            columns += [hits.row, predicted.row]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = ((1 + 2 * self.n_models) * self.n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)


class ItemWeights(LinearWeights):
    """One gamma per kind of item or group: the bootstrap of label sets."""

    def tally(self, needs: Needs) -> Margins:
        """Return the tally that sums the weights by label."""
        return LabelMargins(self.outcomes, self.cells)


class LabelByLabel(TablesBase):
    """Independent posteriors, one per label.

    Parameters
    ----------
    outcomes
        Label sets of one model or of several paired models.
    build
        Function that returns the posterior of a binary table.
    """

    def __init__(self, outcomes: Outcomes, build: Callable[[Outcomes], Tables]) -> None:
        self.n_models = len(outcomes.models)
        self.of_labels = [build(outcomes.binarize(label)) for label in outcomes.labels]

    @property
    def n_gammas(self) -> int:
        """Approximate number of random numbers per draw."""
        return sum(part.n_gammas for part in self.of_labels)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws the table of each label."""
        workers = [part.worker("margins") for part in self.of_labels]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            by_label = [worker(generator, length) for worker in workers]
            return [_stacked(list(drawn)) for drawn in zip(*by_label, strict=True)]

        return draw


def _stacked(drawn: list[Drawn]) -> Sums:
    """Return each label's sums as shares of its table; all tables contain the same items."""
    stacked: list[list[FloatArray]] = [[], [], []]
    for sums in drawn:
        assert isinstance(sums, Sums)
        total = sums.actual.sum(axis=0)
        for index, values in enumerate(sums):
            stacked[index].append(values[1] / total)
    return Sums(*(np.stack(values) for values in stacked))


def bootstrap(outcomes: Outcomes) -> LinearWeights:
    """Return the posterior with weight only on cells that occurred.

    Every item has an Exp(1) weight; if groups are known, every group has one. The prior is
    improper, so there is no Bayes factor, and cells that never occurred stay impossible.
    """
    weights = ItemWeights if outcomes.kind == "label_sets" else LinearWeights
    table = outcomes.tables[0]
    groups = table.groups
    if groups is None:
        return weights(outcomes, cells=table.cells, shapes=table.counts.astype(np.float64))
    shapes = groups.repeats.astype(np.float64)
    return weights(outcomes, cells=table.cells, shapes=shapes, matrix=held_by(outcomes, groups))


def span_cells(outcomes: Outcomes, *, shape: float) -> DirichletCells:
    """Return the posterior with the same prior shape on every cell of every type."""
    n_models, outside = len(outcomes.models), outcomes.n_classes
    cells = np.array(
        [
            cell
            for kind in range(outcomes.n_classes)
            for cell in product((kind, outside), repeat=1 + n_models)
            if kind in cell
        ]
    )
    table = outcomes.tables[0]
    counted = dict(zip(map(tuple, table.cells.tolist()), table.counts.tolist(), strict=True))
    counts = np.array([float(counted.get(tuple(cell), 0)) for cell in cells.tolist()])
    return DirichletCells(outcomes, cells=cells, shapes=counts + shape)


def flat_spans(outcomes: Outcomes, prior: Prior) -> DirichletCells:
    """Return the posterior with the same explicit prior on every cell."""
    if prior.rows.ndim or prior.rows <= 0:
        raise UsageError(
            "the prior for spans must be one positive number, used for every cell (true "
            f"positives, false positives, false negatives), e.g. {param('prior=', 1.0)}"
        )
    return span_cells(outcomes, shape=float(prior.rows))


def unit_spans(outcomes: Outcomes) -> DirichletCells:
    """Return the posterior with prior 1/2 on tp, fp and fn of each model and type."""
    return span_cells(outcomes, shape=0.5 ** len(outcomes.models))
