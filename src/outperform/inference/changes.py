"""What other gold labels would change: item by item, exactly, and at stated error rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray, Label
from outperform.data.checks import code_of
from outperform.data.items import SpanRows
from outperform.data.outcomes import Outcomes
from outperform.data.prevalence import LabelErrors
from outperform.data.table import Table
from outperform.data.views import in_weights
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, Rope
from outperform.findings import Finding, finding, listed, quoted
from outperform.inference.spec import LabelSpec, Spec, again
from outperform.metrics.confusion import Margins
from outperform.posterior.bootstrap import leave_one_out

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_AT_ONCE = 1 << 20
# Asking again for every cell, as label sets need it, takes about a millisecond each.
_MOST_CELLS = 2_000
# Of stated error rates that hold, one comparison in so many is said not to fit.
_FALSE_ALARM = 0.01
_MOST_NAMED = 3
# A share of true items within so many of its sds of zero says little of rates among them.
_LEAST_TRUE = 3.0
# With more errors of a class the gold labels say next to nothing of it.
_MOST_WRONG = 0.45


def view_codes(spec: LabelSpec) -> IntArray:
    """Return the code that each label of the data has in the view; -1 for a type left out."""
    data, view = spec.data, spec.view
    if data.kind == "spans" and spec.positive is not None:
        named = data.labels if spec.choices.labels is None else spec.choices.labels
        kept = named if spec.pos_label is None else [spec.pos_label]
        return np.array([0 if label in kept else -1 for label in data.labels], dtype=np.int64)
    lumped = data.kind == "classes" and data.pool is None and view.n_classes == 2
    if lumped and spec.pos_label is not None:
        codes = np.zeros(data.n_classes, dtype=np.int64)
        codes[code_of(data, spec.pos_label)] = 1
        return codes
    place = {label: code for code, label in enumerate(view.labels)}
    return np.array([place[label] for label in data.labels], dtype=np.int64)


def differences(
    spec: LabelSpec,
    removed: IntArray,
    added: IntArray | None = None,
    *,
    amount: AnyArray | None = None,
) -> FloatArray:
    """Return the observed A − B after each of several changes, ``(n_changes,)``.

    The classes that are averaged over stay those of the whole data.

    Parameters
    ----------
    spec
        What was asked; of paired classes, or of right and wrong.
    removed
        The cell that each change takes an item from, ``(n_changes, 3)``, in codes of the data.
    added
        The cell that it puts the item into; None if it is left out.
    amount
        The weight of the item; None for 1.
    """
    codes = view_codes(spec)
    moves = codes[removed] if added is None else np.hstack([codes[removed], codes[added]])
    found = [_values(spec, moves[:, [0, 1 + model, *_columns(added, model)]], model, amount)
             for model in (0, 1)]  # fmt: skip
    difference: FloatArray = found[0] - found[1]
    return difference


def _columns(added: IntArray | None, model: int) -> tuple[int, ...]:
    return () if added is None else (3, 4 + model)


def _values(spec: LabelSpec, moves: IntArray, model: int, amount: AnyArray | None) -> FloatArray:
    """Return one model's value after each move of truth and prediction; equal ones once."""
    weights = np.ones(len(moves)) if amount is None else amount
    rows = np.column_stack([moves, weights])
    first, inverse = distinct_rows(rows)
    distinct = rows[first]
    view = in_weights(spec.view)
    whole = spec.needs == "confusion" or spec.view_prevalence is not None
    n_classes = view.n_classes
    length = max(1, _AT_ONCE // n_classes ** (2 if whole else 1))
    evaluate = _by_confusion if whole else _by_margins
    name = view.models[model]
    parts = [
        evaluate(spec, view, name, distinct[start : start + length])
        for start in range(0, len(distinct), length)
    ]
    return np.concatenate(parts)[inverse]


def _steps(rows: FloatArray) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Return truth, prediction and change of what is taken away and of what is put instead."""
    weights = rows[:, -1]
    cells = rows[:, :-1].astype(np.int64)
    signs = (-1.0, 1.0)[: cells.shape[1] // 2]
    return [(cells[:, 2 * k], cells[:, 2 * k + 1], sign * weights) for k, sign in enumerate(signs)]


def _by_margins(spec: LabelSpec, view: Outcomes, model: str, rows: FloatArray) -> FloatArray:
    every = np.arange(len(rows))
    hits, actual, predicted = (
        np.repeat(one.astype(np.float64)[:, None], len(rows), axis=1) for one in view.margins(model)
    )
    for truth, prediction, change in _steps(rows):
        hits[truth, every] += change * (truth == prediction)
        actual[truth, every] += change
        predicted[prediction, every] += change
    margins = Margins(hits=hits, actual=actual, predicted=predicted)
    return np.broadcast_to(spec.measured.evaluate(margins, spec.classes), len(rows))


def _by_confusion(spec: LabelSpec, view: Outcomes, model: str, rows: FloatArray) -> FloatArray:
    every = np.arange(len(rows))
    counts = np.repeat(view.confusion(model).astype(np.float64)[..., None], len(rows), axis=2)
    for truth, prediction, change in _steps(rows):
        counts[truth, prediction, every] += change
    if spec.view_errors is not None:
        counts = spec.by_truth(counts)
    elif spec.view_prevalence is not None:
        counts *= spec.view_prevalence.factors(counts.sum(axis=1))[:, None]
    margins = Margins.from_confusion(counts)
    margins = margins if spec.view_errors is None else margins.mended()
    seen = counts if spec.measured.needs == "confusion" else margins
    return np.broadcast_to(spec.measured.evaluate(seen, spec.classes), len(rows))


def asked_without(spec: LabelSpec) -> FloatArray | None:
    """Return the observed A − B without one item of each cell of the data, by asking again.

    It takes any kind of data, and a millisecond a cell; None where there are too many of these.
    """
    table = spec.data.tables[0]
    if len(table.cells) > _MOST_CELLS or table.groups is not None:
        return None
    found = np.empty(len(table.cells))
    for place in range(len(found)):
        counts = table.counts.copy()
        counts[place] -= 1
        kept = counts > 0
        less = replace(spec.data, tables=(Table(table.cells[kept], counts[kept]),))
        a, b = replace(again(spec, less), classes=spec.classes).observed
        found[place] = a - b
    return found


class DocumentMargins(NamedTuple):
    """Hits, true and predicted spans of each document by class, ``(n_classes, n_documents)``."""

    hits: csr_array
    actual: csr_array
    predicted: csr_array

    @property
    def wrong(self) -> AnyArray:
        """How many spans of each document were missed or made up."""
        return np.asarray((self.actual + self.predicted - 2 * self.hits).sum(axis=0)).ravel()


def document_margins(
    spec: LabelSpec, types: IntArray, answers: Sequence[AnyArray], spans: SpanRows
) -> list[DocumentMargins]:
    """Return the margins of each document for each model.

    Parameters
    ----------
    spec
        What was asked of spans.
    types
        The code of each span's type in the view; -1 if the metric does not look at it.
    answers
        Whether each span is true, and whether each model predicts it.
    spans
        The document of each span.
    """
    from scipy.sparse import csr_array

    def counted(selected: AnyArray) -> csr_array:
        kept = selected & (types >= 0)
        ones, shape = np.ones(np.count_nonzero(kept)), (spec.view.n_classes, spans.n)
        return csr_array((ones, (types[kept], spans.document[kept])), shape=shape)

    truth, *predictions = answers
    return [
        DocumentMargins(counted(truth & own), counted(truth), counted(own)) for own in predictions
    ]


def without_documents(spec: LabelSpec, margins: Sequence[DocumentMargins]) -> FloatArray:
    """Return the observed A − B without each document, ``(n_documents,)``."""
    from scipy.sparse import vstack

    def evaluated(sums: FloatArray) -> FloatArray:
        hits, actual, predicted = np.split(sums, 3)
        counts = Margins(hits=hits, actual=actual, predicted=predicted)
        values = spec.measured.evaluate(counts, spec.classes)
        return np.broadcast_to(values, sums.shape[1:])[None]

    a, b = (
        leave_one_out(vstack(own, format="csr"), np.ones(own.hits.shape[1]), evaluated)[0]
        for own in margins
    )
    difference: FloatArray = a - b
    return difference


def error_findings(spec: LabelSpec, errors: LabelErrors) -> Iterator[Finding]:
    """Yield what stated label errors assume, and whether they contradict the data."""
    values = zip(spec.view.models, replace(spec, view_errors=None).observed, strict=True)
    yield finding(
        "label_errors",
        rates=errors,
        metric=spec.metric.name,
        values=listed([f"{value:.4f} for {name}" for name, value in values]),
    )
    cells = [cell for model in spec.view.models for cell in _too_few(spec, errors, model)]
    if cells:
        cells = list(dict.fromkeys(cells))
        yield finding(
            "label_errors_do_not_fit", rates=errors, cells=listed(cells, most=_MOST_NAMED)
        )
    classes = dict.fromkeys(
        label for model in spec.view.models for label in _few_true(spec, errors, model)
    )
    if classes:
        yield finding("few_true_items", rates=errors, classes=quoted(classes, most=_MOST_NAMED))


def uneven_findings(spec: Spec, decision: Decision, hdi: Interval, rope: Rope) -> Iterator[Finding]:
    """Yield ``label_errors_matter`` where a firm decision needs classes with equal label errors.

    One rate that was stated for all classes is an average, and the data cannot show how it is
    shared among them. So every class in turn gets twice the rate, the others as much less, and
    the interval moves as the observed difference does.

    Parameters
    ----------
    spec
        What was asked.
    decision, hdi, rope
        What came out.
    """
    if not isinstance(spec, LabelSpec) or spec.view_errors is None or not decision.decided:
        return
    rate = spec.view_errors.same
    if rate is None:
        return
    for label, errors in _uneven(spec, spec.view_errors, rate):
        moved = _difference(replace(spec, view_errors=errors)) - _difference(spec)
        there = replace(hdi, low=hdi.low + moved, high=hdi.high + moved)
        if not _agrees(decision, there, rope, spec.metric.greater_is_better):
            yield finding(
                "label_errors_matter",
                rate=rate,
                label=label,
                more=errors.rates.get(label, 0.0),
                less=min([errors.rates.get(one, 0.0) for one in errors.labels if one != label]),
                moved=moved,
                symbol=decision.symbol,
            )
            return


def _uneven(
    spec: LabelSpec, errors: LabelErrors, rate: float
) -> Iterator[tuple[Label, LabelErrors]]:
    """Yield each class, and rates of the same average that are twice as high there."""
    actual = in_weights(spec.view).margins(spec.view.models[0]).actual.astype(np.float64)
    shares = actual / actual.sum()
    spread = (errors.matrix - np.diag(errors.matrix.diagonal())) / rate
    for code in np.flatnonzero(spread.sum(axis=1) > 0).tolist():
        share = float(shares[code])
        if not 0 < share < 1:
            continue
        more = min(2.0 * rate, rate / share)
        less = max(0.0, (rate - share * more) / (1.0 - share))
        rates = np.where(np.arange(len(shares)) == code, more, less)
        wrong = spread * rates[:, None]
        matrix = wrong + np.diag(1.0 - wrong.sum(axis=1))
        if more < _MOST_WRONG:
            yield errors.labels[code], replace(errors, matrix=matrix, same=None)


def _difference(spec: LabelSpec) -> float:
    a, b = spec.observed
    return a - b


def _agrees(decision: Decision, hdi: Interval, rope: Rope, greater_is_better: bool) -> bool:
    if decision is Decision.EQUIVALENT:
        return rope.low <= hdi.low and hdi.high <= rope.high
    above = (decision is Decision.BETTER) == greater_is_better
    return hdi.low > rope.high if above else hdi.high < rope.low


def _few_true(spec: LabelSpec, errors: LabelErrors, model: str) -> Iterator[Label]:
    """Yield the classes with a share of their own of which label errors leave few true items.

    The number of true items is what rates of a class are divided by.
    """
    if spec.view_prevalence is None:
        return
    counts = in_weights(spec.view).margins(model).actual.astype(np.float64)
    seen, inverse = counts / counts.sum(), errors.inverse
    true = inverse @ seen
    variance = (inverse**2 @ seen - true**2) / _n_units(spec)
    for code in np.flatnonzero(true < _LEAST_TRUE * np.sqrt(variance)).tolist():
        if code in spec.view_prevalence.codes:
            yield errors.labels[code]


def _n_units(spec: LabelSpec) -> float:
    return spec.n_effective or spec.n_groups or spec.n


def _too_few(spec: LabelSpec, errors: LabelErrors, model: str) -> Iterator[str]:
    """Yield the cells that hold clearly less than the errors of other classes put into them.

    A cell is judged by the variance that it would have if nothing but errors were in it, as a
    count of zero has none of its own.
    """
    counts = in_weights(spec.view).confusion(model).astype(np.float64)
    # The last column is all predictions together.
    seen = np.hstack([counts, counts.sum(axis=1, keepdims=True)]) / counts.sum()
    true = errors.inverse @ seen
    most = np.maximum(true, 0.0)
    most *= seen.sum(axis=0) / np.maximum(most.sum(axis=0), np.finfo(float).tiny)
    sd = np.sqrt(errors.inverse**2 @ (errors.matrix.T @ most) / _n_units(spec))
    level = ndtri(_FALSE_ALARM / (true.size * len(spec.view.models)))
    for truth, predicted in np.argwhere(true < level * sd).tolist():
        label = f"items labelled {errors.labels[truth]!r}"
        every = predicted == len(counts)
        yield label if every else f"{label} that {model} calls {errors.labels[predicted]!r}"
