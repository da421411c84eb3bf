"""A comparison as plain values, and as arrays for figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from outperform._json import to_json
from outperform._typing import (
    AnyArray,
    Axes,
    Distribution,
    FigureSize,
    FloatArray,
    Label,
)
from outperform.data.checks import code_of
from outperform.decision.rope import Rope
from outperform.display.forest_figure import draw_confusion, draw_forest
from outperform.display.pictures import POINTS, exact_density, outline
from outperform.display.posterior_figure import draw_models
from outperform.display.rope_figure import (
    PointNull,
    draw_factor,
    draw_rope_curve,
    factor_window,
    widest_rope,
)
from outperform.errors import UndefinedBayesFactorError
from outperform.inference import engine
from outperform.inference.spec import counted
from outperform.inference.summary import (
    point_factor,
)
from outperform.posterior.rng import child
from outperform.results.compared import Compared

HEADLINE = "names *spec mean sd hdi rope decision selection? any_look? findings"
"""Fields of the headline. The Bayes factor is not among them, because it may need draws."""

FIGURE = f"""{HEADLINE} observed p_worse p_equivalent p_better n_draws=draws.size chain? exact
rope_curve"""
"""Fields of figures, including the probabilities and the observed value."""


_PRIOR_DRAWS = 20_000
_PRIOR_STREAM = 2**31  # bayes_factor_point_null(method="kde") draws from the same one


def plot_bayes_factor(comparison: Compared, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw prior and posterior of the difference, or raise an error if the prior is improper."""
    rope, prior = comparison.rope, comparison.spec.prior
    if not prior.proper:
        raise UndefinedBayesFactorError(
            f"prior {prior.name!r} is improper and cannot be plotted; use a proper prior, or plot "
            "only the posterior with plot()"
        )
    spec = counted(comparison.spec)
    inside = engine.prior_inside(spec, rope) if rope.low < rope.high else None
    facts = comparison.to_dict()
    window = factor_window(facts)
    return draw_factor(
        _within(comparison.distribution, window) or comparison.draws,
        _within(engine.prior_difference(spec), window)
        or engine.prior_draws(spec, _PRIOR_DRAWS, child(comparison.seed, _PRIOR_STREAM)),
        facts=facts,
        null={
            "inside": None if inside is None else (inside.inside, comparison.p_equivalent),
            **_point_null(comparison),
        },
        ax=ax,
        size=size,
    )


def plot_rope_curve(comparison: Compared, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw the decision and the three probabilities for each ROPE width."""
    facts = to_json(comparison, FIGURE)
    widths = np.linspace(0, widest_rope(facts), POINTS)
    low, high = _outside(np.sort(comparison.draws), comparison.rope, widths)
    worse, better = (low, high) if facts.get("greater_is_better", True) else (high, low)
    return draw_rope_curve((widths, worse, better), facts=facts, ax=ax, size=size)


def plot_models(comparison: Compared, ax: Axes | None, size: FigureSize) -> Axes:
    """Draw the posterior of each model."""
    models = (comparison.a, comparison.b)
    a, b = (outline(model.draws, model.distribution) for model in models)
    facts = to_json(comparison, f"{FIGURE} a b")
    return draw_models(a, b, facts=facts, ax=ax, size=size)


def plot_confusion(
    comparison: Compared,
    axes: Sequence[Axes] | None,
    *,
    normalise: bool,
    labels: Sequence[Label] | None,
    size: FigureSize,
) -> Sequence[Axes]:
    """Draw both confusion matrices, with all or some of the classes."""
    data = counted(comparison.spec).data
    names: list[Label] = [*data.labels, *(["(no span)"] if data.kind == "spans" else [])]
    codes = list(range(len(names)))
    if labels is not None:
        codes = [code_of(data, label) for label in labels]
    a, b = (_part(matrix, codes) for matrix in comparison.confusions())
    return draw_confusion(
        a,
        b,
        labels=[names[code] for code in codes],
        names=comparison.names,
        some=len(set(codes)) < len(names),
        normalise=normalise,
        axes=axes,
        size=size,
    )


def plot_forest(
    what: str,
    keys: Sequence[Label],
    comparisons: Sequence[Compared],
    ax: Axes | None,
    *,
    size: FigureSize,
    title: str | None = None,
    note: str | None = None,
) -> Axes:
    """Draw one row per comparison."""
    first = comparisons[0]
    rows = [
        {"key": key, **to_json(comparison, "mean observed hdi rope decision")}
        for key, comparison in zip(keys, comparisons, strict=True)
    ]
    same = all(comparison.metric == first.metric for comparison in comparisons)
    directions = {comparison.spec.metric.greater_is_better for comparison in comparisons}
    return draw_forest(
        rows,
        names=first.names,
        metric=first.spec.metric.label if same and what != "metric" else None,
        greater_is_better=directions.pop() if len(directions) == 1 else None,
        title=title,
        note=note,
        ax=ax,
        size=size,
    )


def _part(matrix: AnyArray, codes: list[int]) -> FloatArray:
    part: FloatArray = matrix[np.ix_(codes, codes)].astype(np.float64)
    return part


def _within(
    distribution: Distribution | None, window: tuple[float, float]
) -> tuple[FloatArray, FloatArray] | None:
    if distribution is None:
        return None
    low, high = distribution.support
    return exact_density(distribution, max(low, window[0]), min(high, window[1]))


def _point_null(comparison: Compared) -> PointNull:
    """Return the prior and posterior density at zero, if the Bayes factor exists."""
    spec, after = counted(comparison.spec), comparison.distribution
    try:
        factor = point_factor(spec, after, comparison.draws, method="exact", seed=comparison.seed)
    except UndefinedBayesFactorError:
        return {"density": None, "point": None}
    before = engine.prior_difference(spec)
    assert before is not None  # because there is a Bayes factor
    assert after is not None
    return {"density": (before.pdf(0.0), after.pdf(0.0)), "point": to_json(factor)}


def _outside(ordered: FloatArray, rope: Rope, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mass below and above each width."""
    low, high = (-1.0, 1.0) if rope.symmetric else (rope.low, rope.high)
    below = np.searchsorted(ordered, low * widths, side="left") / ordered.size
    above = 1 - np.searchsorted(ordered, high * widths, side="right") / ordered.size
    return below, above
