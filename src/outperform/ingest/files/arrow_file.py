"""Arrow IPC files, which Feather files are too: typed columns, streamed by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from outperform.errors import DataError
from outperform.ingest.files.arrow_stream import damage, pyarrow, refuse_broken, scan_batches
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine
from outperform.ingest.files.finding import File
from outperform.ingest.files.scan import Scan

_MARK = b"ARROW1"
_END = b"\xff\xff\xff\xff\0\0\0\0"  # of a stream


def scan(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine) -> Scan:
    """Take names and types from the schema and let the engine ask for batches."""
    _refuse_cut(file)
    return scan_batches(file, _schema(file), partial(_batches, file), dialect, engine)


def rescue(file: File, wanted: Sequence[str], dialect: Dialect, engine: Engine, fault: str) -> Scan:
    """Say that the file is damaged, if it is this one."""
    found = scan(file, wanted, dialect, engine)
    refuse_broken(file, _schema(file), partial(_batches, file), found, "Arrow")
    return found


def _schema(file: File) -> Any:
    with damage(file, "Arrow"), closing(pyarrow().OSFile(file.path)) as stream:
        return _opened(file, stream, None).schema


def _batches(file: File, columns: Sequence[int]) -> Iterator[Any]:
    options = pyarrow().ipc.IpcReadOptions(included_fields=list(columns))
    with closing(pyarrow().OSFile(file.path)) as stream:
        reader = _opened(file, stream, options)
        if _is_stream(file):
            yield from reader
        else:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)


def _opened(file: File, stream: Any, options: Any) -> Any:
    # Not mapped into memory: a file that gets shorter meanwhile must not end the process.
    ipc = pyarrow().ipc
    opener = ipc.open_stream if _is_stream(file) else ipc.open_file
    return opener(stream, options=options)


def _is_stream(file: File) -> bool:
    with file.open() as stream:
        return stream.read(len(_MARK)) != _MARK


def _refuse_cut(file: File) -> None:
    """Refuse a stream without its end, which pyarrow would take for a shorter one."""
    if not _is_stream(file):
        return
    with file.open() as stream:
        stream.seek(-len(_END), os.SEEK_END)
        if stream.read() != _END:
            raise DataError(f"{file.name} has no end; it is cut off, or still being written")
