"""What every question holds, of labels and of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from outperform._json import written
from outperform._typing import Label
from outperform.data.checks import listed
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Pool
from outperform.data.prevalence import LabelErrors, Prevalence
from outperform.data.scores import Scores
from outperform.data.table import effective_size
from outperform.findings import Finding
from outperform.metrics.custom import Costs
from outperform.metrics.metric import Metric
from outperform.posterior.base import PriorModel
from outperform.posterior.influence import Influence, PlugIn
from outperform.posterior.pymc.sampling import PyMC
from outperform.posterior.registry import PriorLike, get_prior
from outperform.posterior.rng import child
from outperform.posterior.tails import Tail
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
            labels=None if labels is None else listed(labels),
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
class Question(ABC):
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
    def n(self) -> int:
        """The number of items."""
        return self.data.n // self.counting.times

    @property
    def unit(self) -> str:
        """What the number of items counts, in words."""
        return "items"

    @property
    def weighed(self) -> str:
        """What is weighed, in words, which may be finer than what was given."""
        return "items" if self.n_groups is None else "groups"

    @property
    @abstractmethod
    def paired(self) -> bool:
        """Whether the models are read off the same weights."""

    @property
    @abstractmethod
    def n_groups(self) -> int | None:
        """How many groups of items get one weight each; None if every item gets one."""

    @property
    @abstractmethod
    def n_effective(self) -> float | None:
        """What importance weights leave of the items or groups; None without any."""

    @property
    @abstractmethod
    def n_even(self) -> float | None:
        """How many units of equal size or weight there are; None if all items are alike."""

    @property
    @abstractmethod
    def plug_ins(self) -> Sequence[PlugIn]:
        """The values as functions of sums over items, at those of the data."""

    @property
    def observed(self) -> tuple[float, ...]:
        """The plug-in value of each model, equal to scikit-learn's with the same ``labels``.

        At other class proportions it is that of the same rates in each class at the mean shares;
        NaN where a class that has a share was never true.
        """
        return tuple(value for one in self.plug_ins for value in one.observed[:, 0].tolist())

    @property
    @abstractmethod
    def influences(self) -> Sequence[Influence | None]:
        """How far each unit moves the models' values: paired ones together, others apart.

        None where leaving out each would take too long; empty if items have no weights.
        """

    @property
    @abstractmethod
    def weighs_units(self) -> bool:
        """Whether units have weights whose shapes depend on what they move in this metric."""

    @property
    @abstractmethod
    def drawn_with(self) -> tuple[object, ...]:
        """What questions about the same data have in common if their draws are."""

    @property
    @abstractmethod
    def rope_hint(self) -> str | None:
        """What to say of the size of a ROPE where there is no default; None where there is."""

    @abstractmethod
    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the items, or groups, on which two models differ as far as the metric can see."""

    def n_carrying(self, models: Sequence[int] | None = None) -> float | None:
        """Return how many units carry the metric, or what sets models apart in it.

        None if unknown, 0 where nothing moves it.
        """
        known = [one for one in self.influences if one is not None]
        if not known:
            return None
        if len(known) == 1:
            n = known[0].effective(models)
        else:  # models with units of their own
            chosen = known if models is None else [known[index] for index in models]
            squares = np.concatenate([np.square(one.moved[0]) for one in chosen])
            repeats = np.concatenate([one.repeats for one in chosen])
            n = 1.0 if np.isnan(squares).any() else effective_size(squares, repeats)
        return n / self.counting.times

    # What some questions have, and others not

    @property
    def pool(self) -> Pool | None:
        """The pool that the labelled items were chosen from; None if they were not."""
        return None

    @property
    def n_pool(self) -> int | None:
        """How many items the labelled ones were chosen from; None if they were not."""
        return None if self.pool is None else self.pool.n

    @property
    def costs(self) -> Costs | None:
        """What each pair of truth and prediction costs, in the order of the classes; or None."""
        return None

    @property
    def adds_up(self) -> bool:
        """Whether each model's value is a function of its own sums over items, so tails matter."""
        return False

    @property
    def prior_disagreement(self) -> float:
        """How many items the prior lets only A get right, over all classes."""
        return 0.0

    def tail(self, models: Sequence[int]) -> Tail | None:
        """Return the tail of what moves one model, or the difference of two; None if not known."""
        return None

    def is_defined(self, model: str) -> bool:
        """Return whether the data define the plug-in value, or it is 0/0 and 0 by convention."""
        return True

    def rests_on_strengths(self, pair: Sequence[int]) -> bool:
        """Return whether fitted strengths that are wrong or unchecked decide on two models."""
        return False

    def never_matches(self, model: int) -> bool:
        """Return whether a model predicts classes, and none of them is ever true."""
        return False

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


class Sampling(NamedTuple):
    """How many draws, of which stream, and how much is done at a time, which changes no draw."""

    n_draws: int
    seed: np.random.SeedSequence
    n_jobs: int | None = None

    def child(self, index: int) -> Sampling:
        """Return the same of a stream of its own."""
        return self._replace(seed=child(self.seed, index))


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
