"""``python -m verification``: run the simulation studies, write their tables, fail if one fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from verification.programme import PARTS, Sizes

TABLES = Path(__file__).parents[1] / "docs" / "explanation" / "_generated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named parts, or all; return 1 if something did not hold."""
    args = _parse(arguments)
    sizes = Sizes(**{field.name: getattr(args, field.name) for field in fields(Sizes)})
    failures = []
    for name in args.parts or PARTS:
        start = time.perf_counter()
        part = PARTS[name](sizes)
        failures += part.failures
        args.tables.mkdir(parents=True, exist_ok=True)
        for file, text in part.tables.items():
            (args.tables / file).write_text(text, encoding="utf-8")
        held = "held" if not part.failures else "FAILED"
        print(f"{name}: {held} after {time.perf_counter() - start:.0f} s")
    for failure in failures:
        print(f"  {failure}", file=sys.stderr)
    return 1 if failures else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m verification", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--tables", type=Path, default=TABLES, help="where the tables are written")
    for field in fields(Sizes):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=field.default, help="%(default)s by default")
    args = parser.parse_args(arguments)
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
