"""``BlockedTwoFold``: a scikit-learn splitter whose training halves share a quarter of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from outperform._typing import IntArray, Seed
from outperform.comparison.blocked.balance import assign, group_units, item_units
from outperform.comparison.blocked.design import blocks
from outperform.errors import DataError, UsageError, unknown_name
from outperform.outcomes.labels import Column, read_column
from outperform.posterior import seed_sequence

_PARAMETERS = ("m", "stratify", "balance", "random_state")


class BlockedTwoFold:
    """Repeat two-fold cross-validation so that every two training halves share ``n / 4`` items.

    The data are dealt into blocks that are alike. Each repetition takes half of
    the blocks as ``S`` and the others as ``T``, chosen by the columns of a
    two-level orthogonal array, and yields the folds ``(S, T)`` and ``(T, S)``
    as pairs of training and test indices. With ``m = 3`` there are four blocks
    and the halves are B1 B2, B1 B3 and B2 B3. It goes wherever scikit-learn
    takes ``cv=``.

    Parameters
    ----------
    m
        The number of repetitions; there are ``2 m`` folds.
    stratify
        Whether each class of ``y`` has as many items in every block, within one.
        It needs one label per item; for a ``y`` of tag sequences or of several
        columns there is nothing to stratify on, so pass ``balance``.
    balance
        What else the blocks should have equally much of: a matrix ``(n_items, n_units)``
        of counts that are not negative, such as how many entities of each type a
        sentence has. An array, a sparse matrix or a frame.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState. None makes new
        folds at each call, a whole number the same folds.

    Notes
    -----
    With ``groups``, whole groups are dealt out and never split. Sizes, class counts and
    balance then agree only as well as the groups allow.

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
        balance: Any = None,
        random_state: Seed = None,
    ) -> None:
        # Kept as they came: scikit-learn's clone checks that nothing was changed.
        self.m = m
        self.stratify = stratify
        self.balance = balance
        self.random_state = random_state
        self._check()

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the training and test indices of each fold.

        Parameters
        ----------
        X
            The items; only their number matters.
        y
            One label per item, to stratify on; or anything if there is nothing to stratify on.
        groups
            One label per item; items of one group stay together.
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

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn asks for them.

        Parameters
        ----------
        deep
            Not used.
        """
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> BlockedTwoFold:
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

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn's metadata routing that ``split`` takes ``groups``."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self) -> str:
        shown = [f"m={self.m}"]
        if not self.stratify:
            shown.append("stratify=False")
        if self.balance is not None:
            shown.append(
                f"balance=<{type(self.balance).__name__} of shape {np.shape(self.balance)}>"
            )
        if self.random_state is not None:
            shown.append(f"random_state={self.random_state!r}")
        return f"BlockedTwoFold({', '.join(shown)})"

    def _check(self) -> None:
        if not isinstance(self.m, (int, np.integer)) or isinstance(self.m, bool) or self.m < 1:
            raise UsageError(f"m must be a whole number of repetitions, 1 or more; got {self.m!r}")
        if not isinstance(self.stratify, (bool, np.bool_)):
            raise UsageError(f"stratify must be True or False; got {self.stratify!r}")

    def _classes(self, y: Any, n: int) -> IntArray:
        if not self.stratify or y is None or not _is_one_label_each(y):
            return np.zeros(n, dtype=np.int64)
        column = _column(y, n, name="y")
        for value in column.values:
            if column.kind == "float" and not value.is_integer():
                raise DataError(
                    f"y must hold classes to stratify on; got {value!r}, which is not a whole "
                    "number. Pass stratify=False for a target that is measured"
                )
        return column.codes

    def _signs(self, n: int, *, what: str) -> IntArray:
        signs = blocks(int(self.m), n)
        if n < len(signs):
            raise DataError(
                f"m = {self.m} needs at least {len(signs)} {what}, one for each block; "
                f"got {n}. Use fewer repetitions or more data"
            )
        return signs


def _folds(signs: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    for column in signs.T:
        one, other = np.flatnonzero(column > 0), np.flatnonzero(column < 0)
        yield one, other
        # Arrays of their own, so that whoever sorts one in place changes no other fold.
        yield other.copy(), one.copy()


def _length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape is None and not hasattr(X, "__len__"):
        raise DataError(f"X must be the items, one a row; got {type(X).__name__}")
    n = int(shape[0]) if shape else len(X)
    if n == 0:
        raise DataError("X must hold items to split; got none")
    return n


def _is_one_label_each(y: Any) -> bool:
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) > 1:
        return len(shape) == 2 and shape[1] == 1
    first = next(iter(y), None)
    return isinstance(first, (str, bytes)) or not hasattr(first, "__len__")


def _column(values: Any, n: int, *, name: str) -> Column:
    if len(getattr(values, "shape", ())) == 2:
        values = np.asarray(values)[:, 0]
    column = read_column(values, name=name)
    if len(column.codes) != n:
        raise DataError(
            f"{name} must have one entry for each of the {n} items in X; got {len(column.codes)}"
        )
    # Codes in the order of the labels, so that a list and an array make the same folds.
    order = sorted(range(len(column.values)), key=column.values.__getitem__)
    codes = np.argsort(order)[column.codes]
    return replace(column, values=tuple(column.values[code] for code in order), codes=codes)


def _read_balance(balance: Any, n: int) -> Any:
    """Return the balance matrix as a sparse one, with no columns if there is none."""
    from scipy import sparse

    if balance is None:
        return sparse.csr_array((n, 0))
    if not sparse.issparse(balance):
        balance = np.asarray(balance)
        balance = balance[:, None] if balance.ndim == 1 else balance
    if len(balance.shape) != 2 or balance.shape[0] != n:
        raise DataError(
            f"balance must have one row for each of the {n} items in X; got shape {balance.shape}"
        )
    if balance.dtype.kind not in "biuf":
        raise DataError(f"balance must hold numbers; got values of type {balance.dtype}")
    matrix = sparse.csr_array(balance, dtype=np.float64)
    bad = matrix.data[~(np.isfinite(matrix.data) & (matrix.data >= 0))]
    if bad.size:
        raise DataError(
            f"balance must hold counts or frequencies, none missing or negative; got {bad[0]}"
        )
    return matrix
