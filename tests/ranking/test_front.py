"""The Pareto front of a ranking: by hand, in both directions, with ties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.ranking.front import on_front


def by_hand(values):
    """Return the front of values ``(n_metrics, n_models)``, from the definition."""
    models = range(values.shape[1])
    return [
        not any((values[:, j] >= values[:, i]).all() and (values[:, j] > values[:, i]).any()
                for j in models)
        for i in models
    ]  # fmt: skip


@pytest.mark.parametrize("n_metrics", [2, 3])
def test_front_is_that_of_the_definition(n_metrics):
    rng = np.random.default_rng(n_metrics)
    values = rng.integers(0, 4, (n_metrics, 6, 200)).astype(float)  # with many ties
    found = on_front(values)
    for draw in range(200):
        assert found[:, draw].tolist() == by_hand(values[:, :, draw])


def priced(seed=0):
    """Return a good model, a cheap one, one that is worse in both, and a copy of the cheap one."""
    rng = np.random.default_rng(seed)
    right = {
        name: rng.random(300) < q for name, q in (("good", 0.95), ("cheap", 0.7), ("bad", 0.5))
    }
    cents = {name: rng.gamma(9, c / 9, 300) for name, c in (("good", 5), ("cheap", 1), ("bad", 3))}
    rows = {name: np.column_stack([right[name], cents[name]]) for name in right}
    rows["copy"] = rows["cheap"]
    return op.Scores.from_statistics(rows, columns=("right", "cents"))


def test_quality_and_price_with_a_copy():
    ranking = op.rank(priced(), metric="mean:right", rope=0.05, random_state=0)
    front = ranking.front("mean:right", "mean_cost:cents")
    assert front.greater_is_better == (True, False)
    chances = {row.name: row.p_front for row in front}
    # Equal models do not beat each other, so both copies are on the front.
    assert chances == {"good": 1.0, "cheap": 1.0, "copy": 1.0, "bad": 0.0}
    assert front.p_alone == 0.0
    assert front["cheap"].means[1] == pytest.approx(1.0, abs=0.1)
    assert "lower mean_cost:cents" in " ".join(str(front).split())


def test_probability_is_that_of_the_joint_draws():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    noisy = {f"m{k}": np.where(rng.random(200) < 0.8, y, 1 - y) for k in range(4)}
    ranking = op.rank(y, noisy, metric="recall", rope=0.01, random_state=2)
    front = ranking.front("recall", "specificity")
    np.testing.assert_allclose(sum(row.p_front for row in front) > 1, True)
    inside = on_front(front.draws)
    assert [row.p_front for row in front] == pytest.approx(inside.mean(axis=1))
    # Recall and specificity use different items, so their draws are independent.
    one, two = front.draws[:, 0]
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.03
    other = op.rank(y, dict(reversed(noisy.items())), metric="recall", rope=0.01, random_state=2)
    again = other.front("recall", "specificity")
    assert {row.name: row.p_front for row in front} == {row.name: row.p_front for row in again}


def test_one_metric_decides_as_the_ranking_does():
    ranking = op.rank(priced(), metric="mean:right", rope=0.05, random_state=0)
    front = ranking.front("mean:right", "mean:cents")  # more cents are better here
    assert front["good"].p_front == 1.0
    assert front["cheap"].p_front == 0.0
    assert front.to_dict()["kind"] == "front"


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (("recall",), "two or more metrics"),
        (("recall", "recall"), "needs metrics that differ; got 'recall' and 'recall'"),
    ],
)
def test_wrong_calls(metrics, words):
    y = [0, 1] * 20
    ranking = op.rank(y, {"a": y, "b": [1] * 40, "c": [0] * 40}, metric="recall", rope=0.01)
    with pytest.raises(UsageError, match=words):
        ranking.front(*metrics)


def test_copies_of_a_model_share_its_probability():
    truth = np.array([1] * 80 + [0] * 120)
    flipped = np.arange(200) % 10 == 0
    good = np.where(flipped, 1 - truth, truth)
    bad = np.where(np.arange(200) % 5 < 2, 1 - truth, truth)
    models = {"m0": good, "bad": bad, **{f"copy{k}": good for k in range(3)}}
    ranking = op.rank(truth, models, metric="recall", rope=0.01, n_draws=2_000, random_state=1)
    front = ranking.front("recall", "specificity")
    chances = {row.name: row.p_front for row in front.rows}
    assert len({chances[name] for name in models if name != "bad"}) == 1
    assert chances["m0"] > 0.95


def test_sentences_of_a_front_are_english():
    votes = {"a": [1] * 60 + [0] * 40, "b": [1] * 90 + [0] * 10, "c": [0] * 40 + [1] * 60}
    ranking = op.rank([1] * 80 + [0] * 20, votes, metric="recall", rope=0.01, random_state=1)
    front = ranking.front("recall", "specificity")
    text = " ".join(str(front).split())
    assert text.startswith("Probably on the front: ")
    assert "Better means higher recall and higher specificity." in text
    rows = tuple(replace(row, p_front=0.4) for row in front.rows)
    assert str(replace(front, rows=rows)).startswith(
        "No model is on the front with more than 50% probability; the most likely is"
    )
