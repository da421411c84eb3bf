"""``Comparison``: numbers, decision, findings and methods, and the summary of draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from outperform._json import MaybeNaN, to_json, written
from outperform._typing import (
    AnyArray,
    Axes,
    DataTree,
    Distribution,
    FigureSize,
    FloatArray,
    Label,
    Seed,
)
from outperform.data.outcomes import true_codes
from outperform.data.prevalence import LabelErrors, LabelErrorsLike, PrevalenceLike
from outperform.data.sources import batches_differ
from outperform.data.views import in_weights, refuse_label_errors
from outperform.decision.bayes_factor import BayesFactor
from outperform.decision.ranks import Regret, regret_from_distribution, regret_from_draws
from outperform.decision.rope import (
    CurveStep,
    Decision,
    Masses,
    Rope,
    RopeLike,
    decide,
    masses_of,
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
    comparison_table,
    headline,
    results_table,
)
from outperform.display.table import Table
from outperform.errors import UndefinedBayesFactorError, UsageError, unknown_name
from outperform.findings import Finding, is_serious
from outperform.inference import diagnostics, disagreements, engine
from outperform.inference.changes import uneven_findings
from outperform.inference.disagreements import repeated_findings
from outperform.inference.engine import Answer
from outperform.inference.processes import (
    AnyLook,
    Selection,
    adjust,
    process_findings,
    refuse_adjusted,
)
from outperform.inference.question import Sampling
from outperform.inference.spec import (
    LabelSpec,
    Spec,
    again,
    counted,
    elsewhere,
    rope_for,
)
from outperform.inference.spelling import (
    SPELLED,
    AsRight,
    ask_as_right,
    interpret_two,
    spelling_findings,
    unless_told,
)
from outperform.inference.summary import (
    Summary,
    chain_findings,
    interval_factor,
    n_effective,
    point_factor,
    seed_name,
    sign,
    summarize,
)
from outperform.inference.views import of_one_class
from outperform.metrics.metric import MetricLike
from outperform.nhst import TestResult
from outperform.posterior.pymc.sampling import Chain
from outperform.posterior.rng import child
from outperform.results import facts, rows
from outperform.results.base import Tabular, withhold
from outperform.results.compared import verb_of
from outperform.results.estimate import Estimate, one_estimate
from outperform.results.facts import plot_forest

if TYPE_CHECKING:
    from outperform.comparison.coverage import ExpectedCoverage
    from outperform.comparison.curves import Curve, Kind
    from outperform.comparison.items import ItemTable
    from outperform.comparison.joint import Joint
    from outperform.comparison.ratio import Ratio
    from outperform.planning.more_data import Needed
    from outperform.planning.result import Plan
    from outperform.posterior.registry import PriorLike
    from outperform.results.details import (
        ComparisonDetails,
        FoldDetails,
        RunDetails,
        ScoreDetails,
    )
    from outperform.sensitivity.fragility import Fragility
    from outperform.sensitivity.result import Sensitivity


@written()
class FoldTest(NamedTuple):
    """Bayes test for fold counts.

    Parameters
    ----------
    p_h0, p_h1
        Probability that B is no better than A, and that B is better.
    accepted
        The more probable of ``"H0"`` and ``"H1"``.
    """

    p_h0: float
    p_h1: float
    accepted: str


@written(
    "names *spec paired=spec.paired observed observed_defined=_defined *_summary "
    "rope p_worse p_equivalent p_better p_greater regret mc_errors n_draws=draws.size chain? "
    "exact decision rope_curve needed?=_needed bayes_factor selection? any_look? a b "
    "findings=_all_findings "
    "signature runs?=_runs scores?=_scores *_fold_test folds?=_folds unpaired?=_unpaired{mean "
    "sd hdi decision{name symbol} p_h0 p_h1 accepted exact n_draws=draws.size signature}",
    kind="comparison",
)
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Comparison(Summary, Tabular):
    """Posterior of A − B in a metric, with the decision, intervals and probabilities.

    For mean, sd, HDI and Monte Carlo errors see :class:`Summary`.

    Parameters
    ----------
    spec
        Data, metric, prior and other settings.
    a, b
        Posterior of each model's metric.
    observed
        Plug-in difference, equal to scikit-learn's unless class proportions or label errors are
        set.
    rope
        Region of practical equivalence.
    decision
        The decision.
    draws
        Draws of A − B, independent unless from a chain.
    distribution
        The closed form, if there is one.
    findings
        Findings about data and result.
    signature
        One line that describes how the result was computed.
    seed
        Seed of the draws.
    chain
        Diagnostics of the Markov chain; None if the draws are independent.
    selection
        How the comparison accounts for A being chosen from several candidates; None if it was not.
    any_look
        How the interval is valid at every look; None for a single look.
    details
        Additional fields for folds (:class:`FoldDetails`, :class:`CrossDetails`), training runs
        (:class:`RunDetails`) or fold scores (:class:`ScoreDetails`); None for other comparisons.
    """

    spec: Spec
    a: Estimate
    b: Estimate
    observed: MaybeNaN
    rope: Rope
    _masses: Masses
    decision: Decision
    draws: FloatArray = field(repr=False)
    distribution: Distribution | None
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence
    chain: Chain | None = None
    selection: Selection | None = None
    any_look: AnyLook | None = None
    details: ComparisonDetails | None = None
    # The results if predictions of never-true classes counted as right.
    _as_right: tuple[AsRight, ...] = ()
    # The closed form if A had been the only candidate.
    _own: Distribution | None = None

    # Posterior summaries

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.spec.metric.name

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and B."""
        return self.a.name, self.b.name

    @property
    def n(self) -> int:
        """Number of items."""
        return self.spec.n

    @property
    def exact(self) -> bool:
        """Whether the numbers come from a closed form."""
        return self.distribution is not None

    @property
    def p_worse(self) -> float:
        """Probability that A is worse than B by more than the ROPE."""
        return self._masses.below if self.spec.metric.greater_is_better else self._masses.above

    @property
    def p_equivalent(self) -> float:
        """Probability that the difference lies in the ROPE."""
        return self._masses.inside

    @property
    def p_better(self) -> float:
        """Probability that A is better than B by more than the ROPE."""
        return self._masses.above if self.spec.metric.greater_is_better else self._masses.below

    @property
    def p_greater(self) -> float:
        """Probability that A − B is above zero."""
        return self._masses.greater

    @property
    def n_effective(self) -> float:
        """Effective sample size: the number of equally precise independent draws."""
        return n_effective(self.draws, self.chain)

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo standard errors of the mean, sd, probabilities and regret; 0 if exact."""
        probabilities = {
            name: 0.0 if self.exact else probability_error(getattr(self, name), self.n_effective)
            for name in ("p_worse", "p_equivalent", "p_better", "p_greater")
        }
        sd = 0.0 if self.exact else sd_error(self.draws, self.n_effective)
        regret = Regret(a=0.0, b=0.0) if self.exact else self.regret
        regrets = {"regret_a": regret.mcse_a, "regret_b": regret.mcse_b}
        return {"mean": self.mcse, "sd": sd, **probabilities, **regrets}

    @cached_property
    def regret(self) -> Regret:
        """Expected loss of choosing A, and of choosing B, in units of the metric."""
        better = self.spec.metric.greater_is_better
        if self.distribution is None:
            return regret_from_draws(
                self.draws, greater_is_better=better, n_effective=self.n_effective
            )
        return regret_from_distribution(self.distribution, greater_is_better=better)

    def mcnemar(self, *, mid_p: bool = False) -> TestResult:
        """Run McNemar's exact test of equal accuracy on the items of this comparison.

        The p-value concerns accuracy, whatever the metric, and only whether there is any
        difference. The decision does not depend on it.

        Parameters
        ----------
        mid_p
            Whether to return the mid-p-value, which is less conservative.

        Examples
        --------
        >>> import outperform as op
        >>> right = {"a": [1] * 7 + [0] + [1] * 90, "b": [0] * 7 + [1] + [1] * 90}
        >>> print(op.compare(op.Outcomes.from_correct(right), "a", "b").mcnemar())
        McNemar's exact test: p = 0.07031 (statistic 7, n = 8)
        """
        if self._runs is not None or self._scores is not None:
            raise UsageError("McNemar's test needs one label per item from each model")
        return rows.mcnemar(self.spec, mid_p=mid_p)

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the decision for every half-width of the ROPE.

        Examples
        --------
        >>> import outperform as op
        >>> right = {"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40}
        >>> c = op.compare(op.Outcomes.from_correct(right), "a", "b", rope=0.01)
        >>> [step.decision.symbol for step in c.rope_curve()]
        ['≫', '>', '?', '~', '≈']
        """
        better = self.spec.metric.greater_is_better
        posterior = np.sort(self.draws) if self.distribution is None else self.distribution
        steps = rope_curve(self.hdi, self.rope, posterior, greater_is_better=better)
        return _merged(replace(step, decision=self._allowed(step.decision)) for step in steps)

    def _allowed(self, decision: Decision) -> Decision:
        """Return a decision, or undecided if the data or the chain does not support it."""
        chains = (self.a.chain, self.b.chain, self.chain)
        if any(chain is not None and not chain.converged for chain in chains):
            return Decision.UNDECIDED
        if any(finding.name == SPELLED for finding in self.findings if finding.level == "serious"):
            return Decision.UNDECIDED
        if batches_differ(self.findings):
            return Decision.UNDECIDED
        if self.any_look is not None and not self.any_look.holds:
            return Decision.UNDECIDED
        return self._allowed_by_data(decision)

    def _allowed_by_data(self, decision: Decision) -> Decision:
        allowed, _ = disagreements.allow(self.spec, decision, self.hdi)
        return withhold(allowed, self.hdi, self.findings)

    @cached_property
    def bayes_factor(self) -> BayesFactor | None:
        """Bayes factor of the interval null; None with an improper prior or a ROPE of width 0."""
        # The prior of the run-to-run variance is improper, and that of the best of many is another.
        if self._runs is not None or self.selection is not None:
            return None
        n_draws = None if self.exact else int(self.n_effective)
        return interval_factor(self.spec, self.rope, self._masses, n_draws=n_draws)

    def bayes_factor_point_null(self, *, method: Literal["exact", "kde"] = "exact") -> BayesFactor:
        """Return the Bayes factor of "no difference at all", if it exists.

        Parameters
        ----------
        method
            ``"exact"``: a ratio of exact densities. ``"kde"``: from kernel density estimates of
            the draws, as published in the papers.

        Examples
        --------
        >>> import outperform as op
        >>> outcomes = op.Outcomes.from_counts(
        ...     [1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, [12, 5, 83])
        >>> c = op.compare(outcomes, "a", "b", metric="recall", pos_label=1, rope=0.01,
        ...                prior="uniform")
        >>> print(round(c.bayes_factor_point_null().bf01, 6))
        1.6209
        """
        self._refuse_factor_of_runs()
        refuse_adjusted(self.spec, "bayes_factor_point_null()")
        return point_factor(self.spec, self.distribution, self.draws, method=method, seed=self.seed)

    def _refuse_factor_of_runs(self) -> None:
        if self._runs is not None:
            raise UndefinedBayesFactorError(
                "the prior of the run-to-run variance is improper, so a comparison of runs has no "
                "Bayes factor"
            )

    @property
    def p_h0(self) -> float:
        """Probability that B is no better than A, H₀ of the Bayes test for fold counts."""
        self._refuse_without_folds("p_h0")
        return self._masses.greater

    @property
    def p_h1(self) -> float:
        """Probability that B is better than A, H₁ of the Bayes test for fold counts."""
        self._refuse_without_folds("p_h1")
        if self.distribution is not None:
            return self.distribution.cdf(0.0)
        return 1.0 - self._masses.greater

    @property
    def accepted(self) -> str:
        """``"H0"`` or ``"H1"``, whichever is more probable in the Bayes test of folds."""
        return "H1" if self.p_h1 > self.p_h0 else "H0"

    def _refuse_without_folds(self, name: str) -> None:
        if self._folds is None:
            raise UsageError(
                f"{name} exists only for the Bayes test of blocked cross-validation "
                "(compare_cv_counts, cross_compare); use p_greater, the probability that A − B is "
                "above zero"
            )

    def confusions(self) -> tuple[AnyArray, AnyArray]:
        """Return the confusion matrices of A and B, with true classes as rows."""
        data = counted(self.spec).data
        if data.pool is not None:  # the labelled items represent the pool
            data = in_weights(data)
        a, b = (data.confusion(name) for name in data.models)
        return a, b

    # Additional fields of to_dict()

    @property
    def _defined(self) -> bool:
        """Whether both plug-in values are defined; 0/0 counts as 0 by convention."""
        return self.a.observed_defined and self.b.observed_defined

    @cached_property
    def _needed(self) -> Needed | None:
        """Approximate number of further items needed, by normal theory; None if unknown."""
        from outperform.planning.more_data import needed_to_decide

        if self.selection is not None or self.any_look is not None:
            return None  # the theory is for one candidate and one look
        return needed_to_decide(self)

    @property
    def _all_findings(self) -> tuple[Finding, ...]:
        """Findings, with those about the Bayes factor last."""
        factor = self.bayes_factor
        return self.findings if factor is None else (*self.findings, *factor.findings)

    # Comparisons of folds, runs and fold scores override these.

    @property
    def _runs(self) -> RunDetails | None:
        return None

    @property
    def _scores(self) -> ScoreDetails | None:
        return None

    @property
    def _folds(self) -> FoldDetails | None:
        return None

    @property
    def _unpaired(self) -> Comparison | None:
        return None

    @property
    def _fold_test(self) -> FoldTest | None:
        return None if self._folds is None else FoldTest(self.p_h0, self.p_h1, self.accepted)

    # Texts, tables and figures

    def report(self, *, length: Length = "medium") -> str:
        """Return a paragraph for a paper.

        Parameters
        ----------
        length
            ``"short"``: estimate, interval, decision and caveats. ``"medium"``: estimate, interval,
            direction, practical significance, caveats and method. ``"long"``: the same with the
            Bayes factor.
        """
        return paragraph(self.to_dict(), length=length)

    def table(self) -> Table:
        """Return the comparison as a one-row table with the papers' columns."""
        return results_table([self.to_dict()])

    def to_markdown(self) -> str:
        """Return A, B and the difference as a Markdown table."""
        return comparison_table(self.to_dict()).to_markdown()

    def _latex_label(self) -> str:
        return latex_label(*self.names, self.metric)

    def _document(self) -> Document:
        return comparison_document(
            self.to_dict(),
            draws=self.draws,
            distribution=self.distribution,
            coverage=self._coverage,
        )

    def _coverage(self) -> str | None:
        from outperform.comparison.coverage import coverage_sentence

        return coverage_sentence(self)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the posterior in three parts, with HDI, ROPE and three percentages.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        shape = outline(self.draws, self.distribution)
        return plot_posterior(shape, facts=to_json(self, facts.FIGURE), ax=ax, size=size)

    def plot_bayes_factor(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw prior and posterior of the difference, with the mass or density at both nulls.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        self._refuse_factor_of_runs()
        return facts.plot_bayes_factor(self, ax, size)

    def plot_rope_curve(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the three probabilities and the decision for every half-width of the ROPE.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_rope_curve(self, ax, size)

    def plot_models(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the posterior of each model's metric, with HDI and observed value.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_models(self, ax, size)

    def plot_runs(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the observed value of each training run below the posterior of its model's mean.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        if self._runs is None:
            raise UsageError(
                "there are no training runs to draw; use plot(), or compare runs with "
                "compare_runs()"
            )
        return facts.plot_models(self, ax, size)

    def plot_confusion(
        self,
        axes: Sequence[Axes] | None = None,
        *,
        normalise: bool = False,
        labels: Sequence[Label] | None = None,
        size: FigureSize = "text",
    ) -> Sequence[Axes]:
        """Draw both confusion matrices and, in a third panel, their difference.

        Parameters
        ----------
        axes
            Three axes to draw on, which are returned. Default: new axes.
        normalise
            Whether to show percentages of each row's sum over the classes shown.
        labels
            Classes to show; all if None.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return facts.plot_confusion(self, axes, normalise=normalise, labels=labels, size=size)

    # Additional results for the same data

    def _under(self, rope: Rope) -> Comparison:
        """Summarize the same draws with another ROPE."""
        chains = (self.a.chain, self.b.chain, self.chain)
        answer = Answer(
            values=np.stack([self.a.draws, self.b.draws]),
            of_models=(self.a.distribution, self.b.distribution),
            of_difference=self.distribution if self.selection is None else self._own,
            chains=tuple(chain for chain in chains if chain is not None),
        )
        return self._conclude(
            self.spec, answer, rope=rope, seed=self.seed, as_right=self._as_right or None
        )

    def _ask(self, spec: Spec, *, rope: Rope, seed: np.random.SeedSequence) -> Comparison:
        """Compute another comparison of the same data."""
        (answer,) = self._ask_together([spec], rope=rope, seed=seed)
        return answer

    def _ask_together(
        self, specs: Sequence[Spec], *, rope: Rope, seed: np.random.SeedSequence
    ) -> tuple[Comparison, ...]:
        """Compute several comparisons of the same data table from the same draws."""
        pymc, n_draws = specs[0].choices.engine, self.draws.size
        if pymc is not None and pymc != self.spec.choices.engine:
            n_draws = pymc.n_draws
        answers = engine.answer(specs, Sampling(n_draws, seed, -1))
        return tuple(
            self._conclude(spec, answer, rope=rope, seed=seed)
            for spec, answer in zip(specs, answers, strict=True)
        )

    def _conclude(
        self,
        spec: Spec,
        answer: Answer,
        *,
        rope: Rope,
        seed: np.random.SeedSequence,
        as_right: tuple[AsRight, ...] | None = None,
    ) -> Comparison:
        """Summarize draws in the same way as this comparison; folds and runs override this."""
        return summarize_comparison(
            spec,
            answer,
            rope=rope,
            prob=self.hdi.prob,
            seed=seed,
            verb=verb_of(self.details),
            as_right=as_right,
        )

    @classmethod
    def _from(cls, plain: Comparison, **further: Any) -> Self:
        """Return a comparison of this class with the fields of another and additional fields."""
        return cls(**{item.name: getattr(plain, item.name) for item in fields(plain)} | further)

    def with_rope(self, rope: RopeLike | None) -> Comparison:
        """Return the same comparison with another ROPE, from the same draws.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        return self._under(rope if isinstance(rope, Rope) else rope_for(self.spec, rope))

    def with_metric(self, metric: MetricLike, *, rope: RopeLike | None = None) -> Comparison:
        """Return the same comparison in another metric, without reading the data again.

        Parameters
        ----------
        metric
            A name, a metric object or a function of a confusion array.
        rope
            The ROPE. Default: the ROPE of this comparison, unless one of the metrics is a cost.
        """
        if self._scores is not None:
            raise UsageError(
                f"these scores are values of one metric; call {verb_of(self.details)}() with "
                "scores of the other metric"
            )
        spec = again(self.spec, metric=metric)
        priced = [either.costs is not None for either in (self.spec, spec)]
        if rope is None and not self.rope.default and not any(priced):
            rope = self.rope
        return self._ask(spec, rope=rope_for(spec, rope), seed=self.seed)

    def at_prevalence(self, shares: PrevalenceLike) -> Comparison:
        """Return the same comparison at other class proportions, without reading the data again.

        Parameters
        ----------
        shares
            Share of the positive class, a mapping from classes to shares or counts, a
            distribution, or None for the proportions of the data; as for
            :meth:`Outcomes.at_prevalence`.

        Examples
        --------
        >>> import outperform as op
        >>> outcomes = op.Outcomes.from_confusion(
        ...     {"a": [[95, 5], [30, 70]], "b": [[80, 20], [10, 90]]}, labels=["ok", "fraud"])
        >>> c = op.compare(outcomes, "a", "b", pos_label="fraud", rope=0.01, random_state=0)
        >>> c.decision.symbol, c.at_prevalence(0.02).decision.symbol
        ('<', '≫')
        """
        spec, verb = counted(self.spec), verb_of(self.details)
        if verb != "compare":
            raise UsageError(
                f"{verb} uses the class proportions of the data; for other proportions, pass "
                "outcomes.at_prevalence()"
            )
        return self._ask(elsewhere(spec, shares), rope=self.rope, seed=self.seed)

    def with_label_errors(self, rates: LabelErrorsLike | None) -> Comparison:
        """Return the same comparison, assuming that some gold labels are wrong.

        Parameters
        ----------
        rates
            Share of wrong labels, a mapping from true classes to shares, or a matrix P(gold |
            truth); None if all are right. Given the truth, errors are assumed to be independent of
            the predictions.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare([1] * 50 + [0] * 50, [1] * 45 + [0] * 50 + [1] * 5,
        ...                [1] * 38 + [0] * 50 + [1] * 12, metric="accuracy", rope=0.01)
        >>> print(round(c.a.observed, 3), round(c.with_label_errors(0.05).a.observed, 3))
        0.9 0.944
        """
        spec, verb = counted(self.spec), verb_of(self.details)
        if verb != "compare":
            raise UsageError(
                f"{verb} takes the gold labels as right; label errors need compare(), with two "
                "models on one test set"
            )
        data, named = spec.data, spec.choices.labels or ()
        errors = None
        if rates is not None:
            refuse_label_errors(data)
            true = {data.labels[code] for code in true_codes(data).tolist()}
            existing = data.labels if data.n_classes == 2 else [*true, *named]
            errors = LabelErrors.from_param(rates, data, existing)
        stated = again(spec, replace(data, _label_errors=errors))
        return self._ask(stated, rope=self.rope, seed=self.seed)

    def more_data(
        self,
        *,
        goal: str | Decision = "decided",
        target: float = 0.8,
        max_items: int | None = None,
        n_simulations: int = 100,
        n_draws: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> Plan:
        """Return how many more items a decision will probably need, as a range up to a safe number.

        Each simulation draws true values from the posterior and new items from them, adds these to
        the existing items, and decides again. The range that an undecided comparison prints comes
        from normal theory instead, which takes no time but is not corrected by simulation.
        :func:`plan` analyses new items without the existing ones, so its numbers differ.

        Parameters
        ----------
        goal
            ``"decided"``, a firm decision such as ``"≫"``, or ``"not_worse"``.
        target
            Required probability of reaching the goal.
        max_items
            Largest number of items to consider. Default: 100 times the existing number.
        n_simulations
            Maximum number of simulations.
        n_draws
            Number of posterior draws per simulation.
        random_state
            Integer, SeedSequence, Generator or RandomState. None chooses a random seed.
        n_jobs
            Number of parallel jobs. None means 1 and -1 means all available cores, as in
            scikit-learn. Results do not depend on it.

        Examples
        --------
        >>> import outperform as op
        >>> outcomes = op.Outcomes.from_counts(
        ...     [1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, [12, 5, 83])
        >>> c = op.compare(outcomes, "a", "b", metric="recall", rope=0.01, pos_label=1)
        >>> more = c.more_data(random_state=0)
        >>> more.seen, more.least is not None
        (100, True)
        """
        refuse_adjusted(self.spec, "more_data()")
        from outperform.planning.more_data import more_data

        return more_data(
            self,
            goal=goal,
            target=target,
            max_items=max_items,
            n_simulations=n_simulations,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def by_class(self) -> ComparisonTable:
        """Return one comparison per class, each class against the rest, as in the papers.

        A class that is never true has no row, unless ``labels`` includes it.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare(list("aabbcc"), list("aabbca"), list("abbccc"), metric="f1_macro")
        >>> c.by_class().keys
        ('a', 'b', 'c')
        """
        spec = counted(self.spec)
        # A class that is never true has no recall, so it has a row only if requested.
        metric, requested = of_one_class(spec.metric), spec.choices.labels or ()
        true = set(true_codes(spec.data).tolist()) or set(range(spec.data.n_classes))
        labels = tuple(
            label
            for code, label in enumerate(spec.data.labels)
            if code in true or label in requested
        )
        specs = [
            again(spec, metric=metric, labels=None, pos_label=label, engine=None)
            for label in labels
        ]
        return ComparisonTable(what="class", keys=labels, comparisons=self._by_class(specs))

    def _by_class(self, specs: Sequence[LabelSpec]) -> tuple[Comparison, ...]:
        """Compute one comparison per class; metrics that distinguish all classes share draws."""
        answers: dict[int, Comparison] = {}
        multiclass = [code for code, spec in enumerate(specs) if spec.view.n_classes > 2]
        if multiclass:
            shared = self._ask_together(
                [specs[code] for code in multiclass],
                rope=self.rope,
                seed=child(self.seed, multiclass[0]),
            )
            answers.update(zip(multiclass, shared, strict=True))
        for code, spec in enumerate(specs):
            if code not in answers:
                # Each class has a separate random stream, so a row does not depend on other
                # classes.
                answers[code] = self._ask(spec, rope=self.rope, seed=child(self.seed, code))
        return tuple(answers[code] for code in range(len(specs)))

    def sensitivity(
        self,
        *,
        priors: Mapping[str, PriorLike] | None = None,
        ropes: Sequence[RopeLike] | None = None,
        label_errors: Sequence[LabelErrorsLike] | None = None,
    ) -> Sensitivity[Comparison]:
        """Return the decision and the interval under other priors, ROPEs and label errors.

        All draws come from the same seed. If the decision depends on the prior, a finding says so.

        Parameters
        ----------
        priors
            Additional priors by name, as for :func:`compare`, including PyMC models.
        ropes
            Half-widths or pairs. Default: half, once, twice and four times the ROPE.
        label_errors
            Rates of wrong gold labels, each as for :meth:`with_label_errors`.

        Examples
        --------
        >>> import outperform as op
        >>> right = {"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40}
        >>> c = op.compare(op.Outcomes.from_correct(right), "a", "b", rope=0.01, random_state=0)
        >>> sensitivity = c.sensitivity(priors={"strong": 5.0}, ropes=[0.05, 0.2])
        >>> print("".join(decision.symbol for decision in sensitivity.decisions[0]))
        ≫≫≫
        >>> sensitivity["strong"].decision
        <Decision.BETTER: '≫'>
        """
        from outperform.sensitivity.api import sensitivity

        return sensitivity(self, priors=priors, ropes=ropes, label_errors=label_errors)

    def to_datatree(self) -> DataTree:
        """Return the draws as an xarray ``DataTree`` for ArviZ.

        The tree contains the groups ``posterior`` with ``value`` and ``difference``, ``prior`` with
        the same variables if the prior is proper, and ``observed_data`` with ``value`` and, for up
        to 1,000 classes, ``confusion``. :func:`from_datatree` restores the comparison.
        """
        from outperform.comparison.datatree import to_datatree

        return to_datatree(self)

    def item_table(
        self,
        *,
        which: Literal["flips", "all"] = "flips",
        top: int | None = None,
        columns: Mapping[str, object] | None = None,
    ) -> ItemTable:
        """Return the items on which the models differ, most influential first.

        The influence of an item is the observed A − B minus its value without that item, in units
        of the metric. The interval moves by about the same amount.

        Parameters
        ----------
        which
            ``"flips"``: items that only one of the models got right. ``"all"``: every item.
        top
            Maximum number of items; all if None.
        columns
            Additional columns by name: a mapping from ids to values or, for items without ids, one
            value per row, in order.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare([1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], metric="accuracy", rope=0.05)
        >>> for item in c.item_table(columns={"text": ["hi", "buy", "yo", "win"]}):
        ...     print(item.id, item.right, round(item.influence, 3), item.columns["text"])
        3 B -0.417 win
        1 A 0.25 buy
        2 A 0.25 yo
        """
        from outperform.comparison.items import items

        return items(self, which=which, top=top, columns=columns)

    def fragility(self) -> Fragility:
        """Return the minimum number of wrong gold labels that would change the decision.

        This is the smallest such number, assuming the most adverse errors. A corrected label is one
        of the classes that occur as true labels, and the classes averaged over stay the same. If
        the data only record right or wrong, correcting a label makes a right model wrong, and may
        make a wrong model right.

        For accuracy with a closed form, the number is exact if at most 100 tables have fewer
        changes, because each of them is checked. Otherwise labels are changed one by one, each time
        the label that changes the observed difference most, and the number is an upper bound.

        Examples
        --------
        >>> import outperform as op
        >>> new, old = [1] * 90 + [0] * 10, [1] * 70 + [0] * 30
        >>> outcomes = op.Outcomes.from_correct({"new": new, "old": old})
        >>> op.compare(outcomes, "new", "old", rope=0.01).fragility().n
        6
        """
        refuse_adjusted(self.spec, "fragility()")
        from outperform.sensitivity.fragility import fragility

        return fragility(self)

    def expected_coverage(self) -> ExpectedCoverage:
        """Return the coverage of 95% intervals in the nearest simulated setting.

        The setting is chosen from the coverage map in the documentation: the nearest numbers of
        classes and of items on the log scale, then the nearest class balance, then the nearest
        correlation of the models' right answers. The models' accuracy is not considered, and
        nothing is simulated. The map covers two paired models on one test set of labels, with the
        default prior, in twelve metrics; any other comparison raises an error.

        Examples
        --------
        >>> import outperform as op
        >>> outcomes = op.Outcomes.from_counts(
        ...     [0, 0, 0, 1, 1, 1], {"new": [0, 0, 1, 1, 1, 0], "old": [0, 1, 1, 1, 0, 0]},
        ...     [75, 5, 20, 70, 8, 22])
        >>> c = op.compare(outcomes, "new", "old", metric="accuracy", rope=0.01)
        >>> print(c.expected_coverage().setting)
        2 classes, even, 200 items, nearly equal models
        """
        refuse_adjusted(self.spec, "expected_coverage()")
        from outperform.comparison.coverage import expected_coverage

        return expected_coverage(self)

    def ratio(self, *, rope: RopeLike) -> Ratio:
        """Return the same comparison as the ratio A / B, from the same draws.

        B must be above 0 in every draw; otherwise an error is raised.

        Parameters
        ----------
        rope
            Range of ratios that do not matter: a half-width around 1 such as 0.05, or a pair such
            as (0.9, 1.1).

        Examples
        --------
        >>> import outperform as op
        >>> old, new = [2.0, 3.0, 7.0, 4.0] * 25, [1.0, 2.0, 4.0, 3.0] * 25
        >>> c = op.compare(None, new, old, metric="mean_cost", rope=0.1, random_state=1)
        >>> ratio = c.ratio(rope=0.05)
        >>> ratio.decision.symbol, round(ratio.mean, 2)
        ('≫', 0.63)
        """
        refuse_adjusted(self.spec, "ratio()")
        from outperform.comparison.ratio import ratio

        return ratio(self, rope=rope)

    def curve(self, kind: Kind) -> Curve:
        """Return a curve of both models and of A − B, with simultaneous bands.

        The bands come from 4,000 draws of item weights. Half an item of each class is added above
        and below all scores (for calibration curves, in each bin), so no band has zero width.

        Parameters
        ----------
        kind
            ``"roc"``, ``"precision_recall"``, ``"calibration"`` (ten bins of equal width) or
            ``"net_benefit"`` (at every threshold reached by ten items in both models).

        Examples
        --------
        >>> import outperform as op
        >>> y, a, b = [1, 0, 1, 0] * 30, [0.9, 0.1, 0.6, 0.5] * 30, [0.6, 0.7, 0.4, 0.1] * 30
        >>> c = op.compare(y, a, b, metric="roc_auc", rope=0.01, random_state=1)
        >>> c.curve("roc").apart.any()
        np.True_
        """
        from outperform.comparison.curves import curve

        return curve(self, kind)

    def __repr__(self) -> str:
        return f"Comparison({self.decision.symbol} {headline(to_json(self, facts.HEADLINE))})"


@written("by=what keys comparisons", kind="comparisons")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ComparisonTable(Tabular):
    """Comparisons by key, as a table with the papers' columns.

    Parameters
    ----------
    what
        Type of the keys: ``"class"`` or ``"metric"``.
    keys
        One key per comparison.
    comparisons
        The comparisons.

    Examples
    --------
    >>> import outperform as op
    >>> card = op.scorecard([1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0],
    ...                     metrics=["recall", "accuracy"], rope=0.05, random_state=1)
    >>> card["recall"].names
    ('A', 'B')
    >>> len(card)
    2
    """

    what: str
    keys: tuple[Label, ...]
    comparisons: tuple[Comparison, ...]

    def __getitem__(self, key: Label) -> Comparison:
        if key not in self.keys:
            raise UsageError(unknown_name(self._noun, key, map(str, self.keys)))
        return self.comparisons[self.keys.index(key)]

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def table(self) -> Table:
        """Return the rows: p-values, posterior, decision."""
        return rows.full_table(self.what, self.keys, self.comparisons)

    def to_latex(
        self,
        *,
        columns: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the rows as a LaTeX table, with decision symbols and letter codes for findings.

        A table of all columns is set in landscape, a table of a few columns in portrait.

        Parameters
        ----------
        columns
            Columns to show, by their names in a data frame; all if None.
        caption
            Caption as plain text. Default: the models, the metric, the prior and the ROPE.
        label
            LaTeX label of the table. Default: derived from the names.
        """
        table = rows.compact_table(self.table(), columns)
        return captioned(table, caption).to_latex(label=label or self._latex_label())

    def _document(self) -> Document:
        return rows.document(self.what, self.table(), self.comparisons)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw one interval per comparison, in the order of the keys, with its decision.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_forest(self.what, self.keys, self.comparisons, ax, size=size)

    def joint(self, first: str | Ratio, second: str | Ratio) -> Joint:
        """Return the joint probabilities that A is better, equivalent or worse in two metrics.

        Both metrics use the same item weights, so their correlation is accounted for.

        Parameters
        ----------
        first, second
            Two metrics of the scorecard, each with its ROPE; or a ratio in one of them,
            ``card[metric].ratio(rope=…)``.

        Examples
        --------
        >>> import outperform as op
        >>> outcomes = op.Outcomes.from_statistics({
        ...     "small": {"right": [1, 1, 0, 1] * 50, "cents": [1, 2, 1, 2] * 50},
        ...     "large": {"right": [1, 1, 1, 0] * 50, "cents": [4, 3, 5, 4] * 50}})
        >>> ropes = {"mean:right": 0.2, "mean_cost:cents": 0.5}
        >>> card = op.scorecard(
        ...     outcomes, "small", "large", metrics=[*ropes], rope=ropes, random_state=1)
        >>> joint = card.joint("mean:right", "mean_cost:cents")
        >>> joint.decision, joint.p("equivalent", "better") > 0.99
        ('dominates', True)
        """
        from outperform.comparison.joint import joint

        return joint(self._part(first), self._part(second), what=self.what)

    def _part(self, metric: str | Ratio) -> Comparison | Ratio:
        from outperform.comparison.ratio import Ratio

        if not isinstance(metric, Ratio):
            return self[metric]
        if not any(metric.of is each for each in self):
            raise UsageError("this ratio does not belong to this scorecard; use card[…].ratio()")
        return metric

    def __repr__(self) -> str:
        symbols = "".join(comparison.decision.symbol for comparison in self.comparisons)
        return f"ComparisonTable(by {self._noun}, {len(self)} comparisons: {symbols})"

    @property
    def _noun(self) -> str:
        return rows.noun(self.what, self.comparisons[0].spec)

    def _latex_label(self) -> str:
        first = self.comparisons[0]
        metric = () if self.what == "metric" else (first.metric,)
        return latex_label(*first.names, *metric, "by", self._noun)


def summarize_comparison(
    spec: Spec,
    answered: Answer,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
    verb: str = "compare",
    as_right: tuple[AsRight, ...] | None = None,
) -> Comparison:
    """Compute numbers, decision and findings from draws and closed forms.

    ``as_right`` has the results if predictions of never-true classes counted as right, if they are
    already known from another ROPE.
    """
    n_draws = answered.values.shape[1]
    signature = sign(verb, spec, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed))
    a, b = (
        one_estimate(spec, answered, index, observed=observed, prob=prob, signature=signature)
        for index, observed in enumerate(spec.observed)
    )
    draws = answered.values[0] - answered.values[1]
    ordered, exact = np.sort(draws), answered.of_difference
    chain = answered.chains[-1] if answered.chains else None
    plain = summarize(ordered, exact, prob, signed=True, chain=chain)
    adjusted = adjust(spec, plain, draws, exact, prob=prob, seed=seed)
    if adjusted.selection is not None:
        draws, exact = adjusted.draws, adjusted.distribution
        ordered = np.sort(draws)
    numbers = adjusted.numbers
    masses = masses_of(ordered if exact is None else exact, rope)
    n_independent = n_effective(ordered, chain) if exact is None else None
    decision = decide(numbers.hdi, rope, masses, greater_is_better=spec.metric.greater_is_better)
    decision, few_finding = disagreements.allow(spec, decision, numbers.hdi)
    decision, of_process = process_findings(spec, decision, adjusted)
    if not all(chain.converged for chain in answered.chains):
        decision = Decision.UNDECIDED
    if as_right is None:
        interpret = interpret_two(prob=prob, n_draws=n_draws, seed=seed)
        as_right = ask_as_right(spec, interpret)
    spelled = tuple(spelling_findings(decision, as_right, rope))
    if is_serious(spelled) or batches_differ(spec.data.findings):
        decision = Decision.UNDECIDED
    stated = spec.label_errors is not None
    uneven = uneven_findings(spec, decision, numbers.hdi, rope) if stated else ()
    levels = {model.name: (model.observed, model.mean, model.sd) for model in (a, b)}
    difference = (a.observed - b.observed, plain.mean, plain.sd)
    findings = (
        *diagnostics.rope_findings(rope),
        *chain_findings(answered.chains),
        *unless_told(diagnostics.table_findings(spec), spelled),
        *spelled,
        *diagnostics.pull_findings(spec, levels, difference),
        *([] if few_finding is None else [few_finding]),
        *of_process,
        *diagnostics.interval_findings(spec, numbers, rope, masses, n_draws=n_independent),
        *uneven,
        *repeated_findings(spec, plain.sd),
    )
    return Comparison(
        spec=spec,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        **numbers._fields(),
        rope=rope,
        _masses=masses,
        decision=decision,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        seed=seed,
        chain=chain,
        selection=adjusted.selection,
        any_look=adjusted.any_look,
        _as_right=as_right,
        _own=adjusted.own,
    )


def answer_spec(
    spec: Spec,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
    verb: str = "compare",
) -> Comparison:
    """Draw the posterior and summarize it."""
    (answered,) = engine.answer([spec], Sampling(engine.check_draws(n_draws), seed, n_jobs))
    return summarize_comparison(spec, answered, rope=rope, prob=prob, seed=seed, verb=verb)


def _merged(steps: Iterable[CurveStep]) -> tuple[CurveStep, ...]:
    merged: list[CurveStep] = []
    for step in steps:
        if merged and merged[-1].decision is step.decision:
            merged[-1] = replace(merged[-1], stop=step.stop)
        else:
            merged.append(step)
    return tuple(merged)
