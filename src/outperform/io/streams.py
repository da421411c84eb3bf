"""Tables streamed in place by pyarrow: Parquet in a store, Delta and Iceberg tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, cast

from outperform.errors import DataError, require
from outperform.findings import Finding, finding
from outperform.io.addresses import Storage
from outperform.io.columnar import ReadBatches, Scan, damage, refuse_broken, scan_batches
from outperform.io.engine import Engine
from outperform.io.formats import Dialect
from outperform.io.paths import File
from outperform.io.remote import METADATA, files_of, is_remote, storage_of, store_errors

_AT_ONCE = 8  # footers; fetching one is mostly waiting for the network
_KINDS = {"parquet": "Parquet", "delta": "a Delta table", "iceberg": "an Iceberg table"}
# pyarrow's S3 options, by the names that other libraries use.
_DELTA = {
    "access_key": "AWS_ACCESS_KEY_ID",
    "secret_key": "AWS_SECRET_ACCESS_KEY",
    "session_token": "AWS_SESSION_TOKEN",
    "region": "AWS_REGION",
    "endpoint_override": "AWS_ENDPOINT_URL",
    "anonymous": "AWS_SKIP_SIGNATURE",
}
_ICEBERG = {
    "access_key": "s3.access-key-id",
    "secret_key": "s3.secret-access-key",
    "session_token": "s3.session-token",
    "region": "s3.region",
    "endpoint_override": "s3.endpoint",
    "anonymous": "s3.anonymous",
}


class _Schema(Protocol):
    names: Sequence[str]


class _Footer(Protocol):
    metadata: object
    schema_arrow: _Schema
    iter_batches: Callable[..., Iterator[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """Columns of a source, a function that reads them, and findings."""

    schema: _Schema
    read: ReadBatches
    findings: tuple[Finding, ...] = ()


def scan_stream(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Read names and types from the footer; the engine requests the batches."""
    (scan,) = scan_streams([file], wanted, dialect, engine)
    return scan


def scan_streams(
    files: Sequence[File], wanted: Sequence[str], dialect: Dialect, engine: Engine
) -> list[Scan]:
    """Fetch all footers at once, because each is a request to the store."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        sources = list(pool.map(partial(_opened, storage=dialect.storage), files))
    return [
        _scan(file, source, dialect, engine) for file, source in zip(files, sources, strict=True)
    ]


def rescue_stream(
    file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str
) -> Scan:
    """Raise an error if this file is damaged or no longer accessible."""
    opened = _opened(file, dialect.storage)
    scan = _scan(file, opened, dialect, engine)
    refuse_broken(file, opened.schema, opened.read, scan, _KINDS[file.kind])
    return scan


def _scan(file: File, opened: _Opened, dialect: Dialect, engine: Engine) -> Scan:
    scan = scan_batches(file, opened.schema, opened.read, dialect, engine)
    return replace(scan, findings=opened.findings)


def _opened(file: File, storage: Storage | None) -> _Opened:
    storage = storage or Storage()
    with damage(file, _KINDS[file.kind]), store_errors(file.name, storage):
        if file.kind == "delta":
            return _delta(file, storage)
        if file.kind == "iceberg":
            return _iceberg(file, storage)
        footer = _footer(file)
    read = partial(_batches, file, footer.metadata, tuple(footer.schema_arrow.names))
    return _Opened(schema=footer.schema_arrow, read=read)


def _footer(file: File, metadata: object = None) -> _Footer:
    parquet = require("pyarrow.parquet", extra="arrow", purpose="reading Parquet in a store")
    assert file.remote is not None
    location = file.remote.location
    # Pre-buffering fetches a row group in a few requests instead of one per column.
    footer = parquet.ParquetFile(
        location.path, filesystem=location.system, metadata=metadata, pre_buffer=True
    )
    return cast("_Footer", footer)


def _batches(
    file: File, metadata: object, names: Sequence[str], columns: Sequence[int]
) -> Iterator[object]:
    assert file.remote is not None
    with store_errors(file.name, file.remote.location.storage):
        yield from _footer(file, metadata).iter_batches(columns=[names[index] for index in columns])


def _delta(file: File, storage: Storage) -> _Opened:
    """Open a table at its current version; the log lists the valid files."""
    deltalake = require("deltalake", extra="lake", purpose="reading Delta tables")
    table = deltalake.DeltaTable(file.name, storage_options=_renamed(file.name, storage, _DELTA))
    rows = table.to_pyarrow_dataset()
    names = tuple(rows.schema.names)

    def read(columns: Sequence[int]) -> Iterator[object]:
        with store_errors(file.name, storage):
            yield from rows.to_batches(columns=[names[index] for index in columns])

    recognized = finding("table_recognized", kind="Delta", version=f"version {table.version()}")
    return _Opened(schema=rows.schema, read=read, findings=(recognized,))


def _iceberg(file: File, storage: Storage) -> _Opened:
    """Open a table at its current snapshot, from its newest metadata."""
    tables = require("pyiceberg.table", extra="lake", purpose="reading Iceberg tables")
    arrow = require("pyiceberg.io.pyarrow", extra="lake", purpose="reading Iceberg tables")
    newest = _metadata_of(file.name, storage)
    table = tables.StaticTable.from_metadata(
        newest, properties=_renamed(file.name, storage, _ICEBERG)
    )
    schema = arrow.schema_to_pyarrow(table.schema(), include_field_ids=False)
    names = tuple(schema.names)

    def read(columns: Sequence[int]) -> Iterator[object]:
        with store_errors(file.name, storage):
            selected = tuple(names[index] for index in columns)
            target = arrow.pyarrow.schema([schema.field(index) for index in columns])
            for batch in table.scan(selected_fields=selected).to_arrow_batch_reader():
                yield batch.select(list(selected)).cast(target)

    snapshot = table.current_snapshot()
    version = "empty state" if snapshot is None else f"snapshot {snapshot.snapshot_id}"
    recognized = finding("table_recognized", kind="Iceberg", version=version)
    return _Opened(schema=schema, read=read, findings=(recognized,))


def _metadata_of(source: str, storage: Storage) -> str:
    """Return the newest metadata of a table without a catalogue, based on the file name."""
    if source.endswith(METADATA):
        return source
    if is_remote(source):
        paths = [file.address for file in files_of(f"{source}/metadata", storage.options)]
    else:
        folder = os.path.join(source, "metadata")
        paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    numbers = {
        path: _number(path.replace(os.sep, "/").rpartition("/")[2])
        for path in paths
        if path.endswith(METADATA)
    }
    newest = [path for path, number in numbers.items() if number == max(numbers.values())]
    if len(newest) != 1:
        raise DataError(
            f"{source} has several newest metadata files; pass the one in its catalogue, "
            f"e.g. {sorted(newest)[0]!r}"
        )
    return newest[0]


def _number(name: str) -> int:
    """Return the version in the name of a metadata file; -1 if none.

    Examples
    --------
    >>> _number("v3.metadata.json"), _number("00012-a1b2.metadata.json"), _number("x.metadata.json")
    (3, 12, -1)
    """
    digits = name.removeprefix("v").partition(".")[0].partition("-")[0]
    return int(digits) if digits.isdecimal() else -1


def _renamed(address: str, storage: Storage, names: Mapping[str, str]) -> dict[str, str]:
    """Return options under another library's names; options without another name keep theirs."""
    options = dict(storage_of(address, storage).options)
    scheme = options.pop("scheme", None)
    url = options.get("endpoint_override")
    if isinstance(url, str) and "://" not in url:
        options["endpoint_override"] = url = f"{scheme or 'https'}://{url}"
    renamed = {
        names.get(key, key): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
        if value is not None
    }
    if names is _DELTA and isinstance(url, str) and url.startswith("http://"):
        renamed["AWS_ALLOW_HTTP"] = "true"
    return renamed
