"""Record batches of pyarrow as a table of the engine, read one by one as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from outperform._optional import require
from outperform.errors import DataError, OutperformError
from outperform.findings import Finding
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, EngineFault, text
from outperform.ingest.files.finding import File
from outperform.ingest.files.scan import Column, Scan, places, refuse_twins, typed

# From the places of columns to batches of these columns.
ReadBatches = Callable[[Sequence[int]], Iterator[Any]]


class Batches:
    """What the engine asks for batches, as often as it counts; they hold some columns only."""

    def __init__(self, schema: Any, columns: Sequence[int], read: ReadBatches) -> None:
        self._columns = list(columns)
        self._schema = pyarrow().schema([schema.field(place) for place in self._columns])
        self._read = read

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pyarrow().RecordBatchReader.from_batches(self._schema, self._checked())
        stream: object = reader.__arrow_c_stream__(requested_schema)
        return stream

    def _checked(self) -> Iterator[Any]:
        for batch in self._read(self._columns):
            # The engine trusts offsets and text, and would read beyond the end.
            batch.validate(full=True)
            yield batch


def pyarrow() -> Any:
    """Return pyarrow, or say which extra brings it."""
    return require("pyarrow", extra="arrow", purpose="reading Arrow files and verify=True")


def scan_batches(
    file: File,
    schema: Any,
    read: ReadBatches,
    dialect: Dialect,
    engine: Engine,
    findings: tuple[Finding, ...] = (),
) -> Scan:
    """Return a scan of the columns that are asked for; the others are only known by name."""
    names = list(schema.names)
    refuse_twins(names, file.name)
    asked = [
        place
        for place, name in enumerate(names)
        if dialect.columns is None or name in dialect.columns
    ]
    known = _known(schema, asked, read, engine)
    columns = {name: _unreachable(str(schema.field(name).type)) for name in names}
    relation = "(SELECT NULL) AS t(c0)"
    if known:
        table = engine.register(Batches(schema, known, read))
        types = engine.fetch(f"DESCRIBE SELECT * FROM {table}")
        relation = f"{table} AS t({places(len(known))})"
        for number, (place, row) in enumerate(zip(known, types, strict=True)):
            columns[names[place]] = typed(f"c{number}", str(row[1]))
    return Scan(file=file, relation=relation, parameters=(), columns=columns, findings=findings)


def refuse_broken(file: File, schema: Any, read: ReadBatches, scan: Scan, what: str) -> None:
    """Read everything once more outside of the engine, so that the fault of the file is told."""
    reached = [
        place
        for place, name in enumerate(schema.names)
        if not scan.columns[name].expression.startswith("error(")
    ]
    with damage(file, what):
        for batch in read(reached):
            batch.validate(full=True)


@contextmanager
def damage(file: File, what: str) -> Iterator[None]:
    """Turn whatever pyarrow raises over a file into one sentence."""
    try:
        yield
    except OutperformError:
        raise
    except Exception as error:  # pyarrow has a dozen, and passes on those of the system
        line = str(error).strip().partition("\n")[0].replace(file.path, file.name)
        raise DataError(
            f"{file.name} cannot be read as {what}; it may be damaged or cut off: "
            f"{line or type(error).__name__}"
        ) from error


def _known(schema: Any, asked: Sequence[int], read: ReadBatches, engine: Engine) -> list[int]:
    """Return the columns whose type the engine knows."""
    found = list(asked)
    try:
        if found:
            engine.register(Batches(schema, found, read))
        return found
    except EngineFault:
        return (
            []
            if len(found) == 1
            else [place for one in found for place in _known(schema, [one], read, engine)]
        )


def _unreachable(type_: str) -> Column:
    return Column(f"error({text(f'the engine knows no {type_}')})", "other", type_)
