"""The study of training runs: its worlds, its counts and its gate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from verification import runs

SMALL = runs.World(metric="f1", n=200, share=0.5, n_runs=3)


def said(called, covered, n=400):
    generator = np.random.default_rng(1)
    return [
        {
            way: runs.Said(
                covered=bool(generator.random() < covered),
                called=bool(generator.random() < called),
                width=0.1,
            )
            for way in runs.WAYS
        }
        for _ in range(n)
    ]


def test_enough_worlds_of_every_kind():
    assert len(set(runs.WORLDS)) == len(runs.WORLDS) >= 12
    asked = [one for one in runs.WORLDS if one.n_runs == 5 and one.share >= 0.5 and not one.apart]
    assert {one.metric for one in asked} == {"accuracy", "f1", "f1_macro"}
    assert {one.n for one in asked} == {500, 2_000}


def test_runs_make_up_their_share_of_the_variance():
    world = runs.World(metric="accuracy", n=200, share=0.5)
    generator = np.random.default_rng(5)
    seen = [
        np.mean([np.mean(one == truth) for one in a])
        - np.mean([np.mean(one == truth) for one in b])
        for truth, a, b in (runs.sample(world, generator) for _ in range(500))
    ]
    of_runs = sum(sd**2 for sd in runs.spreads(world)) / world.n_runs
    # Two variances, each known to 1 / √250 and 1 / √200.
    assert of_runs / np.var(seen) == pytest.approx(0.5, abs=0.15)


def test_the_truth_is_the_mean_over_all_runs(monkeypatch):
    # True however well the spread of the runs is known; the worlds are those of this test only.
    monkeypatch.setattr(runs, "_PILOTS", 30)
    assert runs.truth_of(replace(SMALL, n=190)) == pytest.approx(0, abs=1e-12)
    apart = runs.World(metric="accuracy", n=190, share=0.5, apart=0.03)
    assert runs.truth_of(apart) == pytest.approx(0.03, abs=1e-9)
    wider = runs.World(metric="f1", n=190, share=0.8, wider=5.0)
    assert runs.spreads(wider).a == pytest.approx(5 * runs.spreads(wider).b)


def test_repetitions_do_not_depend_on_chunks():
    whole = runs.repeat(SMALL, 0, 6)
    assert runs.repeat(SMALL, 0, 3) + runs.repeat(SMALL, 3, 6) == whole
    found = runs.summarise(SMALL, whole)
    assert found.repetitions == 6
    assert found.width["runs"] > found.width["pooled"]
    assert "equal, 3 runs" in runs.table([found])


@pytest.mark.parametrize(
    ("called", "covered", "wrong"),
    [(0.03, 0.96, 0), (0.15, 0.96, 1), (0.03, 0.8, 1), (0.2, 0.8, 2)],
)
def test_the_gate(called, covered, wrong):
    assert len(runs.failures([runs.summarise(SMALL, said(called, covered))])) == wrong
