"""Random streams, one per block of draws, distributed over threads."""

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
"""Fill an array of shape ``(n_values, block)`` with values of new draws."""

Blocks = Iterator[tuple[np.random.Generator, int]]
"""Blocks of one worker: a new stream and the block number."""

# Below this many gammas, a second thread costs more than it saves.
_WORTH_A_THREAD = 100_000


def seed_sequence(random_state: Seed) -> np.random.SeedSequence:
    """Convert a random state to a seed sequence; ``None`` draws a seed.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        # The seed is short enough to print with a result and to retype.
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
            f"{param('random_state')} must be None, an integer from 0 to 2**64 - 1, a "
            f"SeedSequence, or a NumPy Generator or RandomState; got {random_state!r}"
        )
    return np.random.SeedSequence(int(random_state))


def child(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """Return the child stream with this key, without counting spawned children."""
    return np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, key))


def shuffled(values: FloatArray, seed: np.random.SeedSequence) -> FloatArray:
    """Shuffle the draws ``(n_values, n_draws)``, keeping the values of each draw together."""
    return np.random.Generator(np.random.SFC64(seed)).permutation(values, axis=1)


def block_length(n_gammas: int) -> int:
    """Return the number of draws per block, which depends on the table but not on the threads.

    A block of a million gammas is close to the cache size and long enough to make the cost of
    starting a stream negligible.
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

    Each worker creates its own ``fill`` with its own buffers.
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
    """Process every block with its own random stream, on several threads if that pays.

    ``work`` processes the blocks of one worker, with its own buffers.
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
            stopped.set()  # otherwise Ctrl-C would wait for all other blocks


def counted_steps(progress: Progress | None, total: int) -> Callable[[], None]:
    """Return a thread-safe callback for each step that reports to ``progress``."""
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
    """Return the number of cores available to this process, at most the machine's total.

    Parameters
    ----------
    groups
        Directory in which Linux lists the limits of a container.
    """
    if hasattr(os, "sched_getaffinity"):  # not available on macOS and Windows
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min([cores, *(math.ceil(share) for share in _quotas(groups))]))


def _quotas(groups: Path) -> Iterator[float]:
    """Yield the CPU quota of a container in cores, from cgroup v2 and v1."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            texts = ((groups / name).read_text(encoding="ascii") for name in names)
            quota, period = " ".join(texts).split()
            if quota not in ("max", "-1"):
                yield int(quota) / int(period)
        except (OSError, ValueError, ZeroDivisionError):
            continue  # the file does not exist outside of containers


def n_workers(n_jobs: int | None) -> int:
    """Return the number of parallel jobs: None is 1, and -1 all available cores.

    Examples
    --------
    >>> n_workers(None), n_workers(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    whole = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole or not (n_jobs >= 1 or n_jobs == -1):
        raise UsageError(f"n_jobs must be None, -1 or a positive integer; got {n_jobs!r}")
    return n_cores() if n_jobs == -1 else int(n_jobs)


def _workers(n_jobs: int | None, *, n_blocks: int, n_gammas: int) -> int:
    wanted = n_workers(n_jobs)
    if n_jobs == -1 and n_gammas < _WORTH_A_THREAD:
        return 1
    return max(1, min(wanted, n_blocks))
