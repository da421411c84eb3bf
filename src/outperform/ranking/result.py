"""``Ranking``: models from best to worst, all pairs, and ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from outperform._json import MaybeNaN, to_json, written
from outperform._typing import (
    Axes,
    FigureSize,
    FloatArray,
)
from outperform.comparison.result import Comparison, summarize_comparison
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import Interval
from outperform.decision.ranks import expected_ranks, loss_errors, losses, rank_probabilities
from outperform.decision.rope import (
    Decision,
    Rope,
    RopeLike,
    decide,
    masses_from_draws,
    mean_error,
    probability_error,
)
from outperform.display.document import Document
from outperform.display.figure_style import SHORT_NAME
from outperform.display.forest_figure import draw_forest, draw_ranking
from outperform.display.formats import latex_label
from outperform.display.layout import Page, plain
from outperform.display.table import Table
from outperform.errors import ResourceError, UsageError, either, param, unknown_name
from outperform.findings import Finding, finding
from outperform.inference import diagnostics, engine
from outperform.inference.disagreements import repeated_findings
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import (
    Data,
    Spec,
    again,
    make_spec,
    rope_for,
)
from outperform.inference.spelling import unless_told
from outperform.inference.summary import (
    seed_name,
    sign,
)
from outperform.inference.thresholds import SAFE_ERRORS
from outperform.metrics.metric import MetricLike
from outperform.posterior.hierarchical import pool_models
from outperform.ranking.front import Front, front_of
from outperform.ranking.pairs import (
    MOST_FOR_ALL_PAIRS,
    Matrix,
    Pair,
    Spelled,
    above_diagonal,
    ask_two,
    close_pairs_alone,
    compare_pairs,
    in_order,
    pairs_to_compare,
    plot_decisions,
    plot_ranks,
    ranking_findings,
    spelled_pairs,
    unless_spelled,
)
from outperform.ranking.text import (
    is_pooled,
    pairs_table,
    ranking_document,
    ranking_headline,
    ranking_paragraph,
    ranking_table,
    ranking_title,
)
from outperform.results.base import Tabular
from outperform.results.estimate import Estimate, one_estimate

_ON_A_SCREEN = 20


@written(
    "name observed mean sd mcse hdi raw{mean sd mcse hdi} p_best p_practically_best p_rank "
    "expected_rank regret mc_errors decision tied"
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RankedModel:
    """Model in a ranking.

    Parameters
    ----------
    estimate
        Pooled posterior, the basis of ranks, regret and P(best).
    raw
        Unpooled posterior, as in :func:`estimate`.
    p_rank
        Probability of each rank, starting with the best.
    expected_rank, expected_rank_mcse
        Mean rank, counted from 1, and its Monte Carlo standard error.
    regret, regret_mcse
        Expected loss, in units of the metric, of choosing this model instead of the best one in
        each draw, and its Monte Carlo standard error.
    p_practically_best
        Probability that the model is not worse than the best model by more than the ROPE.
    decision
        Decision on its difference from the leader, before pooling, as from :func:`compare`; None
        for the leader.
    tied
        Whether the model could still be best: it is the leader, or it is not worse than the leader
        both before and after pooling.
    """

    estimate: Estimate
    raw: Estimate
    p_rank: FloatArray = field(repr=False)
    expected_rank: float
    expected_rank_mcse: float
    regret: float
    regret_mcse: float
    p_practically_best: float
    decision: Decision | None
    tied: bool

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.estimate.name

    @property
    def observed(self) -> MaybeNaN:
        """Plug-in value, as in scikit-learn."""
        return self.estimate.observed

    @property
    def mean(self) -> float:
        """Pooled posterior mean; ``raw.mean`` is the unpooled mean."""
        return self.estimate.mean

    @property
    def sd(self) -> float:
        """Posterior standard deviation."""
        return self.estimate.sd

    @property
    def mcse(self) -> float:
        """Monte Carlo standard error of the mean."""
        return self.estimate.mcse

    @property
    def hdi(self) -> Interval:
        """Highest density interval."""
        return self.estimate.hdi

    @property
    def p_best(self) -> float:
        """Probability of being the best; tied models share a draw."""
        return float(self.p_rank[0])

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo standard errors."""
        n_draws = self.estimate.draws.size
        return {
            **self.estimate.mc_errors,
            "p_best": probability_error(self.p_best, n_draws),
            "p_practically_best": probability_error(self.p_practically_best, n_draws),
            "expected_rank": self.expected_rank_mcse,
            "regret": self.regret_mcse,
        }

    def __repr__(self) -> str:
        return (
            f"RankedModel({self.name}: P(best) {self.p_best:.3f}, expected rank "
            f"{self.expected_rank:.2f}, regret {self.regret:.4f})"
        )


@written(
    "names *spec paired=spec.paired rope hdi_prob=leader.hdi.prob n_draws=_n_draws "
    "leader=leader.name tied p_best_not_tied models=rows decisions=_symbols pairs=_pairs findings "
    "signature",
    kind="ranking",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ranking(Tabular):
    """Joint posterior of many models in a metric, with ranks, ties and decisions.

    The models are ordered by regret, which is also the order of their means. The first is the
    leader. Everything with one value per model is in this order.

    Parameters
    ----------
    spec
        Data, metric, prior and other settings.
    rows
        The models, starting with the leader.
    pairs
        Difference row − column of each pair of models, before pooling; None on the diagonal. With
        more than 100 models, only the pairs with the leader are compared at once, and the others
        are None; :meth:`pair` compares any two.
    rope
        Region of practical equivalence.
    draws
        Pooled joint draws, ``(n_models, n_draws)``.
    unpooled_draws
        Joint draws before pooling, the basis of the decisions on pairs.
    findings
        Findings about data and result.
    signature
        One line that describes how the result was computed.
    seed
        Seed of the draws.

    Examples
    --------
    >>> import outperform as op
    >>> outcomes = op.Outcomes.from_correct({
    ...     "a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40, "c": [0] * 10 + [1] * 90})
    >>> ranking = op.rank(outcomes, metric="accuracy", rope=0.01, random_state=1)
    >>> sorted(ranking.tied), ranking.names[-1], ranking["b"].decision.symbol
    (['a', 'c'], 'b', '≪')
    """

    spec: Spec
    rows: tuple[RankedModel, ...]
    pairs: Matrix = field(repr=False)
    rope: Rope
    draws: FloatArray = field(repr=False)
    unpooled_draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence
    _alone: frozenset[frozenset[str]] = field(default=frozenset(), repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RankedModel]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> RankedModel:
        return self.rows[self._index(name)]

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(unknown_name("model", name, self.names))
        return self.names.index(name)

    # Numbers of the posterior

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models, starting with the leader."""
        return tuple(row.name for row in self.rows)

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.spec.metric.name

    @property
    def n(self) -> int:
        """Number of items."""
        return self.spec.n

    @property
    def leader(self) -> RankedModel:
        """Model with the smallest regret, and so the best mean."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[str, ...]:
        """Names of the models that could still be best: the leader, and all models not ruled out.

        A model is ruled out if its decision against the leader is worse (≪) and the HDI of its
        pooled difference from the leader also lies entirely on the worse side of the ROPE. The
        first condition alone would rule out too many models, as the leader was chosen on the same
        data. The second alone would be a decision that the data of the two models do not support.
        """
        return tuple(row.name for row in self.rows if row.tied)

    @property
    def p_best_not_tied(self) -> float:
        """Probability that the best model is not among those tied."""
        return float(sum(row.p_best for row in self.rows if not row.tied))

    @property
    def p_rank(self) -> FloatArray:
        """Probability of each rank, ``(n_models, n_models)``; rows and columns sum to 1."""
        return np.stack([row.p_rank for row in self.rows])

    @property
    def decisions(self) -> tuple[tuple[Decision | None, ...], ...]:
        """Decision on row − column for each pair, before pooling; None where ``pairs`` is None.

        It is the same decision as in :meth:`compare`.
        """
        return tuple(
            tuple(None if pair is None else pair.decision for pair in row) for row in self.pairs
        )

    @property
    def _n_draws(self) -> int:
        """Number of draws."""
        return int(self.draws.shape[1])

    @property
    def _symbols(self) -> tuple[tuple[str | None, ...], ...]:
        """Decision on row − column for each pair, as a symbol."""
        return tuple(
            tuple(None if decision is None else decision.symbol for decision in row)
            for row in self.decisions
        )

    @property
    def _pairs(self) -> tuple[Pair, ...]:
        """Difference of each compared pair, with the higher-ranked model as A."""
        return tuple(above_diagonal(self.pairs))

    @property
    def differences(self) -> FloatArray:
        """Mean of row − column for each pair, before pooling."""
        means = self.unpooled_draws.mean(axis=1)
        rows = zip(means, self.pairs, strict=True)
        return np.array(
            [
                [
                    row - column if pair is None else pair.mean
                    for column, pair in zip(means, pairs, strict=True)
                ]
                for row, pairs in rows
            ]
        )

    def pair(self, a: str, b: str) -> Pair:
        """Return the difference A − B between two of the models, before pooling.

        Parameters
        ----------
        a, b
            Names of the models.
        """
        i, j = self._index(a), self._index(b)
        if i == j:
            raise UsageError(f"the two models must differ; got {a!r} twice")
        pair = self.pairs[i][j]
        if pair is None:
            pair = self._compare_alone(i, j).spelled.pairs[i][j]
        assert pair is not None
        return pair

    def _compare_alone(self, i: int, j: int) -> _Decided:
        """Return what a ranking of all pairs would return about the pair of two positions."""
        order = [self.spec.view.models.index(name) for name in self.names]
        first, second = sorted((order[i], order[j]))
        return _decide_pairs(
            self.spec,
            self.unpooled_draws[np.argsort(order)],
            [(first, second)],
            order,
            rope=self.rope,
            prob=self.leader.hdi.prob,
            seed=self.seed,
            n_jobs=None,
        )

    # Additional results from the same draws

    def compare(self, a: str, b: str) -> Comparison:
        """Return the full comparison of two of the models, regardless of the other models.

        It uses the draws that the pair's decision is based on: ``unpooled_draws``, or separate
        draws of the two models if these could change the decision.

        Parameters
        ----------
        a, b
            Names of the models. The difference is A − B.
        """
        self.pair(a, b)  # unknown or equal names raise an error
        spec = again(self.spec, self.spec.data.select([a, b]), prior=self.spec.prior)
        values = self.unpooled_draws[[self.names.index(a), self.names.index(b)]]
        i, j = self._index(a), self._index(b)
        decided = self.pairs[i][j] is not None
        alone = self._alone if decided else self._compare_alone(i, j).alone
        if frozenset((a, b)) in alone:
            first, second = sorted((a, b))
            _, answered = ask_two(
                self.spec,
                (first, second),
                n_draws=self.draws.shape[1],
                seed=self.seed,
                n_jobs=None,
            )
            values = answered.values[:: 1 if a == first else -1]
        answer = Answer(values=values, of_models=(None, None), of_difference=None)
        return summarize_comparison(
            spec,
            answer,
            rope=self.rope,
            prob=self.leader.hdi.prob,
            seed=self.seed,
            verb="compare within rank",
        )

    def front(self, *metrics: MetricLike) -> Front:
        """Return the probability of each model to be on the Pareto front of several metrics.

        A model is on the front if no other is at least as good in all metrics and better in one.
        The probabilities come from joint draws before pooling.

        Parameters
        ----------
        metrics
            Two or more metrics of the ranking's data, such as ``"recall"`` and ``"precision"``.
        """
        return front_of(
            self.spec,
            metrics,
            n_draws=self._n_draws,
            seed=self.seed,
            signature=self.signature,
        )

    def with_rope(self, rope: RopeLike | None) -> Ranking:
        """Return the same ranking with another ROPE, from the same draws.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        order = [self.names.index(name) for name in self.spec.view.models]
        return summarize_ranking(
            self.spec,
            self.draws[order],
            self.unpooled_draws[order],
            rope=rope_for(self.spec, rope),
            prob=self.leader.hdi.prob,
            seed=self.seed,
            n_jobs=-1,
        )

    # Texts, tables and figures

    def table(self) -> Table:
        """Return one row per model, starting with the leader."""
        return ranking_table(self.to_dict())

    def pair_table(self) -> Table:
        """Return one row per pair of models, with the higher-ranked model as A."""
        facts = self.to_dict()
        return pairs_table(facts, facts["pairs"])

    def text(self, top: int | None = _ON_A_SCREEN) -> str:
        """Return the answer for a terminal.

        Parameters
        ----------
        top
            Number of models to show, starting with the best; all if None.
        """
        return plain(self._document(top).lines(Page()))

    def _document(self, top: int | None = _ON_A_SCREEN) -> Document:
        return ranking_document(self.to_dict(), top=top)

    def report(self) -> str:
        """Return a paragraph for a paper."""
        return ranking_paragraph(self.to_dict())

    def _latex_label(self) -> str:
        return latex_label("rank", self.metric)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the interval of each model, with a band behind those that could still be best.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        facts = self.to_dict()
        return draw_ranking(
            facts["models"],
            metric=self.spec.metric.label,
            greater_is_better=self.spec.metric.greater_is_better,
            pooled=is_pooled(facts),
            title=self._title(),
            ax=ax,
            size=size,
        )

    def plot_ranks(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the probability of each rank, one row per model.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_ranks(self.to_dict(), title=self._title(), ax=ax, size=size)

    def plot_matrix(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the decision on each difference row − column.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        if len(self) > MOST_FOR_ALL_PAIRS:
            raise UsageError(
                f"a matrix shows at most {MOST_FOR_ALL_PAIRS} models, and this ranking has "
                f"{len(self):,}; plot_differences() shows every model beside the leader"
            )
        return plot_decisions(self.to_dict(), title=self._title(), ax=ax, size=size)

    def plot_differences(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the difference of each other model from the leader, with its decision.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        rope = to_json(self.rope)
        rows = [
            {**to_json(self.pair(name, self.leader.name)), "key": name, "rope": rope}
            for name in self.names[1:]
        ]
        metric = self.spec.metric
        return draw_forest(
            rows,
            names=("model", self.leader.name),
            metric=metric.label,
            greater_is_better=metric.greater_is_better,
            title=self._title(),
            ax=ax,
            size=size,
        )

    def _title(self) -> str:
        return ranking_title(self.to_dict(), limit=SHORT_NAME)

    def __repr__(self) -> str:
        facts = to_json(self, "names *spec n_draws=_n_draws tied p_best_not_tied models=rows")
        return f"Ranking({ranking_headline(facts)})"


_POOLING_STREAM = 1 << 31  # not used by any block of draws


def joint_draws(spec: Spec, sampling: Sampling) -> tuple[FloatArray, FloatArray]:
    """Return joint draws of all models ``(n_models, n_draws)``, pooled and before pooling."""
    (answered,) = engine.answer([spec], sampling)
    # If lower is better, the sign is reversed, so a loss gives mirrored results.
    sign = 1.0 if spec.metric.greater_is_better else -1.0
    low, high = sorted(sign * bound for bound in spec.metric.bounds)
    pooled = pool_models(
        sign * answered.values,
        generator=np.random.Generator(np.random.SFC64(sampling.child(_POOLING_STREAM).seed)),
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
    """Return a ranking from joint draws ``(n_models, n_draws)``, pooled and unpooled.

    Order, P(best), ranks and regret come from the pooled draws. Pairs and their decisions come from
    the unpooled draws, so no firm decision depends only on shrinkage.
    """
    observed = spec.observed
    better, n_draws = spec.metric.greater_is_better, values.shape[1]
    order = _best_first(spec.view.models, values, better)
    indices = pairs_to_compare(len(order), leader=order[0])
    spelled, alone = _decide_pairs(
        spec, raw, indices, order, rope=rope, prob=prob, seed=seed, n_jobs=n_jobs
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
        unpooled_draws=raw[order],
        findings=findings,
        signature=signature,
        seed=seed,
        _alone=alone,
    )


class _Decided(NamedTuple):
    """Pairs with their decisions, in the order of a ranking, and the pairs with separate draws."""

    spelled: Spelled
    alone: frozenset[frozenset[str]]


def _decide_pairs(
    spec: Spec,
    raw: FloatArray,
    indices: Sequence[tuple[int, int]],
    order: Sequence[int],
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> _Decided:
    """Compare pairs of models by their unpooled draws; both are indexed as in the spec."""
    n_draws = raw.shape[1]
    pairs = compare_pairs(spec, raw, spec.observed, indices, rope=rope, prob=prob, n_jobs=n_jobs)
    pairs, alone = close_pairs_alone(
        spec, pairs, rope=rope, prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs
    )
    spelled = unless_spelled(
        spec, in_order(pairs, order), rope=rope, prob=prob, n_draws=n_draws, seed=seed
    )
    return _Decided(spelled, alone)


def _of_the_order(pooled: FloatArray, pairs: Matrix) -> Iterator[Finding]:
    """Yield a finding if the pooled means of the two best are too close for a reliable order."""
    first = pairs[0][1]
    assert first is not None
    gap, error = abs(float(pooled.mean())), mean_error(float(pooled.std(ddof=1)), pooled.size)
    if gap < SAFE_ERRORS * error:
        yield finding(
            "monte_carlo_too_coarse/first",
            first=first.names[0],
            second=first.names[1],
            gap=gap,
            errors=SAFE_ERRORS,
            error=error,
        )


def _of_the_first_two(spec: Spec, order: Sequence[int], pairs: Matrix) -> Iterator[Finding]:
    """Yield a finding about the effect of repeated ids on the difference between the two best."""
    pair = pairs[0][1]
    if pair is not None:
        yield from repeated_findings(spec, pair.sd, models=order[:2])


def _best_first(names: Sequence[str], values: FloatArray, better: bool) -> list[int]:
    """Sort by mean (the same order as by regret), then by name."""
    sign = -1.0 if better else 1.0
    means = sign * values.mean(axis=1)
    return sorted(range(len(names)), key=lambda model: (means[model], names[model]))


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
    loss = losses(values, greater_is_better=better)
    errors = loss_errors(values, greater_is_better=better)
    allowed = -rope.low if better else rope.high
    pooled, unpooled = (
        Answer(values=draws, of_models=(None,) * len(order), of_difference=None)
        for draws in (values, raw)
    )  # all numbers come from the same draws, so they are consistent
    rows = []
    for rank, model in enumerate(order):
        numbers: dict[str, Any] = {
            "observed": observed[model],
            "prob": prob,
            "signature": signature,
        }
        pair = pairs[rank][0]
        decision = None if pair is None else pair.decision
        shrunk = values[model] - values[order[0]]
        rows.append(
            RankedModel(
                estimate=one_estimate(spec, pooled, model, **numbers),
                raw=one_estimate(spec, unpooled, model, **numbers),
                p_rank=p_rank[model],
                expected_rank=float(ranks.mean[model]),
                expected_rank_mcse=float(ranks.mcse[model]),
                regret=float(loss[model].mean()),
                regret_mcse=float(errors[model]),
                p_practically_best=float((loss[model] <= allowed).mean()),
                decision=decision,
                tied=decision is not Decision.WORSE
                or not is_worse(shrunk, rope, prob, greater_is_better=better),
            )
        )
    return tuple(rows)


def is_worse(draws: FloatArray, rope: Rope, prob: float, *, greater_is_better: bool) -> bool:
    """Return whether the HDI of a difference lies entirely on the worse side of the ROPE."""
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


def make_joint_spec(data: Data, **choices: Any) -> Spec:
    """Return a spec of any number of models; its prior must not depend on their number."""
    spec = make_spec(data, **choices)
    n_models = len(data.models)
    if isinstance(spec, ScoreSpec) or not spec.paired or n_models == 2:
        return spec
    shapes = spec.prior.shapes
    if shapes is not None and shapes.rows.ndim != 2:
        raise UsageError(
            f"prior {spec.prior.name!r} applies to combinations of the models' predictions, so it "
            f"would depend on the number of models; use {param('prior=', 'unit')}"
            + either(", paired=False, or an array for the rows of one model's confusion matrix", "")
        )
    cells = spec.view.n_classes * 2 ** (1 + n_models)
    if spec.data.kind == "spans" and spec.prior.proper and cells > _MOST_SPAN_CELLS:
        raise ResourceError(
            f"with {n_models} models there are {cells:,} possible combinations of models that "
            f"find a span, more than {_MOST_SPAN_CELLS:,}; use {param('prior=', 'bootstrap')}, "
            "which needs only the observed combinations"
        )
    return spec


def check_many_draws(n_draws: object, n_models: int) -> int:
    """Return the number of draws; raise an error if they do not fit into memory."""
    checked = engine.check_draws(n_draws)
    if checked * n_models > _MOST_VALUES:
        gigabytes = checked * n_models * 8 / 1e9
        raise ResourceError(
            f"{checked:,} draws of {n_models} models would take {gigabytes:,.0f} GB; use at most "
            f"{_MOST_VALUES // n_models:,} with {param('n_draws=')}"
        )
    return checked
