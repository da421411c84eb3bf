"""The study of pairs of a ranking: its worlds, its rows and its gates."""

from __future__ import annotations

import numpy as np
import pytest

from tests.loops import each
from verification import ranked_pairs
from verification.ranked_pairs import Noted, Pairs

SMALL = ranked_pairs.World(name="two at 0.80, one at 0.90", truth=(0.8, 0.8, 0.9), n=100)
EQUAL = ranked_pairs.World(name="three equal", truth=(0.8, 0.8, 0.8), n=100)


def noted(*, held=0.95, symbols=("?", "≪", "≪"), n=400, **more):
    """Return test sets whose three pairs hold in this share and are all decided alike."""
    generator = np.random.default_rng(1)
    known = {
        "p_best": 0.15,
        "leads": True,
        "best_left_out": False,
        "n_tied": 1,
        "false_worse": False,
        "false_out": False,
        "same": 0,
        "compared": 0,
    }
    found = []
    for _ in range(n):
        pairs = Pairs(generator.random(3) < held, np.zeros(3), symbols)
        found.append(Noted(pairs=(pairs, pairs), **(known | more)))
    return found


def test_the_worlds_are_those_that_pooling_does_not_suppose():
    assert len({world.name for world in ranked_pairs.WORLDS}) == len(ranked_pairs.WORLDS) == 5
    for world in ranked_pairs.WORLDS:
        assert world.truth == tuple(sorted(world.truth))
    assert [world.equal for world in ranked_pairs.WORLDS] == [False] * 4 + [True]
    assert ranked_pairs.WORLDS[3].truth[-1] == 0.814


def test_repetitions_do_not_depend_on_chunks_and_agree_with_compare():
    whole = ranked_pairs.repeat(SMALL, 0, 3)
    parts = ranked_pairs.repeat(SMALL, 0, 1) + ranked_pairs.repeat(SMALL, 1, 3)
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one.pairs[0].mean, two.pairs[0].mean)
        assert one[1:] == two[1:]
    assert [one.compared for one in whole] == [2, 0, 0]
    assert whole[0].same == 2
    assert "two at 0.80, one at 0.90 | 100 | -0.100" in ranked_pairs.table({SMALL: whole})
    assert "| 2 of 2 |" in ranked_pairs.leader_table({SMALL: whole})


def test_pairs_that_are_equally_far_apart_make_a_row():
    rows = list(ranked_pairs.rows(SMALL, noted(held=1.0)))
    assert [row.difference for row in rows] == [-0.1, 0.0]
    assert rows[0].symbols["≪"][0] == (1.0, 0.0)
    assert rows[0].false == {"≈": 0.0, "≫": 0.0}
    assert rows[1].false == {"≪": 0.0, "≫": 0.0}


@each(
    ("more", "wrong"),
    [
        ({}, 0),
        ({"held": 0.85}, 2),
        ({"held": 1.0}, 2),
        ({"symbols": ("≪", "≪", "≪")}, 1),
        ({"symbols": ("≫", "≪", "≪")}, 1),
        ({"symbols": ("≈", "≪", "≪")}, 0),
        ({"symbols": ("?", "≈", "≪")}, 1),
        ({"p_best": 0.9, "leads": False}, 1),
        ({"best_left_out": True}, 1),
        ({"same": 1, "compared": 2}, 1),
    ],
)
def test_the_gates(more, wrong):
    assert len(ranked_pairs.failures({SMALL: noted(**more)})) == wrong


@pytest.mark.parametrize(("p_best", "wrong"), [(0.19, 0), (0.25, 1)])
def test_no_leader_of_equal_models_is_claimed_boldly(p_best, wrong):
    some = noted(symbols=("?",) * 3, n=200, p_best=p_best - 0.01)
    some += noted(symbols=("?",) * 3, n=200, p_best=p_best + 0.01)
    assert len(ranked_pairs.failures({EQUAL: some})) == wrong
