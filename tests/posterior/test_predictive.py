"""Items drawn from the posterior: their mean and their spread are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.posterior.base import Prior, build_posterior
from outperform.posterior.predictive import certain, predictive
from outperform.posterior.registry import get_prior

SEEN = op.Outcomes.from_counts(
    [1, 1, 1, 0, 0, 0], {"a": [1, 1, 0, 0, 0, 1], "b": [1, 0, 1, 0, 1, 0]}, [40, 6, 4, 80, 3, 7]
)


def posterior_of(outcomes, prior):
    return build_posterior(outcomes, get_prior(prior))


def predicted(outcomes, prior, size, times=4_000, seed=0):
    draw = predictive(outcomes, posterior_of(outcomes, prior))
    generator = np.random.default_rng(seed)
    return [draw(generator, size) for _ in range(times)]


def spread(size, share, total):
    """Return the variance of a beta-binomial count; of 2,000 its own error is below 4%."""
    return size * share * (1 - share) * (size + total) / (1 + total)


def test_one_dirichlet_gives_the_mean_and_variance_of_a_dirichlet_multinomial():
    # One Dirichlet over the eight cells, as rows of shape 1/2 and a prevalence of shape 2 make it.
    prior = Prior(rows=0.5, prevalence=2.0)
    size, shapes = 60, np.array([40, 6, 4]) + 0.5
    total = SEEN.n + 8 * 0.5
    drawn = predicted(SEEN, prior, size)
    found = np.array([[one.agreement(1)[part] for part in (0, 1, 2)] for one in drawn])
    share = shapes / total
    mean = size * share
    variance = size * share * (1 - share) * (size + total) / (1 + total)
    errors = np.sqrt(variance / len(drawn))
    assert np.all(np.abs(found.mean(axis=0) - mean) < 4 * errors)
    # The variance of a variance is below 4 σ⁴/n for counts as far from normal as these.
    assert np.allclose(found.var(axis=0), variance, rtol=4 * np.sqrt(4 / len(drawn)))


def test_a_prevalence_of_its_own_is_drawn_too():
    drawn = predicted(SEEN, Prior(rows=1.0, prevalence=[3.0, 5.0]), 50)
    positive = np.array([sum(one.agreement(1)) for one in drawn])
    a, b = 50 + 5.0, 90 + 3.0
    mean, total = 50 * a / (a + b), a + b
    variance = mean * (b / total) * (50 + total) / (1 + total)
    assert abs(positive.mean() - mean) < 4 * np.sqrt(variance / len(drawn))
    assert positive.var() == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("prior", ["unit", "hierarchical"])
def test_sticks_fall_where_the_prior_puts_them(prior):
    truth = np.repeat(["a", "b", "c", "d", "e", "f"], 3)
    same = {"m": truth, "k": np.roll(truth, 1)}
    seen = op.Outcomes.from_labels(truth, same)
    drawn = predicted(seen, prior, 40, times=2_000)
    if prior == "unit":
        # Of mass 3 seen and 1 prior a class, a quarter of the prior has both right.
        right = np.array([one.agreement()[0] for one in drawn])
        mean = 40 * (seen.agreement()[0] + 6 / 4) / (18 + 6)
        assert abs(right.mean() - mean) < 4 * right.std() / np.sqrt(len(drawn))
        assert right.var() == pytest.approx(spread(40, mean / 40, 18 + 6), rel=0.15)
    cells = {tuple(cell) for one in drawn for cell in one.tables[0].cells.tolist()}
    assert len(cells) > len(seen.tables[0].cells)  # what never occurred may occur
    assert all(one.n == 40 for one in drawn)


def test_the_bootstrap_knows_only_what_occurred():
    drawn = predicted(SEEN, "bootstrap", 70, times=2_000)
    known = {tuple(cell) for cell in SEEN.tables[0].cells.tolist()}
    assert {tuple(cell) for one in drawn for cell in one.tables[0].cells.tolist()} <= known
    both = np.array([one.agreement(1)[0] for one in drawn])
    assert abs(both.mean() - 70 * 40 / 140) < 4 * both.std() / np.sqrt(len(drawn))
    assert both.var() == pytest.approx(spread(70, 40 / 140, 140), rel=0.15)


def test_groups_are_drawn_whole():
    truth, groups = np.tile([1, 0, 1, 1], 30), np.repeat(np.arange(30), 4)
    seen = op.Outcomes.from_labels(truth, {"a": truth, "b": np.ones_like(truth)}, groups=groups)
    (drawn, *_) = predicted(seen, "bootstrap", 200, times=1)
    assert drawn.groups is not None
    assert drawn.groups.n == 50
    assert drawn.n == 200


def test_whole_groups_vary_as_groups_do():
    truth, groups = np.ones(120, dtype=int), np.repeat(np.arange(30), 4)
    half = np.repeat([0, 1], 60)  # right in all items of half of the groups
    seen = op.Outcomes.from_labels(truth, {"a": half, "b": truth}, groups=groups, labels=[0, 1])
    drawn = predicted(seen, "bootstrap", 200, times=2_000)
    right = np.array([one.agreement(1)[0] / 4 for one in drawn])
    assert right.var() == pytest.approx(spread(50, 0.5, 30), rel=0.15)


def test_tables_of_their_own_keep_their_proportions():
    seen = op.Outcomes.from_confusion({"a": [[50, 10], [5, 35]], "b": [[25, 5], [5, 15]]})
    (drawn, *_) = predicted(seen, "learned", 400, times=1)
    assert [table.n for table in drawn.tables] == [400, 200]


def test_a_certain_world_has_no_spread_but_that_of_the_sample():
    shares = np.full(len(SEEN.tables[0].cells), 1 / 6)
    draw, generator = certain(SEEN, shares), np.random.default_rng(1)
    both = np.array([draw(generator, 90).agreement(1)[0] for _ in range(3_000)])
    assert abs(both.mean() - 15) < 4 * np.sqrt(90 * 5 / 36 / 3_000)
    assert both.var() == pytest.approx(90 * 5 / 36, rel=0.15)


def test_labels_taken_apart_are_not_drawn():
    seen = op.Outcomes.from_label_sets([{1, 2}, {1}], {"m": [{1, 2}, {1, 2}], "k": [{1}, {1}]})
    with pytest.raises(UsageError, match="as one unit; omit prior"):
        predictive(seen, posterior_of(seen, "unit"))
    assert predicted(seen, "bootstrap", 30, times=1)[0].n == 30
