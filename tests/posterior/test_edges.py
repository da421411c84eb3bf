"""Small things about posteriors that nothing else would notice."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import ResourceError
from outperform.posterior import sums
from outperform.posterior.base import build_posterior
from outperform.posterior.class_priors import LearnedPrevalence, class_sizes
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.tabulated import tabulate
from outperform.posterior.fold_scores import FoldScores, t_of_mean
from outperform.posterior.hierarchical import PARTS, learn_spread, pool_normal
from outperform.posterior.influence import Influence
from outperform.posterior.predictive import predictive
from outperform.posterior.registry import get_prior
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")


def test_one_model_is_carried_by_the_units_that_move_it():
    moved = np.array([[0.3, -0.1, 0.2, 0.0]])
    squares = np.square(moved[0])
    found = Influence(moved, np.ones(4)).effective()
    assert found == pytest.approx(squares.sum() ** 2 / np.square(squares).sum(), rel=1e-12)


def test_scores_that_differ_by_rounding_differ_by_nothing():
    a = np.array([0.1 + 0.2, 0.5, 0.7])
    b = np.array([0.3, 0.5, 0.6])
    assert a[0] != b[0]
    assert FoldScores(np.stack([a, b]), 0.1).differences.tolist() == [0.0, 0.0, 0.7 - 0.6]


def test_a_slice_is_like_the_whole_if_its_standard_error_is_twice_the_spread():
    rng = np.random.default_rng(0)
    n = np.array([40, 60, 90, 200])
    own = 0.05 * rng.normal(size=(4, 1)) + rng.normal(size=(4, 4_000)) / np.sqrt(n)[:, None]
    variances = own.var(axis=1)
    item = np.sqrt(np.median(n * variances))
    spread = learn_spread(own.mean(axis=1), np.diag(variances), typical=item / 8, population=PARTS)
    _, alike = pool_normal(own, n, np.random.SeedSequence(0))
    sds = np.sqrt(spread.variances)
    expected = [
        spread.weights[2 * sds[:, place] < np.sqrt(variances[place])].sum() for place in range(4)
    ]
    np.testing.assert_allclose(alike, expected, rtol=1e-12)
    assert 0.05 < alike.min() < alike.max() < 0.95


@each("n", [3, 4, 5, 8, 10])
def test_the_t_of_folds_has_one_degree_of_freedom_less_than_folds(n):
    values = np.random.default_rng(n).normal(size=(2, n))
    folds = FoldScores(values, share=1 / n)
    found = t_of_mean(folds.differences, folds)
    gap = values[0] - values[1]
    law = stats.t(n - 1, gap.mean(), gap.std(ddof=1) * np.sqrt(1 / n + 1 / (n - 1)))
    for level in (0.025, 0.5, 0.9):
        assert found.quantile(level) == pytest.approx(law.ppf(level), rel=1e-9)


def test_a_confusion_matrix_may_have_as_many_cells_as_the_limit_says(monkeypatch):
    monkeypatch.setattr(sums, "_MOST_CONFUSION_CELLS", 9)
    assert sums.Confusions(np.array([[0, 0], [2, 1]]), 3).n_classes == 3
    with pytest.raises(ResourceError, match="needs 16 cells per draw"):
        sums.Confusions(np.array([[0, 0], [2, 1]]), 4)


def test_all_of_a_share_lies_between_nothing_and_everything():
    found = tabulate(WeightedShare(81.0, 11.0, 0.2, 21.0, 0.8))
    assert [found.cdf(value) for value in (-0.5, 0.0, 1.0, 1.5)] == [0.0, 0.0, 1.0, 1.0]
    assert [found.sf(value) for value in (-0.5, 0.0, 1.0, 1.5)] == [1.0, 1.0, 0.0, 0.0]


def test_sizes_of_classes_are_logs_in_units_of_the_slope_expected_beforehand():
    counts = np.array([1.0, 3.0, 7.0, 15.0])
    logs = np.log(counts + 1)
    np.testing.assert_allclose(class_sizes(counts), (logs - logs.mean()) / 2, rtol=1e-12)


def test_classes_without_items_may_be_rarer_than_one_item():
    posterior = LearnedPrevalence(np.array([600.0, 300.0, 100.0, 0.0, 0.0, 0.0]))
    drawn = 1_000 * posterior.draw(np.random.default_rng(0), 4_000)
    assert np.median(drawn[3:]) < 0.5
    # What was seen is known: a gamma of 600 items is off by 4% at most times.
    assert drawn[0].mean() == pytest.approx(600, rel=0.02)
    assert drawn[0].std() == pytest.approx(np.sqrt(600 * 0.4), rel=0.1)


def test_test_sets_of_one_model_are_drawn_from_its_confusion_matrix():
    truth, said = np.repeat([0, 1, 2], [50, 30, 20]), np.tile([0, 1, 2, 0, 1, 2, 2, 0, 1, 1], 10)
    seen = op.Outcomes.from_labels(truth, {"a": said})
    posterior = build_posterior(seen, get_prior("learned"))
    (confusion,) = posterior.worker("confusion")(np.random.default_rng(0), 4_000)
    expected = confusion.mean(axis=-1) / confusion.sum(axis=(0, 1)).mean()
    draw, rng, found = predictive(seen, posterior), np.random.default_rng(1), np.zeros((3, 3))
    n = 400
    for _ in range(n):
        (table,) = draw(rng, 100).tables
        assert table.n == 100
        np.add.at(found, tuple(table.cells.T), table.counts / (100 * n))
    error = np.sqrt(confusion.var(axis=-1) + expected * (1 - expected) / 100) / np.sqrt(n)
    assert (np.abs(found - expected) < 5 * error).all()
