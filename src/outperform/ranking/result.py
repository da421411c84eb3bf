"""``Ranking``: models best first, all pairs, ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

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
from outperform.display.forest_figure import draw_forest
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
from outperform.posterior.hierarchical import pool_models
from outperform.ranking.pairs import (
    Matrix,
    Pair,
    above_diagonal,
    all_pairs,
    ask_two,
    close_pairs_alone,
    in_order,
    mean_matrix,
    plot_decisions,
    plot_ranks,
    ranking_findings,
    spelled_pairs,
    unless_spelled,
)
from outperform.ranking.text import (
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
    "expected_rank regret errors decision tied"
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RankedModel:
    """One model among the others.

    Parameters
    ----------
    estimate
        Its posterior among the others: pooled, as ranks, regret and P(best) are.
    raw
        Its posterior alone, as :func:`estimate` has it.
    p_rank
        The probability of each rank, the best first.
    expected_rank, expected_rank_mcse
        The mean of its rank, counted from 1, and the Monte Carlo error.
    regret, regret_mcse
        How much of the metric is lost, on average, by choosing it instead of the best of
        each draw, and the Monte Carlo error.
    p_practically_best
        The probability that it is not worse than the best of a draw by more than the ROPE.
    decision
        The decision on its difference to the leader, before pooling, as :func:`compare` makes
        it; None for the leader.
    tied
        Whether it could still be best: it is the leader, or not worse than the leader both before
        and after pooling.
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
        """The model."""
        return self.estimate.name

    @property
    def observed(self) -> MaybeNaN:
        """The plug-in value, equal to scikit-learn's."""
        return self.estimate.observed

    @property
    def mean(self) -> float:
        """The posterior mean, pooled; ``raw.mean`` is that of the model alone."""
        return self.estimate.mean

    @property
    def sd(self) -> float:
        """The posterior standard deviation."""
        return self.estimate.sd

    @property
    def mcse(self) -> float:
        """The Monte Carlo error of the mean."""
        return self.estimate.mcse

    @property
    def hdi(self) -> Interval:
        """The narrowest interval."""
        return self.estimate.hdi

    @property
    def p_best(self) -> float:
        """The probability that it is the best; models that tie in a draw share it."""
        return float(self.p_rank[0])

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo errors of its numbers."""
        n_draws = self.estimate.draws.size
        return {
            **self.estimate.errors,
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
    "leader=leader.name tied p_missed models=rows decisions=_symbols pairs=_pairs findings "
    "signature",
    kind="ranking",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ranking(Tabular):
    """The joint posterior of many models in a metric, and what it says.

    The models come in the order of their regret, which is that of their means; the first is
    the leader. Everything that has one value a model has this order.

    Parameters
    ----------
    spec
        What was asked of which outcomes.
    rows
        One for each model, the leader first.
    pairs
        The difference row − column of each two models, before pooling; None on the diagonal.
    rope
        The region of practical equivalence.
    draws
        Joint draws, ``(n_models, n_draws)``, pooled.
    raw_draws
        The same before pooling: what the data say of each model alone, and of each pair.
    findings
        Findings.
    signature
        What makes the result repeatable.
    seed
        The seed of the draws.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40,
    ...                                  "c": [0] * 10 + [1] * 90})
    >>> ranking = op.rank(seen, metric="accuracy", rope=0.01, random_state=1)
    >>> sorted(ranking.tied), ranking.names[-1], ranking["b"].decision.symbol
    (['a', 'c'], 'b', '≪')
    """

    spec: Spec
    rows: tuple[RankedModel, ...]
    pairs: Matrix = field(repr=False)
    rope: Rope
    draws: FloatArray = field(repr=False)
    raw_draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence
    _alone: frozenset[frozenset[str]] = field(default=frozenset(), repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RankedModel]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> RankedModel:
        return self.rows[self._place(name)]

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(unknown_name("model", name, self.names))
        return self.names.index(name)

    # What the draws say

    @property
    def names(self) -> tuple[str, ...]:
        """The models, the leader first."""
        return tuple(row.name for row in self.rows)

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.spec.metric.name

    @property
    def n(self) -> int:
        """The number of items."""
        return self.spec.n

    @property
    def leader(self) -> RankedModel:
        """The model of the least regret, which has the best mean."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[str, ...]:
        """The models that could still be best: the leader, and all that are not ruled out.

        A model is ruled out where its decision against the leader is worse (≪) and the whole HDI
        of its pooled difference to the leader lies on the worse side of the ROPE too. The first
        alone would rule out too many, as the leader was chosen by looking; the second alone would
        be a decision that the data of the two do not support.
        """
        return tuple(row.name for row in self.rows if row.tied)

    @property
    def p_missed(self) -> float:
        """The probability that the best model is not among those tied."""
        return float(sum(row.p_best for row in self.rows if not row.tied))

    @property
    def p_rank(self) -> FloatArray:
        """The probability of each rank, ``(n_models, n_models)``; rows and columns sum to 1."""
        return np.stack([row.p_rank for row in self.rows])

    @property
    def decisions(self) -> tuple[tuple[Decision | None, ...], ...]:
        """The decision on row − column for each two models, before pooling; None on the diagonal.

        It is that of :meth:`compare`.
        """
        return tuple(
            tuple(None if pair is None else pair.decision for pair in row) for row in self.pairs
        )

    @property
    def _n_draws(self) -> int:
        """The number of draws."""
        return int(self.draws.shape[1])

    @property
    def _symbols(self) -> tuple[tuple[str | None, ...], ...]:
        """The decision on row − column for each two models, as a symbol."""
        return tuple(
            tuple(None if one is None else one.symbol for one in row) for row in self.decisions
        )

    @property
    def _pairs(self) -> tuple[Pair, ...]:
        """The difference of each two models, the one that comes first as A."""
        return tuple(above_diagonal(self.pairs))

    @property
    def differences(self) -> FloatArray:
        """The mean of row − column for each two models, before pooling."""
        return mean_matrix(self.pairs)

    def pair(self, a: str, b: str) -> Pair:
        """Return the difference A − B between two of the models, before pooling.

        Parameters
        ----------
        a, b
            Their names.
        """
        found = self.pairs[self._place(a)][self._place(b)]
        if found is None:
            raise UsageError(f"the two models must differ; got {a!r} twice")
        return found

    # The same draws, asked again

    def compare(self, a: str, b: str) -> Comparison:
        """Return the whole comparison of two of the models, as if there were no others.

        It is made of the draws that decided the pair: ``raw_draws``, or those of the two alone
        if these could be decided otherwise.

        Parameters
        ----------
        a, b
            Their names. The difference is A − B.
        """
        self.pair(a, b)  # raises if there are no such two
        spec = again(self.spec, self.spec.data.select([a, b]), prior=self.spec.prior)
        values = self.raw_draws[[self.names.index(a), self.names.index(b)]]
        if frozenset((a, b)) in self._alone:
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

    def with_rope(self, rope: RopeLike | None) -> Ranking:
        """Return the same ranking under another ROPE; nothing is drawn again.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        order = [self.names.index(name) for name in self.spec.view.models]
        return summarize_ranking(
            self.spec,
            self.draws[order],
            self.raw_draws[order],
            rope=rope_for(self.spec, rope),
            prob=self.leader.hdi.prob,
            seed=self.seed,
            n_jobs=-1,
        )

    # Words, tables, pictures

    def table(self) -> Table:
        """Return one row a model, the leader first."""
        return ranking_table(self.to_dict())

    def pair_table(self) -> Table:
        """Return one row for each two models, the one that comes first as A."""
        facts = self.to_dict()
        return pairs_table(facts, facts["pairs"])

    def text(self, top: int | None = _ON_A_SCREEN) -> str:
        """Return the answer for a terminal.

        Parameters
        ----------
        top
            How many models, the best first; all if None.
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
        """Draw the probability of each rank, one row a model.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_ranks(self.to_dict(), title=self._title(), ax=ax, size=size)

    def plot_matrix(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the decision on every difference row − column.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_decisions(self.to_dict(), title=self._title(), ax=ax, size=size)

    def plot_forest(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the difference of every other model to the leader, with its decision.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
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
        facts = to_json(self, "names *spec n_draws=_n_draws tied p_missed models=rows")
        return f"Ranking({ranking_headline(facts)})"


_POOLING_STREAM = 1 << 31  # beyond the blocks of draws


def joint_draws(spec: Spec, sampling: Sampling) -> tuple[FloatArray, FloatArray]:
    """Return joint draws of all models ``(n_models, n_draws)``, pooled and before pooling."""
    (answered,) = engine.answer([spec], sampling)
    # Less is turned round where it is better, so that a loss mirrors its metric.
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
    """Turn joint draws ``(n_models, n_draws)``, pooled and before pooling, into a ranking.

    Pooled draws make the order, P(best), ranks and regret. Pairs and their decisions are made of
    the draws before pooling, so that no firm decision rests on shrinkage alone.
    """
    observed = spec.observed
    better, n_draws = spec.metric.greater_is_better, values.shape[1]
    order = _best_first(spec.view.models, values, better)
    pairs = all_pairs(spec, raw, observed, rope=rope, prob=prob, n_jobs=n_jobs)
    pairs, alone = close_pairs_alone(
        spec, pairs, rope=rope, prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs
    )
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
        _alone=alone,
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


def make_joint_spec(seen: Data, **asked: Any) -> Spec:
    """Ask about any number of models at once, under a prior that does not count them."""
    spec = make_spec(seen, **asked)
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
