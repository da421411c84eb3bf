"""Work spread over processes, in chunks whose results do not depend on how many there are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")
World = TypeVar("World")

Repeat = Callable[[World, int, int], list[Found]]
"""Run repetitions ``first`` to ``last``, not included, of a world."""


def spread(
    name: str, work: Callable[[Task], Found], tasks: Sequence[Task], jobs: int
) -> list[Found]:
    """Run tasks on several processes, and say on stderr how far they are."""
    if jobs == 1:
        return list(_counted(name, map(work, tasks), len(tasks)))
    with ProcessPoolExecutor(jobs) as pool:
        return list(_counted(name, pool.map(work, tasks), len(tasks)))


def spread_worlds(
    name: str,
    repeat: Repeat[World, Found],
    repetitions: Mapping[World, int],
    *,
    jobs: int,
    step: int = 20,
) -> dict[World, list[Found]]:
    """Run the repetitions of each world, and gather them by world."""
    tasks = [
        (repeat, world, first, min(first + step, last))
        for world, last in repetitions.items()
        for first in range(0, last, step)
    ]
    found: dict[World, list[Found]] = {world: [] for world in repetitions}
    for (_, world, _, _), chunk in zip(tasks, spread(name, _chunk, tasks, jobs), strict=True):
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
