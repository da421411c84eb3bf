"""Sources opened together in one engine, asked, and closed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from outperform._typing import Progress
from outperform.errors import DataError
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, EngineFault, start, workspace
from outperform.ingest.files.finding import find_files, paths_of
from outperform.ingest.files.tables import Table, open_table, rescued

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Tables by name, and the engine that reaches them."""

    tables: Mapping[str, Table]
    wanted: Sequence[str]
    dialect: Dialect
    engine: Engine

    def ask(self, question: Callable[[Mapping[str, Table], Engine], T]) -> T:
        """Ask; where the engine fails, let the readers say why or find a slower way."""
        try:
            return question(self.tables, self.engine)
        except EngineFault as fault:
            tables = {
                name: rescued(table, self.wanted, self.dialect, self.engine, fault)
                for name, table in self.tables.items()
            }
        try:
            return question(tables, self.engine)
        except EngineFault as fault:
            names = ", ".join(table.name for table in tables.values())
            raise DataError(f"{names} cannot be counted: {fault}") from fault


@contextmanager
def opened(
    sources: Mapping[str, Any],
    wanted: Sequence[str],
    dialect: Dialect,
    *,
    progress: Progress | None = None,
) -> Iterator[Opened]:
    """Open sources, and see in the end that nobody wrote to them meanwhile."""
    with workspace() as folder:
        files = {name: find_files(one, dialect, folder=folder) for name, one in sources.items()}
        every = [file for some in files.values() for file in some]
        with start(paths_of(every), folder=folder, progress=progress) as engine:
            tables = {
                name: open_table(some, wanted, dialect, engine) for name, some in files.items()
            }
            yield Opened(tables=tables, wanted=wanted, dialect=dialect, engine=engine)
        for file in every:
            file.refuse_changes()
