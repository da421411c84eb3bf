"""Draws of metrics of scores: one set of weights for all models and all metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from outperform._typing import FloatArray
from outperform.comparison.scored.question import ScoreQuestion
from outperform.errors import ResourceError
from outperform.metrics.of_scores import Prepared
from outperform.posterior import child, draw_documents, n_cores

# About what one core does in an hour: a weight drawn, looked up and added, takes some 40 ns.
_WEIGHTS_AN_HOUR = 1e11
_MOST_HOURS = 2.0


def draw_scores(
    questions: Sequence[ScoreQuestion],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> list[FloatArray]:
    """Return ``(n_models, n_draws)`` for each of some questions that share a view."""
    first = questions[0]
    refuse_hours(questions, n_draws)
    places = range(len(first.view.models))
    if first.paired or len(places) == 1:
        ready = [question.prepared[place] for question in questions for place in places]
        values = _draw(first, ready, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
        return _within(questions, values.reshape(len(questions), len(places), n_draws))
    apart = [
        _draw(
            first,
            [question.prepared[place] for question in questions],
            n_draws=n_draws,
            seed=child(seed, place),
            n_jobs=n_jobs,
        )
        for place in places
    ]
    return _within(questions, np.stack(apart, axis=1))


def _within(questions: Sequence[ScoreQuestion], values: FloatArray) -> list[FloatArray]:
    """Return what was drawn for each question, without what rounding puts beyond its bounds."""
    return [
        np.clip(drawn, *question.metric.bounds, out=drawn)
        for question, drawn in zip(questions, values, strict=True)
    ]


def _draw(
    question: ScoreQuestion,
    ready: Sequence[Prepared],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    # A user's function need not bear several threads at once.
    n_jobs = 1 if question.metric.function is not None else n_jobs
    units, shapes = question.units.n, question.shapes
    return draw_prepared(
        ready, n_units=units, shapes=shapes, n_draws=n_draws, seed=seed, n_jobs=n_jobs
    )


def draw_prepared(
    ready: Sequence[Prepared],
    *,
    n_units: int,
    shapes: FloatArray | None,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw weights of units and evaluate all that is prepared on each; a row each."""

    def make_evaluate() -> Callable[[FloatArray, FloatArray], None]:
        workers = [one.worker() for one in ready]

        def evaluate(weights: FloatArray, out: FloatArray) -> None:
            for place, worker in enumerate(workers):
                out[place] = worker(weights)

        return evaluate

    return draw_documents(
        make_evaluate,
        n_units=n_units,
        shapes=shapes,
        n_values=len(ready),
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )


def observed_scores(question: ScoreQuestion) -> tuple[float, ...]:
    """Return the plug-in value of each model, equal to scikit-learn's."""
    weights = np.ones((1, question.units.n))
    if question.shapes is not None:
        weights[0] = question.shapes
    return tuple(float(one.worker()(weights)[0]) for one in question.prepared)


def refuse_hours(questions: Sequence[ScoreQuestion], n_draws: int) -> None:
    """Refuse what would take hours, and say how many draws would not."""
    first = questions[0]
    n_models = len(first.view.models)
    if first.metric.function is not None:
        started = time.perf_counter()
        observed_scores(first)
        hours = (time.perf_counter() - started) * n_draws / 3600
    else:
        weights = float(first.view.n_rows) * n_draws * n_models * len(questions)
        hours = weights / _WEIGHTS_AN_HOUR / min(n_cores(), 8)
    if hours > _MOST_HOURS:
        enough = max(100, int(n_draws * 0.1 / hours) // 100 * 100)
        raise ResourceError(
            f"{n_draws:,} draws of {first.metric.label} on {first.view.n_rows:,} rows would take "
            f"about {hours:,.0f} hours; n_draws={enough} takes some minutes, and the interval of "
            "so many documents needs no more draws than that of few"
        )
