"""Bayes factors of a comparison: which exist, and what they are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from outperform._typing import Distribution, FloatArray
from outperform.comparison import engine
from outperform.comparison.question import Question
from outperform.comparison.scored import Asked, ScoreQuestion
from outperform.decision import (
    BayesFactor,
    Inside,
    Masses,
    Rope,
    interval_null,
    point_null,
    point_null_kde,
)
from outperform.errors import UndefinedBayesFactor, UsageError
from outperform.posterior import child

_PRIOR_STREAM = 2**31


def interval_factor(
    question: Asked, rope: Rope, masses: Masses, *, n_draws: int | None
) -> BayesFactor | None:
    """Return the factor of the interval null; None without a proper prior or a ROPE of width."""
    if rope.low == rope.high:
        return None
    prior = engine.prior_inside(question, rope)
    if prior is None:
        return None
    inside = Inside(inside=masses.inside, outside=masses.below + masses.above, n_draws=n_draws)
    return interval_null(inside, prior)


def point_factor(
    question: Asked,
    distribution: Distribution | None,
    draws: FloatArray,
    *,
    method: Literal["exact", "kde"],
    seed: np.random.SeedSequence,
) -> BayesFactor:
    """Return the factor of the point null, where it exists."""
    if isinstance(question, ScoreQuestion) or not question.model.proper:
        raise UndefinedBayesFactor(
            f"model {question.model.name!r} has no proper prior, so it has no Bayes factor"
        )
    if method == "exact":
        _refuse_divergent(question)
        return point_null(distribution, engine.prior_difference(question))
    if method == "kde":
        prior = engine.prior_draws(question, draws.size, child(seed, _PRIOR_STREAM))
        return point_null_kde(draws, prior)
    raise UsageError(f"method must be 'exact' or 'kde'; got {method!r}")


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
    if question.seen.kind == "spans" or question.placed is not None:
        return  # they have no prevalence that could vanish
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


def factor_facts(factor: BayesFactor | None) -> dict[str, Any] | None:
    """Return a Bayes factor as plain values."""
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
