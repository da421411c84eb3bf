"""Work spread over processes and machines, in chunks whose results do not depend on how many."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from verification import fingerprint

Task = TypeVar("Task")
Found = TypeVar("Found")
World = TypeVar("World")

Repeat = Callable[[World, int, int], list[Found]]
"""Run repetitions ``first`` to ``last``, not included, of a world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What runs here, and where finished chunks are kept.

    Parameters
    ----------
    jobs
        How many processes.
    chunks
        A folder of finished chunks, which are not run again; None to keep none.
    shard
        Which part of the chunks to run, such as ``(3, 40)``; folders of several machines may
        be copied into one.
    modules
        The modules that were loaded where the work was done; `spread` fills it.
    """

    jobs: int = 2
    chunks: Path | None = None
    shard: tuple[int, int] = (1, 1)
    modules: set[str] = field(default_factory=set, compare=False)


class Unfinished(Exception):
    """The chunks of this shard are run, and those of others are not here."""


@dataclass(frozen=True, slots=True)
class _Chunk(Generic[Found]):
    """What a task found, and the modules that were loaded in the process that ran it."""

    found: Found
    modules: frozenset[str]


def spread(
    name: str, work: Callable[[Task], Found], tasks: Sequence[Task], machine: Machine
) -> list[Found]:
    """Run tasks on several processes, and say on stderr how far they are."""
    if machine.chunks is None:
        run = _run(partial(_note, work), tasks, machine.jobs)
        return _gather(list(_counted(name, run, len(tasks))), machine)
    machine.chunks.mkdir(parents=True, exist_ok=True)
    files = [machine.chunks / f"{name}-{_digest(task)}.pickle" for task in tasks]
    number, of = machine.shard
    todo = [
        (task, file)
        for task, file in list(zip(tasks, files, strict=True))[number - 1 :: of]
        if not _is_kept(file)
    ]
    list(_counted(name, _run(partial(_keep, work), todo, machine.jobs), len(todo)))
    lacking = sum(not _is_kept(file) for file in files)
    if lacking:
        raise Unfinished(f"{name}: {len(files) - lacking} of {len(files)} chunks are finished")
    return _gather([pickle.loads(file.read_bytes())[0] for file in files], machine)


def _gather(chunks: Sequence[_Chunk[Found]], machine: Machine) -> list[Found]:
    machine.modules.update(*(one.modules for one in chunks))
    return [one.found for one in chunks]


def _run(work: Callable[[Task], Found], tasks: Sequence[Task], jobs: int) -> Iterator[Found]:
    if jobs == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, tasks)


def _note(work: Callable[[Task], Found], task: Task) -> _Chunk[Found]:
    found = work(task)
    return _Chunk(found, fingerprint.loaded())


def _keep(work: Callable[[Task], Found], task: tuple[Task, Path]) -> None:
    """Run one task and write what it found; a file is whole or absent."""
    one, file = task
    chunk = _note(work, one)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps((chunk, fingerprint.hash_of(chunk.modules))))
    unfinished.replace(file)


def _is_kept(file: Path) -> bool:
    """Return whether a chunk is finished, and was run on the code of today."""
    if not file.exists():
        return False
    chunk, code = pickle.loads(file.read_bytes())
    return bool(code == fingerprint.hash_of(chunk.modules))


def _digest(task: object) -> str:
    return hashlib.sha256(pickle.dumps(task)).hexdigest()[:24]


def spread_worlds(
    name: str,
    repeat: Repeat[World, Found],
    repetitions: Mapping[World, int],
    machine: Machine,
    *,
    step: int = 20,
) -> dict[World, list[Found]]:
    """Run the repetitions of each world, and gather them by world."""
    tasks = [
        (repeat, world, first, min(first + step, last))
        for world, last in repetitions.items()
        for first in range(0, last, step)
    ]
    found: dict[World, list[Found]] = {world: [] for world in repetitions}
    for (_, world, _, _), chunk in zip(tasks, spread(name, _chunk, tasks, machine), strict=True):
        found[world] += chunk
    return found


def _chunk(task: tuple[Repeat[World, Found], World, int, int]) -> list[Found]:
    repeat, world, first, last = task
    return repeat(world, first, last)


def _counted(name: str, results: Iterable[Found], total: int) -> Iterator[Found]:
    tenth = max(total // 10, 1)
    for place, result in enumerate(results, start=1):
        if place % tenth == 0 or place == total:
            print(f"{name}: {place} of {total}", file=sys.stderr, flush=True)
        yield result
