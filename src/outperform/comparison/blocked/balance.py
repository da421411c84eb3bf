"""Which unit goes to which block, so that the blocks are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform._typing import AnyArray, FloatArray, IntArray

# How much weight size, class counts and balance have when whole groups move.
_IMPORTANCE = (4.0, 2.0, 1.0)
_POOL = 300
_MOST_SWAPS = 1_000
_CHUNK = 1 << 20
# Rounded, equal costs are equal on every machine, and so are the folds of a seed.
_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What is dealt out: items, or whole groups of them.

    ``strata`` must agree between blocks within one unit, ``features`` as well
    as possible. Items have one size, so that they may only change places;
    groups may also move alone.
    """

    strata: IntArray  # (n_units,)
    features: Any  # sparse, (n_units, n_features)
    movable: bool


def item_units(classes: IntArray, balance: Any) -> Units:
    """Return units that are single items: classes agree within one, balance as well as it can."""
    return Units(strata=classes, features=_scaled(balance), movable=False)


def group_units(groups: IntArray, classes: IntArray, balance: Any) -> Units:
    """Return units that are whole groups, with their sizes, class counts and balance added up."""
    from scipy import sparse

    n, every = len(groups), np.ones(len(groups))
    member = sparse.csr_array((every, (groups, np.arange(n))))  # (n_groups, n_items)
    chosen = sparse.csr_array((every, (np.arange(n), classes)))
    kinds = (every[:, None], chosen, balance)
    features = [
        _scaled(member @ kind) * weight for kind, weight in zip(kinds, _IMPORTANCE, strict=True)
    ]
    strata = np.zeros(member.shape[0], dtype=np.int64)
    return Units(strata=strata, features=sparse.hstack(features, format="csr"), movable=True)


def assign(units: Units, n_blocks: int, generator: np.random.Generator) -> IntArray:
    """Return a block for each unit; blocks of items have equal sizes within one.

    Items that look the same form a run. Each run goes round the blocks as often
    as it fills all of them; what is left goes in rounds, the largest first, and
    each round to the blocks that have least of what it brings. Groups go one by
    one. Then units change places while that makes the blocks more alike.

    Examples
    --------
    >>> from scipy import sparse
    >>> units = item_units(np.repeat([0, 1], [8, 4]), sparse.csr_array((12, 0)))
    >>> found = assign(units, 4, np.random.default_rng(1))
    >>> np.bincount(found), np.bincount(found[:8])
    (array([3, 3, 3, 3]), array([2, 2, 2, 2]))
    """
    order, run = _runs(units, generator)
    first = np.flatnonzero(np.diff(run, prepend=-1))
    length = np.diff(first, append=len(run))
    place = np.arange(len(run)) - first[run]
    whole = (place < (length - length % n_blocks)[run]) & (not units.movable)
    found = np.empty(len(run), dtype=np.int64)
    found[order[whole]] = place[whole] % n_blocks
    left = order[~whole]
    width = 1 if units.movable else n_blocks
    found[left] = _deal(units.strata[left], units.features[left], n_blocks, width, generator)
    if units.features.shape[1]:
        alike = np.empty_like(run)
        alike[order] = run
        _settle(units, alike, found, n_blocks, generator)
    return found


def _scaled(matrix: Any) -> Any:
    """Return sparse columns of one length whose squares add up to 1 together."""
    from scipy import sparse

    features = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    features.sum_duplicates()
    features.eliminate_zeros()
    length = np.sqrt(features.power(2).sum(axis=0))
    scale = np.where(length > 0, length, 1.0) * np.sqrt(max(features.shape[1], 1))
    features.data /= scale[features.indices]
    return features


def _runs(units: Units, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the units in the order of dealing, and the number of the run that each belongs to.

    A run has one stratum and equal features, which a random projection tells;
    within a run the order is random.
    """
    shuffled = generator.permutation(len(units.strata))
    keys: list[AnyArray] = [units.strata]
    if units.features.shape[1]:
        keys.append(-units.features.power(2).sum(axis=1))
        keys.append(units.features @ generator.random(units.features.shape[1]))
    keys = [key[shuffled] for key in keys]
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=bool)
    for key in keys:
        new[1:] |= np.diff(key[order]) != 0
    return shuffled[order], np.cumsum(new)


def _deal(
    strata: IntArray, features: Any, n_blocks: int, width: int, generator: np.random.Generator
) -> IntArray:
    """Deal units, which come by strata, in rounds of so many units for different blocks."""
    from scipy.optimize import linear_sum_assignment

    found = np.empty(len(strata), dtype=np.int64)
    sums = np.zeros((n_blocks, features.shape[1]))
    stratum, seen = -1, np.zeros(n_blocks)
    for start, bring in _rounds(features, width):
        here = strata[start : start + width]
        cost = (bring @ sums.T).round(_DIGITS)
        if width > 1:  # the stratum that the last round left unfinished fills up first
            cost += np.outer(here == stratum, seen) * (1 + np.ptp(cost) * width)
        blocks = generator.permutation(n_blocks)  # so that ties fall at random
        blocks = blocks[linear_sum_assignment(cost[:, blocks])[1]]
        found[start : start + width] = blocks
        sums[blocks] += bring
        if here[-1] != stratum:
            stratum, seen = here[-1], np.zeros(n_blocks)
        seen[blocks[here == stratum]] += 1
    return found


def _rounds(features: Any, width: int) -> Iterator[tuple[int, FloatArray]]:
    """Yield the features of each round as dense rows; a chunk bounds the memory they take."""
    chunk = width * max(1, _CHUNK // (width * max(features.shape[1], 1)))
    for start in range(0, features.shape[0], chunk):
        dense = features[start : start + chunk].toarray()
        for inner in range(0, len(dense), width):
            yield start + inner, dense[inner : inner + width]


def _settle(
    units: Units, alike: IntArray, found: IntArray, n_blocks: int, generator: np.random.Generator
) -> None:
    """Exchange units between blocks as long as the sums of squares over the blocks fall."""
    # Of the items that look the same in one block, one can stand for all.
    kind = np.arange(len(found)) if units.movable else alike * n_blocks + found
    pool = generator.permutation(np.unique(kind, return_index=True)[1])[:_POOL]
    rows = units.features[pool].toarray()
    strata, where = units.strata[pool], found[pool]
    if units.movable:  # to move is to change places with nothing
        rows = np.vstack([rows, np.zeros((n_blocks, rows.shape[1]))])
        strata = np.concatenate([strata, np.zeros(n_blocks, dtype=np.int64)])
        where = np.concatenate([where, np.arange(n_blocks)])
    sums = _block_sums(units.features, found, n_blocks)
    inner = rows @ rows.T
    for _ in range(_MOST_SWAPS):
        change = np.where(strata[:, None] == strata, _changes(rows @ sums.T, inner, where), 0.0)
        one, other = sorted(np.unravel_index(np.argmin(change), change.shape))
        if change[one, other] >= 0:
            break
        step = rows[one] - rows[other]
        sums[where[other]] += step
        sums[where[one]] -= step
        if other < len(pool):
            where[[one, other]] = where[[other, one]]
        else:
            where[one] = where[other]
    found[pool] = where[: len(pool)]


def _changes(towards: FloatArray, inner: FloatArray, where: IntArray) -> FloatArray:
    """Return half of what each exchange of two units adds to the sums of squares.

    Taking ``x``, the difference of the two, from block ``a`` to ``b`` adds
    ``2 x·(sum_b − sum_a) + 2 |x|²``.
    """
    gain = towards[:, where] - towards[np.arange(len(where)), where][:, None]
    squares = np.diag(inner)
    change = gain + gain.T + squares[:, None] + squares - 2 * inner
    change[where[:, None] == where] = 0.0
    return change.round(_DIGITS)


def _block_sums(features: Any, found: IntArray, n_blocks: int) -> FloatArray:
    from scipy import sparse

    n = len(found)
    member = sparse.csr_array((np.ones(n), (found, np.arange(n))), shape=(n_blocks, n))
    return np.asarray((member @ features).toarray())
