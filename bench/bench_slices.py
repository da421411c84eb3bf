"""How long does it take to compare two models in 10,000 slices?

Beside it stand the count of the same items by slice, from a Parquet file, and what
nobody can do without: ten gammas a draw of every slice, in bare NumPy on one thread.

    python bench/bench_slices.py [--write] [--slices 10000]
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from measuring import Timing, alternate, ratios, seconds
from recording import Row, report

import outperform as op

ITEMS = 200
DRAWS = 4_000
GAMMAS = 10  # two classes, and four pairs of answers in each
PLANTED = 0.05
RIGHT = [0.875, 0.025, 0.025, 0.075]  # both, only A, only B, neither
WORSE = [0.775, 0.022, 0.125, 0.078]


def predictions(n_slices: int) -> dict[str, np.ndarray]:
    """Return truth, two models' predictions and the slice of every item."""
    generator = np.random.default_rng(1)
    shape = (n_slices, ITEMS)
    truth = generator.integers(2, size=shape)
    bad = np.arange(n_slices)[:, None] < PLANTED * n_slices
    chance = generator.random(shape)
    edges = np.where(bad[..., None], np.cumsum(WORSE), np.cumsum(RIGHT))
    cell = (chance[..., None] > edges).sum(axis=2).clip(max=3)
    a = np.where(np.isin(cell, (0, 1)), truth, 1 - truth)
    b = np.where(np.isin(cell, (0, 2)), truth, 1 - truth)
    place = np.broadcast_to(np.arange(n_slices)[:, None], shape)
    return {"label": truth.ravel(), "a": a.ravel(), "b": b.ravel(), "slice": place.ravel()}


def write(path: Path, columns: dict[str, np.ndarray]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    order = np.random.default_rng(2).permutation(len(columns["label"]))
    pq.write_table(pa.table({name: values[order] for name, values in columns.items()}), path)


def bare(n_slices: int) -> None:
    generator, out = np.random.default_rng(), np.empty((GAMMAS, DRAWS))
    for _ in range(n_slices):
        generator.standard_gamma(100.0, out=out)


def measure(n_slices: int, rounds: int) -> tuple[dict[str, Timing], op.results.SliceComparison]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "preds.parquet"
        write(path, predictions(n_slices))
        count = partial(op.read, str(path), truth="label", models=["a", "b"], by=["slice"])
        seen = count()
        compare = partial(
            op.compare_slices, seen, "a", "b", metric="f1", rope=0.01, random_state=1, n_jobs=-1
        )
        calls = {
            "count": count,
            "compare_slices": compare,
            "compare_slices, one thread": partial(compare, n_jobs=1),
            "bare draws": partial(bare, n_slices),
        }
        return alternate(calls, rounds=rounds), compare()


def rows_of(timings: dict[str, Timing], n_slices: int) -> list[Row]:
    ours, bare_draws = timings["compare_slices"], timings["bare draws"]
    items = f"{n_slices * ITEMS:,}"
    what = f"`compare_slices`, F1, {n_slices:,} slices of {ITEMS} items, {DRAWS:,} draws"
    against = f"the {GAMMAS} gammas a draw in bare NumPy, one thread"
    return [
        Row(
            what,
            seconds(ours.median),
            against,
            seconds(bare_draws.median),
            f"{ours.median / bare_draws.median:.2f}",
            "at most 10 s",
        ),
        Row(
            "the same on one thread",
            seconds(timings["compare_slices, one thread"].median),
            "the same",
            seconds(bare_draws.median),
            f"{timings['compare_slices, one thread'].median / bare_draws.median:.2f}",
        ),
        Row(f"the count of the {items} items by slice", seconds(timings["count"].median)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--slices", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    timings, found = measure(args.slices, args.rounds)
    for name, timing in timings.items():
        print(f"  {name}: {timing}")
    for name in ("compare_slices", "compare_slices, one thread"):
        print(f"  {name} / bare draws: {ratios(timings[name], timings['bare draws'])}")
    print(f"  {found!r}")
    report("slices", rows_of(timings, args.slices), write=args.write)


if __name__ == "__main__":
    main()
