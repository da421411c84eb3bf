"""The study of blocked cross-validation, on a few runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from verification import blocked, blocked_tables
from verification.__main__ import main

TREE = blocked.World(learner="tree of depth 4")


@pytest.fixture(scope="module")
def lines() -> list[blocked.Run]:
    """Runs of logistic regression."""
    return blocked.repeat(blocked.EXAMPLE, 0, 20)


@pytest.fixture(scope="module")
def trees() -> list[blocked.Run]:
    return blocked.repeat(TREE, 0, 40)


@pytest.fixture(scope="module")
def few(lines) -> dict[blocked.World, blocked.Row]:
    worlds = (*blocked.MAIN, blocked.DRAWN, *blocked.LIMITS)
    return {world: blocked.summarise(world, lines, (0.635, 0.635)) for world in worlds}


@pytest.mark.parametrize(("prevalence", "positives"), [(0.5, 300), (0.1, 60)])
def test_the_number_of_positives_is_fixed_and_every_feature_is_shifted(prevalence, positives):
    world = replace(TREE, prevalence=prevalence)
    x, y = world.items(600, np.random.default_rng(0))
    assert y.sum() == positives
    shift = x[y == 1].mean(axis=0) - x[y == 0].mean(axis=0)
    expected = {0.5: 0.5, 0.1: 1.4}[prevalence]
    assert np.abs(shift - expected).max() < 4 * np.sqrt(1 / positives + 1 / (600 - positives))


def test_the_number_of_positives_can_be_drawn():
    world = replace(TREE, drawn=True)
    totals = [world.items(600, np.random.default_rng(seed))[1].sum() for seed in range(5)]
    assert len(set(totals)) > 1


def test_a_run_does_not_depend_on_the_chunk_that_it_is_in():
    together = blocked.repeat(TREE, 0, 4)
    assert together == blocked.repeat(TREE, 0, 1) + blocked.repeat(TREE, 1, 4)
    assert together[0] != together[1]


def test_all_learners_meet_the_same_items():
    answers = [
        blocked.cross_validate(blocked.World(learner=learner), 3).details.outcomes[0].n
        for learner in ("logistic regression", "naive Bayes")
    ]
    assert answers == [300, 300]
    streams = {blocked.World(learner=learner).stream for learner in blocked.LEARNERS}
    assert len(streams) == 1


def test_the_unpaired_road_is_bcv_compare_on_the_counts_of_the_folds():
    result = blocked.cross_validate(TREE, 0)
    a, b = (blocked.fold_counts(result, name) for name in result.names)
    again = op.compare_cv_counts(a, b, random_state=0)
    assert again.hdi == result.details.unpaired.hdi
    assert again.decision == result.details.unpaired.decision
    assert again.p_h1 == result.details.unpaired.p_h1
    flags = [[finding.name for finding in one.findings] for one in (again, result.details.unpaired)]
    assert [blocked.UNSTABLE in names for names in flags] == [True, True]


def test_the_guard_takes_back_every_call_of_an_unstable_run_and_no_other(trees):
    pairs = [(one.unstable, *call) for one in trees for call in one.called.values()]
    assert any(before for _, before, _ in pairs)
    assert all(after == (before and not unstable) for unstable, before, after in pairs)


def test_another_rope_is_judged_as_the_result_would_judge_it():
    for repetition in range(5):
        noted = blocked.run(TREE, repetition).called
        asked = blocked.cross_validate(TREE, repetition).with_rope(0.0)
        for road, one in zip(blocked.ROADS, (asked.details.unpaired, asked), strict=True):
            assert noted[road, 0.0][1] == (one.decision.symbol in "≫≪")


def test_trees_are_noticed_and_logistic_regression_is_not(trees, lines):
    assert np.mean([one.unstable for one in trees]) > 0.8
    assert np.mean([one.unstable for one in lines]) < 0.2


def test_the_truth_is_a_little_below_the_best_rule():
    # The best rule splits the classes halfway: its precision and recall are Φ(0.5 / √2).
    found = blocked.true_f1(blocked.EXAMPLE, "logistic regression", 100)
    assert 0.62 < found < 0.638


def test_two_models_of_one_run_are_no_two_runs():
    found = blocked.share(np.mean([[1, 1], [1, 1], [0, 0], [1, 1]], axis=1))
    assert found.value == 0.75
    assert found.error == pytest.approx(np.sqrt(0.75 * 0.25 / 4))


def test_a_summary_counts_intervals_that_hold_the_truth(few):
    row = few[blocked.EXAMPLE]
    assert row.runs == 20
    assert 0.8 < row.covered["averaged"].value <= row.covered["full"].value
    averaged, full = (row.length[one].value for one in ("averaged", "full"))
    assert 0.084 < averaged < 0.087 < 0.12 < full < 0.13
    far = blocked.summarise(blocked.EXAMPLE, blocked.repeat(blocked.EXAMPLE, 0, 2), (0.1, 0.1))
    assert far.covered["full"].value == 0.0


def test_what_did_not_hold_is_named(few):
    assert [text.split(" is ")[0] for text in blocked_tables.failures(few)] == [
        "noticed: tree of depth 4, prevalence 0.5",
        "noticed: tree of depth 4, prevalence 0.1",
    ]
    row = few[blocked.EXAMPLE]
    often = blocked.Share(value=0.5, error=0.0)
    bad = replace(row, called=dict.fromkeys(row.called, (often, often)))
    found = blocked_tables.failures({**few, blocked.EXAMPLE: bad})
    assert found[0] == (
        "false calls, unpaired: logistic regression, prevalence 0.5 is 0.5000, "
        "not within 0 to 0.075"
    )


def test_the_command_writes_its_tables(tmp_path, capsys):
    few = ["--runs", "1", "--training-sets", "1", "--jobs", "1", "--tables", str(tmp_path)]
    main(["blocked", *few])
    assert capsys.readouterr().out.startswith("blocked: ")
    sizes = {
        path.name: sum(line.startswith("| ") for line in path.read_text("utf-8").splitlines()) - 2
        for path in tmp_path.iterdir()
    }
    assert sizes == {
        "blocked_example.md": 4,
        "blocked_learners.md": 6,
        "blocked_decisions.md": 12,
        "blocked_limits.md": len(blocked.LIMITS),
    }
