"""The exact engine: questions in, draws and closed forms out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform.comparison.documents import draw_means, observed_means
from outperform.comparison.question import ONCE, Given, Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.comparison.scored.drawing import draw_scores, observed_scores
from outperform.decision import Inside, Rope, masses_from_distribution, masses_from_draws
from outperform.errors import DataError, ResourceError, UsageError
from outperform.metrics import Margins
from outperform.outcomes import Outcomes
from outperform.posterior import (
    Chain,
    Posterior,
    Reweighted,
    Sums,
    build_posterior,
    child,
    draw_lumped,
    draw_values,
    exact_difference,
    exact_value,
    mix,
    row_factors,
    shuffled,
)

_MOST_DRAWS = 100_000_000
_PRIOR_DRAWS = 20_000
_PRIOR_SEED = 20_160_717
_NOTHING_GIVEN = Given(model=None, prior=None, paired=True, labels=None, pos_label=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the posterior says of one question."""

    values: FloatArray  # (n_models, n_draws)
    of_models: tuple[Distribution | None, ...]
    of_difference: Distribution | None
    chains: tuple[Chain, ...] = ()  # of each model, then of the difference; none if independent


def check_draws(n_draws: Any, *, name: str = "n_draws") -> int:
    """Return a sensible number of draws, or say why it is not one."""
    if isinstance(n_draws, float) and n_draws.is_integer():
        n_draws = int(n_draws)
    if not isinstance(n_draws, (int, np.integer)) or isinstance(n_draws, bool) or n_draws < 100:
        raise UsageError(f"{name} must be a whole number of at least 100; got {n_draws!r}")
    if n_draws > _MOST_DRAWS:
        gigabytes = n_draws * 16 / 1e9
        raise ResourceError(
            f"{n_draws:,} draws would take {gigabytes:,.0f} GB; at most {_MOST_DRAWS:,} are allowed"
        )
    return int(n_draws)


def answer(
    questions: Sequence[Asked], *, n_draws: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> list[Answer]:
    """Answer questions that share a view, a model and scales from one set of draws."""
    of_scores = [one for one in questions if isinstance(one, ScoreQuestion)]
    if of_scores:
        drawn = draw_scores(of_scores, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
        return [_answer_of(values) for values in drawn]
    counted = [one for one in questions if isinstance(one, Question)]
    if counted[0].given.engine.sampler is not None:
        from outperform.comparison.chained import answer_by_chain

        return answer_by_chain(counted, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    return _answer_counted(counted, n_draws=n_draws, seed=seed, n_jobs=n_jobs)


def _answer_of(values: FloatArray) -> Answer:
    """Return what there is where only draws ``(n_models, n_draws)`` are."""
    return Answer(values=values, of_models=(None,) * len(values), of_difference=None)


def _answer_counted(
    questions: Sequence[Question], *, n_draws: int, seed: np.random.SeedSequence, n_jobs: int | None
) -> list[Answer]:
    scales = questions[0].counting.scales
    if len(scales) == 1:
        return _answer_at(questions, scales[0].factor, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    # Each scale gets its share of the draws; rounding cuts the same for every question.
    shares = tuple(scale.share for scale in scales)
    stops = np.rint(np.cumsum(shares) * n_draws).astype(int)
    parts = [
        _answer_at(
            questions, scale.factor, n_draws=int(length), seed=child(seed, place), n_jobs=n_jobs
        )
        for place, (scale, length) in enumerate(zip(scales, np.diff(stops, prepend=0), strict=True))
    ]
    return [_mixed(list(answers), shares, seed) for answers in zip(*parts, strict=True)]


def _mixed(
    answers: list[Answer], shares: tuple[float, ...], seed: np.random.SeedSequence
) -> Answer:
    values = np.concatenate([one.values for one in answers], axis=1)
    return Answer(
        values=shuffled(values, child(seed, len(answers))),
        of_models=tuple(
            mix(list(models), shares)
            for models in zip(*(one.of_models for one in answers), strict=True)
        ),
        of_difference=mix([one.of_difference for one in answers], shares),
    )


def _answer_at(
    questions: Sequence[Question],
    factor: float,
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> list[Answer]:
    """Answer with every document worth the same."""
    first = questions[0]
    view = first.view if factor == 1.0 else first.view.scaled(factor)
    if first.measured.per_document:
        drawn = [draw_means(q, view, n_draws=n_draws, seed=seed, n_jobs=n_jobs) for q in questions]
        return [_answer_of(values) for values in drawn]
    posterior = _posterior(first, view)
    n_models = len(first.view.models)
    values = _values(posterior, questions, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
    refuse_undefined(values, questions)
    return [
        _with_forms(question, posterior, values[place * n_models : (place + 1) * n_models])
        for place, question in enumerate(questions)
    ]


def with_forms(question: Question, values: FloatArray) -> Answer:
    """Return draws ``(n_models, n_draws)`` that are there already, and the closed forms."""
    if question.measured.per_document:
        return _answer_of(values)
    return _with_forms(question, _posterior(question, question.view), values)


def _with_forms(question: Question, posterior: Posterior, values: FloatArray) -> Answer:
    return Answer(
        values=values,
        of_models=tuple(
            exact_value(posterior, question.share, model=model, positive=question.positive)
            for model in range(len(values))
        ),
        of_difference=_difference(posterior, question),
    )


def draw_view(
    question: Question, view: Outcomes, *, n_draws: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Draw the values ``(n_models, n_draws)`` of a question on other outcomes, and no more.

    For simulations, which ask thousands of times; NaN where a value is not defined.
    """
    if question.measured.per_document:
        return draw_means(question, view, n_draws=n_draws, seed=seed, n_jobs=1)
    posterior = _posterior(question, view)
    return _values(posterior, [question], n_draws=n_draws, seed=seed, n_jobs=1)


def _values(
    posterior: Posterior,
    questions: Sequence[Question],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    """Draw what questions ask; of one question only what its metric tells apart."""
    first = questions[0]
    values = None
    if len(questions) == 1:
        values = draw_lumped(
            posterior,
            first.share,
            positive=first.positive,
            paired=first.paired,
            n_draws=n_draws,
            seed=seed,
            n_jobs=n_jobs,
        )
    if values is not None:
        return values
    n_models = len(first.view.models)
    return _draw(posterior, questions, n_models, n_draws=n_draws, seed=seed, n_jobs=n_jobs)


def _posterior(question: Question, view: Outcomes) -> Posterior:
    """Return the posterior of a view, at other class proportions if these were given."""
    posterior = build_posterior(view, model=question.model, prior=question.prior)
    if question.placed is None:
        return posterior
    prevalence, codes = question.placed
    return Reweighted(posterior, prevalence, codes=codes, n_classes=view.n_classes)


def refuse_undefined(values: FloatArray, questions: Sequence[Question]) -> None:
    """Refuse values ``(n_questions · n_models, n_draws)`` where a metric is 0/0."""
    undefined = np.isnan(values).any(axis=1).reshape(len(questions), -1).any(axis=1)
    if undefined.any():
        question = questions[int(undefined.argmax())]
        raise DataError(
            f"{question.metric.name} is 0/0 where truth and predictions are all one class, and "
            f"model {question.model.name!r} expects no other; use another metric or model='unit'"
        )


def _difference(posterior: Posterior, question: Question) -> Distribution | None:
    if len(question.view.models) != 2:
        return None
    return exact_difference(
        posterior, question.share, positive=question.positive, paired=question.paired
    )


def measure(
    drawn: Sequence[Sums | FloatArray], questions: Sequence[Question], out: FloatArray
) -> None:
    """Evaluate the metric of every question on what was drawn of every model."""
    for model, sums in enumerate(drawn):
        margins = (
            Margins(**sums._asdict()) if isinstance(sums, Sums) else Margins.from_confusion(sums)
        )
        for place, question in enumerate(questions):
            metric = question.measured
            seen = margins if metric.needs == "margins" or isinstance(sums, Sums) else sums
            out[place * len(drawn) + model] = metric.evaluate(seen, question.classes)


def _draw(
    posterior: Posterior,
    questions: Sequence[Question],
    n_models: int,
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> FloatArray:
    whole = any(question.measured.needs == "confusion" for question in questions)

    return draw_values(
        posterior,
        lambda drawn, out: measure(drawn, questions, out),
        needs="confusion" if whole else "margins",
        n_values=len(questions) * n_models,
        n_draws=n_draws,
        seed=seed,
        n_jobs=n_jobs,
    )


def observed(question: Asked) -> tuple[float, ...]:
    """Return the plug-in value of each model, equal to scikit-learn's with the same ``labels``.

    At other class proportions it is that of the same rates in each class at the mean shares;
    NaN where a class that has a share was never true.
    """
    if isinstance(question, ScoreQuestion):
        return observed_scores(question)
    if question.measured.per_document:
        return observed_means(question)
    if question.placed is not None:
        return tuple(_observed_elsewhere(question, model) for model in question.view.models)
    found, view = [], question.view.in_weights()
    for model in view.models:
        if question.measured.needs == "confusion":
            confusion = view.confusion(model).astype(np.float64)
            value = question.measured.evaluate(confusion, question.classes)
        else:
            margins = Margins(**view.margins(model)._asdict())
            value = question.measured.evaluate(margins, question.classes)
        found.append(float(value))
    return tuple(found)


def _observed_elsewhere(question: Question, model: str) -> float:
    assert question.placed is not None
    prevalence, codes = question.placed
    view = question.view.in_weights()
    counts, shares = view.margins(model), np.array(prevalence.shares)[:, None]
    factors = row_factors(counts.actual.astype(np.float64)[:, None], shares, codes)[:, 0]
    if abs(factors @ counts.actual.astype(np.float64) - 1.0) > 1e-6:
        return float("nan")
    if question.measured.needs == "confusion":
        confusion = view.confusion(model).astype(np.float64) * factors[:, None]
        return float(question.measured.evaluate(confusion, question.classes))
    margins = _weighed(view, model, factors)
    return float(question.measured.evaluate(margins, question.classes))


def _weighed(view: Outcomes, model: str, factors: FloatArray) -> Margins:
    """Return one model's margins with every true class multiplied by its factor."""
    table = view.select([model]).tables[0]
    weights = table.counts.astype(np.float64) * factors[table.cells[:, 0]]
    weighed = replace(table, counts=weights, groups=None)
    return Margins(**weighed.margins(n_labels=len(factors))._asdict())


def is_defined(question: Asked, model: str) -> bool:
    """Return whether the data define the plug-in value, or it is 0/0 and 0 by convention."""
    if isinstance(question, ScoreQuestion):
        return True
    form, counts = question.share, question.view
    if form is None:
        return not np.isnan(observed(question)[question.view.models.index(model)])
    return any(counts.part(model, part, positive=question.positive) for part in form.parts)


def prior_inside(question: Asked, rope: Rope) -> Inside | None:
    """Return the prior's mass inside and outside the ROPE; None if the prior is improper.

    It depends on the model, the prior, the metric and the ROPE only, not on
    the data, so it is computed once for each.
    """
    if isinstance(question, ScoreQuestion) or not question.model.proper:
        return None
    return _prior_inside(_before_data(question), rope)


def prior_values(question: Question, n_draws: int, seed: np.random.SeedSequence) -> FloatArray:
    """Draw both models' values from the prior, ``(2, n_draws)``."""
    (before,) = answer([_before_data(question)], n_draws=n_draws, seed=seed, n_jobs=None)
    return before.values


def prior_draws(question: Question, n_draws: int, seed: np.random.SeedSequence) -> FloatArray:
    """Draw differences from the prior."""
    a, b = prior_values(question, n_draws, seed)
    difference: FloatArray = a - b
    return difference


def prior_difference(question: Question) -> Distribution | None:
    """Return the exact prior of the difference, or None."""
    before = _before_data(question)
    posterior = _posterior(before, before.view)
    return _difference(posterior, before)


def _before_data(question: Question) -> Question:
    # Names and labels do not matter to a prior; without them more questions share one.
    empty = replace(question.view.emptied(), models=("A", "B"))
    return replace(
        question,
        seen=empty,
        view=empty,
        metric=question.measured,
        pos_label=None,
        given=_NOTHING_GIVEN,
        findings=(),
        counting=ONCE,
    )


@lru_cache(maxsize=256)
def _prior_inside(before: Question, rope: Rope) -> Inside:
    exact = prior_difference(before)
    if exact is not None:
        masses = masses_from_distribution(exact, rope)
        return Inside(inside=masses.inside, outside=masses.below + masses.above)
    n_draws = max(2_000, min(_PRIOR_DRAWS, 100 * _PRIOR_DRAWS // before.view.n_classes))
    draws = prior_draws(before, n_draws, np.random.SeedSequence(_PRIOR_SEED))
    masses = masses_from_draws(np.sort(draws), rope)
    return Inside(inside=masses.inside, outside=masses.below + masses.above, n_draws=n_draws)
