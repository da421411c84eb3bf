"""Effects of different gold labels: exact, item by item, and at stated error rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from outperform._rows import distinct_rows
from outperform._typing import AnyArray, FloatArray, IntArray, Label
from outperform.data.checks import code_of
from outperform.data.items import SpanRows
from outperform.data.prevalence import LabelErrors
from outperform.data.views import in_weights
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, Rope
from outperform.findings import Finding, finding, listed, quoted
from outperform.inference.spec import LabelSpec, ModelSums, Spec, indicators

# If the stated error rates are right, one comparison in this many is reported as inconsistent.
_FALSE_ALARM = 0.01
_MOST_NAMED = 3
# If the share of true items is within this many sds of zero, rates among them are unreliable.
_LEAST_TRUE = 3.0
# Above this error rate, the gold labels of a class carry almost no information.
_MOST_WRONG = 0.45


def view_codes(spec: LabelSpec) -> IntArray:
    """Return, for each label (or label set) of the data, its code in the view.

    Dropped span types get -1.
    """
    data, view = spec.data, spec.view
    if data.kind == "spans" and spec.positive is not None:
        named = data.labels if spec.choices.labels is None else spec.choices.labels
        chosen = named if spec.pos_label is None else [spec.pos_label]
        return np.array([0 if label in chosen else -1 for label in data.labels], dtype=np.int64)
    code_by_label = {label: code for code, label in enumerate(view.labels)}
    if data.kind == "label_sets":
        if spec.pos_label is not None:
            label = code_of(data, spec.pos_label)
            return np.array([label in label_set for label_set in data.sets], dtype=np.int64)
        kept = [code_by_label.get(label, -1) for label in data.labels]
        moved = [frozenset(kept[code] for code in label_set) - {-1} for label_set in data.sets]
        known = {frozenset(label_set): code for code, label_set in enumerate(view.sets)}
        return np.array([known.get(label_set, -1) for label_set in moved], dtype=np.int64)
    lumped = data.kind == "classes" and data.pool is None and view.n_classes == 2
    if lumped and spec.pos_label is not None:
        codes = np.zeros(data.n_classes, dtype=np.int64)
        codes[code_of(data, spec.pos_label)] = 1
        return codes
    return np.array([code_by_label[label] for label in data.labels], dtype=np.int64)


def differences(
    spec: LabelSpec,
    removed: IntArray,
    added: IntArray | None = None,
    *,
    amount: AnyArray | None = None,
) -> FloatArray:
    """Return the observed A − B after each of several changes, ``(n_changes,)``.

    The classes averaged over are always those of all the data.

    Parameters
    ----------
    spec
        Question about classes, right or wrong predictions, or label sets.
    removed
        Cell from which each change removes an item, ``(n_changes, 3)``, in the data's codes.
    added
        Cell to which it moves the item; None drops the item.
    amount
        Weight of the item. None means 1.
    """
    weights = np.ones(len(removed)) if amount is None else amount
    values = []
    for model in (0, 1):
        moves = [
            _in_view(spec, cells[:, [0, 1 + model]])
            for cells in (removed, added)
            if cells is not None
        ]
        rows = np.column_stack([*moves, weights])
        first, change = distinct_rows(rows)  # identical changes are evaluated once
        own = ModelSums(spec, spec.view, model)
        less, *more = [own.terms(cells[first]) for cells in moves]
        terms = less - more[0] if more else less
        values.append(own.whole.without(terms, weights[first])[0][change])
    difference: FloatArray = values[0] - values[1]
    return difference


def _in_view(spec: LabelSpec, cells: IntArray) -> IntArray:
    """Convert cells of the data (truth and one prediction) to cells of the view."""
    if spec.data.kind == "label_sets" and spec.view.kind == "correct":
        return np.column_stack([np.ones_like(cells[:, 0]), cells[:, 0] == cells[:, 1]])
    return view_codes(spec)[cells]


class Documents(NamedTuple):
    """Errors of two models by sentence or document.

    Parameters
    ----------
    wrong
        Number of missed or spurious spans in each document for each model, ``(n_documents, 2)``.
    without
        Observed A − B when each document is dropped.
    """

    wrong: FloatArray
    without: FloatArray


def leave_documents_out(
    spec: LabelSpec, types: IntArray, answers: AnyArray, spans: SpanRows
) -> Documents:
    """Drop each document in turn.

    Parameters
    ----------
    spec
        Question about spans.
    types
        Code of each span's type in the view; -1 if the metric ignores it.
    answers
        Whether each span is true, and whether each model predicts it, ``(3, n_spans)``.
    spans
        Document of each span.
    """
    n_types = spec.view.n_classes
    codes = np.where(answers & (types >= 0), types, n_types)  # the last code is "no span"
    documents = indicators(spans.document, spans.n).T
    wrong, values = [], []
    for model in (0, 1):
        own = ModelSums(spec, spec.view, model)
        terms = own.terms(codes[[0, 1 + model]].T) @ documents
        wrong.append(
            np.repeat([1, -2, 1], n_types) @ terms
        )  # true plus predicted minus twice the hits
        values.append(own.whole.without(terms)[0])
    return Documents(np.stack(wrong, axis=1), values[0] - values[1])


def error_findings(spec: LabelSpec, errors: LabelErrors) -> Iterator[Finding]:
    """Yield the assumed label errors, and report whether they contradict the data."""
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
    """Yield ``label_errors_matter`` if a firm decision requires equal label errors in all classes.

    A single rate for all classes is an average, and the data cannot show how it is distributed over
    classes. So each class in turn gets twice the rate and the others correspondingly less, and the
    interval is shifted by the change in the observed difference.

    Parameters
    ----------
    spec
        The question.
    decision, hdi, rope
        Results of the comparison.
    """
    if not isinstance(spec, LabelSpec) or spec.view_errors is None or not decision.decided:
        return
    rate = spec.view_errors.same
    if rate is None:
        return
    for label, errors in _uneven(spec, spec.view_errors, rate):
        moved = _difference(replace(spec, view_errors=errors)) - _difference(spec)
        shifted = replace(hdi, low=hdi.low + moved, high=hdi.high + moved)
        if not _agrees(decision, shifted, rope, spec.metric.greater_is_better):
            yield finding(
                "label_errors_matter",
                rate=rate,
                label=label,
                more=errors.rates.get(label, 0.0),
                less=min(
                    [errors.rates.get(other, 0.0) for other in errors.labels if other != label]
                ),
                moved=moved,
                symbol=decision.symbol,
            )
            return


def _uneven(
    spec: LabelSpec, errors: LabelErrors, rate: float
) -> Iterator[tuple[Label, LabelErrors]]:
    """Yield each class, with rates that have the same average but are doubled for this class."""
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
    """Yield the classes with a stated share for which label errors leave few true items.

    A class's rates are divided by its number of true items.
    """
    if spec.view_prevalence is None:
        return
    counts = in_weights(spec.view).margins(model).actual.astype(np.float64)
    observed, inverse = counts / counts.sum(), errors.inverse
    true = inverse @ observed
    variance = (inverse**2 @ observed - true**2) / _n_units(spec)
    for code in np.flatnonzero(true < _LEAST_TRUE * np.sqrt(variance)).tolist():
        if code in spec.view_prevalence.codes:
            yield errors.labels[code]


def _n_units(spec: LabelSpec) -> float:
    return spec.n_effective or spec.n_groups or spec.n


def _too_few(spec: LabelSpec, errors: LabelErrors, model: str) -> Iterator[str]:
    """Yield the cells with clearly fewer items than errors in other classes imply.

    A cell's variance is that of a cell that contains only errors, because a count of zero has no
    variance.
    """
    counts = in_weights(spec.view).confusion(model).astype(np.float64)
    # The last column is the total over predictions.
    observed = np.hstack([counts, counts.sum(axis=1, keepdims=True)]) / counts.sum()
    true = errors.inverse @ observed
    most = np.maximum(true, 0.0)
    most *= observed.sum(axis=0) / np.maximum(most.sum(axis=0), np.finfo(float).tiny)
    sd = np.sqrt(errors.inverse**2 @ (errors.matrix.T @ most) / _n_units(spec))
    level = ndtri(_FALSE_ALARM / (true.size * len(spec.view.models)))
    for truth, predicted in np.argwhere(true < level * sd).tolist():
        label = f"items labelled {errors.labels[truth]!r}"
        every = predicted == len(counts)
        yield label if every else f"{label} that {model} predicts as {errors.labels[predicted]!r}"
