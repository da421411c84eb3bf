"""What the figures of a result need: outlines, priors, shares and rows as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform import present
from outperform._typing import AnyArray, Distribution, FloatArray, Label
from outperform.comparison import engine
from outperform.comparison.factors import factor_facts, point_factor
from outperform.comparison.summary import interval_facts
from outperform.decision import Rope
from outperform.errors import UndefinedBayesFactor
from outperform.posterior import child

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison

Outline = FloatArray | tuple[FloatArray, FloatArray]
"""Draws, or a grid and the density on it."""

_TAIL = 5e-4
_POINTS = 161
_PRIOR_DRAWS = 20_000
_PRIOR_STREAM = 2**31  # the one from which point_null(method="kde") draws


def outline(draws: FloatArray, distribution: Distribution | None) -> Outline:
    """Return the exact density where there is one, else the draws."""
    if distribution is None:
        return draws
    low, high = (distribution.quantile(p) for p in (_TAIL, 1 - _TAIL))
    return _density(distribution, low, high) or draws


def plot_factor(comparison: Comparison, ax: Any) -> Any:
    """Draw prior and posterior of the difference, or say why there is no prior to draw."""
    rope, model = comparison.rope, comparison.question.model
    if not model.proper:
        raise UndefinedBayesFactor(
            f"model {model.name!r} has no proper prior, so there is nothing to compare "
            "the posterior with; plot() draws it alone, and another model has a prior"
        )
    question = comparison.counted
    inside = engine.prior_inside(question, rope) if rope.low < rope.high else None
    facts = comparison.to_dict()
    window = present.factor_window(facts)
    return present.plot_factor(
        _within(comparison.distribution, window) or comparison.draws,
        _within(engine.prior_difference(question), window) or _prior_draws(comparison),
        facts=facts,
        null={
            "inside": None if inside is None else (inside.inside, comparison.p_equivalent),
            **_point_null(comparison),
        },
        ax=ax,
    )


def plot_rope_curve(comparison: Comparison, ax: Any) -> Any:
    """Draw the verdict, and the mass inside, for every width of the ROPE."""
    facts = comparison.to_dict()
    widths = np.linspace(0, present.widest_rope(facts), _POINTS)
    shares = _inside(np.sort(comparison.draws), comparison.rope, widths)
    return present.plot_rope_curve((widths, shares), facts=facts, ax=ax)


def plot_models(comparison: Comparison, ax: Any) -> Any:
    """Draw each classifier's own posterior."""
    a, b = (outline(one.draws, one.distribution) for one in (comparison.a, comparison.b))
    return present.plot_models(a, b, facts=comparison.to_dict(), ax=ax)


def plot_confusion(
    comparison: Comparison, axes: Any, *, normalise: bool, labels: Sequence[Label] | None
) -> Any:
    """Draw both confusion matrices, of all classes or of some."""
    seen = comparison.counted.seen
    names: list[Label] = [*seen.labels, *(["(no span)"] if seen.kind == "spans" else [])]
    kept = list(range(len(names))) if labels is None else [seen.code(one) for one in labels]
    a, b = (_part(matrix, kept) for matrix in comparison.confusions())
    return present.plot_confusion(
        a,
        b,
        labels=[names[place] for place in kept],
        names=comparison.names,
        normalise=normalise,
        axes=axes,
    )


def plot_forest(
    what: str, keys: Sequence[Label], comparisons: Sequence[Comparison], ax: Any
) -> Any:
    """Draw one row for each comparison."""
    first = comparisons[0]
    rows = [{"key": key, **_row(one)} for key, one in zip(keys, comparisons, strict=True)]
    same = all(one.metric == first.metric for one in comparisons)
    metric = first.question.metric.label if same and what != "metric" else None
    return present.plot_forest(rows, names=first.names, metric=metric, ax=ax)


def _row(comparison: Comparison) -> dict[str, Any]:
    return {
        "mean": comparison.mean,
        "observed": None if np.isnan(comparison.observed) else comparison.observed,
        "hdi": interval_facts(comparison.hdi),
        "rope": {"low": comparison.rope.low, "high": comparison.rope.high},
        "decision": {"name": comparison.decision.name, "symbol": comparison.decision.symbol},
    }


def _part(matrix: AnyArray, kept: list[int]) -> FloatArray:
    part: FloatArray = matrix[np.ix_(kept, kept)].astype(np.float64)
    return part


def _density(
    distribution: Distribution, low: float, high: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return the density between two values; None where it is no curve."""
    grid = np.linspace(low, high, _POINTS)
    height = np.array([distribution.pdf(float(value)) for value in grid])
    finite = np.isfinite(height)
    if high <= low or finite.sum() < _POINTS // 2 or height[finite].max() <= 0:
        return None
    return grid[finite], height[finite]


def _prior_draws(comparison: Comparison) -> FloatArray:
    stream = child(comparison.seed, _PRIOR_STREAM)
    return engine.prior_draws(comparison.counted, _PRIOR_DRAWS, stream)


def _within(
    distribution: Distribution | None, window: tuple[float, float]
) -> tuple[FloatArray, FloatArray] | None:
    if distribution is None:
        return None
    low, high = distribution.support
    return _density(distribution, max(low, window[0]), min(high, window[1]))


def _point_null(comparison: Comparison) -> dict[str, Any]:
    """Return the densities at zero before and after the data, where the factor exists."""
    question, after = comparison.counted, comparison.distribution
    try:
        factor = point_factor(
            question, after, comparison.draws, method="exact", seed=comparison.seed
        )
    except UndefinedBayesFactor:
        return {"density": None, "point": None}
    before = engine.prior_difference(question)
    assert before is not None  # or there would be no factor
    assert after is not None
    return {"density": (before.pdf(0.0), after.pdf(0.0)), "point": factor_facts(factor)}


def _inside(ordered: FloatArray, rope: Rope, widths: FloatArray) -> FloatArray:
    low, high = (-1.0, 1.0) if rope.symmetric else (rope.low, rope.high)
    above = np.searchsorted(ordered, high * widths, side="right")
    below = np.searchsorted(ordered, low * widths, side="left")
    share: FloatArray = (above - below) / ordered.size
    return share
