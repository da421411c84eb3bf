"""How close does counting come to the bare engine, and what does the decision add?

Predictions of two models for 100 million items in Parquet, 20 classes, 8,000
cells: the bare GROUP BY of each engine, and `op.read` of the same source. The
billion is the same files ten times over. Peak memory is that of a process of its
own that does nothing else.

    python bench/bench_count.py [--write] [--rows 100000000]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable

import duckdb
import numpy as np
from measuring import Timing, alternate, peak_memory, ratios, seconds
from predictions import COLUMNS, predictions
from recording import Row, report

import outperform as op

CLASSES = 20
DRAWS = 20_000
ROUNDS = 5
MODELS = list(COLUMNS[1:])
KEYS = ", ".join(COLUMNS)
NOTE = (
    "The ratios of rows that read files or frames are medians of the ratios of single rounds, and "
    "so differ a little from the quotient of the two medians beside them"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--memory", nargs=2, metavar=("SIDE", "TIMES"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    paths = predictions(args.rows, CLASSES, spread=CLASSES - 1)
    if args.memory:
        print(_memory(args.memory[0], paths * int(args.memory[1])))
        return
    rows = [
        *_parquet(paths, 1, args.rows),
        *_parquet(paths, 10, args.rows),
        *_frames(paths, args.rows),
        *_decisions(paths, args.rows),
    ]
    report("count", rows, write=args.write, note=NOTE)


def bare(paths: list[str]) -> dict[str, np.ndarray]:
    with duckdb.connect() as connection:
        query = f"SELECT {KEYS}, count(*) AS n FROM read_parquet(?) GROUP BY {KEYS}"
        found: dict[str, np.ndarray] = connection.execute(query, [paths]).fetchnumpy()
        return found


def ours(source: object) -> op.Outcomes:
    return op.read(source, truth=COLUMNS[0], models=MODELS)


def _parquet(paths: list[str], times: int, rows: int) -> list[Row]:
    many = paths * times
    timings = alternate({"bare": lambda: bare(many), "ours": lambda: ours(many)}, rounds=ROUNDS)
    sides = {
        side: _run_alone(rows, side, times) for side in ("nothing", "bare", "ours")
    }  # megabytes
    shown = _shown(timings, f"`op.read` of {rows * times:,} rows of Parquet", "bare DuckDB", 1.15)
    memory = Row(
        "its peak memory (the imports alone: " + f"{sides['nothing']:,} MB)",
        f"{sides['ours']:,} MB",
        "bare DuckDB",
        f"{sides['bare']:,} MB",
        f"{sides['ours'] / sides['bare']:.2f}",
        "under 1 GB",
    )
    return [shown, memory]


def _run_alone(rows: int, side: str, times: int) -> int:
    command = [sys.executable, __file__, "--rows", str(rows), "--memory", side, str(times)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _memory(side: str, paths: list[str]) -> int:
    """Return the peak of this process, in megabytes, after it did one thing."""
    if side != "nothing":
        {"bare": bare, "ours": ours}[side](paths)
    return peak_memory()


def _frames(paths: list[str], rows: int) -> list[Row]:
    """Return a row for each library; those that hold all rows in memory get fewer."""
    import ibis
    import polars as pl
    import pyarrow.parquet as pq

    plan = pl.scan_parquet(paths)
    table = pq.read_table(paths[:2])
    connection = ibis.duckdb.connect()
    lazy = connection.read_parquet(paths)
    sources: dict[str, tuple[object, Callable[[], object], int]] = {
        "polars, lazy": (plan, lambda: plan.group_by(COLUMNS).len().collect(), rows),
        "pyarrow, in memory": (
            table,
            lambda: table.group_by(list(COLUMNS)).aggregate([([], "count_all")]),
            len(table),
        ),
        "ibis on DuckDB": (
            lazy,
            lambda: lazy.group_by(COLUMNS).agg(n=lazy.count()).to_pyarrow(),
            rows,
        ),
    }
    shown = []
    for name, (source, theirs, number) in sources.items():
        timings = alternate({"bare": theirs, "ours": lambda one=source: ours(one)}, rounds=3)
        shown.append(_shown(timings, f"`op.read` of {number:,} rows, {name}", "bare group-by", 1.2))
    return shown


def _decisions(paths: list[str], rows: int) -> list[Row]:
    """From the files to the decision, beside the bare count and what it draws."""
    counts = bare(paths)["n"]
    generator = np.random.default_rng(0)

    def gammas() -> None:
        for count in counts:
            generator.standard_gamma(count, DRAWS)

    def decision(metric: str) -> op.Comparison:
        return op.compare(ours(paths), *MODELS, metric=metric, rope=0.01, random_state=0, n_jobs=-1)

    timings = alternate(
        {
            "bare": lambda: bare(paths),
            "gammas": gammas,
            "accuracy": lambda: decision("accuracy"),
            "f1_macro": lambda: decision("f1_macro"),
        },
        rounds=3,
    )
    both = Timing(
        [one + two for one, two in zip(timings["bare"].wall, timings["gammas"].wall, strict=True)],
        [
            one + two
            for one, two in zip(timings["bare"].processor, timings["gammas"].processor, strict=True)
        ],
    )
    what = f"from {rows:,} rows of Parquet to the decision"
    return [
        _shown({"bare": timings["bare"], "ours": timings["accuracy"]}, f"{what}, accuracy",
               "bare DuckDB", 1.3),
        _shown({"bare": both, "ours": timings["f1_macro"]}, f"{what}, macro-F1, {DRAWS:,} draws",
               f"bare DuckDB, and {len(counts):,} gammas a draw in bare NumPy", 1.3),
    ]  # fmt: skip


def _shown(timings: dict[str, Timing], what: str, against: str, most: float) -> Row:
    mine, theirs = timings["ours"], timings["bare"]
    print(f"{what}\n  ours {mine}\n  {against} {theirs}\n  {ratios(mine, theirs)}", flush=True)
    # Turn by turn, because the machine's speed drifts over the minutes that a run takes.
    pairs = zip(mine.wall, theirs.wall, strict=True)
    ratio = f"{statistics.median(one / other for one, other in pairs):.2f}"
    shown = seconds(mine.median), against, seconds(theirs.median), ratio
    return Row(what, *shown, f"at most {most:g}")


if __name__ == "__main__":
    main()
