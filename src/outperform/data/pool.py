"""Parts of the data: partly labelled pools, and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from outperform._json import written
from outperform._missing import is_missing, unmasked
from outperform._rows import Distinct, count_rows, distinct_rows, place_rows, sum_by
from outperform._typing import AnyArray, FloatArray, IntArray, IntRows
from outperform.data.labels import Column, read_column
from outperform.data.table import Table, as_counts, total
from outperform.errors import DataError, UsageError, unknown_name


@written("cells counts")
@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """Number of items in a pool, labelled or not, for each pair of predictions.

    Each pair is a stratum. The labelled items of a stratum are a random sample of it, but sampling
    rates differ between strata, so strata are weighted by their counts in the pool.

    Parameters
    ----------
    cells
        Codes of each model's prediction, ``(n_strata, n_models)``, in lexicographic order.
    counts
        Number of pool items in each stratum, including labelled ones.
    """

    cells: IntRows
    counts: AnyArray
    # Describes the items in error messages.
    CHOSEN: ClassVar[str] = "were chosen from a pool by the predictions of both models"

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)
        self.counts.setflags(write=False)

    @cached_property
    def n(self) -> int:
        """Number of items, labelled or not."""
        return total(self.counts)

    @property
    def apart(self) -> AnyArray:
        """Mask of the strata in which the two models disagree."""
        differ: AnyArray = self.cells[:, 0] != self.cells[:, 1]
        return differ

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Pool:
        """Reorder the models."""
        return _counted([self.cells[:, model] for model in kept], self.counts, n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Pool:
        """Recode every label."""
        return _counted(list(codes[self.cells].T), self.counts, n_labels=n_labels)

    def plus(self, other: Pool, *, n_labels: int) -> Pool:
        """Combine two pools with the same models and codes."""
        cells = np.concatenate([self.cells, other.cells])
        counts = np.concatenate([self.counts.astype(object), other.counts.astype(object)])
        return _counted(list(cells.T), as_counts(counts), n_labels=n_labels)

    def same(self, first: int, second: int) -> bool:
        """Return whether the predictions of two models are identical."""
        return np.array_equal(self.cells[:, first], self.cells[:, second])

    def emptied(self) -> Pool:
        """Return the pool without labelled items; the pool itself is kept."""
        return self

    def labelled(self, table: Table, *, n_labels: int) -> FloatArray:
        """Return the number of labelled items in each stratum by class.

        The result is a float64 array ``(n_strata, n_labels)``.
        """
        counts = np.zeros((len(self.cells), n_labels))
        if len(table.cells):
            strata = self.strata_of(table.cells[:, 1:])
            counts[strata, table.cells[:, 0]] = table.counts.astype(np.float64)
        return counts

    def strata_of(self, predictions: IntArray) -> IntArray:
        """Return the stratum of every row of predictions, of shape ``(n, n_models)``."""
        return place_rows(predictions.T, self.cells)

    def weigh(self, table: Table, *, n_labels: int) -> Table:
        """Weight the labelled items to represent their entire stratum.

        A stratum without labelled items is not represented and is dropped.
        """
        counted: FloatArray = self.labelled(table, n_labels=n_labels).sum(axis=1)
        strata = self.strata_of(table.cells[:, 1:])
        worth = self.counts.astype(np.float64)[strata] / counted[strata]
        return Table(table.cells, table.counts.astype(np.float64) * worth)

    def sums(self, table: Table, values: FloatArray) -> FloatArray:
        """Sum a value of every weighted cell over the items of each stratum."""
        strata = self.strata_of(table.cells[:, 1:])
        return sum_by(strata, table.counts * values, size=len(self.cells))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], table: Table, *, n_labels: int) -> Pool:
        """Restore the output of :meth:`to_dict` from checked arrays of cells and counts."""
        cells: IntArray = data["cells"]
        counts = as_counts(data["counts"])
        if cells.ndim != 2 or cells.shape[1] != table.cells.shape[1] - 1:
            raise DataError("a stratum of the pool needs a prediction of each model")
        if len(cells) != len(counts) or not counts.all():
            raise DataError("every stratum of the pool needs a count")
        if cells.size and (cells.min() < 0 or cells.max() >= n_labels):
            raise DataError("a stratum of the pool names a class that is not in labels")
        pool = _counted(list(cells.T), counts, n_labels=n_labels)
        if len(pool.cells) != len(cells):
            raise DataError("a stratum of the pool occurs twice")
        pool.check(table, n_labels=n_labels)
        return pool

    def check(self, table: Table, *, n_labels: int) -> None:
        """Check that no stratum has more labelled items than items in total."""
        try:
            labelled: FloatArray = self.labelled(table, n_labels=n_labels).sum(axis=1)
        except KeyError as error:
            raise DataError(
                "a labelled item has a pair of predictions that does not occur in the pool; "
                f"{_WHOLE}"
            ) from error
        over = np.flatnonzero(labelled > self.counts.astype(np.float64))
        if over.size:
            raise DataError(
                f"{labelled[over[0]]:,.0f} items with the same two predictions are labelled but "
                f"the pool contains only {self.counts[over[0]]:,} of them; {_WHOLE}, and each "
                "item can be labelled only once"
            )


_WHOLE = "the pool must contain all items available for selection, including the labelled ones"


def _counted(codes: Sequence[IntArray], counts: AnyArray, *, n_labels: int) -> Pool:
    cells, sums = count_rows(codes, n_labels=n_labels, weights=counts)
    return Pool(cells=cells, counts=sums)


def count_pool(
    truth: IntArray, predictions: Sequence[IntArray], which: IntArray, *, n_labels: int
) -> tuple[Table, Pool]:
    """Count the labelled items and their pool.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])
    >>> table, pool = count_pool(np.array([0, 1]), [a, b], np.array([1, 3]), n_labels=2)
    >>> table.cells.tolist(), pool.cells.tolist(), pool.counts.tolist()
    ([[0, 0, 0], [1, 1, 0]], [[0, 0], [1, 0], [1, 1]], [2, 1, 1])
    """
    chosen = [truth, *(column[which] for column in predictions)]
    table = Table(*count_rows(chosen, n_labels=n_labels))
    ones = np.ones(len(predictions[0]), dtype=np.int64)
    return table, _counted(predictions, ones, n_labels=n_labels)


def labelled_rows(y_true: Any, which: Any, n_pool: int) -> tuple[Any, IntArray]:
    """Return the labels that are not missing, and the indices of their items in the pool.

    Without ``which``, there is one value per item, with None or NaN for unlabelled items.

    Examples
    --------
    >>> values, which = labelled_rows(["x", None, float("nan"), "y"], None, 4)
    >>> values, which.tolist()
    (['x', 'y'], [0, 3])
    """
    if isinstance(y_true, (str, bytes)) or not hasattr(y_true, "__len__"):
        raise DataError(f"y_true must be a sequence of labels; got {type(y_true).__name__}")
    if which is None:
        y_true = unmasked(y_true)
        values = y_true.tolist() if hasattr(y_true, "tolist") else list(y_true)
        if len(values) != n_pool:
            raise DataError(
                f"y_true has {len(values)} values but the pool has {n_pool} items; pass which=, "
                "the index of each labelled item in the pool, or use None for unlabelled items"
            )
        labelled = [position for position, value in enumerate(values) if not is_missing(value)]
        return [values[position] for position in labelled], np.array(labelled, dtype=np.int64)
    positions = np.asarray(unmasked(which))
    if positions.shape != (len(y_true),) or (positions.size and positions.dtype.kind not in "iu"):
        raise DataError(
            f"which must be the index of each of the {len(y_true)} labelled items in the pool, as "
            f"integers; got shape {positions.shape} of type {positions.dtype}"
        )
    positions = positions.astype(np.int64)
    if positions.size and (positions.min() < 0 or positions.max() >= n_pool):
        raise DataError(f"which must be between 0 and {n_pool - 1}, the last index of the pool")
    if len(np.unique(positions)) != len(positions):
        raise DataError("which contains an index twice; each item can be labelled only once")
    return y_true, positions


Key = tuple[str, ...]


@written("by keys *table")
@dataclass(frozen=True, eq=False, kw_only=True)
class Slices:
    """Sparse counts of (slice, truth, prediction of each model).

    Parameters
    ----------
    by
        Names of the slice columns.
    keys
        Value of each of these columns for each slice, as text, in lexicographic order.
    table
        Counts; the index of the slice comes before the label codes in each cell.
    """

    by: tuple[str, ...]
    keys: tuple[Key, ...]
    table: Table

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys)

    @cached_property
    def n(self) -> AnyArray:
        """Number of items in each slice."""
        return self.table.sum_by(self.table.cells[:, 0], n_labels=len(self.keys))

    def index_of(self, *key: object) -> int:
        """Return the index of a slice, or raise an error that lists the slices."""
        wanted = tuple(map(str, key))
        if len(wanted) != len(self.by):
            raise UsageError(f"a slice needs one value for each of {self.by}; got {wanted}")
        if wanted not in self._places:
            known = [", ".join(parts) for parts in self.keys]
            raise UsageError(unknown_name("slice", ", ".join(wanted), known))
        return self._places[wanted]

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: code for code, key in enumerate(self.keys)}

    def at(self, index: int) -> Table:
        """Return the table of one slice, with the groups of its items."""
        start, stop = np.searchsorted(self.table.cells[:, 0], [index, index + 1])
        groups = self.table.groups
        if groups is not None:
            new_cells = np.full(len(self.table.cells), -1)
            new_cells[start:stop] = np.arange(stop - start)
            groups = groups.moved(new_cells, n_cells=stop - start).occurring()
        cells, counts = self.table.cells[start:stop, 1:], self.table.counts[start:stop]
        return Table(cells.copy(), counts.copy(), groups)

    def whole(self, *, n_labels: int) -> Table:
        """Return the combined table of all slices; a group may span several of them."""
        return self.table._moved(list(self.table.cells[:, 1:].T), n_labels=n_labels)

    def recode(self, codes: IntArray, *, n_labels: int) -> Slices:
        """Recode every label; labels with the same new code are added up."""
        return self._moved(list(codes[self.table.cells[:, 1:]].T), n_labels=n_labels)

    def columns(self, kept: Sequence[int], *, n_labels: int) -> Slices:
        """Sum over all columns except the truth and the kept models."""
        cells = self.table.cells
        return self._moved(
            [cells[:, 1], *(cells[:, 2 + model] for model in kept)], n_labels=n_labels
        )

    def without_code(self, code: int) -> Slices:
        """Drop cells in which truth and all predictions have this code, for example "no span"."""
        table = self.table.without((self.table.cells[:, 1:] == code).all(axis=1))
        occurring = np.unique(table.cells[:, 0])
        new_codes = np.searchsorted(occurring, table.cells[:, 0])
        cells = np.column_stack([new_codes, table.cells[:, 1:]])
        keys = tuple(self.keys[code] for code in occurring)
        return replace(self, keys=keys, table=replace(table, cells=cells))

    def by_columns(self, by: Sequence[str], known: Mapping[str, str], *, n_labels: int) -> Slices:
        """Sum over the slice columns that are not in ``by``; ``known`` has values of new ones."""
        place_of = {column: index for index, column in enumerate(self.by)}
        new = [
            tuple(known[column] if column in known else key[place_of[column]] for column in by)
            for key in self.keys
        ]
        keys = tuple(sorted(set(new)))
        code_of = {key: code for code, key in enumerate(keys)}
        codes = np.array([code_of[key] for key in new], dtype=np.int64)
        cells = self.table.cells
        columns = [codes[cells[:, 0]], *cells[:, 1:].T]
        table = self.table._moved(columns, n_labels=max(n_labels, len(keys)))
        return Slices(by=tuple(by), keys=keys, table=table)

    def _moved(self, columns: Sequence[IntArray], *, n_labels: int) -> Slices:
        columns = [self.table.cells[:, 0], *columns]
        table = self.table._moved(columns, n_labels=max(n_labels, len(self.keys)))
        return replace(self, table=table)

    def plus(self, other: Slices, *, n_labels: int) -> Slices:
        """Add slices with the same columns and codes."""
        if self.by != other.by:
            raise UsageError(f"slices by {self.by} and by {other.by} cannot be added")
        keys = tuple(sorted({*self.keys, *other.keys}))
        code_of = {key: code for code, key in enumerate(keys)}
        tables = []
        for slices in (self, other):
            codes = np.array([code_of[key] for key in slices.keys], dtype=np.int64)
            cells = slices.table.cells
            moved = np.column_stack([codes[cells[:, 0]], cells[:, 1:]])
            tables.append(Table(moved, slices.table.counts, slices.table.groups))
        table = tables[0].plus(tables[1], n_labels=max(n_labels, len(keys)))
        return replace(self, keys=keys, table=table)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, n_labels: int, width: int) -> Slices:
        """Restore the output of :meth:`to_dict` from checked arrays of cells and counts."""
        by, keys = tuple(data["by"]), tuple(map(tuple, data["keys"]))
        cells: IntArray = data["cells"]
        counts = as_counts(data["counts"])
        if cells.shape != (len(counts), 1 + width):
            raise DataError("every cell of a slice needs one count")
        if not by or len(set(by)) != len(by):
            raise DataError("the slice columns must have distinct names")
        if list(keys) != sorted(set(keys)) or any(len(key) != len(by) for key in keys):
            raise DataError("the slices are not sorted")
        top = np.array([len(keys)] + [n_labels] * width)
        if (cells < 0).any() or (cells >= top).any():
            raise DataError("a cell names a slice or a class that does not exist")
        columns, n_codes = list(cells.T), max(n_labels, len(keys))
        table = Table(*count_rows(columns, n_labels=n_codes, weights=counts))
        if len(table.cells) != len(cells):
            raise DataError("a cell of a slice occurs twice, or its count is zero")
        return cls(by=by, keys=keys, table=table)


def slice_column(values: object, *, name: str) -> Column:
    """Read a slice column; its values become text in sorted order.

    Examples
    --------
    >>> slice_column([10, 9, 10], name="hour").values
    ('10', '9')
    """
    column = read_column(values, name=name)
    texts = [str(value) for value in column.values]
    ordered = sorted(set(texts))
    code_of = {text: code for code, text in enumerate(ordered)}
    new_codes = np.array([code_of[text] for text in texts], dtype=np.int64)
    return Column(name=name, kind="text", values=tuple(ordered), codes=new_codes[column.codes])


def count_slices(
    by: Mapping[str, Column],
    codes: Sequence[IntArray],
    *,
    n_labels: int,
    weights: AnyArray | None,
) -> Slices:
    """Count equal rows of slice, truth and predictions."""
    n_by = len(by)
    cells, counts = count_rows(
        [*(column.codes for column in by.values()), *codes],
        n_labels=max(n_labels, *(len(column.values) for column in by.values())),
        weights=weights,
    )
    keys, slice_codes = _slice_keys(by, cells[:, :n_by])
    table = Table(np.column_stack([slice_codes, cells[:, n_by:]]), counts)
    return Slices(by=tuple(by), keys=keys, table=table)


def slice_places(by: Mapping[str, Column], kept: IntArray) -> tuple[tuple[Key, ...], IntArray]:
    """Return the slices of the kept rows, and the index of each row's slice."""
    codes = np.stack([column.codes[kept] for column in by.values()], axis=1)
    return _slice_keys(by, codes)


def _slice_keys(by: Mapping[str, Column], codes: IntArray) -> tuple[tuple[Key, ...], IntArray]:
    first, slice_codes = distinct_rows(codes)
    values = [column.values for column in by.values()]
    rows = codes[first].tolist()
    keys = (tuple(values[column][code] for column, code in enumerate(row)) for row in rows)
    return tuple(keys), slice_codes


def add_up(
    slice_index: IntArray, cell: IntArray, count: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return slices, cells and counts in order, and add up equal cells of a slice."""
    first, code = distinct_rows(np.stack([slice_index, cell], axis=1))
    return slice_index[first], cell[first], sum_by(code, count, size=len(first))


@dataclass(frozen=True, eq=False, kw_only=True)
class SlicedRows:
    """One or more Dirichlet rows with counts in every slice.

    The class proportions of all slices form one row, whose cells are the classes. The predictions
    of two models form one row per true class, whose cells are pairs of predictions.

    Parameters
    ----------
    n_slices
        Number of slices.
    row
        Row of each cell, ``(n_cells,)``, sorted. Rows are numbered from 0 without gaps.
    prior
        Prior concentration of each cell in the base model, ``(n_cells,)``.
    place, cell, count
        Slice, cell and number of items of every combination that occurred.
    """

    n_slices: int
    row: IntArray
    prior: FloatArray
    slice_index: IntArray
    cell: IntArray
    count: FloatArray

    @property
    def n_cells(self) -> int:
        """Total number of cells of all rows."""
        return len(self.row)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.row.max()) + 1

    @cached_property
    def row_starts(self) -> IntArray:
        """The first cell of each row; cells come in the order of their rows."""
        return np.searchsorted(self.row, np.arange(self.n_rows))

    @cached_property
    def row_prior(self) -> FloatArray:
        """The prior mass of each row."""
        return sum_by(self.row, self.prior, size=self.n_rows)

    @cached_property
    def _occurred(self) -> Distinct:
        """The rows that occurred, by slice and row."""
        return distinct_rows(np.stack([self.slice_index, self.row[self.cell]], axis=1))

    @property
    def entry_row(self) -> IntArray:
        """Index of every entry's row among the rows that occurred."""
        return self._occurred.code

    @cached_property
    def row_place(self) -> IntArray:
        """The slice of each row that occurred."""
        return self.slice_index[self._occurred.first]

    @cached_property
    def row_row(self) -> IntArray:
        """The row of each row that occurred."""
        return self.row[self.cell[self._occurred.first]]

    @cached_property
    def row_count(self) -> FloatArray:
        """The number of items of each row that occurred."""
        return sum_by(self.entry_row, self.count, size=len(self.row_place))

    def dense(self, slices: slice) -> FloatArray:
        """Return the dense counts of neighbouring slices, ``(n_slices, n_cells)``."""
        first, stop = np.searchsorted(self.slice_index, [slices.start, slices.stop])
        counts = np.zeros((slices.stop - slices.start, self.n_cells))
        inside = slice(first, stop)
        counts[self.slice_index[inside] - slices.start, self.cell[inside]] = self.count[inside]
        return counts
