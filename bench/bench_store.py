"""What does an update add to the bare count, and does it cost only what is new?

Predictions of two models in daily Parquet files, 20 classes: `count --update` of all days, and of
one more day, against a bare GROUP BY in DuckDB of the same files, in turns. A day is counted into
folders that hold more and more days, to see that these cost nothing.

    python bench/bench_store.py [--write] [--rows 20000000] [--parts 10] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
from measuring import Timing, ratios, seconds
from predictions import COLUMNS, FOLDER, _table
from recording import Row, report

import outperform as op
from outperform.io.sources import Request
from outperform.io.store import update

CLASSES = 20
KEYS = ", ".join(COLUMNS)
ASKED = Request(truth=COLUMNS[0], models=list(COLUMNS[1:]))
AIM = 1.2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    paths = days(args.rows, args.parts)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            *_first_counts(paths, Path(folder), args.rounds, args.rows),
            *_daily_updates(paths, Path(folder), args.rounds, args.rows // args.parts),
        ]
    report("store", rows, write=args.write)


def days(rows: int, parts: int) -> list[str]:
    """Return the Parquet files of each day, which are written once."""
    folder = FOLDER / f"days-{rows}-{parts}"
    paths = []
    for number in range(parts):
        path = folder / f"day={number:04}" / "part-0.parquet"
        paths.append(str(path))
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(".part")
            table = _table(rows // parts, CLASSES, CLASSES - 1, seed=number)
            pq.write_table(table, whole, compression="zstd", store_schema=False)
            whole.rename(path)
    return paths


def bare(paths: list[str]) -> dict[str, np.ndarray]:
    with duckdb.connect() as connection:
        query = f"SELECT {KEYS}, count(*) AS n FROM read_parquet(?) GROUP BY {KEYS}"
        found: dict[str, np.ndarray] = connection.execute(query, [paths]).fetchnumpy()
        return found


def bare_by_day(paths: list[str]) -> None:
    """Count each day alone on one connection: the work without hashes and without parts."""
    with duckdb.connect() as connection:
        for path in paths:
            query = f"SELECT {KEYS}, count(*) AS n FROM read_parquet(?) GROUP BY {KEYS}"
            connection.execute(query, [[path]]).fetchnumpy()


def ours(folder: Path, paths: list[str]) -> None:
    update(folder, paths, ASKED, version=op.__version__)


def _first_counts(paths: list[str], place: Path, rounds: int, rows: int) -> list[Row]:
    timings = {name: Timing() for name in ("all at once", "day by day", "ours")}
    bare(paths)
    for number in range(rounds):
        timings["all at once"].run(lambda: bare(paths))
        timings["day by day"].run(lambda: bare_by_day(paths))
        timings["ours"].run(lambda number=number: ours(place / f"first-{number}", paths))
    _check(place / "first-0", paths)
    what = f"`count --update` of {rows:,} rows in {len(paths)} new partitions"
    size = sum(path.stat().st_size for path in (place / "first-0").iterdir())
    print(f"{len(paths)} parts take {size / 1e3:,.0f} kB")
    return [
        _shown(what, timings["ours"], "bare DuckDB, all at once", timings["all at once"]),
        _shown(what, timings["ours"], "bare DuckDB, one by one", timings["day by day"]),
    ]


def _check(folder: Path, paths: list[str]) -> None:
    """See that the parts add up to the counts of the engine."""
    found, seen = bare(paths), op.read(folder)
    cells = {
        tuple(seen.labels[code] for code in cell): int(count)
        for cell, count in zip(seen.tables[0].cells, seen.tables[0].counts, strict=True)
    }
    columns = [found[name].tolist() for name in COLUMNS]
    theirs = dict(zip(zip(*columns, strict=True), found["n"].tolist(), strict=True))
    assert cells == theirs, "the parts do not add up"


def _daily_updates(paths: list[str], place: Path, rounds: int, rows: int) -> list[Row]:
    """Count the last day into folders that hold no day, a third of the others, and all of them."""
    shown = []
    *before, last = paths
    for held in dict.fromkeys((0, len(before) // 3, len(before))):
        there, some = before[:held], [*before[:held], last]
        timings = {"bare": Timing(), "ours": Timing(), "nothing new": Timing()}
        for number in range(rounds + 1):
            folder = place / f"daily-{held}-{number}"
            if there:
                shutil.copytree(place / "first-0", folder)
                for path in folder.glob("day=*"):
                    if path.name.partition(".")[0] not in {Path(one).parent.name for one in there}:
                        path.unlink()
            if number:  # the first round is not counted
                timings["bare"].run(lambda: bare([last]))
                timings["ours"].run(lambda folder=folder, some=some: ours(folder, some))
                timings["nothing new"].run(lambda folder=folder, some=some: ours(folder, some))
            else:
                bare([last])
                ours(folder, some)
        what = f"an update by {rows:,} rows, beside {held} partitions"
        shown.append(_shown(what, timings["ours"], "bare DuckDB of these rows", timings["bare"]))
        print(f"  nothing new: {timings['nothing new']}", flush=True)
    return shown


def _shown(what: str, mine: Timing, against: str, theirs: Timing) -> Row:
    print(f"{what}\n  ours {mine}\n  {against} {theirs}\n  {ratios(mine, theirs)}", flush=True)
    pairs = zip(mine.wall, theirs.wall, strict=True)
    ratio = f"{statistics.median(one / other for one, other in pairs):.2f}"
    figures = seconds(mine.median), against, seconds(theirs.median), ratio
    return Row(what, *figures, f"at most {AIM:g}")


if __name__ == "__main__":
    main()
