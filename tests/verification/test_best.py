"""The study of P(best): its test sets, its bins and its gate."""

from __future__ import annotations

import numpy as np
import pytest

from verification import best

SMALL = best.World(n_models=4, n=100, spread=0.02)


def noted(claimed, true, n=400):
    """Return rankings of two models whose leader is claimed and true with these shares."""
    claims = np.array([claimed, 1 - claimed])
    wins = np.arange(n) < true * n
    said = best.Said(claims, 0, 0.82)
    return [
        best.Noted((said, said), np.array([0.81, 0.80] if win else [0.79, 0.80])) for win in wins
    ]


def test_ten_worlds_that_must_hold():
    gated = [world for world in best.WORLDS if world.gated]
    assert len(set(gated)) == 10
    assert {world.spread for world in gated} == {0.0, 0.005, 0.02, 0.05}
    assert {world.n for world in gated} == {400, 5_000}
    assert min(world.n_models for world in gated) == 2
    assert max(world.n_models for world in gated) == 50


def test_repetitions_do_not_depend_on_chunks():
    whole = best.repeat(SMALL, 0, 3)
    parts = best.repeat(SMALL, 0, 1) + best.repeat(SMALL, 1, 3)
    for one, two in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one.truth, two.truth)
        for a, b in zip(one.said, two.said, strict=True):
            np.testing.assert_array_equal(a.claims, b.claims)
    assert all(sum(said.claims) == pytest.approx(1) for one in whole for said in one.said)
    assert "| 4 | 100 | 0.02 |" in best.table({SMALL: whole})


@pytest.mark.parametrize(("true", "bold"), [(0.8, 0), (0.9, 0), (0.65, 1)])
def test_claims_may_be_modest_but_not_bold(true, bold):
    found = {SMALL: noted(0.8, true)}
    bins = best.reliability(found, 1)
    assert (bins[2].claimed, bins[2].true) == pytest.approx((0.8, true))
    assert bins[2].error == pytest.approx(np.sqrt(0.8 * 0.2 / 400))
    # Claims of the other model are as far off, to the other side.
    failures = [one for one in best.failures(found) if "0.800" in one]
    assert len(failures) == bold


def test_how_much_too_high_is_the_leader_and_what_is_stored(tmp_path):
    found = {SMALL: noted(0.8, 1.0), best.WORLDS[-1]: noted(0.8, 0.0)}
    assert best._too_high(found[SMALL], 0)[0] == pytest.approx(0.01)
    assert len(best.reliability(found, 0)) == len(best.BINS)
    assert best.reliability(found, 0)[2].n == 400  # the world that is not gated is left out
    (tmp_path / "best.json").write_text(best.stored(found), encoding="utf-8")
    assert '"pooled"' in (tmp_path / "best.json").read_text("utf-8")
