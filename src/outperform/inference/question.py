"""Base class of all specs, for labels and for scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias, TypedDict

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
    """Worth of a counted item and the probability of this worth."""

    factor: float
    share: float


class Counting(NamedTuple):
    """Number of times each item was counted and the worth of each count."""

    times: int = 1
    scales: tuple[Scale, ...] = (Scale(factor=1.0, share=1.0),)


ONCE = Counting()


@written()
class Averaged(NamedTuple):
    """Number of classes averaged over, and how they were chosen.

    Parameters
    ----------
    n
        Number of classes, types or labels.
    by
        ``"truth"``: those that occur in the truth. ``"labels"``: those in ``labels``.
    """

    n: int
    by: Literal["truth", "labels"]


Candidates: TypeAlias = "Outcomes | Scores | int"
"""All candidates that A was chosen from, or how many there were."""
Looks: TypeAlias = Literal["once", "any"]


class Given(TypedDict, total=False):
    """Keyword arguments common to all questions."""

    prior: PriorLike | PriorModel | None
    paired: bool
    labels: Sequence[Label] | None
    pos_label: Label | None
    engine: PyMC | None
    chosen_from: Candidates | None
    looks: Looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The user's choices, kept so that a result can be recomputed with one of them changed."""

    prior: PriorModel | None = None
    paired: bool = True
    labels: tuple[Label, ...] | None = None
    pos_label: Label | None = None
    engine: PyMC | None = None
    chosen_from: Candidates | None = field(default=None, compare=False)
    looks: Looks = "once"
    # The candidate was chosen by another metric, as for a guard of a gate.
    by_another: bool = False

    @classmethod
    def of(cls, kwargs: Given) -> Choices:
        """Return the choices after checking them as far as possible without the data."""
        prior, labels = kwargs.get("prior"), kwargs.get("labels")
        return cls(
            prior=None if prior is None else get_prior(prior),
            paired=kwargs.get("paired", True),
            labels=None if labels is None else listed(labels),
            pos_label=kwargs.get("pos_label"),
            engine=kwargs.get("engine"),
            chosen_from=kwargs.get("chosen_from"),
            looks=kwargs.get("looks", "once"),
        )


@written(
    "metric=metric.name metric_label=metric.label greater_is_better=metric.greater_is_better "
    "costs? n unit n_groups? n_effective? n_pool? n_classes n_types n_labels? averaged_over? "
    "pos_label prevalence?{classes=labels shares source n_counted} "
    "label_errors?=label_errors.known prior=prior.name"
)
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question(ABC):
    """A checked question about labels or scores.

    Parameters
    ----------
    data
        Outcomes or scores of the compared models, as passed by the caller.
    view
        The part of the data that the metric reads.
    metric
        The requested metric.
    positive
        Code of the positive class, if the metric has one.
    pos_label
        Label of the positive class.
    choices
        The user's choices.
    prior
        Prior of the posterior.
    findings
        Findings about the question itself.
    classes
        Codes of the classes averaged over. None means all classes.
    counting
        Number of times each item was counted, and the worth of a count.
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
        """Number of items."""
        return self.data.n // self.counting.times

    @property
    def unit(self) -> str:
        """Word for what ``n`` counts."""
        return "items"

    @property
    def weighed(self) -> str:
        """Word for the units that get one weight each."""
        return "items" if self.n_groups is None else "groups"

    @property
    @abstractmethod
    def paired(self) -> bool:
        """Whether all models are evaluated with the same weights."""

    @property
    @abstractmethod
    def n_groups(self) -> int | None:
        """Number of groups with one weight each; None if every item has its own weight."""

    @property
    @abstractmethod
    def n_effective(self) -> float | None:
        """Effective number of items or groups under importance weights; None without weights."""

    @property
    @abstractmethod
    def n_even(self) -> float | None:
        """Effective number of units of equal size or weight; None if all items are alike."""

    @property
    @abstractmethod
    def plug_ins(self) -> Sequence[PlugIn]:
        """Values as functions of sums over items, with the sums of the data."""

    @property
    def observed(self) -> tuple[float, ...]:
        """Plug-in value of each model, which equals scikit-learn's with the same ``labels``.

        At other class proportions, the rates of the classes are combined in their mean shares. The
        value is NaN if a class with a share was never true.
        """
        return tuple(
            value for plug_in in self.plug_ins for value in plug_in.observed[:, 0].tolist()
        )

    @property
    @abstractmethod
    def influences(self) -> Sequence[Influence | None]:
        """Influence of each unit on the models' values: one if paired, else one per model.

        An influence is None if dropping each unit would take too long. Empty if items have no
        weights.
        """

    @property
    @abstractmethod
    def weighs_units(self) -> bool:
        """Whether the shapes of the units' weights depend on their influence on this metric."""

    @property
    @abstractmethod
    def drawn_with(self) -> tuple[object, ...]:
        """Key that is equal for two questions about the same data if they can share draws."""

    @property
    @abstractmethod
    def rope_hint(self) -> str | None:
        """Advice on the size of a ROPE if there is no default; None if there is one."""

    @abstractmethod
    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the items or groups on which two models differ in what the metric reads."""

    def n_carrying(self, models: Sequence[int] | None = None) -> float | None:
        """Return the effective number of units that determine the metric, or a difference in it.

        Return None if unknown, and 0 if no unit has any influence.
        """
        known = [influence for influence in self.influences if influence is not None]
        if not known:
            return None
        if len(known) == 1:
            n = known[0].effective(models)
        else:  # unpaired models, each with its own units
            chosen = known if models is None else [known[index] for index in models]
            squares = np.concatenate([np.square(influence.moved[0]) for influence in chosen])
            repeats = np.concatenate([influence.repeats for influence in chosen])
            n = 1.0 if np.isnan(squares).any() else effective_size(squares, repeats)
        return n / self.counting.times

    # Optional parts of a question

    @property
    def pool(self) -> Pool | None:
        """Pool from which the labelled items were selected; None without a pool."""
        return None

    @property
    def n_pool(self) -> int | None:
        """Number of items in the pool; None without a pool."""
        return None if self.pool is None else self.pool.n

    @property
    def costs(self) -> Costs | None:
        """Cost of each pair of truth and prediction, in the order of the classes; or None."""
        return None

    @property
    def adds_up(self) -> bool:
        """Whether each model's value is a function of its own sums over items, so tails matter."""
        return False

    @property
    def prior_disagreement(self) -> float:
        """Number of items that the prior lets only A get right, over all classes."""
        return 0.0

    def tail(self, models: Sequence[int]) -> Tail | None:
        """Return the tail of the influences on a model or difference; None if unknown."""
        return None

    def is_defined(self, model: str) -> bool:
        """Return whether the plug-in value is defined; a value of 0/0 counts as 0 by convention."""
        return True

    def rests_on_strengths(self, pair: Sequence[int]) -> bool:
        """Return whether two models differ only by fitted strengths that are wrong or unchecked."""
        return False

    def never_matches(self, model: int) -> bool:
        """Return whether none of the classes predicted by a model is ever true."""
        return False

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None for spans, which have types, and for label sets."""
        return self.data.n_classes if self.data.kind in ("classes", "correct", "scores") else None

    @property
    def n_types(self) -> int | None:
        """Number of span types; None for other data."""
        return self.data.n_classes if self.data.kind == "spans" else None

    @property
    def n_labels(self) -> int | None:
        """Number of labels in label sets; None for other data."""
        return self.data.n_classes if self.data.kind == "label_sets" else None

    @property
    def averaged_over(self) -> Averaged | None:
        """Number of classes averaged over, and how they were chosen; None without an average."""
        return None

    @property
    def prevalence(self) -> Prevalence | None:
        """Class proportions used in place of those of the data."""
        return None

    @property
    def label_errors(self) -> LabelErrors | None:
        """Assumed error rates of the gold labels; None if they are assumed right."""
        return None


class Sampling(NamedTuple):
    """Number of draws, random stream, and number of jobs, which does not affect the draws."""

    n_draws: int
    seed: np.random.SeedSequence
    n_jobs: int | None = None

    def child(self, index: int) -> Sampling:
        """Return the same settings with a separate stream."""
        return self._replace(seed=child(self.seed, index))


@contextmanager
def log_draws(specs: Sequence[Question], n_draws: int) -> Iterator[None]:
    """Log what was drawn from which posterior, and how long it took."""
    start = perf_counter()
    yield
    log_time(start, lambda: _drawn(specs, n_draws))


def _drawn(specs: Sequence[Question], n_draws: object) -> str:
    first = specs[0]
    names, engine = ", ".join(spec.metric.name for spec in specs), first.choices.engine
    return (
        f"drew {n_draws} of {names} for {len(first.data.models)} models and {first.data.n} items "
        f"(prior {first.prior.name}, engine {'direct' if engine is None else engine})"
    )
