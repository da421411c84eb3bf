"""The answer to a comparison: numbers, a verdict, doubts, and doors to words and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from outperform import present
from outperform._typing import AnyArray, Distribution, FloatArray, Label, Progress, Seed
from outperform.comparison import disagreements, engine, pictures
from outperform.comparison.estimating import Estimate
from outperform.comparison.factors import interval_factor, point_factor
from outperform.comparison.facts import comparison_facts, headline_facts
from outperform.comparison.question import Question, rope_for
from outperform.comparison.scored import Asked, counted
from outperform.comparison.scored.asking import ask_any
from outperform.comparison.summary import (
    n_effective,
)
from outperform.comparison.tabular import Tabular
from outperform.decision import (
    BayesFactor,
    CurveStep,
    Decision,
    Interval,
    Masses,
    Regret,
    Rope,
    probability_error,
    regret_from_distribution,
    regret_from_draws,
    rope_curve,
    sd_error,
)
from outperform.findings import Finding
from outperform.posterior import Chain

if TYPE_CHECKING:
    from outperform.comparison.planning.result import Plan
    from outperform.comparison.sensitivity import Sensitivity
    from outperform.comparison.tables import ComparisonTable


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
        The plug-in difference, equal to scikit-learn's; with ``prevalence=`` that at these shares.
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
        Draws of A − B, independent unless a chain drew them.
    distribution
        The closed form, where there is one.
    findings
        Doubts.
    signature
        What makes the result repeatable.
    seed
        The seed of the draws.
    chain
        What the chain says of itself that drew; None where the draws are independent.
    """

    verb: ClassVar[str] = "compare"

    question: Asked
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
    chain: Chain | None = None

    # What the posterior says

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.question.metric.name

    @property
    def counted(self) -> Question:
        """The question about counted labels; a UsageError where scores were compared."""
        return counted(self.question)

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self.a.name, self.b.name

    @property
    def n(self) -> int:
        """The number of documents."""
        return self.question.n

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
        better = self.question.metric.greater_is_better
        if self.distribution is None:
            return regret_from_draws(
                self.draws, greater_is_better=better, n_effective=self.n_effective
            )
        return regret_from_distribution(self.distribution, greater_is_better=better)

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
        return _merged(replace(step, decision=self._allowed(step.decision)) for step in steps)

    def _allowed(self, decision: Decision) -> Decision:
        """Return a verdict as far as data and chain allow it, whatever the interval says."""
        if any(one is not None and not one.converged for one in self._chains):
            return Decision.UNDECIDED
        return disagreements.allow(self.question, decision, self.hdi, self.rope)[0]

    @property
    def _chains(self) -> tuple[Chain | None, ...]:
        return self.a.chain, self.b.chain, self.chain

    @property
    def bayes_factor(self) -> BayesFactor | None:
        """The Bayes factor of the interval null; None without a proper prior or a ROPE of width."""
        n_draws = None if self.exact else int(self.n_effective)
        return interval_factor(self.question, self.rope, self.masses, n_draws=n_draws)

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
        return point_factor(
            self.question, self.distribution, self.draws, method=method, seed=self.seed
        )

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
            chains=tuple(one for one in self._chains if one is not None),
        )
        checked = rope_for(self.question, rope)
        return self._conclude(self.question, answered, checked, self.seed)

    def with_metric(self, metric: Any, *, rope: Any = None) -> Comparison:
        """Return the same comparison in another metric; nothing is counted again.

        Parameters
        ----------
        metric
            A name, a metric object or a function of a confusion array.
        rope
            The ROPE; by default that of this comparison, unless one of the metrics is a cost.
        """
        question = ask_any(
            self.question.seen,
            metric=metric,
            default_model="unit",
            counting=self.question.counting,
            **self.question.given._asdict(),
        )
        priced = [one.costs is not None for one in (self.question, question)]
        if rope is None and not self.rope.default and not any(priced):
            rope = self.rope
        return self.ask_also(question, rope=rope_for(question, rope), seed=self.seed)

    def ask_also(self, question: Asked, *, rope: Rope, seed: np.random.SeedSequence) -> Comparison:
        """Return the answer to another question about the same data.

        Parameters
        ----------
        question
            What to ask.
        rope
            The region of practical equivalence.
        seed
            Of the draws.
        """
        (found,) = self.ask_together([question], rope=rope, seed=seed)
        return found

    def ask_together(
        self, questions: Sequence[Asked], *, rope: Rope, seed: np.random.SeedSequence
    ) -> tuple[Comparison, ...]:
        """Return the answers to questions about one table of the same data, from the same draws.

        Parameters
        ----------
        questions
            What to ask.
        rope
            The region of practical equivalence.
        seed
            Of the draws.
        """
        chosen, n_draws = questions[0].given.engine, self.draws.size
        if chosen.sampler is not None and chosen != self.question.given.engine:
            n_draws = chosen.n_draws
        answers = engine.answer(questions, n_draws=n_draws, seed=seed, n_jobs=None)
        return tuple(
            self._conclude(question, answered, rope, seed)
            for question, answered in zip(questions, answers, strict=True)
        )

    def _conclude(
        self,
        question: Asked,
        answered: engine.Answer,
        rope: Rope,
        seed: np.random.SeedSequence,
    ) -> Comparison:
        """Conclude again; a kind of comparison that knows more adds what it knows."""
        from outperform.comparison.concluding import conclude

        return conclude(
            question, answered, rope=rope, prob=self.hdi.prob, seed=seed, verb=self.verb
        )

    def more_data(
        self,
        *,
        goal: str | Decision = "decided",
        target: float = 0.8,
        most: int | None = None,
        n_simulations: int = 1_000,
        n_draws: int | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> Plan:
        """Return how many more documents would probably decide, and with what probability.

        Every simulated future draws a world from the posterior and documents from that world,
        adds them to those that are there, and decides again. What an undecided comparison prints
        is the same by normal theory, which takes no time.

        Parameters
        ----------
        goal
            ``"decided"``, a firm verdict such as ``"≫"``, or ``"not_worse"``.
        target
            The wanted probability.
        most
            No more documents than this are considered; a hundred times those that there are by
            default.
        n_simulations
            The most futures that are simulated.
        n_draws
            Draws of each.
        random_state
            None, a whole number, a SeedSequence, a Generator or a RandomState.
        n_jobs
            Threads; the result does not depend on it.

        Examples
        --------
        >>> import outperform as op
        >>> counts = [12, 5, 83]
        >>> seen = op.Outcomes.from_counts([1, 1, 1], {"a": [1, 0, 1], "b": [0, 1, 1]}, counts)
        >>> c = op.compare(seen, "a", "b", metric="recall", rope=0.01, pos_label=1)
        >>> more = c.more_data(n_simulations=500, random_state=0)
        >>> more.seen, more.n is not None
        (100, True)
        """
        from outperform.comparison.planning.more import more_data

        return more_data(
            self,
            goal=goal,
            target=target,
            most=most,
            n_simulations=n_simulations,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def by_class(self) -> ComparisonTable:
        """Return one comparison per class, each class against the rest: the papers' table.

        A class that is never true has no row, unless it was named in ``labels``.

        Examples
        --------
        >>> import outperform as op
        >>> c = op.compare(list("aabbcc"), list("aabbca"), list("abbccc"), metric="f1_macro")
        >>> c.by_class().keys
        ('a', 'b', 'c')
        """
        from outperform.comparison.tables import compare_classes

        return compare_classes(self)

    def sensitivity(
        self,
        *,
        priors: Mapping[str, Any] | None = None,
        ropes: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> Sensitivity:
        """Return the verdict and the interval under other priors and other ROPEs.

        The draws come from the same seed. A finding says if the verdict depends on the prior.

        Parameters
        ----------
        priors
            Besides the usual ones, names and priors of your own: a :class:`Prior`, an array, a
            number, ``"uniform"``, ``"jeffreys"``, the name of a model, or a PyMC model, which is
            the one that needs a chain.
        ropes
            Half-widths or pairs; by default half, once, twice and four times the ROPE.
        progress
            Called with how many priors are done, and with how many there are.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
        >>> c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
        >>> asked = c.sensitivity(priors={"strong": 5.0}, ropes=[0.05, 0.2])
        >>> print("".join(verdict.symbol for verdict in asked.verdicts[0]))
        ≫≫>
        >>> asked["strong"].decision
        <Decision.BETTER: '≫'>
        """
        from outperform.comparison.sensitivity import sensitivity

        return sensitivity(self, priors=priors, ropes=ropes, progress=progress)

    def confusions(self) -> tuple[AnyArray, AnyArray]:
        """Return the confusion matrices of A and of B, true classes as rows."""
        seen = self.counted.seen
        if seen.pool is not None:  # the labelled documents stand for the pool
            seen = seen.in_weights()
        a, b = (seen.confusion(name) for name in seen.models)
        return a, b

    # Words, tables, pictures

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return comparison_facts(self)

    def report(self, *, length: present.Length = "long") -> str:
        """Return a paragraph for a paper.

        Parameters
        ----------
        length
            ``"long"``: estimate, interval, direction, practical significance, evidence, caveats
            and method. ``"short"``: the estimate, its interval, the verdict, and what stands
            against it.
        """
        return present.paragraph(self.to_dict(), length=length)

    def to_datatree(self) -> Any:
        """Return the draws as ArviZ takes them: an xarray ``DataTree``.

        Its groups are ``posterior`` with ``value`` and ``difference``, ``prior`` with the same
        where the prior is proper, and ``observed_data`` with ``value`` and, of up to 1,000
        classes, ``confusion``; :func:`from_datatree` takes it back.
        """
        from outperform.comparison.trees import to_datatree

        return to_datatree(self)

    def table(self) -> present.Table:
        """Return the comparison as a table of one row with the papers' columns."""
        return present.results_table([self.to_dict()])

    def to_markdown(self) -> str:
        """Return A, B and the difference as a Markdown table."""
        return present.comparison_table(self.to_dict()).to_markdown()

    def _latex_table(self) -> present.Table:
        facts = self.to_dict()
        caption = present.comparison_caption(facts)
        return present.captioned(present.comparison_table(facts), caption)

    def _latex_label(self) -> str:
        return present.latex_label(*self.names, self.metric)

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
        outline = pictures.outline(self.draws, self.distribution)
        return present.plot_posterior(outline, facts=self.to_dict(), ax=ax)

    def plot_factor(self, ax: Any = None) -> Any:
        """Draw prior and posterior of the difference, and what that does to both nulls.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return pictures.plot_factor(self, ax)

    def plot_rope_curve(self, ax: Any = None) -> Any:
        """Draw the verdict for every half-width of the ROPE.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return pictures.plot_rope_curve(self, ax)

    def plot_models(self, ax: Any = None) -> Any:
        """Draw each classifier's own posterior with HDI and observed value.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        return pictures.plot_models(self, ax)

    def plot_confusion(
        self, axes: Any = None, *, normalise: bool = False, labels: Sequence[Label] | None = None
    ) -> Any:
        """Draw both confusion matrices and, as a third panel, where they differ.

        Parameters
        ----------
        axes
            Three axes to draw into; new ones if None. They are returned.
        normalise
            Whether each row is shown as per cent of its sum over the classes shown.
        labels
            The classes to show; all if None.
        """
        return pictures.plot_confusion(self, axes, normalise=normalise, labels=labels)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}({self.decision.symbol} {present.headline(headline_facts(self))})"

    def __str__(self) -> str:
        return present.screen(self.to_dict())


def _merged(steps: Iterable[CurveStep]) -> tuple[CurveStep, ...]:
    found: list[CurveStep] = []
    for step in steps:
        if found and found[-1].decision is step.decision:
            found[-1] = replace(found[-1], stop=step.stop)
        else:
            found.append(step)
    return tuple(found)
