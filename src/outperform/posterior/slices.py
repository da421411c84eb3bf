"""The posterior of many slices at once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Slices
from outperform.errors import ResourceError, UsageError, param
from outperform.posterior.base import Drawn, Needs, Prior, PriorModel, Sums, product_rows
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.hierarchical import learn_spread
from outperform.posterior.pooling import (
    LIKE_WHOLE,
    Shrinkage,
    SlicedRows,
    add_up,
    shrink,
    shrink_answers,
)
from outperform.posterior.registry import get_prior
from outperform.posterior.rng import child

Worker = Callable[[np.random.Generator, slice, int], list[Drawn]]
"""Draw neighbouring slices so many times: one :class:`Drawn` per model."""

# A block of this many numbers stays near the cache.
_BLOCK = 1 << 18
_LONGEST = 1 << 23
_MOST_CONFUSION_CELLS = 1 << 14
_SMALLEST_MASS = 0.1
_SHARED_STREAM = 2**31
# What a slice may add to the whole and still share its draws: the sd is then off by half of
# that at most, which 4,000 draws cannot tell.
_SMALL_ADDITION = 0.01


class SlicesPosterior:
    """Class proportions and answers of every slice, each pulled toward the whole.

    ``answers`` doubt that a slice is like the whole, so that one that is not stays visible;
    :meth:`doubting` doubts more or less, :meth:`alone` listens to nobody.

    ``P(truth, a, b) = P(truth) · P(a, b | truth)``. Slices may differ in their classes without
    the models behaving any differently, so the proportions have a shrinkage of their own;
    what the models answer has one for all true classes together.

    Parameters
    ----------
    prevalence
        Counts of the classes: one row.
    answers
        Counts of pairs of answers: one row for each class.
    cells
        Truth, A's and B's answer of each cell of ``answers``, ``(n_cells, 3)``.
    """

    def __init__(self, prevalence: SlicedRows, answers: SlicedRows, cells: IntArray) -> None:
        _check_mass(prevalence)
        _check_mass(answers)
        self.n_slices, self.n_classes = prevalence.n_slices, prevalence.n_cells
        self.cells = cells
        self.prevalence, self.learned = shrink(prevalence), shrink_answers(answers, cells)
        self.answers = self.learned.doubted()

    def doubting(self, doubt: float) -> SlicesPosterior:
        """Return the posterior of slices that doubt the others so much; with 0 they believe."""
        return self._with(self.prevalence, self.learned.doubted(doubt))

    def alone(self) -> SlicesPosterior:
        """Return the posterior of every slice on its own."""
        return self._with(self.prevalence.alone(), self.learned.alone())

    def _with(self, prevalence: Shrinkage, answers: Shrinkage) -> SlicesPosterior:
        other = copy(self)
        other.prevalence, other.answers = prevalence, answers
        return other

    @property
    def n_gammas(self) -> int:
        """How many gammas one draw of one slice takes."""
        return len(self.cells) + self.n_classes

    def block_length(self, n_draws: int) -> int:
        """Return how many slices make a block; it does not depend on threads."""
        return max(1, min(64, _BLOCK // (self.n_gammas * n_draws)))

    def pieces(self, n_draws: int, needs: Needs) -> list[int]:
        """Return the lengths that a block's draws are made in, so that they fit in memory."""
        if needs == "confusion" and self.n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the whole confusion matrix needs {self.n_classes**2:,} cells a "
                "draw; use one of the named metrics, which need three numbers a class"
            )
        size = self.n_gammas + (2 * self.n_classes**2 if needs == "confusion" else 0)
        most = max(100, _LONGEST // size)
        n_pieces = -(-n_draws // most)
        return [(place + 1) * n_draws // n_pieces - place * n_draws // n_pieces
                for place in range(n_pieces)]  # fmt: skip

    def draw_whole(self, seed: np.random.SeedSequence, n_draws: int) -> FloatArray:
        """Draw what the models answer on the whole, once, as gammas ``(n_cells, n_draws)``.

        Slices that are like the whole have these rates and no others, so they share the draws
        as long as they add next to nothing to what is known of it.
        """
        generator = np.random.Generator(np.random.SFC64(child(seed, _SHARED_STREAM)))
        return generator.standard_gamma(self.answers.whole[:, None], (len(self.cells), n_draws))

    def worker(self, needs: Needs, whole: FloatArray | None = None) -> Worker:
        """Return a function with buffers of its own that draws neighbouring slices.

        It returns sums of A and of B, ``(n_classes, n_slices, n_draws)``, which the next call
        overwrites. With draws of the whole it takes these where a slice is like it.
        """
        truth = self.cells[:, 0].tolist()
        read = _margins if needs == "margins" else _confusion
        buffers: dict[tuple[int, int], _Buffers] = {}

        def draw(generator: np.random.Generator, places: slice, n_draws: int) -> list[Drawn]:
            size = (places.stop - places.start, n_draws)
            if size not in buffers:
                buffers.clear()
                buffers[size] = _Buffers.of(len(truth), self.n_classes, size, needs)
            weights, classes, scale, sums = buffers[size]
            _fill_gammas(generator, self.answers, places, weights, whole)
            # Draws come in the order of κ; which κ of the one meets which of the other is chance.
            _fill_gammas(generator, self.prevalence, places, scale)
            order = generator.permutation(n_draws)
            np.take(scale, order, axis=2, out=classes)
            classes /= classes.sum(axis=0)
            scale[...] = 0.0
            for row, gammas in zip(truth, weights, strict=True):
                scale[row] += gammas
            np.divide(classes, scale, out=scale)
            for row, gammas in zip(truth, weights, strict=True):
                gammas *= scale[row]
            sums[...] = 0.0
            return [
                read(self.cells[:, [0, 1 + model]], weights, classes, sums[model])
                for model in range(2)
            ]

        return draw


class _Buffers(NamedTuple):
    """Arrays that a worker fills again and again."""

    weights: FloatArray  # (n_cells, n_slices, n_draws)
    classes: FloatArray  # (n_classes, n_slices, n_draws)
    scale: FloatArray  # (n_classes, n_slices, n_draws)
    sums: FloatArray  # (2, rows of sums, n_classes, n_slices, n_draws)

    @classmethod
    def of(cls, n_cells: int, n_classes: int, size: tuple[int, int], needs: Needs) -> _Buffers:
        n_sums = 2 if needs == "margins" else n_classes
        return cls(
            np.empty((n_cells, *size)),
            np.empty((n_classes, *size)),
            np.empty((n_classes, *size)),
            np.empty((2, n_sums, n_classes, *size)),
        )


def _check_mass(rows: SlicedRows) -> None:
    if rows.prior.min() <= 0 or rows.row_prior.min() < _SMALLEST_MASS:
        raise UsageError(
            f"slices need a prior above 0 in every cell and of at least {_SMALLEST_MASS} in every "
            f"class; use {param('prior=', 'jeffreys', 'unit')}"
        )


def _fill_gammas(
    generator: np.random.Generator,
    learned: Shrinkage,
    places: slice,
    out: FloatArray,
    whole: FloatArray | None = None,
) -> None:
    """Fill ``(n_cells, n_slices, n_draws)`` with gammas, a slice's draws in the order of κ."""
    shapes = learned.shapes(places)
    stops = _allot(generator, learned.weights[places], out.shape[2])
    added, shares = _additions(learned, shapes)
    draw = generator.standard_gamma
    for place, (ends, of_kappas) in enumerate(zip(stops.tolist(), shapes, strict=True)):
        start = 0
        for kappa, (stop, of_cells) in enumerate(zip(ends, of_kappas, strict=True)):
            if stop <= start:
                continue
            if whole is not None and kappa == LIKE_WHOLE and shares[place]:
                np.add(whole[:, start:stop], added[place], out=out[:, place, start:stop])
            else:
                for cell, shape in enumerate(of_cells.tolist()):
                    draw(shape, out=out[cell, place, start:stop])
            start = stop


def _additions(learned: Shrinkage, shapes: FloatArray) -> tuple[FloatArray, AnyArray]:
    """Return what each slice adds to the whole, ``(n_slices, n_cells, 1)``, and if that is small.

    A gamma of shape a + b is one of a plus one of b; where b is small beside a, its mean does.
    """
    base, starts = learned.whole, learned.rows.row_starts
    added: FloatArray = np.maximum(shapes[:, LIKE_WHOLE] - base, 0.0)
    most = _SMALL_ADDITION * np.add.reduceat(base, starts)
    too_much = np.add.reduceat(added, starts, axis=1) > most
    return added[:, :, None], ~np.asarray(too_much.any(axis=1))


def _allot(generator: np.random.Generator, weights: FloatArray, n_draws: int) -> IntArray:
    """Return where each κ's draws end: its share of them, rounded up or down by chance."""
    edges = np.cumsum(weights, axis=1)
    edges *= n_draws / edges[:, -1:]
    stops = np.floor(edges + generator.random((len(weights), 1))).astype(np.int64)
    stops[:, -1] = n_draws
    return np.minimum(stops, n_draws)


def _margins(cells: IntArray, weights: FloatArray, classes: FloatArray, sums: FloatArray) -> Sums:
    hits, predicted = sums
    for (truth, answer), weight in zip(cells.tolist(), weights, strict=True):
        predicted[answer] += weight
        if truth == answer:
            hits[truth] += weight
    return Sums(hits=hits, actual=classes, predicted=predicted)


def _confusion(
    cells: IntArray, weights: FloatArray, classes: FloatArray, sums: FloatArray
) -> FloatArray:
    for (truth, answer), weight in zip(cells.tolist(), weights, strict=True):
        sums[truth, answer] += weight
    return sums


# With so few cells every one of them is drawn; with more, those that occurred anywhere.
_FEW_CELLS = 128


def pool_slices(outcomes: Outcomes, *, prior: PriorModel) -> SlicesPosterior:
    """Return the posterior of every slice of two paired models' outcomes.

    The base prior is ``"unit"`` or one with a shape for every cell. With many classes unit
    keeps to the cells that occurred in some slice, with mass 1 in each class as before.
    """
    slices = outcomes.slices
    if slices is None or len(outcomes.models) != 2:
        raise UsageError(
            f"slices are pooled for two models of outcomes that were divided with {param('by=')}"
        )
    if prior.shapes is None and prior != get_prior("unit"):
        raise UsageError(
            "slices know the priors 'unit', 'uniform', 'jeffreys' and shapes of your own; "
            f"got {prior.name!r}"
        )
    cells, shapes = _cells(slices, outcomes.n_classes, prior.shapes)
    of_classes = (
        np.ones(outcomes.n_classes)
        if prior.shapes is None
        else prior.shapes.prevalence_shapes(outcomes.n_classes)
    )
    classes = np.arange(outcomes.n_classes)
    return SlicesPosterior(
        _rows(slices, classes[:, None], row=np.zeros_like(classes), prior=of_classes),
        _rows(slices, cells, row=cells[:, 0], prior=shapes),
        cells,
    )


def _cells(slices: Slices, n_classes: int, prior: Prior | None) -> tuple[IntArray, FloatArray]:
    """Return the cells that are drawn, in order of their truth, and the prior of each."""
    if prior is not None or n_classes**3 <= _FEW_CELLS:
        rows = (
            product_rows(unit_rows(n_classes), 2)
            if prior is None
            else prior.row_shapes(n_classes, 2)
        )
        return np.argwhere(np.ones(rows.shape, dtype=bool)), rows.ravel()
    cells = np.unique(slices.table.cells[:, 1:], axis=0)
    never = np.setdiff1d(np.arange(n_classes), cells[:, 0])
    cells = np.unique(
        np.concatenate([cells, *map(_unseen, never, [n_classes] * never.size)]), axis=0
    )
    own = unit_rows(n_classes)
    shapes = own[cells[:, 0], cells[:, 1]] * own[cells[:, 0], cells[:, 2]]
    mass = np.bincount(cells[:, 0], shapes, minlength=n_classes)
    return cells, shapes / mass[cells[:, 0]]


def _unseen(truth: int, n_classes: int) -> IntArray:
    """Return cells for a class that is nowhere true: right or wrong, each of two models."""
    other = (truth + 1) % n_classes
    return np.array([[truth, a, b] for a in (truth, other) for b in (truth, other)])


def _rows(slices: Slices, cells: IntArray, *, row: IntArray, prior: FloatArray) -> SlicedRows:
    """Add up the slices' counts to these cells, which are told apart by their first codes."""
    codes = slices.table.cells[:, 1 : 1 + cells.shape[1]]
    size = int(max(cells.max(), codes.max())) + 1
    powers = size ** np.arange(cells.shape[1] - 1, -1, -1, dtype=np.int64)
    order = cells @ powers
    place, cell, count = add_up(
        slices.table.cells[:, 0],
        np.searchsorted(order, codes @ powers),
        slices.table.counts.astype(np.float64),
        n_cells=len(cells),
    )
    return SlicedRows(
        n_slices=len(slices), row=row, prior=prior, place=place, cell=cell, count=count
    )


_FEWEST_POOLED = 3
_TYPICAL_SPREAD = 1 / 8  # of the sd of what one item says


def pool_normal(
    own: FloatArray, n: IntArray, seed: np.random.SeedSequence
) -> tuple[FloatArray, FloatArray]:
    """Return pooled draws of independent slices, and how probably each is like the whole.

    Their true values are normal about a centre with a spread that all slices teach; a few may
    stand apart. What one item tells scales the spread that is expected beforehand. Fewer than
    three slices teach no spread and stay as they are.

    Parameters
    ----------
    own
        Draws as the items of each slice alone give them, ``(n_slices, n_draws)``.
    n
        How many items each has.
    seed
        Of the prior's part of the draws.
    """
    if len(own) < _FEWEST_POOLED:
        return own, np.ones(len(own))
    variances = np.maximum(own.var(axis=1), np.finfo(np.float64).tiny)
    covariance = np.diag(variances)
    item = float(np.sqrt(np.median(n * variances)))
    spread = learn_spread(own.mean(axis=1), covariance, typical=_TYPICAL_SPREAD * item)
    pooled = spread.pool(own, covariance, np.random.default_rng(seed))
    # Alike is what the slice's own items cannot tell from it.
    return pooled, np.asarray(spread.weights @ (spread.variances < variances / 4))
