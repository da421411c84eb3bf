"""Statistics of items from end to end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from tests.loops import each

pytestmark = pytest.mark.core

RANDOM = np.random.default_rng(30)
N = 120
STATISTICS = {name: RANDOM.gamma(3.0, size=(N, 3)) for name in ("A", "B")}
TARGET = RANDOM.normal(size=N)
A, B = TARGET + 0.4 * RANDOM.normal(size=N), TARGET + 0.7 * RANDOM.normal(size=N)


def share(means):
    return means[0] / (means[1] + means[2])


def by_hand(f, n_draws=40_000):
    """Return draws of A − B from weights of our own."""
    weights = np.random.default_rng(31).exponential(size=(n_draws, N))
    weights /= weights.sum(axis=1, keepdims=True)
    a, b = (f((weights @ STATISTICS[name]).T) for name in ("A", "B"))
    return a - b


def test_the_posterior_is_that_of_random_weights():
    seen = op.Outcomes.from_statistics(STATISTICS)
    c = op.compare(seen, "A", "B", metric=share, rope=0.5, random_state=1)
    drawn = by_hand(share)
    error = drawn.std() * np.sqrt(1 / len(drawn) + 1 / len(c.draws))
    assert c.mean == pytest.approx(drawn.mean(), abs=4 * error)
    assert c.sd == pytest.approx(drawn.std(), rel=4 * np.sqrt(0.5 / len(c.draws) * 1.5))
    expected = share(STATISTICS["A"].mean(axis=0)) - share(STATISTICS["B"].mean(axis=0))
    assert c.observed == pytest.approx(expected, rel=1e-12)


def test_pairing_is_in_the_weights():
    shared = RANDOM.normal(size=(N, 1))
    seen = op.Outcomes.from_statistics({"A": shared + 0.01, "B": shared})
    c = op.compare(seen, "A", "B", metric=lambda means: means[0], rope=0.001, random_state=1)
    assert c.sd < 1e-12
    assert c.decision is op.Decision.BETTER


@pytest.mark.parametrize("metric", ["rmse", "r2", op.metrics.pinball(0.3)])
def test_every_verb_has_one_answer(metric):
    seen = op.Scores.from_targets(TARGET, {"A": A, "B": B})
    asked = {"metric": metric, "random_state": 1}
    c = op.compare(seen, "A", "B", rope=0.05, **asked)
    direct = op.compare(TARGET, A, B, rope=0.05, **asked)
    assert (c.draws == direct.draws).all()
    alone = op.estimate(seen, "A", **asked)
    assert alone.mean == pytest.approx(c.a.mean, abs=0.1 * c.a.sd)
    ranked = op.rank(seen, rope=0.05, **asked)
    assert {row.name: row.observed for row in ranked.rows}["A"] == pytest.approx(c.a.observed)


def test_another_metric_of_the_same_items():
    c = op.compare(TARGET, A, B, metric="rmse", rope=0.05, random_state=1)
    again = c.with_metric("mae")
    expected = np.abs(A - TARGET).mean() - np.abs(B - TARGET).mean()
    assert again.observed == pytest.approx(expected)


def test_whole_numbers_that_were_read_as_classes_are_targets():
    levels = RANDOM.integers(0, 5, N)
    scores = {"A": levels + RANDOM.normal(size=N), "B": levels + RANDOM.normal(size=N)}
    read = op.Scores.from_arrays(levels, scores)
    c = op.compare(read, "A", "B", metric="mae", rope=0.1, random_state=1)
    direct = op.compare(levels, scores["A"], scores["B"], metric="mae", rope=0.1, random_state=1)
    assert (c.draws == direct.draws).all()


def test_items_move_the_difference_as_leaving_them_out_does():
    c = op.compare(TARGET, A, B, metric="r2", rope=0.05, random_state=1)
    from sklearn.metrics import r2_score

    for row in c.item_table(which="all", top=5).rows:
        left = np.arange(N) != row.id
        without = r2_score(TARGET[left], A[left]) - r2_score(TARGET[left], B[left])
        assert row.influence == pytest.approx(c.observed - without, rel=1e-9)


def test_parts_add_up():
    parts = [
        op.Outcomes.from_statistics({name: one[some] for name, one in STATISTICS.items()})
        for some in (slice(0, 50), slice(50, None))
    ]
    whole = op.Outcomes.from_statistics(STATISTICS)
    both = parts[0] + parts[1]
    assert both.n == N
    asked = {"metric": share, "rope": 0.1, "random_state": 1}
    assert (
        op.compare(both, "A", "B", **asked).draws == op.compare(whole, "A", "B", **asked).draws
    ).all()


def test_parts_with_groups_or_of_other_models_do_not_add_up():
    grouped = op.Outcomes.from_statistics(STATISTICS, groups=np.arange(N) // 2)
    with pytest.raises(DataError, match="groups that occur in both"):
        grouped + grouped
    other = op.Outcomes.from_statistics({"C": STATISTICS["A"], "B": STATISTICS["B"]})
    with pytest.raises(DataError, match="same models"):
        op.Outcomes.from_statistics(STATISTICS) + other


def test_few_groups_widen_the_interval():
    groups = np.repeat(np.arange(6), N // 6)
    apart = op.compare(TARGET, A, B, metric="rmse", rope=0.05, random_state=1)
    c = op.compare(TARGET, A, B, metric="rmse", rope=0.05, random_state=1, groups=groups)
    assert "few_groups" in [one.name for one in c.findings]
    assert "few_groups" not in [one.name for one in apart.findings]


def test_series_go_by_their_index():
    order = RANDOM.permutation(N)
    index = pd.Index([f"i{k}" for k in range(N)])
    y, a, b = (pd.Series(one, index=index) for one in (TARGET, A, B))
    c = op.compare(y, a.iloc[order], b, metric="mae", rope=0.1, random_state=1)
    assert c.observed == pytest.approx(np.abs(A - TARGET).mean() - np.abs(B - TARGET).mean())
    assert "aligned_by_index" in [one.name for one in c.findings]


# Refusals


def wrong_shape(means):
    return means


def not_a_number(means):
    return np.full(means.shape[1], np.nan)


@each(
    ("metric", "told"),
    [
        (None, "name the metric of these statistics"),
        ("roc_auc", "needs one score per item"),
        ("rmse", "needs target, prediction of each item, but these are 3 statistics"),
        ("f1", "computed from labels"),
        (wrong_shape, "must return 20000 numbers|one per draw"),
        (not_a_number, "NaN"),
    ],
)
def test_metrics_that_statistics_do_not_have(metric, told):
    seen = op.Outcomes.from_statistics(STATISTICS)
    with pytest.raises(UsageError, match=told):
        op.compare(seen, "A", "B", metric=metric, rope=0.1)


def test_metrics_of_targets_need_them():
    with pytest.raises(UsageError, match=r"use Scores\.from_targets"):
        op.compare(op.Scores.from_values({"A": A, "B": B}), "A", "B", metric="rmse", rope=0.1)
    with pytest.raises(UsageError, match="here it is"):
        op.compare(TARGET, A, B, metric="rmse")


@each(
    ("statistics", "columns", "told"),
    [
        ({"A": np.ones((3, 2)), "B": np.ones((3, 3))}, (), "the same number for every model"),
        ({"A": np.ones((3, 2)), "B": np.ones((4, 2))}, (), "same items"),
        ({"A": np.ones((3, 2))}, ("x",), "named x"),
        ({"A": [[1.0, np.nan]]}, (), "missing or infinite"),
        ({"A": np.ones((2, 2, 2))}, (), "one row per item"),
    ],
)
def test_statistics_that_do_not_fit_are_refused(statistics, columns, told):
    with pytest.raises(DataError, match=told):
        op.Outcomes.from_statistics(statistics, columns=columns)


@pytest.mark.parametrize("metric", ["wer", "mae", "statistics"])
def test_rows_go_by_their_index(metric):
    texts = ["a b c", "d e", "f g h i", "j"]
    worse = ["a b", "d x", "f g", "k"]
    if metric == "mae":
        texts, worse = [1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 4.0, 7.0]
    shuffled = pd.Series(texts)[[2, 0, 3, 1]]
    if metric == "statistics":
        items = pd.DataFrame({"errors": [0, 1, 2, 3], "words": [3, 2, 4, 1]})
        a, b = op.Scores.from_statistics({"A": items, "B": items.iloc[[2, 0, 3, 1]]}).values
        assert (a == b).all()
        return
    c = op.compare(pd.Series(texts), shuffled, pd.Series(worse), metric=metric, rope=0.1)
    assert c.a.observed == 0
    assert "aligned_by_index" in {one.name for one in c.findings}


def test_columns_of_frames_go_by_their_names():
    items = pd.DataFrame({"errors": [0, 1, 2, 3], "words": [3, 2, 4, 1]})
    given = {"A": items, "B": items[["words", "errors"]].iloc[[2, 0, 3, 1]]}
    seen = op.Scores.from_statistics(given)
    assert seen.columns == ("errors", "words")
    assert (seen.values[0] == seen.values[1]).all()
    series = {name: dict(frame.items()) for name, frame in given.items()}
    assert (op.Scores.from_statistics(series).values[1] == items.to_numpy()).all()
    with pytest.raises(DataError, match="every model must have the same statistics"):
        op.Scores.from_statistics({"A": items, "B": items.rename(columns={"words": "tokens"})})
