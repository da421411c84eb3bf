"""``rank``: which of many models is best, and which are practically as good?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.cli import options as o
from outperform.cli.progress import drawing
from outperform.cli.reading import read_outcomes, rope_of
from outperform.cli.scoring import read_columns
from outperform.cli.writing import deliver, render

if TYPE_CHECKING:
    from outperform.outcomes import Outcomes, Scores


def rank(
    files: o.Sources,
    of: o.Models = None,
    metric: o.Metric = None,
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
    with drawing():
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
    files: list[str], of: list[str] | None, reading: o.Joined, metric: str | None
) -> Outcomes | Scores:
    """Read all models of one table, or one model a file."""
    from outperform.errors import UsageError
    from outperform.metrics import check_name, is_of_scores

    check_name(metric)
    if metric is not None and is_of_scores(metric):
        if not of:
            raise UsageError("give --of once for each column of scores")
        return read_columns(files, of, reading, metric)
    return read_outcomes(files, of, reading)
