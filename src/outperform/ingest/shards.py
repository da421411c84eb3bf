"""Shards: outcomes that were counted elsewhere, one JSON file each, added up."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from outperform.errors import DataError, OutperformError, UsageError
from outperform.ingest.baseline import load_outcomes
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import workspace
from outperform.ingest.files.finding import File, find_files
from outperform.outcomes import Outcomes
from outperform.outcomes.serial import FORMAT

_JSON = Dialect(format="jsonl")


def holds_outcomes(source: Any) -> bool:
    """Return whether a source is a file of counted outcomes, or a folder or list of them."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(map(holds_outcomes, source))
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return False
    with workspace() as folder:
        try:
            files = find_files(source, _JSON, folder=folder)
        except DataError:  # whoever reads it as something else says what is wrong
            return False
        return _is_shard(files[0])


def read_shards(source: Any, models: Sequence[str] | Mapping[str, str] | None) -> Outcomes:
    """Add up the outcomes of all files, in whatever order they come."""
    with workspace() as folder:
        files = find_files(source, _JSON, folder=folder)
        strange = next((file for file in files if not _is_shard(file)), None)
        if strange is not None:
            raise DataError(f"{strange.name} holds no counted outcomes, as {files[0].name} does")
        whole = load_outcomes(files[0])
        for file in files[1:]:
            whole = _plus(whole, load_outcomes(file), file.name)
        for file in files:
            file.refuse_changes()
    return _chosen(whole, models)


def _is_shard(file: File) -> bool:
    with file.open() as stream:
        head = stream.read(200)
    return head.lstrip().startswith(b"{") and f'"{FORMAT}"'.encode() in head


def _plus(whole: Outcomes, shard: Outcomes, name: str) -> Outcomes:
    try:
        return whole + shard
    except OutperformError as error:
        raise DataError(f"{name} does not fit the files before it: {error}") from error


def _chosen(whole: Outcomes, models: Sequence[str] | Mapping[str, str] | None) -> Outcomes:
    if models is None:
        return whole
    if not isinstance(models, Mapping):
        return whole.select(models)
    if not models:
        raise UsageError("models must name at least one model")
    return replace(whole.select(list(models.values())), models=tuple(models))
