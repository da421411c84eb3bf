"""``doctor``: what a file is, and what to type."""

from __future__ import annotations

from typing import Annotated

import typer

import outperform as op
from outperform.cli import groups as g
from outperform.cli.exit_codes import shown
from outperform.cli.groups import write_result
from outperform.cli.inputs import ReadAs

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="File or folder, or the gold file and one file per model.",
        show_default=False,
    ),
]


def doctor(files: Files, format: ReadAs = None, *, writing: g.Writing) -> None:
    """Show what a file is, what can be asked of it, and what to type.

    Reads at most the first 10,000 rows of a table, and 16 MB of a text file.

    Example: outperform doctor preds.csv
    """
    with shown("reading"):
        diagnosis = op.doctor(*files, format=format)
    write_result(diagnosis, writing)
