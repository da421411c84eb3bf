"""Draws in blocks, one random stream per block, so that threads change nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Lock

import numpy as np

from outperform._typing import FloatArray, Progress, Seed
from outperform.errors import UsageError

Fill = Callable[[np.random.Generator, FloatArray], None]
"""Fill an array of shape ``(n_values, block)`` with values of fresh draws."""

Work = Callable[[np.random.Generator, int], None]
"""Do the block of this number with fresh draws."""

# Every draw ends in this module, so a listener here spares all verbs between an argument. It
# hears how far they are and can change nothing.
_LISTENER: ContextVar[Progress | None] = ContextVar("listener", default=None)

# Below this many gammas a second thread costs more than it saves.
_WORTH_A_THREAD = 100_000


@contextmanager
def drawing_told(progress: Progress | None) -> Iterator[None]:
    """Tell how many blocks are done, and how many there are, of all draws made meanwhile."""
    token = _LISTENER.set(progress)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def seed_sequence(random_state: Seed) -> np.random.SeedSequence:
    """Turn a random state into a seed sequence once; ``None`` draws a seed.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        return np.random.SeedSequence(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int.from_bytes(random_state.bytes(8), "little"))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not whole or not 0 <= int(random_state) < 2**64:
        raise UsageError(
            "random_state must be None, a whole number from 0 to 2**64 - 1, a SeedSequence, "
            f"or a Generator or RandomState of numpy; got {random_state!r}"
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

    def make_work() -> Work:
        fill = make_fill()
        return lambda generator, block: fill(
            generator, out[:, block * length : (block + 1) * length]
        )

    spread_blocks(
        make_work,
        n_blocks=-(-n_draws // length),
        n_gammas=n_gammas * n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )
    return out


def spread_blocks(
    make_work: Callable[[], Work],
    *,
    n_blocks: int,
    n_gammas: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> None:
    """Do every block with a random stream of its own, on several threads if that pays.

    Each worker makes its own ``work`` and with it its own buffers.
    """
    workers = _workers(n_jobs, n_blocks=n_blocks, n_gammas=n_gammas)
    stopped, finish = Event(), counted_steps(_LISTENER.get(), n_blocks)

    def run(first: int) -> None:
        work = make_work()
        for block in range(first, n_blocks, workers):
            if stopped.is_set():
                return
            work(np.random.Generator(np.random.SFC64(child(seed, block))), block)
            finish()

    if workers == 1:
        run(0)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(run, range(workers)))
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


def n_cores() -> int:
    """Return how many cores this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):  # neither macOS nor Windows has it
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _workers(n_jobs: int | None, *, n_blocks: int, n_gammas: int) -> int:
    if n_jobs is None:
        wanted = n_cores() if n_gammas >= _WORTH_A_THREAD else 1
    elif n_jobs == -1:
        wanted = n_cores()
    elif isinstance(n_jobs, int) and n_jobs >= 1:
        wanted = n_jobs
    else:
        raise UsageError(f"n_jobs must be None, -1 or a positive whole number; got {n_jobs!r}")
    return max(1, min(wanted, n_blocks))
