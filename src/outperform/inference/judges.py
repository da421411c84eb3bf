"""Value of a judge in addition to human labels, and the judge's bias between models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import special

from outperform import metrics
from outperform._rows import sum_by
from outperform._typing import BoolArray, FloatArray
from outperform.data.drawn import Drawn
from outperform.data.judged import Judged, n_labelled
from outperform.errors import param
from outperform.findings import Finding, finding
from outperform.inference import engine
from outperform.inference.items import draw_scores
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.inference.spec import DEFAULTS, LabelSpec, Spec, measure
from outperform.metrics.sums import GRADES
from outperform.posterior.base import draw_values
from outperform.posterior.registry import PRIORS
from outperform.posterior.strata import judged_weights


class Worth(NamedTuple):
    """Equivalent number of labels without a judge, and the bias of the judge alone.

    The central 95% interval of the bias is included. For two models, all fields refer to the
    difference.
    """

    labels: float
    bias: float
    low: float
    high: float


_DRAWS, _SEED = 4_000, 20_261_117
# A judge that saves a smaller share of the labels than this is not worthwhile.
_SAVES = 1.1


def worth_of_judge(spec: Spec) -> Worth:
    """Return the value of a judge in addition to human labels, from separate draws.

    The ratio of variances is known to about 3%.
    """
    ours, judge, people = _of_labels(spec) if isinstance(spec, LabelSpec) else _of_grades(spec)
    if len(spec.data.models) == 2:
        ours, judge, people = (draws[:1] - draws[1:] for draws in (ours, judge, people))
    ratios: FloatArray = np.var(people, axis=1) / np.var(ours, axis=1)
    off: FloatArray = (judge - ours)[0]
    low, high = (float(np.quantile(off, level)) for level in (0.025, 0.975))
    return Worth(float(np.mean(ratios)) * _counts(spec)[1], float(np.mean(off)), low, high)


def _counts(spec: Spec) -> tuple[int, int]:
    """Return the number of items rated by the judge and the number labelled by people."""
    if isinstance(spec, LabelSpec):
        assert isinstance(spec.view.pool, Judged)
        return spec.view.pool.n, n_labelled(spec.view.pool)
    return spec.n, int(np.sum(_looked(spec)))


def _looked(spec: ScoreSpec) -> BoolArray:
    """Return the mask of human-graded items."""
    looked: BoolArray = spec.data.values[0][:, GRADES.index("looked")] > 0
    return looked


def drawn_of(spec: Spec) -> Drawn | None:
    """Return how the items labelled by people were drawn, if declared."""
    if isinstance(spec, LabelSpec):
        assert isinstance(spec.view.pool, Judged)
        return spec.view.pool.drawn
    return spec.data.drawn


def is_judged(spec: Spec) -> bool:
    """Return whether a judge rated all items and people rated some."""
    if isinstance(spec, LabelSpec):
        return isinstance(spec.view.pool, Judged)
    return spec.metric.name == "judged_mean"


def _of_labels(spec: LabelSpec) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw the metric from both, from the judge and from people, ``(n_models, n_draws)`` each."""
    view, n_models = spec.view, len(spec.view.models)
    seed = np.random.SeedSequence(_SEED)
    values = draw_values(
        engine.adjusted(judged_weights(view, beside=True), spec),
        lambda drawn, out: measure(drawn, [spec], out),
        needs=spec.measured.needs,
        n_values=2 * n_models,
        n_draws=_DRAWS,
        seed=seed,
        n_jobs=1,
    )
    # The comparison is with the same number of human labels drawn at random, even if the actual
    # labels were selected by the ratings.
    assert isinstance(view.pool, Judged)
    whole = view.pool.weigh(view.tables[0], n_labels=view.n_classes)
    counts: FloatArray = whole.counts.astype(np.float64)
    table = replace(whole, counts=counts * (n_labelled(view.pool) / float(np.sum(counts))))
    bare = replace(spec, prior=PRIORS[DEFAULTS[0]])
    people = replace(view, pool=None, tables=(table,))
    alone = engine.draw_view(bare, people, Sampling(_DRAWS, seed, 1))
    return values[:n_models], values[n_models:], alone


def _of_grades(spec: ScoreSpec) -> tuple[FloatArray, FloatArray, FloatArray]:
    names = ("judged_mean", "judge_mean", "people_mean")
    specs = [replace(spec, metric=metrics.get_score(name)) for name in names]
    seed = np.random.SeedSequence(_SEED)
    ours, judge, people = draw_scores(specs, Sampling(_DRAWS, seed, 1))
    return ours, judge, people


def judge_findings(spec: Spec) -> Iterator[Finding]:
    """Yield the value of the judge in human labels, and whether it favours a model."""
    (n_items, n), worth = _counts(spec), worth_of_judge(spec)
    helps = np.isnan(worth.labels) or worth.labels >= _SAVES * n
    yield finding(
        "judged/helps" if helps else "judged/little",
        n=n_items,
        labelled=n,
        how=_HOW[drawn_of(spec)] if isinstance(spec, LabelSpec) or drawn_of(spec) else "at random",
        worth="an unknown number of" if np.isnan(worth.labels) else f"{worth.labels:,.0f}",
    )
    yield from drawing_findings(spec)
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


_HOW_UNEVEN = "People labelled items with some of the judge's ratings more often than others"
_HOW = {
    None: "at random or by its ratings",
    "random": "at random, as declared",
    "by_ratings": "by its ratings alone, as declared",
    "probabilities": "with the given probabilities",
}
# By chance, one test set in a thousand contradicts its declaration, and one in a hundred without a
# declaration gets a warning.
_CHANCE, _UNDECLARED = 1e-3, 1e-2
_EXPECTED, _LEAST_P = 5.0, 1e-9
# Below this effective number, labels with unequal weights do not show their spread.
_FEW_EFFECTIVE, _EVEN = 100.0, 0.9


def contradicts(spec: Spec) -> bool:
    """Return whether the ratings contradict how items for human labels were said to be drawn."""
    if not is_judged(spec) or drawn_of(spec) not in ("random", "probabilities"):
        return False
    return any(finding.name == "not_drawn_as_declared" for finding in drawing_findings(spec))


def drawing_findings(spec: Spec) -> Iterator[Finding]:
    """Yield problems in how the human-labelled items were drawn, as shown by the ratings."""
    drawn, needed = drawn_of(spec), _FEW_EFFECTIVE
    if isinstance(spec, LabelSpec):
        # With more than two classes, each class must show the spread of its labels.
        needed *= spec.view.n_classes if spec.view.n_classes > 2 else 1
        assert isinstance(spec.view.pool, Judged)
        p, how = _uneven_strata(spec.view.pool), _HOW_UNEVEN
        chances = spec.view.pool.chances
        n_effective = np.inf if chances is None else chances.n_effective
    else:
        p, how = _uneven_grades(spec)
        weights = spec.data.values[0][_looked(spec), GRADES.index("looked")]
        n_effective = float(np.sum(weights) ** 2 / np.sum(np.square(weights)))
    least = max(p, _LEAST_P)
    if drawn is None and p < _UNDECLARED:
        mend = param("drawn=")
        yield finding("chosen_by_ratings", how=how, p=least, mend=mend)
    elif drawn == "random" and p < _CHANCE:
        yield finding("not_drawn_as_declared/random", how=how, p=least)
    elif drawn == "probabilities":
        if p < _CHANCE:
            yield finding("not_drawn_as_declared/probabilities", p=least)
        if n_effective < min(needed, _EVEN * _counts(spec)[1]):
            yield finding(
                "few_effective_labels",
                labelled=_counts(spec)[1],
                n_effective=n_effective,
                least=needed,
            )


def _uneven_strata(pool: Judged) -> float:
    """Return P(labels drawn as declared are at least this uneven across the ratings).

    Strata are tested jointly, and also by the judge's verdict on each model and its disagreements.
    The latter detect, from few labels, that mostly complaints about one model were labelled.
    """
    sizes, labelled = pool.counts.astype(np.float64), pool.n_labelled
    expected = None
    if pool.chances is not None:
        expected = pool.chances.expected
        if expected is None:
            return 1.0
    right: BoolArray = pool.cells == pool.truth[:, None]
    parts = [np.arange(len(sizes)), *right.astype(np.int64).T, pool.apart.astype(np.int64)]
    p_values = []
    for part in parts:
        n_parts = int(part.max()) + 1
        totals = [sum_by(part, numbers, size=n_parts) for numbers in (sizes, labelled)]
        wanted = None if expected is None else sum_by(part, expected, size=n_parts)
        p_values.append(chosen_at_random(*totals, expected=wanted))
    return min(1.0, len(p_values) * min(p_values))


def _uneven_grades(spec: ScoreSpec) -> tuple[float, str]:
    """Return the probability of such grades for randomly drawn items, and the extreme model."""
    looked = _looked(spec)
    weights = spec.data.values[0][:, GRADES.index("looked")]
    n, n_seen = _counts(spec)
    columns_of = {"on average": GRADES.index("judge of all models")}
    columns = {name: spec.data.values[0][:, column] for name, column in columns_of.items()}
    if len(spec.data.models) > 1:
        own = GRADES.index("judge")
        columns |= {
            f"for {model}": values[:, own]
            for model, values in zip(spec.data.models, spec.data.values, strict=True)
        }
    worst, how = 1.0, ""
    for name, grades in columns.items():
        of_seen = grades[looked]
        share = weights[looked] / np.sum(weights[looked])
        ahead = float(np.sum(share * of_seen) - np.mean(grades))
        about: FloatArray = of_seen - float(np.sum(share * of_seen))
        spread = (1 - n_seen / n) * float(np.sum(np.square(share * about)))
        if spread <= 0:
            continue
        p = 2 * float(special.ndtr(-abs(ahead) / spread**0.5))
        if p < worst:
            way = "higher" if ahead > 0 else "lower"
            worst, how = p, f"The judge graded the human-labelled items {way} than the rest {name}"
    return min(1.0, len(columns) * worst), how


def chosen_at_random(
    sizes: FloatArray, labelled: FloatArray, *, expected: FloatArray | None = None
) -> float:
    """Return the probability that randomly drawn labels are this uneven across strata.

    This is a χ² test of the stratum counts, with small strata merged. ``expected`` contains their
    expected counts if labels were drawn with known probabilities.

    Examples
    --------
    >>> round(chosen_at_random(np.array([500.0, 500]), np.array([52.0, 48])), 2)
    0.67
    >>> chosen_at_random(np.array([500.0, 500]), np.array([90.0, 10])) < 1e-9
    True
    """
    n, n_all = float(np.sum(labelled)), float(np.sum(sizes))
    wanted: FloatArray = sizes * n / n_all
    if expected is not None:
        wanted = expected * n / float(np.sum(expected))
    large: BoolArray = wanted >= _EXPECTED
    bin_of = np.where(large, np.cumsum(large), 0)
    part, observed = (np.bincount(bin_of, numbers) for numbers in (wanted, labelled))
    kept: BoolArray = part > 0
    df = int(np.sum(kept)) - 1
    if df < 1 or n >= n_all:
        return 1.0
    apart: FloatArray = np.square(observed - part)[kept] / part[kept]
    # Without replacement, counts vary less; the factor is unknown if the probabilities differ.
    left = 1 - n / n_all if expected is None else 1.0
    return float(special.chdtrc(df, float(np.sum(apart)) / left))
