"""The study of P(best) over suites: its worlds, its bins and its gate."""

from __future__ import annotations

import numpy as np
import pytest

from verification import suite_best

LAST = suite_best.WORLDS[-1]


def noted(claimed, true, n=400):
    claims = np.array([claimed, 1 - claimed])
    wins = [int(place >= true * n) for place in range(n)]
    return [suite_best.Noted((claims, claims), (win, win)) for win in wins]


def test_worlds_and_repetitions():
    assert {world.n_models for world in suite_best.WORLDS} == {3, 8}
    assert {world.spread for world in suite_best.WORLDS} == {0.0, 0.01, 0.03}
    assert [world.differs(1) for world in suite_best.WORLDS] == [False] * 4 + [True] * 4
    whole = suite_best.repeat(suite_best.WORLDS[4], 0, 2)
    again = suite_best.repeat(suite_best.WORLDS[4], 1, 2)
    np.testing.assert_array_equal(whole[1].claims[0], again[0].claims[0])
    assert [sum(one) for one in whole[0].claims] == pytest.approx([1, 1])
    assert "3 models ± 0.01, skewed" in suite_best.table({suite_best.WORLDS[4]: whole})


@pytest.mark.parametrize(("true", "bold"), [(0.8, 0), (0.65, 2)])
def test_claims_must_not_be_bold(true, bold):
    found = {LAST: noted(0.8, true)}
    assert len([one for one in suite_best.failures(found) if "0.800" in one]) == bold
    assert suite_best.failures({suite_best.WORLDS[0]: noted(0.8, 0.5)}) == []
