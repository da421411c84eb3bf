"""Compute the posteriors of specs by independent draws, closed forms or a Markov chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform.data.outcomes import Outcomes
from outperform.data.views import emptied, scaled
from outperform.decision.bayes_factor import Inside
from outperform.decision.rope import Rope, masses_from_distribution, masses_from_draws
from outperform.errors import DataError, ResourceError, UsageError, param
from outperform.inference.items import (
    draw_means,
    draw_scores,
)
from outperform.inference.question import ONCE, Choices, Sampling, log_draws
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import LabelSpec, Spec, counted, measure
from outperform.posterior.base import (
    Tables,
    alone,
    build_posterior,
    draw_values,
    exact_difference,
    exact_value,
    together,
)
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.dirichlet import draw_lumped
from outperform.posterior.exact.share import mix
from outperform.posterior.influence import Influence
from outperform.posterior.predictive import ByTruth, Reweighted
from outperform.posterior.pymc.sampling import (
    Chain,
    confusions,
    count_divergences,
    diagnose,
    model_of,
    sample,
)
from outperform.posterior.rng import child, shuffled


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Posterior of one spec: draws, closed forms and chains."""

    values: FloatArray  # (n_models, n_draws)
    of_models: tuple[Distribution | None, ...]
    of_difference: Distribution | None
    chains: tuple[Chain, ...] = ()  # of each model, then of the difference; empty if independent


def refuse_undefined(values: FloatArray, specs: Sequence[LabelSpec]) -> None:
    """Reject values ``(n_questions · n_models, n_draws)`` at which a metric is 0/0."""
    undefined = np.isnan(values).any(axis=1).reshape(len(specs), -1).any(axis=1)
    if undefined.any():
        spec = specs[int(undefined.argmax())]
        raise DataError(
            f"{spec.metric.name} is 0/0 if truth and predictions are all one class, and prior "
            f"{spec.prior.name!r} allows no other; use another metric or {param('prior=', 'unit')}"
        )


def answer_by_chain(specs: Sequence[LabelSpec], sampling: Sampling) -> list[Answer]:
    """Compute, from a single chain, the answers to specs that share a view and a prior."""
    first = specs[0]
    view, pymc = first.view, first.choices.engine
    assert pymc is not None
    pymc = replace(pymc, draws=_draws_of_chain(sampling.n_draws, pymc.chains))
    custom = first.prior.own
    model = model_of(view, prior=first.prior) if custom is None else custom
    trace = sample(model, pymc, seed=sampling.seed, n_jobs=sampling.n_jobs)
    drawn = confusions(trace.posterior, n_models=len(view.models), n_classes=view.n_classes)
    values = np.empty((len(specs) * len(view.models), pymc.n_draws))
    measure(drawn, specs, values)
    refuse_undefined(values, specs)
    lost = count_divergences(trace)
    return [_answer(part, str(pymc), pymc.chains, lost) for part in np.split(values, len(specs))]


def _draws_of_chain(n_draws: int, n_chains: int) -> int:
    if n_draws < 100 * n_chains:
        raise UsageError(
            f"{param('n_draws')} must be at least {100 * n_chains}, 100 for each of {n_chains} "
            f"chains; got {n_draws}"
        )
    return -(-n_draws // n_chains)


def _answer(values: FloatArray, sampler: str, n_chains: int, divergences: int) -> Answer:
    """Return the answer from draws ``(n_models, n_draws)`` in which chains follow one another."""

    def diagnosed(draws: FloatArray) -> Chain:
        by_chain = draws.reshape(n_chains, -1)
        return diagnose(by_chain, sampler=sampler, divergences=divergences)

    chains = [diagnosed(draws) for draws in values]
    if len(values) == 2:
        chains.append(diagnosed(values[0] - values[1]))
    return Answer(
        values=values,
        of_models=(None,) * len(values),
        of_difference=None,
        chains=tuple(chains),
    )


_DRAWS, _MOST_DRAWS = 20_000, 100_000_000
_PRIOR_DRAWS, _PRIOR_SEED = 20_000, 20_160_717


def check_draws(n_draws: object, *, name: str = "n_draws") -> int:
    """Return the number of draws after checking it. Default: 20,000."""
    if n_draws is None and name == "n_draws":
        return _DRAWS
    if isinstance(n_draws, float) and n_draws.is_integer():
        n_draws = int(n_draws)
    if not isinstance(n_draws, (int, np.integer)) or isinstance(n_draws, bool) or n_draws < 100:
        raise UsageError(f"{param(name)} must be a whole number of at least 100; got {n_draws!r}")
    if n_draws > _MOST_DRAWS:
        gigabytes = n_draws * 16 / 1e9
        raise ResourceError(
            f"{n_draws:,} draws would need {gigabytes:,.0f} GB; the maximum is {_MOST_DRAWS:,}"
        )
    return int(n_draws)


def answer(specs: Sequence[Spec], sampling: Sampling) -> list[Answer]:
    """Return the answers to specs that share a view, a prior and scales.

    If the shapes of the weights depend on the metric, each spec is drawn separately.
    """
    if len(specs) > 1 and any(spec.weighs_units for spec in specs):
        return [answer([spec], sampling)[0] for spec in specs]
    with log_draws(specs, sampling.n_draws):
        of_scores = [spec for spec in specs if isinstance(spec, ScoreSpec)]
        if of_scores:
            return [_answer_of(values) for values in draw_scores(of_scores, sampling)]
        of_labels = [spec for spec in specs if isinstance(spec, LabelSpec)]
        if of_labels[0].choices.engine is not None:
            return answer_by_chain(of_labels, sampling)
        scales = of_labels[0].counting.scales
        if len(scales) == 1:
            return _answer_at(of_labels, scales[0].factor, sampling)
        # Each scale gets its share of the draws, rounded in the same way for every spec.
        shares = tuple(scale.share for scale in scales)
        stops = np.rint(np.cumsum(shares) * sampling.n_draws).astype(int)
        lengths = np.diff(stops, prepend=0).tolist()
        parts = [
            _answer_at(of_labels, scale.factor, sampling.child(index)._replace(n_draws=length))
            for index, (scale, length) in enumerate(zip(scales, lengths, strict=True))
        ]
        return [
            _mixed(list(answers), shares, sampling.seed) for answers in zip(*parts, strict=True)
        ]


def _answer_of(values: FloatArray) -> Answer:
    """Return an answer that consists of draws ``(n_models, n_draws)`` only."""
    return Answer(values=values, of_models=(None,) * len(values), of_difference=None)


def _mixed(
    answers: list[Answer], shares: tuple[float, ...], seed: np.random.SeedSequence
) -> Answer:
    values = np.concatenate([part.values for part in answers], axis=1)
    return Answer(
        values=shuffled(values, child(seed, len(answers))),
        of_models=tuple(
            mix(list(models), shares)
            for models in zip(*(part.of_models for part in answers), strict=True)
        ),
        of_difference=mix([part.of_difference for part in answers], shares),
    )


def _answer_at(
    specs: Sequence[LabelSpec],
    factor: float,
    sampling: Sampling,
) -> list[Answer]:
    """Return the answers if every item has the same worth."""
    first = specs[0]
    view = first.view if factor == 1.0 else scaled(first.view, factor)
    if first.measured.per_item:
        return [_answer_of(draw_means(spec, view, sampling)) for spec in specs]
    posterior = _posterior(first, view, full=first.view)
    n_models = len(first.view.models)
    values = _values(posterior, specs, sampling)
    refuse_undefined(values, specs)
    return [
        _with_forms(spec, posterior, values[index * n_models : (index + 1) * n_models])
        for index, spec in enumerate(specs)
    ]


def with_forms(spec: LabelSpec, values: FloatArray) -> Answer:
    """Return an answer from existing draws ``(n_models, n_draws)``, including closed forms."""
    if spec.measured.per_item:
        return _answer_of(values)
    return _with_forms(spec, _posterior(spec, spec.view), values)


def _with_forms(spec: LabelSpec, posterior: Tables, values: FloatArray) -> Answer:
    return Answer(
        values=values,
        of_models=tuple(
            exact_value(posterior, spec.share, model=model, positive=spec.positive)
            for model in range(len(values))
        ),
        of_difference=_difference(posterior, spec),
    )


def draw_view(spec: LabelSpec, view: Outcomes, sampling: Sampling) -> FloatArray:
    """Draw only a spec's values ``(n_models, n_draws)`` on other outcomes.

    This is for simulations, which call it thousands of times. Undefined values are NaN.
    """
    if spec.measured.per_item:
        return draw_means(spec, view, sampling)
    return _values(_posterior(spec, view), [spec], sampling)


def _values(
    posterior: Tables,
    specs: Sequence[LabelSpec],
    sampling: Sampling,
) -> FloatArray:
    """Draw the values of specs; for a single spec, draw only what its metric distinguishes."""
    first = specs[0]
    values = None
    if len(specs) == 1:
        values = draw_lumped(
            posterior,
            first.share,
            positive=first.positive,
            paired=first.paired,
            **sampling._asdict(),
        )
    if values is not None:
        return values
    any_confusion = any(spec.needs == "confusion" for spec in specs)
    return draw_values(
        posterior,
        lambda drawn, out: measure(drawn, specs, out),
        needs="confusion" if any_confusion else "margins",
        n_values=len(specs) * len(first.view.models),
        **sampling._asdict(),
    )


def _posterior(spec: LabelSpec, view: Outcomes, full: Outcomes | None = None) -> Tables:
    """Return the posterior of a view, at other class proportions if requested.

    ``full`` is the view before scaling, because scaling does not change the number of units.
    """
    posterior: Tables
    if spec.weighs_units:
        unscaled = alone(view if full is None else full)
        parts = [
            bootstrap(scaled_part).widened(_df(spec.moved_by(part), spec))
            for scaled_part, part in zip(alone(view), unscaled, strict=True)
        ]
        posterior = together(parts, view)
    else:
        existing = spec.existing if spec.prior.lists else None
        posterior = build_posterior(view, spec.prior, existing=existing)
    return adjusted(posterior, spec)


def adjusted(posterior: Tables, spec: LabelSpec) -> Tables:
    """Return a posterior corrected for label errors, then at other class proportions, if any."""
    if spec.view_errors is not None:
        posterior = ByTruth(posterior, spec.view_errors.inverse)
    if spec.view_prevalence is None:
        return posterior
    prevalence, codes = spec.view_prevalence
    return Reweighted(posterior, prevalence, codes=codes, n_classes=spec.view.n_classes)


def _df(influence: Influence | None, spec: LabelSpec) -> float | None:
    return None if influence is None else influence.df(spec.counting.times)


def _difference(posterior: Tables, spec: LabelSpec) -> Distribution | None:
    if len(spec.view.models) != 2:
        return None
    return exact_difference(posterior, spec.share, positive=spec.positive, paired=spec.paired)


def prior_inside(spec: Spec, rope: Rope) -> Inside | None:
    """Return the prior's mass inside and outside the ROPE; None if the prior is improper.

    The result depends only on the prior, the metric and the ROPE, not on the data, so it is cached.
    """
    if not spec.prior.proper:
        return None
    return _prior_inside(_before_data(counted(spec)), rope)


def prior_values(spec: LabelSpec, n_draws: int, seed: np.random.SeedSequence) -> FloatArray:
    """Draw both models' values from the prior, ``(2, n_draws)``."""
    (before,) = answer([_before_data(spec)], Sampling(n_draws, seed, -1))
    return before.values


def prior_draws(spec: LabelSpec, n_draws: int, seed: np.random.SeedSequence) -> FloatArray:
    """Draw differences from the prior."""
    a, b = prior_values(spec, n_draws, seed)
    difference: FloatArray = a - b
    return difference


def prior_difference(spec: LabelSpec) -> Distribution | None:
    """Return the exact prior of the difference, or None."""
    before = _before_data(spec)
    posterior = _posterior(before, before.view)
    return _difference(posterior, before)


def _before_data(spec: LabelSpec) -> LabelSpec:
    # A prior does not depend on names and labels. Without them, more specs share a cached prior.
    empty = replace(emptied(spec.view), models=("A", "B"))
    return replace(
        spec,
        data=empty,
        view=empty,
        metric=spec.measured,
        pos_label=None,
        choices=Choices(),
        findings=(),
        counting=ONCE,
    )


@lru_cache(maxsize=256)
def _prior_inside(before: LabelSpec, rope: Rope) -> Inside:
    exact, draws = _prior(before)
    if exact is not None:
        masses = masses_from_distribution(exact, rope)
        return Inside(inside=masses.inside, outside=masses.below + masses.above)
    masses = masses_from_draws(draws, rope)
    return Inside(inside=masses.inside, outside=masses.below + masses.above, n_draws=draws.size)


@lru_cache(maxsize=8)
def _prior(before: LabelSpec) -> tuple[Distribution | None, FloatArray]:
    """Return the exact prior of the difference, or sorted draws to use with every ROPE."""
    exact = prior_difference(before)
    if exact is not None:
        return exact, np.empty(0)
    n_draws = max(2_000, min(_PRIOR_DRAWS, 100 * _PRIOR_DRAWS // before.view.n_classes))
    return None, np.sort(prior_draws(before, n_draws, np.random.SeedSequence(_PRIOR_SEED)))
