"""A question, made strict once: whose metric, on which table, under which model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from outperform import metrics
from outperform._typing import Label
from outperform.errors import DataError, UsageError
from outperform.findings import Finding
from outperform.metrics import Metric
from outperform.outcomes import Outcomes
from outperform.posterior import Model, Prior, get_model


class Given(NamedTuple):
    """What the user chose and did not choose, so that it can be asked again."""

    model: str | None
    prior: Prior | None
    paired: bool
    labels: tuple[Label, ...] | None
    pos_label: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of which outcomes; everything in it has been checked.

    Parameters
    ----------
    seen
        The outcomes of the models in question, as they were given.
    view
        The same, lumped to what the metric tells apart.
    metric
        What was asked for.
    measured
        What is evaluated on the view; another name for the same number.
    classes
        Codes of the classes averaged over; None for all.
    positive
        The code of the positive class of a binary metric.
    pos_label
        Its label.
    given
        What the user chose.
    model
        The posterior's model.
    prior
        The prior of model ``flat``.
    findings
        Doubts that come from the question itself.
    """

    seen: Outcomes
    view: Outcomes
    metric: Metric
    measured: Metric
    classes: tuple[int, ...] | None
    positive: int | None
    pos_label: Label | None
    given: Given
    model: Model
    prior: Prior
    findings: tuple[Finding, ...]

    @property
    def paired(self) -> bool:
        """Whether the models are read off the same weights."""
        return self.view.paired and len(self.view.models) > 1

    @property
    def share(self) -> metrics.Share | None:
        """The metric as a share of weights, if it is one."""
        return self.measured.share_over(self.classes is None)


def ask(
    outcomes: Outcomes,
    *,
    metric: Any,
    model: str | None,
    default_model: str,
    prior: Any,
    paired: bool,
    labels: Sequence[Label] | None,
    pos_label: Label | None,
) -> Question:
    """Check a question and choose the table and the model that answer it."""
    given = Given(
        model=model,
        prior=None if prior is None else Prior.from_param(prior),
        paired=paired,
        labels=None if labels is None else tuple(labels),
        pos_label=pos_label,
    )
    measured = asked = metrics.get(metric)
    if labels is not None:
        outcomes = outcomes.with_labels(labels)
    view, positive, classes = outcomes, None, None
    if outcomes.kind == "correct":
        measured, positive = _right_or_wrong(asked), 1
    elif asked.average == "binary":
        outcomes = _zero_and_one(outcomes)
        pos_label = _positive(outcomes, asked, pos_label)
        view, positive = outcomes.binarize(pos_label), 1
    else:
        classes = _averaged(outcomes, asked, labels)
        _refuse_one_class(outcomes)
    chosen = _choose_model(model, prior, view.n_classes, default_model)
    view, findings = _pair(view, chosen, paired)
    return Question(
        seen=outcomes,
        view=view,
        metric=asked,
        measured=measured,
        classes=(positive,) if positive is not None else classes,
        positive=positive,
        pos_label=pos_label if positive is not None else None,
        given=given,
        model=chosen,
        prior=Prior.from_param(prior),
        findings=outcomes.findings + findings,
    )


def _right_or_wrong(metric: Metric) -> Metric:
    if metric.name not in ("accuracy", "f1_micro", "precision_micro", "recall_micro"):
        raise UsageError(
            f"only right or wrong is known of these outcomes, so {metric.name!r} cannot be "
            "computed; use metric='accuracy'"
        )
    return metrics.get("recall")


def _zero_and_one(outcomes: Outcomes) -> Outcomes:
    """Add the other one where only 0 or only 1 occurred."""
    return outcomes.with_labels([0, 1]) if outcomes.labels in ((0,), (1,)) else outcomes


def _positive(outcomes: Outcomes, metric: Metric, pos_label: Label | None) -> Label:
    labels = outcomes.labels
    if pos_label is not None:
        return labels[outcomes.code(pos_label)]
    if all(isinstance(label, bool) for label in labels):
        return True
    if set(labels) == {0, 1}:
        return 1
    if len(labels) > 2:
        raise UsageError(
            f"metric {metric.name!r} is for one class and there are {len(labels)}; use "
            f"{metric.name + '_macro'!r}, {metric.name + '_micro'!r} or "
            f"{metric.name + '_weighted'!r}, or name the class with pos_label="
        )
    names = " or ".join(repr(label) for label in labels)
    raise UsageError(f"name the positive class of {metric.name!r} with pos_label={names}")


def _averaged(
    outcomes: Outcomes, metric: Metric, labels: Sequence[Label] | None
) -> tuple[int, ...] | None:
    if labels is None or metric.average is None:
        return None
    codes = tuple(outcomes.code(label) for label in labels)
    return None if len(codes) == outcomes.n_classes else codes


def _refuse_one_class(outcomes: Outcomes) -> None:
    if outcomes.n_classes < 2:
        raise DataError(
            f"only the class {outcomes.labels[0]!r} occurs; "
            "give labels= with all classes that could have occurred"
        )


def _choose_model(name: str | None, prior: Any, n_classes: int, default_model: str) -> Model:
    if name is None:
        name = "flat" if n_classes == 2 or prior is not None else default_model
    model = get_model(name)
    if prior is not None and not model.takes_prior:
        raise UsageError(f"model {name!r} has its own prior; leave prior out or use model='flat'")
    return model


def _pair(view: Outcomes, model: Model, paired: bool) -> tuple[Outcomes, tuple[Finding, ...]]:
    if len(view.models) == 1 or not paired:
        return (view.unpair() if view.paired else view), ()
    if not view.paired:
        return view, (
            Finding(
                "unpaired_outcomes",
                "warning",
                "Which documents both models got right is unknown, so the comparison is unpaired; "
                "label arrays of the same documents would narrow the interval.",
            ),
        )
    if not model.pairs:
        return view.unpair(), (
            Finding(
                "unpaired_model",
                "warning",
                f"Model {model.name!r} does not pair, so the comparison is unpaired; "
                "model 'unit' would narrow the interval.",
            ),
        )
    return view, ()
