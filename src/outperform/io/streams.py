"""What pyarrow streams from where it is: Parquet in a store, tables of Delta and Iceberg."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, cast

from outperform.errors import require
from outperform.io.columnar import ReadBatches, Scan, damage, refuse_broken, scan_batches
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.paths import File
from outperform.io.remote import told

_AT_ONCE = 8  # footers; most of the time of one is the way there and back


class _Schema(Protocol):
    names: Sequence[str]


class _Footer(Protocol):
    metadata: object
    schema_arrow: _Schema
    iter_batches: Callable[..., Iterator[object]]


def scan_stream(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the footer, and let the engine ask for batches."""
    (found,) = scan_streams([file], wanted, dialect, engine)
    return found


def scan_streams(
    files: Sequence[File], wanted: Sequence[str], dialect: Dialect, engine: Engine
) -> list[Scan]:
    """Fetch all footers at once, as each is a question to the store."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        footers = list(pool.map(_opened, files))
    return [
        scan_batches(file, one.schema_arrow, _reading(file, one), dialect, engine)
        for file, one in zip(files, footers, strict=True)
    ]


def rescue_stream(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Say that the file is damaged, or cannot be reached any more, if it is this one."""
    footer = _opened(file)
    read = _reading(file, footer)
    found = scan_batches(file, footer.schema_arrow, read, dialect, engine)
    refuse_broken(file, footer.schema_arrow, read, found, "Parquet")
    return found


def _reading(file: File, footer: _Footer) -> ReadBatches:
    return partial(_batches, file, footer.metadata, tuple(footer.schema_arrow.names))


def _opened(file: File, metadata: object = None) -> _Footer:
    parquet = require("pyarrow.parquet", extra="arrow", purpose="reading Parquet in a store")
    assert file.remote is not None
    place = file.remote.place
    with damage(file, "Parquet"), told(file.name, place.storage):
        # Buffered before, so that a row group is a few requests and not one for each column.
        found = parquet.ParquetFile(
            place.path, filesystem=place.system, metadata=metadata, pre_buffer=True
        )
    return cast("_Footer", found)


def _batches(
    file: File, metadata: object, names: Sequence[str], columns: Sequence[int]
) -> Iterator[object]:
    assert file.remote is not None
    with told(file.name, file.remote.place.storage):
        yield from _opened(file, metadata).iter_batches(columns=[names[one] for one in columns])
