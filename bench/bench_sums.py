"""What does a metric of ten statistics an item cost, of two models on a million items?

Beside the comparison stand the exponential weights of the same draws and the bare matrix
products of weights and statistics, on as many threads, and nothing else.

    python bench/bench_sums.py [--write]
"""

from __future__ import annotations

import os
import resource
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from measuring import Timing, ratios, seconds
from recording import Row, report, wants_writing

import outperform as op

ITEMS = 1_000_000
STATISTICS = 10
DRAWS = 256
# Draws whose weights are held at a time by the bare product.
BLOCK = 8


def main(write: bool) -> None:
    generator = np.random.default_rng(0)
    items = {name: generator.random((ITEMS, STATISTICS)) for name in ("a", "b")}
    seen = op.Outcomes.from_statistics(items)
    bare, ours = Timing(), Timing()
    for _ in range(3):
        bare.run(lambda: _bare(items))
        ours.run(
            lambda: op.compare(
                seen, "a", "b", metric=_ratio, rope=0.01, n_draws=DRAWS, random_state=0, n_jobs=-1
            )
        )
    print(f"ours {ours}\nbare {bare}\n{ratios(ours, bare)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    rows = [
        Row(
            f"`compare` of {ITEMS:,} items × {STATISTICS} statistics, {DRAWS:,} draws",
            seconds(ours.median),
            "the weights and the matrix products in bare NumPy",
            seconds(bare.median),
            f"{ours.median / bare.median:.2f}",
            "at most 1.5",
        ),
        Row("peak memory of all of this", f"{peak:.2f} GB", aim="under 2 GB"),
    ]
    report("sums", rows, write=write)


def _ratio(means: np.ndarray) -> np.ndarray:
    return means[0] / means[1:].sum(axis=0)


def _bare(items: dict[str, np.ndarray]) -> None:
    threads = os.cpu_count() or 1

    def draw(seed: int) -> None:
        generator = np.random.Generator(np.random.SFC64(seed))
        weights = np.empty((BLOCK, ITEMS))
        for _ in range(seed, DRAWS // BLOCK, threads):
            generator.standard_exponential(out=weights)
            for statistics in items.values():
                weights @ statistics

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw, range(threads)))


if __name__ == "__main__":
    main(wants_writing(__doc__))
