"""``rank``: which of many models is best, and which are practically as good?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outperform.cli import options as o
from outperform.cli.progress import bar
from outperform.cli.reading import read_outcomes, rope_of, split_labels
from outperform.cli.scoring import read_columns
from outperform.cli.writing import deliver, render

if TYPE_CHECKING:
    from outperform.outcomes import Outcomes, Scores


def rank(
    files: o.Sources,
    of: o.Models = None,
    metric: o.Metric = "f1",
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    pricing: o.Pricing,
    reading: o.Reading,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """Rank many models: who is best, who is practically tied, what choosing each would cost.

    Example: outperform rank preds.csv --truth label --id id --metric f1_macro --rope 0.02
    """
    import outperform as op

    seen = read_models(files, of, reading, metric)
    found = op.rank(
        seen,
        metric=pricing.metric(seen, metric),
        rope=rope_of(rope),
        paired=not unpaired,
        **asking.arguments(seen),
    )
    text = found.text(None) if writing.style is o.Format.TEXT else render(found, writing.style)
    deliver(text, writing.output)


def read_models(
    files: list[str], of: list[str] | None, reading: o.Joined, metric: str
) -> Outcomes | Scores:
    """Read all models of one table, or one model a file."""
    import outperform as op
    from outperform.errors import UsageError
    from outperform.ingest import holds_outcomes
    from outperform.metrics import is_of_scores

    if is_of_scores(metric):
        if not of:
            raise UsageError("give --of once for each column of scores")
        return read_columns(files, of, reading, metric)
    if reading.confusion or len(files) > 1:
        others = len(files) - (0 if reading.confusion else 1)
        return read_outcomes(files, of or [None] * others, reading)
    asked: dict[str, Any] = reading.asked()
    if reading.truth is None and holds_outcomes(files[0]):
        return split_labels(op.read(files[0], models=of or None, **asked), reading)
    if reading.truth is None:
        raise UsageError("give --truth, the name of a column")
    with bar("counting") as progress:
        seen = op.read(
            files[0],
            truth=reading.truth,
            models=of or None,
            on_null=reading.on_null.value,
            progress=progress,
            **asked,
            **reading.dialect(),
        )
    return split_labels(seen, reading)
