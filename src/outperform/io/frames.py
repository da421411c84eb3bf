"""Data frames, counted by the library that holds them."""

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
    MissingExtra,
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
_INTERRUPTED = "Query interrupted"  # what DuckDB says instead of what a signal raised


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of any library, not yet computed: its columns, and what to call it."""

    plan: LazyFrame[Any]
    columns: Mapping[str, Column]
    name: str
    in_memory: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def column(self, name: str) -> Column:
        """Return a column, or say which ones there are."""
        if name not in self.columns:
            raise UsageError(no_column(name, self.names, self.name))
        return self.columns[name]


def known_frame(source: Any, *, name: str = "the frame") -> Frame | None:
    """Return a frame that narwhals knows, or None for anything else."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    with _faults(name):
        try:
            found = nw.from_native(as_table(source), pass_through=True)
        except DuplicateError as error:
            told = str(error).replace("\n- ", " ")
            raise DataError(f"every column of {name} needs a name of its own: {told}") from None
        if not isinstance(found, (nw.DataFrame, nw.LazyFrame)):
            return None
        plan = found.lazy()
        names = list(plan.columns) if plan.implementation.is_duckdb() else []
        refuse_twins(names, name)
        types = dict(plan.collect_schema())
    _refuse_names(types, name)
    columns = {one: _column(plan, one, type_) for one, type_ in types.items()}
    return Frame(plan=plan, columns=columns, name=name, in_memory=isinstance(found, nw.DataFrame))


def count_frame(frame: Frame, query: TableQuery) -> Outcomes:
    """Count equal rows of truth and predictions, and look whether ids beside them repeat."""
    seen = _count(frame, query)
    if query.groups is not None or not frame.in_memory:  # a plan may take long to run again
        return seen
    return beside(
        seen,
        query,
        repeats=lambda: _repeats(frame, query),
        count=lambda also: _count(frame, also),
    )


def _repeats(frame: Frame, query: TableQuery) -> dict[str, Repeats]:
    """Return how often the ids that nobody asked for occur."""
    import narwhals.stable.v2 as nw

    names = candidates({name: one.family for name, one in frame.columns.items()}, query)
    with _faults(frame.name), quiet():
        n_rows = frame.plan.select(n=nw.len()).collect()["n"].to_list()[0]
        if not names or n_rows > MOST_ROWS:
            return {}
        distinct = {f"k{place}": nw.col(name).n_unique() for place, name in enumerate(names)}
        found = _kept(frame, names, query.where).select(n=nw.len(), **distinct).collect()
    numbers = {name: int(found[f"k{place}"].to_list()[0]) for place, name in enumerate(names)}
    rows = int(found["n"].to_list()[0])
    return {name: Repeats(rows, values) for name, values in numbers.items()}


def _count(frame: Frame, query: TableQuery) -> Outcomes:
    """Count equal rows of truth and predictions, with one GROUP BY that the library plans."""
    import narwhals.stable.v2 as nw

    for name in query.columns:
        if frame.column(name).family == "other":
            raise no_label(frame.column(name), name, frame.name)
    with _faults(frame.name), quiet():
        others = (name for name in (query.id, query.count) if name is not None)
        plan = _kept(frame, (*query.keys, *others), query.where)
        _refuse_scores(plan, frame, query)
        if query.id is not None:
            query = query.keeping(refuse_repeated(frame, query.id, query.where))
        number = nw.len() if query.count is None else _summed(plan, frame, query.count)
        found = _counted(plan, frame, query, number)
    if not found.counts.any():
        raise DataError(f"{frame.name} has no rows" + (" left after where" if query.where else ""))
    return group_by.settle(
        found,
        query,
        table=frame.name,
        first=lambda name, fault: _first_rows(frame, query, name, fault),
    )


def _first_rows(frame: Frame, query: TableQuery, name: str, fault: group_by.Fault) -> str:
    """Say which rows of a frame in memory come first of those that lack a value."""
    if not frame.in_memory or fault != "missing":
        return ""
    (values,) = fetch_columns(frame, [name], where=query.where)
    gone = query.missing.without(values)
    rows = [number for number, value in enumerate(gone, 1) if value is None or value == ""]
    return named_rows(rows[:3], frame.name) if rows else ""


def _counted(plan: LazyFrame[Any], frame: Frame, query: TableQuery, number: Expr) -> Grouped:
    """Return the labels of each column and how often they occur together."""
    import narwhals.stable.v2 as nw

    # Columns go by place, so that no name of theirs is in the way of the count.
    places = {f"k{place}": name for place, name in enumerate(query.keys)}
    keys = [_value(frame, name).alias(place) for place, name in places.items()]
    summed = [] if query.count is None else [nw.col(query.count).alias("w")]
    counts = plan.select(*keys, *summed).group_by(*places).agg(number.alias("n"))
    found = counts.head(group_by.MOST_CELLS + 1).collect()
    columns = [
        coded(query.missing.without(_plain(found[place], frame.column(name), name, frame.name)))
        for place, name in places.items()
    ]
    return Grouped(columns, as_counts([int(one) for one in found["n"].to_list()]))


def _column(plan: LazyFrame[Any], name: str, type_: Any) -> Column:
    family = _family(plan, name, type_)
    shown = str(type_)
    floats = shown.startswith(_LISTS) and any(one in shown for one in ("Float", "Decimal"))
    return Column(name, family, "DOUBLE[]" if floats else shown)


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
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"the columns of {frame} must have text as names; got {odd[0]!r}. Rename them, e.g. "
            "frame.columns = frame.columns.map(str)"
        )


def fetch_columns(frame: Frame, names: Sequence[str], *, where: Where = None) -> list[list[Any]]:
    """Return columns as Python values, for what cannot be counted where it is; None if missing."""
    with _faults(frame.name), quiet():
        found = _kept(frame, names, where).select(*names).collect()
        return [
            [
                None if lost or _is_nan(value) else value
                for value, lost in zip(
                    found[name].to_list(), found[name].is_null().to_list(), strict=True
                )
            ]
            for name in names
        ]


def _kept(frame: Frame, names: Sequence[str], where: Where) -> LazyFrame[Any]:
    """Return the rows that where asks for, without the columns that nobody asks for."""
    import narwhals.stable.v2 as nw

    asked = dict.fromkeys((*names, *(where or ())))
    if frame.plan.implementation.is_duckdb():
        _refuse_misread(asked, frame.name)
    plan = frame.plan.select(*(nw.col(name) for name in asked))
    for name, value in (where or {}).items():
        test = _test(frame.column(name), name, value, frame.name, _time_kind(frame, name))
        plan = plan.filter(test)
    return plan


def _time_kind(frame: Frame, name: str) -> TimeKind | None:
    """Return what a column of days or times holds; pandas has days as objects."""
    column = frame.column(name)
    if column.family == "json":
        values = frame.plan.select(name).drop_nulls().collect()[name].to_list()
        return "days" if {type(one) for one in values} == {date} else None
    kind = time_kind(column)
    is_ibis = kind is not None and frame.plan.implementation.is_ibis()
    if is_ibis and frame.plan.to_native().get_backend().name == "sqlite":
        raise UsageError(
            f"SQLite has no days and times: column {name!r} of {frame.name} holds text or numbers; "
            f"read a query that has it as text, CAST({name} AS TEXT), and compare that"
        )
    return kind


def _refuse_misread(names: Iterable[str], frame: str) -> None:
    """Refuse names that DuckDB before 2.0 takes for SQL, in which ``"y"`` is the column y."""
    duckdb = require("duckdb", extra="cli", purpose="counting its relations")
    odd = next((name for name in names if '"' in name or "." in name), None)
    if odd is not None and duckdb.__version__.startswith(("0.", "1.")):
        raise DataError(
            f"DuckDB {duckdb.__version__} takes the name of column {odd!r} of {frame} for SQL; "
            "rename the column, or install duckdb 2.0 or later"
        )


def _test(column: Column, name: str, value: object, frame: str, kind: TimeKind | None) -> Expr:
    import narwhals.stable.v2 as nw

    values = list(value) if isinstance(value, SEVERAL) else [value]
    if column.family == "text" and any(isinstance(one, bool) for one in values):
        raise UsageError(f"{name!r} holds text, so where must compare it with text; got {value!r}")
    if kind is None and column.family in ("other", "json"):
        raise UsageError(
            f"column {name!r} of {frame} is of type {column.type}; where compares text, numbers, "
            "booleans, days and times, so filter the frame before it is read"
        )
    # pandas before 3 casts what is missing to "None" or "nan".
    missing = nw.col(name).is_null()
    if kind is not None:
        test = _time_test(nw.col(name), asked_times(values, kind, name), kind)
    else:
        refuse_times(values, column, name)
        given = [_given(one, column.family) for one in values if one is not None]
        side = nw.col(name).cast(nw.String) if column.family == "text" else nw.col(name)
        test = side.is_in([one for one in given if one is not None])
    return test | missing if None in values else test & ~missing


def _time_test(side: Expr, moments: Sequence[date], kind: TimeKind) -> Expr:
    """Return the test for days and times; only sets of them are compared alike by all libraries."""
    days = [one for one in moments if not isinstance(one, datetime)]
    if kind == "days":
        return side.is_in(days)
    times = [one for one in moments if isinstance(one, datetime)]
    if kind == "times with a time zone":
        return side.is_in([one.astimezone(UTC) for one in times])
    test = side.is_in(times)
    for start, end in map(ends_of, days):
        test = test | ((side >= start) & (side < end))
    return test


def _given(value: Any, family: Family) -> Any:
    """Return a value of where as the column has it, or None if it can have no such value."""
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
    """Return the expression of a label that can be counted."""
    import narwhals.stable.v2 as nw

    column = frame.column(name)
    if column.family == "fractions" and column.type.startswith("Decimal"):
        return nw.col(name).cast(nw.Float64)
    if column.type == "Categorical" and frame.plan.implementation.is_pyarrow():
        return nw.col(name).cast(nw.String)  # its chunks may have other dictionaries
    return nw.col(name)


def _refuse_scores(plan: LazyFrame[Any], frame: Frame, query: TableQuery) -> None:
    """Look for scores before they are counted one by one, and for objects of several types."""
    import narwhals.stable.v2 as nw

    names = [name for name in query.columns if frame.column(name).family == "fractions"]
    if names and query.truth is not None:
        values = [_value(frame, name) for name in names]
        found = plan.select(
            *(
                nw.when(value != value.round(0)).then(value).max().alias(f"k{place}")
                for place, value in enumerate(values)
            )
        ).collect()
        worst = {name: found[f"k{place}"].to_list()[0] for place, name in enumerate(names)}
        group_by.refuse_scores(
            # Nothing infinite has a fraction; pyarrow before 23 finds it among NaN alone.
            {
                name: [one]
                for name, one in worst.items()
                if isinstance(one, float) and math.isfinite(one)
            },
            [],
            name_of_truth=query.truth,
        )
    for name in query.columns:
        if frame.column(name).family == "json":
            values = plan.select(name).drop_nulls().collect()[name].to_list()
            _refuse_mixture(set(map(type, values)), name, frame.name)


def _refuse_mixture(types: set[type], name: str, frame: str) -> None:
    # 1, 1.0 and True are one and the same key, so True must not meet the others in a GROUP BY.
    if not any(all(issubclass(one, kind) for one in types) for kind in (str, bool)) and (
        bool in types or not all(issubclass(one, (int, float)) for one in types)
    ):
        shown = ", ".join(sorted(type_.__name__ for type_ in types))
        raise DataError(
            f"column {name!r} of {frame} holds objects of type {shown}; labels must be text, whole "
            "numbers or booleans, all of one type, e.g. with astype(str)"
        )


def refuse_repeated(frame: Frame, id: str, where: Where) -> int:
    """Refuse items that are there twice, or that have no id; return how many there are."""
    import narwhals.stable.v2 as nw

    plan, name = _kept(frame, (id,), where), frame.name
    with _faults(name), quiet():
        # Before the cast, with which pandas before 3 makes text of what is missing.
        lost = plan.filter(nw.col(id).is_null()).select(n=nw.len()).collect()["n"].to_list()
        if lost[0]:
            raise DataError(f"{int(lost[0])} rows of {name} have no id in {id!r}")
        number = int(plan.select(n=nw.len()).collect()["n"].to_list()[0])
        each = plan.select(nw.col(id).cast(nw.String).alias("id")).group_by("id").agg(n=nw.len())
        found = (
            each.filter(nw.col("n") > 1)
            .select(nw.col("id").min(), nw.col("n").sum(), ids=nw.len())
            .collect()
        )
    (example,), (rows,), (ids,) = (found[column].to_list() for column in ("id", "n", "ids"))
    if ids:
        raise DataError(
            f"every id must be in {name} once, but {int(rows) - int(ids)} rows repeat an id in "
            f"{id!r}, e.g. {example!r}"
        )
    return number


def _summed(plan: LazyFrame[Any], frame: Frame, name: str) -> Expr:
    """Return the expression that adds up the counts, once all of them are whole numbers."""
    import narwhals.stable.v2 as nw

    family = frame.column(name).family
    if family not in ("whole numbers", "fractions"):
        raise DataError(not_counts(name, frame.name))
    is_whole = family == "whole numbers"
    count = nw.col(name).cast(nw.Int64 if is_whole else nw.Float64)
    bad = count < 0 if is_whole else (count < 0) | (count != count.round(0))
    # In two parts, because some libraries start anew where a sum has more than 64 bits.
    found = plan.select(
        missing=nw.len() - count.count(),
        bad=nw.when(bad).then(1).sum(),
        worst=nw.when(bad).then(count).min(),
        high=(count // _HALF).sum(),
        low=(count - count // _HALF * _HALF).sum(),
    ).collect()
    numbers = ("missing", "bad", "worst", "high", "low")
    missing, number, worst, high, low = (found[one].to_list()[0] for one in numbers)
    if missing:
        raise DataError(not_counts(name, frame.name, int(missing)))
    total = 0 if high is None else high * _HALF + low
    if number or total != total:
        if isinstance(worst, float) and worst == math.inf:  # pyarrow before 23, among NaN alone
            worst = math.nan
        raise DataError(not_counts(name, frame.name, int(number), worst))
    if total >= (2**63 if is_whole else 2**53):
        raise DataError(f"the counts in {name!r} of {frame.name} add up to more than 64 bits hold")
    return nw.col("w").sum()


def _plain(series: Any, column: Column, name: str, frame: str) -> list[Any]:
    """Return the counted labels of one column as Python values; what is missing becomes None."""
    values: list[Any] = [
        None if lost or _is_nan(value) else value
        for value, lost in zip(series.to_list(), series.is_null().to_list(), strict=True)
    ]
    if column.family == "whole numbers":
        return [None if one is None else int(one) for one in values]
    if column.type == "String":
        # Some libraries call objects text after a look at the first of them.
        types = {type(one) for one in values if one is not None}
        if not all(issubclass(type_, str) for type_ in types):
            _refuse_mixture(types | {str}, name, frame)
    return values


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back what ibis makes pandas warn of, because nobody who counts can act on it."""
    with warnings.catch_warnings():
        told = r"The 'future\.infer_string' option is deprecated"
        warnings.filterwarnings("ignore", told, DeprecationWarning)
        yield


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """Turn what any library raises into an error of ours, in one line."""
    try:
        yield
    except OutperformError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f'counting {name} needs {error.name}; install it with: pip install "outperform[all]"'
        ) from error
    except MemoryError as error:
        raise ResourceError(f"counting {name} needs more memory than there is") from error
    except Exception as error:  # every library has exceptions of its own
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise DataError(f"{name} cannot be counted: {_line(error)}") from error


def _line(error: Exception) -> str:
    """Return what went wrong in one line, which is not the first one that Java writes."""
    told = str(error).strip()
    cause = re.search(r"^Caused by: (?:[\w.$]+: )?(\S.*)$", told, re.MULTILINE)
    return (cause[1] if cause else told.partition("\n")[0]) or type(error).__name__
