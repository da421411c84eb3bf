"""How long does it take to rank 50 models on 10,000 items?

From label arrays to P(best), all 1,225 decisions and the set of tied models. Beside it stands
what nobody can do without: one Exp(1) weight an item and draw, in bare NumPy on one
thread and on two. Hardly two items get the same answers from all models, so that
nearly every item is a cell of its own.

    python bench/bench_rank.py [--write] [--models 50] [--items 10000]
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from measuring import Timing, alternate, ratios, seconds
from recording import Row, report

import outperform as op

CLASSES = 20
DRAWS = 20_000
CHUNK = 100


def predictions(n_models: int, n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the truth and models that find the same items hard, 60% to 75% right."""
    generator = np.random.default_rng(1)
    truth = generator.integers(CLASSES, size=n)
    hard, likely = generator.normal(size=n), generator.integers(CLASSES, size=n)
    found = {}
    for model in range(n_models):
        noise = generator.normal(size=n)
        right = 0.6 * hard + 0.8 * noise < 0.6 - 0.4 * model / n_models
        guess = np.where(generator.random(n) < 0.5, likely, generator.integers(CLASSES, size=n))
        found[f"model {model:02d}"] = np.where(right, truth, guess)
    return truth, found


def bare(n_cells: int, n_draws: int, seed: int = 0) -> None:
    generator, out = np.random.default_rng(seed), np.empty((CHUNK, n_cells))
    for _ in range(0, n_draws, CHUNK):
        generator.standard_gamma(1.0, out=out)


def bare_on_two(n_cells: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(partial(bare, n_cells, DRAWS // 2), (1, 2)))


def measure(
    n_models: int, n: int, rounds: int
) -> tuple[dict[str, Timing], int, op.results.Ranking]:
    truth, found = predictions(n_models, n)
    rank = partial(op.rank, truth, found, metric="f1_macro", rope=0.01, random_state=1, n_jobs=-1)
    n_cells = len(op.Outcomes.from_labels(truth, found).tables[0].counts)
    calls = {
        "rank": rank,
        "rank, one thread": partial(rank, n_jobs=1),
        "bare draws, two threads": partial(bare_on_two, n_cells),
        "bare draws": partial(bare, n_cells, DRAWS),
    }
    return alternate(calls, rounds=rounds), n_cells, rank()


def rows_of(timings: dict[str, Timing], n_models: int, n: int, n_cells: int) -> list[Row]:
    what = f"`rank`, macro-F1, {n_models} models, {n:,} items, {CLASSES} classes, {DRAWS:,} draws"
    rows = []
    for ours, theirs, said in (
        ("rank", "bare draws, two threads", what),
        ("rank, one thread", "bare draws", "the same on one thread"),
    ):
        one, two = timings[ours].median, timings[theirs].median
        against = f"the {n_cells:,} gammas a draw in bare NumPy, as many threads"
        aim = "at most 10 s" if ours == "rank" else ""
        rows.append(Row(said, seconds(one), against, seconds(two), f"{one / two:.2f}", aim))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    timings, n_cells, found = measure(args.models, args.items, args.rounds)
    for name, timing in timings.items():
        print(f"  {name}: {timing}")
    print(f"  rank / bare draws: {ratios(timings['rank'], timings['bare draws, two threads'])}")
    print(f"  {found!r}")
    rows = rows_of(timings, args.models, args.items, n_cells)
    report("rank", rows, write=args.write)


if __name__ == "__main__":
    main()
