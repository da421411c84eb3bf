"""How long does it take to compare two models in 10,000 slices, or in 1,000 of 20 classes?

Beside it stand the count of the same items by slice, from a Parquet file, and what
nobody can do without: in bare NumPy on one thread, the gammas of the classes and of the cells
that occurred in a slice, for every draw of every slice; ten with two classes.

    python bench/bench_slices.py [--write] [--slices 10000] [--classes 20]
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
PLANTED = 0.05
RIGHT = [0.875, 0.025, 0.025, 0.075]  # both, only A, only B, neither
WORSE = [0.775, 0.022, 0.125, 0.078]


def predictions(n_slices: int, n_classes: int) -> dict[str, np.ndarray]:
    """Return truth, two models' predictions and the slice of every item; errors go anywhere."""
    generator = np.random.default_rng(1)
    shape = (n_slices, ITEMS)
    truth = generator.integers(n_classes, size=shape)
    bad = np.arange(n_slices)[:, None] < PLANTED * n_slices
    chance = generator.random(shape)
    edges = np.where(bad[..., None], np.cumsum(WORSE), np.cumsum(RIGHT))
    cell = (chance[..., None] > edges).sum(axis=2).clip(max=3)
    wrong = [(truth + generator.integers(1, n_classes, size=shape)) % n_classes for _ in range(2)]
    a = np.where(np.isin(cell, (0, 1)), truth, wrong[0])
    b = np.where(np.isin(cell, (0, 2)), truth, wrong[1])
    place = np.broadcast_to(np.arange(n_slices)[:, None], shape)
    return {"label": truth.ravel(), "a": a.ravel(), "b": b.ravel(), "slice": place.ravel()}


def write(path: Path, columns: dict[str, np.ndarray]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    order = np.random.default_rng(2).permutation(len(columns["label"]))
    pq.write_table(pa.table({name: values[order] for name, values in columns.items()}), path)


def n_gammas(columns: dict[str, np.ndarray], n_slices: int, n_classes: int) -> int:
    """Return how many gammas a draw of a slice takes: its classes, and cells that occurred."""
    if n_classes == 2:
        return 10
    cells = np.unique(np.stack(list(columns.values())), axis=1).shape[1]
    return n_classes + round(cells / n_slices)


def bare(n_slices: int, gammas: int) -> None:
    generator, out = np.random.default_rng(), np.empty((gammas, DRAWS))
    for _ in range(n_slices):
        generator.standard_gamma(100.0, out=out)


def measure(
    columns: dict[str, np.ndarray], n_slices: int, gammas: int, *, metric: str, rounds: int
) -> tuple[dict[str, Timing], op.results.SliceComparison]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "preds.parquet"
        write(path, columns)
        count = partial(op.read, str(path), truth="label", models=["a", "b"], by=["slice"])
        seen = count()
        compare = partial(
            op.compare_slices, seen, "a", "b", metric=metric, rope=0.01, random_state=1, n_jobs=-1
        )
        calls = {
            "count": count,
            "compare_slices": compare,
            "compare_slices, one thread": partial(compare, n_jobs=1),
            "bare draws": partial(bare, n_slices, gammas),
        }
        return alternate(calls, rounds=rounds), compare()


def rows_of(timings: dict[str, Timing], n_slices: int, gammas: int, n_classes: int) -> list[Row]:
    ours, bare_draws = timings["compare_slices"], timings["bare draws"]
    items = f"{n_slices * ITEMS:,}"
    metric = "F1" if n_classes == 2 else f"macro-F1, {n_classes} classes"
    what = f"`compare_slices`, {metric}, {n_slices:,} slices of {ITEMS} items, {DRAWS:,} draws"
    against = f"the {gammas} gammas a draw in bare NumPy, one thread"
    return [
        Row(
            what,
            seconds(ours.median),
            against,
            seconds(bare_draws.median),
            f"{ours.median / bare_draws.median:.2f}",
            "at most 10 s" if n_classes == 2 else "at most 20 s",
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
    parser.add_argument("--slices", type=int, help="10,000 for two classes, 1,000 for more")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    n_classes, n_slices = args.classes, args.slices or (10_000 if args.classes == 2 else 1_000)
    columns = predictions(n_slices, n_classes)
    gammas = n_gammas(columns, n_slices, n_classes)
    metric = "f1" if n_classes == 2 else "f1_macro"
    timings, found = measure(columns, n_slices, gammas, metric=metric, rounds=args.rounds)
    for name, timing in timings.items():
        print(f"  {name}: {timing}")
    for name in ("compare_slices", "compare_slices, one thread"):
        print(f"  {name} / bare draws: {ratios(timings[name], timings['bare draws'])}")
    print(f"  {found!r}")
    section = "slices" if n_classes == 2 else "slices_classes"
    report(section, rows_of(timings, n_slices, gammas, n_classes), write=args.write)


if __name__ == "__main__":
    main()
