"""``python -m verification``: run the simulation studies, write their tables, fail if one fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

from verification import records
from verification.programme import NOT_QUICK, PARTS, QUICK, Sizes
from verification.spreading import Machine, Unfinished

TABLES = records.ROOT / "docs" / "explanation" / "_generated"
BUILD = records.ROOT / "build" / "verification"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named parts, or all; return 1 if something did not hold."""
    args = _parse(arguments)
    results = args.results or (records.RESULTS / "quick" if args.quick else records.RESULTS)
    if args.summary:
        lines = list(records.summary(args.parts or PARTS, results))
        print("\n".join(line for line, _ in lines))
        return 0 if all(held for _, held in lines) else 1
    failures: list[str] = []
    for name in args.parts or PARTS:
        if args.quick and not args.parts and name in NOT_QUICK:
            print(f"{name}: left out; {NOT_QUICK[name]}")
            continue
        failures += _run(name, args, results)
    for failure in failures:
        print(f"  {failure}", file=sys.stderr)
    return 1 if failures else 0


def _run(name: str, args: argparse.Namespace, results: Path) -> Sequence[str]:
    """Run one part; write its tables and its record where they belong."""
    chunks = args.chunks or (BUILD if args.shard != (1, 1) else None)
    kept = None if chunks is None else chunks / f"{name}-{records.code_of(name)}"
    given = {one: getattr(args, one) for one in _NUMBERS if getattr(args, one) is not None}
    sizes = replace(QUICK if args.quick else Sizes(), **given)
    sizes = replace(sizes, machine=Machine(jobs=args.jobs, chunks=kept, shard=args.shard))
    start = time.perf_counter()
    try:
        part = PARTS[name](sizes)
    except Unfinished as unfinished:
        print(f"{unfinished}; its tables are written when all are")
        return ()
    seconds = time.perf_counter() - start
    tables = args.tables or (BUILD / "quick" if args.quick else TABLES)
    tables.mkdir(parents=True, exist_ok=True)
    for file, text in part.tables.items():
        (tables / file).write_text(text, encoding="utf-8")
    if args.tables is None and not args.quick:
        for path, text in part.data.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if args.tables is None or args.results is not None:
        numbers = {one: value for one, value in asdict(sizes).items() if one in _NUMBERS}
        records.write(records.record(name, numbers, part.failures, seconds), results)
    held = "held" if not part.failures else "FAILED"
    print(f"{name}: {held} after {seconds:.0f} s", flush=True)
    return part.failures


_NUMBERS = tuple(field.name for field in fields(Sizes) if field.name != "machine")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m verification", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--all", action="store_true", help="every part, as without any name")
    parser.add_argument("--quick", action="store_true", help="few repetitions, tables in build/")
    parser.add_argument("--summary", action="store_true", help="what was run last; runs nothing")
    parser.add_argument("--shard", type=_shard, default=(1, 1), help="a part of the work: 3/40")
    parser.add_argument("--chunks", type=Path, help="where finished chunks are kept, to go on from")
    parser.add_argument("--tables", type=Path, help="where the tables are written")
    parser.add_argument("--results", type=Path, help="where it is noted what was run")
    parser.add_argument("--jobs", type=int, default=2, help="processes; %(default)s by default")
    for name in _NUMBERS:
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, help=f"{getattr(Sizes(), name):,} by default")
    args = parser.parse_args(arguments)
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return args


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"a shard is K/N with K from 1 to N; got {text!r}")
    return int(number), int(of)


if __name__ == "__main__":
    sys.exit(main())
