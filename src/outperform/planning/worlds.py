"""Scenarios from which test sets are simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from outperform import metrics
from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes, n_codes
from outperform.decision.hdi import narrowest_ends
from outperform.decision.intervals import Interval
from outperform.decision.rope import Rope, firm_decision
from outperform.findings import Finding
from outperform.inference import disagreements, engine
from outperform.inference.disagreements import matching_findings
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.score_views import unit_sums
from outperform.inference.spec import LabelSpec, again
from outperform.metrics.weighted import Evaluate
from outperform.planning.goals import Items, Outlook, prior_worth
from outperform.posterior.base import Independent, Sums, Tables, build_posterior
from outperform.posterior.dirichlet import DenseRows
from outperform.posterior.gammas import draw_gammas
from outperform.posterior.predictive import Predict, predictive
from outperform.posterior.registry import PriorLike, dirichlet_shapes, get_prior
from outperform.posterior.rng import child, run_blocks

# Number of simulated test sets that share a random stream; each thread takes whole bundles.
_BUNDLE = 20
_OUTLOOK_DRAWS = 4_000
# With few score units the posterior is drawn: the limit, and the number of draws.
_FEW_UNITS, _DRAWS_OF_FEW = 100, 400
# The narrowest interval with a share of n draws is too narrow by this multiple of n^(−2/3), as
# measured on normal draws for masses from 0.8 to 0.95.
_TOO_NARROW = 1.7


def simulated_ends(
    make_fill: Callable[[], Callable[[np.random.Generator, FloatArray], None]],
    n_simulations: int,
    n_draws: int,
    *,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Return interval ends ``(2, n_simulations)``, which do not depend on the number of threads.

    Parameters
    ----------
    make_fill
        Factory of functions that fill ends ``(2, n)``, each with separate buffers.
    n_simulations
        Number of test sets.
    n_draws
        Number of draws per simulated posterior, used to estimate the time.
    seed, n_jobs
        Source of randomness and number of threads.
    """
    return run_blocks(
        make_fill,
        n_values=2,
        n_draws=n_simulations,
        n_gammas=10 * n_draws,
        length=_BUNDLE,
        seed=seed,
        n_jobs=n_jobs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWorld:
    """Scenario of test sets with any number of classes.

    Parameters
    ----------
    spec
        Spec of the comparison; its view is the existing data, or an example.
    make_predict
        Factory of functions that draw test sets, each with separate buffers.
    items
        Whether the drawn items are added to the view or analysed without it.
    rope
        Region of practical equivalence.
    n_draws
        Draws of each simulated posterior.
    prob
        Probability mass of the HDI.
    origin
        Origin of the scenario, for the signature.
    known
        Normal-theory outlook of the view, if known; otherwise it is drawn.
    assumed
        Findings about the assumptions of the scenario.
    """

    spec: LabelSpec
    make_predict: Callable[[], Predict]
    items: Items
    rope: Rope
    n_draws: int
    prob: float
    origin: str
    known: Outlook | None = None
    assumed: tuple[Finding, ...] = ()

    @property
    def metric(self) -> metrics.Metric:
        """Metric of the comparison."""
        return self.spec.metric

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and of B."""
        a, b = self.spec.view.models
        return a, b

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the spec."""
        return (*self.assumed, *self.spec.findings, *matching_findings(self.spec))

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN if the decision is withheld."""

        def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
            predict = self.make_predict()

            def fill(generator: np.random.Generator, out: FloatArray) -> None:
                for i in range(out.shape[1]):
                    view = self.analysed(predict(generator, size))
                    out[:, i] = self.ends(view, generator)

            return fill

        return simulated_ends(make_fill, n_simulations, self.n_draws, seed=seed, n_jobs=n_jobs)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return the normal-theory prediction for the view."""
        if self.known is not None:
            return self.known
        view = self.spec.view
        values = engine.draw_view(self.spec, view, Sampling(_OUTLOOK_DRAWS, child(seed, 0), 1))
        difference = np.sort(values[0] - values[1])
        mean, (low, high) = float(difference.mean()), interval_of(difference, self.prob)
        return Outlook(
            n=self.spec.n + (prior_worth(self.spec) if self.items == "more" else 0),
            mean=mean,
            sd=float(difference.std()),
            below=mean - low,
            above=high - mean,
            items=self.items,
        )

    def parts(self) -> list[str]:
        """Return the scenario and its analysis as parts of a signature."""
        spec = self.spec
        return [
            f"prior={spec.prior.name}",
            "paired" if spec.paired else "unpaired",
            self.origin,
        ]

    def analysed(self, drawn: Outcomes) -> Outcomes:
        """Return the outcomes to analyse: the drawn items, plus the existing ones if included."""
        view = self.spec.view
        if drawn.paired and not view.paired:
            drawn = drawn.unpair()
        if self.items != "more":
            return drawn
        tables = tuple(
            existing.plus(new, n_labels=n_codes(view))
            for existing, new in zip(view.tables, drawn.tables, strict=True)
        )
        return replace(view, tables=tables)

    def draws(self, view: Outcomes, generator: np.random.Generator) -> FloatArray:
        """Draw A − B given a test set."""
        seed = np.random.SeedSequence(int(generator.integers(2**63)))
        values = engine.draw_view(self.spec, view, Sampling(self.n_draws, seed, 1))
        difference: FloatArray = values[0] - values[1]
        return difference

    def ends(self, view: Outcomes, generator: np.random.Generator) -> tuple[float, float]:
        """Return the interval of a test set; NaN if its decision is withheld."""
        difference = np.sort(self.draws(view, generator))
        if np.isnan(difference[-1]):
            return np.nan, np.nan
        low, high = interval_of(difference, self.prob)
        return (np.nan, np.nan) if self.is_withheld(view, low, high) else (low, high)

    def is_withheld(self, view: Outcomes, low: float, high: float) -> bool:
        """Return whether a finding withholds the decision on a test set."""
        hdi = Interval(low=low, high=high, prob=self.prob)
        decision = firm_decision(hdi, self.rope)
        if decision is None:
            return False
        if not self.spec.metric.greater_is_better:
            decision = decision.mirrored
        finding = disagreements.disagreement_finding(replace(self.spec, view=view), decision, hdi)
        return finding is not None and finding.level == "serious"


def posterior_world(
    spec: LabelSpec,
    *,
    rope: Rope,
    items: Items,
    prob: float,
    n_draws: int,
    origin: str,
) -> TableWorld:
    """Return a scenario that is redrawn from the posterior of existing data for every test set.

    Even for an unpaired comparison both models classify the same items, so the scenario comes from
    the paired table if there is one.

    Parameters
    ----------
    spec
        Spec of the comparison of the existing data.
    rope
        Region of practical equivalence.
    items
        Whether new items are added to the existing ones.
    prob
        Probability mass of the HDI.
    n_draws
        Draws of each simulated posterior.
    origin
        Origin of the scenario, for the signature.
    """
    together = spec if spec.paired else again(spec, defaults=("unit", "unit"), paired=True)
    posterior = build_posterior(together.view, together.prior)
    return TableWorld(
        spec=spec,
        make_predict=partial(predictive, together.view, posterior),
        items=items,
        rope=rope,
        n_draws=n_draws,
        prob=prob,
        origin=origin,
    )


def interval_of(ordered: FloatArray, prob: float) -> tuple[float, float]:
    """Return the ends of the narrowest interval, corrected for its bias with few draws."""
    low, high = narrowest_ends(ordered, prob)
    middle = (low + high) / 2
    reach = (high - low) / 2 / (1 - _TOO_NARROW * ordered.size ** (-2 / 3))
    return middle - reach, middle + reach


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreWorld:
    """Scenario of scores: items are drawn with posterior weights of the existing items.

    If few items are drawn, their posterior is drawn too. Otherwise the existing interval is centred
    on the value of the N drawn items and scaled by √(n/N) and by the ratio of the sds of drawn and
    existing items. Its skewness shrinks by another √(n/N).

    Parameters
    ----------
    spec
        Spec of the comparison of the existing data.
    items
        Whether the drawn items are added to the existing ones or analysed without them.
    prob
        Probability mass of the HDI.
    origin
        Origin of the scenario, for the signature.
    difference
        Draws of A − B from the posterior of the existing data, sorted.
    """

    spec: ScoreSpec
    items: Items
    prob: float
    origin: str
    difference: FloatArray

    @property
    def metric(self) -> metrics.Metric:
        """Metric of the comparison."""
        return self.spec.metric

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and of B."""
        a, b = self.spec.data.models
        return a, b

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the spec."""
        return self.spec.findings

    @property
    def n_draws(self) -> int:
        """Number of draws from the posterior of the existing data."""
        return self.difference.size

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN if there is no value."""
        spec = self.spec
        shapes = np.ones(spec.units.n) if spec.shapes is None else spec.shapes
        n_units = max(1, round(size * float(shapes.sum()) / spec.n))
        low, high = interval_of(self.difference, self.prob)
        a, b = spec.observed
        spread = _Spread.of(spec, shapes)

        def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
            workers = [column.worker() for column in spec.prepared]

            def fill(generator: np.random.Generator, out: FloatArray) -> None:
                weights = draw_gammas(generator, shapes, (out.shape[1], shapes.size))
                weights /= weights.sum(axis=1, keepdims=True)
                drawn = generator.multinomial(n_units, weights).astype(np.float64)
                if self.items == "more":
                    drawn += shapes
                # A class may be missing from the drawn items.
                with np.errstate(invalid="ignore", divide="ignore"):
                    value = workers[0](drawn) - workers[1](drawn)
                    if drawn[0].sum() <= _FEW_UNITS:
                        out[:] = self._drawn_ends(workers, drawn, generator)
                        return
                narrower = np.sqrt(shapes.sum() / drawn.sum(axis=1))
                scale = narrower * spread.relative(drawn)
                middle = value + scale * narrower * ((low + high) / 2 - (a - b))
                out[:] = middle - scale * (high - low) / 2, middle + scale * (high - low) / 2

            return fill

        # A user's function may not be thread-safe.
        n_jobs = 1 if spec.metric.own else n_jobs
        return simulated_ends(make_fill, n_simulations, shapes.size, seed=seed, n_jobs=n_jobs)

    def _drawn_ends(
        self, workers: Sequence[Evaluate], drawn: FloatArray, generator: np.random.Generator
    ) -> FloatArray:
        """Return the interval ends from posteriors of the drawn units."""
        ends = np.full((2, len(drawn)), np.nan)
        for i, counts in enumerate(drawn):
            weights = draw_gammas(generator, counts, (_DRAWS_OF_FEW, counts.size))
            difference = np.sort(workers[0](weights) - workers[1](weights))
            if not np.isnan(difference[-1]):
                ends[:, i] = interval_of(difference, self.prob)
        return ends

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return the normal-theory prediction from the existing data."""
        mean, (low, high) = float(self.difference.mean()), interval_of(self.difference, self.prob)
        return Outlook(
            n=self.spec.n,
            mean=mean,
            sd=float(self.difference.std()),
            below=mean - low,
            above=high - mean,
            items=self.items,
        )

    def parts(self) -> list[str]:
        """Return the scenario and its analysis as parts of a signature."""
        paired = "paired" if self.spec.paired else "unpaired"
        return [f"prior={self.spec.prior.name}", paired, self.origin]


class _Spread(NamedTuple):
    """Influence of each existing unit on A − B, and the sd of these influences."""

    moved: FloatArray | None
    sd: float

    @classmethod
    def of(cls, spec: ScoreSpec, shapes: FloatArray) -> _Spread:
        influence = unit_sums(spec.prepared, shapes).influence()
        if influence is None or np.isnan(influence.moved).any():
            return cls(None, 1.0)
        moved = influence.moved[0] - influence.moved[1]
        sd = float(np.sqrt(np.average(np.square(moved), weights=influence.repeats)))
        return cls(moved if sd > 0 else None, sd)

    def relative(self, drawn: FloatArray) -> FloatArray | float:
        """Return the sd over drawn units ``(n_sets, n_units)``, relative to the existing units."""
        if self.moved is None:
            return 1.0
        n = drawn.sum(axis=1)
        mean, square = drawn @ self.moved / n, drawn @ np.square(self.moved) / n
        return np.asarray(np.sqrt(np.maximum(square - np.square(mean), 0.0)) / self.sd)


# Enough items that the prior does not matter.
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesWorld:
    """Scenario of outcome probabilities, with the settings of the analysis."""

    theta: FloatArray  # (2, 4): negative and positive items, outcomes 11, 10, 01, 00
    prevalence: float
    prior: PriorLike
    paired: bool
    metric: metrics.Metric
    n_draws: int
    prob: float

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and of B."""
        return "A", "B"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Empty, because the probabilities are taken as given."""
        return ()

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)`` of simulated comparisons."""

        def fill(generator: np.random.Generator, out: FloatArray) -> None:
            for i in range(out.shape[1]):
                difference = self._difference(generator, self._counts(generator, size))
                out[:, i] = narrowest_ends(difference, self.prob)

        return simulated_ends(lambda: fill, n_simulations, self.n_draws, seed=seed, n_jobs=n_jobs)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return the normal-theory prediction, from the expected counts of many items."""
        generator = np.random.Generator(np.random.SFC64(child(seed, 0)))
        shares = np.array([1 - self.prevalence, self.prevalence])[:, None] * self.theta
        difference = self._difference(generator, _MANY * shares[:, [3, 2, 1, 0]].reshape(2, 2, 2))
        mean, (low, high) = float(difference.mean()), narrowest_ends(difference, self.prob)
        return Outlook(
            n=_MANY,
            mean=mean,
            sd=float(difference.std()),
            below=mean - low,
            above=high - mean,
            items="certain",
        )

    def _difference(self, generator: np.random.Generator, counts: FloatArray) -> FloatArray:
        """Draw A − B given counts ``(2, 2, 2)`` of truth, A and B, and sort the draws."""
        a, b = self._posterior(counts).worker("margins")(generator, self.n_draws)
        assert isinstance(a, Sums)
        assert isinstance(b, Sums)
        values = [
            self.metric.evaluate(metrics.Margins(**drawn._asdict()), classes=(1,))
            for drawn in (a, b)
        ]
        difference: FloatArray = values[0] - values[1]
        difference.sort()
        return difference

    def _counts(self, generator: np.random.Generator, size: int) -> FloatArray:
        positive = generator.binomial(size, self.prevalence)
        counts = np.empty((2, 2, 2))
        for truth, n in enumerate((size - positive, positive)):
            both, only_a, only_b, neither = generator.multinomial(n, self.theta[truth])
            counts[truth] = [[neither, only_b], [only_a, both]]
        return counts

    def _posterior(self, counts: FloatArray) -> Tables:
        prior = dirichlet_shapes(self.prior)
        prevalence = prior.prevalence_shapes(2)
        if self.paired:
            return DenseRows(counts, rows=prior.row_shapes(2, 2), prevalence=prevalence)
        rows = prior.row_shapes(2, 1)
        return Independent(
            [
                DenseRows(counts.sum(axis=other), rows=rows, prevalence=prevalence)
                for other in (2, 1)
            ]
        )

    def parts(self) -> list[str]:
        """Return the scenario and its analysis as parts of a signature."""
        rates = ["/".join(f"{rate:g}" for rate in row) for row in self.theta[::-1]]
        return [
            "paired" if self.paired else "unpaired",
            f"prior={get_prior(self.prior).name}",
            f"theta_pos={rates[0]}",
            f"theta_neg={rates[1]}",
            f"prevalence={self.prevalence:g}",
        ]
