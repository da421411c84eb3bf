"""``compare``, ``estimate``, ``scorecard`` and ``by-class``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.cli import options as o
from outperform.cli.reading import rope_of
from outperform.cli.scoring import read_seen
from outperform.cli.writing import write_result

if TYPE_CHECKING:
    from outperform.comparison import Comparison


def compare(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = "f1",
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
    metric: o.Metric = "f1",
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
    write_result(op.estimate(seen, *seen.models, metric=metric, **asking.arguments(seen)), writing)


def scorecard(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metrics: o.Metrics = "accuracy,f1_macro,matthews_corrcoef",
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

    asked = metrics.split(",")
    seen = read_seen(files, [a, b], reading, asked)
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
    metric: o.Metric = "f1_macro",
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
    write_result(whole.by_class(), writing)


def compared(
    files: list[str],
    a: str | None,
    b: str | None,
    metric: str,
    rope: str | None,
    unpaired: bool,
    reading: o.ReadingTwo,
    asking: o.Asking,
    pricing: o.Pricing | None = None,
) -> Comparison:
    """Read two models and compare them."""
    import outperform as op

    seen = read_seen(files, [a, b], reading, [metric])
    return op.compare(
        seen,
        *seen.models,
        metric=metric if pricing is None else pricing.metric(seen, metric),
        rope=rope_of(rope),
        paired=not unpaired,
        **asking.arguments(seen),
    )
