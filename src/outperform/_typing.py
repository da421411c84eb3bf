"""Type aliases and protocols that all packages share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr
    from narwhals.typing import IntoDataFrame, IntoFrame, IntoSeries


FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
IntRows: TypeAlias = Annotated[IntArray, 2]  # written to JSON as rows of integers
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

Label: TypeAlias = str | int | bool
"""Class label: text, an integer or a Boolean."""

SeedSequence: TypeAlias = np.random.SeedSequence
Generator: TypeAlias = np.random.Generator
Seed: TypeAlias = int | SeedSequence | np.random.Generator | np.random.RandomState | None


class Distribution(Protocol):
    """Exact marginal posterior, with everything that a report needs and no draws."""

    @property
    def mean(self) -> float: ...

    @property
    def sd(self) -> float: ...

    @property
    def support(self) -> tuple[float, float]: ...

    def cdf(self, value: float) -> float: ...

    def sf(self, value: float) -> float: ...

    def pdf(self, value: float) -> float: ...

    def quantile(self, probability: float) -> float: ...


Progress: TypeAlias = Callable[[int, int], None]
"""Function that is called with the amounts done and in total."""

Axes: TypeAlias = "matplotlib.axes.Axes"
FigureSize: TypeAlias = Literal["column", "text", "slide"]
"""Width of a new figure: a column of a page, its text, or a slide."""

PandasFrame: TypeAlias = "pd.DataFrame"
PolarsFrame: TypeAlias = "pl.DataFrame"
ArrowTable: TypeAlias = "pa.Table"
DataTree: TypeAlias = "xr.DataTree"

Path: TypeAlias = str | os.PathLike[str]
FrameLike: TypeAlias = "IntoFrame"
"""Frame of a library that narwhals knows, eager or lazy."""


class DatasetLike(Protocol):
    """Hugging Face data set."""

    @property
    def column_names(self) -> list[str]: ...

    def with_format(self, type: str | None = None) -> object: ...


Source: TypeAlias = (
    "Path | IO[str] | IO[bytes] | FrameLike | DatasetLike | Sequence[Path]"
    " | Mapping[str, Path | Sequence[Path]]"
)
"""Source of rows: files, folders, patterns, addresses, frames."""

Where: TypeAlias = Mapping[str, object]
"""Rows to keep: a value of any type, or a list of values, per column."""

ColumnLike: TypeAlias = "ArrayLike | IntoSeries | Sequence[Hashable]"
"""One value per row: a list, an array or a series."""


class SparseMatrix(Protocol):
    """Sparse matrix or array of SciPy."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def toarray(self) -> AnyArray: ...


class SparseFloats(Protocol):
    """Parts of SciPy's ``csr_array`` of floats that are used here; it has no annotations."""

    data: FloatArray
    indices: IntArray
    dtype: np.dtype[np.float64]

    @property
    def shape(self) -> tuple[int, int]: ...

    def __getitem__(self, rows: IntArray | slice) -> SparseFloats: ...

    def __matmul__(self, vector: FloatArray) -> FloatArray: ...

    def __mul__(self, factor: float) -> SparseFloats: ...

    def power(self, n: int) -> SparseFloats: ...

    def sum(self, axis: int) -> FloatArray: ...

    def sum_duplicates(self) -> None: ...

    def eliminate_zeros(self) -> None: ...

    def toarray(self) -> FloatArray: ...


MatrixLike: TypeAlias = "ArrayLike | IntoDataFrame | SparseMatrix"
LabelsLike: TypeAlias = "ColumnLike | MatrixLike | Sequence[Collection[Label]]"
"""Labels, scores or label sets, one per row; or a matrix of indicators or probabilities."""

StatisticsLike: TypeAlias = "MatrixLike | Mapping[str, ColumnLike]"
"""Several numbers per item: a matrix, or columns by name."""

ModelsLike: TypeAlias = "Mapping[str, LabelsLike] | IntoDataFrame"
"""Predictions of each model: a mapping from names, or a frame with one column per model."""

RunsLike: TypeAlias = "ModelsLike | Sequence[LabelsLike] | AnyArray"
"""Predictions of each run; with outcomes, the names of the runs."""

TagsLike: TypeAlias = Sequence[Sequence[str]]
SpansLike: TypeAlias = Sequence[Iterable[tuple[int, int, Label]]]


class Items(Protocol):
    """Mapping from classes, or a series."""

    def items(self) -> Iterable[tuple[Label, float]]: ...


class CostItems(Protocol):
    """Mapping from pairs of truth and prediction."""

    def items(self) -> Iterable[tuple[tuple[Label, Label], float]]: ...


class Drawable(Protocol):
    """Frozen distribution, like those of ``scipy.stats``."""

    def rvs(self, *, size: int, random_state: np.random.Generator) -> ArrayLike: ...


CostsLike: TypeAlias = "MatrixLike | CostItems"


class SupportsFitPredict(Protocol):
    """Estimator or tagger, with training data of any type."""

    def fit(self, X: Any, y: Any, /) -> object: ...

    def predict(self, X: Any, /) -> Any: ...


class SupportsSplit(Protocol):
    """Splitter with scikit-learn's interface."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterator[tuple[IntArray, IntArray]]: ...


class OfColumns(TypedDict, total=False):
    """Names of the columns of a frame or file."""

    truth: str | None
    groups: str | None
    sample_weight: str | None


class OfRows(TypedDict, total=False):
    """Groups and weights of the rows of arrays."""

    groups: ColumnLike | None
    sample_weight: ColumnLike | None
