"""A question, made strict once: whose metric, on which table, under which model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from outperform import metrics
from outperform._typing import Label
from outperform.comparison.views import look
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.metrics import Metric
from outperform.outcomes import Outcomes
from outperform.posterior import Model, Prior, get_model


class Scale(NamedTuple):
    """What one counted document is worth, and with what probability it is worth that."""

    factor: float
    share: float


class Counting(NamedTuple):
    """How often each document was counted, and what each of these counts is worth."""

    times: int = 1
    scales: tuple[Scale, ...] = (Scale(factor=1.0, share=1.0),)


ONCE = Counting()


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
    counting
        How often each document was counted, and what a count is worth.
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
    counting: Counting = ONCE

    @property
    def n(self) -> int:
        """The number of documents."""
        return self.seen.n // self.counting.times

    @property
    def unit(self) -> str:
        """What the number of documents counts, in words."""
        if self.seen.kind != "spans":
            return "items"
        return "spans" if self.seen.groups is None else "sentences or documents"

    @property
    def n_groups(self) -> int | None:
        """How many groups of documents get one weight each; None if every document gets one."""
        groups = self.view.groups
        if groups is None or self.seen.kind == "spans":
            return None
        return groups.n // self.counting.times

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
    counting: Counting = ONCE,
) -> Question:
    """Check a question and choose the table and the model that answer it."""
    given = Given(
        model=model,
        prior=None if prior is None else Prior.from_param(prior),
        paired=paired,
        labels=None if labels is None else tuple(labels),
        pos_label=pos_label,
    )
    asked = metrics.get(metric)
    view = look(outcomes, asked, labels=labels, pos_label=pos_label)
    chosen = _choose_model(model, prior, view.table, default_model)
    together, doubts = _group(view.table, chosen)
    table, more = _pair(together, chosen, paired)
    return Question(
        seen=view.seen,
        view=table,
        metric=asked,
        measured=view.measured,
        classes=view.classes,
        positive=view.positive,
        pos_label=view.pos_label,
        given=given,
        model=chosen,
        prior=Prior.from_param(prior),
        findings=view.seen.findings + doubts + more,
        counting=counting,
    )


def refuse_counted(**given: Any) -> None:
    """Refuse what belongs to rows where the rows are counted already."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"outcomes are counted already; leave {name} out")


def _choose_model(name: str | None, prior: Any, table: Outcomes, default_model: str) -> Model:
    if name is None:
        name = "flat" if prior is not None else _default(table, default_model)
    model = get_model(name)
    if table.kind == "spans" and name not in _OF_SPANS:
        raise UsageError(f"model {name!r} is not for spans; use one of {', '.join(_OF_SPANS)}")
    if prior is not None and not model.takes_prior:
        has = "its own" if model.proper else "no"
        raise UsageError(f"model {name!r} has {has} prior; leave prior out or use model='flat'")
    return model


_OF_SPANS = ("bootstrap", "flat", "unit")


def _default(table: Outcomes, default_model: str) -> str:
    if table.groups is not None:
        return "bootstrap"
    if table.kind == "spans":
        return "flat" if table.n_classes == 1 else "unit"
    return "flat" if table.n_classes == 2 else default_model


def _group(table: Outcomes, model: Model) -> tuple[Outcomes, tuple[Finding, ...]]:
    """Keep groups where the model weighs them; say so where what they hold counts by itself."""
    if model.name == "bootstrap" and table.groups is not None:
        return table, ()
    if table.kind != "spans":
        return table.ungroup(), () if table.groups is None else (_apart(table.groups.n, model),)
    return table.ungroup(), (
        Finding(
            "independent_spans",
            "warning",
            "Every span counts by itself. Spans of one sentence go wrong together and a boundary "
            "error counts twice, so the intervals are probably too narrow; counted by "
            "Outcomes.from_tags or from_spans, every sentence gets one weight.",
        ),
    )


def _apart(n_groups: int, model: Model) -> Finding:
    return Finding(
        "groups_ignored",
        "warning",
        f"Model {model.name!r} weighs every document by itself, though they come from {n_groups} "
        "groups. Documents of one group go wrong together, so the intervals are probably too "
        "narrow; leave model out, or call ungroup() if that is meant.",
    )


def _pair(view: Outcomes, model: Model, paired: bool) -> tuple[Outcomes, tuple[Finding, ...]]:
    if len(view.models) == 1 or not paired:
        return (view.unpair() if view.paired else view), ()
    if not view.paired:
        return view, (
            Finding(
                "unpaired_outcomes",
                "warning",
                "Which spans both models found is unknown, so the comparison is unpaired; tags or "
                "spans of the same sentences would narrow the interval."
                if view.kind == "spans"
                else "Which documents both models got right is unknown, so the comparison is "
                "unpaired; label arrays of the same documents would narrow the interval.",
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
