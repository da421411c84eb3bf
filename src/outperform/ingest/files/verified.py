"""Parquet files read by pyarrow, which compares every page with its checksum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from outperform._optional import require
from outperform.findings import Finding
from outperform.ingest.files.arrow_stream import damage, refuse_broken, scan_batches
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.finding import File
from outperform.ingest.files.pages import walk_pages
from outperform.ingest.files.scan import Scan


def scan(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Look at all headers of pages, and let the engine ask for batches."""
    with damage(file, "Parquet"):
        findings = _checksums(file, dialect)
        schema = _schema(file)
    return scan_batches(file, schema, partial(_batches, file), dialect, engine, findings)


def rescue(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str) -> Scan:
    """Say that the file is damaged, if it is this one."""
    found = scan(file, wanted, dialect, engine)
    refuse_broken(file, _schema(file), partial(_batches, file), found, "Parquet")
    return found


def _opened(file: File) -> Any:
    parquet = require("pyarrow.parquet", extra="arrow", purpose="verify=True")
    return parquet.ParquetFile(file.path, page_checksum_verification=True)


def _schema(file: File) -> Any:
    with _opened(file) as parquet:
        return parquet.schema_arrow


def _batches(file: File, columns: Sequence[int]) -> Iterator[Any]:
    with _opened(file) as parquet:
        names = [parquet.schema_arrow.names[place] for place in columns]
        rows = 0
        for batch in parquet.iter_batches(columns=names):
            rows += batch.num_rows
            yield batch.select(names)  # a name also asks for all that begin with it and a dot
        if rows != parquet.metadata.num_rows:
            raise ValueError(f"it has {rows} rows and its footer says {parquet.metadata.num_rows}")


def _checksums(file: File, dialect: Dialect) -> tuple[Finding, ...]:
    with file.open() as stream:
        found = walk_pages(stream, None if dialect.columns is None else {*dialect.columns})
    if found.with_checksum == found.pages:
        return ()
    message = f"The pages of {file.name} have no checksums, so damage in them may not be noticed."
    return (Finding("no_page_checksums", "warning", message),)
