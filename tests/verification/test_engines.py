"""The study of engines: its data, its distances, and what it must reject."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.posterior.pymc.sampling import PyMC
from tests.loops import each
from verification import engine_data, engine_tables, engines
from verification.engine_data import DATA
from verification.engines import CASES, PLANTS, ROADS, Agreement
from verification.programme import PARTS, Sizes

SHORT = PyMC(draws=500, tune=500, progress=False)
BY_NAME = {data.name: data for data in DATA}

# The data


def test_twelve_data_sets_from_20_items_to_a_million():
    assert len(DATA) == len(BY_NAME) == 12
    assert {min(one.n for one in DATA), max(one.n for one in DATA)} == {20, 10**6}
    assert {one.n_classes for one in DATA} == {2, 3, 4, 5, 8, 10}
    for one in DATA:
        assert engine_data.cells_of(one).sum() == one.n


def test_the_odd_ones_are_what_they_are_called():
    def cells(name):
        return engine_data.cells_of(BY_NAME[name])

    assert np.trace(cells("equal"), axis1=1, axis2=2).sum() == 300
    of_a = cells("A perfect").sum(axis=2)
    assert np.trace(of_a) == of_a.sum()
    assert cells("A never says one class").sum(axis=(0, 2))[4] == 0
    assert 0 in cells("classes without documents").sum(axis=(1, 2))
    assert 0 < cells("rare class").sum(axis=(1, 2))[2] < 30


def test_label_sets_hold_the_same_items():
    data = BY_NAME["three classes"]
    cells, seen = engine_data.cells_of(data), engine_data.label_sets_of(data)
    assert seen.n == data.n
    # Label 1 stands for the classes 0 and 1.
    confusion = seen.binarize(1).confusion("A")
    assert confusion[1, 1] == cells[:2, :2].sum()


def test_items_are_those_of_the_counts():
    cells = engine_data.cells_of(BY_NAME["tiny"])
    again = np.zeros_like(cells)
    np.add.at(again, engines.items_of(cells), 1)
    assert (again == cells).all()


def test_every_model_meets_every_data_set_that_it_is_for():
    counted = {road.name: sum(case[1] is road for case in CASES) for road in ROADS}
    assert set(counted.values()) == {12, 5, 4}
    assert counted["learned, unpaired"] == 12
    assert counted["binary, documents"] == 4


# Distances: independent draws stand for a chain here


def ask(seed, n_draws, *, road="uniform, paired", name="tiny"):
    (road,) = (one for one in ROADS if one.name == road)
    data = BY_NAME[name]
    return op.compare(
        engine_data.outcomes_of(data),
        "A",
        "B",
        metric=data.metric,
        rope=data.rope,
        prior=road.prior,
        paired=road.paired,
        n_draws=n_draws,
        random_state=seed,
        n_jobs=1,
    )


@pytest.mark.parametrize("road", ["uniform, paired", "unit, unpaired"])  # draws; a closed form
def test_distances_of_equal_posteriors_have_a_square_of_one(road):
    pytest.importorskip("arviz")
    exact = ask(0, 20_000, road=road)
    assert exact.exact is (road == "unit, unpaired")
    found = []
    for seed in range(1, 61):
        other = ask(seed, 2_000, road=road)
        found.append(list(engines.distances(other.draws.reshape(4, -1), exact).values()))
    squares = np.square(found).mean(axis=0)
    # The mean of 60 squares has a standard error of 0.18, and the exact engine's own error
    # is the same in all of them: a tenth of the variance, shifted by at most three of it.
    assert np.all(squares > 1 - 4 * 0.18)
    assert np.all(squares < 1 + 4 * 0.18 + 0.9)


@pytest.mark.parametrize("broken", ["unit, paired", "uniform, unpaired", "hierarchical, paired"])
def test_another_posterior_is_far_away(broken):
    pytest.importorskip("arviz")
    draws = ask(1, 8_000, road=broken).draws.reshape(4, -1)
    assert max(engines.distances(draws, ask(0, 20_000)).values()) > 10


def test_correlated_draws_are_worth_less():
    pytest.importorskip("arviz")
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(4, 500))
    assert engines.worth(draws) == pytest.approx(2_000, rel=0.25)
    assert engines.worth(np.repeat(draws, 4, axis=1)) == pytest.approx(2_000, rel=0.25)
    assert engines.worth(np.ones((4, 500))) == 2_000


@pytest.mark.parametrize(("share", "n"), [(0.0, 1e5), (1e-4, 1e5), (3e-4, 1e4)])
def test_what_has_never_been_seen_is_not_impossible(share, n):
    assert engines.share_distance(np.zeros((4, 1_000)), share, n) < 3


# What is said


def agreement(**changed):
    good = Agreement(
        data="tiny",
        road="uniform, paired",
        distances={"mean": 1.0, "sd": 3.5},
        rhat=1.001,
        ess=5_000.0,
        divergences=0,
        seconds=10.0,
    )
    return replace(good, **changed)


@each(
    ("changed", "says"),
    [
        ({"distances": {"sd": 5.2}}, "sd is 5.2 errors away"),
        ({"distances": {"sd": float("nan")}}, "sd is nan errors away"),
        ({"rhat": 1.02}, "R-hat is 1.0200"),
        ({"divergences": 2}, "2 draws diverged"),
        ({"ess": 300.0}, "the draws are worth 300"),
    ],
)
def test_every_fault_is_named(changed, says):
    found = [agreement(), agreement(**changed)]
    assert engine_tables.failures(found, {}) == [f"engines, uniform, paired on tiny: {says}"]
    assert f"- uniform, paired on tiny: {says}" in engine_tables.tables(found, {})["engines.md"]


def test_a_missed_plant_is_named():
    planted = {PLANTS[0]: agreement(distances={"sd": 30.0}), PLANTS[1]: agreement()}
    assert engine_tables.failures([], planted) == [
        "engines: the planted bug 'pairs torn apart' was not found"
    ]


def test_the_tables():
    made = engine_tables.tables([agreement()], {PLANTS[0]: agreement(distances={"sd": 30.0})})
    assert (
        "| uniform, paired | 1 | 3.5 | sd | tiny | 1 | 1.0010 | 5,000 | 0 | 10 |"
        in made["engines.md"]
    )
    assert "None of the comparisons failed" in made["engines.md"]
    assert "| tiny | 20 | 2 |" in made["engine_data.md"]
    assert "| another prior | uniform, paired | tiny | 30 | yes |" in made["engine_plants.md"]


def test_without_pymc_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymc", None)  # as if it were not there
    part = PARTS["engines"](Sizes())
    assert part.tables == {}
    assert part.failures == []
    assert 'pip install "outperform[pymc]"' in part.skipped


# The chain itself


@pytest.mark.filterwarnings("ignore")
def test_the_engines_agree_on_a_small_data_set():
    pytest.importorskip("pymc")
    found = engines.agree((BY_NAME["tiny"], ROADS[0]), SHORT)
    assert engine_tables.faults(found) == []
    assert len(found.distances) == 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_broken_chain_is_rejected(plant):
    pytest.importorskip("pymc")
    found = plant.agree(SHORT)
    assert found.farthest > engine_tables.MOST_ERRORS
    assert found.divergences == 0
