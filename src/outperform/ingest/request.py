"""What is asked of a source, made strict once; which columns are what is known when it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from outperform._typing import Progress
from outperform.errors import UsageError, unknown_name
from outperform.ingest.asked import Asked
from outperform.ingest.cells import OnNull, name_models
from outperform.ingest.evaluations import FORMATS as LOGS
from outperform.ingest.files.dialect import FORMATS, Dialect
from outperform.ingest.files.joining import GOLD, Join, OnMissing
from outperform.ingest.files.scan import listed
from outperform.ingest.files.tables import Table, Where, check_where
from outperform.ingest.frames import Frame

Models = Sequence[str] | Mapping[str, str] | None
Correct = str | Models


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of ``read`` beside the source."""

    truth: str | None = None
    models: Models = None
    correct: Correct = None
    id: str | None = None
    label: str | None = None
    score: str | None = None
    by: str | Sequence[str] | None = None
    where: Where = None
    count: str | None = None
    weight: str | None = None
    groups: str | None = None
    table: str | None = None
    query: str | None = None
    on_missing: OnMissing = "refuse"
    on_null: OnNull = "refuse"
    skip_failed: bool = False
    format: str | None = None
    separator: str | None = None
    quote: str | None = '"'
    header: bool = True
    encoding: str = "utf-8"
    verify: bool = False
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.format is not None:
            _check_choice("format", self.format, (*FORMATS, *LOGS))
        _check_choice("on_missing", self.on_missing, get_args(OnMissing))
        _check_choice("on_null", self.on_null, get_args(OnNull))
        check_where(self.where)
        self._check_correct()
        self._check_groups()
        if self.weight is not None and self.weight == self.count:
            raise UsageError(
                f"{self.weight!r} is either how many items a row stands for, count=, or how much "
                "an item matters, weight=; give one of them"
            )
        self.dialect()

    def _check_correct(self) -> None:
        if self.correct is None:
            return
        if not isinstance(self.correct, str):
            check_columns(self.correct, "correct")
        others = [name for name in ("truth", "models", "label") if getattr(self, name) is not None]
        if others:
            names = " and ".join(f"{name}=" for name in others)
            raise UsageError(
                "correct= names columns that say right or wrong, which have neither a truth nor "
                f"predictions; leave {names} out"
            )

    def _check_groups(self) -> None:
        if self.groups is None:
            return
        if not isinstance(self.groups, str):
            raise UsageError(
                f"groups must name a column, e.g. groups='user_id'; got {self.groups!r}"
            )
        if self.by is not None:
            raise UsageError("slices cannot keep groups together yet; give by= or groups=")
        named = (self.truth, self.label, self.count, self.weight, *self.columns_by_model.values())
        if self.groups in named:
            raise UsageError(
                f"every column has one role; groups={self.groups!r} has another one already"
            )

    @property
    def is_of_logs(self) -> bool:
        """Whether the source is said to be logs of evaluations."""
        return self.format in LOGS

    def given(self, *without: str) -> dict[str, Any]:
        """Return what differs from the default, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in without and getattr(self, field.name) != field.default
        }

    def dialect(self, columns: Sequence[str] | None = None) -> Dialect:
        """Return how files are to be read, and which of their columns."""
        return Dialect(
            format=None if self.is_of_logs else self.format,
            separator=self.separator,
            quote=self.quote,
            header=self.header,
            encoding=self.encoding,
            verify=self.verify,
            columns=None if columns is None else tuple(columns),
        )

    @property
    def slice_names(self) -> tuple[str, ...]:
        """The columns that divide the documents."""
        names = (self.by,) if isinstance(self.by, str) else self.by
        if names is None:
            return ()
        if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
            raise UsageError(f"by must name columns, e.g. by=['country']; got {self.by!r}")
        if not names or len(set(names)) != len(names):
            raise UsageError(f"by must name each column once; got {self.by!r}")
        return tuple(names)

    @property
    def columns_by_model(self) -> dict[str, str]:
        """The columns of the models that were named: predictions, or right or wrong."""
        named = self.models if self.correct is None else self.correct
        if isinstance(named, Mapping):
            return dict(named)
        return {name: name for name in ([named] if isinstance(named, str) else named or ())}

    @property
    def wanted(self) -> list[str]:
        """The columns of one table that were named."""
        models = self.columns_by_model.values()
        others = (self.truth, *models, self.id, self.count, self.weight, self.groups)
        named = [name for name in others if name is not None]
        return [*named, *self.slice_names, *(self.where or ())]

    def of(self, table: Table | Frame) -> Asked:
        """Return which columns of one table are what."""
        if self.correct is None:
            check_names(self.models, self.truth, table)
        for name in self.wanted:
            table.column(name)
        models = self.columns_by_model
        named = self.models is not None or self.correct is not None
        if not named:
            wanted = {*self.wanted}
            models = {name: name for name in table.names if name not in wanted}
            odd = [name for name in models if table.column(name).family == "other"]
            if odd:
                why = f"{odd[0]!r} is of type {table.column(odd[0]).type}"
                rest = [name for name in models if name not in odd]
                raise UsageError(name_models(table.name, why, rest))
        if not models:
            raise UsageError(f"{table.name} has no column of predictions beside {self.wanted}")
        return Asked(
            truth=self.truth,
            models=models,
            named=named,
            id=self.id,
            by=self.slice_names,
            where=self.where,
            count=self.count,
            weight=self.weight,
            groups=self.groups,
            on_null=self.on_null,
        )

    def join(self) -> Join:
        """Return how files are to be joined."""
        label = self.label if self.correct is None else self.correct
        if self.id is None or label is None:
            raise UsageError(
                "files of several models are joined on an id: name the columns with id= and "
                "label=, or with id= and correct= if they say right or wrong"
            )
        if not isinstance(label, str):
            raise UsageError(
                "files that are joined have one column each that says right or wrong: name it, "
                f"e.g. correct='correct'; got {self.correct!r}"
            )
        return Join(
            id=self.id,
            label=label,
            truth=self.truth,
            correct=self.correct is not None,
            groups=self.groups,
            on_missing=self.on_missing,
            on_null=self.on_null,
        )


def check_names(models: Any, truth: str | None, table: Table | Frame) -> None:
    """Refuse names of columns that are none, or that are given twice."""
    if truth is None:
        raise UsageError(_no_truth(table))
    if models is None:
        return
    check_columns(models, "models")
    columns = list(models.values() if isinstance(models, Mapping) else models)
    if truth in columns:
        models = ", ".join(map(repr, columns))
        raise UsageError(f"every column has one role; got the truth {truth!r} and models {models}")


def check_columns(named: Any, what: str) -> None:
    """Refuse what is no list of columns, or names one of them twice."""
    if isinstance(named, (str, bytes)) or not isinstance(named, (Mapping, Sequence)):
        raise UsageError(f"{what} must be a list of columns, e.g. ['bert', 'gpt']; got {named!r}")
    columns = list(named.values() if isinstance(named, Mapping) else named)
    if not columns or not all(isinstance(name, str) for name in (*columns, *named)):
        raise UsageError(f"{what} must name at least one column, as text; got {named!r}")
    if len(set(columns)) != len(columns):
        raise UsageError(f"every column has one role; got {what}={columns}")


def _no_truth(table: Table | Frame) -> str:
    """Return the sentence for a truth that nobody named: which columns there are."""
    names = list(table.names)
    guess = next((name for name in names if name.lower() in ("label", *GOLD)), "label")
    return (
        f"name the column of the true labels, e.g. truth={guess!r}; if the models' columns say "
        f"right or wrong, name these with correct=. Columns of {table.name}: {listed(names)}"
    )


def _check_choice(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(unknown_name(what, value, known))
