"""Run the simulation studies, write their tables and note whether everything held."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from verification import archive, execution, records
from verification.programme import NOT_QUICK, PARTS, QUICK, Sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named parts, or all; return 1 if something did not hold."""
    args = _parse(arguments)
    if args.archive:
        try:
            print(archive.write(args.archive))
        except archive.Dirty as dirty:
            print(dirty, file=sys.stderr)
            return 1
        return 0
    if args.summary:
        sizes = execution.whole(args.parts or PARTS)
        lines = list(records.summary(sizes, args.results or records.RESULTS))
        print("\n".join([records.HEADER, *(line.text for line in lines), records.LEGEND]))
        old = [line.part for line in lines if args.strict and line.state != "this code"]
        if old:
            command = f"python -m verification {' '.join(old)}"
            print(f"\nnot run in full on this code; run `{command}`", file=sys.stderr)
        return int(bool(old) or any(line.failed for line in lines))
    left_out = NOT_QUICK if args.quick and not args.parts else {}
    for name, why in left_out.items():
        print(f"{name}: skipped; {why}")
    names = args.parts or [name for name in PARTS if name not in left_out]
    run = execution.run if len(names) == 1 else execution.run_apart
    failures: list[str] = []
    skipped = False
    for name in names:
        try:
            failures += run(name, args)
        except execution.Skipped:
            skipped = True
    for failure in failures:
        print(f"  {failure}", file=sys.stderr)
    return 1 if failures else 2 if skipped and args.parts else 0


_SIZES = {
    "simulations": "data sets of each calibrated configuration",
    "plant_simulations": "data sets of each planted bug, at most",
    "long_simulations": "data sets of each calibrated configuration that takes long",
    "repetitions": "test sets of each setting of coverage, map and suites",
    "seeds": "seeds of each comparison of honesty",
    "runs": "cross-validations of each setting of blocked",
    "training_sets": "training sets of each setting of blocked",
    "slices": "slices of each setting of slices",
    "test_sets": "test sets of each setting of all other studies",
    "pair_test_sets": "test sets of the setting of rank that is tabulated pair by pair",
    "power_runs": "test sets of each point of a power curve",
    "projects": "planned projects of each setting of plans",
    "pilots": "pilots of each setting of promises",
    "quarters": "quarters of 20 Newsgroups that more-data predicts from",
    "futures": "test sets of each simulated setting of more-data",
    "experiments": "experiments of each setting of stopping, winner and anytime",
    "damages": "damaged files of each format",
    "classes": "settings with more classes are left out",
}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m verification",
        description=__doc__,
        epilog="The exit code is 1 if something did not hold, 2 if a part that was named could not "
        "be run, and 0 otherwise.",
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all parts if none is named"
    )
    parser.add_argument("--all", action="store_true", help="run all parts, the same as naming none")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run few repetitions, write the tables to build/verification/quick, and record the "
        "run as a smoke check",
    )
    parser.add_argument(
        "--summary", action="store_true", help="run nothing; print when each part was last run"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="with --summary: also exit with 1 unless every part was run in full on this code",
    )
    parser.add_argument(
        "--archive",
        type=Path,
        metavar="FILE.zip",
        help="run nothing; pack code, data, results and an environment lock for Zenodo; needs a "
        "clean checkout",
    )
    parser.add_argument(
        "--shard",
        type=execution.shard_of,
        default=(1, 1),
        metavar="K/N",
        help="run the K-th of N shares of the work, such as 3/40",
    )
    parser.add_argument(
        "--chunks", type=Path, metavar="DIR", help="keep finished chunks here, and resume from them"
    )
    parser.add_argument("--tables", type=Path, metavar="DIR", help="write the tables here")
    parser.add_argument("--results", type=Path, metavar="DIR", help="keep the records here")
    parser.add_argument(
        "--jobs", type=int, default=2, metavar="N", help="number of processes (default: 2)"
    )
    sizes = parser.add_argument_group("sizes", "how much is run; smaller means faster")
    for name in execution.NUMBERS:
        default, quick = getattr(Sizes(), name), getattr(QUICK, name)
        sizes.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            metavar="N",
            help=f"{_SIZES[name]} (default: {default:,}; with --quick: {quick:,})",
        )
    args = parser.parse_args(arguments)
    if args.jobs < 1:
        parser.error(f"--jobs must be at least 1; got {args.jobs}")
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
    if args.strict and not args.summary:
        parser.error("--strict goes with --summary")
    return args


if __name__ == "__main__":
    sys.exit(main())
