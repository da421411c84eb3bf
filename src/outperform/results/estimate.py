"""``Estimate``: posterior of one model's metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from outperform._json import MaybeNaN, written
from outperform._typing import Axes, Distribution, FigureSize, FloatArray
from outperform.data.prevalence import PrevalenceLike
from outperform.decision.rope import sd_error
from outperform.display.document import Document
from outperform.display.formats import latex_label
from outperform.display.paragraphs import Length, estimate_paragraph
from outperform.display.pictures import outline
from outperform.display.posterior_figure import plot_posterior
from outperform.display.screen import estimate_document
from outperform.display.sentences import estimate_headline, estimate_table
from outperform.display.table import Table
from outperform.errors import UsageError
from outperform.findings import Finding
from outperform.inference import diagnostics, engine
from outperform.inference.disagreements import repeated_findings
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.spec import Spec, counted, elsewhere
from outperform.inference.summary import (
    Summary,
    n_effective,
    seed_name,
    sign,
    summarize,
)
from outperform.posterior.pymc.sampling import Chain
from outperform.results.base import Tabular

if TYPE_CHECKING:  # a label comparison needs neither folds nor runs
    from outperform.results.details import EstimateDetails, FoldDetails, ModelRuns


@written(
    "name *spec observed observed_defined *_summary mc_errors n_draws=draws.size "
    "chain? exact findings signature runs?=_runs folds?=_folds",
    kind="estimate",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Estimate(Summary, Tabular):
    """Posterior of one model's metric; see :class:`Summary`.

    Parameters
    ----------
    name
        Name of the model.
    spec
        Data, metric and prior.
    observed
        Plug-in value, equal to scikit-learn's unless class proportions or label errors are set.
    draws
        Draws of the metric, independent unless they come from a chain.
    distribution
        Closed form, if there is one.
    findings
        Findings about the result.
    signature
        One line that describes how the result was computed.
    chain
        Diagnostics of the chain; None if the draws are independent.
    details
        Additional fields for folds (:class:`FoldDetails`) or training runs (:class:`ModelRuns`);
        None for other estimates.
    seed
        Seed of the draws; None for a model in a comparison, where the comparison has the seed.
    """

    name: str
    spec: Spec
    observed: MaybeNaN
    draws: FloatArray = field(repr=False)
    distribution: Distribution | None
    findings: tuple[Finding, ...]
    signature: str
    chain: Chain | None = None
    details: EstimateDetails | None = None
    seed: np.random.SeedSequence | None = None

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.spec.metric.name

    @property
    def exact(self) -> bool:
        """Whether the numbers come from a closed form."""
        return self.distribution is not None

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo errors of the mean and the sd; 0 if exact."""
        error = 0.0 if self.exact else sd_error(self.draws, n_effective(self.draws, self.chain))
        return {"mean": self.mcse, "sd": error}

    @property
    def _runs(self) -> ModelRuns | None:
        details = self.details
        return details if details is not None and details.kind == "runs" else None

    @property
    def _folds(self) -> FoldDetails | None:
        details = self.details
        return details if details is not None and details.kind == "folds" else None

    @property
    def observed_defined(self) -> bool:
        """Whether the plug-in value is defined; 0/0 counts as 0 by convention."""
        if self._runs is not None:
            known = self.spec.data.models
            runs = [run for run in self._runs.runs if run in known]
            return all(self.spec.is_defined(run) for run in runs)
        return self.spec.is_defined(self.name)

    def at_prevalence(self, shares: PrevalenceLike) -> Estimate:
        """Return the same estimate at other class proportions, without recounting.

        Parameters
        ----------
        shares
            As for :meth:`Outcomes.at_prevalence`.

        Examples
        --------
        >>> import outperform as op
        >>> seen = op.Outcomes.from_confusion({"m": [[90, 10], [20, 80]]}, labels=[0, 1])
        >>> e = op.estimate(seen, "m", random_state=0)
        >>> print(round(e.observed, 3), round(e.at_prevalence(0.02).observed, 3))
        0.842 0.239
        """
        if self.seed is None:
            raise UsageError(
                "this estimate belongs to a comparison; call at_prevalence() on the comparison, "
                "then use its a or b"
            )
        return answer_one(
            elsewhere(counted(self.spec), shares),
            verb="estimate",
            prob=self.hdi.prob,
            n_draws=self.draws.size,
            seed=self.seed,
            n_jobs=-1,
        )

    def pdf(self, t: ArrayLike) -> FloatArray:
        """Return the posterior density at each value; requires a closed form.

        Parameters
        ----------
        t
            A value or an array of values.
        """
        return self._at_each("pdf", t)

    def cdf(self, t: ArrayLike) -> FloatArray:
        """Return the cumulative posterior probability at each value, if there is a closed form.

        Parameters
        ----------
        t
            A value or an array of values.
        """
        return self._at_each("cdf", t)

    def _at_each(self, function: str, t: ArrayLike) -> FloatArray:
        if self.distribution is None:
            raise UsageError(
                f"this posterior has no closed form, so {function}() is not available; use draws"
            )
        evaluate = np.vectorize(getattr(self.distribution, function), otypes=[np.float64])
        values: FloatArray = evaluate(np.asarray(t, dtype=np.float64))[()]
        return values

    def table(self) -> Table:
        """Return the numbers as a table with one row."""
        return estimate_table(self.to_dict())

    def report(self, *, length: Length = "medium") -> str:
        """Return a paragraph for a paper.

        Parameters
        ----------
        length
            ``"short"`` for only the estimate, its interval and caveats.
        """
        return estimate_paragraph(self.to_dict(), length=length)

    def _latex_label(self) -> str:
        return latex_label(self.name, self.metric)

    def _document(self) -> Document:
        return estimate_document(self.to_dict(), draws=self.draws, distribution=self.distribution)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the posterior.

        Parameters
        ----------
        ax
            Axes to draw in; new axes if None.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        shape = outline(self.draws, self.distribution)
        return plot_posterior(shape, facts=self.to_dict(), ax=ax, size=size)

    def __repr__(self) -> str:
        return f"Estimate({estimate_headline(self.to_dict())})"


def answer_one(
    spec: Spec,
    *,
    verb: str,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> Estimate:
    """Draw from the posterior of one model, and return its estimate."""
    (answer,) = engine.answer([spec], Sampling(n_draws, seed, n_jobs))
    signature = sign(verb, spec, rope=None, prob=prob, n_draws=n_draws, seed=seed_name(seed))
    (observed,) = spec.observed
    return one_estimate(
        spec,
        answer,
        0,
        observed=observed,
        prob=prob,
        signature=signature,
        checked=True,
        seed=seed,
    )


def one_estimate(
    spec: Spec,
    answer: Answer,
    index: int,
    *,
    observed: float,
    prob: float,
    signature: str,
    checked: bool = False,
    seed: np.random.SeedSequence | None = None,
) -> Estimate:
    """Return the estimate of one model, with findings only if it is ``checked``."""
    draws, exact = answer.values[index], answer.of_models[index]
    chain = answer.chains[index] if answer.chains else None
    numbers = summarize(np.sort(draws), exact, prob, chain=chain)
    name = spec.data.models[index]
    findings: tuple[Finding, ...] = ()
    if checked:
        pulled = {name: (observed, numbers.mean, numbers.sd)}
        findings = (
            *diagnostics.table_findings(spec),
            *diagnostics.pull_findings(spec, pulled),
            *repeated_findings(spec, numbers.sd, models=(index,)),
        )
    return Estimate(
        name=name,
        spec=spec,
        observed=observed,
        **numbers._fields(),
        draws=draws,
        distribution=exact,
        findings=findings,
        signature=signature,
        chain=chain,
        seed=seed,
    )
