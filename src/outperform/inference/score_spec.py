"""The question about scores, checked once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from outperform import metrics
from outperform._typing import AnyArray, FloatArray, Label
from outperform.data.checks import clear_positive, code_of
from outperform.data.scores import Scores
from outperform.data.table import effective_size
from outperform.errors import DataError, UsageError, either, param
from outperform.findings import finding
from outperform.inference.question import Choices, Question
from outperform.inference.score_views import (
    Merged,
    UnitSums,
    arranged,
    bounds_of_grades,
    count_apart,
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
from outperform.posterior.bootstrap import MANY_UNITS, Limit
from outperform.posterior.influence import Influence, PlugIn, known_spread
from outperform.posterior.registry import PRIORS
from outperform.posterior.tails import Tail, tail_of

_ROUNDING = 1e-6
# So many times as many units with normal influences know a spread as well as even ones.
NORMAL_KURTOSIS = 3
# Of two models there is one pair, and no strengths are at odds with its votes.
_SOME_PAIRS = 3
# What votes are simulated with whose fit is checked: the answer is the same each time.
_CHECK_SEED = 20_261_119


def check_kind(scores: Scores, metric: Metric) -> None:
    """Refuse scores that a metric cannot read."""
    if metric.reads == "statistics" or scores.columns is not None:
        _check_statistics(scores, metric)
        return
    if metric.reads == "grade" and scores.truth is not None:
        raise UsageError(
            f"metric {metric.name!r} is for grades, which have no truth"
            + either(
                ": give None instead of y_true, or make Scores.from_values",
                f"; leave {param('truth')} out",
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
                f"{metric.name} reads one score a class; scores of {name!r} are one an item: give "
                f"all {len(scores.labels)} columns, or use {param('metric=', 'roc_auc')}"
            )
    seen = np.bincount(scores.truth, minlength=len(scores.labels))
    if not seen.all() or len(seen) < 2:
        lacking = [repr(scores.labels[code]) for code in np.flatnonzero(seen == 0)]
        raise DataError(
            f"{metric.name} compares items of every class with others, and no item is of class "
            f"{', '.join(lacking) or 'any other'}; add some, or leave the class and its column out"
        )


def _check_statistics(scores: Scores, metric: Metric) -> None:
    wanted = metric.basis.names
    columns, width = scores.columns, scores.values[0].shape[-1]
    if metric.reads != "statistics":
        raise UsageError(
            f"metric {metric.name!r} reads one score an item, and these are {width} statistics; "
            "give a metric of sums, or a function of their means"
        )
    if columns is None or (wanted and (width != len(wanted) or columns not in ((), wanted))):
        held = "scores" if columns is None else ", ".join(columns) or f"{width} statistics"
        what = f"{', '.join(wanted)} of each item" if wanted else "statistics"
        raise UsageError(
            f"metric {metric.name!r} is made of {what}, and these are {held}; "
            f"{_HINTS.get(wanted, 'make them with op.metrics.statistics')}"
        )


_HINTS = {
    VOTES: "make Scores.from_votes",
    GRADES: "make Scores.from_judged",
    TARGETS: "give arrays of numbers, or make Scores.from_targets",
    (): "make them with Outcomes.from_statistics",
}


def _check_probabilities(scores: Scores, metric: Metric) -> None:
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.min() < 0 or array.max() > 1:
            value = array.min() if array.min() < 0 else array.max()
            raise DataError(
                f"{metric.name} needs probabilities from 0 to 1; scores of {name!r} hold "
                f"{value:g}; turn margins into probabilities, or use roc_auc"
            )
        if array.ndim == 2 and np.abs(array.sum(axis=1) - 1).max() > _ROUNDING:
            row = int(np.abs(array.sum(axis=1) - 1).argmax())
            raise DataError(
                f"the probabilities of {name!r} must add up to 1 for every item; in row {row} "
                f"they add up to {array[row].sum():g}"
            )


def positive_code(scores: Scores, metric: Metric, pos_label: Label | None) -> int | None:
    """Return the positive class: named, or True, or 1; None where all classes count alike."""
    if scores.truth is None or metric.reads in ("classes", "anything"):
        if pos_label is not None:
            raise UsageError(
                f"metric {metric.name!r} has no positive class; leave {param('pos_label')} out"
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
            f"{metric.name} over several classes has no positive class; leave {param('pos_label')} "
            "out, or give the probability of that class alone"
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
            f"metric {metric.name!r} is for one class against the rest and there are "
            f"{len(labels)}; name the one that the scores are for with {param('pos_label=')}"
            + (", or give one probability a class" if metric.reads == "probability" else "")
        )
    named = param("pos_label=", *labels)
    raise UsageError(f"name the positive class of {metric.name!r} with {named}")


def _check_both(scores: Scores, metric: Metric, code: int) -> None:
    assert scores.truth is not None
    is_positive = np.asarray(scores.truth == code)
    if not is_positive.any() or is_positive.all():
        lacking = "positive" if not is_positive.any() else "negative"
        raise DataError(
            f"{metric.name} compares positive and negative items, and no item is "
            f"{lacking}; check {param('pos_label=', scores.labels[code])} and y_true"
        )
    for name, array in zip(scores.models, scores.values, strict=True):
        if array.ndim == 2 and array.shape[1] > 2:
            raise UsageError(
                f"{metric.name} reads one score an item; scores of {name!r} have shape "
                f"{array.shape}: give the column of the positive class"
            )


def refuse_labels_metric(metric: MetricLike | None, *, graded: bool) -> UsageError:
    """Return what to say where scores, or grades without a truth, meet another metric."""
    if callable(metric):
        return UsageError(
            "a function of scores must take y_true, score and weight; e.g. "
            "lambda y, s, w: roc_auc_score(y, s, sample_weight=w)"
        )
    name = metric if isinstance(metric, str) else getattr(metric, "name", repr(metric))
    known = metrics.score_names(graded=graded)
    try:
        metrics.check_name(metric, lambda: known)
    except UsageError as error:
        return UsageError(f"{error}; or a function of y_true, score and weight")
    these = "grades without a truth (y_true is None)" if graded else "scores"
    return UsageError(
        f"{name!r} is a metric of labels, and these are {these}; use one of {', '.join(known)}, or "
        "a function of y_true, score and weight"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreSpec(Question):
    """What is asked of scores; see :class:`Question`.

    Parameters
    ----------
    data
        The scores of the models in question, as they were given.
    view
        The same, in the order in which they are weighed.
    metric
        What was asked for.
    repeats
        How many groups each group of the view stands for; None for one each.
    """

    data: Scores
    view: Scores
    metric: Metric
    repeats: FloatArray | None = None

    @property
    def paired(self) -> bool:
        """Whether the models are read off the same weights."""
        return self.choices.paired and len(self.data.models) > 1

    @property
    def n_groups(self) -> int | None:
        """How many groups of items get one weight each; None if every item gets one."""
        return self.data.n_groups

    @cached_property
    def units(self) -> Units:
        """What is weighed."""
        return units_of(self.view, self.repeats)

    @cached_property
    def n_effective(self) -> float | None:
        """What importance weights leave of the items or groups; None without any."""
        if self.data.weights is None:
            return None
        return effective_size(self.units.sums(np.ones(self.view.n_rows)), self.units.counts)

    @property
    def rope_hint(self) -> str | None:
        """What to say of the size of a ROPE where there is no default; None where there is."""
        terms = self.metric.basis.terms
        if terms is log_losses:
            return (
                f", e.g. {param('rope=', 0.01)}: a log loss lower by 0.01 gives what is true a "
                "probability that is 1% higher, as a geometric mean"
            )
        if terms is brier_losses and self.metric.bounds[1] - self.metric.bounds[0] > 1:
            return (
                f", e.g. {param('rope=', 0.01)}; over several classes a Brier score runs from 0 "
                "to 2"
            )
        if self.metric.reads == "statistics" and math.isinf(
            self.metric.bounds[1] - self.metric.bounds[0]
        ):
            values = [f"{float(one):.3g}" for one in self.observed]
            return f" in the units of {self.metric.label}; here it is {' and '.join(values)}"
        if self.metric.reads == "grade" and math.isinf(
            self.metric.bounds[1] - self.metric.bounds[0]
        ):
            low = min(array.min() for array in self.data.values)
            high = max(array.max() for array in self.data.values)
            hundredth = (high - low) / 100
            if hundredth > 0:
                return (
                    f" in the units of the scores; these run from {low:g} to {high:g}, and a "
                    f"hundredth of that is {param('rope=', float(f'{hundredth:.2g}'))}"
                )
        return None

    @property
    def shapes(self) -> FloatArray | None:
        """How many items or groups each unit stands for; None for one each."""
        return self.units.repeats

    @property
    def _apart(self) -> list[tuple[Prepared, ...]]:
        """What is prepared of paired models together, of others apart."""
        return [self.prepared] if self.paired else [(one,) for one in self.prepared]

    @cached_property
    def unit_sums(self) -> list[UnitSums]:
        """How the values follow from units: those of paired models together, of others apart."""
        counts, items = self.units.counts, self.n_groups is None
        return [unit_sums(ready, counts, items=items) for ready in self._apart]

    @property
    def plug_ins(self) -> list[PlugIn]:
        """The values as functions of sums over units, at those of the data."""
        return [one.whole for one in self.unit_sums]

    @property
    def weighs_units(self) -> bool:
        """Whether units have weights whose shapes depend on what they move in this metric."""
        return self.n_groups is not None or any(one is not None for one in self.dfs)

    @property
    def drawn_with(self) -> tuple[object, ...]:
        """What questions about the same data have in common if their draws are."""
        return ("scores",)

    @cached_property
    def prepared(self) -> tuple[Prepared, ...]:
        """Each model's scores, sorted once or turned into losses."""
        return prepare_all(
            self.metric, self.view, data=self.data, positive=self.positive, units=self.units
        )

    @cached_property
    def influences(self) -> tuple[Influence | None, ...]:
        """How far each item or group moves the models' values: paired ones together, others apart.

        None where leaving out each would take too long.
        """
        return tuple(one.influence() for one in self.unit_sums)

    @cached_property
    def n_even(self) -> float:
        """How many items or groups of equal size or weight there are in effect."""
        if self.n_groups is None and self.n_effective is None:
            return float(self.n)
        return effective_size(self.units.sums(np.ones(self.view.n_rows)), self.units.counts)

    @cached_property
    def dfs(self) -> tuple[float | None, ...]:
        """How well the units know the spread of each of the influences; None where well.

        Where influences are not known they are taken for normal.
        """
        by_size = known_spread(self.n_even / NORMAL_KURTOSIS)
        return tuple(by_size if one is None else one.df() for one in self.influences)

    @cached_property
    def limits(self) -> tuple[Limit | None, ...]:
        """Which units are drawn one by one, where there are many, of each of the influences."""
        if self.units.n <= MANY_UNITS:
            return (None,) * len(self.influences)
        sums = map(joined, self._apart)
        return tuple(
            None if one is None else one.limit(moved, self.units.counts)
            for one, moved in zip(sums, self.influences, strict=True)
        )

    @cached_property
    def fit_of_votes(self) -> votes.FitCheck | None:
        """How well strengths explain the votes they were fitted to; None where none are fitted."""
        values = self.data.values[0]
        if self.data.columns != VOTES or votes.method(self.metric.name, values) == "pair shares":
            return None
        return votes.check_fit(values, units_of(self.data), np.random.default_rng(_CHECK_SEED))

    def rests_on_strengths(self, pair: Sequence[int]) -> bool:
        """Return whether fitted strengths that are wrong or unchecked decide on two models.

        Where as few pairs met as can link the models, nothing but the Elo ratings of two that met
        follows from votes alone: what is between them is the log odds of their own votes.
        """
        check = self.fit_of_votes
        if check is None or len(self.data.voted_on) < _SOME_PAIRS:
            return False
        if check.df > 0:
            return check.p_value < votes.MISFIT
        codes = {int(self.view.values[place][0, VOTES.index("model")]) for place in pair}
        met = np.isin(self.view.values[0][:, :2], list(codes)).all(axis=1).any()
        return self.metric.name != "elo" or not met

    @property
    def adds_up(self) -> bool:
        """Whether each model's value is a function of its own sums over items, so tails matter."""
        return isinstance(self.metric.how, Sums) and not self.metric.basis.joint

    def tail(self, models: Sequence[int]) -> Tail | None:
        """Return the tail of what moves one model, or the difference of two; None if not known."""
        if self.paired:
            return None if self.influences[0] is None else self.influences[0].tail(models)
        apart = [self.influences[place] for place in models]
        known = [one for one in apart if one is not None and not np.isnan(one.moved).any()]
        if len(known) < len(apart):
            return None
        moved = [sign * one.moved[0] for sign, one in zip((1, -1), known, strict=False)]
        return tail_of(np.concatenate(moved), np.concatenate([one.repeats for one in known]))

    @cached_property
    def rankings(self) -> tuple[tuple[Ranking, ...], ...]:
        """Each model's rankings; none where the metric does not rank."""
        return tuple(rankings_of(one) for one in self.prepared)

    def n_apart(self, pair: tuple[int, int]) -> int:
        """Count the items, or groups, that set two models apart in the metric's eyes."""
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
        """Which rows are of the positive class."""
        assert self.view.truth is not None
        return np.asarray(self.view.truth == self.positive)


def adds_up(metric: Metric, scores: Scores) -> bool:
    """Return whether rows are weighed in the order of their numbers: of sums, and of many means."""
    many = isinstance(metric.how, Sums) and scores.n_rows > MANY_UNITS
    return metric.reads == "statistics" or many


def units_of(scores: Scores, repeats: FloatArray | None = None) -> Units:
    """Return what is weighed; ``repeats`` says how many groups each group stands for."""
    counts = None if scores.counts is None else scores.counts.astype(np.float64)
    if scores.n_groups is None:
        return Units(scores.n_rows, None, scores.weights, counts)
    times = counts if scores.weights is None else scores.weights
    if counts is not None and scores.weights is not None:
        times = counts * scores.weights
    return Units(scores.n_groups, scores.group, times, repeats)


def make_score_spec(
    scores: Scores,
    metric: MetricLike,
    choices: Choices,
) -> ScoreSpec:
    """Check a spec about scores and put them in order."""
    chosen = PRIORS["bootstrap"] if choices.prior is None else choices.prior
    if chosen != PRIORS["bootstrap"]:
        raise UsageError(
            f"prior {chosen.name!r} is for labels; scores are weighed item by item, so "
            f"leave prior out or use {param('prior=', 'bootstrap')}"
        )
    asked = _asked(metric, scores)
    scores = as_targets(scores) if asked.reads == "statistics" else scores
    check_kind(scores, asked)
    positive = positive_code(scores, asked, choices.pos_label)
    if asked.merge == "never":
        view = Merged(scores, None)
    elif adds_up(asked, scores):
        view = merged(scores)
    else:
        view = Merged(arranged(scores), None)
    spec = ScoreSpec(
        data=scores,
        view=view.scores,
        repeats=view.repeats,
        metric=replace(asked, bounds=_bounds(asked, scores)),
        positive=positive,
        pos_label=None if positive is None else scores.labels[positive],
        choices=choices,
        prior=chosen,
        findings=scores.findings,
    )
    if spec.n_effective is None:
        return spec
    n, units = (spec.n, "items") if scores.n_groups is None else (scores.n_groups, "groups")
    found = finding("importance_weights", n_effective=spec.n_effective, n=n, units=units)
    return replace(spec, findings=(*scores.findings, found))


def _asked(metric: MetricLike, scores: Scores) -> Metric:
    """Return the metric; of statistics, a function is one of their means."""
    own = callable(metric) and not isinstance(metric, Metric)
    if own and scores.columns is not None:
        return metrics.from_statistics_function(cast(Combine, metric))
    return metrics.get_score(metric)


def as_targets(scores: Scores) -> Scores:
    """Return numbers that were read as classes, in files as texts, as the targets they are."""
    if scores.truth is None or scores.values[0].ndim > 1:
        return scores
    try:
        numbers = np.array([np.nan if isinstance(one, bool) else one for one in scores.labels])
        target = numbers.astype(np.float64)[scores.truth]
    except ValueError:
        return scores
    if np.isnan(target).any():
        return scores
    pairs = tuple(np.stack([target, one], axis=1) for one in scores.values)
    return replace(scores, labels=(), truth=None, values=pairs, columns=TARGETS)


def _bounds(metric: Metric, scores: Scores) -> tuple[float, float]:
    """Return the metric's bounds on these data: grades from 0 to 1 have a mean from 0 to 1."""
    if not isinstance(metric.how, Sums):
        return metric.bounds
    if metric.reads == "grade":
        return bounds_of_grades(metric, scores.values)
    if metric.basis.terms is brier_losses and (scores.n_classes or 2) > 2:
        return metric.bounds[0] * 2, metric.bounds[1] * 2
    return metric.bounds
