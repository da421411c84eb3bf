"""Small things about data that nothing else would notice."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.data.sources import log_chance
from outperform.data.views import of_items
from outperform.errors import DataError, UsageError
from tests.lazily import lazily

stats = lazily("scipy.stats")


def test_verdicts_of_people_are_matched_with_a_judges_by_id():
    judge = {"A": [True, True, False], "B": [True, False, False]}
    seen = op.Outcomes.from_correct(judge, ids=["x", "y", "z"])
    found = of_items(seen, ["z", "x"], {"A": [True, False], "B": [False, True]})
    assert found == {
        "judged": {name: list(map(int, said)) for name, said in judge.items()},
        "human": {"A": [False, None, True], "B": [True, None, False]},
    }
    classes = op.Outcomes.from_labels(["u", "v", "u"], {"A": list("uuv")}, ids=["x", "y", "z"])
    found = of_items(classes, ["y"], {"truth": ["u"]})
    assert found == {"judged": {"A": list("uuv")}, "human": [None, "u", None], "judge": list("uvu")}


def test_verdicts_of_people_need_ids_that_are_known_and_differ():
    judge = {"A": [True, True, False]}
    with pytest.raises(UsageError, match="human labels are matched by item id"):
        of_items(op.Outcomes.from_correct(judge), ["x"], {"A": [True]})
    seen = op.Outcomes.from_correct(judge, ids=["x", "y", "z"])
    with pytest.raises(DataError, match="2 items that the judge did not rate, such as 'u'"):
        of_items(seen, ["u", "x", "v"], {"A": [True] * 3})
    with pytest.raises(DataError, match="the item 'x' twice"):
        of_items(seen, ["x", "y", "x"], {"A": [True] * 3})


def test_scores_take_their_fields_by_name_only():
    seen = op.Scores.from_arrays([0, 1], {"a": [0.2, 0.7]})
    with pytest.raises(TypeError, match="takes keywords only"):
        op.Scores(seen.models, seen.labels)


@pytest.mark.parametrize("weighed", [(), (0,), (1,), (0, 1)])
def test_scores_that_come_together_keep_the_weights_of_either(weighed):
    weights = [[2.0, 3.0], [4.0, 5.0, 6.0]]
    parts = [
        op.Scores.from_arrays(
            [0, 1, 1][: len(own)],
            {"a": [0.2, 0.7, 0.6][: len(own)]},
            sample_weight=own if place in weighed else None,
        )
        for place, own in enumerate(weights)
    ]
    whole = parts[0] + parts[1]
    expected = [
        one
        for place in (0, 1)
        for one in (weights[place] if place in weighed else [1.0] * len(weights[place]))
    ]
    found = whole.weights
    assert (found is None) == (not weighed)
    assert weighed == () or found.tolist() == expected


def test_the_chance_of_the_same_counts_is_that_of_two_binomial_samples():
    for n, share in ((200, 0.5), (900, 0.2)):
        k = int(n * share)
        twice = np.square(stats.binom.pmf(np.arange(n + 1), n, share)).sum()
        assert log_chance(np.array([k, n - k])) == pytest.approx(np.log(twice), abs=0.01)
    assert log_chance(np.array([7])) == 0.0  # one cell: nothing else could be


def test_words_for_right_and_wrong_are_read():
    words = op.Outcomes.from_correct({"a": ["pass", "FAIL", "pass"], "b": ["yes", "no", "no"]})
    assert words == op.Outcomes.from_correct({"a": [1, 0, 1], "b": [1, 0, 0]})
    with pytest.raises(DataError, match="true/false, 0/1 or pass/fail for each item; got 'spam'"):
        op.Outcomes.from_correct({"a": ["pass", "spam"], "b": [1, 0]})
