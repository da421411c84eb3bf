"""What does ROC AUC of two models on a million items cost?

Scores of two models that agree a lot. Beside the comparison stand the exponential
weights of the same draws in bare NumPy on as many threads, and nothing else.

    python bench/bench_scores.py [--write]
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
DRAWS = 2_000
METRICS = ("roc_auc", "average_precision", "log_loss")


def main(write: bool) -> None:
    truth, a, b = _scores(ITEMS)
    bare = Timing()
    bare.run(_bare)
    rows = []
    for metric in METRICS:
        ours = Timing()
        ours.run(
            lambda metric=metric: op.compare(
                truth, a, b, metric=metric, rope=0.01, n_draws=DRAWS, random_state=0, n_jobs=-1
            )
        )
        print(f"{metric}\n  ours {ours}\n  bare {bare}\n  {ratios(ours, bare)}")
        rows.append(
            Row(
                f"`compare` of {ITEMS:,} items, {metric}, {DRAWS:,} draws",
                seconds(ours.median),
                "the exponential weights in bare NumPy",
                seconds(bare.median),
                f"{ours.median / bare.median:.2f}",
                "at most 60 s" if metric == "roc_auc" else "",
            )
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    rows.append(Row("peak memory of all of this", f"{peak:.2f} GB", aim="under 2 GB"))
    report("scores", rows, write=write)


def _scores(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    truth = generator.random(n) < 0.1
    shared = generator.normal(size=n) + 1.5 * truth
    margins = (shared + 0.5 * generator.normal(size=n) for _ in range(2))
    a, b = (1 / (1 + np.exp(2.0 - margin)) for margin in margins)
    return truth, a, b


def _bare() -> None:
    threads = os.cpu_count() or 1

    def draw(seed: int) -> None:
        generator = np.random.Generator(np.random.SFC64(seed))
        weights = np.empty(ITEMS)
        for _ in range(seed, DRAWS, threads):
            generator.standard_exponential(out=weights)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(draw, range(threads)))


if __name__ == "__main__":
    main(wants_writing(__doc__))
