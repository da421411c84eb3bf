"""Outcomes of a judge and of people: what is counted, stored, selected and refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform._json import to_json
from outperform.errors import DataError, OutperformError, UsageError
from tests.loops import each

NAN = float("nan")
JUDGED = {"A": [1, 1, 0, 0, 1, 1], "B": [1, 0, 0, 1, 0, 1]}
HUMAN = {"A": [1, NAN, 0, NAN, 0, NAN], "B": [1, NAN, 1, NAN, 0, NAN]}


def seen():
    return op.Outcomes.from_judged(JUDGED, human=HUMAN)


def test_counts():
    found = seen()
    assert (found.n, found.pool.n, found.kind) == (3, 6, "correct")
    assert found.pool.cells.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.pool.counts.tolist() == [1, 1, 2, 2]
    assert found.pool.both.cells[:, 1:3].tolist() == [[0, 0], [1, 0], [1, 1]]
    assert found.pool.human.tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 1]]
    assert found.agreement() == (1, 0, 1, 1)


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, np.nan])
def test_missing_values(missing):
    human = {name: [missing if x != x else x for x in bits] for name, bits in HUMAN.items()}
    assert op.Outcomes.from_judged(JUDGED, human=human) == seen()
    frames = op.Outcomes.from_judged(pd.DataFrame(JUDGED), human=pd.DataFrame(HUMAN))
    assert frames == seen()


def test_models_are_matched_by_name():
    turned = {"B": HUMAN["B"], "A": HUMAN["A"]}
    assert op.Outcomes.from_judged(JUDGED, human=turned) == seen()


def test_rows_are_aligned_by_index():
    human = pd.DataFrame(HUMAN).iloc[::-1]
    found = op.Outcomes.from_judged(pd.DataFrame(JUDGED), human=human)
    assert to_json(found.pool) == to_json(seen().pool)
    assert [one.name for one in found.findings] == ["aligned_by_index"]


def test_select_sums_the_other_verdicts_out():
    alone = seen().select(["A"])
    human = {"A": HUMAN["A"]}
    assert alone == op.Outcomes.from_judged({"A": JUDGED["A"]}, human=human)
    turned = seen().select(["B", "A"])
    assert turned.select(["A", "B"]) == seen()


def test_json_and_sums():
    found = seen()
    assert op.Outcomes.from_json(found.to_json()) == found
    more = op.Outcomes.from_judged({"A": [1, 0], "B": [0, 0]}, human={"A": [1, NAN], "B": [0, NAN]})
    both = found + more
    assert (both.n, both.pool.n) == (4, 8)
    with pytest.raises(UsageError, match="same pool"):
        found + seen()
    with pytest.raises(UsageError, match="cannot be added"):
        found + op.Outcomes.from_correct(JUDGED)


def damaged(change):
    """Change what is stored and sign it again."""
    from outperform import _files

    data = {key: value for key, value in seen().to_dict().items() if key != "sha256"}
    data = json.loads(json.dumps(data))
    change(data["pool"])
    return _files.signed(data)


@each(
    ("change", "match"),
    [
        (
            lambda pool: pool["people"]["counts"].__setitem__(0, 2),
            ("does not match the human labels"),
        ),
        (lambda pool: pool["counts"].__setitem__(0, 0), "zero"),
        (lambda pool: pool["cells"].pop(), "needs a count"),
        (lambda pool: (pool["cells"].pop(), pool["counts"].pop()), "did not rate"),
        (lambda pool: pool["people"]["cells"][0].__setitem__(0, 5), "not in labels"),
    ],
)
def test_damaged_json(change, match):
    with pytest.raises(DataError, match=match):
        op.Outcomes.from_dict(damaged(change))


@each(
    ("judged", "how", "match"),
    [
        (JUDGED, {"human": {**HUMAN, "A": [1, 1, 0, NAN, 0, NAN]}}, "some models only"),
        (JUDGED, {"human": {"A": HUMAN["A"]}}, "same models"),
        (JUDGED, {"human": HUMAN["A"]}, "mapping from model names"),
        (JUDGED, {"human": {"A": [NAN] * 6, "B": [NAN] * 6}}, "no human labels"),
        (JUDGED, {"human": {"A": [1.0], "B": [1.0]}}, "one value per item"),
        (JUDGED, {"human": {"A": [2] * 6, "B": [1] * 6}}, "true/false, 0/1"),
        ({"A": [1, NAN], "B": [1, 1]}, {"human": {"A": [1, 1], "B": [1, 1]}}, "missing|NaN|nan"),
        (JUDGED, {"human": HUMAN, "labels": [0, 1]}, "remove labels"),
    ],
)
def test_refusals(judged, how, match):
    with pytest.raises(OutperformError, match=match):
        op.Outcomes.from_judged(judged, **how)


def test_what_cannot_be_asked():
    found = seen()
    asked = {"metric": "accuracy", "rope": 0.01}
    with pytest.raises(UsageError, match="were rated by a judge, and people labelled only some"):
        op.compare(found, "A", "B", prior="unit", **asked)
    with pytest.raises(UsageError, match="so the comparison is always paired"):
        op.compare(found, "A", "B", paired=False, **asked)
    with pytest.raises(UsageError, match="were rated by a judge"):
        op.compare(found, "A", "B", random_state=0, **asked).more_data()
    many = {name: JUDGED["A"] for name in "ABCDE"}
    people = {name: HUMAN["A"] for name in "ABCDE"}
    with pytest.raises(UsageError, match="up to 3 models"):
        op.rank(op.Outcomes.from_judged(many, human=people), **asked)


def test_gold_labels_are_a_judge_of_whom_some_labels_are_given_again():
    """Errors by class that one model learned: gold labels mislead, 200 second ones mend it."""
    rng, held, misled = np.random.default_rng(8), [], []
    for _ in range(12):
        truth = (rng.random(1_000) < 0.3).astype(int)
        wrong = rng.random(1_000) < np.where(truth == 1, 0.15, 0.05)
        gold = np.where(wrong, 1 - truth, truth)
        a, b = (np.where(rng.random(1_000) < share, truth, 1 - truth) for share in (0.9, 0.86))
        models = {"a": np.where(wrong & (rng.random(1_000) < 0.8), gold, a), "b": b}
        again = np.where(np.arange(1_000) < 200, truth, np.nan)
        asked = {"metric": "accuracy", "rope": 0.02, "n_draws": 2_000, "random_state": 0}
        seen = op.Outcomes.from_judged(models, human=again, judge=gold)
        c = op.compare(seen, "a", "b", **asked)
        plain = op.compare(gold, models["a"], models["b"], **asked)
        true = 0.04 - 0.8 * 0.9 * (0.7 * 0.05 + 0.3 * 0.15)  # right before, wrong with the gold
        held.append(c.hdi.low <= true <= c.hdi.high)
        misled.append(plain.hdi.low > true)
    assert sum(held) >= 9
    assert all(misled)


GRADED = {"A": [7, 8, 6, 9, 5, 7, 4], "B": [6, 8, 5, 9, 6, 7, 3]}
GRADES = {"A": [6, 7, 6, 9, 5, NAN, NAN], "B": [6, 8, 4, 9, 5, NAN, NAN]}


def test_grades_are_statistics():
    found = op.Scores.from_judged(GRADED, human=GRADES)
    assert found.columns == ("judge", "judge of all models", "human", "looked")
    assert found.values[0][0].tolist() == [7.0, 6.5, 6.0, 1.0]
    assert found.values[1][6].tolist() == [3.0, 3.5, 0.0, 0.0]
    frames = op.Scores.from_judged(pd.DataFrame(GRADED), human=pd.DataFrame(GRADES).iloc[::-1])
    assert all(map(np.array_equal, frames.values, found.values))


@each(
    ("human", "match"),
    [
        ({"A": GRADES["A"]}, "the same models"),
        (
            {**GRADES, "A": [NAN, *GRADES["A"][1:]]},
            ("1 items have human grades for some models only .*row 0"),
        ),
        ({**GRADES, "A": [1.0]}, "one grade per item"),
        ({"A": [1.0, *[NAN] * 6], "B": [1.0, *[NAN] * 6]}, "needs at least 5"),
        ({**GRADES, "A": [float("inf"), *GRADES["A"][1:]]}, "infinite"),
        ({**GRADES, "A": ["good"] * 7}, "must be numbers"),
    ],
)
def test_grades_that_are_refused(human, match):
    with pytest.raises(DataError, match=match):
        op.Scores.from_judged(GRADED, human=human)


def test_grades_given_as_verdicts_name_the_way():
    with pytest.raises(DataError, match=r"grades, use Scores\.from_judged"):
        op.Outcomes.from_judged(GRADED, human=GRADES)
