"""From what the user has to a world: a pilot, two accuracies, or outcome probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outperform import metrics
from outperform._typing import Label
from outperform.comparison.engine import check_draws
from outperform.comparison.planning.rates import (
    RatesWorld,
    binary_metric,
    check_probability,
    check_theta,
)
from outperform.comparison.planning.worlds import TableWorld, posterior_world
from outperform.comparison.question import Question, ask, rope_for
from outperform.comparison.scored.asking import selected
from outperform.decision import Rope, check_prob
from outperform.errors import UsageError
from outperform.outcomes import Outcomes, Scores
from outperform.posterior import Prior, certain

_RATES_DRAWS = 4_000
_TABLE_DRAWS = 1_000
# So many documents that the prior does not show.
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """How the new documents will be compared, as the user said it."""

    metric: Any
    rope: Any
    paired: bool
    hdi_prob: float
    prior: Any
    model: str | None
    labels: Sequence[Label] | None
    pos_label: Label | None
    n_draws: int | None

    @property
    def prob(self) -> float:
        """The mass of the interval."""
        return check_prob(self.hdi_prob)

    def draws(self, default: int) -> int:
        """Return the number of draws, or the default."""
        return default if self.n_draws is None else check_draws(self.n_draws)

    def ask(self, seen: Outcomes, metric: str | None = None) -> Question:
        """Ask outcomes."""
        return ask(
            seen,
            metric=metric if self.metric is None else self.metric,
            model=self.model,
            default_model="unit",
            prior=self.prior,
            paired=self.paired,
            labels=self.labels,
            pos_label=self.pos_label,
        )

    def refuse(self, *names: str, what: str) -> None:
        """Say which arguments mean nothing for a world."""
        for name in names:
            if getattr(self, name) is not None:
                raise UsageError(f"{name}= is for a pilot, and {what} know none; leave it out")


def pilot_world(
    pilot: Any, a: str | None, b: str | None, analysis: Analysis
) -> tuple[TableWorld, Rope]:
    """Return the world that a pilot's posterior draws anew for every project."""
    if isinstance(pilot, Scores):
        raise UsageError("a pilot must be outcomes, counted labels; plans for scores are not made")
    if not isinstance(pilot, Outcomes):
        raise UsageError(f"pilot must be op.Outcomes; got {type(pilot).__name__}")
    if pilot.pool is not None:
        raise UsageError(
            "a pilot must be drawn as the new documents will be, and these were chosen from a pool "
            "by their predictions; give documents that were drawn blindly"
        )
    if (a is None or b is None) and len(pilot.models) != 2:
        raise UsageError(f"name two models of the pilot with a= and b=; it has {pilot.models}")
    names = [pilot.models[0] if a is None else a, pilot.models[1] if b is None else b]
    seen = selected(pilot, names, verb="plan")
    assert isinstance(seen, Outcomes)
    question = analysis.ask(seen)
    rope = rope_for(question, analysis.rope)
    world = posterior_world(
        question,
        rope=rope,
        documents="new",
        prob=analysis.prob,
        n_draws=analysis.draws(_TABLE_DRAWS),
        origin=f"pilot={seen.n}",
    )
    return world, rope


def accuracies_world(
    accuracies: Any, agreement: Any, analysis: Analysis
) -> tuple[TableWorld, Rope]:
    """Return the world of two accuracies and the share of documents on which they agree."""
    shares = _right_and_wrong(accuracies, agreement)
    analysis.refuse("labels", "pos_label", what="accuracies")
    if analysis.metric is not None and metrics.get(analysis.metric).name != "accuracy":
        raise UsageError(f"accuracies are about metric='accuracy'; got {analysis.metric!r}")
    example = Outcomes.from_correct({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0]})
    (table,) = example.tables
    # Cells come in the order of A, then B: neither, only B, only A, both.
    probabilities = np.array(shares[::-1])
    counts = np.rint(_MANY * probabilities).astype(np.int64)
    question = analysis.ask(replace(example, tables=(replace(table, counts=counts),)), "accuracy")
    rope = rope_for(question, analysis.rope)
    world = TableWorld(
        question=question,
        make_predict=lambda: certain(example, probabilities),
        documents="certain",
        rope=rope,
        n_draws=analysis.draws(_TABLE_DRAWS),
        prob=analysis.prob,
        origin=f"accuracies={'/'.join(f'{one:g}' for one in accuracies)} | agreement={agreement:g}",
    )
    return world, rope


def _right_and_wrong(accuracies: Any, agreement: Any) -> tuple[float, float, float, float]:
    """Return the shares that both, only A, only B and neither get right.

    ``both + neither = g``, ``both + only A = p`` and ``both + only B = q`` give
    ``both = (g + p + q − 1) / 2``.
    """
    if accuracies is None:
        raise UsageError("agreement= is of two models; give accuracies=, of A and of B, too")
    if not isinstance(accuracies, Sequence | np.ndarray) or len(accuracies) != 2:
        raise UsageError(f"accuracies must be two, of A and of B; got {accuracies!r}")
    p, q = (check_probability(one) for one in accuracies)
    lowest, highest = abs(p + q - 1), 1 - abs(p - q)
    if agreement is None:
        raise UsageError(
            "give agreement=, the share of documents that both get right or both wrong: from "
            f"{lowest:g} to {highest:g} for these accuracies"
        )
    g = check_probability(agreement)
    if not lowest - 1e-12 <= g <= highest + 1e-12:
        raise UsageError(
            f"models with accuracies {p:g} and {q:g} are both right or both wrong on {lowest:g} "
            f"to {highest:g} of the documents; got agreement {g:g}"
        )
    both = (g + p + q - 1) / 2
    found = both, p - both, q - both, 1 - p - q + both
    both, only_a, only_b, neither = (max(share, 0.0) for share in found)
    return both, only_a, only_b, neither


def rates_world(
    theta_pos: Mapping[str, float] | None,
    theta_neg: Mapping[str, float] | None,
    prevalence: float | None,
    analysis: Analysis,
) -> tuple[RatesWorld, Rope]:
    """Return the world of the papers' outcome probabilities."""
    analysis.refuse("model", "labels", "pos_label", what="outcome probabilities")
    measured = binary_metric("f1" if analysis.metric is None else analysis.metric, "this world")
    if theta_pos is None or theta_neg is None or prevalence is None:
        raise UsageError("give all three of theta_pos=, theta_neg= and prevalence=")
    world = RatesWorld(
        theta=check_theta(theta_pos, theta_neg),
        prevalence=check_probability(prevalence),
        prior=Prior.from_param(analysis.prior),
        paired=analysis.paired,
        metric=measured,
        n_draws=analysis.draws(_RATES_DRAWS),
        prob=analysis.prob,
    )
    return world, Rope.from_param(analysis.rope, bounds=measured.bounds)
