"""``BlockedTwoFold``: a splitter with balanced blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from outperform._missing import unmasked
from outperform._typing import (
    AnyArray,
    ColumnLike,
    FloatArray,
    IntArray,
    LabelsLike,
    MatrixLike,
    Seed,
    SparseFloats,
)
from outperform.crossval.folds import blocks
from outperform.data.labels import Column, read_column
from outperform.errors import DataError, UsageError, unknown_name
from outperform.posterior.rng import seed_sequence

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest


# Weights of size, class counts and balance when whole groups are moved.
_IMPORTANCE = (4.0, 2.0, 1.0)
_POOL = 300
_MOST_SWAPS = 1_000
_CHUNK = 1 << 20
# Rounding makes ties the same on every machine, so a seed gives the same folds everywhere.
_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Units to assign to blocks: items, or entire groups of items.

    Blocks must agree in ``strata`` to within one unit, and in ``features`` as closely as possible.
    Items have the same size, so they can only be exchanged; groups can also be moved.
    """

    strata: IntArray  # (n_units,)
    features: SparseFloats  # (n_units, n_features)
    movable: bool


def item_units(classes: IntArray, balance: SparseFloats) -> Units:
    """Return single items as units, with classes as strata and balance as features."""
    return Units(strata=classes, features=_scaled(balance), movable=False)


def group_units(groups: IntArray, classes: IntArray, balance: SparseFloats) -> Units:
    """Return whole groups as units, with sizes, class counts and total balance as features."""
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
    """Return a block for each unit; sizes of blocks of items differ by at most one.

    Identical items form a run. Each run is dealt to all blocks in turn as long as it fills a round.
    The remaining items are dealt in rounds, largest first, to the blocks with the smallest totals
    of their features. Groups are dealt one at a time. Finally, units are exchanged as long as this
    makes the blocks more similar.

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
    position = np.arange(len(run)) - first[run]
    full_rounds = (position < (length - length % n_blocks)[run]) & (not units.movable)
    block_of = np.empty(len(run), dtype=np.int64)
    block_of[order[full_rounds]] = position[full_rounds] % n_blocks
    left = order[~full_rounds]
    width = 1 if units.movable else n_blocks
    block_of[left] = _deal(units.strata[left], units.features[left], n_blocks, width, generator)
    if units.features.shape[1]:
        alike = np.empty_like(run)
        alike[order] = run
        _settle(units, alike, block_of, n_blocks, generator)
    return block_of


def _scaled(matrix: object) -> SparseFloats:
    """Return sparse columns of equal length whose squares add up to 1 in total."""
    from scipy import sparse

    features: SparseFloats = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    features.sum_duplicates()
    features.eliminate_zeros()
    length = np.sqrt(features.power(2).sum(axis=0))
    scale = np.where(length > 0, length, 1.0) * np.sqrt(max(features.shape[1], 1))
    features.data /= scale[features.indices]
    return features


def _runs(units: Units, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the units in dealing order, and each unit's run number.

    All units of a run have the same stratum and equal features, as identified by a random
    projection. Their order is random.
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
    strata: IntArray,
    features: SparseFloats,
    n_blocks: int,
    width: int,
    generator: np.random.Generator,
) -> IntArray:
    """Deal units, ordered by stratum, in rounds of ``width`` units to different blocks."""
    from scipy.optimize import linear_sum_assignment

    dealt = np.empty(len(strata), dtype=np.int64)
    sums = np.zeros((n_blocks, features.shape[1]))
    stratum, received = -1, np.zeros(n_blocks)
    for start, bring in _rounds(features, width):
        here = strata[start : start + width]
        cost = (bring @ sums.T).round(_DIGITS)
        if width > 1:  # first complete the stratum that the last round started
            cost += np.outer(here == stratum, received) * (1 + np.ptp(cost) * width)
        blocks = generator.permutation(n_blocks)  # ties are broken at random
        blocks = blocks[linear_sum_assignment(cost[:, blocks])[1]]
        dealt[start : start + width] = blocks
        sums[blocks] += bring
        if here[-1] != stratum:
            stratum, received = here[-1], np.zeros(n_blocks)
        received[blocks[here == stratum]] += 1
    return dealt


def _rounds(features: SparseFloats, width: int) -> Iterator[tuple[int, FloatArray]]:
    """Yield the features of each round as dense rows; chunks limit the memory."""
    chunk = width * max(1, _CHUNK // (width * max(features.shape[1], 1)))
    for start in range(0, features.shape[0], chunk):
        dense = features[start : start + chunk].toarray()
        for inner in range(0, len(dense), width):
            yield start + inner, dense[inner : inner + width]


def _settle(
    units: Units, alike: IntArray, block_of: IntArray, n_blocks: int, generator: np.random.Generator
) -> None:
    """Exchange units between blocks as long as the blocks' sums of squares decrease."""
    # One of several identical items in a block represents all of them.
    kind = np.arange(len(block_of)) if units.movable else alike * n_blocks + block_of
    pool = generator.permutation(np.unique(kind, return_index=True)[1])[:_POOL]
    rows = units.features[pool].toarray()
    strata, where = units.strata[pool], block_of[pool]
    if units.movable:  # a move is treated as an exchange with an empty unit
        rows = np.vstack([rows, np.zeros((n_blocks, rows.shape[1]))])
        strata = np.concatenate([strata, np.zeros(n_blocks, dtype=np.int64)])
        where = np.concatenate([where, np.arange(n_blocks)])
    sums = _block_sums(units.features, block_of, n_blocks)
    inner = rows @ rows.T
    for _ in range(_MOST_SWAPS):
        change = np.where(strata[:, None] == strata, _changes(rows @ sums.T, inner, where), 0.0)
        first, second = sorted(np.unravel_index(np.argmin(change), change.shape))
        if change[first, second] >= 0:
            break
        step = rows[first] - rows[second]
        sums[where[second]] += step
        sums[where[first]] -= step
        if second < len(pool):
            where[[first, second]] = where[[second, first]]
        else:
            where[first] = where[second]
    block_of[pool] = where[: len(pool)]


def _changes(towards: FloatArray, inner: FloatArray, where: IntArray) -> FloatArray:
    """Return half the change in the sums of squares for each exchange of two units.

    Moving ``x``, the difference between the two, from block ``a`` to ``b`` adds ``2 x·(sum_b −
    sum_a) + 2 |x|²``.
    """
    gain = towards[:, where] - towards[np.arange(len(where)), where][:, None]
    squares = np.diag(inner)
    change = gain + gain.T + squares[:, None] + squares - 2 * inner
    change[where[:, None] == where] = 0.0
    return change.round(_DIGITS)


def _block_sums(features: object, block_of: IntArray, n_blocks: int) -> FloatArray:
    from scipy import sparse

    n = len(block_of)
    member = sparse.csr_array((np.ones(n), (block_of, np.arange(n))), shape=(n_blocks, n))
    return np.asarray((member @ features).toarray())


class SplitterParameters(TypedDict, total=False):
    """Parameters of a splitter, by name."""

    m: int
    stratify: bool
    balance: MatrixLike | ColumnLike | None
    random_state: Seed


_PARAMETERS = tuple(SplitterParameters.__annotations__)


class BlockedTwoFold:
    """Repeated two-fold cross-validation in which any two training halves share ``n / 4`` items.

    The data are divided into similar blocks. Each repetition takes half of the blocks as ``S`` and
    the others as ``T``, according to the columns of a two-level orthogonal array, and yields the
    folds ``(S, T)`` and ``(T, S)`` as pairs of training and test indices. With ``m = 3`` there are
    four blocks, and the halves are B1 B2, B1 B3 and B2 B3. It works wherever scikit-learn accepts
    ``cv=``.

    Parameters
    ----------
    m
        Number of repetitions; there are ``2 m`` folds.
    stratify
        Whether every block must have the same number of items of each class of ``y``, to within
        one. This needs one label per item. It has no effect if ``y`` has tag sequences or several
        columns; pass ``balance`` instead.
    balance
        Additional counts to balance between blocks: a non-negative matrix ``(n_items, n_units)``,
        such as the number of entities of each type per sentence. An array, a sparse matrix or a
        frame.
    random_state
        Integer, SeedSequence, Generator or RandomState. None gives new folds on
        each call, a whole number always the same folds.

    Notes
    -----
    If ``groups`` are passed, they are never split. Sizes, class counts and balance then agree only
    as closely as the groups allow.

    References
    ----------
    Wang and Li (2019), Bayes test of precision, recall, and F1 measure for comparison of two
    natural language processing models, ACL, section 2.2.

    Examples
    --------
    >>> folds = list(BlockedTwoFold(m=3, random_state=0).split(range(12), [0, 1, 1] * 4))
    >>> [len(train) for train, test in folds]
    [6, 6, 6, 6, 6, 6]
    >>> len(set(folds[0][0]) & set(folds[2][0])), len(set(folds[1][0]) & set(folds[4][0]))
    (3, 3)
    """

    def __init__(
        self,
        m: int = 3,
        stratify: bool = True,
        balance: MatrixLike | ColumnLike | None = None,
        random_state: Seed = None,
    ) -> None:
        # Parameters are stored unchanged because scikit-learn's clone checks this.
        self.m = m
        self.stratify = stratify
        self.balance = balance
        self.random_state = random_state
        self._check()

    def split(
        self,
        X: MatrixLike | Sized,
        y: LabelsLike | None = None,
        groups: ColumnLike | None = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the training and test indices of each fold.

        Parameters
        ----------
        X
            Items; only their number matters.
        y
            One label per item, to stratify on; other values are ignored.
        groups
            Group of each item. A group is never split between halves.
        """
        n = _length(X)
        classes = self._classes(y, n)
        balance = _read_balance(self.balance, n)
        generator = np.random.default_rng(seed_sequence(self.random_state))
        if groups is None:
            signs = self._signs(n, what="items")
            units = item_units(classes, balance)
            of_items = signs[assign(units, len(signs), generator)]
        else:
            names, codes = np.unique(_column(groups, n, name="groups").codes, return_inverse=True)
            signs = self._signs(len(names), what="groups")
            units = group_units(codes, classes, balance)
            of_items = signs[assign(units, len(signs), generator)[codes]]
        return _folds(of_items)

    def get_n_splits(
        self,
        X: MatrixLike | Sized | None = None,
        y: LabelsLike | None = None,
        groups: ColumnLike | None = None,
    ) -> int:
        """Return the number of folds, ``2 m``.

        Parameters
        ----------
        X
            Not used.
        y
            Not used.
        groups
            Not used.
        """
        return 2 * int(self.m)

    def get_params(self, deep: bool = True) -> SplitterParameters:
        """Return the parameters by name, as scikit-learn requires.

        Parameters
        ----------
        deep
            Not used.
        """
        return {
            "m": self.m,
            "stratify": self.stratify,
            "balance": self.balance,
            "random_state": self.random_state,
        }

    def set_params(self, **parameters: Unpack[SplitterParameters]) -> BlockedTwoFold:
        """Set parameters by name, and return the splitter.

        Parameters
        ----------
        **parameters
            New values.
        """
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise UsageError(unknown_name("parameter", name, _PARAMETERS))
            setattr(self, name, value)
        self._check()
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn's metadata routing that ``split`` takes ``groups``."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self) -> str:
        arguments = [f"m={self.m}"]
        if not self.stratify:
            arguments.append("stratify=False")
        if self.balance is not None:
            shape = np.shape(cast(ArrayLike, self.balance))
            arguments.append(f"balance=<{type(self.balance).__name__} of shape {shape}>")
        if self.random_state is not None:
            arguments.append(f"random_state={self.random_state!r}")
        return f"BlockedTwoFold({', '.join(arguments)})"

    def _check(self) -> None:
        if not isinstance(self.m, (int, np.integer)) or isinstance(self.m, bool) or self.m < 1:
            raise UsageError(f"m must be a whole number of at least 1; got {self.m!r}")
        if not isinstance(self.stratify, (bool, np.bool_)):
            raise UsageError(f"stratify must be True or False; got {self.stratify!r}")

    def _classes(self, y: object, n: int) -> IntArray:
        if not self.stratify or y is None or not _is_one_label_each(y):
            return np.zeros(n, dtype=np.int64)
        column = _column(y, n, name="y")
        for value in column.values:
            if column.kind == "float" and not value.is_integer():
                raise DataError(
                    f"y must contain classes to stratify on; got {value!r}, which is not a whole "
                    "number. For regression targets, pass stratify=False"
                )
        return column.codes

    def _signs(self, n: int, *, what: str) -> IntArray:
        signs = blocks(int(self.m), n)
        if n < len(signs):
            raise DataError(
                f"m = {self.m} needs at least {len(signs)} {what}, one per block; got {n}. Use "
                "fewer repetitions or more data"
            )
        return signs


def _folds(signs: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    for column in signs.T:
        first, second = np.flatnonzero(column > 0), np.flatnonzero(column < 0)
        yield first, second
        # Copies are yielded so that sorting one fold in place does not change another.
        yield second.copy(), first.copy()


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape is None and not hasattr(X, "__len__"):
        raise DataError(f"X must have one row per item; got {type(X).__name__}")
    n = int(shape[0]) if shape else len(X)
    if n == 0:
        raise DataError("X must contain at least one item; got none")
    return n


def _is_one_label_each(y: Any) -> bool:
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) > 1:
        return len(shape) == 2 and shape[1] == 1
    first = next(iter(y), None)
    return isinstance(first, (str, bytes)) or not hasattr(first, "__len__")


def _column(values: object, n: int, *, name: str) -> Column:
    if len(getattr(values, "shape", ())) == 2:
        values = np.asarray(unmasked(values))[:, 0]
    column = read_column(values, name=name)
    if len(column.codes) != n:
        raise DataError(
            f"{name} must have one entry per item in X, {n} in all; got {len(column.codes)}"
        )
    # Codes follow the label order, so a list and an array give the same folds.
    order = sorted(range(len(column.values)), key=column.values.__getitem__)
    codes = np.argsort(order)[column.codes]
    return replace(column, values=tuple(column.values[code] for code in order), codes=codes)


def _read_balance(balance: MatrixLike | ColumnLike | None, n: int) -> SparseFloats:
    """Return the balance as a sparse matrix, which has no columns if the balance is None."""
    from scipy import sparse

    empty: SparseFloats = sparse.csr_array((n, 0))
    if balance is None:
        return empty
    # SciPy's types do not distinguish its matrices from other values.
    values = (
        cast(SparseFloats, balance) if sparse.issparse(balance) else np.asarray(unmasked(balance))
    )
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = values[:, None]
    if len(values.shape) != 2 or values.shape[0] != n:
        raise DataError(
            f"balance must have one row per item in X, {n} in all; got shape {values.shape}"
        )
    if values.dtype.kind not in "biuf":
        raise DataError(f"balance must contain numbers; got values of type {values.dtype}")
    matrix: SparseFloats = sparse.csr_array(values, dtype=np.float64)
    bad = matrix.data[~(np.isfinite(matrix.data) & (matrix.data >= 0))]
    if bad.size:
        raise DataError(
            f"balance must contain counts or frequencies, not missing or negative; got {bad[0]}"
        )
    return matrix
