"""Curves with simultaneous bands: values against scikit-learn, bands by hand, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_curve

import outperform as op
from outperform.comparison.curves import _banded
from outperform.errors import UsageError

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


def test_a_band_holds_as_many_whole_draws_as_it_says():
    random = np.random.default_rng(81)
    values = np.cumsum(random.standard_gamma(0.5, size=(40, 4_000)), axis=0)
    band = _banded(values, values[:, 0], 0.9)
    inside = (values >= band.lower[:, None]) & (values <= band.upper[:, None])
    assert 0.9 <= inside.all(axis=0).mean() < 0.92
    assert band.mcse == pytest.approx(values.std(axis=1, ddof=1) / np.sqrt(4_000))
    # Each point alone is held more often, or the band would hold only there.
    assert inside.mean() > 0.97


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
    assert "not told apart" in str(found)


def test_groups_widen_the_band():
    truth, a, b = (np.repeat(one, 4) for one in (TRUTH[:75], A[:75], B[:75]))
    asked = {"metric": "roc_auc", "rope": 0.01, "n_draws": 2_000, "random_state": 4}
    alone = op.compare(truth, a, b, **asked).curve("roc").a
    grouped = op.compare(truth, a, b, groups=np.repeat(np.arange(75), 4), **asked)
    wide = grouped.curve("roc").a
    assert (wide.upper - wide.lower).mean() > 1.4 * (alone.upper - alone.lower).mean()


def test_what_cannot_be_drawn_is_refused(compared):
    with pytest.raises(UsageError, match="unknown curve"):
        compared.curve("rock")
    with pytest.raises(UsageError, match="curves are of scores"):
        op.compare(TRUTH, A > 0.5, B > 0.5, rope=0.01).curve("roc")
    with pytest.raises(UsageError, match="positive class"):
        op.compare(None, A, B, metric="mean", rope=0.01).curve("roc")
    margins = op.compare(TRUTH, 5 * A, B, metric="roc_auc", rope=0.01, n_draws=500)
    with pytest.raises(UsageError, match="reads probabilities"):
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
