"""Shrinkage of slices toward the overall result, learned from all slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from outperform._rows import distinct_rows, sum_by
from outperform._typing import BoolArray, FloatArray, IntArray
from outperform.data.pool import SlicedRows, add_up
from outperform.posterior.gammas import draw_gammas
from outperform.posterior.sums import PairSums, PatternSums

# Each value is four times the previous one, so rates vary half as much.
KAPPAS = np.array([0.0, *(2.0 ** np.arange(1, 17, 2)), np.inf])


class Centre(NamedTuple):
    """Centre toward which slices shrink: weighted counts from other slices.

    ``worth`` contains the weight of an item for each row that occurred in a slice, ``pooled`` the
    resulting counts, ``(n_cells,)``.
    """

    worth: FloatArray
    pooled: FloatArray

    @classmethod
    def of(cls, rows: SlicedRows, worth: FloatArray) -> Centre:
        """Add up the counts."""
        weighted = worth[rows.entry_row] * rows.count
        return cls(worth, sum_by(rows.cell, weighted, size=rows.n_cells))


def share_kept(kappa: FloatArray | float, total: FloatArray) -> FloatArray:
    """Return κ/(κ + N), the weight of the other slices' counts as a prior.

    Examples
    --------
    >>> share_kept(np.array([0.0, 100.0, np.inf]), np.array(100.0)).tolist()
    [0.0, 0.5, 1.0]
    """
    kappa, total = np.broadcast_arrays(kappa, total)
    endless = np.isinf(kappa)
    finite = np.where(endless, 1.0, kappa)
    bottom = finite + total
    kept = np.divide(finite, bottom, out=np.zeros(bottom.shape), where=bottom > 0)
    return np.where(endless, 1.0, kept)


def log_likelihoods(rows: SlicedRows, centre: Centre, kappas: FloatArray = KAPPAS) -> FloatArray:
    """Return the log likelihood of each slice under each κ, ``(n_slices, n_kappas)``.

    ``Σ_cells [logΓ(a + c) − logΓ(a)] − Σ_rows [logΓ(A + n) − logΓ(A)]``, where the prior ``a`` uses
    only the other slices, because a slice's data must not count twice.
    """
    worth, pooled = centre
    others = pooled[rows.cell] - worth[rows.entry_row] * rows.count
    np.maximum(others, 0.0, out=others)
    row_pooled = sum_by(rows.row, pooled, size=rows.n_rows)
    totals = np.maximum(row_pooled[rows.row_row] - worth * rows.row_count, 0.0)
    prior, row_prior = rows.prior[rows.cell], rows.row_prior[rows.row_row]
    logs = np.empty((rows.n_slices, len(kappas)))
    for column, kappa in enumerate(kappas):
        kept = share_kept(kappa, totals)
        cells = _log_rising(prior + kept[rows.entry_row] * others, rows.count)
        whole = _log_rising(row_prior + kept * totals, rows.row_count)
        logs[:, column] = sum_by(rows.slice_index, cells, size=rows.n_slices)
        logs[:, column] -= sum_by(rows.row_place, whole, size=rows.n_slices)
    return logs


def _log_rising(start: FloatArray, steps: FloatArray) -> FloatArray:
    """Return logΓ(a + c) − logΓ(a)."""
    rising: FloatArray = gammaln(start + steps) - gammaln(start)
    return rising


def posterior_shapes(rows: SlicedRows, centre: Centre, slices: slice) -> FloatArray:
    """Return Dirichlet shapes of neighbouring slices, ``(n_slices, n_kappas, n_cells)``."""
    counts = rows.dense(slices)
    worth = np.ones((len(counts), rows.n_rows))
    inside = slice(*np.searchsorted(rows.row_place, [slices.start, slices.stop]))
    worth[rows.row_place[inside] - slices.start, rows.row_row[inside]] = centre.worth[inside]
    others = np.maximum(centre.pooled - worth[:, rows.row] * counts, 0.0)
    totals = np.add.reduceat(others, rows.row_starts, axis=1)  # (n_slices, n_rows)
    kept = share_kept(KAPPAS[:, None], totals[:, None, :])[:, :, rows.row]
    shapes: FloatArray = rows.prior + kept * others[:, None, :] + counts[:, None, :]
    return shapes


LIKE_WHOLE = len(KAPPAS) - 1

# κ values of the tilt, which all classes of a slice share; the extremes 0 and ∞ are not needed.
TILT_KAPPAS = KAPPAS[1:-1]
N_PATTERNS = 4  # neither model is right, only B, only A, both


class Tilt(NamedTuple):
    """Right and wrong predictions of both models in each slice, across all true classes.

    A slice that differs usually does so in all its classes. With few items per class, no single
    class shows this, and with independent rows the shrinkage would grow with the number of classes.
    So in addition to the κ of the rows, each slice has one κ that depends only on its items. A
    pattern states which models are right. The shares φ of the items with each pattern are ``φ ~
    Dir(κq)``, and given the pattern, the slice equals the overall result.

    Parameters
    ----------
    patterns
        Pattern of each cell, ``(n_cells,)``: 2 if A is right, plus 1 if B is.
    counts
        Number of items of each slice with each pattern, ``(n_slices, 4)``.
    expected
        Shares q, expected from the other slices given the slice's classes, ``(n_slices, 4)``.
    known
        Number of items in other slices that these shares are based on, ``(n_slices,)``.
    """

    patterns: IntArray
    counts: FloatArray
    expected: FloatArray
    known: FloatArray

    @classmethod
    def of(cls, rows: SlicedRows, centre: Centre, patterns: IntArray) -> Tilt:
        """Count the patterns, and compute the shares expected from the other slices."""
        worth, pooled = centre
        size, n_occurred = N_PATTERNS, len(rows.row_place)
        of_entry = patterns[rows.cell]
        counts = sum_by(rows.slice_index * size + of_entry, rows.count, size=rows.n_slices * size)
        own = sum_by(rows.entry_row * size + of_entry, rows.count, size=n_occurred * size)
        all_of = sum_by(rows.row * size + patterns, rows.prior + pooled, size=rows.n_rows * size)
        others = all_of.reshape(-1, size)[rows.row_row] - worth[:, None] * own.reshape(-1, size)
        np.maximum(others, 0.0, out=others)
        totals = np.maximum(others.sum(axis=1), np.finfo(np.float64).tiny)
        n = sum_by(rows.row_place, rows.row_count, size=rows.n_slices)
        share = rows.row_count / n[rows.row_place]
        parts = (share / totals)[:, None] * others
        expected = np.stack(
            [sum_by(rows.row_place, part, size=rows.n_slices) for part in parts.T], axis=1
        )
        errors = sum_by(rows.row_place, share**2 / totals, size=rows.n_slices)
        known = np.divide(1.0, errors, out=np.ones_like(errors), where=errors > 0)
        return cls(patterns, counts.reshape(-1, size), expected, known)

    def shapes(self, slices: slice | IntArray) -> FloatArray:
        """Return the prior of the patterns in some slices, ``(n_slices, n_kappas, 4)``."""
        kept = share_kept(TILT_KAPPAS, self.known[slices, None]) * self.known[slices, None]
        shapes: FloatArray = kept[:, :, None] * self.expected[slices, None, :]
        return np.maximum(shapes, _SMALLEST_SHAPE)

    def draw_shares(
        self, generator: np.random.Generator, index: int, lengths: IntArray
    ) -> FloatArray:
        """Draw the shares of the patterns in a slice for each κ, ``(4, n_draws)``."""
        shapes = self.shapes(slice(index, index + 1))[0] + self.counts[index]
        shares = draw_gammas(generator, np.repeat(shapes, lengths, axis=0).T)
        np.maximum(shares, np.finfo(np.float64).tiny, out=shares)
        shares /= shares.sum(axis=0)
        return shares

    def log_ratios(self) -> FloatArray:
        """Return the log Bayes factor of each κ against no tilt, ``(n_slices, n_kappas)``.

        Given the patterns, the items are equally likely in both cases, so only the likelihood of
        four counts remains.
        """
        whole = np.maximum(self.known[:, None] * self.expected, _SMALLEST_SHAPE)
        shapes = np.concatenate([self.shapes(slice(None)), whole[:, None]], axis=1)
        counts = self.counts[:, None]
        logs = _log_rising(shapes, counts).sum(axis=2)
        logs -= _log_rising(shapes.sum(axis=2), counts.sum(axis=2))
        ratios: FloatArray = logs[:, :-1] - logs[:, -1:]
        return ratios


_SMALLEST_SHAPE = 1e-6

_FIT = 1e-4  # of the items of a slice
_FIT_STEPS = 50


def tilt_factors(rates: FloatArray, classes: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the factor for each pattern, equal in all classes, that produces the given shares.

    Parameters
    ----------
    rates
        Overall rates, ``(4, n_classes, n_draws)``, which sum to 1 in each class.
    classes
        Class shares, ``(n_classes, n_draws)``.
    shares
        Target shares of the patterns, ``(4, n_draws)``.

    Examples
    --------
    >>> rates = np.array([[0.2, 0.1], [0.1, 0.2], [0.1, 0.2], [0.6, 0.5]])[:, :, None]
    >>> classes, shares = np.array([[0.5], [0.5]]), np.array([[0.25], [0.25], [0.1], [0.4]])
    >>> tilted = tilt_factors(rates, classes, shares)[:, None] * rates
    >>> (tilted / tilted.sum(axis=0) * classes).sum(axis=1).ravel().round(3).tolist()
    [0.25, 0.25, 0.1, 0.4]
    """
    factors: FloatArray = shares / np.einsum("prd,rd->pd", rates, classes)
    for _ in range(_FIT_STEPS):
        totals = np.einsum("prd,pd->rd", rates, factors)
        now = factors * np.einsum("prd,rd->pd", rates, classes / totals)
        if np.abs(now - shares).max(initial=0.0) < _FIT:
            break
        factors *= shares / np.maximum(now, np.finfo(np.float64).tiny)
    return factors


def who_is_right(cells: IntArray) -> IntArray:
    """Return the pattern of each cell ``(truth, a, b)``: 2 if A is right, plus 1 if B is.

    Examples
    --------
    >>> who_is_right(np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]])).tolist()
    [3, 2, 1, 0]
    """
    right: IntArray = (cells[:, 1:] == cells[:, :1]) @ np.array([2, 1])
    return right


# Prior weight of the grid, measured in slices. "Like the overall result" and everything else get
# equal weight, so two slices are neither identical nor unrelated a priori.
_PRIOR_SLICES = 2.0

_STEPS = 400
_TOLERANCE = 1e-4  # of all slices


def learn_weights(logs: FloatArray) -> FloatArray:
    """Return each slice's posterior over the grid, with a prior learned from the other slices.

    The prior of a slice is the sum of the other slices' weights and the prior weight, ``r_sg ∝ (a_g
    + Σ_{t≠s} r_tg) · L_sg``. So with few slices, the weights on the grid stay uncertain.
    """
    likelihoods, prior = _likelihoods(logs), _grid_prior(logs.shape[1])
    expected = prior + _learn_totals(likelihoods, prior)
    weights: FloatArray = likelihoods * expected
    weights /= weights.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        total = weights.sum(axis=0)
        weights = (prior + total - weights) * likelihoods
        weights /= weights.sum(axis=1, keepdims=True)
        if np.abs(weights.sum(axis=0) - total).max() < _TOLERANCE * len(logs):
            break
    return weights


def _likelihoods(logs: FloatArray) -> FloatArray:
    """Return each slice's likelihoods, scaled to a maximum of 1."""
    scaled: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    return scaled


def _grid_prior(size: int) -> FloatArray:
    """Return the prior weight of the grid, measured in slices."""
    prior = np.full(size, 0.5 * _PRIOR_SLICES / (size - 1))
    prior[LIKE_WHOLE] = 0.5 * _PRIOR_SLICES
    return prior


_MOST_ALIKE = 128.0  # κ at the second centre: outlying slices are never identical

# Share of the learned weight on "like the overall result" that a slice ignores. A rate of one bad
# slice in 200 cannot be learned, so this is a fixed choice. With a larger share, more than one in a
# thousand equal slices is flagged; with a smaller one, the interval of a bad slice excludes its
# true difference.
DOUBT = 0.75
_SEEN = 0.05  # below this learned weight, a slice is not masked by the others
_STAND_OUT = (8.0, 32.0)  # rates of 5% then vary by 8 and 4 points
_ROWS_STAND_OUT = (2.0, 8.0)  # equally strong if a class has only some of a slice's items


def doubt_weights(
    logs: FloatArray, weights: FloatArray, doubt: float = DOUBT, *, tilted: bool = False
) -> FloatArray:
    """Return each slice's posterior over the grid if part of the learned weights is ignored.

    A share ``doubt`` of the learned weight on "like the overall result" is moved to scales at which
    slices differ. This makes a scale mixture whose tail remains however many slices are alike. With
    ``doubt=0`` the learned weights are unchanged. The weights of slices that were learned to differ
    never change.

    Parameters
    ----------
    logs
        Log likelihood of each slice under each centre and κ, ``(n_slices, n_grid)``.
    weights
        Learned weights from :func:`learn_weights`.
    doubt
        Share to move.
    tilted
        Whether the last columns are κ of the tilt, which then receive their part too.
    """
    size = logs.shape[1]
    alike, stands_out = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    first = slice(0, len(KAPPAS))  # the weight of the second centre is unchanged
    alike[first] = KAPPAS > _MOST_ALIKE
    stands_out[first] = np.isin(KAPPAS, _ROWS_STAND_OUT if tilted else _STAND_OUT)
    if tilted:
        last = slice(size - len(TILT_KAPPAS), size)
        alike[last] = TILT_KAPPAS > _MOST_ALIKE
        stands_out[last] = np.isin(TILT_KAPPAS, _STAND_OUT)
    expected = _grid_prior(size) + weights.sum(axis=0) - weights
    moved = doubt * expected[:, alike].sum(axis=1, keepdims=True)
    expected[:, alike] *= 1 - doubt
    expected[:, stands_out] += moved / np.count_nonzero(stands_out)
    doubted: FloatArray = expected * _likelihoods(logs)
    doubted /= doubted.sum(axis=1, keepdims=True)
    is_known = weights[:, alike].sum(axis=1) < _SEEN
    doubted[is_known] = weights[is_known]
    return doubted


def _learn_totals(likelihoods: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the sum of the slices' weights, by expectation maximisation, as a starting point."""
    total = np.zeros_like(prior)
    for _ in range(_STEPS):
        expected = prior + total
        updated = expected * ((1.0 / (likelihoods @ expected)) @ likelihoods)
        moved = np.abs(updated - total).max()
        total = updated
        if moved < _TOLERANCE * len(likelihoods):
            break
    return total


def log_evidence(logs: FloatArray, weights: FloatArray) -> float:
    """Return the log probability of all slices, each predicted from the others."""
    highest: FloatArray = logs.max(axis=1)
    predicted = np.exp(logs - highest[:, None]) @ weights.mean(axis=0)
    return float((highest + np.log(predicted)).sum())


_ROUNDS = 10  # three or four are enough unless slices differ greatly
_CHANGE = 0.01  # of a cell of a centre
_CLEARLY = 3.0  # in nats; means twenty times as probable
_FEWEST_HALVED = 5
_MUCH_SCATTER = 0.1
_HALVINGS = 3
_FEWEST_APART = 2.0  # number of slices needed to form a separate centre


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrinkage:
    """Learned shrinkage of one family of rows.

    Parameters
    ----------
    rows
        Counts.
    centres
        The overall centre and, if some slices differ in the same way, a second one.
    weights
        Posterior of centre and κ in each slice, ``(n_slices, n_centres · n_kappas)``; with a tilt,
        the columns for its κ follow.
    logs
        Log likelihoods, of the same shape.
    tilt
        Tilt shared by all rows; None with a single row or slice.
    """

    rows: SlicedRows
    centres: tuple[Centre, ...]
    weights: FloatArray
    logs: FloatArray
    tilt: Tilt | None = None

    @property
    def n_grid(self) -> int:
        """Number of combinations of a centre and a κ of the rows."""
        return len(self.centres) * len(KAPPAS)

    @cached_property
    def evidence(self) -> float:
        """Log probability of all slices, each predicted from the others."""
        return log_evidence(self.logs, self.weights)

    def doubted(self, doubt: float = DOUBT) -> Shrinkage:
        """Return the same shrinkage with a share of the learned weights ignored."""
        weights = doubt_weights(self.logs, self.weights, doubt, tilted=self.tilt is not None)
        return replace(self, weights=weights)

    def alone(self) -> Shrinkage:
        """Return the same shrinkage without pooling: κ = 0 for every slice."""
        weights = np.zeros_like(self.weights)
        weights[:, 0] = 1.0
        return replace(self, weights=weights)

    @property
    def p_like_overall(self) -> FloatArray:
        """Probability that a slice is like the overall result, ``(n_slices,)``."""
        return self.weights[:, LIKE_WHOLE]

    @property
    def whole(self) -> FloatArray:
        """Concentrations of the overall result, ``(n_cells,)``."""
        shapes: FloatArray = self.rows.prior + self.centres[0].pooled
        return shapes

    @cached_property
    def pooled(self) -> FloatArray:
        """Counts of each centre, ``(n_centres, n_cells)``."""
        return np.stack([centre.pooled for centre in self.centres])

    def kept(self, pooled: FloatArray) -> FloatArray:
        """Return the weight of these counts as a prior, ``(n_centres · n_kappas, n_rows)``."""
        totals = np.maximum(np.add.reduceat(pooled, self.rows.row_starts, axis=1), 0.0)
        return np.concatenate([share_kept(KAPPAS[:, None], total) for total in totals])

    def shapes(self, slices: slice) -> FloatArray:
        """Return Dirichlet shapes of neighbouring slices under each centre and κ."""
        blocks = [posterior_shapes(self.rows, centre, slices) for centre in self.centres]
        return np.concatenate(blocks, axis=1)


# Largest share of a row that a slice adds as a mean instead of draws. The relative error of a
# rate's sd is about half of this share, less than the error from 4,000 draws.
SMALL_ADDITION = 0.01
# Largest ratio of the others' weight in a slice to their weight in the shared draws. Means and
# variances are exact for any ratio; at this ratio the skewness of that part is off by 5%.
_MOST_GROWTH = 1.1


class SharedDraws(NamedTuple):
    """Draws shared by slices: gammas of the prior, and of each centre at each κ.

    At κ = ∞ the prior is part of the centre. ``pooled`` contains the counts (not draws) of each
    centre, and ``kept`` their weights, ``(n_grid, n_rows)``. ``tilted`` contains further draws of
    the overall result for slices with a tilt.
    """

    classes: FloatArray
    prior: PairSums
    grid: list[PairSums]
    pooled: list[PairSums]
    kept: FloatArray
    tilted: PatternSums

    def take(
        self, on_grid: int, inside: slice, growth: FloatArray
    ) -> Iterator[tuple[FloatArray, PairSums]]:
        """Yield gammas for some of the draws, and their factors in each row.

        If the others weigh g times as much as in these draws, a gamma x of shape a becomes ``√g · x
        + (g − √g) · a``, which has the mean and variance of a gamma of shape ga. Rows with a factor
        of 0 are skipped.
        """
        centre, kappa = divmod(on_grid, len(KAPPAS))
        if kappa != LIKE_WHOLE:
            yield np.sign(growth), self.prior.cut(inside)
        if kappa != 0:
            root = np.sqrt(growth)
            yield root, self.grid[on_grid].cut(slice(0, inside.stop - inside.start))
            if (growth > root).any():
                yield (growth - root) * self.kept[on_grid], self.pooled[centre]


class OwnPart(NamedTuple):
    """A slice's own draws for each grid point that it uses."""

    cells: IntArray  # (n_own,)
    shapes: FloatArray  # (n_used, n_own)
    known: BoolArray  # (n_used, n_rows) whether the shapes are small enough to use means
    growth: FloatArray  # (n_used, n_rows) ratio of the others' weights
    apart: BoolArray  # (n_rows,) whether nothing is shared


def own_part(learned: Shrinkage, index: int, on_grid: Sequence[int], kept: FloatArray) -> OwnPart:
    """Return the difference between a slice's shapes and the shared ones.

    The slice's shapes are ``α + k'(m − wc) + c``, and the shared ones ``α + km``. Since ``k' ≥ k``,
    m grows by ``k'/k``, and ``(1 − k'w)c`` remains to be drawn. If the slice is such a large part
    of a row that the growth is far from 1, it draws the entire row.
    """
    rows, pooled = learned.rows, learned.pooled
    counts = rows.dense(slice(index, index + 1))[0]
    inside = slice(*np.searchsorted(rows.row_place, [index, index + 1]))
    worth = np.zeros((len(pooled), rows.n_rows))
    worth[:, rows.row_row[inside]] = [centre.worth[inside] for centre in learned.centres]
    left = worth[:, rows.row] * counts
    used = np.asarray(on_grid, dtype=np.int64)  # empty if there is only tilt
    here, before = learned.kept(pooled - left)[used], kept[used]
    growth = np.divide(here, before, out=np.ones_like(here), where=before > 0)
    apart: BoolArray = np.asarray((growth > _MOST_GROWTH).any(axis=0))
    full = apart[rows.row]
    cells = np.flatnonzero(full | (counts > 0))
    centre = used // len(KAPPAS)
    others = (full * pooled - left)[:, cells][centre]
    shapes = (counts + full * rows.prior)[cells] + here[:, rows.row[cells]] * others
    np.maximum(shapes, 0.0, out=shapes)
    own = np.empty((len(used), rows.n_rows))
    for place_on_grid, of_cells in enumerate(shapes):
        own[place_on_grid] = sum_by(rows.row[cells], of_cells, size=rows.n_rows)
    totals = np.add.reduceat(pooled, rows.row_starts, axis=1)[centre]
    known = ~apart & (own <= SMALL_ADDITION * (rows.row_prior + before * totals))
    return OwnPart(cells, shapes, known, growth, apart)


def shrink(rows: SlicedRows, patterns: IntArray | None = None) -> Shrinkage:
    """Learn from all slices how similar they are to the overall result.

    If the pattern of each cell is passed, slices may differ in all rows at once.

    If many slices differ, the pooled centre resembles none of them, and the search could not leave
    it. So the search is repeated from the half of the slices that agree best. The result that
    predicts the slices better is kept.
    """
    learn = partial(_learn, rows, patterns if rows.n_slices > 1 else None)
    best = learn([np.ones(len(rows.row_place))])
    starts = []
    apart = _apart(best)
    if apart.sum() >= _FEWEST_APART:
        starts.append([best.centres[0].worth, apart[rows.row_place]])
    if rows.n_slices > _FEWEST_HALVED and _scatter(best) > _MUCH_SCATTER:
        half = _agreeing_half(rows)
        starts += [[half], [half, 1 - half]]
    for worths in starts:
        best = _better(best, learn(worths))
    return best if _is_larger_first(best) else learn([c.worth for c in best.centres[::-1]])


def _is_larger_first(learned: Shrinkage) -> bool:
    """Return whether the first centre represents more items than the second."""
    sums = [centre.pooled.sum() for centre in learned.centres]
    return bool(sums[0] >= max(sums))


def _scatter(learned: Shrinkage) -> float:
    """Return the share of an item that is not predicted, averaged over all items."""
    rows = learned.rows
    (worth,) = _worths(rows, learned.weights, len(learned.centres))
    return float(1 - np.average(worth, weights=rows.row_count))


def _apart(learned: Shrinkage) -> FloatArray:
    """Return the probability that a slice's own items are more informative than the others."""
    rows = learned.rows
    n = sum_by(rows.row_place, rows.row_count, size=rows.n_slices)
    kappas = KAPPAS if learned.tilt is None else np.concatenate([KAPPAS, TILT_KAPPAS])
    apart: FloatArray = (learned.weights * (n[:, None] / 2 > kappas)).sum(axis=1)
    return apart


def _better(first: Shrinkage, other: Shrinkage) -> Shrinkage:
    """Return the alternative if it predicts the slices clearly better."""
    return other if other.evidence > first.evidence + _CLEARLY else first


def _learn(rows: SlicedRows, patterns: IntArray | None, worths: list[FloatArray]) -> Shrinkage:
    """Alternate between weights and centres until the centres converge."""
    centres = [Centre.of(rows, worth) for worth in worths]
    for _ in range(_ROUNDS):
        logs = np.concatenate([log_likelihoods(rows, centre) for centre in centres], axis=1)
        logs[:, len(KAPPAS) :][:, np.tile(KAPPAS > _MOST_ALIKE, len(centres) - 1)] = -np.inf
        tilt = None if patterns is None else Tilt.of(rows, centres[0], patterns)
        if tilt is not None:
            tilted = logs[:, LIKE_WHOLE, None] + tilt.log_ratios()
            logs = np.concatenate([logs, tilted], axis=1)
        weights = learn_weights(logs)
        used = tuple(centres)
        worths = _worths(rows, weights, len(used))
        centres = [Centre.of(rows, worth) for worth in worths]
        if all(map(_is_close, used, centres)):
            break
    return Shrinkage(rows=rows, centres=used, weights=weights, logs=logs, tilt=tilt)


def _is_close(first: Centre, other: Centre) -> bool:
    return np.allclose(first.pooled, other.pooled, rtol=_CHANGE, atol=_CHANGE)


def _worths(rows: SlicedRows, weights: FloatArray, n_centres: int) -> list[FloatArray]:
    """Return ``E[κ/(κ + n)]`` for each centre and each row that occurred.

    A κ shared by all rows uses the n of the slice and the first centre.
    """
    kept = share_kept(KAPPAS[:, None], rows.row_count)  # (n_kappas, n_rows that occurred)
    n_grid = n_centres * len(KAPPAS)
    grids = weights[:, :n_grid].reshape(len(weights), -1, len(KAPPAS)).swapaxes(0, 1)
    worths = [np.einsum("ng,gn->n", grid[rows.row_place], kept) for grid in grids]
    if weights.shape[1] > n_grid:
        n = sum_by(rows.row_place, rows.row_count, size=rows.n_slices)
        alike = (weights[:, n_grid:] * share_kept(TILT_KAPPAS, n[:, None])).sum(axis=1)
        worths[0] += alike[rows.row_place]
    return worths


def _agreeing_half(rows: SlicedRows) -> FloatArray:
    """Return 1 for each slice in the half whose rates differ least from each other."""
    worth = np.ones(len(rows.row_place))
    for _ in range(_HALVINGS):
        alone, whole = log_likelihoods(rows, Centre.of(rows, worth), KAPPAS[[0, -1]]).T
        kept = np.argsort(alone - whole, kind="stable")[: -(-rows.n_slices // 2)]
        worth = np.isin(rows.row_place, kept).astype(np.float64)
    return worth


_RARE = 30.0  # items in all slices


def shrink_answers(rows: SlicedRows, cells: IntArray) -> Shrinkage:
    """Learn how similar slices are from lumped cells, and apply the result to all cells."""
    lumped, patterns = lump(rows, cells)
    learned = shrink(lumped, patterns)
    centres = tuple(Centre.of(rows, centre.worth) for centre in learned.centres)
    tilt = learned.tilt
    if tilt is not None:
        tilt = tilt._replace(patterns=who_is_right(cells))
    return replace(learned, rows=rows, centres=centres, tilt=tilt)


def lump(rows: SlicedRows, cells: IntArray) -> tuple[SlicedRows, IntArray]:
    """Merge the rare cells of each true class if the same models are right in them."""
    truth: IntArray = cells[:, 0]
    common: BoolArray = sum_by(rows.cell, rows.count, size=rows.n_cells) >= _RARE
    right = who_is_right(cells)
    keys = np.stack([truth, common, np.where(common, np.arange(len(cells)), right)], axis=1)
    first, lumps = distinct_rows(keys)
    kept = keys[first]
    patterns = np.zeros(len(kept), dtype=np.int64)
    patterns[lumps] = right
    slice_index, cell, count = add_up(rows.slice_index, lumps[rows.cell], rows.count)
    lumped = SlicedRows(
        n_slices=rows.n_slices,
        row=kept[:, 0],
        prior=sum_by(lumps, rows.prior, size=len(kept)),
        slice_index=slice_index,
        cell=cell,
        count=count,
    )
    return lumped, patterns
