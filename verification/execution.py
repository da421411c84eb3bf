"""One part from start to end: run it, write its tables and its record."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context

from verification import fingerprint, records
from verification.programme import PARTS, QUICK, Sizes, sizes_of
from verification.spreading import Machine, Unfinished

TABLES = records.ROOT / "docs" / "explanation" / "_generated"
BUILD = records.ROOT / "build" / "verification"
NUMBERS = tuple(field.name for field in fields(Sizes) if field.name != "machine")


def shard_of(text: str) -> tuple[int, int]:
    """Read a shard from the command line, such as 3/40."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"a shard is K/N with K from 1 to N; got {text!r}")
    return int(number), int(of)


def run_apart(name: str, args: argparse.Namespace) -> Sequence[str]:
    """Run one part of several in a process of its own, which loads no module of another part."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, name, args).result()


def whole(parts: Iterable[str] = PARTS) -> dict[str, dict[str, int]]:
    """Return the sizes of a full run of each part."""
    return {part: {name: getattr(sizes_of(part), name) for name in NUMBERS} for part in parts}


def overview() -> str:
    """Return the table of what was run of each part."""
    return records.table(whole())


class Skipped(Exception):
    """A part could not be run; its last record stays as it is."""


def run(name: str, args: argparse.Namespace) -> Sequence[str]:
    """Run one part; write its tables and its record where they belong."""
    fingerprint.read_ahead()
    chunks = args.chunks or (BUILD if args.shard != (1, 1) else None)
    kept = None if chunks is None else chunks / f"{name}-{fingerprint.chunk_key(name)}"
    given = {one: getattr(args, one) for one in NUMBERS if getattr(args, one) is not None}
    machine = Machine(jobs=args.jobs, chunks=kept, shard=args.shard)
    sizes = replace(QUICK if args.quick else sizes_of(name), **given, machine=machine)
    start = time.perf_counter()
    try:
        part = PARTS[name](sizes)
    except Unfinished as unfinished:
        print(f"{unfinished}; run the other shards to get the tables")
        return ()
    seconds = time.perf_counter() - start
    if part.skipped:
        print(f"{name}: skipped, not run; {part.skipped}", flush=True)
        raise Skipped(name)
    tables = args.tables or (BUILD / "quick" if args.quick else TABLES)
    tables.mkdir(parents=True, exist_ok=True)
    for file, text in part.tables.items():
        (tables / file).write_text(text, encoding="utf-8")
    if args.tables is None and not args.quick:
        for path, text in part.data.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if part.unfinished:
        print(f"{part.unfinished}; run the other shards to get the rest, and a record of the run")
        return part.failures
    if args.tables is None or args.results is not None:
        numbers = {one: getattr(sizes, one) for one in NUMBERS}
        modules = machine.modules | fingerprint.loaded()
        entry = records.entry(name, numbers, part.failures, seconds, modules)
        level: records.Level = "checked" if args.quick else "full"
        records.write(name, level, entry, args.results or records.RESULTS)
        if args.results is None:
            (TABLES / "programme.md").write_text(overview(), encoding="utf-8")
    held = "held" if not part.failures else "FAILED"
    print(f"{name}: {held} after {seconds:.0f} s", flush=True)
    return part.failures
