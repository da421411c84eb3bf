"""Worlds that test sets are drawn from, each with the way in which its test sets are analysed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from outperform import metrics
from outperform._typing import FloatArray
from outperform.comparison import disagreements, engine
from outperform.comparison.matching import matching_findings
from outperform.comparison.planning.outlook import Documents, Outlook
from outperform.comparison.question import Question, ask
from outperform.decision import Interval, Rope, decide, narrowest_ends
from outperform.findings import Finding
from outperform.outcomes import Outcomes
from outperform.posterior import Predict, build_posterior, child, predictive, run_blocks

# Simulated test sets that share a random stream; threads take whole bundles.
_BUNDLE = 20
_OUTLOOK_DRAWS = 4_000
# The narrowest of all intervals that hold a share of n draws is too narrow by this many n^(−2/3):
# measured on normal draws for masses from 0.8 to 0.95.
_TOO_NARROW = 1.7


class World(Protocol):
    """Where test sets come from."""

    @property
    def metric(self) -> metrics.Metric:
        """What they are compared in."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Doubts about the world."""

    @property
    def n_draws(self) -> int:
        """Draws of each simulated posterior."""

    @property
    def prob(self) -> float:
        """The mass of the interval."""

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN where the verdict is withheld."""

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return what normal theory says."""

    def parts(self) -> list[str]:
        """Return the world and its analysis as parts of a signature."""


def simulated_ends(
    make_fill: Callable[[], Callable[[np.random.Generator, FloatArray], None]],
    n_simulations: int,
    n_draws: int,
    *,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Return interval ends ``(2, n_simulations)``, the same on any number of threads.

    Parameters
    ----------
    make_fill
        Returns a function that fills ends ``(2, n)``, with buffers of its own.
    n_simulations
        How many test sets.
    n_draws
        Draws of each simulated posterior, for the time it takes.
    seed, n_jobs
        Where the randomness comes from, and on how many threads.
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
    """Test sets of any number of classes, each asked the same question.

    Parameters
    ----------
    question
        What is asked of a test set; its view is what was seen before, or an example.
    make_predict
        Returns a function that draws test sets, with buffers of its own.
    documents
        Whether the drawn documents are added to the view, or stand alone.
    rope
        The region of practical equivalence.
    n_draws
        Draws of each simulated posterior.
    prob
        The mass of the interval.
    origin
        Where the world is from, for the signature.
    """

    question: Question
    make_predict: Callable[[], Predict]
    documents: Documents
    rope: Rope
    n_draws: int
    prob: float
    origin: str

    @property
    def metric(self) -> metrics.Metric:
        """What they are compared in."""
        return self.question.metric

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        a, b = self.question.view.models
        return a, b

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Doubts that the question has."""
        return (*self.question.findings, *matching_findings(self.question))

    def simulate(
        self, size: int, n_simulations: int, seed: np.random.SeedSequence, *, n_jobs: int | None
    ) -> FloatArray:
        """Return the HDI ends ``(2, n_simulations)``; NaN where the verdict is withheld."""

        def make_fill() -> Callable[[np.random.Generator, FloatArray], None]:
            predict = self.make_predict()

            def fill(generator: np.random.Generator, out: FloatArray) -> None:
                for place in range(out.shape[1]):
                    view = self._analysed(predict(generator, size))
                    out[:, place] = self._ends(view, generator)

            return fill

        return simulated_ends(make_fill, n_simulations, self.n_draws, seed=seed, n_jobs=n_jobs)

    def outlook(self, seed: np.random.SeedSequence) -> Outlook:
        """Return what normal theory says of the view."""
        view = self.question.view
        values = engine.draw_view(self.question, view, n_draws=_OUTLOOK_DRAWS, seed=child(seed, 0))
        difference = np.sort(values[0] - values[1])
        mean, (low, high) = float(difference.mean()), _narrowest(difference, self.prob)
        return Outlook(
            n=self.question.n + (prior_worth(self.question) if self.documents == "more" else 0),
            mean=mean,
            sd=float(difference.std()),
            below=mean - low,
            above=high - mean,
            documents=self.documents,
        )

    def parts(self) -> list[str]:
        """Return the world and its analysis as parts of a signature."""
        question = self.question
        return [
            f"model={question.model.name}",
            *([repr(question.prior)] if question.model.takes_prior else []),
            "paired" if question.paired else "unpaired",
            self.origin,
        ]

    def _analysed(self, drawn: Outcomes) -> Outcomes:
        """Return what will be asked: the drawn documents, beside those that are there."""
        view = self.question.view
        if drawn.paired and not view.paired:
            drawn = drawn.unpair()
        if self.documents != "more":
            return drawn
        tables = tuple(
            one.plus(two, n_labels=view.n_codes)
            for one, two in zip(view.tables, drawn.tables, strict=True)
        )
        return replace(view, tables=tables)

    def _ends(self, view: Outcomes, generator: np.random.Generator) -> tuple[float, float]:
        seed = np.random.SeedSequence(int(generator.integers(2**63)))
        values = engine.draw_view(self.question, view, n_draws=self.n_draws, seed=seed)
        difference = np.sort(values[0] - values[1])
        if np.isnan(difference[-1]):
            return np.nan, np.nan
        low, high = _narrowest(difference, self.prob)
        return (np.nan, np.nan) if self._is_withheld(view, low, high) else (low, high)

    def _is_withheld(self, view: Outcomes, low: float, high: float) -> bool:
        hdi = Interval(low=low, high=high, prob=self.prob)
        better = self.question.metric.greater_is_better
        decision = decide(hdi, self.rope, greater_is_better=better)
        if not decision.decided:
            return False
        found = disagreements.disagreement_finding(replace(self.question, view=view), decision, hdi)
        return found is not None and found.level == "serious"


def prior_worth(question: Question) -> float:
    """Return how many documents a prior is worth: the sum of its shapes, as counts are of theirs.

    Models whose rows have mass 1 are worth one document a class, the bootstrap none. Nor is what
    is believed of the strata of a pool counted.

    Parameters
    ----------
    question
        What was asked.
    """
    view, model = question.view, question.model
    if not model.proper or view.pool is not None or view.kind not in ("classes", "correct"):
        return 0.0
    if not model.takes_prior:
        return float(view.n_classes)
    n_models = len(view.models) if view.paired else 1
    return float(question.prior.row_shapes(view.n_classes, n_models).sum())


def posterior_world(
    question: Question,
    *,
    rope: Rope,
    documents: Documents,
    prob: float,
    n_draws: int,
    origin: str,
) -> TableWorld:
    """Return the world that the posterior of what was seen draws anew for every test set.

    Models that will be compared unpaired on the same documents still answer these documents, so
    the world is read off the paired table where there is one.

    Parameters
    ----------
    question
        What was asked of what was seen.
    rope
        The region of practical equivalence.
    documents
        Whether new documents join those that are there.
    prob
        The mass of the interval.
    n_draws
        Draws of each simulated posterior.
    origin
        Where the world is from, for the signature.
    """
    together = question if question.paired else _paired(question)
    posterior = build_posterior(together.view, model=together.model, prior=together.prior)
    return TableWorld(
        question=question,
        make_predict=partial(predictive, together.view, posterior),
        documents=documents,
        rope=rope,
        n_draws=n_draws,
        prob=prob,
        origin=origin,
    )


def _paired(question: Question) -> Question:
    given = question.given._asdict() | {"paired": True}
    return ask(question.seen, metric=question.metric, default_model="unit", **given)


def _narrowest(ordered: FloatArray, prob: float) -> tuple[float, float]:
    """Return the ends of the narrowest interval, widened by what few draws make it too narrow."""
    low, high = narrowest_ends(ordered, prob)
    middle = (low + high) / 2
    reach = (high - low) / 2 / (1 - _TOO_NARROW * ordered.size ** (-2 / 3))
    return middle - reach, middle + reach
