"""Checked questions about scores: ``ScoreSpec``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from outperform import metrics
from outperform._typing import AnyArray, FloatArray, Label
from outperform.data.checks import clear_positive, code_of
from outperform.data.moments import Moments
from outperform.data.scores import Scores
from outperform.data.table import effective_size
from outperform.errors import DataError, UsageError, either, param
from outperform.findings import finding
from outperform.inference.question import Choices, Question
from outperform.inference.score_views import (
    Merged,
    UnitSums,
    added_up,
    arranged,
    bounds_of_grades,
    count_apart,
    in_memory,
    joined,
    merged,
    prepare_all,
    unit_sums,
)
from outperform.metrics import votes
from outperform.metrics.curves import rankings_of
from outperform.metrics.metric import Combine, Metric, MetricLike, Sums
from outperform.metrics.sums import GRADES, TARGETS
from outperform.metrics.votes import VOTES
from outperform.metrics.weighted import (
    Prepared,
    Ranking,
    Units,
    brier_losses,
    log_losses,
)
from outperform.posterior.base import PriorModel
from outperform.posterior.bootstrap import MANY_UNITS, Limit
from outperform.posterior.influence import Influence, PlugIn, known_spread
from outperform.posterior.registry import PRIORS
from outperform.posterior.tails import Tail, tail_of

_ROUNDING = 1e-6
# An estimate of the spread needs this many times more units with normal influences than with even
# ones.
NORMAL_KURTOSIS = 3
# Two models make a single pair, so fitted strengths always match its votes.
_SOME_PAIRS = 3
# The votes simulated to check the fit have a fixed seed, so the result is always the same.
_CHECK_SEED = 20_261_119


def check_kind(scores: Scores, metric: Metric) -> None:
    """Raise an error if the metric cannot read these scores."""
    if metric.reads == "statistics" or scores.columns is not None:
        _check_statistics(scores, metric)
        return
    if metric.reads == "grade" and scores.truth is not None:
        raise UsageError(
            f"metric {metric.name!r} is for grades, which have no truth"
            + either(
                "; pass None as y_true, or use Scores.from_values",
                f"; omit {param('truth')}",
            )
        )
    if metric.reads in ("ranking", "classes", "probability") and scores.truth is None:
        raise UsageError(
            f"metric {metric.name!r} needs the true labels; without them use one of "
            f"{', '.join(metrics.score_names(graded=True))}"
        )
    if metric.reads == "probability":
        _check_probabilities(scores, metric)
    if metric.reads == "classes":
        _check_classes(scores, metric)


def _check_classes(scores: Scores, metric: Metric) -> None:
    assert scores.truth is not None
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.ndim == 1:
            raise UsageError(
                f"{metric.name} needs one score per class, but {name!r} has one per item; pass "
                f"all {len(scores.labels)} columns, or use {param('metric=', 'roc_auc')}"
            )
    n_true = np.bincount(scores.truth, minlength=len(scores.labels))
    if not n_true.all() or len(n_true) < 2:
        missing = [repr(scores.labels[code]) for code in np.flatnonzero(n_true == 0)]
        raise DataError(
            f"{metric.name} compares items of every class with others, but no item is of class "
            f"{', '.join(missing) or 'any other'}; add some, or remove the class and its column"
        )


def _check_statistics(scores: Scores, metric: Metric) -> None:
    required = metric.basis.names
    columns, width = scores.columns, scores.values[0].shape[-1]
    if metric.reads != "statistics":
        raise UsageError(
            f"metric {metric.name!r} needs one score per item, but these are {width} statistics; "
            "use a metric of sums, or a function of their means"
        )
    if columns is None or (required and (width != len(required) or columns not in ((), required))):
        received = "scores" if columns is None else ", ".join(columns) or f"{width} statistics"
        what = f"{', '.join(required)} of each item" if required else "statistics"
        raise UsageError(
            f"metric {metric.name!r} needs {what}, but these are {received}; "
            f"{_HINTS.get(required, 'make them with op.metrics.statistics')}"
        )


_HINTS = {
    VOTES: "use Scores.from_votes",
    GRADES: "use Scores.from_judged",
    TARGETS: "pass arrays of numbers, or use Scores.from_targets",
    (): "make them with Outcomes.from_statistics",
}


def _check_probabilities(scores: Scores, metric: Metric) -> None:
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.min() < 0 or array.max() > 1:
            value = array.min() if array.min() < 0 else array.max()
            raise DataError(
                f"{metric.name} needs probabilities from 0 to 1; scores of {name!r} include "
                f"{value:g}; convert margins to probabilities, or use roc_auc"
            )
        if array.ndim == 2 and np.abs(array.sum(axis=1) - 1).max() > _ROUNDING:
            row = int(np.abs(array.sum(axis=1) - 1).argmax())
            raise DataError(
                f"the probabilities of {name!r} must sum to 1 for every item; in row {row} "
                f"they sum to {array[row].sum():g}"
            )


def positive_code(scores: Scores, metric: Metric, pos_label: Label | None) -> int | None:
    """Return the positive class: the named one, True or 1. None if all classes count equally."""
    if scores.truth is None or metric.reads in ("classes", "anything"):
        if pos_label is not None:
            raise UsageError(
                f"metric {metric.name!r} has no positive class; omit {param('pos_label')}"
            )
        return None
    if metric.reads == "probability" and scores.values[0].ndim == 2 and len(scores.labels) > 2:
        _refuse_positive(metric, pos_label)
        return None
    code = _chosen(scores, metric, pos_label)
    if metric.reads == "ranking":
        _check_both(scores, metric, code)
    return code


def _refuse_positive(metric: Metric, pos_label: Label | None) -> None:
    if pos_label is not None:
        raise UsageError(
            f"{metric.name} over several classes has no positive class; omit {param('pos_label')}, "
            "or pass only the probability of that class"
        )


def _chosen(scores: Scores, metric: Metric, pos_label: Label | None) -> int:
    labels = scores.labels
    if pos_label is not None:
        return code_of(scores, pos_label)
    clear = clear_positive(labels)
    if clear is not None:
        return code_of(scores, clear)
    if len(labels) > 2:
        raise UsageError(
            f"metric {metric.name!r} is for one class against the rest, but there are "
            f"{len(labels)} classes; pass the class that the scores are for with "
            f"{param('pos_label=')}"
            + (", or pass one probability per class" if metric.reads == "probability" else "")
        )
    named = param("pos_label=", *labels)
    raise UsageError(f"name the positive class of {metric.name!r} with {named}")


def _check_both(scores: Scores, metric: Metric, code: int) -> None:
    assert scores.truth is not None
    is_positive = np.asarray(scores.truth == code)
    if not is_positive.any() or is_positive.all():
        missing = "positive" if not is_positive.any() else "negative"
        raise DataError(
            f"{metric.name} compares positive and negative items, but no item is "
            f"{missing}; check {param('pos_label=', scores.labels[code])} and y_true"
        )
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.ndim == 2 and array.shape[1] > 2:
            raise UsageError(
                f"{metric.name} needs one score per item; scores of {name!r} have shape "
                f"{array.shape}; pass the column of the positive class"
            )


def refuse_labels_metric(metric: MetricLike | None, *, graded: bool) -> UsageError:
    """Return the error for a metric that does not fit scores, or grades without a truth."""
    if callable(metric):
        return UsageError(
            "a function of scores must take y_true, score and weight, e.g. "
            "lambda y, s, w: roc_auc_score(y, s, sample_weight=w)"
        )
    name = metric if isinstance(metric, str) else getattr(metric, "name", repr(metric))
    known = metrics.score_names(graded=graded)
    try:
        metrics.check_name(metric, lambda: known)
    except UsageError as error:
        return UsageError(f"{error}; or pass a function of y_true, score and weight")
    these = "grades without a truth (y_true is None)" if graded else "scores"
    return UsageError(
        f"{name!r} is computed from labels, but these are {these}; use one of "
        f"{', '.join(known)}, or a function of y_true, score and weight"
    )


class Together(NamedTuple):
    """Number of units drawn one by one, and of those drawn as one normal variable."""

    drawn: int
    others: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreSpec(Question):
    """A checked question about scores; see :class:`Question`.

    Parameters
    ----------
    data
        Scores of the compared models, as passed.
    view
        The same scores in the order in which weights are drawn for them.
    metric
        The requested metric.
    repeats
        Number of groups that each group of the view represents. None means 1 each.
    moments
        Sums over all units, if there are very many; the units of the view have the same sums. None
        if the view has the rows of the data.
    of_units
        The metric as a function of the terms of these units; None if the view has rows.
    """

    data: Scores
    view: Scores
    metric: Metric
    repeats: FloatArray | None = None
    moments: Moments | None = None
    of_units: Metric | None = None

    @property
    def by_rows(self) -> ScoreSpec:
        """The same question with one unit per row or group of the data, in their order."""
        return replace(self, view=self.data, repeats=None, moments=None, of_units=None)

    @property
    def paired(self) -> bool:
        """Whether all models are evaluated with the same weights."""
        return self.choices.paired and len(self.data.models) > 1

    @property
    def n_groups(self) -> int | None:
        """Number of groups with one weight each; None if every item has its own weight."""
        return self.data.n_groups

    @cached_property
    def units(self) -> Units:
        """Items or groups that get one weight each."""
        return units_of(self.view, self.repeats)

    @cached_property
    def n_effective(self) -> float | None:
        """Effective number of items or groups under importance weights; None without weights."""
        if self.data.weights is None:
            return None
        return effective_size(self.units.sums(np.ones(self.view.n_rows)), self.units.counts)

    @property
    def rope_hint(self) -> str | None:
        """Advice on the size of a ROPE if there is no default; None if there is one."""
        terms = self.metric.basis.terms
        if terms is log_losses:
            return (
                f", e.g. {param('rope=', 0.01)}: a log loss lower by 0.01 means a probability of "
                "the true class that is 1% higher, as a geometric mean"
            )
        if terms is brier_losses and self.metric.bounds[1] - self.metric.bounds[0] > 1:
            return (
                f", e.g. {param('rope=', 0.01)}; over several classes a Brier score ranges from 0 "
                "to 2"
            )
        if self.metric.reads == "statistics" and math.isinf(
            self.metric.bounds[1] - self.metric.bounds[0]
        ):
            values = [f"{float(value):.3g}" for value in self.observed]
            return f" in the units of {self.metric.label}; here it is {' and '.join(values)}"
        if self.metric.reads == "grade" and math.isinf(
            self.metric.bounds[1] - self.metric.bounds[0]
        ):
            if self.moments is not None:
                ends = [self.moments.low, self.moments.high]
            else:
                ends = [*self.data.values]
            low, high = min(map(np.min, ends)), max(map(np.max, ends))
            hundredth = (high - low) / 100
            if hundredth > 0:
                return (
                    f" in the units of the scores; these range from {low:g} to {high:g}, and a "
                    f"hundredth of that is {param('rope=', float(f'{hundredth:.2g}'))}"
                )
        return None

    @property
    def shapes(self) -> FloatArray | None:
        """Number of items or groups that each unit represents. None means 1 each."""
        return self.units.repeats

    @property
    def _prepared_parts(self) -> list[tuple[Prepared, ...]]:
        """Prepared metrics of all models at once if paired, of each model otherwise."""
        return [self.prepared] if self.paired else [(prepared,) for prepared in self.prepared]

    @cached_property
    def unit_sums(self) -> list[UnitSums]:
        """Values as functions of sums over units: one function if paired, else one per model."""
        counts, items = self.units.counts, self.n_groups is None
        return [unit_sums(ready, counts, items=items) for ready in self._prepared_parts]

    @property
    def plug_ins(self) -> list[PlugIn]:
        """Values as functions of sums over units, with the sums of the data."""
        return [sums.whole for sums in self.unit_sums]

    @property
    def weighs_units(self) -> bool:
        """Whether the shapes of the units' weights depend on their influence on this metric."""
        return self.n_groups is not None or any(df is not None for df in self.dfs)

    @property
    def drawn_with(self) -> tuple[object, ...]:
        """Key that is equal for two questions about the same data if they can share draws."""
        return ("scores",)

    @cached_property
    def prepared(self) -> tuple[Prepared, ...]:
        """Scores of each model, sorted once or converted to losses."""
        metric, data = self.metric, self.data
        if self.of_units is not None:
            metric, data = self.of_units, self.view
        return prepare_all(metric, self.view, data=data, positive=self.positive, units=self.units)

    @cached_property
    def influences(self) -> tuple[Influence | None, ...]:
        """Influence of each item or group on the models' values: one if paired, else one per model.

        An influence is None if dropping each unit in turn would take too long.
        """
        influences = tuple(sums.influence() for sums in self.unit_sums)
        if self.moments is None:
            return influences
        listed = np.arange(self.units.n) < len(self.moments.heavy)
        return tuple(influence and influence._replace(listed=listed) for influence in influences)

    @cached_property
    def n_even(self) -> float:
        """Effective number of items or groups of equal size or weight."""
        if self.n_groups is None and self.n_effective is None:
            return float(self.n)
        return effective_size(self.units.sums(np.ones(self.view.n_rows)), self.units.counts)

    @cached_property
    def dfs(self) -> tuple[float | None, ...]:
        """Degrees of freedom of each influence's spread; None if there are enough.

        Unknown influences are assumed normal.
        """
        by_size = known_spread(self.n_even / NORMAL_KURTOSIS)
        return tuple(
            by_size if influence is None else influence.df() for influence in self.influences
        )

    @property
    def together(self) -> Together | None:
        """How many items or groups are drawn one by one, and how many jointly; None if none are."""
        moments = self.moments
        if moments is not None:
            return Together(len(moments.heavy), moments.n_others) if moments.n_others else None
        limit = next((limit for limit in self.limits if limit is not None), None)
        if limit is None:
            return None
        return Together(round(float(self.units.counts.sum())) - limit.n_others, limit.n_others)

    @cached_property
    def limits(self) -> tuple[Limit | None, ...]:
        """Units to draw individually if there are many, for each influence."""
        if self.units.n <= MANY_UNITS:
            return (None,) * len(self.influences)
        if self.moments is not None:
            return (None,) * len(self.influences)
        sums = map(joined, self._prepared_parts)
        return tuple(
            None if joint is None else joint.limit(influence, self.units.counts)
            for joint, influence in zip(sums, self.influences, strict=True)
        )

    @cached_property
    def fit_of_votes(self) -> votes.FitCheck | None:
        """Check of how well the fitted strengths explain the votes; None if none are fitted."""
        if self.data.columns != VOTES:
            return None
        values = self.data.values[0]
        if votes.method(self.metric.name, values) == "pair shares":
            return None
        return votes.check_fit(values, units_of(self.data), np.random.default_rng(_CHECK_SEED))

    def rests_on_strengths(self, pair: Sequence[int]) -> bool:
        """Return whether two models differ only by fitted strengths that are wrong or unchecked.

        If just enough pairs met to link the models, the votes alone determine only the difference
        in Elo ratings between two models that met: it is the log odds of their votes.
        """
        check = self.fit_of_votes
        if check is None or len(self.data.voted_on) < _SOME_PAIRS:
            return False
        if check.df > 0:
            return check.p_value < votes.MISFIT
        codes = {int(self.view.values[model][0, VOTES.index("model")]) for model in pair}
        met = np.isin(self.view.values[0][:, :2], list(codes)).all(axis=1).any()
        return self.metric.name != "elo" or not met

    @property
    def adds_up(self) -> bool:
        """Whether each model's value is a function of its own sums over items, so tails matter."""
        return isinstance(self.metric.how, Sums) and not self.metric.basis.joint

    def tail(self, models: Sequence[int]) -> Tail | None:
        """Return the tail of the influences on a model or difference; None if unknown."""
        if self.paired:
            return None if self.influences[0] is None else self.influences[0].tail(models)
        influences = [self.influences[model] for model in models]
        known = [
            influence
            for influence in influences
            if influence is not None and not np.isnan(influence.moved).any()
        ]
        if len(known) < len(influences):
            return None
        moved = [sign * influence.moved[0] for sign, influence in zip((1, -1), known, strict=False)]
        listed = [influence.listed for influence in known if influence.listed is not None]
        return tail_of(
            np.concatenate(moved),
            np.concatenate([influence.repeats for influence in known]),
            np.concatenate(listed) if listed else None,
        )

    @cached_property
    def rankings(self) -> tuple[tuple[Ranking, ...], ...]:
        """Rankings of each model; empty if the metric does not rank."""
        return tuple(rankings_of(prepared) for prepared in self.prepared)

    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the items or groups on which two models differ in what the metric reads."""
        if self.moments is not None:
            return int(self.moments.apart[pair])
        return count_apart(
            self.metric,
            self.view,
            pair,
            positive=self.positive,
            units=self.units,
            rankings=self.rankings,
        )

    @property
    def is_positive(self) -> AnyArray:
        """Mask of the rows in the positive class."""
        assert self.view.truth is not None
        return np.asarray(self.view.truth == self.positive)


def adds_up(metric: Metric, scores: Scores) -> bool:
    """Return whether to merge rows and sort them by their numbers: for sums and for many rows."""
    many = isinstance(metric.how, Sums) and scores.n_rows > MANY_UNITS
    return metric.reads == "statistics" or many


def units_of(scores: Scores, repeats: FloatArray | None = None) -> Units:
    """Return the units with one weight each; ``repeats`` is how many groups each represents."""
    counts = None if scores.counts is None else scores.counts.astype(np.float64)
    if scores.n_groups is None:
        return Units(scores.n_rows, None, scores.weights, counts)
    times = counts if scores.weights is None else scores.weights
    if counts is not None and scores.weights is not None:
        times = counts * scores.weights
    return Units(scores.n_groups, scores.group, times, repeats)


def _of_moments(
    scores: Scores, moments: Moments, requested: Metric, choices: Choices, prior: PriorModel
) -> ScoreSpec:
    """Return a checked question about scores that were added up where they are stored."""
    view, of_units = added_up(scores, moments, requested)
    if choices.pos_label is not None:
        raise UsageError(
            f"metric {requested.name!r} has no positive class; omit {param('pos_label')}"
        )
    return ScoreSpec(
        data=scores,
        view=view,
        moments=moments,
        of_units=of_units,
        metric=replace(requested, bounds=of_units.bounds),
        positive=None,
        pos_label=None,
        choices=choices,
        prior=prior,
        findings=scores.findings,
    )


def make_score_spec(
    scores: Scores,
    metric: MetricLike,
    choices: Choices,
) -> ScoreSpec:
    """Return a checked question about scores, with a sorted view."""
    chosen = PRIORS["bootstrap"] if choices.prior is None else choices.prior
    if chosen != PRIORS["bootstrap"]:
        raise UsageError(
            f"prior {chosen.name!r} is for labels; scores need the bootstrap over items, so "
            f"omit {param('prior')} or use {param('prior=', 'bootstrap')}"
        )
    requested = _get_metric(metric, scores)
    if scores.moments is not None:
        return _of_moments(scores, scores.moments, requested, choices, chosen)
    scores = as_targets(scores) if requested.reads == "statistics" else scores
    check_kind(scores, requested)
    moments = in_memory(scores, requested)
    if moments is not None:
        return _of_moments(scores, moments, requested, choices, chosen)
    positive = positive_code(scores, requested, choices.pos_label)
    if requested.merge == "never":
        view = Merged(scores, None)
    elif adds_up(requested, scores):
        view = merged(scores)
    else:
        view = Merged(arranged(scores), None)
    spec = ScoreSpec(
        data=scores,
        view=view.scores,
        repeats=view.repeats,
        metric=replace(requested, bounds=_bounds(requested, scores)),
        positive=positive,
        pos_label=None if positive is None else scores.labels[positive],
        choices=choices,
        prior=chosen,
        findings=scores.findings,
    )
    if spec.n_effective is None:
        return spec
    n, units = (spec.n, "items") if scores.n_groups is None else (scores.n_groups, "groups")
    weighted = finding("importance_weights", n_effective=spec.n_effective, n=n, units=units)
    return replace(spec, findings=(*scores.findings, weighted))


def _get_metric(metric: MetricLike, scores: Scores) -> Metric:
    """Return the metric; with statistics, a function is treated as a metric of their means."""
    is_function = callable(metric) and not isinstance(metric, Metric)
    if is_function and scores.columns is not None:
        return metrics.from_statistics_function(cast(Combine, metric))
    return metrics.get_score(metric)


def as_targets(scores: Scores) -> Scores:
    """Convert numbers that were read as classes (as texts in files) back to numeric targets."""
    if scores.truth is None or scores.values[0].ndim > 1:
        return scores
    try:
        numbers = np.array(
            [np.nan if isinstance(label, bool) else label for label in scores.labels]
        )
        target = numbers.astype(np.float64)[scores.truth]
    except ValueError:
        return scores
    if np.isnan(target).any():
        return scores
    pairs = tuple(np.stack([target, values], axis=1) for values in scores.values)
    return replace(scores, labels=(), truth=None, values=pairs, columns=TARGETS)


def _bounds(metric: Metric, scores: Scores) -> tuple[float, float]:
    """Return the metric's bounds on these data: 0 and 1 if it is a mean of grades in that range."""
    if not isinstance(metric.how, Sums):
        return metric.bounds
    if metric.reads == "grade":
        return bounds_of_grades(metric, scores.values)
    if metric.basis.terms is brier_losses and (scores.n_classes or 2) > 2:
        return metric.bounds[0] * 2, metric.bounds[1] * 2
    return metric.bounds
