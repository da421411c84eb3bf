"""What do ten thousand classes cost, from the file to macro-F1?

Predictions of two models for 10 million items, each class confused with nine
others: about three quarters of a million cells occur out of 10¹². Beside the
comparison stand the gammas of those cells in bare NumPy, and nothing else.

    python bench/bench_classes.py [--write]
"""

from __future__ import annotations

import numpy as np
from measuring import Timing, alternate, peak_memory, ratios, seconds
from predictions import COLUMNS, predictions
from recording import Row, report, wants_writing

import outperform as op

SIZES = {1_000: 1_000_000, 10_000: 10_000_000}  # items by classes
DRAWS = 1_000
ROUNDS = 1


def main(write: bool) -> None:
    rows = []
    for classes, items in SIZES.items():
        rows += _compared(classes, items)
    rows.append(Row("peak memory of all of this", f"{peak_memory():,} MB", aim="under 2 GB"))
    report("classes", rows, write=write)


def _compared(classes: int, items: int) -> list[Row]:
    paths = predictions(items, classes, spread=9)
    reading = Timing()
    reading.run(lambda: op.read(paths, truth=COLUMNS[0], models=list(COLUMNS[1:])))
    seen = op.read(paths, truth=COLUMNS[0], models=list(COLUMNS[1:]))
    counts = seen.tables[0].counts
    generator = np.random.default_rng(0)

    def bare() -> None:
        for count in counts:
            generator.standard_gamma(count, DRAWS)

    def ours() -> op.Comparison:
        return op.compare(
            seen,
            *seen.models,
            metric="f1_macro",
            rope=0.001,
            n_draws=DRAWS,
            random_state=0,
            n_jobs=-1,
        )

    timings = alternate({"ours": ours, "bare": bare}, rounds=ROUNDS)
    mine, theirs = timings["ours"], timings["bare"]
    print(f"{classes:,} classes\n  ours {mine}\n  bare {theirs}\n  {ratios(mine, theirs)}")
    return [
        Row(
            f"`op.read`, {classes:,} classes, {items:,} items, {len(counts):,} cells",
            seconds(reading.median),
        ),
        Row(
            f"`compare` of these, macro-F1, {DRAWS:,} draws",
            seconds(mine.median),
            "the gammas of the cells that occurred, in bare NumPy",
            seconds(theirs.median),
            f"{mine.median / theirs.median:.2f}",
            "at most 1.5",
        ),
    ]


if __name__ == "__main__":
    main(wants_writing(__doc__))
