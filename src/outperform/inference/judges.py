"""What a judge adds to the labels of people, and which model it favours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import special

from outperform import metrics
from outperform._typing import BoolArray, FloatArray
from outperform.data.judged import Judged, n_labelled
from outperform.findings import Finding, finding
from outperform.inference import engine
from outperform.inference.items import draw_scores
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import DEFAULTS, LabelSpec, Spec
from outperform.metrics.sums import GRADES
from outperform.posterior.base import draw_values
from outperform.posterior.registry import PRIORS, judged_weights


class Worth(NamedTuple):
    """How many labels without a judge tell as much, and by how much the judge alone is off.

    With the central 95% of the latter. Of two models all are about the difference.
    """

    labels: float
    bias: float
    low: float
    high: float


_DRAWS, _SEED = 4_000, 20_261_117
# A judge that saves fewer labels than this share of them is not worth its while.
_SAVES = 1.1


def worth_of_judge(spec: Spec) -> Worth:
    """Return what a judge adds to the labels of people, from draws of its own.

    The ratio of variances is known to about 3%.
    """
    ours, judge, people = _of_labels(spec) if isinstance(spec, LabelSpec) else _of_grades(spec)
    if len(spec.data.models) == 2:
        ours, judge, people = (one[:1] - one[1:] for one in (ours, judge, people))
    ratios: FloatArray = np.var(people, axis=1) / np.var(ours, axis=1)
    off: FloatArray = (judge - ours)[0]
    low, high = (float(np.quantile(off, level)) for level in (0.025, 0.975))
    return Worth(float(np.mean(ratios)) * _counts(spec)[1], float(np.mean(off)), low, high)


def _counts(spec: Spec) -> tuple[int, int]:
    """Return how many items the judge saw, and how many people did."""
    if isinstance(spec, LabelSpec):
        assert isinstance(spec.view.pool, Judged)
        return spec.view.pool.n, n_labelled(spec.view.pool)
    return spec.n, int(np.sum(spec.data.values[0][:, GRADES.index("looked")]))


def _of_labels(spec: LabelSpec) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw the metric with both, by the judge and by people, ``(n_models, n_draws)`` each."""
    view, n_models = spec.view, len(spec.view.models)
    seed = np.random.SeedSequence(_SEED)
    values = draw_values(
        judged_weights(view, beside=True),
        lambda drawn, out: engine.measure(drawn, [spec], out),
        needs=spec.measured.needs,
        n_values=2 * n_models,
        n_draws=_DRAWS,
        seed=seed,
        n_jobs=1,
    )
    # As many labels of people drawn at random, also where these were chosen by the ratings.
    assert isinstance(view.pool, Judged)
    whole = view.pool.weigh(view.tables[0], n_labels=view.n_classes)
    counts: FloatArray = whole.counts.astype(np.float64)
    table = replace(whole, counts=counts * (n_labelled(view.pool) / float(np.sum(counts))))
    bare = replace(spec, prior=PRIORS[DEFAULTS[0]])
    people = replace(view, pool=None, tables=(table,))
    alone = engine.draw_view(bare, people, n_draws=_DRAWS, seed=seed)
    return values[:n_models], values[n_models:], alone


def _of_grades(spec: ScoreSpec) -> tuple[FloatArray, FloatArray, FloatArray]:
    names = ("judged_mean", "judge_mean", "people_mean")
    asked = [replace(spec, metric=metrics.get_score(name)) for name in names]
    seed = np.random.SeedSequence(_SEED)
    ours, judge, people = draw_scores(asked, n_draws=_DRAWS, seed=seed, n_jobs=1)
    return ours, judge, people


def judge_findings(spec: Spec) -> Iterator[Finding]:
    """Yield what the judge is worth in human labels, and whether it favours a model."""
    (n_items, n), worth = _counts(spec), worth_of_judge(spec)
    helps = np.isnan(worth.labels) or worth.labels >= _SAVES * n
    yield finding(
        "judged/helps" if helps else "judged/little",
        n=n_items,
        labelled=n,
        how="at random or by its ratings" if isinstance(spec, LabelSpec) else "at random",
        worth="an unknown number of" if np.isnan(worth.labels) else f"{worth.labels:,.0f}",
    )
    yield from _choice_findings(spec)
    models, what, (_, off, low, high) = spec.data.models, spec.metric.label, worth
    if len(models) > 2 or np.isnan(off):
        return
    if len(models) == 2:
        what = f"{what} of {models[0]} minus that of {models[1]}"
    if low <= 0.0 <= high:
        yield finding("judge_bias/unclear", what=what, bias=off, low=low, high=high)
    elif len(models) == 1:
        yield finding("judge_bias/clear", what=what, bias=off, low=low, high=high)
    else:
        liked = models[0] if (off > 0) == spec.metric.greater_is_better else models[1]
        yield finding("judge_bias/favours", model=liked, what=what, bias=off, low=low, high=high)


# By chance one test set in a thousand is told that its items were chosen.
_CHANCE = 1e-3
_EXPECTED, _LEAST_P = 5.0, 1e-9


def _choice_findings(spec: Spec) -> Iterator[Finding]:
    """Yield ``chosen_by_ratings`` where people did not look at items as chance would."""
    if isinstance(spec, LabelSpec):
        assert isinstance(spec.view.pool, Judged)
        p = chosen_at_random(spec.view.pool.counts.astype(np.float64), spec.view.pool.n_labelled)
        if p < _CHANCE:
            yield finding("chosen_by_ratings/strata", p=max(p, _LEAST_P))
        return
    grades: FloatArray = spec.data.values[0][:, GRADES.index("judge of all models")]
    n, n_seen = _counts(spec)
    of_seen = grades[spec.data.values[0][:, GRADES.index("looked")] > 0]
    ahead = float(np.mean(of_seen) - np.mean(grades))
    spread = float(np.var(grades)) * (1 - n_seen / n) / n_seen
    if spread > 0:
        p = 2 * float(special.ndtr(-abs(ahead) / spread**0.5))
        if p < _CHANCE:
            way = "higher" if ahead > 0 else "lower"
            yield finding("chosen_by_ratings/grades", way=way, p=max(p, _LEAST_P))


def chosen_at_random(sizes: FloatArray, labelled: FloatArray) -> float:
    """Return how probable it is that labels drawn at random are as uneven over strata.

    A χ² of what strata have more or less than their part; small ones go together.

    Examples
    --------
    >>> round(chosen_at_random(np.array([500.0, 500]), np.array([52.0, 48])), 2)
    0.67
    >>> chosen_at_random(np.array([500.0, 500]), np.array([90.0, 10])) < 1e-9
    True
    """
    n, n_all = float(np.sum(labelled)), float(np.sum(sizes))
    large: BoolArray = sizes * n / n_all >= _EXPECTED
    place = np.where(large, np.cumsum(large), 0)
    expected, seen = (np.bincount(place, one) for one in (sizes * n / n_all, labelled))
    kept: BoolArray = expected > 0
    df = int(np.sum(kept)) - 1
    if df < 1 or n >= n_all:
        return 1.0
    apart: FloatArray = np.square(seen - expected)[kept] / expected[kept]
    # Without replacement counts vary less.
    return float(special.chdtrc(df, float(np.sum(apart)) / (1 - n / n_all)))
