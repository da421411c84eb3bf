"""Data frames, counted by the library they belong to."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from outperform.data.labels import as_table
from outperform.data.outcomes import Outcomes
from outperform.data.table import as_counts
from outperform.errors import (
    DataError,
    MissingExtraError,
    OutperformError,
    ResourceError,
    UsageError,
    require,
)
from outperform.io import group_by
from outperform.io.columnar import Column, Family, no_column, refuse_twins
from outperform.io.count import MOST_ROWS, Repeats, beside, candidates, named_rows, not_counts
from outperform.io.group_by import Grouped, TableQuery, coded
from outperform.io.tables import (
    SEVERAL,
    TimeKind,
    Where,
    asked_times,
    ends_of,
    no_label,
    refuse_times,
    time_kind,
)

if TYPE_CHECKING:
    from narwhals.stable.v2 import Expr, LazyFrame


_HALF = 2**32
_LISTS = ("List", "Array")
_INTERRUPTED = "Query interrupted"  # DuckDB's message, which replaces the exception of a signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Lazy frame of any library, with its columns and its display name."""

    plan: LazyFrame[Any]
    columns: Mapping[str, Column]
    name: str
    in_memory: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def column(self, name: str) -> Column:
        """Return a column; an unknown name raises an error."""
        if name not in self.columns:
            raise UsageError(no_column(name, self.names, self.name))
        return self.columns[name]


def known_frame(source: Any, *, name: str = "the frame") -> Frame | None:
    """Return a frame supported by narwhals, or None for any other object."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    with _faults(name):
        try:
            frame = nw.from_native(as_table(source), pass_through=True)
        except DuplicateError as error:
            message = str(error).replace("\n- ", " ")
            raise DataError(f"column names of {name} must be unique: {message}") from None
        if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
            return None
        plan = frame.lazy()
        names = list(plan.columns) if plan.implementation.is_duckdb() else []
        refuse_twins(names, name)
        types = dict(plan.collect_schema())
    _refuse_names(types, name)
    columns = {column: _column(plan, column, type_) for column, type_ in types.items()}
    return Frame(plan=plan, columns=columns, name=name, in_memory=isinstance(frame, nw.DataFrame))


def count_frame(frame: Frame, query: TableQuery) -> Outcomes:
    """Count equal rows of truth and predictions, and check whether other id columns repeat."""
    outcomes = _count(frame, query)
    if query.groups is not None or not frame.in_memory:  # a plan may take a long time to run again
        return outcomes
    return beside(
        outcomes,
        query,
        repeats=lambda: _repeats(frame, query),
        count=lambda grouped_query: _count(frame, grouped_query),
    )


def _repeats(frame: Frame, query: TableQuery) -> dict[str, Repeats]:
    """Return the repeats of id columns that have no role in the query."""
    import narwhals.stable.v2 as nw

    names = candidates({name: column.family for name, column in frame.columns.items()}, query)
    with _faults(frame.name), quiet():
        n_rows = frame.plan.select(n=nw.len()).collect()["n"].to_list()[0]
        if not names or n_rows > MOST_ROWS:
            return {}
        distinct = {f"k{index}": nw.col(name).n_unique() for index, name in enumerate(names)}
        counts = _filtered(frame, names, query.where).select(n=nw.len(), **distinct).collect()
    numbers = {name: int(counts[f"k{index}"].to_list()[0]) for index, name in enumerate(names)}
    rows = int(counts["n"].to_list()[0])
    return {name: Repeats(rows, values) for name, values in numbers.items()}


def _count(frame: Frame, query: TableQuery) -> Outcomes:
    """Count equal rows of truth and predictions, with one GROUP BY in the frame's library."""
    import narwhals.stable.v2 as nw

    for name in query.columns:
        if frame.column(name).family == "other":
            raise no_label(frame.column(name), name, frame.name)
    with _faults(frame.name), quiet():
        more = (name for name in (query.id, query.count) if name is not None)
        plan = _filtered(frame, (*query.keys, *more), query.where)
        _refuse_scores(plan, frame, query)
        if query.id is not None:
            query = query.keeping(refuse_repeated(frame, query.id, query.where))
        number = nw.len() if query.count is None else _summed(plan, frame, query.count)
        grouped = _counted(plan, frame, query, number)
    if not grouped.counts.any():
        raise DataError(f"{frame.name} has no rows" + (" left after where" if query.where else ""))
    return group_by.settle(
        grouped,
        query,
        table=frame.name,
        first=lambda name, fault: _first_rows(frame, query, name, fault),
    )


def _first_rows(frame: Frame, query: TableQuery, name: str, fault: group_by.Fault) -> str:
    """Return the clause that lists the first rows without a value, for frames in memory."""
    if not frame.in_memory or fault != "missing":
        return ""
    (values,) = fetch_columns(frame, [name], where=query.where)
    marked = query.missing.without(values)
    rows = [number for number, value in enumerate(marked, 1) if value is None or value == ""]
    return named_rows(rows[:3], frame.name) if rows else ""


def _counted(plan: LazyFrame[Any], frame: Frame, query: TableQuery, number: Expr) -> Grouped:
    """Return the labels of each column, and the count of each combination."""
    import narwhals.stable.v2 as nw

    # Columns are renamed to k0, k1, …, so no name clashes with the count column.
    names_by_key = {f"k{index}": name for index, name in enumerate(query.keys)}
    keys = [_value(frame, name).alias(key) for key, name in names_by_key.items()]
    summed = [] if query.count is None else [nw.col(query.count).alias("w")]
    counts = plan.select(*keys, *summed).group_by(*names_by_key).agg(number.alias("n"))
    counted = counts.head(group_by.MOST_CELLS + 1).collect()
    columns = [
        coded(query.missing.without(_plain(counted[key], frame.column(name), name, frame.name)))
        for key, name in names_by_key.items()
    ]
    return Grouped(columns, as_counts([int(count) for count in counted["n"].to_list()]))


def _column(plan: LazyFrame[Any], name: str, type_: Any) -> Column:
    family = _family(plan, name, type_)
    type_name = str(type_)
    floats = type_name.startswith(_LISTS) and any(
        word in type_name for word in ("Float", "Decimal")
    )
    return Column(name, family, "DOUBLE[]" if floats else type_name)


def _family(plan: LazyFrame[Any], name: str, type_: Any) -> Family:
    import narwhals.stable.v2 as nw

    if type_ in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if type_.is_integer():
        return "whole numbers"
    if type_ == nw.Boolean:
        return "booleans"
    if type_.is_float() or type_.is_decimal():
        return "fractions"
    return "json" if type_ == nw.Object and plan.implementation.is_pandas_like() else "other"


def _refuse_names(names: Mapping[Any, Any], frame: str) -> None:
    unsuitable = [name for name in names if not isinstance(name, str)]
    if unsuitable:
        raise DataError(
            f"column names of {frame} must be text; got {unsuitable[0]!r}. Rename them, e.g. "
            "frame.columns = frame.columns.map(str)"
        )


def fetch_columns(frame: Frame, names: Sequence[str], *, where: Where = None) -> list[list[Any]]:
    """Return columns as Python values, with None for missing ones, for data counted in memory."""
    with _faults(frame.name), quiet():
        rows = _filtered(frame, names, where).select(*names).collect()
        return [
            [
                None if is_missing or _is_nan(value) else value
                for value, is_missing in zip(
                    rows[name].to_list(), rows[name].is_null().to_list(), strict=True
                )
            ]
            for name in names
        ]


def _filtered(frame: Frame, names: Sequence[str], where: Where) -> LazyFrame[Any]:
    """Return the rows selected by ``where``, with the needed columns only."""
    import narwhals.stable.v2 as nw

    columns = dict.fromkeys((*names, *(where or ())))
    if frame.plan.implementation.is_duckdb():
        _refuse_misread(columns, frame.name)
    plan = frame.plan.select(*(nw.col(name) for name in columns))
    for name, value in (where or {}).items():
        test = _test(frame.column(name), name, value, frame.name, _time_kind(frame, name))
        plan = plan.filter(test)
    return plan


def _time_kind(frame: Frame, name: str) -> TimeKind | None:
    """Return whether a column contains days or times; pandas stores days as objects."""
    column = frame.column(name)
    if column.family == "json":
        values = frame.plan.select(name).drop_nulls().collect()[name].to_list()
        return "days" if {type(value) for value in values} == {date} else None
    kind = time_kind(column)
    is_ibis = kind is not None and frame.plan.implementation.is_ibis()
    if is_ibis and frame.plan.to_native().get_backend().name == "sqlite":
        raise UsageError(
            f"SQLite has no date types: column {name!r} of {frame.name} contains text or "
            f"numbers; read a query with CAST({name} AS TEXT), and compare with text"
        )
    return kind


def _refuse_misread(names: Iterable[str], frame: str) -> None:
    """Reject names that DuckDB before 2.0 parses as SQL, where ``"y"`` is the column y."""
    duckdb = require("duckdb", extra="cli", purpose="counting its relations")
    misread = next((name for name in names if '"' in name or "." in name), None)
    if misread is not None and duckdb.__version__.startswith(("0.", "1.")):
        raise DataError(
            f"DuckDB {duckdb.__version__} parses the name of column {misread!r} of {frame} as "
            "SQL; rename the column, or install duckdb 2.0 or later"
        )


def _test(column: Column, name: str, value: object, frame: str, kind: TimeKind | None) -> Expr:
    import narwhals.stable.v2 as nw

    values = list(value) if isinstance(value, SEVERAL) else [value]
    if column.family == "text" and any(isinstance(item, bool) for item in values):
        raise UsageError(
            f"{name!r} contains text, so where must compare it with text; got {value!r}"
        )
    if kind is None and column.family in ("other", "json"):
        raise UsageError(
            f"column {name!r} of {frame} has type {column.type}, but where compares text, numbers, "
            "booleans, days and times; filter the frame before reading it"
        )
    # pandas before 3 casts missing values to "None" or "nan".
    missing = nw.col(name).is_null()
    if kind is not None:
        test = _time_test(nw.col(name), asked_times(values, kind, name), kind)
    else:
        refuse_times(values, column, name)
        comparable = [_comparable(item, column.family) for item in values if item is not None]
        side = nw.col(name).cast(nw.String) if column.family == "text" else nw.col(name)
        test = side.is_in([item for item in comparable if item is not None])
    return test | missing if None in values else test & ~missing


def _time_test(side: Expr, moments: Sequence[date], kind: TimeKind) -> Expr:
    """Return the test for days and times, as sets that all libraries compare in the same way."""
    days = [moment for moment in moments if not isinstance(moment, datetime)]
    if kind == "days":
        return side.is_in(days)
    times = [moment for moment in moments if isinstance(moment, datetime)]
    if kind == "times with a time zone":
        return side.is_in([moment.astimezone(UTC) for moment in times])
    test = side.is_in(times)
    for start, end in map(ends_of, days):
        test = test | ((side >= start) & (side < end))
    return test


def _comparable(value: Any, family: Family) -> Any:
    """Return a value of ``where`` in the column's type, or None if it cannot occur there."""
    if family == "text":
        return str(value)
    if family == "booleans":
        return {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
    try:
        number = None if isinstance(value, bool) else float(value)
        if number is None or family == "fractions":
            return number
        return int(str(value)) if not isinstance(value, float) else int(number)
    except (ValueError, OverflowError):
        return None


def _value(frame: Frame, name: str) -> Expr:
    """Return the expression of labels that can be counted."""
    import narwhals.stable.v2 as nw

    column = frame.column(name)
    if column.family == "fractions" and column.type.startswith("Decimal"):
        return nw.col(name).cast(nw.Float64)
    if column.type == "Categorical" and frame.plan.implementation.is_pyarrow():
        return nw.col(name).cast(nw.String)  # chunks may have different dictionaries
    return nw.col(name)


def _refuse_scores(plan: LazyFrame[Any], frame: Frame, query: TableQuery) -> None:
    """Raise an error for scores, before they are counted as labels, and for mixed objects."""
    import narwhals.stable.v2 as nw

    names = [name for name in query.columns if frame.column(name).family == "fractions"]
    if names and query.truth is not None:
        values = [_value(frame, name) for name in names]
        fractions = plan.select(
            *(
                nw.when(value != value.round(0)).then(value).max().alias(f"k{index}")
                for index, value in enumerate(values)
            )
        ).collect()
        largest = {name: fractions[f"k{index}"].to_list()[0] for index, name in enumerate(names)}
        group_by.refuse_scores(
            # Infinity has no fraction, but pyarrow before 23 returns it if all values are NaN.
            {
                name: [fraction]
                for name, fraction in largest.items()
                if isinstance(fraction, float) and math.isfinite(fraction)
            },
            [],
            name_of_truth=query.truth,
        )
    for name in query.columns:
        if frame.column(name).family == "json":
            values = plan.select(name).drop_nulls().collect()[name].to_list()
            _refuse_mixture(set(map(type, values)), name, frame.name)


def _refuse_mixture(types: set[type], name: str, frame: str) -> None:
    # 1, 1.0 and True are equal keys, so a GROUP BY must not mix booleans and numbers.
    if not any(all(issubclass(type_, kind) for type_ in types) for kind in (str, bool)) and (
        bool in types or not all(issubclass(type_, (int, float)) for type_ in types)
    ):
        type_names = ", ".join(sorted(type_.__name__ for type_ in types))
        raise DataError(
            f"column {name!r} of {frame} contains objects of type {type_names}; labels must be "
            "text, whole numbers or booleans, all of one type, e.g. with astype(str)"
        )


def refuse_repeated(frame: Frame, id: str, where: Where) -> int:
    """Return the number of items; a missing or repeated id raises an error."""
    import narwhals.stable.v2 as nw

    plan, name = _filtered(frame, (id,), where), frame.name
    with _faults(name), quiet():
        # This comes before the cast, which converts missing values to text in pandas before 3.
        without_id = plan.filter(nw.col(id).is_null()).select(n=nw.len()).collect()["n"].to_list()
        if without_id[0]:
            raise DataError(f"{int(without_id[0])} rows of {name} have no id in {id!r}")
        number = int(plan.select(n=nw.len()).collect()["n"].to_list()[0])
        rows_by_id = (
            plan.select(nw.col(id).cast(nw.String).alias("id")).group_by("id").agg(n=nw.len())
        )
        repeats = (
            rows_by_id.filter(nw.col("n") > 1)
            .select(nw.col("id").min(), nw.col("n").sum(), ids=nw.len())
            .collect()
        )
    (example,), (rows,), (ids,) = (repeats[column].to_list() for column in ("id", "n", "ids"))
    if ids:
        raise DataError(
            f"every id must occur once in {name}, but {int(rows) - int(ids)} rows repeat an id in "
            f"{id!r}, e.g. {example!r}"
        )
    return number


def _summed(plan: LazyFrame[Any], frame: Frame, name: str) -> Expr:
    """Return the sum of the counts, after checking that all are integers."""
    import narwhals.stable.v2 as nw

    family = frame.column(name).family
    if family not in ("whole numbers", "fractions"):
        raise DataError(not_counts(name, frame.name))
    is_whole = family == "whole numbers"
    count = nw.col(name).cast(nw.Int64 if is_whole else nw.Float64)
    bad = count < 0 if is_whole else (count < 0) | (count != count.round(0))
    # The sum is computed in two parts, because some libraries overflow silently at 64 bits.
    sums = plan.select(
        missing=nw.len() - count.count(),
        bad=nw.when(bad).then(1).sum(),
        worst=nw.when(bad).then(count).min(),
        high=(count // _HALF).sum(),
        low=(count - count // _HALF * _HALF).sum(),
    ).collect()
    numbers = ("missing", "bad", "worst", "high", "low")
    missing, number, worst, high, low = (sums[column].to_list()[0] for column in numbers)
    if missing:
        raise DataError(not_counts(name, frame.name, int(missing)))
    total = 0 if high is None else high * _HALF + low
    if number or total != total:
        if isinstance(worst, float) and worst == math.inf:  # pyarrow before 23, if all are NaN
            worst = math.nan
        raise DataError(not_counts(name, frame.name, int(number), worst))
    if total >= (2**63 if is_whole else 2**53):
        raise DataError(f"the sum of the counts in {name!r} of {frame.name} exceeds 64 bits")
    return nw.col("w").sum()


def _plain(series: Any, column: Column, name: str, frame: str) -> list[Any]:
    """Return the counted labels of one column as Python values, with None if missing."""
    values: list[Any] = [
        None if is_missing or _is_nan(value) else value
        for value, is_missing in zip(series.to_list(), series.is_null().to_list(), strict=True)
    ]
    if column.family == "whole numbers":
        return [None if value is None else int(value) for value in values]
    if column.type == "String":
        # Some libraries infer text from the first objects only.
        types = {type(value) for value in values if value is not None}
        if not all(issubclass(type_, str) for type_ in types):
            _refuse_mixture(types | {str}, name, frame)
    return values


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress a pandas warning caused by ibis, which users cannot fix."""
    with warnings.catch_warnings():
        message = r"The 'future\.infer_string' option is deprecated"
        warnings.filterwarnings("ignore", message, DeprecationWarning)
        yield


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Convert any library's exception to a one-line error of this package."""
    try:
        yield
    except OutperformError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f'counting {name} needs {error.name}; install it with: pip install "outperform[all]"'
        ) from error
    except MemoryError as error:
        raise ResourceError(f"counting {name} needs more memory than is available") from error
    except Exception as error:  # each library has different exceptions
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise DataError(f"{name} cannot be counted: {_line(error)}") from error


def _line(error: Exception) -> str:
    """Return the cause of an error in one line, which in Java errors is not the first."""
    text = str(error).strip()
    cause = re.search(r"^Caused by: (?:[\w.$]+: )?(\S.*)$", text, re.MULTILINE)
    return (cause[1] if cause else text.partition("\n")[0]) or type(error).__name__
