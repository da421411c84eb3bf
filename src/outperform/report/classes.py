"""Each class against the rest, as a forest and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from outperform import present
from outperform.comparison import Comparison
from outperform.comparison.views import of_one_class
from outperform.present.escape import for_text
from outperform.report.charts import Row, forest_chart
from outperform.report.drawing import clean
from outperform.report.parts import Grid, grid

_MOST_CLASSES = 60
_LABEL = 34
_COLUMNS = ("class", "n_true", "observed", "mean", "hdi_low", "hdi_high", "decision", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The classes of one comparison."""

    metric: str
    picture: str
    table: Grid
    data: dict[str, Any]


def class_part(comparison: Comparison) -> Classes | None:
    """Return the classes, where the comparison is about more than one."""
    if not _has_classes(comparison):
        return None
    by_class = comparison.by_class()
    table = by_class.table()
    columns = tuple(column for column in table.columns if column.key in _COLUMNS)
    first = by_class.comparisons[0]
    metric = for_text(first.question.metric.label)
    a, b = (for_text(name, limit=24) for name in comparison.names)
    return Classes(
        metric=metric,
        picture=forest(
            [str(key) for key in by_class.keys],
            by_class.comparisons,
            subject=f"{a} − {b}, {for_text(metric, limit=40)}",
            label=f"One interval for each of {len(by_class)} classes; the table has the numbers",
        ),
        table=grid(present.Table(columns, tuple(_brief(table.rows, by_class.comparisons)))),
        data=table.to_dict(),
    )


def brief_verdict(comparison: Comparison) -> str:
    """Return the symbol and as few words as say it."""
    decision = comparison.decision
    return f"{decision.symbol} {decision.words.removesuffix(', not decided')}"


def _brief(
    rows: Sequence[Mapping[str, object]], comparisons: Sequence[Comparison]
) -> Iterator[dict[str, object]]:
    for row, comparison in zip(rows, comparisons, strict=True):
        flags = str(row["flags"] or "").replace("_", " ")
        yield {**row, "decision": brief_verdict(comparison), "flags": flags or None}


def _has_classes(comparison: Comparison) -> bool:
    if comparison.question.seen.kind == "scores" or comparison.question.costs is not None:
        return False
    seen = comparison.counted.seen
    fewest = 2 if seen.kind in ("spans", "label_sets") else 3
    asked_for_one = comparison.question.pos_label is not None or seen.kind == "correct"
    if asked_for_one or not fewest <= seen.n_classes <= _MOST_CLASSES:
        return False
    # A metric of one's own may have other units than the F1 of a class; its ROPE fits only it.
    rope, bounds = comparison.rope, of_one_class(comparison.counted.metric).bounds
    return bounds is not None and max(abs(rope.low), abs(rope.high)) <= bounds[1] - bounds[0]


def forest(
    labels: Sequence[str], comparisons: Sequence[Comparison], *, subject: str, label: str
) -> str:
    """Return one interval for each comparison."""
    rows = [
        Row(
            label=for_text(name, limit=_LABEL),
            low=one.hdi.low,
            high=one.hdi.high,
            mean=one.mean,
            observed=None if np.isnan(one.observed) else one.observed,
            rope=(one.rope.low, one.rope.high),
            decision=one.decision.name,
            verdict=brief_verdict(one),
        )
        for name, one in zip(labels, comparisons, strict=True)
    ]
    return clean(forest_chart(rows, subject=subject), label=label)
