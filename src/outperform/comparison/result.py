"""The answer to a comparison: numbers, a verdict, doubts, and doors to words and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from outperform import present
from outperform._typing import Distribution, FloatArray
from outperform.comparison import checks, engine
from outperform.comparison.estimating import Estimate, one_estimate
from outperform.comparison.question import Question, ask
from outperform.comparison.summary import (
    SCHEMA,
    finding_facts,
    interval_facts,
    question_facts,
    seed_name,
    sign,
    summarise,
)
from outperform.comparison.tabular import Tabular
from outperform.decision import (
    BayesFactor,
    CurveStep,
    Decision,
    Inside,
    Interval,
    Masses,
    Rope,
    decide,
    interval_null,
    masses_from_distribution,
    masses_from_draws,
    point_null,
    point_null_kde,
    rope_curve,
)
from outperform.errors import UndefinedBayesFactor, UsageError
from outperform.findings import Finding
from outperform.posterior import child

if TYPE_CHECKING:
    from outperform.comparison.tables import ComparisonTable

_PRIOR_STREAM = 2**31


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Comparison(Tabular):
    """The posterior of A − B in a metric, and what it says.

    Parameters
    ----------
    question
        What was asked of which outcomes.
    a, b
        Each classifier's own posterior.
    observed
        The plug-in difference, equal to scikit-learn's.
    mean, sd, mcse
        Of A − B, and the Monte Carlo error of the mean (0 if exact).
    hdi, eti
        The narrowest and the equal-tailed interval.
    rope
        The region of practical equivalence.
    masses
        Posterior mass below, inside and above the ROPE.
    decision
        The verdict.
    draws
        Independent draws of A − B.
    distribution
        The closed form, where there is one.
    findings
        Doubts.
    signature
        What makes the result repeatable.
    seed
        The seed of the draws.
    """

    question: Question
    a: Estimate
    b: Estimate
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: Interval
    eti: Interval
    rope: Rope
    masses: Masses
    decision: Decision
    draws: FloatArray = field(repr=False)
    distribution: Distribution | None
    findings: tuple[Finding, ...]
    signature: str
    seed: np.random.SeedSequence

    # What the posterior says

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.question.metric.name

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self.a.name, self.b.name

    @property
    def n(self) -> int:
        """The number of documents."""
        return self.question.seen.n

    @property
    def exact(self) -> bool:
        """Whether the numbers come from a closed form."""
        return self.distribution is not None

    @property
    def p_worse(self) -> float:
        """The probability that A is worse than B by more than the ROPE."""
        return self.masses.below if self.question.metric.greater_is_better else self.masses.above

    @property
    def p_equivalent(self) -> float:
        """The probability that the difference lies in the ROPE."""
        return self.masses.inside

    @property
    def p_better(self) -> float:
        """The probability that A is better than B by more than the ROPE."""
        return self.masses.above if self.question.metric.greater_is_better else self.masses.below

    @property
    def p_greater(self) -> float:
        """The probability that A − B is above zero."""
        return self.masses.greater

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the verdict for every half-width of the ROPE.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01)
        >>> [step.decision.symbol for step in c.rope_curve()]
        ['≫', '>', '≈']
        """
        better = self.question.metric.greater_is_better
        steps = rope_curve(self.hdi, self.rope, greater_is_better=better)
        if not checks.is_tie(self.question, self.rope):
            return steps
        return tuple(
            step if step.decision.decided else replace(step, decision=Decision.UNDECIDED)
            for step in steps
        )

    @property
    def bayes_factor(self) -> BayesFactor | None:
        """The Bayes factor of the interval null; None without a proper prior or a ROPE of width."""
        if self.rope.low == self.rope.high:
            return None
        prior = engine.prior_inside(self.question, self.rope)
        if prior is None:
            return None
        inside = Inside(
            inside=self.masses.inside,
            outside=self.masses.below + self.masses.above,
            n_draws=None if self.exact else self.draws.size,
        )
        return interval_null(inside, prior)

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
        >>> c = op.compare(seen, "a", "b", metric="recall", rope=0.01, pos_label=1)
        >>> print(round(c.point_null().bf01, 6))
        1.6209
        """
        if not self.question.model.proper:
            raise UndefinedBayesFactor(
                f"model {self.question.model.name!r} has no proper prior, so it has no Bayes factor"
            )
        if method == "exact":
            _refuse_divergent(self.question)
            return point_null(self.distribution, engine.prior_difference(self.question))
        if method == "kde":
            seed = child(self.seed, _PRIOR_STREAM)
            prior = engine.prior_draws(self.question, self.draws.size, seed)
            return point_null_kde(self.draws, prior)
        raise UsageError(f"method must be 'exact' or 'kde'; got {method!r}")

    # The same data, asked again

    def with_rope(self, rope: Any) -> Comparison:
        """Return the same comparison under another ROPE; nothing is drawn again.

        Parameters
        ----------
        rope
            A half-width or a pair.
        """
        answered = engine.Answer(
            values=np.stack([self.a.draws, self.b.draws]),
            of_models=(self.a.distribution, self.b.distribution),
            of_difference=self.distribution,
        )
        checked = Rope.from_param(rope, bounds=self.question.metric.bounds)
        return conclude(self.question, answered, rope=checked, prob=self.hdi.prob, seed=self.seed)

    def with_metric(self, metric: Any) -> Comparison:
        """Return the same comparison in another metric; nothing is counted again.

        Parameters
        ----------
        metric
            A name, a metric object or a function of a confusion array.
        """
        question = ask(
            self.question.seen,
            metric=metric,
            default_model="unit",
            **self.question.given._asdict(),
        )
        (answered,) = engine.answer(
            [question], n_draws=self.draws.size, seed=self.seed, n_jobs=None
        )
        given = None if self.rope.default else self.rope
        rope = Rope.from_param(given, bounds=question.metric.bounds)
        return conclude(question, answered, rope=rope, prob=self.hdi.prob, seed=self.seed)

    def by_class(self) -> ComparisonTable:
        """Return one comparison per class, each class against the rest: the papers' table.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare(list("aabbcc"), list("aabbca"), list("abbccc"), metric="f1_macro")
        >>> c.by_class().keys
        ('a', 'b', 'c')
        """
        from outperform.comparison.tables import compare_classes

        return compare_classes(self)

    # Words, tables, pictures

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "names": list(self.names),
            **question_facts(self.question),
            "paired": self.question.paired,
            "observed": None if np.isnan(self.observed) else self.observed,
            "observed_defined": self.a.observed_defined and self.b.observed_defined,
            "mean": self.mean,
            "sd": self.sd,
            "mcse": self.mcse,
            "hdi": interval_facts(self.hdi),
            "eti": interval_facts(self.eti),
            "rope": {"low": self.rope.low, "high": self.rope.high, "default": self.rope.default},
            "p_worse": self.p_worse,
            "p_equivalent": self.p_equivalent,
            "p_better": self.p_better,
            "p_greater": self.p_greater,
            "n_draws": self.draws.size,
            "exact": self.exact,
            "decision": {
                "name": self.decision.name,
                "symbol": self.decision.symbol,
                "words": self.decision.words,
            },
            "rope_curve": [
                {
                    "decision": step.decision.name,
                    "symbol": step.decision.symbol,
                    "from": step.start,
                    "to": step.stop,
                }
                for step in self.rope_curve()
            ],
            "bayes_factor": _factor_facts(self.bayes_factor),
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "findings": finding_facts(self.findings),
            "signature": self.signature,
        }

    def report(self) -> str:
        """Return a paragraph for a paper."""
        return present.paragraph(self.to_dict())

    def table(self) -> present.Table:
        """Return the comparison as a table of one row with the papers' columns."""
        return present.results_table([self.to_dict()])

    def to_markdown(self) -> str:
        """Return A, B and the difference as a Markdown table."""
        return present.comparison_table(self.to_dict()).to_markdown()

    def to_latex(self) -> str:
        """Return A, B and the difference as a LaTeX table."""
        return present.comparison_table(self.to_dict()).to_latex()

    def to_html(self) -> str:
        """Return the answer as HTML, as a notebook shows it."""
        return present.comparison_html(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Draw the posterior with HDI, ROPE and the three percentages.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return present.plot_posterior(self.draws, facts=self.to_dict(), ax=ax)

    def __repr__(self) -> str:
        return f"Comparison({self.decision.symbol} {present.headline(self._headline_facts())})"

    def __str__(self) -> str:
        return present.screen(self.to_dict())

    def _headline_facts(self) -> dict[str, Any]:
        # The one line needs no Bayes factor, which may have to be drawn.
        return {
            "names": list(self.names),
            **question_facts(self.question),
            "mean": self.mean,
            "sd": self.sd,
            "hdi": interval_facts(self.hdi),
            "rope": {"low": self.rope.low, "high": self.rope.high},
            "decision": {"name": self.decision.name, "symbol": self.decision.symbol},
            "findings": finding_facts(self.findings),
        }


def conclude(
    question: Question,
    answered: engine.Answer,
    *,
    rope: Rope,
    prob: float,
    seed: np.random.SeedSequence,
) -> Comparison:
    """Turn draws and closed forms into numbers, a verdict and doubts."""
    n_draws = answered.values.shape[1]
    signature = sign(
        "compare", question, rope=str(rope), prob=prob, n_draws=n_draws, seed=seed_name(seed)
    )
    a, b = (
        one_estimate(question, answered, place, observed=seen, prob=prob, signature=signature)
        for place, seen in enumerate(engine.observed(question))
    )
    draws = answered.values[0] - answered.values[1]
    ordered, exact = np.sort(draws), answered.of_difference
    numbers = summarise(ordered, exact, prob)
    decision = decide(numbers.hdi, rope, greater_is_better=question.metric.greater_is_better)
    if not decision.decided and checks.is_tie(question, rope):
        decision = Decision.UNDECIDED  # what leaning there is comes from the draws
    disagreement = checks.disagreement_finding(question, decision)
    if disagreement is not None and disagreement.level == "serious":
        decision = Decision.UNDECIDED
    values = [(one.name, one.observed, one.mean, one.sd) for one in (a, b)]
    values.append(("the difference", a.observed - b.observed, numbers.mean, numbers.sd))
    findings = (
        *checks.rope_findings(rope),
        *checks.table_findings(question),
        *checks.pull_findings(question, values),
        *([] if disagreement is None else [disagreement]),
        *checks.interval_findings(question, numbers.hdi, numbers.eti, rope, sampled=exact is None),
    )
    return Comparison(
        question=question,
        a=a,
        b=b,
        observed=a.observed - b.observed,
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        rope=rope,
        masses=(
            masses_from_draws(ordered, rope)
            if exact is None
            else masses_from_distribution(exact, rope)
        ),
        decision=decision,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        seed=seed,
    )


def _refuse_divergent(question: Question) -> None:
    """Refuse point nulls whose prior density at zero is infinite."""
    form = question.share
    if question.model.name in ("hierarchical", "free"):
        raise UndefinedBayesFactor(
            f"under model {question.model.name!r} the prior density of the difference at zero is "
            "infinite, so the point null has no Bayes factor; use the interval null, c.bayes_factor"
        )
    if question.model.name != "flat" or not question.paired or form is None:
        return
    if question.positive is None or "fp" not in form.parts or "tp" not in form.parts:
        return
    shapes = question.prior.prevalence_shapes(2)
    needed = shapes[[1]] if "fn" in form.parts else shapes
    if needed.min() <= 1:
        raise UndefinedBayesFactor(
            f"both classifiers' {question.metric.label} go to zero together with the prevalence, "
            "so the prior density of their difference at zero is infinite and the point null has "
            "no Bayes factor; use the interval null, c.bayes_factor"
        )


def _factor_facts(factor: BayesFactor | None) -> dict[str, Any] | None:
    if factor is None:
        return None
    return {
        "bf01": factor.bf01,
        "log10_bf10": factor.log10_bf10,
        "kind": factor.kind,
        "method": factor.method,
        "bound": factor.bound,
        "mcse": factor.mcse,
    }
