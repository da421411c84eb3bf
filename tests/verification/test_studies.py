"""The studies on real data, at a size that only shows that they run."""

from __future__ import annotations

import numpy as np
import pytest

from verification import coverage, decisions, honesty, markdown
from verification.__main__ import main
from verification.plants import PLANTS
from verification.programme import Sizes, sizes_of


def test_a_resampled_test_set_keeps_all_classes():
    world = coverage.the_world()
    seen = coverage.resample(world, 50, np.random.default_rng(0))
    assert seen.n == 50
    assert seen.labels == world.labels


def test_coverage_is_the_share_of_hits():
    def hit(covered):
        return coverage.Hit(what="a − b", n=200, road="unit", covered=covered, width=0.1, off=0.0)

    (row,) = coverage.summarise([hit(True), hit(True), hit(True), hit(False)])
    assert row.covered == 0.75
    assert row.error == np.sqrt(0.75 * 0.25 / 4)
    assert coverage.gate(row) == (0.93, 0.985)


def test_a_study_that_takes_long_has_its_own_number_of_test_sets():
    assert sizes_of("decisions").test_sets == decisions.REPETITIONS < Sizes().test_sets
    assert sizes_of("rank") == sizes_of("plants") == Sizes()


def test_every_case_is_answered_from_draws_and_reports_its_errors():
    for place in range(len(honesty.CASES) - 1):  # the last one is large
        (numbers,) = honesty.run_case(place, range(1))
        assert all(error > 0 for _, error in numbers.values())


def test_reported_errors_are_true_within_what_sixty_seeds_can_tell():
    rows = honesty.judge_case(0, honesty.run_case(0, range(60)))
    # The relative error of a standard deviation of 60 values is 9%; HDI ends may be 25% off.
    assert all(0.8 - 0.36 < row.ratio < 1.25 + 0.36 for row in rows)


def test_a_decision_that_may_lean_either_way_is_flagged():
    edge = honesty.leaning_edges()[0]
    flips = honesty.count_flips(edge, 25)
    assert set(flips.decisions) == {"?", "~"}
    assert flips.flagged == 25
    assert flips.unflagged_flips == 0


def test_the_command_writes_its_tables_and_fails_if_a_bug_is_missed(tmp_path, capsys):
    few = ["--simulations", "5", "--plant-simulations", "5", "--jobs", "1"]
    assert main(["plants", *few, "--tables", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("plants: FAILED after")
    assert "planted bug '3% too wide' was not found" in said.err
    table = (tmp_path / "plants.md").read_text(encoding="utf-8")
    assert table.startswith("| planted bug | prior | items | simulations |")
    slow = [plant for plant in PLANTS if plant.world.n_classes > 2 and plant.needs > 500]
    assert table.count("\n| ") == 1 + len(PLANTS) - len(slow)
    assert table.endswith(
        f"{len(slow)} bugs need more simulations than were asked for, and were left out.\n"
    )


def test_the_command_names_its_parts(capsys):
    with pytest.raises(SystemExit):
        main(["covrage"])
    assert (
        "calibration, calibration-default, plants, coverage, defaults, map, honesty"
        in capsys.readouterr().err
    )


def test_p_values_are_written_short():
    shown = [markdown.p_value(p) for p in (0.0314, 2.5e-9, 0.0)]
    assert shown == ["0.031", "2.5e-09", "< 1e-99"]
