"""What every question holds, of labels and of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple, TypedDict

from outperform._json import written
from outperform._typing import Label
from outperform.data.outcomes import Outcomes
from outperform.data.prevalence import LabelErrors, Prevalence
from outperform.data.scores import Scores
from outperform.findings import Finding
from outperform.metrics.metric import Metric
from outperform.posterior.base import PriorModel
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PriorLike, get_prior
from outperform.progress import log_time


class Scale(NamedTuple):
    """What one counted item is worth, and with what probability it is worth that."""

    factor: float
    share: float


class Counting(NamedTuple):
    """How often each item was counted, and what each of these counts is worth."""

    times: int = 1
    scales: tuple[Scale, ...] = (Scale(factor=1.0, share=1.0),)


ONCE = Counting()


@written()
class Averaged(NamedTuple):
    """How many classes are averaged over, and what chose them.

    Parameters
    ----------
    n
        The number of classes, types or labels.
    by
        ``"truth"``: those that occur in it. ``"labels"``: those that were named.
    """

    n: int
    by: Literal["truth", "labels"]


class Given(TypedDict, total=False):
    """What may be chosen of any question, by keyword."""

    prior: PriorLike | PriorModel | None
    paired: bool
    labels: Sequence[Label] | None
    pos_label: Label | None
    engine: PyMC | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the user chose and did not choose, so that it can be asked again."""

    prior: PriorModel | None = None
    paired: bool = True
    labels: tuple[Label, ...] | None = None
    pos_label: Label | None = None
    engine: PyMC | None = None

    @classmethod
    def of(cls, given: Given) -> Choices:
        """Return choices as they were given, checked as far as they do not depend on the data."""
        prior, labels = given.get("prior"), given.get("labels")
        return cls(
            prior=None if prior is None else get_prior(prior),
            paired=given.get("paired", True),
            labels=None if labels is None else tuple(labels),
            pos_label=given.get("pos_label"),
            engine=given.get("engine"),
        )


@written(
    "metric=metric.name metric_label=metric.label greater_is_better=metric.greater_is_better "
    "costs? n unit n_groups? n_effective? n_pool? n_classes n_types n_labels? averaged_over? "
    "pos_label prevalence?{classes=labels shares source n_counted} "
    "label_errors?=label_errors.known prior=prior.name"
)
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """What is asked of which data, be they labels or scores; everything in it has been checked.

    Parameters
    ----------
    data
        What was seen of the models in question, as it was given.
    view
        The same, as the metric reads it.
    metric
        What was asked for.
    positive
        The code of the positive class, where the metric has one.
    pos_label
        Its label.
    choices
        What the user chose.
    prior
        The statistical assumption.
    findings
        Findings that come from the question itself.
    classes
        Codes of the classes averaged over; None for all.
    counting
        How often each item was counted, and what a count is worth.
    """

    data: Outcomes | Scores
    view: Outcomes | Scores
    metric: Metric
    positive: int | None
    pos_label: Label | None
    choices: Choices
    prior: PriorModel
    findings: tuple[Finding, ...]
    classes: tuple[int, ...] | None = None
    counting: Counting = ONCE

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None for spans, which have types, and for label sets."""
        return self.data.n_classes if self.data.kind in ("classes", "correct", "scores") else None

    @property
    def n_types(self) -> int | None:
        """The number of types of spans; None for anything else."""
        return self.data.n_classes if self.data.kind == "spans" else None

    @property
    def n_labels(self) -> int | None:
        """The number of labels of items that have several; None for anything else."""
        return self.data.n_classes if self.data.kind == "label_sets" else None

    @property
    def averaged_over(self) -> Averaged | None:
        """How many classes are averaged over, and what chose them; None without an average."""
        return None

    @property
    def prevalence(self) -> Prevalence | None:
        """Class proportions that replaced those of the data."""
        return None

    @property
    def label_errors(self) -> LabelErrors | None:
        """How often the gold labels are taken to be wrong; None if they are right."""
        return None


@contextmanager
def log_draws(specs: Sequence[Question], n_draws: int) -> Iterator[None]:
    """Let the log tell what was drawn from which posterior, and how long it took."""
    start = perf_counter()
    yield
    log_time(start, lambda: _drawn(specs, n_draws))


def _drawn(specs: Sequence[Question], n_draws: object) -> str:
    first = specs[0]
    names, engine = ", ".join(one.metric.name for one in specs), first.choices.engine
    return (
        f"drew {n_draws} of {names} for {len(first.data.models)} models and {first.data.n} items "
        f"(prior {first.prior.name}, engine {'direct' if engine is None else engine})"
    )
