"""``estimate``: one classifier's own metric, with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from outperform import present
from outperform._typing import Distribution, FloatArray, Label, Seed
from outperform.comparison import checks, engine, pictures
from outperform.comparison.question import refuse_counted
from outperform.comparison.repeated import repeated_findings
from outperform.comparison.scored import Asked
from outperform.comparison.scored.asking import Seen, ask_any, seen_by, selected
from outperform.comparison.summary import (
    SCHEMA,
    chain_facts,
    finding_facts,
    interval_facts,
    n_effective,
    question_facts,
    seed_name,
    sign,
    summarise,
)
from outperform.comparison.tabular import Tabular
from outperform.decision import Interval, check_prob, sd_error
from outperform.findings import Finding
from outperform.outcomes import Outcomes, Scores
from outperform.posterior import Chain, seed_sequence


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Estimate(Tabular):
    """The posterior of one classifier's metric.

    Parameters
    ----------
    name
        The classifier.
    question
        What was asked.
    observed
        The plug-in value, equal to scikit-learn's; with ``prevalence=`` that at these shares.
    mean, sd, mcse
        Of the posterior, and the Monte Carlo error of the mean (0 if exact).
    hdi, eti
        The narrowest and the equal-tailed interval.
    draws
        Draws of the metric, independent unless a chain drew them.
    distribution
        The closed form, where there is one.
    findings
        Doubts.
    signature
        What makes the result repeatable.
    chain
        What the chain says of itself that drew; None where the draws are independent.
    """

    name: str
    question: Asked
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: Interval
    eti: Interval
    draws: FloatArray = field(repr=False)
    distribution: Distribution | None
    findings: tuple[Finding, ...]
    signature: str
    chain: Chain | None = None

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.question.metric.name

    @property
    def exact(self) -> bool:
        """Whether the numbers come from a closed form."""
        return self.distribution is not None

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo error of the mean and of the sd; 0 if exact."""
        of_sd = 0.0 if self.exact else sd_error(self.draws, n_effective(self.draws, self.chain))
        return {"mean": self.mcse, "sd": of_sd}

    @property
    def observed_defined(self) -> bool:
        """Whether the data define the plug-in value; where it is 0/0 it is 0 by convention."""
        return engine.is_defined(self.question, self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the draws as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "estimate",
            "name": self.name,
            **question_facts(self.question),
            "observed": None if np.isnan(self.observed) else self.observed,
            "observed_defined": self.observed_defined,
            "mean": self.mean,
            "sd": self.sd,
            "mcse": self.mcse,
            "hdi": interval_facts(self.hdi),
            "eti": interval_facts(self.eti),
            "errors": self.errors,
            "n_draws": self.draws.size,
            **chain_facts(self.chain),
            "exact": self.exact,
            "findings": finding_facts(self.findings),
            "signature": self.signature,
        }

    def table(self) -> present.Table:
        """Return the numbers as a table of one row."""
        return present.estimate_table(self.to_dict())

    def report(self, *, length: present.Length = "long") -> str:
        """Return a paragraph for a paper.

        Parameters
        ----------
        length
            ``"long"``, or ``"short"`` for the estimate, its interval and what stands against it.
        """
        return present.estimate_paragraph(self.to_dict(), length=length)

    def _latex_table(self) -> present.Table:
        facts = self.to_dict()
        return present.captioned(present.estimate_table(facts), present.estimate_caption(facts))

    def _latex_label(self) -> str:
        return present.latex_label(self.name, self.metric)

    def to_html(self) -> str:
        """Return the numbers as HTML."""
        return present.estimate_html(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Draw the posterior.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        """
        outline = pictures.outline(self.draws, self.distribution)
        return present.plot_posterior(outline, facts=self.to_dict(), ax=ax)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({present.estimate_headline(self.to_dict())})"

    def __str__(self) -> str:
        return present.estimate_screen(self.to_dict())


def estimate(
    y_true: Any,
    prediction: Any,
    *,
    metric: Any = None,
    hdi_prob: float = 0.95,
    prior: Any = None,
    model: str | None = None,
    n_draws: int = 20_000,
    random_state: Seed = None,
    n_jobs: int | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    prevalence: Any = None,
    name: str = "A",
    groups: Any = None,
    sample_weight: Any = None,
) -> Estimate:
    """Estimate one classifier's metric from its predictions.

    Parameters
    ----------
    y_true
        The true labels, or :class:`Outcomes`, or :class:`Scores`; None for graded answers.
    prediction
        The predicted labels, or the name of a model in the outcomes; for a metric of scores
        such as ``"roc_auc"``, its scores.
    metric
        By default F1 where the positive class is clear and macro-F1 where it is not. Else
        scikit-learn's scorer name, a metric object, or a function of a confusion array.
    hdi_prob
        The mass of the interval.
    prior
        Of model ``"flat"``: ``"uniform"``, ``"jeffreys"``, an array or a :class:`Prior`.
    model
        ``"flat"``, ``"unit"``, ``"hierarchical"``, ``"free"`` or ``"bootstrap"``; by default
        flat for two classes and free for more, or bootstrap where groups are known.
    n_draws
        How many draws.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.
    n_jobs
        Threads; None uses all cores where that pays. The draws do not depend on it.
    labels
        The classes averaged over, as in scikit-learn; no row is dropped.
    pos_label
        The positive class of a binary metric.
    prevalence
        The class proportions where the model is to be used, if not those of the data: the
        share of the positive class, or a mapping from classes to shares or to counts, or a
        distribution such as ``scipy.stats.beta(20, 980)``.
    name
        What to call the classifier; outcomes know its name.
    groups
        The group of each document, such as its author or its prompt, if groups rather than
        documents should get one weight each.
    sample_weight
        How much the item of each row matters, as in scikit-learn. Rows that stand for several
        items are counts: :meth:`Outcomes.from_counts`.

    Examples
    --------
    >>> import outperform as op
    >>> seen = op.Outcomes.from_confusion({"spam": [[900, 20], [10, 70]]})
    >>> print(round(op.estimate(seen, "spam", metric="recall").mean, 4))
    0.8659
    """
    seen = _one_model(y_true, prediction, name, labels, sample_weight, groups, metric)
    prob, n_draws = check_prob(hdi_prob), engine.check_draws(n_draws)
    seed = seed_sequence(random_state)
    question = ask_any(
        seen,
        metric=metric,
        model=model,
        default_model="free",
        prior=prior,
        paired=False,
        labels=labels,
        pos_label=pos_label,
        prevalence=prevalence,
    )
    return answer_one(
        question, verb="estimate", prob=prob, n_draws=n_draws, seed=seed, n_jobs=n_jobs
    )


def answer_one(
    question: Asked,
    *,
    verb: str,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> Estimate:
    """Draw, and conclude on one model."""
    (answered,) = engine.answer([question], n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    signature = sign(verb, question, rope=None, prob=prob, n_draws=n_draws, seed=seed_name(seed))
    (seen,) = engine.observed(question)
    return one_estimate(
        question, answered, 0, observed=seen, prob=prob, signature=signature, checked=True
    )


def one_estimate(
    question: Asked,
    answered: engine.Answer,
    place: int,
    *,
    observed: float,
    prob: float,
    signature: str,
    checked: bool = False,
) -> Estimate:
    """Wrap one model's posterior; doubts are worked out only where it stands alone."""
    draws, exact = answered.values[place], answered.of_models[place]
    chain = answered.chains[place] if answered.chains else None
    numbers = summarise(np.sort(draws), exact, prob, chain=chain)
    name = question.seen.models[place]
    findings: tuple[Finding, ...] = ()
    if checked:
        pulled = [(name, observed, numbers.mean, numbers.sd)]
        findings = (
            *checks.table_findings(question),
            *checks.pull_findings(question, pulled),
            *repeated_findings(question, numbers.sd, models=(place,)),
        )
    return Estimate(
        name=name,
        question=question,
        observed=observed,
        mean=numbers.mean,
        sd=numbers.sd,
        mcse=numbers.mcse,
        hdi=numbers.hdi,
        eti=numbers.eti,
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        chain=chain,
    )


def _one_model(
    y_true: Any,
    prediction: Any,
    name: str,
    labels: Sequence[Label] | None,
    weights: Any,
    groups: Any,
    metric: Any,
) -> Seen:
    if isinstance(y_true, (Outcomes, Scores)):
        refuse_counted(groups=groups, sample_weight=weights)
        return selected(y_true, [prediction], verb="estimate")
    return seen_by(
        y_true,
        {name: prediction},
        metric=metric,
        labels=labels,
        sample_weight=weights,
        groups=groups,
    )
