"""Prior ``strata``: weights of rows within strata whose sizes are drawn from the pool's counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import product
from typing import NamedTuple

import numpy as np

from outperform._rows import place_rows
from outperform._typing import FloatArray, IntArray
from outperform.data.judged import Judged, agreement_patterns, refuse_many
from outperform.data.outcomes import Outcomes
from outperform.errors import ResourceError
from outperform.posterior.base import Drawn, Needs, TablesBase, Worker, margins_of
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.gammas import draw_gammas, fill_proportions, normalise
from outperform.posterior.hierarchical import GridPosterior, RisingFactorial, Term, grid_posterior

_MOST_CELLS = 1 << 16
_JEFFREYS = 0.5
# Prior probability that people agree with a judge, and this prior's largest weight, in items.
_AGREE, _MOST_MASS = 0.75, 4.0
# Below the smallest mass, a stratum without labels might have zero weight; above the largest, more
# mass has no effect.
_LEAST_MASS, _GREATEST_MASS = 0.1, 1e6


class WeighedRows(NamedTuple):
    """Labels drawn with known probabilities, by stratum and outcome.

    A label drawn with half the probability of another represents twice as many items, so its gamma
    has twice the weight.
    """

    stratum: IntArray
    outcome: IntArray
    counts: FloatArray
    weights: FloatArray  # inverse probabilities, 1 on average

    def effective(self, n_strata: int, n_outcomes: int) -> FloatArray:
        """Return effective label counts by Kish's formula."""
        sums, squares = (
            np.bincount(self.stratum, self.counts * self.weights**power, minlength=n_strata)
            for power in (1, 2)
        )
        worth = np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0)
        counts: FloatArray = np.zeros((n_strata, n_outcomes))
        np.add.at(counts, (self.stratum, self.outcome), self.counts * self.weights)
        counts *= worth[:, None]
        return counts

    def draw(
        self, generator: np.random.Generator, positions: IntArray, shapes: FloatArray, size: int
    ) -> FloatArray:
        """Draw a gamma for every row, weight it and sum by index, ``(size, length)``."""
        gammas = draw_gammas(generator, shapes) * self.weights[:, None]
        sums: FloatArray = np.zeros((size, shapes.shape[1]))
        if len(positions):
            order = np.argsort(positions, kind="stable")
            known, starts = np.unique(positions[order], return_index=True)
            sums[known] = np.add.reduceat(gammas[order], starts, axis=0)
        return sums


class Shares:
    """Outcome shares common to all strata, and the shrinkage of each stratum toward them.

    Parameters
    ----------
    counts
        Count of each outcome in each stratum, ``(n_strata, n_outcomes)``.
    mass
        Prior mass κ of the common shares in every stratum. None means learned from the data.
    shapes
        Prior of the common shares, one concentration per outcome.
    rows
        Labels with their weights if they were drawn with known probabilities.
    """

    def __init__(
        self,
        counts: FloatArray,
        *,
        mass: float | None = None,
        shapes: FloatArray | float = _JEFFREYS,
        rows: WeighedRows | None = None,
    ) -> None:
        self.counts, self.mass, self.shapes = counts, mass, np.asarray(shapes)
        self.rows = rows

    def draw(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Draw the prior mass κρ of each outcome, ``(n_outcomes, length)``."""
        if self.mass is None:
            (log_mass,) = self.mass_posterior.draw(generator, length)
            mass = np.clip(np.exp(log_mass), _LEAST_MASS, _GREATEST_MASS)
        else:
            mass = np.full(length, self.mass)
        n = np.maximum(self.counts.sum(axis=1), 1.0)
        # (n_strata, length): how many labels of ρ one label of the stratum counts as
        worth = (1.0 + mass) / (n[:, None] + mass)
        own = self.shapes.reshape(-1, 1)
        shares: FloatArray
        if self.rows is None:
            shares = draw_gammas(generator, own + self.counts.T @ worth)
        else:
            rows, n_outcomes = self.rows, self.counts.shape[1]
            shapes = rows.counts[:, None] * worth[rows.stratum]
            shares = draw_gammas(generator, own, size=(n_outcomes, length))
            shares += rows.draw(generator, rows.outcome, shapes, n_outcomes)
        masses: FloatArray = mass * shares / shares.sum(axis=0)
        return masses

    @cached_property
    def mass_posterior(self) -> GridPosterior:
        """Posterior of log κ, with a Dirichlet-multinomial likelihood for every stratum."""
        pooled: FloatArray = self.counts.sum(axis=0) + self.shapes
        terms = [
            Term(function=RisingFactorial(column), log_alpha=partial(_moved, by=float(by)))
            for column, by in zip(self.counts.T, np.log(pooled / pooled.sum()), strict=True)
        ]
        totals = RisingFactorial(self.counts.sum(axis=1))
        terms.append(Term(function=totals, log_alpha=partial(_moved, by=0.0), sign=-1.0))
        return grid_posterior(terms, 1)


def _moved(mesh: Sequence[FloatArray], *, by: float) -> FloatArray:
    return mesh[0] + by


class Stratified(TablesBase):
    """Gammas of rows, normalised within each stratum and multiplied by its drawn size.

    Parameters
    ----------
    cells
        True class and each model's prediction for every row of each stratum, ``(n_strata, n_rows, 1
        + n_models)``.
    sizes
        Number of items in each stratum.
    counts
        Number of labelled items in each row, ``(n_strata, n_rows)``.
    prior
        Prior concentration of each row, in addition to the shares learned across strata.
    n_classes
        Number of classes.
    patterns
        Groups of strata with common shares.
    weighed
        Labels with their weights. If passed, they are drawn instead of the counts.
    beside
        True class and each model's prediction according to the judge, ``(n_strata, 1 + n_models)``.
        These models are computed from the strata sizes and come after those of the rows.
    n_shared
        Number of gammas per draw for the common shares.
    """

    def __init__(
        self,
        cells: IntArray,
        *,
        sizes: FloatArray,
        counts: FloatArray,
        prior: FloatArray,
        n_classes: int,
        patterns: Sequence[Pattern] = (),
        weighed: WeighedRows | None = None,
        beside: IntArray | None = None,
        n_shared: int = 0,
    ) -> None:
        self.cells = cells.reshape(-1, cells.shape[2])
        self.sizes, self.counts, self.prior = sizes, counts, prior
        self.n_classes, self.patterns = n_classes, tuple(patterns)
        self.weighed, self.beside = weighed, beside
        n_own = cells.shape[2] - 1
        self.n_models = n_own if beside is None else n_own + beside.shape[1] - 1
        self.n_shared = n_shared

    @property
    def n_gammas(self) -> int:
        """Number of gammas per draw."""
        n_labels = 0 if self.weighed is None else len(self.weighed.counts)
        return int(self.counts.size + self.sizes.size + n_labels + self.n_shared)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws weights and adds them up for each model."""
        of_rows = self._adders(self.cells)
        of_strata = [] if self.beside is None else self._adders(self.beside)

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            sizes, weights = self._draw(generator, length)
            confusions = [add(weights) for add in of_rows] + [add(sizes) for add in of_strata]
            return [each if needs == "confusion" else margins_of(each) for each in confusions]

        return draw

    def weights_worker(self) -> Callable[[np.random.Generator, int], FloatArray]:
        """Return a function that draws the weights of all rows, ``(n_rows, n_draws)``."""
        return lambda generator, length: self._draw(generator, length)[1]

    def _draw(self, generator: np.random.Generator, length: int) -> tuple[FloatArray, FloatArray]:
        """Draw the sizes of the strata and the weights of their rows."""
        sizes = np.empty((len(self.sizes), length))
        fill_proportions(generator, self.sizes, sizes)
        weights = draw_gammas(
            generator, self._shapes(generator, length), (*self.counts.shape, length)
        )
        if self.weighed is not None:
            positions = self.weighed.stratum * self.counts.shape[1] + self.weighed.outcome
            shapes = np.repeat(self.weighed.counts[:, None], length, axis=1)
            sums = self.weighed.draw(generator, positions, shapes, self.counts.size)
            weights += sums.reshape(weights.shape)
        normalise(weights, sizes, axis=1)
        return sizes, weights.reshape(-1, length)

    def _shapes(self, generator: np.random.Generator, length: int) -> FloatArray:
        """Return or draw the concentrations of the rows of each stratum.

        Weighted labels are drawn separately, so only the prior's concentrations remain.
        """
        fixed = (self.prior if self.weighed is not None else self.counts + self.prior)[:, :, None]
        if not self.patterns:
            return fixed
        shapes = np.repeat(fixed, length, axis=2)
        for strata, spread, shares in self.patterns:
            shapes[strata] += np.tensordot(spread, shares.draw(generator, length), axes=(1, 0))
        return shapes

    def _adders(self, cells: IntArray) -> list[Callable[[FloatArray], FloatArray]]:
        """Return the tally that sums weights of rows to the confusion array of each model."""
        return [self._adder(cells[:, 0], answers) for answers in cells[:, 1:].T]

    def _adder(self, truth: IntArray, answers: IntArray) -> Callable[[FloatArray], FloatArray]:
        keys = truth * self.n_classes + answers
        order = np.argsort(keys, kind="stable")
        distinct, starts = np.unique(keys[order], return_index=True)

        def add(weights: FloatArray) -> FloatArray:
            sums = np.zeros((self.n_classes**2, weights.shape[1]))
            sums[distinct] = np.add.reduceat(weights[order], starts, axis=0)
            return sums.reshape(self.n_classes, self.n_classes, -1)

        return add


class Pattern(NamedTuple):
    """Strata in which the judge and the models agree in the same pattern.

    ``spread`` is the distribution over classes of each outcome ("as the judge", "as B" or
    "neither") in each of these strata, ``(n_strata, n_outcomes, n_classes)``.
    """

    strata: IntArray
    spread: FloatArray
    shares: Shares


def learned_patterns(
    ratings: IntArray, sizes: FloatArray, labelled: FloatArray, rows: WeighedRows | None = None
) -> tuple[Pattern, ...]:
    """Group strata by their pattern of agreement, regardless of class.

    For example, if the judge and A give one class and B another, the truth is the first, the second
    or neither. These outcomes have common shares in all such strata, to the extent that the labels
    allow. A class that nobody gives has a probability proportional to its frequency in the judge's
    labels.

    Parameters
    ----------
    said
        Class given by the judge and by each model in each stratum, ``(n_strata, 1 + n_models)``.
    sizes
        Number of items in each stratum.
    labelled
        Number of labelled items in each stratum and class, ``(n_strata, n_classes)``.
    rows
        The same labels with their weights if they were drawn with known probabilities.
    """
    n_classes = labelled.shape[1]
    overall = np.bincount(ratings[:, 0], weights=sizes, minlength=n_classes) + _JEFFREYS
    codes, patterns = agreement_patterns(ratings), []
    for code in range(codes.max() + 1):
        strata = np.flatnonzero(codes == code)
        first = ratings[strata[0]].tolist()
        named = ratings[strata][:, [first.index(code) for code in dict.fromkeys(first)]]
        spread = np.eye(n_classes)[named]
        left = np.where(spread.sum(axis=1) > 0, 0.0, overall)
        if named.shape[1] < n_classes:
            left /= left.sum(axis=1, keepdims=True)
            spread = np.concatenate([spread, left[:, None]], axis=1)
        counts: FloatArray = np.einsum("sk,sok->so", labelled[strata], spread > 0)
        own = None
        if rows is not None:
            here = np.isin(rows.stratum, strata)
            index = np.searchsorted(strata, rows.stratum[here])
            outcome = (spread[index, :, rows.outcome[here]] > 0).argmax(axis=1)
            own = WeighedRows(index, outcome, rows.counts[here], rows.weights[here])
            counts = own.effective(*counts.shape)
        # As for two classes, the mass is one item, and the judge is expected to be right three
        # times out of four.
        shapes = np.full(counts.shape[1], (1.0 - _AGREE) / (counts.shape[1] - 1))
        shapes[0] = _AGREE
        patterns.append(Pattern(strata, spread, Shares(counts, shapes=shapes, rows=own)))
    return tuple(patterns)


def _refuse_size(n_strata: int, n_classes: int, what: str) -> None:
    if n_strata * n_classes > _MOST_CELLS:
        raise ResourceError(
            f"{n_strata:,} {what} of {n_classes:,} classes need more than {_MOST_CELLS:,} cells; "
            "keep the relevant classes and merge the others into one"
        )


def _of_classes(strata: IntArray, n_classes: int) -> IntArray:
    """Return one row per true class of every stratum, ``(n_strata, n_classes, width)``."""
    cells = np.repeat(strata[:, None, :], n_classes, axis=1)
    cells[:, :, 0] = np.arange(n_classes)
    return cells


def pool_weights(
    cells: IntArray,
    sizes: FloatArray,
    labelled: FloatArray,
    *,
    mass: float | None = None,
    agreed: float = 1.0,
) -> Stratified:
    """Return the posterior of ``p(a, b) · p(y | a, b)`` for two models.

    Parameters
    ----------
    cells
        Predictions (a, b) of each stratum, ``(n_strata, 2)``.
    sizes
        Number of pool items in each stratum.
    labelled
        Number of labelled items in each stratum and class, ``(n_strata, n_classes)``.
    mass
        Prior mass κ of every stratum in which the models disagree. None means learned from the
        data.
    agreed
        Prior mass of every stratum in which they agree.
    """
    n_strata, n_classes = labelled.shape
    _refuse_size(n_strata, n_classes, "pairs of predictions")
    same = cells[:, 0] == cells[:, 1]
    apart = np.flatnonzero(~same)
    # In a disagreement A is right, or B, or, if possible, neither.
    spread = np.eye(n_classes)[cells[apart]]
    if n_classes > 2:
        neither = (1.0 - spread.sum(axis=1, keepdims=True)) / (n_classes - 2)
        spread = np.concatenate([spread, neither], axis=1)
    counts: FloatArray = np.einsum("sk,sok->so", labelled[apart], spread > 0)
    prior = np.zeros_like(labelled)
    prior[same] = agreed * unit_rows(n_classes)[cells[same, 0]]
    return Stratified(
        _of_classes(np.column_stack([cells[:, 0], cells]), n_classes),
        sizes=sizes,
        counts=labelled,
        prior=prior,
        n_classes=n_classes,
        patterns=[Pattern(apart, spread, Shares(counts, mass=mass))],
        n_shared=3,
    )


def judged_weights(outcomes: Outcomes, *, beside: bool = False) -> Stratified:
    """Return the posterior of ``p(judge's label) · p(human label | judge's label)``.

    For verdicts, and for two classes, the prior of every stratum has the mass of one item and
    expects people to agree with the judge (on each model separately, or on the class) three times
    out of four. With more classes there are more strata than labels, and strata share information:
    see :func:`learned_patterns`.

    Parameters
    ----------
    outcomes
        Items that were all rated by a judge and partly labelled by people.
    beside
        Whether to also return, after the corrected models, every model as rated by the judge alone.
    """
    judged, n_classes = outcomes.pool, outcomes.n_classes
    assert isinstance(judged, Judged)
    refuse_many(judged)
    strata, sizes = judged.strata, judged.counts.astype(np.float64)
    prior: FloatArray
    if outcomes.kind == "correct":  # people may differ from the judge on each model separately
        verdicts = np.array(list(product((0, 1), repeat=strata.shape[1] - 1)), dtype=np.int64)
        answers = np.column_stack([np.ones(len(verdicts), dtype=np.int64), verdicts])
        cells = np.broadcast_to(answers, (len(strata), *answers.shape))
        agree = (verdicts == strata[:, None, 1:]).astype(np.float64)
        shares = np.where(agree > 0, _AGREE, 1.0 - _AGREE).prod(axis=2)
        # More models mean more strata, but not more prior knowledge.
        prior = shares * min(1.0, _MOST_MASS / len(verdicts))
    else:
        _refuse_size(len(strata), n_classes, "combinations of labels by the judge and the models,")
        cells = _of_classes(strata, n_classes)
        prior = np.where(cells[:, :, 0] == strata[:, :1], _AGREE, 1.0 - _AGREE)
    counts = np.zeros(cells.shape[:2])
    if len(judged.both.cells):
        answers = (cells[judged.stratum] == judged.human[:, None, :]).all(axis=2)
        people = judged.both.counts.astype(np.float64)
        np.add.at(counts, (judged.stratum, answers.argmax(axis=1)), people)
    weighed = _weighed(judged, cells, by_pattern=False)
    patterns: tuple[Pattern, ...] = ()
    if outcomes.kind != "correct" and n_classes > 2:
        common = _weighed(judged, cells, by_pattern=True)
        patterns = learned_patterns(strata, sizes, counts, common)
        prior = np.zeros_like(prior)
        if judged.chances is not None and judged.chances.expected is None:
            # One or two labels per stratum are too few to estimate the average weight of its
            # labels.
            weighed = common
    return Stratified(
        cells,
        sizes=sizes,
        counts=counts,
        prior=prior,
        n_classes=n_classes,
        patterns=patterns,
        weighed=weighed,
        beside=strata if beside else None,
    )


def _weighed(judged: Judged, cells: IntArray, *, by_pattern: bool) -> WeighedRows | None:
    """Return the labels with their weights; None unless their probabilities are known.

    Weights average 1 over a stratum, or over strata with the same pattern. The average is taken by
    design if the design is known, and otherwise over the labels.
    """
    chances, strata = judged.chances, judged.strata
    if chances is None or not len(chances.cells):
        return None
    width = strata.shape[1]
    stratum = place_rows(chances.cells[:, :width].T, strata)
    matches = (cells[stratum] == chances.cells[:, None, width:]).all(axis=2)
    counts = chances.counts.astype(np.float64)
    group = agreement_patterns(strata) if by_pattern else np.arange(len(strata))
    if chances.expected is None:
        top = np.bincount(group[stratum], counts * chances.weights, minlength=len(strata))
        bottom = np.bincount(group[stratum], counts, minlength=len(strata))
    else:
        top = np.bincount(group, judged.counts.astype(np.float64), minlength=len(strata))
        bottom = np.bincount(group, chances.expected, minlength=len(strata))
    mean = np.divide(top, bottom, out=np.ones_like(top), where=bottom > 0)
    return WeighedRows(
        stratum, matches.argmax(axis=1), counts, chances.weights / mean[group[stratum]]
    )


def strata(outcomes: Outcomes) -> Stratified:
    """Return the posterior of items that were selected from a pool or rated by a judge."""
    pool = outcomes.pool
    assert pool is not None
    if isinstance(pool, Judged):
        return judged_weights(outcomes)
    return pool_weights(
        pool.cells,
        pool.counts.astype(np.float64),
        pool.labelled(outcomes.tables[0], n_labels=outcomes.n_classes),
    )
