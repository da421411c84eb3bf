"""Rankings by metrics of scores: the same draws as a comparison, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError


def scored(n=300, seed=3):
    generator = np.random.default_rng(seed)
    y = generator.integers(2, size=n)
    shared = generator.normal(size=n)
    scores = {
        name: lift * y + shared + generator.normal(size=n)
        for name, lift in (("cyd", 2.0), ("ada", 1.8), ("bob", 0.6))
    }
    return y, scores


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
def test_a_ranking_of_two_is_the_comparison(metric):
    y, scores = scored()
    asked = {"metric": metric, "rope": 0.01, "random_state": 1, "n_draws": 2_000}
    ranking = op.rank(y, {name: scores[name] for name in ("cyd", "bob")}, **asked)
    same = op.compare(y, scores["bob"], scores["cyd"], names=("bob", "cyd"), **asked)
    pair = ranking.pair("bob", "cyd")
    np.testing.assert_allclose(
        (pair.mean, pair.sd, pair.p_worse), (same.mean, same.sd, same.p_worse)
    )
    assert pair.decision is same.decision


def test_a_third_model_leaves_the_others_as_they_were():
    y, scores = scored()
    asked = {"metric": "roc_auc", "rope": 0.01, "random_state": 1}
    three = op.rank(y, scores, **asked)
    two = op.rank(y, {name: scores[name] for name in ("cyd", "bob")}, **asked)
    assert three.names[-1] == two.names[-1] == "bob"
    for name in two.names:
        one, other = three[name].raw, two[name].raw
        assert abs(one.mean - other.mean) < 5 * np.hypot(one.mcse, other.mcse)
    np.testing.assert_allclose(three.p_rank.sum(axis=0), 1.0)


def test_grades_of_repeated_items_share_a_weight():
    generator = np.random.default_rng(2)
    item = np.repeat(np.arange(100), 4)
    ease = np.repeat(generator.normal(size=100), 4)
    # What an item is worth to each model differs, so repeated answers say little.
    grades = {
        name: 6 + ease + np.repeat(generator.normal(size=100), 4) + 0.1 * generator.random(400)
        for name in ("x", "y", "z")
    }
    apart = op.rank(None, grades, metric="mean", rope=0.1, random_state=1)
    together = op.rank(None, grades, metric="mean", rope=0.1, random_state=1, groups=item)
    a, b = together.names[:2]
    assert together.compare(a, b).sd == pytest.approx(2 * apart.compare(a, b).sd, rel=0.15)
    assert together.spec.n_groups == 100


def test_models_that_never_differ_are_a_tie_whoever_stands_beside_them():
    y, scores = scored()
    twins = {"one": scores["ada"], "two": scores["ada"], "weak": scores["bob"]}
    ranking = op.rank(y, twins, metric="roc_auc", rope=0.01, random_state=1, n_draws=500)
    assert ranking.pair("one", "two").decision is op.Decision.UNDECIDED
    assert ranking.pair("one", "two").withheld
    assert not ranking.pair("one", "weak").withheld


def test_two_of_them_compared_from_the_same_draws():
    y, scores = scored()
    seen = op.Scores.from_arrays(y, scores)
    ranking = op.rank(seen, metric="roc_auc", rope=0.01, random_state=1, n_draws=500)
    found = ranking.compare("ada", "bob")
    assert found.mean == pytest.approx(ranking["ada"].raw.mean - ranking["bob"].raw.mean)
    assert found.names == ("ada", "bob")


def test_labels_and_scores_are_not_mixed():
    y, scores = scored()
    with pytest.raises(UsageError, match="computed from scores"):
        op.rank(op.Outcomes.from_labels(y, {"a": y, "b": 1 - y}), metric="roc_auc")
    with pytest.raises(UsageError, match="scores"):
        op.rank(op.Scores.from_arrays(y, scores), metric="accuracy")
