"""``rank``: which of many models is best?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

import numpy as np

from outperform._typing import ColumnLike, FloatArray, Label, LabelsLike, ModelsLike, OfRows, Seed
from outperform.comparison.api import one_estimate, summarize_comparison
from outperform.data.labels import is_frame
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.views import named
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import check_prob
from outperform.decision.ranks import expected_ranks, loss_errors, losses, rank_probabilities
from outperform.decision.rope import (
    Decision,
    Rope,
    RopeLike,
    decide,
    masses_from_draws,
    mean_error,
)
from outperform.errors import ResourceError, UsageError, either, param
from outperform.findings import Finding, finding
from outperform.inference import diagnostics, engine
from outperform.inference.disagreements import repeated_findings
from outperform.inference.engine import Answer
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    Data,
    OfTwo,
    Spec,
    data_of,
    make_spec,
    refuse_counted,
    rope_for,
)
from outperform.inference.spelling import unless_told
from outperform.inference.suite import Suite
from outperform.inference.summary import seed_name, sign
from outperform.metrics.metric import MetricLike
from outperform.posterior.hierarchical import pool_models
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.ranking.pairs import (
    Matrix,
    all_pairs,
    in_order,
    ranking_findings,
    spelled_pairs,
    unless_spelled,
)
from outperform.ranking.result import RankedModel, Ranking
from outperform.results.base import verb as feature
from outperform.results.comparison import Comparison

if TYPE_CHECKING:
    from outperform.suite.result import SuiteRanking

_POOLING_STREAM = 1 << 31  # beyond the blocks of draws


def joint_draws(
    spec: Spec, *, n_draws: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Return joint draws of all models ``(n_models, n_draws)``, pooled and before pooling."""
    (answered,) = engine.answer([spec], n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    # Less is turned round where it is better, so that a loss mirrors its metric.
    sign = 1.0 if spec.metric.greater_is_better else -1.0
    low, high = sorted(sign * bound for bound in spec.metric.bounds)
    pooled = pool_models(
        sign * answered.values,
        generator=np.random.Generator(np.random.SFC64(child(seed, _POOLING_STREAM))),
        bounds=(low, high),
        n_items=spec.n if spec.n_groups is None else spec.n_groups,
    )
    return sign * pooled, answered.values


def summarize_ranking(
    spec: Spec,
    values: FloatArray,
    raw: FloatArray,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> Ranking:
    """Turn joint draws ``(n_models, n_draws)``, pooled and before pooling, into a ranking.

    Pooled draws make the order, P(best), ranks and regret. Pairs and their decisions are made of
    the draws before pooling, so that no firm decision rests on shrinkage alone.
    """
    observed = engine.observed(spec)
    better, n_draws = spec.metric.greater_is_better, values.shape[1]
    order = _best_first(spec.view.models, values, better)
    pairs = all_pairs(spec, raw, observed, rope=rope, prob=prob, n_jobs=n_jobs)
    spelled = unless_spelled(
        spec, in_order(pairs, order), rope=rope, prob=prob, n_draws=n_draws, seed=seed
    )
    pairs = spelled.pairs
    signed = sign("rank", spec, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed))
    signature = f"{signed} | models={len(order)}"
    rows = _rows(
        spec,
        values,
        raw,
        order,
        pairs,
        observed=observed,
        rope=rope,
        prob=prob,
        signature=signature,
    )
    pulled = {
        row.name: (row.observed, row.raw.mean, row.raw.sd)
        for row in sorted(rows, key=lambda row: row.name)
    }
    of_pairs = tuple(spelled_pairs(spec, spelled))
    findings = (
        *diagnostics.rope_findings(rope),
        *unless_told(diagnostics.table_findings(spec), of_pairs),
        *of_pairs,
        *diagnostics.pull_findings(spec, pulled),
        *ranking_findings(spec, spelled, n_draws=n_draws),
        *_of_the_order(values[order[0]] - values[order[1]], pairs),
        *_of_the_first_two(spec, order, pairs),
    )
    return Ranking(
        spec=spec,
        rows=rows,
        pairs=pairs,
        rope=rope,
        draws=values[order],
        raw_draws=raw[order],
        findings=findings,
        signature=signature,
        seed=seed,
    )


def _of_the_order(pooled: FloatArray, pairs: Matrix) -> Iterator[Finding]:
    """Yield whether the pooled means of the first two are too close to say who comes first."""
    first = pairs[0][1]
    assert first is not None
    gap, error = abs(float(pooled.mean())), mean_error(float(pooled.std(ddof=1)), pooled.size)
    if gap < diagnostics.SAFE_ERRORS * error:
        yield finding(
            "monte_carlo_too_coarse/first",
            first=first.names[0],
            second=first.names[1],
            gap=gap,
            errors=diagnostics.SAFE_ERRORS,
            error=error,
        )


def _of_the_first_two(spec: Spec, order: Sequence[int], pairs: Matrix) -> Iterator[Finding]:
    """Yield what ids that repeat would do to the difference of the two best."""
    pair = pairs[0][1]
    if pair is not None:
        yield from repeated_findings(spec, pair.sd, models=order[:2])


def _best_first(names: Sequence[str], values: FloatArray, better: bool) -> list[int]:
    """Order by the mean, which is the order of regret; names settle what is equal."""
    sign = -1.0 if better else 1.0
    means = sign * values.mean(axis=1)
    return sorted(range(len(names)), key=lambda place: (means[place], names[place]))


def _rows(
    spec: Spec,
    values: FloatArray,
    raw: FloatArray,
    order: Sequence[int],
    pairs: Matrix,
    *,
    observed: Sequence[float],
    rope: Rope,
    prob: float,
    signature: str,
) -> tuple[RankedModel, ...]:
    better, n_draws = spec.metric.greater_is_better, values.shape[1]
    p_rank = rank_probabilities(values, greater_is_better=better)
    ranks = expected_ranks(p_rank, n_draws)
    lost = losses(values, greater_is_better=better)
    lost_errors = loss_errors(values, greater_is_better=better)
    allowed = -rope.low if better else rope.high
    pooled, alone = (
        Answer(values=draws, of_models=(None,) * len(order), of_difference=None)
        for draws in (values, raw)
    )  # draws are the one source of all numbers, so that they agree with each other
    rows = []
    for place, model in enumerate(order):
        own: dict[str, Any] = {"observed": observed[model], "prob": prob, "signature": signature}
        against = pairs[place][0]
        decision = None if against is None else against.decision
        shrunk = values[model] - values[order[0]]
        rows.append(
            RankedModel(
                estimate=one_estimate(spec, pooled, model, **own),
                raw=one_estimate(spec, alone, model, **own),
                p_rank=p_rank[model],
                expected_rank=float(ranks.mean[model]),
                expected_rank_mcse=float(ranks.mcse[model]),
                regret=float(lost[model].mean()),
                regret_mcse=float(lost_errors[model]),
                p_practically_best=float((lost[model] <= allowed).mean()),
                decision=decision,
                tied=decision is not Decision.WORSE
                or not is_worse(shrunk, rope, prob, greater_is_better=better),
            )
        )
    return tuple(rows)


def is_worse(draws: FloatArray, rope: Rope, prob: float, *, greater_is_better: bool) -> bool:
    """Return whether the whole HDI of draws of a difference lies on the worse side of the ROPE."""
    ordered = np.sort(draws)
    decision = decide(
        narrowest(ordered, prob),
        rope,
        masses_from_draws(ordered, rope),
        greater_is_better=greater_is_better,
    )
    return decision is Decision.WORSE


_MOST_VALUES = 200_000_000
_MOST_SPAN_CELLS = 1 << 16


class _OfMany(OfTwo, total=False):
    metric: MetricLike | None


class _OfManyArrays(_OfMany, OfRows, total=False):
    pass


@overload
def rank(
    y_true: Suite, predictions: Iterable[str] | None = None, **asked: Unpack[_OfMany]
) -> SuiteRanking: ...


@overload
def rank(
    y_true: Outcomes | Scores, predictions: Iterable[str] | None = None, **asked: Unpack[_OfMany]
) -> Ranking: ...


@overload
def rank(
    y_true: LabelsLike | None, predictions: ModelsLike, **asked: Unpack[_OfManyArrays]
) -> Ranking: ...


def rank(
    y_true: Suite | Outcomes | Scores | LabelsLike | None,
    predictions: Iterable[str] | ModelsLike | None = None,
    *,
    metric: MetricLike | None = None,
    rope: RopeLike | None = None,
    hdi_prob: float = 0.95,
    prior: PriorLike | None = None,
    paired: bool = True,
    n_draws: int | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    groups: ColumnLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> Ranking | SuiteRanking:
    """Rank many classifiers from one set of weights of the same items.

    Every draw gives all models a value at once, so what they share cancels in their
    differences. Three or more models are exchangeable beforehand: how far apart their true
    values are is learned from all of them, and the draws are pooled accordingly. So P(best)
    comes true about as often as it says over models that differ more or less, and the leader's
    value is not that of its luck. What the data say of each model alone is its ``raw``.

    Pooling makes probabilities and the order of the models, never a decision: the difference of
    two models, its interval and its decision are those of :func:`compare`. The leader was chosen
    by looking, so a model that is worse than it (≪) could still be best; it is ruled out where
    the pooled difference says the same.

    Parameters
    ----------
    y_true
        The true labels, :class:`Outcomes` or :class:`Scores`; None where grades have no truth. Or
        a :class:`Suite` of many tasks, each with its own metric and ROPE.
    predictions
        The predicted labels, or scores, of each model: a mapping from names, or a frame with a
        column for each model. Of outcomes the names of the models to rank; all if None.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array.
    rope
        The region of practical equivalence of every difference: a half-width or a pair.
        ±0.01 by default.
    hdi_prob
        The mass of the intervals.
    prior
        As for :func:`compare`, with the same defaults; of more than two paired models
        ``"unit"``, ``"learned"``, ``"bootstrap"`` or an array, the prior of the rows of one
        model's confusion matrix. For a model they do not depend on how many others there are.
    paired
        Whether to use that the items are the same, where the data allow it.
    n_draws
        How many draws; 20,000 by default.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        How much to do at a time: None means 1, as in scikit-learn, and -1 all cores that this
        process may use; the draws do not depend on it.
    labels
        The classes averaged over; by default those that are ever true. No row is dropped.
    pos_label
        The positive class of a binary metric.
    groups
        The group of each item, such as its author or its prompt, if groups rather than
        items should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> ranking = op.rank(news.y_true, news.predictions, metric="f1_macro", rope=0.01,
    ...                   random_state=1)
    >>> ranking.names
    ('nb_mult', 'svm_l2', 'svm_l1', 'nb_bern')
    >>> ranking.tied
    ('nb_mult',)
    """
    if isinstance(y_true, Suite):
        found: SuiteRanking = feature("rank_suite")(
            y_true,
            predictions,
            metric=metric,
            rope=rope,
            hdi_prob=hdi_prob,
            prior=prior,
            paired=paired,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=n_jobs,
            labels=labels,
            pos_label=pos_label,
            groups=groups,
            sample_weight=sample_weight,
        )
        return found
    seen = _models(
        y_true,
        predictions,
        metric=metric,
        labels=labels,
        sample_weight=sample_weight,
        groups=groups,
    )
    spec = make_joint_spec(
        seen,
        metric=metric,
        prior=prior,
        paired=paired,
        labels=labels,
        pos_label=pos_label,
    )
    prob, rope = check_prob(hdi_prob), rope_for(spec, rope)
    seed, draws = seed_sequence(random_state), check_many_draws(n_draws, len(seen.models))
    values, raw = joint_draws(spec, n_draws=draws, seed=seed, n_jobs=n_jobs)
    return summarize_ranking(spec, values, raw, rope=rope, prob=prob, seed=seed, n_jobs=n_jobs)


def _models(
    y_true: Outcomes | Scores | LabelsLike | None,
    predictions: Iterable[str] | ModelsLike | None,
    *,
    groups: ColumnLike | None,
    sample_weight: ColumnLike | None,
    **columns: Any,
) -> Data:
    """Return what was seen of all models, in the order of their names.

    The order in which they were given then changes nothing at all, not even the draws.
    """
    rows: OfRows = {"groups": groups, "sample_weight": sample_weight}
    seen: Data
    names: tuple[str, ...]
    if isinstance(y_true, (Outcomes, Scores)):
        if isinstance(predictions, (str, Mapping)) or is_frame(predictions):
            raise UsageError("with outcomes, name the models, e.g. rank(outcomes, ['bert', 'gpt'])")
        refuse_counted(**rows)
        chosen = y_true.models if predictions is None else cast(Iterable[str], predictions)
        names, seen = tuple(chosen), y_true
    else:
        if not isinstance(predictions, Mapping) and not is_frame(predictions):
            raise UsageError(
                "give the predictions of each model by name, e.g. "
                "rank(y_true, {'bert': pred_1, 'gpt': pred_2}), or as a frame"
            )
        models = named(predictions)
        names = tuple(models)
        seen = data_of(y_true, models, **rows, **columns)
    if len(names) < 2:
        raise UsageError(f"a ranking needs at least two models; got {list(names)}")
    return seen.select(sorted(names))


def make_joint_spec(seen: Data, *, prior: PriorLike | None, **asked: Any) -> Spec:
    """Ask about any number of models at once, under a prior that does not count them."""
    spec = make_spec(seen, prior=prior, **asked)
    n_models = len(seen.models)
    if isinstance(spec, ScoreSpec) or not spec.paired or n_models == 2:
        return spec
    shapes = spec.prior.shapes
    if shapes is not None and shapes.rows.ndim != 2:
        raise UsageError(
            f"prior {spec.prior.name!r} is on every combination of the models' answers, which "
            f"would change with every model; use {param('prior=', 'unit')}"
            + either(", paired=False, or an array for the rows of one model's confusion matrix", "")
        )
    cells = spec.view.n_classes * 2 ** (1 + n_models)
    if spec.data.kind == "spans" and spec.prior.proper and cells > _MOST_SPAN_CELLS:
        raise ResourceError(
            f"with {n_models} models there are {cells:,} combinations of who found a span, more "
            f"than {_MOST_SPAN_CELLS:,}; use {param('prior=', 'bootstrap')}, which needs only what "
            "occurred"
        )
    return spec


def check_many_draws(n_draws: object, n_models: int) -> int:
    """Return a number of draws that all models together have room for."""
    checked = engine.check_draws(n_draws)
    if checked * n_models > _MOST_VALUES:
        gigabytes = checked * n_models * 8 / 1e9
        raise ResourceError(
            f"{checked:,} draws of {n_models} models would take {gigabytes:,.0f} GB; draw at most "
            f"{_MOST_VALUES // n_models:,} with {param('n_draws=')}"
        )
    return checked


def compare_ranked(ranking: Ranking, a: str, b: str) -> Comparison:
    """Compare two models of a ranking as if alone, by the draws that its pairs are made of."""
    ranking.pair(a, b)  # says so if there are no such two
    given = ranking.spec.choices
    spec = make_spec(
        ranking.spec.data.select([a, b]),
        metric=ranking.spec.metric,
        prior=ranking.spec.prior,
        paired=given.paired,
        labels=given.labels,
        pos_label=given.pos_label,
    )
    answered = Answer(
        values=ranking.raw_draws[[ranking.names.index(a), ranking.names.index(b)]],
        of_models=(None, None),
        of_difference=None,
    )
    return summarize_comparison(
        spec,
        answered,
        rope=ranking.rope,
        prob=ranking.leader.hdi.prob,
        seed=ranking.seed,
        verb="compare within rank",
    )


def rank_with_rope(ranking: Ranking, rope: RopeLike | None) -> Ranking:
    """Judge the draws of a ranking under another ROPE."""
    spec = ranking.spec
    order = [ranking.names.index(name) for name in spec.view.models]
    return summarize_ranking(
        spec,
        ranking.draws[order],
        ranking.raw_draws[order],
        rope=rope_for(spec, rope),
        prob=ranking.leader.hdi.prob,
        seed=ranking.seed,
        n_jobs=-1,
    )
