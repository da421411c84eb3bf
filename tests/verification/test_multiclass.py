"""Many classes paired and many models ranked: worlds, claims and planted bugs."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.decision.ranks import rank_probabilities
from outperform.posterior.base import build_posterior
from outperform.posterior.dirichlet import SparseWeights, sparse_unit, unit
from outperform.posterior.registry import get_prior
from verification import multiclass, programme
from verification.calibration import Setting, calibrate
from verification.claims import joint_claims, judge_claims, rank_claims
from verification.multiclass import FOUR_MODELS, PLANTS, TEN, THREE
from verification.posteriors import sample
from verification.quantities import of_sums, of_tables
from verification.worlds import as_outcomes, diagonal_rows, draw_counts, product

# One false alarm in a thousand for each configuration.
LEVEL = 1e-3


@pytest.mark.parametrize("world", [TEN, FOUR_MODELS], ids=lambda world: world.name)
def test_sticks_are_what_the_package_takes_by_itself(world):
    counts = draw_counts(world.draw_truth(np.random.default_rng(1)), 20, np.random.default_rng(2))
    outcomes = as_outcomes(counts)
    posterior = build_posterior(outcomes, get_prior("unit"))
    assert isinstance(posterior, SparseWeights)
    assert type(unit(outcomes)) is type(sparse_unit(outcomes))


def test_a_product_of_four_rows_leaves_each_model_its_own():
    rows = [diagonal_rows(3, right) for right in (0.5, 0.7, 0.2, 0.9)]
    joint = product(rows, np.ones(3))
    assert joint.shape == (3,) * 5
    for model, own in enumerate(rows):
        others = tuple(1 + other for other in range(4) if other != model)
        assert joint.sum(axis=others) == pytest.approx(own)


@pytest.mark.parametrize("world", [TEN, FOUR_MODELS], ids=lambda world: world.name)
def test_joint_cells_and_sums_agree_in_the_mean(world):
    generator = np.random.default_rng(3)
    counts = draw_counts(world.draw_truth(generator), 50, generator)
    drawn = sample(world, counts, generator, 2_000)
    (table,) = drawn.tables
    assert table.sum(axis=tuple(range(table.ndim - 1))) == pytest.approx(np.ones(2_000))
    for model, sums in enumerate(drawn.sums):
        others = tuple(1 + other for other in range(world.n_models) if other != model)
        right = np.einsum("jjn->n", table.sum(axis=others))
        accuracy = sums.hits.sum(axis=0) / sums.actual.sum(axis=0)
        error = np.hypot(right.std(), accuracy.std()) / np.sqrt(2_000)
        assert abs(right.mean() - accuracy.mean()) < 4 * error


def test_where_a_model_stands_is_counted_draw_by_draw():
    generator = np.random.default_rng(4)
    counts = draw_counts(FOUR_MODELS.draw_truth(generator), 50, generator)
    drawn = sample(FOUR_MODELS, counts, generator, 500)
    found = of_sums(drawn.sums)
    values = np.stack([found[f"f1_macro {name}"] for name in "ABCD"])
    assert found["f1_macro best"].tolist() == values.max(axis=0).tolist()
    shares = np.bincount(found["f1_macro rank of A"].astype(int), minlength=5)[1:] / 500
    assert shares == pytest.approx(rank_probabilities(values)[0])
    assert len(of_tables(drawn)) == 2 + 16 + 2


def test_claims_of_ranks_are_held_against_the_truth():
    # The truth in the first column: A 0.3, B 0.2, C 0.1; A leads with two of four draws.
    values = np.array([[[0.3, 0.9, 0.9, 0.1, 0.5], [0.2, 0.8, 0.8, 0.8, 0.5], [0.1] + [0.0] * 4]])
    found = rank_claims(values, rank_probabilities)
    assert found["P(rank 1 of A)"].ravel().tolist() == [0.625, 1.0]
    assert found["P(best) of the leader"].ravel().tolist() == [0.375, 0.0]  # B by its mean


def test_shared_weights_move_to_the_side_that_the_data_suggest():
    generator = np.random.default_rng(5)
    table = np.zeros((2, 2, 2), dtype=np.int64)
    table[0, 0, 0] = table[1, 1, 1] = 40  # right together, wrong together
    table[0, 1, 1] = table[1, 0, 0] = 10
    common = 0.8 + 0.05 * generator.normal(size=(1, 1, 1_001))
    together = np.concatenate([common, common], axis=1)
    apart = 0.8 + 0.05 * generator.normal(size=(1, 2, 1_001))
    claimed = [
        joint_claims(one, [(table,)])["P(A and B off as seen)"][0, 0] for one in (together, apart)
    ]
    assert claimed[0] == 1
    assert claimed[1] == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize(
    "world",
    [THREE, pytest.param(FOUR_MODELS, marks=pytest.mark.slow)],
    ids=lambda world: world.name,
)
def test_the_truth_ranks_anywhere_among_the_draws(world):
    found = calibrate(Setting(world=world, n=50, simulations=250, seed=2_016, joint=True))
    assert found.adjusted > LEVEL
    assert ("P(A and B off as seen)", "level") in found.p_values


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(plant, marks=pytest.mark.slow) if index else plant
        for index, plant in enumerate(
            plant
            for plant in PLANTS
            if plant.world is FOUR_MODELS and "independent" not in plant.name
        )
    ],
    ids=lambda plant: plant.name,
)
def test_a_planted_bug_is_found(plant):
    assert plant.calibrate(simulations=100, seed=2_016).adjusted < LEVEL


def test_claims_that_are_kept_are_not_rejected():
    generator = np.random.default_rng(6)
    claimed = generator.random(2_000)
    assert min(judge_claims(claimed, generator.random(2_000) < claimed).values()) > LEVEL


def test_every_world_has_its_bugs():
    assert {plant.world for plant in PLANTS} == set(multiclass.WORLDS)
    assert "multiclass" in programme.PARTS
    settings = multiclass.settings(10)
    assert len({setting.seed for setting in settings}) == len(settings)
