"""Importance weights in outcomes: they go with the cells, add up, and never count as items."""

from __future__ import annotations

import json

import numpy as np
import pytest

from outperform import Outcomes, Scores
from outperform._files import signed
from outperform.data.table import read_weights
from outperform.data.views import in_weights, stand_beside
from outperform.errors import DataError, UsageError
from outperform.inference.score_views import arranged
from tests.loops import each

TRUTH = ["x", "x", "y", "y", "z", "x"]
MODELS = {"a": ["x", "y", "y", "y", "z", "x"], "b": ["x", "x", "y", "z", "x", "x"]}
WEIGHTS = [0.5, 2.0, 1.5, 3.25, 0.0, 0.5]


def weighed(rows=slice(None), **options):
    models = {name: column[rows] for name, column in MODELS.items()}
    return Outcomes.from_labels(
        TRUTH[rows], models, sample_weight=WEIGHTS[rows], labels=["x", "y", "z"], **options
    )


@pytest.mark.parametrize("number", [int, float, np.uint8])
def test_whole_numbers_are_importance_too(number):
    weights = [number(weight) for weight in (4, 1, 4, 4, 1, 10)]
    seen = Outcomes.from_labels(TRUTH, MODELS, sample_weight=weights)
    assert (seen.n, seen.weighted, seen.findings) == (6, True, ())
    assert seen.groups.n_even == pytest.approx(24**2 / (3 * 16 + 2 * 1 + 100), rel=1e-14)
    nearly = Outcomes.from_labels(TRUTH, MODELS, sample_weight=[1.000001 * w for w in weights])
    assert nearly.groups.repeats.tolist() == seen.groups.repeats.tolist()


@each(
    ("weights", "words"),
    [
        ([1, -1], "not be negative.*-1 in row 1"),
        ([1, np.inf], "finite; got inf in row 1"),
        ([np.nan, 1], "finite; got nan in row 0"),
        ([0.0, 0], "zero for all rows"),
        ([1], "must have 2 values"),
        (["1", "2"], "numbers"),
        ([True, False], "text or booleans"),
    ],
)
def test_weights_are_checked(weights, words):
    with pytest.raises(DataError, match=f"sample_weight.*{words}"):
        read_weights(weights, 2)


def test_items_are_counted_and_weights_are_kept():
    seen = weighed()
    assert (seen.n, seen.weighted, seen.groups.n) == (5, True, 5)
    assert seen.tables[0].counts.dtype == np.int64
    assert seen.confusion("b").tolist() == [[3, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert in_weights(seen).confusion("b").tolist() == [[3.0, 0, 0], [0, 1.5, 3.25], [0, 0, 0]]
    # Two items of cell (x, x, x) and weight 0.5 are one pattern.
    assert sorted(seen.groups.repeats.tolist()) == [1, 1, 1, 2]
    w = np.array([0.5, 2.0, 1.5, 3.25, 0.5])
    assert seen.groups.n_even == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-14)
    assert repr(seen).endswith("cells=4, weighted=True)")


def test_weighted_outcomes_add_up_and_survive_json():
    whole, parts = weighed(), weighed(slice(0, 3)) + weighed(slice(3, 6))
    assert parts == whole == Outcomes.from_json(whole.to_json())
    assert "weights" in whole.to_dict()["tables"][0]["groups"]
    grouped = weighed(groups=["p", "p", "q", "q", "q", "p"])
    assert Outcomes.from_json(grouped.to_json()) == grouped
    assert (grouped.n, grouped.groups.n) == (5, 2)
    assert repr(grouped).endswith("weighted=True, groups=2)")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda groups: groups["weights"].__setitem__(0, -1.0),
            "a finite positive number",
        ),
        (
            lambda groups: groups["weights"].__setitem__(0, float("nan")),
            "a finite positive number",
        ),
        (lambda groups: groups["repeats"].__setitem__(0, 9), "not match the items"),
        (lambda groups: groups["weights"].pop(), "a pattern, a cell and a count"),
    ],
)
def test_damaged_weights_are_refused(change, words):
    data = json.loads(weighed().to_json())
    change(data["tables"][0]["groups"])
    with pytest.raises(DataError, match=words):
        Outcomes.from_dict(signed(data))


def test_weights_follow_their_cells():
    seen = weighed()
    one = in_weights(seen.binarize("y"))
    assert one.confusion("b").tolist() == [[3.0, 0.0], [3.25, 1.5]]
    alone = seen.select(["a"])
    assert in_weights(alone).confusion("a").tolist() == [[1.0, 2.0, 0], [0, 4.75, 0], [0, 0, 0]]
    assert [t.groups.weighted for t in seen.unpair().tables] == [True, True]
    assert in_weights(seen.with_labels(["w"])).margins("a").actual.tolist() == [0, 3.0, 4.75, 0]


def test_weights_are_never_lost_silently():
    seen = weighed()
    plain = Outcomes.from_labels(TRUTH, MODELS)
    for other in (plain, Outcomes.from_labels(TRUTH, MODELS, groups=range(6))):
        with pytest.raises(UsageError, match="with and without importance weights"):
            seen + other
    with pytest.raises(UsageError, match="which ungroup"):
        seen.ungroup()
    with pytest.raises(DataError, match="one model has importance weights; pass weights for"):
        stand_beside(seen.select(["a"]), plain.select(["b"]))


def test_right_or_wrong_takes_weights_too():
    seen = Outcomes.from_correct({"m": [1, 0, 1]}, sample_weight=[0.5, 1, 2])
    assert (seen.n, seen.weighted) == (3, True)
    whole = Outcomes.from_correct({"m": [1, 0, 1]}, sample_weight=[2, 1, 0])
    assert (whole.n, whole.weighted, whole.groups.n_even) == (2, True, pytest.approx(9 / 5))


def test_scores_keep_weights_and_drop_rows_of_none():
    seen = Scores.from_arrays([1, 0, 1], {"m": [0.9, 0.1, 0.4]}, sample_weight=[0.5, 0, 2])
    assert (seen.n, seen.weights.tolist(), seen.counts) == (2, [0.5, 2.0], None)
    assert repr(seen).endswith("weighted=True)")
    grades = Scores.from_values({"m": [1, 2, 3]}, sample_weight=[1, 0, 2], groups=["p", "q", "r"])
    assert (grades.n_groups, arranged(grades).weights.tolist()) == (2, [2.0, 1.0])
