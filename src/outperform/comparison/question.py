"""A question, made strict once: whose metric, on which table, under which model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from outperform import metrics
from outperform._typing import Label
from outperform.comparison.engines import EXACT, Engine, refuse_chain
from outperform.comparison.prevalence import Placed, place, refuse_unseen
from outperform.comparison.views import called, chosen_metric, look
from outperform.decision import Rope
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.metrics import Metric
from outperform.outcomes import Outcomes
from outperform.outcomes.weights import importance_finding
from outperform.posterior import OWN, Model, Prevalence, Prior, get_model


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
    prevalence: Prevalence | None = None
    engine: Engine = EXACT


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
    placed
        The class proportions that replace those of the view, and where they belong.
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
    placed: Placed | None = None

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
        n_groups = groups.n // self.counting.times
        return None if groups.weighted and n_groups == self.n else n_groups

    @property
    def n_effective(self) -> float | None:
        """What importance weights leave of the documents or groups; None without any."""
        groups = self.view.groups
        if groups is None or not groups.weighted:
            return None
        return groups.n_even / self.counting.times

    @property
    def n_pool(self) -> int | None:
        """How many documents the labelled ones were chosen from; None if they were not."""
        return None if self.view.pool is None else self.view.pool.n

    @property
    def costs(self) -> metrics.Costs | None:
        """What each pair of truth and prediction costs, in the order of the classes; or None."""
        return self.measured.costs

    @property
    def rope_hint(self) -> str | None:
        """What to say of the size of a ROPE where there is no default; None where there is."""
        if self.costs is None:
            return None
        return f", in {self.costs.unit or 'the units of the costs'} a document"

    @property
    def paired(self) -> bool:
        """Whether the models are read off the same weights."""
        return self.view.paired and len(self.view.models) > 1

    @property
    def share(self) -> metrics.Share | None:
        """The metric as a share of weights, if it is one."""
        if self.view.kind == "label_sets":  # a miss of one label is no false alarm of another
            return None
        form = self.measured.share_over(self.classes is None)
        if form is not None and "tn" in form.parts and self.view.n_classes > 2:
            return None  # the negatives are several classes, each with a share of its own
        return form


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
    prevalence: Any = None,
    counting: Counting = ONCE,
    engine: Engine = EXACT,
) -> Question:
    """Check a question and choose the table and the model that answer it."""
    of_sets = metrics.set_names() if outcomes.kind == "label_sets" else []
    metrics.check_name(metric, metrics.names() + of_sets)
    metric = chosen_metric(outcomes, metric, labels=labels, pos_label=pos_label)
    asked = called(metrics.get(metric), outcomes)
    _refuse_of_pool(outcomes, paired=paired, prevalence=prevalence)
    view, placed = look(outcomes, asked, labels=labels, pos_label=pos_label), None
    if prevalence is not None:
        view, placed = place(view, prevalence, pos_label=pos_label)
        if labels is None:
            view = placed.averaged(view)
    given = Given(
        model=model,
        prior=None if prior is None else Prior.from_param(prior),
        paired=paired,
        labels=None if labels is None else tuple(labels),
        pos_label=pos_label,
        prevalence=None if placed is None else placed.prevalence,
        engine=engine,
    )
    if engine.own is not None:
        chosen = OWN
    else:
        chosen = _choose_model(model, prior, view.table, default_model)
    _refuse_model_of_documents(view.measured, chosen)
    together, doubts = _group(view.table, chosen)
    table, more = _pair(together, chosen, paired)
    refuse_unseen(table, chosen, placed)
    refuse_chain(engine, table, measured=view.measured, model=chosen, elsewhere=placed is not None)
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
        placed=placed,
    )


def rope_for(question: Any, rope: Any) -> Rope:
    """Return the ROPE of a question; where there is no default, say how to choose one."""
    if rope is None and question.rope_hint is not None:
        raise UsageError(
            f"{question.metric.name!r} has no default ROPE; give rope=, the largest difference "
            f"that does not matter{question.rope_hint}"
        )
    return Rope.from_param(rope, bounds=question.metric.bounds)


def refuse_counted(**given: Any) -> None:
    """Refuse what belongs to rows where the rows are counted already."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"outcomes are counted already; leave {name} out")


def _choose_model(name: str | None, prior: Any, table: Outcomes, default_model: str) -> Model:
    if name is None:
        name = "flat" if prior is not None else _default(table, default_model)
    model = get_model(name)
    if (table.pool is None) == (name == "strata"):
        raise UsageError(
            "model 'strata' is for documents that were chosen from a pool by their predictions; "
            "count them with Outcomes.from_pool, or leave model out"
            if table.pool is None
            else f"model {name!r} takes the documents as they came, and these were chosen by the "
            "predictions of both models; leave model and prior out"
        )
    if table.kind == "spans" and name not in _OF_SPANS:
        raise UsageError(f"model {name!r} is not for spans; use one of {', '.join(_OF_SPANS)}")
    if table.kind == "label_sets" and name not in _OF_SPANS:
        raise UsageError(f"model {name!r} is not for label sets; use one of {', '.join(_OF_SPANS)}")
    if prior is not None and not model.takes_prior:
        has = "its own" if model.proper else "no"
        raise UsageError(f"model {name!r} has {has} prior; leave prior out or use model='flat'")
    return model


_OF_SPANS = ("bootstrap", "flat", "unit")


def _refuse_of_pool(outcomes: Outcomes, *, paired: bool, prevalence: Any) -> None:
    if outcomes.pool is None:
        return
    if not paired:
        raise UsageError(
            "these documents were chosen by the predictions of both models, so the comparison is "
            "paired; leave paired out"
        )
    if prevalence is not None:
        raise UsageError(
            "the class proportions of a pool of which some documents were chosen cannot be "
            "replaced yet; leave prevalence out"
        )


def _refuse_model_of_documents(metric: Metric, model: Model) -> None:
    if metric.per_document and model.proper:
        raise UsageError(
            f"{metric.name!r} is a mean over documents, and model {model.name!r} takes a "
            "document's labels apart; leave model and prior out, or use model='bootstrap'"
        )


def _default(table: Outcomes, default_model: str) -> str:
    if table.pool is not None:
        return "strata"
    if table.groups is not None or table.kind == "label_sets":
        return "bootstrap"
    if table.kind == "spans":
        return "flat" if table.n_classes == 1 else "unit"
    return "flat" if table.n_classes == 2 else default_model


def _group(table: Outcomes, model: Model) -> tuple[Outcomes, tuple[Finding, ...]]:
    """Keep groups where the model weighs them; say so where what they hold counts by itself."""
    if table.weighted and model.name != "bootstrap":
        raise UsageError(
            f"model {model.name!r} counts documents and knows no importance weights; leave model "
            "and prior out; rows that stand for several items are counts, see Outcomes.from_counts"
        )
    if model.name == "bootstrap" and table.groups is not None:
        return table, _importance(table)
    if table.kind != "spans":
        doubts = () if table.groups is None else (_apart(table.groups.n, model),)
        return table.ungroup(), doubts + _labels_apart(table, model)
    return table.ungroup(), (
        Finding(
            "independent_spans",
            "warning",
            "Every span counts by itself. Spans of one sentence go wrong together and a boundary "
            "error counts twice, so the intervals are probably too narrow; counted by "
            "Outcomes.from_tags or from_spans, every sentence gets one weight.",
        ),
    )


def _labels_apart(table: Outcomes, model: Model) -> tuple[Finding, ...]:
    if table.kind != "label_sets" or model.name == "bootstrap" or table.n_classes < 2:
        return ()
    return (
        Finding(
            "independent_labels",
            "warning",
            f"Model {model.name!r} takes every label by itself, as if the labels of a document "
            "were independent of each other; where they go wrong together, the intervals are too "
            "narrow. Leave model out, and every document gets one weight.",
        ),
    )


def _importance(table: Outcomes) -> tuple[Finding, ...]:
    groups = table.groups
    if groups is None or not groups.weighted:
        return ()
    unit = "documents" if groups.n == table.n else "groups"
    return (importance_finding(groups.n_even, groups.n, unit),)


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
