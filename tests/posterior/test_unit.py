"""Model unit: the sparse road and the full Dirichlet are one distribution."""

from __future__ import annotations

import numpy as np
import pytest

from outperform import Outcomes, Prior, metrics
from outperform.data.views import count_of, emptied
from outperform.errors import ResourceError
from outperform.posterior.base import product_rows
from outperform.posterior.dirichlet import (
    DenseRows,
    SparseWeights,
    dense_counts,
    flat,
    sparse_unit,
    unit,
    unit_rows,
)
from tests.lazily import lazily

beta = lazily("scipy.stats.beta")

N_DRAWS = 40_000


def full(seen):
    """Return the unit posterior with every cell drawn."""
    rows = product_rows(unit_rows(seen.n_classes), len(seen.models))
    return DenseRows(dense_counts(seen), rows=rows, prevalence=np.ones(seen.n_classes))


def metric_values(drawn, name):
    metric = metrics.get(name)
    return [
        metric.evaluate(metrics.Margins(hits=one[0], actual=one[1], predicted=one[2]))
        for one in drawn
    ]


def test_few_cells_are_drawn_densely_and_many_sparsely(binary):
    assert isinstance(unit(binary), DenseRows)
    assert isinstance(unit(binary.select(["a"])), DenseRows)
    labels = list(range(12))
    assert isinstance(unit(Outcomes.from_labels(labels, {"a": labels})), SparseWeights)


@pytest.mark.parametrize("name", ["f1_macro", "accuracy", "precision_macro", "matthews_corrcoef"])
def test_the_sparse_road_equals_the_full_dirichlet(ternary, name, margins, same):
    dense = metric_values(margins(full(ternary), N_DRAWS, seed=1), name)
    sparse = metric_values(margins(sparse_unit(ternary), N_DRAWS, seed=2), name)
    for left, right in zip(dense, sparse, strict=True):
        same(left, right)
        levels = [0.025, 0.25, 0.5, 0.75, 0.975]
        ranks = np.searchsorted(np.sort(left), np.quantile(right, levels)) / N_DRAWS
        error = np.sqrt(2 * np.array(levels) * (1 - np.array(levels)) / N_DRAWS)
        assert (np.abs(ranks - levels) < 4.5 * error).all()
    same(dense[0] - dense[1], sparse[0] - sparse[1])


@pytest.mark.parametrize("paired", [True, False])
def test_every_cell_has_the_mean_and_sd_of_its_dirichlet(ternary, paired, confusions, moments):
    views = [ternary] if paired else [ternary.select(["a"]), ternary.select(["b"])]
    for seen in views:
        drawn = confusions(sparse_unit(seen), N_DRAWS)
        total = seen.n + 3.0
        for model, name in enumerate(seen.models):
            shapes = seen.confusion(name) + unit_rows(3)
            for truth, predicted in np.ndindex(3, 3):
                share = shapes[truth, predicted] / total
                sd = np.sqrt(share * (1 - share) / (total + 1))
                moments(drawn[model, truth, predicted], share, sd)


def test_before_any_data_the_prior_is_drawn(margins, follows):
    labels = list(range(6))
    empty = emptied(Outcomes.from_labels(labels, {"a": labels, "b": labels}))
    hits, actual, _ = margins(sparse_unit(empty), 20_000)[0]
    follows(hits.sum(axis=0), beta(3, 3).cdf)  # accuracy: M·η against M·(1 − η)
    follows(actual[2], beta(1, 5).cdf)
    follows(hits[2] / actual[2], beta(0.5, 0.5).cdf)


def test_the_pairs_of_the_prior_are_independent(confusions, margins, moments):
    labels = list(range(3))
    empty = emptied(Outcomes.from_labels(labels, {"a": labels, "b": labels}))
    hits = margins(sparse_unit(empty), N_DRAWS)[:, 0].sum(axis=1)
    # Both right, one right, none right: 3·(¼, ¼, ¼, ¼); A − B has variance 2·¼/(3 + 1).
    moments(hits[0] - hits[1], 0.0, np.sqrt(0.5 / 4))


def test_two_classes_are_jeffreys_rows_and_a_uniform_prevalence(binary):
    jeffreys = Prior(rows=np.full((2, 2), 0.5), prevalence=1.0)
    for seen in (binary, binary.select(["a"])):
        left, right = unit(seen), flat(seen, jeffreys)
        assert np.allclose(left.shapes, right.shapes)
        assert np.allclose(left.prevalence, right.prevalence)
        assert left.one_dirichlet


def test_two_classes_agree_on_both_roads(binary, margins, same):
    dense = metric_values(margins(unit(binary), N_DRAWS, seed=3), "f1_macro")
    sparse = metric_values(margins(sparse_unit(binary), N_DRAWS, seed=4), "f1_macro")
    same(dense[0] - dense[1], sparse[0] - sparse[1])


def test_shapes_of_parts_are_those_of_the_dense_model(ternary):
    sparse, dense = sparse_unit(ternary), full(ternary)
    for model in (0, 1):
        for part in ("correct", "wrong"):
            assert np.isclose(
                sparse.part_shape(model, part, None), dense.part_shape(model, part, None)
            )
        for positive in range(3):
            assert np.allclose(
                sparse.row_shapes(model, positive), dense.row_shapes(model, positive)
            )
            for part in ("tp", "fn", "fp", "tn"):
                left = sparse.part_shape(model, part, positive)
                assert np.isclose(left, dense.part_shape(model, part, positive))
    for truth in (None, 0, 1, 2):
        assert np.allclose(sparse.agreement_shapes(truth), dense.agreement_shapes(truth))


def test_three_models_are_read_off_the_same_weights(confusions, moments):
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 6, 200)
    guesses = {
        name: np.where(rng.random(200) < 0.7, truth, rng.integers(0, 6, 200)) for name in "abc"
    }
    seen = Outcomes.from_labels(truth, guesses)
    drawn = confusions(unit(seen), 20_000)
    assert drawn.shape[0] == 3
    for model, name in enumerate(seen.models):
        right = np.einsum("iin->n", drawn[model])
        follow = count_of(seen, name, "correct") + 3.0
        moments(right, follow / 206, np.sqrt(follow / 206 * (1 - follow / 206) / 207))
    prevalence = drawn.sum(axis=2)
    assert np.allclose(prevalence[0], prevalence[1])
    assert np.allclose(prevalence[0], prevalence[2])


def test_a_function_of_the_whole_confusion_needs_few_classes():
    labels = list(range(200))
    posterior = unit(Outcomes.from_labels(labels, {"a": labels}))
    with pytest.raises(ResourceError, match="40,000 cells"):
        posterior.worker("confusion")
    posterior.worker("margins")
