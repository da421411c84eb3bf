"""Batches of scores: looks as of a comparison of all rows, files that come back as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform._files import parse, signed
from outperform.data.serialization import scores_from_dict, scores_to_json
from outperform.errors import DataError, UsageError
from outperform.posterior.rng import child, seed_sequence
from tests.loops import each

RANDOM = np.random.default_rng(90)
TRUTH = RANDOM.integers(2, size=90)
NEW, OLD = TRUTH + RANDOM.normal(size=90), TRUTH + 2 * RANDOM.normal(size=90)
PARTS = [slice(0, 30), slice(30, 60), slice(60, 90)]
KINDS = {
    "classes": op.Scores.from_arrays(TRUTH, {"new": NEW, "old": OLD}),
    "probabilities": op.Scores.from_arrays(
        RANDOM.integers(3, size=9),
        {one: RANDOM.dirichlet([1, 1, 1], size=9) for one in ("new", "old")},
    ),
    "grades": op.Scores.from_values({"new": NEW, "old": OLD}, ids=[f"q{i}" for i in range(90)]),
    "weighted": op.Scores.from_values(
        {"new": NEW, "old": OLD}, sample_weight=RANDOM.random(90) + 0.1
    ),
    "targets": op.Scores.from_targets(NEW, {"new": NEW + 1, "old": OLD}),
    "statistics": op.Scores.from_statistics(
        {"new": {"wrong": [1, 0], "words": [5, 4]}, "old": {"wrong": [2, 0], "words": [5, 4]}}
    ),
}


def add_all(folder, **asked):
    monitor = op.Monitor(folder, "new", "old", rope=0.02, **asked)
    for place, rows in enumerate(PARTS):
        truth = None if asked["metric"] == "mean" else TRUTH[rows]
        monitor.add(truth, {"new": NEW[rows], "old": OLD[rows]}, key=place)
    return monitor


@pytest.mark.parametrize("metric", ["roc_auc", "mean", "rmse"])
def test_a_look_is_the_comparison_of_all_rows_so_far(tmp_path, metric):
    monitor = add_all(tmp_path, metric=metric, random_state=7, n_draws=2_000)
    for number, look in enumerate(monitor.looks, start=1):
        rows = slice(0, 30 * number)
        truth = None if metric == "mean" else TRUTH[rows]
        alone = op.compare(
            truth, NEW[rows], OLD[rows], metric=metric, rope=0.02, n_draws=2_000,
            random_state=child(seed_sequence(7), number), n_jobs=-1,
        )  # fmt: skip
        assert (look.n, look.mean, look.hdi) == (alone.n, alone.mean, alone.hdi)
    assert op.Monitor(tmp_path, "new", "old", metric=metric, rope=0.02).outcomes.n == 90


@each("kind", KINDS)
def test_every_number_comes_back_as_it_was(kind):
    seen = KINDS[kind]
    again = op.Scores(**scores_from_dict(parse(scores_to_json(seen))))
    for name in ("models", "labels", "columns", "findings", "n"):
        assert getattr(again, name) == getattr(seen, name)
    for name in ("truth", "counts", "weights", "ids"):
        assert np.array_equal(getattr(again, name), getattr(seen, name))
    for one, two in zip(again.values, seen.values, strict=True):
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)


@each(
    ("field", "value"),
    [
        ("values", [[1.0, 2.0]]),
        ("values", [[1.0, "2"], [1.0, 2.0]]),
        ("values", [[[1.0], [2.0, 3.0]], [[1.0], [2.0]]]),
        ("values", [[1.0, 2.0], [1.0]]),
        ("values", [[1.0, None], [1.0, 2.0]]),
        ("values", [[], []]),
        ("models", ["new", "new"]),
        ("models", "new"),
        ("labels", [1, 0]),
        ("truth", [0]),
        ("truth", [0, 7]),
        ("ids", ["a"]),
        ("weights", [1.0, -1.0]),
        ("weights", [1.0]),
        ("counts", [1]),
        ("columns", ["a", "b"]),
        ("schema", 2),
        ("extra", 1),
    ],
)
def test_damaged_scores_are_refused(field, value):
    whole = json.loads(scores_to_json(op.Scores.from_values({"new": [1.0, 2.0], "old": [0.5, 3]})))
    del whole["sha256"]
    with pytest.raises(DataError, match="these scores are damaged"):
        scores_from_dict(signed({**whole, field: value}))


def test_a_changed_digit_is_found(tmp_path):
    add_all(tmp_path, metric="mean")
    file = tmp_path / "1.json"
    file.write_text(file.read_text().replace("1.", "2.", 1))
    with pytest.raises(DataError, match="checksum"):
        _ = op.Monitor(tmp_path, "new", "old", metric="mean", rope=0.02).looks


def test_what_does_not_add_up_is_refused(tmp_path):
    monitor = add_all(tmp_path, metric="mean")
    with pytest.raises(DataError, match="with other outcomes"):
        monitor.add(None, {"new": [1.0], "old": [2.0]}, key=0)
    with pytest.raises(DataError, match="scores and counted labels do not add up"):
        monitor.add(op.Outcomes.from_correct({"new": [1], "old": [0]}), key="labels")
    grouped = op.Scores.from_values({"new": [1, 2], "old": [2, 3]}, groups=[0, 0])
    with pytest.raises(UsageError, match="a group may continue"):
        op.Monitor(tmp_path / "other", "new", "old", metric="mean", rope=1).add(grouped, key=1)
    elsewhere = op.Monitor(tmp_path / "x", "new", "old", metric="mean", rope=1, prevalence=0.1)
    with pytest.raises(UsageError, match="applies to labels, not to scores"):
        elsewhere.add(KINDS["grades"], key=1)


def test_a_copy_under_another_key_is_told(tmp_path):
    monitor = add_all(tmp_path, metric="mean")
    assert "repeated_sources" not in {one.name for one in monitor.findings}
    monitor.add(None, {"new": NEW[PARTS[1]], "old": OLD[PARTS[1]]}, key="again")
    (found,) = [one for one in monitor.findings if one.name == "repeated_sources"]
    assert "1.json and again.json" in found.message


def test_short_batches_of_the_same_grades_are_no_copies(tmp_path):
    monitor = op.Monitor(tmp_path, "new", "old", metric="mean", rope=0.1)
    for key in range(3):
        monitor.add(None, {"new": [5, 4, 5], "old": [4, 4, 4]}, key=key)
    assert monitor.outcomes.n == 9
    assert "repeated_sources" not in {one.name for one in monitor.findings}
