"""``python -m papers``: the papers' tables, published beside ours."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from outperform import __version__
from outperform.errors import OutperformError
from papers import acl, acl_figures, icdm, news_figures, sigir
from papers.layout import write_summary, write_table
from papers.tables import Effort, Table, timed


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """What can be made of one paper.

    Parameters
    ----------
    tables
        How to make each table, by its number in the paper.
    figures
        How to draw the figures into a folder, in a format.
    opening
        A line about all tables, which then stands above them; None to write each at once.
    closing
        The last line.
    """

    tables: Mapping[int, Callable[[Effort], Table]]
    figures: Callable[[Path, str], Sequence[Path]]
    opening: Callable[[Sequence[Table]], str] | None = None
    closing: Callable[[Effort], str] | None = None


_CLOSED_PIPE = 141
_PAPERS = {
    "sigir": Paper(tables=sigir.TABLES, figures=partial(news_figures.save, news_figures.SIGIR)),
    "icdm": Paper(tables=icdm.TABLES, figures=partial(news_figures.save, news_figures.ICDM)),
    "acl": Paper(
        tables=acl.TABLES,
        opening=acl.closeness,
        closing=acl.speed,
        figures=acl_figures.save,
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables and write each as soon as it is there."""
    parser = _parser()
    args = parser.parse_args(arguments)
    paper = _PAPERS[args.paper]
    numbers = list(paper.tables) if args.table is None else [args.table]
    if not set(numbers) <= set(paper.tables):
        known = ", ".join(map(str, paper.tables))
        parser.error(f"{args.paper} has no table {args.table} to reproduce; known: {known}")
    try:
        if args.figures is not None:
            paper.figures(args.figures, args.figure_format)
        _write_all(paper, numbers, args)
    except BrokenPipeError:
        # Whoever read the tables has gone; what is still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except (OutperformError, OSError) as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    return 0


def _write_all(paper: Paper, numbers: Sequence[int], args: argparse.Namespace) -> None:
    effort = Effort(seed=args.seed, draws=args.draws, simulations=args.simulations)
    made: Iterable[Table] = (timed(paper.tables[number], effort) for number in numbers)
    if paper.opening is not None:
        made = list(made)
        _write(f"{paper.opening(made)}\n\n")
    _write(f"outperform {__version__}, numpy {np.__version__}, seed {args.seed}.\n\n")
    tables: list[Table] = []
    for table in made:
        tables.append(table)
        _write(write_table(table, args.format) + "\n")
    _write(write_summary(tables, args.format))
    if paper.closing is not None:
        _write(f"\n{paper.closing(effort)}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m papers",
        description="Reproduce a paper's tables from the bundled predictions or counts: "
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
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="FOLDER",
        help="draw the paper's figures into it; those of sigir and icdm need the extra pymc",
    )
    parser.add_argument("--figure-format", choices=["png", "pdf", "svg"], default="png")
    return parser


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
