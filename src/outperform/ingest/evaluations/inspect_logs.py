"""inspect_ai: its logs, whole JSON files or ``.eval`` archives with a summary of all samples."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outperform.errors import DataError, UsageError
from outperform.ingest.evaluations.samples import Item, Samples, as_epoch, as_id
from outperform.ingest.evaluations.sources import Part
from outperform.ingest.files.packing import unpack_zstd
from outperform.ingest.files.tables import SEVERAL, Where

ENDINGS = (".eval", ".json")
_LISTS = ("logs.json", "eval-set.json")  # which lie beside the logs and list them
_ZSTD = 93  # which Python knows in archives from 3.14 on


def is_log(path: Path) -> bool:
    """Return whether a file in a folder is a log by its name."""
    return path.suffix.lower() in ENDINGS and path.name not in _LISTS


def read_log(part: Part, path: Path, *, where: Where) -> Samples | None:
    """Return the samples of one log under its own name, or None if its task was not asked for."""
    name = os.fspath(path)
    is_archive = path.suffix.lower() == ".eval"
    header, samples = (_of_archive if is_archive else _of_json)(path)
    told = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(told, dict) or not isinstance(samples, list):
        raise DataError(f"{name} is not a log of inspect_ai: it has no 'eval' and 'samples'")
    task = str(told.get("task", "")).rpartition("/")[2]
    if not _is_asked(task, where):
        return None
    if not samples:
        raise DataError(f"{name} has no samples; its status is {header.get('status')!r}")
    return _samples(part, name, "eval" if is_archive else "json", told, task, samples)


def _samples(
    part: Part, name: str, origin: str, told: Mapping[str, Any], task: str, samples: list[Any]
) -> Samples:
    if not all(isinstance(one, dict) for one in samples):
        raise DataError(f"{name} is damaged: every sample must be an object")
    scores = [one.get("scores") or {} for one in samples]
    names = dict.fromkeys(scorer for one in scores for scorer in one)
    return Samples(
        model=str(told.get("model", "")),
        name=name,
        turn=part.turn,
        origin=f"inspect {origin}",
        items=[Item(task, as_id(one.get("id"), column="id", name=name)) for one in samples],
        epochs=[as_epoch(one.get("epoch", 1), name=name) for one in samples],
        documents=[json.dumps(one.get("input")) for one in samples],
        scores={scorer: [_value(one, scorer) for one in scores] for scorer in names},
    )


def _value(scores: Mapping[str, Any], scorer: str) -> Any:
    found = scores.get(scorer)
    return found.get("value") if isinstance(found, dict) else found


def _is_asked(task: str, where: Where) -> bool:
    for column, value in (where or {}).items():
        if column != "task_name":
            raise UsageError(
                f"where can ask logs for 'task_name' only; got {column!r}. Make a table with "
                "inspect_ai.analysis.samples_df for other columns"
            )
        if task not in [str(one) for one in (value if isinstance(value, SEVERAL) else [value])]:
            return False
    return True


# Bytes


def _of_json(path: Path) -> tuple[Any, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{os.fspath(path)} is not a whole JSON file; was the evaluation cut off? {error}"
        ) from None
    return found, found.get("samples") if isinstance(found, dict) else None


def _of_archive(path: Path) -> tuple[Any, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if "header.json" not in names or "summaries.json" not in names:
                raise DataError(
                    f"{os.fspath(path)} has no header and summaries; the evaluation is not finished"
                )
            header, summaries = (
                json.loads(_member(path, archive, one)) for one in ("header.json", "summaries.json")
            )
            return header, summaries
    except FileNotFoundError:
        raise UsageError(f"no file {os.fspath(path)!r}") from None
    except (OSError, EOFError, ValueError, RecursionError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{os.fspath(path)} is a damaged .eval file: {error}") from error


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one file of an archive; zstd is unpacked here, because older Pythons do not."""
    told = archive.getinfo(name)
    if told.compress_type != _ZSTD:
        return archive.read(name)
    with open(path, "rb") as stream:
        stream.seek(told.header_offset)
        head = stream.read(30)
        length = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        stream.seek(length, os.SEEK_CUR)
        found = unpack_zstd(stream.read(told.compress_size))
    if zlib.crc32(found) != told.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {name}")
    return found
