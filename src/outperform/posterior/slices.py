"""Joint posterior of many slices."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray, SeedSequence
from outperform.data.outcomes import Outcomes, n_codes
from outperform.data.pool import SlicedRows, Slices, add_up
from outperform.data.table import Table
from outperform.errors import ResourceError, UsageError, param
from outperform.posterior.base import Drawn, Needs, Prior, PriorModel, Sums, product_rows
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.dirichlet import unit_rows
from outperform.posterior.gammas import draw_gammas, fill_gammas
from outperform.posterior.pooling import (
    KAPPAS,
    LIKE_WHOLE,
    N_PATTERNS,
    SMALL_ADDITION,
    SharedDraws,
    Shrinkage,
    own_part,
    shrink,
    shrink_answers,
    tilt_factors,
)
from outperform.posterior.registry import get_prior
from outperform.posterior.rng import Blocks, child, spread_blocks
from outperform.posterior.sums import PairSums, PatternSums

Worker = Callable[[np.random.Generator, slice, int], list[Drawn]]
"""Draw a run of adjacent slices a number of times: one :class:`Drawn` per model."""

# With at most this many cells, every slice draws all of them.
_FEW_CELLS = 128
# A block of this many numbers is close to the cache size.
_BLOCK = 1 << 18
_LONGEST = 1 << 23
_MOST_SHARED = 1 << 25
_MOST_CONFUSION_CELLS = 1 << 14
_SMALLEST_MASS = 0.1
_SHARED_STREAM = 2**31


class SlicesPosterior:
    """Class proportions and predictions of every slice, shrunk toward the overall result.

    ``answers`` ignores part of the learned weight on "like the overall result", so a slice that
    differs stays visible. :meth:`doubting` changes this part, and :meth:`alone` removes all
    pooling.

    ``P(truth, a, b) = P(truth) · P(a, b | truth)``. Slices may differ in class proportions without
    any difference in model behaviour, so the proportions have a separate shrinkage. The predictions
    have one shrinkage for all true classes. A slice may differ from the overall result in each
    class separately, or in all classes at once; the latter is its tilt.

    Parameters
    ----------
    prevalence
        Class counts, as one row.
    answers
        Counts of pairs of predictions, one row per class.
    cells
        True class and predictions of A and B in each cell of ``answers``, ``(n_cells, 3)``.
    """

    def __init__(self, prevalence: SlicedRows, answers: SlicedRows, cells: IntArray) -> None:
        _check_mass(prevalence)
        _check_mass(answers)
        self.n_slices, self.n_classes = prevalence.n_slices, prevalence.n_cells
        self.cells = cells
        self.prevalence, self.learned = shrink(prevalence), shrink_answers(answers, cells)
        self.answers = self.learned.doubted()

    def doubting(self, doubt: float) -> SlicesPosterior:
        """Return the posterior with a different share of ignored weight; 0 ignores nothing."""
        return self._with(self.prevalence, self.learned.doubted(doubt))

    def alone(self) -> SlicesPosterior:
        """Return the posterior without pooling."""
        return self._with(self.prevalence.alone(), self.learned.alone())

    def _with(self, prevalence: Shrinkage, answers: Shrinkage) -> SlicesPosterior:
        other = copy(self)
        other.prevalence, other.answers = prevalence, answers
        return other

    @property
    def n_gammas(self) -> int:
        """Number of gammas per draw and slice."""
        return len(self.cells) + self.n_classes

    @property
    def shares(self) -> bool:
        """Whether slices share draws of the centres, and add their own.

        If there are few cells, every slice draws them separately. With very many classes, shared
        draws need too much memory.
        """
        return len(self.cells) > _FEW_CELLS and self.n_classes**2 <= _MOST_CONFUSION_CELLS

    def block_length(self, n_draws: int) -> int:
        """Return the number of slices per block, which does not depend on the threads."""
        if self.shares:
            return 1
        return max(1, min(64, _BLOCK // (self.n_gammas * n_draws)))

    def pieces(self, n_draws: int, needs: Needs) -> list[int]:
        """Return the lengths of batches of draws that fit in memory."""
        if needs == "confusion" and self.n_classes**2 > _MOST_CONFUSION_CELLS:
            raise ResourceError(
                f"a function of the entire confusion matrix needs {self.n_classes**2:,} cells per "
                "draw; use one of the named metrics, which need three numbers per class"
            )
        confusions = 2 * self.n_classes**2
        most = _LONGEST // (self.n_gammas + (confusions if needs == "confusion" else 0))
        if self.shares:
            most_of = self.answers.weights.max(axis=0)
            n_shared = 1 + most_of[: self.answers.n_grid].sum()
            n_shared += 2 * min(1.0, most_of[self.answers.n_grid :].sum())
            most = min(_LONGEST // self._longest_row, int(_MOST_SHARED / (n_shared * confusions)))
        n_pieces = -(-n_draws // max(100, most))
        return [(piece + 1) * n_draws // n_pieces - piece * n_draws // n_pieces
                for piece in range(n_pieces)]  # fmt: skip

    @property
    def _longest_row(self) -> int:
        return int(np.bincount(self.cells[:, 0]).max())

    def draw_whole(self, seed: np.random.SeedSequence, n_draws: int) -> FloatArray:
        """Draw the overall predictions once, as gammas ``(n_cells, n_draws)``.

        Slices that are like the overall result have exactly these rates, so they share these draws
        unless their own items change them noticeably.
        """
        return _draw_whole(self.answers, seed, n_draws)

    def sharing(
        self,
        needs: Needs,
        seed: np.random.SeedSequence,
        n_draws: int,
        *,
        slices: IntArray,
        n_jobs: int | None = None,
    ) -> Callable[[], Worker]:
        """Draw the parts that these slices share, and return a factory of workers that use them."""
        if self.shares:
            shared = self.draw_shared(seed, n_draws, slices=slices, n_jobs=n_jobs)
            return lambda: self.adding_worker(needs, shared)
        whole = self.draw_whole(seed, n_draws)
        return lambda: self.worker(needs, whole)

    def draw_shared(
        self,
        seed: np.random.SeedSequence,
        n_draws: int,
        *,
        slices: IntArray,
        n_jobs: int | None = None,
    ) -> SharedDraws:
        """Draw, once, the parts of the prior and of each centre and κ that these slices use.

        A gamma of shape a + b is the sum of gammas of shapes a and b. So a slice uses the gammas of
        the others and adds those of its own items. Each slice uses each draw at most once, so its
        draws are independent. Two slices may use the same draws, because no joint statement is made
        about two slices.
        """
        learned, rows, size = self.answers, self.answers.rows, self.n_classes
        kept = learned.kept(learned.pooled)
        shapes = kept[:, rows.row] * np.repeat(learned.pooled, len(KAPPAS), axis=0)
        shapes[LIKE_WHOLE :: len(KAPPAS)] += rows.prior
        most = learned.weights[slices, : learned.n_grid].max(axis=0)
        lengths = np.where(most > 0, np.minimum(most * n_draws + 2, n_draws), 0).astype(np.int64)
        answers = [np.empty((n, size, 2 * size)) for n in (n_draws, *lengths.tolist())]
        tilts = float(learned.weights[slices, learned.n_grid :].sum(axis=1).max(initial=0.0))
        n_tilted = min(int(tilts * n_draws) + 2, n_draws) if tilts > 0 else 0
        tilted = PatternSums.empty(n_tilted, size)
        tasks = [
            (row, of_cells, out)
            for of_cells, out in zip([rows.prior, *shapes], answers, strict=True)
            for row in range(size if len(out) else 0)
        ]
        n_plain = len(tasks)

        def work(blocks: Blocks) -> None:
            for generator, block in blocks:
                if block >= n_plain:
                    row = block - n_plain
                    inside = self.cells[:, 0] == row
                    tilted.fill_row(
                        row,
                        self.cells[inside, 1:],
                        (
                            draw_gammas(generator, shape, n_tilted)
                            for shape in learned.whole[inside]
                        ),
                    )
                    continue
                row, of_cells, out = tasks[block]
                inside = self.cells[:, 0] == row
                sums, gammas = np.zeros((2 * size, len(out))), np.empty(len(out))
                pairs: list[list[int]] = (self.cells[inside, 1:] + [0, size]).tolist()
                row_shapes: list[float] = of_cells[inside].tolist()
                for shape, (a, b) in zip(row_shapes, pairs, strict=True):
                    fill_gammas(generator, shape, gammas)
                    sums[a] += gammas
                    sums[b] += gammas
                out[:, row] = sums.T

        spread_blocks(
            work,
            n_blocks=n_plain + (size if n_tilted else 0),
            n_gammas=len(self.cells) * (n_draws + int(lengths.sum()) + n_tilted),
            seed=child(seed, _SHARED_STREAM),
            n_jobs=n_jobs,
        )
        prior, *grid = map(PairSums.of, answers)
        pooled = [PairSums.of_cells(self.cells, pool, n_classes=size) for pool in learned.pooled]
        classes = _draw_whole(self.prevalence, seed, n_draws)
        return SharedDraws(classes, prior, grid, pooled, kept, tilted)

    def adding_worker(self, needs: Needs, shared: SharedDraws) -> Worker:
        """Return a worker like :meth:`worker` that adds one slice to the shared draws."""
        read, add, add_tilted = (
            (_margins, PairSums.add_margins, PatternSums.add_margins)
            if needs == "margins"
            else (_confusion, PairSums.add_confusion, PatternSums.add_confusion)
        )
        n_grid = self.answers.n_grid
        buffers: dict[int, _Buffers] = {}

        def draw(generator: np.random.Generator, chosen: slice, n_draws: int) -> list[Drawn]:
            if n_draws not in buffers:
                size = (1, n_draws)
                buffers[n_draws] = _Buffers.of(self._longest_row, self.n_classes, size, needs)
            weights, classes, scale, sums = buffers[n_draws]
            _fill_classes(generator, self.prevalence, chosen, classes, scale, shared.classes)
            scale[...] = sums[...] = 0.0
            stops: list[int] = _allot(generator, self.answers.weights[chosen], n_draws)[0].tolist()
            parts = [
                (on_grid, slice(*ends))
                for on_grid, ends in enumerate(pairwise([0, *stops[:n_grid]]))
                if ends[0] < ends[1]
            ]
            tilted = slice(stops[n_grid - 1], n_draws)
            own = own_part(self.answers, chosen.start, [index for index, _ in parts], shared.kept)
            ranges = [
                (inside, factors[:, None], gammas)
                for (on_grid, inside), growth in zip(parts, own.growth, strict=True)
                for factors, gammas in shared.take(on_grid, inside, growth * ~own.apart)
            ]
            for inside, factors, gammas in ranges:
                scale[:, 0, inside] += factors * gammas.rows
            whole = shared.tilted.cut(slice(0, tilted.stop - tilted.start))
            tilts = self._tilts(generator, chosen.start, stops, whole.rows, classes[:, 0, tilted])
            scale[:, 0, tilted] += np.einsum("prd,pd->rd", whole.rows, tilts)
            adds = [
                inside.stop
                for (_, inside), shapes in zip(parts, own.shapes, strict=True)
                if shapes.any()
            ]
            until = slice(0, max(adds, default=0))
            truth: IntArray = self.cells[own.cells, 0]
            edges: list[int] = np.searchsorted(truth, np.arange(self.n_classes + 1)).tolist()
            for row, ends in enumerate(pairwise(edges)):
                cells: IntArray = own.cells[slice(*ends)]
                drawn: FloatArray = weights[: ends[1] - ends[0], :, until]
                for part, (_, inside) in enumerate(parts):
                    if inside.start >= until.stop:
                        break
                    own_shapes: list[float] = own.shapes[part, slice(*ends)].tolist()
                    _fill_row(generator, own_shapes, drawn[:, 0, inside], own.known[part, row])
                scale[row, :, until] += drawn.sum(axis=0)
                np.divide(classes[row], scale[row], out=scale[row])
                drawn *= scale[row, :, until]
                for model in range(2):
                    read(
                        self.cells[cells][:, [0, 1 + model]],
                        drawn,
                        classes,
                        sums[model][..., until],
                    )
            for inside, factors, gammas in ranges:
                add(gammas, factors * scale[:, 0, inside], sums[:, :, :, 0, inside])
            if tilts.size:
                of_rows = tilts[:, None] * scale[:, 0, tilted]
                add_tilted(whole, of_rows, sums[:, :, :, 0, tilted])
            return [read(self.cells[:0], weights[:0], classes, sums[model]) for model in range(2)]

        return draw

    def worker(self, needs: Needs, whole: FloatArray | None = None) -> Worker:
        """Return a function with its own buffers that draws adjacent slices.

        The function returns sums of A and of B, ``(n_classes, n_slices, n_draws)``, which the next
        call overwrites. Overall draws, if passed, are used for slices that are like the overall
        result.
        """
        truth = self.cells[:, 0].tolist()
        read = _margins if needs == "margins" else _confusion
        buffers: dict[tuple[int, int], _Buffers] = {}

        def draw(generator: np.random.Generator, chosen: slice, n_draws: int) -> list[Drawn]:
            size = (chosen.stop - chosen.start, n_draws)
            if size not in buffers:
                buffers.clear()
                buffers[size] = _Buffers.of(len(truth), self.n_classes, size, needs)
            weights, classes, scale, sums = buffers[size]
            stops = _fill_slices(generator, self.answers, chosen, weights, whole)
            _fill_classes(generator, self.prevalence, chosen, classes, scale)
            for number, ends in enumerate(stops.tolist()):
                inside = slice(ends[self.answers.n_grid - 1], n_draws)
                if inside.start < n_draws:
                    self._tilt(
                        generator,
                        chosen.start + number,
                        ends,
                        weights[:, number, inside],
                        classes[:, number, inside],
                    )
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

    def _tilt(
        self,
        generator: np.random.Generator,
        index: int,
        stops: list[int],
        weights: FloatArray,
        classes: FloatArray,
    ) -> None:
        """Apply this slice's tilt to overall gammas ``(n_cells, n_draws)``, in place."""
        tilt = self.answers.tilt
        assert tilt is not None
        patterns: list[int] = tilt.patterns.tolist()
        rows = np.zeros((N_PATTERNS, self.n_classes, weights.shape[1]))
        for pattern, row, gammas in zip(patterns, self.cells[:, 0].tolist(), weights, strict=True):
            rows[pattern, row] += gammas
        tilts = self._tilts(generator, index, stops, rows, classes)
        for pattern, gammas in zip(patterns, weights, strict=True):
            gammas *= tilts[pattern]

    def _tilts(
        self,
        generator: np.random.Generator,
        index: int,
        stops: list[int],
        rows: FloatArray,
        classes: FloatArray,
    ) -> FloatArray:
        """Draw this slice's patterns of right and wrong predictions, and return a factor for each.

        ``rows`` are overall gammas by pattern, ``(4, n_classes, n_draws)``.
        """
        tilt, n_draws = self.answers.tilt, classes.shape[1]
        if tilt is None or not n_draws:
            return np.ones((N_PATTERNS, n_draws))
        lengths = np.diff(stops[self.answers.n_grid - 1 :])
        # Draws are ordered by κ, like the shared draws.
        shares = tilt.draw_shares(generator, index, lengths)
        return tilt_factors(rows / rows.sum(axis=0), classes, shares)


class _Buffers(NamedTuple):
    """Buffers that a worker reuses."""

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


def _draw_whole(learned: Shrinkage, seed: np.random.SeedSequence, n_draws: int) -> FloatArray:
    generator = np.random.Generator(np.random.SFC64(child(seed, _SHARED_STREAM)))
    return draw_gammas(generator, learned.whole[:, None], (learned.rows.n_cells, n_draws))


def _fill_slices(
    generator: np.random.Generator,
    learned: Shrinkage,
    chosen: slice,
    out: FloatArray,
    whole: FloatArray | None = None,
) -> IntArray:
    """Fill ``(n_cells, n_slices, n_draws)`` with gammas; each slice's draws are ordered by κ.

    Return the end index of the draws for each κ. The draws of a tilt come last and are overall
    gammas.
    """
    shapes = learned.shapes(chosen)
    stops = _allot(generator, learned.weights[chosen], out.shape[2])
    added, shares = _additions(learned, shapes)
    for row, (ends, of_kappas) in enumerate(zip(stops.tolist(), shapes, strict=True)):
        start = 0
        last = ends[learned.n_grid - 1]
        wholes = [(LIKE_WHOLE, out.shape[2])] if last < out.shape[2] else []
        for kappa, stop in [*enumerate(ends[: learned.n_grid]), *wholes]:
            of_cells = of_kappas[kappa]
            if stop <= start:
                continue
            if whole is not None and kappa == LIKE_WHOLE and shares[row]:
                np.add(whole[:, start:stop], added[row], out=out[:, row, start:stop])
            else:
                for cell, shape in enumerate(of_cells.tolist()):
                    fill_gammas(generator, shape, out[cell, row, start:stop])
            start = stop
    return stops


def _fill_classes(
    generator: np.random.Generator,
    prevalence: Shrinkage,
    chosen: slice,
    classes: FloatArray,
    buffer: FloatArray,
    whole: FloatArray | None = None,
) -> None:
    """Fill ``(n_classes, n_slices, n_draws)`` with class shares."""
    # Draws are ordered by κ, and the two values of κ are paired at random.
    _fill_slices(generator, prevalence, chosen, buffer, whole)
    order = generator.permutation(classes.shape[2])
    np.take(buffer, order, axis=2, out=classes)
    classes /= classes.sum(axis=0)


def _additions(learned: Shrinkage, shapes: FloatArray) -> tuple[FloatArray, AnyArray]:
    """Return each slice's contribution, ``(n_slices, n_cells, 1)``, and whether it is small.

    A gamma of shape a + b is the sum of gammas of shapes a and b. If b is much smaller than a, its
    mean is accurate enough.
    """
    base, starts = learned.whole, learned.rows.row_starts
    added: FloatArray = np.maximum(shapes[:, LIKE_WHOLE] - base, 0.0)
    most = SMALL_ADDITION * np.add.reduceat(base, starts)
    too_much = np.add.reduceat(added, starts, axis=1) > most
    return added[:, :, None], ~np.asarray(too_much.any(axis=1))


def _allot(generator: np.random.Generator, weights: FloatArray, n_draws: int) -> IntArray:
    """Return the end index of each κ's draws, with its share randomly rounded up or down."""
    edges = np.cumsum(weights, axis=1)
    edges *= n_draws / edges[:, -1:]
    stops = np.floor(edges + generator.random((len(weights), 1))).astype(np.int64)
    stops[edges >= edges[:, -1:]] = n_draws
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


def _fill_row(
    generator: np.random.Generator, shapes: list[float], out: FloatArray, known: bool
) -> None:
    for shape, gammas in zip(shapes, out, strict=True):
        if known or shape == 0:
            gammas[...] = shape
        else:
            fill_gammas(generator, shape, gammas)


def pool_slices(outcomes: Outcomes, *, prior: PriorModel) -> SlicesPosterior:
    """Return the posterior of all slices for two paired models.

    The base prior is ``"unit"`` or a prior with a concentration for every cell. With many classes,
    the unit prior covers only cells that occurred in some slice, still with mass 1 per class.
    """
    slices = outcomes.slices
    if slices is None or len(outcomes.models) != 2:
        raise UsageError(
            "pooling slices needs outcomes of two models with slices; define these with "
            f"{param('by=')}"
        )
    if prior.shapes is None and prior != get_prior("unit"):
        raise UsageError(
            "slices support the priors 'unit', 'uniform', 'jeffreys' and custom concentrations; "
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
    """Return the cells to draw, ordered by true class, and their priors."""
    if prior is not None or n_classes**3 <= _FEW_CELLS:
        rows = (
            product_rows(unit_rows(n_classes), 2)
            if prior is None
            else prior.row_shapes(n_classes, 2)
        )
        return np.argwhere(np.ones(rows.shape, dtype=bool)), rows.ravel()
    cells = slices.table.cells[:, 1:]
    never = np.setdiff1d(np.arange(n_classes), cells[:, 0])
    cells = np.concatenate([cells, *map(_unseen, never, [n_classes] * never.size)])
    cells = cells[distinct_rows(cells).first]
    own = unit_rows(n_classes)
    shapes = own[cells[:, 0], cells[:, 1]] * own[cells[:, 0], cells[:, 2]]
    mass = np.bincount(cells[:, 0], shapes, minlength=n_classes)
    return cells, shapes / mass[cells[:, 0]]


def _unseen(truth: int, n_classes: int) -> IntArray:
    """Return cells for a class that is never true: right or wrong for each of two models."""
    other = (truth + 1) % n_classes
    return np.array([[truth, a, b] for a in (truth, other) for b in (truth, other)])


def _rows(slices: Slices, cells: IntArray, *, row: IntArray, prior: FloatArray) -> SlicedRows:
    """Sum the slices' counts into these cells, which are identified by their first codes."""
    codes = slices.table.cells[:, 1 : 1 + cells.shape[1]]
    size = int(max(cells.max(), codes.max())) + 1
    powers = size ** np.arange(cells.shape[1] - 1, -1, -1, dtype=np.int64)
    order = cells @ powers
    slice_index, cell, count = add_up(
        slices.table.cells[:, 0],
        np.searchsorted(order, codes @ powers),
        slices.table.counts.astype(np.float64),
    )
    return SlicedRows(
        n_slices=len(slices), row=row, prior=prior, slice_index=slice_index, cell=cell, count=count
    )


def coupled(own: FloatArray, outcomes: Outcomes, seed: SeedSequence) -> FloatArray:
    """Reorder the draws of slices so that a group has the same weight in all slices.

    For example, an author who writes in several languages affects several slices at once. Each
    slice keeps its draws but takes the order of joint draws, in which a group has the same weight
    in all slices. Slices that share no group are not changed.
    """
    slices = outcomes.slices
    assert slices is not None
    groups = slices.table.groups
    if groups is None:
        return own
    slice_codes = slices.table.cells[groups.cell, 0]
    pairs = distinct_rows(np.stack([groups.pattern, slice_codes], axis=1))
    if len(pairs.first) == len(groups.repeats):
        return own  # each pattern occurs in only one slice
    size = n_codes(outcomes)
    cells = slices.table.cells[:, :1] * size + slices.table.cells[:, 1:]
    codes = tuple(range(len(slices) * size))
    joint = bootstrap(
        replace(
            outcomes,
            kind="classes",
            labels=codes,
            sets=(),
            tables=(Table(cells, slices.table.counts, groups),),
            slices=None,
        )
    )
    margins = joint.worker("margins")(np.random.default_rng(seed), own.shape[1])
    a, b = (sums for sums in margins if isinstance(sums, Sums))
    starts = range(0, len(codes), size)
    ahead = np.add.reduceat(a.hits - b.hits, starts) / np.add.reduceat(a.actual, starts)
    order = np.argsort(np.argsort(ahead, axis=1), axis=1)
    return np.take_along_axis(np.sort(own, axis=1), order, axis=1)
