"""The study of rankings: its worlds, its counts and its gate."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loops import each
from verification import ranks
from verification.chance import share_is_off
from verification.programme import QUICK

SMALL = ranks.World(n_classes=2, n_models=3, right=0.85, step=0.02, n=300, metric="f1")


def hits(covered, left_out, n=400):
    generator = np.random.default_rng(1)
    return [
        ranks.Hits(
            covered=tuple((generator.random(3) < covered).tolist()),
            best_left_out=bool(generator.random() < left_out),
            n_tied=2,
            p_best=0.5,
        )
        for _ in range(n)
    ]


def test_enough_worlds_of_every_kind():
    assert len(ranks.WORLDS) >= 12
    assert len(set(ranks.WORLDS)) == len(ranks.WORLDS)
    assert not any(ranks.is_sparse(world) for world in ranks.WORLDS[:3])


def test_a_population_is_as_good_as_its_world_says():
    values = ranks.true_values(SMALL)
    assert values == pytest.approx([0.85, 0.83, 0.81], abs=0.01)
    assert ranks.population(SMALL).n == ranks.POPULATION
    few = ranks.World(n_classes=2, n_models=3, right=0.85, step=0.02, n=30, metric="f1")
    assert ranks.is_sparse(few)
    assert not ranks.is_sparse(SMALL)


def test_repetitions_do_not_depend_on_chunks():
    whole = ranks.repeat(SMALL, 0, 6)
    assert ranks.repeat(SMALL, 0, 3) + ranks.repeat(SMALL, 3, 6) == whole
    found = ranks.summarise(SMALL, whole)
    assert found.repetitions == 6
    assert len(found.coverage) == 3
    assert "3 models, 2 classes" in ranks.table([found])


@each(
    ("covered", "left_out", "wrong"),
    [(0.95, 0.01, 0), (0.85, 0.01, 1), (1.0, 0.01, 1), (0.95, 0.2, 1), (0.8, 0.3, 2)],
)
def test_the_gate(covered, left_out, wrong):
    found = ranks.summarise(SMALL, hits(covered, left_out))
    assert len(ranks.failures([found])) == wrong


def test_every_pair_of_one_world_is_tabulated():
    found = ranks.summarise(SMALL, hits(0.9, 0.01))
    rows = ranks.pair_table(found).splitlines()
    assert [row.split(" | ")[0] for row in rows[2:5]] == ["| 1 − 2", "| 1 − 3", "| 2 − 3"]
    assert "| 0.04 |" in rows[3]
    assert f"{100 * found.coverage[1]:.1f} ± " in rows[3]


def test_a_quick_run_draws_enough_test_sets_to_notice_a_pair_that_covers_too_little():
    assert share_is_off(0.864, QUICK.pair_test_sets, *ranks.COVERAGE)
    assert not share_is_off(0.864, QUICK.test_sets, *ranks.COVERAGE)
