"""``compare``, ``estimate``, ``scorecard`` and ``by-class``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.cli import options as o
from outperform.cli.progress import drawing
from outperform.cli.reading import rope_of
from outperform.cli.scoring import read_seen
from outperform.cli.writing import write_result

if TYPE_CHECKING:
    from outperform.comparison import Comparison


def compare(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    pricing: o.Pricing,
    reading: o.ReadingTwo,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """Say whether A really outperforms B.

    The difference is A − B, in the metric's own units.

    Example: outperform compare preds.csv --truth label --a bert --b gpt --metric f1_macro
    """
    found = compared(files, a, b, metric, rope, unpaired, reading, asking, pricing)
    write_result(found, writing)


def estimate(
    files: o.Sources,
    of: o.OneModel = None,
    metric: o.Metric = None,
    *,
    reading: o.Reading,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """How good is one model, and how sure is that?

    Example: outperform estimate preds.csv --truth label --of bert --metric f1_macro
    """
    import outperform as op

    seen = read_seen(files, [of], reading, [metric])
    with drawing():
        found = op.estimate(seen, *seen.models, metric=metric, **asking.arguments(seen))
    write_result(found, writing)


def scorecard(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metrics: o.Metrics = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    reading: o.ReadingTwo,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """Compare two models in several metrics, one row each.

    Example: outperform scorecard preds.csv --truth label --a bert --b gpt --rope 0.02
    """
    import outperform as op

    usual = ["accuracy"] if reading.correct else ["accuracy", "f1_macro", "matthews_corrcoef"]
    asked = usual if metrics is None else metrics.split(",")
    seen = read_seen(files, [a, b], reading, asked)
    with drawing():
        card = op.scorecard(
            seen,
            *seen.models,
            metrics=asked,
            rope=rope_of(rope),
            paired=not unpaired,
            **asking.arguments(seen),
        )
    write_result(card, writing)


def by_class(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.NamedMetric = "f1_macro",
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    reading: o.ReadingTwo,
    asking: o.Asking,
    writing: o.Writing,
) -> None:
    """Compare two models on every class against the rest, one row each.

    Example: outperform by-class preds.csv --truth label --a bert --b gpt --rope 0.05
    """
    whole = compared(files, a, b, metric, rope, unpaired, reading, asking)
    with drawing("drawing classes"):
        found = whole.by_class()
    write_result(found, writing)


def compared(
    files: list[str],
    a: str | None,
    b: str | None,
    metric: str | None,
    rope: str | None,
    unpaired: bool,
    reading: o.ReadingTwo,
    asking: o.Asking,
    pricing: o.Pricing | None = None,
) -> Comparison:
    """Read two models and compare them."""
    import outperform as op

    seen = read_seen(files, [a, b], reading, [metric])
    with drawing():
        return op.compare(
            seen,
            *seen.models,
            metric=(pricing or o.Pricing()).metric(seen, metric),
            rope=rope_of(rope),
            paired=not unpaired,
            **asking.arguments(seen),
        )
