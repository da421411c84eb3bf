"""``example`` and ``reproduce``: the bundled data as a file, and the papers' tables."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from outperform.cli import exits
from outperform.cli import options as o
from outperform.errors import UsageError, unknown_name


class Paper(StrEnum):
    """The papers whose tables are made again."""

    SIGIR = "sigir"
    ICDM = "icdm"
    ACL = "acl"


class TableFormat(StrEnum):
    """How a paper's tables are written."""

    TEXT = "text"
    MARKDOWN = "markdown"


def example(
    name: Annotated[str, typer.Argument(help="news20.", show_default=False)],
    output: o.Output = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write the bundled data as CSV: one row a document, one column a model.

    Example: outperform example news20 -o preds.csv
    """
    if name != "news20":
        raise UsageError(unknown_name("example", name, ["news20"]))
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} is there already; overwrite it with --force")
    from outperform import datasets
    from outperform.cli.writing import deliver

    news = datasets.load_news20()
    header = ["id", "label", *news.predictions]
    columns = [range(len(news.y_true)), news.y_true, *news.predictions.values()]
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    deliver("\n".join([",".join(header), *rows]), output)


def reproduce(
    paper: Annotated[Paper, typer.Argument(help="Which paper.", show_default=False)],
    table: Annotated[
        int | None, typer.Option(help="Only this table.", parser=o.whole, metavar="NUMBER")
    ] = None,
    style: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to write them.")
    ] = TableFormat.TEXT,
    seed: o.Seed = 0,
    figures: Annotated[Path | None, typer.Option(help="Draw the figures into this folder.")] = None,
) -> int:
    """Print a paper's tables beside ours.

    Example: outperform reproduce acl
    """
    from outperform.reproduce.__main__ import main

    arguments = [paper.value, "--format", style.value, "--seed", str(seed)]
    arguments += [] if table is None else ["--table", str(table)]
    arguments += [] if figures is None else ["--figures", str(figures)]
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            code = main(arguments)
    except SystemExit:
        code = exits.USAGE
    if code == exits.USAGE:  # its last line tells; the usage above is that of another command
        last = said.getvalue().strip().splitlines()[-1]
        raise UsageError(last.partition("outperform.reproduce: ")[2].removeprefix("error: "))
    if sys.stderr is not None:
        sys.stderr.write(said.getvalue())
    return code
