"""``sensitivity``: would another prior, or another ROPE, say something else?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from outperform.cli import options as o
from outperform.cli.comparing import compared
from outperform.cli.progress import bar
from outperform.cli.reading import prior_of
from outperform.cli.writing import write_result
from outperform.errors import UsageError

Priors = Annotated[
    str | None,
    typer.Option(
        "--priors",
        help="More priors of model flat, or models, with commas between: 0.25,2,free.",
        rich_help_panel="Question",
    ),
]
Ropes = Annotated[
    str | None,
    typer.Option(
        "--ropes",
        help="Half-widths, with commas between. Half, once, twice, four times --rope by default.",
        rich_help_panel="Question",
    ),
]


def sensitivity(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    ropes: Ropes = None,
    priors: Priors = None,
    unpaired: o.Unpaired = False,
    *,
    pricing: o.Pricing,
    reading: o.ReadingTwo,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """Say whether another prior, or another ROPE, would change the verdict.

    Example: outperform sensitivity preds.csv --truth label --a bert --b gpt --metric f1_macro
    """
    wanted, widths = _priors(priors), _ropes(ropes)
    own = compared(files, a, b, metric, rope, unpaired, reading, asking, pricing)
    with bar("asking other priors") as progress:
        found = own.sensitivity(priors=wanted, ropes=widths, progress=progress)
    write_result(found, writing)


def _priors(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    read = {part: prior_of(part) for part in text.split(",")}
    return {part if isinstance(one, str) else f"flat {part}": one for part, one in read.items()}


def _ropes(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--ropes must be numbers with commas between; got {text!r}") from error
