"""Curves with simultaneous bands: values against scikit-learn, bands by hand, coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.comparison.curves import _banded
from outperform.errors import UsageError
from tests.lazily import lazily

binom = lazily("scipy.stats.binom")
norm = lazily("scipy.stats.norm")
calibration_curve = lazily("sklearn.calibration.calibration_curve")
precision_recall_curve = lazily("sklearn.metrics.precision_recall_curve")
roc_curve = lazily("sklearn.metrics.roc_curve")

RANDOM = np.random.default_rng(80)
N = 300
TRUTH = RANDOM.random(N) < 0.4
A, B = (
    1 / (1 + np.exp(-(2 * TRUTH - 1 + spread * RANDOM.normal(size=N)))) for spread in (0.8, 1.5)
)


@pytest.fixture(scope="module")
def compared():
    return op.compare(TRUTH, A, B, metric="roc_auc", rope=0.01, n_draws=2_000, random_state=1)


def test_the_observed_curves_are_those_of_the_data(compared):
    found = compared.curve("roc")
    false, hits, _ = roc_curve(TRUTH, A, drop_intermediate=False)
    assert found.a.observed == pytest.approx(np.interp(found.grid, false, hits))
    found = compared.curve("calibration")
    shares, _ = calibration_curve(TRUTH, A, n_bins=10)
    assert found.a.observed == pytest.approx(shares)
    found = compared.curve("net_benefit")
    for t, value in zip(found.grid, found.b.observed, strict=True):
        said = t <= B
        expected = ((said & TRUTH).sum() - (said & ~TRUTH).sum() * t / (1 - t)) / N
        assert value == pytest.approx(expected)


def test_precision_at_a_recall_is_that_of_a_threshold():
    truth = np.arange(N) < 100  # so that the grid meets every recall
    score = RANDOM.normal(size=N) + truth
    c = op.compare(truth, score, B, metric="roc_auc", rope=0.01, n_draws=500, random_state=1)
    found = c.curve("precision_recall")
    hits = np.cumsum(truth[np.argsort(-score)])
    for k, value in zip(range(1, 100), found.a.observed, strict=True):
        tops = np.flatnonzero(hits == k) + 1
        assert k / tops[-1] - 1e-9 <= value <= k / tops[0] + 1e-9


KINDS = ("roc", "precision_recall", "calibration", "net_benefit")


def by_hand(kind, grid, score, weight):
    """The curve of weighted items: by scikit-learn as far as it goes, else a sum."""
    false, hits, _ = roc_curve(TRUTH, score, sample_weight=weight, drop_intermediate=False)
    share = weight @ TRUTH / weight.sum()
    if kind == "roc":
        return np.interp(grid, false, hits)
    if kind == "precision_recall":
        right, wrong = share * grid, (1 - share) * np.interp(grid, hits, false)
        return right / (right + wrong)
    if kind == "calibration":
        inside = [(middle - 0.05 < score) & (score <= middle + 0.05) for middle in grid]
        return [weight[one] @ TRUTH[one] / weight[one].sum() for one in inside]
    gains = [np.where(TRUTH, 1.0, -t / (1 - t)) * (score >= t) for t in grid]
    return [weight @ gain / weight.sum() for gain in gains]


WEIGHTS = np.random.default_rng(82).uniform(0.2, 3.0, size=N)
TIMES = np.random.default_rng(83).integers(1, 6, size=N)
GROUPS = np.arange(N) // 4


@pytest.mark.parametrize(
    ("given", "weight"),
    [
        ({"groups": GROUPS}, np.ones(N)),
        ({"sample_weight": WEIGHTS}, WEIGHTS),
        ({"groups": GROUPS, "sample_weight": WEIGHTS}, WEIGHTS),
    ],
    ids=["groups", "weights", "both"],
)
def test_observed_curves_with_groups_and_weights_are_those_of_the_data(given, weight):
    c = op.compare(TRUTH, A, B, metric="roc_auc", rope=0.01, n_draws=300, random_state=5, **given)
    for kind in KINDS:
        found = c.curve(kind)
        for band, score in ((found.a, A), (found.b, B)):
            expected = by_hand(kind, found.grid, score, weight.astype(float))
            assert band.observed == pytest.approx(expected), kind
            assert (band.upper > band.lower).all()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_scale_of_weights_moves_no_band(scale):
    asked = {"metric": "roc_auc", "rope": 0.01, "n_draws": 300, "random_state": 9}
    plain = op.compare(TRUTH, A, B, **asked)
    scaled = op.compare(TRUTH, A, B, sample_weight=np.full(N, scale), **asked)
    for kind in KINDS:
        found, expected = scaled.curve(kind).difference, plain.curve(kind).difference
        assert found.lower == pytest.approx(expected.lower), kind
        assert found.upper == pytest.approx(expected.upper), kind


def test_rows_that_stand_for_several_items_have_the_curves_of_all_of_these():
    asked = {"metric": "roc_auc", "rope": 0.01, "n_draws": 2_000, "random_state": 6}
    counted = replace(op.Scores.from_arrays(TRUTH, {"a": A, "b": B}), counts=TIMES)
    few = op.compare(counted, "a", "b", **asked)
    all_of_them = op.compare(*(np.repeat(one, TIMES) for one in (TRUTH, A, B)), **asked)
    for kind in KINDS:
        found, expanded = few.curve(kind), all_of_them.curve(kind)
        assert found.grid.tolist() == expanded.grid.tolist()
        assert found.b.observed == pytest.approx(expanded.b.observed), kind
        expected = by_hand(kind, found.grid, A, TIMES.astype(float))
        assert found.a.observed == pytest.approx(expected), kind
        widths = [(one.a.upper - one.a.lower).mean() for one in (found, expanded)]
        assert widths[0] == pytest.approx(widths[1], rel=0.1), kind


def test_precision_with_weights_is_that_of_scikit_learn():
    truth = np.arange(N) < 100  # so that the grid meets every recall
    weight = np.where(truth, 1.0, WEIGHTS)
    score = np.random.default_rng(84).normal(size=N) + truth
    c = op.compare(truth, score, B, metric="roc_auc", rope=0.01, n_draws=300, random_state=1,
                   sample_weight=weight)  # fmt: skip
    precision, recall, _ = precision_recall_curve(truth, score, sample_weight=weight)
    found = c.curve("precision_recall")
    for r, value in zip(found.grid, found.a.observed, strict=True):
        there = precision[np.isclose(recall, r)]
        assert there.min() - 1e-9 <= value <= there.max() + 1e-9


def test_a_band_holds_as_many_whole_draws_as_it_says():
    random = np.random.default_rng(81)
    values = np.cumsum(random.standard_gamma(0.5, size=(40, 4_000)), axis=0)
    band = _banded(values, values[:, 0], 0.9)
    inside = (values >= band.lower[:, None]) & (values <= band.upper[:, None])
    assert 0.9 <= inside.all(axis=0).mean() < 0.92
    assert band.mcse == pytest.approx(values.std(axis=1, ddof=1) / np.sqrt(4_000))
    # Each point alone is held more often, or the band would hold only there.
    assert inside.mean() > 0.97


def test_a_band_holds_a_further_draw_as_often_as_it_says():
    random, inside = np.random.default_rng(85), []
    for _ in range(40):
        values = random.normal(size=(10, 2_000))
        band = _banded(values, values[:, 0], 0.95)
        fresh = random.normal(size=(10, 5_000))
        held = (fresh >= band.lower[:, None]) & (fresh <= band.upper[:, None])
        inside.append(held.all(axis=0).mean())
    # One of 2,000 draws at either end of ten points is a hundredth of all curves.
    assert 0.948 <= np.mean(inside) <= 0.956


def test_no_band_has_zero_width_not_even_of_the_difference(compared):
    for kind in ("roc", "precision_recall", "calibration", "net_benefit"):
        found = compared.curve(kind)
        for band in (found.a, found.b, found.difference):
            assert (band.upper > band.lower).all()
            assert (band.lower <= band.mean).all()
            assert (band.mean <= band.upper).all()


def test_a_perfect_model_still_has_a_band():
    perfect = np.where(TRUTH, 0.9, 0.1) + RANDOM.normal(size=N) * 0.01
    c = op.compare(TRUTH, perfect, B, metric="roc_auc", rope=0.01, n_draws=1_000, random_state=2)
    found = c.curve("roc").a
    assert (found.observed == 1).all()
    assert found.lower[0] < 0.97
    assert found.lower[50] < 1.0


def test_the_same_model_twice_is_not_told_apart():
    c = op.compare(TRUTH, A, A, metric="roc_auc", rope=0.01, n_draws=1_000, random_state=3)
    found = c.curve("roc")
    assert not found.apart.any()
    assert "cannot be distinguished" in str(found)


def test_groups_widen_the_band():
    truth, a, b = (np.repeat(one, 4) for one in (TRUTH[:75], A[:75], B[:75]))
    asked = {"metric": "roc_auc", "rope": 0.01, "n_draws": 2_000, "random_state": 4}
    alone = op.compare(truth, a, b, **asked).curve("roc").a
    grouped = op.compare(truth, a, b, groups=np.repeat(np.arange(75), 4), **asked)
    wide = grouped.curve("roc").a
    assert (wide.upper - wide.lower).mean() > 1.4 * (alone.upper - alone.lower).mean()


def test_few_groups_widen_the_band_by_more_than_their_number():
    # Eight copies of the same eight groups narrow a band by the root of 8, and by more than that
    # because eight groups alone hardly know how much groups differ.
    random = np.random.default_rng(86)
    groups = np.repeat(np.arange(8), 60)
    truth = random.random(480) < 0.4
    a, b = 1 / (1 + np.exp(-(1.5 * truth - 0.6 + random.normal(size=(2, 480)))))
    asked = {"metric": "roc_auc", "rope": 0.01, "n_draws": 2_000, "random_state": 7}
    few = op.compare(truth, a, b, groups=groups, **asked)
    copied = (groups + 8 * np.arange(8)[:, None]).ravel()
    many = op.compare(*(np.tile(one, 8) for one in (truth, a, b)), groups=copied, **asked)
    for kind in ("roc", "net_benefit"):
        wide, narrow = (
            [upper - lower for x, lower, upper in zip(one.grid, one.a.lower, one.a.upper,
                                                      strict=True) if 0.2 < x < 0.6]
            for one in (few.curve(kind), many.curve(kind))
        )  # fmt: skip
        assert np.divide(wide, narrow).mean() > 1.05 * np.sqrt(8), kind


def test_where_every_item_passes_equal_values_do_not_mean_equal_models():
    a, b = (0.25 + score / 2 for score in (A, B))
    c = op.compare(TRUTH, a, b, metric="roc_auc", rope=0.01, n_draws=1_000, random_state=8)
    found = c.curve("net_benefit")
    low = found.grid < 0.25
    share, odds = TRUTH.mean(), found.grid / (1 - found.grid)
    assert found.a.observed[low] == pytest.approx(share - (1 - share) * odds[low])
    assert (found.difference.observed[low] == 0).all()
    assert (found.difference.lower[low] < 0).all()
    assert (found.difference.upper[low] > 0).all()
    # What pseudo-items of half an item's worth can move, of each class one above and one below.
    moved = found.a.mean - found.a.observed
    assert (np.abs(moved) <= (1 + odds) / N + 4 * found.a.mcse).all()


def test_what_cannot_be_drawn_is_refused(compared):
    with pytest.raises(UsageError, match="unknown curve"):
        compared.curve("rock")
    with pytest.raises(UsageError, match="curves need scores"):
        op.compare(TRUTH, A > 0.5, B > 0.5, rope=0.01).curve("roc")
    with pytest.raises(UsageError, match="positive class"):
        op.compare(None, A, B, metric="mean", rope=0.01).curve("roc")
    margins = op.compare(TRUTH, 5 * A, B, metric="roc_auc", rope=0.01, n_draws=500)
    with pytest.raises(UsageError, match="needs probabilities"):
        margins.curve("calibration")


def test_facts_and_figures(compared):
    found = compared.curve("roc")
    facts = found.to_dict()
    assert facts["grid"] == found.grid.tolist()
    assert len(facts["difference"]["lower"]) == 99
    frame = found.to_frame()
    assert frame["a"].tolist() == found.a.mean.tolist()
    assert frame["b_observed"].tolist() == found.b.observed.tolist()
    assert max(map(len, str(found).splitlines())) <= 80
    assert found.plot().get_xlabel() == "false positive rate"
    assert "A − B" in found.plot_difference().get_ylabel()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "share", "a", "b"),
    [(200, 0.5, (1.2, 1.0), (0.8, 1.0)), (400, 0.2, (1.0, 0.7), (1.6, 1.2))],
)
def test_bands_cover_binormal_curves(n, share, a, b):
    random, repeats, hits = np.random.default_rng(n), 100, np.zeros(3)
    for seed in range(repeats):
        truth, common = random.random(n) < share, random.normal(size=n)
        scores = []
        for shift, slope in (a, b):
            noise = 0.6 * common + 0.8 * random.normal(size=n)
            scores.append(np.where(truth, (shift + noise) / slope, noise))
        c = op.compare(truth, *scores, metric="roc_auc", rope=0.01, n_draws=4_000,
                       random_state=seed)  # fmt: skip
        found = c.curve("roc")
        true = [norm.cdf(shift + slope * norm.ppf(found.grid)) for shift, slope in (a, b)]
        true.append(true[0] - true[1])
        bands = (found.a, found.b, found.difference)
        hits += [
            ((band.lower <= one) & (one <= band.upper)).all()
            for band, one in zip(bands, true, strict=True)
        ]
    assert hits.min() >= binom.ppf(0.001, repeats, 0.93)
