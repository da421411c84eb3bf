"""Equal rows and groups are one, and the order of rows changes no draw."""

import numpy as np
import pytest

import outperform as op
from outperform.inference.score_views import merged

N = 400
RNG = np.random.default_rng(8)
TRUTH = RNG.integers(3, size=N)
ANSWERS = {
    model: np.where(RNG.random(N) < right, TRUTH, RNG.integers(3, size=N))
    for model, right in (("a", 0.8), ("b", 0.7))
}
GROUPS = RNG.integers(90, size=N)
WEIGHTS = RNG.choice([0.5, 1.0, 2.5], size=N)
TARGETS = RNG.normal(3.0, 1.0, size=N).round(1)


def statistics(answer):
    each = np.eye(3)
    return np.hstack([each[TRUTH] * (answer == TRUTH)[:, None], each[TRUTH], each[answer]])


def macro_f1(means):
    hits, actual, predicted = np.split(means, 3)
    both = actual + predicted
    return np.divide(2 * hits, both, out=np.zeros_like(both), where=both > 0).mean(axis=0)


STATISTICS = {model: statistics(answer) for model, answer in ANSWERS.items()}
PREDICTIONS = {model: TARGETS + RNG.normal(0.1, 0.3, N).round(1) for model in ("a", "b")}
FIRST = RNG.integers(3, size=N)
SECOND = (FIRST + RNG.integers(1, 3, size=N)) % 3
VOTES = [np.array(list("abc"))[one] for one in (FIRST, SECOND)]
WINNER = np.where(RNG.random(N) < 0.6, *VOTES)


def of_statistics(rows, **beside):
    made = {model: values[rows] for model, values in STATISTICS.items()}
    return op.Outcomes.from_statistics(made, **beside), {"metric": macro_f1}


def of_targets(rows, **beside):
    made = {model: values[rows] for model, values in PREDICTIONS.items()}
    return op.Scores.from_targets(TARGETS[rows], made, **beside), {"metric": "r2"}


def of_votes(rows, **beside):
    columns = (VOTES[0][rows], VOTES[1][rows], WINNER[rows])
    return op.Scores.from_votes(*columns, **beside), {"metric": "win_rate"}


@pytest.mark.parametrize("make", [of_statistics, of_targets, of_votes])
@pytest.mark.parametrize("beside", ["", "groups", "sample_weight", "both"])
def test_order_of_rows_and_threads_change_no_byte(make, beside):
    def draws(rows, n_jobs):
        columns = {"groups": GROUPS[rows], "sample_weight": WEIGHTS[rows]}
        kept = {name: one for name, one in columns.items() if beside in (name, "both")}
        seen, asked = make(rows, **kept)
        c = op.compare(
            seen, "a", "b", rope=0.01, n_draws=5_000, random_state=3, n_jobs=n_jobs, **asked
        )
        return c.draws

    here = draws(np.arange(N), 1)
    assert np.array_equal(here, draws(np.random.default_rng(1).permutation(N), 4))


def test_sums_of_labels_have_their_posterior():
    seen, asked = of_statistics(np.arange(N))
    options = {"rope": 0.01, "n_draws": 50_000, "random_state": 1}
    as_sums = op.compare(seen, "a", "b", **options, **asked)
    labels = op.Outcomes.from_labels(TRUTH, ANSWERS)
    as_labels = op.compare(labels, "a", "b", metric="f1_macro", prior="bootstrap", **options)
    assert as_sums.observed == pytest.approx(as_labels.observed, abs=1e-12)
    assert as_sums.mean == pytest.approx(as_labels.mean, abs=5 * as_labels.sd / 50_000**0.5)
    assert as_sums.sd == pytest.approx(as_labels.sd, rel=0.02)
    assert len(merged(seen).scores.counts) == len(labels.tables[0].counts)


def test_groups_that_look_alike_are_one():
    values = np.tile([[0.1, 0.3], [0.2, 0.5], [0.7, 0.9]], (50, 1))
    groups = np.repeat(np.arange(50), 3)
    rows = np.random.default_rng(2).permutation(150)
    for order in (np.arange(150), rows):
        seen = op.Scores.from_statistics({"a": values[order]}, groups=groups[order])
        view, repeats = merged(seen)
        assert (view.n_groups, repeats.tolist(), view.n_rows) == (1, [50.0], 3)


def test_rows_of_one_item_each_stay_so():
    seen = op.Scores.from_statistics({"a": RNG.random((30, 2)), "b": RNG.random((30, 2))})
    view, repeats = merged(seen)
    assert (view.counts, repeats, view.n_rows) == (None, None, 30)


def test_rows_that_differ_in_another_column_are_kept_apart():
    a = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, -0.0], [1.0, 2.0]])
    view, _ = merged(op.Scores.from_statistics({"a": a, "b": a[:, ::-1]}))
    assert sorted(view.counts.tolist()) == [1, 3]


@pytest.mark.parametrize("make", [of_statistics, of_targets])
def test_order_of_models_changes_no_byte(make):
    seen, asked = make(np.arange(N))
    options = {"rope": 0.01, "n_draws": 1_000, "random_state": 3, **asked}
    there, back = op.compare(seen, "a", "b", **options), op.compare(seen, "b", "a", **options)
    assert np.array_equal(there.draws, -back.draws)
