"""``Comparison``: numbers, decision, findings, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from outperform._typing import AnyArray, Axes, Distribution, FigureSize, FloatArray, Label
from outperform.data.sources import batches_differ
from outperform.data.views import in_weights
from outperform.decision.bayes_factor import BayesFactor
from outperform.decision.intervals import Interval
from outperform.decision.ranks import Regret, regret_from_distribution, regret_from_draws
from outperform.decision.rope import (
    CurveStep,
    Decision,
    Masses,
    Rope,
    probability_error,
    rope_curve,
    sd_error,
)
from outperform.display.document import Document
from outperform.display.formats import latex_label
from outperform.display.paragraphs import Length, paragraph
from outperform.display.pictures import outline
from outperform.display.posterior_figure import plot_posterior
from outperform.display.screen import comparison_document
from outperform.display.sentences import (
    captioned,
    comparison_caption,
    comparison_table,
    headline,
    results_table,
)
from outperform.display.table import Table
from outperform.errors import UndefinedBayesFactor, UsageError
from outperform.findings import Finding, is_serious
from outperform.inference import disagreements
from outperform.inference.spec import Spec, counted
from outperform.inference.spelling import SPELLED, AsRight
from outperform.inference.summary import interval_factor, n_effective, point_factor
from outperform.posterior.pymc.sampling import Chain
from outperform.results import facts
from outperform.results.asking import AskContrasts, AskItems
from outperform.results.base import (
    ComparisonDetails,
    FoldDetails,
    RunDetails,
    ScoreDetails,
    Tabular,
    verb,
    withhold,
)
from outperform.results.estimate import Estimate
from outperform.results.facts import AskAgain, comparison_facts, headline_facts

if TYPE_CHECKING:
    from outperform.results.schemas import ComparisonFacts


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Comparison(AskAgain, AskItems, AskContrasts, Tabular):
    """The posterior of A − B in a metric, and what it says.

    Parameters
    ----------
    spec
        What was asked of which outcomes.
    a, b
        Each classifier's own posterior.
    observed
        The plug-in difference, equal to scikit-learn's; at other class proportions that at these.
    mean, sd, mcse
        Of A − B, and the Monte Carlo error of the mean (0 if exact).
    hdi, eti
        The narrowest and the equal-tailed interval.
    rope
        The region of practical equivalence.
    decision
        The decision.
    draws
        Draws of A − B, independent unless a chain drew them.
    distribution
        The closed form, where there is one.
    findings
        Findings.
    signature
        What makes the result repeatable.
    seed
        The seed of the draws.
    chain
        What the chain says of itself that drew; None where the draws are independent.
    details
        What folds (:class:`FoldDetails`, :class:`CrossDetails`), training runs
        (:class:`RunDetails`) or scores of folds (:class:`ScoreDetails`) know more; None for any
        other comparison.
    """

    spec: Spec
    a: Estimate
    b: Estimate
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: Interval
    eti: Interval
    rope: Rope
    _masses: Masses
    decision: Decision
    draws: FloatArray = field(repr=False)
    distribution: Distribution | None
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence
    chain: Chain | None = None
    details: ComparisonDetails | None = None
    # What would be said if predictions that are never true were right.
    _as_right: tuple[AsRight, ...] = ()

    # What the posterior says

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.spec.metric.name

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self.a.name, self.b.name

    @property
    def n(self) -> int:
        """The number of items."""
        return self.spec.n

    @property
    def exact(self) -> bool:
        """Whether the numbers come from a closed form."""
        return self.distribution is not None

    @property
    def p_worse(self) -> float:
        """The probability that A is worse than B by more than the ROPE."""
        return self._masses.below if self.spec.metric.greater_is_better else self._masses.above

    @property
    def p_equivalent(self) -> float:
        """The probability that the difference lies in the ROPE."""
        return self._masses.inside

    @property
    def p_better(self) -> float:
        """The probability that A is better than B by more than the ROPE."""
        return self._masses.above if self.spec.metric.greater_is_better else self._masses.below

    @property
    def p_greater(self) -> float:
        """The probability that A − B is above zero."""
        return self._masses.greater

    @property
    def n_effective(self) -> float:
        """How many independent draws the draws are worth."""
        return n_effective(self.draws, self.chain)

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo error of the mean, the sd, each probability and regret; 0 if exact."""
        of_probability = {
            name: 0.0 if self.exact else probability_error(getattr(self, name), self.n_effective)
            for name in ("p_worse", "p_equivalent", "p_better", "p_greater")
        }
        of_sd = 0.0 if self.exact else sd_error(self.draws, self.n_effective)
        lost = Regret(a=0.0, b=0.0) if self.exact else self.regret
        of_regret = {"regret_a": lost.mcse_a, "regret_b": lost.mcse_b}
        return {"mean": self.mcse, "sd": of_sd, **of_probability, **of_regret}

    @property
    def regret(self) -> Regret:
        """What choosing A, and what choosing B, loses on average, in the metric's own units."""
        better = self.spec.metric.greater_is_better
        if self.distribution is None:
            return regret_from_draws(
                self.draws, greater_is_better=better, n_effective=self.n_effective
            )
        return regret_from_distribution(self.distribution, greater_is_better=better)

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the decision for every half-width of the ROPE.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01)
        >>> [step.decision.symbol for step in c.rope_curve()]
        ['≫', '>', '?', '~', '≈']
        """
        better = self.spec.metric.greater_is_better
        posterior = np.sort(self.draws) if self.distribution is None else self.distribution
        steps = rope_curve(self.hdi, self.rope, posterior, greater_is_better=better)
        return _merged(replace(step, decision=self._allowed(step.decision)) for step in steps)

    def _allowed(self, decision: Decision) -> Decision:
        """Return a decision as far as data and chain allow it, whatever the interval says."""
        chains = (self.a.chain, self.b.chain, self.chain)
        if any(one is not None and not one.converged for one in chains):
            return Decision.UNDECIDED
        if any(one.name == SPELLED for one in self.findings if one.level == "serious"):
            return Decision.UNDECIDED
        if batches_differ(self.findings):
            return Decision.UNDECIDED
        if isinstance(self.details, RunDetails):
            a, b = (side.places for side in self.details.sides)
            return disagreements.allow_runs(self.spec, decision, self.hdi, (a, b))[0]
        if isinstance(self.details, ScoreDetails):
            return Decision.UNDECIDED if is_serious(self.details.noticed) else decision
        allowed, _ = disagreements.allow(self.spec, decision, self.hdi)
        return withhold(allowed, self.hdi, self.findings)

    @property
    def bayes_factor(self) -> BayesFactor | None:
        """The Bayes factor of the interval null; None without a proper prior or a ROPE of width."""
        if isinstance(self.details, RunDetails):  # the prior of how far runs spread is improper
            return None
        n_draws = None if self.exact else int(self.n_effective)
        return interval_factor(self.spec, self.rope, self._masses, n_draws=n_draws)

    def point_null(self, *, method: Literal["exact", "kde"] = "exact") -> BayesFactor:
        """Return the Bayes factor of "no difference at all", where it exists.

        Parameters
        ----------
        method
            ``"exact"``: a ratio of exact densities. ``"kde"``: as the papers
            published it, from kernel density estimates of the draws.

        Examples
        --------
        >>> import outperform as op
        >>> counts = [12, 5, 83]
        >>> seen = op.Outcomes.from_counts([1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, counts)
        >>> asked = {"metric": "recall", "rope": 0.01, "pos_label": 1}
        >>> c = op.compare(seen, "a", "b", prior="uniform", **asked)
        >>> print(round(c.point_null().bf01, 6))
        1.6209
        """
        self._refuse_factor_of_runs()
        return point_factor(self.spec, self.distribution, self.draws, method=method, seed=self.seed)

    def _refuse_factor_of_runs(self) -> None:
        if isinstance(self.details, RunDetails):
            raise UndefinedBayesFactor(
                "the prior of how far runs spread is improper, so a comparison of runs has no "
                "Bayes factor"
            )

    @property
    def p_h0(self) -> float:
        """The probability that B is no better than A, H₀ of the Bayes test of folds."""
        self._refuse_without_folds("p_h0")
        return self._masses.greater

    @property
    def p_h1(self) -> float:
        """The probability that B is better than A, H₁ of the Bayes test of folds."""
        self._refuse_without_folds("p_h1")
        if self.distribution is not None:
            return self.distribution.cdf(0.0)
        return 1.0 - self._masses.greater

    @property
    def accepted(self) -> str:
        """What the Bayes test of folds accepts: the likelier of ``"H0"`` and ``"H1"``."""
        return "H1" if self.p_h1 > self.p_h0 else "H0"

    def _refuse_without_folds(self, name: str) -> None:
        if not isinstance(self.details, FoldDetails):
            raise UsageError(
                f"{name} belongs to the Bayes test of blocked cross-validation, see bcv_compare "
                "and cross_compare; p_greater is the probability that A − B is above zero"
            )

    def confusions(self) -> tuple[AnyArray, AnyArray]:
        """Return the confusion matrices of A and of B, true classes as rows; of runs the means."""
        seen = counted(self.spec).data
        if isinstance(self.details, RunDetails):
            of_a, of_b = (
                np.mean([seen.confusion(seen.models[place]) for place in side.places], axis=0)
                for side in self.details.sides
            )
            return of_a, of_b
        if seen.pool is not None:  # the labelled items stand for the pool
            seen = in_weights(seen)
        a, b = (seen.confusion(name) for name in seen.models)
        return a, b

    # Words, tables, pictures

    def to_dict(self) -> ComparisonFacts:
        """Return everything but the draws as plain values, with a schema version."""
        return comparison_facts(self)

    def report(self, *, length: Length = "medium") -> str:
        """Return a paragraph for a paper.

        Parameters
        ----------
        length
            ``"medium"``: estimate, interval, direction, practical significance, caveats and
            method. ``"long"``: the Bayes factor too. ``"short"``: the estimate, its interval, the
            decision, and what stands against it.
        """
        return paragraph(self.to_dict(), length=length)

    def table(self) -> Table:
        """Return the comparison as a table of one row with the papers' columns."""
        return results_table([self.to_dict()])

    def to_markdown(self) -> str:
        """Return A, B and the difference as a Markdown table."""
        return comparison_table(self.to_dict()).to_markdown()

    def _latex_table(self) -> Table:
        facts = self.to_dict()
        caption = comparison_caption(facts)
        return captioned(comparison_table(facts), caption)

    def _latex_label(self) -> str:
        return latex_label(*self.names, self.metric)

    def _document(self) -> Document:
        return comparison_document(
            self.to_dict(),
            draws=self.draws,
            distribution=self.distribution,
            coverage=lambda: verb("coverage_sentence")(self),
        )

    def _markdown(self) -> str:
        """Return a passage with everything, as the command line writes it."""
        told = self.to_dict()
        return self._document().markdown(headline(told), comparison_table(told))

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the posterior in its three parts, with HDI, ROPE and the three percentages.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        shape = outline(self.draws, self.distribution)
        return plot_posterior(shape, facts=facts.figure_facts(self), ax=ax, size=size)

    def plot_factor(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw prior and posterior of the difference, and what that does to both nulls.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        self._refuse_factor_of_runs()
        return facts.plot_factor(self, ax, size)

    def plot_rope_curve(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the three probabilities and the decision for every half-width of the ROPE.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_rope_curve(self, ax, size)

    def plot_models(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw each classifier's own posterior with HDI and observed value.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_models(self, ax, size)

    def plot_runs(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the observed value of each training run under the posterior of its model's mean.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        if not isinstance(self.details, RunDetails):
            raise UsageError("there are no training runs to draw, see compare_runs; use plot()")
        return facts.plot_models(self, ax, size)

    def plot_confusion(
        self,
        axes: Sequence[Axes] | None = None,
        *,
        normalise: bool = False,
        labels: Sequence[Label] | None = None,
        size: FigureSize = "text",
    ) -> Sequence[Axes]:
        """Draw both confusion matrices and, as a third panel, where they differ.

        Parameters
        ----------
        axes
            Three axes to draw into; new ones if None. They are returned.
        normalise
            Whether each row is shown as per cent of its sum over the classes shown.
        labels
            The classes to show; all if None.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_confusion(self, axes, normalise=normalise, labels=labels, size=size)

    def __repr__(self) -> str:
        return f"Comparison({self.decision.symbol} {headline(headline_facts(self))})"


def _merged(steps: Iterable[CurveStep]) -> tuple[CurveStep, ...]:
    found: list[CurveStep] = []
    for step in steps:
        if found and found[-1].decision is step.decision:
            found[-1] = replace(found[-1], stop=step.stop)
        else:
            found.append(step)
    return tuple(found)
