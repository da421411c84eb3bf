"""Laws that a metric must obey for its draws to be valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from outperform._typing import FloatArray, IntArray, Label
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.errors import UsageError
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.score_views import prepare_all
from outperform.inference.spec import LabelSpec, Spec, data_of, make_spec
from outperform.metrics import registry
from outperform.metrics.confusion import Margins
from outperform.metrics.metric import Metric, MetricLike
from outperform.metrics.weighted import Units
from outperform.posterior.gammas import draw_gammas

_DRAWS = 24
# Sums in a different order differ in the last digits, and a metric may lose more digits.
_RELATIVE, _ABSOLUTE = 1e-7, 1e-9


class Law(NamedTuple):
    """A law, and advice if a metric breaks it."""

    name: str
    text: str
    mend: str


_Try: TypeAlias = tuple[Law, FloatArray, FloatArray]
"""A law with a metric's actual and required values."""

TOGETHER = Law(
    "together",
    "draws computed together must equal draws computed one at a time",
    "compute each draw from its own weights, keep no state between calls, and do not modify the "
    "array that the function receives",
)
SCALE = Law(
    "scale",
    "the scale of the weights must not matter",
    "divide by the sum of the weights of each draw",
)
ORDER = Law(
    "order",
    "the order of the rows must not matter",
    "compute each item's contribution only from that item and its weight",
)
MERGING = Law(
    "merging",
    "a repeated item must count as one with the sum of both weights",
    "use sums of weights, not their squares or the number of rows, or declare merge='never'",
)


_SEED = 20_261_119
# With fewer items, different orders are too similar.
_FEWEST = 3


def broken_laws(
    metric: MetricLike, y_true: Any, prediction: Any, *, pos_label: Label | None
) -> Iterator[str]:
    """Yield the problems of a metric on some data, law by law.

    Parameters
    ----------
    metric
        Metric, metric name or function.
    y_true, prediction
        True labels and one model's predictions. Alternatively, outcomes or scores, and None.
    pos_label
        Positive class of a binary metric.
    """
    if isinstance(y_true, (Outcomes, Scores)) is (prediction is not None):
        raise UsageError(
            "pass y_true and the prediction of one model, or Outcomes or Scores without either"
        )
    if isinstance(metric, Metric):
        built_in = registry.taken_names(metric) if registry.find(metric.name) != metric else []
        for name in built_in:
            yield (
                f"metric {metric.name!r} has the name or alias {name!r}, which is built in and "
                "takes precedence; rename it"
            )
    generator = np.random.default_rng(_SEED)
    data = y_true if prediction is None else _data_of(metric, y_true, prediction)
    spec = make_spec(data, metric=metric, pos_label=pos_label)
    if spec.n < _FEWEST:
        raise UsageError(f"check a metric on at least {_FEWEST} items; got {spec.n}")
    tries = [_read_in_order(spec, y_true, prediction, generator)]
    tries.append(
        _of_scores(spec, generator) if isinstance(spec, ScoreSpec) else _of_labels(spec, generator)
    )
    for law, values, expected in chain.from_iterable(tries):
        text = describe_break(law, spec.metric.name, values, expected)
        if text is not None:
            yield text


def _data_of(metric: MetricLike, y_true: Any, prediction: Any) -> Outcomes | Scores:
    return data_of(
        y_true, {"A": prediction}, metric=metric, labels=None, sample_weight=None, groups=None
    )


def _read_in_order(
    spec: Spec, y_true: Any, prediction: Any, generator: np.random.Generator
) -> Iterator[_Try]:
    """Check a metric of raw outputs, such as texts, with the items in a different order."""
    if prediction is None or spec.metric.basis.read is None:
        return
    rows, truths = [*prediction], None if y_true is None else [*y_true]
    order = generator.permutation(len(rows))
    moved = [rows[row] for row in order]
    known = None if truths is None else [truths[row] for row in order]
    expected = spec.metric.read_items(truths, rows)[order]
    yield ORDER, spec.metric.read_items(known, moved), expected


def describe_break(law: Law, name: str, values: FloatArray, expected: FloatArray) -> str | None:
    """Return a sentence about how a metric breaks a law; None if it does not.

    Parameters
    ----------
    law
        The law.
    name
        The name of the metric.
    values, expected
        Actual and required values.
    """
    size = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
    apart = ~np.isclose(values, expected, rtol=_RELATIVE, atol=_ABSOLUTE * size, equal_nan=True)
    if not apart.any():
        return None
    first = tuple(np.argwhere(apart)[0])
    return (
        f"metric {name!r} breaks the law {law.name!r}: {law.text}; it gives {values[first]:.6g} "
        f"instead of {expected[first]:.6g}. To fix: {law.mend}"
    )


def _of_scores(spec: ScoreSpec, generator: np.random.Generator) -> Iterator[_Try]:
    n = spec.data.n_rows
    every = np.arange(n)
    weights = draw_gammas(generator, np.ones(n), (_DRAWS, n))
    expected = np.concatenate(
        [_values(spec, every, weights[k : k + 1].copy(), at_once=True) for k in range(_DRAWS)],
        axis=1,
    )
    shared = weights.copy()
    yield TOGETHER, _values(spec, every, shared), expected
    yield TOGETHER, _values(spec, every, shared), expected  # state left behind by another metric
    yield SCALE, _values(spec, every, weights * _factors(generator)[:, None]), expected
    order = generator.permutation(n)
    yield ORDER, _values(spec, order, weights[:, order].copy()), expected
    if spec.metric.merge != "never":
        share = generator.random(n)
        halves = np.hstack([weights * share, weights * (1 - share)])
        yield MERGING, _values(spec, np.tile(every, 2), halves), expected


def _values(
    spec: ScoreSpec, rows: IntArray, weights: FloatArray, *, at_once: bool = False
) -> FloatArray:
    """Return the value of each model ``(n_models, n_draws)`` on some rows of the data.

    Unless ``at_once`` is true, each worker first evaluates other draws: its state must not matter.
    """
    view, units = spec.data._take(rows), Units(len(rows))
    ready = prepare_all(spec.metric, view, data=spec.data, positive=spec.positive, units=units)
    values = []
    for prepared in ready:
        evaluate = prepared.worker()
        if not at_once:
            evaluate(weights[::2].copy())
        values.append(np.array(evaluate(weights)))
    return np.stack(values)


def _factors(generator: np.random.Generator) -> FloatArray:
    return np.exp(generator.uniform(-3, 3, _DRAWS))


def _of_labels(spec: LabelSpec, generator: np.random.Generator) -> Iterator[_Try]:
    if spec.view.kind == "label_sets":
        raise UsageError("check a metric of labels on items with one label each")
    factors = _factors(generator)
    for model in spec.view.models:
        counts = spec.view.confusion(model).astype(np.float64)
        shapes = np.maximum(counts, 1e-3).ravel()  # every cell occurs in some draw
        drawn = draw_gammas(generator, shapes, (_DRAWS, counts.size))
        tables = np.ascontiguousarray(drawn.T).reshape(*counts.shape, _DRAWS)
        each = [_evaluator(spec, tables[:, :, k : k + 1].copy()) for k in range(_DRAWS)]
        expected = np.concatenate([evaluate() for evaluate in each])
        evaluate = _evaluator(spec, tables.copy())
        yield TOGETHER, evaluate(), expected
        yield TOGETHER, evaluate(), expected
        yield SCALE, _evaluator(spec, tables * factors)(), expected


def _evaluator(spec: LabelSpec, tables: FloatArray) -> Callable[[], FloatArray]:
    """Return a function that evaluates the metric on the same confusion arrays in each call."""
    metric = spec.measured
    table = tables if metric.needs == "confusion" else Margins.from_confusion(tables)
    return lambda: metric.evaluate(table, spec.classes)
