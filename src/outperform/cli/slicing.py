"""``slices``: is A worse than B anywhere?"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from outperform.cli import options as o
from outperform.cli.progress import drawing
from outperform.cli.reading import columns_there, read_table, rope_of
from outperform.cli.writing import as_json, deliver
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.slices import SliceComparison

_ON_A_SCREEN = 20


class Style(StrEnum):
    """How the slices are written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"
    CSV = "csv"


StyleOption = Annotated[
    Style, typer.Option("--format", "-f", help="How to write it.", rich_help_panel="Answer")
]
Top = Annotated[
    int | None,
    typer.Option(
        help=f"Only the most concerning slices; text shows {_ON_A_SCREEN}, all else every one.",
        parser=o.whole,
        metavar="NUMBER",
        rich_help_panel="Answer",
    ),
]
SliceDraws = Annotated[
    int,
    typer.Option(
        "--draws",
        help="How many draws of each slice.",
        parser=o.whole,
        metavar="NUMBER",
        rich_help_panel="Answer",
    ),
]


def slices(
    source: o.Source,
    a: o.ModelA = None,
    b: o.ModelB = None,
    by: o.By = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    draws: SliceDraws = 4_000,
    seed: o.Seed = None,
    top: Top = None,
    style: StyleOption = Style.TEXT,
    output: o.Output = None,
    *,
    reading: o.Ungrouped,
) -> None:
    """Compare two models in every slice at once, the most concerning first.

    Each slice is pulled toward the whole as far as slices are alike, so that many of them do
    not bring many false alarms.

    Example: outperform slices log.csv --truth label --a bert --b gpt --by country --metric accuracy
    """
    import outperform as op

    if a is not None and a == b:
        raise UsageError(f"give --a and --b, the names of two models; got {a!r} twice")
    if not by and (reading.truth is not None or reading.correct):
        raise UsageError(
            "give --by, the name of a column that divides the documents"
            + columns_there(source, reading)
        )
    seen = read_table(source, [a, b], reading, by)
    asking = o.Asking(
        labels=labels,
        pos_label=pos_label,
        model=model,
        prior=prior,
        hdi_prob=hdi_prob,
        draws=draws,
        seed=seed,
    )
    with drawing("drawing slices"):
        found = op.compare_slices(
            seen,
            *seen.models,
            metric=metric,
            rope=rope_of(rope),
            **asking.arguments(seen),
        )
    deliver(_render(found, style, top), output)


def _render(found: SliceComparison, style: Style, top: int | None) -> str:
    if style is Style.TEXT:
        return found.text(_ON_A_SCREEN if top is None else top)
    if style is Style.JSON:
        facts = found.to_dict()
        return as_json({**facts, "rows": facts["rows"][:top]}, indent=2)
    return str(getattr(found.table(top), f"to_{style.value}")())
