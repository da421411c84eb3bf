"""Diagnostics: possible problems with a result, as findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from outperform import metrics
from outperform._typing import BoolArray, FloatArray, IntArray
from outperform.data.views import count_of, in_weights
from outperform.decision.rope import (
    TWO_THIRDS,
    Masses,
    Rope,
    decide,
    margin,
    probability_error,
)
from outperform.findings import Finding, clauses, counted, finding, listed, quoted
from outperform.inference.changes import error_findings
from outperform.inference.disagreements import (
    matching_findings,
    often,
    pool_findings,
    unit_findings,
)
from outperform.inference.items import draw_scores, undefined_findings
from outperform.inference.judges import judge_findings
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.score_views import items_of, probabilities, tied_share
from outperform.inference.spec import LabelSpec, Spec
from outperform.inference.spelling import alike_findings
from outperform.inference.summary import Summary
from outperform.inference.thresholds import FEW_ERRORS, FEW_ITEMS, SAFE_ERRORS
from outperform.metrics import votes
from outperform.metrics.custom import Ordinal
from outperform.metrics.votes import VOTES
from outperform.metrics.weighted import LEAST_PROBABILITY, log_losses

# Names of columns for which lower is better, including plurals.
_COSTS = {
    "latency", "time", "duration", "ms", "second", "cost", "price", "token", "loss", "error",
}  # fmt: skip
# Ties are reported from this share of pairs upwards; from the second share upwards they are
# suspicious.
_SOME_TIES, _MANY_TIES = 0.01, 0.1


def score_findings(spec: ScoreSpec) -> Iterator[Finding]:
    """Yield findings about the scores themselves."""
    yield from spec.findings
    if spec.n < FEW_ITEMS:
        yield finding("few_items/bootstrap", items=counted(spec.n, "items"))
    yield from unit_findings(spec)
    if spec.together is not None:
        units = "items" if spec.n_groups is None else "groups"
        drawn, others = spec.together
        yield finding("smaller_items", drawn=drawn, others=others, units=units)
    if spec.metric.reads in ("ranking", "classes"):
        yield from _few_of_a_class(spec)
        yield from _ties(spec)
    if spec.metric.basis.terms is log_losses:
        yield from _clipped(spec)
    if spec.metric.name == "mean" and len(spec.data.models) > 1:
        yield from _higher_is_better(spec)
    if spec.data.columns == VOTES and spec.data.values[0][0, VOTES.index("order is known")]:
        yield _first_place(spec)
    if spec.data.columns == VOTES:
        yield from _fit_of_votes(spec)
    if spec.metric.name == "judged_mean":
        yield from judge_findings(spec)


_PLACE_DRAWS, _PLACE_SEED = 2_000, 20_261_117


def _first_place(spec: ScoreSpec) -> Finding:
    """Report how often the model shown first wins between equal models."""
    question = replace(spec, metric=metrics.get_score("first_place"))
    seed = np.random.SeedSequence(_PLACE_SEED)
    draws = draw_scores([question], Sampling(_PLACE_DRAWS, seed))[0][0]
    low, high = np.quantile(draws, [0.025, 0.975]).tolist()
    return finding(
        "first_place/unclear" if low <= 0.5 <= high else "first_place/clear",
        share=float(draws.mean()),
        low=low,
        high=high,
    )


def _fit_of_votes(spec: ScoreSpec) -> Iterator[Finding]:
    """Report that fitted strengths do not explain the votes, or that this cannot be checked."""
    check, names = spec.fit_of_votes, spec.data.voted_on
    if check is None:
        return
    every = combinations(range(len(spec.data.models)), 2)
    decides = any(map(spec.rests_on_strengths, every))
    if check.df < 1 and len(names) > 2:
        yield finding(
            "votes_unchecked",
            level="serious" if decides else "warning",
            pairs=len(names) - 1,
            models=len(names),
        )
    elif check.p_value < votes.MISFIT:
        pairs = clauses(
            f"{names[pair.first]} got {pair.share:.1%} against {names[pair.second]}, but the model "
            f"predicts {pair.fitted:.1%}"
            for pair in check.worst
        )
        yield finding(
            "votes_do_not_fit",
            level="serious" if decides else "warning",
            p=check.p_value,
            pairs=pairs,
        )
    elif spec.metric.name == "win_rate" and (n := votes.n_without_votes(spec.view.values[0])):
        pairs = counted(n, "pairs", one="pair")
        yield finding("pairs_without_votes", pairs=pairs, p=check.p_value)


def _higher_is_better(spec: ScoreSpec) -> Iterator[Finding]:
    """Report the direction of the metric if the scores may be costs."""
    costs = [name for name in (*spec.data.sources, *spec.data.models) if _is_a_cost(name)]
    if not costs and spec.metric.bounds == (0.0, 1.0):
        return
    if costs:
        yield finding("higher_is_better/name", name=costs[0])
    else:
        yield finding("higher_is_better/range")


def _is_a_cost(name: str) -> bool:
    words = re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return any(word in _COSTS or word.removesuffix("s") in _COSTS for word in words)


def _few_of_a_class(spec: ScoreSpec) -> Iterator[Finding]:
    assert spec.view.truth is not None
    sides, side = [f"of class {label}" for label in spec.view.labels], spec.view.truth
    if spec.metric.reads == "ranking":
        sides, side = ["positive", "negative"], 1 - spec.is_positive
    sums = np.bincount(side, items_of(spec.view)).astype(int).tolist()
    few = {name: n for name, n in zip(sides, sums, strict=True) if n < FEW_ITEMS}
    if few:
        shown = listed(f"{n} {side}" for side, n in few.items())
        yield finding("few_of_a_class", counts=shown, metric=spec.metric.label)


def _ties(spec: ScoreSpec) -> Iterator[Finding]:
    tied = {
        name: float(np.mean([tied_share(ranking, spec.view) for ranking in rankings]))
        for name, rankings in zip(spec.view.models, spec.rankings, strict=True)
        if rankings  # an external metric does not have to sort like the built-in ones
    }
    tied = {name: share for name, share in tied.items() if share >= _SOME_TIES}
    if not tied:
        return
    yield finding(
        "tied_scores/some" if max(tied.values()) < _MANY_TIES else "tied_scores/many",
        shares=clauses(f"{name} {100 * share:.0f}%" for name, share in tied.items()),
    )


def _clipped(spec: ScoreSpec) -> Iterator[Finding]:
    for model, name in enumerate(spec.view.models):
        truth, predicted = probabilities(spec.view, model, spec.positive)
        zero = predicted[np.arange(len(truth)), truth] < LEAST_PROBABILITY
        n = int(items_of(spec.view)[zero].sum())
        if n:
            yield finding(
                "certain_and_wrong",
                model=name,
                items=counted(n, "items"),
                loss=-np.log(LEAST_PROBABILITY),
            )


# Errors are reported if they have this many times the weight of those in another class.
_MUCH_MORE = 2.0
_MOST_CLASSES = 4
# Averages of rates within classes, which do not depend on prevalence.
_WITHIN_CLASSES = ("recall", "balanced_accuracy")


def prevalence_findings(spec: LabelSpec) -> Iterator[Finding]:
    """Yield the replaced class proportions, and classes whose rates are based on few errors."""
    if spec.view_prevalence is None:
        return
    yield finding(
        "other_prevalence",
        prevalence=spec.view_prevalence.prevalence,
        metric=spec.metric.name,
        values=_at_home(spec),
    )
    heavy = [text for model in spec.view.models for text in _few_errors(spec, model)]
    if heavy and not _within_classes(spec):
        yield finding("few_errors_weigh_more", errors=clauses(heavy, most=_MOST_CLASSES))


def _within_classes(spec: LabelSpec) -> bool:
    metric = spec.measured
    if metric.average in ("micro", "weighted"):
        return False
    binary = spec.positive is not None and spec.view.n_classes == 2
    return metric.score in (*_WITHIN_CLASSES, *(("specificity", "informedness") if binary else ()))


def _at_home(spec: LabelSpec) -> str:
    """Format each model's plug-in value on the test set, which equals scikit-learn's."""
    values = replace(spec, view_prevalence=None).observed
    named = zip(spec.view.models, values, strict=True)
    return listed([f"{value:.4f} for {name}" for name, value in named], most=_MOST_CLASSES)


def _few_errors(spec: LabelSpec, model: str) -> Iterator[str]:
    """Yield the classes that get a larger share but in which a model made few errors."""
    assert spec.view_prevalence is not None
    view, times = spec.view, spec.counting.times
    actual = view.margins(model).actual.astype(np.float64)
    shares = spec.view_prevalence.mean_shares(view, model)
    weights = {code: shares[code] / actual[code] for code in shares if actual[code]}
    least = min((weight for weight in weights.values() if weight > 0), default=1.0)
    errors = _errors(spec, model) / times
    for code, weight in weights.items():
        grows = weight * actual.sum() > 1.0
        if grows and weight >= _MUCH_MORE * least and errors[code] < FEW_ERRORS:
            yield (
                f"{model} has {counted(round(errors[code]), 'errors')} in {_class(spec, code)}, "
                f"where each item counts {weight / least:.3g} times as much as one of another "
                "class"
            )


def _errors(spec: LabelSpec, model: str) -> FloatArray:
    """Count the errors in each class that affect the metric."""
    column, positive = spec.view.models.index(model), spec.positive
    paired = spec.view.paired
    table = spec.view.tables[0 if paired else column]
    table = table.columns([column if paired else 0], n_labels=spec.view.n_classes)
    truth, predicted = table.cells[:, 0], table.cells[:, 1]
    # For one class against the rest, an error in another class matters only if the class itself is
    # predicted.
    wrong: BoolArray = (
        truth != predicted if positive is None else (truth == positive) != (predicted == positive)
    )
    kept = table.without(~wrong)
    counts = kept.sum_by(kept.cells[:, 0], n_labels=spec.view.n_classes)
    return counts.astype(np.float64)


def _class(spec: LabelSpec, code: int) -> str:
    """Return the user's name for a class; the rest has no name if it combines several classes."""
    if spec.positive is None or spec.view.n_classes > 2:
        return f"class {spec.view.labels[code]!r}"
    if code == spec.positive:
        return f"class {spec.pos_label!r}"
    others = [label for label in spec.data.labels if label != spec.pos_label]
    return f"class {others[0]!r}" if len(others) == 1 else "the other classes"


_MOST_NAMED = 6


def table_findings(spec: Spec) -> Iterator[Finding]:
    """Yield findings about the table itself: empty classes, sparse cells and few items."""
    if isinstance(spec, ScoreSpec):
        yield from score_findings(spec)
        return
    yield from spec.findings
    yield from matching_findings(spec)
    yield from alike_findings(spec)
    if spec.n < FEW_ITEMS:
        yield finding(
            "few_items/prior" if spec.prior.proper else "few_items/bootstrap",
            items=counted(spec.n, spec.unit),
        )
    yield from unit_findings(spec)
    yield from pool_findings(spec)
    yield from _class_findings(spec)
    yield from _undefined(spec)
    yield from _gaps(spec)
    if spec.measured.per_item:
        yield from undefined_findings(spec)
    if spec.positive is not None and spec.view.kind != "correct":
        yield from _cell_findings(spec)
    yield from prevalence_findings(spec)
    if spec.view_errors is not None:
        yield from error_findings(spec, spec.view_errors)


def _class_findings(spec: LabelSpec) -> Iterator[Finding]:
    if spec.view.kind == "correct" or spec.measured.per_item:
        return
    margins = {model: spec.view.margins(model) for model in spec.view.models}
    actual = np.minimum.reduce([each[1] for each in margins.values()])
    empty = np.flatnonzero(actual == 0)
    if spec.classes is not None and spec.measured.over_classes:
        left_out = np.setdiff1d(empty, spec.classes)
        empty = np.intersect1d(empty, spec.classes)
        if spec.choices.labels is None and left_out.size:
            yield left_out_finding(spec, left_out)
    if empty.size:
        yield finding(
            "class_without_truth/prior" if spec.prior.proper else "class_without_truth/unknown",
            never_true=_never_asked(spec, empty),
            it=_it(empty),
        )
    for column, (model, (_, truth, predicted)) in enumerate(margins.items()):
        never = predicted == 0
        if spec.view.pool is not None:  # predictions include unlabelled items
            never[spec.view.pool.cells[:, column]] = False
        silent = np.flatnonzero(never & (truth > 0))
        if silent.size:
            known = spec.prior.proper
            yield finding(
                "class_never_predicted/prior" if known else "class_never_predicted/unknown",
                model=model,
                classes=_silent(spec, silent),
            )
    few = np.flatnonzero((actual > 0) & (actual < FEW_ITEMS * spec.counting.times))
    if spec.positive is None and few.size:
        nouns, items = _NOUNS.get(spec.view.kind, ("classes", "items"))
        yield finding(
            "sparse_classes/prior" if spec.prior.proper else "sparse_classes/bootstrap",
            few=few.size,
            n=spec.view.n_classes,
            classes=nouns,
            least=FEW_ITEMS,
            items=items,
        )


def unseen_classes(spec: Spec) -> IntArray:
    """Return the codes of classes that are never true but required by the metric.

    A mean over classes needs items in each named class, and at least two classes. So does a metric
    of the entire table that corrects for chance. A metric of one class needs items in that class,
    or in others if it depends only on false alarms. At other class proportions, every class with a
    share is required.

    Parameters
    ----------
    spec
        The question.
    """
    none = np.zeros(0, dtype=np.int64)
    if not isinstance(spec, LabelSpec) or spec.view.kind == "correct" or spec.measured.per_item:
        return none
    actual = np.minimum.reduce([spec.view.margins(model).actual for model in spec.view.models])
    empty = np.flatnonzero(actual == 0)
    needed = {int(code) for code in empty if code in _shared(spec)}
    one_class = spec.data.kind == "classes" and len(empty) == spec.view.n_classes - 1
    score, average = spec.measured.score, spec.measured.average
    if spec.positive is not None:
        others = [code for code in range(spec.view.n_classes) if code != spec.positive]
        if score != "specificity":
            needed |= {spec.positive} & set(empty.tolist())
        if score in _OF_OTHERS and others and set(others) <= set(empty.tolist()):
            needed |= set(others)
    elif average == "macro" or score == "balanced_accuracy":
        if spec.choices.labels is not None and score != "specificity":
            chosen = range(spec.view.n_classes) if spec.classes is None else spec.classes
            needed |= set(empty.tolist()) & set(chosen)
        elif one_class:
            needed |= set(empty.tolist())
    elif one_class and _corrects_for_chance(spec.measured):
        needed |= set(empty.tolist())
    return np.array(sorted(needed), dtype=np.int64)


# For one class against the rest: metrics of the other classes only.
_OF_OTHERS = ("precision", "specificity", "informedness")


def _corrects_for_chance(metric: metrics.Metric) -> bool:
    of_levels = isinstance(metric.function, Ordinal) and metric.function.of != "mae"
    return of_levels or metric.score in ("matthews_corrcoef", "cohen_kappa")


def _shared(spec: LabelSpec) -> set[int]:
    """Return the classes with a share at other class proportions."""
    if spec.view_prevalence is None:
        return set()
    by_model = [spec.view_prevalence.mean_shares(spec.view, model) for model in spec.view.models]
    return {code for shares in by_model for code, share in shares.items() if share > 0}


def unseen_finding(spec: Spec) -> Iterator[Finding]:
    """Yield the finding about classes that affect a decision but were never observed.

    Parameters
    ----------
    spec
        The question.
    """
    codes = unseen_classes(spec)
    if codes.size:
        assert isinstance(spec, LabelSpec)
        yield finding(
            "class_without_truth/gate",
            never_true=_never_asked(spec, codes),
            metric=spec.metric.name,
            it=_it(codes),
        )


def _undefined(spec: LabelSpec) -> Iterator[Finding]:
    """Yield ``undefined_in_data`` if a metric of the entire table is 0/0 in the data."""
    values = zip(spec.view.models, spec.observed, strict=True)
    unknown = [model for model, value in values if np.isnan(value)]
    if unknown and spec.view_prevalence is not None:
        why = "a class with a share at this prevalence never occurs in the truth"
    else:
        why = "true labels and predictions all have the same class"
    if unknown:
        yield finding(
            "undefined_in_data/nan",
            metric=spec.metric.name,
            models=listed(unknown, most=_MOST_NAMED),
            why=why,
            known="comes from the prior" if spec.prior.proper else "is unknown",
        )
    if spec.measured.score != "matthews_corrcoef":
        return
    for model in spec.view.models:
        _, actual, predicted = spec.view.margins(model)
        one_sided = [
            what
            for what, counts in (("the truth is", actual), ("its predictions are", predicted))
            if np.count_nonzero(counts) == 1
        ]
        if one_sided:
            yield finding(
                "undefined_in_data/zero",
                metric=spec.metric.name,
                model=model,
                why=" and ".join(one_sided),
            )


def _gaps(spec: LabelSpec) -> Iterator[Finding]:
    """Yield ``levels_by_rank`` if some integers between the levels never occur."""
    if not isinstance(spec.measured.function, Ordinal) or spec.choices.labels is not None:
        return
    levels = [label for label in spec.data.labels if _is_number(label)]
    if len(levels) < len(spec.data.labels) or len(levels) < 2:
        return
    steps = np.diff(np.sort(np.array(levels, dtype=np.float64)))
    # Kappa uses ratios of distances between levels; the absolute error counts steps.
    step = 1.0 if spec.measured.function.of == "mae" else steps[0]
    if np.allclose(steps, step):
        return
    yield finding(
        "levels_by_rank",
        levels=listed([str(label) for label in levels], most=_MOST_NAMED),
        metric=spec.metric.name,
    )


def _is_number(label: object) -> bool:
    return isinstance(label, (int, float)) and not isinstance(label, bool)


def left_out_finding(spec: LabelSpec, codes: IntArray) -> Finding:
    """Return findings about classes that are never true and are excluded from averages."""
    never_true, it = _never_true(spec, codes), _it(codes)
    ours, theirs = spec.observed, _over_predicted(spec)
    if all(abs(share - other) < 1e-12 for share, other in zip(ours, theirs, strict=True)):
        return finding("class_without_truth/left_out", never_true=never_true, it=it)
    named = zip(spec.view.models, theirs, strict=True)
    return finding(
        "predicted_never_true",
        never_true=never_true,
        it=it,
        other=_WHO_ELSE[spec.data.kind],
        values=listed([f"{value:.4f} for {model}" for model, value in named], most=_MOST_NAMED),
    )


_WHO_ELSE = {
    "classes": "scikit-learn without named labels",
    "label_sets": "scikit-learn without named labels",
    "spans": "seqeval",
}


def _over_predicted(spec: LabelSpec) -> list[float]:
    """Return each model's value averaged over all classes it predicts, true or not."""
    values, view = [], in_weights(spec.view)
    spec = replace(spec, view_prevalence=None, view_errors=None)
    for index, model in enumerate(view.models):
        margins = view.margins(model)
        classes = np.flatnonzero((margins.actual > 0) | (margins.predicted > 0))
        if view.kind == "label_sets":  # labels are the columns of a matrix, and all of them count
            classes = np.arange(view.n_classes)
        restricted = replace(spec, classes=tuple(classes.tolist()))
        values.append(restricted.observed[index])
    return values


def _cell_findings(spec: LabelSpec) -> Iterator[Finding]:
    sparse = []
    for model in spec.view.models:
        for part in ("tp", "fn", "fp"):
            count = count_of(spec.view, model, part, positive=spec.positive)
            if count < FEW_ITEMS * spec.counting.times:
                sparse.append(f"{model} has {counted(count, _PARTS[part])}")
    if sparse:
        cells = clauses(sparse, most=_MOST_NAMED)
        yield finding("sparse_cells", cells=f"{cells}{often(spec.counting.times)}")


def _never_asked(spec: LabelSpec, empty: IntArray) -> str:
    """Describe classes that are never true or, for spans, the requested type."""
    if spec.data.kind != "spans" or spec.positive is None:
        return _never_true(spec, empty)
    label = spec.pos_label
    return "There are no true spans" if label is None else f"No true span is of type {label!r}"


def _never_true(spec: LabelSpec, codes: IntArray) -> str:
    """Describe classes, or span types, that are never true."""
    if spec.data.kind == "spans":
        return f"No true span is of type {_names(spec.view.labels, codes)}"
    return f"{_classes(spec, codes)} never true"


def _silent(spec: LabelSpec, codes: IntArray) -> str:
    """Describe classes that a model never predicts."""
    if spec.positive is None or spec.view.n_classes > 2:
        return _names(spec.view.labels, codes)
    if spec.data.kind == "spans":
        label = spec.pos_label
        return "a span" if label is None else f"a span of type {label!r}"
    return "the positive class" if spec.positive in codes else "the negative class"


_NOUNS = {"spans": ("types", "true spans"), "label_sets": ("labels", "items")}
_PARTS = {"tp": "true positives", "fn": "false negatives", "fp": "false positives"}


def _classes(spec: LabelSpec, codes: IntArray) -> str:
    if spec.positive is not None and spec.view.n_classes <= 2:
        side = "The positive class" if spec.positive in codes else "The negative class"
        return f"{side} is"
    singular, many = ("Label", "Labels") if spec.view.kind == "label_sets" else ("Class", "Classes")
    verb = singular if codes.size == 1 else many
    return f"{verb} {_names(spec.view.labels, codes)} {'is' if codes.size == 1 else 'are'}"


def _names(labels: tuple[object, ...], codes: IntArray) -> str:
    return quoted([labels[code] for code in codes])


def _it(codes: IntArray) -> str:
    return "it" if codes.size == 1 else "them"


Pull = tuple[float, float, float]
"""Observed value with the posterior mean and sd."""


def pull_findings(
    spec: Spec, levels: Mapping[str, Pull], difference: Pull | None = None
) -> Iterator[Finding]:
    """Yield ``prior_pull`` for the difference and ``prior_pull_on_levels`` for single models.

    The bootstrap has no prior that could pull. With ``"learned"``, the shrinkage of rare classes is
    intended, and it is the observed value that is biased.
    """
    if spec.prior.name == "bootstrap":
        return
    learned = spec.prior.name == "learned"
    if difference is not None and is_pulled(*difference) and not learned:
        yield finding(
            "prior_pull/prior" if spec.prior.proper else "prior_pull/unknown",
            observed=difference[0],
            mean=difference[1],
        )
    elif (
        isinstance(spec, LabelSpec)
        and spec.prior.shapes is not None
        and spec.view.n_classes > 3
        and spec.view.kind != "label_sets"
    ):
        spans = spec.data.kind == "spans"
        nouns, other = ("types", "'unit'") if spans else ("classes", "'unit' or 'learned'")
        yield finding("prior_pull/cells", n=spec.view.n_classes, classes=nouns, priors=other)
    pulled = [
        f"{model} (observed {value[0]:.4f}, posterior mean {value[1]:.4f})"
        for model, value in levels.items()
        if is_pulled(*value)
    ]
    if not pulled:
        return
    means = clauses(pulled, most=_MOST_NAMED)
    if isinstance(spec, LabelSpec) and isinstance(spec.measured.function, Ordinal):
        yield finding("prior_pull_on_levels/ordinal", means=means)
    else:
        yield finding(
            "prior_pull_on_levels/learned" if learned else "prior_pull_on_levels/fixed",
            means=means,
        )


def is_pulled(observed: float, mean: float, sd: float) -> bool:
    """Return whether a posterior mean is more than half a posterior sd from the observed value."""
    return abs(mean - observed) > 0.5 * sd


def rope_findings(rope: Rope) -> Iterator[Finding]:
    """Yield findings about the ROPE."""
    if rope.default:
        yield finding("default_rope", rope=rope)
    if rope.low == rope.high:
        yield finding("zero_width_rope")


def interval_findings(
    spec: Spec, numbers: Summary, rope: Rope, masses: Masses, *, n_draws: float | None
) -> Iterator[Finding]:
    """Yield findings about a decision that is near an edge, or that differs with equal tails.

    Parameters
    ----------
    spec
        The question.
    numbers
        Intervals of the result.
    rope, masses
        The ROPE, and the posterior mass on each side of it.
    n_draws
        Number of independent draws that the masses are based on; None for a closed form.
    """
    hdi, eti = numbers.hdi, numbers.eti
    gap, error = margin(hdi, rope)
    if n_draws is not None and gap < SAFE_ERRORS * error:
        yield finding("monte_carlo_too_coarse/edge", gap=gap, errors=SAFE_ERRORS, error=error)
    better = spec.metric.greater_is_better
    by_hdi = decide(hdi, rope, masses, greater_is_better=better)
    by_eti = decide(eti, rope, masses, greater_is_better=better)
    if n_draws is not None and not by_hdi.decided:
        sides = (masses.below, masses.inside, masses.above)
        nearest = min(sides, key=lambda mass: abs(mass - TWO_THIRDS))
        blur = probability_error(nearest, n_draws)
        if abs(nearest - TWO_THIRDS) < SAFE_ERRORS * blur:
            yield finding(
                "monte_carlo_too_coarse/leaning", mass=nearest, errors=SAFE_ERRORS, error=blur
            )
    if by_hdi is not by_eti:
        yield finding(
            "hdi_and_equal_tails_disagree",
            low=eti.low,
            high=eti.high,
            symbol=by_eti.symbol,
            words=by_eti.words,
        )
