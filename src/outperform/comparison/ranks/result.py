"""The answer of a ranking: models best first, all pairs, who is tied, and doors to the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform import present
from outperform._typing import FloatArray
from outperform.comparison import engine
from outperform.comparison.concluding import conclude as conclude_pair
from outperform.comparison.estimating import Estimate
from outperform.comparison.question import rope_for
from outperform.comparison.ranks.facts import pair_facts, ranking_facts
from outperform.comparison.ranks.pairs import Matrix, Pair, above_diagonal, mean_matrix
from outperform.comparison.result import Comparison
from outperform.comparison.scored import Asked
from outperform.comparison.scored.asking import ask_any
from outperform.comparison.tabular import Tabular
from outperform.decision import Decision, Interval, Rope, probability_error
from outperform.errors import UsageError, unknown_name
from outperform.findings import Finding

_ON_A_SCREEN = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RankedModel:
    """One model among the others.

    Parameters
    ----------
    estimate
        Its own posterior.
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
        The verdict on its difference to the leader; None for the leader.
    tied
        Whether it is the leader or not shown to be worse.
    """

    estimate: Estimate
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
    def observed(self) -> float:
        """The plug-in value, equal to scikit-learn's."""
        return self.estimate.observed

    @property
    def mean(self) -> float:
        """The posterior mean."""
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ranking(Tabular):
    """The joint posterior of many models in a metric, and what it says.

    The models come in the order of their regret, which is that of their means; the first is
    the leader. Everything that has one value a model has this order.

    Parameters
    ----------
    question
        What was asked of which outcomes.
    rows
        One for each model, the leader first.
    pairs
        The difference row − column of each two models; None on the diagonal.
    rope
        The region of practical equivalence.
    draws
        Joint draws, ``(n_models, n_draws)``.
    findings
        Doubts.
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

    question: Asked
    rows: tuple[RankedModel, ...]
    pairs: Matrix = field(repr=False)
    rope: Rope
    draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence

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
        return self.question.metric.name

    @property
    def n(self) -> int:
        """The number of documents."""
        return self.question.n

    @property
    def leader(self) -> RankedModel:
        """The model of the least regret, which has the best mean."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[str, ...]:
        """The models practically tied for best: the leader, and all not shown to be worse.

        A model is left out where the whole HDI of its difference to the leader lies on the
        worse side of the ROPE.
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
    def verdicts(self) -> tuple[tuple[Decision | None, ...], ...]:
        """The verdict on row − column for each two models; None on the diagonal."""
        return tuple(
            tuple(None if pair is None else pair.decision for pair in row) for row in self.pairs
        )

    @property
    def differences(self) -> FloatArray:
        """The mean of row − column for each two models."""
        return mean_matrix(self.pairs)

    def pair(self, a: str, b: str) -> Pair:
        """Return the difference A − B between two of the models.

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
        """Return the whole comparison of two of the models, from the draws of the ranking.

        Parameters
        ----------
        a, b
            Their names. The difference is A − B.
        """
        self.pair(a, b)
        given = self.question.given
        question = ask_any(
            self.question.seen.select([a, b]),
            metric=self.question.metric,
            model=self.question.model.name,
            default_model="unit",
            prior=given.prior,
            paired=given.paired,
            labels=given.labels,
            pos_label=given.pos_label,
            prevalence=given.prevalence,
        )
        answered = engine.Answer(
            values=self.draws[[self._place(a), self._place(b)]],
            of_models=(None, None),
            of_difference=None,
        )
        prob = self.leader.hdi.prob
        return conclude_pair(
            question,
            answered,
            rope=self.rope,
            prob=prob,
            seed=self.seed,
            verb="compare within rank",
        )

    def with_rope(self, rope: Any) -> Ranking:
        """Return the same ranking under another ROPE; nothing is drawn again.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        from outperform.comparison.ranks.concluding import conclude

        places = [self._place(name) for name in self.question.view.models]
        return conclude(
            self.question,
            self.draws[places],
            rope=rope_for(self.question, rope),
            prob=self.leader.hdi.prob,
            seed=self.seed,
            n_jobs=None,
        )

    # Words, tables, pictures

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return ranking_facts(self)

    def table(self) -> present.Table:
        """Return one row a model, the leader first."""
        return present.ranking_table(self.to_dict())

    def pair_table(self) -> present.Table:
        """Return one row for each two models, the one that comes first as A."""
        facts = [pair_facts(pair) for pair in above_diagonal(self.pairs)]
        return present.pairs_table(ranking_facts(self, pairs=False), facts)

    def text(self, top: int | None = _ON_A_SCREEN) -> str:
        """Return the answer for a terminal.

        Parameters
        ----------
        top
            How many models, the best first; all if None.
        """
        return present.ranking_text(self.to_dict(), top=top)

    def report(self) -> str:
        """Return a paragraph for a paper."""
        return present.ranking_paragraph(self.to_dict())

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return present.ranking_html(self.to_dict())

    def _latex_table(self) -> present.Table:
        return present.ranking_page(self.to_dict())

    def _latex_label(self) -> str:
        return present.latex_label("rank", self.metric)

    def plot(self, ax: Any = None) -> Any:
        """Draw the probability of each rank, one row a model.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return present.plot_ranks(self.to_dict(), ax=ax)

    def plot_matrix(self, ax: Any = None) -> Any:
        """Draw the verdict on every difference row − column.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return present.plot_verdicts(self.to_dict(), ax=ax)

    def plot_forest(self, ax: Any = None) -> Any:
        """Draw the difference of every other model to the leader, with its verdict.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        rope = {"low": self.rope.low, "high": self.rope.high}
        rows = [
            {**pair_facts(self.pair(name, self.leader.name)), "key": name, "rope": rope}
            for name in self.names[1:]
        ]
        names = ("model", self.leader.name)
        return present.plot_forest(rows, names=names, metric=self.question.metric.label, ax=ax)

    def __repr__(self) -> str:
        return f"Ranking({present.ranking_headline(ranking_facts(self, pairs=False))})"

    def __str__(self) -> str:
        return self.text()
