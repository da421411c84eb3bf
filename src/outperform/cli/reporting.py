"""``report``: the whole answer as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from outperform.cli import options as o
from outperform.cli.comparing import compared
from outperform.cli.progress import drawing


def report(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    title: Annotated[str | None, typer.Option(help="What stands above the page.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "report.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    *,
    reading: o.ReadingTwo,
    asking: o.Asking,
) -> None:
    """Write the comparison as one HTML file that works offline.

    Example: outperform report preds.csv --truth label --a bert --b gpt --metric f1_macro -o r.html
    """
    import outperform as op
    from outperform import present
    from outperform.cli.running import say

    result = compared(files, a, b, metric, rope, unpaired, reading, asking)
    with drawing("writing the page"):
        path = op.write_report(result, output, title=title, overwrite=force)
    say(f"wrote {path}: {present.headline(result.to_dict())}")
