"""Baselines: what a later run is compared with, stored so that damage is noticed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from outperform._files import write_atomically
from outperform._typing import AnyArray
from outperform.errors import DataError
from outperform.ingest.files.dialect import Dialect
from outperform.ingest.files.engine import Engine, EngineFault, start, text, workspace
from outperform.ingest.files.finding import File, find_files, paths_of
from outperform.ingest.rows import Rows
from outperform.outcomes import Outcomes
from outperform.outcomes.labels import Column, read_column

FORMAT = "outperform/baseline"
SCHEMA = 1
_COLUMNS = ("id", "truth", "prediction")
_TYPES = {"text": "VARCHAR", "int": "BIGINT", "bool": "BOOLEAN"}
_CHUNK = 1 << 16
_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Baseline(Rows):
    """The documents of a stored run; see :class:`Rows`.

    Attributes
    ----------
    metadata
        What else was stored with them.
    """

    metadata: Mapping[str, Any] = field(default_factory=dict)


def write_baseline(
    path: str | os.PathLike[str],
    ids: Any,
    truth: Any,
    predictions: Any,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Store the predictions of one model, document by document, as Parquet.

    Parameters
    ----------
    path
        Where to; a file that is there is replaced in one step.
    ids
        What names each document; taken as text.
    truth
        The true labels: text, whole numbers or booleans.
    predictions
        The predicted labels, in the same order.
    metadata
        What else to keep, such as the model's name: anything that JSON can hold.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "baseline.parquet"
    ...     write_baseline(path, ["a", "b"], [1, 0], [1, 1], {"model": "old"})
    ...     stored = read_baseline(path)
    >>> stored.ids.tolist(), stored.predictions.tolist(), stored.metadata
    (['a', 'b'], [1, 1], {'model': 'old'})
    """
    columns = {
        "id": _ids(ids),
        "truth": _labels(truth, "truth"),
        "prediction": _labels(predictions, "predictions"),
    }
    _refuse_lengths(columns)
    _refuse_twins(columns["id"][1], "ids")
    about = json.dumps(dict(metadata or {}), sort_keys=True)
    marks = {
        "outperform.format": FORMAT,
        "outperform.schema": str(SCHEMA),
        "outperform.metadata": about,
        "outperform.checksum": _checksum(columns, about),
    }
    with workspace() as folder, start([], folder=folder) as engine:
        write_atomically(path, _parquet(columns, marks, engine))


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Take back what :func:`write_baseline` stored, or say what is wrong with it.

    Parameters
    ----------
    path
        The file.
    """
    with workspace() as folder:
        (file,) = find_files(os.fspath(path), Dialect(format="parquet"), folder=folder)
        with start(paths_of([file]), folder=folder) as engine:
            try:
                marks = _marks(engine, file.path)
                _check_marks(marks, file.name)
                columns = _columns(engine, file.path)
            except (EngineFault, UnicodeDecodeError) as fault:
                raise DataError(f"{file.name} is damaged: {fault}") from fault
    about = marks["outperform.metadata"]
    if _checksum(columns, about) != marks["outperform.checksum"]:
        raise DataError(
            f"{file.name} is damaged or was changed: its content does not fit its checksum"
        )
    _refuse_twins(columns["id"][1], file.name)
    arrays = (_array(values) for _, values in columns.values())
    ids, truth, predictions = arrays
    return Baseline(ids=ids, truth=truth, predictions=predictions, metadata=json.loads(about))


def write_outcomes(path: str | os.PathLike[str], outcomes: Outcomes) -> None:
    """Store outcomes as JSON, for baselines of which only the counts are kept.

    Parameters
    ----------
    path
        Where to; a file that is there is replaced in one step.
    outcomes
        What to store.
    """
    write_atomically(path, outcomes.to_json().encode("utf-8"))


def read_outcomes(path: str | os.PathLike[str]) -> Outcomes:
    """Take back what :func:`write_outcomes` stored.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import outperform as op
    >>> seen = op.Outcomes.from_labels([1, 0], {"old": [1, 1]})
    >>> with TemporaryDirectory() as folder:
    ...     write_outcomes(Path(folder) / "old.json", seen)
    ...     read_outcomes(Path(folder) / "old.json") == seen
    True
    """
    with workspace() as folder:
        (file,) = find_files(os.fspath(path), Dialect(format="jsonl"), folder=folder)
        return load_outcomes(file)


def load_outcomes(file: File) -> Outcomes:
    """Read the outcomes in one file."""
    with file.open() as stream:
        data = stream.read()
    try:
        found = Outcomes.from_json(data)
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from error
    return found.read_from(file.name)


# Columns are a kind and plain Python values, so that writer and reader hash the same.

_Plain = tuple[str, list[Any]]


def _ids(ids: Any) -> _Plain:
    column = read_column(ids, name="ids")
    names = [str(value) for value in column.values]
    return "text", [names[code] for code in column.codes.tolist()]


def _labels(values: Any, name: str) -> _Plain:
    column: Column = read_column(values, name=name)
    if column.kind not in _TYPES:
        raise DataError(f"{name} must be text, whole numbers or booleans, not fractions")
    if column.kind == "int" and any(
        not _INT64.min <= value <= _INT64.max for value in column.values
    ):
        raise DataError(f"{name} holds a whole number of more than 64 bits; store it as text")
    return column.kind, [column.values[code] for code in column.codes.tolist()]


def _refuse_lengths(columns: Mapping[str, _Plain]) -> None:
    lengths = {name: len(values) for name, (_, values) in columns.items()}
    if len(set(lengths.values())) != 1 or not lengths["id"]:
        raise DataError(f"ids, truth and predictions need one value a document; got {lengths}")


def _refuse_twins(ids: list[str], where: str) -> None:
    seen: set[str] = set()
    twins = [one for one in ids if one in seen or seen.add(one)]  # type: ignore[func-returns-value]
    if twins:
        shown = ", ".join(map(repr, twins[:5]))
        raise DataError(f"every id must occur once in {where}; {len(twins)} repeat: {shown}")


def _checksum(columns: Mapping[str, _Plain], about: str) -> str:
    digest = hashlib.sha256(about.encode("utf-8"))
    for name in _COLUMNS:
        kind, values = columns[name]
        digest.update(f"\n{name} {kind} {len(values)}\n".encode())
        for place in range(0, len(values), _CHUNK):
            digest.update(json.dumps(values[place : place + _CHUNK]).encode("ascii"))
    return digest.hexdigest()


def _parquet(columns: Mapping[str, _Plain], marks: Mapping[str, str], engine: Engine) -> bytes:
    path = os.path.join(engine.folder, uuid4().hex)
    engine.connection.register("stored", {name: _typed(*columns[name]) for name in _COLUMNS})
    parts = ", ".join(f"CAST({name} AS {_TYPES[columns[name][0]]}) AS {name}" for name in _COLUMNS)
    listed = ", ".join(f"{text(key)}: {text(value)}" for key, value in marks.items())
    engine.fetch(
        f"COPY (SELECT {parts} FROM stored) TO {text(path)} "
        f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{listed}}})"
    )
    with open(path, "rb") as stream:
        return stream.read()


def _typed(kind: str, values: list[Any]) -> AnyArray:
    if kind == "text":
        return _array(values)
    return np.array(values, dtype=np.int64 if kind == "int" else np.bool_)


def _array(values: list[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _marks(engine: Engine, path: str) -> dict[str, str]:
    rows = engine.fetch("SELECT key, value FROM parquet_kv_metadata(?)", [path])
    return {bytes(key).decode("utf-8"): bytes(value).decode("utf-8") for key, value in rows}


def _check_marks(marks: Mapping[str, str], name: str) -> None:
    if marks.get("outperform.format") != FORMAT:
        raise DataError(f"{name} is Parquet, but not a baseline that outperform stored")
    if marks.get("outperform.schema") != str(SCHEMA):
        raise DataError(
            f"{name} is a baseline of schema {marks.get('outperform.schema')}; this version reads "
            f"{SCHEMA}: store it again"
        )
    if not {"outperform.checksum", "outperform.metadata"} <= set(marks):
        raise DataError(f"{name} is damaged: it has no checksum")


def _columns(engine: Engine, path: str) -> dict[str, _Plain]:
    types = {row[0]: row[1] for row in engine.fetch("DESCRIBE FROM read_parquet(?)", [path])}
    kinds = {type_: kind for kind, type_ in _TYPES.items()}
    if tuple(types) != _COLUMNS or not set(types.values()) <= set(kinds):
        raise DataError(f"a baseline has the columns {_COLUMNS}; got {tuple(types)}")
    rows = engine.fetch("SELECT id, truth, prediction FROM read_parquet(?)", [path])
    columns = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    return {
        name: (kinds[types[name]], values) for name, values in zip(_COLUMNS, columns, strict=True)
    }
