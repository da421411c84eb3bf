"""What does ``import outperform`` cost beside the libraries that it stands on?

Each import runs in a fresh interpreter, in turns, with everything compiled to
bytecode as in an installed package. Public names load on first use, so the
import that a user feels is the one together with ``compare``.

    python bench/bench_import.py [--write]
"""

from __future__ import annotations

import sys
import tempfile

from measuring import Timing, ratios, run_fresh, seconds
from recording import Row, report, wants_writing

ROUNDS = 15
FOUNDATION = "import numpy, scipy.special, narwhals"
PACKAGE = "import outperform"
READY = "import outperform; outperform.compare"

MEASURE = """
import json, sys, time
before = set(sys.modules)
wall, processor = time.perf_counter(), time.process_time()
{statement}
wall, processor = time.perf_counter() - wall, time.process_time() - processor
print(json.dumps([wall, processor, sorted(set(sys.modules) - before)]))
"""


def run(statement: str, bytecode: str) -> tuple[float, float, list[str]]:
    """Run a statement in a fresh interpreter; return both times and the modules it loaded."""
    wall, processor, modules = run_fresh(MEASURE.format(statement=statement), bytecode)
    return wall, processor, modules


def take_turns(statements: tuple[str, ...]) -> tuple[dict[str, Timing], dict[str, list[str]]]:
    timings = {statement: Timing() for statement in statements}
    with tempfile.TemporaryDirectory() as bytecode:
        loaded = {statement: run(statement, bytecode)[2] for statement in statements}
        for _ in range(ROUNDS):
            for statement in statements:
                wall, processor, _ = run(statement, bytecode)
                timings[statement].wall.append(wall)
                timings[statement].processor.append(processor)
    return timings, loaded


def packages(modules: list[str]) -> str:
    """Return the packages from outside the standard library, with their number of modules."""
    found: dict[str, int] = {}
    for module in modules:
        name = module.partition(".")[0]
        if name not in sys.stdlib_module_names and not name.startswith("_"):
            found[name] = found.get(name, 0) + 1
    return ", ".join(f"{name} ({count})" for name, count in found.items()) or "nothing"


def main(write: bool) -> None:
    timings, loaded = take_turns((FOUNDATION, PACKAGE, READY))
    base = timings[FOUNDATION]
    for statement, timing in timings.items():
        print(f"{statement}\n  {timing}")
        print(f"  {len(loaded[statement])} modules; outside the standard library: ", end="")
        print(packages(loaded[statement]))
        if statement != FOUNDATION:
            print(f"  / foundation: {ratios(timing, base)}")
    rows = [
        Row(
            f"`{statement}`",
            seconds(timings[statement].median),
            f"`{FOUNDATION}`",
            seconds(base.median),
            f"{timings[statement].median / base.median:.2f}",
            aim,
        )
        for statement, aim in ((PACKAGE, "at most 1.3"), (READY, ""))
    ]
    report("import", rows, write=write)


if __name__ == "__main__":
    main(wants_writing(__doc__))
