"""From what the caller gives to logs: one or several of each model, in files or folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from outperform.errors import UsageError


class Part(NamedTuple):
    """One source: whose it is, if that is said, and which of several runs of the same model."""

    model: str | None
    turn: int
    source: Any


def parts_of(source: Any) -> list[Part]:
    """Return the parts of a source: one per model, or several runs of one.

    Examples
    --------
    >>> [part.turn for part in parts_of({"llama": ["monday", "tuesday"], "gpt": "friday"})]
    [0, 1, 0]
    """
    if isinstance(source, Mapping):
        return [part for name, one in source.items() for part in _of_model(name, one)]
    if isinstance(source, (list, tuple)):
        if not source:
            raise UsageError("a list of logs must name at least one")
        return [Part(None, 0, one) for one in source]
    return [Part(None, 0, source)]


def _of_model(name: Any, source: Any) -> list[Part]:
    if not isinstance(name, str):
        raise UsageError(f"names of models must be text; got {name!r}")
    runs = list(source) if isinstance(source, (list, tuple)) else [source]
    if not runs:
        raise UsageError(f"model {name!r} needs at least one log")
    return [Part(name, turn, one) for turn, one in enumerate(runs)]


def is_path(source: Any) -> bool:
    """Return whether a source is a path, and not a frame or an open file."""
    return isinstance(source, (str, os.PathLike)) and source != "-"


def logs_under(source: Any, is_log: Callable[[Path], bool], *, what: str) -> list[Path]:
    """Return the logs that a path, a pattern or a folder stands for, in order."""
    given = os.fspath(source)
    if glob.has_magic(given) and not os.path.lexists(given):
        paths = [Path(one) for one in sorted(glob.glob(given, recursive=True))]
        if not paths:
            raise UsageError(f"no file matches {given!r}")
    else:
        paths = [Path(given)]
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(one for one in path.rglob("*") if one.is_file() and is_log(one))
        if not inside:
            raise UsageError(f"there is no {what} in the folder {os.fspath(path)}")
        found += inside
    return found
