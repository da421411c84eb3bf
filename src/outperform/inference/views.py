"""Views: the part of the outcomes that a metric reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from outperform import metrics
from outperform._typing import FloatArray, Label
from outperform.data.checks import clear_positive, code_of
from outperform.data.outcomes import Outcomes, true_codes
from outperform.data.prevalence import LabelErrors, Prevalence
from outperform.data.scores import Scores
from outperform.data.views import in_weights, matches, only
from outperform.errors import DataError, UsageError, either, param
from outperform.inference.score_views import of_column
from outperform.metrics.catalogue import METRICS
from outperform.metrics.custom import Ordinal
from outperform.metrics.metric import Metric, MetricLike
from outperform.metrics.sums import GRADES
from outperform.metrics.votes import VOTES
from outperform.posterior.base import PriorModel
from outperform.posterior.predictive import row_factors
from outperform.posterior.pymc.sampling import PyMC


class View(NamedTuple):
    """Outcomes reduced to what a metric distinguishes, and how it reads them."""

    data: Outcomes  # as passed, with every class that could occur
    table: Outcomes
    measured: Metric
    positive: int | None
    pos_label: Label | None
    classes: tuple[int, ...] | None


_OF_COLUMNS = {VOTES: "win_rate", GRADES: "judged_mean"}


def chosen_metric(
    data: Outcomes | Scores,
    metric: MetricLike | None,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> Any:
    """Return the requested metric, or the default for the data.

    The default is F1 if the positive class is clear and macro-F1 otherwise, accuracy if only
    right or wrong is known, the mean of grades, and the win rate of votes.
    """
    if metric is not None:
        return of_column(metric, data) if isinstance(data, Scores) else metric
    if isinstance(data, Scores):
        if data.columns in _OF_COLUMNS:
            return _OF_COLUMNS[data.columns]
        if data.columns is not None:
            raise UsageError(
                f"name the metric of these statistics with {param('metric=')}, or pass a function "
                "of their means, (n_statistics, n_draws) → (n_draws,)"
            )
        if data.truth is None:
            return "mean"
        raise UsageError(
            f"name the metric of these scores with {param('metric=')}, one of "
            f"{', '.join(name for name in metrics.score_names() if name != 'mean')}"
        )
    if data.kind == "correct":
        return "accuracy"
    if data.kind == "spans" or pos_label is not None:
        return "f1"
    if data.kind == "label_sets":
        return "f1" if data.n_classes == 1 else "f1_macro"
    known = data if labels is None else data.with_labels(labels)
    return "f1_macro" if known_positive(_zero_and_one(known), None) is None else "f1"


def look(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    """Return the view of the outcomes that a metric needs."""
    if outcomes.kind == "label_sets":
        return _label_sets(outcomes, metric, labels=labels, pos_label=pos_label)
    _refuse_items(metric)
    if outcomes.kind == "spans":
        return _spans(outcomes, metric, labels=labels, pos_label=pos_label)
    if labels is not None:
        outcomes = outcomes.with_labels(labels)
    if outcomes.kind == "correct":
        measured = _right_or_wrong(metric)
        return View(outcomes, outcomes, measured, 1, pos_label, (1,))
    if metric.costs is not None:
        return _priced(outcomes, metric, metric.costs)
    if metric.average == "binary":
        outcomes = _zero_and_one(outcomes)
        label = _positive(outcomes, metric, pos_label)
        _refuse_other_labels(label, metric, labels)
        if outcomes.pool is not None:  # strata have different sampling rates and must not be merged
            code = code_of(outcomes, label)
            return View(outcomes, outcomes, metric, code, label, (code,))
        return View(outcomes, outcomes.binarize(label), metric, 1, label, (1,))
    if labels is not None and metric.score == "balanced_accuracy":
        # A class in `labels` counts even if it is never true, as in every other average.
        metric = metrics.get("recall_macro")
    classes = _averaged(outcomes, metric, labels)
    _refuse_one_class(outcomes)
    if isinstance(metric.function, Ordinal):
        metric = metric.with_function(metric.function.aligned(outcomes.labels, labels))
    return View(outcomes, outcomes, metric, None, None, classes)


# Spans: true positives, false positives and false negatives only

_WITHOUT_NEGATIVES = ("precision", "recall", "fbeta", "jaccard")


def _spans(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    if metric.score not in _WITHOUT_NEGATIVES:
        raise UsageError(
            f"spans have no true negatives, so {metric.name!r} cannot be computed; use precision, "
            "recall, f1, jaccard or another F-beta, overall or with _macro over the types"
        )
    types = outcomes.labels if labels is None else labels
    table = only(outcomes, types)  # raises an error for unknown types
    if metric.average == "binary" and pos_label is not None:
        label = outcomes.labels[code_of(outcomes, pos_label)]
        return View(outcomes, only(outcomes, [label]), metric, 0, label, (0,))
    pooled = metric.average in ("binary", "micro") or (metric.score, metric.average) == (
        "recall",
        "weighted",
    )
    if pooled:
        return View(outcomes, table, of_one_class(metric), 0, None, (0,))
    classes = _averaged(outcomes, metric, labels)
    return View(outcomes, outcomes, metric, None, None, classes)


def of_one_class(metric: Metric) -> Metric:
    """Return the one-class form of a metric; F1 for metrics that have none."""
    if metric.costs is not None:
        raise UsageError(
            f"{metric.name!r} is computed from the whole table and has no value per class; use "
            "another metric, e.g. with_metric('f1_macro').by_class()"
        )
    if metric.beta is not None:
        return metrics.fbeta(metric.beta)
    binary = METRICS.get(metric.score or "f1")
    return binary if binary is not None and binary.average == "binary" else METRICS["f1"]


# Label sets: one label against the rest, all of an item's labels, or items themselves


def metric_for(metric: Metric, outcomes: Outcomes) -> Metric:
    """Return the metric with its name for these outcomes."""
    if outcomes.kind == "label_sets" and metric.name == "accuracy":
        return replace(metric, label="subset accuracy")
    return metric


def _label_sets(
    outcomes: Outcomes,
    metric: Metric,
    *,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> View:
    if metric.average == "binary":
        label = _one_label(outcomes, metric, pos_label)
        return View(outcomes, outcomes.binarize(label), metric, 1, label, (1,))
    table = outcomes if labels is None else only(outcomes, labels)
    if metric.name == "accuracy":
        return View(outcomes, matches(table), metrics.get("recall"), 1, None, (1,))
    if metric.average is None or metric.score not in (*_WITHOUT_NEGATIVES, "hamming_loss"):
        raise UsageError(
            f"{metric.name!r} needs one class per item, but these have several labels; "
            "use accuracy (of the whole set), hamming_loss, or precision, recall, jaccard or "
            "F-beta with _samples, _micro, _macro or _weighted; or reduce them to one label with "
            "binarize(label)"
        )
    named = None if labels is None else tuple(range(table.n_classes))
    classes = _averaged(outcomes, metric, None) if named is None else named
    return View(outcomes, table, metric, None, None, classes)


def _one_label(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    if pos_label is None and outcomes.n_classes > 1:
        averages = [f"{metric.name}_{average}" for average in ("samples", "micro", "macro")]
        use = f"use {', '.join(map(repr, averages))}, or "
        raise UsageError(
            f"metric {metric.name!r} is for one label, but there are {outcomes.n_classes} "
            f"labels; {use if metric.score in _WITHOUT_NEGATIVES else ''}pass the label with "
            f"{param('pos_label=')}"
        )
    return outcomes.labels[0 if pos_label is None else code_of(outcomes, pos_label)]


def _refuse_items(metric: Metric) -> None:
    if metric.per_item:
        raise UsageError(
            f"{metric.name!r} is a mean over items with several labels each; pass indicator "
            "matrices or sets of labels, e.g. Outcomes.from_label_sets(y_true, {'bert': …})"
        )


# Classes


def _priced(outcomes: Outcomes, metric: Metric, costs: metrics.Costs) -> View:
    """Return the view with the costs in the order of the classes, including those never seen."""
    outcomes = _zero_and_one(outcomes)
    if costs.labels is not None:
        outcomes = outcomes.with_labels(costs.labels)
    _refuse_one_class(outcomes)
    measured = metric.with_function(costs.aligned(outcomes.labels))
    return View(outcomes, outcomes, measured, None, None, None)


def _right_or_wrong(metric: Metric) -> Metric:
    if metric.name not in ("accuracy", "f1_micro", "precision_micro", "recall_micro"):
        raise UsageError(
            f"these outcomes record only correctness, so {metric.name!r} cannot be computed; use "
            f"{param('metric=', 'accuracy')}"
        )
    return metrics.get("recall")


def _zero_and_one(outcomes: Outcomes) -> Outcomes:
    """Add the other class if only 0 or only 1 occurred."""
    return outcomes.with_labels([0, 1]) if outcomes.labels in ((0,), (1,)) else outcomes


def known_positive(outcomes: Outcomes, pos_label: Label | None) -> Label | None:
    """Return the positive class if it was named or is True or 1; None otherwise."""
    labels = outcomes.labels
    if pos_label is not None:
        return labels[code_of(outcomes, pos_label)]
    return clear_positive(labels)


def _positive(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    labels, positive = outcomes.labels, known_positive(outcomes, pos_label)
    if positive is not None:
        return positive
    if len(labels) > 2:
        raise UsageError(
            f"metric {metric.name!r} is for one class, but there are {len(labels)} classes; use "
            f"{metric.name + '_macro'!r}, {metric.name + '_micro'!r} or "
            f"{metric.name + '_weighted'!r}, or pass the class with {param('pos_label=')}"
        )
    named = param("pos_label=", *labels)
    raise UsageError(f"name the positive class of {metric.name!r} with {named}")


def _refuse_other_labels(label: Label, metric: Metric, labels: Sequence[Label] | None) -> None:
    """Raise an error if ``labels`` omits the class of a one-class metric."""
    if labels is not None and label not in labels:
        raise UsageError(
            f"{metric.name!r} is for one class, {label!r}, which {param('labels')} omits; name "
            f"another positive class with {param('pos_label=', *labels)}, or average over classes "
            f"with {metric.name + '_macro'!r}"
        )


def _averaged(
    outcomes: Outcomes, metric: Metric, labels: Sequence[Label] | None
) -> tuple[int, ...] | None:
    """Return the classes averaged over: those in ``labels``, or those that are ever true.

    A class that is only predicted counts as an error, not as a class. None means all classes.
    """
    if labels is not None and metric.average is not None:
        codes = tuple(code_of(outcomes, label) for label in labels)
    elif metric.over_classes and metric.share_over(True) is None:  # a share counts every item
        codes = tuple(true_codes(outcomes).tolist())
    else:
        return None
    return None if len(codes) in (0, outcomes.n_classes) else codes


def _refuse_one_class(outcomes: Outcomes) -> None:
    if outcomes.n_classes < 2:
        raise DataError(
            f"only the class {outcomes.labels[0]!r} occurs"
            + either(
                "; pass all classes that could have occurred as labels=",
                ", but a metric needs two",
            )
        )


class ViewPrevalence(NamedTuple):
    """A prevalence, and the code of the true class for each of its shares."""

    prevalence: Prevalence
    codes: tuple[int, ...]

    def mean_shares(self, table: Outcomes, model: str) -> dict[int, float]:
        """Return the mean share of each class; classes not named keep their proportions."""
        weighted = table if table.pool is None else in_weights(table)
        actual = weighted.margins(model).actual.astype(float)
        named = dict(zip(self.codes, self.prevalence.shares, strict=True))
        remaining = 1.0 - sum(named.values())
        others = sum(count for code, count in enumerate(actual) if code not in named)
        return {
            code: named[code] if code in named else remaining * count / max(others, 1.0)
            for code, count in enumerate(actual)
        }

    def factors(self, actual: FloatArray) -> FloatArray:
        """Return the factor for the weights of each true class that gives the mean shares.

        Parameters
        ----------
        actual
            Weight of each true class, ``(n_classes, n_draws)``.
        """
        return row_factors(actual, np.array(self.prevalence.shares)[:, None], self.codes)

    def averaged(self, view: View) -> View:
        """Return the view averaged also over classes with a share that are never true."""
        if view.classes is None or not view.measured.over_classes:
            return view
        named = zip(self.codes, self.prevalence.shares, strict=True)
        codes = sorted({*view.classes, *(code for code, share in named if share > 0)})
        return view._replace(classes=None if len(codes) == view.table.n_classes else tuple(codes))


def at_prevalence(view: View, prevalence: Prevalence) -> tuple[View, ViewPrevalence]:
    """Return a view that a prevalence can be applied to.

    One class against the rest is enough if the prevalence names only that class. If it names
    others, the mix of the rest changes too, so the view needs all true classes.
    """
    codes = tuple(code_of(view.data, label) for label in prevalence.labels)
    if view.pos_label is None or view.table is view.data:  # no classes were merged
        return view, ViewPrevalence(prevalence, codes)
    code = code_of(view.data, view.pos_label)
    if view.data.n_classes == 2 or codes == (code,):
        return view, ViewPrevalence(
            prevalence, tuple(int(named_code == code) for named_code in codes)
        )
    full = view._replace(table=view.data, positive=code, classes=(code,))
    return full, ViewPrevalence(prevalence, codes)


def with_errors(view: View, errors: LabelErrors) -> tuple[View, LabelErrors]:
    """Return a view that label errors can be undone in, with every confused class separate."""
    if view.pos_label is None:
        return view, errors.ordered(view.table.labels)
    code = code_of(view.data, view.pos_label)
    if view.data.n_classes > 2:
        full = view._replace(table=view.data, positive=code, classes=(code,))
        return full, errors.ordered(view.data.labels)
    return view, errors.ordered([view.data.labels[1 - code], view.data.labels[code]])


def refuse_chain(
    engine: PyMC | None,
    table: Outcomes,
    measured: Metric,
    prior: PriorModel,
    changed: str | None,
) -> None:
    """Reject data and priors without a PyMC model, and name priors that have one."""
    if engine is None:
        if prior.own is not None:
            raise UsageError("a PyMC model as prior needs sampling; pass engine='pymc'")
        return
    what, instead = None, ""
    if table.kind == "spans":
        what = "spans"
    elif table.pool is not None:
        what = "items selected from a pool"
    elif not prior.proper and prior.own is None:
        what = f"prior {prior.name!r}"
        if not (measured.per_item or table.weighted):
            others = "" if table.kind == "label_sets" else ", 'hierarchical'"
            instead = f", or one of {param('prior=', 'uniform')}, 'jeffreys', 'unit'{others}"
    else:
        what = changed
    if what is not None:
        raise UsageError(f"engine 'pymc' does not support {what}; use engine='direct'{instead}")


def refuse_names(*columns: object) -> None:
    """Raise an error if the name of a file or column is passed instead of an array."""
    if any(isinstance(column, str) for column in columns):
        raise UsageError(
            "some of these are names and others arrays; pass a frame or file and the names of all "
            f"columns, with {param('truth=', 'label')}, or only arrays"
        )


def refuse_unseen(
    table: Outcomes, prior: PriorModel, view_prevalence: ViewPrevalence | None
) -> None:
    """Raise an error if a class has a share but neither data nor a proper prior."""
    if view_prevalence is None or prior.proper:
        return
    for name in table.models:
        shares = view_prevalence.mean_shares(table, name)
        actual = table.margins(name).actual
        unseen = [table.labels[code] for code in view_prevalence.codes if not actual[code]]
        others = [code for code in shares if code not in view_prevalence.codes]
        if others and not any(actual[code] for code in others):
            unseen += [table.labels[code] for code in others]
        if unseen:
            raise DataError(
                f"{name} has no items of class {', '.join(map(repr, unseen))}, which has a share "
                f"in at_prevalence(), and prior {prior.name!r} has no mass there; add items of the "
                f"class, or use a proper prior such as {param('prior=', 'unit')}"
            )
