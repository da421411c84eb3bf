"""Means over documents with several labels: what each document is worth, and its weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.question import Question
from outperform.comparison.scored.drawing import draw_prepared
from outperform.findings import Finding
from outperform.metrics import Margins
from outperform.metrics.of_scores import Units
from outperform.metrics.of_scores.losses import WeightedMean
from outperform.outcomes import Outcomes, Table
from outperform.outcomes.label_sets import document_margins
from outperform.posterior import child


def document_values(question: Question, models: Iterable[int] | None = None) -> list[FloatArray]:
    """Return what a document of each cell is worth, for each model or for some."""
    metric, view = question.measured, question.view
    return [
        metric.of_documents(margins, n_labels=view.n_classes)
        for _, margins in _tables(view, models)
    ]


def _tables(view: Outcomes, models: Iterable[int] | None = None) -> Iterator[tuple[Table, Margins]]:
    """Yield each model's table, and how many labels a document of each cell has and is given."""
    for place in range(len(view.models)) if models is None else models:
        table, model = (view.tables[0], place) if view.paired else (view.tables[place], 0)
        sizes = document_margins(table, view.sets, model=model, n_labels=view.n_classes)
        yield table, Margins(**sizes._asdict())


def observed_means(question: Question) -> tuple[float, ...]:
    """Return the plug-in value of each model, equal to scikit-learn's."""
    tables = [table for table, _ in _tables(question.view)]
    return tuple(
        float(np.average(values, weights=table.in_weights().counts.astype(np.float64)))
        for table, values in zip(tables, document_values(question), strict=True)
    )


def undefined_findings(question: Question) -> Iterator[Finding]:
    """Yield how many documents count as 0 only because 0/0 does."""
    shown = []
    for name, (table, margins) in zip(question.view.models, _tables(question.view), strict=True):
        n = table.sum_where(_BOTTOMS[str(question.measured.score)](margins) == 0)
        if n:
            shown.append(f"{n:,} of {name}")
    if shown:
        yield Finding(
            "undefined_documents",
            "note",
            f"Documents whose {question.measured.label.partition(' ')[2]} is 0/0, for want of "
            f"labels: {'; '.join(shown)}. They count as 0, as in scikit-learn, also where giving "
            "no label was right.",
        )


_BOTTOMS: dict[str, Callable[[Margins], FloatArray]] = {
    "precision": lambda margins: margins.predicted,
    "recall": lambda margins: margins.actual,
    "fbeta": lambda margins: margins.actual + margins.predicted,
    "jaccard": lambda margins: margins.actual + margins.predicted,
    "hamming_loss": lambda margins: np.ones_like(margins.actual),
}


def draw_means(
    question: Question,
    view: Outcomes,
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw ``(n_models, n_draws)`` values; ``view`` may be worth less than the question's own."""
    values = document_values(question)
    if view.paired:
        return _draw(view.tables[0], values, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    return np.concatenate(
        [
            _draw(table, [one], n_draws=n_draws, seed=child(seed, place), n_jobs=n_jobs)
            for place, (table, one) in enumerate(zip(view.tables, values, strict=True))
        ]
    )


def _draw(
    table: Table,
    values: Sequence[FloatArray],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    groups = table.groups
    if groups is None:
        units, shapes = Units(len(table.counts)), table.counts
        means = [WeightedMean(one, units) for one in values]
    else:
        units = Units(len(groups.repeats), groups.pattern, groups.times.astype(np.float64))
        shapes = groups.repeats
        means = [WeightedMean(one[groups.cell], units) for one in values]

    drawn = draw_prepared(
        means,
        n_units=units.n,
        shapes=None if (shapes == 1).all() else shapes.astype(np.float64),
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )
    return np.clip(drawn, 0.0, 1.0, out=drawn)
