"""What does an update add to the bare count, and does it cost only what is new?

Predictions of two models in daily Parquet files, 20 classes: `count --update` of all days, and of
one more day, against a bare GROUP BY in DuckDB of the same files, in turns. A day is counted into
folders that hold more and more days, to see that these cost nothing. With `--s3` the files are
objects of an S3 server on this machine, in a process of its own; the bare count copies them first,
or reads them through pyarrow.

    python bench/bench_store.py [--s3] [--write] [--rows 20000000] [--parts 10] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow.parquet as pq
from measuring import Timing, machine, ratios, seconds
from predictions import COLUMNS, FOLDER, _table
from recording import keep, last_results, markdown_table

import outperform as op
from outperform.io.addresses import Storage
from outperform.io.request import Request
from outperform.io.store import update

CLASSES = 20
KEYS = ", ".join(COLUMNS)
QUERY = f"SELECT {KEYS}, count(*) AS n FROM {{}} GROUP BY {KEYS}"
AIM = 1.2
HEAD = ("what", "clock", "processor", "against", "clock", "processor", "ratio of processor", "aim")
SECTIONS = ("store", "store_s3")
BUCKET = "days"
SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
"""
Found = dict[str, np.ndarray]
Bare = Callable[[Any, Sequence[str]], Found]


class Home(NamedTuple):
    """Where the days are, and how the bare engine counts some of them."""

    name: str
    put: Callable[[str, Sequence[str]], str]  # files into a folder, whose address it returns
    bare: Mapping[str, Bare]
    storage: Storage | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--s3", action="store_true", help="read the files from an S3 server")
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    paths = days(args.rows, args.parts)
    with tempfile.TemporaryDirectory() as folder, (on_s3 if args.s3 else on_disk)() as home:
        lines = [
            *_first_counts(paths, home, Path(folder), args.rounds, args.rows),
            *_daily_updates(paths, home, Path(folder), args.rounds, args.rows // args.parts),
        ]
    print(markdown_table(HEAD, lines))
    if args.write:
        _keep(SECTIONS[args.s3], lines)


def _keep(section: str, lines: Sequence[Sequence[str]]) -> None:
    found = {"machine": machine(), "rows": [list(line) for line in lines]}
    every = {**last_results(), section: found}
    present = [every[one] for one in SECTIONS if one in every]
    page = markdown_table(HEAD, [line for one in present for line in one["rows"]])
    machines = "; ".join(dict.fromkeys(str(one["machine"]) for one in present))
    keep(section, found, {"store.md": f"{page}\nMeasured with {machines}; medians, in turns.\n"})


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


def bare(connection: Any, paths: Sequence[str]) -> Found:
    found: Found = connection.execute(QUERY.format("read_parquet(?)"), [list(paths)]).fetchnumpy()
    return found


def at_once(count: Bare, paths: Sequence[str]) -> Found:
    with duckdb.connect() as connection:
        return count(connection, paths)


def one_by_one(count: Bare, paths: Sequence[str]) -> None:
    """Count each day alone on one connection: the work without hashes and without parts."""
    with duckdb.connect() as connection:
        for path in paths:
            count(connection, [path])


@contextmanager
def on_disk() -> Iterator[Home]:
    """Put links to the files into folders."""
    with tempfile.TemporaryDirectory() as folder:

        def put(name: str, paths: Sequence[str]) -> str:
            place = Path(folder, name)
            place.mkdir(exist_ok=True)
            for path in map(Path, paths):
                place.joinpath(path.parent.name).symlink_to(path.parent)
            return str(place)

        yield Home("on disk", put, {"bare DuckDB": bare})


@contextmanager
def on_s3() -> Iterator[Home]:
    """Put the files into a bucket; the server's own time is not that of this process."""
    import boto3
    from pyarrow import dataset, fs

    command = [sys.executable, "-c", SERVER]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        url = "http://{}:{}".format(*server.stdout.readline().split())
        options = {"access_key": "a", "secret_key": "b", "region": "us-east-1"}
        options["endpoint_override"] = url
        system = fs.S3FileSystem(**options)
        client: Any = boto3.client(
            "s3",
            endpoint_url=url,
            aws_access_key_id=options["access_key"],
            aws_secret_access_key=options["secret_key"],
            region_name=options["region"],
        )
        client.create_bucket(Bucket=BUCKET)

        def put(name: str, paths: Sequence[str]) -> str:
            for path in map(Path, paths):
                key = f"{name}/{path.parent.name}/{path.name}"
                client.put_object(Bucket=BUCKET, Key=key, Body=path.read_bytes())
            return f"s3://{BUCKET}/{name}"

        def objects(paths: Sequence[str]) -> list[str]:
            return [f"{BUCKET}/all/{one.parent.name}/{one.name}" for one in map(Path, paths)]

        def copied(connection: Any, paths: Sequence[str]) -> Found:
            with tempfile.TemporaryDirectory() as folder:
                copies = [Path(folder, str(number)) for number in range(len(paths))]
                for key, copy in zip(objects(paths), copies, strict=True):
                    with system.open_input_file(key) as stream:
                        copy.write_bytes(stream.read())
                return bare(connection, [*map(str, copies)])

        def streamed(connection: Any, paths: Sequence[str]) -> Found:
            every = dataset.dataset(objects(paths), filesystem=system, format="parquet")
            connection.register("days", every)
            found: Found = connection.execute(QUERY.format("days")).fetchnumpy()
            return found

        ways = {"copies and bare DuckDB": copied, "DuckDB through pyarrow": streamed}
        yield Home("on S3", put, ways, Storage.of(options))
    finally:
        server.stdin.close()
        server.wait()


def ours(folder: Path, address: str, home: Home) -> None:
    asked = Request(truth=COLUMNS[0], models=list(COLUMNS[1:]), storage_options=home.storage)
    update(folder, [address], asked, version=op.__version__)


def _first_counts(
    paths: list[str], home: Home, place: Path, rounds: int, rows: int
) -> list[tuple[str, ...]]:
    address = home.put("all", paths)
    hows = {"all at once": at_once, "one by one": one_by_one}
    calls: dict[str, Callable[[int], object]] = {
        "ours": lambda number: ours(place / f"first-{number}", address, home)
    }
    for name, count in home.bare.items():
        for how, call in hows.items():
            calls[f"{name}, {how}"] = lambda _, call=call, count=count: call(count, paths)
    timings = _alternate(calls, rounds)
    _check(place / "first-0", *(at_once(count, paths) for count in home.bare.values()))
    size = sum(path.stat().st_size for path in (place / "first-0").iterdir())
    print(f"{len(paths)} parts take {size / 1e3:,.0f} kB")
    what = f"{rows:,} rows in {len(paths)} new partitions {home.name}"
    mine = timings.pop("ours")
    return [_shown(what, mine, name, theirs) for name, theirs in timings.items()]


def _alternate(calls: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, Timing]:
    """Time each call once a round, with the round's number; the first one is not counted."""
    timings = {name: Timing() for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            (timings[name] if number else Timing()).run(
                lambda call=call, number=number: call(number)
            )
    return timings


def _check(folder: Path, *every: dict[str, np.ndarray]) -> None:
    """See that the parts add up to the counts of the engine."""
    seen = op.read(folder)
    cells = {
        tuple(seen.labels[code] for code in cell): int(count)
        for cell, count in zip(seen.tables[0].cells, seen.tables[0].counts, strict=True)
    }
    for found in every:
        columns = [found[name].tolist() for name in COLUMNS]
        theirs = dict(zip(zip(*columns, strict=True), found["n"].tolist(), strict=True))
        assert cells == theirs, "the parts do not add up"


def _daily_updates(
    paths: list[str], home: Home, place: Path, rounds: int, rows: int
) -> list[tuple[str, ...]]:
    """Count the last day into folders that hold no day, a third of the others, and all of them."""
    lines = []
    *before, last = paths
    for held in dict.fromkeys((0, len(before) // 3, len(before))):
        there = place / f"held-{held}"
        address = home.put(there.name, before[:held])
        if held:
            ours(there, address, home)
        home.put(there.name, [last])
        for number in range(rounds + 1 if held else 0):
            shutil.copytree(there, place / f"daily-{held}-{number}")

        def count(number: int, held: int = held, address: str = address) -> None:
            ours(place / f"daily-{held}-{number}", address, home)

        calls: dict[str, Callable[[int], object]] = {"ours": count, "nothing new": count}
        for name, bare_count in home.bare.items():
            calls[name] = lambda _, one=bare_count: at_once(one, [last])
        timings = _alternate(calls, rounds)
        what = f"{rows:,} rows more beside {held} partitions {home.name}"
        lines += [_shown(what, timings["ours"], name, timings[name]) for name in home.bare]
        print(f"  nothing new: {timings['nothing new']}", flush=True)
    return lines


def _shown(what: str, mine: Timing, against: str, theirs: Timing) -> tuple[str, ...]:
    print(f"{what}\n  ours {mine}\n  {against} {theirs}\n  {ratios(mine, theirs)}", flush=True)
    pairs = zip(mine.processor, theirs.processor, strict=True)
    ratio = f"{statistics.median(one / other for one, other in pairs):.2f}"
    return (what, *_medians(mine), against, *_medians(theirs), ratio, f"at most {AIM:g}")


def _medians(timing: Timing) -> tuple[str, str]:
    return seconds(timing.median), seconds(statistics.median(timing.processor))


if __name__ == "__main__":
    main()
