"""What is asked of a source, made strict once; which columns are what is known when it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from outperform.errors import UsageError, unknown_name
from outperform.ingest.asked import Asked
from outperform.ingest.cells import OnNull
from outperform.ingest.evaluations import FORMATS as LOGS
from outperform.ingest.files.dialect import FORMATS, Dialect
from outperform.ingest.files.engine import Progress
from outperform.ingest.files.joining import Join, OnMissing
from outperform.ingest.files.tables import Table, Where, check_where
from outperform.ingest.frames import Frame

Models = Sequence[str] | Mapping[str, str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of ``read`` beside the source."""

    truth: str | None = None
    models: Models = None
    id: str | None = None
    label: str | None = None
    score: str | None = None
    by: str | Sequence[str] | None = None
    where: Where = None
    weight: str | None = None
    groups: str | None = None
    table: str | None = None
    query: str | None = None
    on_missing: OnMissing = "refuse"
    on_null: OnNull = "refuse"
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
        self._check_groups()
        self.dialect()

    def _check_groups(self) -> None:
        if self.groups is None:
            return
        if not isinstance(self.groups, str):
            raise UsageError(
                f"groups must name a column, e.g. groups='user_id'; got {self.groups!r}"
            )
        if self.by is not None:
            raise UsageError("slices cannot keep groups together yet; give by= or groups=")
        models = self.models.values() if isinstance(self.models, Mapping) else self.models or ()
        if self.groups in (self.truth, self.label, self.weight, *models):
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
    def wanted(self) -> list[str]:
        """The columns of one table that were named."""
        models = self.models.values() if isinstance(self.models, Mapping) else self.models or ()
        others = (self.truth, *models, self.id, self.weight, self.groups)
        named = [name for name in others if name is not None]
        return [*named, *self.slice_names, *(self.where or ())]

    def of(self, table: Table | Frame) -> Asked:
        """Return which columns of one table are what."""
        check_names(self.models, self.truth)
        for name in self.wanted:
            table.column(name)
        if isinstance(self.models, Mapping):
            models = dict(self.models)
        else:
            rest = [name for name in table.names if name not in self.wanted]
            models = {name: name for name in (rest if self.models is None else self.models)}
        if not models:
            raise UsageError(f"{table.name} has no column of predictions beside {self.wanted}")
        return Asked(
            truth=str(self.truth),
            models=models,
            id=self.id,
            by=self.slice_names,
            where=self.where,
            weight=self.weight,
            groups=self.groups,
            on_null=self.on_null,
        )

    def join(self) -> Join:
        """Return how files are to be joined."""
        if self.id is None or self.label is None:
            raise UsageError(
                "files of several models are joined on an id: name the columns with id= and label="
            )
        return Join(
            id=self.id,
            label=self.label,
            truth=self.truth,
            groups=self.groups,
            on_missing=self.on_missing,
            on_null=self.on_null,
        )


def check_names(models: Any, truth: str | None) -> None:
    """Refuse names of columns that are none, or that are given twice."""
    if truth is None:
        raise UsageError("name the column of the true labels, e.g. truth='label'")
    if models is None:
        return
    if isinstance(models, (str, bytes)) or not isinstance(models, (Mapping, Sequence)):
        raise UsageError(f"models must be a list of columns, e.g. ['bert', 'gpt']; got {models!r}")
    columns = list(models.values() if isinstance(models, Mapping) else models)
    if not columns or not all(isinstance(name, str) for name in (*columns, *models)):
        raise UsageError(f"models must name at least one column, as text; got {models!r}")
    if len(set(columns)) != len(columns) or truth in columns:
        models = ", ".join(map(repr, columns))
        raise UsageError(f"every column has one role; got the truth {truth!r} and models {models}")


def _check_choice(what: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(unknown_name(what, value, known))
