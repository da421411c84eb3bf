"""``report``: the whole answer as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from outperform.cli import options as o
from outperform.cli.comparing import compared
from outperform.cli.reading import Dialect


def report(
    files: o.Sources,
    truth: o.Truth = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    id: o.Id = None,
    label: o.LabelColumn = None,
    on_missing: o.OnMissing = o.Missing.REFUSE,
    on_null: o.OnNull = o.Missing.REFUSE,
    no_header: o.NoHeader = False,
    encoding: o.Encoding = "utf-8",
    read_as: o.ReadAs = None,
    confusion: o.Confusion = False,
    metric: o.Metric = "f1",
    rope: o.Rope = None,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    unpaired: o.Unpaired = False,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    title: Annotated[str | None, typer.Option(help="What stands above the page.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "report.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write the comparison as one HTML file that works offline.

    Example: outperform report preds.csv --truth label --a bert --b gpt --metric f1_macro -o r.html
    """
    import outperform as op
    from outperform import present
    from outperform.cli.running import say

    result = compared(
        files,
        truth=truth,
        a=a,
        b=b,
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=Dialect(on_null=on_null, no_header=no_header, encoding=encoding, read_as=read_as),
        metric=metric,
        rope=rope,
        labels=labels,
        pos_label=pos_label,
        model=model,
        prior=prior,
        unpaired=unpaired,
        hdi_prob=hdi_prob,
        draws=draws,
        seed=seed,
    )
    path = op.write_report(result, output, title=title, overwrite=force)
    say(f"wrote {path}: {present.headline(result.to_dict())}")
