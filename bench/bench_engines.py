"""What does a row cost in each engine, and so a billion or a trillion of them?

`op.read` of the same predictions at two sizes, each the least of a few turns; the
difference gives the seconds per row, the rest is what it costs to begin. What is
larger than the larger size is arithmetic, and the table says so. PostgreSQL is
started from the system's packages, Spark as a master and two workers on this machine.

    python bench/bench_engines.py [--write] [ENGINE…]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import duckdb
from measuring import machine, seconds
from predictions import COLUMNS, FOLDER, predictions
from recording import RESULTS, ROOT, keep

import outperform as op

sys.path.insert(0, str(ROOT))  # the servers that the tests start

CLASSES = 20
FILES = predictions(100_000_000, CLASSES, spread=CLASSES - 1)
SMALL, LARGE = 10_000_000, 100_000_000
TURNS = 3

Sources = Iterator[dict[int, tuple[Any, dict[str, Any]]]]


class Engine(NamedTuple):
    """One engine: what to call it, how sources of two sizes are made, and what limits it."""

    name: str
    sources: Callable[[], Any]
    limit: str


@contextmanager
def parquet() -> Sources:
    yield {SMALL: (FILES[:1], {}), LARGE: (FILES, {})}


@contextmanager
def csv() -> Sources:
    yield {SMALL // 10: (_csv(SMALL // 10), {}), SMALL: (_csv(SMALL), {})}


@contextmanager
def polars() -> Sources:
    import polars as pl

    yield {SMALL: (pl.scan_parquet(FILES[:1]), {}), LARGE: (pl.scan_parquet(FILES), {})}


@contextmanager
def pandas() -> Sources:
    import pandas as pd

    frame = pd.read_parquet(FILES[0])
    yield {SMALL // 10: (frame[: SMALL // 10], {}), SMALL: (frame, {})}


@contextmanager
def postgresql() -> Sources:
    from tests.io.postgres_server import started

    sizes = (SMALL // 10, SMALL)
    with started() as server, server.connect() as connection:
        for rows in sizes:
            columns = ", ".join(f"{name} text" for name in COLUMNS)
            connection.execute(f"CREATE UNLOGGED TABLE preds_{rows} ({columns})")
            statement = f"COPY preds_{rows} FROM STDIN (FORMAT csv, HEADER)"
            with connection.cursor().copy(statement) as copy, open(_csv(rows), "rb") as file:
                while block := file.read(1 << 20):
                    copy.write(block)
            connection.execute(f"ANALYZE preds_{rows}")
        yield {rows: (server.address, {"table": f"preds_{rows}"}) for rows in sizes}


@contextmanager
def spark() -> Sources:
    from tests.io.spark_cluster import session, started

    with started() as cluster, session(cluster) as opened:
        yield {
            SMALL: (opened.read.parquet(*FILES[:1]), {}),
            LARGE: (opened.read.parquet(*FILES), {}),
        }


ENGINES = {
    "parquet": Engine("DuckDB, Parquet", parquet, "the disk"),
    "csv": Engine("DuckDB, CSV", csv, "the disk"),
    "polars": Engine("polars, lazy, Parquet", polars, "the disk"),
    "pandas": Engine("pandas, in memory", pandas, "memory"),
    "postgresql": Engine("PostgreSQL", postgresql, "the server's disk"),
    "spark": Engine("Spark, two workers of one core", spark, "the number of workers"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("engines", nargs="*", help=f"by default all: {', '.join(ENGINES)}")
    args = parser.parse_args()
    found = {name: _measured(ENGINES[name]) for name in args.engines or ENGINES}
    if args.write:
        _keep(found)


def _measured(engine: Engine) -> dict[str, float]:
    """Return the seconds at each size."""
    times = {}
    with engine.sources() as sources:
        for rows, (source, options) in sources.items():
            laps = []
            for _ in range(TURNS):
                start = time.perf_counter()
                seen = op.read(source, truth=COLUMNS[0], models=list(COLUMNS[1:]), **options)
                laps.append(time.perf_counter() - start)
                assert seen.n == rows, f"{engine.name}: {seen.n} rows of {rows}"
            times[str(rows)] = min(laps)
    print(engine.name, {rows: seconds(value) for rows, value in times.items()}, flush=True)
    return times


def _csv(rows: int) -> str:
    path = FOLDER / f"{rows}.csv"
    if not path.exists():
        duckdb.read_parquet(FILES[0]).limit(rows).write_csv(str(path))
    return str(path)


def _keep(found: dict[str, dict[str, float]]) -> None:
    before = json.loads(RESULTS.read_text(encoding="utf-8")).get("engines", {}).get("seconds", {})
    times = {**before, **found}
    keep("engines", {"machine": machine(), "seconds": times}, {"planning.md": _page(times)})


def _page(times: dict[str, dict[str, float]]) -> str:
    head = "| engine | measured | seconds per 10⁹ rows | 10⁹ rows | 10¹² rows | what limits it |"
    lines = [head, "|---|---|---|---|---|---|"]
    for name, engine in ENGINES.items():
        if name not in times:
            continue
        (few, short), (many, long) = ((int(rows), t) for rows, t in times[name].items())
        slope = max(long - short, 0.0) / (many - few)
        start = max(short - slope * few, 0.0)
        measured = f"{few:,} rows {seconds(short)}; {many:,} rows {seconds(long)}"
        reached = [_duration(start + slope * rows) + ", arithmetic" for rows in (1e9, 1e12)]
        if name == "pandas":
            reached = ["does not fit", "does not fit"]
        lines.append(
            f"| {engine.name} | {measured} | {slope * 1e9:.3g} | {reached[0]} | {reached[1]} "
            f"| {engine.limit} |"
        )
    return "\n".join(lines) + f"\n\nMeasured with {machine()}.\n"


def _duration(value: float) -> str:
    return f"{value / 86_400:.3g} days" if value >= 2 * 86_400 else seconds(value)


if __name__ == "__main__":
    main()
