"""Random streams, one for each block of draws, spread over threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock

import numpy as np

from outperform._typing import FloatArray, Progress, Seed
from outperform.errors import UsageError, param
from outperform.progress import LISTENER

Fill = Callable[[np.random.Generator, FloatArray], None]
"""Fill an array of shape ``(n_values, block)`` with values of fresh draws."""

Blocks = Iterator[tuple[np.random.Generator, int]]
"""The blocks of one worker: a fresh stream and the number of the block."""

# Below this many gammas a second thread costs more than it saves.
_WORTH_A_THREAD = 100_000


def seed_sequence(random_state: Seed) -> np.random.SeedSequence:
    """Turn a random state into a seed sequence once; ``None`` draws a seed.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        # Short enough to be printed with a result, and to be typed again.
        return np.random.SeedSequence(int(np.random.SeedSequence().generate_state(1)[0]))
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int.from_bytes(random_state.bytes(8), "little"))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not whole or not 0 <= int(random_state) < 2**64:
        raise UsageError(
            f"{param('random_state')} must be None, a whole number from 0 to 2**64 - 1, a "
            f"SeedSequence, or a Generator or RandomState of numpy; got {random_state!r}"
        )
    return np.random.SeedSequence(int(random_state))


def child(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the child stream with this key, without counting spawned children."""
    return np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, key))


def shuffled(values: FloatArray, seed: np.random.SeedSequence) -> FloatArray:
    """Return the draws ``(n_values, n_draws)`` in random order, all values of a draw together."""
    return np.random.Generator(np.random.SFC64(seed)).permutation(values, axis=1)


def block_length(n_gammas: int) -> int:
    """Return how many draws make a block; it depends on the table only, not on threads.

    A block of a million gammas stays near the cache and is long enough to
    forget the cost of starting a stream.
    """
    return max(8, min(4096, (1 << 20) // max(n_gammas, 1)))


def run_blocks(
    make_fill: Callable[[], Fill],
    *,
    n_values: int,
    n_draws: int,
    n_gammas: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    length: int | None = None,
) -> FloatArray:
    """Fill ``(n_values, n_draws)`` block by block, on several threads if that pays.

    Each worker makes its own ``fill`` and with it its own buffers.
    """
    out = np.empty((n_values, n_draws))
    length = block_length(n_gammas) if length is None else length

    def work(blocks: Blocks) -> None:
        fill = make_fill()
        for generator, block in blocks:
            fill(generator, out[:, block * length : (block + 1) * length])

    spread_blocks(
        work,
        n_blocks=-(-n_draws // length),
        n_gammas=n_gammas * n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )
    return out


def spread_blocks(
    work: Callable[[Blocks], None],
    *,
    n_blocks: int,
    n_gammas: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> None:
    """Do every block with a random stream of its own, on several threads if that pays.

    ``work`` goes through the blocks of one worker, with buffers of its own.
    """
    workers = _workers(n_jobs, n_blocks=n_blocks, n_gammas=n_gammas)
    stopped, finish = Event(), counted_steps(LISTENER.get(), n_blocks)

    def blocks(first: int) -> Blocks:
        for block in range(first, n_blocks, workers):
            if stopped.is_set():
                return
            yield np.random.Generator(np.random.SFC64(child(seed, block))), block
            finish()

    if workers == 1:
        work(blocks(0))
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(work, map(blocks, range(workers))))
        finally:
            stopped.set()  # or Ctrl-C would wait until the others have done all their blocks


def counted_steps(progress: Progress | None, total: int) -> Callable[[], None]:
    """Return what to call after each step, on whatever thread, so that ``progress`` hears of it."""
    if progress is None:
        return lambda: None
    done, lock = 0, Lock()

    def finish() -> None:
        nonlocal done
        with lock:
            done += 1
            progress(done, total)

    return finish


def n_cores(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many cores this process may use, which may be fewer than there are.

    Parameters
    ----------
    groups
        Where Linux says what a container may use.
    """
    if hasattr(os, "sched_getaffinity"):  # neither macOS nor Windows has it
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min([cores, *(math.ceil(share) for share in _quotas(groups))]))


def _quotas(groups: Path) -> Iterator[float]:
    """Yield how many cores' worth of time a container has, by cgroup v2 and v1."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            texts = ((groups / name).read_text(encoding="ascii") for name in names)
            quota, period = " ".join(texts).split()
            if quota not in ("max", "-1"):
                yield int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):
            continue  # there is no such file, as outside of containers


def n_workers(n_jobs: int | None) -> int:
    """Return how much to do at a time: None is 1, and -1 all cores that this process may use.

    Examples
    --------
    >>> n_workers(None), n_workers(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole or not (n_jobs >= 1 or n_jobs == -1):
        raise UsageError(f"n_jobs must be None, -1 or a positive whole number; got {n_jobs!r}")
    return n_cores() if n_jobs == -1 else int(n_jobs)


def _workers(n_jobs: int | None, *, n_blocks: int, n_gammas: int) -> int:
    wanted = n_workers(n_jobs)
    if n_jobs == -1 and n_gammas < _WORTH_A_THREAD:
        return 1
    return max(1, min(wanted, n_blocks))
