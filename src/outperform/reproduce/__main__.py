"""``python -m outperform.reproduce``: the papers' tables, published beside ours."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from outperform import __version__
from outperform.errors import OutperformError
from outperform.reproduce import icdm, sigir
from outperform.reproduce.layout import write_summary, write_table
from outperform.reproduce.tables import Effort, Table, timed

_PAPERS = {"sigir": sigir.TABLES, "icdm": icdm.TABLES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables that were asked for and write each as soon as it is there."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    numbers = list(_PAPERS[asked.paper]) if asked.table is None else [asked.table]
    if not set(numbers) <= set(_PAPERS[asked.paper]):
        known = ", ".join(map(str, _PAPERS[asked.paper]))
        parser.error(f"{asked.paper} has no table {asked.table} to reproduce; known: {known}")
    effort = Effort(seed=asked.seed, draws=asked.draws, simulations=asked.simulations)
    try:
        _write(f"outperform {__version__}, numpy {np.__version__}, seed {asked.seed}.\n\n")
        tables: list[Table] = []
        for number in numbers:
            tables.append(timed(_PAPERS[asked.paper][number], effort))
            _write(write_table(tables[-1], asked.format) + "\n")
        _write(write_summary(tables, asked.format))
    except OutperformError as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m outperform.reproduce",
        description="Reproduce a paper's tables from the bundled predictions: "
        "published, ours and the difference.",
    )
    parser.add_argument("paper", choices=list(_PAPERS))
    parser.add_argument("--table", type=int, metavar="N", help="only this one; all by default")
    parser.add_argument("--format", choices=["text", "markdown"], default="text")
    parser.add_argument("--seed", type=int, default=0, help="of all draws; 0 by default")
    parser.add_argument(
        "--draws",
        type=int,
        metavar="N",
        help="draws of each posterior; 50,000 by default, in the power table 4,000",
    )
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        default=2_000,
        help="data sets simulated for each cell of the power table; 2,000 by default",
    )
    return parser


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
